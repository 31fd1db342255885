// Reads multipart content while it arrives (RFC 7578, RFC 2046 §5.1). Each part is passed on in pieces, so it may have
// any size. Accepts exactly what `partsOf` of read-multipart.ts accepts. Pure.
import { CRLF, flaw, headOf, LONGEST_HEAD, NO_HEAD, type PartHead } from './read-multipart.js'
import { isFailure, type Problem } from '../problem.js'
import type { Awaitable } from '../maybe-async.js'

/** Receives the parts one after the other. A problem stops the reading. */
export interface TakeParts {
  begin(head: PartHead): Awaitable<undefined | Problem>
  data(piece: Buffer): Awaitable<undefined | Problem>
  end(): Awaitable<undefined | Problem>
}

export interface PartsReader {
  /** Call it for each piece in order. */
  write(piece: Buffer): Promise<undefined | Problem>
  /** Call it after the last piece: returns the reason if the content is incomplete. */
  finish(): undefined | Problem
}

/** A form has one part per field. */
const MOST_PARTS = 10_000

export function makePartsReader(boundary: string, take: TakeParts): PartsReader {
  const begin = Buffer.from(`${CRLF}--${boundary}`)
  let place: 'before' | 'head' | 'start' | 'body' | 'after' = 'before'
  let parts = 0
  // RFC 2046 §5.1.1: the line break before a delimiter belongs to it. The first delimiter may have none.
  let rest: Buffer = Buffer.from(CRLF)

  /** Keeps the rest of the piece for the next one, since it may be the start of a delimiter. */
  async function step(): Promise<'more' | 'on' | Problem> {
    if (place === 'head') return readHead()
    const found = delimiterIn(rest, begin)
    if (isFailure(found)) return found
    if (place === 'start') {
      // The line break after the fields is not part of a delimiter.
      if (found.before === 0) return found.kind === 'none' ? 'more' : flaw(NO_HEAD)
      rest = rest.subarray(CRLF.length)
      place = 'body'
      return 'on'
    }
    if (place === 'body' && found.before > 0) {
      const failed = await take.data(rest.subarray(0, found.before))
      if (failed) return failed
    }
    rest = rest.subarray(found.kind === 'none' ? found.before : found.end)
    if (found.kind === 'none') return 'more'
    const failed = place === 'body' ? await take.end() : undefined
    if (failed) return failed
    place = found.kind === 'last' ? 'after' : 'head'
    return 'on'
  }

  async function readHead(): Promise<'more' | 'on' | Problem> {
    const ended = rest.indexOf(CRLF + CRLF)
    if (ended > LONGEST_HEAD || (ended < 0 && rest.length > LONGEST_HEAD + 2 * CRLF.length)) return flaw(NO_HEAD)
    if (ended < 0) return 'more'
    const head = headOf(rest.subarray(0, ended))
    if (isFailure(head)) return head
    if (++parts > MOST_PARTS) return flaw(`it has more than ${MOST_PARTS} parts`)
    rest = rest.subarray(ended + CRLF.length)
    place = 'start'
    return (await take.begin(head)) ?? 'on'
  }

  return {
    async write(piece) {
      if (place === 'after') return undefined
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      for (;;) {
        const done = await step()
        if (isFailure(done)) return done
        if (done === 'more' || (place as string) === 'after') return undefined
      }
    },
    finish() {
      if (place !== 'after') return flaw(place === 'before' ? 'its boundary is missing' : 'its last part is not closed')
      return parts > 0 ? undefined : flaw('it has no parts')
    },
  }
}

/** `before`: how many bytes certainly precede the delimiter; `end`: the position after its line. */
type Found =
  | { readonly kind: 'none'; readonly before: number }
  | { readonly kind: 'next' | 'last'; readonly before: number; readonly end: number }

/** Finds the next line that is a delimiter, including its line break. A longer line only starts like one. */
function delimiterIn(content: Buffer, begin: Buffer): Found | Problem {
  for (let start = content.indexOf(begin); start >= 0; start = content.indexOf(begin, start + 1)) {
    const after = start + begin.length
    const next = content.toString('latin1', after, after + 2)
    if (next === '--') return { kind: 'last', before: start, end: after + 2 }
    let end = after
    while (content[end] === 0x20 || content[end] === 0x09) end++
    if (end - after > LONGEST_HEAD) return flaw('a delimiter line is too long')
    if (content.length < after + 2 || content.length < end + 2) {
      // The next piece decides whether it is a delimiter.
      const rest = content.toString('latin1', end)
      if (rest === '' || rest === '\r' || (rest === '-' && end === after)) return { kind: 'none', before: start }
    } else if (content[end] === 0x0d && content[end + 1] === 0x0a) return { kind: 'next', before: start, end: end + 2 }
  }
  // The content may end with the start of a delimiter.
  for (let length = Math.min(begin.length - 1, content.length); length > 0; length--) {
    if (content.subarray(-length).equals(begin.subarray(0, length)))
      return { kind: 'none', before: content.length - length }
  }
  return { kind: 'none', before: content.length }
}
