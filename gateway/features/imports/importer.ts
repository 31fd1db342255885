// The endpoint `importer` (spec 4.3, LinkedDataHub 2.8): imports data into many documents, at once or in the
// background. `POST` sends data, or names it; `GET` lists the agent's imports; `DELETE ?import=` cancels one.
import { uriOf } from '../../../versioning/memento/time-map.js'
import { isOfDisk, makeRoom, notStored } from '../../files/arriving.js'
import { BodyBreak, decodeText, toldLength } from '../../http/body.js'
import type { Request, Response } from '../../http/exchange.js'
import { parseMediaType } from '../../http/media-type.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import { graphOf, nTriplesOf } from '../../rdf/graph.js'
import { makePartsReader } from '../../rdf/multipart-stream.js'
import { MULTIPART, type PartHead, boundaryOf, flaw } from '../../rdf/read-multipart.js'
import { CSV, N_QUADS, TRIG, TSV, isVague, mediaTypeOf } from '../../rdf/syntaxes.js'
import { contextsFor, type Context } from '../../request/context.js'
import { readContent } from '../../request/endpoint-rdf.js'
import { graphAnswer } from '../../request/graph-answer.js'
import { linkField, response } from '../../request/respond.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'
import { containerOf } from './background-imports.js'
import { LARGEST_METADATA, type MetadataText } from './csvw-metadata.js'
import { type Brought, bringDescribed, inFolder, isImportable, startImport, unsupported } from './described-import.js'
import { type ImportOrder, importOrderOf, importPlanOf, onlyOrder } from './import-order.js'
import { addFindings, newProgress, stateTriples } from './import-state.js'
import { askImport, askToRead, startImportThread } from './import-thread.js'
import { IMPORTING, type ImportRun } from './importing.js'
import type { ImportPlan, ReadProgress } from './plan.js'
import { CANCELLED, runImport } from './run-import.js'
import { startOfSource } from './sources.js'
import { decidedAs, importPlaceOf } from './write-as.js'
import { createHash } from 'node:crypto'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'

interface FileWithMetadata {
  write(piece: Buffer): Promise<undefined | Problem>
  finish(): undefined | Problem
  /** Available after `finish`. */
  parts(): { readonly head: PartHead; readonly metadata: MetadataText | undefined }
}

/** @param write receives the pieces of the file */
function makeFileWithMetadata(
  contentType: string,
  write: (piece: Buffer) => Promise<undefined | Problem>,
): FileWithMetadata | Problem {
  const boundary = boundaryOf(contentType)
  if (isFailure(boundary)) return boundary
  let head: PartHead | undefined
  let metadata: Buffer | undefined
  let isMetadata = false
  const reader = makePartsReader(boundary, {
    begin(next) {
      isMetadata = next.name === 'metadata'
      if (isMetadata ? metadata !== undefined : next.file === undefined || head !== undefined) return flaw(PARTS)
      if (isMetadata) metadata = Buffer.alloc(0)
      else head = next
      return undefined
    },
    data(piece) {
      if (!isMetadata) return write(piece)
      metadata = Buffer.concat([metadata!, piece])
      return metadata.length > LARGEST_METADATA ? TOO_LARGE : undefined
    },
    end: () => undefined,
  })
  return {
    write: (piece) => reader.write(piece),
    finish: () => reader.finish() ?? (head ? undefined : flaw(PARTS)),
    parts: () => ({ head: head!, metadata: metadata && { text: decodeText(metadata) ?? '', came: true } }),
  }
}

const PARTS = 'it needs one file, and at most one part "metadata"'
const TOO_LARGE = problem('content.too-large', `The metadata is larger than ${LARGEST_METADATA} bytes.`)

export const IMPORTER_METHODS = 'GET, HEAD, POST, DELETE, OPTIONS'

export function importer({
  context,
  target,
}: AskedRoute<EndpointTarget>): Promise<Response | Problem> | Response | Problem {
  const { method } = context.request
  if (method === 'POST') return receive(context, target)
  return method === 'DELETE' ? cancel(context, target) : list(context, target)
}

/** Only imports of this application: an agent of another dataspace may have the same name, or none. */
const own = ({ gateway, agent, application, request }: Context, asked: string | undefined) =>
  [...IMPORTING.of(gateway).runs].filter(
    ([document, run]) =>
      document.startsWith(containerOf(application)) &&
      (agent.webId === undefined ? isOfClient(run, request.network(), document, asked) : run.agent === agent.webId) &&
      (asked === undefined || document === asked),
  )

