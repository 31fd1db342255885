// Reading files from GitHub: their paths and ids, and their contents.
import { isUtf8 } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFailure, orThrow, SetbackError, type Setback } from '../failure.js'
import { blobId } from '../git/fast-import.js'
import type { Repository } from '../repository.js'
import { objectId, stringFrom } from './answer.js'
import type { GitHubApi } from './api.js'
import type { GitHubBranch } from './branch.js'
import type { GitHubRefusal } from './refusals.js'

/** Requests at the same time, when very many are needed. */
const AT_ONCE = 4
const ID = /^[0-9a-f]{40}$/

export type GitFile = { readonly path: string; readonly blob: string }

interface ReadingOptions {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  readonly pathPrefix: string
  readonly now: () => number
}

export interface GitHubReading extends Pick<Repository, 'read' | 'files' | 'contents'> {
  /** The regular files of a commit or tree, in a folder ('' for all). Throws SetbackError. */
  filesOf(treeish: string, folder: string): AsyncGenerator<GitFile>
}

export function makeGitHubReading({ api, branch, pathPrefix, now }: ReadingOptions): GitHubReading {
  async function* files(): ReturnType<Repository['files']> {
    const head = orThrow(await branch.head())
    if (head !== undefined) yield* filesUnder(api, head, pathPrefix)
  }

  async function* contents(): ReturnType<Repository['contents']> {
    const all: GitFile[] = []
    for await (const file of files()) all.push(file)
    yield* resultsInOrder(all, async ({ path, blob }) => ({
      path,
      content: orThrow(verified(api, await patientContent(api, blob, now), blob)),
    }))
  }

  return {
    filesOf: (treeish, folder) => filesUnder(api, treeish, folder),
    files,
    contents,
    read: (at) => readFile(api, at),
  }
}

async function readFile(
  api: GitHubApi,
  { commit, path, blob }: Parameters<Repository['read']>[0],
): Promise<string | undefined | Setback> {
  if (blob !== undefined && ID.test(blob)) {
    const content = await blobContent(api, blob)
    if (!isFailure(content)) return verified(api, content, blob)
    if (content.status !== 404 && content.status !== 422) return content
  }
  if (!ID.test(commit)) return undefined
  const content = await api.bytes('GET /repos/{owner}/{repo}/contents/{path}', { path, ref: commit })
  if (!isFailure(content)) return content.toString()
  if (content.status !== 404) return content
  // GitHub also answers 404 if the repository cannot be read: then the file may exist.
  return api.ask('GET /repos/{owner}/{repo}', {}, () => undefined)
}

const blobContent = (api: GitHubApi, blob: string): Promise<Buffer | GitHubRefusal> =>
  api.bytes('GET /repos/{owner}/{repo}/git/blobs/{blob}', { blob })

/** Waits when a limit is reached: there may be more files than GitHub answers requests in an hour. */
async function patientContent(api: GitHubApi, blob: string, now: () => number): Promise<Buffer> {
  for (;;) {
    const content = await blobContent(api, blob)
    if (!isFailure(content) || content.failure !== 'limited') return orThrow(content)
    await sleep(Math.max(1000, content.retryAt! - now()), undefined, { ref: false })
  }
}

function verified({ name }: GitHubApi, bytes: Buffer, blob: string): string | Setback {
  const content = bytes.toString()
  // The gateway writes only UTF-8: a file in another encoding is not its own.
  if (!isUtf8(bytes) || blobId(content) === blob) return content
  return { failure: 'failed', detail: `${name}: GitHub sent different content for ${blob}` }
}

const FOLDER = '040000'

interface Tree {
  readonly truncated: boolean
  readonly entries: readonly { readonly path: string; readonly mode: string; readonly sha: string }[]
}

async function* filesUnder(api: GitHubApi, treeish: string, folder: string): AsyncGenerator<GitFile> {
  let tree = treeish
  for (const name of folder === '' ? [] : folder.split('/')) {
    const { entries } = await treeOf(api, tree, false)
    const found = entries.find(({ path, mode }) => path === name && mode === FOLDER)
    if (!found) return
    tree = found.sha
  }
  yield* walkTree(api, tree, folder === '' ? '' : `${folder}/`)
}

async function* walkTree(api: GitHubApi, tree: string, folder: string): AsyncGenerator<GitFile> {
  const all = await treeOf(api, tree, true)
  const { entries, truncated } = all.truncated ? await treeOf(api, tree, false) : all
  if (truncated) {
    throw new SetbackError({
      failure: 'failed',
      detail: `${api.name}: ${folder || '/'} has too many files for the API`,
    })
  }
  for (const { path, mode, sha } of entries) {
    if (mode.startsWith('100')) yield { path: folder + path, blob: sha }
    else if (mode === FOLDER && all.truncated) yield* walkTree(api, sha, `${folder}${path}/`)
  }
}

async function treeOf(api: GitHubApi, tree: string, recursive: boolean): Promise<Tree> {
  const parameters = { tree, ...(recursive && { recursive: '1' }) }
  return orThrow(await api.ask('GET /repos/{owner}/{repo}/git/trees/{tree}', parameters, readTree))
}

function readTree(data: {
  readonly truncated: unknown
  readonly tree: readonly { readonly path: unknown; readonly mode: unknown; readonly sha: unknown }[]
}): Tree {
  const entries = data.tree.map(({ path, mode, sha }) => ({
    path: stringFrom(path),
    mode: stringFrom(mode),
    sha: objectId(sha),
  }))
  return { truncated: data.truncated !== false, entries }
}

/** Processes several items at the same time; the results come in the order of the items. */
export async function* resultsInOrder<T, R>(items: readonly T[], act: (item: T) => Promise<R>): AsyncGenerator<R> {
  const started: Promise<R>[] = []
  for (const item of items) {
    const next = act(item)
    next.catch(() => undefined)
    started.push(next)
    if (started.length >= AT_ONCE) yield await started.shift()!
  }
  for (const result of started) yield await result
}
