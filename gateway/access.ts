// In charge of bringing what a decision rests on to the one that decides: the document, its parent, the rules.
import type { AuthorizationIndex } from '../policies/authorizations.js'
import { decide, type Decision, type Mode, type Question } from '../policies/decide.js'
import { readDocument, readDocumentNow, type Document } from './document.js'
import type { Application } from './gateway.js'
import type { Context } from './handle.js'
import { ancestorsOf, isRoot, parentOf } from './next-state.js'
import { isProblem, problem, type Problem } from './problem.js'
import type { Target } from './target.js'

/** What was found at the target. A PUT to a document that is not there asks its parent container. */
export type Facts =
  | {
      readonly kind: 'document'
      readonly iri: string
      readonly document?: Document
      readonly parent?: Document
      /** When the store answered, in ms since the epoch. */
      readonly answeredAt: number
    }
  | { readonly kind: 'endpoint'; readonly iri: string }

export async function lookUp(context: Context, target: Target<Application>): Promise<Facts | Problem> {
  if (target.kind === 'endpoint') return { kind: 'endpoint', iri: target.iri }
  if (target.kind === 'proxied') {
    return problem('not-implemented', 'The Linked Data proxy (?uri=) is not in this release.')
  }
  return lookUpDocument(context, target.document)
}

/** `now`: as the store answers now, for a write must not rest on what may have changed behind the gateway. */
export async function lookUpDocument(
  { application, request, trace }: Context,
  iri: string,
  now: 'now' | undefined = undefined,
): Promise<Facts | Problem> {
  const found = await (now ? readDocumentNow : readDocument)(application, iri, trace)
  if (isProblem(found)) return found
  const { value: document, answeredAt } = found
  if (document || request.method !== 'PUT' || isRoot(iri, application.base)) {
    return { kind: 'document', iri, answeredAt, ...(document && { document }) }
  }
  const parent = await readDocument(application, parentOf(iri), trace)
  if (isProblem(parent)) return parent
  return { kind: 'document', iri, answeredAt, ...(parent.value && { parent: parent.value }) }
}

/** The decision on the request, with all granted modes and the reason. Without rules there is none: 503. */
export function decideOn(context: Context, facts: Facts, required: Mode): Decision | Problem {
  const { access } = context.application.dataspace
  const index = access.current()
  if (isProblem(index)) return index
  if (facts.kind === 'endpoint' || !facts.document) return decideAnew(context, facts, required, index)
  // A function of the rules, the agent, the mode and this state of the document: remembered with the latter.
  const { decisions } = facts.document
  const key = `${required} ${context.agent.webId ?? ''}`
  const known = decisions.get(key)
  const version = access.version()
  if (known?.version === version) return known.decision
  const decision = decideAnew(context, facts, required, index)
  if (decisions.size >= REMEMBERED_AGENTS) decisions.clear()
  decisions.set(key, { version, decision, heads: new Map() })
  return decision
}

const REMEMBERED_AGENTS = 64

function decideAnew(
  { application, agent, request }: Context,
  facts: Facts,
  required: Mode,
  index: AuthorizationIndex,
): Decision {
  const decision = decide(index, {
    application: application.kind,
    agent: agent.webId,
    required,
    target: facts.kind === 'endpoint' ? facts : documentTarget(facts, application.base),
    creates: request.method === 'PUT' && facts.kind === 'document' && facts.document === undefined,
  })
  // LinkedDataHub's lapp:allowRead: reading needs no authorization in this application.
  const open = application.allowRead && required === 'Read' && facts.kind === 'document'
  return open ? { ...decision, allowed: true, reason: 'public' } : decision
}

function documentTarget(facts: Facts & { kind: 'document' }, base: string): Question['target'] {
  const { iri, document, parent } = facts
  return {
    kind: 'document',
    ...found(iri, document, base),
    ...(isRoot(iri, base) ? {} : { parent: found(parentOf(iri), parent, base) }),
  }
}

const found = (
  iri: string,
  document: Document | undefined,
  base: string,
): { iri: string; exists: boolean; types: readonly string[]; owners: readonly string[]; ancestors: string[] } => ({
  iri,
  exists: document !== undefined,
  types: document?.types ?? [],
  owners: document?.owners ?? [],
  ancestors: ancestorsOf(iri, base),
})
