// In charge of the children of a container, as the store has them: what a list shows, and what the right to read each rests on.
// The store's answer is cached as the result of a query is, until the dataset changes.
import type { StoredResult, StoredResults } from '../../cache/stored-results.js'
import { isFailure, type Problem } from '../problem.js'
import { ACL, DCT, DH, RDF, RDFS, SIOC } from '../rdf/vocabulary.js'
import { RESULTS_TSV } from '../rdf/sparql-results.js'
import { select, type Row } from '../stores/select.js'
import { StoreBreak, type GraphStore } from '../stores/store.js'
import type { DocumentState } from './facts.js'

export interface Child extends DocumentState {
  readonly title: string | undefined
  readonly isContainer: boolean
  /** Milliseconds since the epoch. */
  readonly created: number | undefined
  readonly modified: number | undefined
}

interface HasChildren {
  readonly store: GraphStore
  readonly cache: { readonly results: StoredResults }
  isDocument(graph: string): boolean
}

/** In bytes of the store's answer: about 100,000 children. */
const MAX_BYTES = 64 * 1024 * 1024
/** Statements about children that are read: some five for each. */
const MOST_ROWS = 250_000

const ABOUT = [RDF('type'), ACL('owner'), DCT('title'), RDFS('label'), DCT('created'), DCT('modified')]

const queryOf = (container: string): string => `SELECT ?g ?p ?o WHERE {
  VALUES ?in { <${SIOC('has_container')}> <${SIOC('has_parent')}> }
  GRAPH ?g { ?g ?in <${container}> . ?g ?p ?o }
  FILTER(?p IN (${ABOUT.map((property) => `<${property}>`).join(', ')})) } LIMIT ${MOST_ROWS}`

/** Children read from an answer, as long as it is cached. */
const known = new WeakMap<StoredResult, Listed>()

interface Listed {
  readonly children: readonly Child[]
  /** True where there are more than are read. */
  readonly isCut: boolean
}

/** In the order of their URLs. */
export async function childrenOf(
  { store, cache: { results }, isDocument }: HasChildren,
  container: string,
  signal: AbortSignal,
): Promise<Listed | Problem> {
  const query = queryOf(container)
  const question = { key: `children ${container}`, readSet: 'dataset', formatCode: 'tsv', signal } as const
  const answer = await results.get<Problem>(question, async (aborted) => {
    const pieces = await store.query(query, RESULTS_TSV, { signal: aborted })
    return isFailure(pieces) ? { failure: pieces } : { pieces }
  })
  if (answer.kind === 'failed') return answer.failure
  const result = answer.kind === 'stored' ? answer.result : undefined
  const before = result && known.get(result)
  if (before) return before
  const pieces = answer.kind === 'stored' ? inPieces(answer.result.bytes) : answer.pieces
  const rows = await rowsIn(pieces)
  if (isFailure(rows)) return rows
  const children = childrenIn(rows).filter(({ iri }) => isDocument(iri) && iri !== container)
  const listed = { children, isCut: rows.length >= MOST_ROWS }
  if (result) known.set(result, listed)
  return listed
}

const PIECE = 256 * 1024

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

async function rowsIn(pieces: AsyncIterable<Uint8Array>): Promise<readonly Row[] | Problem> {
  try {
    return await select({ query: () => Promise.resolve(pieces) }, '', ['g', 'p', 'o'], { maxBytes: MAX_BYTES })
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
}

function childrenIn(rows: readonly Row[]): Child[] {
  const found = new Map<string, Map<string, string[]>>()
  for (const [graph, property, value] of rows) {
    if (graph?.termType !== 'NamedNode' || !property || !value) continue
    const about = found.get(graph.value) ?? new Map<string, string[]>()
    found.set(graph.value, about)
    const values = about.get(property.value)
    if (values) values.push(value.value)
    else about.set(property.value, [value.value])
  }
  return [...found].map(([iri, about]) => childOf(iri, about)).sort((a, b) => (a.iri < b.iri ? -1 : 1))
}

function childOf(iri: string, about: ReadonlyMap<string, readonly string[]>): Child {
  const first = (property: string): string | undefined => about.get(property)?.toSorted()[0]
  const types = about.get(RDF('type')) ?? []
  const isContainer = types.includes(DH('Container'))
  return {
    iri,
    types: isContainer || types.includes(DH('Item')) ? types : [...types, DH('Item')],
    owners: about.get(ACL('owner')) ?? [],
    title: first(DCT('title')) ?? first(RDFS('label')),
    isContainer,
    created: timeOf(first(DCT('created'))),
    modified: timeOf(first(DCT('modified'))),
  }
}

function timeOf(value: string | undefined): number | undefined {
  const time = value === undefined ? Number.NaN : Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

export const ORDERS = ['name', 'created', 'modified'] as const
export type Order = (typeof ORDERS)[number]

const latest = ({ created, modified }: Child): number => Math.max(created ?? 0, modified ?? 0)
const nameOf = ({ title, iri }: Child): string => title ?? iri

/** Names as people sort them, dates with the latest first. */
export function inOrder(children: readonly Child[], order: Order): readonly Child[] {
  const { compare } = new Intl.Collator('en', { numeric: true })
  const byOrder: Readonly<Record<Order, (a: Child, b: Child) => number>> = {
    name: (a, b) => compare(nameOf(a), nameOf(b)),
    created: (a, b) => (b.created ?? 0) - (a.created ?? 0),
    modified: (a, b) => latest(b) - latest(a),
  }
  return [...children].sort(byOrder[order])
}
