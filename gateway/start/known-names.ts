// In charge of the names of documents with characters beyond ASCII, known before the first request: read from the store or, of an
// embedded one, from its history, and remembered in the data folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { caughtSetback } from '../../versioning/failure.js'
import type { DescribedApplication } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import { makeNames, namesOfStore, NONE, type FoundNames, type Names, type NameSource } from '../documents/names.js'
import { writeWhole } from '../files/whole-file.js'
import type { Log } from '../log.js'
import type { Mirrored } from '../mirror/mirrored.js'
import { historyProblem } from '../mirror/write-failures.js'
import { isFailure } from '../problem.js'
import type { GraphStore } from '../stores/store.js'

const FILE = 'document-names.json'
/** A start waits so long for a store, in ms. */
const LONGEST_MS = 60_000

type Source = GraphStore | Pick<Mirrored, 'repository' | 'history' | 'documentOf'> | undefined

/** Where the source cannot be read, the names of the last start stay. @param source undefined for a store that begins empty */
export async function learnNames(
  { base }: Pick<DescribedApplication, 'base'>,
  isUrl: (url: string) => boolean,
  source: Source,
  { settings, log }: { readonly settings: Pick<Settings, 'data'>; readonly log: Log },
): Promise<Names> {
  const known = read(settings.data)
  const remembered = known[base] ?? NONE
  const names = makeNames(base, isUrl, remembered)
  if (!source) return names
  const call = { signal: AbortSignal.timeout(LONGEST_MS) }
  const from = 'query' in source ? namesOfStore(source, base, call) : namesOfHistory(source)
  const next = await names.learn(from)
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

const namesOfHistory =
  ({ repository, history, documentOf }: Exclude<Source, GraphStore | undefined>): NameSource =>
  async (_, take) => {
    try {
      for await (const { document } of history.uncommitted()) take(document)
      for await (const { path } of repository.files()) {
        const document = documentOf(path)
        if (document !== undefined) take(document)
      }
      return undefined
    } catch (error) {
      return historyProblem(caughtSetback(error))
    }
  }

function read(folder: string): Readonly<Record<string, FoundNames>> {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Record<string, FoundNames>
  } catch {
    // None are remembered yet. A lost file is written again.
    return {}
  }
}
