// Media types: parses Content-Type and Accept, and chooses the format of an answer (RFC 9110 §8.3.1, §12.5.1).

/** A format of answers. */
export interface Format {
  readonly mediaType: string
  /** Short, without separators: the part of an entity-tag that identifies the format (spec 4.6). */
  readonly code: string
  /** The exact `Content-Type` field value. */
  readonly contentType: string
  /** The format with the same bytes, if this one is only another name for it. */
  readonly source?: Format
  /** JSON-LD 1.1 §8.2: the URI of the JSON-LD form, which a media range requests with its parameter `profile`. */
  readonly profile?: string
  /** Prefixes that precede the usual ones. */
  readonly prefixes?: Readonly<Record<string, string>>
}

const format = (mediaType: string, code: string, parameters = ''): Format => ({
  mediaType,
  code,
  contentType: mediaType + parameters,
})

/**
 * RFC 9110 §8.8.3: different bytes need a different entity-tag. Increase this number whenever rdf/write*.ts writes
 * different bytes for a graph (one more prefix is enough): clients still have those of the last release.
 */
const WRITERS = 2
const written = (mediaType: string, code: string, parameters = ''): Format =>
  format(mediaType, `${code}${WRITERS}`, parameters)

export const TURTLE = written('text/turtle', 'ttl', ';charset=UTF-8')
export const N_TRIPLES = written('application/n-triples', 'nt', ';charset=UTF-8')
export const RDF_XML = written('application/rdf+xml', 'rdfxml', ';charset=UTF-8')
const PROFILE = 'http://www.w3.org/ns/json-ld#'
/** RFC 8259 §11: JSON is UTF-8 and has no charset parameter. */
export const JSON_LD: Format = { ...written('application/ld+json', 'jsonldc'), profile: `${PROFILE}compacted` }
export const EXPANDED_JSON_LD: Format = { ...written('application/ld+json', 'jsonld'), profile: `${PROFILE}expanded` }

export const JSON_FORMAT = format('application/json', 'json')

/** The formats of RDF answers, most preferred first. */
export const RDF_FORMATS: readonly [Format, ...Format[]] = [TURTLE, N_TRIPLES, RDF_XML, JSON_LD, EXPANDED_JSON_LD]

const named = (source: Format, mediaType: string, code: string, parameters = ''): Format => ({
  ...written(mediaType, code, parameters),
  source,
})
const UTF_8 = ';charset=UTF-8'
/** Fuseki's other names for the same formats. Triples form a dataset without named graphs. */
export const OTHER_RDF_NAMES: readonly Format[] = [
  named(TURTLE, 'application/trig', 'trig', UTF_8),
  named(N_TRIPLES, 'application/n-quads', 'nq', UTF_8),
  named(N_TRIPLES, 'text/plain', 'txt', UTF_8),
  named(JSON_LD, 'application/json', 'json'),
  named(RDF_XML, 'application/xml', 'xml', UTF_8),
  named(RDF_XML, 'text/xml', 'txtxml', UTF_8),
]

/** All names to choose from. Another name has the weight of any media type, and the usual names win a tie. */
export const RDF_NAMES: readonly [Format, ...Format[]] = [...RDF_FORMATS, ...OTHER_RDF_NAMES]

/** The format that produces these bytes. */
export const sourceOf = (format: Format): Format => format.source ?? format

/** The media types of the formats, without duplicates. */
export const mediaTypesOf = (formats: readonly Format[]): string =>
  [...new Set(formats.map(({ mediaType }) => mediaType))].join(', ')

/** A page for people. Last among the formats: it is chosen only if it has the highest weight (design 3). */
export const HTML = format('text/html', 'html', ';charset=UTF-8')
export const DOCUMENT_FORMATS: readonly [Format, ...Format[]] = [...RDF_FORMATS, HTML]

const RESULTS_JSON = format('application/sparql-results+json', 'srj')
const RESULTS_XML = written('application/sparql-results+xml', 'srx')
/** The formats of a table of solutions (SPARQL 1.1 Query Results JSON, XML, CSV and TSV Formats). */
export const RESULT_FORMATS: readonly Format[] = [
  RESULTS_JSON,
  RESULTS_XML,
  format('text/csv', 'csv', ';charset=UTF-8'),
  format('text/tab-separated-values', 'tsv', ';charset=UTF-8'),
]

/** Names that were used before these syntaxes were registered. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'text/turtle': ['application/x-turtle', 'application/turtle', 'text/n3', 'text/rdf+n3', 'application/n3'],
    'application/n-triples': ['text/ntriples', 'application/ntriples'],
    'application/n-quads': ['text/nquads', 'text/n-quads', 'text/x-nquads'],
    'application/trig': ['text/trig', 'application/x-trig'],
  }).flatMap(([mediaType, names]) => names.map((name) => [name, mediaType] as const)),
)

/** A media type or media range. `type` is lower case, such as `text/turtle`; a range has `*` for either part. */
export interface MediaType {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
}

