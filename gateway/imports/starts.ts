// In charge of an import whose process ends again and again while it runs: it is given up at its third start without progress.
import { readFile } from 'node:fs/promises'
import type { Plan } from './plan.js'

export interface Starts {
  /** How far the import was. */
  readonly at: string
  /** Times that it was started there. */
  readonly count: number
}

const MOST = 2

export const GIVEN_UP =
  'The gateway ended twice while this import ran, at the same place. Import its source in smaller parts.'

/** This start, with those before it; undefined at the third one without progress. @param written documents that were written */
export async function nextStart(plan: Plan, written: number, before: Starts | undefined): Promise<Starts | undefined> {
  // What the thread has read is there earlier than in the record of the run.
  const read = await readFile(`${plan.spool}.progress`, 'utf8').catch(() => '')
  const at = `${written} ${read}`
  const count = before?.at === at ? before.count + 1 : 1
  return count > MOST ? undefined : { at, count }
}
