// Reads JSON-LD, bounded in depth, size and the work of its contexts, and in pieces, so that a long document does not
// block the event loop. Uses internals of jsonld-streaming-parser (`parsingContext.contextParser`), whose version
// package.json pins: the parser does not bound the work of nested and scoped contexts.
import { JsonLdParser } from 'jsonld-streaming-parser'
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { DataFactory } from '@rdfjs/types'
import { isTooLong, LONGEST_BASE } from './bases.js'
import type { Quad } from './graph.js'
import { keepTerms, lexicalForm } from './json-ld-terms.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { malformed, quadsFrom, shortened, syntaxProblem, type SyntaxFailure, type Terms } from './terms.js'

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
/** Term definitions processed over all contexts. Each context processes again those that are in scope. */
const DEFINITIONS_LIMIT = 2_000_000
/** Processing a context, even an empty one, costs as much as this many definitions. */
const CONTEXT_WEIGHT = 20

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
  for (const text of texts) {
    try {
      values.push(JSON.parse(text))
    } catch (error) {
      return syntaxProblem(SYNTAX, withLine(error, text))
    }
  }
  let weight = 0
  for (const value of values) {
    const own =
      typeof value === 'object' && value !== null
        ? weigh(value, 1, 'data')
        : malformed('the document is neither an object nor an array')
    if (isFailure(own)) return syntaxProblem(SYNTAX, own.detail)
    weight += own
  }
  if (weight > WHOLE_WEIGHT_LIMIT) return TOO_LARGE
  const pieces = values.flatMap(piecesOf)
  if (pieces.some((piece) => piece.weight > PIECE_WEIGHT_LIMIT)) return TOO_LARGE
  const mark = `.x${randomBytes(MARK_BYTES).toString('hex')}`
  const contexts = contextsFor(loadContext, mark)
  const dataFactory = withoutMarks(terms.factory, mark)
  const quads: Quad[] = []
  let dropped: string | undefined
  for (const piece of pieces) {
    // Strict, since otherwise the parser drops malformed language tags and directions.
    const options = { baseIRI: base, dataFactory, documentLoader: contexts.loader, strictValues: true }
    const parser = new JsonLdParser(options)
    contexts.bound(parser)
    keepTerms(parser, dataFactory, (key) => (dropped ??= key.replaceAll(mark, '')))
    const read = await quadsFrom(parser, withMarks(JSON.stringify(piece.value), mark))
    if (isFailure(read)) return syntaxProblem(SYNTAX, read.detail, terms)
    for (const quad of read) quads.push(quad)
    await setImmediate()
  }
  if (quads.length > 0 || dropped === undefined) return quads
  return syntaxProblem(SYNTAX, `no triples: ${shortened(dropped)} is neither an IRI nor a term of the @context`)
}

const MARK_BYTES = 8

// The parser looks terms up in plain objects, which inherit some properties. Matches their names, as a whole text or as
// a prefix of one. In JSON without white space, a quotation mark after one of these characters begins a text.
const INHERITED = new RegExp(`(?<=[{[,:]")(${Object.getOwnPropertyNames(Object.prototype).join('|')})(?=[":])`, 'g')

/** Marks the names of inherited properties while the parser reads them. No content can guess the mark. */
const withMarks = (json: string, mark: string): string => json.replace(INHERITED, (name) => name + mark)

/** JSON-LD 1.1 API §9.3, rdfDirection null: base directions are dropped. */
const withoutMarks = (factory: DataFactory, mark: string): DataFactory => ({
  ...factory,
  namedNode: ((value: string) => factory.namedNode(value.replaceAll(mark, ''))) as DataFactory['namedNode'],
  literal(value: unknown, kind) {
    const tag = typeof kind === 'object' && kind && !('termType' in kind) ? kind.language || undefined : kind
    // The parser passes numbers and booleans of typed value objects on unconverted.
    const datatype = typeof tag === 'object' && tag ? tag : undefined
    return factory.literal(lexicalForm(value, datatype).replaceAll(mark, ''), tag)
  },
})

/** Where a value is: in data, in a context, or in a JSON literal. */
type Place = 'data' | 'context' | 'json'

const PLACES: Readonly<Record<string, Place>> = { '@context': 'context', '@value': 'json' }
/** The parser drops a single value that is not in an array. */
const LISTS = ['@set', '@list']

