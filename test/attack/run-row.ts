// One attack: carries it out while another client continues, and judges its effect on the gateway.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { CACHED, type Place, type PlaceOptions } from './place.js'
import type { Waits } from './second-client.js'

export interface Attack {
  readonly name: string
  readonly section: 'availability' | 'rights and data'
  /** The wanted outcome, in words. */
  readonly wanted: string
  /**
   * The longest allowed block of the event loop in ms, without waits for a processor: 50 before the right is decided, 200
   * after (design 7).
   */
  readonly hold?: number
  /** The attack takes at most 2 s on the embedded store, so it is part of `npm test`. */
  readonly quick?: boolean
  readonly needs?: 'fuseki'
  /** The attack needs a separate gateway: one with these options, or because the attack spoils it. */
  readonly own?: PlaceOptions
  readonly spoils?: boolean
  /** The attack restarts the gateway: meanwhile the other client is refused, and afterwards nothing is cached. */
  readonly restarts?: boolean
  /** The attack removes all documents, which its agent may do. After that, the other client rightly gets 404. */
  readonly removesAll?: boolean
  /** Nothing is cached, so all reads of the owner ask the store. */
  readonly withoutCache?: boolean
  /** The time limit of the attack in seconds, if the store needs more than 30. */
  readonly limit?: number
  /** Prepares the attack without being measured, since the store may be slow. Returns what `run` needs to know. */
  readonly prepare?: (place: Place) => Promise<string>
  readonly run: (place: Place, prepared: string) => Promise<Outcome>
}

export interface Outcome {
  /** The statuses of the attack's requests, or other results in words. */
  readonly statuses: readonly (number | string)[]
  /** The unwanted result, if any. */
  readonly wrong?: string | undefined
}

export interface Judgement extends Outcome {
  readonly holdMs: number
  readonly grownMb: number
  /** The longest waits of the second client in ms, without those for a processor. */
  readonly cachedMs: number
  readonly uncachedMs: number
  readonly storeMs: number
  readonly faults: readonly string[]
}

const isExpected = ({ restarts, removesAll }: Attack, failure: string): boolean =>
  restarts === true || (removesAll === true && failure.startsWith('404'))

const LIMIT_S = 30
const CACHED_MS = 300
const UNCACHED_MS = 2_000
const GROWN_MB = 300
const RETURNED_MS = 15_000

/** @param slack the factor by which limits may be exceeded, since tests run on busy machines */
export async function carryOut(attack: Attack, place: Place, slack = 1): Promise<Judgement> {
  const { hold = 200, limit = LIMIT_S, withoutCache = false, restarts = false } = attack
  const cachedLimit = withoutCache || restarts ? UNCACHED_MS : CACHED_MS
  const prepared = await attack.prepare?.(place).catch((error: unknown) => error as Error)
  const second = await secondClient(place)
  const before = await place.metrics()
  const since = Date.now()
  const outcome = await Promise.race([
    (prepared instanceof Error ? Promise.reject(prepared) : attack.run(place, prepared ?? '')).catch(
      (error: unknown): Outcome => ({ statuses: [], wrong: (error as Error).message }),
    ),
    sleep(limit * slack * 1000, { statuses: [], wrong: `it took more than ${limit} s` } as Outcome, { ref: false }),
  ])
  const { cachedMs, uncachedMs, storeMs, failed } = await second.end()
  const after = await metricsAfter(place, before)
  const exit = place.gateway.exitCode()
  const holdMs = place.longestHold(since)
  const grownMb = grownSince(before, after)
  const faults = [
    outcome.wrong,
    exit !== undefined || Number.isNaN(after('process_resident_memory_bytes'))
      ? 'the gateway does not answer any longer'
      : undefined,
    holdMs > hold * slack && `it held the event loop for ${holdMs.toFixed(0)} ms, not ${hold}`,
    grownMb > GROWN_MB && `the memory grew by ${grownMb.toFixed(0)} MB`,
    cachedMs > cachedLimit * slack && `a cached GET of the owner took ${cachedMs.toFixed(0)} ms`,
    uncachedMs > UNCACHED_MS * slack && `an uncached GET of the owner took ${uncachedMs.toFixed(0)} ms`,
    failed.some((one) => !isExpected(attack, one)) && `the owner got ${failed.join(', ')}`,
  ].filter((fault): fault is string => typeof fault === 'string')
  return { ...outcome, holdMs, grownMb, cachedMs, uncachedMs, storeMs, faults }
}

type Metrics = Awaited<ReturnType<Place['metrics']>>

const grownSince = (before: Metrics, after: Metrics): number =>
  (after('process_resident_memory_bytes') - before('process_resident_memory_bytes')) / 1e6

/** Memory of a thread that has ended a moment ago may not be returned yet: only what stays counts. */
async function metricsAfter(place: Place, before: Metrics): Promise<Metrics> {
  const until = Date.now() + RETURNED_MS
  for (;;) {
    const after = await place.metrics().catch(() => () => NaN)
    if (!(grownSince(before, after) > GROWN_MB) || Date.now() > until) return after
    await sleep(500)
  }
}

/** Starts a thread that reads meanwhile. */
async function secondClient({ site, ca, pemOf, datasets, gateway }: Place): Promise<{ end(): Promise<Waits> }> {
  const origin = { port: site.port, ca, pem: pemOf('owner') }
  const workerData = { origin, cached: CACHED, store: datasets?.endUser, gateway: gateway.pid }
  const worker = new Worker(new URL('./second-client.js', import.meta.url), { workerData })
  await once(worker, 'message')
  return {
    async end() {
      const waits = once(worker, 'message') as Promise<[Waits]>
      worker.postMessage('end')
      return (await waits)[0]
    },
  }
}
