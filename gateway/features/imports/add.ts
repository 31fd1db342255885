// The endpoints `add` and `transform` (spec 4.3, LinkedDataHub 2.3): add data from a URL or a file to a document,
// unchanged or through a CONSTRUCT. The agent needs Append on the target, and Read on a source of this gateway, as for
// its own requests.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readDataRequest, type DataRequest } from './data-request.js'
import { isContainer } from '../../documents/hierarchy.js'
import type { Response } from '../../http/exchange.js'
import { parseMediaType } from '../../http/media-type.js'
import { withContext, type ReadableContent } from '../../rdf/foreign-content.js'
import { isReadable } from '../../rdf/read.js'
import { mayImport, receivedFrom, startImport, withFolder } from './described-import.js'
import { importOrderOf, importPlanOf } from './import-order.js'
import { N_QUADS, TRIG } from '../../rdf/syntaxes.js'
import { bringUrl, withSource, type Source } from './sources.js'
import { savedQueryText } from './saved-query.js'
import { appendAs, mayWriteAs, importPlaceOf, type ImportPlace } from './write-as.js'
import { unpacked } from '../../rdf/unpacked.js'
import { toStore, type WrittenContent } from '../../methods/write-request.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { lookUp } from '../../request/access.js'
import { askerOf, contextsFor, type Context } from '../../request/context.js'
import { linkField, response } from '../../request/respond.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'

/**
 * The largest source in bytes. A document of the gateway is smaller, but the same triples may take more room in another
 * syntax.
 */
const LARGEST = 64 * 1024 * 1024

export const add = ({ context, target }: AskedRoute<EndpointTarget>): Promise<Response | Problem> =>
  withData(context, target.iri, async (_, place, source) => {
    const content = await readContent(context, source, place.document)
    if (!isFailure(content)) return appendAs(context, place, content, context.request.receivedAt)
    return content.failure === 'content.too-large' ? importInto(context, place, source) : content
  })

/** Data that is too large for one document becomes many documents, in the background, if the target is a container. */
async function importInto(context: Context, place: ImportPlace, source: Source): Promise<Response | Problem> {
  const { application, dataspace, document } = place
  const facts = await lookUp({ ...context, application, dataspace }, { kind: 'document', ...place }, 'Append')
  if (isFailure(facts)) return facts
  const isIn = facts.kind === 'document' && facts.document && isContainer(facts.document.types)
  if (!isIn || !mayImport(context)) return NO_CONTAINER
  if (OF_GRAPHS.has(parseMediaType(source.mediaType ?? '')?.type)) return GRAPHS
  return withFolder<Response>(context, async (folder, keep) => {
    const path = join(folder, 'source')
    await rename(source.path, path)
    const received = await receivedFrom({ ...source, path })
    if (isFailure(received)) return received
    const order = { ...importOrderOf(new URLSearchParams()), into: document }
    const plan = await importPlanOf(context, order, received, join(folder, 'spool'))
    if (isFailure(plan)) return plan
    const started = await startImport(context, plan, order, 'add')
    if (isFailure(started)) return started
    keep()
    return response(201, [['Location', started], linkField(context.application, context.agent.webId, undefined)])
  })
}

const NO_CONTAINER = problem(
  'content.too-large',
  `One document can have ${LARGEST} bytes. For a larger source, name a container in sd:name; you need Append on it and on importer.`,
)

/**
 * These formats name graphs. An import would make each graph a document, at any place, so it does not start by itself:
 * the client has to ask for it.
 */
const OF_GRAPHS: ReadonlySet<string | undefined> = new Set([TRIG, N_QUADS])
const GRAPHS = problem(
  'content.too-large',
  'The source is too large for one document, and its named graphs would become other documents. Send it to importer.',
)

export const transform = ({ context, target }: AskedRoute<EndpointTarget>): Promise<Response | Problem> =>
  withData(context, target.iri, async ({ query }, place, source) => {
    const { gateway, application, request } = context
    if (!query) return problem('request.malformed', 'The request names no query. Add spin:query or sp:text.')
    const text = await savedQueryText(context, query)
    if (isFailure(text)) return text
    const { base } = application
    const construct = await gateway.reading.analyseConstruct(askerOf(context), text, base, base)
    if (isFailure(construct)) return construct
    if (construct.template.some(({ graph }) => graph !== '')) {
      return problem(
        'query.syntax',
        'GRAPH in the template works in imports only. Here the triples go to the document in sd:name.',
      )
    }
    const nTriples = await readText(context, source)
    if (isFailure(nTriples)) return nTriples
    const made = await gateway.evaluation.construct(askerOf(context), construct, nTriples, place.document)
    if (isFailure(made)) return made
    const body = Buffer.from(made.nTriples)
    const sent = { body, contentType: 'application/n-triples', base: place.document }
    const content = await gateway.reading.readContent(askerOf(context), sent, undefined, toStore(place.application))
    return isFailure(content) ? content : appendAs(context, place, content, request.receivedAt)
  })

type Act = (asked: DataRequest, place: ImportPlace, source: Source) => Promise<Response | Problem>

/** Fetches nothing until the client's right to write to the target has been checked (design 7). */
async function withData(context: Context, endpoint: string, act: Act): Promise<Response | Problem> {
  const asked = await readDataRequest(context, endpoint)
  if (isFailure(asked)) return asked
  const place = importPlaceOf(context, asked.target)
  if (isFailure(place)) return place
  const refused = await mayWriteAs(context, place, 'POST')
  if (refused) return refused
  const { source } = asked
  const bring: Parameters<typeof withSource>[1] =
    typeof source === 'string'
      ? bringUrl(source)
      : async (_, __, path) => {
          await writeFile(path, source.body)
          return { path, size: source.body.length, url: asked.target, mediaType: source.mediaType }
        }
  return withSource(context, bring, (brought) => act(asked, place, brought))
}

async function readContent(context: Context, source: Source, document: string): Promise<WrittenContent | Problem> {
  const read = await rdfOf(source)
  if (isFailure(read)) return read
  const { gateway, application } = context
  const sent = { ...read, base: source.url, document }
  return gateway.reading.readContent(askerOf(context), sent, contextsFor(context), toStore(application))
}

async function readText(context: Context, source: Source): Promise<string | Problem> {
  const read = await rdfOf(source)
  if (isFailure(read)) return read
  const sent = { ...read, base: source.url }
  return context.gateway.reading.readText(askerOf(context), sent, contextsFor(context))
}

/** JSON with the context that the server of the source links to (JSON-LD 1.1 §6.1) is JSON-LD. */
async function rdfOf({ path, size, url, mediaType, link }: Source): Promise<ReadableContent | Problem> {
  if (size > LARGEST) return TOO_LARGE
  if (!isReadable(mediaType)) {
    const detail = `The source is not RDF: its media type is ${mediaType ?? 'unknown'}.`
    return problem('content.unsupported', detail)
  }
  const body = await unpacked(await readFile(path), LARGEST)
  return isFailure(body) ? body : withContext({ fields: { link }, url }, { body, contentType: mediaType })
}

const TOO_LARGE = problem('content.too-large', `The source is larger than ${LARGEST} bytes.`)
