// In charge of writes in doubt: begun in the journal, with nobody knowing what the store made of them. Each is held against
// the store, and becomes a commit or is dropped (design 6).
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../versioning/change.js'
import type { History, OpenEntry } from '../../versioning/history.js'
import { graphOf, nTriplesOf } from '../rdf/graph.js'
import type { Locks } from '../documents/lock.js'
import type { Log } from '../log.js'
import { lastModifiedOf } from '../documents/next-state.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import type { GraphStore } from '../stores/store.js'

export type Author = Pick<Change, 'method' | 'agent' | 'time'>

export interface Settlement {
  /** The store may have done these, or may do them yet. */
  doubt(entries: readonly OpenEntry[]): void
  /** An update of any document is done: what came of it has to be found. Resolves when it is. */
  find(entry: OpenEntry): Promise<void>
  /**
   * Undefined when no update of any document is still to be found in some (any more), after `patience` ms at most: another
   * one now would be taken for part of it.
   */
  found(patience: number): Promise<undefined | Problem>
  /** Undefined when no change of this document is in doubt (any more). To be called under its lock. */
  settle(document: string): Promise<undefined | Problem>
  close(): void
}

export interface SettlementSettings {
  readonly store: GraphStore
  readonly history: History
  /** Journals what the store has of a document, or of all, where that is not what the history has of it. */
  readonly sweep: {
    /** Under the document's lock. */
    document(document: string, author: Author): Promise<undefined | Problem>
    all(author: Author): Promise<undefined | Problem>
  }
  readonly locks: Locks
  readonly log: Log
}

/** How long a store that was given up on may still do what it was asked, ms. */
const DOUBT_MS = 5_000
const ASK_EVERY_MS = 1_000

export function makeSettlement({ store, history, sweep, locks, log }: SettlementSettings): Settlement {
  // Not by the clock, which may be set meanwhile.
  const opened = performance.now()
  /** When a change came to be in doubt, by its id, as performance.now(); what an earlier process left, when this one began. */
  const since = new Map(history.open().map(({ id }) => [id, opened]))
  /** Updates of any document that are not found in all documents yet. */
  const wide = new Set(history.open().filter(({ unread }) => unread === 'dataset'))
  let timer: NodeJS.Timeout | undefined
  let settling: Promise<void> | undefined
  let closed = false

  async function settle(document: string): Promise<undefined | Problem> {
    // What an update has left is found last: a change that is known already is no change then.
    const open = history.open(document).filter(({ unread }) => unread !== 'dataset')
    for (const entry of [...open.filter(({ unread }) => !unread), ...open.filter(({ unread }) => unread)]) {
      const failed = await settleEntry(entry)
      if (failed) return failed
    }
    for (const entry of wide) {
      const failed = await sweep.document(document, authorOf(entry))
      if (failed) return failed
    }
    return undefined
  }

  async function settleEntry(entry: OpenEntry): Promise<undefined | Problem> {
    const over = await isOver(entry)
    if (isFailure(over)) return over
    if (entry.unread) {
      if (!over) return inDoubt()
      const failed = await sweep.document(entry.document, authorOf(entry))
      if (failed) return failed
      await history.undone([entry])
    } else {
      const stored = await store.read(entry.document)
      if (isFailure(stored)) return stored
      if (isStateOf(stored, entry)) await history.done([entry])
      else if (over) await history.undone([entry])
      else return inDoubt()
    }
    since.delete(entry.id)
    return undefined
  }

  /** Whether the store will not do any more what it has not done. */
  async function isOver({ id }: OpenEntry): Promise<boolean | Problem> {
    if (performance.now() - (since.get(id) ?? opened) < DOUBT_MS) return false
    // Stores write one after the other: behind this, nothing that they were asked before is still to be done.
    return (await store.update(FENCE)) ?? true
  }

  async function settleEach(): Promise<void> {
    const open = history.open()
    // What has been settled in another way, such as a commit found at the start, is in no doubt any more.
    for (const id of since.keys()) if (!open.some((entry) => entry.id === id)) since.delete(id)
    const doubtful = open.filter(({ id, unread }) => since.has(id) && unread !== 'dataset')
    for (const document of new Set(doubtful.map((entry) => entry.document))) {
      const release = await locks.acquire(document, 'exclusive')
      if (!release) continue
      try {
        await settle(document)
      } finally {
        release()
      }
    }
    for (const entry of wide) {
      if (since.has(entry.id) && (await isOver(entry)) !== true) continue
      if (await sweep.all(authorOf(entry))) continue
      await history.undone([entry])
      wide.delete(entry)
      since.delete(entry.id)
    }
  }

  /** One at a time. */
  const settleAll = (): Promise<void> => (settling ??= settleEach().finally(() => (settling = undefined)))

  function watch(): void {
    if (closed || timer || (since.size === 0 && wide.size === 0)) return
    timer = setTimeout(() => {
      void settleAll()
        .catch((error: unknown) => log.error({ err: error }, 'writes in doubt could not be settled'))
        .finally(() => {
          timer = undefined
          watch()
        })
    }, ASK_EVERY_MS).unref()
  }

  watch()
  return {
    doubt(entries) {
      for (const entry of entries) {
        since.set(entry.id, performance.now())
        if (entry.unread === 'dataset') wide.add(entry)
      }
      watch()
    },
    async find(entry) {
      wide.add(entry)
      watch()
      await settling
      await settleAll()
    },
    async found(patience) {
      if (wide.size > 0) await Promise.race([settleAll(), sleep(patience)])
      return wide.size > 0 ? beingFound() : undefined
    },
    settle,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

const authorOf = ({ agent, time }: OpenEntry): Author => ({ method: 'UPDATE', agent, time })

const FENCE = 'DELETE WHERE { GRAPH <urn:triplegate:fence> { ?s ?p ?o } }'

/** `dct:modified`, or `dct:created` of a new document, grows with every write: it tells the states of a document apart. */
function isStateOf(stored: string | undefined, { document, content }: OpenEntry): boolean {
  if (stored === undefined || content === undefined) return stored === content
  const [there, wanted] = [stored, content].map((text) => lastModifiedOf(graphOf(readNTriples(text) ?? []), document))
  return there !== undefined && there === wanted
}

const inDoubt = (): Problem =>
  problem('store.in-doubt', 'The triplestore has not said yet what became of an earlier write to this document.', {
    fields: [['Retry-After', String(DOUBT_MS / 1000)]],
  })

const beingFound = (): Problem =>
  problem(
    'store.in-doubt',
    'What an earlier update of any document has changed is still being found. Ask again soon.',
    {
      fields: [['Retry-After', String(DOUBT_MS / 1000)]],
    },
  )

/** The document as the store has it, in canonical N-Triples. */
export async function stateOf(store: GraphStore, document: string): Promise<string | undefined | Problem> {
  const stored = await store.read(document)
  return stored === undefined || isFailure(stored) ? stored : canonicalNTriples(stored)
}

export function canonicalNTriples(text: string): string | undefined | Problem {
  const triples = readNTriples(text)
  if (!triples) return problem('store.failed', 'The triplestore answered with something that is not N-Triples.')
  return nTriplesOf(graphOf(triples)) || undefined
}
