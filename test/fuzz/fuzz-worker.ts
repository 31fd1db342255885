// Fuzzes one parser, in a separate thread: inputs that reach new code are varied further.
import { Session } from 'node:inspector'
import { parentPort, workerData } from 'node:worker_threads'
import { makeRandom } from '../crash/random.js'
import { changed, wordsOf } from './inputs.js'
import type { FuzzedParser } from './parsers.js'

/** The text being read: the main thread ensures that reading it ends. */
export interface FuzzJob {
  /** The module that exports `PARSERS`. */
  readonly parsers: string
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

const { parsers, name, seed, until, counts, text: shown } = workerData as FuzzJob
const { PARSERS } = (await import(parsers)) as { readonly PARSERS: Readonly<Record<string, FuzzedParser>> }
const { read, seeds } = PARSERS[name]!
const tell = (message: FuzzMessage): void => parentPort!.postMessage(message)

const BATCH = 64
const MOST_MS = 200
const MOST_BYTES = 300 * 2 ** 20
const session = new Session()
session.connect()

/** `post` calls back immediately, since the session belongs to this thread. */
function ask<T>(method: string, parameters = {}): T {
  let found: T | undefined
  session.post(method, parameters, (error, result) => {
    if (error) throw error
    found = result as T
  })
  return found!
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}
interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly scriptId: string
    readonly functions: readonly { readonly ranges: readonly Range[] }[]
  }[]
}

/** For each function, the characters that have run. V8 reports nested functions separately. */
const reached = new Map<string, Uint8Array>()
const OWN = new URL('.', import.meta.url).href
type Place = readonly [characters: Uint8Array, at: number]

/**
 * The characters that have run since the last call and never before. V8 merges ranges that have run equally often, so
 * only the characters of ranges can be compared, not their bounds.
 */
function reachedNow(): readonly Place[] {
  const { result } = ask<Coverage>('Profiler.takePreciseCoverage')
  const counted = result.filter(({ url }) => url.startsWith('file:') && !url.startsWith(OWN))
  return counted.flatMap(({ scriptId, functions }) =>
    functions.flatMap(({ ranges }) => newIn(`${scriptId} ${ranges[0]!.startOffset} ${ranges[0]!.endOffset}`, ranges)),
  )
}

/** Outer ranges come before inner ones. */
function newIn(name: string, ranges: readonly Range[]): readonly Place[] {
  const { startOffset: start, endOffset: end } = ranges[0]!
  const before = reached.get(name) ?? new Uint8Array(end - start)
  reached.set(name, before)
  const now = new Uint8Array(end - start)
  for (const { startOffset, endOffset, count } of ranges)
    now.fill(count > 0 ? 1 : 0, startOffset - start, endOffset - start)
  const places: Place[] = []
  for (let at = 0; at < now.length; at++) if (now[at]! > before[at]!) places.push([before, at])
  return places
}

/** The number of characters that have run. */
let count = 0
function note(places: readonly Place[]): void {
  for (const [characters, at] of places) {
    count += 1 - characters[at]!
    characters[at] = 1
  }
}

/** Errors that differ only in their texts count once. */
const known = new Set<string>()
function found(what: string, input: string, place = what): void {
  if (!known.has(place)) tell({ kind: 'finding', what, input })
  known.add(place)
}

/**
 * In ms of processor time, whatever else the machine does. If it seems too long, the shortest of several, since the
 * first run compiles the code.
 */
async function timeOf(input: string): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 4 && least > MOST_MS; run++) {
    const began = process.cpuUsage()
    await read(input)
    const { user, system } = process.cpuUsage(began)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** The most bytes that the process has used; no limit of a thread covers buffers. */
const peakOf = (): number => 1024 * process.resourceUsage().maxRSS

async function run(input: string): Promise<void> {
  for (let i = 0; i < input.length; i++) shown[i] = input.charCodeAt(i)
  counts[1] = input.length
  Atomics.add(counts, 0, 1)
  const [before, peak] = [process.memoryUsage.rss(), peakOf()]
  try {
    const ms = await timeOf(input)
    const bytes = peakOf() - before
    if (peakOf() > peak && bytes > MOST_BYTES) found(`needs ${(bytes / 2 ** 20).toFixed(0)} MiB`, input, 'memory')
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
note(reachedNow())
while (Date.now() < until) {
  const inputs = Array.from({ length: BATCH }, () => changed(random, corpus, words))
  for (const input of inputs) await run(input)
  const places = reachedNow()
  if (places.length === 0) continue
  // Finds the input that caused it.
  for (const input of inputs) {
    await run(input)
    const own = reachedNow()
    if (own.length > 0) corpus.push(input)
    note(own)
  }
  note(places)
}
tell({ kind: 'end', inputs: counts[0]!, corpus: corpus.length, reached: count })
