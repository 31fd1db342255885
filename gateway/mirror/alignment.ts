// Handles a start at which the store and the repository do not have the same documents. If the store has lost all of
// them, the start fails. Documents that only the store has are imported; documents that it lacks are reported.
import { makeSignal } from '../../versioning/journal/signal.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import { importDocuments } from './import.js'
import { hasDocuments, namesIn, type Mirrored } from './all-documents.js'
import type { Report } from './report.js'

export interface Alignment {
  /**
   * Begins to import the documents that only the store has, while the gateway serves: each attempt continues where the
   * last one stopped.
   */
  begin(): void
  /** True until all have been imported: documents may have no version yet. */
  isUnderWay(): boolean
  /** A message for operators, while there is a reason for one. */
  warning(): string | undefined
  /** Call it when a run over all documents has found this many missing in the store. */
  found(missing: number): void
  close(): void
}

/** Pauses between attempts to import, in ms: each is twice as long as the one before it. */
const PAUSES = { shortest: 1_000, longest: 60_000 }

interface State {
  readonly mirrored: Mirrored
  readonly log: Log
  readonly pauses: typeof PAUSES
  readonly closing: AbortController
  readonly ending: ReturnType<typeof makeSignal>
  isUnderWay: boolean
  missing: number
  /** The progress of the running import. */
  progress: { readonly documents: number; readonly of: number } | undefined
  /** Why the import waits, while it does. */
  pending: string | undefined
}

export function makeAlignment(mirrored: Mirrored, log: Log, pauses = PAUSES): Alignment {
  const state: State = {
    ...{ mirrored, log, pauses, closing: new AbortController(), ending: makeSignal() },
    ...{ isUnderWay: false, missing: 0, progress: undefined, pending: undefined },
  }
  return {
    begin() {
      state.isUnderWay = true
      void alignUntilDone(state)
    },
    isUnderWay: () => state.isUnderWay,
    warning() {
      const { pending, progress, missing } = state
      if (pending !== undefined) return `Documents of the store may be missing in the repository until then: ${pending}`
      if (progress) return `Documents of the store are being imported: ${progress.documents} of ${progress.of}.`
      return missing > 0 ? missingText(missing) : undefined
    },
    found: (missing) => void (state.missing = missing),
    close() {
      state.closing.abort()
      state.ending.send()
    },
  }
}

/** Throws StartFailure if the store has none of the documents that the repository has, or cannot be read. */
export async function checkDocuments(mirrored: Mirrored): Promise<void> {
  const { base, store, repository, history } = mirrored
  const stored = await hasDocuments(mirrored)
  if (isFailure(stored)) throw new StartFailure(`${base}: ${stored.detail}`)
  if (stored) return
  const names = await namesIn(mirrored)
  if (isFailure(names) && !isOfHistory(names)) throw new StartFailure(`${base}: ${names.detail}`)
  // Even if the repository cannot be read, the history knows whether it had documents.
  const { commits, depth, inDoubt } = history.status()
  if (isFailure(names) ? commits === 0 && depth <= inDoubt : names.recorded === 0) return
  const lost = isFailure(names) ? 'its documents' : `${names.recorded} documents`
  throw new StartFailure(
    `${base}: the triplestore ${store.name} has no documents, though ${repository.name} has ${lost}. ` +
      'Correct the URL of the store, or fill it with triplegate mirror rebuild; to start a new history, give another --data ' +
      'or --history.',
  )
}

/** Repeats attempts until one succeeds or the gateway closes. */
async function alignUntilDone(state: State): Promise<void> {
  const { mirrored, log, pauses, closing, ending } = state
  const { base, repository } = mirrored
  for (let pause = pauses.shortest; !closing.signal.aborted; pause = Math.min(2 * pause, pauses.longest)) {
    const failed = await align(state).catch((error: unknown) => error as Error)
    state.progress = undefined
    if (!failed) break
    if (closing.signal.aborted) return
    if (failed instanceof Error) log.error({ err: failed, base }, 'the documents could not be imported')
    else if (state.pending === undefined) {
      const when =
        'documents that only the store has are imported as soon as the repository and the store can be reached'
      log.warn({ base, repository: repository.name, problem: failed.detail }, when)
    }
    state.pending = failed instanceof Error ? failed.message : failed.detail
    await ending.received(pause)
  }
  state.pending = undefined
  state.isUnderWay = false
}

/** Imports the documents that only the store has, and reports how many it lacks. */
async function align(state: State): Promise<undefined | Problem> {
  const { mirrored, log, closing } = state
  const { base, store, repository } = mirrored
  const names = await namesIn(mirrored)
  if (isFailure(names)) return names
  const missing = await stillMissing(mirrored, names.onlyRecorded)
  if (isFailure(missing)) return missing
  state.missing = missing
  if (state.missing > 0) log.warn({ base, store: store.name, repository: repository.name }, missingText(state.missing))
  // Import nothing while an update is in doubt: it may have created these documents, and settling it commits them with
  // its time and agent (settle.ts).
  if (names.onlyStored.length === 0 || mirrored.history.open().some(({ unread }) => unread === 'dataset'))
    return undefined
  state.pending = undefined
  const outcome = await importDocuments(mirrored, names.onlyStored, { report: reportOf(state), signal: closing.signal })
  if (isFailure(outcome)) return outcome
  log.info({ base, repository: repository.name, documents: outcome.imported }, 'imported into the repository')
  return undefined
}

/** How many of these the store still lacks: a document that was written while the names were read seems missing once. */
async function stillMissing(mirrored: Mirrored, documents: readonly string[]): Promise<number | Problem> {
  if (documents.length === 0) return 0
  const again = await namesIn(mirrored)
  if (isFailure(again)) return again
  const lacking = new Set(again.onlyRecorded)
  return documents.filter((document) => lacking.has(document)).length
}

const LOG_EVERY_MS = 5_000

function reportOf(state: State): Report {
  const { mirrored, log } = state
  const { base, now } = mirrored
  let logged = -Infinity
  return (event) => {
    if (event.event === 'difference') return log.error(event, 'a document is left out of the import')
    const { documents, of } = event
    state.progress = { documents, of }
    if (now() - logged < LOG_EVERY_MS) return
    logged = now()
    log.info({ base, documents, of }, 'importing documents into the repository, while requests are answered')
  }
}

const isOfHistory = ({ failure }: Problem): boolean => failure.startsWith('history.')

const missingText = (count: number): string =>
  `${count === 1 ? '1 document of the repository is' : `${count} documents of the repository are`} missing in the store: ` +
  'run triplegate mirror verify, which compares contents too.'
