// In charge of what a SPARQL query or update is about, before a store gets it: what it reads, what it writes, what it would
// reach outside of the store. Pure. What is analysed is what is executed: `text` is the text that the parser has read.
import { resolve } from 'relative-to-absolute-iri'
import sparqljs from 'sparqljs'
import { graphSetOf, type GraphSet } from './graph-set.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { placeOf, textOf, tokensOf, type Token } from './tokens.js'
import { walk, type Found, type Node } from './tree.js'
import { writesOf } from './writes.js'

/** An RDF dataset as SPARQL 1.1 Protocol §2.1.4 and §2.2.3 describe it: the parameters of a request, or FROM. */
export interface DatasetDescription {
  readonly default: readonly string[]
  readonly named: readonly string[]
}

export interface QueryAnalysis {
  readonly form: 'SELECT' | 'ASK' | 'CONSTRUCT' | 'DESCRIBE'
  /** What the store is to get. The same for queries that differ in white space, comments, prefixes and the like only. */
  readonly text: string
  /** Names the query: its text. */
  readonly key: string
  readonly readSet: GraphSet
  /** Whether the answer may be another one though nothing that it reads has changed. */
  readonly volatile: boolean
  /** What it would reach outside of the store: targets of SERVICE, Java classes. */
  readonly services: readonly string[] | 'variable'
  readonly from: DatasetDescription
}

export interface UpdateAnalysis {
  readonly text: string
  readonly writeSet: GraphSet
  readonly services: readonly string[] | 'variable'
  readonly loads: readonly string[]
}

/**
 * What a query is about; `query.syntax` where it is not SPARQL 1.1 Query. Slow on long texts: `Evaluation.analyseSparql`
 * is the same in a thread, with a time limit.
 * @param base relative IRIs are resolved against it
 * @param dataset takes the place of FROM (SPARQL 1.1 Protocol §2.1.4)
 */
export function analyseQuery(source: string, base: string, dataset?: DatasetDescription): QueryAnalysis | Problem {
  const parsed = parse(source, base, dataset && ((tokens) => withFrom(tokens, dataset)))
  if (isFailure(parsed)) return parsed
  const { tree, found, text, iriOf } = parsed
  if (tree['type'] !== 'query') return syntax('it is an update')
  const form = tree['queryType'] as QueryAnalysis['form']
  const stated = tree['from'] as { default: Node[]; named: Node[] } | undefined
  const from = { default: (stated?.default ?? []).map(iriOf), named: (stated?.named ?? []).map(iriOf) }
  const services = servicesOf(found)
  return {
    form,
    text,
    key: text,
    readSet: form === 'DESCRIBE' ? 'dataset' : readSetOf(found, stated && from),
    volatile: found.volatile || services.length > 0,
    services,
    from,
  }
}

/**
 * What an update is about; `update.syntax` where it is not SPARQL 1.1 Update.
 * @param using takes part in each operation as USING (SPARQL 1.1 Protocol §2.2.3), which must have none, and no WITH
 */
export function analyseUpdate(source: string, base: string, using?: DatasetDescription): UpdateAnalysis | Problem {
  const parsed = parse(source, base, using && ((tokens) => withUsing(tokens, using)))
  if (isFailure(parsed)) return parsed.failure === 'query.syntax' ? { ...parsed, failure: 'update.syntax' } : parsed
  const { tree, found, text, iriOf } = parsed
  if (tree['type'] !== 'update') return problem('update.syntax', 'The SPARQL update cannot be read: it is a query.')
  const operations = (tree['updates'] ?? []) as Node[]
  return { text, services: servicesOf(found), ...writesOf(operations, iriOf) }
}

interface Parsed {
  readonly tree: Node
  readonly found: Found
  readonly text: string
  readonly iriOf: (term: Node) => string
}

