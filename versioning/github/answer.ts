// In charge of what is taken from an answer of GitHub, none of which is trusted.
import type { Setback } from '../change.js'

/** How GitHub refused, or why it did not answer. */
export interface Refusal extends Setback {
  /** Undefined where there was no answer. */
  readonly status: number | undefined
  /** What GitHub says about it; not to be trusted, but short, one line, and without the token. */
  readonly said: string
}

export interface ErrorResponse {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly data: unknown
}

export const refusal = (setback: Setback['setback'], detail: string, status?: number, said = ''): Refusal => ({
  setback,
  detail,
  status,
  said,
})

/** The answer with its body read to the end: octokit reads without a limit. */
export async function bounded(response: Response, limit: number): Promise<Response> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > limit) throw new RangeError(`answer of more than ${limit} bytes`)
    chunks.push(chunk)
  }
  const { status, headers } = response
  return new Response([204, 205, 304].includes(status) ? null : Buffer.concat(chunks), { status, headers })
}

/** A code and no message: messages may quote what was sent. */
export function codeOf(error: unknown): string {
  const { code, name, cause } = error as { code?: unknown; name?: string; cause?: unknown }
  if (typeof code === 'string') return code
  return cause instanceof Error ? codeOf(cause) : (name ?? 'Error')
}

/** What is told where an answer says nothing, as that of another server. */
export const NOTHING = 'nothing'

export function saidBy(data: unknown, token: string | undefined): string {
  const { message, errors } = (typeof data === 'object' && data ? data : {}) as { message?: unknown; errors?: unknown }
  const all = [
    typeof message === 'string' ? message : NOTHING,
    ...(Array.isArray(errors) ? [JSON.stringify(errors)] : []),
  ]
  const text = all
    .join(' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return (token ? text.replaceAll(token, '…') : text).slice(0, 500)
}

/** An object id out of an answer. */
export function objectId(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{40}$/.test(value)) return value
  throw new TypeError('no object id')
}

export function string(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError('no string')
}

/** ms since the epoch, whole seconds. */
export function seconds(date: unknown): number {
  const time = wholeSeconds(string(date))
  if (Number.isNaN(time)) throw new TypeError('no date')
  return time
}

/** The same of a commit by anybody: 0 where it has no date. */
export const committedAt = (committer: { readonly date?: unknown } | null | undefined): number =>
  wholeSeconds(String(committer?.date)) || 0

const wholeSeconds = (date: string): number => Math.floor(Date.parse(date) / 1000) * 1000

/** As Git's dates are: no fractions of a second. */
export const isoSeconds = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
