// In charge of the access decision: which mode a request needs, which authorizations can give it, and why it is so.
// LinkedDataHub 5.1 to 5.6 says most of it, design 4 the rest. A pure function of the index and the question.
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
import { CONTAINER, ITEM, ROOT } from './vocabulary.js'

export interface JudgedDocument {
  readonly iri: string
  readonly exists: boolean
  /** The IRIs that its own graph gives it as `rdf:type` and `acl:owner`. */
  readonly types: readonly string[]
  readonly owners: readonly string[]
  /** The containers above it within the application's base, nearest first. */
  readonly ancestors: readonly string[]
}

export interface Question {
  readonly application: 'end-user' | 'admin'
  /** The WebID of whoever asks; undefined when nobody is identified. */
  readonly agent: string | undefined
  readonly required: Mode
  readonly target:
    | (JudgedDocument & { readonly kind: 'document'; readonly parent?: JudgedDocument })
    | { readonly kind: 'endpoint'; readonly iri: string }
  /** PUT, which makes a document that does not exist; the parent has to be known then. */
  readonly creates: boolean
}

/** The widest reason there is, so that `public` means that everyone may. */
export type GrantReason = SubjectKind | 'owner' | 'control'
export type RefusalReason = 'no-authorization' | 'mode-missing' | 'absent' | 'parent-missing' | 'parent-no-container'

export interface Decision {
  readonly allowed: boolean
  readonly reason: GrantReason | RefusalReason
  readonly required: Mode
  /** What the decision was made on: the target, or the parent container of a document that is to be created. */
  readonly on: string
  /** All modes that the agent has there, in the order Read, Write, Append, Control. */
  readonly modes: readonly Mode[]
  /** The authorizations that gave the required mode, at most 5, those for most agents first; none for an owner. */
  readonly via: readonly GrantingAuthorization[]
  /** The authorizations that were looked at; to be asked before the index changes. */
  readonly considered: () => AllConsidered
  /** Only in a refusal: the document does not exist, and the agent's rights would cover one there, so 404 may be said. */
  readonly absent: boolean
  /** Of a refusal that is let pass, because the rules are not enforced: `reason` says why it would have been one. */
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

/** The mode that a method on a document needs; undefined for a method that is refused (design 4). */
export const requiredMode = (method: string): Mode | undefined => REQUIRED.get(method)

// LinkedDataHub 5.2: never Control.
const OWNER_BITS = bitsOf('Read', 'Write', 'Append')

export function decide(index: AuthorizationIndex, question: Question): Decision {
  const { application, target, creates } = question
  if (target.iri.startsWith(index.adminBase) !== (application === 'admin')) {
    throw new Error(`<${target.iri}> was asked about as part of the ${application} application`)
  }
  if (target.kind === 'endpoint') {
    // Design 4: system endpoints match by acl:accessTo only.
    return judge(index, question, target.iri, [], [{ kind: 'accessTo', iri: target.iri }])
  }
  if (target.exists) return judgeDocument(index, question, target)
  if (creates) return judgeCreation(index, question, target.parent)
  const decision = judgeDocument(index, question, target)
  // Design 3: 404 to those whose rights would cover an item or a container there; 403 to the others.
  return decision.allowed ? { ...decision, allowed: false, reason: 'absent', absent: true } : decision
}

/** Write on the parent container, which has to be one (LinkedDataHub 5.2, spec 4.1). */
function judgeCreation(index: AuthorizationIndex, question: Question, parent: JudgedDocument | undefined): Decision {
  const { application, target } = question
  // The parent of the admin root may be a document of the end-user application, whose rights end there.
  if (!parent || parent.iri.startsWith(index.adminBase) !== (application === 'admin')) return noParent(target.iri)
  const decision = judgeDocument(index, { ...question, required: 'Write' }, parent)
  // Only those who could write there learn what is wrong with the parent.
  if (!decision.allowed) return decision
  if (!parent.exists) return { ...decision, allowed: false, reason: 'parent-missing' }
  const isContainer = parent.types.includes(CONTAINER) || parent.types.includes(ROOT)
  return isContainer ? decision : { ...decision, allowed: false, reason: 'parent-no-container' }
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

function judgeDocument(index: AuthorizationIndex, question: Question, document: JudgedDocument): Decision {
  const targets = targetsOf(index, question.application, document)
  return judge(index, question, document.iri, document.exists ? document.owners : [], targets)
}

/** What authorizations can name to be about this document. */
function targetsOf(
  index: AuthorizationIndex,
  application: Question['application'],
  { iri, exists, types, ancestors }: JudgedDocument,
): AskedTarget[] {
  const targets: AskedTarget[] = [{ kind: 'accessTo', iri }]
  if (application === 'end-user') {
    // LinkedDataHub 5.6: no type must not match every class; what does not exist is taken for an item or a container.
    // Not in the admin application: rights on all items, as the seeded writers have them, would open the
    // authorizations themselves.
    for (const type of exists ? types : [ITEM, CONTAINER]) targets.push({ kind: 'accessToClass', iri: type })
  }
  for (const ancestor of ancestors) {
    // Web Access Control: acl:default is for what is in the container, not for the container itself.
    const within = iri.startsWith(ancestor) && iri !== ancestor && ancestor.endsWith('/')
    const same = application === 'end-user' || ancestor.startsWith(index.adminBase)
    if (within && same) targets.push({ kind: 'default', iri: ancestor })
  }
  return targets
}

/** LinkedDataHub 5.3: an agent or group authorization that lists Control applies to all of the admin application. */
const withControl = (
  { adminBase }: AuthorizationIndex,
  application: Question['application'],
  targets: readonly AskedTarget[],
): readonly AskedTarget[] => (application === 'admin' ? [...targets, { kind: 'control', iri: adminBase }] : targets)

/** Every authorization about a target, whoever it is for, at most 1000. */
export function authorizationsAbout(
  index: AuthorizationIndex,
  { application, target }: Pick<Question, 'application' | 'target'>,
): readonly Audited[] {
  const targets: AskedTarget[] =
    target.kind === 'endpoint' ? [{ kind: 'accessTo', iri: target.iri }] : targetsOf(index, application, target)
  return index.about(withControl(index, application, targets))
}

function judge(
  index: AuthorizationIndex,
  { application, agent, required }: Question,
  on: string,
  owners: readonly string[],
  targets: readonly AskedTarget[],
): Decision {
  const all = withControl(index, application, targets)
  const match = index.match(agent, required, all)
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
