// Bringing the version index up to date with the branch, and finding the journal's changes there.
import { setImmediate as breathe } from 'node:timers/promises'
import type { VersionedChange } from '../change.js'
import type { Setback } from '../failure.js'
import { commitMessage, readTrailers, type Trailers } from '../git/commit-message.js'
import type { OperatorLog } from '../history.js'
import { mayBeOf, type Committed, type LoggedCommit, type Repository } from '../repository.js'
import type { Journal } from './journal.js'
import type { IndexedCommit, VersionIndex } from './version-index.js'

/** Files and commits that are added to the index at once. */
const AT_ONCE = 1000
/** How often a new commit is looked for on the branch: some repositories show it late. */
const ATTEMPTS = 6

const REWRITTEN =
  'The branch was rewritten: the version index is built again. Versions may be missing, and documents may differ from ' +
  'the branch: run "triplegate mirror verify".'

export interface Branch {
  readonly repository: Repository
  readonly journal: Journal
  readonly index: VersionIndex
  /** The base URL of the application, with a slash at the end. */
  readonly base: string
  readonly isDocument: (path: string) => boolean
  readonly log: OperatorLog
}

/** The relay's knowledge of the branch. */
export interface Following {
  readonly branch: Branch
  /** True if the branch may have commits that the index lacks. */
  behind: boolean
  /** How often the branch was reported to have moved. */
  refreshes: number
  /** The gateway's own commits that must still be found on the branch. */
  landed: readonly Committed[]
  /** How often the newest of them was not found. */
  late: number
}

export const makeFollowing = (branch: Branch): Following => ({
  branch,
  behind: true,
  refreshes: 0,
  landed: [],
  late: 0,
})

/** @param onward asked after each step whether to continue */
export async function readBranch(following: Following, onward: () => boolean): Promise<undefined | Setback> {
  const { repository, journal, index } = following.branch
  const { refreshes } = following
  const failed = await catchUp(following.branch, onward)
  if (failed) return failed
  const { landed } = following
  const last = landed.at(-1)
  const isShown = last === undefined || (await index.positionOf(last.commit)) !== undefined
  if (!isShown && ++following.late < ATTEMPTS) {
    return { failure: 'unreachable', detail: `${repository.name} does not show commit ${last.commit} yet.` }
  }
  // These changes had been committed before the commits that were just read.
  const ids = isShown ? landed.map(({ id }) => id).filter((id) => journal.pathOf(id) !== undefined) : []
  const unremoved = ids.length > 0 ? await addToIndex(following.branch, [], ids) : undefined
  if (unremoved) return unremoved
  following.landed = []
  following.late = 0
  following.behind = refreshes !== following.refreshes
  return undefined
}

/** Adds the commits of changes to the index. If others have committed too, the branch is read instead. */
export async function recordCommits(
  following: Following,
  changes: readonly VersionedChange[],
  committed: readonly Committed[],
): Promise<undefined | Setback> {
  const parents = [following.branch.index.head(), ...committed.map(({ commit }) => commit)]
  const follows = committed.every(({ parent }, i) => parent === parents[i])
  const byId = new Map(changes.map((change) => [change.id, change]))
  const commits = committed.map(({ id, commit, time, blob }) => {
    const change = byId.get(id)!
    return indexedCommit({ commit, time, files: [{ path: change.path, blob }] }, readTrailers(commitMessage(change)))
  })
  const ids = committed.map(({ id }) => id)
  const failed = follows ? await addToIndex(following.branch, commits, ids) : undefined
  if (!follows || failed) {
    following.behind = true
    following.landed = committed
  }
  return failed
}

/**
 * Reads the commits after the index's head; all of them if the index has no head, or the branch no longer contains it.
 * Removes changes from the journal that have become commits. Throws SetbackError.
 */
async function catchUp(branch: Branch, onward: () => boolean): Promise<undefined | Setback> {
  const { repository, index, base, isDocument, log } = branch
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
      const path = journalId === undefined ? undefined : branch.journal.pathOf(journalId)
      return path !== undefined && mayBeOf(files, path) ? [journalId!] : []
    })
    const commits = read.map(({ logged, trailers }) =>
      indexedCommit({ ...logged, files: documentFiles(logged, isDocument) }, trailers),
    )
    const failed = await addToIndex(branch, commits, ids)
    if (failed) return failed
    if (!onward()) return { failure: 'failed', detail: 'The gateway is closing.' }
    await breathe()
  }
  return undefined
}

/** The files that are documents. If all are, the list is not copied: an import may have very many. */
const documentFiles = ({ files }: LoggedCommit, isDocument: (path: string) => boolean): LoggedCommit['files'] =>
  files.every(({ path }) => isDocument(path)) ? files : files.filter(({ path }) => isDocument(path))

/** Adds commits to the index and removes changes from the journal, in one atomic batch. */
async function addToIndex(
  { index, journal }: Branch,
  commits: readonly IndexedCommit[],
  ids: readonly string[],
): Promise<undefined | Setback> {
  const failed = await index.add(commits, journal.removal(ids))
  if (!failed) journal.forget(ids)
  return failed
}

/** A commit as the index stores it. The counts in a message count the triples of one document. */
function indexedCommit(
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
