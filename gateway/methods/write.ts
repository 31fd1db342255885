// PUT, POST, PATCH and DELETE on documents: the change, and the answer (design 3).
import { uriOf } from '../../versioning/memento/time-map.js'
import { decideOn, lookUpDocument, type Facts } from '../request/access.js'
import { commit, described, type WritePlan } from './commit.js'
import { addsNoType, hasPath, rootStays, type WrittenChange, type Writing } from './write-rules.js'
import { entityTagOf, isLarge, readDocumentNow, type Document } from '../documents/document.js'
import type { Field, Response } from '../http/exchange.js'
import { askerOf, type Context } from '../request/context.js'
import { negotiate, RDF_FORMATS, RDF_NAMES } from '../http/media-type.js'
import { locksOf } from '../documents/locks.js'
import { isFailure, problem, STATUS_OF, type Problem } from '../problem.js'
import { clientsMistake, methodNotAllowed, refusalOf } from '../request/refusal.js'
import { nextDocument } from './next-document.js'
import { part } from '../part.js'
import { restoredVersion } from './restore.js'
import { lastModifiedField, linkField, READ_METHODS, response } from '../request/respond.js'
import { shownTo } from '../request/hide-mailboxes.js'
import { earlierContents } from './earlier-contents.js'
import { accessTo } from './self-granted-modes.js'
import { isConditional, namesState, preconditions } from './write-conditions.js'
import {
  isByImport,
  readWriteRequest,
  typesIn,
  UPLOADS,
  type WriteRequest,
  type WrittenContent,
} from './write-request.js'

/** A feature's action on the triples that were put or appended, before the answer. */
export interface AfterWrite {
  /** False if the content needs no action: then the replaced content is not read for it. */
  concerns(content: WrittenContent): boolean
  act(context: Context, iri: string, content: WrittenContent, before: KnownBefore): Promise<void>
}

export interface KnownBefore {
  /** The document's N-Triples; '' if it did not exist. */
  readonly nTriples: string
  /**
   * The earlier states that the content may bring back, with what other agents wrote then; undefined if they are not
   * known.
   */
  earlier(): Promise<readonly string[] | undefined>
}

export const AFTER_WRITE = part<AfterWrite>('act after a write')

/** The document that a write has changed; undefined if it could not be read whole. */
export interface Replaced {
  before: KnownBefore | undefined
}

export async function write(context: Context, iri: string, facts: Facts): Promise<Response | Problem> {
  const early = earlyRefusal(context, iri, facts)
  if (early) return early
  const asked = await readWriteRequest(context, iri)
  if (isFailure(asked)) return asked
  const then = AFTER_WRITE.in(context.gateway)
  const isConcerned = 'content' in asked && then?.concerns(asked.content)
  const replaced: Replaced | undefined = isConcerned ? { before: undefined } : undefined
  const written = await releasing(context, asked, () => writeContent(context, iri, asked, replaced))
  if (!isFailure(written) && 'content' in asked && replaced?.before)
    await then?.act(context, iri, asked.content, replaced.before)
  return written
}

/** Performs the write, and releases its files: those of a refused write are removed. */
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
    if ('files' in asked && asked.files) await UPLOADS.in(context.gateway)?.release(context, asked.files, isRefused)
  }
}

/** Does everything under the locks, including the decision on access, so the caller need not decide before. */
export const writeContent = (
  context: Context,
  iri: string,
  asked: WriteRequest,
  replaced?: Replaced,
): Promise<Response | Problem> =>
  commit<Response | Problem>(
    writingOf(context),
    {
      locks: locksOf(context.application, iri, asked.method === 'PUT'),
      settles: [iri],
      signal: context.request.signal(),
    },
    () => planOf(context, iri, asked, replaced),
  )

