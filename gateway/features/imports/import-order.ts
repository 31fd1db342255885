// What an import should do, according to its agent: the query string of a request with data, or an `ldh:CSVImport` or
// `ldh:RDFImport` that names its data (LinkedDataHub 2.8).
import { IMPORTING } from './importing.js'
import { parseMediaType } from '../../http/media-type.js'
import { normalisedUrl } from '../../http/normal-path.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Quad } from '../../rdf/graph.js'
import { LDH, RDF, SD, SPIN } from '../../rdf/vocabulary.js'
import { askerOf, type Context } from '../../request/context.js'
import { TAB_SEPARATED, USUAL, type Dialect } from './csvw-dialect.js'
import { readMetadata, type Metadata, type MetadataText } from './csvw-metadata.js'
import { CSV, TSV } from '../../rdf/syntaxes.js'
import type { Mapping, ImportPlan } from './plan.js'
import { savedQueryText, type NamedQuery } from './saved-query.js'
import { isEncoding } from '../../rdf/encodings.js'
import { importPlaceOf } from './write-as.js'

export interface ImportOrder {
  /** The URL of the data; undefined if the request contains the data. */
  readonly source?: string
  readonly query?: NamedQuery
  readonly delimiter?: string
  readonly encoding?: string
  readonly name?: string | undefined
  /** The name of the file, if the request contains it. */
  readonly file?: string
  readonly into?: string
  readonly stopsAtRefusal: boolean
}

