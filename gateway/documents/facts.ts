// The facts of a document: what access and preconditions rest on, whatever the document's size. The store is asked
// for these before a right is decided, and for the document after it (design 4).
import { makeStoredGraphs, type StoredGraphs, type CacheSettings } from '../../cache/stored-graphs.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Decision } from '../../policies/decide.js'
import type { ReadyHead } from '../http/exchange.js'
import { isFailure, type Problem } from '../problem.js'
import { graphOf, irisOf, type Graph } from '../rdf/graph.js'
import { readLegible } from '../rdf/read.js'
import { ACL, DEF, DH } from '../rdf/vocabulary.js'
import type { Call, GraphStore } from '../stores/store.js'
import { isRoot, typesOf } from './hierarchy.js'
import { lastModifiedOf } from './next-state.js'

/** The facts that rights on a document rest on, beside the rules. */
export interface DocumentState {
  readonly iri: string
  readonly types: readonly string[]
  readonly owners: readonly string[]
}

/** The facts of a document of any size: access rests on them. */
export interface DocumentFacts extends DocumentState {
  /** Milliseconds since the epoch. */
  readonly lastModified: number | undefined
  /** Decisions on this very state, by mode and agent. */
  readonly decisions: Decisions
}

export type Decisions = Readonly<Record<Mode, Map<string, RememberedDecision>>>

export interface RememberedDecision {
  /** The version of the rules: the decision is valid while they have no later one. */
  readonly version: number
  readonly decision: Decision
  /** The heads of the responses that rest on the decision, by the code of the format. */
  readonly heads: Readonly<Record<200 | 304, Map<string, ReadyHead>>>
}

export const noDecisions = (): Decisions => ({
  Read: new Map(),
  Write: new Map(),
  Append: new Map(),
  Control: new Map(),
})

/** `graph`: the document, or its excerpt (stores/document-facts-query.ts). */
export const documentFactsOf = (iri: string, base: string, graph: Graph): DocumentFacts => ({
  iri,
  types: typesOf(graph, iri, base),
  owners: irisOf(graph, iri, ACL('owner')),
  lastModified: lastModifiedOf(graph, iri),
  decisions: noDecisions(),
})

/**
 * The least that any document at this IRI has: a right to each of these is a right to the document, whatever its types
 * and owners are, since more of them only give more.
 */
export const leastFacts = (iri: string, base: string): DocumentFacts[] =>
  (isRoot(iri, base) ? [DEF('Root')] : [DH('Item'), DH('Container')]).map((type) => ({
    ...{ iri, types: [type], owners: [], lastModified: undefined, decisions: noDecisions() },
  }))

/** Asks the store for the facts alone; undefined where the document does not exist. */
export async function askFacts(
  store: GraphStore,
  iri: string,
  base: string,
  call?: Call,
): Promise<DocumentFacts | undefined | Problem> {
  const asked = await store.excerpt(iri, 'facts', call)
  // A SPARQL update can leave more than can be read for each decision. Fewer types and owners give fewer rights, and
  // those of the hierarchy let the owner of the dataspace write or delete the document.
  const text = isFailure(asked) && asked.failure === 'store.too-large' ? await store.excerpt(iri, 'fewFacts') : asked
  if (text === undefined || isFailure(text)) return text
  // One that cannot be read gives none.
  return documentFactsOf(iri, base, graphOf(readLegible(text)))
}

/** Facts from the cache, or from the store: of documents that are not cached themselves. */
export const makeFacts = (
  store: GraphStore,
  base: string,
  settings: CacheSettings,
): StoredGraphs<DocumentFacts, Problem> =>
  makeStoredGraphs<DocumentFacts, Problem>({
    ...settings,
    isFailure,
    sizeOf: ({ types, owners }) => [...types, ...owners].reduce((sum, { length }) => sum + 2 * length, 1024),
    ask: (iri, _, { isForWrite = false }) => askFacts(store, iri, base, { isForWrite }),
  })
