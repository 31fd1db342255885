// The plain triples in the data of an update (INSERT DATA, DELETE DATA): IRIs and literals, one statement after the
// other. They say nothing about what the update reads and writes, but the parser takes seconds for a megabyte of them.
// So they are checked here, and the parser gets only the first of each block. Pure.
import { flawOf, iri, quad } from '../../rdf/graph.js'
import type { Token } from './tokens.js'

/** A statement of plain triples: its tokens with the dot, and the token of its graph. */
export interface PlainStatement {
  readonly graph: string | undefined
  readonly tokens: readonly Token[]
}

/** The tokens without those triples. All other statements stay, and so does everything that is not SPARQL. */
export function withoutPlainTriples(tokens: readonly Token[]): readonly Token[] {
  const { kept } = divided(tokens)
  return kept.length === tokens.length ? tokens : kept
}

/** The statements that `withoutPlainTriples` leaves out. */
export const plainStatements = (tokens: readonly Token[]): readonly PlainStatement[] => divided(tokens).statements

/** The tokens that stay, and the statements that do not. */
interface Divided {
  readonly kept: Token[]
  readonly statements: PlainStatement[]
}

function divided(tokens: readonly Token[]): Divided {
  const parts: Divided = { kept: [], statements: [] }
  const { kept } = parts
  const isPlainIri = makeIsPlainIri()
  for (let at = 0; at < tokens.length;) {
    const opens = isData(tokens, at)
    kept.push(tokens[at++]!)
    if (!opens) continue
    kept.push(tokens[at++]!, tokens[at++]!)
    at = withoutPlainIn(tokens, at, parts, isPlainIri)
  }
  return parts
}

type IsPlainIri = (token: string) => boolean

const textAt = (tokens: readonly Token[], at: number): string => tokens[at]?.text ?? ''

const isData = (tokens: readonly Token[], at: number): boolean =>
  (textAt(tokens, at) === 'INSERT' || textAt(tokens, at) === 'DELETE') &&
  textAt(tokens, at + 1) === 'DATA' &&
  textAt(tokens, at + 2) === '{'

/** From the first token in the braces of an operation to the one after them, or to the end. */
function withoutPlainIn(
  tokens: readonly Token[],
  from: number,
  { kept, statements }: Divided,
  isPlainIri: IsPlainIri,
): number {
  let depth = 1
  let graph: string | undefined
  // Keep the first statement of a block: an empty block would write nothing.
  let isFirst = true
  let at = from
  // A statement may begin here; each turn takes one, or the tokens up to the next.
  while (at < tokens.length && depth > 0) {
    const end = plainStatement(tokens, at, isPlainIri)
    if (end !== undefined && !isFirst) {
      statements.push({ graph, tokens: tokens.slice(at, end) })
      at = end
      continue
    }
    const part = tokens.slice(at, partAfter(tokens, at))
    for (const token of part) kept.push(token)
    at += part.length
    const last = part.at(-1)!.text
    if (last === '{') depth++
    if (last === '}') depth--
    if (last === '{' || last === '}') isFirst = true
    // Braces in a block are those of GRAPH. If a name is missing between them, the parser finds the mistake.
    if (last === '{' || last === '}') graph = last === '{' ? part.at(-2)?.text : undefined
    // A dot may follow the braces of GRAPH.
    else if (part.length > 1) isFirst = false
  }
  return at
}

/** The index after a statement, or after a brace that opens or closes a block. */
function partAfter(tokens: readonly Token[], from: number): number {
  let at = from
  while (at < tokens.length && !['.', '{', '}'].includes(tokens[at]!.text)) at++
  return at + 1
}

/** The index after the statement that begins here, with its dot; undefined if it is not plain, or has no dot. */
function plainStatement(tokens: readonly Token[], from: number, isPlainIri: IsPlainIri): number | undefined {
  if (!isPlainIri(textAt(tokens, from))) return undefined
  let at = from + 1
  for (;;) {
    const verb = textAt(tokens, at)
    if (verb !== 'a' && !isPlainIri(verb)) return undefined
    do {
      const end = plainObject(tokens, at + 1, isPlainIri)
      if (end === undefined) return undefined
      at = end
    } while (textAt(tokens, at) === ',')
    if (textAt(tokens, at) === '.') return at + 1
    if (textAt(tokens, at) !== ';') return undefined
    at++
  }
}

const LANGUAGE = /^@[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/
/** The datatypes of literals with a language tag. Literals without a tag cannot have them. */
const NOT_ALONE = /#(?:dirL|l)angString>$/
const NUMBER_OR_BOOLEAN = /^(?:[+-]?\.?[0-9]|true$|false$)/

/** The index after the object. */
function plainObject(tokens: readonly Token[], at: number, isPlainIri: IsPlainIri): number | undefined {
  const text = textAt(tokens, at)
  if (!text.startsWith('"')) return NUMBER_OR_BOOLEAN.test(text) || isPlainIri(text) ? at + 1 : undefined
  if (!text.isWellFormed()) return undefined
  const next = textAt(tokens, at + 1)
  if (next.startsWith('@')) return LANGUAGE.test(next) ? at + 2 : undefined
  if (next !== '^^') return at + 1
  const datatype = textAt(tokens, at + 2)
  return isPlainIri(datatype) && !NOT_ALONE.test(datatype) ? at + 3 : undefined
}

const ANY = iri('urn:any')

/** Tests whether the token is a valid IRI. It remembers IRIs, since many triples share them. */
function makeIsPlainIri(): IsPlainIri {
  const known = new Map<string, boolean>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const isPlain =
      text.length > 2 && text.startsWith('<') && text.endsWith('>') && !flawOf(quad(ANY, ANY, iri(text.slice(1, -1))))
    known.set(text, isPlain)
    return isPlain
  }
}
