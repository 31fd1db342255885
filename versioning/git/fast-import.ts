// In charge of making commits: one short `git fast-import` for each batch, all of it on the branch afterwards or nothing.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { startGit, watchIdle, type Ending } from './git.js'
import type { Ident } from './commit-message.js'

/** A file as it is to be: its content, an object that the repository has, or neither: removed. */
export interface NewFile {
  readonly path: string
  readonly content?: string | undefined
  readonly blob?: string | undefined
}

export interface ImportedCommit {
  readonly author: Ident
  readonly message: string
  /** ms since the epoch. */
  readonly time: number
  readonly files: Iterable<NewFile> | AsyncIterable<NewFile>
}

export interface Import {
  readonly branch: string
  readonly committer: Ident
  /** The head of the branch; undefined when there is none. */
  readonly parent: string | undefined
  readonly commits: Iterable<ImportedCommit>
  /** The last commit is left out when its tree is this one. */
  readonly unlessTree?: string
  /** To whatever else wants the processor. */
  readonly yields?: boolean
}

/** UTF-16 units that are written at once. */
const PIECE = 65_536
const isArray = (files: ImportedCommit['files']): files is readonly NewFile[] => Array.isArray(files)

/** Ids of the commits, undefined for one that was left out; or how git failed, and then the branch is as it was. */
export type Imported = { readonly commits: readonly (string | undefined)[] } | { readonly failed: Ending }

/** Whatever the files' iterable throws is thrown on. */
export async function fastImport(folder: string, task: Import): Promise<Imported> {
  const { child, ended } = startGit(folder, ['fast-import', '--done', '--quiet', '--date-format=raw'], task.yields)
  const idle = watchIdle(child)
  const replies = repliesOf(child.stdout)
  const commits: (string | undefined)[] = []
  let thrown: { readonly error: unknown } | undefined

  /** The files, with what they throw noted: unlike what breaks the stream from the other end. */
  async function* noted(files: ImportedCommit['files']): AsyncGenerator<NewFile> {
    const iterator = Symbol.asyncIterator in files ? files[Symbol.asyncIterator]() : files[Symbol.iterator]()
    try {
      for (;;) {
        const next = await Promise.resolve(iterator.next()).catch((error: unknown) => {
          thrown = { error }
          child.kill('SIGKILL')
          throw error
        })
        if (next.done) return
        idle.alive()
        yield next.value
      }
    } finally {
      await iterator.return?.()
    }
  }

  async function* stream(): AsyncGenerator<string> {
    let mark = 0
    let text = ''
    for (const commit of task.commits) {
      text += headOf(commit, task, ++mark)
      if (isArray(commit.files)) text += commit.files.map(changeOf).join('')
      else {
        for await (const file of noted(commit.files)) {
          text += changeOf(file)
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
      // A branch that is set to where it is stays there.
      if ((await replies.next())?.split(/\s/)[2] === task.unlessTree) {
        commits[mark - 1] = undefined
        yield `reset refs/heads/${task.branch}\n${task.parent === undefined ? '' : `from ${task.parent}\n`}\n`
      }
    }
    yield `${text}done\n`
  }

  // Why the stream breaks is told by how git ends.
  const fed = pipeline(Readable.from(stream()), child.stdin).catch(() => undefined)
  const ending = await ended
  await fed
  idle.stop()
  if (thrown) throw thrown.error
  if (ending.code !== 0) return { failed: ending }
  for (const reply of replies.rest()) commits.push(reply)
  return { commits }
}

const headOf = (
  { author, message, time }: ImportedCommit,
  { branch, committer, parent }: Import,
  mark: number,
): string =>
  [
    `commit refs/heads/${branch}`,
    `mark :${mark}`,
    `author ${identOf(author)} ${time / 1000} +0000`,
    `committer ${identOf(committer)} ${time / 1000} +0000`,
    dataOf(message),
    ...(mark === 1 && parent !== undefined ? [`from ${parent}`] : []),
    '',
  ].join('\n')

const changeOf = ({ path, content, blob }: NewFile): string => {
  if (content !== undefined) return `M 100644 inline ${quoted(path)}\n${dataOf(content)}\n`
  return blob === undefined ? `D ${quoted(path)}\n` : `M 100644 ${blob} ${quoted(path)}\n`
}

const dataOf = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
const identOf = ({ name, email }: Ident): string =>
  `${name.replace(/[<>\p{Cc}]/gu, '')} <${email.replace(/[<>\p{Cc}\s]/gu, '')}>`

/** Git's id of a content. */
export function blobId(content: string): string {
  const bytes = Buffer.from(content)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** What fast-import answers, by lines: each can be waited for. */
function repliesOf(stdout: Readable): { next(): Promise<string | undefined>; rest(): string[] } {
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