/** The refusals that need no body: 404, then 405, then the root (design 3, order). */
export function earlyRefusal(context: Context, iri: string, facts: Facts): Problem | undefined {
  const { dataspace, request } = context
  const { method, fields } = request
  const document = facts.kind === 'document' ? facts.document : undefined
  const exists = document !== undefined
  if (!exists && method !== 'PUT') return problem('document.absent', 'There is no such document.')
  // Spec 4.1: the documents of the owner agent and the secretary agent cannot be modified or deleted.
  if (dataspace.protectedDocuments.has(iri)) return methodNotAllowed(method, READ_METHODS)
  const failed = method === 'DELETE' ? rootStays({ iri, next: undefined }, context) : hasPath({ iri, current: document as Document }, context) // prettier-ignore
  if (failed) return failed
  if (!document || !isLarge(document)) return undefined
  // The entity-tag of a large document is known only after reading all of it; a removal does not need it. A write that
  // replaces an unreadable document needs nothing of it.
  const isWhole = method === 'DELETE' || (method === 'PUT' && document.unreadable)
  return isWhole && !isConditional(fields) ? undefined : (document.unreadable?.problem ?? tooLargeToWrite())
}

export const tooLargeToWrite = (): Problem =>
  problem('content.too-large', 'The document is too large to be written as a whole: use a SPARQL update.')

async function planOf(
  context: Context,
  iri: string,
  asked: WriteRequest,
  replaced?: Replaced,
): Promise<WritePlan<Response | Problem> | Problem> {
  // Decided again on what the store has now, which no other request can change until the answer.
  const facts = await lookUpDocument(context, iri, true)
  if (isFailure(facts)) return facts
  const decision = decideOn(context, facts, asked.method === 'POST' ? 'Append' : 'Write')
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, context, iri)
  const early = earlyRefusal(context, iri, facts)
  if (early) return early
  const current = facts.kind === 'document' ? (facts.document as Document | undefined) : undefined
  const access = accessTo(context, facts, decision)
  if (isFailure(access)) return access
  const appends = asked.method === 'POST' ? typesIn(asked.content, iri) : undefined
  const by = { context, access, appends }
  const failed = addsNoType({ current, by }) ?? preconditions(context, current, access.mayRead)
  if (failed) return failed

  const restored = await restoredVersion(context, facts, asked)
  if (isFailure(restored)) return restored
  const before = (): Promise<KnownBefore> => knownBefore(context, iri, asked, current)
  // A restored version was written by whoever wrote it then.
  if (replaced && !restored) replaced.before = await before()
  // A restored document that was deleted keeps its former owner and creator.
  const kept = current && (isLarge(current) ? current.unreadable?.managed : current)
  const base = kept ?? (restored && { iri, nTriples: restored.nTriples })
  const next = await nextDocument(context, iri, asked, current, base)
  if (isFailure(next)) return next
  if (next === 'unchanged')
    return { changes: [], answer: () => unchangedAnswer(context, asked, current!, access.mayRead) }
  const change = {
    ...{ iri, current, next: next === 'absent' ? undefined : next },
    ...{ parent: facts.kind === 'document' ? facts.parent : undefined, by },
    ...{ brought: 'files' in asked ? asked.files : undefined, restores: restored?.commit },
    isOfOthers: restored ? () => true : othersFiles(context, asked, before),
  }
  return { changes: [change], answer: (failed) => answerTo(context, change, isByImport(asked), failed) }
}

/**
 * A POST has only what its agent adds, and a PUT that names the state which it replaces was made from that state. Any
 * other PUT may bring back an earlier one.
 */
async function knownBefore(
  { application: { history }, gateway, request }: Context,
  iri: string,
  asked: WriteRequest,
  current: Document | undefined,
): Promise<KnownBefore> {
  const nTriples = current?.nTriples ?? ''
  const isSure = asked.method === 'POST' || namesState(request.fields) || (!history && !current)
  if (isSure) return { nTriples, earlier: () => Promise.resolve([]) }
  const outline = await history?.outline(iri, gateway.commitsWait)
  const isKnown = history && outline && !isFailure(outline) && !outline.pending
  return {
    nTriples,
    earlier: () => (isKnown ? earlierContents(history, iri, outline.count) : Promise.resolve(undefined)),
  }
}

