// In charge of reading a request to the SPARQL endpoint: its query or update, and the dataset for it
// (SPARQL 1.1 Protocol §2.1, §2.2; RFC 10008 for the method QUERY).
import type { Field, Request } from '../http/exchange.js'
import { MAX_BODY, readText } from '../http/body.js'
import { parseMediaType } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { EndpointTarget } from '../request/route.js'
import type { DatasetDescription } from '../sparql/analysis.js'
import { hasDotSegment } from '../sparql/tokens.js'
import type { Awaitable } from '../steps.js'

export interface SparqlRequest {
  readonly kind: 'query' | 'update'
  readonly text: string
  /** default-graph-uri and named-graph-uri, or using-graph-uri and using-named-graph-uri; undefined without any. */
  readonly dataset: DatasetDescription | undefined
  /** The format of the result, as Fuseki's parameters name it. */
  readonly output?: string | undefined
}

/** `description`: the request has no query and no update (SPARQL 1.1 Service Description §2). */
export type SparqlContent = SparqlRequest | { readonly kind: 'description' }

export const SPARQL_METHODS = 'GET, HEAD, POST, QUERY, OPTIONS'
const QUERY_TYPE = 'application/sparql-query'
const UPDATE_TYPE = 'application/sparql-update'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const POST_TYPES = `${FORM_TYPE}, ${QUERY_TYPE}, ${UPDATE_TYPE}`
/** RFC 10008 §3 for the method QUERY. */
export const SPARQL_ACCEPTS: readonly Field[] = [
  ['Accept-Post', POST_TYPES],
  ['Accept-Query', QUERY_TYPE],
]

/** A form says in its content which of both it is. */
export function couldNeed({ method, fields }: Request): readonly Mode[] {
  if (method !== 'POST') return ['Read']
  const type = typeOf(fields)
  if (type === QUERY_TYPE) return ['Read']
  return type === UPDATE_TYPE ? ['Write'] : ['Read', 'Write']
}

const typeOf = (fields: Request['fields']): string | undefined => parseMediaType(fields['content-type'] ?? '')?.type

/** Mistakes are reported only to agents who may query or update. */
export const neededFor = (_method: string, content: SparqlContent | Problem | undefined): Mode =>
  isFailure(content) || content!.kind !== 'update' ? 'Read' : 'Write'

export function readSparqlRequest(
  request: Request,
  { query: url }: EndpointTarget,
  limit: number,
): Awaitable<SparqlContent | Problem> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return readContent(request, url, limit)
  // SPARQL 1.1 Protocol §2.2: GET cannot update.
  if (url.has('update')) return malformed('Send an update with POST.')
  const isQuery = ['query', ...DATASET.query].some((name) => url.has(name))
  return isQuery ? operationOf(url, 'query') : { kind: 'description' }
}

async function readContent(request: Request, url: URLSearchParams, limit: number): Promise<SparqlContent | Problem> {
  const { method, fields } = request
  const type = typeOf(fields)
  const isDirect = type === QUERY_TYPE || (type === UPDATE_TYPE && method === 'POST')
  if (!isDirect && !(type === FORM_TYPE && method === 'POST')) {
    return unsupported(method, `Supported are: ${method === 'QUERY' ? QUERY_TYPE : POST_TYPES}.`)
  }
  const refused = (reason: string, detail: string): Problem =>
    reason === 'unsupported' ? unsupported(method, detail) : malformed(detail)
  const text = await readText(request, limit, refused, MAX_BODY)
  if (isFailure(text)) return text
  return isDirect ? directOf(url, type === QUERY_TYPE ? 'query' : 'update', text) : formOf(url, text)
}

/** SPARQL 1.1 Protocol §2.1.3, §2.2.2: the content is the text, the dataset is in the URL. */
function directOf(url: URLSearchParams, kind: SparqlRequest['kind'], text: string): SparqlRequest | Problem {
  if (url.has('query') || url.has('update'))
    return malformed('The content is the query or update: leave out the one in the URL.')
  const parameters = new URLSearchParams(url)
  parameters.set(kind, text)
  return operationOf(parameters, kind)
}

/** SPARQL 1.1 Protocol §2.1.2, §2.2.1: the parameters are in the content; those of the dataset may be in the URL too. */
function formOf(url: URLSearchParams, text: string): SparqlRequest | Problem {
  if (url.has('query') || url.has('update')) {
    return malformed('With a form, send the query or update in the content.')
  }
  const form = new URLSearchParams(text)
  for (const name of [...Object.values(DATASET).flat(), ...OUTPUT]) {
    for (const value of url.getAll(name)) form.append(name, value)
  }
  if (form.has('query') && form.has('update')) return malformed('Send a query or an update, not both.')
  return operationOf(form, form.has('update') ? 'update' : 'query')
}

const DATASET = {
  query: ['default-graph-uri', 'named-graph-uri'],
  update: ['using-graph-uri', 'using-named-graph-uri'],
} as const

/** Fuseki's, the first of which counts. */
const OUTPUT = ['format', 'output', 'results']

function operationOf(parameters: URLSearchParams, kind: SparqlRequest['kind']): SparqlRequest | Problem {
  const [text, another] = parameters.getAll(kind)
  if (text === undefined) return malformed('The request has no query and no update.')
  if (another !== undefined) return malformed(`There is more than one parameter ${kind}.`)
  const foreign = DATASET[kind === 'query' ? 'update' : 'query'].find((name) => parameters.has(name))
  if (foreign) return malformed(`The parameter ${foreign} does not go with ${kind}.`)
  const [graphs, named] = DATASET[kind].map((name) => parameters.getAll(name))
  const dataset = { default: graphs!, named: named! }
  const all = [...dataset.default, ...dataset.named]
  const output = OUTPUT.map((name) => parameters.get(name)).find((value) => value !== null) ?? undefined
  if (all.length === 0) return { kind, text, dataset: undefined, output }
  const wrong = all.find((graph) => !ABSOLUTE_IRI.test(graph) || hasDotSegment(graph))
  if (wrong !== undefined) return malformed('Name each graph by an absolute IRI without dot segments.')
  return { kind, text, dataset, output }
}

// The characters that SPARQL allows between < and > (SPARQL 1.1 Query §19.8 [139]), after a scheme.
export const ABSOLUTE_IRI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*$/

const malformed = (detail: string): Problem => problem('request.malformed', detail)

const unsupported = (method: string, detail: string): Problem =>
  problem('content.unsupported', detail, {
    // RFC 9110 §15.5.16
    fields: SPARQL_ACCEPTS.filter(([name]) => name === (method === 'QUERY' ? 'Accept-Query' : 'Accept-Post')),
  })
