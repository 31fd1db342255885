// In charge of making one commit of one change on GitHub: one call of the Contents API where all is as it was left.
import { isSetback, type Setback } from '../change.js'
import { authorOf, commitMessage, commitTime, readTrailers } from '../git/commit-message.js'
import { blobId } from '../git/fast-import.js'
import type { GitHubApi } from './api.js'
import { committedAt, isoSeconds, objectId, seconds, string, type Refusal } from './answer.js'
import type { GitHubBranch } from './branch.js'
import type { Committed, NewCommit } from '../repository.js'

const CONTENTS = '/repos/{owner}/{repo}/contents/{path}'
/** GitHub has no larger file. */
const LARGEST_FILE = 100 * 1024 * 1024
const ATTEMPTS = 5
/** A page, the largest that there is. */
const LATEST = 100

interface Options {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  /** Before the same is tried again. */
  readonly pause: (attempt: number) => Promise<void>
}

/** What the branch has of a path: the blob there; or the commit that the change has become already. */
type Found = { readonly blob: string | undefined } | { readonly commit: Committed }

export interface GitHubCommits {
  commit(change: NewCommit): Promise<Committed | Setback>
  /** The commit among the latest that has this Journal-Id; `path`: of a file, else of the branch. */
  find(id: string, path?: string): Promise<Omit<Committed, 'id' | 'blob'> | undefined | Setback>
}

export function makeGitHubCommits({ api, branch, pause }: Options): GitHubCommits {
  /** Ids of changes that may be commits already. */
  const inDoubt = new Set<string>()
  let latest = 0

  const latestCommits = (path?: string): Promise<readonly Logged[] | Refusal> =>
    api.ask(
      'GET /repos/{owner}/{repo}/commits',
      { sha: branch.name, per_page: LATEST, ...(path !== undefined && { path }) },
      (data: readonly ListedCommit[]) => data.map(readCommit),
    )

  /**
   * The file as at the last commit that changed it, and not at the head: GitHub may show either late, and a commit that
   * is not seen must not be replaced. What is later than what is seen has another blob, and is refused once more.
   */
  async function look({ id, path, content }: NewCommit): Promise<Found | Refusal> {
    const commits = await latestCommits(path)
    if (isSetback(commits)) return commits.status === 409 ? { blob: undefined } : commits
    const own = commits.find(({ journalId }) => journalId === id)
    if (own) return { commit: { ...own.commit, id, blob: content === undefined ? undefined : blobId(content) } }
    const [last] = commits
    if (!last) return { blob: undefined }
    const blob = await api.ask(`GET ${CONTENTS}`, { path, ref: last.commit.commit }, (data: { sha?: unknown }) =>
      Array.isArray(data) ? undefined : objectId(data.sha),
    )
    return !isSetback(blob) ? { blob } : blob.status === 404 ? { blob: undefined } : blob
  }

  async function find(id: string, path?: string): ReturnType<GitHubCommits['find']> {
    const commits = await latestCommits(path)
    if (isSetback(commits)) return commits.status === 409 ? undefined : commits
    return commits.find(({ journalId }) => journalId === id)?.commit
  }

  function send(change: NewCommit, blob: string | undefined): Promise<Committed | Refusal> {
    const { id, path, content, agent, time } = change
    const date = isoSeconds(commitTime(time, latest))
    const parameters = {
      path,
      branch: branch.name,
      message: commitMessage(change),
      author: { ...authorOf(agent), date },
      committer: { ...branch.committer, date },
      ...(blob !== undefined && { sha: blob }),
      ...(content !== undefined && { content: Buffer.from(content).toString('base64') }),
    }
    return api.ask(`${content === undefined ? 'DELETE' : 'PUT'} ${CONTENTS}`, parameters, (data: FileCommit) => ({
      id,
      commit: objectId(data.commit.sha),
      parent: parentOf(data.commit.parents),
      blob: content === undefined ? undefined : objectId(data.content?.sha),
      time: seconds(data.commit.committer.date),
    }))
  }

  /** A deletion of what is not there is a commit that changes no file: every write is one (spec 9.2 rule 1). */
  async function commitNothing(change: NewCommit): Promise<Committed | 'moved' | Setback> {
    const { id, agent, time } = change
    const before = await find(id)
    if (before) return isSetback(before) ? before : { ...before, id, blob: undefined }
    const head = await branch.start()
    if (isSetback(head)) return head
    const made = { author: authorOf(agent), message: commitMessage(change), time }
    const next = await branch.append(head, head.tree, made)
    if (next === 'moved' || isSetback(next)) return next
    return { id, commit: next.commit, parent: head.commit, blob: undefined, time: next.time }
  }

  async function attempts(change: NewCommit): Promise<Committed | Setback> {
    const { previousBlob, content, id } = change
    let blob = previousBlob
    // A second time nothing would refuse these.
    let unsure = inDoubt.has(id) || (content === undefined ? blob === undefined : blobId(content) === blob)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (unsure) {
        const found = await look(change)
        if (isSetback(found)) return found
        if ('commit' in found) return found.commit
        blob = found.blob
      }
      const nothing = content === undefined && blob === undefined
      const answer = nothing ? await commitNothing(change) : await send(change, blob)
      if (!isSetback(answer) && answer !== 'moved') return answer
      const obstacle = answer === 'moved' ? 'head' : obstacleOf(answer, content === undefined)
      if (answer !== 'moved' && obstacle === undefined) return answer
      const failed = obstacle === 'branch' ? await branch.create() : undefined
      if (failed) return failed
      // What was not known to have changed is looked at without delay.
      if (unsure || obstacle !== 'file') await pause(attempt)
      unsure ||= obstacle === 'file'
    }
    return { setback: 'conflict', detail: `${api.name}: others commit faster than ${branch.name} can be written to` }
  }

  return {
    async commit(change) {
      const size = change.content === undefined ? 0 : Buffer.byteLength(change.content)
      if (size > LARGEST_FILE) {
        return { setback: 'unfit', detail: `${change.path}: GitHub takes no file of more than ${LARGEST_FILE} bytes` }
      }
      const outcome = await attempts(change)
      if (isSetback(outcome)) {
        if (outcome.setback === 'in-doubt') inDoubt.add(change.id)
        return outcome
      }
      inDoubt.delete(change.id)
      latest = Math.max(latest, outcome.time)
      return outcome
    },
    find,
  }
}

