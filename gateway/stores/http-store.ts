// In charge of a triplestore behind HTTP: SPARQL 1.1 Protocol and SPARQL 1.1 Graph Store HTTP Protocol as a GraphStore.
import { isFailure, problem, type Problem } from '../problem.js'
import { discard, piecesOf, refusalOf, textOf, wholeOf } from './http-answer.js'
import { openExchange, type Answer, type ExchangeLimits, type Sent } from './http-exchange.js'
import { MAX_GRAPH_BYTES, type Call, type GraphStore } from './store.js'

export interface Endpoints {
  readonly query: string
  readonly update: string
  readonly graphStore: string
}

export type Credentials = { readonly user: string; readonly password: string } | { readonly token: string }

export interface HttpStoreSettings extends Endpoints, Partial<ExchangeLimits> {
  readonly name?: string
  readonly credentials?: Credentials
  /** A graph above this is not read whole. */
  readonly maxGraphBytes?: number
}

const LIMITS: ExchangeLimits = {
  connections: 32,
  queue: 1000,
  connectTimeout: 5_000,
  headersTimeout: 30_000,
  idleTimeout: 30_000,
  totalTimeout: 120_000,
}
/** Fewer than a listener takes requests (server.ts), so that there is room for documents. */
const MOST_WAITING = 256
const MAX_READINESS_BYTES = 64 * 1024
const N_TRIPLES = 'application/n-triples'

/** The endpoints of a Fuseki dataset, as its default configuration names them. */
export const fusekiEndpoints = (datasetUrl: string): Endpoints => ({
  query: `${datasetUrl}/query`,
  update: `${datasetUrl}/update`,
  graphStore: `${datasetUrl}/data`,
})

/**
 * Opens a store. Throws a TypeError for endpoints that are no http(s) URLs or hold credentials.
 * No address and no credential comes into a problem's detail, which clients may read.
 */
export function openHttpStore(settings: HttpStoreSettings): GraphStore {
  const query = endpointOf(settings.query)
  const update = endpointOf(settings.update)
  const graphStore = endpointOf(settings.graphStore)
  const { maxGraphBytes = MAX_GRAPH_BYTES } = settings
  const limits = { ...LIMITS, ...definedOf(settings) }
  const documents = openExchange(limits)
  // Queries and updates have connections and a queue of their own, so that slow ones do not hold up documents.
  const sparql = openExchange({ ...limits, queue: Math.min(limits.queue, MOST_WAITING) })
  const identity = fieldsOf(settings.credentials)

  const send = (sent: Omit<Sent, 'body'> & { body?: string }, call: Call = {}) =>
    (sent.method === 'POST' ? sparql : documents).send(
      { ...sent, fields: { ...identity, ...sent.fields } },
      call.signal,
    )

  const write = async (sent: Omit<Sent, 'safe'>, done: readonly number[], call?: Call, isUpdate = false) => {
    const answer = await send({ ...sent, safe: false }, call)
    if (isFailure(answer)) return answer
    if (!done.includes(answer.statusCode))
      return (isUpdate && refusedText(answer, 'update.syntax')) || refusalOf(answer)
    discard(answer)
    return undefined
  }

  // SPARQL 1.1 Protocol §2.1.3: query via POST directly.
  const ask = async (sparql: string, accept: string, call?: Call): Promise<Answer | Problem> => {
    const fields = { accept, 'content-type': 'application/sparql-query' }
    const answer = await send({ method: 'POST', url: query, fields, body: sparql, safe: true }, call)
    if (isFailure(answer)) return answer
    return refusedText(answer, 'query.syntax') ?? wholeOf(answer, accept)
  }

  // SPARQL 1.1 Graph Store HTTP Protocol §5.2
  const get = async (graph: string, call?: Call): Promise<Answer | undefined | Problem> => {
    const url = graphUrl(graphStore, graph)
    const answer = await send({ method: 'GET', url, fields: { accept: N_TRIPLES }, safe: true }, call)
    if (isFailure(answer)) return answer
    return answer.statusCode === 404 ? discard(answer) : wholeOf(answer, N_TRIPLES)
  }

  return {
    name: settings.name ?? `${graphStore.origin}${graphStore.pathname}`,

    async read(graph, call) {
      const answer = await get(graph, call)
      if (!answer || isFailure(answer)) return answer
      const text = await textOf(answer, maxGraphBytes)
      return isFailure(text) || text.trim() ? text : undefined
    },

    async stream(graph, call) {
      const answer = await get(graph, call)
      return !answer || isFailure(answer) ? answer : piecesOf(answer)
    },

    // SPARQL 1.1 Graph Store HTTP Protocol §5.3
    replace: (graph, nTriples, call) =>
      write(
        {
          method: 'PUT',
          url: graphUrl(graphStore, graph),
          fields: { 'content-type': N_TRIPLES },
          body: nTriples,
        },
        [200, 201, 204],
        call,
      ),

    // SPARQL 1.1 Graph Store HTTP Protocol §5.4
    remove: (graph, call) =>
      write({ method: 'DELETE', url: graphUrl(graphStore, graph), fields: {} }, [200, 204, 404], call),

    async query(sparql, accept, call) {
      const answer = await ask(sparql, accept, call)
      return isFailure(answer) ? answer : piecesOf(answer)
    },

    // SPARQL 1.1 Protocol §2.2.2: update via POST directly.
    update: (sparql, call) =>
      write(
        { method: 'POST', url: update, fields: { 'content-type': 'application/sparql-update' }, body: sparql },
        [200, 204],
        call,
        true,
      ),

    async ready(call) {
      const answer = await ask('ASK {}', 'application/sparql-results+json', call)
      if (isFailure(answer)) return answer
      const text = await textOf(answer, MAX_READINESS_BYTES)
      return isFailure(text) ? text : undefined
    },

    close: async () => void (await Promise.all([documents.close(), sparql.close()])),
  }
}

/** SPARQL 1.1 Protocol §2.1.6, §2.2.5: 400 where the store does not take the text for SPARQL. */
function refusedText(answer: Answer, code: 'query.syntax' | 'update.syntax'): Problem | undefined {
  const { statusCode: status } = answer
  if (status === 500 && code === 'update.syntax') {
    discard(answer)
    return problem(
      'update.failed',
      'The triplestore did not do the update. Does a graph of it not exist, or exist already?',
    )
  }
  if (status !== 400) return undefined
  discard(answer)
  return problem(code, 'The triplestore does not take this text for SPARQL 1.1.')
}

function endpointOf(text: string): URL {
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('the URL of a store must be an http or https URL')
  if (url.username || url.password) throw new TypeError('credentials do not belong into the URL of a store')
  return url
}

const definedOf = (settings: HttpStoreSettings): Partial<ExchangeLimits> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

function fieldsOf(credentials: Credentials | undefined): Record<string, string> {
  if (!credentials) return {}
  if ('token' in credentials) return { authorization: `Bearer ${credentials.token}` }
  // RFC 7617 §2: user-id, colon, password; UTF-8 (§2.1).
  const pair = Buffer.from(`${credentials.user}:${credentials.password}`)
  return { authorization: `Basic ${pair.toString('base64')}` }
}

// SPARQL 1.1 Graph Store HTTP Protocol §4.2: indirect identification.
function graphUrl(graphStore: URL, graph: string): URL {
  const url = new URL(graphStore)
  url.search = `${url.search ? `${url.search}&` : '?'}graph=${encodeURIComponent(graph)}`
  return url
}
