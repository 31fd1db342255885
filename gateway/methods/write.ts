// In charge of PUT, POST, PATCH and DELETE on documents: the one write path (design 3).
// lock → read current → preconditions → next state → constraints → store → rules and profiles → unlock → respond.
import { LONGEST_PATH } from '../../versioning/git/document-path.js'
import { decideOn, lookUpDocument, type Facts } from '../request/access.js'
import { checkConstraints } from './constraint-check.js'
import { entityTagOf, isLarge, MAX_DOCUMENT, readDocumentNow, type Document } from '../documents/document.js'
import type { Field, Response } from '../http/exchange.js'
import { evaluateConditions } from '../request/conditions.js'
import type { Context } from '../request/context.js'
import { graphOf, mayBeRewritten, nTriplesOf, type Graph, type Quad } from '../rdf/graph.js'
import { negotiate, RDF_FORMATS } from '../http/media-type.js'
import { isKind, isRoot } from '../documents/hierarchy.js'
import { locksOf, underLocks } from '../documents/locks.js'
import { managedTriples, nextState } from '../documents/next-state.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { methodNotAllowed, refusalOf } from '../request/refusal.js'
import { replaceDocument, type Writing } from './put-document.js'
import { readNTriples } from '../rdf/read.js'
import { restoredVersion } from './restore.js'
import { lastModifiedField, linkField, READ_METHODS, response } from '../request/respond.js'
import { run } from '../steps.js'
import { RDF } from '../rdf/vocabulary.js'
import { readWish, type Wish } from './write-request.js'

export async function write(context: Context, iri: string, facts: Facts): Promise<Response | Problem> {
  const { method } = context.request
  const unfit = unfitness(context, iri, facts)
  if (unfit) return unfit
  const wish = await readWish(context, iri)
  if (isFailure(wish)) return wish

  const { application, gateway } = context
  return underLocks(gateway, locksOf(application, iri, method === 'PUT'), () => writeLocked(context, iri, wish))
}

/** What can be said before the body is read: 404, then 405, then the root (design 3, order). */
function unfitness(
  { application, dataspace, request: { method, fields } }: Context,
  iri: string,
  facts: Facts,
): Problem | undefined {
  const { mirrored } = application
  const document = facts.kind === 'document' ? facts.document : undefined
  const exists = document !== undefined
  if (!exists && method !== 'PUT') return problem('document.absent', 'There is no such document.')
  // Spec 4.1: the documents of the owner agent and the secretary agent cannot be modified or deleted.
  if (dataspace.protectedDocuments.has(iri)) return methodNotAllowed(method, READ_METHODS)
  // Spec 4.1, 7: the root document cannot be deleted.
  if (method === 'DELETE' && isRoot(iri, application.base)) return rootStays()
  if (!exists && mirrored && Buffer.byteLength(mirrored.pathOf(iri)) > LONGEST_PATH) {
    return problem('target.malformed', 'Malformed document URI: it is too long for the repository of its history.')
  }
  if (!document || !isLarge(document)) return undefined
  // Its entity-tag is known only when all of it has been read; nothing of it is needed to remove it.
  const isConditional = CONDITIONS.some((name) => fields[name] !== undefined)
  return method === 'DELETE' && !isConditional ? undefined : tooLargeToWrite()
}

const CONDITIONS = ['if-match', 'if-none-match', 'if-unmodified-since'] as const

const tooLargeToWrite = (): Problem =>
  problem('content.too-large', 'The document is too large to be written as a whole: use a SPARQL update.')

const rootStays = (): Problem => problem('document.root', 'The root document cannot be deleted.')

async function writeLocked(context: Context, iri: string, wish: Wish): Promise<Response | Problem> {
  const doubt = await context.application.journalled.settle(iri)
  if (doubt) return doubt
  // Decided again on what is there now: nobody else can change it until the answer.
  const facts = await run(lookUpDocument(context, iri, restsOnState(context, wish) ? 'now' : undefined))
  if (isFailure(facts)) return facts
  const decision = decideOn(context, facts, wish.method === 'POST' ? 'Append' : 'Write')
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, context, iri)
  const unfit = unfitness(context, iri, facts)
  if (unfit) return unfit
  const current = facts.kind === 'document' ? (facts.document as Document | undefined) : undefined
  if (wish.method === 'POST' && !decision.modes.includes('Write') && addsType(wish.content, current!)) {
    return problem('access.denied', 'Access not authorized: Write is required to add a type to the document itself.')
  }
  const failed = preconditions(context, current)
  if (failed) return failed

  const restored = await restoredVersion(context, facts, wish)
  if (isFailure(restored)) return restored
  // A document that was deleted comes back as the one it was, its owner's.
  const base = current ?? (restored && { iri, nTriples: restored.nTriples })
  const next = await nextGraph(context, iri, wish, current, base)
  if (isFailure(next)) return next
  if (next === 'absent') return remove(context, iri, isLarge(current!) ? undefined : current)
  if (next !== 'unchanged' && sizeOf(next) > MAX_DOCUMENT) {
    return problem('content.too-large', `The document would be larger than ${MAX_DOCUMENT} bytes of N-Triples.`)
  }
  if (next === 'unchanged') return respond(context, 204, current!)
  const mayRead = !current || decision.modes.includes('Read')
  const refused = await checkConstraints(writingOf(context), current, next, mayRead)
  if (refused) return refused
  return store(context, iri, next, current, restored?.commit)
}

