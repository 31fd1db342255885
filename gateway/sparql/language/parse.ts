// Parses a SPARQL query or update into its tokens and its tree, and describes its mistakes in words. Pure. Tree and
// text come from the same tokens, so the analysed text is the executed one.
import { sparql12ParserBuilder } from '@traqula/parser-sparql-1-2'
import { completeParseContext, copyParseContext, lex } from '@traqula/rules-sparql-1-2'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { LiteralForms } from '../../rdf/literal-forms.js'
import { stringValue } from './escapes.js'
import { tokensInForms } from './literal-tokens.js'
import { withoutPlainTriples } from './ground-triples.js'
import { placeOf, sparqlOf, tokensOf, type Token, type Tokens } from './tokens.js'
import { findingsIn, type Findings, type Node } from './tree.js'
import { KEYWORDS } from './keywords.js'

export interface Parsed extends Tokens {
  readonly tree: Node
  readonly findings: Findings
  /** The tokens written as SPARQL. */
  readonly text: string
  readonly values: ParsedValues
}

/** The meaning of the numbers that the tree has in place of IRIs and strings. */
export interface ParsedValues {
  /** The IRI of a named node of the tree. */
  iriOf(term: Node): string
  /** The value of a literal of the tree. */
  lexicalOf(term: Node): string
}

export interface ParseOptions {
  readonly kind: 'query' | 'update'
  /** The base for relative IRIs. */
  readonly base: string
  /** Changes the tokens before they are parsed. */
  readonly change?: ((tokens: readonly Token[]) => readonly Token[] | Problem) | undefined
  /** The forms in which the store keeps literals: those of patterns, templates and data are converted to them. */
  readonly forms?: LiteralForms
}

/** The parser failed at this character of its input, or at the end. */
class Unexpected extends Error {
  constructor(readonly offset: number) {
    super()
  }
}

const build = () =>
  sparql12ParserBuilder.build({
    tokenVocabulary: lex.sparql12LexerBuilder.tokenVocabulary,
    errorHandler: (errors) => {
      throw new Unexpected(errors[0]!.token.startOffset)
    },
  })
let built: ReturnType<typeof build> | undefined
const parser = (): ReturnType<typeof build> => (built ??= build())
/** Creates the parser, which takes a quarter of a second. Call it before any request or job would wait for it. */
export const prepareParser = (): void => void parser()

/** The store checks the rules outside the grammar: scopes of variables, labels of blank nodes. */
const CONTEXT = completeParseContext({ skipValidation: true })
/** Allows an aggregate in an EXISTS inside another aggregate, which the parser would report as a mistake. */
class Modes extends Set<string> {
  override has(mode: string): boolean {
    return mode !== 'inAggregate' && super.has(mode)
  }
}
/** The parser modifies its context, so each call gets a copy. */
const context = (): typeof CONTEXT => {
  const copy = copyParseContext(CONTEXT)
  return { ...copy, parseMode: new Modes(copy.parseMode) }
}

/** `query.syntax` or `update.syntax` if the text is not SPARQL 1.2 of this kind. */
export function parseSparql(source: string, { kind, base, change, forms }: ParseOptions): Parsed | Problem {
  const read = tokensOf(source, base)
  if (isFailure(read)) return unreadable(kind, `${read.detail}, ${placeOf(source, read.at)}`)
  // Of a prologue at most a BASE and its IRI are left. An update may be empty (SPARQL 1.1 §19.8 [29]).
  const isEmpty = read.tokens.length === (read.tokens[0]?.text === 'BASE' ? 2 : 0)
  if (kind === 'query' && isEmpty) return unreadable(kind, 'it is empty')
  const changed = change ? change(read.tokens) : read.tokens
  if (isFailure(changed)) return changed
  const tokens = forms ? tokensInForms(changed, forms) : changed
  const strange = tokens.find(({ text }) => /^[A-Za-z]/.test(text) && !KEYWORDS.has(text))
  if (strange) return unreadable(kind, `unexpected ${quoted(strange)}, ${placeOf(source, strange.at)}`)
  const parsed = kind === 'update' ? withoutPlainTriples(tokens) : tokens
  if (parsed.length > MOST_TOKENS) return tooMany(kind)
  const { words, values } = numbered(parsed)
  try {
    const tree = parser().queryOrUpdate(words.join(' '), context()) as unknown as Node
    if (tree['type'] !== kind) return unreadable(kind, `it is ${kind === 'query' ? 'an update' : 'a query'}`)
    const findings = findingsIn(tree, values.iriOf)
    if (isFailure(findings)) return unreadable(kind, findings.detail)
    return { ...read, tokens, tree, findings, text: sparqlOf(tokens), values }
  } catch (error) {
    return unreadable(kind, reasonOf(error, source, parsed, words))
  }
}

/** Replaces each IRI and each string by a number, so that the parser changes none and long ones cost nothing. */
function numbered(tokens: readonly Token[]): { readonly words: readonly string[]; readonly values: ParsedValues } {
  const originals: string[] = []
  const words = tokens.map(({ text }) => {
    if (text.startsWith('"')) return `"i:${originals.push(text) - 1}"`
    return text.startsWith('<') && text.endsWith('>') && text.length > 2 ? `<i:${originals.push(text) - 1}>` : text
  })
  const originalOf = ({ value }: Node): string | undefined => {
    const number = /^i:(\d+)$/.exec(value as string)?.[1]
    return number === undefined ? undefined : originals[Number(number)]
  }
  const values: ParsedValues = {
    iriOf: (term) => originalOf(term)?.slice(1, -1) ?? (term['value'] as string),
    lexicalOf: (term) => {
      const original = originalOf(term)
      return original === undefined ? (term['value'] as string) : stringValue(original)
    },
  }
  return { words, values }
}

/** The parser takes up to 1,400 bytes for a token, and its tree cannot be bounded while it grows. */
const MOST_TOKENS = 250_000

const tooMany = (kind: ParseOptions['kind']): Problem =>
  problem('content.too-large', `The SPARQL ${kind} has more than ${MOST_TOKENS} tokens. Split it up.`)

export const unreadable = (kind: ParseOptions['kind'], reason: string): Problem =>
  problem(`${kind}.syntax`, `The SPARQL ${kind} cannot be read: ${reason}.`)

const LEXER_OFFSET = /at offset: (\d+)/

/** The parser's error, without its list of expected tokens. */
function reasonOf(error: unknown, source: string, tokens: readonly Token[], words: readonly string[]): string {
  if (error instanceof RangeError) return 'it is nested too deeply, or too long'
  const { message } = error as Error
  const lexed = LEXER_OFFSET.exec(message)?.[1]
  if (!(error instanceof Unexpected) && lexed === undefined) return message.split('\n')[0]!.slice(0, 200)
  const offset = error instanceof Unexpected ? error.offset : Number(lexed)
  const token = Number.isNaN(offset) ? undefined : tokens[indexAt(words, offset)]
  const unexpected = token ? quoted(token) : 'the end'
  return `unexpected ${unexpected}, ${placeOf(source, token ? token.at : source.length)}`
}

const quoted = ({ text }: Token): string => `“${text.slice(0, 40)}”`

/** The index of the word that has this character; a blank follows each word. */
function indexAt(words: readonly string[], offset: number): number {
  let end = 0
  return words.findIndex((word) => (end += word.length + 1) > offset)
}
