// What a route is: for one kind of target its methods, media types, the right that it needs, and its answer.
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Decision } from '../../policies/decide.js'
import type { Member } from '../gateway.js'
import type { Field, Request, Response } from '../http/exchange.js'
import type { Target } from '../http/target.js'
import type { Problem } from '../problem.js'
import type { Awaitable } from '../maybe-async.js'
import type { Facts } from './access.js'
import type { Context } from './context.js'

/** A request that may be answered: `Content` is what `Route.read` gave. */
export interface AskedRoute<Of extends Target<Member> = Target<Member>, Content = unknown> {
  readonly context: Context
  readonly target: Of
  readonly content: Content | Problem
}

/** A request on which a decision was made. */
export interface Decided<Of extends Target<Member> = Target<Member>, Content = unknown> extends AskedRoute<
  Of,
  Content
> {
  readonly facts: Facts
  readonly decision: Decision
}

interface Row<Of extends Target<Member>> {
  /** As Allow lists them, OPTIONS included, or every one. Others are answered 405, before access is decided. */
  readonly methods: string
  /** The methods of one target, where it has fewer than its kind. */
  allow?(target: Of): string
  /** True where it takes this content as a stream (`Request.streamBody`), a larger one than `--max-body`. */
  takesFiles?(request: Request): boolean
  /** The fields with the accepted media types, for OPTIONS. */
  readonly accepts?: readonly Field[]
}

/** The gateway decides before the answer is made: `needs` is the mode that is required on the target. */
export interface DecidedRoute<Of extends Target<Member> = Target<Member>, Content = unknown> extends Row<Of> {
  /**
   * Where the needed right depends on the content: the rights of which it may need one, by method, media type and URL.
   */
  couldNeed?(request: Request, target: Of): readonly Mode[]
  /** With `couldNeed`: reads the content, for an agent with one of those rights. */
  read?(request: Request, target: Of, maxBody: number): Awaitable<Content | Problem>
  needs(method: string, content: Content | Problem | undefined): Mode
  /**
   * The answer decides again where access is refused, and refuses other methods itself (a history outlives its
   * document).
   */
  readonly decidesAgain?: true
  answer(decided: Decided<Of, Content>): Awaitable<Response | Problem>
}

/** The answer itself says who may do what. */
export interface OpenRoute<Of extends Target<Member> = Target<Member>> extends Row<Of> {
  readonly needs: 'open'
  /** The answer is the same for everyone: no credential is looked at, and no store is asked. */
  readonly isForEveryone?: true
  answer(asked: AskedRoute<Of>): Awaitable<Response | Problem>
}

export type Route<Of extends Target<Member> = Target<Member>, Content = unknown> =
  DecidedRoute<Of, Content> | OpenRoute<Of>

export type EndpointTarget = Target<Member> & { readonly kind: 'endpoint' }
export type Endpoint = Route<EndpointTarget>
