// The syntax of content: one table of media types, file endings and first characters for everything that is read. Pure.
import { OTHER_RDF_NAMES, parseMediaType } from '../http/media-type.js'
import { bomOf } from './encodings.js'

const TURTLE = 'text/turtle'
const N_TRIPLES = 'application/n-triples'
const RDF_XML = 'application/rdf+xml'
const JSON_LD = 'application/ld+json'
const HTML = 'text/html'
export const CSV = 'text/csv'
export const TSV = 'text/tab-separated-values'
export const N_QUADS = 'application/n-quads'
export const TRIG = 'application/trig'

/** In answers these names stand for a single graph; content under them is a dataset. */
const NAMES_OF_DATASETS = [TRIG, N_QUADS]

/** Every name that the gateway writes a syntax under, it also reads. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ...OTHER_RDF_NAMES.filter(({ mediaType }) => !NAMES_OF_DATASETS.includes(mediaType)).map(
    ({ mediaType, source }) => [mediaType, source!.mediaType] as const,
  ),
  ['application/xhtml+xml', HTML],
])

/** The syntax of a Content-Type, by its usual media type; undefined if the field is malformed or absent. */
export function syntaxOf(contentType: string | undefined): string | undefined {
  const type = typeIn(contentType)
  return type === undefined ? undefined : (ALIASES.get(type) ?? type)
}

const typeIn = (contentType: string | undefined): string | undefined =>
  contentType === undefined ? undefined : parseMediaType(contentType)?.type

/** True if content of this media type is often not RDF. */
export const isGeneral = (contentType: string | undefined): boolean => {
  const type = typeIn(contentType)
  return VAGUE.has(type) || ALIASES.has(type!) || /\+json$/.test(type!)
}

/** Sent by servers and clients that do not know the type of a file. */
const VAGUE: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/octet-stream',
  'binary/octet-stream',
  'text/plain',
  'application/gzip',
  'application/x-gzip',
])

/** True if the media type says nothing: the name or the beginning of the content decides. */
export const isVague = (contentType: string | undefined): boolean => VAGUE.has(typeIn(contentType))

const BY_ENDING: ReadonlyMap<string, string> = new Map([
  ['ttl', TURTLE],
  ['n3', TURTLE],
  ['nt', N_TRIPLES],
  ['rdf', RDF_XML],
  ['rdfs', RDF_XML],
  ['owl', RDF_XML],
  ['jsonld', JSON_LD],
  ['html', HTML],
  ['htm', HTML],
  ['xhtml', HTML],
  ['trig', TRIG],
  ['nq', N_QUADS],
  ['csv', CSV],
  ['tsv', TSV],
])
/** Files with these endings are often in another syntax. */
const LOOSE_ENDINGS = ['rdf', 'rdfs', 'owl']

/**
 * The media type of content: its Content-Type or, if that is vague, what its name or its beginning says.
 * @param name of a file, or a URL
 * @param start the beginning of the content, unpacked
 */
export function mediaTypeOf(contentType: string | undefined, name: string, start?: Uint8Array): string | undefined {
  if (!isVague(contentType)) return contentType
  const ending = /\.([a-z0-9]+)$/i.exec(name.split(/[?#]/, 1)[0]!.replace(/\.gz$/i, ''))?.[1]?.toLowerCase() ?? ''
  const ofEnding = BY_ENDING.get(ending)
  if (ofEnding !== undefined && !LOOSE_ENDINGS.includes(ending)) return ofEnding
  return (start && syntaxIn(start)) ?? ofEnding ?? contentType
}

/** Bytes. */
const EXAMINED = 16 * 1024

const RDF_NAMESPACE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const KEYWORD = /"@(?:context|id|graph|type)"\s*:/
/** XML 1.0 §2.8, without the document type. */
const PROLOG = /^(?:\s|<\?[^]*?\?>|<!--[^]*?-->)*/
const COMMENTS = /^(?:\s|#[^\n]*)*/
const DIRECTIVE = /^@?(?:prefix|base|version)\s/i
const IRI = '<[^<>"\\s]*>'
const NODE = `(?:${IRI}|_:[^\\s<>"]+)`
const STATEMENT = new RegExp(`^(?:${NODE}|\\[[^\\]"]*\\])\\s+(?:${IRI}|a|[\\w-]*:[\\w-]+)\\s`)
const QUAD = new RegExp(
  `^${NODE}\\s+${IRI}\\s+(?:${NODE}|"(?:[^"\\\\\\n]|\\\\.)*"(?:\\^\\^${IRI}|@[\\w-]+)?)\\s+${NODE}\\s*\\.`,
)

/** The media type that the beginning of content looks like; undefined if it looks like neither RDF nor HTML. */
export function syntaxIn(start: Uint8Array): string | undefined {
  const text = new TextDecoder(bomOf(start) ?? 'utf-8').decode(start.subarray(0, EXAMINED)).trimStart()
  // A graph of TriG cannot begin with a literal, nor a statement of Turtle with a list of objects.
  if (/^(?:\{\s*["}]|\[\s*\{)/.test(text)) return KEYWORD.test(text) ? JSON_LD : undefined
  const markup = text.replace(PROLOG, '')
  if (/^<(?:!doctype\s+)?html\b/i.test(markup)) return HTML
  if (/^<!DOCTYPE\s+(?:[\w.-]+:)?RDF\b/.test(markup)) return RDF_XML
  // RDF/XML §2.6: any element may be the root.
  if (/^<[A-Za-z_][\w.-]*(?::[\w.-]+)?\s[^<>]*\bxmlns/.test(markup))
    return markup.includes(RDF_NAMESPACE) ? RDF_XML : undefined
  const statements = text.replace(COMMENTS, '')
  if (QUAD.test(statements)) return N_QUADS
  if (!DIRECTIVE.test(statements) && !STATEMENT.test(statements)) return undefined
  // All of Turtle is TriG.
  return statements.includes('{') ? TRIG : TURTLE
}
