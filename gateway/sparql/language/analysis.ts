// Analyses a SPARQL query or update before a store gets it: what it reads and writes, and which other servers it would
// reach. Pure. Send the analysed `text` to the store, not the client's text.
import { type Problem, isFailure, problem } from '../../problem.js'
import { type GraphSet, graphSetOf, writesOf } from './graph-sets.js'
import { sparingOwnGraphs } from './own-graphs.js'
import { orderingWork } from './ordering-work.js'
import { flawOfInserted } from './inserted-terms.js'
import { parseSparql, unreadable } from './parse.js'
import { makeTreeReader } from './read-tree.js'
import { type Reads, readsOfUpdate, readsOver } from './reads.js'
import { type RemovedGraphs, removedGraphs } from './removed-graphs.js'
import type { Query, Term } from './syntax.js'
import { type Token, closingAfter, sparqlOf } from './tokens.js'
import { type Findings, datasetIn, operationsIn } from './tree.js'
import { type StoreOnly, type UpdatePlan, updatePlanOf } from './update-plan.js'

/** The data to copy for a query that runs over a copy (rights/copy.ts). */
export interface CopyPlan {
  /** The CONSTRUCT of everything that the query can match. One triple more than MOST_COPIED is too much. */
  readonly collect: string
  /** IRIs from which a path of no steps may lead, even if the graph does not contain them. */
  readonly stays: readonly string[]
  /** True if only triples with some of the properties are copied: the query sees no others. */
  readonly isPart: boolean
}

/** An RDF dataset of SPARQL 1.1 Protocol §2.1.4 and §2.2.3: from the parameters of a request, or from FROM. */
export interface DatasetDescription {
  readonly default: readonly string[]
  readonly named: readonly string[]
}

export interface QueryAnalysis {
  readonly form: 'SELECT' | 'ASK' | 'CONSTRUCT' | 'DESCRIBE'
  /** The text for the store: the same for queries that differ only in white space, comments, prefixes and the like. */
  readonly text: string
  /** Identifies the query: its text. */
  readonly key: string
  readonly readSet: GraphSet
  readonly reads: Reads
  /** The answer may change even if nothing that it reads has changed. */
  readonly volatile: boolean
  /** The targets of SERVICE. */
  readonly services: readonly string[] | 'variable'
  /** The functions that it calls in addition to those of SPARQL itself, including property functions. */
  readonly functions: readonly string[]
  /** See `orderingWork`. */
  readonly ordering: number
  readonly from: DatasetDescription
  /** The query as a tree, if it can be restricted to some graphs. */
  readonly tree?: Query | undefined
  /** The text is long: its tree stayed in the thread that parsed it, and is parsed there again. */
  readonly isLong?: true
  /** Each solution creates new blank nodes. */
  readonly makesBlankNodes: boolean
  /** The agent may not read every graph: the answer must not reveal anything about the others. */
  readonly isRestricted?: true
  /** Set if the text is for a copy of the graphs that the agent may read, not for the store. */
  readonly copy?: CopyPlan
}

export interface UpdateAnalysis {
  readonly text: string
  readonly writeSet: GraphSet
  /** See `writesOf`. */
  readonly reserved?: string | undefined
  readonly reads: Reads
  readonly removes: RemovedGraphs
  /** See `writesOf`. */
  readonly besideCleared: readonly string[] | undefined
  readonly services: readonly string[] | 'variable'
  readonly functions: readonly string[]
  readonly ordering: number
  readonly loads: readonly string[]
  /** Undefined if only the store can carry the update out. */
  readonly plan: UpdatePlan | undefined
  /** Why only the store can, if the operations themselves are the reason and not the graphs that they use. */
  readonly storeOnly?: StoreOnly | undefined
}

/**
 * Analyses a query; `query.syntax` if it is not SPARQL 1.2 Query. Slow on long texts: `Reading.analyseSparql` does the
 * same in a thread, with a time limit.
 * @param base the base for relative IRIs
 * @param dataset replaces FROM (SPARQL 1.1 Protocol §2.1.4)
 */
