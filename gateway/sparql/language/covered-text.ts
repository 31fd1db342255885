// Rewrites queries and updates for a store with covered literals (stores/covers.ts). Patterns, joins and results use
// terms (SPARQL 1.1 §12.6, §18.3); expressions use values (§17). Works on tokens, and reads each at most once per level
// of brackets. Pure.
import { makeValues, type Covering, type Use, type CoveredValues } from './covered-values.js'
import { stringToken } from './escapes.js'
import { literalAt } from './literal-tokens.js'
import { closingAfter, sparqlOf, type Token } from './tokens.js'

/** SPARQL 1.1 §17.4, §18.5.1: their arguments are terms. */
const OF_TERMS = new Set(['BOUND', 'SAMETERM', 'ISIRI', 'ISURI', 'ISBLANK', 'ISLITERAL', 'STR', 'COUNT', 'SAMPLE', 'TRIPLE', 'ISTRIPLE', 'SUBJECT', 'PREDICATE', 'OBJECT']) // prettier-ignore
/** These return one of the terms of their argument. */
const GIVES_TERM = new Set(['SAMPLE', 'SUBJECT', 'PREDICATE', 'OBJECT'])
const AGGREGATES = new Set(['COUNT', 'SUM', 'MIN', 'MAX', 'AVG', 'SAMPLE', 'GROUP_CONCAT'])
const OPERATORS = new Set(['||', '&&', '=', '!=', '<', '>', '<=', '>=', '+', '-', '*', '/', '!', 'IN', 'NOT'])
const AFTER_CONDITIONS = new Set(['HAVING', 'ORDER', 'LIMIT', 'OFFSET', 'VALUES', 'GROUP', '}', ';'])

const isVariable = (token: string | undefined): token is string => /^\?./.test(token ?? '')
const isIri = (token: string | undefined): boolean => /^<[^<=]/.test(token ?? '')

/**
 * The most characters that rewriting may add: each variable in an expression becomes about a hundred, and nesting
 * repeats them.
 */
const roomFor = (tokens: readonly Token[]): number =>
  Math.min(8 * 1024 * 1024, 256 * 1024 + 100 * tokens.reduce((sum, { text }) => sum + text.length, 0))

/** The text of these tokens for a store with covered literals. Throws a plain Error if it would be too long. */
export function coveredText(tokens: readonly Token[], covering: Covering): string {
  const r: Rewriting = {
    tokens,
    covering,
    values: makeValues(covering),
    out: [],
    at: 0,
    room: roomFor(tokens),
    hasAggregate: false,
  }
  pattern(r, tokens.length)
  return sparqlOf(r.out)
}

interface Rewriting {
  readonly tokens: readonly Token[]
  readonly covering: Covering
  readonly values: CoveredValues
  readonly out: string[]
  /** The index of the next token. */
  at: number
  /** How many more characters may be added. */
  room: number
  /** The query being read has an aggregate. */
  hasAggregate: boolean
}

const peek = ({ tokens, at }: Rewriting, ahead = 0): string | undefined => tokens[at + ahead]?.text

function pass(r: Rewriting, count = 1): void {
  for (; count > 0 && r.at < r.tokens.length; count--) r.out.push(r.tokens[r.at++]!.text)
}

/** Adds text that replaces a variable or a call. */
function add(r: Rewriting, text: string): void {
  if ((r.room -= text.length) < 0) throw new Error('its expressions have too many variables, or are nested too deeply')
  r.out.push(text)
}

/** Runs `write`, removes the text that it added from the output, and returns that text. */
function taken({ out }: Rewriting, write: () => void): string {
  const start = out.length
  write()
  return sparqlOf(out.splice(start))
}

/** Triples, data and templates, with the expressions in them. */
function pattern(r: Rewriting, end: number): void {
  while (r.at < end) {
    const token = peek(r)!
    if (token === 'SELECT') select(r)
    else if (token === 'FILTER' || token === 'BIND') {
      pass(r)
      primary(r, token === 'BIND' ? 'term' : 'value')
    } else if (token === 'GROUP' || token === 'ORDER' || token === 'HAVING') conditions(r, token)
    else if (token === 'LIMIT' || token === 'OFFSET') pass(r, 2)
    else constant(r, 'term')
  }
}

