// Makes the bytes of a document in a format and a content coding, at most once. Large ones are made off the main thread
// (design 7).
import { codedOnce, type Coding } from '../http/content-coding.js'
import { N_TRIPLES, type Format } from '../http/media-type.js'
import { ONE_PIECE } from '../http/ready-head.js'
import { isFailure, type Problem } from '../problem.js'
import { writeGraph } from '../rdf/write.js'
import type { Awaitable } from '../maybe-async.js'
import type { Document, HasDocuments, Representation } from './document.js'

/** Writes a large graph of canonical N-Triples off the main thread. Callers with the same key share the work. */
type WriteLarge = (nTriples: string, format: Format, key: string) => Promise<Uint8Array | Problem>

/** The key of writing the document off the main thread. */
export const writingKey = ({ iri }: Document, { code }: Format): string => `${iri} ${code}`

/** In characters of N-Triples. Longer documents are written off the main thread: they may take about 50 ms. */
const QUICKLY_WRITTEN = 128 * 1024

export const representationOfBytes = (bytes: Buffer): Representation => ({
  bytes,
  ...(bytes.length <= ONE_PIECE && { text: bytes.toString('latin1') }),
})

/** The bytes of the document in a format. Made at most once. */
export function representationOf(
  { cache }: HasDocuments,
  document: Document,
  format: Format,
  writeLarge: WriteLarge,
): Awaitable<Representation | Problem> {
  const ready = document.representations.get(format.code)
  if (ready) return ready
  const keep = (written: string | Uint8Array | Problem): Representation | Problem => {
    document.representations.delete(format.code)
    if (isFailure(written)) return written
    const bytes =
      typeof written === 'string'
        ? Buffer.from(written)
        : Buffer.from(written.buffer, written.byteOffset, written.byteLength)
    const representation = representationOfBytes(bytes)
    document.representations.set(format.code, representation)
    cache.documents.grown(document.iri, document.original ?? document, 2 * bytes.length)
    return representation
  }
  const { nTriples } = document
  if (format.code === N_TRIPLES.code) return keep(nTriples)
  if (nTriples.length <= QUICKLY_WRITTEN) return keep(writeGraph(document.graph(), format))
  const writing = writeLarge(nTriples, format, writingKey(document, format)).then(keep)
  document.representations.set(format.code, writing)
  return writing
}

/** The representation in a content coding; undefined if it is not compressed now (http/content-coding.ts). */
export function codedRepresentation(
  { cache: { documents } }: HasDocuments,
  document: Document,
  name: string,
  { bytes, coding }: { readonly bytes: Buffer; readonly coding: Coding },
): Awaitable<Representation> | undefined {
  const kept = document.original ?? document
  return codedOnce(document.representations, name, {
    bytes,
    coding,
    isKept: () => documents.cached(document.iri)?.value === kept,
    keep(short) {
      documents.grown(document.iri, kept, 2 * short.length)
      return representationOfBytes(short)
    },
  })
}
