// The caches that belong to no application: functions of a text or of Git's id of a content. Bounded in bytes.
import { LRUCache } from 'lru-cache'
import type { GraphRights } from '../policies/authorizations/graph-rights.js'
import type { Listed } from './documents/children.js'
import type { DocumentState } from './documents/facts.js'
import type { Converted } from './evaluation/reading.js'
import type { Representation } from './documents/document.js'
import type { AcceptedCodings } from './http/content-coding.js'
import type { Format } from './http/media-type.js'
import type { Texts } from './pages/texts.js'
import type { Problem } from './problem.js'
import type { Depending } from './sparql/rights/restrict-in-thread.js'
import type { StoreTraits } from './sparql/rights/restrict-query.js'
import type { QueryAnalysis, UpdateAnalysis } from './sparql/language/analysis.js'

export interface GatewayCaches {
  /** Mementos ready to send, by Git's id of the content and the format: neither changes. */
  readonly mementos: ByteCache<Buffer>
  /** Differences between versions, by their URI and the accepted formats; long TimeMaps, by URI and entity-tag. */
  readonly histories: ByteCache<Converted>
  /** Pages of documents, by document, state and variant. */
  readonly pages: ByteCache<Page>
  /** The prefixes most recently declared by a person in a document. */
  readonly prefixes: ByteCache<{ readonly text: string }>
  /** The facts for decisions on a version, by Git's id of the content and the document. */
  readonly rights: ByteCache<DocumentState>
  /** The RDF format that an Accept field prefers. */
  readonly formats: ByteCache<Format>
  /** The format of a result, by the form of the query and the Accept field. */
  readonly resultFormats: ByteCache<Format>
  /**
   * The content codings accepted by an Accept-Encoding field, and the texts in the language preferred by an
   * Accept-Language field.
   */
  readonly codings: ByteCache<AcceptedCodings>
  readonly languages: ByteCache<Texts>
  /** The listed children, by application, rights and container. */
  readonly listed: ByteCache<Listed>
  /** Analysed queries and updates, by text, base and dataset. */
  readonly queries: ByteCache<QueryAnalysis>
  readonly updates: ByteCache<UpdateAnalysis>
  /** Queries restricted to what agents may read, by application, rights, query and the graphs that it depends on. */
  readonly views: ByteCache<KnownView>
  /**
   * The last restriction of each query, by its key. Making the key for `views` takes long compared to a cached answer.
   */
  readonly lastViews: ByteCache<LastView>
}

/** Valid for these rights and this store, or for the graphs that it depends on. */
export interface LastView {
  readonly rights: GraphRights
  readonly store: StoreTraits
  readonly view: QueryAnalysis | Depending
}

/** A page, and its coded forms by name. */
export interface Page {
  readonly plain: Representation
  readonly coded: Map<string, unknown>
}

export interface KnownView {
  readonly view: QueryAnalysis | Problem
  /** The length of its text in characters. */
  readonly length: number
}

export interface ByteCache<Value extends object> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  clear(): void
  bytes(): number
  /** Oldest first. */
  entries(): readonly (readonly [key: string, value: Value])[]
}

/** The minimum for functions of a text, whatever else is cached: they contain nothing from a store. */
const ANALYSES = 8 * 2 ** 20

/** `maxBytes` is for all of them together, in addition to ANALYSES. 0: no answers of a store are cached. */
export function makeGatewayCaches(maxBytes: number): GatewayCaches {
  const sizeOfAnalysis = ({ text }: { readonly text: string }): number => 1024 + 4 * text.length
  return {
    histories: byteCache<Converted>(maxBytes / 8, ({ bytes }) => 128 + bytes.length),
    mementos: byteCache<Buffer>(maxBytes / 4, ({ length }) => 128 + length),
    // A page counts twice: its coded forms together are smaller than the page itself.
    pages: byteCache<Page>(maxBytes / 8, ({ plain }) => 512 + 2 * plain.bytes.length),
    prefixes: byteCache<{ text: string }>(Math.min(maxBytes / 8, 2 ** 20), ({ text }) => 64 + 2 * text.length),
    rights: byteCache<DocumentState>(
      Math.min(maxBytes / 8, 2 ** 20),
      ({ types, owners }) => 256 + 2 * [...types, ...owners].join('').length,
    ),
    formats: byteCache<Format>(2 ** 20, () => 64),
    resultFormats: byteCache<Format>(2 ** 20, () => 64),
    codings: byteCache<AcceptedCodings>(2 ** 18, () => 64),
    languages: byteCache<Texts>(2 ** 18, () => 64),
    listed: byteCache<Listed>(2 ** 20, ({ condition, named }) => 128 + 2 * (condition + named.join('')).length),
    // Includes the tree.
    queries: byteCache<QueryAnalysis>(Math.max(maxBytes / 8, ANALYSES), ({ text }) => 1024 + 40 * text.length),
    updates: byteCache<UpdateAnalysis>(Math.max(maxBytes / 8, ANALYSES / 4), sizeOfAnalysis),
    views: byteCache<KnownView>(Math.max(maxBytes / 16, ANALYSES / 2), ({ length }) => 4096 + 2 * length),
    lastViews: byteCache<LastView>(
      Math.max(maxBytes / 32, ANALYSES / 4),
      ({ view }) => 1024 + 2 * ('text' in view ? view.text : view.depending.join('')).length,
    ),
  }
}

/** A value derived from a field: cached, unless the field is longer than usual. */
export function remembered<Value extends object>(cache: ByteCache<Value>, field: string, make: () => Value): Value {
  const known = cache.get(field)
  if (known) return known
  const made = make()
  if (field.length < LONGEST_FIELD) cache.set(field, made)
  return made
}
const LONGEST_FIELD = 1024

function byteCache<Value extends object>(maxBytes: number, sizeOf: (value: Value) => number): ByteCache<Value> {
  const maxSize = Math.floor(maxBytes)
  const cache = maxSize > 0 ? new LRUCache<string, Value>({ maxSize }) : undefined
  return {
    get: (key) => cache?.get(key),
    set: (key, value) => void cache?.set(key, value, { size: sizeOf(value) + 2 * key.length }),
    clear: () => cache?.clear(),
    bytes: () => cache?.calculatedSize ?? 0,
    entries: () => (cache ? [...cache.rkeys()].map((key) => [key, cache.peek(key)!] as const) : []),
  }
}
