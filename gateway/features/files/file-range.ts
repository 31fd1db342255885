// The range of a file that a request asks for (RFC 9110 §14). Pure.
import { formatHttpDate } from '../../../cache/http-date.js'
import type { StoredFile } from '../../files/files.js'
import type { Request } from '../../http/exchange.js'
import { problem, type Problem } from '../../problem.js'

/** LinkedDataHub 2.7: the digest is the entity-tag. */
export const fileTagOf = ({ sha1 }: Pick<StoredFile, 'sha1'>): string => `"${sha1}"`

/**
 * The first and last byte. Undefined for the whole file: there is no range, an unknown or malformed one, several (RFC 9110
 * §14.2 leaves these out), or one of another file (If-Range).
 */
export function rangeOf(
  { method, fields }: Pick<Request, 'method' | 'fields'>,
  file: Pick<StoredFile, 'sha1' | 'size' | 'storedAt'>,
): readonly [start: number, end: number] | undefined | Problem {
  const condition = fields['if-range']
  // RFC 9110 §13.1.5: compared strongly.
  if (condition !== undefined && condition !== fileTagOf(file) && condition !== formatHttpDate(file.storedAt))
    return undefined
  const [, first, last] = method === 'GET' ? (RANGE.exec(fields.range ?? '') ?? []) : []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  const { size } = file
  const [start, end] =
    first === '' ? [Math.max(0, size - Number(last)), size - 1] : [Number(first), last === '' ? size - 1 : Number(last)]
  if (first !== '' && last !== '' && end < start) return undefined
  if (start >= size || (first === '' && Number(last) === 0)) {
    return problem('range.unsatisfiable', `The file has ${size} bytes.`, {
      fields: [
        ['Content-Range', `bytes */${size}`],
        ['Accept-Ranges', 'bytes'],
      ],
    })
  }
  return [start, Math.min(end, size - 1)]
}

const RANGE = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i
