// The meaning that a failure of store or history has for a write: whether the store may have done it.
import type { Setback } from '../../versioning/failure.js'
import { problem, type Problem } from '../problem.js'

/** The store has done nothing of the write, and will not. After all other failures it may have, or may yet. */
export const hadNoEffect = ({ failure }: Problem): boolean =>
  failure === 'store.unreachable' ||
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
  failure === 'history.failed'

/** The store has refused the write and will do no more of it. It may have done a part of an update. */
export const hasNoLaterEffect = ({ failure }: Problem): boolean =>
  failure === 'update.syntax' || failure === 'update.failed' || failure === 'store.refused'

const RETRY_S = '10'

export const historyProblem = ({ failure, detail }: Setback): Problem =>
  failure === 'unfit'
    ? problem('update.form', detail)
    : problem(failure === 'full' ? 'history.full' : 'history.failed', detail, { fields: [['Retry-After', RETRY_S]] })
