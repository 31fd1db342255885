// The endpoint `access` (spec 4.3, LinkedDataHub 2.3): the modes of the agent on `?this=`, or on the graph
// `?graph=`, and the authorizations that give them. Agents with Control may ask about every agent (explain.ts).
import { modesOf, type Mode } from '../../../policies/authorizations/authorization.js'
import type { Decision } from '../../../policies/decide.js'
import { isOpen, judge, type Facts } from '../../request/access.js'
import { otherGraph, reachOf } from '../../request/agent-graph-rights.js'
import { audit, explain, factsAbout, tree, type AccessSubject } from '../../request/explain.js'
import { ABSOLUTE_IRI } from '../../sparql/queries/request.js'
import { explainQuery } from '../../sparql/explain.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'
import type { Response } from '../../http/exchange.js'
import type { Member } from '../../gateway.js'
import { graphAnswer } from '../../request/graph-answer.js'
import { blankNode, graphOf, iri, quad, type Quad } from '../../rdf/graph.js'
import { grantTriples, nodeOf } from '../../request/authorization-evidence.js'
import type { Context } from '../../request/context.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { prefersPage } from '../../request/page-answer.js'
import { accessAnswer } from './access-answer.js'
import { giveRight } from './give-right.js'
import { accountAnswer } from '../../request/account.js'
import { linkField } from '../../request/respond.js'
import { ACL, FOAF, LACL, RDF, RDFS } from '../../rdf/vocabulary.js'

const MODES: readonly Mode[] = ['Read', 'Write', 'Append', 'Control']

export async function access({ context, target: { query } }: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  if (context.request.method === 'POST') return giveRight(context)
  const isPage = prefersPage(context.accept)
  if (isPage && query.size === 0) return accountAnswer(context, undefined)
  if (query.has('query')) return explainQuery(context, query)
  if (query.size === 0) return allOwn(context)
  const asked = askedSubject(context, query)
  if (isFailure(asked)) return asked
  if (isPage && asked.kind === 'document') return accessAnswer(context, asked, query)
  if (query.has('audit')) return audit(context, asked)
  if (query.has('tree')) return tree(context, asked, query.get('after') ?? '')
  if (query.has('agent') || query.has('mode')) return explain(context, asked, query)
  const facts = await factsAbout({ ...context, application: asked.application }, asked)
  return isFailure(facts) ? facts : ownAccess(context, asked, facts)
}

/** If an agent has more authorizations, it has to ask about single documents. */
const MOST_OWN = 1000

/** Spec 4.3: every authorization that includes the agent. */
function allOwn(context: Context): Response | Problem {
  const { dataspace, agent, application } = context
  const index = dataspace.access.current()
  if (isFailure(index)) return index
  const triples: Quad[] = []
  let count = 0
  for (const { authorization } of index.including(agent.webId, agent.memberships)) {
    if (++count > MOST_OWN) break
    const { iri: name, graph, bits, accessTo, accessToClass } = authorization
    const kinds = { accessTo, accessToClass, default: authorization.default }
    const node = nodeOf({ iri: name, graph })
    triples.push(
      quad(node, iri(RDF('type')), iri(ACL('Authorization'))),
      quad(node, iri(RDFS('isDefinedBy')), iri(graph)),
      ...Object.entries(kinds).flatMap(([kind, iris]) => [...iris].map((one) => quad(node, iri(ACL(kind)), iri(one)))),
      ...modesOf(bits).map((mode) => quad(node, iri(ACL('mode')), iri(ACL(mode)))),
    )
  }
  return graphAnswer(context, graphOf(triples), [linkField(application, agent.webId, undefined)])
}

/** `?this=`: a document or endpoint of this dataspace. `?graph=`: any graph of the application's store. */
function askedSubject(context: Context, query: URLSearchParams): AccessSubject | Problem {
  const graph = query.get('graph')
  if (graph === null) return askedTarget(context, query.get('this'))
  if (query.has('this')) return problem('request.malformed', 'Use either ?this=URL or ?graph=IRI, not both.')
  if (!ABSOLUTE_IRI.test(graph)) return problem('request.malformed', '?graph= is not an absolute IRI.')
  const { application, dataspace, gateway } = context
  const other = otherGraph(graph, reachOf(context, gateway))
  return { application, dataspace, ...(other ?? { kind: 'document', document: graph }) }
}

/** The document or endpoint of this dataspace with this URL. */
function askedTarget({ gateway, dataspace }: Context, given: string | null): AccessSubject | Problem {
  if (given === null) return problem('request.malformed', 'Name the document, as ?this=URL, or a graph, as ?graph=IRI.')
  const foreign = problem('request.malformed', '?this= is not the URL of a document or endpoint of this dataspace.')
  if (!URL.canParse(given)) return foreign
  const { origin, host, pathname, search } = new URL(given)
  const target = gateway.targetOf(pathname + search, host)
  if (isFailure(target) || (target.kind !== 'document' && target.kind !== 'endpoint')) return foreign
  const isOurs = target.dataspace === dataspace
  return isOurs && new URL(target.application.base).origin === origin ? target : foreign
}

/**
 * For a missing document, the answer lists the agent's modes on a new item or container: with these the agent may learn
 * that it is missing. Without them, the answer is the same as for an existing document, so that existence does not leak
 * (design 3).
 */
function ownAccess(context: Context, member: Member, facts: Facts): Response | Problem {
  const { agent } = context
  const decisions: Decision[] = []
  for (const mode of MODES) {
    const decision = judge(member, agent, facts, mode)
    if (isFailure(decision)) return decision
    decisions.push(decision)
  }
  const triples = [
    ...decisions.flatMap(({ via }) => via.flatMap((grant) => grantTriples(grant, agent.webId))),
    ...ownership(facts, agent.webId),
    ...(isOpen(member.application, facts, 'Read')
      ? unnamed('public', facts.iri, ACL('agentClass'), FOAF('Agent'), ['Read'])
      : []),
  ]
  return graphAnswer(context, graphOf(triples), [linkField(member.application, agent.webId, decisions[0])])
}

/** LinkedDataHub 5.2: the owner of a document may read and write it without an authorization. */
function ownership(facts: Facts, agent: string | undefined): Quad[] {
  if (agent === undefined || facts.kind !== 'document' || !facts.document?.owners.includes(agent)) return []
  const owner = blankNode('owner')
  return [
    quad(owner, iri(RDF('type')), iri(LACL('OwnerAuthorization'))),
    ...unnamed('owner', facts.iri, ACL('agent'), agent, ['Read', 'Write', 'Append']),
  ]
}

function unnamed(name: string, target: string, subject: string, who: string, modes: readonly Mode[]): Quad[] {
  const node = blankNode(name)
  return [
    quad(node, iri(RDF('type')), iri(ACL('Authorization'))),
    quad(node, iri(ACL('accessTo')), iri(target)),
    quad(node, iri(subject), iri(who)),
    ...modes.map((mode) => quad(node, iri(ACL('mode')), iri(ACL(mode)))),
  ]
}
