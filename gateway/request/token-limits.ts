// Limits the rights of an agent by its access token, in the one place where decisions are made. A token never adds
// rights; it may be limited to reading, or to a document and everything below it. Pure.
import type { Mode } from '../../policies/authorizations/authorization.js'
import { narrowed, NO_GRAPHS, type GraphRights } from '../../policies/authorizations/graph-rights.js'
import type { Decision } from '../../policies/decide.js'
import type { Member } from '../gateway.js'
import type { TokenLimits } from '../identity/agent.js'
import { problem } from '../problem.js'

export const isLimited = ({ readOnly, only }: TokenLimits): boolean => readOnly || only !== undefined

/** True if the token does not allow a write that is not decided on a document, such as one to another server. */
export const writesBeyond = (token: TokenLimits | undefined, { kind }: { readonly kind: string }): boolean =>
  token !== undefined && (token.readOnly || (token.only !== undefined && kind === 'proxied'))

export const BEYOND_TOKEN = problem('access.denied', 'The access token is limited and does not allow this.')

/** @param iri the target, which a PUT may create: the decision on a creation is about the parent */
export function withinToken(
  decision: Decision,
  token: TokenLimits | undefined,
  iri: string,
  { application, dataspace }: Member,
): Decision {
  if (!token || !isLimited(token)) return decision
  const isHere = isOf(token, application.kind === 'admin', dataspace.admin.base)
  const allows = (mode: Mode): boolean => isHere && leaves(token, iri, mode)
  const modes = decision.modes.filter(allows)
  if (allows(decision.required)) return { ...decision, modes }
  return { ...decision, modes, allowed: false, absent: false, reason: 'token-limited', via: [] }
}

/** Applies the token's limits to the graphs that an agent reaches by SPARQL. */
export function graphRightsWithin(rights: GraphRights, mode: Mode, token: TokenLimits | undefined): GraphRights {
  if (!token || !isLimited(token)) return rights
  const { application, base } = rights.reach
  const isHere = application !== 'admin' || isOf(token, true, base)
  if (!isHere || (token.readOnly && mode !== 'Read')) return narrowed(rights, NO_GRAPHS)
  return token.only === undefined ? rights : narrowed(rights, token.only)
}

/** A limit below the end-user application's base does not cover the rules, even if their URLs are below it. */
const isOf = ({ only }: TokenLimits, isAdmin: boolean, adminBase: string): boolean =>
  only === undefined || only.startsWith(adminBase) === isAdmin

const leaves = ({ readOnly, only }: TokenLimits, iri: string, mode: Mode): boolean =>
  (only === undefined || iri.startsWith(only)) && (!readOnly || mode === 'Read')
