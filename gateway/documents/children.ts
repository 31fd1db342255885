// Lists the children of a container page by page. The store sorts them and counts no further than the page, so our work
// does not grow with their number. The store's answers are cached like query results.
import { createHash } from 'node:crypto'
import type { ReadSet, StoredResults } from '../../cache/stored-results.js'
import { followed } from '../places.js'
import { isFailure, type Problem } from '../problem.js'
import { DCT, DH, RDF, RDFS, SIOC } from '../rdf/vocabulary.js'
import { RESULTS_TSV } from '../rdf/sparql-results.js'
import type { Asker } from '../stores/fair-queue.js'
import { select, type Row } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'
import type { Turns } from '../stores/connection-slots.js'

export interface Child {
  readonly iri: string
  readonly title: string | undefined
  readonly isContainer: boolean
  /** Milliseconds since the epoch. */
  readonly created: number | undefined
  readonly modified: number | undefined
}

export const ORDERS = ['name', 'created', 'modified'] as const
export type Order = (typeof ORDERS)[number]

/** The children to list. */
export interface ChildrenListing {
  readonly container: string
  readonly order: Order
  /** Of the names: a primary language subtag. */
  readonly language: string
  /** A SPARQL condition on `?child`: only matching children are listed. */
  readonly condition: string
  /** Also lists these, if they are children. */
  readonly named: readonly string[]
}

export interface Listed extends Pick<ChildrenListing, 'condition' | 'named'> {
  /** True if there are too many rights, so not all children are listed. */
  readonly isCut: boolean
}

export interface ChildrenSource {
  readonly application: {
    readonly store: GraphStore
    readonly cache: { readonly results: StoredResults }
    isDocument(graph: string): boolean
  }
  /** Bounds concurrent sorting, which takes a store longer the more children there are. */
  readonly turns: Turns
  readonly asker: Asker
  readonly signal: AbortSignal
}

/** The number of names read at once: 20 pages. */
export const MOST_NAMES = 1000
/** Above this number a store takes too long to look up all names, so the children are sorted by URL. */
const MOST_ORDERED = 50_000
const MAX_BYTES = 8 * 1024 * 1024

export interface NamedChild {
  /** 'url' if there are too many children for another order. */
  readonly order: Order | 'url'
  readonly names: readonly string[]
  /** True if more children follow these. */
  readonly hasMore: boolean
}

/** The names of the children, in order, from this position on. */
export async function namesOf(
  source: ChildrenSource,
  listing: ChildrenListing,
  from: number,
): Promise<NamedChild | Problem> {
  const limit = `${foundBy(listing)} LIMIT 1 OFFSET ${MOST_ORDERED}`
  const isBeyond = await ask(source, limit, {
    variables: ['child'],
    readSet: 'dataset',
    make: (rows) => rows.length > 0,
  })
  if (isFailure(isBeyond)) return isBeyond
  const order = isBeyond ? 'url' : listing.order
  const query = `${ordered(listing, order)} LIMIT ${MOST_NAMES + 1}${from === 0 ? '' : ` OFFSET ${from}`}`
  const { turns, application } = source
  return ask(source, query, {
    variables: ['child'],
    readSet: 'dataset',
    turns,
    make(rows): NamedChild {
      const found = rows.slice(0, MOST_NAMES).flatMap(([child]) => (child?.termType === 'NamedNode' ? child.value : []))
      const names = [...new Set(found)].filter(application.isDocument)
      return { order, names, hasMore: rows.length > MOST_NAMES }
    },
  })
}

/** Finds the children by an index and looks into only those that may be listed. */
function foundBy({ container, condition, named }: ChildrenListing): string {
  const children = `VALUES ?in { <${SIOC('has_container')}> <${SIOC('has_parent')}> } GRAPH ?child { ?child ?in <${container}> }`
  const found = `${children} FILTER(?child != <${container}> && ${condition})`
  if (named.length === 0) return `SELECT ?child WHERE { ${found} }`
  return `SELECT DISTINCT ?child WHERE { { ${found} } UNION { ${valuesOf(named)} ${children} } }`
}

const listOf = (iris: readonly string[]): string => iris.map((one) => `<${one}>`).join(', ')

const valuesOf = (names: readonly string[]): string => `VALUES ?child { ${names.map((name) => `<${name}>`).join(' ')} }`

const KEY_CHARACTERS = 100

const NAMES = [DCT('title'), RDFS('label')]

/** Titles and labels are names unless they are empty, as on the page of the document (pages/document-page.tsx). */
const isName = (value: string): string => `isLiteral(${value}) && REGEX(STR(${value}), "\\\\S")`

/** Names are chosen like any text of a page (pages/preferred-text.ts): this is least for the best language. */
const rank = (literal: string, language: string): string =>
  `IF(LANGMATCHES(LANG(${literal}), ${JSON.stringify(language)}), "0", IF(LANGMATCHES(LANG(${literal}), "en"), "1", "2"))`

/** The title of a document; without a title its label; without a label its URL. */
const nameIn = (language: string): string =>
  `COALESCE(SUBSTR(MIN(CONCAT(IF(?p = <${DCT('title')}>, "0", "1"), ${rank('?value', language)}, STR(?value))), 3), STR(?child))`

interface Key {
  readonly properties: readonly string[]
  /** On `?value`. */
  readonly only?: string
  readonly key: (language: string) => string
  readonly direction: string
}

