// In charge of PUT, POST, PATCH and DELETE on documents: the one write path (design 3).
// lock → read current → preconditions → next state → constraints → store → rules and profiles → unlock → respond.
import { LONGEST_PATH } from '../../versioning/git/document-path.js'
import { uriOf } from '../../versioning/memento/time-map.js'
import { decideOn, lookUpDocument, type Facts } from '../request/access.js'
import { checkConstraints } from './constraint-check.js'
import { entityTagOf, isLarge, readDocumentNow, tooLarge, type Document } from '../documents/document.js'
import type { Field, Response } from '../http/exchange.js'
import { askerOf, type Context } from '../request/context.js'
import { negotiate, RDF_FORMATS, RDF_NAMES } from '../http/media-type.js'
import { isKind, isRoot } from '../documents/hierarchy.js'
import { locksOf, underLocks } from '../documents/locks.js'
import { isFailure, problem, STATUS_OF, type Problem } from '../problem.js'
import { clientsMistake, methodNotAllowed, refusalOf } from '../request/refusal.js'
import { recordFiles } from './described-files.js'
import { nextDocument, type Next } from './next-document.js'
import { logOrphans } from './orphans.js'
import { replaceDocument, type Writing } from './put-document.js'
import { releaseFiles } from './read-upload.js'
import { restoredVersion } from './restore.js'
import { lastModifiedField, linkField, READ_METHODS, response } from '../request/respond.js'
import { hidesMailboxes, shownTo } from '../request/shown.js'
import { accessTo, ADDS_TYPE, widening, type AccessBefore } from './widening.js'
import { isConditional, preconditions } from './write-conditions.js'
import { isByImport, readWriteRequest, typesIn, type WriteRequest, type WrittenContent } from './write-request.js'

/** Acts on what was put or appended, before the answer. */
export interface AfterWrite {
  /** False where there is nothing in the content to act on: the content that it replaces is not read for it then. */
  concerns(content: WrittenContent): boolean
  /** @param before the document's N-Triples, '' where there was none */
  act(context: Context, iri: string, content: WrittenContent, before: string): Promise<void>
}

/** The document that a write has changed; undefined where it could not be read whole. */
export interface Replaced {
  nTriples: string | undefined
}

export async function write(
  context: Context,
  iri: string,
  facts: Facts,
  then: AfterWrite,
): Promise<Response | Problem> {
  const early = earlyRefusal(context, iri, facts)
  if (early) return early
  const asked = await readWriteRequest(context, iri)
  if (isFailure(asked)) return asked
  const isConcerned = 'content' in asked && then.concerns(asked.content)
  const replaced: Replaced | undefined = isConcerned ? { nTriples: undefined } : undefined
  const written = await releasing(context, asked, () => writeContent(context, iri, asked, replaced))
  if (!isFailure(written) && 'content' in asked && replaced?.nTriples !== undefined)
    await then.act(context, iri, asked.content, replaced.nTriples)
  return written
}

/** Performs the write, and lets go of the files that came with it: those of a refused one are removed. */
export async function releasing(
  context: Context,
  asked: WriteRequest,
  write: () => Promise<Response | Problem>,
): Promise<Response | Problem> {
  // After a failure the write may have had an effect.
  let isRefused = false
  try {
    const written = await write()
    isRefused = isFailure(written) && STATUS_OF[written.failure] < 500
    return written
  } finally {
    if ('files' in asked && asked.files) await releaseFiles(context, asked.files, isRefused)
  }
}

/** From the locks on: access is decided under them, so that a caller need not have decided before. */
export const writeContent = (
  context: Context,
  iri: string,
  asked: WriteRequest,
  replaced?: Replaced,
): Promise<Response | Problem> =>
  underLocks(
    context.gateway,
    locksOf(context.application, iri, asked.method === 'PUT'),
    () => writeLocked(context, iri, asked, replaced),
    context.request.signal(),
  )

/** The refusals that need no body: 404, then 405, then the root (design 3, order). */
export function earlyRefusal(
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
  if (method === 'DELETE' && isRoot(iri, application.base)) return rootCannotBeDeleted()
  if (!exists && mirrored && Buffer.byteLength(mirrored.pathOf(iri)) > LONGEST_PATH) {
    return problem('target.malformed', 'Malformed document URI: it is too long for the repository of its history.')
  }
  if (!document || !isLarge(document)) return undefined
  // The entity-tag of a large document is known only after reading all of it; a removal needs none of it. Nothing of one that
  // cannot be read is needed by what replaces it.
  const isWhole = method === 'DELETE' || (method === 'PUT' && document.unreadable)
  return isWhole && !isConditional(fields) ? undefined : (document.unreadable?.problem ?? tooLargeToWrite())
}

export const tooLargeToWrite = (): Problem =>
  problem('content.too-large', 'The document is too large to be written as a whole: use a SPARQL update.')

const rootCannotBeDeleted = (): Problem => problem('document.root', 'The root document cannot be deleted.')

