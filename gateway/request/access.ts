// The facts that a decision rests on (the document, its parent, the rules), and of asking for the decision.
import type { Stored } from '../../cache/stored-graphs.js'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { decide, type Decision, type JudgedDocument, type OtherGraph, type Question } from '../../policies/decide.js'
import { readDocument, readDocumentNow, readDocumentOfType, readFacts, readFactsNow } from '../documents/document.js'
import { leastFacts, noDecisions, type Decisions, type DocumentFacts } from '../documents/facts.js'
import type { Application, Member } from '../gateway.js'
import type { Agent, Context } from './context.js'
import { ancestorsOf, isContainer, isRoot, parentOf } from '../documents/hierarchy.js'
import { isFailure, type Problem } from '../problem.js'
import { all, run, wait, type Awaitable, type Steps } from '../maybe-async.js'
import type { Target } from '../http/target.js'
import { withinToken } from './token-limits.js'

/** A target of this gateway, on which its rules decide. */
export type OwnTarget = Exclude<Target<Member>, { readonly kind: 'proxied' | 'graph' | 'graph-history' }>

/** Of a graph that is no document, with its state where that is known: the decision is cached with it. */
export type OtherFacts = OtherGraph & { readonly document?: DocumentFacts }

/** The look-up of a target. A PUT to a document that does not exist looks up the parent container too. */
export type Facts =
  | {
      readonly kind: 'document'
      readonly iri: string
      /** With its content where that was asked for: see `lookUp`. */
      readonly document?: DocumentFacts
      readonly parent?: DocumentFacts
      /** When the store answered, in ms since the epoch. */
      readonly answeredAt: number
    }
  | { readonly kind: 'endpoint'; readonly iri: string }
  | OtherFacts

/**
 * The facts that the decision needs. The document itself is read too where `required` is Read and it is the target, for
 * agents who may read it: nothing of a document is read for others (design 4).
 */
export function lookUp(context: Context, target: OwnTarget, required?: Mode): Awaitable<Facts | Problem> {
  if (target.kind === 'endpoint') return { kind: 'endpoint', iri: target.iri }
  const { document: iri } = target
  if (target.kind !== 'document' || required !== 'Read') return run(lookUpFacts(context, iri))
  const cached = context.application.cache.documents.cached(iri, context.request.receivedAt)
  return cached ? foundAt(iri, cached) : run(lookUpToRead(context, iri))
}

/**
 * Rights that do not depend on the document's types and owners cost no question about these. A right to one kind of
 * documents costs none where the document is of that kind and short, and a store can tell; else one more.
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
 * The facts alone. A PUT asks for those of the parent at the same time: a refusal must not tell whether it needed them.
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
 * The document with its content. `now`: the answer of the store, not a cached one: a write must not rest on a state
 * that may have changed behind the gateway.
 */
export const lookUpDocument = (context: Context, iri: string, now = false): Awaitable<Facts | Problem> =>
  run(documentSteps(context, iri, now))

function* documentSteps(context: Context, iri: string, now: boolean): Steps<Facts | Problem> {
  const { application, request, trace } = context
  const asked = (now ? readDocumentNow : readDocument)(application, iri, trace, context)
  if (!mayCreate(request, iri, application)) return foundAt(iri, yield* wait(asked))
  const readParent = (): Awaitable<Stored<DocumentFacts> | Problem> =>
    (now ? readFactsNow : readFacts)(application, parentOf(iri), trace)
  // Both at the same time where the document is probably new.
  const parent = now && !application.cache.documents.cached(iri)?.value ? readParent() : undefined
  const found = yield* wait(asked)
  if (isFailure(found) || found.value) return foundAt(iri, found)
  return foundAt(iri, found, yield* wait(parent ?? readParent()))
}

/**
 * The decision on the request, with all granted modes and the reason. Without rules there is no decision, but a 503.
 */
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
  // A decision is a function of the rules, the agent, the mode and the state of the document: it is cached with that
  // state.
  const decisions = remembered[required]
  const key = decisionKeyOf(agent)
  const known = decisions.get(key)
  const version = access.version()
  if (known?.version === version) return known.decision
  const decision = decideAnew()
  if (decisions.size >= REMEMBERED_AGENTS) decisions.clear()
  decisions.set(key, { version, decision, heads: { 200: new Map(), 304: new Map() } })
  return decision
}

const REMEMBERED_AGENTS = 64
const REMEMBERED_ENDPOINTS = 64

/** The decisions on the endpoint that are remembered, to be added to. */
function decisionsOn(endpoint: string, { cache: { decisions } }: Application): Decisions {
  const known = decisions.get(endpoint)
  if (known) return known
  if (decisions.size >= REMEMBERED_ENDPOINTS) decisions.clear()
  const none = noDecisions()
  decisions.set(endpoint, none)
  return none
}

/** No WebID has a space, nor has a membership. Equal for two agents only where all decisions on them are. */
export const decisionKeyOf = ({ webId = '', memberships = [], token }: Agent): string =>
  memberships.length === 0 && !token
    ? webId
    : `${webId} ${memberships.join(' ')}${token ? ` token:${token.readOnly} ${token.only ?? ''}` : ''}`

const creates = ({ request }: Context, facts: Facts, required: Mode): boolean =>
  request.method === 'PUT' && required === 'Write' && facts.kind === 'document' && facts.document === undefined

/** The decision of the rules on an agent, enforced or not. `creates`: a PUT to a document that does not exist. */
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

/** The rights that the rules grant an agent on a document that was looked up. */
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

/** LinkedDataHub's lapp:allowRead: reading needs no authorization in this application. */
export const isOpen = ({ allowRead }: Application, facts: Facts, required: Mode): boolean =>
  allowRead && required === 'Read' && facts.kind === 'document'

/**
 * `--enforce=false`: requests that the rules refuse are let pass, except in the admin application, which has the rules.
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

  // Computed when a decision needs them: that on a creation needs the parent's only, any other the document's own.
  get ancestors() {
    return ancestorsOf(this.iri, this.#base)
  }
}
