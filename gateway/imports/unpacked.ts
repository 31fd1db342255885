// In charge of packed sources (RFC 1952): they are known by their first bytes, and unpacked within a bound, so that a small file
// that stands for a huge one is refused while it is unpacked.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { problem, type Problem } from '../problem.js'

export const isPacked = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

export async function unpacked(bytes: Buffer, limit: number): Promise<Buffer | Problem> {
  if (!isPacked(bytes)) return bytes
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: limit })
  } catch (error) {
    return (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? tooLargeUnpacked(limit) : BROKEN_PACKING
  }
}

export const tooLargeUnpacked = (limit: number): Problem =>
  problem('content.too-large', `The source is larger than ${limit} bytes when it is unpacked.`)
export const BROKEN_PACKING = problem('content.syntax', 'The source is no well-formed gzip.')
