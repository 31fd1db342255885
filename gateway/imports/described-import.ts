// In charge of imports that RDF describes (LinkedDataHub 2.8): the content of a request to `importer`, or of a PUT or POST of a
// document, which starts each import in it.
import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseMediaType } from '../http/media-type.js'
import { isLargeContent, type WrittenContent } from '../methods/write-request.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Quad } from '../rdf/graph.js'
import { ACCEPT_POST, isReadable, readCanonical } from '../rdf/read.js'
import { linesBeginning } from '../rdf/sorted-lines.js'
import { LDH, RDF, TGI } from '../rdf/vocabulary.js'
import { decideOn } from '../request/access.js'
import type { Context } from '../request/context.js'
import { describedOrder, IMPORT_TYPES, orderOf, planOf, typingsIn, type ImportOrder, type Received } from './import-order.js' // prettier-ignore
import { CSV, TSV } from './media-types.js'
import type { Plan } from './plan.js'
import { noteRun, type DescribedBy } from './import-notes.js'
import { newProgress } from './import-state.js'
import { containerOf, mayStart, runsFolder, startRun, writingOf } from './runs.js'
import { bringUrl } from './sources.js'

export const IMPORTER_ACCEPTS = [['Accept-Post', `${ACCEPT_POST}, ${CSV}, ${TSV}`]] as const

export const isImportable = (mediaType: string | undefined): boolean =>
  isReadable(mediaType) || [CSV, TSV].includes(parseMediaType(mediaType ?? '')?.type ?? '')

export const unsupported = (mediaType: string | undefined): Problem =>
  problem('content.unsupported', `The source is neither CSV nor RDF: its media type is ${mediaType ?? 'unknown'}.`, {
    fields: IMPORTER_ACCEPTS,
  })

export interface Brought {
  readonly order: ImportOrder
  readonly received: Received
}

/** The source of this order, on disk. */
export async function bringDescribed(context: Context, order: ImportOrder, path: string): Promise<Brought | Problem> {
  const file = await open(path, 'wx', 0o600)
  const source = await bringUrl(order.source!)(context, file, path).finally(() => file.close())
  if (isFailure(source)) return source
  const digest = createHash('sha256')
  const read = await open(path)
  for await (const piece of read.createReadStream()) digest.update(piece as Buffer)
  const { size, url, mediaType } = source
  if (!isImportable(mediaType)) return unsupported(mediaType)
  return { order, received: { path, size, mediaType: mediaType!, base: url, digest: digest.digest('hex') } }
}

const MANY = problem('server.overloaded', 'Too many imports run or wait. Retry when one has ended.', {
  fields: [['Retry-After', '60']],
})
export const BUSY = problem('server.overloaded', 'Too many sources are being read. Retry shortly.', {
  fields: [['Retry-After', '2']],
})

/** The URL of the document of the run. */
export async function startImport(
  context: Context,
  plan: Plan,
  { stopsAtRefusal }: ImportOrder,
  how: 'PUT' | 'add',
  describedBy?: DescribedBy,
): Promise<string | Problem> {
  const { gateway, application, agent, request } = context
  if (!mayStart(gateway, agent.webId)) return MANY
  const document = `${containerOf(application)}${gateway.uuid()}/`
  const record = {
    ...{
      base: application.base,
      document,
      agent: agent.webId,
      ...(agent.token && { token: { id: agent.token.id, readOnly: agent.token.readOnly, only: agent.token.only } }),
      network: request.network(),
      plan,
      how,
      stopsAtRefusal,
      ...(describedBy && { describedBy }),
    },
    title: `Import of ${new URL(plan.base).pathname.split('/').at(-1) || plan.base}`,
    startedAt: request.receivedAt,
  }
  return (await startRun(context, record, newProgress(plan.size))) ?? document
}

/** So many imports of one content start. */
const MOST_OF_ONE = 16

/**
 * Starts what the content of a PUT or POST describes, for an agent who may import; the write has been carried out. The answer to it
 * waits until each import is on disk: then none is lost. What cannot be started is reported in the log and in its document.
 */
export async function startDescribed(context: Context, document: string, content: WrittenContent): Promise<void> {
  const described = importsIn(content)
  const typings = typingsIn(described).slice(0, MOST_OF_ONE)
  // The description of a run, as a client has read it.
  const isOfRun = ({ subject }: Quad): boolean =>
    described.some((each) => each.subject.equals(subject) && each.predicate.value === TGI('state'))
  for (const typing of typings) {
    if (isOfRun(typing)) continue
    const decision = decideOn(context, { kind: 'endpoint', iri: `${context.application.base}importer` }, 'Append')
    if (isFailure(decision) || !decision.allowed) return
    const describedBy = { document, subject: typing.subject.value }
    const failed = await startOne(context, describedBy, typing.subject, described)
    if (!failed) continue
    const { gateway, agent, request } = context
    gateway.log.warn({ ...describedBy, problem: failed }, 'an import did not start')
    const times = { startedAt: request.receivedAt, endedAt: gateway.now() }
    await noteRun(writingOf(context, gateway, agent.webId), describedBy, { ...times, failure: failed.detail })
  }
}

async function startOne(
  context: Context,
  describedBy: DescribedBy,
  subject: Quad['subject'],
  described: readonly Quad[],
): Promise<undefined | Problem> {
  const { gateway, agent, request } = context
  const order = describedOrder(described, subject, orderOf(new URLSearchParams()))
  if (isFailure(order)) return order
  const leave = gateway.importing.takePlace(agent.webId ?? request.network(), request.network())
  if (!leave) return BUSY
  const folder = join(runsFolder(gateway.importing), gateway.uuid())
  let isKept = false
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const brought = await bringDescribed(context, order, join(folder, 'source'))
    if (isFailure(brought)) return brought
    const plan = await planOf(context, order, brought.received, join(folder, 'spool'))
    if (isFailure(plan)) return plan
    const started = await startImport(context, plan, order, 'add', describedBy)
    isKept = !isFailure(started)
    return isFailure(started) ? started : undefined
  } finally {
    leave()
    if (!isKept) await rm(folder, { recursive: true, force: true })
  }
}

/** The triples about imports. */
function importsIn(content: WrittenContent): readonly Quad[] {
  if (!isLargeContent(content)) return content
  const { nTriples } = content
  if (!IMPORT_TYPES.some((type) => nTriples.includes(`<${RDF('type')}> <${type}>`))) return []
  const subjects = [...nTriples.matchAll(TYPING)].slice(0, MOST_OF_ONE).map(([, subject]) => subject!)
  return readCanonical(subjects.flatMap((subject) => linesBeginning(nTriples, `${subject} `)).join('\n'))
}
const TYPING = new RegExp(`^(\\S+) <${RDF('type')}> <${LDH('')}(?:CSV|RDF)Import> \\.$`, 'gm')
