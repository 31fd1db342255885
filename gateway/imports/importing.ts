// In charge of what all imports share: the folder for their sources, and how many are read at once.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Importing } from '../gateway.js'
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { makeSharedPlaces } from '../places.js'

/** Each source takes room on disk while it is read. */
const PLACES = { each: 4, network: 8, all: 16 } as const

/** Removes everything that an earlier process has left. */
export function openImporting({ data }: { readonly data: string }, fetcher: GuardedFetch): Importing {
  const folder = join(data, 'imports', 'arriving')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return { fetcher, folder, takePlace: makeSharedPlaces(PLACES), runs: new Map() }
}
