// In charge of putting commits on the branch of a bare repository: one writer, who starts again where others have pushed.
import { setTimeout as sleep } from 'node:timers/promises'
import { countPacks, recover } from './bare-repository.js'
import { LARGEST_OBJECT, type ObjectReader } from './cat-file.js'
import { isSetback, type Change, type Setback } from '../change.js'
import { authorOf, commitMessage, commitTime, readTrailers, type Ident } from './commit-message.js'
import { LONGEST_PATH } from './document-path.js'
import { blobId, fastImport, type ImportedCommit, type NewFile } from './fast-import.js'
import { setbackOf, startGit, watchIdle, type Ending } from './git.js'
import { logOf, readHead, type Head } from './log.js'
import { makeQueue } from '../queue.js'
import {
  mayBeOf,
  SetbackError,
  type Committed,
  type LoggedCommit,
  type NewCommit,
  type Repository,
} from '../repository.js'

export const BATCH = 1000
/** Packs are merged from so many on, as long as that takes a small share of the time; from as many as MANY in any case. */
const PACKS = 64
const MANY_PACKS = 200
const REPACK_SHARE = 1 / 20
const REPACK_LIMIT_MS = 1_800_000
/** So many of the newest commits are known by their Journal-Id: what has become a commit does not become another. */
const KNOWN = 1000
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const ATTEMPTS = 20
const ATTEMPT_PAUSE_MS = 250

export interface LocalCommits extends Pick<Repository, 'commit' | 'commitFiles'> {
  close(): Promise<void>
}

interface Options {
  readonly folder: string
  readonly branch: string
  readonly committer: Ident
  readonly reader: ObjectReader
  readonly now: () => number
}

