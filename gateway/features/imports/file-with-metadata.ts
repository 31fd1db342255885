// An import's content in two parts: the file, and CSV on the Web metadata (the part `metadata`), which is small.
import { decodeText } from '../../http/body.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { makePartsReader } from '../../rdf/multipart-stream.js'
import { boundaryOf, flaw, type PartHead } from '../../rdf/read-multipart.js'
import { LARGEST_METADATA, type MetadataText } from './csvw-metadata.js'

export interface FileWithMetadata {
  write(piece: Buffer): Promise<undefined | Problem>
  finish(): undefined | Problem
  /** After `finish`. */
  parts(): { readonly head: PartHead; readonly metadata: MetadataText | undefined }
}

/** @param write gets the pieces of the file */
export function makeFileWithMetadata(
  contentType: string,
  write: (piece: Buffer) => Promise<undefined | Problem>,
): FileWithMetadata | Problem {
  const boundary = boundaryOf(contentType)
  if (isFailure(boundary)) return boundary
  let head: PartHead | undefined
  let metadata: Buffer | undefined
  let isMetadata = false
  const reader = makePartsReader(boundary, {
    begin(next) {
      isMetadata = next.name === 'metadata'
      if (isMetadata ? metadata !== undefined : next.file === undefined || head !== undefined) return flaw(PARTS)
      if (isMetadata) metadata = Buffer.alloc(0)
      else head = next
      return undefined
    },
    data(piece) {
      if (!isMetadata) return write(piece)
      metadata = Buffer.concat([metadata!, piece])
      return metadata.length > LARGEST_METADATA ? TOO_LARGE : undefined
    },
    end: () => undefined,
  })
  return {
    write: (piece) => reader.write(piece),
    finish: () => reader.finish() ?? (head ? undefined : flaw(PARTS)),
    parts: () => ({ head: head!, metadata: metadata && { text: decodeText(metadata) ?? '', came: true } }),
  }
}

const PARTS = 'it has to have one file, and at most one part "metadata"'
const TOO_LARGE = problem('content.too-large', `The metadata is larger than ${LARGEST_METADATA} bytes.`)
