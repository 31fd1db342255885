// Searches the tree of a query or an update for its graphs, its functions, and the servers that it reaches. Pure.
import type { Failure } from '../../problem.js'
import { XSD } from '../../rdf/vocabulary.js'

/** An object of the parser's tree, RDF terms among them. */
export type Node = Readonly<Record<string, unknown>>

export interface Findings {
  /** Graphs that GRAPH names. */
  readonly graphs: ReadonlySet<string>
  readonly readsDefault: boolean
  readonly readsAnyGraph: boolean
  /** It has a predicate that some stores treat as a function, which may read anything. */
  readonly isMagic: boolean
  /** It calls a function whose value may depend on more than its arguments. */
  readonly volatile: boolean
  readonly services: ReadonlySet<string>
  readonly isServiceVariable: boolean
  /**
   * The functions that it calls in addition to those of SPARQL 1.1 §17, including predicates that stores treat as
   * functions.
   */
  readonly functions: ReadonlySet<string>
}

/** Chains of operators make deep trees without brackets; stores run out of stack on deeper ones. */
export const DEEPEST = 1000
/** With each level of these, the time of a store doubles (design 7), before its own time limits apply. */
export const DEEPEST_QUERIES = 8

// SPARQL 1.1 §17.4: these return another value each time. In lower case, as the parser writes them.
export const VOLATILE = new Set(['now', 'rand', 'uuid', 'struuid', 'bnode'])
// Property functions: Jena's own and its text and spatial indexes, GraphDB, Stardog, Virtuoso, Blazegraph.
export const MAGIC =
  /^(?:http:\/\/jena\.(?:apache\.org|hpl\.hp\.com)\/|http:\/\/www\.ontotext\.com\/|tag:stardog:|bif:|sql:|http:\/\/www\.bigdata\.com\/|java:)/i

export const DATATYPES = XSD('')
/**
 * The parts of an operation that are templates or data (SPARQL 1.1 §16.2, Update §3.1): nothing is evaluated in them.
 */
const TEMPLATES = new Set(['template', 'insert', 'delete', 'data'])
/** SPARQL 1.1 Update §3.1.3.3: the template of DELETE WHERE is its pattern too. */
export const isTemplate = ({ subType }: Node, part: string): boolean => subType !== 'deletewhere' && TEMPLATES.has(part)
/** Parts without patterns and expressions. */
export const PLAIN: ReadonlySet<string> = new Set(['loc', 'context', 'datasets', 'from', 'values'])

interface Waiting {
  readonly node: unknown
  readonly inGraph: boolean
  readonly inTemplate: boolean
  readonly depth: number
  /** The number of (NOT) EXISTS, MINUS and sub-queries around it. */
  readonly queries: number
}

/** The kind of a pattern or an expression; the type of any other node. */
const kindOf = ({ type, subType }: Node): unknown => (type === 'pattern' || type === 'expression' ? subType : type)

/** The name of a GRAPH, in a pattern or in a template. */
export const nameOf = ({ name, graph }: Node): unknown => name ?? graph

/** Fails if a store could run out of stack or time. No recursion: the client determines the depth. */
export function findingsIn(tree: Node, iriOf: (term: Node) => string): Findings | Failure<'too-deep'> {
  const { found, enter, predicate } = makeFindings(iriOf)
  const start = { inGraph: false, inTemplate: false, depth: 0, queries: tree['type'] === 'query' ? -1 : 0 }
  const waiting: Waiting[] = [{ node: tree, ...start }]
  while (waiting.length > 0) {
    const { node, inGraph, inTemplate, depth, queries } = waiting.pop()!
    if (typeof node !== 'object' || node === null || isTerm(node)) continue
    if (depth > DEEPEST) return { failure: 'too-deep', detail: 'it chains too many operators' }
    if (Array.isArray(node)) {
      for (const child of node) waiting.push({ node: child, inGraph, inTemplate, depth, queries })
      continue
    }
    const inner = enter(node as Node) || inGraph
    const within = queries + Number(isQuery(node as Node))
    if (within > DEEPEST_QUERIES) return { failure: 'too-deep', detail: TOO_MANY_QUERIES }
    if (!inTemplate && !inner && isFilled(node as Node)) found.readsDefault = true
    if ('predicate' in node && !inTemplate) predicate(node.predicate)
    for (const [name, child] of Object.entries(node)) {
      if (PLAIN.has(name)) continue
      const template = inTemplate || isTemplate(node as Node, name)
      waiting.push({ node: child, inGraph: inner, inTemplate: template, depth: depth + 1, queries: within })
    }
  }
  return found
}

