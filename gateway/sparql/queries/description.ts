// The service description of a SPARQL endpoint (SPARQL 1.1 Service Description): its languages, features and formats.
// It is the same for every agent, and names no graph.
import type { Decision } from '../../../policies/decide.js'
import type { Response } from '../../http/exchange.js'
import { isFailure, type Problem } from '../../problem.js'
import { graphOf, iri, triple } from '../../rdf/graph.js'
import { RDF, RDFS, SD } from '../../rdf/vocabulary.js'
import type { Context } from '../../request/context.js'
import { graphAnswer } from '../../request/graph-answer.js'
import { linkField } from '../../request/respond.js'

/** Names below http://www.w3.org/ns/formats/ (Unique URIs for File Formats). */
const FORMATS = [
  'SPARQL_Results_JSON',
  'SPARQL_Results_XML',
  'SPARQL_Results_CSV',
  'SPARQL_Results_TSV',
  'Turtle',
  'N-Triples',
  'RDF_XML',
  'JSON-LD',
  'TriG',
  'N-Quads',
]

/**
 * FROM may name the merge of all graphs, which is not the default graph (Access-Controlled SPARQL Query over a Solid
 * Pod §7.4).
 */
const UNION_OPT_IN = 'http://www.w3.org/ns/solid/sparql#UnionDefaultGraphOptIn'

export async function serviceDescription(
  context: Context,
  endpoint: string,
  decision: Decision,
): Promise<Response | Problem> {
  const { application, agent, gateway, trace } = context
  const traits = application.traits.known() ?? (await trace.store(application.traits.current()))
  const { datasetPath } = application
  const isUnion = !isFailure(traits) && traits.defaultGraph !== 'own'
  const about = (property: string, object: string) => triple(endpoint, SD(property), iri(object))
  const graph = graphOf([
    triple(endpoint, RDF('type'), iri(SD('Service'))),
    about('endpoint', endpoint),
    about('supportedLanguage', SD('SPARQL11Query')),
    about('supportedLanguage', SD('SPARQL11Update')),
    about('feature', isUnion ? SD('UnionDefaultGraph') : UNION_OPT_IN),
    ...(gateway.settings.allowService.length > 0 ? [about('feature', SD('BasicFederatedQuery'))] : []),
    // The store's own URLs (http/dataset-target.ts).
    ...(datasetPath === undefined ? [] : [triple(endpoint, RDFS('seeAlso'), iri(application.origin + datasetPath))]),
    ...FORMATS.map((format) => about('resultFormat', `http://www.w3.org/ns/formats/${format}`)),
  ])
  return graphAnswer(context, graph, [linkField(application, agent.webId, decision)])
}
