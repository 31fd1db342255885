// The start of a store with a log (design 6): it gets the entries that it lacks; from then on it knows its position, if
// it runs a request as one transaction.
import type { History, OpenEntry } from '../../versioning/history.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { firstPosition, setPosition } from '../stores/fenced-update.js'
import type { GraphStore } from '../stores/store.js'
import { transactionsOf } from '../stores/transaction-probe.js'
import { makeApplier, makeSo, positionIn, type Applier } from './applier.js'
import { historyProblem } from './write-failures.js'

interface Logged {
  readonly store: GraphStore
  readonly history: History
  readonly log: Log
}

interface BringUpSettings extends Logged {
  readonly base: string
  /** Takes over a store that is ahead of its log: the changes that the log lacks are found by a sweep. */
  readonly takesOver: boolean
}

/** Undefined where the store cannot keep a position. Throws StartFailure. */
export async function bringUp(settings: BringUpSettings): Promise<Applier | undefined> {
  const { store, history, base } = settings
  const { iri } = history.log
  const at = orStartFailure(base, await positionIn(store, iri))
  if (at !== undefined && at > history.log.position()) await takeOver(settings, at)
  const open = history.open().filter(({ unread }) => !unread)
  if (at === undefined && !(await canKeepPosition(settings))) {
    orStartFailure(base, await apply(settings, open))
    return undefined
  }
  // No client got another answer than that they would be done, if it got one.
  history.done(open)
  // Those of an earlier release have no position.
  const unknown = at === undefined ? open : open.filter(({ position }) => position === undefined)
  orStartFailure(base, (await apply(settings, unknown)) ?? (at === undefined ? undefined : await catchUp(settings, at)))
  const position = history.log.position()
  if (at === undefined) orStartFailure(base, await store.update(firstPosition(iri, position)))
  return makeApplier({
    ...{ store, iri, log: settings.log, at: at ?? position },
    settledPosition: history.log.settledPosition,
    catchUp: (from) => catchUp(settings, from),
  })
}

function orStartFailure<T>(base: string, outcome: T | Problem): T {
  if (isFailure(outcome)) throw new StartFailure(`${base}: ${outcome.detail}`)
  return outcome
}

async function takeOver({ store, history, base, takesOver }: BringUpSettings, at: number): Promise<void> {
  const { log } = history
  if (!takesOver)
    throw new StartFailure(
      `${base}: the triplestore ${store.name} has ${at} entries of the log, and the data folder has ${log.position()}. ` +
        'Put back the newer data folder; or run triplegate mirror sweep, which takes over what the store has.',
    )
  const failed = await log.continueAfter(at)
  if (failed) throw new StartFailure(`${base}: ${failed.detail}`)
}

async function canKeepPosition({ store, history, log }: Logged): Promise<boolean> {
  const found = await transactionsOf(store, `${history.log.iri}#probe`)
  if (found === 'whole') return true
  const problem = isFailure(found) ? found.detail : found
  log.info({ store: store.name, transactions: problem }, 'writes are not fenced: the store does not keep a position')
  return false
}

/** A store that has been filled from its history has all entries of the log. */
export async function keepPosition({ store, history, log }: Logged): Promise<undefined | Problem> {
  const { iri, position } = history.log
  const at = await positionIn(store, iri)
  if (isFailure(at)) return at
  const canKeep = at !== undefined || (await canKeepPosition({ store, history, log }))
  return canKeep ? store.update(setPosition(iri, position())) : undefined
}

/** The last entry of each document. */
const apply = ({ store, history }: Logged, open: readonly OpenEntry[]): Promise<undefined | Problem> =>
  makeSo(store, [...new Map(open.map((entry) => [entry.document, entry])).values()]).then((failed) => {
    if (!failed) history.done(open)
    return failed
  })

/** How long to wait for the history to read the branch, ms. */
const PATIENCE_MS = 30_000

/** Gives the store what entries after its position have changed, each document as it is after the last. */
async function catchUp({ store, history, log }: Logged, from: number): Promise<undefined | Problem> {
  const documents = await history.log.changedSince(from)
  if (isFailure(documents)) return historyProblem(documents)
  if (!documents) return TOO_OLD
  if (documents.size > 0) log.info({ store: store.name, position: from, documents: documents.size }, 'the store gets entries of the log that it lacks') // prettier-ignore
  for (const document of documents) {
    const content = await history.latest(document, PATIENCE_MS)
    if (isFailure(content)) return historyProblem(content)
    const failed = await makeSo(store, [{ document, content }])
    if (failed) return failed
  }
  return undefined
}

const TOO_OLD = problem(
  'store.failed',
  'The triplestore is from a backup that is older than the log reaches. Run triplegate mirror rebuild --force.',
)