export function makeLocalCommits({ folder, branch, committer, reader, now }: Options): LocalCommits {
  const known = new Map<string, Pick<LoggedCommit, 'commit' | 'parent' | 'time'>>()
  const inTurn = makeQueue()
  let last: string | undefined
  let packs: number | undefined
  /** ms. */
  const repacking = { took: 0, ended: 0 }
  let recovered = false
  let stopRepack = (): void => undefined
  let closed = false

  /** The head; where somebody else has left it, with what has become commits on any way to it. */
  async function currentHead(): Promise<Head | undefined> {
    const head = await readHead(folder, reader, branch)
    if (isSetback(head)) throw new SetbackError(head)
    for (const id of known.keys()) if (known.size > KNOWN) known.delete(id)
    if (head?.commit === last) return head
    known.clear()
    if (head) {
      for await (const commit of logOf(folder, [head.commit], { newest: KNOWN, files: false })) {
        const { journalId } = readTrailers(commit.message)
        if (journalId !== undefined && !known.has(journalId)) known.set(journalId, commit)
      }
    }
    last = head?.commit
    return head
  }

  /** Acts on the head: again where it has moved meanwhile, or a killed git's lock is in the way until it is stale. */
  async function onHead<R extends object>(
    act: (head: Head | undefined) => Promise<R | { failed: Ending }>,
  ): Promise<R> {
    for (let attempt = 1; ; attempt++) {
      if (!recovered) await recover(folder, branch, now())
      const head = await currentHead()
      const outcome = await act(head)
      recovered = !('failed' in outcome)
      if (!('failed' in outcome)) return outcome
      const moved = (await currentHead())?.commit !== head?.commit
      const locked = /file exists/i.test(outcome.failed.stderr)
      if (attempt >= ATTEMPTS || !(moved || locked)) {
        const failed = setbackOf(outcome.failed, `committing to ${folder}`)
        throw new SetbackError(moved ? { ...failed, setback: 'conflict' } : failed)
      }
      if (locked) await sleep(ATTEMPT_PAUSE_MS)
    }
  }

  async function isCommitted({ id, path }: NewCommit): Promise<boolean> {
    const commit = known.get(id)?.commit
    if (commit !== undefined) {
      for await (const { files } of logOf(folder, [commit], { newest: 1 })) return mayBeOf(files, path)
    }
    return false
  }

  async function commitOn(
    head: Head | undefined,
    changes: readonly NewCommit[],
    yields: boolean,
  ): Promise<readonly Committed[] | { readonly failed: Ending }> {
    for (const change of changes) if (!(await isCommitted(change))) known.delete(change.id)
    const pending = changes.filter(({ id }) => !known.has(id))
    let time = head?.time
    const commits = pending.map((change): ImportedCommit & { readonly id: string } => ({
      id: change.id,
      author: authorOf(change.agent),
      message: commitMessage(change),
      time: (time = commitTime(change.time, time)),
      files: [change],
    }))
    if (commits.length > 0) {
      const imported = await fastImport(folder, { branch, committer, parent: head?.commit, commits, yields })
      if ('failed' in imported) return imported
      commits.forEach(({ id, time }, n) => {
        known.set(id, { commit: imported.commits[n]!, parent: n === 0 ? head?.commit : imported.commits[n - 1], time })
      })
      await newHead(imported.commits.at(-1)!)
    }
    return changes.map(({ id, content }): Committed => {
      const { commit, parent, time } = known.get(id)!
      return { id, commit, parent, time, blob: content === undefined ? undefined : blobId(content) }
    })
  }

  /** How to commit files on a head: with their contents the first time, with what the repository has of them afterwards. */
  function filesCommitter(
    files: AsyncIterable<NewFile>,
    change: Pick<Change, 'id' | 'method' | 'agent' | 'time'>,
  ): (head: Head | undefined) => Promise<{ commit: string | undefined } | { failed: Ending }> {
    const kept: NewFile[] = []
    let read = false
    async function* reading(): AsyncGenerator<NewFile> {
      for await (const file of files) {
        const unfit = whyUnfit(file)
        if (unfit) throw new SetbackError(unfit)
        yield file
        kept.push({ path: file.path, blob: file.content === undefined ? undefined : blobId(file.content) })
      }
      read = true
    }
    return async (head) => {
      const before = known.get(change.id)
      if (before) return before
      const imported = await fastImport(folder, {
        branch,
        committer,
        parent: head?.commit,
        commits: [
          {
            author: authorOf(change.agent),
            message: commitMessage(change),
            time: commitTime(change.time, head?.time),
            files: read ? kept : reading(),
          },
        ],
        unlessTree: head?.tree ?? EMPTY_TREE,
      })
      if ('failed' in imported) {
        // What has been read of the files cannot be read again.
        if (!read) throw new SetbackError(setbackOf(imported.failed, `committing to ${folder}`))
        return imported
      }
      const [commit] = imported.commits
      if (commit !== undefined) await newHead(commit)
      return { commit }
    }
  }

  async function newHead(commit: string): Promise<void> {
    last = commit
    packs = packs === undefined ? await countPacks(folder) : packs + 1
    const isDue = packs >= PACKS && repacking.took <= REPACK_SHARE * (performance.now() - repacking.ended)
    if (!isDue && packs < MANY_PACKS) return
    packs = 0
    // Nothing waits for it, and it comes again.
    inTurn(repack).catch(() => undefined)
  }

  /** Between commits, as a running fast-import keeps its packs from being merged. */
  async function repack(): Promise<void> {
    if (closed) return
    const began = performance.now()
    const { child, ended } = startGit(folder, ['repack', '--geometric=2', '-d', '--write-midx', '--quiet'], true)
    child.stdin.end()
    child.stdout.resume()
    const idle = watchIdle(child, REPACK_LIMIT_MS)
    stopRepack = () => child.kill('SIGTERM')
    await ended
    idle.stop()
    reader.restart()
    repacking.ended = performance.now()
    repacking.took = repacking.ended - began
  }

  const orSetback = async <R>(task: () => Promise<R>): Promise<R | Setback> => {
    if (closed) return { setback: 'failed', detail: `${folder} is closed` }
    try {
      return await inTurn(task)
    } catch (error) {
      if (error instanceof SetbackError) return error.setback
      throw error
    }
  }

  return {
    async commit(changes, presses = false) {
      const batch = changes.slice(0, BATCH)
      const refused = batch.findIndex((change) => whyUnfit(change))
      const fit = refused < 0 ? batch : batch.slice(0, refused)
      const done =
        fit.length === 0
          ? []
          : await orSetback(() => onHead<readonly Committed[]>((head) => commitOn(head, fit, !presses)))
      if (isSetback(done)) return { ...done, done: [] }
      return refused < 0 ? done : { ...whyUnfit(batch[refused]!)!, done }
    },
    commitFiles: (files, change) =>
      orSetback(async () => {
        const { commit } = await onHead(filesCommitter(files, change))
        if (commit === undefined) return undefined
        for await (const logged of logOf(folder, [commit], { newest: 1 })) return logged
      }),
    async close() {
      closed = true
      stopRepack()
      await inTurn(async () => undefined)
    },
  }
}

/** Why Git could not hold the file, or could not give it back. */
function whyUnfit({ path, content }: NewFile): Setback | undefined {
  const unfit = (why: string): Setback => ({ setback: 'unfit', detail: `${path.slice(0, 200)}: ${why}` })
  if (Buffer.byteLength(path) > LONGEST_PATH) return unfit(`the path has more than ${LONGEST_PATH} bytes`)
  if (/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)|[\0\n]/i.test(path)) return unfit('Git takes no such path')
  if (content !== undefined && Buffer.byteLength(content) > LARGEST_OBJECT) {
    return unfit(`the file has more than ${LARGEST_OBJECT} bytes`)
  }
  return undefined
}
