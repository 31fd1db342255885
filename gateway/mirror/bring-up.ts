// The start of a store with a log (design 6): the store gets the entries that it lacks. If it runs a request as one
// transaction, it stores its position from then on.
import type { ChangedSince, History, OpenEntry } from '../../versioning/history.js'
import { StartFailure } from '../configuration/start-failure.js'
import { everyWrite, underLocks, type Locks } from '../documents/locks.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem, type ProblemCode } from '../problem.js'
import { setPosition } from '../stores/fenced-update.js'
import { eachGraph } from '../stores/graph-names.js'
import { firstTurn, positionIn, turnText, type Position } from '../stores/store-position.js'
import type { GraphStore } from '../stores/store.js'
import { transactionsOf } from '../stores/transaction-probe.js'
import { blobsIn, inParallel, inSlices, type Mirrored } from './all-documents.js'
import { makeApplier, type Applier } from './applier.js'
import { makeSo } from './make-so.js'
import { isThere, judgePart, openByDocument, settleEntries } from './open-entries.js'
import { historyProblem, isUnreadable } from './write-failures.js'

interface BringUpSettings extends Mirrored {
  readonly locks: Locks
  readonly log: Log
  /** True if the store may be ahead of its log: a sweep then finds the changes that the log lacks. */
  readonly takesOver: boolean
}

/** Undefined if the store cannot keep a position. Throws StartFailure. */
export async function bringUp(settings: BringUpSettings): Promise<Applier | undefined> {
  const { store, history, base, takesOver } = settings
  const { log } = history
  const found = orStartFailure(base, await positionIn(store, log.iri))
  const isAhead = found !== undefined && found.at > log.position()
  // Leave a store without a position to the sweep.
  if (takesOver && !found && log.keptSince() !== undefined) return undefined
  const probed = await canKeepPosition(settings)
  // A store that refuses all updates, or those of the probe, has never had a position.
  const isWithout = !found && log.keptSince() === undefined && isFailure(probed) && NO_UPDATES.has(probed.failure)
  const canKeep = isWithout ? false : orStartFailure(base, probed)
  const hadPosition = found !== undefined || log.keptSince() !== undefined
  if (isAhead) await continueAfter(settings, found)
  else history.done(history.open().filter(({ position }) => found && (position ?? Infinity) <= found.at))
  const stay = orStartFailure(base, await judgeParts(settings, found, canKeep))
  if (isAhead) history.done(history.open().filter(({ unread }) => !unread))
  if (!isAhead && hadPosition) orStartFailure(base, await catchUp(settings, found?.at, stay))
  orStartFailure(base, await settleOpen(settings))
  if (canKeep && !hadPosition) orStartFailure(base, problemOf(await log.keepSince(log.position())))
  const [at, turn] = [log.position(), firstTurn()]
  // Move an existing position forward, even if it is not used this time.
  if (canKeep || found) orStartFailure(base, await store.update(setPosition(log.iri, at, turnText(turn))))
  if (!canKeep) return undefined
  return makeApplier({
    ...{ store, at, turn, iri: log.iri, log: settings.log },
    settledPosition: log.settledPosition,
    catchUp: (from) => catchUp(settings, from),
  })
}

function orStartFailure<T>(base: string, outcome: T | Problem): T {
  if (isFailure(outcome)) throw new StartFailure(`${base}: ${outcome.detail}`)
  return outcome
}

const problemOf = (failed: Parameters<typeof historyProblem>[0] | undefined): undefined | Problem =>
  failed && historyProblem(failed)

async function continueAfter({ store, history, base, takesOver }: BringUpSettings, { at }: Position): Promise<void> {
  const { log } = history
  if (!takesOver)
    throw new StartFailure(
      `${base}: the triplestore ${store.name} has ${at} entries of the log, and the data folder has ${log.position()}. ` +
        'Restore the newer data folder, or run triplegate mirror sweep, which commits the state of the store.',
    )
  orStartFailure(base, problemOf(await log.continueAfter(at)))
}

interface Logged {
  readonly store: GraphStore
  readonly history: History
  readonly log: Log
}

const NO_UPDATES: ReadonlySet<ProblemCode> = new Set(['store.refused', 'store.failed', 'update.syntax'])

async function canKeepPosition({ store, history, log }: Logged): Promise<boolean | Problem> {
  const found = await transactionsOf(store, `${history.log.iri}#probe`)
  if (found === 'whole' || isFailure(found)) return found === 'whole' || found
  log.info({ store: store.name, transactions: found }, 'writes are not fenced: the store does not keep a position')
  return false
}

/** A store that has been filled from its history has all entries of the log. */
export async function keepPosition({ store, history, log }: Logged): Promise<undefined | Problem> {
  const { iri, position, keptSince, keepSince } = history.log
  const found = await positionIn(store, iri)
  if (isFailure(found)) return found
  const canKeep = await canKeepPosition({ store, history, log })
  if (isFailure(canKeep)) return found || !NO_UPDATES.has(canKeep.failure) ? canKeep : undefined
  if (!canKeep && !found) return undefined
  const failed = keptSince() === undefined ? problemOf(await keepSince(position())) : undefined
  return failed ?? (await store.update(setPosition(iri, position(), turnText(firstTurn()))))
}

