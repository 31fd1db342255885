// Responses through the Linked Data proxy: passes on only certain statuses and fields of the other server, and ensures
// that its content cannot act with the rights of this origin.
import { plainTag, proxiedTag, type UpstreamConditions } from './validators.js'
import type { FetchAnswer } from '../../../policies/fetch/guarded-fetch.js'
import { parseHttpUrl } from '../../../policies/fetch/destination.js'
import type { Field, Response } from '../../http/exchange.js'
import { askerOf, contextsFor, type Context } from '../../request/context.js'
import { parseMediaType, type Format } from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import {
  AS_IS,
  formatsFor,
  isConvertible,
  proxiedRepresentation,
  type ProxiedContent,
  type ProxiedRepresentation,
} from './representations.js'
import { readableContent } from '../../rdf/foreign-content.js'
import { isGeneral, syntaxIn, syntaxOf } from '../../rdf/syntaxes.js'
import { isPacked } from '../../rdf/unpacked.js'
import { response, streamed } from '../../request/respond.js'

/**
 * Fails with `proxy.failed` or `negotiation.not-acceptable`. Errors, and the outcome of a write, are passed on in any
 * format.
 */
export async function responseFrom(
  context: Context,
  answer: FetchAnswer,
  conditions: UpstreamConditions,
): Promise<Response | Problem> {
  const { status, fields, body } = answer
  const { method } = context.request
  const isSafe = method === 'GET' || method === 'HEAD'
  const misfit = misfitOf(status, conditions)
  if (misfit !== undefined) return problem('proxy.failed', misfit)
  const common = [...passedOn(fields), ...located(answer, isSafe), ...caching(fields)]
  if (status === 304) return response(304, [...etag(conditions.tagFor(fields.etag)), ...common])
  const content = await contentOf(answer, context.gateway.settings.maxBody)
  const formats = formatsFor(context.accept, content)
  if (method === 'HEAD') return streamed(status, [...headOf(context.accept, content, fields.etag), ...common])
  // RFC 9110 §15.3.5, §15.3.6: these have no content.
  if (status === 204 || status === 205 || (body.length === 0 && fields['content-type'] === undefined)) {
    return response(status, [...etag(plainTag(fields.etag)), ...common])
  }
  const { reading, settings } = context.gateway
  const converted = await proxiedRepresentation(content, formats, settings.maxBody, (...found) =>
    reading.convert(askerOf(context), ...found, contextsFor(context)),
  )
  // RFC 9110 §12.4.1: the outcome of a write, or an error, is reported even if its format is not accepted.
  if (isFailure(converted) && isSafe && status < 300) return converted
  const { format, body: bytes } = isFailure(converted) ? asIs(content) : converted
  return response(status, [...described(content, format, fields.etag), ...common], bytes)
}

/** Detects a status that the request cannot have caused: the client would misread it. */
function misfitOf(status: number, conditions: UpstreamConditions): string | undefined {
  const isConditional = Object.keys(conditions.fields).length > 0
  const isMisfit =
    status < 200 || status > 599 || status === 206 || status === 407 || (status === 304 && !isConditional)
  return isMisfit ? `The server answered with status ${status}, which does not fit the request.` : undefined
}

const UNKNOWN = 'application/octet-stream'

/** @param limit in bytes, decompressed */
async function contentOf(answer: FetchAnswer, limit: number): Promise<ProxiedContent> {
  const { fields, url, body } = answer
  const told = isPlain(fields['content-type'] ?? '') ? parseMediaType(fields['content-type'] ?? '') : undefined
  const sent = { contentType: told ? fields['content-type']! : UNKNOWN, body }
  const content = { mediaType: told?.type ?? UNKNOWN, ...sent, url }
  if (!isGeneral(sent.contentType) && !isPacked(body)) return content
  const read = await readableContent({ ...answer, fields: { ...fields, 'content-type': sent.contentType } }, limit)
  if (isFailure(read)) return content
  // Most content of these types is not RDF, unless its name or its beginning says so.
  const isTold = read.contentType !== sent.contentType || !isGeneral(sent.contentType)
  const syntax = isTold ? syntaxOf(read.contentType) : syntaxIn(read.body)
  return syntax !== undefined && isConvertible(syntax)
    ? { ...read, contentType: read.contentType!, mediaType: syntax, url, sent }
    : content
}

