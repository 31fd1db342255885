// Gives documents in the store the content that the history has, whatever they contain now.
import { setTimeout as sleep } from 'node:timers/promises'
import type { VersionedChange } from '../../versioning/change.js'
import { isFailure, type Problem } from '../problem.js'
import type { Mirrored } from './all-documents.js'

/** A document, and its canonical N-Triples; undefined if it does not exist. */
export type DocumentText = Pick<VersionedChange, 'document' | 'content'>

/** `unfit`: the store refuses this text, or fails on it, but still accepts others. */
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
  // A store that is restarting fails on every text, and one that accepts no writes refuses every text.
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

/** True if the document has this content in the store. */
export async function hasContent(
  { store, states }: Pick<Mirrored, 'store' | 'states'>,
  { document, content }: DocumentText,
): Promise<boolean | Problem> {
  const stored = await states.stored(store, document)
  return isFailure(stored) ? stored : states.areSame(stored, content)
}

const SCRATCH = 'urn:triplegate:scratch'
const [ATTEMPTS, PAUSE_MS] = [3, 500]
