// Explains access to agents with Control on the admin application: why an agent has a mode or not, and which
// authorizations apply to a target. The answers are the decisions of the rules, whether or not these are enforced.
import type { Mode } from '../../policies/authorizations/authorization.js'
import { authorizationsAbout, type OtherGraph } from '../../policies/decide.js'
import { judge, lookUp, decisionTargetOf, type Facts } from './access.js'
import type { Member } from '../gateway.js'
import type { Target } from '../http/target.js'
import type { Response } from '../http/exchange.js'
import { auditedTriples, authorizationShown, grantTriples, nodeOf } from './authorization-evidence.js'
import { graphAnswer } from './graph-answer.js'
import { blankNode, graphOf, iri, quad, text, typed, type Quad } from '../rdf/graph.js'
import { askerOf, callOf, type Context } from './context.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { linkField } from './respond.js'
import { BEYOND_TOKEN, withinToken } from './token-limits.js'
import type { Awaitable } from '../maybe-async.js'
import { webId } from '../configuration/setting-values.js'
import { ACL, RDF, RDFS, TGA, XSD } from '../rdf/vocabulary.js'
import { readFacts } from '../documents/document.js'
import { isContainer } from '../documents/hierarchy.js'
import { documentsFrom, hasDocumentsIn } from '../documents/subtree.js'

/** The document, endpoint or graph that the question is about. */
export type AccessSubject = (Target<Member> & { readonly kind: 'document' | 'endpoint' }) | (Member & OtherGraph)

export const factsAbout = (context: Context, asked: AccessSubject): Awaitable<Facts | Problem> =>
  'reach' in asked ? asked : lookUp(context, asked)

/** What an agent uses its Control for: a document, endpoint or graph of either application. */
export interface Controlled extends Member {
  readonly iri: string
}

export const controlledBy = (asked: AccessSubject): Controlled => {
  const { application, dataspace } = asked
  return { application, dataspace, iri: asked.kind === 'document' ? asked.document : asked.iri }
}

/** The admin application itself, with its rules. */
export const adminOf = ({ dataspace }: Context): Controlled => ({
  application: dataspace.admin,
  dataspace,
  iri: dataspace.admin.base,
})

/**
 * Refuses agents without Control on the admin application. Design 4: a limited token does not use this Control for what
 * it does not cover.
 */
export function controlRefused(context: Context, about: Controlled): undefined | Problem {
  const { dataspace, agent, trace } = context
  const { admin } = dataspace
  const inAdmin = judge(
    { application: admin, dataspace },
    agent,
    { kind: 'endpoint', iri: `${admin.base}access` },
    'Control',
  )
  if (isFailure(inAdmin)) return inAdmin
  const decision = withinToken(inAdmin, agent.token, about.iri, about)
  if (decision.allowed) {
    trace.control = () => controlRefused(context, about)
    return undefined
  }
  trace.cause = decision.reason
  if (decision.reason === 'token-limited') return BEYOND_TOKEN
  return problem('access.denied', 'Access not authorized: Control on the admin application is required.')
}

const MODES: readonly Mode[] = ['Read', 'Write', 'Append', 'Control']

/** Answers `?agent=` (empty or absent: an anonymous client) and `?mode=` (default: Read). */
export async function explain(
  context: Context,
  asked: AccessSubject,
  query: URLSearchParams,
): Promise<Response | Problem> {
  const refused = controlRefused(context, controlledBy(asked))
  if (refused) return refused
  const mode = MODES.find((one) => one === (query.get('mode') ?? 'Read'))
  if (!mode) return problem('request.malformed', `?mode= must be one of ${MODES.join(', ')}.`)
  const agent = query.get('agent') || undefined
  if (agent !== undefined && isFailure(webId(agent))) return problem('request.malformed', '?agent= is not a WebID.')
  const { application } = asked
  // Write on a missing document is treated as a PUT that creates it, which needs a right on the parent.
  const request = { ...context.request, method: mode === 'Write' ? 'PUT' : 'GET' }
  const facts = await factsAbout({ ...context, application, request }, asked)
  if (isFailure(facts)) return facts
  const creates = mode === 'Write' && facts.kind === 'document' && !facts.document
  const decision = judge(asked, { webId: agent }, facts, mode, creates)
  if (isFailure(decision)) return decision
  const { authorizations, total } = decision.considered()
  const node = blankNode('decision')
  const triples: Quad[] = [
    quad(node, iri(RDF('type')), iri(TGA('Decision'))),
    quad(node, iri(TGA('about')), iri(facts.iri)),
    ...(agent === undefined ? [] : [quad(node, iri(ACL('agent')), iri(agent))]),
    quad(node, iri(TGA('required')), iri(ACL(mode))),
    quad(node, iri(TGA('allowed')), typed(String(decision.allowed), XSD('boolean'))),
    quad(node, iri(TGA('reason')), text(decision.reason)),
    quad(node, iri(TGA('decidedOn')), iri(decision.on)),
    ...noteOn(asked, facts.iri).map((note) => quad(node, iri(RDFS('comment')), text(note))),
    ...decision.modes.map((granted) => quad(node, iri(ACL('mode')), iri(ACL(granted)))),
    quad(node, iri(TGA('authorizations')), typed(String(total), XSD('integer'))),
    ...decision.via.flatMap((grant) => [
      quad(node, iri(TGA('grantedBy')), nodeOf(grant)),
      ...grantTriples(grant, agent),
    ]),
    ...authorizations.flatMap((one) => [
      quad(node, iri(TGA('considered')), nodeOf(one)),
      ...authorizationShown(one),
      quad(nodeOf(one), iri(TGA('lacks')), text(one.lacks)),
    ]),
  ]
  return graphAnswer(context, graphOf(triples), [linkField(context.application, context.agent.webId, undefined)])
}

