// A triplestore behind HTTP: SPARQL 1.1 Protocol and SPARQL 1.1 Graph Store HTTP Protocol as a GraphStore.
import type { Readable } from 'node:stream'
import { type Problem, isFailure, problem } from '../problem.js'
import { RESULTS_JSON, RESULTS_TSV } from '../rdf/sparql-results.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { MAX_EXCERPT, excerptQuery, typedQuery, wholeTyped } from './document-facts-query.js'
import { editText } from './edit-text.js'
import { type Credentials, endpointFieldsOf, endpointOf, storeGraphUrl, timedQueryUrl } from './http-endpoints.js'
import { type Exchange, type ExchangeLimits, type Resume, type StoreResponse, openExchange } from './http-exchange.js'
import {
  type Head,
  dropBody,
  mayMeanAbsent,
  piecesOf,
  refusalIn,
  refusedText,
  storeRefusalOf,
  storeUnwritable,
  successOf,
  textOfSuccess,
} from './http-response.js'
import { hasBlankNode, mayBeRdf12 } from './n-triples-lines.js'
import { makeSlices } from './slices.js'
import { type Call, type GraphEdit, type GraphStore, MAX_GRAPH_BYTES, MOST_TOGETHER, type Together } from './store.js'
import { DISCARD_BYTES, type Sent, type WholeResponse } from './whole-response.js'

/** Undefined if lines are removed, or if stores may read the triples differently than those of a single graph. */
export async function additionsOf(edits: readonly GraphEdit[]): Promise<string | undefined> {
  const slices = makeSlices()
  const quads: string[] = []
  for (const { graph, isCleared, removed, added } of edits) {
    if (isCleared || removed.length > 0 || graph === DEFAULT_GRAPH) return undefined
    for (const line of added) {
      if (hasBlankNode(line) || mayBeRdf12(line)) return undefined
      quads.push(`${line.slice(0, -1)}<${graph}> .\n`)
      const turn = slices(line.length)
      if (turn) await turn
    }
  }
  return quads.length > 0 ? quads.join('') : undefined
}

export interface Endpoints {
  readonly query: string
  readonly update: string
  readonly graphStore: string
}

export type { Credentials }

export interface HttpStoreSettings extends Endpoints, Partial<ExchangeLimits> {
  readonly name?: string
  readonly credentials?: Credentials
  /** A larger graph is not read whole. */
  readonly maxGraphBytes?: number
}

export const STORE_LIMITS: ExchangeLimits = {
  connections: 32,
  queue: 1000,
  connectTimeout: 5_000,
  headersTimeout: 30_000,
  idleTimeout: 30_000,
  totalTimeout: 120_000,
  pauseTimeout: 30_000,
}
/** Fewer than the requests that a listener accepts (http/listener.ts), so that there is room for documents. */
const MOST_WAITING = 256
const MAX_READINESS_BYTES = 64 * 1024
const N_TRIPLES = 'application/n-triples'
const N_QUADS = 'application/n-quads'
type Text = Promise<string | undefined | Problem>
type Done = Promise<undefined | Problem>

/** The endpoints of a Fuseki dataset, with the names of its default configuration. */
export const fusekiEndpoints = (datasetUrl: string): Endpoints => ({
  query: `${datasetUrl}/query`,
  update: `${datasetUrl}/update`,
  graphStore: `${datasetUrl}/data`,
})

interface HttpStore {
  readonly endpoints: { readonly query: URL; readonly update: URL; readonly graphStore: URL }
  /** The fields with the credentials. */
  readonly identity: Readonly<Record<string, string>>
  readonly documents: Exchange
  /** Queries and updates have separate connections and a separate queue, so that slow ones do not delay documents. */
  readonly sparql: Exchange
  /** How long the store may work on a query, in seconds. */
  readonly patience: number
  /** True once the first answer has shown that the store is a Fuseki. */
  isFuseki: boolean
  /** True once the store has refused N-Quads. */
  refusesQuads: boolean
  isPaused: boolean
}

const NOTHING_KNOWN = { isFuseki: false, refusesQuads: false, isPaused: false }

/**
 * Opens a store. Throws a TypeError for endpoints that are not http(s) URLs or contain credentials. No problem's
 * detail, which clients may read, contains an address or a credential.
 */
