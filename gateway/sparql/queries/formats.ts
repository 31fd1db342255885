// The formats of query results: those that the store returns, their aliases, and the names that the parameters output,
// format and results have for them, as in Fuseki.
import {
  JSON_LD,
  N_TRIPLES,
  negotiate,
  OTHER_RDF_NAMES,
  parseMediaType,
  RDF_XML,
  RESULT_FORMATS,
  sourceOf,
  TURTLE,
  type Format,
} from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { notAcceptable } from '../../request/negotiate.js'
import { resultsAsXml } from '../../rdf/results-as-xml.js'
import { wellFormed } from '../../rdf/xml-pieces.js'
import type { Context } from '../../request/context.js'
import type { QueryAnalysis } from '../language/analysis.js'
import { StoreBreak } from '../../stores/store.js'

/** How a request selects the format of its result, instead of `Accept`. */
export interface Output {
  /** A short name or a media type. */
  readonly format?: string
  /** `force-accept`: a table in its format, but labelled as plain text; a graph in this media type. */
  readonly forced?: 'text/plain'
}

/** `source`: the format that has these bytes. */
export interface ResultFormat extends Format {
  readonly source: Format
}

const [JSON_RESULTS, XML_RESULTS, CSV, TSV] = RESULT_FORMATS as readonly [Format, Format, Format, Format]
const UTF_8 = ';charset=UTF-8'

const own = (format: Format): ResultFormat => ({ ...format, source: sourceOf(format) })
const named = (source: Format, mediaType: string, code: string, parameters = ''): ResultFormat => ({
  mediaType,
  code,
  contentType: mediaType + parameters,
  source,
})

/** The store writes JSON-LD in its own form, whichever the client prefers (RFC 6906 §3.1). */
const ANY_JSON_LD: Format = { mediaType: JSON_LD.mediaType, contentType: JSON_LD.contentType, code: JSON_LD.code }
/** The first is the default for clients that accept all. */
const GRAPH: readonly ResultFormat[] = [
  ...[TURTLE, N_TRIPLES, RDF_XML].map(own),
  { ...ANY_JSON_LD, source: JSON_LD },
  ...OTHER_RDF_NAMES.map(own),
]
const resultsIn = (source: (format: Format) => Format): readonly ResultFormat[] => [
  ...RESULT_FORMATS.map((format) => ({ ...format, source: source(format) })),
  named(JSON_RESULTS, 'application/json', 'json'),
  named(XML_RESULTS, 'application/xml', `xml${XML_RESULTS.code}`, UTF_8),
  named(XML_RESULTS, 'text/xml', `txtxml${XML_RESULTS.code}`, UTF_8),
  named(source(TSV), 'text/plain', 'txt', UTF_8),
]
const TABLE = resultsIn((format) => format)
/** SPARQL 1.1 Query Results CSV and TSV Formats have no boolean: `booleanAs` writes one as Fuseki does. */
const BOOLEAN = resultsIn((format) => (format === CSV || format === TSV ? JSON_RESULTS : format))

const OFFERED: Readonly<Record<QueryAnalysis['form'], readonly ResultFormat[]>> = {
  SELECT: TABLE,
  ASK: BOOLEAN,
  CONSTRUCT: GRAPH,
  DESCRIBE: GRAPH,
}

/** Media types by Fuseki's short names, and by those of SPARQLWrapper and RDFLib. */
const RESULT_NAMES: Readonly<Record<string, string>> = {
  json: JSON_RESULTS.mediaType,
  xml: XML_RESULTS.mediaType,
  sparql: XML_RESULTS.mediaType,
  text: 'text/plain',
  csv: CSV.mediaType,
  tsv: TSV.mediaType,
}
const GRAPH_NAMES: Readonly<Record<string, string>> = {
  json: JSON_LD.mediaType,
  'json-ld': JSON_LD.mediaType,
  jsonld: JSON_LD.mediaType,
  xml: RDF_XML.mediaType,
  rdf: RDF_XML.mediaType,
  'rdf+xml': RDF_XML.mediaType,
  text: TURTLE.mediaType,
  ttl: TURTLE.mediaType,
  turtle: TURTLE.mediaType,
  n3: TURTLE.mediaType,
  nt: N_TRIPLES.mediaType,
  'n-triples': N_TRIPLES.mediaType,
  trig: 'application/trig',
  nq: 'application/n-quads',
  nquads: 'application/n-quads',
  'n-quads': 'application/n-quads',
}

/**
 * The format of a result that the client accepts.
 * @param output replaces Accept
 * @param without formats that cannot represent this result
 */
