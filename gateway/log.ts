// In charge of what is observed: one structured line a request, and the few other events. No secrets, no bodies.
import { pino, type Logger } from 'pino'
import type { Decision } from '../policies/decide.js'

export type Log = Logger

/** To standard error, gathered for 200 ms at most: a line is worth less than the time of the request it is about. */
export const makeLog = (level: string): Log =>
  pino({ level, base: null }, pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 200 }))

/** What is gathered about one request on its way, for its one line in the log. */
export interface Trace {
  agent?: string
  /** Who acts on behalf of the agent. */
  delegate?: string
  decision?: Decision
  /** The code of the problem that it was answered with. */
  problem?: string
  /** What only the operator may read about a refusal. */
  cause?: string
  /** The base whose session of this browser is over: it is told to forget it. */
  endedSession?: string
  storeMs: number
  /** Counts the time that the store took to answer. */
  store<T>(answer: Promise<T>): Promise<T>
}

export function makeTrace(now: () => number): Trace {
  return {
    storeMs: 0,
    async store(answer) {
      const from = now()
      try {
        return await answer
      } finally {
        this.storeMs += now() - from
      }
    },
  }
}
