// In charge of reading files from GitHub: which there are, and their contents.
import { isUtf8 } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSetback, type Setback } from '../change.js'
import { blobId } from '../git/fast-import.js'
import type { GitHubApi } from './api.js'
import { objectId, string, type Refusal } from './answer.js'
import type { GitHubBranch } from './branch.js'
import { SetbackError, type Repository } from '../repository.js'

/** Requests under way at once, where very many are needed. */
const AT_ONCE = 4
const ID = /^[0-9a-f]{40}$/

export type GitFile = { readonly path: string; readonly blob: string }

interface Options {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  readonly pathPrefix: string
  readonly now: () => number
}

export interface GitHubReading extends Pick<Repository, 'read' | 'files' | 'contents'> {
  /** The regular files of a commit or tree, in a folder ('' for all). Throws SetbackError. */
  filesOf(treeish: string, folder: string): AsyncGenerator<GitFile>
}

export function makeGitHubReading({ api, branch, pathPrefix, now }: Options): GitHubReading {
  const treeOf = async (tree: string, recursive: boolean): Promise<Tree> =>
    orThrow(
      await api.ask(
        'GET /repos/{owner}/{repo}/git/trees/{tree}',
        { tree, ...(recursive && { recursive: '1' }) },
        readTree,
      ),
    )

  async function* walk(tree: string, folder: string): AsyncGenerator<GitFile> {
    const all = await treeOf(tree, true)
    const { entries, truncated } = all.truncated ? await treeOf(tree, false) : all
    if (truncated) {
      throw new SetbackError({
        setback: 'failed',
        detail: `${api.name}: ${folder || '/'} has too many files for the API`,
      })
    }
    for (const { path, mode, sha } of entries) {
      if (mode.startsWith('100')) yield { path: folder + path, blob: sha }
      else if (mode === FOLDER && all.truncated) yield* walk(sha, `${folder}${path}/`)
    }
  }

  async function* filesOf(treeish: string, folder: string): AsyncGenerator<GitFile> {
    let tree = treeish
    for (const name of folder === '' ? [] : folder.split('/')) {
      const { entries } = await treeOf(tree, false)
      const found = entries.find(({ path, mode }) => path === name && mode === FOLDER)
      if (!found) return
      tree = found.sha
    }
    yield* walk(tree, folder === '' ? '' : `${folder}/`)
  }

  async function* files(): ReturnType<Repository['files']> {
    const head = orThrow(await branch.head())
    if (head !== undefined) yield* filesOf(head, pathPrefix)
  }

  const blobContent = (blob: string): Promise<Buffer | Refusal> =>
    api.bytes('GET /repos/{owner}/{repo}/git/blobs/{blob}', { blob })

  /** There may be more files than GitHub answers requests in an hour: it is waited for. */
  async function patiently(blob: string): Promise<Buffer> {
    for (;;) {
      const content = await blobContent(blob)
      if (!isSetback(content) || content.setback !== 'limited') return orThrow(content)
      await sleep(Math.max(1000, content.retryAt! - now()), undefined, { ref: false })
    }
  }

  async function* contents(): ReturnType<Repository['contents']> {
    const all: GitFile[] = []
    for await (const file of files()) all.push(file)
    yield* inParallel(all, async ({ path, blob }) => ({
      path,
      content: orThrow(verified(await patiently(blob), blob)),
    }))
  }

  function verified(bytes: Buffer, blob: string): string | Setback {
    const content = bytes.toString()
    // What is no UTF-8 is no file of the gateway's.
    if (!isUtf8(bytes) || blobId(content) === blob) return content
    return { setback: 'failed', detail: `${api.name}: what GitHub sends for ${blob} is something else` }
  }

  return {
    filesOf,
    files,
    contents,
    async read({ commit, path, blob }) {
      if (blob !== undefined && ID.test(blob)) {
        const content = await blobContent(blob)
        if (!isSetback(content)) return verified(content, blob)
        if (content.status !== 404 && content.status !== 422) return content
      }
      if (!ID.test(commit)) return undefined
      const content = await api.bytes('GET /repos/{owner}/{repo}/contents/{path}', { path, ref: commit })
      if (!isSetback(content)) return content.toString()
      if (content.status !== 404) return content
      // 404 as well where the repository is out of reach: then the file may be there.
      return api.ask('GET /repos/{owner}/{repo}', {}, () => undefined)
    },
  }
}

const FOLDER = '040000'

interface Tree {
  readonly truncated: boolean
  readonly entries: readonly { readonly path: string; readonly mode: string; readonly sha: string }[]
}

function readTree(data: {
  readonly truncated: unknown
  readonly tree: readonly { readonly path: unknown; readonly mode: unknown; readonly sha: unknown }[]
}): Tree {
  const entries = data.tree.map(({ path, mode, sha }) => ({
    path: string(path),
    mode: string(mode),
    sha: objectId(sha),
  }))
  return { truncated: data.truncated !== false, entries }
}

export function orThrow<T>(outcome: T | Setback): Exclude<T, Setback> {
  if (isSetback(outcome)) throw new SetbackError(outcome)
  return outcome as Exclude<T, Setback>
}

/** Results in the order of the items. */
export async function* inParallel<T, R>(items: readonly T[], act: (item: T) => Promise<R>): AsyncGenerator<R> {
  const started: Promise<R>[] = []
  for (const item of items) {
    const next = act(item)
    next.catch(() => undefined)
    started.push(next)
    if (started.length >= AT_ONCE) yield await started.shift()!
  }
  for (const result of started) yield await result
}
