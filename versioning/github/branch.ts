// A branch on GitHub: reading its head, creating it, and appending commits to it (Git Data API).
import { isFailure, type Setback } from '../failure.js'
import { commitTime, type Ident } from '../git/commit-message.js'
import type { BranchHead } from '../repository.js'
import { committedAt, isoSeconds, objectId, stringFrom } from './answer.js'
import type { GitHubApi } from './api.js'
import type { GitHubRefusal } from './refusals.js'

export interface NewCommitText {
  readonly author: Ident
  readonly message: string
  /** ms since the epoch. */
  readonly time: number
}

export interface GitHubBranch {
  readonly name: string
  readonly committer: Ident
  /**
   * The commit at the head; undefined when the branch or everything is missing. If GitHub shows an earlier one than the
   * last commit (`had`), it is the last commit: GitHub may show commits late.
   */
  head(): Promise<string | undefined | GitHubRefusal>
  /** The branch had this commit so many ms ago: it is the last commit that the gateway knows. */
  had(commit: string, ago?: number): void
  /** Creates the branch from the default branch; in an empty repository by committing a first file. */
  create(): Promise<undefined | Setback>
  /** Returns the head; creates the branch if it is missing. */
  start(): Promise<BranchHead | Setback>
  /** Adds a commit on `head`; 'moved' if that is no longer the head. */
  append(head: BranchHead, tree: string, text: NewCommitText): Promise<BranchHead | 'moved' | Setback>
}

interface NamedBranch {
  readonly api: GitHubApi
  readonly name: string
  readonly committer: Ident
  /** For how long GitHub may show an earlier head, ms. */
  readonly lag: number
  /** The last known commit, and the end of the time in which GitHub may not show it yet, by `performance.now()`. */
  readonly last: { commit: string; lateUntil: number }
}

export const COMPARISON = 'GET /repos/{owner}/{repo}/compare/{basehead}'
// With this file, each clone checks the files out as they were committed, whatever its own settings.
const FIRST_FILE = { path: '.gitattributes', content: '*.nt -text\n', message: 'Begin' }

export function openBranch(api: GitHubApi, name: string, committer: Ident, lag: number): GitHubBranch {
  const branch: NamedBranch = { api, name, committer, lag, last: { commit: '', lateUntil: 0 } }
  return {
    name,
    committer,
    head: () => newestHead(branch),
    had: (commit, ago) => had(branch, commit, ago),
    create: () => create(branch),
    start: () => start(branch),
    append: (head, tree, text) => append(branch, head, tree, text),
  }
}

const refHead = (api: GitHubApi, name: string): Promise<string | GitHubRefusal> =>
  api.ask('GET /repos/{owner}/{repo}/git/ref/{ref}', { ref: `heads/${name}` }, (data: { object: { sha: unknown } }) =>
    objectId(data.object.sha),
  )

const defaultBranch = (api: GitHubApi): Promise<string | GitHubRefusal> =>
  api.ask('GET /repos/{owner}/{repo}', {}, (data: { default_branch: unknown }) => stringFrom(data.default_branch))

async function headOf({ api, name }: NamedBranch): Promise<string | undefined | GitHubRefusal> {
  const found = await refHead(api, name)
  if (!isFailure(found) || (found.status !== 404 && found.status !== 409)) return found
  if (found.status === 409) return undefined
  // GitHub also answers 404 if the token has no access: the branch is missing only if the repository can be read.
  const repository = await defaultBranch(api)
  return isFailure(repository) ? repository : undefined
}

function had({ last, lag }: NamedBranch, commit: string, ago = 0): void {
  last.commit = commit
  last.lateUntil = performance.now() + lag - ago
}

async function newestHead(branch: NamedBranch): Promise<string | undefined | GitHubRefusal> {
  const { api, last } = branch
  const shown = await headOf(branch)
  if (isFailure(shown) || shown === last.commit || performance.now() >= last.lateUntil) return shown
  if (shown === undefined) return last.commit
  const parameters = { basehead: `${last.commit}...${shown}`, per_page: 1 }
  const status = await api.ask(COMPARISON, parameters, (data: { status: unknown }) => stringFrom(data.status))
  if (isFailure(status)) return status.failure === 'missing' ? shown : status
  return status === 'behind' ? last.commit : shown
}

async function create({ api, name }: NamedBranch): Promise<undefined | Setback> {
  const from = await defaultBranch(api)
  if (isFailure(from)) return from
  const sha = await refHead(api, from)
  if (isFailure(sha)) return sha.status === 409 ? undefined : sha
  const parameters = { ref: `refs/heads/${name}`, sha }
  const created = await api.ask('POST /repos/{owner}/{repo}/git/refs', parameters, () => undefined)
  return created?.status === 422 && /already exists/i.test(created.said) ? undefined : created
}

const headFrom = (data: {
  sha: unknown
  tree: { sha: unknown }
  committer: { date?: unknown } | null
}): BranchHead => ({
  commit: objectId(data.sha),
  tree: objectId(data.tree.sha),
  time: committedAt(data.committer),
})

async function start(branch: NamedBranch): Promise<BranchHead | Setback> {
  const { api, name } = branch
  let commit = await headOf(branch)
  if (commit === undefined) {
    const failed = await create(branch)
    if (failed) return failed
    commit = await headOf(branch)
  }
  if (commit === undefined) {
    const first = await commitFirstFile(branch)
    if (!isFailure(first) || first.failure !== 'conflict') return first
    commit = await headOf(branch)
  }
  if (isFailure(commit)) return commit
  if (commit === undefined)
    return { failure: 'conflict', detail: `${api.name}: the branch ${name} appears and disappears` }
  return api.ask('GET /repos/{owner}/{repo}/git/commits/{commit}', { commit }, headFrom)
}

function commitFirstFile({ api, name, committer }: NamedBranch): Promise<BranchHead | GitHubRefusal> {
  const { path, content, message } = FIRST_FILE
  const file = { path, message, content: Buffer.from(content).toString('base64'), branch: name }
  const parameters = { ...file, author: committer, committer }
  return api.ask('PUT /repos/{owner}/{repo}/contents/{path}', parameters, (data: { commit: never }) =>
    headFrom(data.commit),
  )
}

async function append(
  branch: NamedBranch,
  parent: BranchHead,
  tree: string,
  { author, message, time }: NewCommitText,
): Promise<BranchHead | 'moved' | Setback> {
  const { api, name, committer } = branch
  const date = (after?: number): string => isoSeconds(commitTime(time, after))
  const idents = { author: { ...author, date: date() }, committer: { ...committer, date: date(parent.time) } }
  const commit = { message, tree, parents: [parent.commit], ...idents }
  const made = await api.ask('POST /repos/{owner}/{repo}/git/commits', commit, headFrom)
  if (isFailure(made)) return made
  const update = { ref: `heads/${name}`, sha: made.commit, force: false }
  const refused = await api.ask('PATCH /repos/{owner}/{repo}/git/refs/{ref}', update, () => undefined)
  if (!refused) {
    had(branch, made.commit)
    return made
  }
  const moved = refused.failure === 'conflict' || (refused.failure === 'unfit' && !/rule violation/i.test(refused.said))
  return moved ? 'moved' : refused
}