/** A member of `Accept`; `q` is its weight, 0 to 1, and is not among the parameters. */
export interface MediaRange extends MediaType {
  readonly q: number
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`)
const PARAMETER = new RegExp(`^(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")$`)
// RFC 9110 §12.4.2, but lenient: any number of digits, and none needed before the point.
const WEIGHT = /^(?:0?\.\d+|[01](?:\.\d*)?)$/

/** Parses a media type (RFC 9110 §8.3.1) and replaces synonyms by the registered name; undefined if malformed. */
export function parseMediaType(value: string): MediaType | undefined {
  const [type = '', ...rest] = splitUnquoted(value, ';')
  if (!TYPE.test(type)) return undefined
  const parameters = new Map<string, string>()
  for (const parameter of rest) {
    const [, name, token, quoted] = PARAMETER.exec(parameter) ?? []
    if (name === undefined) return undefined
    parameters.set(name.toLowerCase(), token ?? quoted!.replace(/\\(.)/g, '$1'))
  }
  const lower = type.toLowerCase()
  return { type: SYNONYMS.get(lower) ?? lower, parameters }
}

const MEMBERS_LIMIT = 100

/** The first hundred members of an `Accept` field, without malformed ones. */
export function parseAccept(value: string | undefined): readonly MediaRange[] {
  return splitUnquoted(value ?? '', ',', MEMBERS_LIMIT).flatMap((member) => {
    const range = parseMediaType(member)
    if (!range || (range.type.startsWith('*/') && range.type !== '*/*')) return []
    const weight = range.parameters.get('q') ?? '1'
    if (!WEIGHT.test(weight) || Number(weight) > 1) return []
    const parameters = new Map([...range.parameters].filter(([name]) => name !== 'q'))
    return [{ type: range.type, parameters, q: Number(weight) }]
  })
}

/**
 * The offered format with the greatest weight; ties go to the first. Undefined if none is acceptable. Everything is
 * acceptable if the field is absent or has no well-formed member.
 */
export function negotiate(accept: string | undefined, offered: readonly Format[]): Format | undefined {
  const ranges = parseAccept(accept)
  if (ranges.length === 0) return offered[0]
  let best: Format | undefined
  let greatest = 0
  for (const candidate of offered) {
    const q = weightOf(candidate, ranges)
    if (q > greatest) [best, greatest] = [candidate, q]
  }
  return best
}

/** All acceptable formats, most preferred first. */
export function inOrderOf(accept: string | undefined, offered: readonly Format[]): Format[] {
  const best = negotiate(accept, offered)
  return best
    ? [
        best,
        ...inOrderOf(
          accept,
          offered.filter((format) => format !== best),
        ),
      ]
    : []
}

/** RFC 9110 §12.5.1: the most specific matching range wins. Other parameters only make a range more specific. */
function weightOf({ mediaType, profile }: Format, ranges: readonly MediaRange[]): number {
  const family = `${mediaType.slice(0, mediaType.indexOf('/'))}/*`
  let weight = 0
  let precedence = -1
  for (const { type, parameters, q } of ranges) {
    const own = type === mediaType ? 2 + parameters.size : type === family ? 1 : type === '*/*' ? 0 : -1
    if (own < 0 || own < precedence || isOfOther(profile, parameters.get('profile'))) continue
    weight = own > precedence ? q : Math.max(weight, q)
    precedence = own
  }
  return weight
}

/**
 * True if only the other JSON-LD profile was requested. Profiles that we do not offer, such as flattened, are ignored.
 */
const isOfOther = (own: string | undefined, asked: string | undefined): boolean => {
  const known =
    own && asked?.split(' ').filter((one) => [JSON_LD, EXPANDED_JSON_LD].some((form) => form.profile === one))
  return known ? known.length > 0 && !known.includes(own) : false
}

/** The non-empty parts (RFC 9110 §5.6.1) between separators outside quoted strings (RFC 9110 §5.6.4). */
export function splitUnquoted(value: string, separator: ',' | ';', limit = Infinity): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let i = 0; i <= value.length && parts.length < limit; i++) {
    const character = value[i]
    if (quoted && character === '\\') i++
    else if (character === '"') quoted = !quoted
    else if (i >= value.length || (character === separator && !quoted)) {
      const part = value.slice(start, i).trim()
      if (part !== '') parts.push(part)
      start = i + 1
    }
  }
  return parts
}
