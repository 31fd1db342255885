// In charge of what comes back through the Linked Data proxy: which statuses and fields of the other server are passed on,
// and that nothing of it can act in the name of this origin.
import { plainTag, proxiedTag, type Conditions } from './validators.js'
import type { FetchAnswer } from '../../policies/fetch/guarded-fetch.js'
import { parseHttpUrl } from '../../policies/fetch/destination.js'
import type { Field, Response } from '../http/exchange.js'
import type { Context } from '../request/context.js'
import { parseMediaType, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { AS_IS, formatsFor, inFormat, type Content, type Form } from './forms.js'
import { response, streamed } from '../request/respond.js'

/** `proxy.failed`, or `negotiation.not-acceptable`; a writer, and whoever meets an error, is told in any form there is. */
export async function answerFrom(
  context: Context,
  answer: FetchAnswer,
  conditions: Conditions,
): Promise<Response | Problem> {
  const { status, fields, body } = answer
  const { method } = context.request
  const isSafe = method === 'GET' || method === 'HEAD'
  const flaw = flawOf(status, conditions)
  if (flaw) return problem('proxy.failed', flaw)
  const common = [...passedOn(fields), ...located(answer, isSafe), ...caching(fields), ...CONFINEMENT]
  if (status === 304) return response(304, [...etag(conditions.tagFor(fields.etag)), ...common])
  const content = contentOf(answer)
  const formats = formatsFor(context.accept, content.mediaType, content.contentType)
  if (method === 'HEAD') return streamed(status, [...headOf(content, formats, fields.etag), ...common])
  // RFC 9110 §15.3.5, §15.3.6: no content.
  if (status === 204 || status === 205 || (body.length === 0 && fields['content-type'] === undefined)) {
    return response(status, [...etag(plainTag(fields.etag)), ...common])
  }
  const form = await formOf(context, content, formats)
  // RFC 9110 §12.4.1: what has been done, or has failed, is told in any case.
  if (isFailure(form) && isSafe && status < 300) return form
  const { format, body: bytes } = isFailure(form) ? asIs(content) : form
  return response(status, [...described(content, format, fields.etag), ...common], bytes)
}

/** What nobody asked for would be taken for something that it is not. */
function flawOf(status: number, conditions: Conditions): string | undefined {
  const isConditional = Object.keys(conditions.fields).length > 0
  const odd = status < 200 || status > 599 || status === 206 || status === 407 || (status === 304 && !isConditional)
  return odd ? `The server answered with status ${status}, which does not fit the request.` : undefined
}

const UNKNOWN = 'application/octet-stream'

function contentOf({ fields, url, body }: FetchAnswer): Content {
  const { 'content-type': contentType = UNKNOWN } = fields
  const mediaType = isPlain(contentType) ? parseMediaType(contentType)?.type : undefined
  return mediaType ? { mediaType, contentType, url, body } : { mediaType: UNKNOWN, contentType: UNKNOWN, url, body }
}

function formOf(context: Context, content: Content, formats: readonly Format[]): Promise<Form | Problem> {
  const { loadContext, settings } = context.gateway
  return inFormat(content, formats, settings.maxBody, { loadContext })
}

const asIs = ({ mediaType, contentType, body }: Content): Form => ({
  format: { mediaType, code: AS_IS, contentType: mediaType.startsWith('multipart/') ? UNKNOWN : contentType },
  body,
})

/** The fields of the GET, as far as they can be told without its content: whether HTML has RDF in it cannot. */
function headOf(content: Content, formats: readonly Format[], upstream: string | undefined): Field[] {
  const [first] = formats
  if (!first || (content.mediaType === 'text/html' && first.code !== AS_IS)) return []
  return described(content, first, upstream)
}

const described = ({ mediaType }: Content, { code, contentType }: Format, upstream: string | undefined): Field[] => [
  ['Content-Type', contentType],
  ...etag(proxiedTag(upstream, mediaType, code)),
]

const etag = (tag: string | undefined): Field[] => (tag === undefined ? [] : [['ETag', tag]])

/**
 * Everything else stays behind: cookies, challenges, policies for an origin (HSTS, CORS, CSP), and Link, whose relations
 * say here who is asking and what they may do.
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

// RFC 9110 §5.5: field values beyond US-ASCII mean nothing for certain, and cannot all be sent.
const isPlain = (value: string): boolean => /^[\x20-\x7e\t]*$/.test(value)

const passedOn = (fields: FetchAnswer['fields']): Field[] =>
  PASSED_ON.flatMap((name): Field[] => {
    const value = fields[name.toLowerCase()]
    return value !== undefined && isPlain(value) ? [[name, value]] : []
  })

/**
 * Absolute, since a relative reference would lead into this gateway. A reader learns where the content came from (RFC 9110
 * §8.7); only a writer is sent anywhere, for a reader's redirections have been followed.
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

// RFC 9111 §5.2.2: those that a private cache goes by.
const DIRECTIVE =
  /^(?:no-store|no-cache|must-revalidate|must-understand|immutable|(?:max-age|stale-if-error|stale-while-revalidate)=\d{1,10})$/
/** The fields of the client that an answer can vary with, beside Accept: those that are sent on. */
export const SENT = ['accept-language', 'prefer']

/** As the server has it, for the one who asked only. */
function caching(fields: FetchAnswer['fields']): Field[] {
  const directives = listOf(fields['cache-control']).filter((directive) => DIRECTIVE.test(directive))
  const varies = listOf(fields.vary)
  return [
    ['Cache-Control', ['private', ...(directives.length > 0 ? directives : ['no-cache'])].join(', ')],
    ['Vary', varies.includes('*') ? '*' : ['Accept', ...SENT.filter((name) => varies.includes(name))].join(', ')],
  ]
}

const listOf = (value: string | undefined): string[] =>
  (value ?? '')
    .toLowerCase()
    .split(',')
    .map((member) => member.trim())

/** A page of another server must not run as one of ours, whatever it is (CSP 3 §6.4.3; `nosniff` is on every answer). */
const CONFINEMENT: readonly Field[] = [['Content-Security-Policy', "default-src 'none'; sandbox"]]
