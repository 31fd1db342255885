// The ontologies of a dataspace as last read. Imports that could be read stay in memory; the others are reported and
// tried again.
import type { Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import type { GraphStore } from '../stores/store.js'
import {
  closureOf,
  localOntologies,
  type OntologyClosure,
  type Imports,
  type Known,
  type LocalOntology,
} from './closure.js'

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
  /** Changes with each state of the ontologies. */
  readonly version: number
  readonly ontologies: ReadonlyMap<string, LocalOntology>
  /** The closure of the namespace ontology. */
  readonly closure: OntologyClosure
}

export interface LoadedOntologies {
  /** The ontologies in memory; reads them if there are none. */
  current(): Promise<Loaded | Problem>
  /** The imports in memory. */
  imported(): OntologyClosure['imported']
  /** Reads everything except these imports, without a time limit. `put` makes the result current. */
  load(known: OntologyClosure['imported']): Promise<Loaded | Problem>
  /** Ontologies that recently could not be read. */
  failures(): OntologyClosure['failures']
  put(fresh: Loaded): void
  /** Makes the next call read the ontology documents again. */
  renew(): void
}

const RETRY_MS = 60_000
/** The time limits of reading in the background and of reading while a request waits. */
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

function warnOf({ failures }: OntologyClosure, log: Log): void {
  for (const [ontology, { detail }] of failures)
    log.warn({ ontology, problem: detail }, 'an imported ontology cannot be read and is ignored')
}

/** Failed imports are retried only in the background or when cleared, so no write waits twice for the same server. */
function makeRecentFailures(now: () => number) {
  let [failures, at]: [OntologyClosure['failures'], number] = [new Map(), -Infinity]
  const recent = (): OntologyClosure['failures'] => (now() - at < 2 * RETRY_MS ? failures : new Map())
  const renew = (fresh: OntologyClosure['failures']): void => void ([failures, at] = [fresh, now()])
  return {
    recent,
    renew,
    /** Records the failures of a load that did not retry the remembered ones. */
    note(fresh: OntologyClosure['failures']): void {
      if (recent().size > 0) failures = fresh
      else renew(fresh)
    },
  }
}

export function makeLoadedOntologies(settings: OntologySettings): LoadedOntologies {
  const { now, log } = settings
  let version = 0
  let retryAt = Infinity
  let imported: OntologyClosure['imported'] = new Map()
  let loading: Promise<Loaded | Problem> | undefined
  const failed = makeRecentFailures(now)
  const load = (known: OntologyClosure['imported']): Promise<Loaded | Problem> =>
    read(settings, { imported: known }, version, LONGEST_MS)

  async function follow(asked: Promise<Loaded | Problem>): Promise<void> {
    const loaded = await asked
    if (isFailure(loaded) || loading !== asked) return
    const { closure } = loaded
    imported = closure.imported
    failed.note(closure.failures)
    retryAt = closure.failures.size > 0 ? now() + RETRY_MS : Infinity
    warnOf(closure, log)
  }

  /** Meanwhile, the ontologies that could be read are used. */
  async function retry(): Promise<void> {
    const fresh = await load(imported)
    if (isFailure(fresh)) return
    if (fresh.closure.failures.size === 0) put(fresh)
    else failed.renew(fresh.closure.failures)
  }

  function put(fresh: Loaded): void {
    const isCurrent = fresh.version === version
    renew()
    if (isCurrent) loading = Promise.resolve({ ...fresh, version })
    imported = fresh.closure.imported
    failed.renew(new Map())
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
      loading = read(settings, { imported, failures: failed.recent() }, version)
      void follow(loading)
      return loading
    },
    imported: () => imported,
    failures: failed.recent,
    load,
    put,
    renew,
  }
}
