// Caches results of queries: complete answers, valid until a graph changes that the query reads. They are the same for
// every agent; access is decided before the look-up (design 5).
import { entityTag } from './entity-tag.js'
import type { GraphVersions } from './graph-versions.js'
import { LRUCache } from 'lru-cache'
import { createHash } from 'node:crypto'

interface Tail {
  readonly source: AsyncIterator<Uint8Array>
  /** The next piece, if it has already been requested. */
  next: Promise<IteratorResult<Uint8Array>> | undefined
  /** How many more bytes may be buffered; negative if there were too many. */
  room: number
  /** Called with all pieces once the complete answer has been buffered. */
  readonly whole: (pieces: Uint8Array[]) => void
  /** Aborts the query at the store. */
  readonly leave: () => void
}

/**
 * The pieces so far and the rest, to read once. Not a generator, so that `return` before the first piece aborts too.
 */
function bufferedStream(begun: Uint8Array, tail: Tail): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array | undefined = begun.length > 0 ? begun : undefined
  let all: Uint8Array[] | undefined = tail.room >= 0 ? [begun] : undefined
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const ready = waiting
      waiting = undefined
      if (ready) return { done: false, value: ready }
      const asked = tail.next ?? tail.source.next()
      tail.next = undefined
      const got = await asked
      if (got.done) {
        if (all) tail.whole(all)
        all = undefined
        return got
      }
      tail.room -= got.value.length
      if (tail.room < 0) all = undefined
      else all?.push(got.value)
      return got
    },
    async return() {
      tail.leave()
      // Not awaited: a piece that the source still waits for ends by the abort.
      void tail.source.return?.().catch(() => undefined)
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

export type ReadSet = 'dataset' | readonly string[]

export interface StoredResult {
  readonly bytes: Buffer
  /** Strong: a digest of the bytes. */
  readonly entityTag: string
  /** Milliseconds since the epoch: when the store answered. */
  readonly answeredAt: number
  /** What readers have derived from it by name, such as coded forms. They report the size with `grown`. */
  readonly forms: Map<string, unknown>
  /** The versions of the read-set when the query was sent. The result is valid until one of them increases. */
  readonly versions: readonly number[]
}

/** `streamed`: an answer too large or too slow to wait for; can be read once. */
export type ResultAnswer<Failure> =
  | { readonly kind: 'stored'; readonly result: StoredResult }
  | { readonly kind: 'streamed'; readonly pieces: AsyncIterable<Uint8Array> }
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface ResultQuestion {
  /** Identifies query, dataset parameters and format. */
  readonly key: string
  readonly readSet: ReadSet
  /** The code of the format, for the entity-tag. */
  readonly formatCode: string
  /** Waits even for a slow answer, so that only its size decides whether it is streamed. */
  readonly isWhole?: boolean
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
}

/** Sends the query to the store; the signal aborts it. Errors during the iteration reach the reader of the answer. */
export type AskStore<Failure> = (
  signal: AbortSignal,
) => Promise<{ readonly pieces: AsyncIterable<Uint8Array> } | { readonly failure: Failure }>

export interface StoredResults {
  /**
   * Returns the cached result synchronously if it is valid, otherwise the store's answer. Sends one query at a time per
   * key, however many clients wait.
   */
  get<Failure>(question: ResultQuestion, ask: AskStore<Failure>): ResultAnswer<Failure> | Promise<ResultAnswer<Failure>>
  /** True if the result is cached. */
  holds(key: string, result: StoredResult): boolean
  /** Adds bytes to the size of the result, for example for a coded form. */
  grown(key: string, result: StoredResult, bytes: number): void
  clear(): void
  bytes(): number
}

export interface StoredResultsSettings {
  /** 0: nothing is cached. */
  readonly maxBytes: number
  /** The largest answer that is cached. */
  readonly maxEntryBytes?: number
  /** The maximum age of a result in ms; undefined: valid until what it read is known to have changed. */
  readonly maxAge?: number | undefined
  /** RFC 5861 §4: how much older a result may be if the store fails, in ms. */
  readonly staleIfError?: number
  /** How long to wait for the complete answer before streaming it, in ms. */
  readonly patience?: number
  readonly versions: GraphVersions
  readonly now: () => number
}

/** The size of an entry apart from its bytes and key. */
const OVERHEAD_BYTES = 512

/** A query running at the store, and the number of clients waiting for it. */
interface Flight {
  readonly versions: readonly number[]
  readonly isSettled: boolean
  readonly controller: AbortController
  waiting: number
  readonly answer: Promise<ResultAnswer<unknown>>
}

interface Results {
  readonly settings: { readonly [Name in keyof StoredResultsSettings]-?: NonNullable<StoredResultsSettings[Name]> }
  readonly cached: LRUCache<string, StoredResult> | undefined
  readonly flights: Map<string, Flight>
}

export function makeStoredResults(settings: StoredResultsSettings): StoredResults {
  const { maxBytes, maxEntryBytes = 8 * 2 ** 20, maxAge = Infinity, staleIfError = 0, patience = 500 } = settings
  const cached = maxBytes > 0 ? new LRUCache<string, StoredResult>({ maxSize: maxBytes }) : undefined
  const results: Results = {
    settings: { ...settings, maxEntryBytes, maxAge, staleIfError, patience },
    cached,
    flights: new Map<string, Flight>(),
  }
  return {
    get<Failure>(question: ResultQuestion, ask: AskStore<Failure>) {
      const result = find(results, question, maxAge)
      return result ? { kind: 'stored', result } : fetch(results, question, ask)
    },
    holds: (key, result) => cached?.peek(key) === result,
    grown(key, result, bytes) {
      if (cached?.peek(key) !== result) return
      const { size = 0 } = cached.info(key) ?? {}
      // Setting the same value again would not update its size.
      cached.delete(key)
      cached.set(key, result, { size: size + bytes })
    },
    clear: () => cached?.clear(),
    bytes: () => cached?.calculatedSize ?? 0,
  }
}

async function fetch<Failure>(
  results: Results,
  question: ResultQuestion,
  ask: AskStore<Failure>,
): Promise<ResultAnswer<Failure>> {
  const underWay = results.flights.get(question.key)
  // A client that asks after a write must not receive an answer from before it.
  const isCurrent = underWay !== undefined && equal(underWay.versions, versionsOf(results, question.readSet))
  const joins = isCurrent && !underWay.controller.signal.aborted
  const flight = joins ? underWay : start(results, question, ask)
  const leave = wait(flight, question.signal)
  const answer = (await flight.answer) as ResultAnswer<Failure>
  if (!joins || answer.kind !== 'streamed') return answer
  // A stream belongs to the client that started the query. The others send their own.
  leave()
  const own = start(results, question, ask)
  wait(own, question.signal)
  return own.answer as Promise<ResultAnswer<Failure>>
}

const versionsOf = ({ settings: { versions } }: Results, readSet: ReadSet): readonly number[] =>
  readSet === 'dataset' ? [versions.dataset()] : readSet.map((graph) => versions.of(graph))

const isSettled = ({ settings: { versions, now } }: Results, readSet: ReadSet): boolean =>
  readSet === 'dataset' || readSet.length === 0
    ? versions.isSettled(undefined, now())
    : readSet.every((graph) => versions.isSettled(graph, now()))

/** The cached result, if it is young enough and nothing that it read is known to have changed. */
function find(results: Results, { key, readSet }: ResultQuestion, age: number): StoredResult | undefined {
  const { now } = results.settings
  const result = results.cached?.get(key)
  if (!result || now() - result.answeredAt > age) return undefined
  return equal(result.versions, versionsOf(results, readSet)) ? result : undefined
}

function store(
  { settings: { maxBytes }, cached }: Results,
  { key, formatCode }: ResultQuestion,
  { versions, isSettled }: Flight,
  { pieces, answeredAt }: { readonly pieces: readonly Uint8Array[]; readonly answeredAt: number },
): StoredResult {
  const bytes = Buffer.concat(pieces)
  const digest = createHash('sha256').update(bytes).digest('base64url')
  const forms = new Map<string, unknown>()
  const result = { bytes, entityTag: entityTag(digest, formatCode), forms, answeredAt, versions }
  const size = OVERHEAD_BYTES + 2 * key.length + bytes.length
  if (isSettled && size <= maxBytes) cached?.set(key, result, { size })
  return result
}

function start<Failure>(results: Results, question: ResultQuestion, ask: AskStore<Failure>): Flight {
  const { key, readSet } = question
  // `isSettled` comes first: a write in doubt that ends raises the versions, which `versionsOf` must see.
  const settled = isSettled(results, readSet)
  const flight = {
    isSettled: settled,
    versions: versionsOf(results, readSet),
    controller: new AbortController(),
    waiting: 0,
  } as { -readonly [Name in keyof Flight]: Flight[Name] }
  flight.answer = collect(results, question, flight, ask)
  results.flights.set(key, flight)
  const done = (): void => void (results.flights.get(key) === flight && results.flights.delete(key))
  flight.answer.then(done, done)
  return flight
}

/** Buffers the answer while it is small and fast; streams it afterwards. */
async function collect<Failure>(
  results: Results,
  question: ResultQuestion,
  flight: Flight,
  ask: AskStore<Failure>,
): Promise<ResultAnswer<Failure>> {
  const { maxEntryBytes, maxAge, staleIfError, patience, now } = results.settings
  const asked = await ask(flight.controller.signal)
  if ('failure' in asked) {
    const stale = find(results, question, maxAge + staleIfError)
    return stale ? { kind: 'stored', result: stale } : { kind: 'failed', failure: asked.failure }
  }
  const answeredAt = now()
  const source = asked.pieces[Symbol.asyncIterator]()
  const pieces: Uint8Array[] = []
  let size = 0
  const slow = after(question.isWhole ? Infinity : patience)
  try {
    for (;;) {
      const next = source.next()
      const got = await Promise.race([next, slow.over])
      if (got?.done) return { kind: 'stored', result: store(results, question, flight, { pieces, answeredAt }) }
      if (got) {
        pieces.push(got.value)
        size += got.value.length
        if (size <= maxEntryBytes) continue
      }
      next.catch(() => undefined)
      const tail = {
        source,
        next: got ? undefined : next,
        room: maxEntryBytes - size,
        whole: (all: Uint8Array[]) => void store(results, question, flight, { pieces: all, answeredAt }),
        leave: () => flight.controller.abort(),
      }
      return { kind: 'streamed', pieces: bufferedStream(Buffer.concat(pieces), tail) }
    }
  } finally {
    slow.end()
  }
}

const equal = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((version, i) => version === others[i])

/** Aborts the query at the store when the last waiting client has left. */
function wait(flight: Flight, signal: AbortSignal): () => void {
  flight.waiting++
  let waits = true
  const leave = (): void => {
    if (waits && --flight.waiting === 0) flight.controller.abort()
    waits = false
  }
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return leave
}

function after(milliseconds: number): { readonly over: Promise<undefined>; end(): void } {
  let end = (): void => undefined
  const over = new Promise<undefined>((resolve) => {
    if (milliseconds === Infinity) return
    const timer = setTimeout(() => resolve(undefined), milliseconds)
    end = () => clearTimeout(timer)
  })
  return { over, end }
}
