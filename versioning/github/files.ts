// One commit of many files on GitHub: trees of inline files, each based on the one before (Git Data API).
import { isFailure, type Setback } from '../failure.js'
import { commitAuthor, commitMessage } from '../git/commit-message.js'
import { blobId } from '../git/fast-import.js'
import type { NewFile, Repository } from '../repository.js'
import { objectId } from './answer.js'
import type { GitHubApi } from './api.js'
import type { GitHubBranch } from './branch.js'
import type { GitHubCommits } from './commits.js'
import type { GitHubLog } from './log.js'
import type { GitHubReading } from './reading.js'

/** The most files of one request for a tree. */
const FILES = 500
const BYTES = 4 * 1024 * 1024
const ATTEMPTS = 5

interface FilesOptions {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  readonly filesOf: GitHubReading['filesOf']
  readonly logged: GitHubLog['logged']
  readonly find: GitHubCommits['find']
  readonly pathPrefix: string
  readonly pause: (attempt: number) => Promise<void>
}

interface TreeEntry {
  readonly path: string
  readonly mode: '100644'
  readonly type: 'blob'
  readonly content?: string
  /** null: the file is removed. */
  readonly sha?: string | null
}

/** Throws SetbackError, and the errors of the iterable of files. */
export function makeFilesCommit(options: FilesOptions): Repository['commitFiles'] {
  const { api, branch, logged, find, pause } = options
  return async (files, change) => {
    const text = { author: commitAuthor(change.agent), message: commitMessage(change), time: change.time }
    const entries = treeEntries(files)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const head = await branch.start()
      if (isFailure(head)) return head
      const before = await find(change.id)
      if (before) return isFailure(before) ? before : logged(before.commit)
      const tree = await treeFrom(options, head.tree, entries(attempt === 1))
      if (isFailure(tree)) return tree
      if (tree === head.tree) return undefined
      const next = await branch.append(head, tree, text)
      if (next !== 'moved') return isFailure(next) ? next : logged(next.commit)
      await pause(attempt)
    }
    return { failure: 'conflict', detail: `${api.name}: others commit faster than ${branch.name} can be written to` }
  }
}

/** The entries of the files: with contents at the first attempt, later with the ids of the blobs that GitHub has. */
function treeEntries(files: AsyncIterable<NewFile>): (isFirst: boolean) => AsyncGenerator<TreeEntry> {
  const sent: TreeEntry[] = []
  return async function* (isFirst) {
    if (!isFirst) return yield* sent
    for await (const { path, content } of files) {
      const sha = content === undefined ? null : blobId(content)
      sent.push({ path, mode: '100644', type: 'blob', sha })
      yield { path, mode: '100644', type: 'blob', ...(content === undefined ? { sha } : { content }) }
    }
  }
}

/** The tree with these changes. Leaves out those without effect: GitHub refuses to remove a missing file. */
async function treeFrom(
  { api, filesOf, pathPrefix }: FilesOptions,
  base: string,
  changes: AsyncIterable<TreeEntry>,
): Promise<string | Setback> {
  const present = new Map<string, string>()
  for await (const { path, blob } of filesOf(base, pathPrefix)) present.set(path, blob)
  let tree: string | Setback = base
  let entries: TreeEntry[] = []
  let bytes = 0
  for await (const entry of changes) {
    const { path, content, sha = content === undefined ? undefined : blobId(content) } = entry
    if ((present.get(path) ?? null) === sha) continue
    entries.push(entry)
    bytes += content === undefined ? 0 : Buffer.byteLength(content)
    if (entries.length < FILES && bytes < BYTES) continue
    tree = await treeWith(api, tree, entries)
    if (isFailure(tree)) return tree
    entries = []
    bytes = 0
  }
  return entries.length > 0 ? treeWith(api, tree, entries) : tree
}

const treeWith = (api: GitHubApi, base: string, entries: readonly TreeEntry[]): Promise<string | Setback> =>
  api.ask('POST /repos/{owner}/{repo}/git/trees', { base_tree: base, tree: entries }, (data: { sha: unknown }) =>
    objectId(data.sha),
  )
