// In charge of the facts that a decision rests on (the document, its parent, the rules), and of asking for the decision.
import type { Stored } from '../../cache/stored-graphs.js'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { decide, type Decision, type JudgedDocument, type Question } from '../../policies/decide.js'
import {
  readDocument,
  readDocumentNow,
  type Document,
  type DocumentFacts,
  type LargeDocument,
} from '../documents/document.js'
import type { Application, Member } from '../gateway.js'
import type { Context } from './context.js'
import { ancestorsOf, isContainer, isRoot, parentOf } from '../documents/hierarchy.js'
import { isFailure, type Problem } from '../problem.js'
import { after, type Awaitable } from '../steps.js'
import type { Target } from '../http/target.js'

/** A target of this gateway, on which its rules decide. */
export type OwnTarget = Exclude<Target<Member>, { readonly kind: 'proxied' }>

/** The look-up of a target. A PUT to a document that does not exist looks up the parent container too. */
export type Facts =
  | {
      readonly kind: 'document'
      readonly iri: string
      readonly document?: Document | LargeDocument
      readonly parent?: DocumentFacts
      /** When the store answered, in ms since the epoch. */
      readonly answeredAt: number
    }
  | { readonly kind: 'endpoint'; readonly iri: string }

export function lookUp(context: Context, target: OwnTarget): Awaitable<Facts | Problem> {
  if (target.kind === 'endpoint') return { kind: 'endpoint', iri: target.iri }
  return lookUpDocument(context, target.document)
}

/** `now`: the answer of the store, not a cached one: a write must not rest on a state that may have changed behind the gateway. */
export function lookUpDocument(
  context: Context,
  iri: string,
  now: 'now' | undefined = undefined,
): Awaitable<Facts | Problem> {
  const { application, trace } = context
  const found = (now ? readDocumentNow : readDocument)(application, iri, trace)
  return found instanceof Promise ? found.then((answer) => factsOf(answer, context, iri)) : factsOf(found, context, iri)
}

function factsOf(
  found: Stored<Document | LargeDocument> | Problem,
  { application, request, trace }: Context,
  iri: string,
): Awaitable<Facts | Problem> {
  if (isFailure(found)) return found
  const { value: document, answeredAt } = found
  if (document) return { kind: 'document', iri, answeredAt, document }
  if (request.method !== 'PUT' || isRoot(iri, application.base)) return { kind: 'document', iri, answeredAt }
  return after(readDocument(application, parentOf(iri), trace), (parent) => {
    if (isFailure(parent)) return parent
    return { kind: 'document', iri, answeredAt, ...(parent.value && { parent: parent.value }) }
  })
}

/** The decision on the request, with all granted modes and the reason. Without rules there is no decision, but a 503. */
export function decideOn(context: Context, facts: Facts, required: Mode): Decision | Problem {
  const {
    application,
    agent,
    dataspace: { access },
  } = context
  const index = access.current()
  if (isFailure(index)) return index
  const decideAnew = (): Decision =>
    enforced(
      context,
      facts,
      decideBy(index, application, agent.webId, facts, required, creates(context, facts, required)),
    )
  if (facts.kind === 'endpoint' || !facts.document) return decideAnew()
  // A decision is a function of the rules, the agent, the mode and the state of the document: it is cached with that state.
  const decisions = facts.document.decisions[required]
  const key = agent.webId ?? ''
  const known = decisions.get(key)
  const version = access.version()
  if (known?.version === version) return known.decision
  const decision = decideAnew()
  if (decisions.size >= REMEMBERED_AGENTS) decisions.clear()
  decisions.set(key, { version, decision, heads: { 200: new Map(), 304: new Map() } })
  return decision
}

const REMEMBERED_AGENTS = 64

const creates = ({ request }: Context, facts: Facts, required: Mode): boolean =>
  request.method === 'PUT' && required === 'Write' && facts.kind === 'document' && facts.document === undefined

/** The decision of the rules on an agent, enforced or not. `creates`: a PUT to a document that does not exist. */
export function judge(
  { application, dataspace }: Member,
  agent: string | undefined,
  facts: Facts,
  required: Mode,
  creates = false,
): Decision | Problem {
  const index = dataspace.access.current()
  return isFailure(index) ? index : decideBy(index, application, agent, facts, required, creates)
}

function decideBy(
  index: AuthorizationIndex,
  application: Application,
  agent: string | undefined,
  facts: Facts,
  required: Mode,
  creates: boolean,
): Decision {
  const target = targetOf(facts, application.base)
  const decision = decide(index, { application: application.kind, agent, required, target, creates })
  return isOpen(application, facts, required) ? { ...decision, allowed: true, reason: 'public' } : decision
}

/** LinkedDataHub's lapp:allowRead: reading needs no authorization in this application. */
export const isOpen = ({ allowRead }: Application, facts: Facts, required: Mode): boolean =>
  allowRead && required === 'Read' && facts.kind === 'document'

/**
 * `--enforce=false`: requests that the rules refuse are let pass, except in the admin application, which has the rules. A new
 * document still needs an existing container.
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

export const targetOf = (facts: Facts, base: string): Question['target'] =>
  facts.kind === 'endpoint' ? facts : documentTarget(facts, base)

function documentTarget(facts: Facts & { kind: 'document' }, base: string): Question['target'] {
  const { iri, document, parent } = facts
  return Object.assign(judged(iri, document, base), {
    kind: 'document' as const,
    ...(isRoot(iri, base) ? {} : { parent: judged(parentOf(iri), parent, base) }),
  })
}

const judged = (iri: string, document: DocumentFacts | undefined, base: string): JudgedDocument => ({
  iri,
  exists: document !== undefined,
  types: document?.types ?? [],
  owners: document?.owners ?? [],
  // Computed when a decision needs them: that on a creation needs the parent's only, any other the document's own.
  get ancestors() {
    return ancestorsOf(iri, base)
  },
})
