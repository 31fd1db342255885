// Reads JSON-LD, bounded in depth, size and the work of its contexts, and in pieces, so that a long document neither
// blocks the event loop nor is expanded in memory as a whole.
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { makeExactIntegers } from './exact-integers.js'
import type { Quad } from './graph.js'
import { Contexts, expand } from './json-ld-expansion.js'
import { Conversion } from './json-ld-terms.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { malformed, reasonOf, shortened, syntaxProblem, type SyntaxFailure, type Terms } from './terms.js'

/** The text of the context document at a URL; undefined if it is unavailable or not allowed. */
export type LoadContext = (url: string) => Promise<string | undefined>

const SYNTAX = 'JSON-LD'
const DEPTH_LIMIT = 64
/** The weight of a value is its depth, which is proportional to its cost. */
const WHOLE_WEIGHT_LIMIT = 1_000_000
const PIECE_WEIGHT_LIMIT = 100_000
const PIECE_WEIGHT = 10_000
const REMOTE_CONTEXTS_LIMIT = 8
/** The total characters of all remote contexts of a document. */
const REMOTE_WEIGHT_LIMIT = 1024 * 1024
const TOO_LARGE = problem(
  'content.too-large',
  'The JSON-LD content has too many values. Send Turtle or N-Triples, or split it into several requests.',
)

/** The quads of JSON-LD texts that share their blank nodes (JSON-LD 1.1 API §7.1). */
export async function readJsonLd(
  texts: readonly string[],
  base: string,
  terms: Terms,
  loadContext: LoadContext | undefined,
): Promise<Quad[] | Problem> {
  const values: unknown[] = []
  const integers = makeExactIntegers()
  for (const text of texts) {
    try {
      values.push(integers.parse(text))
    } catch (error) {
      return syntaxProblem(SYNTAX, withLine(error, text))
    }
  }
  let weight = 0
  for (const value of values) {
    const own =
      typeof value === 'object' && value !== null
        ? weigh(value, 1)
        : malformed('the document is neither an object nor an array')
    if (isFailure(own)) return syntaxProblem(SYNTAX, own.detail)
    weight += own
  }
  if (weight > WHOLE_WEIGHT_LIMIT) return TOO_LARGE
  const pieces = values.flatMap(piecesOf)
  if (pieces.some((piece) => piece.weight > PIECE_WEIGHT_LIMIT)) return TOO_LARGE
  const marks = makeMarks()
  const contexts = new Contexts(loaderOf(loadContext, marks))
  const quads: Quad[] = []
  const conversion = new Conversion(terms.factory, quads, marks.remove, integers)
  let dropped: string | undefined
  for (const piece of pieces) {
    try {
      const expanded = await expand(
        marks.parse(JSON.stringify(piece.value)),
        base,
        contexts,
        (key) => (dropped ??= key),
      )
      conversion.addAll(expanded, terms.factory.defaultGraph())
    } catch (error) {
      return syntaxProblem(SYNTAX, marks.remove(reasonOf(error as Error)), terms)
    }
    await setImmediate()
  }
  if (quads.length > 0 || dropped === undefined) return quads
  const key = shortened(marks.remove(dropped))
  return syntaxProblem(SYNTAX, `no triples: ${key} is neither an IRI nor a term of the @context`)
}

const MARK_BYTES = 8

// The library asks some objects by `hasOwnProperty`, which a term may be. Matches the names that objects inherit, as a
// whole text or as a prefix of one. In JSON without white space, a quotation mark after one of these characters begins a
// text.
const INHERITED = `(?<=[{[,:]")(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})(?=[":])`
// The library takes IRIs that contain white space for relative ones, but RFC 3987 §2.2 allows this.
const SPACES = '[\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
const TO_MARK = new RegExp(`${INHERITED}|${SPACES}`, 'g')

interface Marks {
  parse(json: string): unknown
  remove(text: string): string
}

