// In charge of removing several documents at once: all of it is journalled, then the store gets one update. Each removal becomes
// a commit of its own, and one in doubt is settled by itself (settlement.ts).
import type { NewChange } from '../../versioning/history.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { begin, keepBefore, type Journalled } from './journal.js'
import { hadNoEffect } from './write-failures.js'

/** Stores run the operations of one update as one transaction, or stop at the first that fails. */
export const dropAll = (store: GraphStore, removals: readonly NewChange[]): Promise<undefined | Problem> =>
  store.update(removals.map(({ document }) => `DROP SILENT GRAPH <${document}>`).join(' ;\n'))

/** To be called under the locks of the documents, when no change of them is in doubt. */
export async function removeTogether(
  application: Journalled,
  removals: readonly NewChange[],
): Promise<undefined | Problem> {
  const { store, history, settlement } = application
  for (const removal of removals) await keepBefore(application, removal)
  const entries = await begin(application, removals)
  if (isFailure(entries)) return entries
  const failed = await dropAll(store, removals)
  if (!failed) await history.done(entries)
  else if (hadNoEffect(failed)) await history.undone(entries)
  else settlement.doubt(entries)
  return failed
}