/** The sum of the depths of all values. Fails on excessive nesting and on lone surrogates. */
function weigh(value: unknown, depth: number, place: Place): number | SyntaxFailure {
  if (typeof value === 'string') {
    const flaw = flawOfString(value, place)
    return flaw === undefined ? depth : malformed(flaw)
  }
  // RFC 8259 §6: JSON allows any number. JSON.stringify would write null for this one.
  if (typeof value === 'number' && !Number.isFinite(value))
    return malformed('a number that is too large for xsd:double')
  if (typeof value !== 'object' || value === null) return depth
  if (depth > DEPTH_LIMIT) return malformed(`nested deeper than ${DEPTH_LIMIT} levels`)
  let weight = depth
  for (const [key, member] of Object.entries(value)) {
    const flaw = Array.isArray(value) ? undefined : flawOfEntry(key, member, place)
    if (flaw !== undefined) return malformed(flaw)
    const own = weigh(member, depth + 1, place === 'data' ? (PLACES[key] ?? place) : place)
    if (isFailure(own)) return own
    weight += own
    if (place === 'data' && LISTS.includes(key) && !Array.isArray(member)) (value as Node)[key] = [member]
  }
  return weight
}

type Node = Record<string, unknown>

const flawOfEntry = (key: string, value: unknown, place: Place): string | undefined =>
  place === 'data' && key === '@id' && typeof value !== 'string'
    ? 'the value of @id is not a string'
    : flawOfString(key, place)

const flawOfString = (text: string, place: Place): string | undefined => {
  if (!text.isWellFormed()) return 'half a surrogate pair'
  return place === 'context' && isTooLong(text)
    ? `a context has a text of more than ${LONGEST_BASE} characters`
    : undefined
}

interface Piece {
  readonly value: unknown
  readonly weight: number
}

const weightOf = (value: unknown, depth: number): number => Number(weigh(value, depth, 'data'))

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

/** The remote contexts of one document, each loaded once, and the bound on the work of its contexts. */
function contextsFor(loadContext: LoadContext | undefined, mark: string) {
  const loaded = new Map<string, Promise<string | undefined>>()
  let definitions = 0
  let weight = 0
  const sizeOf = (context: unknown): number =>
    typeof context === 'object' && context !== null ? 1 + Object.keys(context).length : 1
  return {
    loader: {
      async load(url: string): Promise<{ '@context': never }> {
        if (!loadContext)
          throw new Error('contexts are fetched only for identified agents; include the context in the content')
        if (!loaded.has(url)) {
          if (loaded.size >= REMOTE_CONTEXTS_LIMIT) throw new Error('the document has too many remote contexts')
          const loading = loadContext(url)
          loaded.set(url, loading)
          const text = await loading
          weight += text?.length ?? 0
        }
        if (weight > REMOTE_WEIGHT_LIMIT) throw new Error('the remote contexts of the document are too large')
        const document = parsed(await loaded.get(url))
        if (typeof document !== 'object' || document === null) throw new Error('the context is not available')
        const flaw = weigh(document, 1, 'context')
        if (isFailure(flaw)) throw new Error(flaw.detail)
        return JSON.parse(withMarks(JSON.stringify(document), mark)) as { '@context': never }
      },
    },
    /** Wraps the parser's context parser: without a bound, nested contexts make a short document cost minutes. */
    bound(parser: JsonLdParser): void {
      const { contextParser } = (parser as unknown as { parsingContext: { contextParser: ContextParser } })
        .parsingContext
      const parse = contextParser.parse
      contextParser.parse = async (context, options, ...internal) => {
        definitions += CONTEXT_WEIGHT + sizeOf(context) + sizeOf(options?.parentContext)
        if (definitions > DEFINITIONS_LIMIT) throw new Error('its contexts are too complex')
        return parse.call(contextParser, context, options, ...internal)
      }
      const expand = contextParser.expandPrefixedTerms
      contextParser.expandPrefixedTerms = (context, ...others) =>
        expand.call(contextParser, withEnd(context), ...others)
    },
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

interface ContextParser {
  parse(context: unknown, options?: { parentContext?: unknown }, ...internal: unknown[]): Promise<unknown>
  expandPrefixedTerms(context: NormalizedContext, ...internal: unknown[]): void
}

interface NormalizedContext {
  getContextRaw(): object
  expandTerm(term: string, ...others: unknown[]): string | null
}

/** The most expansions, on average per term of a context: the IRIs of prefixes may use prefixes too. */
const EXPANSIONS_OF_TERM = 16
const EXPANSIONS = 100

/**
 * Bounds the parser's expansion of terms, which stops only when nothing changes: with a vocabulary `#a:`, or prefixes
 * that are defined by each other, it would never end.
 */
function withEnd(context: NormalizedContext): NormalizedContext {
  let left = EXPANSIONS + EXPANSIONS_OF_TERM * Object.keys(context.getContextRaw()).length
  return {
    getContextRaw: () => context.getContextRaw(),
    expandTerm(term: string, ...others: unknown[]) {
      const expanded = context.expandTerm(term, ...others)
      if (--left < 0 || (expanded?.length ?? 0) > 2 * LONGEST_BASE) throw new Error('the IRIs of its terms do not end')
      return expanded
    },
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
