// A double of GitHub's REST API: a server on loopback over a real bare repository. Each request and each answer is
// checked against GitHub's own description, and the test fails if one differs.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { answerFaults, operationFor, requestFaults } from './github-description.js'
import { makeGit, type Git } from './github-git.js'
import { operationsOn, refuse, type Answer } from './github-operations.js'

export interface SeenCall {
  readonly method: string
  /** GitHub's name of the operation, such as `repos/get-content`. */
  readonly operation: string
  /** The file, ref or id at the end of the path; or ''. */
  readonly target: string
  /** Undefined if the connection was cut. */
  readonly status: number | undefined
}

export interface Fault {
  /** The calls that it affects; by default every call. */
  readonly on?: (call: Omit<SeenCall, 'status'>) => boolean
  /** The number of calls that it affects; 1 by default. */
  readonly times?: number
  /** ms, before anything else. */
  readonly delay?: number
  /** Runs before the call takes effect: a push by another author, for example. */
  readonly meanwhile?: () => Promise<unknown>
  /** True if the call takes effect whatever its answer. By default it does, except with `answer` or `drop`. */
  readonly applied?: boolean
  readonly answer?: { readonly status: number; readonly message?: string; readonly headers?: Record<string, string> }
  /** Ends the connection without an answer. */
  readonly drop?: boolean
}

export interface GitHubDouble {
  readonly location: string
  readonly apiBase: string
  readonly git: Git
  readonly calls: SeenCall[]
  /** The valid token; a test revokes it by setting another. */
  token: string
  mayPush: boolean
  /** The requests left in this hour, and the end of the hour in ms since the epoch. */
  remaining: number
  resetAt: number
  /** The most entries of a tree in one answer. */
  treeLimit: number
  /** Each call gets the first fault that matches it. */
  fault(...faults: readonly Fault[]): void
  /** Reads keep showing the branches in their current state, until `thaw`. */
  freeze(): Promise<void>
  thaw(): void
  /** A commit by another author, written to the repository directly: contents by path, null to remove one. */
  push(files: Readonly<Record<string, string | null>>, message?: string, branch?: string): Promise<string>
  /** Along first parents, oldest first. */
  history(
    branch?: string,
  ): Promise<readonly { sha: string; message: string; author: string; paths: readonly string[] }[]>
  /** A file at the head of the branch. */
  file(path: string, branch?: string): Promise<string | undefined>
}

export interface GitHubDoubleOptions {
  readonly defaultBranch?: string
  readonly now?: () => number
}

const HOUR = 3_600_000
const LIMIT = 5000

