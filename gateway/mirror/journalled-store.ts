// Changes documents in the store so that the history records every change: first the journal, then the store, then the
// outcome (design 6).
import type { WriteBasis, History, NewChange } from '../../versioning/history.js'
import type { Locks } from '../documents/locks.js'
import type { States } from '../documents/stored-state.js'
import type { Log } from '../log.js'
import type { Problem } from '../problem.js'
import type { LiteralForms } from '../rdf/literal-forms.js'
import type { GraphEdit, GraphStore } from '../stores/store.js'
import type { Applier } from './applier.js'
import {
  apply,
  applyAll,
  carryOutJournalled,
  dropAll,
  replacementFor,
  replacementsFor,
  replacementsOf,
  type Act,
  type Journalled,
} from './journalled-write.js'
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

/**
 * The basis of the decision on a write; and a function to call if the store does the write after the client was told
 * that the outcome is unknown.
 */
export interface DecidedOn extends Pick<Act, 'late'> {
  readonly decided?: WriteBasis
}

interface Seen {
  /** The document before the write, if the store certainly has exactly this content now. */
  readonly seen?: string | undefined
}

export interface JournalledStore extends Pick<Settlement, 'settle'> {
  /**
   * Gives the document its new content. Call it under its lock, when no change of it is in doubt. `write.outdated` if
   * the basis of the decision has changed since.
   */
  carryOut(change: NewChange, on?: DecidedOn & Seen): Promise<undefined | Problem>
  /**
   * Removes these documents with one update of the store. Call it under their locks, when none of their changes is in
   * doubt.
   */
  remove(removals: readonly NewChange[], on?: DecidedOn): Promise<undefined | Problem>
  /**
   * Makes these changes of documents (`edits` has their lines), and edits of other graphs, with one update of the
   * store. Call it under the locks of all of them, when no change of these documents is in doubt.
   */
  edit(changes: readonly NewChange[], edits: readonly GraphEdit[], on?: DecidedOn): Promise<undefined | Problem>
  /**
   * Executes the update; each document that it changes becomes a separate commit.
   * @param others the parts of other applications that share the store
   */
  update(
    update: AnnouncedUpdate & { readonly text: string },
    others?: readonly UpdatePart[],
  ): Promise<undefined | Problem>
  /** Journals that an update is about to be sent to the store. */
  readonly prepare: UpdatePart['journalled']['prepare']
  /** See Applier. */
  readonly onRecovered: Applier['onRecovered']
  close(): Promise<void>
}

export interface JournalledStoreSettings {
  readonly store: GraphStore
  /** Undefined if the application is not versioned. */
  readonly history: History | undefined
  /** The base URL of the application. */
  readonly base: string
  readonly isDocument: (graph: string) => boolean
  /** Undefined if there is no history. */
  readonly sweep: SettlementSettings['sweep'] | undefined
  readonly locks: Locks
  /** Absent if the store is not known to run a request as one transaction. */
  readonly applier?: Applier | undefined
  readonly states: States
  /** How the store stores literals. */
  readonly literals: () => LiteralForms
  /** Called before a change is sent to the store of which the log does not name each graph. */
  readonly unnamed?: (() => void) | undefined
  readonly log: Log
}

export const makeJournalledStore = ({ history, sweep, ...settings }: JournalledStoreSettings): JournalledStore =>
  history && sweep ? versioned({ history, sweep, applier: settings.applier, ...settings }) : unversioned(settings)

const unversioned = ({
  store,
  base,
  literals,
}: Pick<JournalledStoreSettings, 'store' | 'base' | 'literals'>): JournalledStore => ({
  carryOut: (change, { seen } = {}) => apply({ store, literals }, change, seen),
  remove: (removals) => dropAll(store, removals),
  edit: (changes, edits) => applyAll({ store, literals }, changes, edits),
  update: ({ text, ...author }, others = []) =>
    store.announces
      ? store.update(text, { announce: (graphs) => Promise.resolve(removedRoot(base, graphs)) })
      : updateTogether(store, text, author, others),
  prepare: () => Promise.resolve({ conclude: () => Promise.resolve(undefined) }),
  settle: () => Promise.resolve(undefined),
  onRecovered: () => undefined,
  close: () => Promise.resolve(),
})

type Versioned = Omit<Journalled, 'settlement'> & Pick<JournalledStoreSettings, 'unnamed'>

function versioned({ unnamed, ...settings }: Versioned): JournalledStore {
  const settlement = makeSettlement(settings)
  const application: Journalled = { ...settings, settlement }
  const prepare: JournalledStore['prepare'] = ({ documents, agent, time, method = 'UPDATE', admit }) => {
    const author = { method, agent, time }
    return documents ? prepareDocuments(application, documents, author, admit) : prepareDataset(application, author)
  }
  return {
    carryOut: (change, { seen, ...on } = {}) =>
      carryOutJournalled(application, [change], {
        ...on,
        replacements: async () => {
          const one = await replacementFor(settings, change, seen)
          return one && [one]
        },
        act: () => apply(settings, change, seen),
      }),
    // Each removal becomes a commit of its own.
    remove: (removals, on) =>
      carryOutJournalled(application, removals, {
        ...on,
        replacements: () => replacementsFor(settings, removals),
        act: () => dropAll(settings.store, removals),
      }),
    edit(changes, edits, on) {
      const { store, isDocument, base } = settings
      // The store is in memory: a graph that the history does not record would be lost at the end of the process.
      const lost = store.announces && edits.find(({ graph }) => !isDocument(graph))
      if (lost) return Promise.resolve(notRecorded(lost.graph, base))
      if (edits.some(({ graph }) => !isDocument(graph))) unnamed?.()
      return carryOutJournalled(application, changes, {
        ...on,
        replacements: () => Promise.resolve(replacementsOf(settings, changes, edits)),
        act: () => applyAll(settings, changes, edits),
      })
    },
    update({ text, documents, agent, time }, others = []) {
      unnamed?.()
      return settings.store.announces
        ? updateAnnounced(application, text, { method: 'UPDATE', agent, time })
        : updateTogether(settings.store, text, { agent, time }, [{ journalled: { prepare }, documents }, ...others])
    },
    prepare,
    settle: settlement.settle,
    onRecovered: (listener) => settings.applier?.onRecovered(listener),
    async close() {
      settlement.close()
      await settings.applier?.close()
    },
  }
}
