// In charge of making the version index say what the branch says, and of finding the journal's changes there.
import { setImmediate as breathe } from 'node:timers/promises'
import type { Setback } from '../change.js'
import { readTrailers, type Trailers } from '../git/commit-message.js'
import type { Log } from '../history.js'
import type { Journal } from './journal.js'
import { mayBeOf, SetbackError, type LoggedCommit, type Repository } from '../repository.js'
import type { IndexedCommit, VersionIndex } from './version-index.js'

/** Files and commits that are added to the index at once. */
const AT_ONCE = 1000

const REWRITTEN =
  'The branch was rewritten: the version index is made anew. Versions may be gone, and documents differ from the branch: ' +
  'run "triplegate mirror verify".'

export interface Branch {
  readonly repository: Repository
  readonly journal: Journal
  readonly index: VersionIndex
  /** Of the application, with its slash. */
  readonly base: string
  readonly isDocument: (path: string) => boolean
  readonly log: Log
}

/** For what is thrown by a repository or the database; anything else is a bug, and is thrown on. */
export function setbackOf(error: unknown): Setback {
  if (error instanceof SetbackError) return error.setback
  throw error
}

/**
 * Reads the commits after the index's head, or all where there is none, or where it is not on the branch (any more).
 * Changes in the journal that have become commits leave it. Throws SetbackError.
 * @param onward says, after each step, whether to go on
 */
export async function catchUp(
  { repository, journal, index, base, isDocument, log }: Branch,
  onward: () => boolean,
): Promise<undefined | Setback> {
  const head = index.head()
  let begun = false
  for await (const chunk of inChunks(repository.log(head))) {
    if (!begun && (head === undefined || chunk[0]!.parent !== head)) {
      if (head !== undefined) log.warn({ repository: repository.name, base, head }, REWRITTEN)
      const failed = await index.clear()
      if (failed) return failed
    }
    begun = true
    const read = chunk.map((logged) => ({ logged, trailers: readTrailers(logged.message) }))
    const ids = read.flatMap(({ logged: { files }, trailers: { journalId } }) => {
      const path = journalId === undefined ? undefined : journal.pathOf(journalId)
      return path !== undefined && mayBeOf(files, path) ? [journalId!] : []
    })
    const commits = read.map(({ logged, trailers }) =>
      indexedCommit({ ...logged, files: filesIn(logged, isDocument) }, trailers),
    )
    const failed = await addTo(index, journal, commits, ids)
    if (failed) return failed
    if (!onward()) return { setback: 'failed', detail: 'The gateway is closing.' }
    await breathe()
  }
  return undefined
}

/** Without a copy where all files are documents: an import may have very many. */
const filesIn = ({ files }: LoggedCommit, isDocument: (path: string) => boolean): LoggedCommit['files'] =>
  files.every(({ path }) => isDocument(path)) ? files : files.filter(({ path }) => isDocument(path))

/** Into the index and out of the journal, in one atomic batch. */
export async function addTo(
  index: VersionIndex,
  journal: Journal,
  commits: readonly IndexedCommit[],
  ids: readonly string[],
): Promise<undefined | Setback> {
  const failed = await index.add(commits, journal.removal(ids))
  if (!failed) journal.forget(ids)
  return failed
}

/** What a commit's message says of the files that it changed; counts are of one document. */
export function indexedCommit(
  { commit, time, files }: Pick<LoggedCommit, 'commit' | 'time' | 'files'>,
  { agent, method, ...ofOne }: Trailers,
): IndexedCommit {
  const { added, removed, restores } = files.length === 1 ? ofOne : {}
  return { commit, time, files, agent, method, added, removed, restores }
}

async function* inChunks(log: AsyncIterable<LoggedCommit>): AsyncGenerator<readonly LoggedCommit[]> {
  let chunk: LoggedCommit[] = []
  let size = 0
  for await (const logged of log) {
    chunk.push(logged)
    size += 1 + logged.files.length
    if (size < AT_ONCE) continue
    yield chunk
    chunk = []
    size = 0
  }
  if (chunk.length > 0) yield chunk
}