/** Names ignore case and sort numbers of up to 12 digits by value. Dates are sorted latest first. */
const KEYS: Readonly<Record<Order, Key>> = {
  name: {
    properties: NAMES,
    only: isName('?value'),
    key: (language) =>
      `REPLACE(REPLACE(SUBSTR(LCASE(${nameIn(language)}), 1, ${KEY_CHARACTERS}), "([0-9]+)", "00000000000$1"), "0*([0-9]{12})([^0-9]|$)", "$1$2")`,
    direction: '?key',
  },
  created: { properties: [DCT('created')], key: () => 'MIN(?value)', direction: 'DESC(?key)' },
  modified: { properties: [DCT('created'), DCT('modified')], key: () => 'MAX(?value)', direction: 'DESC(?key)' },
}

function ordered(listing: ChildrenListing, order: Order | 'url'): string {
  const found = foundBy(listing)
  if (order === 'url') return `${found} ORDER BY ?child`
  const { properties, only = 'true', key, direction } = KEYS[order]
  return `SELECT ?child WHERE { { SELECT ?child (${key(listing.language)} AS ?key) WHERE { { ${found} }
    OPTIONAL { GRAPH ?child { ?child ?p ?value } FILTER(?p IN (${listOf(properties)}) && ${only}) }
  } GROUP BY ?child } } ORDER BY ${direction} ?child`
}

/** The children with these names, in this order, if they still exist and satisfy the condition. */
export async function childrenNamed(
  source: ChildrenSource,
  { condition, named, language }: Omit<ChildrenListing, 'container' | 'order'>,
  names: readonly string[],
): Promise<readonly Child[] | Problem> {
  if (names.length === 0) return []
  const isNamed = new Set(named)
  const byName = names.filter((name) => isNamed.has(name)).map((name) => `?child = <${name}>`)
  const query = aboutQuery([condition, ...byName].join(' || '), names, language)
  const make = (rows: readonly Row[]): readonly Child[] => childrenIn(rows, names)
  return ask(source, query, { variables: ['child', 'p', 'value'], readSet: names, make })
}

function childrenIn(rows: readonly Row[], names: readonly string[]): readonly Child[] {
  const found = new Map<string, Map<string, string>>()
  for (const [child, property, value] of rows) {
    if (!child || !property || !value) continue
    const about = found.get(child.value) ?? new Map<string, string>()
    found.set(child.value, about.set(property.value, value.value.slice(1)))
  }
  return names.flatMap((name) => {
    const about = found.get(name)
    return about ? [childOf(name, about)] : []
  })
}

/** Longer titles are cut off in a list. */
const VALUE_CHARACTERS = 500

const ABOUT = [DCT('created'), DCT('modified'), SIOC('has_container'), SIOC('has_parent')]

/** One value per property, even if there are several; before it, a character for its language. */
const aboutQuery = (condition: string, names: readonly string[], language: string): string => `
  SELECT ?child ?p (MIN(CONCAT(IF(isLiteral(?o), ${rank('?o', language)}, "2"),
      SUBSTR(STR(?o), 1, ${VALUE_CHARACTERS}))) AS ?value) WHERE {
    { ${valuesOf(names)} FILTER(${condition}) }
    GRAPH ?child { ?child ?p ?o }
    FILTER(?p IN (${listOf(ABOUT)}) || ?o = <${DH('Container')}>
      || (?p IN (${listOf(NAMES)}) && ${isName('?o')}))
  } GROUP BY ?child ?p`

function childOf(iri: string, about: ReadonlyMap<string, string>): Child {
  return {
    iri,
    // What SPARQL does not know as white space is no name either.
    title: NAMES.map((property) => about.get(property)).find((name) => name !== undefined && name.trim() !== ''),
    isContainer: about.has(RDF('type')),
    created: timeOf(about.get(DCT('created'))),
    modified: timeOf(about.get(DCT('modified'))),
  }
}

function timeOf(value: string | undefined): number | undefined {
  const time = value === undefined ? Number.NaN : Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

interface Question<Made> {
  readonly variables: readonly string[]
  /** What the answer depends on. The same text gives the same answer to everyone. */
  readonly readSet: ReadSet
  readonly turns?: Turns
  /** Called once per cached answer, with its rows. The result is cached with the answer. */
  make(rows: readonly Row[]): Made
}

async function ask<Made>(
  { application: { store, cache }, asker, signal }: ChildrenSource,
  query: string,
  { variables, readSet, turns, make }: Question<Made>,
): Promise<Made | Problem> {
  const key = `children ${createHash('sha256').update(query).digest('base64url')}`
  const question = { key, readSet, formatCode: 'tsv', isWhole: true, signal }
  const answer = await cache.results.get<Problem>(question, async (aborted) => {
    const turn = await turns?.take(aborted, asker)
    if (isFailure(turn)) return { failure: turn }
    const pieces = await store.query(query, RESULTS_TSV, { signal: aborted, asker })
    if (!isFailure(pieces)) return { pieces: turn ? followed(pieces, turn) : pieces }
    turn?.()
    return { failure: pieces }
  })
  if (answer.kind === 'failed') return answer.failure
  const madeOf = async (pieces: AsyncIterable<Uint8Array>): Promise<Made | Problem> => {
    const rows = await select({ query: () => Promise.resolve(pieces) }, '', variables, { maxBytes: MAX_BYTES })
    return isFailure(rows) ? rows : make(rows)
  }
  if (answer.kind === 'streamed') return madeOf(answer.pieces)
  const { forms, bytes } = answer.result
  const known = forms.get('made') as Promise<Made | Problem> | undefined
  if (known) return known
  const made = madeOf(inPieces(bytes))
  forms.set('made', made)
  cache.results.grown(key, answer.result, MADE * bytes.length)
  return made
}
/** The result takes about this many times as much memory as the answer's text. */
const MADE = 3

const PIECE = 64 * 1024

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}