async function writeLocked(
  context: Context,
  iri: string,
  asked: WriteRequest,
  replaced?: Replaced,
): Promise<Response | Problem> {
  const doubt = await context.application.journalled.settle(iri)
  if (doubt) return doubt
  // Decided again on what the store has now, which no other request can change until the answer.
  const facts = await lookUpDocument(context, iri, true)
  if (isFailure(facts)) return facts
  const decision = decideOn(context, facts, asked.method === 'POST' ? 'Append' : 'Write')
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, context, iri)
  const early = earlyRefusal(context, iri, facts)
  if (early) return early
  const current = facts.kind === 'document' ? (facts.document as Document | undefined) : undefined
  if (replaced) replaced.nTriples = current ? current.nTriples : ''
  const access = accessTo(context, facts, decision)
  if (isFailure(access)) return access
  if (asked.method === 'POST' && !decision.modes.includes('Write') && addsType(asked.content, current!, access)) {
    return ADDS_TYPE
  }
  const failed = preconditions(context, current, access.mayRead)
  if (failed) return failed

  const restored = await restoredVersion(context, facts, asked)
  if (isFailure(restored)) return restored
  // A restored document that was deleted keeps its former owner and creator.
  const kept = current && (isLarge(current) ? current.unreadable?.managed : current)
  const base = kept ?? (restored && { iri, nTriples: restored.nTriples })
  const next = await nextDocument(context, iri, asked, current, base)
  if (isFailure(next)) return next
  if (next === 'absent') {
    // Design 3: an empty result is a deletion; the root stays.
    if (isRoot(iri, context.application.base)) return rootCannotBeDeleted()
    const removed = await remove(context, iri, isLarge(current!) ? undefined : current)
    if (!isFailure(removed)) logOrphans(context, current, undefined)
    return removed
  }
  if (next === 'unchanged') return isByImport(asked) ? UNCHANGED : respond(context, 204, current!)
  const size = tooLarge(next.document)
  if (size) return size
  const widened = widening(context, facts, access, next.document)
  if (widened) return widened
  const maySeeContent = access.mayRead && !hidesMailboxes(context)
  const refused = await checkConstraints(writingOf(context), current, next.document, maySeeContent)
  if (refused) return refused
  const unrecorded = await recordFiles(context, current, next.document, 'files' in asked ? asked.files : [])
  if (unrecorded) return unrecorded
  const stored = await store(context, iri, { ...next, isByImport: isByImport(asked) }, current, restored?.commit)
  if (!isFailure(stored)) logOrphans(context, current, next.document)
  return stored
}

/** The answers to writes by an import. */
export const UNCHANGED = response(304, [])
const WRITTEN = response(204, [])

/**
 * Types of a document give rights on it (acl:accessToClass): an agent with Append only must not add one. An agent without Read is not told
 * whether the document has it.
 */
function addsType(content: WrittenContent, { iri, types }: Document, { mayRead }: AccessBefore): boolean {
  const known = new Set(mayRead ? types : [])
  return typesIn(content, iri).some((type) => !known.has(type) && !isKind(type))
}

async function store(
  context: Context,
  iri: string,
  { document: next, isRewritable, isByImport }: Next & { readonly isByImport: boolean },
  current: Document | undefined,
  restores: string | undefined,
): Promise<Response | Problem> {
  const document = await replaceDocument(writingOf(context), iri, next, current, restores)
  // What a POST or PATCH leaves in place may be hidden from its agent.
  if (isFailure(document)) return clientsMistake(document, context.request.method === 'PUT')
  if (isByImport) {
    if (isRewritable) context.application.cache.versions.changed(iri)
    return WRITTEN
  }
  const status = current === undefined ? 201 : context.request.method === 'PUT' ? 200 : 204
  return respond(context, status, isRewritable ? await asStored(context, document!) : document!)
}

export const writingOf = (context: Context): Writing => {
  const { gateway, application, dataspace, trace, agent, request } = context
  const { method, receivedAt } = request
  return {
    gateway,
    application,
    dataspace,
    trace,
    method,
    agent: agent.webId,
    asker: askerOf(context),
    time: receivedAt,
  }
}

/** Some stores change the lexical form of literals: the entity-tag is then that of the stored form. */
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
  const format = negotiate(accept, RDF_NAMES) ?? RDF_FORMATS[0]!
  // Without Read no agent learns what the document has become, nor when it was changed before.
  const validators: Field[] =
    isFailure(decision) || !decision.allowed
      ? []
      : [['ETag', entityTagOf(shownTo(context, document), format)], ...lastModifiedField(document.lastModified)]
  const fields: Field[] = [
    ...validators,
    ...(status === 201 ? [['Location', uriOf(document.iri)] as const] : []),
    ...(request.method === 'PATCH' ? [['Content-Location', uriOf(document.iri)] as const] : []),
    ['Vary', 'Accept'],
    linkField(application, agent.webId, isFailure(decision) ? undefined : decision),
  ]
  return response(status, fields)
}
