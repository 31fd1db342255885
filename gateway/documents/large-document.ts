// In charge of what is known of a document that is too large to be held: what access and conditions rest on.
import type { LargeDocument } from './document.js'
import { noDecisions } from './remembered-decisions.js'
import { graphOf, valuesOf } from '../rdf/graph.js'
import { lastModifiedOf, typesOf } from './next-state.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import type { GraphStore } from '../stores/store.js'
import { wholeText } from '../stores/whole-text.js'
import { ACL, DCT, RDF } from '../rdf/vocabulary.js'

const DESCRIPTION = [RDF('type'), ACL('owner'), DCT('created'), DCT('modified')].map((iri) => `<${iri}>`).join(' ')
const MAX_DESCRIPTION = 1024 * 1024

/** `version`: the graph's, before the store was asked anything about it. */
export async function describeLarge(
  store: GraphStore,
  iri: string,
  base: string,
  version: number,
): Promise<LargeDocument | Problem> {
  const query = `CONSTRUCT { <${iri}> ?p ?o } WHERE { VALUES ?p { ${DESCRIPTION} } GRAPH <${iri}> { <${iri}> ?p ?o } }`
  const text = await wholeText(store.query(query, 'application/n-triples'), MAX_DESCRIPTION)
  if (isFailure(text)) return text
  const triples = readNTriples(text)
  if (!triples) return problem('store.failed', 'The triplestore answered with something that is not N-Triples.')
  const graph = graphOf(triples)
  return {
    iri,
    version,
    types: typesOf(graph, iri, base),
    owners: valuesOf(graph, iri, ACL('owner')),
    lastModified: lastModifiedOf(graph, iri),
    digest: undefined,
    decisions: noDecisions(),
  }
}
