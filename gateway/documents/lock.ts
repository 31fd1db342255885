// In charge of locks per document: one writer, or any number of holders who only keep it from being deleted.

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
  /** Waits its turn, first come first served. Undefined when more than `limit` wait for this document already. */
  acquire(document: string, mode: 'exclusive' | 'shared'): Promise<Release | undefined>
}

/** What every write of an application holds, and one that may change any of its documents holds alone. */
export const everyWrite = <Mode extends 'exclusive' | 'shared'>(
  { base }: { readonly base: string },
  mode: Mode,
): [name: string, mode: Mode] => [`${base} *`, mode]

export function makeLocks(limit = 256): Locks {
  const held = new Map<string, Held>()

  const release = (document: string, lock: Held): void => {
    lock.holders--
    while (lock.queue.length > 0) {
      const next = lock.queue[0]!
      if (lock.holders > 0 && (next.exclusive || lock.exclusive)) return
      lock.queue.shift()
      lock.holders++
      lock.exclusive = next.exclusive
      next.enter()
    }
    if (lock.holders === 0) held.delete(document)
  }

  const releaseOnce = (document: string, lock: Held): Release => {
    let done = false
    return () => {
      if (done) return
      done = true
      release(document, lock)
    }
  }

  return {
    acquire(document, mode) {
      const exclusive = mode === 'exclusive'
      const lock = held.get(document)
      if (!lock) {
        const fresh: Held = { exclusive, holders: 1, queue: [] }
        held.set(document, fresh)
        return Promise.resolve(releaseOnce(document, fresh))
      }
      if (!exclusive && !lock.exclusive && lock.queue.length === 0) {
        lock.holders++
        return Promise.resolve(releaseOnce(document, lock))
      }
      if (lock.queue.length >= limit) return Promise.resolve(undefined)
      return new Promise((resolve) => lock.queue.push({ exclusive, enter: () => resolve(releaseOnce(document, lock)) }))
    },
  }
}
