// The rights of an agent on the graphs that an update names (design 4). WHERE sees graphs with Read; inserting needs
// Append; everything else needs Write; creating a document needs Write on its container. All refusals are alike.
import { mayTouch, type GraphFacts, type GraphRights } from '../../../policies/authorizations/graph-rights.js'
import { DEFAULT_GRAPH } from '../../../policies/vocabulary.js'
import { isContainer } from '../../documents/hierarchy.js'
import type { AccessBefore } from '../../methods/self-granted-modes.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { decideOn, judge, type Facts } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { rightsOnGraphs } from '../../request/agent-graph-rights.js'
import { refusalOf } from '../../request/refusal.js'
import type { Touch } from '../language/touches.js'

export type DocumentFound = Facts & { readonly kind: 'document' }

export interface UpdateRights {
  /** Nothing is hidden from the agent, and the agent may change everything. */
  readonly isFree: boolean
  readonly Read: GraphRights
  readonly Append: GraphRights
  readonly Write: GraphRights
}

/**
 * Checked when the update arrives, and again under its locks. @param endpoint the facts of the endpoint, which needs
 * Write
 */
export function updateRights(context: Context, endpoint: Facts): UpdateRights | Problem {
  const decision = decideOn(context, endpoint, 'Write')
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, context, endpoint.iri)
  const [Read, Append, Write] = (['Read', 'Append', 'Write'] as const).map((mode) => rightsOnGraphs(context, mode)) as [
    GraphRights | Problem,
    GraphRights | Problem,
    GraphRights | Problem,
  ]
  if (isFailure(Read)) return Read
  if (isFailure(Append)) return Append
  return isFailure(Write) ? Write : { isFree: Read.everything && Write.everything, Read, Append, Write }
}

/** The same text whatever the graphs contain, and whether they exist or not. */
export const REFUSED = problem(
  'access.denied',
  'Access not authorized: inserting needs Append or Write, deleting needs Write, and a new document needs Write on its container.',
)

/** The modes on a document; all modes on one that the update creates. A problem if the touch is refused. */
export function rightsOnUpdate(
  context: Context,
  facts: DocumentFound,
  touch: Touch | undefined,
): AccessBefore | Problem {
  if (!facts.document) return touch ? mayCreate(context, facts, touch) : NONE
  const read = decideOn(context, facts, 'Read')
  if (isFailure(read)) return read
  const access = { mayRead: read.allowed, modes: read.modes }
  if (!touch) return access
  const write = decideOn(context, facts, 'Write')
  if (isFailure(write) || write.allowed) return isFailure(write) ? write : access
  const append = touch.mode === 'Append' ? decideOn(context, facts, 'Append') : undefined
  if (isFailure(append)) return append
  return append?.allowed ? access : REFUSED
}

const NONE: AccessBefore = { mayRead: false, modes: [] }
const CREATOR: AccessBefore = { mayRead: true, modes: ['Read', 'Write', 'Append', 'Control'] }

function mayCreate(context: Context, facts: DocumentFound, { isFilled }: Touch): AccessBefore | Problem {
  const decision = judge(context, context.agent, facts, 'Write', true)
  if (isFailure(decision)) return decision
  if (decision.allowed) return CREATOR
  if (!isFilled) {
    // Nothing is created. Like a DELETE of a document that does not exist, it is refused to agents who could not create
    // one there.
    const covered = decideOn(context, facts, 'Write')
    if (isFailure(covered)) return covered
    if (covered.absent || covered.allowed) return NONE
  }
  const { application, gateway } = context
  // `--enforce=false`: the document still needs an existing container.
  const isUnenforced = !gateway.settings.enforce && application.kind !== 'admin'
  return isUnenforced && facts.parent && isContainer(facts.parent.types) ? CREATOR : REFUSED
}

/** True if the touch of a graph that is not a document is refused. */
export const isRefusedOther = (rights: UpdateRights, graph: GraphFacts, { mode }: Touch): boolean =>
  !mayOn(rights.Write, graph) && !(mode === 'Append' && mayOn(rights.Append, graph))

export const mayReadOther = ({ Read }: UpdateRights, graph: GraphFacts): boolean => mayOn(Read, graph)

const mayOn = (rights: GraphRights, graph: GraphFacts): boolean =>
  rights.everything || (graph.iri === DEFAULT_GRAPH ? rights.defaultGraph : mayTouch(rights, graph))
