// In charge of what a redirect asks an outbound fetch to request next. Pure.
import { parseHttpUrl } from './destination.js'

/** What is requested at one hop; names of fields are lower-cased. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

// Those that say nothing about who is asking: what is known already, what is wanted, who has passed it on.
const FOR_ANY_ORIGIN = new Set(['accept-language', 'if-modified-since', 'if-none-match', 'via'])

/** The request that the answer asks for instead of `hop`, or why it is not followed. */
export function redirect(
  { url, method, fields, body }: Hop,
  status: number,
  location: string,
): Hop | 'malformed' | 'refused-scheme' | 'redirects' {
  const target = parseHttpUrl(location, url)
  if (typeof target === 'string') return target
  if (url.protocol === 'https:' && target.protocol === 'http:') return 'redirects'
  // RFC 9110 §15.4: fields such as Authorization are meant for one origin.
  const kept = target.origin === url.origin ? fields : only(fields, (name) => FOR_ANY_ORIGIN.has(name))
  // RFC 9110 §15.4.2 to §15.4.4
  if (status === 303 ? method !== 'HEAD' : method === 'POST' && status < 303) {
    return { url: target, method: 'GET', fields: only(kept, (name) => !name.startsWith('content-')) }
  }
  // Content may be a credential, too.
  if (body !== undefined && target.origin !== url.origin) return 'redirects'
  return { url: target, method, fields: kept, body }
}

const only = (fields: Hop['fields'], isKept: (name: string) => boolean): Hop['fields'] =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)))
