// Committing one change on GitHub: one call of the Contents API, unless others have written in between.
import { isFailure, type Setback } from '../failure.js'
import { commitAuthor, commitMessage, commitTime, readTrailers } from '../git/commit-message.js'
import { blobId } from '../git/fast-import.js'
import type { Committed, NewCommit } from '../repository.js'
import { isoSeconds, madeAt, objectId, stringFrom } from './answer.js'
import type { GitHubApi } from './api.js'
import type { GitHubBranch } from './branch.js'
import type { GitHubRefusal } from './refusals.js'

const CONTENTS = '/repos/{owner}/{repo}/contents/{path}'
/** The size of the largest file that GitHub accepts. */
const LARGEST_FILE = 100 * 1024 * 1024
const ATTEMPTS = 5
/** The largest page that GitHub sends. */
const NEWEST = 100

interface CommitsOptions {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  /** Waits before another attempt. */
  readonly pause: (attempt: number) => Promise<void>
}

interface Committing extends CommitsOptions {
  /** Ids of changes that may be commits already. */
  readonly inDoubt: Set<string>
  /** The committer's date of the newest commit made, ms since the epoch. */
  latest: number
}

/** The blob at a path on the branch; or, if the change has been committed already, its commit. */
type PathState = { readonly blob: string | undefined } | { readonly commit: Committed }

type CommitOfId = Omit<Committed, 'id' | 'blob'>

export interface GitHubCommits {
  commit(change: NewCommit): Promise<Committed | Setback>
  /** The commit with this Journal-Id, if it is among the newest of the branch. */
  find(id: string): Promise<CommitOfId | undefined | Setback>
}

export function makeGitHubCommits(options: CommitsOptions): GitHubCommits {
  const committing: Committing = { ...options, inDoubt: new Set(), latest: 0 }
  return {
    async commit(change) {
      const size = change.content === undefined ? 0 : Buffer.byteLength(change.content)
      if (size > LARGEST_FILE) {
        return { failure: 'unfit', detail: `${change.path}: GitHub accepts no file of more than ${LARGEST_FILE} bytes` }
      }
      const outcome = await attempts(committing, change)
      if (isFailure(outcome)) {
        if (outcome.failure === 'in-doubt') committing.inDoubt.add(change.id)
        return outcome
      }
      committing.inDoubt.delete(change.id)
      committing.latest = commitTime(change.time, committing.latest)
      return outcome
    },
    find: (id) => find(committing, id),
  }
}

async function attempts(committing: Committing, change: NewCommit): Promise<Committed | Setback> {
  const { api, branch, pause, inDoubt } = committing
  const { previousBlob, content, id } = change
  let blob = previousBlob
  // Read the file's state first if GitHub would accept the change a second time.
  let unsure = inDoubt.has(id) || (content === undefined ? blob === undefined : blobId(content) === blob)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (unsure) {
      const state = await readState(committing, change)
      if (isFailure(state)) return state
      if ('commit' in state) return state.commit
      blob = state.blob
    }
    const nothing = content === undefined && blob === undefined
    const answer = nothing ? await commitNothing(committing, change) : await send(committing, change, blob)
    if (!isFailure(answer) && answer !== 'moved') return answer
    const obstacle = answer === 'moved' ? 'head' : obstacleOf(answer, content === undefined)
    if (answer !== 'moved' && obstacle === undefined) return answer
    const failed = obstacle === 'branch' ? await branch.create() : undefined
    if (failed) return failed
    // If the file has changed unexpectedly, read it without delay.
    if (unsure || obstacle !== 'file') await pause(attempt)
    unsure ||= obstacle === 'file'
  }
  return { failure: 'conflict', detail: `${api.name}: others commit faster than ${branch.name} can be written to` }
}

/**
 * Reads the file at the last commit that changed it, not at the head: GitHub may show either late, and a commit that it
 * does not show yet must not be overwritten. Such a commit leaves another blob, so that GitHub refuses again.
 */
async function readState(
  { api, branch }: Committing,
  { id, path, content }: NewCommit,
): Promise<PathState | GitHubRefusal> {
  const commits = await newestCommits(api, branch, path)
  if (isFailure(commits)) return commits.status === 409 ? { blob: undefined } : commits
  const own = commits.find(({ journalId }) => journalId === id)
  if (own) return { commit: { ...own.commit, id, blob: content === undefined ? undefined : blobId(content) } }
  const [last] = commits
  if (!last) return { blob: undefined }
  const blob = await api.ask(`GET ${CONTENTS}`, { path, ref: last.commit.commit }, (data: { sha?: unknown }) =>
    Array.isArray(data) ? undefined : objectId(data.sha),
  )
  return !isFailure(blob) ? { blob } : blob.status === 404 ? { blob: undefined } : blob
}

