// Fields for shared caches in front of the gateway (--shared-cache): whether the gateway's cache had the answer (RFC
// 9211), groups for purging (RFC 9875), and a field that makes nginx revalidate before each use.
import { uriOf } from '../../versioning/memento/time-map.js'
import type { Gateway } from '../gateway.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { normalisedPath } from '../http/normal-path.js'

type Asked = Pick<Request, 'method' | 'requestTarget'>
type Answered = Pick<Response, 'status' | 'fields'>
type Applications = { readonly dataspaces: readonly { readonly admin: { readonly base: string } }[] }

/** The group of every public answer. */
const ALL = 'public'

/** These precede the other fields: nginx 1.22 and older read X-Accel-Expires only before Cache-Control. */
export function sharedCacheFields(
  request: Asked,
  answered: Answered,
  { isCached, hasWritten }: { readonly isCached: boolean; readonly hasWritten: boolean },
  { settings, dataspaces }: Applications & Pick<Gateway, 'settings'>,
): Field[] {
  if (!settings.sharedCache) return []
  const { status, fields } = answered
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    // Anonymous clients send queries by POST: they change nothing, so nothing is purged.
    return hasWritten && status < 400 ? [['Cache-Group-Invalidation', changedGroups(request, dataspaces)]] : []
  }
  if (status !== 200 && status !== 206 && status !== 304) return []
  const own: Field = ['Cache-Status', `Triplegate; ${isCached ? 'hit' : 'fwd=miss'}`]
  if (!fields.some(([name, value]) => name === 'Cache-Control' && value.startsWith('public'))) return [own]
  // Already expired: nginx stores the answer and revalidates it by its entity-tag each time. With `no-cache` nginx
  // would not store it, and the right to read something unchanging may still end.
  const again: Field[] = fields.some(([name]) => name === 'ETag') ? [['X-Accel-Expires', '@1']] : []
  return [...again, own, ['Cache-Groups', listOf([pathOf(request), ALL])]]
}

/** The document's own group; all groups after a write of rules, which may cover all documents, or an update. */
function changedGroups(request: Asked, dataspaces: Applications['dataspaces']): string {
  const path = pathOf(request)
  const isAdmin = dataspaces.some(({ admin }) => path?.startsWith(new URL(admin.base).pathname))
  return listOf([path?.endsWith('/') && !isAdmin && !request.requestTarget.includes('?') ? path : ALL])
}

/** RFC 9651 §3.1, §3.3.3: normalised paths contain nothing that needs escaping. */
const listOf = (groups: readonly (string | undefined)[]): string =>
  groups.flatMap((group) => (group === undefined ? [] : [`"${group}"`])).join(', ')

/** The path of the document that the query names, if any (SPARQL 1.1 Graph Store HTTP Protocol §4.2). */
function pathOf({ requestTarget }: Asked): string | undefined {
  const [url = '', query] = requestTarget.split('?', 2)
  const named = new URLSearchParams(query).get('graph') ?? url
  const path = normalisedPath(uriOf(named).replace(/^https?:\/\/[^/?#]*/i, ''))
  return typeof path === 'string' ? path : undefined
}
