// Reads RDF: content by its media type, answers of the store, and configuration files. Content from others may be slow
// to read, so evaluation/reading.ts reads it off the main thread.
import { BoundedParser, placed, type N3Error } from './bounded-parser.js'
import { readableContent, type ForeignAnswer } from './foreign-content.js'
import { flawOf, quad, type Quad } from './graph.js'
import { charsetFlaw, decodeText } from '../http/body.js'
import { markupText } from './encodings.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from './n-triples.js'
import type { LoadContext } from './read-json-ld.js'
import { readRdfPost } from './read-form.js'
import { MULTIPART, partsOf, type BodyPart } from './read-multipart.js'
import { syntaxOf } from './syntaxes.js'
import {
  graphProblem,
  LIMIT_CHARACTERS,
  makeTerms,
  malformed,
  syntaxProblem,
  type SyntaxFailure,
  type Terms,
} from './terms.js'

export { readCanonical, readLegible, readNTriples } from './n-triples.js'

export interface ReadOptions {
  /** Loads the remote JSON-LD context at a URL. If absent, content that names one is refused. */
  readonly loadContext?: LoadContext | undefined
  /** The most characters that the graph may have in N-Triples. */
  readonly limit?: number
  /** The content is a dataset, whose graphs may have any names. */
  readonly allGraphs?: boolean
}

type Result = Quad[] | Problem
type Reader = (text: string, base: string, terms: Terms, options: ReadOptions) => Result | Promise<Result>

// Loaded on demand: these parsers take longer to load than everything else here, and most threads need neither.
const readJsonLd: typeof import('./read-json-ld.js').readJsonLd = async (...content) =>
  (await import('./read-json-ld.js')).readJsonLd(...content)
const readRdfXml: Reader = async (text, base, terms) =>
  (await import('./read-rdf-xml.js')).readRdfXml(text, base, terms)

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['text/turtle', n3Reader('Turtle')],
  ['application/n-triples', n3Reader('N-Triples')],
  ['application/rdf+xml', readRdfXml],
  ['application/ld+json', (text, base, terms, { loadContext }) => readJsonLd([text], base, terms, loadContext)],
  ['application/trig', n3Reader('TriG')],
  ['application/n-quads', n3Reader('N-Quads')],
  ['text/html', readHtml],
  ['application/x-www-form-urlencoded', readForm],
  ['application/rdf+x-www-form-urlencoded', readForm],
])

/** The media types accepted in requests, as the value of an `Accept-Post` field (LDP §7.1). */
export const ACCEPT_POST = [...READERS.keys()].join(', ')

/** An `Accept` value for requesting documents that `readGraph` can read. */
export const READABLE_ACCEPT =
  'text/turtle, application/n-triples, application/ld+json;q=0.9, application/rdf+xml;q=0.8, text/html;q=0.2'

/** True if `readGraph` can read this Content-Type. */
export function isReadable(contentType: string | undefined): boolean {
  const type = syntaxOf(contentType)
  return type !== undefined && (type === MULTIPART || READERS.has(type))
}

/**
 * The triples of a request's content, possibly with duplicates. Blank node labels are generated, and unique across
 * texts. Problems: `content.unsupported`, `content.syntax`, `content.too-large`.
 * @param base the URI of the document: relative IRIs are resolved against it, and a named graph must have this name
 */
export async function readGraph(
  body: Buffer,
  contentType: string | undefined,
  base: string,
  options: ReadOptions,
): Promise<Result> {
  if (contentType === undefined) return body.length === 0 ? [] : unsupported('The content has no Content-Type.')
  const syntax = syntaxOf(contentType)
  if (syntax === MULTIPART) return readParts(body, contentType, base, options)
  const reader = READERS.get(syntax ?? '')
  if (!reader) return unsupported(`The media type ${contentType.slice(0, 100)} is not supported.`)
  const text = textIn(body, contentType, MARKUP.includes(syntax!))
  if (isFailure(text)) return text
  if (body.length === 0) return []
  const terms = makeTerms(options.limit)
  const quads = await reader(text, base, terms, options)
  return Array.isArray(quads) && !options.allGraphs ? oneGraph(quads, base, syntax!) : quads
}

const MARKUP = ['application/rdf+xml', 'text/html']

function textIn(body: Buffer, contentType: string, isMarkup: boolean): string | Problem {
  if (isMarkup) {
    const text = markupText(body, contentType)
    return isFailure(text) && text.failure === 'content.unsupported' ? unsupported(text.detail) : text
  }
  const flaw = charsetFlaw(contentType)
  if (flaw !== undefined) return unsupported(flaw)
  return decodeText(body) ?? problem('content.syntax', 'The content is not valid UTF-8.')
}

