// In charge of turns at a store: so many calls at work, so many waiting in fair order, and none longer than its signal allows.
import { problem, type Problem } from '../problem.js'
import { makeRounds, type Asker, type Waiting } from './rounds.js'
import { StoreBreak } from './store.js'

/** Gives the place back; a second call does nothing. */
export type EndTurn = () => void

export interface Turns {
  /** A place for the gateway itself, where one is free. */
  takeNow(): EndTurn | undefined
  /**
   * A place, at once or in turn: askers take turns, and none holds all places, where there are several. Without an asker, for
   * the gateway itself, only the number of places counts. `store.overloaded` at once where too many calls wait; a Problem when
   * the signal aborts.
   */
  take(signal?: AbortSignal, asker?: Asker): Promise<EndTurn | Problem>
}

const OVERLOADED = problem('store.overloaded', 'Too many requests wait for the triplestore.', {
  fields: [['Retry-After', '1']],
})
const GIVEN_UP = problem('store.failed', 'The request to the triplestore was given up.')

/** The problem of a call whose signal has aborted: that of the reason (a StoreBreak), else that the caller gave up. */
export const givenUp = (signal: AbortSignal): Problem =>
  signal.reason instanceof StoreBreak ? signal.reason.problem : GIVEN_UP

interface Waiter extends Waiting {
  enter(): void
}

export function makeTurns(places: number, waitingLimit: number): Turns {
  let free = places
  const line = makeLine(places, waitingLimit)

  const occupied = (waiter?: Waiter): EndTurn => {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      if (waiter) line.release(waiter)
      free++
      for (let next = line.next(); next; next = free > 0 ? line.next() : undefined) {
        free--
        next.enter()
      }
    }
  }
  return {
    takeNow() {
      if (free === 0) return undefined
      free--
      return occupied()
    },
    async take(signal, asker) {
      if (signal?.aborted) return givenUp(signal)
      return new Promise((resolve) => {
        const waiter: Waiter = {
          shares: [],
          enter() {
            signal?.removeEventListener('abort', leave)
            resolve(occupied(waiter))
          },
        }
        const leave = () => {
          line.leave(waiter)
          resolve(givenUp(signal!))
        }
        if (free > 0 && line.mayPass(waiter, asker)) {
          free--
          return waiter.enter()
        }
        if (!line.enter(waiter, asker)) return resolve(OVERLOADED)
        signal?.addEventListener('abort', leave, { once: true })
      })
    },
  }
}

/** Those that wait: the gateway itself, writes among its calls, has every other turn. */
function makeLine(places: number, waitingLimit: number) {
  const held = Math.max(1, places - 1)
  const [each, network] = [Math.ceil(waitingLimit / 4), Math.ceil(waitingLimit / 2)]
  const rounds = makeRounds<Waiter>({ each, network, all: waitingLimit, held, heldOfNetwork: held })
  const own = new Set<Waiter>()
  let isOwnTurn = true
  return {
    /** True where it need not wait where a place is free. */
    mayPass: (waiter: Waiter, asker: Asker | undefined): boolean => asker === undefined || rounds.hold(waiter, asker),
    /** False where too many wait. */
    enter(waiter: Waiter, asker: Asker | undefined): boolean {
      if (own.size + rounds.all().size >= waitingLimit) return false
      if (asker !== undefined) return rounds.enter(waiter, asker)
      own.add(waiter)
      return true
    },
    leave: (waiter: Waiter): boolean => own.delete(waiter) || rounds.leave(waiter),
    next(): Waiter | undefined {
      const [first] = own
      const next = isOwnTurn ? (first ?? rounds.next()) : (rounds.next() ?? first)
      if (!next) return undefined
      isOwnTurn = next !== first
      own.delete(next)
      return next
    },
    release: rounds.release,
  }
}
