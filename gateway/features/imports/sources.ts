// Sources of add, transform and imports, brought to disk for the agent of the request. A document of this gateway is
// read with the agent's own rights, inside this process; everything else goes through the guarded fetcher (design 4).
import { IMPORTING } from './importing.js'
import { open, rm, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { isLarge, type Document } from '../../documents/document.js'
import { isOfDisk, makeRoom, notStored } from '../../files/arriving.js'
import { describedFile, uploadsOf } from '../../files/sweep-files.js'
import type { Member } from '../../gateway.js'
import type { Target } from '../../http/target.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { FETCH_PROBLEMS } from '../../request/fetch-problems.js'
import { READABLE_ACCEPT } from '../../rdf/read.js'
import { decideOn, lookUpDocument } from '../../request/access.js'
import { MEDIA_TYPE } from '../../rdf/vocabulary.js'
import { callOf, type Agent, type Context } from '../../request/context.js'
import { readingOf } from '../../request/file-access.js'
import { refusalOf } from '../../request/refusal.js'
import { hidesMailboxes, shownTo } from '../../request/hide-mailboxes.js'
import { StoreBreak } from '../../stores/store.js'
import { mediaTypeOf } from '../../rdf/syntaxes.js'
import { unpackedStart } from '../../rdf/unpacked.js'
import { innerRequest } from './write-as.js'

export interface Source {
  /** The path on disk; the file is still compressed if it was sent so. */
  readonly path: string
  readonly size: number
  /** The base for relative IRIs. */
  readonly url: string
  readonly mediaType: string | undefined
  /** The field Link of its server. */
  readonly link?: string | undefined
}

const ACCEPT = `${READABLE_ACCEPT}, application/n-quads;q=0.9, application/trig;q=0.9, text/csv;q=0.9, */*;q=0.1`

/** Runs `act` while the source is on disk. */
export async function withSource<T>(
  context: Context,
  bring: (context: Context, file: FileHandle, path: string) => Promise<Source | Problem>,
  act: (source: Source) => Promise<T | Problem>,
): Promise<T | Problem> {
  const { uuid } = context.gateway
  const importing = IMPORTING.of(context.gateway)
  const network = context.request.network()
  const leave = importing.takePlace(context.agent.webId ?? network, network)
  if (!leave) return BUSY
  const path = join(importing.folder, uuid())
  try {
    const source = await broughtTo(path, context, bring)
    context.trace.continues()
    return isFailure(source) ? source : await act(source)
  } finally {
    leave()
    await rm(path, { force: true })
  }
}

async function broughtTo(
  path: string,
  context: Context,
  bring: Parameters<typeof withSource>[1],
): Promise<Source | Problem> {
  try {
    const file = await open(path, 'wx', 0o600)
    return await bring(context, file, path).finally(() => file.close())
  } catch (error) {
    if (isOfDisk(error)) return notStored(error)
    throw error
  }
}

const BUSY = problem('server.overloaded', 'Too many sources are being read. Retry shortly.', {
  fields: [['Retry-After', '2']],
})

/** The source at a URL. */
export const bringUrl =
  (text: string) =>
  async (context: Context, file: FileHandle, path: string): Promise<Source | Problem> => {
    const { isOwn, targetOf } = context.gateway
    const importing = IMPORTING.of(context.gateway)
    if (!URL.canParse(text)) return problem('request.malformed', 'The source has to be an absolute URL.')
    const url = new URL(text)
    url.hash = ''
    if (isOwn(url)) {
      const target = targetOf(url.pathname + url.search, url.host)
      return isFailure(target) ? target : bringOwn(context, target, file, path)
    }
    const disk: { failed?: Problem } = {}
    const room = makeRoom(path)
    const take = async (piece: Buffer): Promise<void> => {
      disk.failed = (await room.take(piece.length)) ?? (await file.writeFile(piece).catch(notStored)) ?? undefined
      if (disk.failed) throw new Error(disk.failed.detail)
    }
    const fetched = importing.fetcher.fetch(url.href, { accept: ACCEPT, take, signal: context.request.signal() })
    const answer = await fetched.finally(room.end)
    if (disk.failed) return disk.failed
    if (isFailure(answer)) {
      context.trace.cause = answer.failure
      return problem(PROBLEMS[answer.failure], `The source cannot be fetched. ${answer.detail}`)
    }
    if (answer.status > 299) return problem('proxy.failed', `The server of the source answered ${answer.status}.`)
    const mediaType = mediaTypeOf(answer.fields['content-type'], answer.url, await startOfSource(path))
    return { path, size: (await stat(path)).size, url: answer.url, mediaType, link: answer.fields['link'] }
  }

/** A source that is too large counts as content that is too large. */
const PROBLEMS = { ...FETCH_PROBLEMS, 'too-large': 'content.too-large' } as const

async function bringOwn(
  outer: Context,
  target: Target<Member>,
  file: FileHandle,
  path: string,
): Promise<Source | Problem> {
  const context = { ...outer, agent: agentAt(outer, target) }
  if (target.kind === 'endpoint' && target.endpoint === 'uploads/') return bringFile(context, target, file, path)
  if (target.kind !== 'document') {
    return problem('proxy.refused', 'A source of this gateway has to be a document or a file.')
  }
  const document = await readAs(context, target, target.document)
  if (isFailure(document)) return document
  const pieces =
    typeof document === 'string'
      ? await target.application.store.stream(document, callOf(context))
      : [document.nTriples]
  if (pieces === undefined) return problem('document.absent', `<${target.document}> does not exist.`)
  const failed = isFailure(pieces) ? pieces : await passOn(context, pieces, file, path)
  if (failed) return failed
  return { path, size: (await stat(path)).size, url: target.document, mediaType: 'application/n-triples' }
}

/**
 * Accounts and access tokens belong to one dataspace and prove nothing in another. There the client is anonymous, as
 * with the proxy (design 3).
 */
const agentAt = ({ agent, dataspace }: Context, target: Member): Agent =>
  target.dataspace.admin.base === dataspace.admin.base ? agent : {}

/** A file that the agent may read (LinkedDataHub 2.7). */
async function bringFile(
  context: Context,
  { application, dataspace, iri }: Target<Member> & { readonly kind: 'endpoint' },
  file: FileHandle,
  path: string,
): Promise<Source | Problem> {
  const inner = { ...context, application, dataspace }
  const sha1 = iri.slice(uploadsOf(application).length)
  const described = await describedFile(application, sha1, callOf(context))
  if (isFailure(described)) return described
  const reading = await readingOf(inner, context.agent, sha1, described)
  if (isFailure(reading)) return reading
  if (reading === undefined) return problem('access.denied', 'Access not authorized: Read is required on the file.')
  const stored = await application.files.find(sha1)
  const description = reading === 'any' ? described.descriptions[0] : reading
  if (!stored || !description) return problem('document.absent', 'This file does not exist.')
  const failed = await passOn(context, application.files.read(stored, 0, stored.size - 1), file, path)
  if (failed) return failed
  const format = description.format?.slice(MEDIA_TYPE('').length)
  const mediaType = mediaTypeOf(format, description.name ?? '', await startOfSource(path))
  return { path, size: stored.size, url: iri, mediaType }
}

const EXAMINED = 16 * 1024

/** The decompressed beginning of a file. */
export async function startOfSource(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(EXAMINED), 0, EXAMINED, 0)
    return await unpackedStart(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

/**
 * A document as its agent reads it; its IRI if it is too large for memory. 403 and 404 as for the agent's own request.
 */
export async function readAs(
  context: Context,
  { application, dataspace }: Member,
  iri: string,
): Promise<Document | string | Problem> {
  const inner = { ...context, application, dataspace, request: innerRequest(context.request, 'GET', iri) }
  const facts = await lookUpDocument(inner, iri)
  if (isFailure(facts)) return facts
  const decision = decideOn(inner, facts, 'Read')
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, inner, iri)
  const document = facts.kind === 'document' ? facts.document : undefined
  if (!document) return problem('document.absent', `<${iri}> does not exist.`)
  if (isLarge(document)) return document.unreadable?.problem ?? (hidesMailboxes(inner) ? TOO_LARGE : iri)
  return shownTo(inner, document as Document)
}

const TOO_LARGE = problem('content.too-large', 'The source is too large.')

/** Applies the limits that the fetcher applies to sources of other servers. */
async function passOn(
  { gateway }: Context,
  pieces: Iterable<string> | AsyncIterable<Uint8Array>,
  file: FileHandle,
  path: string,
): Promise<undefined | Problem> {
  const room = makeRoom(path)
  let size = 0
  try {
    for await (const piece of pieces) {
      if ((size += piece.length) > IMPORTING.of(gateway).maxImport) return TOO_LARGE
      const full = await room.take(piece.length)
      if (full) return full
      await file.writeFile(piece)
    }
    return undefined
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  } finally {
    room.end()
  }
}
