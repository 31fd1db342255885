// In charge of one request to GitHub's REST API: sent within limits, and its answer told as a value or a setback.
import { Octokit } from '@octokit/rest'
import type { Setback } from '../change.js'
import { bounded, codeOf, NOTHING, refusal, saidBy, type ErrorResponse, type Refusal } from './answer.js'

export interface GitHubSettings {
  /** `https://github.com/owner/repo`, or the same on a GitHub Enterprise server. */
  readonly location: string
  /** Where the API is, if not where the location's host has it. HTTPS, or HTTP on loopback. */
  readonly apiBase?: string
  readonly token: string | undefined
  readonly now: () => number
  /** ms, by a clock that nobody sets: for durations. */
  readonly elapsed?: () => number
  /** For a whole request, ms; one that sends much has 10 s more for each MB. */
  readonly timeout?: number
  /** Bytes of an answer. */
  readonly answerLimit?: number
  readonly fetch?: typeof fetch
}

export interface GitHubApi {
  /** For people: host, owner and repository. */
  readonly name: string
  /**
   * One request below `/repos/{owner}/{repo}`. `read` takes from the JSON what is needed; where it throws, the answer is
   * not what GitHub documents, and that is a refusal too.
   */
  ask<T>(route: string, parameters: object, read: (data: never) => T): Promise<T | Refusal>
  /** A file's bytes. */
  bytes(route: string, parameters: object): Promise<Buffer | Refusal>
  /** Ends what is going on; nothing is sent any more. */
  close(): void
}

const API_VERSION = '2022-11-28'
const TIMEOUT_MS = 30_000
/** GitHub has no file above 100 MB, and tells nothing else at such length. */
const ANSWER_LIMIT = 128 * 1024 * 1024
const MINUTE = 60_000
const LONGEST_WAIT = 65 * MINUTE
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/
const CHECK_API = 'Check --history-api: on a GitHub Enterprise host the base of the API ends in /api/v3.'
/** Nothing has been sent when these happen. */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|(ERR_TLS|CERT|UNABLE|SELF|DEPTH)_.*)$/
const BRANCH_RULE = /rule violation|protected branch|pull request|push protection/i
/** Push protection and the rules of pushes: on secrets, and on a file's size, path and extension. Each is about one file. */
const CONTENT_RULE = /\bsecrets?\b|\bfiles?\b|\bpaths?\b|\bextensions?\b/i

