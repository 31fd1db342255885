// In charge of the mark that a dataspace has been seeded: a file in the data folder. Seeding happens once in the life of a
// dataspace (design 3): what is missing later was deleted, and must not come back.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { StartFailure } from '../configuration/start-failure.js'

export interface Seeded {
  /** `begun`: a start was interrupted. Undefined in a new data folder, and in one of a version that had no marks. */
  of(base: string): 'begun' | 'done' | undefined
  record(base: string, state: 'begun' | 'done'): void
  /** Whether this agent has had its documents and its membership from here. */
  hasAgent(base: string, webId: string): boolean
  recordAgent(base: string, webId: string): void
}

interface Mark {
  readonly state: 'begun' | 'done'
  readonly agents?: readonly string[]
}

export const SEEDED_FILE = 'seeded.json'

/** Throws StartFailure. */
export function openSeeded(folder: string): Seeded {
  const file = join(folder, SEEDED_FILE)
  let marks = read(file)
  const put = (base: string, mark: Mark): void => {
    marks = { ...marks, [base]: mark }
    write(folder, file, JSON.stringify(marks, null, 2) + '\n')
  }
  const agentsOf = (base: string): readonly string[] => marks[base]?.agents ?? []
  return {
    of: (base) => marks[base]?.state,
    record(base, state) {
      if (marks[base]?.state !== state) put(base, { ...marks[base], state })
    },
    hasAgent: (base, webId) => agentsOf(base).includes(webId),
    recordAgent(base, webId) {
      if (agentsOf(base).includes(webId)) return
      put(base, { state: 'done', ...marks[base], agents: [...agentsOf(base), webId] })
    },
  }
}

function read(file: string): Readonly<Record<string, Mark>> {
  try {
    const marks: unknown = JSON.parse(readFileSync(file, 'utf8'))
    chmodSync(file, 0o600)
    if (typeof marks === 'object' && marks !== null) return marks as Record<string, Mark>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
  }
  throw new StartFailure(
    `${file}, which says what has been seeded, cannot be read. Put it back from a copy, or remove it.`,
  )
}

/** The whole file or the one before. */
function write(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const temporary = `${file}.new`
  const descriptor = openSync(temporary, 'w', 0o600)
  writeSync(descriptor, text)
  fsyncSync(descriptor)
  closeSync(descriptor)
  renameSync(temporary, file)
}
