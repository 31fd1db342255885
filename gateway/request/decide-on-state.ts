// Decisions about states of a document that the store does not have: earlier ones, next ones, and those in an index.
import { decide, type Decision } from '../../policies/decide.js'
import type { DocumentState } from '../documents/facts.js'
import { ancestorsOf } from '../documents/hierarchy.js'
import type { Member } from '../gateway.js'
import { isFailure, type Problem } from '../problem.js'
import type { Agent, Context } from './context.js'
import { withinToken } from './token-limits.js'

/**
 * The decision of the rules about an agent and a document in a state that the store does not have: an earlier or a next
 * one.
 */
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

/** True where the agent could read the document in this state now. */
export function mayReadState(context: Context, agent: Agent, state: DocumentState): boolean {
  const { application, gateway } = context
  const isUnenforced = !gateway.settings.enforce && application.kind !== 'admin'
  const decision = judgeState(context, agent, state)
  if (isFailure(decision) || decision.reason === 'token-limited') return false
  return decision.allowed || application.allowRead || isUnenforced
}
