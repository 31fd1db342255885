// In charge of a store and a repository that do not have the same documents when the gateway starts: a store that has lost
// them is refused, what only the store has is imported, and what it lacks is told.
import { makeSignal } from '../../versioning/journal/signal.js'
import type { Log } from '../log.js'
import { documentsIn, namesIn, type Mirrored, type Names, type Tell } from './documents.js'
import { importDocuments } from './import.js'
import { StartFailure } from '../configuration/start-failure.js'
import { isFailure, type Problem } from '../problem.js'

export interface Alignment {
  /** Throws StartFailure where the store has nothing of what the repository has. */
  check(): Promise<void>
  /**
   * What only the store has becomes one commit, before the gateway serves; or as soon as the repository can be reached.
   * Throws StartFailure where the store cannot be read.
   */
  begin(): Promise<void>
  /** What an operator should know of it now. */
  warning(): string | undefined
  /** So many documents of the repository are missing in the store, it has turned out. */
  found(missing: number): void
  close(): void
}

const LOG_EVERY_MS = 5_000
/** Between attempts: each pause is twice as long as the one before it. */
const PAUSES = { shortest: 1_000, longest: 60_000 }

export function makeAlignment(mirrored: Mirrored, log: Log, pauses = PAUSES): Alignment {
  const { base, store, repository, history, now } = mirrored
  const [ending, closing] = [makeSignal(), new AbortController()]
  let names: Names | Problem | undefined
  let missing = 0
  let pending: string | undefined

  function teller(): Tell {
    let told = now()
    return (event) => {
      if (event.event === 'difference') log.error(event, 'a document is left out of the import')
      else if (now() - told >= LOG_EVERY_MS) {
        told = now()
        log.info({ base, documents: event.documents, of: event.of }, 'importing documents into the repository')
      }
    }
  }

  async function align(): Promise<undefined | Problem> {
    const known = names ?? (await namesIn(mirrored))
    names = undefined
    if (isFailure(known)) return known
    missing = known.onlyRecorded.length
    if (missing > 0) log.warn({ base, store: store.name, repository: repository.name }, missingText(missing))
    if (known.onlyStored.length === 0) return undefined
    const outcome = await importDocuments(mirrored, known.onlyStored, teller(), closing.signal)
    if (isFailure(outcome)) return outcome
    log.info({ base, repository: repository.name, documents: outcome.imported }, 'imported as one commit')
    return undefined
  }

  async function alignLater(): Promise<void> {
    for (let pause = pauses.shortest; !closing.signal.aborted; pause = Math.min(2 * pause, pauses.longest)) {
      await ending.received(pause)
      if (closing.signal.aborted) return
      try {
        pending = (await align())?.detail
        if (pending === undefined) return
      } catch (error) {
        if (!closing.signal.aborted) log.error({ err: error, base }, 'the documents could not be imported')
      }
    }
  }

  return {
    async check() {
      names = await namesIn(mirrored)
      if (isFailure(names) && !isOfHistory(names)) throw new StartFailure(`${base}: ${names.detail}`)
      // Of a repository that cannot be read it is known here whether it had anything.
      const { commits, depth, inDoubt } = history.status()
      const isLost = isFailure(names)
        ? (commits > 0 || depth > inDoubt) && (await isEmpty(mirrored))
        : names.recorded > 0 && names.stored.length === 0
      if (!isLost) return
      const lost = isFailure(names) ? 'its documents' : `${names.recorded} documents`
      throw new StartFailure(
        `${base}: the triplestore ${store.name} has no documents, though ${repository.name} has ${lost}. ` +
          'Correct the URL of the store, or fill it with triplegate mirror rebuild; to begin anew, give another --data ' +
          'or --history.',
      )
    },
    async begin() {
      const failed = await align()
      if (failed && !isOfHistory(failed)) {
        throw new StartFailure(`${base}: the documents could not be imported into the repository. ${failed.detail}`)
      }
      if (!failed) return
      pending = failed.detail
      const when = 'documents of the store that the repository lacks are imported as soon as it can be reached'
      log.warn({ base, repository: repository.name, problem: failed.detail }, when)
      void alignLater()
    },
    warning() {
      if (pending !== undefined) return `Documents of the store may be missing in the repository until then: ${pending}`
      return missing > 0 ? missingText(missing) : undefined
    },
    found: (count) => void (missing = count),
    close() {
      closing.abort()
      ending.send()
    },
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
