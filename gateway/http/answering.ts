// Tracks responses that are still being computed, including those whose clients have left.
import type { Response } from './exchange.js'
import { discard } from './send.js'

export interface Answering {
  readonly all: ReadonlySet<Promise<unknown>>
  waitFor<T>(answer: Promise<T>): Promise<T>
  /** The response will not be sent. Its work may continue, so that its result is cached for the next request. */
  drop(answer: Promise<Response>): void
}

export function makeAnswering(): Answering {
  const all = new Set<Promise<unknown>>()
  const waitFor = <T>(answer: Promise<T>): Promise<T> => {
    all.add(answer)
    return answer.finally(() => all.delete(answer))
  }
  return { all, waitFor, drop: (answer) => void waitFor(answer).then(discard, () => undefined) }
}
