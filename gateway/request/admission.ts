// Decides which requests are admitted: by the methods of the route, by whether they may write, and, above the limit of
// concurrent requests, only cached reads.
import { isCrossSite } from '../../policies/cross-site.js'
import type { Dataspace, Gateway, Member } from '../gateway.js'
import type { Request } from '../http/exchange.js'
import { parseMediaType } from '../http/media-type.js'
import type { Target } from '../http/target.js'
import { problem } from '../problem.js'
import { MULTIPART } from '../rdf/read-multipart.js'
import type { Agent } from './context.js'
import type { Route } from './route.js'

/** A proof of possession can be used only once, so it must not be spent on a refusal. */
export const isCachedRead = ({ method, fields }: Request, target: Target<Member>): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  target.kind === 'document' &&
  fields.dpop === undefined &&
  target.application.cache.documents.has(target.document)

/** Such content may include files (features/files/read-upload.ts). */
export const hasParts = ({ fields }: Pick<Request, 'fields'>): boolean =>
  parseMediaType(fields['content-type'] ?? '')?.type === MULTIPART

/** For routes that forward every method. */
export const EVERY_METHOD = '*'

/** `methods` has the form of an Allow field, or is EVERY_METHOD. */
export function hasMethod(methods: string, method: string): boolean {
  const at = methods.indexOf(method)
  const end = at + method.length
  if (at < 0) return methods === EVERY_METHOD
  return (at === 0 || methods[at - 1] === ' ') && (end === methods.length || methods[end] === ',')
}

/**
 * True if a page of another site sends credentials that the browser added by itself (design 3). Browsers never add
 * tokens by themselves, so a request with a token is intended.
 */
export const isOfOtherSite = (
  { fields }: Request,
  { origins }: Pick<Dataspace, 'origins'>,
  { settings: { allowOrigin } }: Pick<Gateway, 'settings'>,
): boolean =>
  !/^(?:bearer|dpop) /i.test(fields.authorization ?? '') &&
  !allowOrigin.includes(fields.origin ?? '') &&
  isCrossSite(fields, origins)

export const CROSS_SITE = problem('access.cross-site', 'A page of another site may not write here.')

/** True if the request needs more than Read, as far as this is known before its content is read. */
export function mayWrite(request: Request, target: Target<Member>, route: Route): boolean | 'perhaps' {
  const { method } = request
  // Identity providers send the browser back to an open route by a link. RFC 9110 §9.2.1: GET and HEAD are safe.
  if (route.needs === 'open') return method !== 'GET' && method !== 'HEAD'
  const modes = route.couldNeed?.(request, target)
  if (!modes) return route.needs(method, undefined) !== 'Read'
  return modes.length > 1 ? 'perhaps' : modes[0] !== 'Read'
}

/**
 * A request waits while the rules of a large graph are added to the index. Without a cache, rules are read for each
 * request, like documents. Endpoints other than SPARQL may report the rights of other agents, so they need all rules.
 */
export function readRules(target: Target<Member>, agent: Agent): Promise<unknown> | undefined {
  const { refresh, takingIn } = target.dataspace.access
  const taken = takingIn()
  if (!refresh) return taken
  const isOfAgent = target.kind !== 'endpoint' || target.endpoint === 'sparql'
  const read = async (): Promise<unknown> => refresh(isOfAgent ? agent : undefined)
  return taken ? taken.then(read) : read()
}
