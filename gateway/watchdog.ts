// Watches the event loop: how long one piece of work has blocked it, and for which request.
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks'
import type { Log } from './log.js'

/** A request as identified in the log. */
export interface HeldWork {
  readonly id: string
  readonly method: string
  readonly requestTarget: string
}

export interface Watchdog {
  /** The work that starts or continues now is for this request. */
  works(request: HeldWork): void
  /** That work has stopped. */
  rests(): void
  /** The gateway serves from now on. Before that nobody waits, so blocking is not logged. */
  serves(): void
  /** In seconds: the longest block since the start, and in about the last minute; and how many blocks were logged. */
  holds(): { readonly longest: number; readonly lastMinute: number; readonly count: number }
  close(): void
}

/** A monotonic clock in ms, with ticks. `every` returns the function that stops them. */
export interface TickingClock {
  now(): number
  every(ms: number, tick: () => void): () => void
}

const CLOCK: TickingClock = {
  now: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref()
    return () => clearInterval(timer)
  },
}

/** Design 7: work for one request on the main thread is bounded. Longer blocks are logged. */
const HELD_MS = 200
const TICK_MS = 100
/** The resolution of `monitorEventLoopDelay`, which is included in its measurements. */
const RESOLUTION_MS = 10
const HALF_A_MINUTE_MS = 30_000

function measured(): IntervalHistogram {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  return delay
}

/** In seconds; 0 if nothing has been measured. */
const longestOf = ({ max }: IntervalHistogram): number => Math.max(0, max / 1e6 - RESOLUTION_MS) / 1000

/**
 * A sign of life is a timer tick, or work that starts or stops. If the next sign is late, the work that started last
 * has blocked the loop. This costs two readings of the clock per request; work in other threads does not count.
 */
export function startWatchdog(log: Log, { now, every }: TickingClock = CLOCK): Watchdog {
  const all = measured()
  /** A reset histogram misses the next block, so each half minute gets a new one. */
  let [before, recent] = [measured(), measured()]
  let count = 0
  let isServing = false
  let halfEnds = now() + HALF_A_MINUTE_MS
  let lastSign = now()
  let current: HeldWork | undefined

  function sign(at: number, next: HeldWork | undefined): void {
    const ms = at - lastSign
    if (isServing && ms > HELD_MS) report(ms, current)
    lastSign = at
    current = next
  }

  function report(held: number, by: HeldWork | undefined): void {
    count++
    const ms = Math.round(held)
    if (by) {
      const { id, method, requestTarget } = by
      log.warn({ id, method, path: requestTarget.split('?', 1)[0], ms }, 'this request has blocked the event loop')
    } else log.warn({ ms }, 'unattributed work has blocked the event loop')
  }

  const endTicks = every(TICK_MS, () => {
    const at = now()
    sign(at, undefined)
    if (at < halfEnds) return
    before.disable()
    ;[before, recent] = [recent, measured()]
    halfEnds = at + HALF_A_MINUTE_MS
  })

  return {
    works: (request) => sign(now(), request),
    rests: () => sign(now(), undefined),
    serves() {
      sign(now(), undefined)
      isServing = true
    },
    holds: () => ({ longest: longestOf(all), lastMinute: Math.max(longestOf(before), longestOf(recent)), count }),
    close() {
      endTicks()
      for (const delay of [all, before, recent]) delay.disable()
    },
  }
}
