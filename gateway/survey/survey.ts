// Classifies the graphs of a store by their names: documents, almost documents, or something else.
import { documentMeant, isMeantFor } from '../documents/misspelt-urls.js'
import { ancestorsOf } from '../documents/hierarchy.js'
import { namesOfStore, type Names } from '../documents/iri-spelling.js'
import { hasDefaultGraph } from '../mirror/other-graphs.js'
import { isFailure, type Problem } from '../problem.js'
import { DH } from '../rdf/vocabulary.js'
import { eachGraph } from '../stores/graph-names.js'
import { select, selectEach } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'

export type GraphKind = 'documents' | 'without-slash' | 'other-scheme' | 'other-spelling' | 'other-names' | 'elsewhere'

/** The part of an application that concerns names. */
export interface Surveyed {
  readonly base: string
  isDocument(graph: string): boolean
  /** Names of endpoints, which no graph may get. */
  readonly endpoints?: { has(iri: string): boolean }
}

/** `examples`: the first few. */
export interface Counted {
  readonly count: number
  readonly examples: readonly string[]
}

export interface Survey {
  /** Triples of the named graphs. */
  readonly triples: number
  readonly kinds: ReadonlyMap<GraphKind, Counted>
  /** Containers above documents that have no graph. The root is not counted, since the gateway creates it. */
  readonly missingContainers: Counted
  /** Documents whose type is neither container nor item. */
  readonly untyped: Counted
  /** Triples of the default graph; 0 if that is only the union of the others. */
  readonly defaultTriples: number
}

/** The meaning of each kind for an operator, in singular and plural, in the order of the report. */
export const KIND_TEXTS: Readonly<Record<GraphKind, readonly [one: string, several: string]>> = {
  documents: [
    'graph is a document: its name is a URL under the base that ends with a slash',
    'graphs are documents: their names are URLs under the base that end with a slash',
  ],
  'without-slash': [
    'graph would be a document with a slash at the end of its name',
    'graphs would be documents with a slash at the end of their names',
  ],
  'other-scheme': [
    'graph would be a document if its name and the base had the same scheme (http, https)',
    'graphs would be documents if their names and the base had the same scheme (http, https)',
  ],
  'other-spelling': [
    'graph would be a document if its name were percent-encoded and normalised',
    'graphs would be documents if their names were percent-encoded and normalised',
  ],
  'other-names': [
    'graph is under the base, but its name is not the URL of a document',
    'graphs are under the base, but their names are not URLs of documents',
  ],
  elsewhere: [
    'graph has a name outside the base: it is available by SPARQL, with its own rights',
    'graphs have names outside the base: they are available by SPARQL, with their own rights',
  ],
}

export function graphKindOf(graph: string, { base, isDocument, endpoints }: Surveyed): GraphKind {
  if (isDocument(graph)) return 'documents'
  const mayBecome = (name: string): boolean => isDocument(name) && !endpoints?.has(name)
  if (mayBecome(`${graph}/`)) return 'without-slash'
  const isMeant = documentMeant(graph, base, mayBecome) !== undefined
  if (isMeant) return graph.startsWith(base) ? 'other-spelling' : 'other-scheme'
  return isMeantFor(graph, base) ? 'other-names' : 'elsewhere'
}

const EXAMPLES = 3
const TYPED = `SELECT DISTINCT ?g WHERE { VALUES ?type { <${DH('Container')}> <${DH('Item')}> } GRAPH ?g { ?g a ?type } }`
const TRIPLES = 'SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }'
const DEFAULT_TRIPLES = 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }'

/** Reads the names of all graphs and keeps them until the end, since containers may come after their documents. */
export async function surveyOf(
  store: Pick<GraphStore, 'query'>,
  { base, names, endpoints }: Pick<Surveyed, 'base' | 'endpoints'> & { readonly names: Names },
  signal?: AbortSignal,
): Promise<Survey | Problem> {
  const call = signal ? { signal } : {}
  const learned = await names.learn(namesOfStore(store, base, call))
  if (isFailure(learned)) return learned
  const kinds = new Map(
    Object.keys(KIND_TEXTS).map((kind) => [kind as GraphKind, { count: 0, examples: [] as string[] }]),
  )
  const documents = new Set<string>()
  const untyped = new Set<string>()
  const failed =
    (await eachGraph(store, call, (graph) => {
      const kind = graphKindOf(graph, { base, isDocument: names.isDocument, ...(endpoints && { endpoints }) })
      const known = kinds.get(kind)!
      if (known.count++ < EXAMPLES) known.examples.push(graph)
      if (kind === 'documents') documents.add(graph)
      if (kind === 'documents' && graph !== base) untyped.add(graph)
    })) ?? (await selectEach(store, TYPED, ['g'], call, ([graph]) => graph && untyped.delete(graph.value)))
  if (failed) return failed
  const defaultTriples = await defaultTriplesOf(store, call)
  if (isFailure(defaultTriples)) return defaultTriples
  const triples = await countOf(store, TRIPLES, call)
  if (isFailure(triples)) return triples
  const above = new Set([...documents].flatMap((document) => ancestorsOf(document, base)))
  const missing = [...above].filter((container) => container !== base && !documents.has(container))
  return { triples, kinds, missingContainers: countedOf(missing), untyped: countedOf([...untyped]), defaultTriples }
}

const countedOf = (names: readonly string[]): Counted => ({
  count: names.length,
  examples: [...names].sort().slice(0, EXAMPLES),
})

async function defaultTriplesOf(store: Pick<GraphStore, 'query'>, call: Asking): Promise<number | Problem> {
  const isThere = await hasDefaultGraph(store, call)
  if (typeof isThere !== 'boolean') return isThere
  return isThere ? countOf(store, DEFAULT_TRIPLES, call) : 0
}

interface Asking {
  readonly signal?: AbortSignal
}

async function countOf(store: Pick<GraphStore, 'query'>, query: string, call: Asking): Promise<number | Problem> {
  const rows = await select(store, query, ['n'], call)
  return isFailure(rows) ? rows : Number(rows[0]?.[0]?.value ?? 0)
}
