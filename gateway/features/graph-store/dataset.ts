// A whole dataset at the store's own URLs: recognises the kind of request, and adds quads. Adding quads is like an
// update at the SPARQL endpoint: the same right, rights on each graph, managed properties, and a commit for each
// document.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { SentQuads } from '../../evaluation/insertion.js'
import { codingFlaw, MAX_BODY } from '../../http/body.js'
import type { Field, Request, Response } from '../../http/exchange.js'
import { parseMediaType } from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { ACCEPT_POST, isReadable } from '../../rdf/read.js'
import { MULTIPART } from '../../rdf/read-multipart.js'
import { askerOf } from '../../request/context.js'
import type { Decided, EndpointTarget } from '../../request/route.js'
import { answerQuads } from './dataset-quads.js'
import { sparqlOfStore } from './dataset-sparql.js'
import { sparql } from '../../sparql/endpoint.js'
import {
  couldNeed,
  neededFor,
  readSparqlRequest,
  SPARQL_ACCEPTS,
  type SparqlContent,
} from '../../sparql/queries/request.js'

type DatasetContent = SparqlContent | ({ readonly kind: 'quads' } & SentQuads)
type DecidedDataset = Decided<EndpointTarget, DatasetContent>

const FORM = 'application/x-www-form-urlencoded'
const QUAD_TYPES = `${ACCEPT_POST.split(', ').filter((type) => type !== FORM).join(', ')}, ${MULTIPART}` // prettier-ignore
/** Content that is posted to the dataset and is not SPARQL. */
export const QUADS_ACCEPTS: readonly Field[] = [['Accept-Post', QUAD_TYPES]]
export const DATASET_ACCEPTS: readonly Field[] = SPARQL_ACCEPTS.map(([name, types]) =>
  name === 'Accept-Post' ? [name, `${types}, ${QUAD_TYPES}`] : [name, types],
)

/** The dataset's own URL accepts queries, updates and quads, depending on the content; `data` accepts quads. */
export const couldNeedOfDataset = (request: Request, target: EndpointTarget): readonly Mode[] =>
  request.method === 'POST' && (target.endpoint !== '/' || hasQuads(request)) ? ['Write'] : couldNeed(request)

export const neededOfDataset = (method: string, content: DatasetContent | Problem | undefined): Mode =>
  content && !isFailure(content) && content.kind === 'quads' ? 'Write' : neededFor(method, content)

/** Content that is not a SPARQL form, and can be read. */
const hasQuads = ({ fields: { 'content-type': type } }: Pick<Request, 'fields'>): boolean =>
  isReadable(type) && parseMediaType(type!)?.type !== FORM

export async function readDataset(
  request: Request,
  target: EndpointTarget,
  limit: number,
): Promise<DatasetContent | Problem> {
  const { fields, method } = request
  if (method === 'POST' && hasQuads(request)) {
    const coding = codingFlaw(fields)
    if (coding !== undefined) return unsupported(coding)
    const body = await request.readBody(limit, MAX_BODY)
    return isFailure(body) ? body : { kind: 'quads', body, contentType: fields['content-type']!, base: target.url! }
  }
  if (target.endpoint === '/') return readSparqlRequest(request, target, limit)
  if (method !== 'POST') return { kind: 'description' }
  return unsupported('Send quads, or name the graph of the triples: ?graph=IRI, or ?default.')
}

const unsupported = (detail: string): Problem =>
  problem('content.unsupported', `${detail} Supported are: ${QUAD_TYPES}.`, { fields: QUADS_ACCEPTS })

/**
 * Without a query, the request reads the dataset. Quads are read after the decision on the right to update, as the
 * update that adds them.
 */
export async function answerDataset(decided: DecidedDataset): Promise<Response | Problem> {
  const { content, context, decision } = decided
  if (isFailure(content)) return content
  if (content.kind === 'description') return answerQuads(context, decision)
  if (content.kind !== 'quads') return sparqlOfStore({ ...decided, content })
  const { body, contentType, base } = content
  const update = await context.gateway.reading.insertion(askerOf(context), { body, contentType, base })
  if (isFailure(update)) return update
  return sparql({ ...decided, content: { kind: 'update', text: update, dataset: undefined } })
}
