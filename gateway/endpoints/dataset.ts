// In charge of a dataset as a whole at the store's own URLs: what a request to its URL is, and quads that are added. That is the
// same as an update of the SPARQL endpoint: its right, rights on each graph, what every write of a document keeps, a commit for each.
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { SentQuads } from '../evaluation/insertion.js'
import { MAX_BODY, readText } from '../http/body.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { parseMediaType } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { STREAMED } from '../rdf/read-quads.js'
import { askerOf } from '../request/context.js'
import type { Decided, EndpointTarget } from '../request/route.js'
import { answerQuads } from './dataset-quads.js'
import { sparqlOfStore } from './dataset-sparql.js'
import { sparql } from './sparql.js'
import { couldNeed, neededFor, readSparqlRequest, SPARQL_ACCEPTS, type SparqlContent } from './sparql-request.js'

type DatasetContent = SparqlContent | ({ readonly kind: 'quads' } & SentQuads)
type DecidedDataset = Decided<EndpointTarget, DatasetContent>

const QUAD_TYPES = Object.keys(STREAMED).join(', ')
/** Content that is posted to the dataset and is no SPARQL. */
export const QUADS_ACCEPTS: readonly Field[] = [['Accept-Post', QUAD_TYPES]]
export const DATASET_ACCEPTS: readonly Field[] = SPARQL_ACCEPTS.map(([name, types]) =>
  name === 'Accept-Post' ? [name, `${types}, ${QUAD_TYPES}`] : [name, types],
)

/** The dataset's own URL takes queries, updates and quads, by what is sent; `data` takes quads. */
export const couldNeedOfDataset = (request: Request, target: EndpointTarget): readonly Mode[] =>
  request.method === 'POST' && (target.endpoint !== '/' || syntaxOf(request)) ? ['Write'] : couldNeed(request)

export const neededOfDataset = (method: string, content: DatasetContent | Problem | undefined): Mode =>
  content && !isFailure(content) && content.kind === 'quads' ? 'Write' : neededFor(method, content)

function syntaxOf({ fields }: Pick<Request, 'fields'>): SentQuads['syntax'] | undefined {
  const type = parseMediaType(fields['content-type'] ?? '')?.type ?? ''
  return Object.hasOwn(STREAMED, type) ? STREAMED[type as keyof typeof STREAMED] : undefined
}

export async function readDataset(
  request: Request,
  target: EndpointTarget,
  limit: number,
): Promise<DatasetContent | Problem> {
  const syntax = request.method === 'POST' ? syntaxOf(request) : undefined
  if (syntax) {
    const text = await readText(request, limit, unreadable, MAX_BODY)
    return isFailure(text) ? text : { kind: 'quads', text, syntax, base: target.url! }
  }
  if (target.endpoint === '/') return readSparqlRequest(request, target, limit)
  if (request.method !== 'POST') return { kind: 'description' }
  return unsupported('Send quads, or name the graph of the triples: ?graph=IRI, or ?default.')
}

const unsupported = (detail: string): Problem =>
  problem('content.unsupported', `${detail} Supported are: ${QUAD_TYPES}.`, { fields: QUADS_ACCEPTS })

const unreadable = (reason: 'unsupported' | 'malformed', detail: string): Problem =>
  reason === 'unsupported' ? unsupported(detail) : problem('content.syntax', detail)

/** Without a query, the dataset is what is read. Quads are read once the right to update is decided, as the update that adds them. */
export async function answerDataset(decided: DecidedDataset): Promise<Response | Problem> {
  const { content, context, decision } = decided
  if (isFailure(content)) return content
  if (content.kind === 'description') return answerQuads(context, decision)
  if (content.kind !== 'quads') return sparqlOfStore({ ...decided, content })
  const { text, syntax, base } = content
  const update = await context.gateway.reading.insertion(askerOf(context), { text, syntax, base })
  if (isFailure(update)) return update
  return sparql({ ...decided, content: { kind: 'update', text: update, dataset: undefined } })
}
