// In charge of the syntax of content: one table of media types, file endings and first characters, for all that is read. Pure.
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

/** Their own syntax has more than the one that these names stand for in answers. */
const NAMES_OF_DATASETS = [TRIG, N_QUADS]

/** The names under which the gateway writes a syntax are names under which it reads it. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ...OTHER_RDF_NAMES.filter(({ mediaType }) => !NAMES_OF_DATASETS.includes(mediaType)).map(
    ({ mediaType, source }) => [mediaType, source!.mediaType] as const,
  ),
  ['application/xhtml+xml', HTML],
])

/** The media type of the syntax that content of a Content-Type is in; undefined where the field is malformed or absent. */
export function syntaxOf(contentType: string | undefined): string | undefined {
  const type = typeIn(contentType)
  return type === undefined ? undefined : (ALIASES.get(type) ?? type)
}

const typeIn = (contentType: string | undefined): string | undefined =>
  contentType === undefined ? undefined : parseMediaType(contentType)?.type

/** True where the media type is also that of much that is no RDF. */
export const isGeneral = (contentType: string | undefined): boolean => {
  const type = typeIn(contentType)
  return VAGUE.has(type) || ALIASES.has(type!) || /\+json$/.test(type!)
}

/** Servers and clients that do not know the type of a file send one of these, or none. */
const VAGUE: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/octet-stream',
  'binary/octet-stream',
  'text/plain',
  'application/gzip',
  'application/x-gzip',
])

/** True where the name or the beginning of content has to say what it is. */
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
 * The media type of content: the one of its Content-Type, or the one that its name or its beginning says where that is vague.
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

/** The media type of the syntax that content begins in; undefined where it does not look like RDF or HTML. */
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
