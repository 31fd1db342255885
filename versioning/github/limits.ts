// GitHub's rate limits: the time until which it wants no requests, and refusing them until then.
import type { ErrorResponse, GitHubRefusal } from './refusals.js'

const MINUTE = 60_000
const LONGEST_WAIT = 65 * MINUTE

export interface RateLimit {
  /** The refusal of every request while a limit lasts: GitHub blocks clients that send more. */
  refused(): GitHubRefusal | undefined
  /** GitHub has refused a request as one too many. Returns the refusal with the time of the next attempt. */
  reached(refused: GitHubRefusal, headers: ErrorResponse['headers']): GitHubRefusal
  /** GitHub has answered a request: no limit is reached. */
  reset(): void
}

/** @param elapsed ms, by a clock that is never set */
export function makeRateLimit(now: () => number, elapsed: () => number): RateLimit {
  let limited: { readonly refused: GitHubRefusal; readonly until: number } | undefined
  let inARow = 0

  const timeOf = (retryAfter: string | undefined): number => {
    if (retryAfter === undefined) return NaN
    return /^\d+$/.test(retryAfter) ? now() + Number(retryAfter) * 1000 : Date.parse(retryAfter)
  }
  const bounded = (time: number): number => Math.min(Math.max(time, now() + 1000), now() + LONGEST_WAIT)

  return {
    refused() {
      const left = limited ? limited.until - elapsed() : 0
      return limited && left > 0 ? { ...limited.refused, retryAt: now() + left } : undefined
    },
    reached(refused, headers) {
      const spent = headers['x-ratelimit-remaining'] === '0'
      const reset = spent ? Number(headers['x-ratelimit-reset']) * 1000 : NaN
      const growing = now() + MINUTE * 2 ** inARow++
      const retryAt = bounded(timeOf(headers['retry-after']) || reset || growing)
      limited = { refused: { ...refused, retryAt }, until: elapsed() + retryAt - now() }
      return limited.refused
    },
    reset() {
      limited = undefined
      inARow = 0
    },
  }
}
