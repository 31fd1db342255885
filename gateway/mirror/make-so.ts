// Making documents in the store what the history says, whatever they are there.
import { setTimeout as sleep } from 'node:timers/promises'
import type { VersionedChange } from '../../versioning/change.js'
import { isFailure, type Problem } from '../problem.js'
import type { Mirrored } from './all-documents.js'

/** A document, and its canonical N-Triples; undefined if it does not exist. */
export type DocumentText = Pick<VersionedChange, 'document' | 'content'>

/** `unfit`: the store refuses this very text, or fails with it; it still accepts others. */
export interface Unfit {
  readonly unfit: Problem
}

/** @param options `canonical: false` for a text that nobody has checked */
export async function makeSo(
  { store, states }: Pick<Mirrored, 'store' | 'states'>,
  { document, content }: DocumentText,
  { canonical = true } = {},
): Promise<undefined | Unfit | Problem> {
  const write = (): Promise<undefined | Problem> =>
    content === undefined ? store.remove(document) : store.replace(document, content, canonical ? { canonical } : {})
  const failed = await write()
  if (!failed || content === undefined) return failed
  if (isFailure(await states.canonical(content))) return { unfit: failed }
  // A store that restarts fails as well, and one that takes no writes refuses them, whatever they are.
  const isWell = async (): Promise<boolean> =>
    !((await store.replace(SCRATCH, '<urn:a> <urn:b> "c" .\n')) ?? (await store.remove(SCRATCH)))
  if (failed.failure === 'store.refused') return (await isWell()) ? { unfit: failed } : failed
  if (failed.failure !== 'store.failed') return failed
  for (let n = 0; n < ATTEMPTS; n++) {
    await sleep(PAUSE_MS)
    if (!(await isWell())) return failed
    const again = await write()
    if (again?.failure !== failed.failure) return again
  }
  return { unfit: failed }
}

const SCRATCH = 'urn:triplegate:scratch'
const [ATTEMPTS, PAUSE_MS] = [3, 500]
