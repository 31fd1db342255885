// In charge of the form in which a proxied server's answer is given: which ones its media type can take, which of them are
// accepted, and the answer in the first of these that it has (spec 4.4).
import { blankNode, graphOf, quad, type Graph, type Quad } from '../rdf/graph.js'
import { negotiate, parseAccept, RDF_FORMATS, RESULT_FORMATS, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { READABLE_ACCEPT, readGraph, type ReadOptions } from '../rdf/read.js'
import { writeGraph } from '../rdf/write.js'
import { readResults } from '../rdf/read-sparql-results.js'
import { RESULTS_JSON, RESULTS_XML, type Results } from '../rdf/sparql-results.js'
import { writeResults } from '../rdf/write-sparql-results.js'

export interface Content {
  /** As `parseMediaType` has it. */
  readonly mediaType: string
  readonly contentType: string
  /** Where it came from: relative IRIs are resolved against it. */
  readonly url: string
  readonly body: Buffer
}

export interface Form {
  readonly format: Format
  readonly body: Buffer
}

/** The code of the form in which nothing is changed. */
export const AS_IS = 'as-is'

const RDF_TYPES: ReadonlySet<string> = new Set([
  ...RDF_FORMATS.map(({ mediaType }) => mediaType),
  'application/trig',
  'application/n-quads',
])
const RESULT_TYPES: ReadonlySet<string> = new Set([RESULTS_JSON, RESULTS_XML])

/** What to ask for: what the client accepts and, where RDF or results will do for it, every syntax of them that is read. */
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

/** The formats in which content of this media type may be given, in the order of the client's preference. */
export function formatsFor(accept: string | undefined, mediaType: string, contentType = mediaType): readonly Format[] {
  return ranked(accept, offered(mediaType, contentType))
}

function offered(mediaType: string, contentType: string): readonly Format[] {
  const asIs: Format = { mediaType, code: AS_IS, contentType }
  // Among these it may still have relative IRIs, which would mean something else here: it is always written anew.
  if (RDF_FORMATS.some((format) => format.mediaType === mediaType)) return RDF_FORMATS
  if (RDF_TYPES.has(mediaType) || mediaType === 'text/html') return [...RDF_FORMATS, asIs]
  if (RESULT_TYPES.has(mediaType)) return [asIs, ...RESULT_FORMATS.filter((format) => format.mediaType !== mediaType)]
  // Its parts could have fields of their own, which nobody has looked at.
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

/** The content in the first of these formats that it has. `maxRead`: the octets of what is read and written anew. */
export async function inFormat(
  content: Content,
  formats: readonly Format[],
  maxRead: number,
  options: ReadOptions,
): Promise<Form | Problem> {
  let meaning: Graph | Results | Problem | undefined
  let failure = problem('negotiation.not-acceptable', `The answer is ${content.mediaType}, which is not accepted.`)
  for (const format of formats) {
    if (format.code === AS_IS) return { format, body: content.body }
    meaning ??= content.body.length > maxRead ? tooLarge(maxRead) : await meaningOf(content, options)
    if (isFailure(meaning)) {
      // Most pages have no RDF, and do not say that they have.
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
  problem(
    'proxy.failed',
    `The answer is larger than ${maxRead} bytes, which is too much to be written in another form.`,
  )

async function meaningOf(content: Content, options: ReadOptions): Promise<Graph | Results | Problem> {
  const { mediaType, contentType, url, body } = content
  if (RESULT_TYPES.has(mediaType)) {
    return readResults(body.toString('utf8'), mediaType) ?? unreadable('it does not hold SPARQL results')
  }
  const triples = await readGraph(body, contentType, url, options)
  return isFailure(triples) ? unreadable(triples.detail) : graphOf(triples.map(relabelled))
}

const unreadable = (reason: string): Problem =>
  problem('proxy.failed', `The answer says that it is of a media type which it is not: ${reason}`)

/** Blank nodes by their place in this document alone: the same answer then gives the same bytes, which its entity-tag says. */
const relabelled = ({ subject, predicate, object }: Quad): Quad => quad(own(subject), predicate, own(object))
const own = <T extends Quad['subject'] | Quad['object']>(term: T): T =>
  (term.termType === 'BlankNode' ? blankNode(term.value.replace(/^d\d+/, '')) : term) as T
