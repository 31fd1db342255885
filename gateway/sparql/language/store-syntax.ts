// SPARQL in ARQ's syntax, which the parser cannot read but the store may: its tokens are analysed instead. Pure. It
// fails closed. A text is passed on only if no token could reach beyond the store, or cost more than a parsed text may.
// It is taken to read and write everything.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { OWN_GRAPHS } from '../../../policies/vocabulary.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { QueryAnalysis, UpdateAnalysis } from './analysis.js'
import { KEYWORDS } from './keywords.js'
import { sparingOwnGraphs } from './own-graphs.js'
import { sparqlOf, tokensOf, type Token } from './tokens.js'
import { DATATYPES, DEEPEST, DEEPEST_QUERIES, MAGIC, VOLATILE } from './tree.js'

/**
 * Words that ARQ adds to SPARQL (Jena: "ARQ - Extending Query"), except CALL, which computes the name of a function,
 * and JSON.
 */
const ARQ = `LATERAL SEMIJOIN ANTIJOIN UNFOLD FOLD LET EXIST ADJUST AGG MEDIAN MODE STDEV STDEV_SAMP STDEV_POP VARIANCE
  VAR_SAMP VAR_POP`
const ADDED: ReadonlySet<string> = new Set(ARQ.split(/\s+/))

const REACHING = new Set(['SERVICE', 'LOAD'])
const FORMS = new Set(['SELECT', 'ASK', 'CONSTRUCT', 'DESCRIBE'])
/** Some stores perform an update even if they get it as a query. */
const CHANGING = new Set(['INSERT', 'DELETE', 'CLEAR', 'DROP', 'CREATE', 'COPY', 'MOVE', 'ADD', 'WITH'])
/** Each of these repeats an evaluation for each solution. */
const NESTING = new Set(['EXISTS', 'EXIST', 'MINUS', 'SELECT', 'LATERAL', 'SEMIJOIN', 'ANTIJOIN'])
const OPERATOR = /^(?:\|\||&&|[-+*/|^?!=<>]|[!<>]=|[+-].+)$/
const PAIRS = new Map([
  ['}', '{'],
  [')', '('],
  [']', '['],
  ['>>', '<<'],
  [')>>', '<<('],
  ['|}', '{|'],
])
const OPENING = new Set(PAIRS.values())

const EVERYTHING = { graphs: [], default: true, any: true, magic: true } as const

/** The analysis of a text that is passed on; otherwise the parser's problem, with the reason. */
export function passedOn(
  kind: 'query' | 'update',
  source: string,
  base: string,
  unread: Problem,
): QueryAnalysis | UpdateAnalysis | Problem {
  const read = tokensOf(source, base)
  if (isFailure(read)) return unread
  const { tokens } = read
  // Without such a word, the text has a mistake, and the gateway knows its place.
  if (!tokens.some(({ text }) => ADDED.has(text))) return unread
  const reason = kind === 'query' ? reasonAgainstQuery(tokens) : reasonAgainstUpdate(tokens)
  if (reason !== undefined) {
    return problem(unread.failure, `${unread.detail} It cannot be passed to the store either: ${reason}.`)
  }
  const text = sparqlOf(kind === 'update' ? sparingOwnGraphs(tokens) : tokens)
  const functions = functionsIn(tokens)
  const shared = { text, reads: EVERYTHING, services: [], functions, ordering: tokens.length ** 3 }
  if (kind === 'update') {
    return {
      ...shared,
      writeSet: 'dataset',
      removes: { graphs: [], allBut: undefined },
      besideCleared: undefined,
      loads: [],
      plan: undefined,
    }
  }
  return {
    ...shared,
    form: firstOf(tokens) as QueryAnalysis['form'],
    key: text,
    readSet: 'dataset',
    makesBlankNodes: true,
    volatile: functions.length > 0 || tokens.some((token) => VOLATILE.has(token.text.toLowerCase())),
    from: { default: [], named: [] },
  }
}

