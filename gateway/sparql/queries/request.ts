// Reads a request to the SPARQL endpoint: its query or update, and its dataset (SPARQL 1.1 Protocol §2.1, §2.2; RFC
// 10008 for the method QUERY).
import type { Mode } from '../../../policies/authorizations/authorization.js'
import { MAX_BODY, readText } from '../../http/body.js'
import type { Field, Request } from '../../http/exchange.js'
import { isUtf8Encoded, NOT_UTF8 } from '../../http/form-encoding.js'
import { parseMediaType } from '../../http/media-type.js'
import type { Awaitable } from '../../maybe-async.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import type { EndpointTarget } from '../../request/route.js'
import type { DatasetDescription } from '../language/analysis.js'
import { hasDotSegment, isCompleted } from '../language/tokens.js'
import type { Output } from './formats.js'

interface FusekiParameters {
  readonly output?: Output
  /** Milliseconds. */
  readonly timeout?: number
}

/** The first that is present is used. */
const OUTPUT = ['output', 'format', 'results'] as const
/** With a form, these may also be in the URL. */
const OWN_PARAMETERS = [...OUTPUT, 'force-accept', 'timeout', 'callback', 'stylesheet'] as const

/** An empty value counts as absent. A `+` that is not percent-encoded was decoded to a blank. */
function fusekiParameters(parameters: URLSearchParams): FusekiParameters | Problem {
  const valueOf = (name: string): string | undefined => parameters.get(name)?.trim().replaceAll(' ', '+') || undefined
  const format = OUTPUT.map(valueOf).find((value) => value !== undefined)
  const [forced, timeout] = [valueOf('force-accept'), valueOf('timeout')]
  if (valueOf('callback') !== undefined) return NO_SCRIPT
  if (valueOf('stylesheet') !== undefined && /xml|^sparql$/i.test(format ?? '')) return NO_STYLESHEET
  if (forced !== undefined && forced !== 'text/plain') return NO_FORCE
  const ms = 1000 * Number(TIMES.exec(timeout ?? '')?.[1] ?? 0)
  return {
    ...((format ?? forced) !== undefined && { output: { ...(format && { format }), ...(forced && { forced }) } }),
    ...(ms > 0 && ms <= LONGEST_MS && { timeout: ms }),
  }
}

/** Seconds until the first row and in all, or only in all. Fuseki ignores anything else. */
const TIMES = /^(?:[\d.]+,)?(\d+(?:\.\d+)?)$/
/** A longer timeout has no effect: the store's own limit is shorter. */
const LONGEST_MS = 3_600_000

const refused = (detail: string): Problem => problem('request.malformed', detail)
const NO_SCRIPT = refused('Results as scripts (callback) are not supported. Request JSON; other origins can read it if CORS allows them.') // prettier-ignore
const NO_STYLESHEET = refused('The parameter stylesheet is not supported, since it would run in pages of this gateway. Transform the XML yourself.') // prettier-ignore
const NO_FORCE = refused('force-accept can only be text/plain. Name the format of the result in output or in Accept.')

export interface SparqlRequest extends FusekiParameters {
  readonly kind: 'query' | 'update'
  readonly text: string
  /**
   * default-graph-uri and named-graph-uri, or using-graph-uri and using-named-graph-uri; undefined if there are none.
   */
  readonly dataset: DatasetDescription | undefined
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

/** Only the content of a form says whether it is a query or an update. */
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
  if (url.has('update') || (url.has('request') && !url.has('query'))) return malformed('Send an update with POST.')
  const isQuery = ['query', 'query-ref', ...DATASET.query].some((name) => url.has(name))
  return isQuery ? operationOf(url, 'query') : { kind: 'description' }
}

