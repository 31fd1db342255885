// In charge of reading objects of a repository: one long-lived `git cat-file --batch`, started again when it has ended.
import type { Setback } from '../change.js'
import { setbackOf, startGit, watchIdle, type GitProcess } from './git.js'

export interface GitObject {
  /** 40 hex digits. */
  readonly id: string
  readonly type: string
  readonly content: Buffer
}

export interface ObjectReader {
  /** The object that a name stands for; undefined when there is none. Answers come in the order of the calls. */
  object(name: string): Promise<GitObject | undefined | Setback>
  /** Lets go of the packs that are no more: the next read is by a fresh process. */
  restart(): void
  close(): void
}

/** Larger objects are not read, nor written. */
export const LARGEST_OBJECT = 64 * 1024 * 1024
const PATIENCE_MS = 30_000

type Answer = GitObject | undefined | Setback
interface Asked {
  readonly name: string
  readonly answer: (answer: Answer) => void
  /** How many processes have ended over it. */
  readonly ended: number
}

export function makeObjectReader(folder: string): ObjectReader {
  let process: ((asked: Asked) => void) | undefined
  let child: GitProcess | undefined
  let closed = false

  const start = (): ((asked: Asked) => void) => {
    const started = startGit(folder, ['cat-file', '--batch'])
    const waiting: Asked[] = []
    let idle: ReturnType<typeof watchIdle> | undefined
    const stopWatching = (): void => {
      idle?.stop()
      idle = undefined
    }
    const take = answerReader((answer) => {
      waiting.shift()?.answer(answer)
      if (waiting.length === 0) stopWatching()
    })
    started.child.stdout.on('data', (chunk: Buffer) => {
      idle?.alive()
      take(chunk)
    })
    void started.ended.then((ending) => {
      stopWatching()
      if (child === started.child) process = child = undefined
      for (const asked of waiting) {
        if (closed || asked.ended > 0) asked.answer(setbackOf(ending, `reading from ${folder}`))
        else ask({ ...asked, ended: asked.ended + 1 })
      }
    })
    child = started.child
    return (asked) => {
      idle ??= watchIdle(started.child, PATIENCE_MS)
      waiting.push(asked)
      started.child.stdin.write(`${asked.name}\n`)
    }
  }

  const ask = (asked: Asked): void => (process ??= start())(asked)

  /** What has been asked is still answered: the end of its input ends the process. */
  const restart = (): void => {
    child?.stdin.end()
    process = child = undefined
  }

  return {
    object(name) {
      if (closed) return Promise.resolve({ setback: 'failed', detail: `${folder} is closed` })
      if (name.includes('\n')) return Promise.resolve(undefined)
      return new Promise((answer) => ask({ name, answer, ended: 0 }))
    },
    restart,
    close() {
      closed = true
      restart()
    },
  }
}

/** Takes what `git cat-file --batch` prints, piece by piece: `<id> <type> <size>` LF content LF, or `<name> missing` LF. */
function answerReader(answered: (answer: Answer) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = []
  let held = 0
  let head: { id: string; type: string; size: number } | undefined
  const kept = (size: number): boolean => size <= LARGEST_OBJECT
  const finish = (answer: Answer): void => {
    head = undefined
    answered(answer)
  }

  /** The rest of the chunk, after what it has of a content and the newline at its end. */
  const takeContent = (chunk: Buffer, { id, type, size }: NonNullable<typeof head>): Buffer => {
    const part = chunk.subarray(0, size + 1 - held)
    held += part.length
    if (kept(size)) pieces.push(part)
    if (held > size) {
      const content = Buffer.concat(pieces)
      pieces = []
      held = 0
      if (kept(size)) finish({ id, type, content: content.subarray(0, size) })
      else finish({ setback: 'failed', detail: `object ${id} is too large to be read: ${size} bytes` })
    }
    return chunk.subarray(part.length)
  }

  const takeHead = (chunk: Buffer): Buffer => {
    const end = chunk.indexOf('\n')
    pieces.push(end < 0 ? chunk : chunk.subarray(0, end))
    if (end < 0) return chunk.subarray(chunk.length)
    const line = Buffer.concat(pieces).toString()
    pieces = []
    const [, id, type, size] = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(line) ?? []
    if (id) head = { id, type: type!, size: Number(size) }
    else finish(undefined)
    return chunk.subarray(end + 1)
  }

  return (chunk) => {
    for (let rest = chunk; rest.length > 0;) rest = head ? takeContent(rest, head) : takeHead(rest)
  }
}
