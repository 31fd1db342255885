// The endpoint `settings` (spec 4.3, LinkedDataHub 2.3): the owner reads and changes the description of the dataspace.
// A change is checked and stored, and takes effect at once.
import { describedTriples, readDescription } from '../../configuration/own-description.js'
import { underLocks } from '../../documents/locks.js'
import { readText } from '../../http/body.js'
import type { Response } from '../../http/exchange.js'
import { inOrderOf, RDF_FORMATS, RDF_NAMES } from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { graphOf, nTriplesOf, nTriplesTerm, type Graph } from '../../rdf/graph.js'
import { readNTriples } from '../../rdf/read.js'
import { judge } from '../../request/access.js'
import { evaluateConditions } from '../../request/negotiate.js'
import { askerOf, type Context } from '../../request/context.js'
import { graphAnswer, graphTag } from '../../request/graph-answer.js'
import { linkField, response } from '../../request/respond.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'
import { violated } from '../../request/endpoint-rdf.js'
import { controlRefused } from '../../request/explain.js'

const LARGEST = 64 * 1024
const UNMET = 'The settings do not meet the conditions of the request.'

export async function settings({ context, target: { iri } }: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  const { application, agent, request, gateway } = context
  const refused = accessRefused(context, iri)
  if (refused) return refused
  if (request.method !== 'PATCH') {
    const links = [linkField(application, agent.webId, undefined)]
    return graphAnswer(context, graphNow(context), links)
  }
  if (!/^application\/sparql-update\s*(;|$)/i.test(request.fields['content-type'] ?? '')) return UNSUPPORTED
  const update = await readText(request, LARGEST, (reason, detail) =>
    reason === 'unsupported' ? UNSUPPORTED : problem('update.form', detail),
  )
  if (isFailure(update)) return update
  const lock = [`settings ${application.base}`, 'exclusive'] as const
  return underLocks(gateway, [lock], () => change(context, iri, update))
}

const UNSUPPORTED = problem('content.unsupported', 'PATCH takes application/sparql-update.', {
  fields: [['Accept-Patch', 'application/sparql-update']],
})

/** Needs a right on the endpoint, or Control on the admin application. */
function accessRefused(context: Context, iri: string): undefined | Problem {
  const { application, dataspace } = context
  const mode = context.request.method === 'PATCH' ? 'Write' : 'Read'
  const decision = judge(context, context.agent, { kind: 'endpoint', iri }, mode)
  if (isFailure(decision)) return decision
  context.trace.decision = decision
  return decision.allowed ? undefined : controlRefused(context, { application, dataspace, iri })
}

const graphNow = ({ application }: Context): Graph => graphOf(describedTriples(application, application.own.current()))

async function change(context: Context, iri: string, update: string): Promise<Response | Problem> {
  const { application, dataspace, agent, request, gateway } = context
  const now = graphNow(context)
  const entityTags = RDF_NAMES.map((format) => graphTag(now, format))
  const outcome = evaluateConditions(request, { entityTags }, false, UNMET)
  if (isFailure(outcome)) return outcome
  const patched = await gateway.evaluation.patch(askerOf(context), nTriplesOf(now), { update, base: iri })
  context.trace.continues()
  if (isFailure(patched)) return patched
  if (patched.removed.length + patched.added.length === 0 && !(await isSo(context, now, update, iri))) return NOTHING
  const removed = new Set(patched.removed)
  const lines = [...now.lines.filter((line) => !removed.has(line)), ...patched.added]
  const next = readDescription(application, readNTriples(lines.join('\n')) ?? [], application.own.current())
  if (!('allowRead' in next)) return violated(next)
  const failed = application.own.put(next)
  if (failed) return failed
  context.trace.hasWritten = true
  // The new rules take effect.
  const unread = await dataspace.access.reload()
  if (unread) return unread
  gateway.log.info({ id: request.id, base: application.base, agent: agent.webId }, 'the settings have changed')
  // Spec 3: the tag of the negotiated format. Without one, a GET would be 406: that of Turtle.
  const format = inOrderOf(context.accept, RDF_NAMES)[0] ?? RDF_FORMATS[0]
  const fields = [['ETag', graphTag(graphNow(context), format)] as const, ['Vary', 'Accept'] as const]
  return response(204, [...fields, linkField(application, agent.webId, undefined)])
}

const NOTHING = problem(
  'update.form',
  'The update changes nothing, since no setting matches it. GET shows the settings.',
)

/** True if the settings already contain what the update would insert. */
async function isSo(context: Context, { triples }: Graph, update: string, iri: string): Promise<boolean> {
  const plan = await context.gateway.evaluation.analyse(askerOf(context), { update, base: iri })
  if (isFailure(plan) || plan.add.length === 0) return false
  const known = triples.map(({ subject, predicate, object }) =>
    [subject, predicate, object].map((term) => nTriplesTerm(term)),
  )
  return plan.add.every((template) =>
    known.some((terms) => terms.every((term, at) => [term, '?'].includes(template[at]!.replace(/^\?.*/, '?')))),
  )
}
