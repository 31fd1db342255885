// The locks that requests hold while they write: for each document one writer, or any number of holders who
// only keep the document from being deleted.
import { problem, type Problem } from '../problem.js'
import { isRoot, parentOf } from './hierarchy.js'

type Mode = 'exclusive' | 'shared'
export type Lock = readonly [name: string, mode: Mode]

interface Waiting {
  readonly exclusive: boolean
  readonly enter: () => void
}
interface Held {
  exclusive: boolean
  holders: number
  readonly queue: Waiting[]
}

export type Release = () => void
export interface Locks {
  /**
   * Waits its turn: first come, first served. Undefined when `limit` requests wait for this lock already, and when the
   * signal aborts while it waits.
   * @param signalOf is asked only where it has to wait
   */
  acquire(name: string, mode: Mode, signalOf?: () => AbortSignal): Promise<Release | undefined>
  /** ms that a request may wait for all of its locks. */
  readonly patience: number
}

/**
 * Every write of an application shares this lock; a write that may change any of its documents holds it alone. Its name
 * comes before that of every document.
 */
export const everyWrite = ({ base }: { readonly base: string }, mode: Mode): Lock => [`* ${base}`, mode]

/**
 * The SPARQL updates of an application share this lock; one that reads graphs by variables, and so cannot lock each of
 * them, holds it alone: no other update changes what it has read, so that updates are as if they came one after the
 * other (design 3). Its name comes before that of every write: who waits for it keeps no other write waiting.
 */
export const everyUpdate = ({ base }: { readonly base: string }, mode: Mode): Lock => [`! ${base}`, mode]

/** The locks of a write to one document; a write that may create the document keeps its parent from being deleted. */
export const locksOf = (application: { readonly base: string }, document: string, creates: boolean): Lock[] => [
  everyWrite(application, 'shared'),
  ...(creates && !isRoot(document, application.base) ? [[parentOf(document), 'shared'] as const] : []),
  [document, 'exclusive'],
]

/**
 * Acts while it holds all of these locks. Everyone takes locks in the order of their names, so that no two requests
 * wait for each other: the lock of updates, that of every write, then the documents, a parent before its children. It
 * gives up waiting after a while, and when the client leaves (`left`); never once `act` has begun.
 */
export async function underLocks<T>(
  { locks: { acquire, patience } }: { readonly locks: Locks },
  wanted: readonly Lock[],
  act: () => Promise<T>,
  left?: AbortSignal,
): Promise<T | Problem> {
  const held: Release[] = []
  const wait = makeWait(patience, left)
  try {
    for (const [name, mode] of wanted.toSorted(byName)) {
      const release = await acquire(name, mode, wait.signal)
      if (!release) return tooManyWaiting()
      held.push(release)
    }
    wait.end()
    return await act()
  } finally {
    wait.end()
    for (const release of held) release()
  }
}

/** One limit of time for all locks of a request. */
function makeWait(ms: number, left: AbortSignal | undefined) {
  let enough: AbortController | undefined
  let timer: NodeJS.Timeout | undefined
  const giveUp = (): void => enough!.abort()
  return {
    signal(): AbortSignal {
      if (enough) return enough.signal
      enough = new AbortController()
      timer = setTimeout(giveUp, ms)
      if (left?.aborted) giveUp()
      else left?.addEventListener('abort', giveUp, { once: true })
      return enough.signal
    },
    end(): void {
      clearTimeout(timer)
      left?.removeEventListener('abort', giveUp)
    },
  }
}

const byName = ([a]: Lock, [b]: Lock): number => (a < b ? -1 : Number(a > b))

const tooManyWaiting = (): Problem =>
  problem('server.overloaded', 'Too many writes to the same document are waiting, or one takes long. Retry shortly.', {
    fields: [['Retry-After', '1']],
  })

export function makeLocks(limit = 256, patience = 30_000): Locks {
  const held = new Map<string, Held>()

  const release = (name: string, lock: Held): void => {
    lock.holders--
    admit(lock)
    if (lock.holders === 0) held.delete(name)
  }

  const releaseOnce = (name: string, lock: Held): Release => {
    let done = false
    return () => {
      if (done) return
      done = true
      release(name, lock)
    }
  }

  return {
    patience,
    acquire(name, mode, signalOf) {
      const exclusive = mode === 'exclusive'
      const lock = held.get(name)
      if (!lock) {
        const fresh: Held = { exclusive, holders: 1, queue: [] }
        held.set(name, fresh)
        return Promise.resolve(releaseOnce(name, fresh))
      }
      if (!exclusive && !lock.exclusive && lock.queue.length === 0) {
        lock.holders++
        return Promise.resolve(releaseOnce(name, lock))
      }
      if (lock.queue.length >= limit) return Promise.resolve(undefined)
      return turnIn(lock, exclusive, signalOf?.()).then((entered) => (entered ? releaseOnce(name, lock) : undefined))
    },
  }
}

/** Lets those in who come next. */
function admit(lock: Held): void {
  while (lock.queue.length > 0) {
    const next = lock.queue[0]!
    if (lock.holders > 0 && (next.exclusive || lock.exclusive)) return
    lock.queue.shift()
    lock.holders++
    lock.exclusive = next.exclusive
    next.enter()
  }
}

/** False where the signal aborts first. */
function turnIn(lock: Held, exclusive: boolean, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const leave = (): void => {
      lock.queue.splice(lock.queue.indexOf(waiting), 1)
      // Those behind it may have waited for it alone.
      admit(lock)
      resolve(false)
    }
    const waiting: Waiting = {
      exclusive,
      enter() {
        signal?.removeEventListener('abort', leave)
        resolve(true)
      },
    }
    signal?.addEventListener('abort', leave, { once: true })
    lock.queue.push(waiting)
  })
}
