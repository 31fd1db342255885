// The starts of one import: where it stands, so that one that ends its process again and again is given up.
import { readFile } from 'node:fs/promises'
import { nextStart, type Starts } from '../../../versioning/starts.js'
import type { ImportPlan } from './plan.js'

export const GIVEN_UP =
  'The gateway ended twice while this import ran, at the same place. Import its source in smaller parts.'

/** @param written documents that were written */
export async function startOfRun(plan: ImportPlan, written: number, before: Starts | undefined): Promise<Starts | undefined> {
  // What the thread has read is there earlier than in the record of the run.
  const read = await readFile(`${plan.spool}.progress`, 'utf8').catch(() => '')
  return nextStart(`${written} ${read}`, before)
}