/** The first token after BASE. */
const firstOf = (tokens: readonly Token[]): string => tokens[tokens[0]?.text === 'BASE' ? 2 : 0]?.text ?? ''

function reasonAgainstQuery(tokens: readonly Token[]): string | undefined {
  if (!FORMS.has(firstOf(tokens))) return 'it is not a SELECT, CONSTRUCT, DESCRIBE or ASK'
  const changing = tokens.find(({ text }) => CHANGING.has(text))
  return changing ? `it has the word ${changing.text}` : reasonAgainst(tokens, Number(firstOf(tokens) === 'SELECT'))
}

function reasonAgainstUpdate(tokens: readonly Token[]): string | undefined {
  if (tokens.some(({ text }) => text.startsWith(`<${OWN_GRAPHS}`))) return 'it names a graph of the gateway'
  if (tokens.some(({ text }) => text === `<${MERGED_GRAPHS}>`)) return 'the store does not know the name of the union'
  return operationsIn(tokens).every((operation) => CHANGING.has(firstOf(operation)))
    ? reasonAgainst(tokens, 0)
    : 'it has an operation of an unknown form'
}

/** The tokens between the brackets; nothing follows the last semicolon. */
function operationsIn(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const operations: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (OPENING.has(token.text)) depth++
    if (PAIRS.has(token.text)) depth--
    if (token.text === ';' && depth === 0) operations.push([])
    else operations.at(-1)!.push(token)
  }
  return operations.at(-1)!.length === 0 ? operations.slice(0, -1) : operations
}

/** @param own how many of the nesting words belong to its own form */
function reasonAgainst(tokens: readonly Token[], own: number): string | undefined {
  const strange = tokens.find(({ text }) => /^[A-Za-z]/.test(text) && !KEYWORDS.has(text) && !ADDED.has(text))
  if (strange) return `the word ${strange.text.slice(0, 40)} is unknown`
  const reaching = tokens.find(({ text }) => REACHING.has(text))
  if (reaching) return `it has the word ${reaching.text}`
  if (!isBalanced(tokens)) return 'its brackets do not match'
  if (tokens.some(({ text }, i) => text.startsWith('?') && text !== '?' && tokens[i + 1]?.text === '(')) {
    return 'a variable before a bracket may name a function'
  }
  if (tokens.some(isRepetition)) return 'a number repeats a path'
  const count = (isCounted: (token: string) => boolean): number => tokens.filter(({ text }) => isCounted(text)).length
  if (count((text) => NESTING.has(text)) > DEEPEST_QUERIES + own) {
    return `it has more than ${DEEPEST_QUERIES} sub-queries, EXISTS and the like`
  }
  return count((text) => OPERATOR.test(text)) > DEEPEST ? `it has more than ${DEEPEST} operators` : undefined
}

/** `<p>{1,5}`: ARQ expands it to that many paths. Not `VALUES ?x { 1 }`. */
const isRepetition = ({ text }: Token, i: number, tokens: readonly Token[]): boolean =>
  text === '{' && /^[,+*\d]/.test(tokens[i + 1]?.text ?? '') && !/^\?./.test(tokens[i - 1]?.text ?? '')

function isBalanced(tokens: readonly Token[]): boolean {
  const open: string[] = []
  for (const { text } of tokens) {
    if (OPENING.has(text)) open.push(text)
    else if (PAIRS.has(text) && open.pop() !== PAIRS.get(text)) return false
  }
  return open.length === 0
}

/** An IRI before a bracket may be a function. An IRI that a store knows as a function may be one anywhere. */
function functionsIn(tokens: readonly Token[]): readonly string[] {
  const iris = tokens.flatMap(({ text }, i) => {
    if (!text.startsWith('<') || text.length < 3 || !text.endsWith('>')) return []
    const iri = text.slice(1, -1)
    const isCalled = tokens[i + 1]?.text === '(' && !iri.startsWith(DATATYPES)
    return isCalled || MAGIC.test(iri) ? [iri] : []
  })
  return [...new Set(iris)]
}
