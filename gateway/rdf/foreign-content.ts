// RDF from other servers and files: unpacks it, guesses its media type by name or content if the server sends none, and
// adds the JSON-LD context that the server names.
import { linksIn } from '../http/link-field.js'
import { parseMediaType } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { mediaTypeOf, syntaxIn } from './syntaxes.js'
import { unpacked } from './unpacked.js'

export interface ForeignAnswer {
  readonly body: Buffer
  /** By lower-case name. */
  readonly fields: Readonly<Record<string, string | undefined>>
  readonly url: string
}

export interface ReadableContent {
  readonly body: Buffer
  readonly contentType: string | undefined
}

/** @param limit in bytes, decompressed */
export async function readableContent(answer: ForeignAnswer, limit: number): Promise<ReadableContent | Problem> {
  const body = await unpacked(answer.body, limit)
  if (isFailure(body)) return body
  return withContext(answer, { body, contentType: mediaTypeOf(answer.fields['content-type'], answer.url, body) })
}

const JSON_LD = 'application/ld+json'
const CONTEXT = 'http://www.w3.org/ns/json-ld#context'
const BOM = Buffer.from('\ufeff')

/** JSON-LD 1.1 API, LoadDocumentCallback: a Link field may supply the context of plain JSON. */
export function withContext(
  { fields, url }: Omit<ForeignAnswer, 'body'>,
  content: ReadableContent,
): ReadableContent | Problem {
  const type = parseMediaType(content.contentType ?? '')?.type ?? ''
  if (!isJson(type) || type === JSON_LD) return content
  const [link, another] = linksIn(fields.link, url, CONTEXT)
  if (another) return problem('content.syntax', 'The server links more than one context to its JSON.')
  // RFC 6839 §3.1: for example application/activity+json, which is JSON-LD.
  if (!link)
    return type.endsWith('+json') && syntaxIn(content.body) === JSON_LD ? { ...content, contentType: JSON_LD } : content
  const json = content.body.subarray(content.body.indexOf(BOM) === 0 ? BOM.length : 0)
  const parts = [`{"@context":${JSON.stringify(link.target)},"@graph":`, json, '}'].map((part) => Buffer.from(part))
  return { body: Buffer.concat(parts), contentType: JSON_LD }
}

/** RFC 6839 §3.1 */
export const isJson = (type: string): boolean => type === 'application/json' || type.endsWith('+json')
