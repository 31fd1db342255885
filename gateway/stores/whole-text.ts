// In charge of answers of a store that are read whole: bounded, and a failure where they break off.
import { isFailure, problem, type Problem } from '../problem.js'
import { StoreBreak } from './store.js'

/** An answer as text: `store.failed` where it is longer than `maxBytes`. */
export async function wholeText(
  asked: Promise<AsyncIterable<Uint8Array> | Problem>,
  maxBytes: number,
): Promise<string | Problem> {
  const answer = await asked
  if (isFailure(answer)) return answer
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of answer) {
      size += piece.length
      if (size > maxBytes) return problem('store.failed', `The answer of the store is larger than ${maxBytes} bytes.`)
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
  return Buffer.concat(pieces, size).toString('utf8')
}
