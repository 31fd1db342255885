// In charge of OPTIONS and CORS preflights: the methods and media types of a target, which say nothing about a document.
import type { Member } from '../gateway.js'
import type { Response } from '../http/exchange.js'
import type { Target } from '../http/target.js'
import { response } from './respond.js'
import type { Route } from './route.js'

/** A preflight carries no credentials, and asks which of these fields a page may send (Fetch §4.8). */
const CORS_FIELDS =
  'Accept, Accept-Datetime, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Authorization, DPoP'

export function options(target: Target<Member>, { methods, allow, accepts = [] }: Route): Response {
  const allowed = allow?.(target) ?? methods
  return response(204, [
    ['Allow', allowed],
    ...accepts,
    ['Access-Control-Allow-Methods', allowed],
    ['Access-Control-Allow-Headers', CORS_FIELDS],
    ['Access-Control-Max-Age', '1728000'],
  ])
}
