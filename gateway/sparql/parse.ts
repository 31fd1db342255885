// In charge of parsing a SPARQL query or update: its tokens, its tree, and what is wrong with it in words. Pure. The tree
// and the text come from the same tokens, so that what is analysed is what is executed.
import sparqljs from 'sparqljs'
import { isFailure, problem, type Problem } from '../problem.js'
import { withoutPlainTriples } from './plain-data.js'
import { placeOf, sparqlOf, tokensOf, type Token, type Tokens } from './tokens.js'
import { findingsIn, type Findings, type Node } from './tree.js'

export interface Parsed extends Tokens {
  readonly tree: Node
  readonly findings: Findings
  /** The tokens as SPARQL. */
  readonly text: string
  /** The IRI of a named node of the tree. */
  iriOf(term: Node): string
}

export interface ParseOptions {
  readonly kind: 'query' | 'update'
  /** Relative IRIs are resolved against it. */
  readonly base: string
  /** Changes the tokens before they are parsed. */
  readonly change?: ((tokens: readonly Token[]) => readonly Token[] | Problem) | undefined
}

/** `query.syntax` or `update.syntax` where the text is not SPARQL 1.1 of this kind. */
export function parseSparql(source: string, { kind, base, change }: ParseOptions): Parsed | Problem {
  const read = tokensOf(source, base)
  if (isFailure(read)) return unreadable(kind, `${read.detail}, ${placeOf(source, read.at)}`)
  const tokens = change ? change(read.tokens) : read.tokens
  if (isFailure(tokens)) return tokens
  const parsed = kind === 'update' ? withoutPlainTriples(tokens) : tokens
  // The parser gets a number for each IRI, so that it changes none; and one token in each line, so that it names the token.
  const iris: string[] = []
  const numbered = parsed.map(({ text }) =>
    text.startsWith('<') && text.length > 2 ? `<i:${iris.push(text) - 1}>` : text,
  )
  const iriOf = ({ value }: Node): string => {
    const number = /^i:(\d+)$/.exec(value as string)?.[1]
    return number === undefined ? (value as string) : iris[Number(number)]!.slice(1, -1)
  }
  try {
    const parser = new sparqljs.Parser({ skipUngroupedVariableCheck: true })
    const tree = parser.parse(numbered.join('\n')) as unknown as Node
    // The parser gives a text without any operation no type.
    if ((tree['type'] ?? 'update') !== kind)
      return unreadable(kind, `it is ${kind === 'query' ? 'an update' : 'a query'}`)
    const findings = findingsIn(tree, iriOf)
    if (isFailure(findings)) return unreadable(kind, findings.detail)
    return { ...read, tokens, tree, findings, text: sparqlOf(tokens), iriOf }
  } catch (error) {
    return unreadable(kind, reasonOf(error, source, parsed))
  }
}

export const unreadable = (kind: ParseOptions['kind'], reason: string): Problem =>
  problem(`${kind}.syntax`, `The SPARQL ${kind} cannot be read: ${reason}.`)

/** The parser's error, without its list of the tokens that it expected. */
function reasonOf(error: unknown, source: string, tokens: readonly Token[]): string {
  if (error instanceof RangeError) return 'it is nested too deeply'
  const { message, hash } = error as Error & { hash?: { line: number; token: string } }
  if (!hash) return message.split('\n')[0]!.slice(0, 200)
  const token = hash.token === 'EOF' ? undefined : tokens[hash.line]
  const unexpected = token ? `“${token.text.slice(0, 40)}”` : 'the end'
  return `unexpected ${unexpected}, ${placeOf(source, token ? token.at : source.length)}`
}