function parse(
  source: string,
  base: string,
  change: ((tokens: readonly Token[]) => readonly Token[] | Problem) | undefined,
): Parsed | Problem {
  const read = tokensOf(source, base, resolve)
  if ('flaw' in read) return syntax(`${read.flaw}, ${placeOf(source, read.at)}`)
  const tokens = change ? change(read) : read
  if (isFailure(tokens)) return tokens
  // The parser sees a number for each IRI, so that none is changed by its own ideas of IRIs; and a token per line.
  const iris: string[] = []
  const numbered = tokens.map(({ text }) =>
    text.startsWith('<') && text.length > 2 ? `<i:${iris.push(text) - 1}>` : text,
  )
  const iriOf = ({ value }: Node): string => {
    const number = /^i:(\d+)$/.exec(value as string)?.[1]
    return number === undefined ? (value as string) : iris[Number(number)]!.slice(1, -1)
  }
  try {
    const parser = new sparqljs.Parser({ skipUngroupedVariableCheck: true })
    const tree = parser.parse(numbered.join('\n')) as unknown as Node
    const found = walk(tree, iriOf)
    if (found === 'too deep') return syntax('it chains too many operators')
    return { tree, found, text: textOf(tokens), iriOf }
  } catch (error) {
    return syntax(reasonOf(error, source, tokens))
  }
}

const syntax = (reason: string): Problem => problem('query.syntax', `The SPARQL text cannot be read: ${reason}.`)

function reasonOf(error: unknown, source: string, tokens: readonly Token[]): string {
  if (error instanceof RangeError) return 'it is nested too deeply'
  const { message, hash } = error as Error & { hash?: { line: number; token: string } }
  if (!hash) return message.split('\n')[0]!.slice(0, 200)
  const token = hash.token === 'EOF' ? undefined : tokens[hash.line]
  const unexpected = token ? `“${token.text.slice(0, 40)}”` : 'the end'
  return `unexpected ${unexpected}, ${placeOf(source, token ? token.at : source.length)}`
}

const servicesOf = ({ services, isServiceVariable }: Found): QueryAnalysis['services'] =>
  isServiceVariable ? 'variable' : [...services]

/** Fails closed: what some stores answer from elsewhere than the standard says counts as the dataset. */
function readSetOf(found: Found, from: DatasetDescription | undefined): GraphSet {
  const graphs = new Set([...found.graphs, ...(from ? [...from.default, ...from.named] : [])])
  const fromDefault = found.readsDefault && !from?.default.length
  const fromAny = found.readsAnyGraph && !from?.named.length
  return fromDefault || fromAny || found.isMagic ? 'dataset' : graphSetOf(graphs)
}

const isFrom = ({ text }: Token): boolean => text === 'FROM'
const clauses = (keyword: string, { default: graphs, named }: DatasetDescription): Token[] =>
  [...graphs.map((graph) => [keyword, `<${graph}>`]), ...named.map((graph) => [keyword, 'NAMED', `<${graph}>`])]
    .flat()
    .map((text) => ({ text, at: 0 }))

/** The index after the bracket that closes the one at `open`. */
function closingAfter(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i]!.text === '{') depth++
    else if (tokens[i]!.text === '}' && --depth === 0) return i + 1
  }
  return tokens.length
}

const AFTER_DATASET = new Set(['FROM', 'WHERE', '{', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'OFFSET', 'VALUES'])

/** SPARQL 1.1 Protocol §2.1.4: the dataset of the request takes the place of that of the query. */
function withFrom(tokens: readonly Token[], dataset: DatasetDescription): readonly Token[] {
  const isTemplate = tokens[0]?.text === 'CONSTRUCT' && tokens[1]?.text === '{'
  const start = isTemplate ? closingAfter(tokens, 1) : 0
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

/** SPARQL 1.1 Protocol §2.2.3: the dataset of the request is that of every pattern; with USING or WITH it is an error. */
function withUsing(tokens: readonly Token[], using: DatasetDescription): readonly Token[] | Problem {
  const changed: Token[] = []
  for (let i = 0; i < tokens.length;) {
    const { text, at } = tokens[i]!
    if (text === 'USING' || text === 'WITH') {
      return problem('request.malformed', `using-graph-uri does not go together with ${text} in the update.`)
    }
    if (text === '{') {
      const end = closingAfter(tokens, i)
      changed.push(...tokens.slice(i, end))
      i = end
      continue
    }
    if (text === 'WHERE') {
      // SPARQL 1.1 Update §3.1.3.3: DELETE WHERE is short for the pattern as template and as pattern.
      if (tokens[i - 1]?.text === 'DELETE') changed.push(...tokens.slice(i + 1, closingAfter(tokens, i + 1)))
      changed.push(...clauses('USING', using))
    }
    changed.push({ text, at })
    i++
  }
  return changed
}
