// Loads the texts of remote JSON-LD contexts: only through the guarded fetcher, cached for a while, bounded in bytes.
import { LRUCache } from 'lru-cache'
import type { FetchAnswer, GuardedFetch } from '../../policies/fetch/guarded-fetch.js'
import { decodeText } from '../http/body.js'
import { linksIn } from '../http/link-field.js'
import { parseMediaType } from '../http/media-type.js'
import { isFailure } from '../problem.js'
import { isJson } from './foreign-content.js'
import type { LoadContext } from './read-json-ld.js'
import { unpacked } from './unpacked.js'

const LIFETIME_MS = 3_600_000
const CACHE_BYTES = 4 * 1024 * 1024
/** The largest context. schema.org's has 200 kB. */
const LONGEST_CONTEXT = 512 * 1024

const JSON_LD = 'application/ld+json'
const ACCEPT = `${JSON_LD};profile="http://www.w3.org/ns/json-ld#context", ${JSON_LD}, application/json;q=0.9`

export function makeLoadContext(fetcher: GuardedFetch): LoadContext {
  const contexts = new LRUCache<string, string>({ maxSize: CACHE_BYTES, ttl: LIFETIME_MS })
  return async (url) => {
    const known = contexts.get(url)
    if (known !== undefined) return known
    const answer = await answerTo(fetcher, url)
    const body = answer && (await unpacked(answer.body, LONGEST_CONTEXT))
    if (!body || isFailure(body) || body.length > LONGEST_CONTEXT) return undefined
    const text = decodeText(body)
    if (text !== undefined) contexts.set(url, text, { size: 2 * text.length + url.length + 1 })
    return text
  }
}

/** JSON-LD 1.1 API, LoadDocumentCallback: a page may link to JSON-LD as its alternate, as schema.org's does. */
async function answerTo(fetcher: GuardedFetch, url: string, isAlternate = false): Promise<FetchAnswer | undefined> {
  const answer = await fetcher.fetch(url, { accept: ACCEPT })
  if (isFailure(answer) || answer.status !== 200) return undefined
  const { fields } = answer
  if (isAlternate || isJson(parseMediaType(fields['content-type'] ?? '')?.type ?? '')) return answer
  const links = linksIn(fields.link, answer.url, 'alternate')
  const alternate = links.find(({ parameters }) => parseMediaType(parameters.get('type') ?? '')?.type === JSON_LD)
  return alternate ? answerTo(fetcher, alternate.target, true) : answer
}
