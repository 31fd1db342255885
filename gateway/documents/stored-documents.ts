// Reads the documents of an application from its store and caches them (cache/stored-graphs.ts): parsed, or only the
// facts if the content is too large for memory or cannot be read.
import { makeStoredGraphs, type CacheSettings } from '../../cache/stored-graphs.js'
import { askerOf, type Asker, type Client } from '../evaluation/job-queue.js'
import type { Reading } from '../evaluation/reading.js'
import { isFailure, type Problem } from '../problem.js'
import { graphOf, nTriplesOf, sortAsBytes } from '../rdf/graph.js'
import { readLegible, readStored } from '../rdf/read.js'
import { linesWith } from '../stores/document-facts-query.js'
import type { GraphStore } from '../stores/store.js'
import {
  documentOf,
  documentOfText,
  isLarge,
  isWhole,
  type Document,
  type Documents,
  type LargeDocument,
} from './document.js'
import { askFacts, sizeOfDecision } from './facts.js'
import { MANAGED } from './next-state.js'

/** In characters of N-Triples. The canonical form of longer ones is computed off the main thread. */
const QUICKLY_READ = 128 * 1024

/** The approximate memory for the facts of a large document. */
const LARGE_BYTES = 4096

export const makeDocuments = (
  store: GraphStore,
  base: string,
  settings: CacheSettings & {
    readonly reading: Pick<Reading, 'canonical' | 'join'>
    readonly tagKey: string
  },
): Documents => {
  const documents: Documents = makeStoredGraphs<Document | LargeDocument, Problem, Client>({
    ...settings,
    isFailure,
    sizeOf: (document) => (isLarge(document) ? LARGE_BYTES : sizeOf(document)),
    joined: (iri, client) => settings.reading.join(askerOf(client), iri),
    async ask(iri, client, { isForWrite = false, condition: type }) {
      const version = settings.versions.of(iri)
      const factsAlone = async (
        unreadable?: LargeDocument['unreadable'],
      ): Promise<LargeDocument | undefined | Problem> => {
        const facts = await askFacts(store, iri, base)
        return facts && !isFailure(facts)
          ? { ...facts, version, digest: undefined, ...(unreadable && { unreadable }) }
          : facts
      }
      const nTriples = type === undefined ? await store.read(iri, { isForWrite }) : await store.readTyped?.(iri, type)
      if (isFailure(nTriples) && nTriples.failure === 'store.too-large') return factsAlone()
      if (nTriples === undefined || isFailure(nTriples)) return nTriples
      const known = documents.cached(iri)?.value
      if (known && isWhole(known) && isSame(known.nTriples, nTriples)) return known
      const read = await readWhole(iri, base, nTriples, { ...settings, asker: client ? askerOf(client) : iri })
      return isFailure(read) && read.failure === 'store.unreadable'
        ? factsAlone({ problem: read, managed: legiblyManaged(iri, nTriples) })
        : read
    },
  })
  return documents
}

async function readWhole(
  iri: string,
  base: string,
  nTriples: string,
  {
    reading,
    tagKey,
    asker,
  }: { readonly reading: Pick<Reading, 'canonical'>; readonly tagKey: string; readonly asker: Asker },
): Promise<Document | undefined | Problem> {
  if (nTriples.length > QUICKLY_READ) {
    // Everyone waiting for this document shares the store's answer.
    const content = await reading.canonical(asker, nTriples, tagKey, iri)
    if (isFailure(content)) return content
    return content.nTriples ? documentOfText(iri, base, content, tagKey) : undefined
  }
  const triples = readStored(nTriples)
  if (isFailure(triples)) return triples
  return triples.length === 0 ? undefined : documentOf(iri, base, graphOf(triples), tagKey)
}

const legiblyManaged = (iri: string, nTriples: string): Pick<Document, 'iri' | 'nTriples'> => {
  const lines = [...MANAGED].map((property) => linesWith(nTriples, `<${iri}> <${property}> `)).join('')
  return { iri, nTriples: nTriplesOf(graphOf(readLegible(lines))) }
}

/**
 * True if a short text of a store has the same lines in any order. Parsing it would take most of the time of a write.
 */
const isSame = (canonical: string, text: string): boolean =>
  canonical === text ||
  (canonical.length === text.length &&
    text.length <= QUICKLY_READ &&
    canonical === nTriplesOf({ lines: sortAsBytes(text.slice(0, -1).split('\n')) }))

function sizeOf({ nTriples, representations, decisions }: Document): number {
  let bytes = 2 * nTriples.length
  for (const made of representations.values()) if ('bytes' in made) bytes += 2 * made.bytes.length
  for (const remembered of Object.values(decisions))
    for (const decision of remembered.values()) bytes += sizeOfDecision(decision)
  return bytes
}