export function openHttpStore(settings: HttpStoreSettings): GraphStore {
  const { query, update, graphStore } = settings
  const endpoints = { query: endpointOf(query), update: endpointOf(update), graphStore: endpointOf(graphStore) }
  const { maxGraphBytes = MAX_GRAPH_BYTES, name = `${endpoints.graphStore.origin}${endpoints.graphStore.pathname}` } =
    settings
  const limits = { ...STORE_LIMITS, ...definedOf(settings) }
  const store: HttpStore = {
    endpoints,
    identity: endpointFieldsOf(settings.credentials),
    documents: openExchange(limits),
    sparql: openExchange({ ...limits, queue: Math.min(limits.queue, MOST_WAITING) }),
    ...{ patience: Math.ceil(limits.headersTimeout / 1000) + 1, ...NOTHING_KNOWN },
  }
  return {
    name,
    async read(graph, call) {
      const response = await collect(store, getOf(store, graph), maxGraphBytes, call)
      if (isFailure(response)) return response
      const isNone = await isAbsent(store, graph, response, call)
      if (isNone) return isFailure(isNone) ? isNone : undefined
      return textOfSuccess(response, N_TRIPLES, maxGraphBytes)
    },
    excerpt: (graph, kind, call) => construct(store, excerptQuery(graph, kind), MAX_EXCERPT, call),
    async readTyped(graph, type, call) {
      // In other stores, the answer to a query may have other labels and literals than a `read`.
      const text = store.isFuseki ? await construct(store, typedQuery(graph, type), maxGraphBytes, call) : undefined
      return isFailure(text) ? text : text && wholeTyped(text)
    },
    async stream(graph, call) {
      const response = await send(store, getOf(store, graph), call)
      if (isFailure(response)) return response
      const isNone = await isAbsent(store, graph, response, call)
      if (isNone) return isFailure(isNone) ? isNone : dropBody(response)
      return piecesOrProblem(successOf(response, N_TRIPLES))
    },
    replace: (graph, nTriples, call) => put(store, graph, nTriples, call),
    remove: (graph, call) => remove(store, graph, call),
    async query(sparql, accept, call) {
      const response = await send(store, queryOf(store, sparql, accept), call)
      if (isFailure(response)) return response
      const refused = response.statusCode === 400 ? refusedText(await refusalIn(response), 'query.syntax') : storeUnwritable(response, accept) // prettier-ignore
      if (refused) dropBody(response)
      return piecesOrProblem(refused ?? successOf(response, accept))
    },
    update: (sparql, call) => runUpdate(store, sparql, call),
    together: togetherOf(store),
    edit: (edits, call) => edit(store, edits, call),
    quads: (call) => quads(store, call),
    addQuads: (nQuads, call) => addQuads(store, nQuads, call),
    async ready(call) {
      if (store.isPaused) return undefined
      const response = await collect(store, queryOf(store, 'ASK {}', RESULTS_JSON), MAX_READINESS_BYTES, call)
      if (isFailure(response)) return response
      const text = refusedText(response, 'query.syntax') ?? textOfSuccess(response, RESULTS_JSON, MAX_READINESS_BYTES)
      return isFailure(text) ? text : undefined
    },
    pause: (signal) => pause(store, signal),
    close: async () => void (await Promise.all([store.documents.close(), store.sparql.close()])),
  }
}

async function pause(store: HttpStore, signal: AbortSignal): Promise<Resume | Problem> {
  const paused = await Promise.all([store.documents.pause(signal), store.sparql.pause(signal)])
  const resume = (): void => {
    store.isPaused = false
    for (const one of paused) if (!isFailure(one)) one()
  }
  const failed = paused.find((one) => isFailure(one))
  if (failed) resume()
  else store.isPaused = true
  return failed ?? resume
}

/** SPARQL sent by the gateway itself: undefined if the answer has no triple. */
async function construct(store: HttpStore, query: string, most: number, call?: Call): Text {
  const response = await collect(store, queryOf(store, query, N_TRIPLES), most, call, store.documents)
  if (isFailure(response)) return response
  return refusedText(response, 'query.syntax') ?? textOfSuccess(response, N_TRIPLES, most)
}

const togetherOf = (store: HttpStore): Together => ({
  async select(sparql) {
    const sent = queryOf(store, sparql, RESULTS_TSV)
    const response = await collect(store, sent, MOST_TOGETHER, undefined, store.documents)
    if (isFailure(response)) return response
    return refusedText(response, 'query.syntax') ?? textOfSuccess(response, RESULTS_TSV, MOST_TOGETHER)
  },
  update: (sparql) => runUpdate(store, sparql, undefined, store.documents),
  isKnown: () => store.isFuseki,
})

const piecesOrProblem = (found: StoreResponse | Problem) => (isFailure(found) ? found : piecesOf(found))

const exchangeOf = (store: HttpStore, { method }: Sent): Exchange =>
  method === 'POST' ? store.sparql : store.documents

const identified = ({ identity }: HttpStore, sent: Sent): Sent => ({
  ...sent,
  fields: { ...identity, ...sent.fields },
})

async function send(store: HttpStore, sent: Sent, call?: Call): Promise<StoreResponse | Problem> {
  return noted(store, await exchangeOf(store, sent).send(identified(store, sent), call?.signal, call?.asker))
}

async function collect(
  store: HttpStore,
  sent: Sent,
  most: number,
  call?: Call,
  exchange = exchangeOf(store, sent),
): Promise<WholeResponse | Problem> {
  return noted(store, await exchange.collect(identified(store, sent), most, call?.signal))
}

