// In charge of the start on a store and a repository that do not have the same documents: the start fails where the store has
// lost them, documents that only the store has are imported, and documents that it lacks are reported.
import { makeSignal } from '../../versioning/journal/signal.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import { importDocuments } from './import.js'
import { documentsIn, namesIn, type DocumentNames, type Mirrored } from './mirrored.js'
import type { Report } from './report.js'

export interface Alignment {
  /** Throws StartFailure where the store has none of the documents that the repository has. */
  check(): Promise<void>
  /**
   * Imports the documents that only the store has, as one commit: before the gateway serves, or as soon as the repository can
   * be reached. Throws StartFailure where the store cannot be read.
   */
  begin(): Promise<void>
  /** A message for operators, while there is a reason for one. */
  warning(): string | undefined
  /** To be called with the number of documents that a run over all of them has found missing in the store. */
  found(missing: number): void
  close(): void
}

/** Between attempts to import: each pause is twice as long as the one before it, ms. */
const PAUSES = { shortest: 1_000, longest: 60_000 }

interface State {
  readonly mirrored: Mirrored
  readonly log: Log
  readonly pauses: typeof PAUSES
  readonly closing: AbortController
  readonly ending: ReturnType<typeof makeSignal>
  /** As `check` has read them, for the first attempt. */
  names: DocumentNames | Problem | undefined
  missing: number
  /** Why the import waits, while it does. */
  pending: string | undefined
}

export function makeAlignment(mirrored: Mirrored, log: Log, pauses = PAUSES): Alignment {
  const state: State = {
    ...{ mirrored, log, pauses, closing: new AbortController(), ending: makeSignal() },
    ...{ names: undefined, missing: 0, pending: undefined },
  }
  return {
    async check() {
      state.names = await namesIn(mirrored)
      await checkStore(mirrored, state.names)
    },
    begin: () => begin(state),
    warning() {
      const { pending, missing } = state
      if (pending !== undefined) return `Documents of the store may be missing in the repository until then: ${pending}`
      return missing > 0 ? missingText(missing) : undefined
    },
    found: (missing) => void (state.missing = missing),
    close() {
      state.closing.abort()
      state.ending.send()
    },
  }
}

async function checkStore(mirrored: Mirrored, names: DocumentNames | Problem): Promise<void> {
  const { base, store, repository, history } = mirrored
  if (isFailure(names) && !isOfHistory(names)) throw new StartFailure(`${base}: ${names.detail}`)
  // Where the repository cannot be read, the history still knows whether it had documents.
  const { commits, depth, inDoubt } = history.status()
  const isLost = isFailure(names)
    ? (commits > 0 || depth > inDoubt) && (await isEmpty(mirrored))
    : names.recorded > 0 && names.stored.length === 0
  if (!isLost) return
  const lost = isFailure(names) ? 'its documents' : `${names.recorded} documents`
  throw new StartFailure(
    `${base}: the triplestore ${store.name} has no documents, though ${repository.name} has ${lost}. ` +
      'Correct the URL of the store, or fill it with triplegate mirror rebuild; to start a new history, give another --data ' +
      'or --history.',
  )
}

async function begin(state: State): Promise<void> {
  const { mirrored, log } = state
  const { base, repository } = mirrored
  const failed = await align(state)
  if (!failed) return
  if (!isOfHistory(failed)) {
    throw new StartFailure(`${base}: the documents could not be imported into the repository. ${failed.detail}`)
  }
  state.pending = failed.detail
  const when = 'documents that only the store has are imported as soon as the repository can be reached'
  log.warn({ base, repository: repository.name, problem: failed.detail }, when)
  void alignLater(state)
}

/** Imports the documents that only the store has, and reports how many it lacks. */
async function align(state: State): Promise<undefined | Problem> {
  const { mirrored, log, closing } = state
  const { base, store, repository } = mirrored
  const names = state.names ?? (await namesIn(mirrored))
  state.names = undefined
  if (isFailure(names)) return names
  state.missing = names.onlyRecorded.length
  if (state.missing > 0) log.warn({ base, store: store.name, repository: repository.name }, missingText(state.missing))
  // An update in doubt may have made these: settling it commits them as its own, at its time (settle.ts).
  if (names.onlyStored.length === 0 || mirrored.history.open().some(({ unread }) => unread === 'dataset'))
    return undefined
  const options = { report: logReport(mirrored, log), signal: closing.signal }
  const outcome = await importDocuments(mirrored, names.onlyStored, options)
  if (isFailure(outcome)) return outcome
  log.info({ base, repository: repository.name, documents: outcome.imported }, 'imported as one commit')
  return undefined
}

/** Attempts it again and again, until it is done or the gateway closes. */
async function alignLater(state: State): Promise<void> {
  const { mirrored, log, pauses, closing, ending } = state
  for (let pause = pauses.shortest; !closing.signal.aborted; pause = Math.min(2 * pause, pauses.longest)) {
    await ending.received(pause)
    if (closing.signal.aborted) return
    try {
      state.pending = (await align(state))?.detail
      if (state.pending === undefined) return
    } catch (error) {
      if (!closing.signal.aborted) log.error({ err: error, base: mirrored.base }, 'the documents could not be imported')
    }
  }
}

const LOG_EVERY_MS = 5_000

function logReport({ base, now }: Mirrored, log: Log): Report {
  let logged = now()
  return (event) => {
    if (event.event === 'difference') log.error(event, 'a document is left out of the import')
    else if (now() - logged >= LOG_EVERY_MS) {
      logged = now()
      log.info({ base, documents: event.documents, of: event.of }, 'importing documents into the repository')
    }
  }
}

const isOfHistory = ({ failure }: Problem): boolean => failure.startsWith('history.')

async function isEmpty(mirrored: Mirrored): Promise<boolean> {
  const stored = await documentsIn(mirrored)
  return !isFailure(stored) && stored.length === 0
}

const missingText = (count: number): string =>
  `${count === 1 ? '1 document of the repository is' : `${count} documents of the repository are`} missing in the store: ` +
  'run triplegate mirror verify, which compares contents too.'