export function analyseQuery(source: string, base: string, dataset?: DatasetDescription): QueryAnalysis | Problem {
  const change = dataset && ((tokens: readonly Token[]) => withFrom(tokens, dataset))
  const parsed = parseSparql(source, { kind: 'query', base, change })
  if (isFailure(parsed)) return parsed
  const { tree, findings, text, values } = parsed
  const form = String(tree['subType']).toUpperCase() as QueryAnalysis['form']
  const from = datasetIn(tree['datasets'], values.iriOf)
  const isStated = from.default.length + from.named.length > 0
  const services = servicesOf(findings)
  // SPARQL 1.1 §16.4: a description may come from anywhere in the dataset.
  const described = form === 'DESCRIBE' && { readsDefault: true, readsAnyGraph: true }
  const reads = readsOver({ ...findings, ...described }, isStated ? from : undefined)
  const query = makeTreeReader(values).query(tree)
  return {
    form,
    text,
    key: text,
    readSet: form === 'DESCRIBE' ? 'dataset' : readSetOf(reads),
    reads,
    volatile: findings.volatile || services.length > 0,
    services,
    functions: [...findings.functions],
    ordering: orderingWork(tree),
    from,
    tree: query,
    makesBlankNodes: query?.body.form === 'CONSTRUCT' && hasBlank(query.body.template),
  }
}

const hasBlank = (part: unknown): boolean =>
  typeof part === 'object' && part !== null && ((part as Term).kind === 'blank' || Object.values(part).some(hasBlank))

/**
 * Analyses an update; `update.syntax` if it is not SPARQL 1.2 Update.
 * @param using the dataset of each operation (SPARQL 1.1 Protocol §2.2.3); the operations must have no USING or WITH
 * @param mayLoad sources that `LOAD SILENT` may load; it is left out for any other; undefined allows all
 */
export function analyseUpdate(
  source: string,
  base: string,
  using?: DatasetDescription,
  mayLoad?: readonly string[],
): UpdateAnalysis | Problem {
  const change = (tokens: readonly Token[]): readonly Token[] | Problem => {
    const loading = mayLoad ? withoutLoads(tokens, mayLoad) : tokens
    return using ? withUsing(loading, using) : loading
  }
  const parsed = parseSparql(source, { kind: 'update', base, change })
  if (isFailure(parsed)) return parsed
  const { tree, findings, values } = parsed
  const { iriOf } = values
  const operations = operationsIn(tree)
  // SPARQL 1.1 §19.8 [29]: an update may have no operations. Some stores require one.
  const text =
    operations.length === 0 ? 'INSERT DATA {}' : sparqlOf(sparingOwnGraphs(parsed.tokens).flatMap(silentWhereAbsent))
  const flaw = flawOfInserted(operations, values)
  if (flaw !== undefined) return unreadable('update', flaw)
  const reads = readsOfUpdate(operations, iriOf)
  const removes = removedGraphs(operations, iriOf)
  const functions = [...findings.functions]
  const services = servicesOf(findings)
  const isPlain = services.length === 0 && functions.length === 0 && !reads.magic
  const found = isPlain ? updatePlanOf(parsed) : undefined
  const [plan, storeOnly] = typeof found === 'string' ? [undefined, found] : [found, undefined]
  const ordering = orderingWork(tree)
  return { text, reads, removes, services, functions, ordering, plan, storeOnly, ...writesOf(operations, iriOf) }
}

/**
 * SPARQL 1.1 Update §3.1.4: if a store records no empty graphs, clearing a graph that does not exist succeeds. Jena
 * records none, but fails.
 */
const silentWhereAbsent = (token: Token, at: number, tokens: readonly Token[]): readonly Token[] =>
  (token.text === 'CLEAR' || token.text === 'DROP') && tokens[at + 1]?.text === 'GRAPH'
    ? [token, { ...token, text: 'SILENT' }]
    : [token]

const servicesOf = ({ services, isServiceVariable }: Findings): QueryAnalysis['services'] =>
  isServiceVariable ? 'variable' : [...services]

/** Fails closed: the read set is the whole dataset if some stores would read other graphs than the standard says. */
const readSetOf = ({ graphs, default: isDefault, any, magic }: Reads): GraphSet =>
  isDefault || any || magic ? 'dataset' : graphSetOf(new Set(graphs))