function noted<Response extends WholeResponse | StoreResponse>(
  store: HttpStore,
  response: Response | Problem,
): Response | Problem {
  if (!isFailure(response) && response.headers['fuseki-request-id'] !== undefined) store.isFuseki = true
  return response
}

/** Beyond the Graph Store Protocol: Fuseki and Oxigraph give the dataset if no graph is named. */
async function quads(store: HttpStore, call?: Call): Promise<AsyncIterable<Uint8Array> | Problem> {
  const url = store.endpoints.graphStore
  const response = await send(store, { method: 'GET', url, fields: { accept: N_QUADS }, safe: true }, call)
  return isFailure(response) ? response : piecesOrProblem(successOf(response, N_QUADS))
}

/** SPARQL 1.1 Graph Store HTTP Protocol §5.2 */
const getOf = ({ endpoints }: HttpStore, graph: string): Sent => ({
  method: 'GET',
  url: storeGraphUrl(endpoints.graphStore, graph),
  fields: { accept: N_TRIPLES },
  safe: true,
})

async function isAbsent(store: HttpStore, graph: string, head: Head, call?: Call): Promise<boolean | Problem> {
  if (!mayMeanAbsent(head, graph)) return head.statusCode === 404
  const text = await construct(store, excerptQuery(graph, 'fewFacts'), MAX_EXCERPT, call)
  return isFailure(text) ? text : text === undefined
}

/** SPARQL 1.1 Graph Store HTTP Protocol §5.3 */
async function put(store: HttpStore, graph: string, body: string, call?: Call): Done {
  const url = storeGraphUrl(store.endpoints.graphStore, graph)
  const fields = { 'content-type': N_TRIPLES }
  const sent: Sent = { method: 'PUT', url, fields, body, safe: false }
  const response = await collect(store, sent, DISCARD_BYTES, call)
  if (!isFailure(response) && response.statusCode === 400 && mayBeRdf12(body)) return NOT_RDF_12
  return doneOf(response, [200, 201, 204])
}

const NOT_RDF_12 = problem(
  'content.rdf-version',
  'The triplestore does not support RDF 1.2: leave out triple terms, annotations and base directions (@en--ltr).',
)

async function edit(store: HttpStore, edits: readonly GraphEdit[], call?: Call): Promise<undefined | Problem> {
  const added = store.isFuseki && !store.refusesQuads ? await additionsOf(edits) : undefined
  const done = added === undefined ? REFUSED : await addQuads(store, added, call)
  if (done?.failure !== 'store.refused') return done
  const text = await editText(edits)
  return isFailure(text) ? text : runUpdate(store, text, call)
}

const REFUSED = problem('store.refused', 'The triplestore does not accept N-Quads.')

/** Fuseki reads N-Quads in half the time of SPARQL, as one transaction. */
async function addQuads(store: HttpStore, body: string | Readable, call?: Call): Promise<undefined | Problem> {
  const fields = { 'content-type': N_QUADS }
  const sent: Sent = { method: 'POST', url: store.endpoints.graphStore, fields, body, safe: false }
  const done = doneOf(await collect(store, sent, DISCARD_BYTES, call), [200, 201, 204])
  store.refusesQuads ||= done?.failure === 'store.refused'
  return done
}

/** SPARQL 1.1 Graph Store HTTP Protocol §5.4 */
async function remove(store: HttpStore, graph: string, call?: Call): Promise<undefined | Problem> {
  const url = storeGraphUrl(store.endpoints.graphStore, graph)
  const response = await collect(store, { method: 'DELETE', url, fields: {}, safe: false }, DISCARD_BYTES, call)
  const isNone = !isFailure(response) && (await isAbsent(store, graph, response, call))
  return isNone === true ? undefined : doneOf(response, [200, 204])
}

/** SPARQL 1.1 Protocol §2.1.3: query via POST directly. */
const queryOf = (store: HttpStore, body: string, accept: string): Sent => ({
  method: 'POST',
  url: store.isFuseki ? timedQueryUrl(store.endpoints.query, accept, store.patience) : store.endpoints.query,
  fields: { accept, 'content-type': 'application/sparql-query' },
  body,
  safe: true,
})

/** SPARQL 1.1 Protocol §2.2.2: update via POST directly. */
async function runUpdate(store: HttpStore, body: string, call?: Call, exchange = store.sparql): Done {
  const fields = { 'content-type': 'application/sparql-update' }
  const sent: Sent = { method: 'POST', url: store.endpoints.update, fields, body, safe: false }
  const response = await collect(store, sent, DISCARD_BYTES, call, exchange)
  const refused = isFailure(response) ? response : refusedText(response, 'update.syntax')
  return refused ?? doneOf(response, [200, 204])
}

/** Undefined if the response has one of these statuses, else its problem. */
function doneOf(response: WholeResponse | Problem, statuses: readonly number[]): undefined | Problem {
  if (isFailure(response)) return response
  return statuses.includes(response.statusCode) ? undefined : storeRefusalOf(response)
}

const definedOf = (settings: HttpStoreSettings): Partial<ExchangeLimits> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
