// Imports described in RDF (LinkedDataHub 2.8): in the content of a request to `importer`, or in a document, whose PUT
// or POST starts each import in it.
import { isOfDisk, notStored } from '../../files/arriving.js'
import { linksIn } from '../../http/link-field.js'
import { parseMediaType } from '../../http/media-type.js'
import { type WrittenContent, isLargeContent } from '../../methods/write-request.js'
import type { AfterWrite, KnownBefore } from '../../methods/write.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import { type Quad, nTriplesLine } from '../../rdf/graph.js'
import { ACCEPT_POST, isReadable, readCanonical } from '../../rdf/read.js'
import { firstBeginning, hasLine } from '../../rdf/sorted-lines.js'
import { CSV, TSV } from '../../rdf/syntaxes.js'
import { RDF, TGI } from '../../rdf/vocabulary.js'
import { decideOn } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { containerOf, runsFolder, startRun } from './background-imports.js'
import { LARGEST_METADATA, type MetadataText, readMetadata } from './csvw-metadata.js'
import { type DescribedBy, type Note, noteRuns } from './import-notes.js'
import {
  IMPORT_PROPERTIES,
  IMPORT_TYPES,
  type ImportOrder,
  type Received,
  describedOrder,
  importOrderOf,
  importPlanOf,
  typingsIn,
} from './import-order.js'
import { newProgress } from './import-state.js'
import { IMPORTING, mayStart } from './importing.js'
import type { ImportPlan } from './plan.js'
import { type Source, bringUrl } from './sources.js'
import { placeHere } from './write-as.js'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * CSV on the Web metadata for the CSV at this URL of another server: the first one that describes it (W3C
 * tabular-data-model §5.2 and §5.3), or why an existing one cannot be used.
 */
async function metadataBeside(
  context: Context,
  { url: source, link }: Pick<Source, 'url' | 'link'>,
): Promise<MetadataText | undefined> {
  const url = new URL(source)
  if (context.gateway.isOwn(url)) return undefined
  const linked = linksIn(link, source, 'describedby')
    .slice(0, 1)
    .map(({ target }) => target)
  const beside = url.search === '' ? [`${url.pathname}-metadata.json`, 'csv-metadata.json'] : []
  let flawed: MetadataText | undefined
  for (const one of [...linked, ...beside]) {
    if (!URL.canParse(one, source)) continue
    const found = await metadataAt(context, new URL(one, source).href)
    const read =
      found && (found.flaw === undefined ? readMetadata(found.text, [source]) : problem('content.syntax', found.flaw))
    if (found && !isFailure(read)) return found
    if (isFailure(read))
      flawed ??= { text: '', came: false, flaw: `${new URL(one, source).href} is not used: ${read.detail}` }
  }
  return flawed
}

async function metadataAt({ gateway, request }: Context, url: string): Promise<MetadataText | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  const take = (piece: Buffer): Promise<unknown> => {
    if ((size += piece.length) > LARGEST_METADATA) return Promise.reject(new Error('too large'))
    return Promise.resolve(pieces.push(piece))
  }
  const accept = 'application/csvm+json, application/ld+json, application/json;q=0.9'
  const answer = await IMPORTING.of(gateway).fetcher.fetch(url, { accept, take, signal: request.signal() })
  const flawed = (flaw: string): MetadataText => ({ text: '', came: false, flaw })
  if (isFailure(answer)) return flawed(answer.detail.replace(/\.$/, ''))
  if (ABSENT.includes(answer.status)) return undefined
  if (answer.status !== 200) return flawed(`its server answered ${answer.status}`)
  if (!/json/.test(answer.fields['content-type'] ?? '')) return flawed('its media type is not that of JSON')
  return { text: Buffer.concat(pieces).toString(), came: false, url: answer.url }
}

const ABSENT = [404, 410]

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

/** Fetches the source of the order to disk. */
export async function bringDescribed(context: Context, order: ImportOrder, path: string): Promise<Brought | Problem> {
  const file = await open(path, 'wx', 0o600)
  const source = await bringUrl(order.source!)(context, file, path)
    .then((brought) => file.sync().then(() => brought))
    .finally(() => file.close())
  if (isFailure(source)) return source
  const received = await receivedFrom(source)
  if (isFailure(received)) return received
  const isPlain = order.query === undefined && [CSV, TSV].includes(parseMediaType(received.mediaType)?.type ?? '')
  const metadata = isPlain ? await metadataBeside(context, source) : undefined
  return { order, received: { ...received, metadata } }
}

