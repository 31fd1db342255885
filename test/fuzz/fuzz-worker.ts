// Fuzzing one parser, in a thread of its own: what reaches code that nothing has reached before is changed further.
import { Session } from 'node:inspector'
import { parentPort, workerData } from 'node:worker_threads'
import { makeRandom } from '../crash/random.js'
import { changed, wordsOf } from './inputs.js'
import { PARSERS } from './parsers.js'

/** The text that is being read, for the main thread, which sees to it that the reading ends. */
export interface FuzzJob {
  readonly name: string
  readonly seed: number
  readonly until: number
  /** The number of inputs, and the length of the text in UTF-16. */
  readonly counts: Int32Array<SharedArrayBuffer>
  readonly text: Uint16Array<SharedArrayBuffer>
}
export type FuzzMessage =
  | { readonly kind: 'finding'; readonly what: string; readonly input: string }
  | { readonly kind: 'end'; readonly inputs: number; readonly corpus: number; readonly reached: number }

const { name, seed, until, counts, text: shown } = workerData as FuzzJob
const { read, seeds } = PARSERS[name]!
const tell = (message: FuzzMessage): void => parentPort!.postMessage(message)

const BATCH = 64
const MOST_MS = 200
const MOST_BYTES = 300 * 2 ** 20
const session = new Session()
session.connect()

/** `post` calls back at once: the session is of this thread. */
function ask<T>(method: string, parameters = {}): T {
  let found: T | undefined
  session.post(method, parameters, (error, result) => {
    if (error) throw error
    found = result as T
  })
  return found!
}

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly scriptId: string
    readonly functions: readonly {
      readonly ranges: readonly { startOffset: number; endOffset: number; count: number }[]
    }[]
  }[]
}

const reached = new Set<string>()
const OWN = new URL('.', import.meta.url).href

/** The places that have run since the last call, without those that had run before. */
function reachedNow(): readonly string[] {
  const { result } = ask<Coverage>('Profiler.takePreciseCoverage')
  const places = result
    .filter(({ url }) => url.startsWith('file:') && !url.startsWith(OWN))
    .flatMap(({ scriptId, functions }) =>
      functions.flatMap(({ ranges }) =>
        ranges.flatMap(({ startOffset, endOffset, count }) =>
          count > 0 ? [`${scriptId} ${startOffset} ${endOffset}`] : [],
        ),
      ),
    )
  return places.filter((place) => !reached.has(place))
}

/** Errors that are the same but for their texts count once. */
const known = new Set<string>()
function found(what: string, input: string, place = what): void {
  if (!known.has(place)) tell({ kind: 'finding', what, input })
  known.add(place)
}

/** ms; the least of several where it seems to be too long: other work may have had the processor. */
async function timeOf(input: string): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 4 && least > MOST_MS; run++) {
    const began = performance.now()
    await read(input)
    least = Math.min(least, performance.now() - began)
  }
  return least
}

async function run(input: string): Promise<void> {
  for (let i = 0; i < input.length; i++) shown[i] = input.charCodeAt(i)
  counts[1] = input.length
  Atomics.add(counts, 0, 1)
  try {
    const ms = await timeOf(input)
    if (ms > MOST_MS) found(`takes ${ms.toFixed(0)} ms`, input, 'slow')
  } catch (error) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const frame = /\n\s+at .*/.exec(stack)?.[0] ?? stack.slice(0, 100)
    found(stack.split('\n').slice(0, 4).join('\n'), input, frame)
  }
}

const random = makeRandom(seed)
const words = wordsOf(seeds)
const corpus = [...seeds]
ask('Profiler.enable')
ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
for (const input of seeds) await run(input)
for (const place of reachedNow()) reached.add(place)
while (Date.now() < until) {
  const inputs = Array.from({ length: BATCH }, () => changed(random, corpus, words))
  for (const input of inputs) await run(input)
  const { external } = process.memoryUsage()
  if (external > MOST_BYTES)
    found(`holds ${(external / 2 ** 20).toFixed(0)} MiB outside of the heap`, inputs.at(-1)!, 'memory')
  const places = reachedNow()
  if (places.length === 0) continue
  // Which of them it was.
  for (const input of inputs) {
    await run(input)
    const own = reachedNow()
    if (own.length > 0) corpus.push(input)
    for (const place of own) reached.add(place)
  }
  for (const place of places) reached.add(place)
}
tell({ kind: 'end', inputs: counts[0]!, corpus: corpus.length, reached: reached.size })
