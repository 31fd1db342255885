// The repository of a log without a history (`--log local`): of each document only the newest content, in the database
// of the journal. Its commits have no past.
import { createHash } from 'node:crypto'
import { caughtSetback, type Setback } from '../failure.js'
import { commitAuthor, commitMessage, commitTime } from '../git/commit-message.js'
import { blobId } from '../git/fast-import.js'
import { makeQueue } from '../queue.js'
import type { BranchHead, Committed, LoggedCommit, NewCommit, NewFile, Repository } from '../repository.js'
import { del, put, type Database, type DatabaseOperation } from './database.js'

/** By path: Git's id of the content, then the content. */
const CONTENT = 'c'
const ID_LENGTH = 40
const HEAD = 'n'
const LARGEST_BATCH = 1000
/** Characters of contents that are written at once, since other writes must not wait long. */
const PIECE = 1024 * 1024

/** The last commits are kept, since the index may lack them after a crash: from the head before them on. */
interface Head extends Pick<BranchHead, 'commit' | 'time'> {
  readonly recent: readonly LoggedCommit[]
}

interface Contents {
  readonly database: Database
  head: Head | undefined
}

/** @param name for log lines. Throws SetbackError. */
export async function openNewestContents(database: Database, name: string): Promise<Repository> {
  const stored = await database.get(HEAD)
  const contents: Contents = { database, head: stored === undefined ? undefined : (JSON.parse(stored) as Head) }
  const inTurn = makeQueue()
  return {
    name,
    batch: LARGEST_BATCH,
    commit: (changes) => inTurn(() => commit(contents, changes)),
    commitFiles: (files, change) => inTurn(() => commitFiles(contents, files, change)).catch(caughtSetback),
    async read({ path, blob }) {
      const found = await database.get(CONTENT + path)
      return found === undefined || (blob !== undefined && idIn(found) !== blob) ? undefined : contentIn(found)
    },
    async *log(from) {
      const { head } = contents
      if (!head || from === head.commit) return
      const first = from === undefined ? -1 : head.recent.findIndex(({ parent }) => parent === from)
      if (first >= 0) yield* head.recent.slice(first)
      else yield await everything(contents, head)
    },
    files: () => filesOf(contents),
    async *contents() {
      for await (const [key, value] of database.range(CONTENT))
        yield { path: key.slice(CONTENT.length), content: contentIn(value) }
    },
    ready: () => Promise.resolve(undefined),
    close: () => inTurn(() => Promise.resolve()),
  }
}

const idIn = (value: string): string => value.slice(0, ID_LENGTH)
const contentIn = (value: string): string => value.slice(ID_LENGTH)

const writing = ({ path, content }: NewFile): DatabaseOperation =>
  content === undefined ? del(CONTENT + path) : put(CONTENT + path, blobId(content) + content)

const nextId = (parent: string | undefined, id: string): string =>
  createHash('sha1')
    .update(`${parent ?? ''} ${id}`)
    .digest('hex')

const headPut = (head: Head): DatabaseOperation => put(HEAD, JSON.stringify(head))

async function* filesOf({ database }: Contents): ReturnType<Repository['files']> {
  for await (const [key, value] of database.range(CONTENT)) yield { path: key.slice(CONTENT.length), blob: idIn(value) }
}

/** One commit without a parent, for an index that cannot continue from where it is. */
async function everything(contents: Contents, { commit, time }: Head): Promise<LoggedCommit> {
  const files: { readonly path: string; readonly blob: string }[] = []
  for await (const file of filesOf(contents)) files.push(file)
  return { commit, parent: undefined, time, message: '', authorName: '', files }
}

async function commit(
  contents: Contents,
  changes: readonly NewCommit[],
): Promise<readonly Committed[] | (Setback & { done: readonly Committed[] })> {
  const { database, head } = contents
  const known = new Map(head?.recent.map((logged) => [logged.message, logged]))
  const operations: DatabaseOperation[] = []
  const recent: LoggedCommit[] = []
  let [parent, time] = [head?.commit, head?.time]
  const committed = changes.map((change): Committed => {
    const { id, path, content } = change
    const message = commitMessage(change)
    const blob = content === undefined ? undefined : blobId(content)
    const made = commitTime(change.time)
    // The message has the Journal-Id. A crash has lost only that it is committed.
    const before = known.get(message)
    if (before) return { id, commit: before.commit, parent: before.parent, time: made, blob }
    const logged = {
      ...{ commit: nextId(parent, id), parent, time: made, message },
      ...{ authorName: commitAuthor(change.agent).name, files: [{ path, blob }] },
    }
    operations.push(writing({ path, content }))
    recent.push(logged)
    ;[parent, time] = [logged.commit, commitTime(change.time, time)]
    return { id, commit: logged.commit, parent: logged.parent, time: made, blob }
  })
  if (recent.length === 0) return committed
  const next = { commit: parent!, time: time!, recent }
  const failed = await database.write([...operations, headPut(next)], true, 'drop')
  if (failed) return { ...failed, done: [] }
  contents.head = next
  return committed
}

async function commitFiles(
  contents: Contents,
  files: AsyncIterable<NewFile>,
  change: Parameters<Repository['commitFiles']>[1],
): Promise<LoggedCommit | undefined | Setback> {
  const { database, head } = contents
  const changed: { readonly path: string; readonly blob: string | undefined }[] = []
  const time = commitTime(change.time, head?.time)
  const next = nextId(head?.commit, change.id)
  let [operations, size]: [DatabaseOperation[], number] = [[], 0]
  const write = (): Promise<undefined | Setback> => {
    const all = operations
    ;[operations, size] = [[], 0]
    return database.write(all, true, 'drop')
  }
  // The index cannot continue from this head: after a failure in between, it is built again from the contents.
  const begin = (): void => {
    contents.head = { commit: nextId(next, 'begun'), time, recent: [] }
    operations.push(headPut(contents.head))
  }
  for await (const file of files) {
    const blob = file.content === undefined ? undefined : blobId(file.content)
    const before = await database.get(CONTENT + file.path)
    if ((before === undefined ? undefined : idIn(before)) === blob) continue
    if (changed.length === 0) begin()
    operations.push(writing(file))
    changed.push({ path: file.path, blob })
    size += file.content?.length ?? 0
    const failed = size > PIECE || operations.length > LARGEST_BATCH ? await write() : undefined
    if (failed) return failed
  }
  if (changed.length === 0) return undefined
  operations.push(headPut({ commit: next, time, recent: [] }))
  const failed = await write()
  if (failed) return failed
  const logged: LoggedCommit = {
    ...{ commit: next, parent: head?.commit, time: commitTime(change.time), message: commitMessage(change) },
    ...{ authorName: commitAuthor(change.agent).name, files: changed },
  }
  contents.head = { commit: next, time, recent: [logged] }
  return logged
}
