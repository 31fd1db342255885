// An update as steps that the gateway can carry out itself, one after the other, on the graphs that they touch (design
// 3, 4). Pure. The access check and the execution use the same steps.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { isFailure } from '../../problem.js'
import { DEFAULT_GRAPH } from './graph-sets.js'
import type { Parsed, ParsedValues } from './parse.js'
import { SOLUTION_LIMIT } from './patch.js'
import { plainStatements } from './ground-triples.js'
import { graphName, leavesOf, quadsOfStatement, templateOf, type QuadTemplate } from './quad-templates.js'
import { readsOfOperation, type Reads } from './reads.js'
import { likesIn, type Likes } from './likes.js'
import { lastGroup, sparqlOf, type Token } from './tokens.js'
import { datasetIn, findingsIn, isIriNode, operationsIn, type Node } from './tree.js'

/** The meaning of WHERE: the solutions that fill the templates. */
export interface StepPattern {
  /** BASE, if functions resolve against it, and the group of WHERE. */
  readonly base: string
  readonly group: string
  /** The variables of the templates. */
  readonly variables: readonly string[]
  /** True if duplicate solutions count: the templates create blank nodes. */
  readonly each: boolean
  /** True if BIND, VALUES, SELECT or GROUP BY may give a variable a term that no graph has. */
  readonly makesTerms: boolean
  /** True if functions such as STRUUID may give other solutions each time. */
  readonly isVolatile?: boolean
  /** The dataset of USING or WITH; undefined if the text has none. */
  readonly default: readonly string[] | undefined
  readonly named: readonly string[] | undefined
  /** The graph of WITH, if triples outside GRAPH are read from it. */
  readonly with: string | undefined
  readonly reads: Reads
  /**
   * The triples that it may read in graphs that it does not name; undefined if it names all, or if they are unknown.
   */
  readonly likes: Likes | undefined
}

/** The source of a LOAD. */
export interface Load {
  readonly url: string
  /** If it cannot be read, nothing is loaded (SPARQL 1.1 Update §3.1.4). */
  readonly silent: boolean
}

export type UpdateStep =
  | {
      readonly kind: 'change'
      /** Undefined for data. */
      readonly pattern: StepPattern | undefined
      readonly remove: readonly QuadTemplate[]
      readonly add: readonly QuadTemplate[]
    }
  | { readonly kind: 'clear' | 'create'; readonly graph: string }
  | ({ readonly kind: 'load'; readonly graph: string } & Load)
  /** All named graphs, and with 'all' the default graph. */
  | { readonly kind: 'clearAll'; readonly graphs: 'all' | 'named' }
  | {
      readonly kind: 'copy' | 'move' | 'add'
      readonly source: string
      readonly destination: string
      readonly silent: boolean
    }

/** The steps; undefined if only the store can carry the update out. `whole`: with all data, which can be long. */
export function stepsOf(parsed: Parsed, whole?: 'whole'): readonly UpdateStep[] | undefined {
  const { tree, tokens, values } = parsed
  const operations = operationsIn(tree)
  const texts = textsOf(tokens)
  if (texts.length !== operations.length) return undefined
  const steps: UpdateStep[] = []
  for (const [i, operation] of operations.entries()) {
    const step = stepOf(operation, texts[i]!, values, whole)
    if (!step) return undefined
    steps.push(step)
  }
  return steps
}

function stepOf(
  operation: Node,
  tokens: readonly Token[],
  values: ParsedValues,
  whole: 'whole' | undefined,
): UpdateStep | undefined {
  switch (operation['subType']) {
    case 'insertdata':
    case 'deletedata':
      return dataStep(operation, tokens, values, whole)
    case 'modify':
    case 'deletewhere':
      return patternStep(operation, tokens, values)
    case 'clear':
    case 'drop':
    case 'create': {
      const { subType } = operation['destination'] as Node
      if (subType === 'all' || subType === 'named') return { kind: 'clearAll', graphs: subType }
      const graph = graphOfReference(operation['destination'], values)
      const kind = operation['subType'] === 'create' ? 'create' : 'clear'
      return graph === undefined ? undefined : { kind, graph }
    }
    case 'load': {
      const { destination, source, silent } = operation
      const graph = destination ? graphOfReference(destination, values) : DEFAULT_GRAPH
      return graph === undefined
        ? undefined
        : { kind: 'load', graph, url: values.iriOf(source as Node), silent: silent === true }
    }
    case 'copy':
    case 'move':
    case 'add': {
      const [source, destination] = [operation['source'], operation['destination']].map((graph) =>
        graphOfReference(graph, values),
      )
      if (source === undefined || destination === undefined) return undefined
      return { kind: operation['subType'], source, destination, silent: operation['silent'] === true }
    }
    default:
      return undefined
  }
}

