// In charge of the endpoint `access` (spec 4.3, linkeddatahub.md 2.3): what the asking agent may do with `?this=`, and by which
// authorizations, agents, groups and classes; and for those with Control, the same of anybody (explain.ts).
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Decision } from '../../policies/decide.js'
import { isOpen, judge, lookUp, type Facts } from '../request/access.js'
import { audit, explain, type Subject } from './explain.js'
import type { Asked, EndpointTarget } from '../request/route.js'
import { run } from '../steps.js'
import type { Response } from '../http/exchange.js'
import type { Member } from '../gateway.js'
import { graphAnswer } from '../request/graph-answer.js'
import { blankNode, graphOf, iri, quad, type Quad } from '../rdf/graph.js'
import { grantTriples } from './grant-triples.js'
import type { Context } from '../request/context.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { linkField } from '../request/respond.js'
import { ACL, FOAF, LACL, RDF } from '../rdf/vocabulary.js'

const MODES: readonly Mode[] = ['Read', 'Write', 'Append', 'Control']

export async function access({ context, target: { query } }: Asked<EndpointTarget>): Promise<Response | Problem> {
  const subject = subjectOf(context, query.get('this'))
  if (isFailure(subject)) return subject
  if (query.has('audit')) return audit(context, subject)
  if (query.has('agent') || query.has('mode')) return explain(context, subject, query)
  const facts = await run(lookUp({ ...context, application: subject.application }, subject))
  return isFailure(facts) ? facts : ownAccess(context, subject, facts)
}

/** A document or endpoint of this dataspace, as its URL is written here. */
function subjectOf({ gateway, dataspace }: Context, given: string | null): Subject | Problem {
  if (given === null) return problem('request.malformed', 'Say which document, as ?this=URL.')
  const foreign = problem('request.malformed', '?this= is not the URL of a document or endpoint of this dataspace.')
  if (!URL.canParse(given)) return foreign
  const { origin, host, pathname, search } = new URL(given)
  const target = gateway.targetOf(pathname + search, host)
  if (isFailure(target) || (target.kind !== 'document' && target.kind !== 'endpoint')) return foreign
  const isOurs = target.dataspace === dataspace
  return isOurs && new URL(target.application.base).origin === origin ? (target as Subject) : foreign
}

/**
 * The same answer for a document that is not there as for one that the agent has no right to, so that existence does not
 * leak: for what is not there the rights are those on an item or a container, to which it would be said anyway (design 3).
 */
function ownAccess(context: Context, subject: Member, facts: Facts): Response | Problem {
  const { agent, accept } = context
  const decisions: Decision[] = []
  for (const mode of MODES) {
    const decision = judge(subject, agent.webId, facts, mode)
    if (isFailure(decision)) return decision
    decisions.push(decision)
  }
  const triples = [
    ...decisions.flatMap(({ via }) => via.flatMap((grant) => grantTriples(grant, agent.webId))),
    ...ownership(facts, agent.webId),
    ...(isOpen(subject.application, facts, 'Read')
      ? unnamed('public', facts.iri, ACL('agentClass'), FOAF('Agent'), ['Read'])
      : []),
  ]
  return graphAnswer(accept, graphOf(triples), [linkField(subject.application, agent.webId, decisions[0])])
}

/** LinkedDataHub 5.2: whoever owns a document may read and write it without an authorization. */
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