/** An anonymous import belongs to any client that knows its URL and shares its network. */
const isOfClient = (run: ImportRun, network: string, document: string, asked: string | undefined): boolean =>
  run.agent === undefined && run.network === network && document === asked

const askedIn = (query: URLSearchParams): string | undefined => query.get('import')?.replace(/#.*/, '')

function list(context: Context, { query }: EndpointTarget): Response | Problem {
  const asked = askedIn(query)
  const runs = own(context, asked)
  if (asked !== undefined && runs.length === 0) return ABSENT
  const triples = runs.flatMap(([document, { progress, plan, startedAt }]) =>
    stateTriples(`${document}#this`, { plan, startedAt }, progress),
  )
  const { application, agent } = context
  return graphAnswer(context, graphOf(triples), [linkField(application, agent.webId, undefined)])
}

const ABSENT = problem('document.absent', 'No such import is running.')

async function cancel(context: Context, { query }: EndpointTarget): Promise<Response | Problem> {
  const asked = askedIn(query)
  if (asked === undefined) return ABSENT
  const run = own(context, asked)[0]?.[1] ?? (await controlled(context, asked))
  if (!run) return ABSENT
  run.cancel()
  await run.ended
  return response(204, [linkField(context.application, context.agent.webId, undefined)])
}

/** An import of any agent, for the owner and agents with Control of the document or container that it writes to. */
async function controlled(context: Context, asked: string): Promise<ImportRun | undefined> {
  const { gateway, application, dataspace, agent } = context
  const run = asked.startsWith(containerOf(application)) ? IMPORTING.of(gateway).runs.get(asked) : undefined
  if (!run || agent.webId === dataspace.owner) return run
  const place = importPlaceOf(context, run.plan.into ?? run.plan.name ?? application.base)
  const decided = isFailure(place) ? place : await decidedAs(context, place, 'DELETE', 'Control')
  return isFailure(decided) ? undefined : run
}

const receive = (context: Context, target: EndpointTarget): Promise<Response | Problem> =>
  inFolder<Response>(context, async (folder, keep) => {
    const { request, agent, application } = context
    const brought = await bring(context, target, join(folder, 'source'))
    context.trace.continues()
    if (isFailure(brought)) return brought
    const { order, received } = brought
    const plan = await importPlanOf(context, order, received, join(folder, 'spool'))
    if (isFailure(plan)) return plan
    if (target.query.has('dry-run')) return preview(context, plan)
    const isBulk = plan.kind === 'rdf' && !plan.mapping && !plan.name && !plan.into
    if (isBulk && !prefersAsync(request.fields)) return bulk(context, plan, order)
    const started = await startImport(context, plan, order, isBulk ? 'PUT' : 'add')
    if (isFailure(started)) return started
    keep()
    return response(201, [['Location', uriOf(started)], linkField(application, agent.webId, undefined)])
  })

async function bring(
  context: Context,
  { query, iri: endpoint }: EndpointTarget,
  path: string,
): Promise<Brought | Problem> {
  const { request } = context
  const order = importOrderOf(query)
  const type = parseMediaType(request.fields['content-type'] ?? '')?.type
  const brings =
    [CSV, TSV, N_QUADS, TRIG, 'application/gzip'].includes(type ?? '') || query.has('into') || query.has('name')
  if (brings) return bringBody(context, order, query, path)
  const content = await readContent(context, endpoint)
  if (isFailure(content)) return content
  const described = onlyOrder(content, order)
  return isFailure(described) ? described : bringDescribed(context, described, path)
}

async function bringBody(
  context: Context,
  order: ImportOrder,
  query: URLSearchParams,
  path: string,
): Promise<Brought | Problem> {
  const { request, application } = context
  const coding = request.fields['content-encoding']
  if (coding !== undefined && !/^\s*(?:gzip|x-gzip|identity)\s*$/i.test(coding)) {
    return problem('content.unsupported', 'The only supported content coding is gzip.', {
      fields: [['Accept-Encoding', 'gzip']],
    })
  }
  const contentType = request.fields['content-type']
  const isForm = parseMediaType(contentType ?? '')?.type === MULTIPART
  const sentAs = mediaTypeOf(contentType, query.get('file') ?? '')
  if (!isForm && !isVague(sentAs) && !isImportable(sentAs)) return unsupported(sentAs)
  const [sha1, sha256] = [createHash('sha1'), createHash('sha256')]
  const file = await open(path, 'wx', 0o600)
  const room = makeRoom(path, toldLength(request))
  const take = async (piece: Buffer): Promise<undefined | Problem> => {
    sha1.update(piece)
    sha256.update(piece)
    return (await room.take(piece.length)) ?? file.writeFile(piece).then(() => undefined)
  }
  const form = isForm ? makeFileWithMetadata(contentType!, take) : undefined
  try {
    const failed = isFailure(form) ? form : await taken(context, form ?? { write: take }, file)
    if (failed) return failed
  } finally {
    room.end()
    await file.close()
  }
  const { head, metadata } = (form as FileWithMetadata | undefined)?.parts() ?? {}
  const mediaType = mediaTypeOf(head ? head.contentType : sentAs, head?.file ?? '', await startOfSource(path))
  if (!isImportable(mediaType)) return unsupported(mediaType)
  // The URL that LinkedDataHub would give the file, so that a mapping produces the same IRIs.
  const base = `${application.base}uploads/${sha1.digest('hex')}`
  return {
    order: head ? { ...order, file: head.file! } : order,
    received: {
      path,
      size: (await stat(path)).size,
      mediaType: mediaType!,
      base,
      digest: sha256.digest('hex'),
      metadata,
    },
  }
}

/** Passes the content on, then flushes the file. */
async function taken(
  { request, gateway }: Context,
  { write, finish }: Pick<FileWithMetadata, 'write'> & Partial<FileWithMetadata>,
  file: FileHandle,
): Promise<undefined | Problem> {
  try {
    for await (const piece of request.streamBody(IMPORTING.of(gateway).maxImport, '--max-import')) {
      const failed = await write(piece)
      if (failed) return failed
    }
    return finish?.() ?? (await file.sync().then(() => undefined))
  } catch (error) {
    if (error instanceof BodyBreak) return error.problem
    if (isOfDisk(error)) return notStored(error)
    throw error
  }
}

const PREVIEWED = 10
/** Each takes at most a second. */
const PREVIEW_STEPS = 10

/** The output of the first rows as N-Quads, with the problems in the default graph. */
async function preview(context: Context, plan: ImportPlan): Promise<Response | Problem> {
  const thread = await startImportThread()
  try {
    const progress = newProgress(plan.size)
    let read = await askImport<ReadProgress>(thread, { kind: 'open', plan: { ...plan, isPreview: true } })
    for (let left = PREVIEW_STEPS; left > 0 && !isFailure(read) && !read.done && read.rows < PREVIEWED; left--) {
      read = await askToRead(thread, contextsFor(context), { rows: PREVIEWED - read.rows, time: 1_000 })
      if (!isFailure(read)) addFindings(progress, read)
    }
    if (isFailure(read)) return read
    Object.assign(progress, { rows: read.rows, documents: read.documents })
    const made = await askImport<{ quads: string }>(thread, { kind: 'quads' })
    if (isFailure(made)) return made
    const state = nTriplesOf(graphOf(stateTriples('urn:triplegate:preview', { plan, startedAt: 0 }, progress)))
    const fields = [
      ['Content-Type', `${N_QUADS};charset=UTF-8`],
      ['Cache-Control', 'no-store'],
    ] as const
    return response(200, fields, Buffer.from(made.quads + state))
  } finally {
    await thread.end(CANCELLED)
  }
}

/** Creates or replaces all documents before the answer, which lists the refused ones. */
async function bulk(context: Context, plan: ImportPlan, { stopsAtRefusal }: ImportOrder): Promise<Response | Problem> {
  const { request, gateway, application, agent } = context
  const progress = newProgress(plan.size)
  const failed = await runImport({
    ...{ context, plan, how: 'PUT' as const, stopsAtRefusal, progress, from: 0, signal: request.signal() },
    kept: () => undefined,
  })
  context.trace.continues()
  if (failed && progress.written + progress.refused + progress.unchanged === 0) return failed
  progress.state = failed ? 'failed' : 'done'
  if (failed) progress.reason = failed.detail
  const times = { startedAt: request.receivedAt, endedAt: gateway.now() }
  const triples = stateTriples('urn:triplegate:bulk', { plan, ...times }, progress)
  return graphAnswer(context, graphOf(triples), [linkField(application, agent.webId, undefined)])
}

/** RFC 7240 §4.1 */
export const prefersAsync = ({ prefer = '' }: Request['fields']): boolean => /\brespond-async\b/.test(prefer)
