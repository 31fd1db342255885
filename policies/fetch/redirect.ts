// The request that follows a redirect of an outbound fetch. Pure.
import { isFailure } from '../failure.js'
import { parseHttpUrl } from './destination.js'
import { fetchFailure, type FetchFailure } from './fetch-failure.js'

/** The request of one hop; names of fields are lower-cased. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

// Fields that say nothing about the agent: only what it has already, what it wants, and the proxies on the way.
const FOR_ANY_ORIGIN = new Set(['accept-language', 'if-modified-since', 'if-none-match', 'via'])

/** The request that the answer asks for instead of the given one. */
export function redirect({ url, method, fields, body }: Hop, status: number, location: string): Hop | FetchFailure {
  const target = parseHttpUrl(location, url)
  if (isFailure(target)) return target
  if (url.protocol === 'https:' && target.protocol === 'http:') return fetchFailure('redirects')
  // RFC 9110 §15.4: fields such as Authorization are meant for one origin.
  const kept = target.origin === url.origin ? fields : only(fields, (name) => FOR_ANY_ORIGIN.has(name))
  // RFC 9110 §15.4.2 to §15.4.4
  if (status === 303 ? method !== 'HEAD' : method === 'POST' && status < 303) {
    return { url: target, method: 'GET', fields: only(kept, (name) => !name.startsWith('content-')) }
  }
  // The body may be a credential, too.
  if (body !== undefined && target.origin !== url.origin) return fetchFailure('redirects')
  return { url: target, method, fields: kept, body }
}

const only = (fields: Hop['fields'], isKept: (name: string) => boolean): Hop['fields'] =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)))
