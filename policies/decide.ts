// The access decision: the mode that a request needs, the authorizations that can give it, and the reason.
// Rules: LinkedDataHub 5.1 to 5.6 and design 4. A pure function of the index and the question.
import { bitsOf, modesOf, type Mode } from './authorizations/authorization.js'
import type {
  AllConsidered,
  Audited,
  GrantingAuthorization,
  SubjectKind,
  AskedTarget,
} from './authorizations/evidence.js'
import type { Match } from './authorizations/match.js'
import type { AuthorizationIndex } from './authorizations/authorization-index.js'
import { hasOthers, isOtherName, reachPrefixesOf, type Reach } from './authorizations/reach.js'
import { CONTAINER, DEFAULT_GRAPH, ITEM, OTHER_GRAPH, ROOT } from './vocabulary.js'

/** The facts about a document that a decision depends on. */
export interface JudgedDocument {
  readonly iri: string
  readonly exists: boolean
  /** The IRIs of its `rdf:type` and `acl:owner` in its own graph. */
  readonly types: readonly string[]
  readonly owners: readonly string[]
  /** The containers above it in the application, nearest first. */
  readonly ancestors: readonly string[]
}

/** A graph that is not a document (`isDocumentName`), or the default graph. */
export interface OtherGraph {
  readonly kind: 'graph' | 'default-graph'
  readonly iri: string
  readonly reach: Reach
}

export interface Question {
  readonly application: 'end-user' | 'admin'
  /** The WebID of the agent; undefined for an anonymous client. */
  readonly agent: string | undefined
  /** Further subjects that the agent counts as, for this request (identity/memberships.ts). */
  readonly memberships?: readonly string[] | undefined
  readonly required: Mode
  readonly target:
    | (JudgedDocument & { readonly kind: 'document'; readonly parent?: JudgedDocument; readonly isRoot?: boolean })
    | { readonly kind: 'endpoint'; readonly iri: string }
    | OtherGraph
  /** True for a PUT to a missing document; then `target.parent` is given. */
  readonly creates: boolean
}

/** The widest reason that applies: `public` means that every client has the mode. */
export type GrantReason = SubjectKind | 'owner' | 'control'
export type RefusalReason =
  'no-authorization' | 'mode-missing' | 'absent' | 'parent-missing' | 'parent-no-container' | 'token-limited'

export interface Decision {
  readonly allowed: boolean
  readonly reason: GrantReason | RefusalReason
  readonly required: Mode
  /** The IRI that was decided on: the target, or the parent container of a new document. */
  readonly on: string
  /** All modes that the agent has there, in the order Read, Write, Append, Control. */
  readonly modes: readonly Mode[]
  /** The authorizations that gave the required mode, at most 5, widest subject first; none for an owner. */
  readonly via: readonly GrantingAuthorization[]
  /** The authorizations considered. Call it before the index changes. */
  readonly considered: () => AllConsidered
  /**
   * Only in a refusal: the document does not exist, and the agent's rights would include it, so the answer may be 404.
   */
  readonly absent: boolean
  /** Set if a refusal is allowed because the rules are not enforced. `reason` is the reason of the refusal. */
  readonly unenforced?: true
}

// LinkedDataHub 5.1
const REQUIRED: ReadonlyMap<string, Mode> = new Map([
  ['GET', 'Read'],
  ['HEAD', 'Read'],
  ['POST', 'Append'],
  ['PUT', 'Write'],
  ['PATCH', 'Write'],
  ['DELETE', 'Write'],
])

/** The mode that a method on a document needs; undefined if the method is refused (design 4). */
export const requiredMode = (method: string): Mode | undefined => REQUIRED.get(method)

// LinkedDataHub 5.2: never Control.
const OWNER_BITS = bitsOf('Read', 'Write', 'Append')

export function decide(index: AuthorizationIndex, question: Question): Decision {
  const { application, target, creates } = question
  if (isOther(target)) {
    return judge(index, question, { on: target.iri, owners: [], targets: targetsOfOther(target) })
  }
  if (target.iri.startsWith(index.adminBase) !== (application === 'admin')) {
    throw new Error(`<${target.iri}> is not part of the ${application} application`)
  }
  if (target.kind === 'endpoint') {
    // Design 4: system endpoints match only by acl:accessTo.
    return judge(index, question, { on: target.iri, owners: [], targets: [{ kind: 'accessTo', iri: target.iri }] })
  }
  if (target.exists) return judgeDocument(index, question, target)
  if (creates) return target.isRoot ? judgeRoot(index, question, target) : judgeCreation(index, question, target.parent)
  const decision = judgeDocument(index, question, target)
  // Design 3: 404 for agents whose rights would cover an item or a container there; 403 for all others.
  return decision.allowed ? { ...decision, allowed: false, reason: 'absent', absent: true } : decision
}

/** Creation needs Write on the parent, which must be a container (LinkedDataHub 5.2, spec 4.1). */
function judgeCreation(index: AuthorizationIndex, question: Question, parent: JudgedDocument | undefined): Decision {
  const { application, target } = question
  // The parent of the admin root may be a document of the end-user application, whose rights end here.
  if (!parent || parent.iri.startsWith(index.adminBase) !== (application === 'admin')) return noParent(target.iri)
  const decision = judgeDocument(index, { ...question, required: 'Write' }, parent)
  // Only agents who could write there learn why the parent is refused.
  if (!decision.allowed) return decision
  if (!parent.exists) return { ...decision, allowed: false, reason: 'parent-missing' }
  const isContainer = parent.types.includes(CONTAINER) || parent.types.includes(ROOT)
  return isContainer ? decision : { ...decision, allowed: false, reason: 'parent-no-container' }
}

