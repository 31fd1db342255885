// Decisions about states of a document that are not in the store: earlier ones, next ones, and indexed ones.
import { decide, type Decision } from '../../policies/decide.js'
import type { DocumentState } from '../documents/facts.js'
import { ancestorsOf } from '../documents/hierarchy.js'
import type { Member } from '../gateway.js'
import { isFailure, type Problem } from '../problem.js'
import type { Agent, Context } from './context.js'
import { withinToken } from './token-limits.js'

/** What the rules decide about an agent and an earlier or next state of a document. */
export function judgeState(
  { application, dataspace }: Member,
  { webId, memberships, token }: Agent,
  { iri, types, owners }: DocumentState,
): Decision | Problem {
  const index = dataspace.access.current()
  if (isFailure(index)) return index
  const state = { iri, exists: true, types, owners, ancestors: ancestorsOf(iri, application.base) }
  const target = { kind: 'document', ...state } as const
  const question = { application: application.kind, agent: webId, memberships, required: 'Read', target } as const
  return withinToken(decide(index, { ...question, creates: false }), token, iri, { application, dataspace })
}

/** True if the agent could read the document now if it were in this state. */
export function mayReadState(context: Context, agent: Agent, state: DocumentState): boolean {
  const { application, gateway } = context
  const isUnenforced = !gateway.settings.enforce && application.kind !== 'admin'
  const decision = judgeState(context, agent, state)
  if (isFailure(decision) || decision.reason === 'token-limited') return false
  return decision.allowed || application.allowRead || isUnenforced
}
