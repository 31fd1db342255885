// The modes that an agent must not give itself by the types that it writes (design 3): types give rights on a document
// (acl:accessToClass).
import type { Mode } from '../../policies/authorizations/authorization.js'
import { widenedMode, type Decision } from '../../policies/decide.js'
import type { DocumentState } from '../documents/facts.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { decideOn, type Facts } from '../request/access.js'
import { judgeState } from '../request/decide-on-state.js'
import type { Agent, Context } from '../request/context.js'

export interface AccessBefore {
  readonly mayRead: boolean
  readonly modes: readonly Mode[]
}

/** The writer's access before the write; full access to a document that it creates. */
export function accessTo(context: Context, facts: Facts, { modes }: Decision): AccessBefore | Problem {
  if (facts.kind !== 'document' || !facts.document)
    return { mayRead: true, modes: ['Read', 'Write', 'Append', 'Control'] }
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return decision
  return decision.allowed ? { mayRead: true, modes: [...modes, 'Read'] } : { mayRead: false, modes }
}

/**
 * Undefined unless the next state would give the writer a mode that it may not give itself. An agent that writes on
 * behalf of another one can use the modes of both, in requests of its own, so those of both are compared.
 */
export function widening(
  context: Context,
  { iri, types: present, owners }: DocumentState,
  { modes }: AccessBefore,
  { types }: DocumentState,
): Problem | undefined {
  const {
    application: { kind },
    agent,
    gateway,
  } = context
  const known = new Set(present)
  if (types.every((type) => known.has(type))) return undefined
  if (!gateway.settings.enforce && kind !== 'admin') return undefined
  const delegates = agent.delegate ? [agent.delegate] : []
  const before = modesIn(context, delegates, { iri, types: present, owners })
  if (isFailure(before)) return before
  const after = modesIn(context, [agent, ...delegates], { iri, types, owners })
  if (isFailure(after)) return after
  const mode = widenedMode([...modes, ...before], after)
  if (mode === undefined) return undefined
  return problem(
    'access.denied',
    `Access not authorized: a type in this content would give you ${mode} on the document. Control is required to write it.`,
  )
}

/** The modes that any of the agents has on the document in this state. */
function modesIn(context: Context, agents: readonly Agent[], state: DocumentState): readonly Mode[] | Problem {
  const modes: Mode[] = []
  for (const agent of agents) {
    const decision = judgeState(context, agent, state)
    if (isFailure(decision)) return decision
    modes.push(...decision.modes)
  }
  return modes
}
