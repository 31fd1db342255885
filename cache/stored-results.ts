// In charge of keeping the results of queries: whole answers, under what the query reads, valid until any of that changes.
// What is kept is nobody's in particular; who may have it is decided before it is looked up (design 5).
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { entityTag } from './entity-tag.js'
import { passOn } from './answer-stream.js'
import type { GraphVersions } from './graph-versions.js'

export type ReadSet = 'dataset' | readonly string[]

export interface StoredResult {
  readonly bytes: Buffer
  /** Strong: a digest of the bytes. */
  readonly entityTag: string
  /** Milliseconds since the epoch: when the store answered. */
  readonly answeredAt: number
  /** What the read-set's versions were when the query was sent: it is valid until one of them has grown. */
  readonly versions: readonly number[]
}

/** `failed`: what the store said in place of an answer. `streamed`: too large or too slow to be waited for; to be read once. */
export type ResultAnswer<Failure> =
  | { readonly kind: 'stored'; readonly result: StoredResult }
  | { readonly kind: 'streamed'; readonly pieces: AsyncIterable<Uint8Array> }
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface ResultQuestion {
  /** Names query, dataset parameters and format. */
  readonly key: string
  readonly readSet: ReadSet
  /** Of the format, for the entity-tag. */
  readonly formatCode: string
  /** Ends when the client leaves. */
  readonly signal: AbortSignal
}

/** Asks the store; the signal ends that. What the iteration throws passes through to whoever reads. */
export type Ask<Failure> = (
  signal: AbortSignal,
) => Promise<{ readonly pieces: AsyncIterable<Uint8Array> } | { readonly failure: Failure }>

export interface StoredResults {
  /** What is kept and valid, else what the store answers; one question at a time per key, however many wait. */
  get<Failure>(question: ResultQuestion, ask: Ask<Failure>): Promise<ResultAnswer<Failure>>
  clear(): void
  bytes(): number
}

export interface StoredResultsSettings {
  /** 0: nothing is kept. */
  readonly maxBytes: number
  /** The largest answer that is kept. */
  readonly maxEntryBytes?: number
  /** How old an answer may get, in ms; undefined: until what it read is known to have changed. */
  readonly maxAge?: number | undefined
  /** How long an answer is waited for to be whole before it is passed on as it comes, in ms. */
  readonly patience?: number
  readonly versions: GraphVersions
  readonly now: () => number
}

/** What an entry takes beside its bytes and its key. */
const OVERHEAD_BYTES = 512

/** One question at the store, and those who wait for it. */
interface Flight {
  readonly versions: readonly number[]
  readonly isSettled: boolean
  readonly controller: AbortController
  waiting: number
  readonly answer: Promise<ResultAnswer<unknown>>
}

export function makeStoredResults(settings: StoredResultsSettings): StoredResults {
  const { maxBytes, maxEntryBytes = 8 * 2 ** 20, maxAge = Infinity, patience = 500, versions, now } = settings
  const kept = maxBytes > 0 ? new LRUCache<string, StoredResult>({ maxSize: maxBytes }) : undefined
  const flights = new Map<string, Flight>()

  const versionsOf = (readSet: ReadSet): readonly number[] =>
    readSet === 'dataset' ? [versions.dataset()] : readSet.map((graph) => versions.of(graph))
  const isSettled = (readSet: ReadSet): boolean =>
    readSet === 'dataset' || readSet.length === 0
      ? versions.isSettled(undefined, now())
      : readSet.every((graph) => versions.isSettled(graph, now()))

  const find = ({ key, readSet }: ResultQuestion): StoredResult | undefined => {
    const result = kept?.get(key)
    if (!result || now() - result.answeredAt > maxAge) return undefined
    return equal(result.versions, versionsOf(readSet)) ? result : undefined
  }

  function keep({ key, formatCode }: ResultQuestion, flight: Flight, pieces: Uint8Array[], answeredAt: number) {
    const bytes = Buffer.concat(pieces)
    const digest = createHash('sha256').update(bytes).digest('base64url')
    const result = { bytes, entityTag: entityTag(digest, formatCode), answeredAt, versions: flight.versions }
    const size = OVERHEAD_BYTES + 2 * key.length + bytes.length
    if (flight.isSettled && size <= maxBytes) kept?.set(key, result, { size })
    return result
  }

  /** Reads the answer for as long as it is small and quick, and passes it on as it comes from there. */
  async function collect<Failure>(
    question: ResultQuestion,
    flight: Flight,
    ask: Ask<Failure>,
  ): Promise<ResultAnswer<Failure>> {
    const asked = await ask(flight.controller.signal)
    if ('failure' in asked) return { kind: 'failed', failure: asked.failure }
    const answeredAt = now()
    const source = asked.pieces[Symbol.asyncIterator]()
    const pieces: Uint8Array[] = []
    let size = 0
    const slow = after(patience)
    try {
      for (;;) {
        const next = source.next()
        const got = await Promise.race([next, slow.over])
        if (got?.done) return { kind: 'stored', result: keep(question, flight, pieces, answeredAt) }
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
          whole: (all: Uint8Array[]) => void keep(question, flight, all, answeredAt),
          leave: () => flight.controller.abort(),
        }
        return { kind: 'streamed', pieces: passOn(Buffer.concat(pieces), tail) }
      }
    } finally {
      slow.end()
    }
  }

  function start<Failure>(question: ResultQuestion, ask: Ask<Failure>): Flight {
    const { key, readSet } = question
    // In this order: a doubt that is over counts as a change.
    const settled = isSettled(readSet)
    const flight = {
      isSettled: settled,
      versions: versionsOf(readSet),
      controller: new AbortController(),
      waiting: 0,
    } as { -readonly [Name in keyof Flight]: Flight[Name] }
    flight.answer = collect(question, flight, ask)
    flights.set(key, flight)
    const done = (): void => void (flights.get(key) === flight && flights.delete(key))
    flight.answer.then(done, done)
    return flight
  }

  return {
    async get<Failure>(question: ResultQuestion, ask: Ask<Failure>): Promise<ResultAnswer<Failure>> {
      const result = find(question)
      if (result) return { kind: 'stored', result }
      const underWay = flights.get(question.key)
      // Whoever asks after a write must not be answered from before it.
      const isCurrent = underWay !== undefined && equal(underWay.versions, versionsOf(question.readSet))
      const joins = isCurrent && !underWay.controller.signal.aborted
      const flight = joins ? underWay : start(question, ask)
      const leave = wait(flight, question.signal)
      const answer = (await flight.answer) as ResultAnswer<Failure>
      if (!joins || answer.kind !== 'streamed') return answer
      // A stream is for the one that began: the others ask for themselves.
      leave()
      const own = start(question, ask)
      wait(own, question.signal)
      return own.answer as Promise<ResultAnswer<Failure>>
    },
    clear: () => kept?.clear(),
    bytes: () => kept?.calculatedSize ?? 0,
  }
}

const equal = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((version, i) => version === others[i])

/** The question is given up at the store when the last of those who wait has left. */
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
    const timer = setTimeout(() => resolve(undefined), milliseconds)
    end = () => clearTimeout(timer)
  })
  return { over, end }
}