/** Explains why rights on this graph have no effect. */
function noteOn(asked: AccessSubject, graph: string): readonly string[] {
  if (!('reach' in asked)) return []
  const { traits, store, history, isRecorded } = asked.application
  if (!isRecorded(graph) && history && store.announces)
    return ['The embedded store holds only documents, so this graph does not exist.']
  const isUnion = asked.kind === 'default-graph' && ['union', 'bag'].includes(traits.known()?.defaultGraph ?? '')
  return isUnion
    ? ['The default graph of this store is the union of its named graphs: rights on those graphs apply.']
    : []
}

/** Answers `?audit`: every authorization that applies to the document, and the document's owners. */
export async function audit(context: Context, asked: AccessSubject): Promise<Response | Problem> {
  const refused = controlRefused(context, controlledBy(asked))
  if (refused) return refused
  const { application } = asked
  const facts = await factsAbout({ ...context, application }, asked)
  if (isFailure(facts)) return facts
  const index = asked.dataspace.access.current()
  if (isFailure(index)) return index
  const question = { application: application.kind, target: decisionTargetOf(facts, application.base) }
  const owners =
    facts.kind === 'document' ? (facts.document?.owners ?? []).filter((owner) => !isFailure(webId(owner))) : []
  const triples = [
    ...authorizationsAbout(index, question).flatMap(auditedTriples),
    ...owners.map((owner) => quad(iri(facts.iri), iri(ACL('owner')), iri(owner))),
  ]
  return graphAnswer(context, graphOf(triples), [linkField(context.application, context.agent.webId, undefined)])
}

/** In documents. Writing an answer about more of them would block the event loop. */
const PAGE = 1_250

/** Answers `?tree`: the documents at and below this URL, from `after` on; `tga:next` if there may be more. */
export async function tree(context: Context, asked: AccessSubject, after: string): Promise<Response | Problem> {
  const refused = controlRefused(context, controlledBy(asked))
  if (refused) return refused
  const { application } = asked
  if (asked.kind !== 'document') return problem('request.malformed', '?tree works only on documents.')
  const page = await treePage(context, asked, after)
  if (isFailure(page)) return page
  const under = iri(asked.document)
  const triples = page.documents.map((document) => quad(iri(document), iri(TGA('under')), under))
  if (page.last !== undefined) triples.push(quad(blankNode('page'), iri(TGA('next')), iri(page.last)))
  return graphAnswer(context, graphOf(triples), [linkField(application, context.agent.webId, undefined)])
}

/** For an item without documents below it, only the item. Otherwise the store goes through its graph names in order. */
async function treePage(
  context: Context,
  { application, document }: Member & { readonly document: string },
  after: string,
): ReturnType<typeof documentsFrom> {
  const { trace, request, gateway } = context
  const facts = await readFacts(application, document, trace)
  if (isFailure(facts)) return facts
  if (after === '' && facts.value && !isContainer(facts.value.types)) {
    const isAbove = await trace.store(hasDocumentsIn(application, document, callOf(context)))
    if (isFailure(isAbove)) return isAbove
    if (!isAbove) return { documents: [document], last: undefined }
  }
  const end = await gateway.listings.take(request.signal(), askerOf(context))
  if (isFailure(end)) return end
  return trace.store(documentsFrom(application, document, after, PAGE, callOf(context))).finally(end)
}
