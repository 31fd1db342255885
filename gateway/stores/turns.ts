// In charge of turns at a store: so many calls at work, so many waiting in order, and none longer than its signal allows.
import { problem, type Problem } from '../problem.js'
import { StoreBreak } from './store.js'

/** Gives the place back; a second call does nothing. */
export type EndTurn = () => void

export interface Turns {
  /** A place, where one is free. */
  takeNow(): EndTurn | undefined
  /** A place, at once or in turn. `store.overloaded` at once where too many calls wait; a Problem when the signal aborts. */
  take(signal?: AbortSignal): Promise<EndTurn | Problem>
}

const OVERLOADED = problem('store.overloaded', 'Too many requests wait for the triplestore.', {
  fields: [['Retry-After', '1']],
})
const GIVEN_UP = problem('store.failed', 'The request to the triplestore was given up.')

/** The problem of a call whose signal has aborted: that of the reason (a StoreBreak), else that the caller gave up. */
export const givenUp = (signal: AbortSignal): Problem =>
  signal.reason instanceof StoreBreak ? signal.reason.problem : GIVEN_UP

export function makeTurns(places: number, waitingLimit: number): Turns {
  let free = places
  const waiting = new Set<() => void>()

  const occupied = (): EndTurn => {
    let held = true
    return () => {
      if (!held) return
      held = false
      const [next] = waiting
      if (next) next()
      else free++
    }
  }

  const takeNow = (): EndTurn | undefined => {
    if (free === 0) return undefined
    free--
    return occupied()
  }

  return {
    takeNow,
    async take(signal) {
      if (signal?.aborted) return givenUp(signal)
      const now = takeNow()
      if (now) return now
      if (waiting.size >= waitingLimit) return OVERLOADED
      return new Promise((resolve) => {
        const enter = () => {
          waiting.delete(enter)
          signal?.removeEventListener('abort', leave)
          resolve(occupied())
        }
        const leave = () => {
          waiting.delete(enter)
          resolve(givenUp(signal!))
        }
        waiting.add(enter)
        signal?.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