/** Parameters: `into` (a container), `name` (a document), `query` (IRI or text), `delimiter`, `encoding`, `stop`. */
export function importOrderOf(query: URLSearchParams): ImportOrder {
  const given = (name: string): string | undefined => query.get(name) ?? undefined
  const text = given('query')
  const isIri = text !== undefined && /^https?:[^\s<>"{}]+$/.test(text)
  const [delimiter, encoding, name, into, file] = ['delimiter', 'encoding', 'name', 'into', 'file'].map(given)
  return {
    ...(text !== undefined && { query: isIri ? { iri: text } : { text } }),
    ...(delimiter !== undefined && { delimiter }),
    ...(name !== undefined && { name }),
    ...(into !== undefined && { into }),
    ...(encoding !== undefined && { encoding }),
    ...(file !== undefined && { file }),
    stopsAtRefusal: query.has('stop'),
  }
}

export const IMPORT_TYPES = [LDH('CSVImport'), LDH('RDFImport')]

/** The properties of an import that say what it should do. */
export const IMPORT_PROPERTIES = [LDH('file'), SPIN('query'), LDH('delimiter'), SD('name')]

/** The statements in the content that something is an import. */
export const typingsIn = (content: readonly Quad[]): readonly Quad[] =>
  content.filter(({ predicate, object }) => predicate.value === RDF('type') && IMPORT_TYPES.includes(object.value))

/** The only import that this content describes. */
export function onlyOrder(content: readonly Quad[], order: ImportOrder): ImportOrder | Problem {
  const typings = typingsIn(content)
  const [typing] = typings
  if (!typing || typings.length > 1) {
    return problem(
      'request.malformed',
      'Send data with ?into= or ?name=, or describe one ldh:CSVImport or ldh:RDFImport.',
    )
  }
  return describedOrder(content, typing.subject, order)
}

/** The import with this name in the content. */
export function describedOrder(
  content: readonly Quad[],
  name: Quad['subject'],
  order: ImportOrder,
): ImportOrder | Problem {
  const valueOf = (property: string): Quad['object'] | undefined =>
    content.find(({ subject, predicate }) => predicate.value === property && subject.equals(name))?.object
  const [file, query, delimiter, target] = IMPORT_PROPERTIES.map(valueOf)
  if (file?.termType !== 'NamedNode') return problem('request.malformed', 'The import names no ldh:file.')
  return {
    ...order,
    source: file.value,
    ...(query && { query: query.termType === 'NamedNode' ? { iri: query.value } : { text: query.value } }),
    ...(delimiter && { delimiter: delimiter.value }),
    ...(target && { name: target.value }),
  }
}

/** The file on disk. */
export interface Received {
  readonly path: string
  readonly size: number
  readonly digest: string
  readonly mediaType: string
  readonly base: string
  readonly metadata?: MetadataText | undefined
}

/** The plan, or the mistake in the order. Nothing is read until the order is correct. */
export async function importPlanOf(
  context: Context,
  order: ImportOrder,
  received: Received,
  spool: string,
): Promise<ImportPlan | Problem> {
  const { application, gateway } = context
  const { type, parameters } = parseMediaType(received.mediaType) ?? {}
  // A CSV import that is described without a query names the container for its rows.
  if ((type === CSV || type === TSV) && !order.query && order.source !== undefined && order.name !== undefined)
    return importPlanOf(context, { ...order, name: undefined, into: order.name }, received, spool)
  const kind = type === CSV || type === TSV ? 'csv' : 'rdf'
  const mapping = await mappingOf(context, order, received.base)
  if (isFailure(mapping)) return mapping
  const wrong = wrongIn(order, kind, mapping)
  if (wrong) return wrong
  const [name, into] = [order.name, order.into].map((one) => (one === undefined ? one : importPlaceOf(context, one)))
  if (isFailure(name)) return name
  if (isFailure(into)) return into
  const usual = usualOf(type, parameters?.get('header'))
  const metadata = kind === 'csv' && !mapping ? metadataOf(order, received, usual) : undefined
  if (isFailure(metadata)) return metadata
  const { path, size, digest, mediaType, base } = received
  const { delimiter } = order
  const dialect = { ...(metadata?.dialect ?? usual), ...(delimiter !== undefined && { delimiter }) }
  const encoding = order.encoding ?? dialect.encoding ?? encodingOf(parameters?.get('charset'))
  if (kind === 'csv' && !isEncoding(encoding)) return unknownCharset(encoding)
  return {
    ...{ path, size, digest, kind, mediaType, base, dialect, encoding, spool, ...(metadata && { metadata }) },
    mapping: mapping ?? (kind === 'csv' ? { plain: true } : undefined),
    // As the names of graphs in the data.
    name: name && normalisedUrl(name.document),
    into: into?.document,
    namespace: `${application.base}ns#`,
    maxBytes: IMPORTING.of(gateway).maxImport,
  }
}

/** RFC 4180 §3: the media type may say that there is no header. */
function usualOf(type: string | undefined, header = 'present'): Dialect {
  const dialect = type === TSV ? TAB_SEPARATED : USUAL
  return header.toLowerCase() === 'absent' ? { ...dialect, headerRowCount: 0 } : dialect
}

/** RFC 7111 §5.1: the charset of the media type. ASCII is valid UTF-8. */
const encodingOf = (charset = 'utf-8'): string => (/^(?:us-)?ascii$/i.test(charset) ? 'utf-8' : charset)

const unknownCharset = (encoding: string): Problem =>
  problem(
    'content.unsupported',
    `The encoding ${encoding.slice(0, 40)} of the CSV is not supported. Name its encoding: &encoding=windows-1252, for example.`,
  )

/** Metadata that cannot be used is only reported if it was found next to the file. */
function metadataOf(
  { file = '' }: ImportOrder,
  { metadata, base }: Received,
  usual: Dialect,
): Metadata | undefined | Problem {
  if (!metadata) return undefined
  const none = (flaw: string): Metadata => ({ columns: [], dialect: usual, isSuppressed: false, unused: [flaw] })
  if (metadata.flaw !== undefined) return none(metadata.flaw)
  const read = readMetadata(metadata.text, [base, file], usual, metadata.url)
  return isFailure(read) && !metadata.came ? none(read.detail) : read
}

async function mappingOf(
  context: Context,
  { query }: ImportOrder,
  base: string,
): Promise<Mapping | undefined | Problem> {
  if (!query) return undefined
  const text = await savedQueryText(context, query)
  if (isFailure(text)) return text
  const { application, gateway } = context
  const construct = await gateway.reading.analyseConstruct(askerOf(context), text, base, application.base)
  if (isFailure(construct)) return construct
  return construct.volatile
    ? problem(
        'query.syntax',
        'NOW, RAND, UUID and STRUUID are not allowed: a second run would create other documents. Build names from ?row or a column.',
      )
    : { construct }
}

function wrongIn(
  { delimiter, encoding, name, into, source }: ImportOrder,
  kind: ImportPlan['kind'],
  mapping: Mapping | undefined,
): Problem | undefined {
  const wrong = (detail: string): Problem => problem('request.malformed', detail)
  if (delimiter !== undefined && (delimiter.length !== 1 || /["\r\n]/.test(delimiter)))
    return wrong('The delimiter has to be one character.')
  if (encoding !== undefined && !isEncoding(encoding)) return wrong(`The encoding ${encoding.slice(0, 40)} is unknown.`)
  if (name !== undefined && into !== undefined)
    return wrong('Give a container (?into=) or a document (?name=), not both.')
  if (kind === 'csv' && !mapping && into === undefined)
    return wrong('Give the container for the rows (?into=), or a query.')
  const hasGraphs = mapping && 'construct' in mapping && mapping.construct.template.every(({ graph }) => graph !== '')
  if (mapping && !hasGraphs && name === undefined && (kind === 'csv' || into === undefined)) {
    return wrong('The template of the query has triples without GRAPH. Name the document for them (?name=, sd:name).')
  }
  if (kind === 'rdf' && !mapping && source !== undefined && name === undefined && into === undefined)
    return wrong('An RDF import needs a document (sd:name) or a query.')
  return undefined
}
