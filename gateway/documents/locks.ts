// The locks that requests hold while they write. Each document has either one writer, or any number of holders who only
// prevent its deletion.
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
   * Waits in order of arrival. Undefined if `limit` requests already wait for this lock, or if the signal aborts first.
   * @param signalOf called only if the lock has to wait
   */
  acquire(name: string, mode: Mode, signalOf?: () => AbortSignal): Promise<Release | undefined>
  /** How long a request may wait for all its locks, in ms. */
  readonly patience: number
}

/**
 * Every write of an application shares this lock. A write that may change any document holds it exclusively. Its name
 * sorts before all documents.
 */
export const everyWrite = ({ base }: { readonly base: string }, mode: Mode): Lock => [`* ${base}`, mode]

/**
 * SPARQL updates of an application share this lock. An update that reads graphs by variables cannot lock each of them,
 * so it holds this lock exclusively: updates behave as if they ran one after another (design 3). The name sorts before
 * that of every write, so an update that waits here does not block other writes.
 */
export const everyUpdate = ({ base }: { readonly base: string }, mode: Mode): Lock => [`! ${base}`, mode]

/** The locks for a write to one document. A write that may create it also keeps its parent from being deleted. */
export const locksOf = (application: { readonly base: string }, document: string, creates: boolean): Lock[] => [
  everyWrite(application, 'shared'),
  ...(creates && !isRoot(document, application.base) ? [[parentOf(document), 'shared'] as const] : []),
  [document, 'exclusive'],
]

/**
 * Acts while holding all these locks. All requests take locks in order of their names, so they cannot deadlock: first
 * the lock of updates, then that of every write, then documents, parents before children. Waiting ends after a time
 * limit or when the client leaves (`left`), but an `act` that has begun is never interrupted.
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

/** One time limit for all locks of a request. */
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
  problem('server.overloaded', 'Other writes to this document are not done yet. Retry shortly.', {
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

/** Admits the next requests in the queue. */
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

/** False if the signal aborts first. */
function turnIn(lock: Held, exclusive: boolean, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const leave = (): void => {
      lock.queue.splice(lock.queue.indexOf(waiting), 1)
      // The requests behind this one may have waited only for it.
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
