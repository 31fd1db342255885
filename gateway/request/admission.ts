// In charge of which requests are let in: methods that the route has, no writes by pages of other sites, and above the limit of
// concurrent requests only cached reads.
import { isCrossSite } from '../../policies/cross-site.js'
import type { Member } from '../gateway.js'
import type { Request } from '../http/exchange.js'
import type { Target } from '../http/target.js'
import type { Route } from './route.js'

/** A proof of possession counts once: it must not be spent on a refusal. */
export const isCachedRead = ({ method, fields }: Request, target: Target<Member>): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  target.kind === 'document' &&
  fields.dpop === undefined &&
  target.application.cache.documents.has(target.document)

/** `methods` as Allow lists them. */
export function hasMethod(methods: string, method: string): boolean {
  const at = methods.indexOf(method)
  const end = at + method.length
  return at >= 0 && (at === 0 || methods[at - 1] === ' ') && (end === methods.length || methods[end] === ',')
}

export function isCrossSiteWrite(
  request: Request,
  { dataspace }: Target<Member>,
  { needs }: Route,
  content: unknown,
  allowedOrigins: readonly string[],
): boolean {
  const { method, fields } = request
  // An identity provider sends the browser back to an open route by a link. RFC 9110 §9.2.1: GET and HEAD are safe.
  const isRead = needs === 'open' ? method === 'GET' || method === 'HEAD' : needs(method, content) === 'Read'
  // A browser adds no token by itself: whoever sends one means it (design 3).
  if (isRead || /^(bearer|dpop) /i.test(fields.authorization ?? '')) return false
  return !allowedOrigins.includes(fields.origin ?? '') && isCrossSite(fields, dataspace.origins)
}
