// A route: the methods, media types, required right and answer of one kind of target.
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Decision } from '../../policies/decide.js'
import type { Member } from '../gateway.js'
import type { Field, Request, Response } from '../http/exchange.js'
import type { Target } from '../http/target.js'
import type { Problem } from '../problem.js'
import type { Awaitable } from '../maybe-async.js'
import type { Facts } from './access.js'
import type { Context } from './context.js'

/** A request that may be answered. `Content` is the result of `Route.read`. */
export interface AskedRoute<Of extends Target<Member> = Target<Member>, Content = unknown> {
  readonly context: Context
  readonly target: Of
  readonly content: Content | Problem
}

/** A request that has been decided. */
export interface Decided<Of extends Target<Member> = Target<Member>, Content = unknown> extends AskedRoute<
  Of,
  Content
> {
  readonly facts: Facts
  readonly decision: Decision
}

interface Row<Of extends Target<Member>> {
  /** In the form of an Allow field, including OPTIONS, or EVERY_METHOD. Others get 405 before access is decided. */
  readonly methods: string
  /** The methods of a target that has fewer than its kind. */
  allow?(target: Of): string
  /** True if this content is accepted as a stream (`Request.streamBody`), which may be larger than `--max-body`. */
  takesFiles?(request: Request): boolean
  /** For OPTIONS: the fields that list the accepted media types. */
  readonly accepts?: readonly Field[]
}

/** The gateway decides before the answer is made. `needs` is the mode required on the target. */
export interface DecidedRoute<Of extends Target<Member> = Target<Member>, Content = unknown> extends Row<Of> {
  /**
   * If the required right depends on the content: the rights that it may need, by method, media type and URL.
   */
  couldNeed?(request: Request, target: Of): readonly Mode[]
  /** Only with `couldNeed`: reads the content for an agent with one of those rights. */
  read?(request: Request, target: Of, maxBody: number): Awaitable<Content | Problem>
  needs(method: string, content: Content | Problem | undefined): Mode
  /**
   * After a refusal the answer decides again, and it refuses other methods itself, since a history outlives its
   * document.
   */
  readonly decidesAgain?: true
  answer(decided: Decided<Of, Content>): Awaitable<Response | Problem>
}

/** The answer itself decides access. */
export interface OpenRoute<Of extends Target<Member> = Target<Member>> extends Row<Of> {
  readonly needs: 'open'
  /** The answer is the same for everyone, so no credential is checked and no store is asked. */
  readonly isForEveryone?: true
  answer(asked: AskedRoute<Of>): Awaitable<Response | Problem>
}

export type Route<Of extends Target<Member> = Target<Member>, Content = unknown> =
  DecidedRoute<Of, Content> | OpenRoute<Of>

export type EndpointTarget = Target<Member> & { readonly kind: 'endpoint' }
export type Endpoint = Route<EndpointTarget>