/** Marks what the library would misread, until it is expanded. No content can guess the marks. */
function makeMarks(): Marks {
  const mark = randomBytes(MARK_BYTES).toString('hex')
  const marked = new RegExp(`\\.x${mark}|\\.y${mark}(.{4})`, 'g')
  const hex = (space: string): string => space.charCodeAt(0).toString(16).padStart(4, '0')
  return {
    parse: (json) =>
      JSON.parse(json.replace(TO_MARK, (text) => (text.length > 1 ? `${text}.x${mark}` : `.y${mark}${hex(text)}`))),
    remove: (text) =>
      text.includes(mark)
        ? text.replace(marked, (_, code?: string) => (code ? String.fromCharCode(parseInt(code, 16)) : ''))
        : text,
  }
}

/** The sum of the depths of all values. Fails on excessive nesting and on lone surrogates. */
function weigh(value: unknown, depth: number): number | SyntaxFailure {
  if (typeof value === 'string') return value.isWellFormed() ? depth : malformed('half a surrogate pair')
  // RFC 8259 §6: JSON allows any number. JSON.stringify would write null for this one.
  if (typeof value === 'number' && !Number.isFinite(value))
    return malformed('a number that is too large for xsd:double')
  if (typeof value !== 'object' || value === null) return depth
  if (depth > DEPTH_LIMIT) return malformed(`nested deeper than ${DEPTH_LIMIT} levels`)
  let weight = depth
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed()) return malformed('half a surrogate pair')
    const own = weigh(member, depth + 1)
    if (isFailure(own)) return own
    weight += own
  }
  return weight
}

interface Piece {
  readonly value: unknown
  readonly weight: number
}

const weightOf = (value: unknown, depth: number): number => Number(weigh(value, depth))

/** Splits the document into several of the same meaning: groups of members of a top-level array or `@graph`. */
function piecesOf(value: unknown): Piece[] {
  if (Array.isArray(value)) return groupsOf(value, 2).map(({ value, weight }) => ({ value, weight }))
  if (typeof value !== 'object' || value === null) return []
  const { '@graph': graph, '@context': context, '@id': id, ...others } = value as Record<string, unknown>
  if (!Array.isArray(graph) || Object.keys(others).length > 0) return [{ value, weight: weightOf(value, 1) }]
  const own = weightOf({ context, id }, 1)
  return groupsOf(graph, 3).map((group) => ({ value: { ...value, '@graph': group.value }, weight: own + group.weight }))
}

function groupsOf(members: readonly unknown[], depth: number): { value: unknown[]; weight: number }[] {
  const groups: { value: unknown[]; weight: number }[] = []
  for (const member of members) {
    const weight = weightOf(member, depth)
    const last = groups.at(-1)
    if (last && last.weight + weight <= PIECE_WEIGHT) {
      last.value.push(member)
      last.weight += weight
    } else groups.push({ value: [member], weight })
  }
  return groups
}

/** Loads the remote contexts of one document. */
function loaderOf(loadContext: LoadContext | undefined, marks: Marks): (url: string) => Promise<object> {
  let count = 0
  let weight = 0
  return async (url) => {
    if (!loadContext)
      throw new Error('contexts are fetched only for identified agents; include the context in the content')
    if (++count > REMOTE_CONTEXTS_LIMIT) throw new Error('the document has too many remote contexts')
    const text = await loadContext(url)
    weight += text?.length ?? 0
    if (weight > REMOTE_WEIGHT_LIMIT) throw new Error('the remote contexts of the document are too large')
    const document = parsed(text)
    if (typeof document !== 'object' || document === null) throw new Error('the context is not available')
    if (!('@context' in document)) throw new Error('Missing @context')
    const flaw = weigh(document, 1)
    if (isFailure(flaw)) throw new Error(flaw.detail)
    // JSON-LD 1.1 API §4.1.2, step 5.7: the base of a remote context does not count.
    for (const each of [document['@context']].flat())
      if (typeof each === 'object' && each !== null) Reflect.deleteProperty(each, '@base')
    return marks.parse(JSON.stringify(document)) as object
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Adds line and column if V8 reports a position. */
function withLine(error: unknown, text: string): string {
  const message = (error as Error).message
  const position = message.includes('end of JSON') ? text.length : Number(/position (\d+)/.exec(message)?.[1] ?? NaN)
  if (Number.isNaN(position)) return message
  const before = text.slice(0, position).split('\n')
  return `line ${before.length}, column ${before.at(-1)!.length + 1}: ${message}`
}
