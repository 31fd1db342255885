// The prefixes that a triplestore stores for its dataset: Fuseki writes them at the beginning of every Turtle answer.
// They are read at the start, and again after some minutes.
import { createHash } from 'node:crypto'
import { sourceOf, TURTLE, JSON_LD, type Format } from '../http/media-type.js'
import { isFailure } from '../problem.js'
import { prefixesIn, type Prefixes } from '../rdf/declared-prefixes.js'
import type { GraphStore } from './store.js'
import { wholeText } from './whole-text.js'

export interface DatasetPrefixes {
  /** Undefined if there are none. */
  known(now: number): KnownPrefixes | undefined
  find(now: number): Promise<void>
}

export interface KnownPrefixes {
  readonly prefixes: Prefixes
  /** The format with these prefixes and its own code; formats that have no prefixes are returned as they are. */
  formatOf(format: Format): Format
}

const RENEW_MS = 5 * 60 * 1000
const MAX_BYTES = 64 * 1024

export function makeDatasetPrefixes(store: Pick<GraphStore, 'query'>): DatasetPrefixes {
  let [known, renewAt]: [KnownPrefixes | undefined, number] = [undefined, Infinity]
  async function find(now: number): Promise<void> {
    renewAt = now + RENEW_MS
    const text = await wholeText(store.query('CONSTRUCT { } WHERE { }', TURTLE.mediaType), MAX_BYTES)
    if (isFailure(text)) return
    const prefixes = prefixesIn(text)
    const names = JSON.stringify(Object.entries(prefixes).sort())
    if (names !== JSON.stringify(Object.entries(known?.prefixes ?? {}).sort()))
      known = names === '[]' ? undefined : knownOf(prefixes, names)
  }
  return {
    known(now) {
      if (now >= renewAt) void find(now)
      return known
    },
    find,
  }
}

function knownOf(prefixes: Prefixes, names: string): KnownPrefixes {
  const digest = createHash('sha256').update(names).digest('hex').slice(0, 8)
  const made = new Map<string, Format>()
  return {
    prefixes,
    formatOf(format) {
      if (!hasPrefixes(format)) return format
      const before = made.get(format.code)
      if (before) return before
      const own: Format = { ...format, code: `${format.code}${MARK}${digest}`, source: sourceOf(format), prefixes }
      made.set(format.code, own)
      return own
    },
  }
}

/** RFC 9110 §8.8.3: stands in the entity-tag between the code of the format and the digest of the prefixes. */
const MARK = 'p'
const hasPrefixes = (format: Format): boolean => [TURTLE, JSON_LD].includes(sourceOf(format))

/** True for the code of a format with any prefixes. */
export const isWithPrefixes = (code: string, format: Format): boolean =>
  hasPrefixes(format) && code.startsWith(format.code + MARK)