export function formatFor(
  form: QueryAnalysis['form'],
  { accept, gateway: { caches } }: Pick<Context, 'accept' | 'gateway'>,
  output: Output | undefined,
  without: ReadonlySet<Format>,
): ResultFormat | Problem {
  // Cached: parsing `accept` takes longer than a cached result.
  const key = output === undefined && without.size === 0 && accept !== undefined && `${form} ${accept}`
  const cached = key && caches.resultFormats.get(key)
  if (cached) return cached as ResultFormat
  const offered = OFFERED[form].filter(({ source }) => !without.has(source))
  const isGraph = OFFERED[form] === GRAPH
  const wanted = isGraph ? (output?.forced ?? output?.format) : output?.format
  const named = wanted === undefined ? undefined : formatNamed(wanted, offered, isGraph)
  if (isFailure(named)) return named
  const format = named ?? (negotiate(accept, offered) as ResultFormat | undefined)
  if (!format) return notAcceptable(offered)
  if (key && key.length < 1024) caches.resultFormats.set(key, format)
  return output?.forced ? { ...format, contentType: `${output.forced}${UTF_8}` } : format
}

/** Undefined for a name that only results of the other kind have: SPARQLWrapper sends it with every query. */
function formatNamed(
  name: string,
  offered: readonly ResultFormat[],
  isGraph: boolean,
): ResultFormat | undefined | Problem {
  const [names, others] = isGraph ? [GRAPH_NAMES, RESULT_NAMES] : [RESULT_NAMES, GRAPH_NAMES]
  const short = name.toLowerCase()
  const type = Object.hasOwn(names, short) ? names[short] : parseMediaType(name)?.type
  const format = offered.find(({ mediaType }) => mediaType === type)
  if (format || (!Object.hasOwn(names, short) && Object.hasOwn(others, short))) return format
  return problem(
    'request.malformed',
    `The result has no format “${name.slice(0, 40)}”. Use one of ${Object.keys(names).join(', ')}, or a media type.`,
  )
}

/** The most bytes around a boolean. */
const LONGEST_BOOLEAN = 64 * 1024
const TRUTH = /"boolean"\s*:\s*(true|false)/

/**
 * The format to request from the store. Solutions in XML are written from JSON: Jena writes language tags in XML as they
 * are, and STRLANG makes one of any text (SPARQL 1.1 §17.4.2.7), even of elements.
 */
export const requestedFor = (form: QueryAnalysis['form'], { source }: ResultFormat): Format =>
  form === 'SELECT' && source === XML_RESULTS ? JSON_RESULTS : source

/** Converts the bytes of the store, which are in the format of `requestedFor`, to this format. */
export function inFormat(
  pieces: AsyncIterable<Uint8Array>,
  form: QueryAnalysis['form'],
  format: ResultFormat,
): AsyncIterable<Uint8Array> {
  const { source } = format
  if (form === 'ASK') return source === JSON_RESULTS && WRITTEN[format.code] ? booleanAs(pieces, format) : pieces
  if (source === RDF_XML) return wellFormed(pieces, XML_FLAWS.noXml)
  const solutions = requestedFor(form, format) === JSON_RESULTS ? whole(pieces) : pieces
  return source === XML_RESULTS ? resultsAsXml(solutions, XML_FLAWS) : solutions
}

const NO_XML = problem(
  'negotiation.not-acceptable',
  'The result has a character that XML 1.0 cannot contain. Ask for JSON, TSV, N-Triples or Turtle.',
)

const TOO_LARGE = problem(
  'negotiation.not-acceptable',
  'A row of the result is too large for XML. Ask for JSON or TSV.',
)
const NO_SOLUTIONS = problem('store.failed', 'The triplestore did not return solutions.')
const XML_FLAWS = {
  noXml: new StoreBreak(NO_XML),
  tooLarge: new StoreBreak(TOO_LARGE),
  broken: new StoreBreak(NO_SOLUTIONS),
}

/** How solutions in JSON end, with white space (SPARQL 1.1 Query Results JSON Format §3.2). */
const END = /\]\s*\}\s*\}\s*$/
const LONGEST_END = 64

/** If a row fails, Fuseki ends the answer as if it were complete, in the middle of the JSON. */
async function* whole(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let end = ''
  for await (const piece of pieces) {
    end = (end + Buffer.from(piece.subarray(-LONGEST_END)).toString('latin1')).slice(-LONGEST_END)
    yield piece
  }
  if (!END.test(end))
    throw new StoreBreak(problem('store.failed', 'The triplestore stopped in the middle of the result.'))
}

const WRITTEN: Readonly<Record<string, (value: string) => string>> = {
  csv: (value) => `_askResult\r\n${value}\r\n`,
  tsv: (value) => `?_askResult\n${value}\n`,
  txt: (value) => (value === 'true' ? 'yes\n' : 'no\n'),
}

async function* booleanAs(pieces: AsyncIterable<Uint8Array>, { code }: ResultFormat): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    parts.push(piece)
    if ((length += piece.length) > LONGEST_BOOLEAN) break
  }
  const value = TRUTH.exec(Buffer.concat(parts).toString())?.[1]
  if (value === undefined) throw new StoreBreak(problem('store.failed', 'The triplestore did not return a boolean.'))
  yield Buffer.from(WRITTEN[code]!(value))
}
