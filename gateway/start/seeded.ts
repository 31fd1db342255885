// The mark that a dataspace has been seeded: a file in the data folder. Seeding happens once in the life of a dataspace
// (design 3): a document that is missing later was deleted, and must not come back. The marks also record the bases of
// the folder.
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DescribedApplication, DescribedDataspace } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import { StartFailure } from '../configuration/start-failure.js'
import { writeWhole } from '../files/whole-file.js'
import { ownerFix } from './private-folder.js'

export interface Seeded {
  /** `begun`: a start was interrupted. Undefined in a new data folder, and in one of a version that had no marks. */
  of(base: string): 'begun' | 'done' | undefined
  /** The same; also undefined if another store was seeded to the end. Marks of earlier versions name no store. */
  ofStore(base: string, store: string): 'begun' | 'done' | undefined
  record(base: string, state: 'begun' | 'done', store: string): void
  /** True if this agent has already got its documents and its membership. */
  hasAgent(base: string, webId: string): boolean
  recordAgent(base: string, webId: string): void
  /** Records the application with this base. */
  recordApplication(base: string, iri: string): void
  /** The bases that were seeded, each with its application; undefined in the marks of earlier versions. */
  bases(): readonly (readonly [base: string, application: string | undefined])[]
}

interface Mark {
  readonly state: 'begun' | 'done'
  /** Its query endpoint, or EMBEDDED. */
  readonly store?: string
  readonly agents?: readonly string[]
  /** The IRI of the application. */
  readonly application?: string
}

export const SEEDED_FILE = 'seeded.json'
/** In the marks: a store inside the gateway. */
export const EMBEDDED = 'embedded'

/** Throws StartFailure. */
export function openSeeded(folder: string): Seeded {
  const file = join(folder, SEEDED_FILE)
  let marks = read(file)
  const put = (base: string, mark: Mark): void => {
    marks = { ...marks, [base]: mark }
    writeWhole(file, JSON.stringify(marks, null, 2) + '\n')
  }
  const agentsOf = (base: string): readonly string[] => marks[base]?.agents ?? []
  return {
    of: (base) => marks[base]?.state,
    ofStore(base, store) {
      const { state, store: known = store } = marks[base] ?? {}
      return known === store || state === 'begun' ? state : undefined
    },
    record(base, state, store) {
      const mark = marks[base]
      if (mark?.state !== state || mark.store !== store) put(base, { ...mark, state, store })
    },
    hasAgent: (base, webId) => agentsOf(base).includes(webId),
    recordAgent(base, webId) {
      if (agentsOf(base).includes(webId)) return
      put(base, { state: 'done', ...marks[base], agents: [...agentsOf(base), webId] })
    },
    recordApplication(base, iri) {
      if (marks[base]?.application !== iri) put(base, { state: 'done', ...marks[base], application: iri })
    },
    bases: () => Object.entries(marks).map(([base, { application }]) => [base, application]),
  }
}

/** The bases that a data folder remembers, in the order in which they were seeded. */
export function knownBases(folder: string): readonly string[] {
  try {
    return Object.keys(read(join(folder, SEEDED_FILE)))
  } catch {
    return []
  }
}

/**
 * Design 2: WebIDs, certificates and documents are under the base, so another base would be a new, empty dataspace.
 * Starting on another port must not create one by accident. Throws StartFailure.
 */
export function refuseMoved(seeded: Seeded, { config }: Settings, dataspaces: readonly DescribedDataspace[]): void {
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const known = new Map(seeded.bases())
  for (const application of applications) {
    const earlier = baseBefore(application, applications, known)
    if (earlier === undefined) continue
    const flag = application.kind === 'admin' ? '--admin-base' : '--base'
    const again = config.length > 0 ? `Give the application the base ${earlier} again` : `Give ${flag} ${earlier}`
    throw new StartFailure(
      `${application.base}: the data folder belongs to ${earlier}, under which its WebIDs, certificates and documents are. ` +
        `${again}, or, for a new dataspace, another folder with --data.`,
    )
  }
}

/** The base that the application had at an earlier start; undefined if it still has it, or is new. */
function baseBefore(
  { base, iri, kind }: DescribedApplication,
  applications: readonly DescribedApplication[],
  known: ReadonlyMap<string, string | undefined>,
): string | undefined {
  if (known.has(base)) return undefined
  const lost = [...known].filter(([earlier]) => !applications.some((other) => other.base === earlier))
  const own = lost.find(([, application]) => application === iri)
  if (own) return own[0]
  // In a folder of an earlier version, the end-user application was seeded first.
  const isOld = lost.length === known.size && lost.every(([, application]) => application === undefined)
  return isOld ? lost[kind === 'admin' ? 1 : 0]?.[0] : undefined
}

function read(file: string): Readonly<Record<string, Mark>> {
  try {
    const marks: unknown = JSON.parse(readFileSync(file, 'utf8'))
    chmodSync(file, 0o600)
    if (typeof marks === 'object' && marks !== null) return marks as Record<string, Mark>
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    if (code !== undefined)
      throw new StartFailure(`${file}: cannot be read (${code}). ${ownerFix(code) ?? 'Correct its disk.'}`)
  }
  throw new StartFailure(`${file}, the list of seeded documents, cannot be read. Restore it from a copy, or remove it.`)
}
