// In charge of what was found in documents and is believed for a while: bounded in number and time, looked for once however
// many ask, and forgotten when a document that it rests on changes.
import { LRUCache } from 'lru-cache'

export interface Found<Value> {
  readonly value: Value
  /** For how long it is believed, in ms. */
  readonly lifetime: number
}

/** Finds a value, and tells each document that it rests on before that is read. */
export type Look<Value> = (restsOn: (document: string) => void) => Promise<Found<Value>>

export interface Remembered<Value extends object> {
  /** What is remembered, without waiting. */
  recall(key: string): Value | undefined
  /**
   * The remembered value, at once; else the value that `look` finds. 'busy' when too many looks are under way, or too many
   * requests wait for this one.
   */
  find(key: string, look: Look<Value>): Value | 'busy' | Promise<Value>
  forget(document: string): void
  clear(): void
}

interface Kept<Value> {
  readonly value: Value
  readonly until: number
  readonly documents: readonly string[]
}

interface Under<Value> {
  readonly documents: string[]
  readonly value: Promise<Value>
  waiting: number
  isStale: boolean
}

const LOOKS = 64

/** `now` in ms; at most `max` values are kept, and at most so many wait for one. */
export function makeRemembered<Value extends object>(
  now: () => number,
  { max = 10_000, waiting = Infinity } = {},
): Remembered<Value> {
  const underWay = new Map<string, Under<Value>>()
  const restingOn = new Map<string, Set<string>>()
  const kept = new LRUCache<string, Kept<Value>>({
    max,
    dispose: ({ documents }, key) => {
      for (const document of documents) {
        const keys = restingOn.get(document)
        keys?.delete(key)
        if (keys?.size === 0) restingOn.delete(document)
      }
    },
  })

  function recall(key: string): Value | undefined {
    const one = kept.get(key)
    return one && one.until > now() ? one.value : undefined
  }

  function start(key: string, look: Look<Value>): Under<Value> {
    const documents: string[] = []
    const value = look((document) => void documents.push(document))
      .then(({ value, lifetime }) => {
        if (!under.isStale) {
          kept.set(key, { value, until: now() + lifetime, documents })
          for (const document of documents) restingOn.set(document, (restingOn.get(document) ?? new Set()).add(key))
        }
        return value
      })
      .finally(() => {
        if (underWay.get(key) === under) underWay.delete(key)
      })
    const under: Under<Value> = { documents, value, waiting: 0, isStale: false }
    underWay.set(key, under)
    return under
  }

  return {
    recall,
    find(key, look) {
      const known = recall(key)
      if (known) return known
      const under = underWay.get(key)
      if (under ? under.waiting >= waiting : underWay.size >= LOOKS) return 'busy'
      const looking = under ?? start(key, look)
      looking.waiting++
      return looking.value
    },
    forget(document) {
      for (const [key, under] of underWay) {
        if (!under.documents.includes(document)) continue
        under.isStale = true
        underWay.delete(key)
      }
      for (const key of [...(restingOn.get(document) ?? [])]) kept.delete(key)
    },
    clear() {
      for (const under of underWay.values()) under.isStale = true
      underWay.clear()
      kept.clear()
    },
  }
}
