// Explains to agents with Control how the gateway restricts a query to the graphs that an agent may read, and why.
import type { GraphRights } from '../../policies/authorizations/graph-rights.js'
import { webId } from '../configuration/setting-values.js'
import type { Response } from '../http/exchange.js'
import { makeTrace, type Trace } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { blankNode, graphOf, iri, quad, text, typed } from '../rdf/graph.js'
import { ACL, RDF, TGA, XSD } from '../rdf/vocabulary.js'
import { MOST_COPIED } from './rights/copy.js'
import { judge } from '../request/access.js'
import type { Context } from '../request/context.js'
import { graphAnswer } from '../request/graph-answer.js'
import { rightsOnGraphs } from '../request/agent-graph-rights.js'
import { linkField } from '../request/respond.js'
import { controlRefused } from '../request/explain.js'
import { readQuery } from './endpoint.js'
import { answerable } from './queries/restrict-for-agent.js'

type Strategy = 'unchanged' | NonNullable<Trace['view']>

const REASONS: Readonly<Record<Exclude<Strategy, 'refused'>, string>> = {
  unchanged: 'Nothing is hidden from the agent: the store gets the query as it is.',
  constants:
    'The query names each graph that it reads. A graph that the agent may not read is replaced by an empty one.',
  predicate:
    'The query reads graphs that it does not name. The store checks for each graph whether the agent may read it.',
  list: 'Conditions in the query would not be exact here. The agent may read few graphs: the query runs over a list of them.',
  copy: `Conditions in the query would not be exact here. The query runs on a copy of the readable triples that it can match: at most ${MOST_COPIED}, else it is refused.`,
}

/**
 * Answers `?query=` with `?agent=` about the endpoint of this application. Without `?agent=`, the client is anonymous.
 */
export async function explainQuery(context: Context, query: URLSearchParams): Promise<Response | Problem> {
  const { application, dataspace } = context
  const endpoint = `${application.base}sparql`
  const refused = controlRefused(context, { application, dataspace, iri: endpoint })
  if (refused) return refused
  const agent = query.get('agent') || undefined
  if (agent !== undefined && isFailure(webId(agent))) return problem('request.malformed', '?agent= is not a WebID.')
  const asking: Context = { ...context, agent: agent === undefined ? {} : { webId: agent }, trace: makeTrace() }
  const decision = judge({ application, dataspace }, asking.agent, { kind: 'endpoint', iri: endpoint }, 'Read')
  if (isFailure(decision)) return decision
  const read = await readQuery(asking, { kind: 'query', text: query.get('query')!, dataset: undefined }, endpoint)
  if (isFailure(read)) return read
  const rights = rightsOnGraphs(asking, 'Read')
  if (isFailure(rights)) return rights
  const seen = await answerable(asking, read)
  if (isFailure(seen) && seen.failure !== 'access.graphs') return seen
  const strategy = isFailure(seen) ? 'refused' : asking.trace.view!
  const reason = isFailure(seen) ? seen.detail : REASONS[strategy as keyof typeof REASONS]
  const node = blankNode('view')
  const triples = [
    quad(node, iri(RDF('type')), iri(TGA('View'))),
    quad(node, iri(TGA('about')), iri(endpoint)),
    ...(agent === undefined ? [] : [quad(node, iri(ACL('agent')), iri(agent))]),
    quad(node, iri(TGA('allowed')), typed(String(decision.allowed), XSD('boolean'))),
    ...wordsOf(rights).map((words) => quad(node, iri(TGA('mayRead')), text(words))),
    quad(node, iri(TGA('strategy')), text(strategy)),
    quad(node, iri(TGA('reason')), text(reason)),
    ...(isFailure(seen) ? [] : [quad(node, iri(TGA('sent')), text(seen.copy?.collect ?? seen.text))]),
  ]
  return graphAnswer(context, graphOf(triples), [linkField(application, context.agent.webId, undefined)])
}

const LISTED = 50

function wordsOf(rights: GraphRights): string[] {
  if (rights.everything) return ['everything']
  const { graphs, prefixes, otherPrefixes, items, containers, classes, owner } = rights
  const all = [
    ...(rights.documents ? ['all documents'] : []),
    ...(rights.others ? ['all graphs that are not documents'] : []),
    ...(rights.defaultGraph ? ['the default graph'] : []),
    ...(items ? ['all items'] : []),
    ...(containers ? ['all containers'] : []),
    ...classes.map((type) => `documents of the class <${type}>`),
    ...(owner === undefined ? [] : ['documents that the agent owns']),
    ...prefixes.map((prefix) => `graphs whose names begin with <${prefix}>`),
    ...otherPrefixes.map((prefix) => `graphs that are not documents and whose names begin with <${prefix}>`),
    ...graphs.map((graph) => `<${graph}>`),
  ]
  return all.length > LISTED ? [...all.slice(0, LISTED), `and ${all.length - LISTED} more`] : all
}
