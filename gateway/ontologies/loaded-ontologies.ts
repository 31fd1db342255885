// In charge of the ontologies of a dataspace as they were read last: imports that could be read stay in memory, those that could
// not are reported and tried again.
import type { Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import { closureOf, localOntologies, type Closure, type Imports, type Known, type LocalOntology } from './closure.js'

export interface OntologySettings {
  readonly store: GraphStore
  readonly adminBase: string
  /** The namespace ontology, which users extend. */
  readonly root: string
  readonly imports: Imports
  readonly now: () => number
  readonly log: Log
}

export interface Loaded {
  /** Names this state of the ontologies. */
  readonly version: number
  readonly ontologies: ReadonlyMap<string, LocalOntology>
  /** Of the namespace ontology. */
  readonly closure: Closure
}

export interface LoadedOntologies {
  /** As they are in memory; else they are read. */
  current(): Promise<Loaded | Problem>
  /** The imports in memory. */
  imported(): Closure['imported']
  /** Reads all of it, but for these imports, and takes the time that it needs; `put` makes it current. */
  load(known: Closure['imported']): Promise<Loaded | Problem>
  /** What could not be read a short time ago. */
  failures(): Closure['failures'] | undefined
  put(fresh: Loaded): void
  /** The ontology documents are read again. */
  renew(): void
}

const RETRY_MS = 60_000
/** For reading in the background, and for one who waits for it. */
const LONGEST_MS = 60_000

export const folderOf = (adminBase: string): string => `${adminBase}ontologies/`

async function read(
  { store, adminBase, root, imports }: OntologySettings,
  known: Known,
  version: number,
  patience?: number,
): Promise<Loaded | Problem> {
  const ontologies = await localOntologies(store, folderOf(adminBase))
  if (isFailure(ontologies)) return ontologies
  return { version, ontologies, closure: await closureOf(root, ontologies, known, imports, patience) }
}

export function makeLoadedOntologies(settings: OntologySettings): LoadedOntologies {
  const { now, log } = settings
  let version = 0
  let retryAt = Infinity
  let imported: Closure['imported'] = new Map()
  let loading: Promise<Loaded | Problem> | undefined

  /** Each is tried again in the background, and when it is cleared: no write waits for the same server twice. */
  let failed: { readonly failures: Closure['failures']; readonly at: number } | undefined
  const failures = (): Closure['failures'] | undefined =>
    failed && now() - failed.at < 2 * RETRY_MS ? failed.failures : undefined

  const load = (known: Closure['imported']): Promise<Loaded | Problem> =>
    read(settings, { imported: known }, version, LONGEST_MS)

  async function follow(asked: Promise<Loaded | Problem>): Promise<void> {
    const loaded = await asked
    if (isFailure(loaded) || loading !== asked) return
    const { closure } = loaded
    imported = closure.imported
    failed =
      closure.failures.size > 0
        ? { failures: closure.failures, at: failed && failures() ? failed.at : now() }
        : undefined
    retryAt = closure.failures.size > 0 ? now() + RETRY_MS : Infinity
    for (const [ontology, { detail }] of closure.failures) {
      log.warn({ ontology, problem: detail }, 'an imported ontology cannot be read: what it says does not count')
    }
  }

  /** What could be read counts meanwhile. */
  async function retry(): Promise<void> {
    const fresh = await load(imported)
    if (isFailure(fresh)) return
    if (fresh.closure.failures.size === 0) put(fresh)
    else failed = { failures: fresh.closure.failures, at: now() }
  }

  function put(fresh: Loaded): void {
    const isCurrent = fresh.version === version
    renew()
    if (isCurrent) loading = Promise.resolve({ ...fresh, version })
    imported = fresh.closure.imported
    failed = undefined
    retryAt = Infinity
  }

  function renew(): void {
    version++
    loading = undefined
  }

  return {
    current() {
      if (loading && now() >= retryAt) {
        retryAt = now() + RETRY_MS
        void retry()
      }
      if (loading) return loading
      const again = failures()
      loading = read(settings, { imported, ...(again && { failures: again }) }, version)
      void follow(loading)
      return loading
    },
    imported: () => imported,
    failures,
    load,
    put,
    renew,
  }
}
