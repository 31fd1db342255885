// In charge of the URLs of a triplestore's endpoints, and of the fields with its credentials. Pure.
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'

export type Credentials = { readonly user: string; readonly password: string } | { readonly token: string }

export function endpointOf(text: string): URL {
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('the URL of a store must be an http or https URL')
  if (url.username || url.password) throw new TypeError('credentials do not belong into the URL of a store')
  return url
}

export function fieldsOf(credentials: Credentials | undefined): Record<string, string> {
  if (!credentials) return {}
  if ('token' in credentials) return { authorization: `Bearer ${credentials.token}` }
  // RFC 7617 §2: user-id, colon, password; UTF-8 (§2.1).
  const pair = Buffer.from(`${credentials.user}:${credentials.password}`)
  return { authorization: `Basic ${pair.toString('base64')}` }
}

// SPARQL 1.1 Graph Store HTTP Protocol §4.2: indirect identification.
export function graphUrl(graphStore: URL, graph: string): URL {
  const url = new URL(graphStore)
  const name = graph === DEFAULT_GRAPH ? 'default' : `graph=${encodeURIComponent(graph)}`
  url.search = `${url.search ? `${url.search}&` : '?'}${name}`
  return url
}
