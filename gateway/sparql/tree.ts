// In charge of searching the tree of a query or an update for its graphs, its functions, and the places outside that it
// reaches. Pure.
import type { Failure } from '../problem.js'
import { XSD } from '../rdf/vocabulary.js'

/** An object of the parser's tree, RDF terms among them. */
export type Node = Readonly<Record<string, unknown>>

export interface Findings {
  /** Graphs that GRAPH names. */
  readonly graphs: ReadonlySet<string>
  readonly readsDefault: boolean
  readonly readsAnyGraph: boolean
  /** It has a predicate that some stores take for a function, which may read anything. */
  readonly isMagic: boolean
  /** It has a function whose value may depend on more than its arguments. */
  readonly volatile: boolean
  readonly services: ReadonlySet<string>
  readonly isServiceVariable: boolean
}

/** Chains of operators make deep trees without brackets; stores run out of stack on deeper ones. */
const DEEPEST = 1000

// SPARQL 1.1 §17.4: these give another value each time. In lower case, as the parser writes them.
const VOLATILE = new Set(['now', 'rand', 'uuid', 'struuid', 'bnode'])
// Property functions: Jena's own and its text and spatial indexes, GraphDB, Stardog, Virtuoso, Blazegraph.
const MAGIC =
  /^(?:http:\/\/jena\.(?:apache\.org|hpl\.hp\.com)\/|http:\/\/www\.ontotext\.com\/|tag:|bif:|sql:|http:\/\/www\.bigdata\.com\/|java:)/i
/** Jena loads the class that such a name gives, for a function or a property function. */
const JAVA = /^java:/i

const DATATYPES = XSD('')

/** A failure where a store could run out of stack. Without recursion: the client determines the depth. */
export function findingsIn(tree: Node, iriOf: (term: Node) => string): Findings | Failure<'too-deep'> {
  const graphs = new Set<string>()
  const services = new Set<string>()
  const found = { readsDefault: false, readsAnyGraph: false, isMagic: false, volatile: false, isServiceVariable: false }
  const waiting: { node: unknown; inGraph: boolean; depth: number }[] = [{ node: tree, inGraph: false, depth: 0 }]

  const predicate = (term: unknown): void => {
    if (!isIri(term)) return
    const iri = iriOf(term)
    if (MAGIC.test(iri)) found.isMagic = true
    if (JAVA.test(iri)) services.add(iri)
  }
  const enter = (node: Node): boolean => {
    switch (node['type']) {
      case 'graph':
        if (isIri(node['name'])) graphs.add(iriOf(node['name']))
        else if (node['name'] !== undefined) found.readsAnyGraph = true
        return true
      case 'service':
        if (isIri(node['name'])) services.add(iriOf(node['name']))
        else found.isServiceVariable = true
        return false
      case 'path':
        for (const item of node['items'] as unknown[]) predicate(item)
        return false
      case 'functionCall':
        if (isIri(node['function'])) {
          const iri = iriOf(node['function'])
          if (!iri.startsWith(DATATYPES)) found.volatile = true
          if (JAVA.test(iri)) services.add(iri)
        } else found.volatile = true
        return false
      case 'operation':
        if (VOLATILE.has(String(node['operator']).toLowerCase())) found.volatile = true
        return false
      default:
        return false
    }
  }
  while (waiting.length > 0) {
    const { node, inGraph, depth } = waiting.pop()!
    if (typeof node !== 'object' || node === null || 'termType' in node) continue
    if (depth > DEEPEST) return { failure: 'too-deep', detail: 'it chains too many operators' }
    if (Array.isArray(node)) {
      for (const child of node) waiting.push({ node: child, inGraph, depth })
      continue
    }
    const inner = enter(node as Node) || inGraph
    if ('triples' in node && !inner && (node.triples as unknown[]).length > 0) found.readsDefault = true
    if ('predicate' in node) predicate(node.predicate)
    for (const child of Object.values(node)) waiting.push({ node: child, inGraph: inner, depth: depth + 1 })
  }
  return { ...found, graphs, services }
}

const isIri = (term: unknown): term is Node =>
  typeof term === 'object' && term !== null && (term as Node)['termType'] === 'NamedNode'