async function readContent(request: Request, url: URLSearchParams, limit: number): Promise<SparqlContent | Problem> {
  const { method, fields } = request
  const type = typeOf(fields)
  const isDirect = type === QUERY_TYPE || (type === UPDATE_TYPE && method === 'POST')
  // Fuseki treats a POST without content as a form whose parameters are all in the URL.
  const isEmpty = fields['content-type'] === undefined && TEXTS.some((name) => url.has(name))
  if (!isDirect && !((type === FORM_TYPE || isEmpty) && method === 'POST')) {
    return unsupported(method, `Supported are: ${method === 'QUERY' ? QUERY_TYPE : POST_TYPES}.`)
  }
  const refused = (reason: string, detail: string): Problem =>
    reason === 'unsupported' ? unsupported(method, detail) : malformed(detail)
  const text = await readText(request, limit, refused, MAX_BODY)
  if (isFailure(text)) return text
  if (isEmpty && text !== '')
    return unsupported(method, `The content has no Content-Type. Supported are: ${POST_TYPES}.`)
  return isDirect ? directOf(url, type === QUERY_TYPE ? 'query' : 'update', text) : formOf(url, text)
}

/** SPARQL 1.1 Protocol §2.1.3, §2.2.2: the content is the query or update, the dataset is in the URL. */
function directOf(url: URLSearchParams, kind: SparqlRequest['kind'], text: string): SparqlRequest | Problem {
  if (TEXTS.some((name) => url.has(name)))
    return malformed('The content is the query or update: leave out the one in the URL.')
  const parameters = new URLSearchParams(url)
  parameters.set(kind, text)
  return operationOf(parameters, kind)
}

/**
 * SPARQL 1.1 Protocol §2.1.2, §2.2.1: the parameters are in the content, in UTF-8. As in Fuseki, those in the URL count
 * too.
 */
function formOf(url: URLSearchParams, text: string): SparqlRequest | Problem {
  if (!isUtf8Encoded(text)) return malformed(`The form ${NOT_UTF8}.`)
  const form = new URLSearchParams(text)
  for (const name of [...TEXTS, ...Object.values(DATASET).flat(), ...OWN_PARAMETERS]) {
    for (const value of url.getAll(name)) form.append(name, value)
  }
  // The older name of the parameter in Fuseki.
  if (!form.has('query')) for (const value of form.getAll('request')) form.append('update', value)
  if (form.has('query') && form.has('update')) return malformed('Send a query or an update, not both.')
  return operationOf(form, form.has('update') ? 'update' : 'query')
}

const TEXTS = ['query', 'update', 'request']

const DATASET = {
  query: ['default-graph-uri', 'named-graph-uri'],
  update: ['using-graph-uri', 'using-named-graph-uri'],
} as const

function operationOf(parameters: URLSearchParams, kind: SparqlRequest['kind']): SparqlRequest | Problem {
  const [text, another] = parameters.getAll(kind)
  if (text === undefined) return malformed('The request has no query and no update.')
  if (another !== undefined) return malformed(`Send one parameter ${kind}, not several.`)
  const given = (name: string): string[] => {
    const all = parameters.getAll(name)
    // Clients for Virtuoso send empty ones, which Fuseki ignores. For an update, an empty one says what it reads.
    return name.startsWith('using') ? all : all.filter((value) => value !== '')
  }
  const foreign = DATASET[kind === 'query' ? 'update' : 'query'].find((name) => given(name).length > 0)
  if (foreign) return malformed(`The parameter ${foreign} cannot be used with ${kind}.`)
  const own = fusekiParameters(parameters)
  if (isFailure(own)) return own
  const [graphs, named] = DATASET[kind].map(given)
  const dataset = { default: graphs!, named: named! }
  const all = [...dataset.default, ...dataset.named]
  if (all.length === 0) return { kind, text, dataset: undefined, ...own }
  const wrong = all.find((graph) => !ABSOLUTE_IRI.test(graph) || hasDotSegment(graph) || isCompleted(graph))
  if (wrong !== undefined) return malformed('Name each graph by an absolute IRI without dot segments.')
  return { kind, text, dataset, ...own }
}

// The characters that SPARQL allows between < and > (SPARQL 1.1 Query §19.8 [139]), after a scheme.
export const ABSOLUTE_IRI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*$/

const malformed = (detail: string): Problem => problem('request.malformed', detail)

const unsupported = (method: string, detail: string): Problem =>
  problem('content.unsupported', detail, {
    // RFC 9110 §15.5.16
    fields: SPARQL_ACCEPTS.filter(([name]) => name === (method === 'QUERY' ? 'Accept-Query' : 'Accept-Post')),
  })