const TOO_MANY_QUERIES = `it nests (NOT) EXISTS, MINUS and sub-queries more than ${DEEPEST_QUERIES} levels deep`

const isQuery = ({ type, subType }: Node): boolean =>
  type === 'query' ||
  (type === 'expression' ? subType === 'patternOperation' : type === 'pattern' && subType === 'minus')

/** A basic graph pattern with a triple. */
const isFilled = ({ type, subType, triples }: Node): boolean =>
  type === 'pattern' && subType === 'bgp' && (triples as unknown[]).length > 0

/** Collects findings. `enter` takes a node of the tree and returns whether it is a GRAPH; `predicate` a predicate. */
function makeFindings(iriOf: (term: Node) => string) {
  const [graphs, services, functions] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const flags = { readsDefault: false, readsAnyGraph: false, isMagic: false, volatile: false, isServiceVariable: false }
  const found = { graphs, services, functions, ...flags }

  const predicate = (term: unknown): void => {
    if (!isIriNode(term)) return
    const iri = iriOf(term)
    if (!MAGIC.test(iri)) return
    found.isMagic = true
    functions.add(iri)
  }
  const call = (name: unknown): void => {
    const iri = isIriNode(name) ? iriOf(name) : undefined
    // SPARQL 1.1 §17.5: casts.
    if (iri?.startsWith(DATATYPES)) return
    if (iri !== undefined) functions.add(iri)
    found.volatile = true
  }
  const enter = (node: Node): boolean => {
    switch (kindOf(node)) {
      case 'graph': {
        const name = nameOf(node)
        if (isIriNode(name)) graphs.add(iriOf(name))
        else found.readsAnyGraph = true
        return true
      }
      case 'service':
        if (isIriNode(node['name'])) services.add(iriOf(node['name']))
        else found.isServiceVariable = true
        return false
      case 'path':
        for (const item of node['items'] as unknown[]) predicate(item)
        return false
      case 'functionCall':
        call(node['function'])
        return false
      case 'operation':
        if (VOLATILE.has(String(node['operator']).toLowerCase())) found.volatile = true
        return false
      default:
        return false
    }
  }
  return { found, enter, predicate }
}

export const isTerm = (node: unknown): node is Node =>
  typeof node === 'object' && node !== null && 'type' in node && node.type === 'term'

export const isIriNode = (term: unknown): term is Node => isTerm(term) && term['subType'] === 'namedNode'

export const isVariable = (term: unknown): term is Node => isTerm(term) && term['subType'] === 'variable'

/** The operations of an update. */
export const operationsIn = (tree: Node): readonly Node[] =>
  (tree['updates'] as readonly Node[]).flatMap(({ operation }) => (operation ? [operation as Node] : []))

/** The graphs of FROM or USING. */
export function datasetIn(clauses: unknown, iriOf: (term: Node) => string): { default: string[]; named: string[] } {
  const all = (clauses as { clauses: { clauseType: 'default' | 'named'; value: Node }[] }).clauses
  const of = (wanted: string) => all.filter(({ clauseType }) => clauseType === wanted).map(({ value }) => iriOf(value))
  return { default: of('default'), named: of('named') }
}

/** Every object of the tree except RDF terms, without recursion: the client determines the depth. */
export function* nodesOf(root: unknown): Generator<Node> {
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== 'object' || node === null || isTerm(node)) continue
    if (!Array.isArray(node)) yield node as Node
    for (const child of Object.values(node)) waiting.push(child)
  }
}
