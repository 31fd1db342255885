// The representations of a proxied server's content (spec 4.4): the formats to which its media type can be converted,
// those among them that the client accepts, and the content in the first one that works.
import type { Converted } from '../../evaluation/reading.js'
import {
  inOrderOf,
  negotiate,
  parseAccept,
  parseMediaType,
  RDF_FORMATS,
  RESULT_FORMATS,
  type Format,
} from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { RESULT_TYPES, type ForeignContent } from '../../rdf/convert.js'
import { READABLE_ACCEPT } from '../../rdf/read.js'

export interface ProxiedContent extends ForeignContent {
  readonly body: Buffer
  /** The original content, if it is read in another syntax than its Content-Type says, or was decompressed. */
  readonly sent?: { readonly contentType: string; readonly body: Buffer }
}

export interface ProxiedRepresentation {
  readonly format: Format
  readonly body: Buffer
}

/** The format code for content that is passed on unchanged. */
export const AS_IS = 'as-is'

const RDF_TYPES: ReadonlySet<string> = new Set([
  ...RDF_FORMATS.map(({ mediaType }) => mediaType),
  'application/trig',
  'application/n-quads',
])

export const isConvertible = (mediaType: string): boolean => RDF_TYPES.has(mediaType) || mediaType === 'text/html'

/** The Accept field to send: the client's and, if that includes RDF or results, all syntaxes that the gateway reads. */
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
export function formatsFor(
  accept: string | undefined,
  { mediaType, contentType, sent }: Pick<ProxiedContent, 'mediaType' | 'contentType' | 'sent'>,
): readonly Format[] {
  const offers = sent ? [...RDF_FORMATS, asIs(sent.contentType)] : offered(mediaType, contentType)
  return inOrderOf(accept, offers)
}

const asIs = (contentType: string): Format => ({
  mediaType: parseMediaType(contentType)!.type,
  code: AS_IS,
  contentType,
})

function offered(mediaType: string, contentType: string): readonly Format[] {
  const unchanged = asIs(contentType)
  // Such content may have relative IRIs, which would resolve differently here, so it is always rewritten.
  if (RDF_FORMATS.some((format) => format.mediaType === mediaType)) return RDF_FORMATS
  if (isConvertible(mediaType)) return [...RDF_FORMATS, unchanged]
  if (RESULT_TYPES.has(mediaType))
    return [unchanged, ...RESULT_FORMATS.filter((format) => format.mediaType !== mediaType)]
  // Its parts could have header fields, which would not be checked.
  return mediaType.startsWith('multipart/') ? [] : [unchanged]
}

/**
 * The content in the first of these formats that can represent it.
 * @param maxRead the most bytes that are read for conversion
 */
export async function proxiedRepresentation(
  content: ProxiedContent,
  formats: readonly Format[],
  maxRead: number,
  convert: (content: ProxiedContent, formats: readonly Format[]) => Promise<Converted | Problem>,
): Promise<ProxiedRepresentation | Problem> {
  const asIs = formats.findIndex(({ code }) => code === AS_IS)
  const others = asIs < 0 ? formats : formats.slice(0, asIs)
  let failure = problem(
    'negotiation.not-acceptable',
    `The other server sent ${content.mediaType}, which the request does not accept.`,
  )
  if (others.length > 0) {
    const converted = content.body.length > maxRead ? tooLarge(maxRead) : await convert(content, others)
    if (!isFailure(converted)) {
      const { buffer, byteOffset, byteLength } = converted.bytes
      return { format: converted.format, body: Buffer.from(buffer, byteOffset, byteLength) }
    }
    const isUnreadable = converted.failure.startsWith('content.')
    // Most HTML pages contain no RDF and do not claim to.
    if (!isUnreadable || !(content.sent || content.mediaType === 'text/html')) {
      failure = isUnreadable ? unreadable(converted.detail) : converted
    }
  }
  return asIs < 0 ? failure : { format: formats[asIs]!, body: content.sent?.body ?? content.body }
}

const tooLarge = (maxRead: number): Problem =>
  problem('proxy.failed', `The other server sent more than ${maxRead} bytes, which is too much to convert.`)

const unreadable = (reason: string): Problem =>
  problem('proxy.failed', `The other server sent content that does not match its Content-Type: ${reason}`)