function conditions(r: Rewriting, keyword: string): void {
  pass(r, keyword === 'HAVING' ? 1 : 2)
  if (keyword === 'HAVING') r.hasAggregate = true
  while (r.at < r.tokens.length && !AFTER_CONDITIONS.has(peek(r)!)) {
    if (peek(r) === 'ASC' || peek(r) === 'DESC') pass(r)
    primary(r, keyword === 'GROUP' ? 'term' : 'value')
  }
}

function select(r: Rewriting): void {
  const outer = r.hasAggregate
  r.hasAggregate = false
  pass(r)
  const named = new Set<string>()
  while (r.at < r.tokens.length && peek(r) !== '{') {
    const token = peek(r)!
    if (token === '(') primary(r, 'term')
    // Oxigraph refuses a variable that is selected twice.
    else if (isVariable(token) && named.has(token)) r.at++
    else pass(r)
    named.add(token)
  }
  const start = r.out.length
  pattern(r, closingAfter(r.tokens, r.at))
  const end = r.out.length - 1
  let isGrouped = false
  for (let token = peek(r); token !== undefined; token = peek(r)) {
    if (token === 'GROUP') isGrouped = true
    if (token === 'LIMIT' || token === 'OFFSET') pass(r, 2)
    else if (token === 'GROUP' || token === 'ORDER' || token === 'HAVING') conditions(r, token)
    else break
  }
  if (r.hasAggregate && !isGrouped) {
    // SPARQL 1.1 §18.5.1: there is one group, even without solutions. Oxigraph drops it if it recognises the pattern as
    // empty.
    r.out[start] = '{ {'
    r.out[end] = `} UNION { [] <${r.covering.mark}none> [] } }`
  }
  r.hasAggregate = outer
}

/** Any other token, or a literal, which may consist of several tokens. */
function constant(r: Rewriting, use: Use): void {
  const found = literalAt(r.tokens, r.at)
  const cover = found && use === 'term' ? r.covering.coverOf(found.form, found.datatype) : undefined
  if (found === undefined || cover === undefined) return pass(r, found?.tokens)
  r.out.push(stringToken(found.form), '^^', `<${cover}>`)
  r.at += found.tokens
}

/** One operand, or a whole expression in brackets. */
function primary(r: Rewriting, use: Use): void {
  const token = peek(r)
  if (token === undefined) return
  if (token === '(') {
    pass(r)
    level(r, use)
    if (peek(r) === 'AS') pass(r, 2)
    return pass(r)
  }
  if (isVariable(token)) {
    r.at++
    add(r, use === 'value' ? r.values.valueOf(token) : token)
  } else if (token === 'NOT' || token === 'EXISTS') {
    pass(r, token === 'NOT' ? 2 : 1)
    const outer = r.hasAggregate
    pattern(r, closingAfter(r.tokens, r.at))
    r.hasAggregate = outer
  } else if (token === '<<(') {
    while (r.at < r.tokens.length && peek(r) !== ')>>') constant(r, 'term')
    pass(r)
  } else if (peek(r, 1) === '(' && (isIri(token) || /^[A-Z]/.test(token))) call(r, token, use)
  else constant(r, use)
}

/** An expression, up to the comma or bracket after it. */
function level(r: Rewriting, use: Use): void {
  const own = kindOfLevel(r.tokens, r.at) ?? use
  while (r.at < r.tokens.length && !isEnd(peek(r)!)) {
    const token = peek(r)!
    if (token === 'IN') {
      pass(r, 2)
      list(r, () => own)
    } else if (OPERATORS.has(token) && peek(r, 1) !== 'EXISTS') pass(r)
    else primary(r, own)
  }
}

