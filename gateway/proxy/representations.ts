// In charge of the representations of a proxied server's content (spec 4.4): the formats that its media type can be written
// in, those of them that the client accepts, and the content in the first of these that works.
import { blankNode, graphOf, quad, type Graph, type Quad } from '../rdf/graph.js'
import { negotiate, parseAccept, RDF_FORMATS, RESULT_FORMATS, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { READABLE_ACCEPT, readGraph, type ReadOptions } from '../rdf/read.js'
import { writeGraph } from '../rdf/write.js'
import { readResults } from '../rdf/read-sparql-results.js'
import { RESULTS_JSON, RESULTS_XML, type Results } from '../rdf/sparql-results.js'
import { writeResults } from '../rdf/write-sparql-results.js'

export interface ProxiedContent {
  /** As `parseMediaType` gives it. */
  readonly mediaType: string
  readonly contentType: string
  /** The URL it came from: relative IRIs are resolved against it. */
  readonly url: string
  readonly body: Buffer
}

export interface ProxiedRepresentation {
  readonly format: Format
  readonly body: Buffer
}

/** The code of the format in which content is passed on unchanged. */
export const AS_IS = 'as-is'

const RDF_TYPES: ReadonlySet<string> = new Set([
  ...RDF_FORMATS.map(({ mediaType }) => mediaType),
  'application/trig',
  'application/n-quads',
])
const RESULT_TYPES: ReadonlySet<string> = new Set([RESULTS_JSON, RESULTS_XML])

/** The Accept field to send: what the client accepts and, where that includes RDF or results, every syntax that is read. */
export function acceptOf(accept: string | undefined): string {
  const ranges = parseAccept(accept)
  if (ranges.length === 0) {
    return [READABLE_ACCEPT, ...[...RESULT_TYPES].map((type) => `${type};q=0.5`), '*/*;q=0.1'].join(', ')
  }
  const more = [
    ...(negotiate(accept, RDF_FORMATS) ? RDF_TYPES : []),
    ...(negotiate(accept, RESULT_FORMATS) ? RESULT_TYPES : []),
  ].filter((type) => !ranges.some((range) => range.type === type))
  return [accept, ...more.map((type) => `${type};q=0.1`)].join(', ')
}

/** The formats in which the client accepts content of this media type, most preferred first. */
export function formatsFor(accept: string | undefined, mediaType: string, contentType = mediaType): readonly Format[] {
  return ranked(accept, offered(mediaType, contentType))
}

function offered(mediaType: string, contentType: string): readonly Format[] {
  const asIs: Format = { mediaType, code: AS_IS, contentType }
  // Content in these may have relative IRIs, which would resolve differently here: it is always written again.
  if (RDF_FORMATS.some((format) => format.mediaType === mediaType)) return RDF_FORMATS
  if (RDF_TYPES.has(mediaType) || mediaType === 'text/html') return [...RDF_FORMATS, asIs]
  if (RESULT_TYPES.has(mediaType)) return [asIs, ...RESULT_FORMATS.filter((format) => format.mediaType !== mediaType)]
  // Its parts could have fields of their own, which are not checked.
  return mediaType.startsWith('multipart/') ? [] : [asIs]
}

function ranked(accept: string | undefined, offers: readonly Format[]): Format[] {
  const best = negotiate(accept, offers)
  return best
    ? [
        best,
        ...ranked(
          accept,
          offers.filter((format) => format !== best),
        ),
      ]
    : []
}

/**
 * The content in the first of these formats that it can be written in.
 * @param maxRead the most bytes that are read to be written in another format
 */
export async function proxiedRepresentation(
  content: ProxiedContent,
  formats: readonly Format[],
  maxRead: number,
  options: ReadOptions,
): Promise<ProxiedRepresentation | Problem> {
  let meaning: Graph | Results | Problem | undefined
  let failure = problem(
    'negotiation.not-acceptable',
    `The other server sent ${content.mediaType}, which the request does not accept.`,
  )
  for (const format of formats) {
    if (format.code === AS_IS) return { format, body: content.body }
    meaning ??= content.body.length > maxRead ? tooLarge(maxRead) : await meaningOf(content, options)
    if (isFailure(meaning)) {
      // Most HTML pages contain no RDF and do not claim to.
      if (content.mediaType !== 'text/html') failure = meaning
      continue
    }
    const text = 'kind' in meaning ? writeResults(meaning, format) : writeGraph(meaning, format)
    if (typeof text === 'string') return { format, body: Buffer.from(text) }
    if (text) failure = text
  }
  return failure
}

const tooLarge = (maxRead: number): Problem =>
  problem('proxy.failed', `The other server sent more than ${maxRead} bytes, too many to be written in another format.`)

async function meaningOf(content: ProxiedContent, options: ReadOptions): Promise<Graph | Results | Problem> {
  const { mediaType, contentType, url, body } = content
  if (RESULT_TYPES.has(mediaType)) {
    return readResults(body.toString('utf8'), mediaType) ?? unreadable('it contains no SPARQL results.')
  }
  const triples = await readGraph(body, contentType, url, options)
  return isFailure(triples) ? unreadable(triples.detail) : graphOf(relabelled(triples))
}

const unreadable = (reason: string): Problem =>
  problem('proxy.failed', `The other server sent content that does not match its Content-Type: ${reason}`)

/** Blank nodes are numbered in the order of the content: equal content gives equal bytes, as its entity-tag says. */
function relabelled(triples: readonly Quad[]): Quad[] {
  const labels = new Map<string, string>()
  const own = <T extends Quad['subject'] | Quad['object']>(term: T): T => {
    if (term.termType !== 'BlankNode') return term
    const label = labels.get(term.value) ?? `b${labels.size}`
    labels.set(term.value, label)
    return blankNode(label) as Quad['subject'] as T
  }
  return triples.map(({ subject, predicate, object }) => quad(own(subject), predicate, own(object)))
}