/** SPARQL 1.1 Graph Store HTTP Protocol §5.5: merges the parts. Each part has its own blank nodes. */
async function readParts(body: Buffer, contentType: string, base: string, options: ReadOptions): Promise<Result> {
  const parts = partsOf(body, contentType)
  if (isFailure(parts)) return parts
  const triples: Quad[] = []
  for (const part of parts) {
    const isNested = syntaxOf(part.contentType) === MULTIPART
    const content = part.file === undefined ? part : await readableContent(foreignOf(part), LIMIT_CHARACTERS)
    const read = isNested
      ? unsupported('A part may not have parts itself.')
      : isFailure(content)
        ? content
        : await readGraph(content.body, content.contentType ?? 'none', base, options)
    if (isFailure(read))
      return { ...read, detail: `The part ${JSON.stringify(part.name.slice(0, 100))}: ${read.detail}` }
    for (const triple of read) triples.push(triple)
  }
  return triples
}

const foreignOf = ({ body, contentType, file = '' }: BodyPart): ForeignAnswer => ({
  body,
  fields: { 'content-type': contentType },
  url: file,
})

/** RFC 9110 §15.5.16: the fields name the supported media types. */
const unsupported = (detail: string): Problem =>
  problem('content.unsupported', `${detail} Use one of ${ACCEPT_POST}.`, {
    fields: [
      ['Accept-Post', ACCEPT_POST],
      ['Accept', ACCEPT_POST],
    ],
  })

/** The triples of a dataset with a single graph: the default graph, or one named like the document. */
function oneGraph(quads: readonly Quad[], document: string, mediaType: string): Result {
  const name = quads[0]?.graph
  const triples: Quad[] = []
  for (const found of quads) {
    const { graph, subject, predicate, object } = found
    if (graph.termType !== 'DefaultGraph' && graph.value !== document) return graphProblem(`it has <${graph.value}>`)
    if (!graph.equals(name)) return graphProblem('it has several')
    const triple = graph.termType === 'DefaultGraph' ? found : quad(subject, predicate, object)
    const flaw = flawOf(triple)
    if (flaw) return syntaxProblem(mediaType, flaw)
    triples.push(triple)
  }
  return triples
}

function n3Reader(format: 'Turtle' | 'N-Triples' | 'TriG' | 'N-Quads'): Reader {
  // RDF 1.1 N-Triples §2.1: IRIs are absolute, so there is no base.
  const relative = format === 'Turtle' || format === 'TriG'
  return (text, base, { factory, overgrown }) => {
    const parser = new BoundedParser({ format, factory, blankNodePrefix: '_:', ...(relative && { baseIRI: base }) })
    try {
      return parser.parse(text)
    } catch (error) {
      return syntaxProblem(format, placed(error), { factory, overgrown })
    }
  }
}

async function readHtml(html: string, base: string, terms: Terms, { loadContext }: ReadOptions): Promise<Result> {
  const { islandsOf } = await import('./read-html.js')
  const islands = islandsOf(html, base)
  if (isFailure(islands)) return syntaxProblem('HTML', islands.detail)
  if (islands.texts.length === 0) {
    return problem('content.syntax', 'The HTML has no script element of type application/ld+json.')
  }
  return readJsonLd(islands.texts, islands.base, terms, loadContext)
}

function readForm(form: string, base: string, terms: Terms): Result {
  const triples = readRdfPost(form, base, terms.factory)
  if (triples === undefined) return unsupported('The form is not RDF/POST: its first key is not "rdf".')
  return isFailure(triples) ? syntaxProblem('RDF/POST', triples.detail, terms) : triples
}

/** The triples of N-Triples from a store; `store.unreadable` if it is malformed. */
export const readStored = (text: string): Quad[] | Problem => readNTriples(text) ?? NOT_N_TRIPLES

export const NOT_N_TRIPLES = problem(
  'store.unreadable',
  'The stored document cannot be read as N-Triples. Replace it with PUT or remove it with DELETE.',
)

/**
 * The quads of a TriG document such as a configuration file, or its first error with the line, from 1. Blank node
 * labels are distinct across documents.
 */
export function readTrig(text: string, base: string): Quad[] | (SyntaxFailure & { readonly line: number }) {
  try {
    const { factory } = makeTerms()
    return new BoundedParser({ format: 'TriG', baseIRI: base, blankNodePrefix: '_:', factory }).parse(text)
  } catch (error) {
    return { ...malformed(placed(error)), line: (error as N3Error).context?.line ?? 1 }
  }
}