/**
 * Finds out whether others may have written that the content describes a file: in a source, or in an earlier state that
 * a PUT may bring back. A PATCH may add what it finds: only its text is of its agent.
 */
function othersFiles(
  { application }: Context,
  asked: WriteRequest,
  before: () => Promise<KnownBefore>,
): WrittenChange['isOfOthers'] {
  if (asked.method === 'DELETE') return undefined
  if (asked.method === 'PATCH') return (sha1) => isFailure(asked.update) || !asked.update.includes(sha1)
  if (asked.fromSource) return () => true
  let earlier: ReturnType<KnownBefore['earlier']> | undefined
  return async (sha1) => {
    earlier ??= before().then((known) => known.earlier())
    return !(await earlier)?.every((nTriples) => !described({ nTriples }, application).includes(sha1))
  }
}

/** An agent without Read does not learn whether the document had this content already. */
function unchangedAnswer(context: Context, asked: WriteRequest, current: Document, mayRead: boolean): Response {
  if (isByImport(asked)) return mayRead ? UNCHANGED : WRITTEN
  return respond(context, mayRead || asked.method !== 'PUT' ? 204 : 200, current)
}

/** The answers to writes by an import. */
export const UNCHANGED = response(304, [])
const WRITTEN = response(204, [])

async function answerTo(
  context: Context,
  { current, next }: Pick<WrittenChange, 'current' | 'next'>,
  byImport: boolean,
  failed: Problem | undefined,
): Promise<Response | Problem> {
  const { application, agent, request } = context
  // The agent may not be allowed to read what a POST or PATCH leaves in place.
  if (failed) return clientsMistake(failed, request.method === 'PUT')
  if (!next) return response(204, [linkField(application, agent.webId, undefined)])
  if (byImport) return WRITTEN
  const status = current === undefined ? 201 : request.method === 'PUT' ? 200 : 204
  return respond(context, status, next.isRewritable ? await asStored(context, next.document) : next.document)
}

/** @param other what differs from the request */
export const writingOf = (
  context: Context,
  other: Partial<Pick<Writing, 'application' | 'method' | 'agent'>> = {},
): Writing => {
  const { gateway, application, dataspace, trace, agent, request } = context
  const { method, receivedAt: time } = request
  const asker = askerOf(context)
  return { gateway, application, dataspace, trace, method, agent: agent.webId, asker, time, ...other }
}

/** Some stores change the lexical form of literals: the entity-tag is then that of the stored form. */
async function asStored({ application, trace }: Context, document: Document): Promise<Document> {
  const stored = await readDocumentNow(application, document.iri, trace)
  return isFailure(stored) || !stored.value || isLarge(stored.value) ? document : stored.value
}

function respond(context: Context, status: 200 | 201 | 204, document: Document): Response {
  const { application, agent, accept, request } = context
  const decision = decideOn(context, { kind: 'document', iri: document.iri, document, answeredAt: 0 }, 'Read')
  const format = negotiate(accept, RDF_NAMES) ?? RDF_FORMATS[0]
  // An agent without Read learns neither the new state of the document nor when it was changed before.
  const validators: Field[] =
    isFailure(decision) || !decision.allowed
      ? []
      : [
          ['ETag', entityTagOf(shownTo(context, document), format)],
          ...lastModifiedField(document.lastModified, context.gateway),
        ]
  const fields: Field[] = [
    ...validators,
    ...(status === 201 ? [['Location', uriOf(document.iri)] as const] : []),
    ...(request.method === 'PATCH' ? [['Content-Location', uriOf(document.iri)] as const] : []),
    ['Vary', 'Accept'],
    linkField(application, agent.webId, isFailure(decision) ? undefined : decision),
  ]
  return response(status, fields)
}
