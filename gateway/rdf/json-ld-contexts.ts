// In charge of remote JSON-LD contexts as texts: fetched through the guarded fetcher only, cached for a while, bounded in bytes.
import { LRUCache } from 'lru-cache'
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { isFailure } from '../problem.js'
import type { LoadContext } from './read-json-ld.js'

const LIFETIME_MS = 3_600_000
const CACHE_BYTES = 4 * 1024 * 1024
/** The largest context. That of schema.org has 200 kB. */
const LONGEST_CONTEXT = 512 * 1024

export function makeLoadContext(fetcher: GuardedFetch): LoadContext {
  const contexts = new LRUCache<string, string>({ maxSize: CACHE_BYTES, ttl: LIFETIME_MS })
  return async (url) => {
    const known = contexts.get(url)
    if (known !== undefined) return known
    const answer = await fetcher.fetch(url, { accept: 'application/ld+json, application/json;q=0.9' })
    if (isFailure(answer) || answer.status !== 200 || answer.body.length > LONGEST_CONTEXT) return undefined
    const text = answer.body.toString('utf8')
    contexts.set(url, text, { size: 2 * text.length + url.length + 1 })
    return text
  }
}
