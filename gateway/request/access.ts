// Looks up the facts that a decision needs (the document, its parent, the rules), and asks for the decision.
import type { Stored } from '../../cache/stored-graphs.js'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { decide, type Decision, type JudgedDocument, type OtherGraph, type Question } from '../../policies/decide.js'
import { readDocument, readDocumentNow, readDocumentOfType, readFacts, readFactsNow } from '../documents/document.js'
import {
  DECISION_BYTES,
  leastFacts,
  noDecisions,
  sizeOfDecision,
  type Decisions,
  type DocumentFacts,
} from '../documents/facts.js'
import type { Application, Member } from '../gateway.js'
import type { Agent, Context } from './context.js'
import { ancestorsOf, isContainer, isRoot, parentOf } from '../documents/hierarchy.js'
import { isFailure, type Problem } from '../problem.js'
import { all, run, wait, type Awaitable, type Steps } from '../maybe-async.js'
import type { Target } from '../http/target.js'
import { withinToken } from './token-limits.js'

/** A target that the rules of this gateway decide on. */
export type OwnTarget = Exclude<Target<Member>, { readonly kind: 'proxied' | 'graph' | 'graph-history' }>

/** A graph that is not a document, with its state if known: the decision is cached with that state. */
export type OtherFacts = OtherGraph & { readonly document?: DocumentFacts }

/** The result of looking up a target. A PUT to a missing document also looks up the parent container. */
export type Facts =
  | {
      readonly kind: 'document'
      readonly iri: string
      /** Includes the content if `lookUp` was asked for it. */
      readonly document?: DocumentFacts
      readonly parent?: DocumentFacts
      /** When the store answered, in ms since the epoch. */
      readonly answeredAt: number
    }
  | { readonly kind: 'endpoint'; readonly iri: string }
  | OtherFacts

/**
 * Looks up the facts for the decision. If `required` is Read, also reads the document itself, but only for agents who
 * may read it: for others nothing of a document is read (design 4).
 */
export function lookUp(context: Context, target: OwnTarget, required?: Mode): Awaitable<Facts | Problem> {
  if (target.kind === 'endpoint') return { kind: 'endpoint', iri: target.iri }
  const { document: iri } = target
  if (target.kind !== 'document' || required !== 'Read') return run(lookUpFacts(context, iri))
  const cached = context.application.cache.documents.cached(iri, context.request.receivedAt)
  return cached ? foundAt(iri, cached) : run(lookUpToRead(context, iri))
}

/**
 * If the agent's rights do not depend on the document's types and owners, the document is read at once. If they depend
 * on one type, the store is asked for a document of that type. Otherwise the facts are read first.
 */
function* lookUpToRead(context: Context, iri: string): Steps<Facts | Problem> {
  const { application, trace } = context
  const kinds = leastFacts(iri, application.base)
  const allowed: string[] = []
  for (const document of kinds) {
    const decision = judge(context, context.agent, { kind: 'document', iri, document, answeredAt: 0 }, 'Read')
    if (isFailure(decision)) return decision
    if (decision.allowed) allowed.push(...document.types)
  }
  if (allowed.length === kinds.length) return yield* wait(lookUpDocument(context, iri))
  const [type] = allowed
  if (type !== undefined && application.store.readTyped && !application.cache.facts.cached(iri)) {
    const found = yield* wait(readDocumentOfType(application, [iri, type], trace, context))
    if (isFailure(found) || found.value) return foundAt(iri, found)
  }
  const facts = yield* lookUpFacts(context, iri)
  if (isFailure(facts) || facts.kind !== 'document' || !facts.document) return facts
  const decision = decideOn(context, facts, 'Read')
  if (isFailure(decision)) return decision
  return decision.allowed ? yield* wait(lookUpDocument(context, iri)) : facts
}

/**
 * Reads only the facts. A PUT reads the parent's at the same time: a refusal must not reveal whether they were needed.
 */
