// The facts of a document: everything that access and preconditions depend on. The store is asked for them before a
// decision, and for the document only afterwards (design 4).
import { makeStoredGraphs, type StoredGraphs, type CacheSettings } from '../../cache/stored-graphs.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Decision } from '../../policies/decide.js'
import type { ReadyHead } from '../http/exchange.js'
import { headSize } from '../http/ready-head.js'
import { isFailure, type Problem } from '../problem.js'
import { graphOf, irisOf, type Graph } from '../rdf/graph.js'
import { readLegible } from '../rdf/read.js'
import { ACL, DEF, DH } from '../rdf/vocabulary.js'
import type { Call, GraphStore } from '../stores/store.js'
import { isRoot, typesOf } from './hierarchy.js'
import { lastModifiedOf } from './next-state.js'

/** Together with the rules, all that rights on a document depend on. */
export interface DocumentState {
  readonly iri: string
  readonly types: readonly string[]
  readonly owners: readonly string[]
}

/** The facts of a document of any size. Access depends on them. */
export interface DocumentFacts extends DocumentState {
  /** Milliseconds since the epoch. */
  readonly lastModified: number | undefined
  /** Decisions on exactly this state, by mode and agent. */
  readonly decisions: Decisions
}

export type Decisions = Readonly<Record<Mode, Map<string, RememberedDecision>>>

export interface RememberedDecision {
  /** The version of the rules. A newer version makes the decision invalid. */
  readonly version: number
  readonly decision: Decision
  /** The heads of responses that depend on the decision, by the code of the format. */
  readonly heads: Readonly<Record<200 | 304, Map<string, ReadyHead>>>
}

export const DECISION_BYTES = 1024

/** The bytes of a decision and its heads, as the cache counts them with the document. */
export function sizeOfDecision({ heads }: RememberedDecision): number {
  let bytes = DECISION_BYTES
  for (const head of heads[200].values()) bytes += headSize(head)
  for (const head of heads[304].values()) bytes += headSize(head)
  return bytes
}

export const noDecisions = (): Decisions => ({
  Read: new Map(),
  Write: new Map(),
  Append: new Map(),
  Control: new Map(),
})

/** @param graph the document, or its excerpt (stores/document-facts-query.ts) */
export const documentFactsOf = (iri: string, base: string, graph: Graph): DocumentFacts => ({
  iri,
  types: typesOf(graph, iri, base),
  owners: irisOf(graph, iri, ACL('owner')),
  // Design 6: other graphs have no date that the gateway manages (RFC 9110 §13.1.3, §13.1.4).
  lastModified: iri.startsWith(base) && iri.endsWith('/') ? lastModifiedOf(graph, iri) : undefined,
  decisions: noDecisions(),
})

/**
 * The fewest facts that a document at this IRI can have. An agent with a right to each of these has the right to the
 * document, since more types and owners can only add rights.
 */
export const leastFacts = (iri: string, base: string): DocumentFacts[] =>
  (isRoot(iri, base) ? [DEF('Root')] : [DH('Item'), DH('Container')]).map((type) => ({
    ...{ iri, types: [type], owners: [], lastModified: undefined, decisions: noDecisions() },
  }))

/** Asks the store only for the facts; undefined if the document does not exist. */
export async function askFacts(
  store: GraphStore,
  iri: string,
  base: string,
  call?: Call,
): Promise<DocumentFacts | undefined | Problem> {
  const asked = await store.excerpt(iri, 'facts', call)
  // A SPARQL update can leave more facts than can be read for each decision. Fewer types and owners give fewer rights,
  // and the hierarchy's types are enough for the owner of the dataspace to write or delete the document.
  const text = isFailure(asked) && asked.failure === 'store.too-large' ? await store.excerpt(iri, 'fewFacts') : asked
  if (text === undefined || isFailure(text)) return text
  // An unreadable statement gives no rights.
  return documentFactsOf(iri, base, graphOf(readLegible(text)))
}

/** Reads facts from the cache or the store, for documents that are not cached. */
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
