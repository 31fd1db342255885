// Making commits: one short `git fast-import` for each batch. Afterwards the whole batch is on the branch, or none of
// it.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Setback } from '../failure.js'
import type { Ident } from './commit-message.js'
import { gitSetback, startGit, watchIdle, type GitProcess } from './git.js'

/** The state that a commit gives a file: new content, an object that the repository has, or removed (neither). */
export interface FileState {
  readonly path: string
  readonly content?: string | undefined
  readonly blob?: string | undefined
}

export interface ImportedCommit {
  readonly author: Ident
  readonly message: string
  /** The author's date: when the change was made. ms since the epoch. */
  readonly made: number
  /** The committer's date, never earlier than the parent's. */
  readonly time: number
  readonly files: Iterable<FileState> | AsyncIterable<FileState>
}

export interface ImportTask {
  readonly branch: string
  readonly committer: Ident
  /** The head of the branch; undefined when there is none. */
  readonly parent: string | undefined
  readonly commits: Iterable<ImportedCommit>
  /** The last commit is left out when its tree is this one. */
  readonly unlessTree?: string
  /** Runs with a low priority. */
  readonly yields?: boolean
}

/** Ids of the commits; undefined for one that was left out. */
export interface Imported {
  readonly commits: readonly (string | undefined)[]
}

/** Why git made no commits; the branch is as it was. */
export interface ImportFailure extends Setback {
  /** A lock file of another git was in the way. */
  readonly isLocked: boolean
}

/** The part of the failure that is reported. */
export const importSetback = ({ failure, detail }: ImportFailure): Setback => ({ failure, detail })

interface ImportRun {
  readonly task: ImportTask
  readonly child: GitProcess
  readonly idle: ReturnType<typeof watchIdle>
  readonly replies: Replies
  readonly commits: (string | undefined)[]
  /** The error that an iterable of files has thrown. */
  thrown?: { readonly error: unknown }
}

/** UTF-16 units written in one piece. */
const PIECE = 65_536
const isArray = (files: ImportedCommit['files']): files is readonly FileState[] => Array.isArray(files)

/** Throws the errors that the iterable of files throws. */
export async function fastImport(folder: string, task: ImportTask): Promise<Imported | ImportFailure> {
  const { child, ended } = startGit(folder, ['fast-import', '--done', '--quiet', '--date-format=raw'], task.yields)
  const run: ImportRun = { task, child, idle: watchIdle(child), replies: repliesOf(child.stdout), commits: [] }
  // Git answers each commit (get-mark): a batch may take any time, as long as there is progress.
  child.stdout.on('data', () => run.idle.alive())
  // If the stream breaks, the exit of git tells why.
  const fed = pipeline(Readable.from(taken(run, importStream(run))), child.stdin).catch(() => undefined)
  const ending = await ended
  await fed
  run.idle.stop()
  if (run.thrown) throw run.thrown.error
  if (ending.code !== 0) {
    return { ...gitSetback(ending, `committing to ${folder}`), isLocked: /file exists/i.test(ending.stderr) }
  }
  for (const reply of run.replies.rest()) run.commits.push(reply)
  return { commits: run.commits }
}

/** The stream pulls the next piece when git has read the one before: a sign of life. */
async function* taken({ idle }: ImportRun, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    idle.alive()
    yield piece
  }
}

async function* importStream(run: ImportRun): AsyncGenerator<string> {
  const { task, replies, commits } = run
  let mark = 0
  let text = ''
  for (const commit of task.commits) {
    text += headerOf(commit, task, ++mark)
    if (isArray(commit.files)) text += commit.files.map(fileCommand).join('')
    else {
      for await (const file of watched(run, commit.files)) {
        text += fileCommand(file)
        if (text.length < PIECE) continue
        yield text
        text = ''
      }
    }
    text += `\nget-mark :${mark}\n`
    if (text.length < PIECE) continue
    yield text
    text = ''
  }
  if (task.unlessTree !== undefined) {
    yield `${text}ls :${mark} ""\n`
    text = ''
    for (let n = 0; n < mark; n++) commits.push(await replies.next())
    // The commit changes nothing: reset the branch to its old head, without it.
    if ((await replies.next())?.split(/\s/)[2] === task.unlessTree) {
      commits[mark - 1] = undefined
      yield `reset refs/heads/${task.branch}\n${task.parent === undefined ? '' : `from ${task.parent}\n`}\n`
    }
  }
  yield `${text}done\n`
}

/** Passes the files on, and notes an error that they throw: it differs from a stream that git has closed. */
async function* watched(run: ImportRun, files: ImportedCommit['files']): AsyncGenerator<FileState> {
  const iterator = Symbol.asyncIterator in files ? files[Symbol.asyncIterator]() : files[Symbol.iterator]()
  try {
    for (;;) {
      const next = await Promise.resolve(iterator.next()).catch((error: unknown) => {
        run.thrown = { error }
        run.child.kill('SIGKILL')
        throw error
      })
      if (next.done) return
      run.idle.alive()
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

const headerOf = (
  { author, message, made, time }: ImportedCommit,
  { branch, committer, parent }: ImportTask,
  mark: number,
): string =>
  [
    `commit refs/heads/${branch}`,
    `mark :${mark}`,
    `author ${identText(author)} ${made / 1000} +0000`,
    `committer ${identText(committer)} ${time / 1000} +0000`,
    dataCommand(message),
    ...(mark === 1 && parent !== undefined ? [`from ${parent}`] : []),
    '',
  ].join('\n')

const fileCommand = ({ path, content, blob }: FileState): string => {
  if (content !== undefined) return `M 100644 inline ${quoted(path)}\n${dataCommand(content)}\n`
  return blob === undefined ? `D ${quoted(path)}\n` : `M 100644 ${blob} ${quoted(path)}\n`
}

const dataCommand = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
const identText = ({ name, email }: Ident): string =>
  `${name.replace(/[<>\p{Cc}]/gu, '')} <${email.replace(/[<>\p{Cc}\s]/gu, '')}>`

/** Git's id of a content. */
export function blobId(content: string): string {
  const bytes = Buffer.from(content)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

interface Replies {
  next(): Promise<string | undefined>
  rest(): string[]
}

/** The lines that fast-import prints; each can be awaited. */
function repliesOf(stdout: Readable): Replies {
  const lines: string[] = []
  let partial = ''
  let over = false
  let wake = (): void => undefined
  stdout.on('data', (chunk: Buffer) => {
    const parts = (partial + chunk.toString()).split('\n')
    partial = parts.pop()!
    lines.push(...parts)
    wake()
  })
  stdout.on('close', () => {
    over = true
    wake()
  })
  return {
    async next() {
      while (lines.length === 0 && !over) await new Promise<void>((resolve) => (wake = resolve))
      return lines.shift()
    },
    rest: () => lines.splice(0),
  }
}
