// Reads an archive, which is untrusted: it may have only plain files, whose names lead out of no folder and whose
// digests are those in the manifest.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { DATA, isPartName, MANIFEST, readManifest, type Manifest, type ArchivedPart } from './manifest.js'
import { PART } from './pieces.js'
import { systemErrorOf, Unable } from './unable.js'

interface Entry {
  readonly name: string
  readonly size: number
  readonly bytes: AsyncIterable<Uint8Array>
}

const MOST_MANIFEST = 256 * 1024 * 1024
/** In bytes. A part ends with a line, and one quad may be longer than a usual part. */
export const MOST_PART = 16 * PART

const damaged = (file: string, why: string): Unable =>
  new Unable(`${file} is damaged, or not a backup: ${why}. Use another copy.`)

const readingFailed = (file: string, error: unknown): unknown =>
  error instanceof Unable || systemErrorOf(error) ? error : damaged(file, error instanceof Error ? error.message : '')

const webStreamOf = (pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const all = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await all.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await all.return?.()),
  })
}

/** The files in the order of the archive. Throws Unable. */
async function* entriesOf(file: string): AsyncGenerator<Entry> {
  const packed = createReadStream(file, { highWaterMark: 256 * 1024 })
  const gunzip = createGunzip()
  packed.on('error', (error) => gunzip.destroy(error)).pipe(gunzip)
  try {
    // The parser bounds the memory for headers.
    const decoder = createTarDecoder({ strict: true })
    const entries: AsyncIterable<ParsedTarEntry> = webStreamOf(gunzip).pipeThrough(decoder)
    for await (const { header, body } of entries) {
      const { name, size, type } = header
      if ((type !== undefined && type !== 'file') || !(isPartName(name) || name === MANIFEST))
        throw damaged(file, `it has ${JSON.stringify(name.slice(0, 100))}`)
      let taken = 0
      async function* counted(): AsyncGenerator<Uint8Array> {
        try {
          for await (const piece of body) {
            taken += piece.length
            yield piece
          }
        } catch (error) {
          throw readingFailed(file, error)
        }
      }
      const bytes = counted()
      yield { name, size, bytes }
      // Reads the rest of an entry that the caller did not read.
      for await (const piece of bytes) void piece
      if (taken !== size) throw damaged(file, `${name} is cut off`)
    }
  } catch (error) {
    throw readingFailed(file, error)
  } finally {
    packed.destroy()
    gunzip.destroy()
  }
}

/**
 * Reads the whole archive, compares each part with the manifest, and returns the manifest. Writes nothing. Throws
 * Unable.
 * @param part receives each part, whole, that is not a file of the data folder
 */
export async function verifyArchive(
  file: string,
  read: (bytes: number) => void,
  part: (name: string, bytes: Buffer) => void = () => undefined,
): Promise<Manifest> {
  const found: ArchivedPart[] = []
  let manifest: Manifest | undefined
  let total = 0
  for await (const { name, size, bytes } of entriesOf(file)) {
    if (manifest) throw damaged(file, 'something comes after its manifest')
    if (name === MANIFEST) {
      if (size > MOST_MANIFEST) throw damaged(file, 'its manifest is too long')
      manifest = readManifest((await whole(bytes)).toString())
      if (!manifest) throw damaged(file, 'its manifest has another format')
      continue
    }
    const isHeld = !name.startsWith(DATA)
    if (isHeld && size > MOST_PART) throw damaged(file, `${name} is too long`)
    const digest = createHash('sha256')
    const held: Uint8Array[] = []
    for await (const piece of bytes) {
      digest.update(piece)
      if (isHeld) held.push(piece)
      read((total += piece.length))
    }
    if (isHeld) part(name, Buffer.concat(held))
    found.push({ name, size, sha256: digest.digest('hex') })
  }
  if (!manifest) throw damaged(file, 'its end is missing')
  const byName = (parts: readonly ArchivedPart[]) => new Map(parts.map((one) => [one.name, one]))
  const [listed, real] = [byName(manifest.parts), byName(found)]
  if (real.size !== found.length) throw damaged(file, 'a part is in it twice')
  for (const { name } of found) if (!listed.has(name)) throw damaged(file, `its manifest does not know ${name}`)
  for (const [name, { size, sha256 }] of listed) {
    const one = real.get(name)
    if (!one) throw damaged(file, `${name} is missing`)
    if (one.sha256 !== sha256 || one.size !== size) throw damaged(file, `${name} has another digest`)
  }
  return manifest
}

const whole = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const held: Uint8Array[] = []
  for await (const piece of bytes) held.push(piece)
  return Buffer.concat(held)
}

/**
 * The parts whose names begin with this prefix, in order, by a manifest that was verified. Throws Unable if the file
 * has been replaced since.
 */
export async function* archivedParts(
  file: string,
  { parts }: Manifest,
  prefix: string,
): AsyncGenerator<{ readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }> {
  const expected = new Map(parts.map((part) => [part.name, part]))
  for await (const { name, size, bytes } of entriesOf(file)) {
    if (!name.startsWith(prefix)) continue
    const { sha256, size: told } = expected.get(name) ?? {}
    if (size !== told) throw damaged(file, `${name} has changed`)
    async function* checked(): AsyncGenerator<Uint8Array> {
      const digest = createHash('sha256')
      for await (const piece of bytes) {
        digest.update(piece)
        yield piece
      }
      if (digest.digest('hex') !== sha256) throw damaged(file, `${name} has changed`)
    }
    yield { name, bytes: checked() }
  }
}

/** The content of these parts, one after the other. */
export async function* archivedContent(file: string, manifest: Manifest, prefix: string): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of archivedParts(file, manifest, prefix)) yield* bytes
}
