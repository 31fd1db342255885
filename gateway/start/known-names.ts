// The names of documents with characters beyond ASCII, known before the first request: read from the store (for an
// embedded store, from its history), and remembered in the data folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DescribedApplication } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import {
  makeNames,
  namesOfStore,
  NONE,
  type FoundNames,
  type Names,
  type NameSource,
} from '../documents/iri-spelling.js'
import { writeWhole } from '../files/whole-file.js'
import type { Log } from '../log.js'
import type { Mirrored } from '../mirror/all-documents.js'
import { isFailure } from '../problem.js'
import type { GraphStore } from '../stores/store.js'

const FILE = 'document-names.json'
/** How long a start waits for a store, in ms. */
const LONGEST_MS = 60_000

type History = Pick<Mirrored, 'repository' | 'history' | 'documentOf'>

/** If the store cannot be read, the names of the last start stay. @param isEmpty the store will be filled */
export async function learnNames(
  { base, isEmpty }: Pick<DescribedApplication, 'base'> & { readonly isEmpty: boolean },
  isUrl: (url: string) => boolean,
  { store, history }: { readonly store: GraphStore; readonly history: History | undefined },
  { settings, log }: { readonly settings: Pick<Settings, 'data'>; readonly log: Log },
): Promise<Names> {
  const known = read(settings.data)
  const remembered = known[base] ?? NONE
  const names = makeNames(base, isUrl, remembered)
  const inStore = isEmpty ? undefined : namesOfStore(store, base, { signal: AbortSignal.timeout(LONGEST_MS) })
  const inHistory = history && (isEmpty || !known[base]) ? namesOfHistory(history) : undefined
  const next = await names.learn(async (kind, take) => (await inStore?.(kind, take)) ?? inHistory?.(kind, take))
  if (isFailure(next)) {
    log.warn(
      { base, problem: next.detail },
      'the names of documents cannot be read: new ones beyond ASCII have no URLs yet',
    )
    return names
  }
  if (JSON.stringify(next) !== JSON.stringify(remembered))
    writeWhole(join(settings.data, FILE), `${JSON.stringify({ ...known, [base]: next })}\n`)
  return names
}

/** None if they cannot be read: the start itself reports that. */
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
    const known = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as unknown
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
