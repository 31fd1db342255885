// The position of a store in a log, and the turn in the store (fenced-update.ts).
import { randomUUID } from 'node:crypto'
import { isFailure, type Problem } from '../problem.js'
import { positionQuery } from './fenced-update.js'
import { select } from './select.js'
import type { GraphStore } from './store.js'

/** The number grows with each request of a process. */
export interface Turn {
  readonly process: string
  readonly number: number
}

export const firstTurn = (): Turn => ({ process: randomUUID(), number: 1 })
export const turnText = ({ process, number }: Turn): string => `${process}:${number}`

export interface Position {
  readonly at: number
  readonly turn: string
}

/** A query that takes longer has failed. */
const ASKING_MS = 5000

/** The position and turn; undefined if the store has none. */
export async function positionIn(
  store: Pick<GraphStore, 'query'>,
  iri: string,
): Promise<Position | undefined | Problem> {
  const signal = AbortSignal.timeout(ASKING_MS)
  const rows = await select(store, positionQuery(iri), ['at', 'turn'], { signal })
  if (isFailure(rows)) return rows
  const [at, turn] = rows.length === 1 ? rows[0]! : []
  return at && turn && Number.isSafeInteger(Number(at.value)) ? { at: Number(at.value), turn: turn.value } : undefined
}