/** The tokens of each operation, without the semicolons between them. */
function textsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const texts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.text === '{') depth++
    if (token.text === '}') depth--
    if (token.text === ';' && depth === 0) texts.push([])
    else texts.at(-1)!.push(token)
  }
  return texts.filter((text) => text.length > 0)
}

function graphOfReference(reference: unknown, values: ParsedValues): string | undefined {
  const { subType, graph } = reference as Node
  if (subType === 'default') return DEFAULT_GRAPH
  return subType === 'specific' && isIriNode(graph) ? graphName(graph, values) : undefined
}

function dataStep(
  operation: Node,
  tokens: readonly Token[],
  values: ParsedValues,
  whole: 'whole' | undefined,
): UpdateStep | undefined {
  const parsed = templateOf(operation['data'], undefined, values)
  if (!parsed) return undefined
  const quads = whole ? [...parsed, ...plainStatements(tokens).flatMap(quadsOfStatement)] : parsed
  const isInsert = operation['subType'] === 'insertdata'
  return { kind: 'change', pattern: undefined, remove: isInsert ? [] : quads, add: isInsert ? quads : [] }
}

function patternStep(operation: Node, tokens: readonly Token[], values: ParsedValues): UpdateStep | undefined {
  const isModify = operation['subType'] === 'modify'
  const { graph, from } = operation
  const withGraph = graph ? graphName(graph as Node, values) : DEFAULT_GRAPH
  if (withGraph === undefined) return undefined
  const remove = templateOf(isModify ? operation['delete'] : operation['data'], withGraph, values)
  const add = isModify ? templateOf(operation['insert'], withGraph, values) : []
  if (!remove || !add) return undefined
  const using = from ? datasetIn(from, values.iriOf) : { default: [], named: [] }
  const where = isModify ? operation['where'] : operation['data']
  const findings = findingsIn({ pattern: where }, values.iriOf)
  if (isFailure(findings)) return undefined
  const hasUsing = using.default.length + using.named.length > 0
  const terms = [...remove, ...add].flatMap(({ graph, terms }) => [graph, ...leavesOf(terms)])
  const base = tokens[0]?.text === 'BASE' ? `BASE ${tokens[1]!.text}\n` : ''
  const whereTokens = lastGroup(tokens)
  const reads = readsOfOperation(operation, values.iriOf)
  const likes = reads.any || reads.default ? likesIn(where, values) : undefined
  const pattern: StepPattern = {
    base,
    group: sparqlOf(whereTokens),
    variables: [...new Set(terms.filter((term) => term.startsWith('?')))],
    each: terms.some((term) => term.startsWith('_:')),
    makesTerms: whereTokens.some(({ text }) => text === 'AS' || text === 'VALUES'),
    isVolatile: findings.volatile,
    // SPARQL 1.1 Update §3.1.3: USING replaces WITH, which names the default graph only.
    default: hasUsing ? using.default : graph ? [withGraph] : undefined,
    named: hasUsing ? using.named : undefined,
    with: graph && !hasUsing && findings.readsDefault ? withGraph : undefined,
    reads,
    likes: likes && likesOver(likes, reads, using.default),
  }
  return { kind: 'change', pattern, remove, add }
}

/** The union of all graphs has the triples of any graph, whatever the default graph of the store is. */
const likesOver = (likes: Likes, reads: Reads, defaultGraphs: readonly string[]): Likes => ({
  any: [...(reads.any ? likes.any : []), ...(defaultGraphs.includes(MERGED_GRAPHS) ? likes.default : [])],
  default: reads.default ? likes.default : [],
})

/** The SELECT whose solutions fill the templates, at most SOLUTION_LIMIT + 1 of them. */
export function queryOf({ base, group, variables, each }: StepPattern): string {
  const projection = variables.length === 0 ? '*' : `${each ? '' : 'DISTINCT '}${variables.join(' ')}`
  const limit = variables.length === 0 && !each ? 1 : SOLUTION_LIMIT + 1
  return `${base}SELECT ${projection} WHERE ${group} LIMIT ${limit}`
}
