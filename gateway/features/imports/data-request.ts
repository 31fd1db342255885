// Reads a request for `add` or `transform` (LinkedDataHub 2.3): the source, the target document, and the query.
import { indexBySubject, objectsOf, readContent, type TriplesBySubject } from '../../request/endpoint-rdf.js'
import { MULTIPART, partsOf } from '../../rdf/read-multipart.js'
import { mediaTypeOf } from '../../rdf/syntaxes.js'
import { unpackedStart } from '../../rdf/unpacked.js'
import { DCT, NFO, SD, SP, SPIN } from '../../rdf/vocabulary.js'
import { MAX_BODY } from '../../http/body.js'
import { parseMediaType } from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Term } from '../../rdf/graph.js'
import { askerOf, type Context } from '../../request/context.js'

export interface SentFile {
  readonly body: Buffer
  readonly mediaType: string | undefined
}

export interface DataRequest {
  /** A URL, or a file sent with the request. */
  readonly source: string | SentFile
  /** The URL of the target document. */
  readonly target: string
  /** The IRI of a query in a document, or the text of the query. */
  readonly query: { readonly iri: string } | { readonly text: string } | undefined
}

export async function readDataRequest(context: Context, endpoint: string): Promise<DataRequest | Problem> {
  const type = parseMediaType(context.request.fields['content-type'] ?? '')?.type
  return type === MULTIPART ? fromParts(context, endpoint) : fromGraph(context, endpoint)
}

async function fromGraph(context: Context, endpoint: string): Promise<DataRequest | Problem> {
  const content = await readContent(context, endpoint)
  if (isFailure(content)) return content
  const described = indexBySubject(content)
  const subject = subjectWith(described, DCT('source'))
  if (!subject) return missing('dct:source, the URL of the data')
  const source = onlyIri(described, subject, DCT('source'))
  return source === undefined ? missing('one dct:source, an IRI') : requestOf(described, subject, source)
}

/** Reads the fields of an RDF/POST form, one of which is a file (LinkedDataHub 2.3). */
async function fromParts(context: Context, endpoint: string): Promise<DataRequest | Problem> {
  const { request, gateway, trace } = context
  const body = await request.readBody(gateway.settings.maxBody, MAX_BODY)
  trace.continues()
  if (isFailure(body)) return body
  const parts = partsOf(body, request.fields['content-type']!)
  if (isFailure(parts)) return parts
  const files = parts.filter((part) => part.file !== undefined)
  const [file] = files
  if (!file || files.length > 1) return missing('one file')
  const form = parts
    .map((part) => [part.name, part === file ? FILE : part.body.toString('utf8')] as const)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&')
  const sent = { body: Buffer.from(form), contentType: 'application/x-www-form-urlencoded', base: endpoint }
  const content = await gateway.reading.readRdf(askerOf(context), sent, undefined)
  if (isFailure(content)) return content
  const described = indexBySubject(content)
  const subject = content.find(
    ({ predicate, object }) => predicate.value === NFO('fileName') && object.value === FILE,
  )?.subject
  if (!subject) return missing('nfo:fileName, whose value is the file')
  const [format] = objectsOf(described, subject, DCT('format'))
  const said = format?.value.replace(/^http:\/\/www\.sparontologies\.net\/mediatype\//, '')
  const mediaType = mediaTypeOf(said ?? file.contentType, file.file!, await unpackedStart(file.body))
  return requestOf(described, subject, { body: file.body, mediaType })
}

/** A placeholder for the file in the form. */
const FILE = 'the file'

function requestOf(described: TriplesBySubject, subject: Term, source: DataRequest['source']): DataRequest | Problem {
  const target = onlyIri(described, subject, SD('name'))
  if (target === undefined) return missing('one sd:name, the URL of the target document')
  const queries = [...objectsOf(described, subject, SPIN('query')), ...objectsOf(described, subject, SP('text'))]
  if (queries.length > 1) return missing('one query only')
  const [query] = queries
  return {
    source,
    target,
    query: query && (query.termType === 'NamedNode' ? { iri: query.value } : { text: query.value }),
  }
}

const subjectWith = (described: TriplesBySubject, property: string): Term | undefined =>
  [...described.values()].flat().find(({ predicate }) => predicate.value === property)?.subject

function onlyIri(described: TriplesBySubject, subject: Term, property: string): string | undefined {
  const [value, another] = objectsOf(described, subject, property)
  return value?.termType === 'NamedNode' && !another ? value.value : undefined
}

const missing = (what: string): Problem => problem('request.malformed', `The request has to name ${what}.`)
