// The cookies of log-in and session (RFC 6265bis): for this host only, out of reach of scripts, and sent along
// when a link is followed but not with what other sites submit.
import type { Field, Response } from '../http/exchange.js'
import { readyFields } from '../http/ready-head.js'

export type CookieKind = 'session' | 'login'

/** The names with the `=` after them. */
const STARTS = {
  session: { secure: '__Host-triplegate=', plain: 'triplegate=' },
  login: { secure: '__Host-triplegate-login=', plain: 'triplegate-login=' },
} as const

/** RFC 6265bis §4.1.3.2: a `__Host-` cookie is secure, which a base on plain http (on loopback) cannot have. */
const isSecure = (base: string): boolean => base.startsWith('https:')

const startOf = (kind: CookieKind, base: string): string => STARTS[kind][isSecure(base) ? 'secure' : 'plain']

/** The value in a Cookie field: undefined when it has none, empty when it has several that differ. */
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

/** The answer with a field that removes the ended session; not to be cached. */
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
