// The text of a source on disk, in pieces: decompressed within a limit, and decoded. Only for the thread of an import.
import { createReadStream, openSync, readSync, closeSync } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { problem, type Problem } from '../../problem.js'
import { bomOf } from '../../rdf/encodings.js'
import { BROKEN_PACKING, isPacked, tooLargeUnpacked } from '../../rdf/unpacked.js'

/** Thrown by the iteration over a source that cannot be read. */
export class SourceBreak extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

export interface SourceText {
  readonly text: AsyncIterable<string>
  /** The number of bytes read from the file. */
  bytes(): number
}

export interface SourceContent extends Pick<SourceText, 'bytes'> {
  readonly pieces: AsyncIterable<Buffer>
}

const PIECE = 64 * 1024

/** The bytes of a source, decompressed. */
export function decodedContent(path: string, limit: number): SourceContent {
  let bytes = 0
  const start = Buffer.alloc(4)
  const file = openSync(path, 'r')
  readSync(file, start, 0, 4, 0)
  closeSync(file)

  async function* pieces(): AsyncGenerator<Buffer> {
    const read = createReadStream(path, { highWaterMark: PIECE })
    read.on('data', (piece) => (bytes += piece.length))
    if (!isPacked(start)) {
      for await (const piece of read) yield piece as Buffer
      return
    }
    const unpacked = createGunzip()
    read.on('error', (error) => unpacked.destroy(error)).pipe(unpacked)
    let size = 0
    try {
      for await (const piece of unpacked) {
        if ((size += (piece as Buffer).length) > limit) throw new SourceBreak(tooLargeUnpacked(limit))
        yield piece as Buffer
      }
    } catch (error) {
      throw error instanceof SourceBreak ? error : new SourceBreak(BROKEN_PACKING)
    } finally {
      read.destroy()
    }
  }
  return { pieces: pieces(), bytes: () => bytes }
}

/** @param encoding the name in the Encoding Standard; a byte order mark takes precedence */
export function decodedText(path: string, encoding: string, limit: number): SourceText {
  const { pieces, bytes } = decodedContent(path, limit)

  async function* text(): AsyncGenerator<string> {
    let decoder: InstanceType<typeof TextDecoder> | undefined
    try {
      for await (const piece of pieces) {
        decoder ??= new TextDecoder(bomOf(piece) ?? wideOf(piece) ?? encoding, { fatal: true })
        yield decoder.decode(piece, { stream: true })
      }
      yield decoder?.decode() ?? ''
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new SourceBreak(
        problem(
          'content.syntax',
          `The source is not ${encoding}. Name its encoding: &encoding=windows-1252, for example.`,
        ),
      )
    }
  }
  return { text: text(), bytes }
}

/** Without a byte order mark, an ASCII character at the start reveals UTF-16. */
function wideOf([first, second]: Buffer): string | undefined {
  if (first === 0) return second === 0 ? undefined : 'utf-16be'
  return second === 0 ? 'utf-16le' : undefined
}