/** Treats a source on disk like received content. */
export async function receivedFrom({ path, size, url, mediaType }: Source): Promise<Received | Problem> {
  if (!isImportable(mediaType)) return unsupported(mediaType)
  const digest = createHash('sha256')
  for await (const piece of createReadStream(path)) digest.update(piece as Buffer)
  return { path, size, mediaType: mediaType!, base: url, digest: digest.digest('hex') }
}

const MANY = problem('server.overloaded', 'Too many imports are running or waiting. Retry when one has ended.', {
  fields: [['Retry-After', '60']],
})
const BUSY = problem('server.overloaded', 'Too many sources are being read. Retry shortly.', {
  fields: [['Retry-After', '2']],
})

/** Returns the URL of the run's document. */
export async function startImport(
  context: Context,
  plan: ImportPlan,
  { stopsAtRefusal }: ImportOrder,
  how: 'PUT' | 'add',
  describedBy?: DescribedBy,
): Promise<string | Problem> {
  const { gateway, application, agent, request } = context
  if (!mayStart(gateway, agent.webId, request.network())) return MANY
  const document = `${containerOf(application)}${gateway.uuid()}/`
  const { certificate } = agent.delegate ?? agent
  const record = {
    ...{
      base: application.base,
      document,
      agent: agent.webId,
      ...(agent.token && { token: { id: agent.token.id, readOnly: agent.token.readOnly, only: agent.token.only } }),
      delegate: agent.delegate?.webId,
      certificate: certificate && Buffer.from(certificate).toString('base64'),
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

/** The most imports that one content can start. */
const MOST_OF_ONE = 16
/** The time limit for fetching all sources, in ms: the client waits, and each fetch takes a place. */
const SOURCES_MS = 30_000

/**
 * Starts the imports in the content of a PUT or POST, for an agent who may import, after the write. The answer waits
 * until each import is on disk, so that none is lost. If an import cannot be started, the document and the log say why.
 * Imports that were already in the document, or may have been, are not started: another agent may have written them.
 */
async function startDescribed(
  context: Context,
  document: string,
  content: WrittenContent,
  { nTriples, earlier }: KnownBefore,
): Promise<void> {
  const imports = importsIn(content)
    .filter((one) => isNewIn(one, nTriples))
    .slice(0, MOST_OF_ONE)
  if (imports.length === 0) return
  if (!mayImport(context)) return
  const contents = await earlier()
  const { gateway, request } = context
  const enough = AbortSignal.timeout(SOURCES_MS)
  const signal = (): AbortSignal => AbortSignal.any([request.signal(), enough])
  const bounded = { ...context, request: { ...request, signal } }
  const notes: Note[] = []
  for (const one of imports) {
    const { name, triples } = one
    const isOwn = contents?.every((content) => isNewIn(one, content))
    const subject = name.termType === 'NamedNode' ? name.value : undefined
    const order = isOwn ? describedOrder(triples, name, NO_ORDER) : EARLIER
    const failed = await startOne(bounded, { document, subject }, order).catch((error: unknown) => {
      gateway.log.error({ err: error, document }, 'an import could not be started')
      return BROKEN
    })
    if (!failed) continue
    gateway.log.warn({ document, import: subject, problem: failed }, 'an import did not start')
    const times = { startedAt: request.receivedAt, endedAt: gateway.now() }
    if (subject !== undefined) notes.push({ subject, ...times, failure: failed.detail })
  }
  // Runs after the answer has been sent: the answer has the entity-tag of the written state, which notes would change.
  if (notes.length > 0) setImmediate(() => void noteRuns(context, document, notes))
}

export const DESCRIBED: AfterWrite = {
  concerns: (content) => isLargeContent(content) || typingsIn(content).length > 0,
  act: startDescribed,
}

export function mayImport(context: Context): boolean {
  const decision = decideOn(context, { kind: 'endpoint', iri: `${context.application.base}importer` }, 'Append')
  return !isFailure(decision) && decision.allowed
}

const BROKEN = problem('internal', 'The import could not be started.')
const EARLIER = problem(
  'precondition.failed',
  'The import was not started: the PUT may bring back an earlier state, which another agent wrote. Send If-Match with the entity-tag, or POST the import.',
)
const NO_ORDER = importOrderOf(new URLSearchParams())

async function startOne(
  context: Context,
  describedBy: DescribedBy,
  order: ImportOrder | Problem,
): Promise<undefined | Problem> {
  if (isFailure(order)) return order
  const target = order.name === undefined ? undefined : placeHere(context, order.name)
  if (isFailure(target)) return target
  return inFolder(context, async (folder, keep) => {
    const brought = await bringDescribed(context, order, join(folder, 'source'))
    if (isFailure(brought)) return brought
    const plan = await importPlanOf(context, order, brought.received, join(folder, 'spool'))
    if (isFailure(plan)) return plan
    const started = await startImport(context, plan, order, 'add', describedBy)
    if (isFailure(started)) return started
    keep()
    return undefined
  })
}

/** Runs `act` with a new folder for a source, in a slot of its agent, and removes it unless it is kept. */
export async function inFolder<T>(context: Context, act: InFolder<T>): Promise<T | Problem> {
  const { gateway, agent, request } = context
  const leave = IMPORTING.of(gateway).takePlace(agent.webId ?? request.network(), request.network())
  return leave ? withFolder(context, act).finally(leave) : BUSY
}

type InFolder<T> = (folder: string, keep: () => void) => Promise<T | Problem>

/** `inFolder` for an agent who already has the slot. */
export async function withFolder<T>({ gateway }: Context, act: InFolder<T>): Promise<T | Problem> {
  const folder = join(runsFolder(IMPORTING.of(gateway)), gateway.uuid())
  let isKept = false
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return await act(folder, () => (isKept = true))
  } catch (error) {
    if (isOfDisk(error)) return notStored(error)
    throw error
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true })
  }
}

