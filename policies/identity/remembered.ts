// Values found in documents and remembered for a while: bounded in number and time, found once for all waiting
// requests, and forgotten when a document that they depend on changes.
import { LRUCache } from 'lru-cache'
import { failure, type Failure } from '../failure.js'

/** A value, and how long to remember it, in ms. */
export interface TimedValue<Value> {
  readonly value: Value
  readonly lifetime: number
  /** Set if the value may be wrong. It does not replace a remembered value. */
  readonly isUncertain?: boolean
}

/** Finds a value. Calls `restsOn` with each document that the value depends on, before reading it. */
export type LookUp<Value> = (restsOn: (document: string) => void) => Promise<TimedValue<Value>>

export interface Remembered<Value extends object> {
  /**
   * The remembered value if it is not older than `maxAge` ms, without waiting. `at`: the time in ms, if the caller has
   * read the clock.
   */
  recall(key: string, maxAge?: number, at?: number): Value | undefined
  /**
   * The remembered value, synchronously, if it is not older than `maxAge` ms; otherwise the value found by `look`.
   * Fails if too many look-ups are running, or too many requests wait for this one.
   */
  find(key: string, look: LookUp<Value>, maxAge?: number): Value | Failure<'busy'> | Promise<Value>
  forget(document: string): void
  clear(): void
}

interface Underway<Value> {
  readonly documents: string[]
  readonly value: Promise<Value>
  waiting: number
  isStale: boolean
}

/** Look-ups of remote documents have separate, far fewer places, so that there is room for local ones. */
const LOOKS = 1024
const BUSY = failure('busy', 'Too many documents are being read.')

/** `now` in ms. `max`: the most values; `waiting`: the most requests that may wait for one value. */
export function makeRemembered<Value extends object>(
  now: () => number,
  { max = 10_000, waiting = Infinity } = {},
): Remembered<Value> {
  const underWay = new Map<string, Underway<Value>>()
  const values = makeValues<Value>(max, now)

  function start(key: string, look: LookUp<Value>): Underway<Value> {
    const documents: string[] = []
    const value = look((document) => void documents.push(document))
      .then((found) => {
        const isKept = found.isUncertain && values.get(key) !== undefined
        if (!looking.isStale && !isKept) values.set(key, found, documents)
        return found.value
      })
      .finally(() => {
        if (underWay.get(key) === looking) underWay.delete(key)
      })
    const looking: Underway<Value> = { documents, value, waiting: 0, isStale: false }
    underWay.set(key, looking)
    return looking
  }

  return {
    recall: values.get,
    find(key, look, maxAge) {
      const known = values.get(key, maxAge)
      if (known) return known
      const under = underWay.get(key)
      if (under ? under.waiting >= waiting : underWay.size >= LOOKS) return BUSY
      const looking = under ?? start(key, look)
      looking.waiting++
      return looking.value
    },
    forget(document) {
      for (const [key, looking] of underWay) {
        if (!looking.documents.includes(document)) continue
        looking.isStale = true
        underWay.delete(key)
      }
      values.forget(document)
    },
    clear() {
      for (const looking of underWay.values()) looking.isStale = true
      underWay.clear()
      values.clear()
    },
  }
}

interface Values<Value> {
  get(key: string, maxAge?: number, at?: number): Value | undefined
  set(key: string, found: TimedValue<Value>, documents: readonly string[]): void
  forget(document: string): void
  clear(): void
}

function makeValues<Value>(max: number, now: () => number): Values<Value> {
  const restingOn = new Map<string, Set<string>>()
  const values = new LRUCache<
    string,
    { readonly value: Value; readonly found: number; readonly until: number; readonly documents: readonly string[] }
  >({
    max,
    dispose: ({ documents }, key) => {
      for (const document of documents) {
        const keys = restingOn.get(document)
        keys?.delete(key)
        if (keys?.size === 0) restingOn.delete(document)
      }
    },
  })
  return {
    get(key, maxAge = Infinity, at = now()) {
      const one = values.get(key)
      return one && at < one.until && at - one.found <= maxAge ? one.value : undefined
    },
    set(key, { value, lifetime }, documents) {
      const found = now()
      values.set(key, { value, found, until: found + lifetime, documents })
      for (const document of documents) restingOn.set(document, (restingOn.get(document) ?? new Set()).add(key))
    },
    forget(document) {
      for (const key of [...(restingOn.get(document) ?? [])]) values.delete(key)
    },
    clear: () => values.clear(),
  }
}