const isFrom = ({ text }: Token): boolean => text === 'FROM'
const clauses = (keyword: string, { default: graphs, named }: DatasetDescription): Token[] =>
  [...graphs.map((graph) => [keyword, `<${graph}>`]), ...named.map((graph) => [keyword, 'NAMED', `<${graph}>`])]
    .flat()
    .map((text) => ({ text, at: 0 }))

const AFTER_DATASET = new Set(['FROM', 'WHERE', '{', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'OFFSET', 'VALUES'])

/** SPARQL 1.1 Protocol §2.1.4: the dataset of the request replaces that of the query. */
function withFrom(tokens: readonly Token[], dataset: DatasetDescription): readonly Token[] {
  const first = tokens[0]?.text === 'BASE' ? 2 : 0
  const isTemplate = tokens[first]?.text === 'CONSTRUCT' && tokens[first + 1]?.text === '{'
  const start = isTemplate ? closingAfter(tokens, first + 1) : 0
  let depth = 0
  let at = start
  for (; at < tokens.length; at++) {
    const { text } = tokens[at]!
    if (depth === 0 && AFTER_DATASET.has(text)) break
    if (text === '(') depth++
    else if (text === ')') depth--
  }
  let rest = at
  // SPARQL 1.1 §19.8 [13]: FROM, or FROM NAMED, and an IRI.
  while (tokens[rest] && isFrom(tokens[rest]!)) rest += tokens[rest + 1]?.text === 'NAMED' ? 3 : 2
  return [...tokens.slice(0, at), ...clauses('FROM', dataset), ...tokens.slice(rest)]
}

/**
 * SPARQL 1.1 Protocol §2.2.3: the dataset of the request applies to every pattern. Together with USING or WITH it is an
 * error.
 */
function withUsing(tokens: readonly Token[], using: DatasetDescription): readonly Token[] | Problem {
  const changed: Token[] = []
  const graphs = using.default.length + using.named.length
  let named = 0
  for (let i = 0; i < tokens.length;) {
    const { text, at } = tokens[i]!
    if (text === 'USING' || text === 'WITH') {
      return problem('request.malformed', `Remove ${text} from the update, or using-graph-uri from the request.`)
    }
    if (text === '{') {
      const end = closingAfter(tokens, i)
      for (const token of tokens.slice(i, end)) changed.push(token)
      i = end
      continue
    }
    if (text === 'WHERE') {
      if (named > MOST_USING) return TOO_MANY_USING
      named += graphs
      // SPARQL 1.1 Update §3.1.3.3: DELETE WHERE is short for the pattern as template and as pattern.
      const isShort = tokens[i - 1]?.text === 'DELETE'
      if (isShort) for (const token of tokens.slice(i + 1, closingAfter(tokens, i + 1))) changed.push(token)
      for (const token of clauses('USING', using)) changed.push(token)
    }
    changed.push({ text, at })
    i++
  }
  return changed
}

/** Each operation repeats the graphs of the request, so the length of the text grows as the product of both numbers. */
const MOST_USING = 1000
const TOO_MANY_USING = problem(
  'content.too-large',
  'The update has too many operations with too many graphs. Send fewer operations, or fewer using-graph-uri.',
)

/**
 * SPARQL 1.1 Update §3.1.4: with SILENT, a LOAD that fails is a success and loads nothing. A LOAD that is not allowed
 * does the same.
 */
function withoutLoads(tokens: readonly Token[], mayLoad: readonly string[]): readonly Token[] {
  if (!tokens.some(({ text }) => text === 'LOAD')) return tokens
  const operations: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.text === '{') depth++
    if (token.text === '}') depth--
    if (token.text === ';' && depth === 0) operations.push([])
    operations.at(-1)!.push(token)
  }
  const kept = operations.filter((operation) => {
    const text = operation.map((token) => token.text).join(' ')
    const [, loaded] = /^(?:; )?LOAD SILENT <([^ ]*)>(?: INTO GRAPH <[^ ]*>)?$/.exec(text) ?? []
    return loaded === undefined || mayLoad.includes(loaded)
  })
  const left = kept.flat()
  return left[0]?.text === ';' ? left.slice(1) : left
}
