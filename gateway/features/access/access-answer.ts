// The page about access to a document: its decisions, and for agents with Control all authorizations (explain.ts).
import { authorizationsAbout } from '../../../policies/decide.js'
import type { Decision } from '../../../policies/decide.js'
import { webId } from '../../configuration/setting-values.js'
import type { Response } from '../../http/exchange.js'
import { accessPage, MODES, type AccessView, type AccessQuestion } from './access-page.js'
import { isFailure, type Problem } from '../../problem.js'
import { uriOf } from '../../../versioning/memento/time-map.js'
import { judge, lookUp, decisionTargetOf, type Facts } from '../../request/access.js'
import { callOf, type Context } from '../../request/context.js'
import { frameOf, pageAnswer } from '../../request/page-answer.js'
import { NONE_WAITING, waitingRequests } from './waiting-requests.js'
import { controlledBy, controlRefused, type AccessSubject } from '../../request/explain.js'

type About = AccessSubject & { readonly kind: 'document' }

export async function accessAnswer(
  context: Context,
  asked: About,
  query: URLSearchParams,
): Promise<Response | Problem> {
  const { application } = asked
  const facts = await lookUp({ ...context, application }, asked)
  if (isFailure(facts)) return facts
  const decisions: Decision[] = []
  for (const mode of MODES) {
    const decision = judge(asked, context.agent, facts, mode)
    if (isFailure(decision)) return decision
    decisions.push(decision)
  }
  const refused = controlRefused(context, controlledBy(asked))
  if (refused && refused.failure !== 'access.denied') return refused
  const audit = refused ? undefined : auditOf(asked, facts)
  if (isFailure(audit)) return audit
  const question = refused ? undefined : await questionOf(context, asked, query)
  if (isFailure(question)) return question
  const waiting = refused ? NONE_WAITING : await waitingRequests(asked.dataspace, asked.document, callOf(context))
  // Others see the URI that they asked about: a name as the store spells it would show that something has this name.
  const document = refused ? uriOf(asked.document) : asked.document
  const view = { frame: frameOf({ ...context, application }, document), own: context.application.base, document }
  return pageAnswer(200, accessPage({ ...view, agent: context.agent.webId, decisions, audit, question, waiting }))
}

function auditOf(asked: About, facts: Facts): AccessView['audit'] | Problem {
  const index = asked.dataspace.access.current()
  if (isFailure(index)) return index
  const { kind, base } = asked.application
  return {
    rules: authorizationsAbout(index, { application: kind, target: decisionTargetOf(facts, base) }).map((audited) => ({
      ...audited,
      coverage: index.coverage(audited.graph),
    })),
    owners: facts.kind === 'document' ? (facts.document?.owners ?? []) : [],
  }
}

/** Reads `?agent=` and `?mode=`, as `explain` does. */
async function questionOf(context: Context, asked: About, query: URLSearchParams): Promise<AccessQuestion | Problem> {
  const [agent, mode] = [query.get('agent') ?? '', query.get('mode') ?? 'Read']
  if (!query.has('agent') && !query.has('mode')) return { agent, mode, answer: undefined }
  const wanted = MODES.find((one) => one === mode)
  if (!wanted || (agent !== '' && isFailure(webId(agent)))) return { agent, mode, answer: 'This is not a WebID.' }
  // A question about Write on a missing document is treated as a PUT that creates it.
  const request = { ...context.request, method: wanted === 'Write' ? 'PUT' : 'GET' }
  const facts = await lookUp({ ...context, application: asked.application, request }, asked)
  if (isFailure(facts)) return facts
  const creates = wanted === 'Write' && facts.kind === 'document' && !facts.document
  const answer = judge(asked, agent === '' ? {} : { webId: agent }, facts, wanted, creates)
  return isFailure(answer) ? answer : { agent, mode, answer }
}
