// In charge of a document as read from its store: its graph, and the facts that access and preconditions rest on.
import { digestOf, entityTag } from '../cache/entity-tag.js'
import { ACL } from './vocabulary.js'
import { graphOf, valuesOf, type Graph } from './graph.js'
import { lastModifiedOf, typesOf } from './next-state.js'
import type { Format } from './negotiate.js'
import { isProblem, problem, type Problem } from './problem.js'
import { readNTriples } from './rdf-read.js'
import type { Application } from './gateway.js'
import type { Trace } from './log.js'

export interface Document {
  readonly iri: string
  readonly graph: Graph
  readonly types: readonly string[]
  readonly owners: readonly string[]
  /** Milliseconds since the epoch. */
  readonly lastModified: number | undefined
  /** The same for the same triples, on every instance (design 3). */
  readonly digest: string
}

export function documentOf(iri: string, base: string, graph: Graph): Document {
  return {
    iri,
    graph,
    types: typesOf(graph, iri, base),
    owners: valuesOf(graph, iri, ACL('owner')),
    lastModified: lastModifiedOf(graph, iri),
    digest: digestOf(graph.lines),
  }
}

/** The document, undefined when its graph has no triples, or why the store did not say. */
export async function readDocument(
  application: Application,
  iri: string,
  trace: Trace,
  signal?: AbortSignal,
): Promise<Document | undefined | Problem> {
  const nTriples = await trace.store(application.store.read(iri, signal ? { signal } : {}))
  if (nTriples === undefined || isProblem(nTriples)) return nTriples
  const triples = readNTriples(nTriples)
  if (!triples) return problem('store.failed', 'The triplestore answered with something that is not N-Triples.')
  return triples.length === 0 ? undefined : documentOf(iri, application.base, graphOf(triples))
}

export const entityTagOf = ({ digest }: Document, { code }: Format): string => entityTag(digest, code)