const sizeOf = ({ lines }: Graph): number => lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)

/** Rights go by the types of a document (acl:accessToClass): who may only append must not give themselves others. */
const addsType = (content: readonly Quad[], { iri, types }: Document): boolean =>
  content.some(
    ({ subject, predicate, object }) =>
      subject.value === iri &&
      predicate.value === RDF('type') &&
      !types.includes(object.value) &&
      !isKind(object.value),
  )

/**
 * What is built on the state, or made conditional on it, needs the state that is in the store. An unconditional PUT replaces
 * whatever there is, and what is kept of it will do.
 */
const restsOnState = ({ request: { fields } }: Context, { method }: Wish): boolean =>
  method !== 'PUT' || CONDITIONS.some((name) => fields[name] !== undefined)

/** RFC 9110 §13.1.1: for a write the state counts, in whichever format the client has read it. */
function preconditions({ request, gateway }: Context, current: Document | undefined): Problem | undefined {
  const { fields, receivedAt } = request
  const isConditional = CONDITIONS.some((name) => fields[name] !== undefined)
  if (gateway.settings.requirePreconditions && current && !isConditional) {
    return problem('precondition.required', 'A write to an existing document needs If-Match with its entity-tag.')
  }
  const validators = current && {
    entityTags: RDF_FORMATS.map((format) => entityTagOf(current, format)),
    lastModified: current.lastModified,
  }
  const outcome = evaluateConditions({ fields, receivedAt }, validators, false)
  return isFailure(outcome) ? outcome : undefined
}

async function nextGraph(
  context: Context,
  iri: string,
  wish: Wish,
  current: Document | undefined,
  replaced: Pick<Document, 'iri' | 'nTriples'> | undefined,
): Promise<Graph | 'absent' | 'unchanged' | Problem> {
  if (wish.method === 'DELETE') return 'absent'
  const { application, agent, request, gateway } = context
  const common = {
    document: iri,
    base: application.base,
    current: wish.method === 'PUT' ? replaced && managedTriples(replaced) : current?.graph(),
    agent: agent.webId,
    now: request.receivedAt,
    uuid: gateway.uuid,
  }
  if (wish.method !== 'PATCH') return nextState({ ...common, method: wish.method, content: wish.content })
  if (isFailure(wish.update)) return wish.update
  const before = current!.nTriples
  const after = await gateway.evaluation.patch(before, wish.update, iri)
  if (isFailure(after)) return after
  const triples = readNTriples(after)
  if (!triples) return problem('internal', 'The update gave a graph that cannot be read.')
  // Design 3: an empty result is a deletion; the root stays.
  if (triples.length === 0) return isRoot(iri, application.base) ? rootStays() : 'absent'
  if (nTriplesOf(graphOf(triples)) === before) return 'unchanged'
  return nextState({ ...common, method: 'PATCH', content: triples })
}

async function store(
  context: Context,
  iri: string,
  next: Graph,
  current: Document | undefined,
  restores: string | undefined,
): Promise<Response | Problem> {
  const document = await replaceDocument(writingOf(context), iri, next, current, restores)
  if (isFailure(document)) return document
  const status = current === undefined ? 201 : context.request.method === 'PUT' ? 200 : 204
  return respond(context, status, mayBeRewritten(next) ? await asStored(context, document!) : document!)
}

const writingOf = ({ gateway, application, dataspace, trace, agent, request }: Context): Writing => ({
  gateway,
  application,
  dataspace,
  trace,
  method: request.method,
  agent: agent.webId,
  time: request.receivedAt,
})

/** Some stores keep the value of a literal, not how it was written: then the entity-tag is that of what they keep. */
async function asStored({ application, trace }: Context, document: Document): Promise<Document> {
  const stored = await readDocumentNow(application, document.iri, trace)
  return isFailure(stored) || !stored.value || isLarge(stored.value) ? document : stored.value
}

async function remove(context: Context, iri: string, current: Document | undefined): Promise<Response | Problem> {
  const { application, agent } = context
  const failed = await replaceDocument(writingOf(context), iri, undefined, current)
  return isFailure(failed) ? failed : response(204, [linkField(application, agent.webId, undefined)])
}

function respond(context: Context, status: 200 | 201 | 204, document: Document): Response {
  const { application, agent, accept, request } = context
  const decision = decideOn(context, { kind: 'document', iri: document.iri, document, answeredAt: 0 }, 'Read')
  const format = negotiate(accept, RDF_FORMATS) ?? RDF_FORMATS[0]!
  const fields: Field[] = [
    ['ETag', entityTagOf(document, format)],
    ...lastModifiedField(document.lastModified),
    ...(status === 201 ? [['Location', document.iri] as const] : []),
    ...(request.method === 'PATCH' ? [['Content-Location', document.iri] as const] : []),
    ['Vary', 'Accept'],
    linkField(application, agent.webId, isFailure(decision) ? undefined : decision),
  ]
  return response(status, fields)
}
