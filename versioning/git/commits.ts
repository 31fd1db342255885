// Putting commits on the branch of a bare repository: one writer, which tries again if others have pushed.
import { caughtSetback, isFailure, SetbackError, type Setback } from '../failure.js'
import { makeQueue } from '../queue.js'
import {
  mayBeOf,
  type BranchHead,
  type Committed,
  type FilesChange,
  type NewCommit,
  type NewFile,
  type Repository,
} from '../repository.js'
import { trackHead, type TrackedHead } from './branch-head.js'
import { LARGEST_OBJECT, type ObjectReader } from './cat-file.js'
import { commitAuthor, commitMessage, commitTime, type Ident } from './commit-message.js'
import { LONGEST_PATH } from './document-path.js'
import { blobId, fastImport, importSetback } from './fast-import.js'
import type { FileState, ImportedCommit, ImportFailure } from './fast-import.js'
import { logOf } from './log.js'
import { makeRepacking, type Repacking } from './repack.js'

export const LARGEST_BATCH = 1000
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export interface LocalCommits extends Pick<Repository, 'commit' | 'commitFiles'> {
  close(): Promise<void>
}

interface WriterOptions {
  readonly folder: string
  readonly branch: string
  readonly committer: Ident
  readonly reader: ObjectReader
  readonly now: () => number
}

interface Writer extends Pick<WriterOptions, 'folder' | 'branch' | 'committer'> {
  readonly head: TrackedHead
  readonly repacking: Repacking
}

export function makeLocalCommits({ folder, branch, committer, reader, now }: WriterOptions): LocalCommits {
  const inTurn = makeQueue()
  const head = trackHead({ folder, branch, reader, now })
  const repacking = makeRepacking({ folder, reader, inTurn })
  const writer: Writer = { folder, branch, committer, head, repacking }
  let closed = false

  const write = async <R>(task: () => Promise<R>): Promise<R | Setback> =>
    closed ? { failure: 'failed', detail: `${folder} is closed` } : inTurn(task).catch(caughtSetback)

  return {
    async commit(changes, presses = false) {
      const batch = changes.slice(0, LARGEST_BATCH)
      const refused = batch.findIndex((change) => whyUnfit(change))
      const fit = refused < 0 ? batch : batch.slice(0, refused)
      const commitFit = (): Promise<readonly Committed[]> =>
        head.act<readonly Committed[]>((on) => commitOn(writer, on, fit, !presses))
      const done = fit.length === 0 ? [] : await write(commitFit)
      if (isFailure(done)) return { ...done, done: [] }
      return refused < 0 ? done : { ...whyUnfit(batch[refused]!)!, done }
    },
    commitFiles: (files, change) =>
      write(async () => {
        const { commit } = await head.act(filesCommitter(writer, files, change))
        if (commit === undefined) return undefined
        for await (const logged of logOf(folder, [commit], { newest: 1 })) return logged
      }),
    async close() {
      closed = true
      repacking.stop()
      await inTurn(async () => undefined)
    },
  }
}

async function isCommitted({ folder, head }: Writer, { id, path }: NewCommit): Promise<boolean> {
  const commit = head.known.get(id)?.commit
  if (commit !== undefined) {
    for await (const { files } of logOf(folder, [commit], { newest: 1 })) return mayBeOf(files, path)
  }
  return false
}

async function commitOn(
  writer: Writer,
  head: BranchHead | undefined,
  changes: readonly NewCommit[],
  yields: boolean,
): Promise<readonly Committed[] | ImportFailure> {
  const { folder, branch, committer } = writer
  const { known } = writer.head
  for (const change of changes) if (!(await isCommitted(writer, change))) known.delete(change.id)
  const pending = changes.filter(({ id }) => !known.has(id))
  let time = head?.time
  const commits = pending.map((change): ImportedCommit & { readonly id: string } => ({
    id: change.id,
    author: commitAuthor(change.agent),
    message: commitMessage(change),
    made: commitTime(change.time),
    time: (time = commitTime(change.time, time)),
    files: [change],
  }))
  if (commits.length > 0) {
    const imported = await fastImport(folder, { branch, committer, parent: head?.commit, commits, yields })
    if (isFailure(imported)) return imported
    commits.forEach(({ id, made }, n) => {
      const parent = n === 0 ? head?.commit : imported.commits[n - 1]
      known.set(id, { commit: imported.commits[n]!, parent, time: made })
    })
    await movedTo(writer, imported.commits.at(-1)!)
  }
  return changes.map(({ id, content }): Committed => {
    const { commit, parent, time } = known.get(id)!
    return { id, commit, parent, time, blob: content === undefined ? undefined : blobId(content) }
  })
}

/**
 * Commits files on a head. The first attempt writes their contents; further attempts use the objects that it left in
 * the repository.
 */
function filesCommitter(
  writer: Writer,
  files: AsyncIterable<NewFile>,
  change: FilesChange,
): (head: BranchHead | undefined) => Promise<{ commit: string | undefined } | ImportFailure> {
  const { folder, branch, committer } = writer
  const written: FileState[] = []
  let read = false
  async function* reading(): AsyncGenerator<FileState> {
    for await (const file of files) {
      const unfit = whyUnfit(file)
      if (unfit) throw new SetbackError(unfit)
      yield file
      written.push({ path: file.path, blob: file.content === undefined ? undefined : blobId(file.content) })
    }
    read = true
  }
  return async (head) => {
    const before = writer.head.known.get(change.id)
    if (before) return before
    const commit = {
      author: commitAuthor(change.agent),
      message: commitMessage(change),
      made: commitTime(change.time),
      time: commitTime(change.time, head?.time),
      files: read ? written : reading(),
    }
    const task = { branch, committer, parent: head?.commit, commits: [commit], unlessTree: head?.tree ?? EMPTY_TREE }
    const imported = await fastImport(folder, task)
    if (isFailure(imported)) {
      // The files come from a stream, which cannot be read a second time.
      if (!read) throw new SetbackError(importSetback(imported))
      return imported
    }
    const [made] = imported.commits
    if (made !== undefined) await movedTo(writer, made)
    return { commit: made }
  }
}

async function movedTo({ head, repacking }: Writer, commit: string): Promise<void> {
  head.moved(commit)
  await repacking.packAdded()
}

/** Why Git could not store the file, or could not read it back. */
function whyUnfit({ path, content }: NewFile): Setback | undefined {
  const unfit = (why: string): Setback => ({ failure: 'unfit', detail: `${path.slice(0, 200)}: ${why}` })
  if (Buffer.byteLength(path) > LONGEST_PATH) return unfit(`the path has more than ${LONGEST_PATH} bytes`)
  if (/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)|[\0\n]/i.test(path)) return unfit('Git does not accept such a path')
  if (content !== undefined && Buffer.byteLength(content) > LARGEST_OBJECT) {
    return unfit(`the file has more than ${LARGEST_OBJECT} bytes`)
  }
  return undefined
}
