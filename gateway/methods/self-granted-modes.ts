// The modes that an agent must not give itself by the types that it writes (design 3): types give rights on a document
// (acl:accessToClass).
import type { Mode } from '../../policies/authorizations/authorization.js'
import { widenedMode, type Decision } from '../../policies/decide.js'
import type { DocumentState } from '../documents/facts.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { decideOn, type Facts } from '../request/access.js'
import { judgeState } from '../request/decide-on-state.js'
import type { Context } from '../request/context.js'

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

/** Undefined unless the next state would give the writer a mode that it may not give itself. */
export function widening(
  context: Context,
  { iri, types: before, owners }: DocumentState,
  { modes }: AccessBefore,
  { types }: DocumentState,
): Problem | undefined {
  const {
    application: { kind },
    agent,
    gateway,
  } = context
  const known = new Set(before)
  if (types.every((type) => known.has(type))) return undefined
  if (!gateway.settings.enforce && kind !== 'admin') return undefined
  const judged = judgeState(context, agent, { iri, types, owners })
  if (isFailure(judged)) return judged
  const mode = widenedMode(modes, judged.modes)
  if (mode === undefined) return undefined
  return problem(
    'access.denied',
    `Access not authorized: a type in this content would give you ${mode} on the document. Control is required to write it.`,
  )
}