/** Owner, repository and the API's base; undefined for what is no repository's URL, or would send the token in clear. */
export function gitHubPlace({
  location,
  apiBase,
}: Pick<GitHubSettings, 'location' | 'apiBase'>):
  { readonly host: string; readonly owner: string; readonly repo: string; readonly apiBase: string } | undefined {
  const parts = /^https:\/\/([\w.-]+(?::\d+)?)\/([\w-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(location)
  if (!parts) return undefined
  const [, host = '', owner = '', repo = ''] = parts
  const own = /^(www\.)?github\.com$/i.test(host) ? 'https://api.github.com' : `https://${host}/api/v3`
  if (!URL.canParse(apiBase ?? own)) return undefined
  const base = new URL(apiBase ?? own)
  const inClear = base.protocol !== 'https:' && !(base.protocol === 'http:' && LOOPBACK.test(base.hostname))
  if (inClear || base.username || base.password || base.search || base.hash) return undefined
  return { host, owner, repo, apiBase: base.href.replace(/\/+$/, '') }
}

/** Throws where there is no such place: to be asked before. */
export function openGitHubApi(settings: GitHubSettings): GitHubApi {
  const place = gitHubPlace(settings)
  if (!place) throw new RangeError(`${settings.location} is no repository on GitHub`)
  const { host, owner, repo, apiBase } = place
  const name = `${host}/${owner}/${repo}`
  const elapsed = settings.elapsed ?? (() => performance.now())
  const { token, now, timeout = TIMEOUT_MS, answerLimit = ANSWER_LIMIT, fetch: send = fetch } = settings
  const silent = (): void => undefined
  const octokit = new Octokit({
    ...(token !== undefined && { auth: token }),
    baseUrl: apiBase,
    userAgent: 'triplegate',
    log: { debug: silent, info: silent, warn: silent, error: silent },
  })
  const closing = new AbortController()
  /** GitHub asks to be left alone meanwhile, and blocks those who do not. */
  let limited: { readonly refused: Refusal; readonly until: number } | undefined
  let limitedInARow = 0

  async function exchange(
    route: string,
    parameters: object,
    raw: boolean,
  ): Promise<{ data: unknown; headers: ErrorResponse['headers'] } | Refusal> {
    const what = route.replace('/repos/{owner}/{repo}', '').trim()
    const writes = !route.startsWith('GET')
    if (closing.signal.aborted) return refusal('unreachable', `${name} is closed`)
    const left = limited ? limited.until - elapsed() : 0
    if (limited && left > 0) return { ...limited.refused, retryAt: now() + left }
    let broken: unknown
    const boundedFetch = async (url: string, init: RequestInit): Promise<Response> => {
      const sent = typeof init.body === 'string' ? init.body.length : 0
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeout + Math.ceil(sent / 100))])
      try {
        return await bounded(await send(url, { ...init, redirect: 'manual', signal }), answerLimit)
      } catch (error) {
        broken = error
        throw error
      }
    }
    const headers = {
      accept: raw ? 'application/vnd.github.raw+json' : 'application/vnd.github+json',
      'x-github-api-version': API_VERSION,
    }
    const request = { fetch: boundedFetch, parseSuccessResponseBody: !raw }
    try {
      const answer = await octokit.request(route, { owner, repo, ...parameters, headers, request })
      limited = undefined
      limitedInARow = 0
      if (answer.status < 300) return answer as { data: unknown; headers: ErrorResponse['headers'] }
      const moved = `${apiBase} redirects ${name}: it has been renamed or moved. Give its new URL as the location. ${CHECK_API}`
      return refusal('missing', moved, answer.status)
    } catch (error) {
      if (broken !== undefined) return unanswered(broken, what, writes)
      const { status, response } = error as { status: number; response?: ErrorResponse }
      if (!response) throw error
      const refused = refusalOf(status, response, what, writes)
      if (refused.setback === 'limited') limited = { refused, until: elapsed() + refused.retryAt! - now() }
      return refused
    }
  }

  function unanswered(broken: unknown, what: string, writes: boolean): Refusal {
    const code = codeOf(broken)
    const isNotSent = NOT_SENT.test(code)
    const detail = `${name}: no answer of ${apiBase} to ${what} (${code})`
    return refusal(writes && !isNotSent ? 'in-doubt' : 'unreachable', isNotSent ? `${detail}. ${CHECK_API}` : detail)
  }

  function refusalOf(status: number, { headers, data }: ErrorResponse, what: string, writes: boolean): Refusal {
    const said = saidBy(data, token)
    const answered = `${name}: ${apiBase} answered ${status} to ${what}: ${said}`
    // GitHub itself says something, unless it has failed.
    const check = said === NOTHING && status < 500 ? CHECK_API : ''
    const refuse = (setback: Setback['setback'], mend = ''): Refusal => {
      const mends = [mend, check].filter((one) => one !== '').join(' ')
      return refusal(setback, mends === '' ? answered : `${answered}. ${mends}`, status, said)
    }
    const spent = headers['x-ratelimit-remaining'] === '0'
    const retryAfter = headers['retry-after']
    const overLimit = spent || retryAfter !== undefined || /rate limit|abuse/i.test(said)
    if (status === 429 || (status === 403 && overLimit)) {
      const reset = spent ? Number(headers['x-ratelimit-reset']) * 1000 : NaN
      const growing = now() + MINUTE * 2 ** limitedInARow++
      return { ...refuse('limited'), retryAt: within(timeOf(retryAfter) || reset || growing) }
    }
    if ((status === 409 || status === 422) && BRANCH_RULE.test(said)) {
      return CONTENT_RULE.test(said) && !/pull request/i.test(said)
        ? refuse('unfit', "Let the token's owner pass this rule, and start the gateway again.")
        : refuse('denied', "Let the token's owner pass the rules that protect the branch.")
    }
    switch (status) {
      case 401:
        return refuse('denied', 'Give a token that is valid.')
      case 403:
        return refuse('denied', 'Give a token with read and write access to the contents of the repository.')
      case 404:
        return refuse('missing', 'Check the location and the branch, and that the token has access to the repository.')
      case 409:
        return refuse('conflict')
      case 413:
      case 422:
        return refuse('unfit')
      default:
        if (status < 500) return refuse('failed')
        // Only 503 says that nothing was done (RFC 9110 §15.6.4).
        return refuse(writes && status !== 503 ? 'in-doubt' : 'unreachable')
    }
  }

  const timeOf = (retryAfter: string | undefined): number => {
    if (retryAfter === undefined) return NaN
    return /^\d+$/.test(retryAfter) ? now() + Number(retryAfter) * 1000 : Date.parse(retryAfter)
  }
  const within = (time: number): number => Math.min(Math.max(time, now() + 1000), now() + LONGEST_WAIT)

  return {
    name,
    async ask(route, parameters, read) {
      const answer = await exchange(route, parameters, false)
      if ('setback' in answer) return answer
      try {
        return read(answer.data as never)
      } catch {
        const setback = route.startsWith('GET') ? 'failed' : 'in-doubt'
        return refusal(
          setback,
          `${name}: the answer of ${apiBase} to ${route} is not as GitHub documents. ${CHECK_API}`,
        )
      }
    },
    async bytes(route, parameters) {
      const answer = await exchange(route, parameters, true)
      if ('setback' in answer) return answer
      // A folder is told as JSON, whatever is asked for.
      if (/^application\/json\b/.test(answer.headers['content-type'] ?? '')) {
        return refusal('missing', `${name}: what was asked for is no file`, 404)
      }
      return Buffer.from(await new Response(answer.data as ReadableStream).arrayBuffer())
    },
    close: () => closing.abort(),
  }
}
