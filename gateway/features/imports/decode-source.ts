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

/**
 * @param encoding that of a CSV, by its name in the Encoding Standard; undefined: RDF, which is UTF-8. A byte order mark
 * takes precedence
 */
export function decodedText(path: string, encoding: string | undefined, limit: number): SourceText {
  const { pieces, bytes } = decodedContent(path, limit)

  async function* text(): AsyncGenerator<string> {
    let [decoder, used]: [InstanceType<typeof TextDecoder> | undefined, string] = [undefined, '']
    try {
      for await (const piece of pieces) {
        used ||= bomOf(piece) ?? wideOf(piece) ?? encoding ?? 'utf-8'
        decoder ??= new TextDecoder(used, { fatal: true })
        const decoded = decoder.decode(piece, { stream: true })
        // UTF-32 and binary content, which the Encoding Standard would decode.
        if (encoding !== undefined && decoded.includes('\0'))
          throw new SourceBreak(problem('content.syntax', `The source contains the character U+0000, so it is no CSV in ${used}. ${NAME_IT}`)) // prettier-ignore
        yield decoded
      }
      yield decoder?.decode() ?? ''
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new SourceBreak(
        problem('content.syntax', `The source is not ${used}. ${encoding === undefined ? CONVERT_IT : NAME_IT}`),
      )
    }
  }
  return { text: text(), bytes }
}

const NAME_IT = 'Convert it to UTF-8, or name its encoding: &encoding=windows-1252, for example.'
const CONVERT_IT = 'Convert it to UTF-8, the encoding of Turtle, TriG, N-Triples and N-Quads.'

/** Without a byte order mark, an ASCII character at the start reveals UTF-16. */
function wideOf([first, second]: Buffer): string | undefined {
  if (first === 0) return second === 0 ? undefined : 'utf-16be'
  return second === 0 ? 'utf-16le' : undefined
}
