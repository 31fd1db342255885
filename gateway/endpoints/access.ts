// In charge of the endpoint `access` (spec 4.3, linkeddatahub.md 2.3): what the asking agent may do with `?this=`, and by which
// authorizations, agents, groups and classes; and for those with Control, the same of anybody (explain.ts).
import type { Decision, Mode } from '../../policies/decide.js'
import { isOpen, judge, lookUp, type Facts } from '../request/access.js'
import { audit, explain } from './explain.js'
import type { Endpoint, EndpointTarget } from './table.js'
import type { Response } from '../http/exchange.js'
import type { Member } from '../gateway.js'
import { graphAnswer } from '../request/graph-answer.js'
import { blankNode, graphOf, iri, quad, type Quad } from '../rdf/graph.js'
import { grantTriples } from './grant-triples.js'
import type { Context } from '../request/context.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { linkField } from '../request/respond.js'
import type { Target } from '../http/target.js'
import { ACL, FOAF, LACL, RDF } from '../rdf/vocabulary.js'

export const ACCESS: Endpoint = { methods: 'GET, HEAD, OPTIONS', needs: () => 'Read', answer: access }

const MODES: readonly Mode[] = ['Read', 'Write', 'Append', 'Control']

async function access(context: Context, { query }: EndpointTarget): Promise<Response | Problem> {
  const asked = askedAbout(context, query.get('this'))
  if (isFailure(asked)) return asked
  if (query.has('audit')) return audit(context, asked)
  if (query.has('agent') || query.has('mode')) return explain(context, asked, query)
  const facts = await lookUp({ ...context, application: asked.application }, asked)
  return isFailure(facts) ? facts : ownAccess(context, asked, facts)
}

export type Asked = Target<Member> & { readonly kind: 'document' | 'endpoint' }

/** A document or endpoint of this dataspace, as its URL is written here. */
function askedAbout({ gateway, dataspace }: Context, given: string | null): Asked | Problem {
  if (given === null) return problem('request.malformed', 'Say which document, as ?this=URL.')
  const foreign = problem('request.malformed', '?this= is not the URL of a document or endpoint of this dataspace.')
  if (!URL.canParse(given)) return foreign
  const { origin, host, pathname, search } = new URL(given)
  const target = gateway.targetOf(pathname + search, host)
  if (isFailure(target) || (target.kind !== 'document' && target.kind !== 'endpoint')) return foreign
  const isOurs = target.dataspace === dataspace
  return isOurs && new URL(target.application.base).origin === origin ? (target as Asked) : foreign
}

/**
 * The same answer for a document that is not there as for one that the agent has no right to, so that existence does not
 * leak: for what is not there the rights are those on an item or a container, to which it would be said anyway (design 3).
 */
function ownAccess(context: Context, asked: Member, facts: Facts): Response | Problem {
  const { agent, accept } = context
  const decisions: Decision[] = []
  for (const mode of MODES) {
    const decision = judge(asked, agent.webId, facts, mode)
    if (isFailure(decision)) return decision
    decisions.push(decision)
  }
  const triples = [
    ...decisions.flatMap(({ via }) => via.flatMap((grant) => grantTriples(grant, agent.webId))),
    ...ownership(facts, agent.webId),
    ...(isOpen(asked.application, facts, 'Read')
      ? unnamed('public', facts.iri, ACL('agentClass'), FOAF('Agent'), ['Read'])
      : []),
  ]
  return graphAnswer(accept, graphOf(triples), [linkField(asked.application, agent.webId, decisions[0])])
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
