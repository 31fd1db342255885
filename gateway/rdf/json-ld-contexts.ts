// In charge of remote JSON-LD contexts: fetched through the guarded fetcher only, cached for a while, bounded.
import { LRUCache } from 'lru-cache'
import type { GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { isFailure } from '../problem.js'
import type { LoadContext } from './read-json-ld.js'

const LIFETIME_MS = 3_600_000

export function makeLoadContext(fetcher: GuardedFetch): LoadContext {
  const contexts = new LRUCache<string, object>({ max: 100, ttl: LIFETIME_MS })
  return async (url) => {
    const known = contexts.get(url)
    if (known) return known
    const answer = await fetcher.fetch(url, { accept: 'application/ld+json, application/json;q=0.9' })
    if (isFailure(answer) || answer.status !== 200) return undefined
    try {
      const context = JSON.parse(answer.body.toString('utf8')) as unknown
      if (typeof context !== 'object' || context === null) return undefined
      contexts.set(url, context)
      return context
    } catch {
      return undefined
    }
  }
}
