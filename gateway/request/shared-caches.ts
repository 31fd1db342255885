// What shared caches in front of the gateway need (--shared-cache): whether the gateway's cache had the answer
// (RFC 9211), the groups by which it is purged (RFC 9875), and that nginx asks again before each use.
import { uriOf } from '../../versioning/memento/time-map.js'
import type { Gateway } from '../gateway.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { normalisedPath } from '../http/normal-path.js'

type Asked = Pick<Request, 'method' | 'requestTarget'>
type Answered = Pick<Response, 'status' | 'fields'>
type Applications = { readonly dataspaces: readonly { readonly admin: { readonly base: string } }[] }

/** Every public answer is in this group. */
const ALL = 'public'

/** They come before the other fields: nginx 1.22 and older read X-Accel-Expires only before Cache-Control. */
export function sharedCacheFields(
  request: Asked,
  answered: Answered,
  { isCached, hasWritten }: { readonly isCached: boolean; readonly hasWritten: boolean },
  { settings, dataspaces }: Applications & Pick<Gateway, 'settings'>,
): Field[] {
  if (!settings.sharedCache) return []
  const { status, fields } = answered
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    // Anonymous clients send queries by POST: what changes nothing purges nothing.
    return hasWritten && status < 400 ? [['Cache-Group-Invalidation', changedGroups(request, dataspaces)]] : []
  }
  if (status !== 200 && status !== 206 && status !== 304) return []
  const own: Field = ['Cache-Status', `Triplegate; ${isCached ? 'hit' : 'fwd=miss'}`]
  if (!fields.some(([name, value]) => name === 'Cache-Control' && value.startsWith('public'))) return [own]
  // Its time has passed: nginx stores the answer, and asks with its entity-tag each time. `no-cache` would not be
  // stored, and a right to read what never changes may end.
  const again: Field[] = fields.some(([name]) => name === 'ETag') ? [['X-Accel-Expires', '@1']] : []
  return [...again, own, ['Cache-Groups', listOf([pathOf(request), ALL])]]
}

/** A document's own group; rights may be on all documents, and an update may write any of them. */
function changedGroups(request: Asked, dataspaces: Applications['dataspaces']): string {
  const path = pathOf(request)
  const isAdmin = dataspaces.some(({ admin }) => path?.startsWith(new URL(admin.base).pathname))
  return listOf([path?.endsWith('/') && !isAdmin && !request.requestTarget.includes('?') ? path : ALL])
}

/** RFC 9651 §3.1, §3.3.3: no character of a normalised path needs an escape. */
const listOf = (groups: readonly (string | undefined)[]): string =>
  groups.flatMap((group) => (group === undefined ? [] : [`"${group}"`])).join(', ')

/** The document's, where the query names it (SPARQL 1.1 Graph Store HTTP Protocol §4.2). */
function pathOf({ requestTarget }: Asked): string | undefined {
  const [url = '', query] = requestTarget.split('?', 2)
  const named = new URLSearchParams(query).get('graph') ?? url
  const path = normalisedPath(uriOf(named).replace(/^https?:\/\/[^/?#]*/i, ''))
  return typeof path === 'string' ? path : undefined
}
