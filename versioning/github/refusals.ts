// The refusals of GitHub: the setback for each error status, and for each failure of the connection.
import type { Setback, SetbackCode } from '../failure.js'

/** How GitHub refused, or why it did not answer. */
export interface GitHubRefusal extends Setback {
  /** Undefined if there was no answer. */
  readonly status: number | undefined
  /** GitHub's own message: untrusted, but short, on one line, and without the token. */
  readonly said: string
}

export interface ErrorResponse {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly data: unknown
}

export const gitHubRefusal = (failure: SetbackCode, detail: string, status?: number, said = ''): GitHubRefusal => ({
  failure,
  detail,
  status,
  said,
})

export const CHECK_API = 'Check --history-api: on a GitHub Enterprise host the base of the API ends in /api/v3.'
/** The codes of errors that happen before anything is sent. */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|(ERR_TLS|CERT|UNABLE|SELF|DEPTH)_.*)$/
const BRANCH_RULE = /rule violation|protected branch|pull request|push protection/i
/**
 * Matches refusals by push protection and push rules: secrets, or a file's size, path or extension. Each is about one
 * file.
 */
const CONTENT_RULE = /\bsecrets?\b|\bfiles?\b|\bpaths?\b|\bextensions?\b/i
/** Stands for the message of an answer without one, which may come from another server. */
const NO_MESSAGE = 'nothing'

/** A request to the API, as messages name it. */
export interface GitHubRequest {
  /** Host, owner and repository. */
  readonly name: string
  readonly apiBase: string
  readonly token: string | undefined
  /** Method and path. */
  readonly route: string
  readonly writes: boolean
}

/** The refusal for a request whose connection failed. */
export function unansweredRefusal(error: unknown, { name, apiBase, route, writes }: GitHubRequest): GitHubRefusal {
  const code = networkErrorCode(error)
  const isNotSent = NOT_SENT.test(code)
  const detail = `${name}: no answer from ${apiBase} to ${route} (${code})`
  return gitHubRefusal(
    writes && !isNotSent ? 'in-doubt' : 'unreachable',
    isNotSent ? `${detail}. ${CHECK_API}` : detail,
  )
}

/** The refusal for an answer with an error status. A `limited` one has no `retryAt` yet (`RateLimit` adds it). */
export function statusRefusal(status: number, { headers, data }: ErrorResponse, request: GitHubRequest): GitHubRefusal {
  const said = saidBy(data, request.token)
  const answered = `${request.name}: ${request.apiBase} answered ${status} to ${request.route}: ${said}`
  // An answer of GitHub has a message, unless GitHub has failed: without one, the API's URL may be wrong.
  const check = said === NO_MESSAGE && status < 500 ? CHECK_API : ''
  const [failure, remedy = ''] = setbackFor(status, said, isOverLimit(status, headers, said), request.writes)
  const remedies = [remedy, check].filter((one) => one !== '').join(' ')
  return gitHubRefusal(failure, remedies === '' ? answered : `${answered}. ${remedies}`, status, said)
}

function isOverLimit(status: number, headers: ErrorResponse['headers'], said: string): boolean {
  const spent = headers['x-ratelimit-remaining'] === '0'
  const overLimit = spent || headers['retry-after'] !== undefined || /rate limit|abuse/i.test(said)
  return status === 429 || (status === 403 && overLimit)
}

function setbackFor(
  status: number,
  said: string,
  overLimit: boolean,
  writes: boolean,
): readonly [SetbackCode, remedy?: string] {
  if (overLimit) return ['limited']
  if ((status === 409 || status === 422) && BRANCH_RULE.test(said)) {
    return CONTENT_RULE.test(said) && !/pull request/i.test(said)
      ? ['unfit', "Let the token's owner bypass this rule, and start the gateway again."]
      : ['denied', "Let the token's owner bypass the rules that protect the branch."]
  }
  switch (status) {
    case 401:
      return ['denied', 'Give a token that is valid.']
    case 403:
      return ['denied', 'Give a token with read and write access to the contents of the repository.']
    case 404:
      return ['missing', 'Check the location and the branch, and that the token has access to the repository.']
    case 409:
      return ['conflict']
    case 413:
    case 422:
      return ['unfit']
    default:
      if (status < 500) return ['failed']
      // Only 503 says that nothing was done (RFC 9110 §15.6.4).
      return [writes && status !== 503 ? 'in-doubt' : 'unreachable']
  }
}

/** Only the code of the error: its message may quote the request. */
function networkErrorCode(error: unknown): string {
  const { code, name, cause } = error as { code?: unknown; name?: string; cause?: unknown }
  if (typeof code === 'string') return code
  return cause instanceof Error ? networkErrorCode(cause) : (name ?? 'Error')
}

function saidBy(data: unknown, token: string | undefined): string {
  const { message, errors } = (typeof data === 'object' && data ? data : {}) as { message?: unknown; errors?: unknown }
  const all = [
    typeof message === 'string' ? message : NO_MESSAGE,
    ...(Array.isArray(errors) ? [JSON.stringify(errors)] : []),
  ]
  const text = all
    .join(' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return (token ? text.replaceAll(token, '…') : text).slice(0, 500)
}
