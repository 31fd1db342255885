// One request to GitHub's REST API: sent within limits; the answer is returned as a value or a setback.
import { isFailure } from '../failure.js'
import { boundedAnswer } from './answer.js'
import {
  CHECK_API,
  type ErrorResponse,
  type GitHubRefusal,
  gitHubRefusal,
  statusRefusal,
  unansweredRefusal,
} from './refusals.js'
import type { Octokit } from '@octokit/rest'

const MINUTE = 60_000
const LONGEST_WAIT = 65 * MINUTE

interface RateLimit {
  /** The refusal of every request while a limit lasts: GitHub blocks clients that send more. */
  refused(): GitHubRefusal | undefined
  /** Call it when GitHub has refused a request for its limit. Returns the refusal with the time of the next attempt. */
  reached(refused: GitHubRefusal, headers: ErrorResponse['headers']): GitHubRefusal
  /** Call it when GitHub has answered a request: no limit is reached. */
  reset(): void
}

/** @param elapsed ms, by a clock that nobody sets */
function makeRateLimit(now: () => number, elapsed: () => number): RateLimit {
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

export interface GitHubSettings {
  /** `https://github.com/owner/repo`, or a repository's URL on a GitHub Enterprise server. */
  readonly location: string
  /** The base of the API, if it is not the default for the location's host. HTTPS, or HTTP on loopback. */
  readonly apiBase?: string
  readonly token: string | undefined
  readonly now: () => number
  /** ms, by a clock that nobody sets: for durations. */
  readonly elapsed?: () => number
  /** The limit for a whole request, in ms; 10 s more for each MB that it sends. */
  readonly timeout?: number
  /** The most bytes of an answer. */
  readonly answerLimit?: number
  readonly fetch?: typeof fetch
}

export interface GitHubApi {
  /** For people: host, owner and repository. */
  readonly name: string
  /**
   * Sends a request below `/repos/{owner}/{repo}`. `read` takes the needed values from the JSON. If it throws, the
   * answer is not as GitHub documents it, which counts as a refusal too.
   */
  ask<T>(route: string, parameters: object, read: (data: never) => T): Promise<T | GitHubRefusal>
  /** A file's bytes. */
  bytes(route: string, parameters: object): Promise<Buffer | GitHubRefusal>
  /** Aborts running requests, and sends no more. */
  close(): void
}

const API_VERSION = '2022-11-28'
const TIMEOUT_MS = 30_000
/** GitHub has no file above 100 MB, and no other answer is as long. */
const ANSWER_LIMIT = 128 * 1024 * 1024
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

export interface GitHubPlace {
  readonly host: string
  readonly owner: string
  readonly repo: string
  readonly apiBase: string
}

/** Owner, repository and the API's base; undefined for other URLs, and if the token would be sent unencrypted. */
export function gitHubPlace({
  location,
  apiBase,
}: Pick<GitHubSettings, 'location' | 'apiBase'>): GitHubPlace | undefined {
  const parts = /^https:\/\/([\w.-]+(?::\d+)?)\/([\w-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(location)
  if (!parts) return undefined
  const [, host = '', owner = '', repo = ''] = parts
  const own = /^(www\.)?github\.com$/i.test(host) ? 'https://api.github.com' : `https://${host}/api/v3`
  if (!URL.canParse(apiBase ?? own)) return undefined
  const base = new URL(apiBase ?? own)
  const unencrypted = base.protocol !== 'https:' && !(base.protocol === 'http:' && LOOPBACK.test(base.hostname))
  if (unencrypted || base.username || base.password || base.search || base.hash) return undefined
  return { host, owner, repo, apiBase: base.href.replace(/(?<!\/)\/+$/, '') }
}

interface ApiConnection {
  readonly place: GitHubPlace
  readonly name: string
  readonly settings: GitHubSettings
  /** Loads octokit at the first request: commands, and gateways without history on GitHub, do not need it. */
  octokit(): Promise<Octokit>
  readonly limit: RateLimit
  readonly closing: AbortController
}

/** Throws if `gitHubPlace` gives undefined: check that first. */
export function openGitHubApi(settings: GitHubSettings): GitHubApi {
  const place = gitHubPlace(settings)
  if (!place) throw new RangeError(`${settings.location} is no repository on GitHub`)
  const { apiBase } = place
  const name = `${place.host}/${place.owner}/${place.repo}`
  let opened: Promise<Octokit> | undefined
  const octokit = (): Promise<Octokit> => (opened ??= openOctokit(apiBase, settings.token))
  const closing = new AbortController()
  const limit = makeRateLimit(settings.now, settings.elapsed ?? (() => performance.now()))
  const connection: ApiConnection = { place, name, settings, octokit, limit, closing }

  return {
    name,
    async ask(route, parameters, read) {
      const answer = await exchange(connection, route, parameters, false)
      if (isFailure(answer)) return answer
      try {
        return read(answer.data as never)
      } catch {
        const detail = `${name}: the answer of ${apiBase} to ${route} is not as GitHub documents. ${CHECK_API}`
        return gitHubRefusal(route.startsWith('GET') ? 'failed' : 'in-doubt', detail)
      }
    },
    async bytes(route, parameters) {
      const answer = await exchange(connection, route, parameters, true)
      if (isFailure(answer)) return answer
      // GitHub sends a folder as JSON, whatever media type is requested.
      if (/^application\/json\b/.test(answer.headers['content-type'] ?? '')) {
        return gitHubRefusal('missing', `${name}: the path is not a file`, 404)
      }
      return Buffer.from(await new Response(answer.data as ReadableStream).arrayBuffer())
    },
    close: () => closing.abort(),
  }
}

async function openOctokit(baseUrl: string, token: string | undefined): Promise<Octokit> {
  const { Octokit } = await import('@octokit/rest')
  const silent = (): void => undefined
  return new Octokit({
    ...(token !== undefined && { auth: token }),
    baseUrl,
    userAgent: 'triplegate',
    log: { debug: silent, info: silent, warn: silent, error: silent },
  })
}

interface Exchanged {
  readonly data: unknown
  readonly headers: ErrorResponse['headers']
}

async function exchange(
  { place, name, settings, octokit, limit, closing }: ApiConnection,
  route: string,
  parameters: object,
  raw: boolean,
): Promise<Exchanged | GitHubRefusal> {
  const { owner, repo, apiBase } = place
  if (closing.signal.aborted) return gitHubRefusal('unreachable', `${name} is closed`)
  const limited = limit.refused()
  if (limited) return limited
  let broken: unknown
  const fetch = boundedFetch(settings, closing.signal, (error) => (broken = error))
  const headers = {
    accept: raw ? 'application/vnd.github.raw+json' : 'application/vnd.github+json',
    'x-github-api-version': API_VERSION,
  }
  const sent = {
    ...{ name, apiBase, token: settings.token, writes: !route.startsWith('GET') },
    route: route.replace('/repos/{owner}/{repo}', '').trim(),
  }
  try {
    const request = { fetch, parseSuccessResponseBody: !raw }
    const answer = await (await octokit()).request(route, { owner, repo, ...parameters, headers, request })
    limit.reset()
    if (answer.status < 300) return answer as Exchanged
    const moved = `${apiBase} redirects ${name}: it has been renamed or moved. Give its new URL as the location. ${CHECK_API}`
    return gitHubRefusal('missing', moved, answer.status)
  } catch (error) {
    if (broken !== undefined) return unansweredRefusal(broken, sent)
    const { status, response } = error as { status: number; response?: ErrorResponse }
    if (!response) throw error
    const refused = statusRefusal(status, response, sent)
    return refused.failure === 'limited' ? limit.reached(refused, response.headers) : refused
  }
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A fetch with limits of time and size. Connection errors go to `broke` too, since octokit wraps them. */
const boundedFetch =
  (
    { timeout = TIMEOUT_MS, answerLimit = ANSWER_LIMIT, fetch: send = fetch }: GitHubSettings,
    closing: AbortSignal,
    broke: (error: unknown) => void,
  ): Fetch =>
  async (url, init) => {
    const length = typeof init.body === 'string' ? init.body.length : 0
    const signal = AbortSignal.any([closing, AbortSignal.timeout(timeout + Math.ceil(length / 100))])
    try {
      return await boundedAnswer(await send(url, { ...init, redirect: 'manual', signal }), answerLimit)
    } catch (error) {
      broke(error)
      throw error
    }
  }
