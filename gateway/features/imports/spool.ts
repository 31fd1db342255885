// The output of an import on disk, until it is written to the store: the triples in the order in which they were made,
// and an index by document. After a crash, a spool continues from its last complete state. Only for the thread of an
// import.
import { closeSync, ftruncateSync, openSync, readSync, writeFileSync } from 'node:fs'
import { sumOf } from '../../../cache/entity-tag.js'
import { compareAsBytes, counted, sortedAsBytes } from '../../rdf/graph.js'
import { lineInForm } from '../../rdf/literal-forms.js'
import { grown } from '../../thread-memory.js'
import type { Made, ImportTarget } from './plan.js'

export interface Spool {
  /**
   * Indexes the documents that the file had when it was opened, until this time (`performance.now()`). True when
   * finished.
   */
  index(until: number): boolean
  /**
   * @param document '' for triples that have neither a graph nor a document: they are refused together
   * @param triple in N-Triples, without its final dot
   */
  add(document: string, triple: string): void
  /** Writes everything that was added. Returns the size of the file. */
  flush(): number
  bytes(): number
  /** Bytes that were added and are not written yet. */
  pending(): number
  documents(): number
  /** Up to `most` documents from this one on: parents before their children, names sorted by characters. */
  read(from: number, most: number, toStore: ImportTarget): Made[]
  /** Everything, as N-Quads. */
  quads(): string
  close(): void
}

export class TooMuch extends Error {}

const tooMany = (bytes: number): TooMuch =>
  new TooMuch(`The triples of the source have more than ${bytes} bytes. Use shorter names, or import it in parts.`)

export const PLACELESS =
  'Triples without a graph are left out: name a document for them (?name=, sd:name), or a container (?into=).'

/** In bytes; writing a document has a lower limit. */
const LARGEST = 128 * 1024 * 1024

const MOST_DOCUMENTS = 1_000_000
/** The most stretches: a stretch is a run of consecutive triples of one document, and takes some bytes of memory. */
const MOST_STRETCHES = 4_000_000
const STRETCH_BYTES = 32
/**
 * Bytes of one batch for the store. A large batch would delay other writes. A larger document forms a separate batch.
 */
const BATCH_BYTES = 256 * 1024
/** In characters: the checksum of a longer text would delay a request. */
const QUICKLY_SUMMED = 128 * 1024

/**
 * @param bytes the size of the complete part of the file; the rest is dropped
 * @param most the largest size in bytes
 */
export function openSpool(path: string, bytes: number, most = Infinity): Spool {
  const file = openSync(path, 'a+', 0o600)
  ftruncateSync(file, bytes)
  const index = makeIndex()
  const known = stretchesIn(file, bytes, index.add)
  let size = bytes
  const batch = makeBatch()

  function flush(): number {
    const pieces: Buffer[] = []
    for (const [document, texts] of batch.take()) {
      const length = texts.reduce((sum, text) => sum + text.length, 0)
      const head = headOf(length, document)
      index.add(document, size + head.length, length)
      size += head.length + length
      pieces.push(head, ...texts)
    }
    if (size > most) throw tooMany(most)
    // `writeSync` may write a part, without an error.
    if (pieces.length > 0) writeFileSync(file, Buffer.concat(pieces))
    return size
  }

  const textOf = (number: number): string => readStretches(file, index.stretchesOf(number))
  const lengthOf = (number: number): number => index.stretchesOf(number).reduce((sum, [, one]) => sum + one, 0)
  const made = (number: number, { tagKey, forms }: ImportTarget): Made => {
    const document = index.nameOf(number)
    const about = { document, level: levelOf(document) }
    if (document === '') return { ...about, refused: PLACELESS }
    if (lengthOf(number) > LARGEST) return { ...about, refused: 'The document would be too large.' }
    const lines = linesIn(textOf(number), forms)
    const nTriples = `${lines.join('\n')}\n`
    return { ...about, nTriples, ...(nTriples.length > QUICKLY_SUMMED && { sum: sumOf(lines, tagKey) }) }
  }
  return {
    index: known,
    add: batch.add,
    flush,
    bytes: () => size,
    pending: batch.size,
    documents: index.count,
    read(from, most, toStore) {
      const order = index.inOrder()
      const read: Made[] = []
      for (let i = from, taken = 0; i < order.length && read.length < most; i++) {
        taken += lengthOf(order[i]!)
        if (taken > BATCH_BYTES && read.length > 0) break
        read.push(made(order[i]!, toStore))
      }
      return read
    },
    quads: () =>
      index
        .inOrder()
        .map((number) => quadsOf(textOf(number), index.nameOf(number)))
        .join(''),
    close: () => closeSync(file),
  }
}

function quadsOf(nTriples: string, graph: string): string {
  const end = graph === '' ? END : ` <${graph}>${END}`
  // A function, since `$&` in a replacement text has a meaning.
  return nTriples.replaceAll(END, () => end)
}

function linesIn(text: string, forms: ImportTarget['forms']): string[] {
  const lines = text.split('\n').slice(0, -1)
  return sortedAsBytes(lines.map((line) => counted(lineInForm(line, forms))))
}

