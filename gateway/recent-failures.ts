// What operators look at first: the last refused and the last slow requests, and how many answers needed no store.
import type { RequestLine } from './log.js'

export type SeenRequest = Pick<
  RequestLine,
  'time' | 'id' | 'method' | 'path' | 'status' | 'agent' | 'ms' | 'storeMs'
> & {
  /** Why, in the words of the rules or the code of the problem. */
  readonly reason: string | undefined
}

export interface Recent {
  /** Answers in all, and those without the store. */
  answers: number
  withoutStore: number
  /** The newest last. */
  readonly refused: SeenRequest[]
  readonly slow: SeenRequest[]
}

const MOST = 20
export const SLOW_MS = 500

export const makeRecent = (): Recent => ({ answers: 0, withoutStore: 0, refused: [], slow: [] })

export function remember(list: SeenRequest[], seen: SeenRequest): void {
  if (list.push(seen) > MOST) list.shift()
}
