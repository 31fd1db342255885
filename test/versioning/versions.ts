// Versions for tests: mementos with given times, and all versions of a history.
import { isFailure, type Setback } from '../../versioning/failure.js'
import type { Version } from '../../versioning/change.js'
import type { History } from '../../versioning/history.js'
import type { Memento } from '../../versioning/memento/time-map.js'

/** Mementos with these times, in seconds since the epoch. */
export const mementos = (...seconds: readonly number[]): Memento[] =>
  seconds.map((second, seq) => ({
    seq,
    commit: (seq + 1).toString(16).repeat(40).slice(0, 40),
    position: seq,
    blob: 'b'.repeat(40),
    time: second * 1000,
    agent: undefined,
    method: 'PUT',
    added: 1,
    removed: 0,
  }))

export async function allVersions(
  history: Pick<History, 'outline' | 'numbered'>,
  document: string,
  patience: number,
): Promise<{ readonly versions: readonly Version[]; readonly pending: boolean } | Setback> {
  const outline = await history.outline(document, patience)
  if (isFailure(outline)) return outline
  const versions = await history.numbered(
    document,
    Array.from({ length: outline.count }, (_, number) => number),
  )
  return isFailure(versions) ? versions : { versions, pending: outline.pending }
}
