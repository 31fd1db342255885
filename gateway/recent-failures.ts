// What operators look at first: the latest refused requests, the latest slow requests, and the number of answers that
// needed no store.
import type { RequestLine } from './log.js'

export type SeenRequest = Pick<
  RequestLine,
  'time' | 'id' | 'method' | 'path' | 'status' | 'agent' | 'ms' | 'storeMs'
> & {
  /** The reason, in the words of the rules or as the code of the problem. */
  readonly reason: string | undefined
}

export interface Recent {
  /** The number of all answers, and of those that needed no store. */
  answers: number
  withoutStore: number
  /** Newest last. */
  readonly refused: SeenRequest[]
  readonly slow: SeenRequest[]
}

const MOST = 20
export const SLOW_MS = 500

export const makeRecent = (): Recent => ({ answers: 0, withoutStore: 0, refused: [], slow: [] })

export function remember(list: SeenRequest[], seen: SeenRequest): void {
  if (list.push(seen) > MOST) list.shift()
}
