// Changing documents in the store so that the history records every change: first the journal, then the store,
// then the outcome (design 6).
import type { History, NewChange } from '../../versioning/history.js'
import type { Locks } from '../documents/locks.js'
import type { States } from '../documents/stored-state.js'
import type { Log } from '../log.js'
import type { Problem } from '../problem.js'
import type { LiteralForms } from '../rdf/literal-forms.js'
import type { GraphEdit, GraphStore } from '../stores/store.js'
import { apply, applyAll, carryOutJournalled, dropAll, type Journalled } from './journalled-write.js'
import {
  notRecorded,
  prepareDataset,
  prepareDocuments,
  removedRoot,
  updateAnnounced,
  updateTogether,
  type AnnouncedUpdate,
  type UpdatePart,
} from './journalled-update.js'
import { makeSettlement, type Settlement, type SettlementSettings } from './settlement.js'

export interface JournalledStore extends Pick<Settlement, 'settle' | 'close'> {
  /**
   * Makes the document what the change says. To be called under its lock, when no change of it is in doubt.
   * @param seen the document before, where the store has exactly this now
   */
  carryOut(change: NewChange, seen?: string): Promise<undefined | Problem>
  /**
   * Removes these documents, as one update of the store. To be called under their locks, when no change of them is in
   * doubt.
   */
  remove(removals: readonly NewChange[]): Promise<undefined | Problem>
  /**
   * Makes these changes of documents, of which `edits` has the lines, and those of other graphs, as one update of the
   * store. To be called under the locks of all of them, when no change of these documents is in doubt.
   */
  edit(changes: readonly NewChange[], edits: readonly GraphEdit[]): Promise<undefined | Problem>
  /**
   * Executes the update; each document that it changes becomes a commit of its own.
   * @param others the parts of other applications that share the store
   */
  update(
    update: AnnouncedUpdate & { readonly text: string },
    others?: readonly UpdatePart[],
  ): Promise<undefined | Problem>
  /** Journals that an update is about to be sent to the store. */
  readonly prepare: UpdatePart['journalled']['prepare']
}

export interface JournalledStoreSettings {
  readonly store: GraphStore
  /** Undefined where the application is not versioned. */
  readonly history: History | undefined
  /** Of the application. */
  readonly base: string
  readonly isDocument: (graph: string) => boolean
  /** Undefined where the history is. */
  readonly sweep: SettlementSettings['sweep'] | undefined
  readonly locks: Locks
  readonly states: States
  /** How the store keeps literals. */
  readonly literals: () => LiteralForms
  readonly log: Log
}

export const makeJournalledStore = ({ history, sweep, ...settings }: JournalledStoreSettings): JournalledStore =>
  history && sweep ? versioned({ history, sweep, ...settings }) : unversioned(settings)

const unversioned = ({
  store,
  base,
  literals,
}: Pick<JournalledStoreSettings, 'store' | 'base' | 'literals'>): JournalledStore => ({
  carryOut: (change, seen) => apply({ store, literals }, change, seen),
  remove: (removals) => dropAll(store, removals),
  edit: (changes, edits) => applyAll({ store, literals }, changes, edits),
  update: ({ text, ...author }, others = []) =>
    store.announces
      ? store.update(text, { announce: (graphs) => Promise.resolve(removedRoot(base, graphs)) })
      : updateTogether(store, text, author, others),
  prepare: () => Promise.resolve(() => Promise.resolve()),
  settle: () => Promise.resolve(undefined),
  close: () => undefined,
})

function versioned(settings: Omit<Journalled, 'settlement'>): JournalledStore {
  const settlement = makeSettlement(settings)
  const application: Journalled = { ...settings, settlement }
  const prepare: JournalledStore['prepare'] = ({ documents, agent, time, method = 'UPDATE', admit }) => {
    const author = { method, agent, time }
    return documents ? prepareDocuments(application, documents, author, admit) : prepareDataset(application, author)
  }
  return {
    carryOut: (change, seen) => carryOutJournalled(application, [change], () => apply(settings, change, seen)),
    // Each removal becomes a commit of its own, and one in doubt is settled by itself.
    remove: (removals) => carryOutJournalled(application, removals, () => dropAll(settings.store, removals)),
    edit(changes, edits) {
      const { store, isDocument, base } = settings
      // The store is in memory: a graph that the history does not record would be lost with the process.
      const lost = store.announces && edits.find(({ graph }) => !isDocument(graph))
      if (lost) return Promise.resolve(notRecorded(lost.graph, base))
      return carryOutJournalled(application, changes, () => applyAll(settings, changes, edits))
    },
    update: ({ text, documents, agent, time }, others = []) =>
      settings.store.announces
        ? updateAnnounced(application, text, { method: 'UPDATE', agent, time })
        : updateTogether(settings.store, text, { agent, time }, [{ journalled: { prepare }, documents }, ...others]),
    prepare,
    settle: settlement.settle,
    close: settlement.close,
  }
}