/**
 * Judges the writes that the journal has only in part, before any document is written: the store shows their outcome
 * only until then. Returns the documents that must stay as they are. The probe of the store has waited for earlier
 * writes.
 * @param canKeep false: `found` may be the position of an earlier start
 */
async function judgeParts(
  settings: BringUpSettings,
  found: Position | undefined,
  canKeep: boolean,
): Promise<ReadonlySet<string> | Problem> {
  const stay = new Set<string>()
  for (const [document, entries] of openByDocument(settings.history)) {
    const last = entries.at(-1)
    const putBack = last?.isPart && (canKeep || !found) ? await isPutBack(settings, found, last) : false
    const judged = isFailure(putBack) ? putBack : await judgePart(settings, entries, putBack)
    if (isFailure(judged)) return judged
    if (judged.stays) stay.add(document)
  }
  return stay
}

/** True if the store lacks changes of the document before this entry, whose write set the position of all of them. */
async function isPutBack(
  { history: { log } }: BringUpSettings,
  found: Position | undefined,
  { document, position: last = Infinity }: OpenEntry,
): Promise<boolean | Problem> {
  if (!found) return log.keptSince() !== undefined
  const changes = await log.changesSince(found.at, new Set([document]))
  if (isFailure(changes)) return historyProblem(changes)
  return !changes || changes.some(({ position }) => position < last)
}

/** How long to wait for the history to read the branch, ms. */
const PATIENCE_MS = 30_000

/**
 * Writes to the store the documents that entries after its position have changed, in their last state. A store without
 * a position gets all changes since it first had one, and the documents that it lacks.
 * @param stay documents that are not written
 */
async function catchUp(
  settings: BringUpSettings,
  from: number | undefined,
  stay: ReadonlySet<string> = new Set(),
): Promise<undefined | Problem> {
  const { store, history, log } = settings
  const lacking = from === undefined ? await lackingIn(settings) : { documents: [], isAll: false }
  if (isFailure(lacking)) return lacking
  const known = lacking.isAll ? NOTHING : await history.log.changedSince(from ?? history.log.keptSince() ?? 0)
  if (isFailure(known)) return historyProblem(known)
  if (!known) return TOO_OLD
  const documents = new Set([...lacking.documents, ...known.graphs].filter((document) => !stay.has(document)))
  if (documents.size > 0)
    log.info(
      { store: store.name, position: from, documents: documents.size },
      'the store gets the changes that it lacks',
    )
  const makeOne = (document: string): Promise<undefined | Problem> =>
    underLocks(settings, [everyWrite(settings, 'shared'), [document, 'exclusive']], () =>
      makeLatest(settings, document),
    )
  for await (const failed of inParallel(documents, makeOne)) if (failed) return failed
  return undefined
}

const NOTHING: Pick<ChangedSince, 'graphs'> = { graphs: new Set() }

const TOO_OLD = problem(
  'store.failed',
  'The triplestore comes from a backup older than the first known entry of the log. Stop the gateway and run triplegate mirror rebuild --force.',
)

/** The documents that the history has and the store lacks. */
interface Lacking {
  readonly documents: readonly string[]
  /** True if the store has none of the documents. */
  readonly isAll: boolean
}

async function lackingIn(mirrored: Mirrored): Promise<Lacking | Problem> {
  const stored = new Set<string>()
  const failed = await eachGraph(mirrored.store, {}, (graph) => void stored.add(graph))
  const blobs = failed ?? (await blobsIn(mirrored))
  if (isFailure(blobs)) return blobs
  const all = new Set([...blobs.keys(), ...mirrored.history.journalled()])
  const documents: string[] = []
  for await (const slice of inSlices(all)) documents.push(...slice.filter((document) => !stored.has(document)))
  return { documents, isAll: all.size > 0 && documents.length === all.size }
}

async function makeLatest(settings: BringUpSettings, document: string): Promise<undefined | Problem> {
  const { history, log } = settings
  // A running gateway sends an open write again: until then the document may have its content, as the other graphs do.
  const part = history.open(document).find(({ isPart }) => isPart)
  const isDone = part ? await isThere(settings, part, true) : false
  if (isFailure(isDone) && !isUnreadable(isDone)) return isDone
  if (isDone === true) return undefined
  const content = await history.latest(document, PATIENCE_MS)
  if (isFailure(content)) return historyProblem(content)
  const failed = await makeSo(settings, { document, content })
  if (!failed || !('unfit' in failed)) return failed
  log.error(
    { document, problem: failed.unfit.detail },
    'a document of the history is not in the store: it cannot be read',
  )
  return undefined
}

async function settleOpen(settings: BringUpSettings): Promise<undefined | Problem> {
  for (const entries of openByDocument(settings.history).values()) {
    const done = await settleEntries(settings, entries)
    if (isFailure(done)) return done
  }
  return undefined
}
