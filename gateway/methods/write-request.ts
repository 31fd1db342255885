// Reads a write request: parses its content, or refuses it.
import { codingFlaw, MAX_BODY, readText } from '../http/body.js'
import type { Request } from '../http/exchange.js'
import type { LargeContent, StoredWith } from '../evaluation/reading.js'
import type { Application } from '../gateway.js'
import { valuesOf, type Quad } from '../rdf/graph.js'
import { linesBeginning } from '../rdf/sorted-lines.js'
import { RDF } from '../rdf/vocabulary.js'
import { hasParts } from '../request/admission.js'
import { askerOf, contextsFor, type Context } from '../request/context.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { ACCEPT_POST, readCanonical } from '../rdf/read.js'
import { part } from '../part.js'

/** The triples of a form, and the SHA-1s of its files, which are already stored. */
export interface Uploaded {
  readonly content: readonly Quad[]
  readonly files: readonly string[]
}

/** Reads content with files in it, if the gateway has that feature. */
export interface Uploads {
  /** The form; the whole content if it is not a form. */
  read(context: Context, iri: string): Promise<Uploaded | Buffer | Problem>
  /** Must be called after the write. @param isRefused whether it had no effect */
  release(context: Pick<Context, 'application'>, files: readonly string[], isRefused: boolean): Promise<void>
}
export const UPLOADS = part<Uploads>('uploads')

/**
 * Triples to put or to append, an update to run, or the removal of the document. `byImport`: if the document already
 * has these triples, nothing is written; and the answer has no entity-tag.
 */
export type WriteRequest =
  | ({ readonly method: 'PUT' } & WrittenBody)
  | ({ readonly method: 'POST' } & WrittenBody)
  | { readonly method: 'PATCH'; readonly update: string | Problem }
  | { readonly method: 'DELETE' }

interface WrittenBody {
  readonly content: WrittenContent
  readonly byImport?: true
  /** The content comes from a source, which others may have written. */
  readonly fromSource?: true
  /** The SHA-1s of the files that came with the request. */
  readonly files?: readonly string[]
}

/**
 * The triples of short content, with their blank nodes; large content as a text, whose sum may be computed when needed.
 */
export type WrittenContent = readonly Quad[] | WrittenText
type WrittenText = Omit<LargeContent, 'sum'> & Partial<LargeContent>

export const isLargeContent = (content: WrittenContent): content is WrittenText => 'nTriples' in content

export const isByImport = (asked: WriteRequest): boolean => 'byImport' in asked && asked.byImport === true

/** The types that the content gives the document itself. */
export const typesIn = (content: WrittenContent, iri: string): string[] => {
  const triples = isLargeContent(content)
    ? readCanonical(linesBeginning(content.nTriples, `<${iri}> <${RDF('type')}> `).join('\n'))
    : content
  return valuesOf({ triples }, iri, RDF('type'))
}

/** @param takes whether files are allowed: only documents have files, elsewhere the parts of a form are RDF */
export async function readWriteRequest(
  context: Context,
  iri: string,
  takes: 'files too' | 'triples alone' = 'files too',
): Promise<WriteRequest | Problem> {
  const { request, gateway } = context
  const { method, fields } = request
  if (method === 'DELETE') return { method }
  // RFC 9110 §14.5: a PUT with Content-Range is a partial one, which is not supported.
  if (fields['content-range'] !== undefined) return problem('request.malformed', 'Content-Range is not supported.')
  const unheeded = method === 'POST' && asksForNew(fields) ? creatingText(iri) : method === 'PUT' && unheededOf(fields)
  if (unheeded) return problem('request.malformed', unheeded)
  const coding = codingFlaw(fields)
  if (coding !== undefined) {
    return problem('content.unsupported', coding, { fields: [['Accept-Encoding', 'identity']] })
  }
  const type = fields['content-type']
  if (method === 'PATCH') {
    return /^application\/sparql-update\s*(;|$)/i.test(type ?? '')
      ? readUpdate(context, iri)
      : unsupportedPatch('PATCH takes application/sparql-update.')
  }
  const uploaded =
    takes === 'files too' && hasParts(request) ? await UPLOADS.in(gateway)?.read(context, iri) : undefined
  if (uploaded && 'files' in uploaded) return { method: method as 'PUT' | 'POST', ...uploaded }
  const body = uploaded ?? (await request.readBody(gateway.settings.maxBody, MAX_BODY))
  context.trace.continues()
  if (isFailure(body)) return body
  // Spec 4.1: the body of a PUT may be empty; a POST appends something.
  if (body.length === 0 && type === undefined && method === 'POST') {
    return problem('content.unsupported', 'POST takes RDF with its Content-Type.', {
      fields: [['Accept-Post', ACCEPT_POST]],
    })
  }
  const sent = { body, contentType: type, base: iri }
  const isEmpty = body.length === 0 && method === 'PUT'
  const content = isEmpty
    ? []
    : await gateway.reading.readContent(askerOf(context), sent, contextsFor(context), toStore(context.application))
  return isFailure(content) ? content : { method: method as 'PUT' | 'POST', content }
}

/** Used for content that is to be stored. */
export const toStore = ({ cache, traits }: Pick<Application, 'cache' | 'traits'>): Omit<StoredWith, 'document'> => ({
  tagKey: cache.tagKey,
  forms: traits.literals(),
})

async function readUpdate(context: Context, iri: string): Promise<WriteRequest | Problem> {
  const { request, gateway } = context
  const refused = (reason: string, detail: string): Problem =>
    reason === 'unsupported' ? unsupportedPatch(detail) : problem('update.form', detail)
  const text = await readText(request, gateway.settings.maxBody, refused, MAX_BODY)
  if (isFailure(text)) return text
  const sent = { update: text, base: iri, forms: context.application.traits.literals() }
  const analysed = await gateway.evaluation.analyse(askerOf(context), sent)
  // Spec 7: 422, which comes after the preconditions (design 3, order).
  if (isFailure(analysed) && analysed.failure !== 'update.form') return analysed
  return { method: 'PATCH', update: isFailure(analysed) ? analysed : text }
}

/**
 * LDP 1.0 §5.2.3, §5.2.3.10: such a `POST` means a new resource below this one. Spec 4.1: here it would add to this
 * one.
 */
export const asksForNew = ({ slug, link }: Request['fields']): boolean =>
  slug !== undefined || LDP_TYPE.test(link ?? '')
const LDP_TYPE = /<http:\/\/www\.w3\.org\/ns\/ldp#\w+>[^<,]*;\s*rel\s*=\s*(?:type\b|"(?:[^"<,]*\s)?type[\s"])/i

/**
 * Clients of LDP and Solid ask for a container or a name in this way. If the gateway ignored it, they would get another
 * document than they asked for.
 */
export function unheededOf({ slug, link }: Request['fields']): string | undefined {
  if (slug !== undefined) return 'A PUT names the new document by its URL. Leave Slug out.'
  if (!LDP_KIND.test(link ?? '')) return undefined
  return 'Link with rel="type" has no effect here. Give a container the type dh:Container in its content, and send files as forms.'
}
/** Every document is a Resource and an RDFSource of LDP. */
const LDP_KIND = new RegExp(LDP_TYPE.source.replace('#', '#(?!(?:RDFS|Res)ource>)'), 'i')

const creatingText = (iri: string): string =>
  `POST adds to <${iri}> itself, but Slug or Link with rel="type" asks for a new document: use PUT at the URL of the new one, such as <${iri}name/>.`

const unsupportedPatch = (detail: string): Problem =>
  problem('content.unsupported', detail, { fields: [['Accept-Patch', 'application/sparql-update']] })
