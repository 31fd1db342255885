// The files of an import in the background: its record with its progress, which a later process continues.
import { flushFolder, isAbsent, isOfDisk, notStored } from '../../files/arriving.js'
import type { Starts } from '../../../versioning/starts.js'
import type { TokenLimits } from '../../identity/agent.js'
import type { Problem } from '../../problem.js'
import type { DescribedBy } from './import-notes.js'
import type { ImportProgress } from './importing.js'
import type { ImportPlan } from './plan.js'
import { readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** On behalf of whom a run writes. */
export interface Behind {
  /** The document with the state of the import. */
  readonly document: string
  readonly agent: string | undefined
  /** The limits of the access token, if the agent was identified by one. */
  readonly token?: TokenLimits | undefined
  /** The WebID of the agent that acts for it, if it was started on behalf of another one. */
  readonly delegate?: string | undefined
  /** The client certificate of the agent that sent the request, as base64, if one proved it. */
  readonly certificate?: string | undefined
  readonly network: string
}

/** The record of a run on disk. */
export interface RunRecord extends Behind {
  /** The base of the application. */
  readonly base: string
  readonly title: string
  readonly plan: ImportPlan
  /** 'PUT' replaces documents; 'add' creates them or adds to them. */
  readonly how: 'PUT' | 'add'
  readonly stopsAtRefusal: boolean
  readonly startedAt: number
  /** The import in a document that describes it. */
  readonly describedBy?: DescribedBy | undefined
}

/** A group of documents whose writing has begun. */
export interface BegunGroup {
  /** The number of documents up to the end of the group. */
  readonly upTo: number
  /** The position of the log before; absent without a log. Not a time: clocks are set back. */
  readonly position?: number | undefined
}

export interface Kept {
  readonly record: RunRecord
  readonly progress: ImportProgress
  /** The number of documents that are certainly written, in order. */
  readonly written: number
  /** The groups after those, oldest first: some of their documents may be written. */
  readonly begun?: readonly BegunGroup[]
  /** How often the import was started since the process last stopped in an orderly way. */
  readonly starts?: Starts | undefined
  /** Set if the run is over: its outcome has only to be recorded. */
  readonly endedAt?: number
  /** Set if it is unknown whether the store has the run's document: the run creates it if not. */
  readonly isNew?: boolean
}

const folderOf = ({ plan }: RunRecord): string => dirname(plan.path)

const RECORD = 'run.json'

/** Durable when this returns. A problem: the disk is full or fails, and the earlier state may remain. */
export async function keep(kept: Kept): Promise<undefined | Problem> {
  const path = join(folderOf(kept.record), RECORD)
  try {
    await writeFile(`${path}.next`, JSON.stringify(kept), { mode: 0o600, flush: true })
    await rename(`${path}.next`, path)
    await flushFolder(folderOf(kept.record))
    return undefined
  } catch (error) {
    if (isOfDisk(error) && !isAbsent(error)) return notStored(error)
    throw error
  }
}

export const readKept = (folder: string): Kept => JSON.parse(readFileSync(join(folder, RECORD), 'utf8')) as Kept

/** If the removal is interrupted, no run is left to continue. */
export async function drop(record: RunRecord): Promise<void> {
  await rm(join(folderOf(record), RECORD), { force: true })
  await rm(folderOf(record), { recursive: true, force: true })
}

/** Keeps the progress of a run. */
export interface Keeper {
  /** The last state of which everything is written. */
  last(): Kept
  /** These are certainly written. Durable after a second at most. */
  written(written: number): Promise<undefined | Problem>
  /** The writing of a group begins. Durable when this returns; after a problem the group must not be written. */
  begun(group: BegunGroup): Promise<undefined | Problem>
}

const KEPT_EVERY_MS = 1_000

/**
 * @param first its progress changes while the run proceeds
 * @param store makes a state durable
 */
export function makeKeeper(first: Kept, now: () => number, store: typeof keep): Keeper {
  let [last, keptAt] = [first, -Infinity]
  const keepLast = (): Promise<undefined | Problem> => {
    keptAt = now()
    return store(last)
  }
  return {
    last: () => last,
    async written(written) {
      const begun = last.begun?.filter(({ upTo }) => upTo > written)
      last = { ...last, written, begun, progress: structuredClone(first.progress) }
      return now() - keptAt >= KEPT_EVERY_MS ? keepLast() : undefined
    },
    async begun(group) {
      last = { ...last, begun: [...(last.begun ?? []), group] }
      return keepLast()
    },
  }
}
