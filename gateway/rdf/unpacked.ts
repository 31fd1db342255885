// Gzip (RFC 1952): recognised by its first bytes, and unpacked only up to a limit, so that a small file cannot become a
// huge one.
import { promisify } from 'node:util'
import { constants, gunzip } from 'node:zlib'
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

/** In bytes. Deflate expands data at most about a thousand times. */
const PACKED_START = 2048
const MOST_OF_START = 4 * 1024 * 1024

/** Unpacks the beginning of content; empty if that fails. */
export async function unpackedStart(bytes: Buffer): Promise<Buffer> {
  if (!isPacked(bytes)) return bytes
  const cut = { maxOutputLength: MOST_OF_START, finishFlush: constants.Z_SYNC_FLUSH }
  return promisify(gunzip)(bytes.subarray(0, PACKED_START), cut).catch(() => Buffer.alloc(0))
}

export const tooLargeUnpacked = (limit: number): Problem =>
  problem('content.too-large', `The decompressed source is larger than ${limit} bytes.`)
export const BROKEN_PACKING = problem('content.syntax', 'The source is not well-formed gzip.')