interface DescribedImport {
  readonly name: Quad['subject']
  readonly triples: readonly Quad[]
}

/** The imports in the content, without descriptions of runs, which the client only read before. */
function importsIn(content: WrittenContent): readonly DescribedImport[] {
  const all = isLargeContent(content)
    ? importsInLines(content.nTriples)
    : typingsIn(content).map(({ subject }) => ({ name: subject, triples: content }))
  const byName = new Map(all.map((one) => [one.name.value, one]))
  return [...byName.values()].filter((one) => !ownOf(one).some(({ predicate }) => predicate.value === STATE))
}

const ownOf = ({ name, triples }: DescribedImport): readonly Quad[] =>
  triples.filter(({ subject }) => subject.equals(name))

/** True if the import says something that a state of the document does not. */
const isNewIn = (described: DescribedImport, nTriples: string): boolean =>
  ownOf(described).some((each) => SAYS.has(each.predicate.value) && !hasLine(nTriples, nTriplesLine(each)))

const SAYS: ReadonlySet<string> = new Set([RDF('type'), ...IMPORT_PROPERTIES])

const STATE = TGI('state')
/** The most values of a property that are read: an import has one of each. */
const MOST_VALUES = 2

/** Avoids looking at each line, since the text may have hundreds of thousands. */
function importsInLines(nTriples: string): DescribedImport[] {
  const found: DescribedImport[] = []
  for (const type of IMPORT_TYPES) {
    const end = ` <${RDF('type')}> <${type}> .\n`
    for (let at = nTriples.indexOf(end); at >= 0 && found.length < MOST_OF_ONE; at = nTriples.indexOf(end, at + 1)) {
      const subject = nTriples.slice(nTriples.lastIndexOf('\n', at) + 1, at)
      const about = [...IMPORT_PROPERTIES, STATE].flatMap((property) =>
        firstBeginning(nTriples, `${subject} <${property}> `, MOST_VALUES),
      )
      const triples = readCanonical(`${subject}${end}${about.join('\n')}`)
      found.push({ name: triples[0]!.subject, triples })
    }
  }
  return found
}
