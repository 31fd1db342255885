// In charge of a branch on GitHub: where it stands, that it is there, and commits that are put together by hand
// (Git Data API).
import { isSetback, type Setback } from '../change.js'
import { commitTime, type Ident } from '../git/commit-message.js'
import type { GitHubApi } from './api.js'
import { committedAt, isoSeconds, objectId, string, type Refusal } from './answer.js'

export interface Head {
  readonly commit: string
  readonly tree: string
  readonly time: number
}

export interface HandMade {
  readonly author: Ident
  readonly message: string
  /** ms since the epoch. */
  readonly time: number
}

export interface GitHubBranch {
  readonly name: string
  readonly committer: Ident
  /** The commit at the head; undefined when the branch or everything is missing. It may lag what was written. */
  head(): Promise<string | undefined | Refusal>
  /** Makes the branch, from the default branch; in an empty repository the first file makes it. */
  create(): Promise<undefined | Setback>
  /** The head, with a branch made where there is none. */
  start(): Promise<Head | Setback>
  /** A commit on `head`; 'moved' where that is no longer the head. */
  append(head: Head, tree: string, made: HandMade): Promise<Head | 'moved' | Setback>
}

// So that a clone has each file as it is committed, whatever the settings there.
const FIRST_FILE = { path: '.gitattributes', content: '*.nt -text\n', message: 'Begin' }

export function openBranch(api: GitHubApi, name: string, committer: Ident): GitHubBranch {
  const refHead = (of: string): Promise<string | Refusal> =>
    api.ask('GET /repos/{owner}/{repo}/git/ref/{ref}', { ref: `heads/${of}` }, (data: { object: { sha: unknown } }) =>
      objectId(data.object.sha),
    )

  async function head(): Promise<string | undefined | Refusal> {
    const found = await refHead(name)
    if (!isSetback(found) || (found.status !== 404 && found.status !== 409)) return found
    if (found.status === 409) return undefined
    // GitHub answers 404 as well where the token does not reach: only a repository that can be seen has no such branch.
    const repository = await defaultBranch()
    return isSetback(repository) ? repository : undefined
  }

  const defaultBranch = (): Promise<string | Refusal> =>
    api.ask('GET /repos/{owner}/{repo}', {}, (data: { default_branch: unknown }) => string(data.default_branch))

  async function create(): Promise<undefined | Setback> {
    const from = await defaultBranch()
    if (isSetback(from)) return from
    const sha = await refHead(from)
    if (isSetback(sha)) return sha.status === 409 ? undefined : sha
    const parameters = { ref: `refs/heads/${name}`, sha }
    const made = await api.ask('POST /repos/{owner}/{repo}/git/refs', parameters, () => undefined)
    return made?.status === 422 && /already exists/i.test(made.said) ? undefined : made
  }

  const readHead = (data: { sha: unknown; tree: { sha: unknown }; committer: { date?: unknown } | null }): Head => ({
    commit: objectId(data.sha),
    tree: objectId(data.tree.sha),
    time: committedAt(data.committer),
  })

  async function start(): Promise<Head | Setback> {
    let commit = await head()
    if (commit === undefined) {
      const failed = await create()
      if (failed) return failed
      commit = await head()
    }
    if (commit === undefined) {
      const { path, content, message } = FIRST_FILE
      const file = { path, message, content: Buffer.from(content).toString('base64'), branch: name }
      const first = await api.ask(
        'PUT /repos/{owner}/{repo}/contents/{path}',
        { ...file, author: committer, committer },
        (data: { commit: never }) => readHead(data.commit),
      )
      if (!isSetback(first) || first.setback !== 'conflict') return first
      commit = await head()
    }
    if (isSetback(commit)) return commit
    const gone: Setback = { setback: 'conflict', detail: `${api.name}: the branch ${name} comes and goes` }
    return commit === undefined ? gone : api.ask('GET /repos/{owner}/{repo}/git/commits/{commit}', { commit }, readHead)
  }

  async function append(
    parent: Head,
    tree: string,
    { author, message, time }: HandMade,
  ): Promise<Head | 'moved' | Setback> {
    const date = isoSeconds(commitTime(time, parent.time))
    const idents = { author: { ...author, date }, committer: { ...committer, date } }
    const commit = { message, tree, parents: [parent.commit], ...idents }
    const made = await api.ask('POST /repos/{owner}/{repo}/git/commits', commit, readHead)
    if (isSetback(made)) return made
    const update = { ref: `heads/${name}`, sha: made.commit, force: false }
    const refused = await api.ask('PATCH /repos/{owner}/{repo}/git/refs/{ref}', update, () => undefined)
    if (!refused) return made
    const moved =
      refused.setback === 'conflict' || (refused.setback === 'unfit' && !/rule violation/i.test(refused.said))
    return moved ? 'moved' : refused
  }

  return { name, committer, head, create, start, append }
}
