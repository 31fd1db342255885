// In charge of what a redirect asks an outbound fetch to request next. Pure.
import { parseHttpUrl } from './destination.js'

/** What is requested at one hop; names of fields are lower-cased. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

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
  const kept = target.origin === url.origin ? fields : {}
  // RFC 9110 §15.4.2 to §15.4.4
  if (status === 303 ? method !== 'HEAD' : method === 'POST' && status < 303) {
    const contentless = Object.entries(kept).filter(([name]) => !name.startsWith('content-'))
    return { url: target, method: 'GET', fields: Object.fromEntries(contentless) }
  }
  // Content may be a credential, too.
  if (body !== undefined && target.origin !== url.origin) return 'redirects'
  return { url: target, method, fields: kept, body }
}