function* lookUpFacts({ application, request, trace }: Context, iri: string): Steps<Facts | Problem> {
  const asked = readFacts(application, iri, trace)
  const isKnown = !(asked instanceof Promise) && (isFailure(asked) || asked.value !== undefined)
  if (isKnown || !mayCreate(request, iri, application)) return foundAt(iri, yield* wait(asked))
  const [found, above] = yield* all([asked, readFacts(application, parentOf(iri), trace)])
  return foundAt(iri, found, above)
}

const mayCreate = ({ method }: Context['request'], iri: string, { base }: Application): boolean =>
  method === 'PUT' && !isRoot(iri, base)

function foundAt(
  iri: string,
  found: Stored<DocumentFacts> | Problem,
  above?: Stored<DocumentFacts> | Problem,
): Facts | Problem {
  if (isFailure(found)) return found
  const { value: document, answeredAt } = found
  if (document) return { kind: 'document', iri, answeredAt, document }
  if (isFailure(above)) return above
  return { kind: 'document', iri, answeredAt, ...(above?.value && { parent: above.value }) }
}

/**
 * Reads the document with its content. `now` bypasses the cache: a write must not rest on a state that may have changed
 * behind the gateway.
 */
export const lookUpDocument = (context: Context, iri: string, now = false): Awaitable<Facts | Problem> =>
  run(documentSteps(context, iri, now))

function* documentSteps(context: Context, iri: string, now: boolean): Steps<Facts | Problem> {
  const { application, request, trace } = context
  const asked = (now ? readDocumentNow : readDocument)(application, iri, trace, context)
  if (!mayCreate(request, iri, application)) return foundAt(iri, yield* wait(asked))
  const readParent = (): Awaitable<Stored<DocumentFacts> | Problem> =>
    (now ? readFactsNow : readFacts)(application, parentOf(iri), trace)
  // The document is probably new: read both at the same time.
  const parent = now && !application.cache.documents.cached(iri)?.value ? readParent() : undefined
  const found = yield* wait(asked)
  if (isFailure(found) || found.value) return foundAt(iri, found)
  return foundAt(iri, found, yield* wait(parent ?? readParent()))
}

/** The decision on the request, with all granted modes and the reason. A 503 if the rules are unavailable. */
export function decideOn(context: Context, facts: Facts, required: Mode): Decision | Problem {
  const {
    application,
    agent,
    dataspace: { access },
  } = context
  const index = access.current(context.request.receivedAt)
  if (isFailure(index)) return index
  const decideAnew = (): Decision =>
    withinToken(
      enforced(context, facts, decideBy(index, application, agent, facts, required, creates(context, facts, required))),
      agent.token,
      facts.iri,
      context,
    )
  const remembered = facts.kind === 'endpoint' ? decisionsOn(facts.iri, application) : facts.document?.decisions
  if (!remembered) return decideAnew()
  // A decision depends only on the rules, the agent, the mode and the document's state, so it is cached with that
  // state.
  const decisions = remembered[required]
  const key = decisionKeyOf(agent)
  const known = decisions.get(key)
  const version = access.version()
  if (known?.version === version) return known.decision
  const decision = decideAnew()
  let added = DECISION_BYTES
  if (known) added -= sizeOfDecision(known)
  else if (decisions.size >= REMEMBERED_AGENTS) {
    for (const one of decisions.values()) added -= sizeOfDecision(one)
    decisions.clear()
  }
  decisions.set(key, { version, decision, heads: { 200: new Map(), 304: new Map() } })
  if (facts.kind !== 'endpoint' && facts.document) {
    // The cache that has this value counts it.
    application.cache.documents.grown(facts.iri, facts.document, added)
    application.cache.facts.grown(facts.iri, facts.document, added)
  }
  return decision
}

const REMEMBERED_AGENTS = 64
const REMEMBERED_ENDPOINTS = 64

