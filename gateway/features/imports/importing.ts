// In charge of what all imports share: the folder for their sources, and how many are read, run and wait at once.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Gateway, Importing, ImportRun } from '../../gateway.js'
import { makeSharedPlaces } from '../../places.js'
import { makeTurns } from '../../stores/connection-slots.js'

/** Each source takes room on disk while it is read. */
const PLACES = { each: 4, network: 8, all: 16 } as const

/** Imports that run at once. Those that wait are bounded before (`mayStart`): this is four times as much. */
const [AT_ONCE, WAITING] = [2, 256]

/** Removes everything that an earlier process has left. */
export function openImporting(
  { data }: { readonly data: string },
  fetchers: Pick<Importing, 'fetcher' | 'loads'>,
): Importing {
  const folder = join(data, 'imports', 'arriving')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return {
    ...fetchers,
    folder,
    takePlace: makeSharedPlaces(PLACES),
    runs: new Map(),
    turns: makeTurns(AT_ONCE, WAITING, true),
  }
}

export const hasNotEnded = ({ progress: { state } }: ImportRun): boolean => state === 'running' || state === 'waiting'

/** Imports that run or wait: each keeps its source on disk. */
const MOST = { each: 16, network: 32, all: 64 } as const

export function mayStart(
  { importing: { runs } }: Pick<Gateway, 'importing'>,
  agent: string | undefined,
  network: string,
): boolean {
  const all = [...runs.values()].filter(hasNotEnded)
  const count = (isOne: (run: ImportRun) => boolean): number => all.filter(isOne).length
  return (
    all.length < MOST.all &&
    count((run) => run.network === network) < MOST.network &&
    count((run) => run.agent === agent) < MOST.each
  )
}
