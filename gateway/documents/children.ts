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

const valuesOf = (names: readonly string[]): string => `VALUES ?child { ${names.map((name) => `<${name}>`).join(' ')} }`

const KEY_CHARACTERS = 100

/** The first title of a document; without a title its first label; without a label its URL. */
const NAME = `COALESCE(SUBSTR(MIN(CONCAT(IF(?p = <${DCT('title')}>, "0", "1"), STR(?value))), 2), STR(?child))`

/** Names ignore case and sort numbers of up to 12 digits by value. Dates are sorted latest first. */
const KEYS: Readonly<Record<Order, readonly [properties: readonly string[], key: string, direction: string]>> = {
  name: [
    [DCT('title'), RDFS('label')],
    `REPLACE(REPLACE(SUBSTR(LCASE(${NAME}), 1, ${KEY_CHARACTERS}), "([0-9]+)", "00000000000$1"), "0*([0-9]{12})([^0-9]|$)", "$1$2")`,
    '?key',
  ],
  created: [[DCT('created')], 'MIN(?value)', 'DESC(?key)'],
  modified: [[DCT('created'), DCT('modified')], 'MAX(?value)', 'DESC(?key)'],
}

function ordered(listing: ChildrenListing, order: Order | 'url'): string {
  const found = foundBy(listing)
  if (order === 'url') return `${found} ORDER BY ?child`
  const [properties, key, direction] = KEYS[order]
  return `SELECT ?child WHERE { { SELECT ?child (${key} AS ?key) WHERE { { ${found} }
    OPTIONAL { GRAPH ?child { ?child ?p ?value } FILTER(?p IN (${properties.map((one) => `<${one}>`).join(', ')})) }
  } GROUP BY ?child } } ORDER BY ${direction} ?child`
}

/** The children with these names, in this order, if they still exist and satisfy the condition. */
export async function childrenNamed(
  source: ChildrenSource,
  { condition, named }: Pick<ChildrenListing, 'condition' | 'named'>,
  names: readonly string[],
): Promise<readonly Child[] | Problem> {
  if (names.length === 0) return []
  const isNamed = new Set(named)
  const byName = names.filter((name) => isNamed.has(name)).map((name) => `?child = <${name}>`)
  const query = aboutQuery([condition, ...byName].join(' || '), names)
  const make = (rows: readonly Row[]): readonly Child[] => childrenIn(rows, names)
  return ask(source, query, { variables: ['child', 'p', 'value'], readSet: names, make })
}

function childrenIn(rows: readonly Row[], names: readonly string[]): readonly Child[] {
  const found = new Map<string, Map<string, string>>()
  for (const [child, property, value] of rows) {
    if (!child || !property || !value) continue
    const about = found.get(child.value) ?? new Map<string, string>()
    found.set(child.value, about.set(property.value, value.value))
  }
  return names.flatMap((name) => {
    const about = found.get(name)
    return about ? [childOf(name, about)] : []
  })
}

/** Longer titles are cut off in a list. */
const VALUE_CHARACTERS = 500

const ABOUT = [DCT('title'), RDFS('label'), DCT('created'), DCT('modified'), SIOC('has_container'), SIOC('has_parent')]

/** One value per property, even if there are several. */
const aboutQuery = (condition: string, names: readonly string[]): string => `
  SELECT ?child ?p (MIN(SUBSTR(STR(?o), 1, ${VALUE_CHARACTERS})) AS ?value) WHERE {
    { ${valuesOf(names)} FILTER(${condition}) }
    GRAPH ?child { ?child ?p ?o }
    FILTER(?p IN (${ABOUT.map((property) => `<${property}>`).join(', ')}) || ?o = <${DH('Container')}>)
  } GROUP BY ?child ?p`

function childOf(iri: string, about: ReadonlyMap<string, string>): Child {
  return {
    iri,
    title: about.get(DCT('title')) ?? about.get(RDFS('label')),
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
