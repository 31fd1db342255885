// The URLs of a triplestore's endpoints, and of the fields with its credentials. Pure.
import { RESULTS_JSON, RESULTS_TSV, RESULTS_XML } from '../rdf/sparql-results.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'

export type Credentials = { readonly user: string; readonly password: string } | { readonly token: string }

export function endpointOf(text: string): URL {
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('the URL of a store must be an http or https URL')
  if (url.username || url.password) throw new TypeError('credentials do not belong in the URL of a store')
  return url
}

export function endpointFieldsOf(credentials: Credentials | undefined): Record<string, string> {
  if (!credentials) return {}
  if ('token' in credentials) return { authorization: `Bearer ${credentials.token}` }
  // RFC 7617 §2: user-id, colon, password; UTF-8 (§2.1).
  const pair = Buffer.from(`${credentials.user}:${credentials.password}`)
  return { authorization: `Basic ${pair.toString('base64')}` }
}

// SPARQL 1.1 Graph Store HTTP Protocol §4.2: indirect identification.
export function storeGraphUrl(graphStore: URL, graph: string): URL {
  const url = new URL(graphStore)
  const name = graph === DEFAULT_GRAPH ? 'default' : `graph=${encodeURIComponent(graph)}`
  url.search = `${url.search ? `${url.search}&` : '?'}${name}`
  return url
}

/**
 * Fuseki's parameter `timeout`, in seconds: a little more than the gateway waits for an answer, so that the gateway's
 * own limit applies first. Other stores use other units for it, or refuse the form.
 */
export function timedQueryUrl(query: URL, accept: string, patience: number): URL {
  const url = new URL(query)
  url.searchParams.set('timeout', RESULTS.has(accept) ? `${patience},${UNLIMITED}` : String(patience))
  return url
}

// Fuseki sends the first result as soon as it has it. A limit on the rest would end the answer in the middle, as if it
// were complete.
const RESULTS = new Set([RESULTS_JSON, RESULTS_XML, RESULTS_TSV, 'text/csv'])
const UNLIMITED = 10_000_000
