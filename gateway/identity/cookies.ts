// The cookies of log-in and session (RFC 6265bis): limited to this host, hidden from scripts, and sent when a link is
// followed but not when another site submits a form.
import { createHash } from 'node:crypto'
import type { Field, Response } from '../http/exchange.js'
import { readyFields } from '../http/ready-head.js'

export type CookieKind = 'session' | 'login'

/** The application that sets or gets a cookie, and its dataspace. */
export interface HasCookies {
  readonly application: { readonly base: string }
  readonly dataspace: { readonly admin: { readonly base: string } }
}

const STEMS = { session: 'triplegate-', login: 'triplegate-login-' } as const

/** RFC 6265bis §4.1.3.2: a `__Host-` cookie must be secure, which is impossible with plain http (on loopback). */
const isSecure = ({ application }: HasCookies): boolean => application.base.startsWith('https:')

/**
 * RFC 6265bis §8.5: cookies are not separated by port. So the name tells the dataspaces of a host apart; it is the same
 * in both applications of one.
 */
export function cookieName(kind: CookieKind, place: HasCookies): string {
  const digest = createHash('sha256').update(place.dataspace.admin.base).digest('hex').slice(0, 8)
  return `${isSecure(place) ? '__Host-' : ''}${STEMS[kind]}${digest}`
}

/** The value in a Cookie field: undefined if the cookie is missing, empty if it occurs with different values. */
export function cookieOf(field: string | undefined, kind: CookieKind, place: HasCookies): string | undefined {
  // The cookies of other programs need no digest.
  if (!field?.includes(STEMS[kind])) return undefined
  const start = `${cookieName(kind, place)}=`
  if (!field.includes(start)) return undefined
  let value: string | undefined
  // Usually there is only one cookie.
  for (const pair of field.includes(';') ? field.split(';') : [field]) {
    const trimmed = pair.trim()
    if (!trimmed.startsWith(start)) continue
    const found = trimmed.slice(start.length)
    value = value === undefined || value === found ? found : ''
  }
  return value
}

/** `maxAge` in seconds. */
export function setCookie(kind: CookieKind, place: HasCookies, value: string, maxAge: number): Field {
  const secure = isSecure(place) ? '; Secure' : ''
  const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`
  return ['Set-Cookie', `${cookieName(kind, place)}=${value}; ${attributes}`]
}

export const clearCookie = (kind: CookieKind, place: HasCookies): Field => setCookie(kind, place, '', 0)

/** Adds the field that deletes the cookie of the ended session, and prevents caching. */
export function endingSession({ status, fields, ready, body, trailer }: Response, deleting: Field): Response {
  const all = [...(ready ? readyFields(ready) : []), ...fields]
  return {
    status,
    fields: [
      ...all.filter(([name]) => name.toLowerCase() !== 'cache-control'),
      ['Cache-Control', 'no-store'],
      deleting,
    ],
    ...(body && { body }),
    ...(trailer && { trailer }),
  }
}
