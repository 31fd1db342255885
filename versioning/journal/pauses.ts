// The pauses of the relay: how long it waits after a setback, and what it reports meanwhile.
import type { Setback } from '../failure.js'
import type { OperatorLog } from '../history.js'
import type { Signal } from './signal.js'

/** All in ms. */
export interface RelayPauses {
  /** The first pause after a setback; each further one is twice as long, up to `longest`. */
  readonly shortest: number
  readonly longest: number
  /** The pause between attempts while an operator has to do something first. */
  readonly parked: number
  /** The least time to gather changes that are committed together, unless a client waits for them. */
  readonly gather: number
}

export interface RelayState {
  readonly lastError: string | undefined
  /** Why commits wait for an operator, if they do. */
  readonly parked: string | undefined
  /** The time of the next attempt, by `performance.now()`. */
  readonly resumesAt: number
}

const LONGEST_LIMIT_MS = 3_600_000

/** The state of the relay's pauses. */
export interface Pausing {
  readonly pauses: RelayPauses
  readonly now: () => number
  /** The name of the repository, for log lines. */
  readonly repository: string
  readonly log: OperatorLog
  /** Sent when the relay pauses and when it resumes. */
  readonly progress: Signal
  /** Sent to end a pause. */
  readonly ending: Signal
  /** Setbacks in a row. */
  failures: number
  setback: Setback | undefined
  resumesAt: number
}

export const makePausing = (
  options: Pick<Pausing, 'pauses' | 'now' | 'repository' | 'log' | 'progress' | 'ending'>,
): Pausing => ({ ...options, failures: 0, setback: undefined, resumesAt: 0 })

export async function pauseAfter(pausing: Pausing, after: Setback): Promise<void> {
  const { repository, log, progress, ending } = pausing
  const pause = Math.round(pauseFor(pausing, after))
  if (pausing.setback?.detail !== after.detail) {
    const level = isParked(after) ? 'error' : 'warn'
    log[level]({ repository, setback: after.failure, retryInMs: pause }, after.detail)
  }
  pausing.failures++
  pausing.setback = after
  pausing.resumesAt = performance.now() + pause
  progress.send()
  await ending.received(pause)
}

export function resume(pausing: Pausing): void {
  const { repository, log, progress } = pausing
  if (pausing.setback) log.info({ repository }, 'Changes are committed again.')
  pausing.failures = 0
  pausing.setback = undefined
  pausing.resumesAt = 0
  progress.send()
}

export const relayState = ({ setback, resumesAt }: Pausing): RelayState => ({
  lastError: setback?.detail,
  parked: setback && isParked(setback) ? setback.detail : undefined,
  resumesAt,
})

function pauseFor({ pauses, now, failures }: Pausing, { failure, retryAt }: Setback): number {
  if (failure === 'denied' || failure === 'missing') return pauses.parked
  const backoff = Math.min(pauses.longest, pauses.shortest * 2 ** Math.min(failures, 30)) * (0.75 + Math.random() / 2)
  if (failure !== 'limited' || retryAt === undefined) return backoff
  return Math.min(Math.max(retryAt - now(), pauses.shortest), LONGEST_LIMIT_MS)
}

const isParked = ({ failure }: Setback): boolean => failure === 'denied' || failure === 'missing'
