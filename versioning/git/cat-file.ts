// Reading objects of a repository: one long-lived `git cat-file --batch`, started again when it has ended.
import type { Setback } from '../failure.js'
import { gitSetback, startGit, watchIdle, type GitProcess } from './git.js'

export interface GitObject {
  /** 40 hex digits. */
  readonly id: string
  readonly type: string
  readonly content: Buffer
}

export interface ObjectReader {
  /** The object with this name or id; undefined when it does not exist. Objects come in the order of the calls. */
  object(name: string): Promise<GitObject | undefined | Setback>
  /** Starts a new process at the next read, so that the old one closes packs that were removed. */
  restart(): void
  close(): void
}

/** Larger objects are neither read nor written. */
export const LARGEST_OBJECT = 64 * 1024 * 1024
const IDLE_LIMIT_MS = 30_000

type ReadObject = GitObject | undefined | Setback
interface ObjectRequest {
  readonly name: string
  readonly resolve: (read: ReadObject) => void
  /** The number of processes that ended before they answered this request. */
  readonly ended: number
}

export function makeObjectReader(folder: string): ObjectReader {
  let send: ((request: ObjectRequest) => void) | undefined
  let child: GitProcess | undefined
  let closed = false

  const start = (): ((request: ObjectRequest) => void) => {
    const started = startGit(folder, ['cat-file', '--batch'])
    const waiting: ObjectRequest[] = []
    let idle: ReturnType<typeof watchIdle> | undefined
    const stopWatching = (): void => {
      idle?.stop()
      idle = undefined
    }
    const take = objectParser((read) => {
      waiting.shift()?.resolve(read)
      if (waiting.length === 0) stopWatching()
    })
    started.child.stdout.on('data', (chunk: Buffer) => {
      idle?.alive()
      take(chunk)
    })
    void started.ended.then((ending) => {
      stopWatching()
      if (child === started.child) send = child = undefined
      for (const request of waiting) {
        if (closed || request.ended > 0) request.resolve(gitSetback(ending, `reading from ${folder}`))
        else ask({ ...request, ended: request.ended + 1 })
      }
    })
    child = started.child
    return (request) => {
      idle ??= watchIdle(started.child, IDLE_LIMIT_MS)
      waiting.push(request)
      started.child.stdin.write(`${request.name}\n`)
    }
  }

  const ask = (request: ObjectRequest): void => (send ??= start())(request)

  /** Closes the input of the process: it answers the requests that it has, and ends. */
  const restart = (): void => {
    child?.stdin.end()
    send = child = undefined
  }

  return {
    object(name) {
      if (closed) return Promise.resolve({ failure: 'failed', detail: `${folder} is closed` })
      if (name.includes('\n')) return Promise.resolve(undefined)
      return new Promise((resolve) => ask({ name, resolve, ended: 0 }))
    },
    restart,
    close() {
      closed = true
      restart()
    },
  }
}

/**
 * Parses the output of `git cat-file --batch`, chunk by chunk: `<id> <type> <size>` LF content LF, or `<name> missing`
 * LF.
 */
function objectParser(parsed: (read: ReadObject) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = []
  let held = 0
  let head: { id: string; type: string; size: number } | undefined
  const fits = (size: number): boolean => size <= LARGEST_OBJECT
  const finish = (read: ReadObject): void => {
    head = undefined
    parsed(read)
  }

  /** Takes the chunk's part of an object's content, and the newline after it; returns the rest of the chunk. */
  const takeContent = (chunk: Buffer, { id, type, size }: NonNullable<typeof head>): Buffer => {
    const part = chunk.subarray(0, size + 1 - held)
    held += part.length
    if (fits(size)) pieces.push(part)
    if (held > size) {
      const content = Buffer.concat(pieces)
      pieces = []
      held = 0
      if (fits(size)) finish({ id, type, content: content.subarray(0, size) })
      else finish({ failure: 'failed', detail: `object ${id} is too large to be read: ${size} bytes` })
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
