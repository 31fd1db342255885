// In charge of the log: one structured line for each request, and the few other events. No secrets, no bodies.
import { pino, type Logger } from 'pino'
import type { Decision } from '../policies/decide.js'

export type Log = Logger

/** Writes to standard error, 200 ms late at most, so that no request waits for its own line. */
export const makeLog = (level: string): Log =>
  pino({ level, base: null }, pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 200 }))

/** The facts about one request that its line in the log reports: each step of the request adds its own. */
export interface Trace {
  agent?: string
  /** The agent that acts on behalf of `agent`. */
  delegate?: string
  decision?: Decision
  /** The code of the problem that answered the request. */
  problem?: string
  /** The reason for a refusal, where only the operator may read it. */
  cause?: string
  /** The base of the application whose session in this browser has ended: the response removes its cookie. */
  endedSession?: string
  storeMs: number
  /** Adds the time until the store has answered to `storeMs`. */
  store<T>(answer: Promise<T>): Promise<T>
  /** What the request has waited for is here: its work continues. */
  continues(): void
}

/** Measures with a monotonic clock: the gateway's own may be set while a request waits. */
export function makeTrace(continues: () => void = () => undefined): Trace {
  return {
    storeMs: 0,
    async store(answer) {
      const from = performance.now()
      try {
        return await answer
      } finally {
        this.storeMs += performance.now() - from
        continues()
      }
    },
    continues,
  }
}
