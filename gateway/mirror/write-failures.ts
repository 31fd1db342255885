// Tells from a failure of store or history whether the store may have done the write.
import type { Setback, SetbackCode } from '../../versioning/failure.js'
import { problem, type Problem, type ProblemCode } from '../problem.js'

/**
 * The store has done nothing of the write, and will not. After any other failure it may have done it, or may still do
 * it.
 */
export const hadNoEffect = ({ failure, isUnsure }: Problem): boolean =>
  (failure === 'store.unreachable' && !isUnsure) ||
  failure === 'store.overloaded' ||
  failure === 'store.refused' ||
  failure === 'store.full' ||
  failure === 'content.rdf-version' ||
  failure === 'update.form' ||
  failure === 'document.root' ||
  // Without its entry in the journal a write is not sent to the store.
  failure === 'history.full' ||
  failure === 'history.no-room' ||
  failure === 'share.daily' ||
  failure === 'history.failed' ||
  failure === 'write.outdated'

/** The store has refused the write and will not continue it. It may have done a part of an update. */
export const hasNoLaterEffect = ({ failure }: Problem): boolean =>
  failure === 'update.syntax' || failure === 'update.failed' || failure === 'store.refused'

/** The store has the document, but the gateway cannot read it: it is too large, or not N-Triples. */
export const isUnreadable = ({ failure }: Problem): boolean =>
  failure === 'store.too-large' || failure === 'store.unreadable'

const RETRY_S = '10'

export const historyProblem = ({ failure, detail }: Setback): Problem =>
  failure === 'unfit'
    ? problem('update.form', detail)
    : problem(CODES[failure] ?? 'history.failed', detail, { fields: [['Retry-After', RETRY_S]] })

const CODES: Partial<Record<SetbackCode, ProblemCode>> = {
  full: 'history.full',
  outdated: 'write.outdated',
  'in-doubt': 'history.in-doubt',
}

/** How long a store may still carry out a write after the gateway has given up on it, ms. */
export const DOUBT_MS = 5_000
export const DOUBT_FIELDS: Pick<Problem, 'fields'> = { fields: [['Retry-After', String(DOUBT_MS / 1000)]] }

/** Stores do writes one after the other: once this update is done, earlier ones are done, or never will be. */
export const FENCE = 'DELETE WHERE { GRAPH <urn:triplegate:fence> { ?s ?p ?o } }'
