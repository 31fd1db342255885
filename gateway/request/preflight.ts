// OPTIONS and CORS preflights: the methods and media types of a target. They reveal nothing about a document.
import type { Gateway, Member } from '../gateway.js'
import type { Request, Response } from '../http/exchange.js'
import type { Target } from '../http/target.js'
import { isFailure, type Problem } from '../problem.js'
import { response } from './respond.js'
import type { Route } from './route.js'

/** A preflight has no credentials. It asks which of these fields a page may send (Fetch §4.8). */
const CORS_FIELDS =
  'Accept, Accept-Datetime, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Authorization, ' +
  'DPoP, On-Behalf-Of, Link, Slug, Prefer, Content-Location'

/** The proxy forwards OPTIONS (spec 4.4), but a preflight, which has no credentials, is answered by this gateway. */
export const isAboutTarget = ({ method, fields }: Request, { kind }: Target<Member>): boolean =>
  method === 'OPTIONS' && (kind !== 'proxied' || fields['access-control-request-method'] !== undefined)

export function options(target: Target<Member>, { methods, allow, accepts = [] }: Route): Response {
  const allowed = allow?.(target) ?? methods
  return response(204, [
    ['Allow', allowed],
    ...accepts.filter(([name]) => name !== 'Accept-Patch' || allowed.includes('PATCH')),
    ['Access-Control-Allow-Methods', allowed],
    ['Access-Control-Allow-Headers', CORS_FIELDS],
    ['Access-Control-Max-Age', '1728000'],
  ])
}

/**
 * A preflight must not be redirected (Fetch §4.8), so OPTIONS on a document's URL without its final slash is answered
 * like one with it.
 */
export function targetOfRequest(
  { method, requestTarget, fields: { host } }: Request,
  gateway: Pick<Gateway, 'targetOf'>,
): Target<Member> | Problem {
  const target = gateway.targetOf(requestTarget, host)
  if (method !== 'OPTIONS' || !isFailure(target) || target.failure !== 'target.slash') return target
  return gateway.targetOf(requestTarget.replace(/\?|$/, '/$&'), host)
}
