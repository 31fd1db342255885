// Constraints in tests: checks documents against ontologies, including queries, without a thread.
import {
  makeConstraintCheck,
  type ConstraintCheck,
  type ConstraintOutcome,
} from '../../policies/constraints/constraints.js'
import type { Factory } from '../../policies/constraints/graph.js'
import { makeRunQuery, type Prepared } from '../../gateway/evaluation/constraint-queries.js'
import { withCoveredStore } from '../../gateway/evaluation/covered-store.js'
import { blankNode, literal, namedNode, quad, type Quad } from '../../gateway/rdf/graph.js'
import { isSkolem } from '../../gateway/rdf/skolemised.js'
import { openOxigraph } from '../../gateway/stores/bounded-oxigraph.js'

let oxigraph: ReturnType<typeof openOxigraph> | undefined

export const RDF_FACTORY = { namedNode, blankNode: () => blankNode(), literal, quad } as unknown as Factory

/** @param elsewhere the beginning of the IRIs of other documents */
export function checkAgainst(
  ontologies: readonly Quad[],
  elsewhere?: string,
): (document: readonly Quad[]) => ConstraintOutcome {
  const check: ConstraintCheck = makeConstraintCheck(ontologies, { rdf: RDF_FACTORY, isSkolem })
  const prepared: Prepared = new Map()
  return (document) => {
    oxigraph ??= openOxigraph(256 * 2 ** 20)
    return withCoveredStore(oxigraph, (store) =>
      check(document, {
        queries: (graph) => makeRunQuery(store, graph, prepared),
        isElsewhere: (iri) => elsewhere !== undefined && iri.startsWith(elsewhere),
      }),
    )
  }
}