function asIs(content: ProxiedContent): ProxiedRepresentation {
  const { contentType, body } = content.sent ?? content
  const mediaType = parseMediaType(contentType)!.type
  const isUnsafe = mediaType.startsWith('multipart/')
  return { format: { mediaType, code: AS_IS, contentType: isUnsafe ? UNKNOWN : contentType }, body }
}

/**
 * The fields that a GET would return, as far as they are known without the content. HTML and other types may or may not
 * contain RDF.
 */
function headOf(accept: string | undefined, content: ProxiedContent, upstream: string | undefined): Field[] {
  const isUnsure = content.mediaType === 'text/html' || (!content.sent && isGeneral(content.contentType))
  const [first] = formatsFor(accept, isUnsure ? { ...content, sent: content } : content)
  if (!first || (isUnsure && first.code !== AS_IS)) return []
  return described(content, first, upstream)
}

const described = (content: ProxiedContent, format: Format, upstream: string | undefined): Field[] => {
  const { mediaType } = format.code === AS_IS ? format : content
  return [['Content-Type', format.contentType], ...etag(proxiedTag(upstream, mediaType, format.code))]
}

const etag = (tag: string | undefined): Field[] => (tag === undefined ? [] : [['ETag', tag]])

/**
 * No other field is passed on: no cookies, challenges or policies for an origin (HSTS, CORS, CSP), and no Link, since
 * its relations name the agent and its modes in this gateway.
 */
const PASSED_ON = [
  'Accept-Patch',
  'Accept-Post',
  'Age',
  'Allow',
  'Content-Disposition',
  'Content-Language',
  'Last-Modified',
  'Retry-After',
]

// RFC 9110 §5.5: field values beyond US-ASCII have no defined meaning, and some cannot be sent.
const isPlain = (value: string): boolean => /^[\x20-\x7e\t]*$/.test(value)

const passedOn = (fields: FetchAnswer['fields']): Field[] =>
  PASSED_ON.flatMap((name): Field[] => {
    const value = fields[name.toLowerCase()]
    return value !== undefined && isPlain(value) ? [[name, value]] : []
  })

/**
 * References are absolute, since a relative one would lead into this gateway. Content-Location names the origin of the
 * content (RFC 9110 §8.7). Only responses to writes have a Location, since the proxy follows redirects of reads.
 */
function located({ url, status, fields }: FetchAnswer, isSafe: boolean): Field[] {
  const source = fields['content-location'] ?? (isSafe && status === 200 ? url : undefined)
  const references: [string, string | undefined][] = [
    ['Content-Location', source],
    ['Location', isSafe ? undefined : fields.location],
  ]
  return references.flatMap(([name, reference]): Field[] => {
    if (reference === undefined) return []
    const target = parseHttpUrl(reference, new URL(url))
    return isFailure(target) ? [] : [[name, target.href]]
  })
}

// RFC 9111 §5.2.2: the directives for private caches.
const DIRECTIVE =
  /^(?:no-store|no-cache|must-revalidate|must-understand|immutable|(?:max-age|stale-if-error|stale-while-revalidate)=\d{1,10})$/
/** The request fields that a response can vary on, besides Accept: those sent to the other server. */
export const SENT_FIELDS = ['accept-language', 'prefer']

/** The server's directives and Vary, restricted to private caches. */
function caching(fields: FetchAnswer['fields']): Field[] {
  const directives = listOf(fields['cache-control']).filter((directive) => DIRECTIVE.test(directive))
  const varies = listOf(fields.vary)
  return [
    ['Cache-Control', ['private', ...(directives.length > 0 ? directives : ['no-cache'])].join(', ')],
    [
      'Vary',
      varies.includes('*') ? '*' : ['Accept', ...SENT_FIELDS.filter((name) => varies.includes(name))].join(', '),
    ],
  ]
}

const listOf = (value: string | undefined): string[] =>
  (value ?? '')
    .toLowerCase()
    .split(',')
    .map((member) => member.trim())