async function find({ api, branch }: Committing, id: string): ReturnType<GitHubCommits['find']> {
  const commits = await newestCommits(api, branch)
  if (isFailure(commits)) return commits.status === 409 ? undefined : commits
  return commits.find(({ journalId }) => journalId === id)?.commit
}

/** @param path if given, only commits that changed this file */
const newestCommits = (
  api: GitHubApi,
  { name }: GitHubBranch,
  path?: string,
): Promise<readonly CommitWithId[] | GitHubRefusal> =>
  api.ask(
    'GET /repos/{owner}/{repo}/commits',
    { sha: name, per_page: NEWEST, ...(path !== undefined && { path }) },
    (data: readonly CommitJson[]) => data.map(readCommit),
  )

function send(
  { api, branch, latest }: Committing,
  change: NewCommit,
  blob: string | undefined,
): Promise<Committed | GitHubRefusal> {
  const { id, path, content, agent, time } = change
  const made = commitTime(time)
  const parameters = {
    path,
    branch: branch.name,
    message: commitMessage(change),
    author: { ...commitAuthor(agent), date: isoSeconds(made) },
    committer: { ...branch.committer, date: isoSeconds(commitTime(time, latest)) },
    ...(blob !== undefined && { sha: blob }),
    ...(content !== undefined && { content: Buffer.from(content).toString('base64') }),
  }
  return api.ask(`${content === undefined ? 'DELETE' : 'PUT'} ${CONTENTS}`, parameters, (data: FileCommitJson) => ({
    id,
    commit: objectId(data.commit.sha),
    parent: firstParent(data.commit.parents),
    blob: content === undefined ? undefined : objectId(data.content?.sha),
    time: made,
  }))
}

/** Deleting a missing file is a commit that changes no file: every write is a commit (spec 9.2 rule 1). */
async function commitNothing(committing: Committing, change: NewCommit): Promise<Committed | 'moved' | Setback> {
  const { branch } = committing
  const { id, agent, time } = change
  const before = await find(committing, id)
  if (before) return isFailure(before) ? before : { ...before, id, blob: undefined }
  const head = await branch.start()
  if (isFailure(head)) return head
  const text = { author: commitAuthor(agent), message: commitMessage(change), time }
  const next = await branch.append(head, head.tree, text)
  if (next === 'moved' || isFailure(next)) return next
  return { id, commit: next.commit, parent: head.commit, blob: undefined, time: commitTime(time) }
}

/** What others have changed, as far as GitHub's message says. Undefined: the refusal has another cause. */
function obstacleOf(refused: Setback | GitHubRefusal, removes: boolean): 'head' | 'file' | 'branch' | undefined {
  if (refused.failure === 'denied' || !('said' in refused)) return undefined
  const { status, said } = refused
  if (status === 409 && refused.failure !== 'conflict') return undefined
  if (status === 409) return /expected/i.test(said) ? 'head' : 'file'
  if (status === 422) return /sha"? wasn't supplied/i.test(said) ? 'file' : undefined
  if (status !== 404) return undefined
  const branchAt = said.search(/branch /i)
  if (branchAt >= 0 && /not found/i.test(said.slice(branchAt))) return 'branch'
  return removes ? 'file' : undefined
}

interface CommitJson {
  readonly sha: unknown
  readonly parents: readonly { readonly sha: unknown }[]
  readonly commit: Parameters<typeof madeAt>[0]
}

interface FileCommitJson {
  readonly content: { readonly sha?: unknown } | null
  readonly commit: { readonly sha?: unknown; readonly parents: CommitJson['parents'] }
}

interface CommitWithId {
  readonly journalId: string | undefined
  readonly commit: CommitOfId
}

const firstParent = ([first]: CommitJson['parents']): string | undefined => first && objectId(first.sha)

const readCommit = ({ sha, parents, commit }: CommitJson): CommitWithId => ({
  journalId: readTrailers(stringFrom(commit.message)).journalId,
  commit: { commit: objectId(sha), parent: firstParent(parents), time: madeAt(commit) },
})
