// The names of documents with characters beyond ASCII, known before the first request: read from the store (for an
// embedded store, from its history), and remembered in the data folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DescribedApplication } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import { makeNames, namesOfStore, type FoundNames, type Names, type NameSource } from '../documents/iri-spelling.js'
import { writeWhole } from '../files/whole-file.js'
import type { Log } from '../log.js'
import type { Mirrored } from '../mirror/all-documents.js'
import { isFailure } from '../problem.js'
import type { GraphStore } from '../stores/store.js'

const FILE = 'document-names.json'
/** How long a start waits for a store, in ms. */
const LONGEST_MS = 60_000

type History = Pick<Mirrored, 'repository' | 'history' | 'documentOf'>

export interface KnownNames {
  readonly names: Names
  /** Absent if the names have just been read. Resolves to true if they have changed: URLs may now mean other graphs. */
  readonly check?: (signal: AbortSignal) => Promise<boolean>
}

export interface NamedApplication extends Pick<DescribedApplication, 'base'> {
  /** True if the store will be filled from the history. */
  readonly isEmpty: boolean
  /** True if the start may use the names of the last start. */
  readonly mayBeOld: boolean
}

/** If the store cannot be read, the names of the last start are used. */
export async function learnNames(
  { base, isEmpty, mayBeOld }: NamedApplication,
  isUrl: (url: string) => boolean,
  { store, history }: { readonly store: GraphStore; readonly history: History | undefined },
  { settings, log }: { readonly settings: Pick<Settings, 'data'>; readonly log: Log },
): Promise<KnownNames> {
  const known = read(settings.data)[base]
  const names = makeNames(base, isUrl, known)
  const learn = async (signal: AbortSignal): Promise<boolean> => {
    const inStore = isEmpty ? undefined : namesOfStore(store, base, { signal })
    const inHistory = history && (isEmpty || !known) ? namesOfHistory(history) : undefined
    const next = await names.learn(async (kind, take) => (await inStore?.(kind, take)) ?? inHistory?.(kind, take))
    if (isFailure(next)) {
      if (!isClosing(signal)) log.warn({ base, problem: next.detail }, UNREADABLE)
      return false
    }
    if (JSON.stringify(next) === JSON.stringify(known)) return false
    writeWhole(join(settings.data, FILE), `${JSON.stringify({ ...read(settings.data), [base]: next })}\n`)
    return true
  }
  if (known && mayBeOld && !isEmpty) return { names, check: learn }
  await learn(AbortSignal.timeout(LONGEST_MS))
  return { names }
}

/** True if the gateway is closing. The time limit of a start is a TimeoutError instead. */
const isClosing = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError')

const UNREADABLE = 'the names of documents cannot be read: new ones beyond ASCII have no URLs yet'

/** No names if the history cannot be read, which the start itself reports. */
const namesOfHistory =
  ({ repository, history, documentOf }: History): NameSource =>
  async (_, take) => {
    try {
      for await (const { document } of history.uncommitted()) take(document)
      for await (const { path } of repository.files()) {
        const document = documentOf(path)
        if (document !== undefined) take(document)
      }
    } catch {
      return undefined
    }
    return undefined
  }

function read(folder: string): Readonly<Record<string, FoundNames>> {
  try {
    const known: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
    // A file that somebody else has changed counts as lost.
    return isKnown(known) ? known : {}
  } catch {
    // None are remembered yet. A lost file is written again.
    return {}
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const areNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && URL.canParse(name))

const isKnown = (value: unknown): value is Record<string, FoundNames> =>
  isRecord(value) &&
  Object.values(value).every((found) => isRecord(found) && areNames(found.literal) && areNames(found.encoded))
