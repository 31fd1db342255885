// Connections to a store: limits the running calls, queues the others in fair order, and ends a wait when its signal
// aborts. A "place" is the right to use one of the connections.
import { problem, type Problem } from '../problem.js'
import { makeRounds, type Asker, type Waiting } from './fair-queue.js'
import { StoreBreak } from './store.js'

/** Gives the place back; a second call does nothing. */
export interface EndTurn {
  (): void
  /**
   * True if the place was only lent and another asker waits for it: give it back soon. If this asker is entitled to the
   * place by now, the loan ends here.
   */
  isCalledBack(): boolean
}

export interface Turns {
  /** A place for the gateway itself, if one is free. */
  takeNow(): EndTurn | undefined
  /**
   * Gives a place, at once or later. Askers take turns, and no asker holds all places if there are several. Calls
   * without an asker are the gateway's own, and limited only by the number of places. `store.overloaded` at once if too
   * many calls wait; a Problem when the signal aborts.
   */
  take(signal?: AbortSignal, asker?: Asker): Promise<EndTurn | Problem>
}

const OVERLOADED = problem('store.overloaded', 'Too many requests wait for the triplestore.', {
  fields: [['Retry-After', '1']],
})
const GIVEN_UP = problem('store.failed', 'The request to the triplestore was aborted.')

/** The problem of a call whose signal has aborted: the reason's (a StoreBreak), otherwise that the caller gave up. */
export const givenUp = (signal: AbortSignal): Problem =>
  signal.reason instanceof StoreBreak ? signal.reason.problem : GIVEN_UP

interface Waiter extends Waiting {
  readonly asker: Asker | undefined
  enter(onLoan?: 'on loan'): void
}

interface TurnsOptions {
  /**
   * An asker may also borrow the last place while no other asker needs it; it must give the place back when one does.
   */
  readonly lends?: boolean
  /** The longest wait in ms; then the call gets `store.overloaded`. */
  readonly patience?: number
}

export function makeTurns(places: number, waitingLimit: number, { lends, patience }: TurnsOptions = {}): Turns {
  let free = places
  let isLent = false
  const line = makeLine(places, waitingLimit)

  const occupied = (waiter?: Waiter, onLoan?: 'on loan'): EndTurn => {
    let [isHeld, isOnLoan] = [true, onLoan !== undefined]
    free--
    const end = (): void => {
      if (!isHeld) return
      isHeld = false
      if (isOnLoan) isLent = false
      if (waiter) line.release(waiter)
      free++
      for (let next = line.next(); next; next = free > 0 ? line.next() : undefined) next.enter()
      passOn()
    }
    const isCalledBack = (): boolean => {
      // By now, the asker is entitled to the place without a loan.
      if (isHeld && isOnLoan && line.mayPass(waiter!)) isOnLoan = isLent = false
      return isHeld && isOnLoan && line.isAwaited()
    }
    return Object.assign(end, { isCalledBack })
  }
  /** Gives or lends a free place to a waiting call. */
  function passOn(): void {
    const next = lends && !isLent && free > 0 ? line.nextOnLoan() : undefined
    if (!next) return
    isLent = true
    next.enter('on loan')
  }
  return {
    takeNow: () => (free > 0 ? occupied() : undefined),
    async take(signal, asker) {
      if (signal?.aborted) return givenUp(signal)
      return new Promise((resolve) => {
        const waiter: Waiter = {
          shares: [],
          asker,
          enter(onLoan) {
            signal?.removeEventListener('abort', leave)
            clearTimeout(timer)
            resolve(occupied(waiter, onLoan))
          },
        }
        let timer: NodeJS.Timeout | undefined
        const leave = () => {
          line.leave(waiter)
          clearTimeout(timer)
          resolve(signal?.aborted ? givenUp(signal) : OVERLOADED)
        }
        if (free > 0 && line.mayPass(waiter)) return waiter.enter()
        if (!line.enter(waiter)) return resolve(OVERLOADED)
        signal?.addEventListener('abort', leave, { once: true })
        if (patience !== undefined) timer = setTimeout(leave, patience)
        passOn()
      })
    },
  }
}

/** The most of all places that one agent or network holds: clients that read slowly must leave some. */
const SHARE = 3 / 4

/** The waiting calls: the gateway itself, including its writes, has every other turn. */
function makeLine(places: number, waitingLimit: number) {
  const held = Math.max(1, Math.min(places - 1, Math.ceil(SHARE * places)))
  const [each, network] = [Math.ceil(waitingLimit / 4), Math.ceil(waitingLimit / 2)]
  const rounds = makeRounds<Waiter>({ each, network, all: waitingLimit, held, heldOfNetwork: held })
  const own = new Set<Waiter>()
  let isOwnTurn = true
  return {
    /** True if the call need not wait when a place is free. */
    mayPass: (waiter: Waiter): boolean => waiter.asker === undefined || rounds.hold(waiter, waiter.asker),
    /** False if too many wait. */
    enter(waiter: Waiter): boolean {
      if (own.size + rounds.all().size >= waitingLimit) return false
      if (waiter.asker !== undefined) return rounds.enter(waiter, waiter.asker)
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
    nextOnLoan: rounds.nextOnLoan,
    /** True if a waiting call may have the next place. */
    isAwaited: (): boolean => own.size > 0 || rounds.hasNext(),
    release: rounds.release,
  }
}