export async function openGitHub(
  t: Test,
  { defaultBranch = 'main', now = Date.now }: GitHubDoubleOptions = {},
): Promise<GitHubDouble> {
  const git = makeGit()
  await git.git('init', '--quiet', '--bare', `--initial-branch=${defaultBranch}`, git.folder)
  const faults: { fault: Fault; left: number }[] = []
  let frozen: Map<string, string | undefined> | undefined

  const seen = async (branch: string): Promise<string | undefined> =>
    frozen ? frozen.get(branch) : git.resolve(`refs/heads/${branch}`)
  const operations = operationsOn({
    git,
    defaultBranch,
    now,
    seen,
    mayPush: () => double.mayPush,
    treeLimit: () => double.treeLimit,
  })

  async function answerTo(
    request: IncomingMessage,
    body: string,
  ): Promise<{ answer: Answer; fault?: Fault; call?: Omit<SeenCall, 'status'> }> {
    const url = new URL(request.url!, double.apiBase)
    const described = operationFor(request.method!, url.pathname.replace(/^\/api\/v3/, ''))
    if (!described) return { answer: violation(`no operation for ${request.method} ${request.url}`) }
    const { owner, repo, ...rest } = described.path
    const call = { method: request.method!, operation: described.id, target: Object.values(rest).join(' ') }
    const found = faults.find(({ fault, left }) => left > 0 && (fault.on?.(call) ?? true))
    if (found) found.left--
    const fault = found?.fault
    if (fault?.delay) await sleep(fault.delay)
    await fault?.meanwhile?.()
    const act = async (): Promise<Answer> => {
      const { authorization, accept = '', 'x-github-api-version': version, 'user-agent': agent } = request.headers
      if (!agent || version !== '2022-11-28') return violation(`user-agent ${agent}, API version ${version}`)
      if (authorization !== `token ${double.token}`) return refuse(401, 'Bad credentials')
      if (double.remaining <= 0 && double.resetAt > now()) return refuse(403, 'API rate limit exceeded for user ID 1.')
      if (double.resetAt <= now()) Object.assign(double, { remaining: LIMIT, resetAt: now() + HOUR })
      double.remaining--
      if (`${owner}/${repo}` !== 'owner/repo') return refuse(404, 'Not Found')
      const parsed = body === '' ? undefined : (JSON.parse(body) as Record<string, unknown>)
      const wrong = requestFaults(described, url.searchParams, parsed)
      if (wrong.length > 0) return violation(`${described.id} is asked: ${wrong.join('; ')}`)
      const raw = accept.includes('raw')
      const { path } = described
      return operations[described.id]!({
        path,
        query: url.searchParams,
        body: parsed ?? {},
        raw,
        url: withoutPage(url),
      })
    }
    const applied = fault?.applied ?? (!fault?.answer && !fault?.drop)
    const done = applied ? await act() : undefined
    if (fault?.answer) {
      const { status, message = 'Fault', headers } = fault.answer
      return { answer: { ...refuse(status, message), ...(headers && { headers }) }, fault, call }
    }
    const answer = done ?? refuse(500, 'Cut')
    const wrong = answer.bytes || fault?.drop ? [] : answerFaults(described, answer.status, answer.body)
    return {
      answer: wrong.length > 0 ? violation(`${described.id} answers: ${wrong.join('; ')}`) : answer,
      ...(fault && { fault }),
      call,
    }
  }

  const violation = (what: string): Answer => {
    t.fail(`not as GitHub describes it: ${what}`)
    return refuse(500, what)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { answer, fault, call } = await answerTo(request, Buffer.concat(chunks).toString())
    if (call) double.calls.push({ ...call, status: fault?.drop ? undefined : answer.status })
    if (fault?.drop) {
      request.socket.destroy()
      return
    }
    const bytes = answer.bytes ?? Buffer.from(JSON.stringify(answer.body))
    const entityTag = `"${createHash('sha256').update(bytes).digest('hex')}"`
    const fields = {
      'content-type': answer.bytes
        ? 'application/vnd.github.raw+json; charset=utf-8'
        : 'application/json; charset=utf-8',
      'x-github-api-version-selected': '2022-11-28',
      'x-ratelimit-limit': String(LIMIT),
      'x-ratelimit-remaining': String(Math.max(0, double.remaining)),
      'x-ratelimit-used': String(LIMIT - double.remaining),
      'x-ratelimit-reset': String(Math.ceil(double.resetAt / 1000)),
      'x-ratelimit-resource': 'core',
      ...(request.method === 'GET' && answer.status === 200 && { etag: entityTag }),
      ...answer.headers,
    }
    if (request.method === 'GET' && request.headers['if-none-match'] === entityTag) {
      double.remaining++
      response.writeHead(304, fields).end()
    } else response.writeHead(answer.status, fields).end(bytes)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => {
      // The other end may have disconnected while its request was read.
      if (request.complete) t.fail(error.stack ?? error.message)
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    git.remove()
  })

  const double: GitHubDouble = {
    location: 'https://github.example/owner/repo',
    apiBase: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`,
    git,
    calls: [],
    token: 'github_pat_secret',
    mayPush: true,
    remaining: LIMIT,
    resetAt: now() + HOUR,
    treeLimit: 100_000,
    fault: (...more) => faults.push(...more.map((fault) => ({ fault, left: fault.times ?? 1 }))),
    async freeze() {
      const names = (await git.git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads')).split('\n')
      frozen = new Map(await Promise.all(names.map(async (name) => [name, await seen(name)] as const)))
    },
    thaw: () => (frozen = undefined),
    async push(files, message = 'By another author', branch = defaultBranch) {
      const head = await git.resolve(`refs/heads/${branch}`)
      const changes = Object.entries(files).map(([path, content]) => ({
        path,
        sha: content === null ? null : git.writeBlob(Buffer.from(content)),
      }))
      const tree = await git.writeTree(head, changes)
      const author = { name: 'Somebody', email: 'somebody@example.org', date: new Date(now()).toISOString() }
      const commit = git.writeCommit({ tree, parents: head ? [head] : [], author, committer: author, message })
      if (!(await git.moveBranch(branch, commit, head))) throw new Error('the branch has moved')
      return commit
    },
    async history(branch = defaultBranch) {
      const shas = await git.log('--first-parent', '--reverse', `refs/heads/${branch}`).catch(() => [])
      return Promise.all(
        shas.map(async (sha) => {
          const commit = await git.readCommit(sha)
          const paths = (await git.changesOf(commit)).map(({ path }) => path)
          return { sha, message: commit.message, author: commit.author.name, paths }
        }),
      )
    },
    async file(path, branch = defaultBranch) {
      const head = await git.resolve(`refs/heads/${branch}`)
      const entry = head && (await git.entryAt(head, path))
      return entry ? (await git.readBlob(entry.sha)).toString() : undefined
    },
  }
  return double
}

function withoutPage(url: URL): string {
  const copy = new URL(url)
  copy.searchParams.delete('page')
  return copy.href
}
