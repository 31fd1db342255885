// Writes an archive: the parts in the order in which they arrive, each with its digest, and the manifest at the end.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createTarPacker } from 'modern-tar'
import { makeQueue } from '../../../versioning/queue.js'
import { MANIFEST, type Manifest, type ArchivedPart } from './manifest.js'

export interface ArchiveWriter {
  /** Adds a part that is in memory. */
  add(name: string, bytes: Uint8Array): Promise<void>
  addFile(name: string, path: string): Promise<void>
  /** Each piece becomes a separate part, named by its number. */
  addParts(folder: string, ending: string, pieces: AsyncIterable<Uint8Array>): Promise<void>
  finish(manifest: Omit<Manifest, 'parts'>): Promise<void>
  fail(error: unknown): void
  /** The archive (POSIX.1-2001 pax). */
  readonly bytes: ReadableStream<Uint8Array>
}

const MODE = 0o600

export function makeArchive(now: () => number): ArchiveWriter {
  const { readable, controller } = createTarPacker()
  const parts: ArchivedPart[] = []
  const inTurn = makeQueue()
  const write = (name: string, size: number, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> =>
    inTurn(async () => {
      const writer = controller.add({ name, size, mode: MODE, mtime: new Date(now()) }).getWriter()
      const digest = createHash('sha256')
      for await (const piece of pieces) {
        digest.update(piece)
        await writer.write(piece)
      }
      await writer.close()
      parts.push({ name, size, sha256: digest.digest('hex') })
    })
  const add = (name: string, bytes: Uint8Array): Promise<void> => write(name, bytes.length, [bytes])
  return {
    add,
    async addFile(name, path) {
      const { size } = await stat(path)
      // If the file grows meanwhile, only this much of it is archived.
      await write(name, size, size === 0 ? [] : createReadStream(path, { end: size - 1 }))
    },
    async addParts(folder, ending, pieces) {
      let number = 0
      for await (const piece of pieces) await add(`${folder}${String(++number).padStart(8, '0')}${ending}`, piece)
    },
    async finish(manifest) {
      await add(MANIFEST, Buffer.from(JSON.stringify({ ...manifest, parts } satisfies Manifest)))
      controller.finalize()
    },
    fail: (error) => controller.error(error),
    bytes: readable,
  }
}