/** Additions that are not on disk yet, as bytes: many strings would be copied repeatedly while they wait. */
function makeBatch() {
  let text = Buffer.allocUnsafe(LEAST_ROOM)
  let used = 0
  /** For each document, the start and end of each stretch of its lines. */
  const stretches = new Map<string, number[]>()
  return {
    size: () => used,
    add(document: string, triple: string): void {
      // No character takes more than three bytes.
      if (used + 3 * triple.length + END.length > text.length) {
        const needed = used + Buffer.byteLength(triple) + END.length
        if (needed > text.length) text = Buffer.concat([text.subarray(0, used)], Math.max(needed, 2 * text.length))
      }
      const from = used
      used += text.write(triple, used)
      used += text.write(END, used, 'latin1')
      const own = stretches.get(document)
      if (!own) stretches.set(document, [from, used])
      else if (own.at(-1) === from) own[own.length - 1] = used
      else own.push(from, used)
    },
    /** Returns the documents with their texts, and empties the batch. */
    *take(): Generator<[document: string, texts: Buffer[]]> {
      for (const [document, own] of stretches) {
        const texts: Buffer[] = []
        for (let i = 0; i < own.length; i += 2) texts.push(text.subarray(own[i], own[i + 1]))
        yield [document, texts]
      }
      stretches.clear()
      used = 0
      if (text.length > MOST_ROOM) text = Buffer.allocUnsafe(LEAST_ROOM)
    },
  }
}

const END = ' .\n'
/** Bytes reserved for additions. */
const [LEAST_ROOM, MOST_ROOM] = [64 * 1024, 8 * 1024 * 1024]

type Stretch = readonly [offset: number, length: number]

function readStretches(file: number, stretches: readonly Stretch[]): string {
  const parts = stretches.map(([offset, length]) => {
    const buffer = Buffer.allocUnsafe(length)
    readSync(file, buffer, 0, length, offset)
    return buffer
  })
  return Buffer.concat(parts).toString()
}

/** The number of bytes of the text and of the name, and the name. */
const headOf = (bytes: number, document: string): Buffer =>
  Buffer.from(`${bytes} ${Buffer.byteLength(document)} ${document}\n`)

const LONGEST_NUMBERS = 40

const levelOf = (document: string): number => document.split('/').length

function makeIndex() {
  const numbers = new Map<string, number>()
  const names: string[] = []
  /**
   * The last stretch of each document. For each stretch: its offset, and the number of the stretch before it, or -1.
   */
  const last: number[] = []
  const [offsets, lengths, before] = [[] as number[], [] as number[], [] as number[]]
  let order: number[] | undefined
  return {
    count: () => names.length,
    nameOf: (number: number) => names[number]!,
    add(document: string, offset: number, length: number): void {
      let number = numbers.get(document)
      if (number === undefined) {
        number = names.push(counted(document)) - 1
        numbers.set(document, number)
        last.push(-1)
        if (number >= MOST_DOCUMENTS) throw new TooMuch(`It has more than ${MOST_DOCUMENTS} documents.`)
      }
      if (offsets.length >= MOST_STRETCHES) throw new TooMuch('Its triples are too scattered. Sort them by graph.')
      grown(STRETCH_BYTES)
      before.push(last[number]!)
      last[number] = offsets.push(offset) - 1
      lengths.push(length)
      order = undefined
    },
    stretchesOf(number: number): Stretch[] {
      const stretches: Stretch[] = []
      for (let at = last[number]!; at >= 0; at = before[at]!) stretches.push([offsets[at]!, lengths[at]!])
      return stretches.reverse()
    },
    inOrder(): readonly number[] {
      const levels = order ?? names.map(levelOf)
      return (order ??= names
        .map((_, i) => i)
        .sort((a, b) => levels[a]! - levels[b]! || compareAsBytes(names[a]!, names[b]!)))
    },
  }
}

/** How many stretches are read between two checks of the time. */
const LOOK_EVERY = 1_000

/** Reads the heads of stretches, without their texts, up to this size and until this time. */
function stretchesIn(
  file: number,
  size: number,
  add: (document: string, offset: number, length: number) => void,
): (until: number) => boolean {
  const read = makeHeadReader(file)
  let at = 0
  return (until) => {
    for (let looked = 1; at < size; looked++) {
      const { document, length, textAt } = read(at)
      add(document, textAt, length)
      at = textAt + length
      if (looked % LOOK_EVERY === 0 && performance.now() >= until) break
    }
    return at >= size
  }
}

/** Reads many short stretches at once. */
function makeHeadReader(file: number): (at: number) => { document: string; length: number; textAt: number } {
  let [piece, from, read] = [Buffer.allocUnsafe(LEAST_ROOM), 0, 0]
  /** The bytes at this place: at least this many, if the file has them. */
  const bytesAt = (at: number, least: number): Buffer => {
    if (at < from || at + least > from + read) {
      if (least > piece.length) piece = Buffer.allocUnsafe(least)
      from = at
      read = readSync(file, piece, 0, piece.length, at)
    }
    return piece.subarray(at - from, read)
  }
  return (at) => {
    const numbers = bytesAt(at, LONGEST_NUMBERS).toString('latin1', 0, LONGEST_NUMBERS)
    const [begin, length, named] = /^(\d+) (\d+) /.exec(numbers) ?? []
    if (begin === undefined) throw new Error('the spool is broken')
    const nameAt = at + begin.length
    const nameEnd = Number(named)
    return {
      document: bytesAt(nameAt, nameEnd).toString('utf8', 0, nameEnd),
      length: Number(length),
      textAt: nameAt + nameEnd + 1,
    }
  }
}
