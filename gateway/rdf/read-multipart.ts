// Multipart content (SPARQL 1.1 Graph Store HTTP Protocol §5.5, RFC 7578, RFC 2046 §5.1). Read strictly: skipped parts
// would be lost silently. Pure.
import { parseMediaType, splitUnquoted } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { mediaTypeOf } from './syntaxes.js'

export const MULTIPART = 'multipart/form-data'

export interface BodyPart {
  readonly name: string
  readonly contentType: string | undefined
  readonly file?: string
  readonly body: Buffer
}

const MOST_PARTS = 100
export const LONGEST_HEAD = 8192

export const CRLF = '\r\n'

export function boundaryOf(contentType: string): string | Problem {
  const boundary = parseMediaType(contentType)?.parameters.get('boundary')
  // RFC 2046 §5.1.1
  const isBoundary = boundary !== undefined && /^[\x20-\x7e]{1,70}$/.test(boundary)
  return isBoundary ? boundary : flaw('its media type has no boundary')
}

export function partsOf(body: Buffer, contentType: string): readonly BodyPart[] | Problem {
  const boundary = boundaryOf(contentType)
  if (isFailure(boundary)) return boundary
  const content = Buffer.concat([Buffer.from(CRLF), body])
  const parts: BodyPart[] = []
  let begun = nextDelimiter(content, boundary, 0)
  while (begun && !begun.isLast) {
    if (parts.length === MOST_PARTS) return flaw(`it has more than ${MOST_PARTS} parts`)
    const ended = nextDelimiter(content, boundary, begun.end - CRLF.length)
    if (!ended) return flaw('its last part is not closed')
    const part = partOf(content.subarray(begun.end, ended.start))
    if (isFailure(part)) return part
    parts.push(part)
    begun = ended
  }
  if (!begun) return flaw('its boundary is missing')
  return parts.length > 0 ? parts : flaw('it has no parts')
}

export const flaw = (detail: string): Problem =>
  problem('content.syntax', `The content is not well-formed ${MULTIPART}: ${detail}.`)

interface Delimiter {
  readonly start: number
  /** The position after its line. */
  readonly end: number
  readonly isLast: boolean
}

/** Finds the next line that is a delimiter, including its line break. A longer line only starts like one. */
function nextDelimiter(content: Buffer, boundary: string, from: number): Delimiter | undefined {
  const begin = `${CRLF}--${boundary}`
  for (let start = content.indexOf(begin, from); start >= 0; start = content.indexOf(begin, start + 1)) {
    const after = start + begin.length
    if (content.subarray(after, after + 2).equals(DASHES)) return { start, end: after + 2, isLast: true }
    let end = after
    while (content[end] === 0x20 || content[end] === 0x09) end++
    if (content.subarray(end, end + 2).equals(LINE_END)) return { start, end: end + 2, isLast: false }
  }
  return undefined
}

const DASHES = Buffer.from('--')
const LINE_END = Buffer.from(CRLF)

function partOf(content: Buffer): BodyPart | Problem {
  const ended = content.indexOf(CRLF + CRLF)
  if (ended < 0 || ended > LONGEST_HEAD) return flaw(NO_HEAD)
  const head = headOf(content.subarray(0, ended))
  return isFailure(head) ? head : { ...head, body: content.subarray(ended + 2 * CRLF.length) }
}

export const NO_HEAD = 'a part has no fields, or too many'

/** The fields of a part: its name, its media type, and its file name. */
export interface PartHead {
  readonly name: string
  readonly contentType: string | undefined
  readonly file?: string
}

export function headOf(content: Buffer): PartHead | Problem {
  const fields = new Map<string, string>()
  for (const line of content.toString('utf8').split(CRLF)) {
    const [, name, value] = /^([\w-]+):(.*)$/.exec(line) ?? []
    if (name === undefined) return flaw('a field of a part is malformed')
    if (fields.has(name.toLowerCase())) return flaw(`a part has ${name} twice`)
    fields.set(name.toLowerCase(), value!.trim())
  }
  const disposition = fields.get('content-disposition') ?? ''
  const name = parameterOf(disposition, 'name')
  // RFC 7578 §4.2
  if (name === undefined || !/^form-data\s*;/i.test(disposition)) return flaw('a part has no name')
  // RFC 7578 §4.7
  if (!/^(?:7bit|8bit|binary)$/i.test(fields.get('content-transfer-encoding') ?? 'binary')) {
    return flaw('Content-Transfer-Encoding is not supported')
  }
  const file = parameterOf(disposition, 'filename')
  const contentType = mediaTypeOf(fields.get('content-type'), file ?? '')
  return { name, contentType, ...(file !== undefined && { file }) }
}

/**
 * RFC 2183 §2: a value may be a quoted string. A backslash that escapes nothing stays: some clients send paths of
 * Windows as they are.
 */
function parameterOf(disposition: string, wanted: 'name' | 'filename'): string | undefined {
  for (const part of splitUnquoted(disposition, ';')) {
    const [, name, quoted, token] = PARAMETER.exec(part) ?? []
    if (name?.toLowerCase() === wanted) return quoted?.replace(/\\(["\\])/g, '$1') ?? token
  }
  return undefined
}
const PARAMETER = /^([^\s=]+)=(?:"(.*)"|([^\s"]+))/s