/** The root has no parent. If it was removed behind the gateway, agents with Control on it may create it again. */
function judgeRoot(index: AuthorizationIndex, question: Question, { iri, ancestors }: JudgedDocument): Decision {
  const root: JudgedDocument = { iri, ancestors, exists: true, types: [ROOT], owners: [] }
  const decision = judgeDocument(index, { ...question, required: 'Control' }, root)
  return { ...decision, required: question.required }
}

const noParent = (on: string): Decision => ({
  allowed: false,
  reason: 'parent-missing',
  required: 'Write',
  on,
  modes: [],
  via: [],
  considered: () => ({ authorizations: [], total: 0 }),
  absent: false,
})

/**
 * The mode that new types would give the agent that writes them, if the agent may not give it to itself (design 3): an
 * agent with Control may give itself any mode; with Read, any mode but Control; without Read, only modes that it
 * already had.
 */
export function widenedMode(before: readonly Mode[], after: readonly Mode[]): Mode | undefined {
  if (before.includes('Control')) return undefined
  return after.find((mode) => !before.includes(mode) && (mode === 'Control' || !before.includes('Read')))
}

function judgeDocument(index: AuthorizationIndex, question: Question, document: JudgedDocument): Decision {
  const targets = targetsOf(index, question.application, document)
  return judge(index, question, { on: document.iri, owners: document.exists ? document.owners : [], targets })
}

/** The targets through which authorizations can apply to this document. */
function targetsOf(
  index: AuthorizationIndex,
  application: Question['application'],
  { iri, exists, types, ancestors }: JudgedDocument,
): AskedTarget[] {
  const targets: AskedTarget[] = [{ kind: 'accessTo', iri }]
  if (application === 'end-user') {
    // LinkedDataHub 5.6: a document without a type matches no class; a missing one counts as an item or container. Not
    // in the admin application, where rights on all items, such as those of the seeded writers, would include the
    // authorizations themselves.
    for (const type of exists ? types : [ITEM, CONTAINER]) {
      if (type !== OTHER_GRAPH) targets.push({ kind: 'accessToClass', iri: type })
    }
  }
  for (const ancestor of ancestors) {
    // Web Access Control: acl:default applies to documents in the container, not to the container itself.
    const within = iri.startsWith(ancestor) && iri !== ancestor && ancestor.endsWith('/')
    const same = application === 'end-user' || ancestor.startsWith(index.adminBase)
    if (within && same) targets.push({ kind: 'default', iri: ancestor })
  }
  return targets
}

const isOther = (target: Question['target']): target is OtherGraph =>
  target.kind === 'graph' || target.kind === 'default-graph'

/** Design 4: by name, by a prefix of the name, and as a member of all graphs that are not documents. */
function targetsOfOther({ kind, iri, reach }: OtherGraph): AskedTarget[] {
  if (!hasOthers(reach)) return []
  if (kind === 'default-graph') return [{ kind: 'accessTo', iri: DEFAULT_GRAPH }]
  const isNamed = iri !== DEFAULT_GRAPH && isOtherName(reach, iri)
  return [
    ...(isNamed ? [{ kind: 'accessTo', iri } as const] : []),
    ...reachPrefixesOf(reach, iri).map((prefix) => ({ kind: 'default', iri: prefix }) as const),
    { kind: 'accessToClass', iri: OTHER_GRAPH },
  ]
}

/**
 * LinkedDataHub 5.3: an agent or group authorization with Control applies to the whole admin application. Its agents
 * make the rules, so it also applies to graphs that are not documents, in both applications (design 4).
 */
const withControl = (
  { adminBase }: AuthorizationIndex,
  { application, target }: Pick<Question, 'application' | 'target'>,
  targets: readonly AskedTarget[],
): readonly AskedTarget[] =>
  (isOther(target) ? target.reach.alone : application === 'admin')
    ? [...targets, { kind: 'control', iri: adminBase }]
    : targets

/** All authorizations on a target, for any subject, at most 1000. */
export function authorizationsAbout(
  index: AuthorizationIndex,
  question: Pick<Question, 'application' | 'target'>,
): readonly Audited[] {
  const { application, target } = question
  if (isOther(target)) return index.about(withControl(index, question, targetsOfOther(target)))
  const targets: AskedTarget[] =
    target.kind === 'endpoint' ? [{ kind: 'accessTo', iri: target.iri }] : targetsOf(index, application, target)
  return index.about(withControl(index, question, targets))
}

/** `owners` have their own rights. `targets`: those of the authorizations that apply. */
interface Judged {
  readonly on: string
  readonly owners: readonly string[]
  readonly targets: readonly AskedTarget[]
}

function judge(index: AuthorizationIndex, question: Question, { on, owners, targets }: Judged): Decision {
  const { agent, memberships, required } = question
  const all = withControl(index, question, targets)
  const match = index.match(agent, required, all, memberships)
  const owns = agent !== undefined && owners.includes(agent)
  const bits = match.bits | (owns ? OWNER_BITS : 0)
  const allowed = (bits & bitsOf(required)) !== 0
  return {
    allowed,
    reason: allowed ? grantReason(match, owns && required !== 'Control') : bits ? 'mode-missing' : 'no-authorization',
    required,
    on,
    modes: modesOf(bits),
    via: match.via,
    considered: match.considered,
    absent: false,
  }
}

function grantReason({ via: [widest] }: Match, owns: boolean): GrantReason {
  if (widest?.subject === 'public' || widest?.subject === 'authenticated-agent') return widest.subject
  if (owns) return 'owner'
  return widest!.target.kind === 'control' ? 'control' : widest!.subject
}
