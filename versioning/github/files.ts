// In charge of one commit of many files on GitHub: trees of inline files, one upon the other (Git Data API).
import { isSetback, type Change, type Setback } from '../change.js'
import { authorOf, commitMessage } from '../git/commit-message.js'
import { blobId } from '../git/fast-import.js'
import type { GitHubApi } from './api.js'
import { objectId } from './answer.js'
import type { GitHubBranch } from './branch.js'
import type { GitHubCommits } from './commits.js'
import type { GitHubLog } from './log.js'
import type { GitHubReading } from './reading.js'
import type { Repository } from '../repository.js'

/** What one tree is sent with, at most. */
const FILES = 500
const BYTES = 4 * 1024 * 1024
const ATTEMPTS = 5

interface Options {
  readonly api: GitHubApi
  readonly branch: GitHubBranch
  readonly filesOf: GitHubReading['filesOf']
  readonly logged: GitHubLog['logged']
  readonly find: GitHubCommits['find']
  readonly pathPrefix: string
  readonly pause: (attempt: number) => Promise<void>
}

type NewFile = { readonly path: string; readonly content: string | undefined }
interface Entry {
  readonly path: string
  readonly mode: '100644'
  readonly type: 'blob'
  readonly content?: string
  /** null: removed. */
  readonly sha?: string | null
}

/** What it throws is what reading the files or GitHub throws. */
export function makeFilesCommit({ api, branch, filesOf, logged, find, pathPrefix, pause }: Options) {
  const treeWith = (base: string, entries: readonly Entry[]): Promise<string | Setback> =>
    api.ask('POST /repos/{owner}/{repo}/git/trees', { base_tree: base, tree: entries }, (data: { sha: unknown }) =>
      objectId(data.sha),
    )

  /** The tree with these changes. Those that change nothing are not sent: GitHub refuses to remove what is not there. */
  async function treeFrom(base: string, changes: AsyncIterable<Entry>): Promise<string | Setback> {
    const there = new Map<string, string>()
    for await (const { path, blob } of filesOf(base, pathPrefix)) there.set(path, blob)
    let tree: string | Setback = base
    let entries: Entry[] = []
    let bytes = 0
    for await (const entry of changes) {
      const { path, content, sha = content === undefined ? undefined : blobId(content) } = entry
      if ((there.get(path) ?? null) === sha) continue
      entries.push(entry)
      bytes += content === undefined ? 0 : Buffer.byteLength(content)
      if (entries.length < FILES && bytes < BYTES) continue
      tree = await treeWith(tree, entries)
      if (isSetback(tree)) return tree
      entries = []
      bytes = 0
    }
    return entries.length > 0 ? treeWith(tree, entries) : tree
  }

  return async function commitFiles(
    files: AsyncIterable<NewFile>,
    change: Pick<Change, 'id' | 'method' | 'agent' | 'time'>,
  ): ReturnType<Repository['commitFiles']> {
    const made = { author: authorOf(change.agent), message: commitMessage(change), time: change.time }
    /** Where others have committed meanwhile, all is put together once more; GitHub has the contents by then. */
    const sent: Entry[] = []
    async function* first(): AsyncGenerator<Entry> {
      for await (const { path, content } of files) {
        const sha = content === undefined ? null : blobId(content)
        sent.push({ path, mode: '100644', type: 'blob', sha })
        yield { path, mode: '100644', type: 'blob', ...(content === undefined ? { sha } : { content }) }
      }
    }
    async function* again(): AsyncGenerator<Entry> {
      yield* sent
    }
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const head = await branch.start()
      if (isSetback(head)) return head
      const before = await find(change.id)
      if (before) return isSetback(before) ? before : logged(before.commit)
      const tree = await treeFrom(head.tree, attempt === 1 ? first() : again())
      if (isSetback(tree)) return tree
      if (tree === head.tree) return undefined
      const next = await branch.append(head, tree, made)
      if (next !== 'moved') return isSetback(next) ? next : logged(next.commit)
      await pause(attempt)
    }
    return { setback: 'conflict', detail: `${api.name}: others commit faster than ${branch.name} can be written to` }
  }
}
