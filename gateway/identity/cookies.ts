// The cookies of log-in and session (RFC 6265bis): limited to this host, hidden from scripts, and sent when a link is
// followed but not when another site submits a form.
import type { Field, Response } from '../http/exchange.js'
import { readyFields } from '../http/ready-head.js'

export type CookieKind = 'session' | 'login'

/** The names including the `=`. */
const STARTS = {
  session: { secure: '__Host-triplegate=', plain: 'triplegate=' },
  login: { secure: '__Host-triplegate-login=', plain: 'triplegate-login=' },
} as const

/** RFC 6265bis §4.1.3.2: a `__Host-` cookie must be secure, which is impossible with plain http (on loopback). */
const isSecure = (base: string): boolean => base.startsWith('https:')

const startOf = (kind: CookieKind, base: string): string => STARTS[kind][isSecure(base) ? 'secure' : 'plain']

/** The value in a Cookie field: undefined if the cookie is missing, empty if it occurs with different values. */
export function cookieOf(field: string | undefined, kind: CookieKind, base: string): string | undefined {
  const start = startOf(kind, base)
  if (!field?.includes(start)) return undefined
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
export const setCookie = (kind: CookieKind, base: string, value: string, maxAge: number): Field => [
  'Set-Cookie',
  `${startOf(kind, base)}${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${isSecure(base) ? '; Secure' : ''}`,
]

export const clearCookie = (kind: CookieKind, base: string): Field => setCookie(kind, base, '', 0)

/** Adds the field that deletes the ended session, and prevents caching. */
export function endingSession({ status, fields, ready, body, trailer }: Response, base: string): Response {
  const all = [...(ready ? readyFields(ready) : []), ...fields]
  return {
    status,
    fields: [
      ...all.filter(([name]) => name.toLowerCase() !== 'cache-control'),
      ['Cache-Control', 'no-store'],
      clearCookie('session', base),
    ],
    ...(body && { body }),
    ...(trailer && { trailer }),
  }
}
