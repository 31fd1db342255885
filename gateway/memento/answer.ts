// In charge of what all answers about a document's history have in common: finding versions, waiting for those that are
// under way, links, cache fields, and refusals.
import { isSetback, type Setback, type Version } from '../../versioning/change.js'
import type { History } from '../../versioning/history.js'
import { historyLinks, mementosOf, type Memento } from '../../versioning/memento/time-map.js'
import type { Field, Response } from '../http/exchange.js'
import type { Context } from '../request/context.js'
import { negotiate, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { notAcceptable } from '../request/conditions.js'
import { linkField, problemResponse } from '../request/respond.js'

/** A request for the history of a document, by somebody who may read it. */
export interface Past {
  readonly context: Context
  readonly history: Pick<History, 'versions' | 'resolve' | 'content'>
  readonly document: string
  /** Whether everyone may read the document now. */
  readonly isPublic: boolean
}

/** Design 6: how long to wait for the commits of the document's last writes, in ms. */
export const PATIENCE_MS = 3_000
const RETRY_S = 5

/** Oldest first, deletions included; never empty. */
export async function versionsOf({ history, document, context }: Past): Promise<readonly Version[] | Problem> {
  const found = await history.versions(document, PATIENCE_MS)
  if (isSetback(found)) return failed(context, found)
  if (found.versions.length > 0) return found.versions
  return found.pending ? underWay(context) : problem('document.no-versions', 'This document has no versions.')
}

export interface Found {
  readonly version: Version
  /** The same, unless it deleted the document. */
  readonly memento: Memento | undefined
  readonly mementos: readonly Memento[]
}

/** A commit id, or how one begins (design 6): never the name of a branch or tag, which moves. */
const COMMIT_ID = /^[0-9a-f]{4,40}$/

/** The version that an id, in lower case, stands for. One that is known already waits for nothing. */
export async function findVersion({ history, document, context }: Past, id: string): Promise<Found | Problem> {
  if (!COMMIT_ID.test(id)) {
    return problem('document.no-versions', 'There is no such version: an id is 4 to 40 hexadecimal digits of a commit.')
  }
  for (const patience of [0, PATIENCE_MS]) {
    const known = await history.versions(document, patience)
    if (isSetback(known)) return failed(context, known)
    const version = await history.resolve(document, id, 0)
    if (isSetback(version)) return failed(context, version)
    if (version === 'ambiguous') {
      return problem('document.no-versions', 'Several versions of this document begin so. Give more digits.')
    }
    if (version) {
      const mementos = mementosOf(known.versions)
      return { version, mementos, memento: mementosOf([version])[0] }
    }
    if (!known.pending) break
    if (patience > 0) return underWay(context)
  }
  return problem('document.no-versions', 'This document has no such version.')
}

/** What `write` gives in the most preferred format that it can be written in: not every graph can be RDF/XML. */
export async function inAcceptedFormat<T>(
  accept: string | undefined,
  formats: readonly Format[],
  write: (format: Format) => Promise<T | Problem> | T | Problem,
): Promise<{ readonly format: Format; readonly written: T } | Problem> {
  for (let left = formats; ;) {
    const format = negotiate(accept, left)
    if (!format) return notAcceptable(formats)
    const written = await write(format)
    if (!isFailure(written)) return { format, written }
    if (written.failure !== 'negotiation.not-acceptable') return written as Problem
    left = left.filter((other) => other !== format)
  }
}

/** Why they wait is for operators: `/health/ready`. */
export function underWay({ application }: Context): Problem {
  const { parked, lastError } = application.history?.status() ?? {}
  const detail =
    parked === undefined && lastError === undefined
      ? 'The versions of this document are being written. Ask again soon.'
      : 'The last versions of this document wait for its repository, which takes no commits now. Ask again later.'
  return problem('history.failed', detail, { fields: [['Retry-After', String(RETRY_S)]] })
}

const REASONS: Readonly<Record<Setback['setback'], string>> = {
  unreachable: 'its repository cannot be reached',
  'in-doubt': 'its repository broke off',
  conflict: 'its repository has changed meanwhile',
  limited: 'its repository takes no more requests for a while',
  denied: 'its repository refuses the gateway',
  missing: 'its repository, or the branch in it, is not there',
  unfit: 'its repository refuses what was asked',
  full: 'there is no room for it',
  failed: 'its repository failed',
}

/** The log has the detail; the client learns the kind only. */
export function failed({ gateway, trace }: Context, { setback, detail, retryAt }: Setback): Problem {
  trace.cause = `${setback}: ${detail}`
  const wait = retryAt === undefined ? RETRY_S : Math.max(1, Math.ceil((retryAt - gateway.now()) / 1000))
  return problem('history.failed', `The history cannot be read now: ${REASONS[setback]}.`, {
    fields: [['Retry-After', String(wait)]],
  })
}

/** Design 5: what not everyone may read is not for shared caches. */
export const cacheControl = ({ isPublic }: Past, directives: string): Field => [
  'Cache-Control',
  `${isPublic ? 'public' : 'private'}, ${directives}`,
]

/** Versions never change (spec 9.3). */
export const IMMUTABLE = 'max-age=31536000, immutable'

/** Spec 9.3: only Read is advertised. What shared caches may keep names nobody. */
export function pastLinks({ context, isPublic }: Past, links: readonly string[]): Field {
  const { application, agent } = context
  return linkField(application, isPublic ? undefined : agent.webId, { modes: ['Read'] }, links)
}

export function refuse(
  asked: Past,
  reason: Problem,
  links: readonly string[] = historyLinks(asked.document, []),
  fields: readonly Field[] = [],
): Response {
  const { trace, accept } = asked.context
  trace.problem = reason.failure
  return problemResponse(reason, accept, undefined, [...fields, pastLinks(asked, links)])
}
