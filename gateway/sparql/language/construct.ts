// Reads a CONSTRUCT as a plan: the SELECT that finds its solutions, and the template that they fill. The template may
// have GRAPH, as in Jena's ARQ (LinkedDataHub 2.8). The query reads only the data that it is given. Pure. SPARQL has no
// CONSTRUCT of quads, so the template is read as that of an INSERT, which has the same grammar.
import { isFailure, problem, type Problem } from '../../problem.js'
import { parseSparql, type Parsed } from './parse.js'
import { MOST_SOLUTIONS, ROW, type ConstructPlan, type TemplateGraph } from './construct-plan.js'
import { patchTemplateOf, templateTerm } from './patch.js'
import { rowPatternOf } from './one-row-query.js'
import { closingAfter, sparqlOf, type Token } from './tokens.js'
import { isVariable, nameOf, nodesOf, operationsIn, type Node } from './tree.js'

/**
 * `query.syntax` if the text is not a CONSTRUCT, or reads more than the given data.
 * @param base the base for relative IRIs
 * @param given the IRI that ?base stands for, unless the query binds it itself (LinkedDataHub 2.8)
 */
export function analyseConstruct(source: string, base: string, given?: string): ConstructPlan | Problem {
  let pattern: readonly Token[] = []
  let solutions: readonly Token[] = []
  const change = (tokens: readonly Token[]): readonly Token[] | Problem => {
    const parts = partsOf(given === undefined ? tokens : withBase(tokens, given))
    if (isFailure(parts)) return parts
    ;({ pattern, solutions } = parts)
    return [...parts.prologue, word('INSERT'), ...parts.template, word('WHERE'), ...group(solutions)]
  }
  const parsed = parseSparql(source, { kind: 'update', base, change })
  if (isFailure(parsed)) return refused(parsed.detail.replace('SPARQL update', 'query'))
  const operations = operationsIn(parsed.tree)
  if (operations.length !== 1 || operations[0]!['subType'] !== 'modify') return refused('The query is not a CONSTRUCT.')
  const where = operations[0]!['where']
  for (const { type, subType } of nodesOf(where)) {
    if (type !== 'pattern') continue
    if (subType === 'graph')
      return refused('GRAPH is allowed in the template only: the query can read only its source.')
    if (subType === 'service') return refused('SERVICE is not allowed: the query can read only its source.')
  }
  if (parsed.endsWithDeclaration) return refused('Nothing may follow the query.')
  return planOf(operations[0]!, parsed, { pattern, solutions })
}

const withBase = (tokens: readonly Token[], given: string): readonly Token[] =>
  tokens.some(({ text }, i) => text === '?base' && tokens[i - 1]?.text === 'AS')
    ? tokens
    : tokens.map((token) => (token.text === '?base' ? { ...token, text: `<${given}>` } : token))

const refused = (detail: string): Problem => problem('query.syntax', detail)

const word = (text: string): Token => ({ text, at: 0 })

/** Only a SELECT needs braces around it. */
const group = (tokens: readonly Token[]): readonly Token[] =>
  tokens[0]?.text === '{' ? tokens : [word('{'), ...tokens, word('}')]

interface Parts {
  readonly prologue: readonly Token[]
  readonly template: readonly Token[]
  readonly pattern: readonly Token[]
  /** The pattern, or a SELECT if solution modifiers follow it. */
  readonly solutions: readonly Token[]
}

/** SPARQL 1.1 §19.8 [10]. */
function partsOf(tokens: readonly Token[]): Parts | Problem {
  const start = tokens[0]?.text === 'BASE' ? 2 : 0
  if (tokens[start]?.text !== 'CONSTRUCT') return refused('The query has to be a CONSTRUCT.')
  const isShort = tokens[start + 1]?.text === 'WHERE'
  const templateEnd = isShort ? start + 1 : closingAfter(tokens, start + 1)
  if (tokens[templateEnd]?.text === 'FROM') return refused('FROM is not allowed: the query can read only its source.')
  const begin = templateEnd + Number(tokens[templateEnd]?.text === 'WHERE')
  if (tokens[begin]?.text !== '{') return refused('The query has no pattern: WHERE { … }.')
  const end = closingAfter(tokens, begin)
  const pattern = tokens.slice(begin, end)
  const modifiers = tokens.slice(end)
  const template = isShort ? pattern : tokens.slice(start + 1, templateEnd)
  const variables = [...new Set(template.map(({ text }) => text).filter(isName))].map(word)
  const selected = variables.length > 0 ? variables : [word('*')]
  const solutions =
    modifiers.length === 0 ? pattern : [word('SELECT'), ...selected, word('WHERE'), ...pattern, ...modifiers]
  return { prologue: tokens.slice(0, start), template, pattern, solutions }
}

const isName = (text: string): boolean => text.startsWith('?') && text.length > 1

function planOf(
  operation: Node,
  parsed: Parsed,
  { pattern, solutions }: Pick<Parts, 'pattern' | 'solutions'>,
): ConstructPlan | Problem {
  const { base, values, findings } = parsed
  const template: TemplateGraph[] = []
  for (const block of operation['insert'] as readonly Node[]) {
    const graph = block['type'] === 'graph' ? templateTerm(nameOf(block) as Node, values) : ''
    if (isFailure(graph)) return graph
    const triples = patchTemplateOf(block, values)
    if (isFailure(triples)) return triples
    template.push({ graph, triples })
  }
  const named = template.flatMap(({ graph, triples }) => [graph, ...triples.flat()])
  const variables = [...new Set(named.filter((term) => term.startsWith('?')))]
  const projection = variables.length === 0 ? '*' : variables.join(' ')
  const limit = ` LIMIT ${MOST_SOLUTIONS + 1}`
  const head = `BASE <${base}>\nSELECT ${projection} `
  const isPlain = solutions === pattern && isBatchable(operation['where'])
  const ofRow = isPlain ? rowPatternOf(operation['where'], parsed, pattern, variables) : undefined
  return {
    query: `${head}WHERE ${sparqlOf(group(solutions))}${limit}`,
    ...(isPlain && {
      batched: `BASE <${base}>\nSELECT ?${ROW} ${variables.join(' ')} WHERE { GRAPH ?${ROW} ${sparqlOf(pattern)} }${limit}`,
    }),
    ...(ofRow && { ofRow }),
    template,
    volatile: findings.volatile,
  }
}

/** Patterns that can run over many graphs at once. The first must have a triple, which identifies the graph. */
const BATCHABLE = new Set(['group', 'bgp', 'optional', 'filter', 'bind', 'union'])

function isBatchable(where: unknown): boolean {
  const first = (where as Node | undefined)?.['patterns'] as readonly Node[] | undefined
  if (first?.[0]?.['subType'] !== 'bgp' || (first[0]['triples'] as readonly unknown[]).length === 0) return false
  for (const node of nodesOf(where)) {
    if (node['type'] === 'query' || node['subType'] === 'patternOperation') return false
    if (node['type'] === 'pattern' && !BATCHABLE.has(String(node['subType']))) return false
    if (
      node['type'] === 'triple' &&
      [node['subject'], node['object']].some((term) => isVariable(term) && term['value'] === ROW)
    )
      return false
  }
  return true
}