/** What has changed since, where GitHub says so; the texts are its own. Undefined: something else is wrong. */
function obstacleOf(refused: Setback | Refusal, removes: boolean): 'head' | 'file' | 'branch' | undefined {
  if (refused.setback === 'denied' || !('said' in refused)) return undefined
  const { status, said } = refused
  if (status === 409 && refused.setback !== 'conflict') return undefined
  if (status === 409) return /expected/i.test(said) ? 'head' : 'file'
  if (status === 422) return /sha"? wasn't supplied/i.test(said) ? 'file' : undefined
  if (status !== 404) return undefined
  if (/branch .*not found/i.test(said)) return 'branch'
  return removes ? 'file' : undefined
}

interface ListedCommit {
  readonly sha: unknown
  readonly parents: readonly { readonly sha: unknown }[]
  readonly commit: { readonly message: unknown; readonly committer: { readonly date?: unknown } | null }
}

interface FileCommit {
  readonly content: { readonly sha?: unknown } | null
  readonly commit: Omit<ListedCommit['commit'], 'message'> & {
    readonly sha?: unknown
    readonly parents: ListedCommit['parents']
    readonly committer: { readonly date?: unknown }
  }
}

interface Logged {
  readonly journalId: string | undefined
  readonly commit: Omit<Committed, 'id' | 'blob'>
}

const parentOf = ([first]: ListedCommit['parents']): string | undefined => first && objectId(first.sha)

const readCommit = ({ sha, parents, commit: { message, committer } }: ListedCommit): Logged => ({
  journalId: readTrailers(string(message)).journalId,
  commit: { commit: objectId(sha), parent: parentOf(parents), time: committedAt(committer) },
})
