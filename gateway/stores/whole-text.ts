// Reads a store's answer as one text, bounded; a failure if it breaks off.
import { isUtf8 } from 'node:buffer'
import { isFailure, problem, type Problem } from '../problem.js'
import { StoreBreak } from './store.js'

/** An answer as text. `tooLarge` above `maxBytes`; `store.failed` if it breaks off, or is not in UTF-8. */
export async function wholeText(
  asked: AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array> | Problem>,
  maxBytes: number,
  tooLarge = problem('store.failed', `The answer of the triplestore is larger than ${maxBytes} bytes.`),
): Promise<string | Problem> {
  const answer = await asked
  if (isFailure(answer)) return answer
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of answer) {
      size += piece.length
      if (size > maxBytes) return tooLarge
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
  return wholeTextOf(Buffer.concat(pieces, size))
}

const NOT_UTF8 = problem('store.failed', 'The answer of the triplestore is not in UTF-8.')
const BYTE_ORDER_MARK = '\ufeff'

export function wholeTextOf(bytes: Buffer): string | Problem {
  if (!isUtf8(bytes)) return NOT_UTF8
  const text = bytes.toString()
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}