/** The arguments after an opening bracket, and the closing bracket. */
function list(r: Rewriting, useOf: (argument: number) => Use): void {
  for (let argument = 0; r.at < r.tokens.length && peek(r) !== ')'; argument++) {
    if (argument > 0) pass(r)
    if (peek(r) === 'DISTINCT') pass(r)
    if (peek(r) === '*') pass(r)
    level(r, useOf(argument))
    if (peek(r) === ';') break
  }
  while (r.at < r.tokens.length && peek(r) !== ')') pass(r)
  pass(r)
}

function call(r: Rewriting, name: string, use: Use): void {
  if (AGGREGATES.has(name)) r.hasAggregate = true
  const argument = peek(r, 3) === ')' && isVariable(peek(r, 2)) ? peek(r, 2)! : undefined
  const special = argument === undefined ? undefined : r.values.ofVariable(name, argument, use)
  if (special !== undefined) {
    r.at += 4
    add(r, special)
  } else if (GIVES_TERM.has(name) && use === 'value') add(r, r.values.valueOf(taken(r, () => plainCall(r, name, use))))
  else if (name === 'DATATYPE') add(r, r.values.datatypeOf(taken(r, () => plainCall(r, name, use))))
  else if (name === 'LANG') add(r, r.values.languageOf(taken(r, () => plainCall(r, name, use))))
  else if (name === 'STRDT' && use === 'term') made(r)
  else plainCall(r, name, use)
}

function plainCall(r: Rewriting, name: string, use: Use): void {
  pass(r, 2)
  if (name === 'GROUP_CONCAT') return concatenation(r)
  list(r, (argument) => {
    if (name === 'COALESCE' || (name === 'IF' && argument > 0)) return use
    // A covered literal has no language tag.
    return OF_TERMS.has(name) || name === 'DATATYPE' || name === 'LANG' ? 'term' : 'value'
  })
}

function concatenation(r: Rewriting): void {
  if (peek(r) === 'DISTINCT') pass(r)
  const concatenated = taken(r, () => level(r, 'term'))
  const isOne = isVariable(concatenated) && !concatenated.includes(' ')
  add(r, isOne ? r.values.concatenated(concatenated) : `STR(${concatenated})`)
  while (r.at < r.tokens.length && peek(r) !== ')') pass(r)
  pass(r)
}

/** SPARQL 1.1 §17.4.2.11: the resulting literal may need a cover. */
function made(r: Rewriting): void {
  r.at += 2
  const text = taken(r, () => level(r, 'value'))
  r.at++
  const datatype = peek(r, 1) === ')' && isIri(peek(r)) ? peek(r)!.slice(1, -1) : undefined
  const type = taken(r, () => level(r, 'value'))
  r.at++
  add(r, r.values.made(text, type, datatype))
}

const isEnd = (token: string): boolean => token === ')' || token === ',' || token === 'AS' || token === ';'

/** Operators need values; but comparing a variable with IRIs needs only terms. Undefined for a single operand. */
function kindOfLevel(tokens: readonly Token[], start: number): Use | undefined {
  let depth = 0
  let [hasOperator, isOfIris, end] = [false, true, start]
  for (; end < tokens.length; end++) {
    const { text } = tokens[end]!
    if (depth === 0 && isEnd(text)) break
    if (text === '(' || text === '{' || text === '<<(') depth++
    else if (text === ')' || text === '}' || text === ')>>') depth--
    else if (depth === 0 && isOperator(tokens, end, start)) hasOperator = true
    const isFirst = end === start
    const isAllowed = isFirst ? isVariable(text) || isIri(text) : /^(?:=|!=|IN|NOT|[(),])$/.test(text) || isIri(text)
    const isLast = isIri(tokens[start]!.text) && end === start + 2 && isVariable(text)
    if (!isAllowed && !isLast) isOfIris = false
  }
  if (!hasOperator) return undefined
  return isOfIris ? 'term' : 'value'
}

function isOperator(tokens: readonly Token[], at: number, start: number): boolean {
  const { text } = tokens[at]!
  if (text === 'NOT') return tokens[at + 1]?.text === 'IN'
  // SPARQL 1.1 §19.8 [116]: a signed number after an operand is added.
  return OPERATORS.has(text) || (at > start && /^[+-]/.test(text))
}
