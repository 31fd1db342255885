// The data for queries on a namespace ontology: its closure and entailments, in a separate embedded store, in a thread
// with limits on time and memory. The store is filled when a query first needs a state of the ontologies.
import { createHash } from 'node:crypto'
import { makeGraphVersions, type GraphVersions } from '../../../cache/graph-versions.js'
import { makeStoredResults, type StoredResults } from '../../../cache/stored-results.js'
import { withHashedMailbox } from '../../documents/mailboxes.js'
import type { Reading } from '../../evaluation/reading.js'
import { isFailure, type Problem } from '../../problem.js'
import { graphOf, nTriplesOf } from '../../rdf/graph.js'
import { openEmbeddedStore } from '../../stores/embedded-store.js'
import type { GraphStore } from '../../stores/store.js'
import type { Dataspace } from '../../gateway.js'
import { part } from '../../part.js'
import type { Ontologies } from '../../ontologies/ontologies.js'

export interface Queryable {
  readonly store: GraphStore
  readonly versions: GraphVersions
  readonly results: StoredResults
}

export interface NamespaceStore {
  /** The current closure of this ontology. */
  of(root: string): Promise<Queryable | Problem>
  close(): Promise<void>
}

/** The graphs for queries on the namespace ontologies, by dataspace. */
export const NAMESPACES = part<ReadonlyMap<Dataspace, NamespaceStore>>('namespaces')

interface Settings {
  /** ms */
  readonly queryTimeout: number
  readonly isCached: boolean
  readonly now: () => number
}

interface Filled extends Queryable {
  version: number
  /** The digest of its triples. */
  digest: string | undefined
  filling: Promise<undefined | Problem>
}

const MEMORY = 256 * 1024 * 1024
const RESULT_BYTES = 4 * 1024 * 1024
/** The only graph in such a store. */
export const NAMESPACE_GRAPH = 'urn:triplegate:namespace'

export function makeNamespaceStore(
  ontologies: Ontologies,
  reading: Pick<Reading, 'entail'>,
  settings: Settings,
): NamespaceStore {
  const stores = new Map<string, Promise<Filled>>()

  async function open(root: string): Promise<Filled> {
    const versions = makeGraphVersions()
    const { queryTimeout, isCached, now } = settings
    const store = await openEmbeddedStore(`the ontology ${root}`, { queryTimeout, memory: MEMORY, queue: 64 })
    const results = makeStoredResults({ maxBytes: isCached ? RESULT_BYTES : 0, versions, now })
    return { store, versions, results, version: -1, digest: undefined, filling: Promise.resolve(undefined) }
  }

  async function fill(filled: Filled, root: string): Promise<undefined | Problem> {
    const namespace = await ontologies.namespace(root)
    const triples = isFailure(namespace) ? namespace : await namespace.triples()
    if (isFailure(triples)) return triples
    // Design 3: anonymous clients may query it too, so it has no mailboxes for anyone.
    const text = await reading.entail(root, nTriplesOf(graphOf(triples.map(withHashedMailbox))))
    if (isFailure(text)) return text
    const { store, versions, digest: before } = filled
    const digest = createHash('sha256').update(text).digest('base64')
    // Cached results stay valid: otherwise their age would reveal changes to other ontologies.
    if (digest === before) return undefined
    filled.digest = undefined
    const failed = await (text === '' ? store.remove(NAMESPACE_GRAPH) : store.replace(NAMESPACE_GRAPH, text))
    if (!failed) filled.digest = digest
    versions.everythingChanged()
    return failed
  }

  return {
    async of(root) {
      const opening = stores.get(root) ?? open(root)
      stores.set(root, opening)
      const filled = await opening
      const namespace = await ontologies.namespace(root)
      if (isFailure(namespace)) return namespace
      if (filled.version !== namespace.version) {
        filled.version = namespace.version
        // One at a time, so that the digest always matches the content of the store.
        const next = (): Promise<undefined | Problem> => fill(filled, root)
        filled.filling = filled.filling.then(next, next)
      }
      const failed = await filled.filling
      if (failed && filled.version === namespace.version) filled.version = -1
      return failed ?? filled
    },
    async close() {
      for (const opening of stores.values()) await (await opening).store.close()
    },
  }
}
