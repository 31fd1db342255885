// GET and HEAD on files (spec 4.6, LinkedDataHub 2.7): read access, byte ranges, and how browsers treat the files.
import { formatHttpDate } from '../../../cache/http-date.js'
import { type StoredFile, isSha1 } from '../../files/files.js'
import { describedFile, type Describing } from '../../files/sweep-files.js'
import type { Field, Request, Response } from '../../http/exchange.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import { MEDIA_TYPE } from '../../rdf/vocabulary.js'
import { callOf, type Context } from '../../request/context.js'
import { readingOf } from '../../request/file-access.js'
import { evaluateConditions } from '../../request/negotiate.js'
import { lastModifiedField, response, streamed } from '../../request/respond.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'

/** LinkedDataHub 2.7: the digest is the entity-tag. */
const fileTagOf = ({ sha1 }: Pick<StoredFile, 'sha1'>): string => `"${sha1}"`

/**
 * The first and last byte. Undefined for the whole file: if there is no range; if it is unknown, malformed or multiple
 * (RFC 9110 §14.2 allows ignoring these); or if it is for another version of the file (If-Range).
 */
export function rangeOf(
  { method, fields }: Pick<Request, 'method' | 'fields'>,
  file: Pick<StoredFile, 'sha1' | 'size' | 'storedAt'>,
): readonly [start: number, end: number] | undefined | Problem {
  const condition = fields['if-range']
  // RFC 9110 §13.1.5: strong comparison.
  if (condition !== undefined && condition !== fileTagOf(file) && condition !== formatHttpDate(file.storedAt))
    return undefined
  const [, first, last] = method === 'GET' ? (RANGE.exec(fields.range ?? '') ?? []) : []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  const { size } = file
  const [start, end] =
    first === '' ? [Math.max(0, size - Number(last)), size - 1] : [Number(first), last === '' ? size - 1 : Number(last)]
  if (first !== '' && last !== '' && end < start) return undefined
  if (start >= size || (first === '' && Number(last) === 0)) {
    return problem('range.unsatisfiable', `The range is outside the file, which has ${size} bytes.`, {
      fields: [
        ['Content-Range', `bytes */${size}`],
        ['Accept-Ranges', 'bytes'],
      ],
    })
  }
  return [start, Math.min(end, size - 1)]
}

const RANGE = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i

export async function uploads({
  context,
  target: { iri, endpoint },
}: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  const sha1 = iri.slice(context.application.base.length + endpoint.length)
  const found = isSha1(sha1) ? await readable(context, sha1) : ABSENT
  context.trace.continues()
  if (isFailure(found)) return found
  return answer(context, found)
}

const REFUSED = problem(
  'access.denied',
  'Access not authorized: Read is required on the file or on a document that describes it.',
)
const ABSENT = problem('document.absent', 'This file does not exist.')

interface Readable {
  readonly file: StoredFile
  readonly description: Describing
  readonly isPublic: boolean
}

/**
 * Files that do not exist, or that no document describes, are 404 only for agents who may read every file (design 3).
 */
async function readable(context: Context, sha1: string): Promise<Readable | Problem> {
  const { application, agent, gateway } = context
  const described = await describedFile(context.application, sha1, callOf(context))
  if (isFailure(described)) return described
  const byEveryone = await readingOf(context, {}, sha1, described)
  if (isFailure(byEveryone)) return byEveryone
  const own = byEveryone ?? (agent.webId === undefined ? undefined : await readingOf(context, agent, sha1, described))
  if (isFailure(own)) return own
  // `--enforce=false`
  const isUnenforced = own === undefined && !gateway.settings.enforce && application.kind !== 'admin'
  if (own === undefined && !isUnenforced) return REFUSED
  const description = own === undefined || own === 'any' ? described.descriptions[0] : own
  const file = description && (await application.files.find(sha1))
  return file ? { file, description, isPublic: byEveryone !== undefined } : ABSENT
}

function answer(
  { application, gateway, request }: Context,
  { file, description, isPublic }: Readable,
): Response | Problem {
  const { size, storedAt, sha256 } = file
  const tag = fileTagOf(file)
  const validators: Field[] = [
    ['ETag', tag],
    ...lastModifiedField(storedAt, gateway),
    // Spec 4.6: the content of a URL never changes. Shared caches must ask again after a minute, since the right to
    // read it may end, and must not store a file that is not public.
    [
      'Cache-Control',
      isPublic ? 'public, max-age=604800, s-maxage=60, immutable' : 'private, max-age=604800, immutable',
    ],
  ]
  const outcome = evaluateConditions(request, { entityTags: [tag], lastModified: storedAt }, true, UNMET)
  if (outcome === 'not-modified') return response(304, validators)
  if (outcome !== 'proceed') return outcome
  const range = rangeOf(request, file)
  if (isFailure(range)) return range
  const [start, end] = range ?? [0, size - 1]
  const { type, charset = type.startsWith('text/') ? 'UTF-8' : undefined } = typeOf(description)
  const fields: Field[] = [
    ['Content-Type', charset === undefined ? type : `${type};charset=${charset}`],
    ['Content-Length', String(end - start + 1)],
    ...(range ? [['Content-Range', `bytes ${start}-${end}/${size}`] as const] : []),
    ...validators,
    ['Accept-Ranges', 'bytes'],
    // RFC 9530 §3: the digest of the whole file, whatever the range.
    ['Repr-Digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`],
    ['Content-Disposition', dispositionOf(type, description.name ?? file.sha1)],
  ]
  return streamed(range ? 206 : 200, fields, size === 0 ? NOTHING : application.files.read(file, start, end))
}

const UNMET = 'The file does not meet the conditions of the request.'

async function* nothing(): AsyncGenerator<Uint8Array> {}
const NOTHING: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: nothing }

const UNKNOWN_TYPE = 'application/octet-stream'

const TYPE = /^([a-z]+\/[a-z0-9][a-z0-9!#$&^_.+-]*)(?:;charset=([a-z0-9][a-z0-9._:+-]*))?$/

function typeOf({ format }: Describing): { readonly type: string; readonly charset?: string | undefined } {
  const written = format?.startsWith(MEDIA_TYPE('')) ? format.slice(MEDIA_TYPE('').length) : ''
  const [, type = UNKNOWN_TYPE, charset] = TYPE.exec(written) ?? []
  return { type, charset }
}

/** Media types that a browser shows but does not run. All others are downloaded. */
const PASSIVE =
  /^(?:text\/(?:plain|csv|turtle|tab-separated-values)|image\/(?:png|jpeg|gif|webp|avif|bmp|tiff)|(?:audio|video)\/[a-z0-9.+-]+|application\/(?:json|ld\+json|n-triples|pdf))$/

/** RFC 6266 §4, RFC 8187 §3.2: the name with all but plain characters percent-encoded. */
const dispositionOf = (type: string, name: string): string =>
  `${PASSIVE.test(type) ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replace(/['()*!]/g, encoded)}`

const encoded = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