/** The remembered decisions on an endpoint; the caller may add to them. */
function decisionsOn(endpoint: string, { cache: { decisions } }: Application): Decisions {
  const known = decisions.get(endpoint)
  if (known) return known
  if (decisions.size >= REMEMBERED_ENDPOINTS) decisions.clear()
  const none = noDecisions()
  decisions.set(endpoint, none)
  return none
}

/** Agents have equal keys only if all decisions on them are equal. WebIDs and memberships contain no spaces. */
export const decisionKeyOf = ({ webId = '', memberships = [], token }: Agent): string =>
  memberships.length === 0 && !token
    ? webId
    : `${webId} ${memberships.join(' ')}${token ? ` token:${token.readOnly} ${token.only ?? ''}` : ''}`

const creates = ({ request }: Context, facts: Facts, required: Mode): boolean =>
  request.method === 'PUT' && required === 'Write' && facts.kind === 'document' && facts.document === undefined

/** What the rules decide on an agent, enforced or not. `creates`: a PUT to a missing document. */
export function judge(
  { application, dataspace }: Member,
  agent: Agent,
  facts: Facts,
  required: Mode,
  creates = false,
): Decision | Problem {
  const index = dataspace.access.current()
  if (isFailure(index)) return index
  const decision = decideBy(index, application, agent, facts, required, creates)
  return withinToken(decision, agent.token, facts.iri, { application, dataspace })
}

/** The rights that the rules grant an agent on a document whose facts are known. */
export const judgeDocument = (member: Member, agent: Agent, document: DocumentFacts): Decision | Problem =>
  judge(member, agent, { kind: 'document', iri: document.iri, document, answeredAt: 0 }, 'Read')

function decideBy(
  index: AuthorizationIndex,
  application: Application,
  { webId, memberships }: Agent,
  facts: Facts,
  required: Mode,
  creates: boolean,
): Decision {
  const target = decisionTargetOf(facts, application.base)
  const decision = decide(index, {
    application: application.kind,
    agent: webId,
    memberships,
    required,
    target,
    creates,
  })
  return isOpen(application, facts, required) ? { ...decision, allowed: true, reason: 'public' } : decision
}

/** LinkedDataHub's lapp:allowRead: in this application reading needs no authorization. */
export const isOpen = ({ allowRead }: Application, facts: Facts, required: Mode): boolean =>
  allowRead && required === 'Read' && facts.kind === 'document'

/**
 * `--enforce=false`: lets requests pass that the rules refuse, except in the admin application, which holds the rules.
 * A new document still needs an existing container.
 */
function enforced(context: Context, facts: Facts, decision: Decision): Decision {
  const { application, gateway } = context
  if (gateway.settings.enforce || decision.allowed || decision.absent || application.kind === 'admin') return decision
  const isOrphan =
    facts.kind === 'document' &&
    creates(context, facts, decision.required) &&
    !(facts.parent && isContainer(facts.parent.types))
  return isOrphan ? decision : { ...decision, allowed: true, unenforced: true }
}

export const decisionTargetOf = (facts: Facts, base: string): Question['target'] =>
  facts.kind === 'document' ? documentTarget(facts, base) : facts

function documentTarget(facts: Facts & { kind: 'document' }, base: string): Question['target'] {
  const { iri, document, parent } = facts
  return Object.assign(new Judged(iri, document, base), {
    kind: 'document' as const,
    ...(isRoot(iri, base) ? { isRoot: true } : { parent: new Judged(parentOf(iri), parent, base) }),
  })
}

class Judged implements JudgedDocument {
  readonly exists
  readonly types
  readonly owners
  readonly #base

  constructor(
    readonly iri: string,
    document: DocumentFacts | undefined,
    base: string,
  ) {
    this.#base = base
    this.exists = document !== undefined
    this.types = document?.types ?? []
    this.owners = document?.owners ?? []
  }

  // Computed on demand: a decision on a creation needs only the parent's, any other only the document's.
  get ancestors() {
    return ancestorsOf(this.iri, this.#base)
  }
}
