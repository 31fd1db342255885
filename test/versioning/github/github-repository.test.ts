// The tests of the GitHub repository: the contract of a repository, the setback for each answer of GitHub,
// and the number of calls for each operation.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { isFailure, SetbackError } from '../../../versioning/failure.js'
import { gitHubPlace } from '../../../versioning/github/api.js'
import { openGitHubRepository, type GitHubRepositoryOptions } from '../../../versioning/github/github-repository.js'
import type { NewCommit, Repository } from '../../../versioning/repository.js'
import { freePort } from '../../support/fuseki.js'
import { openGitHub, type Fault, type GitHubDouble, type GitHubDoubleOptions } from '../../support/github.js'
import {
  all,
  changeOf,
  commitAll,
  repositoryContract,
  succeeded,
  TIME,
  triple,
  type OpenedRepository,
} from '../repository-contract.js'

// Each call is one or more git processes.
const PATIENT = { timeout: 600_000 }

const connect = async (github: GitHubDouble, options: Partial<GitHubRepositoryOptions> = {}): Promise<Repository> =>
  succeeded(
    await openGitHubRepository({
      ...{ location: github.location, apiBase: github.apiBase, branch: 'main', pathPrefix: 'graphs' },
      ...{ token: github.token, now: () => Date.now(), pause: 5 },
      ...options,
    }),
  )

async function open(
  t: Test,
  options: Partial<GitHubRepositoryOptions> = {},
  settings: GitHubDoubleOptions = {},
): Promise<OpenedRepository & { readonly github: GitHubDouble }> {
  const github = await openGitHub(t, settings)
  let repository = await connect(github, options)
  t.teardown(() => repository.close())
  return {
    github,
    repository,
    folder: github.git.folder,
    async reopen() {
      await repository.close()
      return (repository = await connect(github, options))
    },
  }
}

void t.test('the contract of a repository', PATIENT, async (t) => repositoryContract(t, open))

void t.test('locations', async (t) => {
  // prettier-ignore
  const rows: readonly (readonly [location: string, apiBase: string | undefined, expected: string | undefined])[] = [
    ['https://github.com/o/r', undefined, 'https://api.github.com o r'],
    ['https://github.com/o/r.git', undefined, 'https://api.github.com o r'],
    ['https://github.com/o/r/', undefined, 'https://api.github.com o r'],
    ['https://git.example:8443/o/r', undefined, 'https://git.example:8443/api/v3 o r'],
    ['https://git.example/o/r', 'https://api.git.example/', 'https://api.git.example o r'],
    ['https://git.example/o/r', 'http://127.0.0.1:80/api/v3', 'http://127.0.0.1/api/v3 o r'],
    ['https://git.example/o/r', 'http://api.git.example/', undefined],
    ['https://git.example/o/r', 'https://x:y@api.git.example/', undefined],
    ['http://github.com/o/r', undefined, undefined],
    ['https://token@github.com/o/r', undefined, undefined],
    ['https://github.com/o', undefined, undefined],
    ['https://github.com/o/r/tree/main', undefined, undefined],
    ['git@github.com:o/r.git', undefined, undefined],
    ['', undefined, undefined],
  ]
  for (const [location, apiBase, expected] of rows) {
    const place = gitHubPlace({ location, ...(apiBase !== undefined && { apiBase }) })
    t.equal(place && `${place.apiBase} ${place.owner} ${place.repo}`, expected, `${location} ${apiBase ?? ''}`)
  }
  const options = { branch: 'main', pathPrefix: 'graphs', token: 'x', now: () => 0 }
  t.ok(isFailure(await openGitHubRepository({ location: 'ftp://x/o/r', ...options })))
})

const writes: Fault['on'] = ({ method }) => method !== 'GET'

void t.test('the setback for each answer of GitHub to a write', PATIENT, async (t) => {
  const github = await openGitHub(t)
  const reset = Math.floor(TIME / 1000) + 1800
  const date = new Date(TIME + 90_000).toUTCString()
  type Row = readonly [name: string, answer: Fault, failure: string, retryIn?: number]
  const answer = (status: number, message?: string, headers?: Record<string, string>): Fault => ({
    answer: { status, message: `${message} ${github.token}`, ...(headers && { headers }) },
  })
  const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }
  const violated = (rule: string): string => `Repository rule violations found\n\n${rule}`
  const byPullRequest = violated('Changes to these files must be made through a pull request')
  const always = { times: 99 }
  // prettier-ignore
  const rows: readonly Row[] = [
    ['401', answer(401, 'Bad credentials'), 'denied'],
    ['403, no access', answer(403, 'Resource not accessible by personal access token'), 'denied'],
    ['403, secondary limit', answer(403, 'You have exceeded a secondary rate limit'), 'limited', 60_000],
    ['403 with Retry-After', answer(403, 'Slow down', { 'retry-after': '30' }), 'limited', 30_000],
    ['403, nothing left', answer(403, 'API rate limit exceeded', spent), 'limited', reset * 1000 - TIME],
    ['429 with Retry-After', answer(429, 'Too many requests', { 'retry-after': '120' }), 'limited', 120_000],
    ['429 with a date', answer(429, 'Too many requests', { 'retry-after': date }), 'limited', 90_000],
    ['429 with a time too far off', answer(429, 'Too many', { 'retry-after': '99999999' }), 'limited', 3_900_000],
    ['429 with nonsense', answer(429, 'Too many requests', { 'retry-after': 'soon' }), 'limited', 60_000],
    ['404', answer(404, 'Not Found'), 'missing'],
    ['409, a protected branch', answer(409, 'Repository rule violations found'), 'denied'],
    ['409, a secret', answer(409, violated('Secret detected in content')), 'unfit'],
    ['409, a large file', answer(409, violated('File size exceeds 1 MB')), 'unfit'],
    ['409, a long path', answer(409, violated('File path is too long')), 'unfit'],
    ['422, an extension', answer(422, violated('Extension .nt is restricted')), 'unfit'],
    ['409, a pull request is required', answer(409, byPullRequest), 'denied'],
    ['409, the head always moves', { ...answer(409, 'main is at a but expected b'), ...always }, 'conflict'],
    ['409, the file always changes', { ...answer(409, 'a.nt does not match b'), ...always, on: writes }, 'conflict'],
    ['422', answer(422, 'path contains a malformed path component'), 'unfit'],
    ['413', answer(413, 'Request Entity Too Large'), 'unfit'],
    ['500', answer(500, 'Server Error'), 'in-doubt'],
    ['502', answer(502, 'Bad Gateway'), 'in-doubt'],
    ['503', answer(503, 'Service Unavailable'), 'unreachable'],
    ['504', answer(504, 'Gateway Timeout'), 'in-doubt'],
    ['400', answer(400, 'Problems parsing JSON'), 'failed'],
    ['301', answer(301, 'Moved Permanently', { location: 'https://elsewhere.example/' }), 'missing'],
    ['200 with another body', answer(200, 'Hello'), 'in-doubt'],
    ['a connection that is cut before', { drop: true }, 'in-doubt'],
    ['a connection that is cut after', { drop: true, applied: true }, 'in-doubt'],
    ['silence', { delay: 1500, drop: true }, 'in-doubt'],
    ['more than the limit', answer(201, 'x'.repeat(40_000)), 'in-doubt'],
  ]
  for (const [name, fault, failure, retryIn] of rows) {
    const repository = await connect(github, {
      now: () => TIME,
      timeout: fault.delay ? 700 : 60_000,
      answerLimit: 30_000,
      pause: 0,
    })
    let over = false
    github.fault({ ...fault, on: (call) => !over && (fault.on?.(call) ?? true) })
    const outcome = await repository.commit([changeOf(`${name.replace(/\W+/g, '-')}/`, triple(name))])
    over = true
    await repository.close()
    if (!isFailure(outcome)) t.fail(`${name}: committed`)
    else {
      t.match(outcome, { failure, done: [], retryAt: retryIn === undefined ? undefined : TIME + retryIn }, name)
      t.notMatch(JSON.stringify(outcome), github.token, `${name}: without the token`)
    }
  }

  for (const [name, options, failure] of [
    ['no server listens', { apiBase: `http://127.0.0.1:${await freePort()}` }, 'unreachable'],
    ['no token', { token: undefined }, 'denied'],
    ['an invalid token', { token: 'a\nb' }, 'denied'],
    ['another token', { token: 'other' }, 'denied'],
  ] as const) {
    const repository = await connect(github, options)
    t.match(await repository.commit([changeOf('x/', triple('x'))]), { failure }, name)
    t.match(await repository.ready(), { failure, detail: /\w+/ }, `${name}: not ready`)
    await repository.close()
  }
})

void t.test('a wrong API base: the setback names the request, and what to check', async (t) => {
  const answers: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
    '/html': [404, 'text/html', '<h1>Not here</h1>'],
    '/empty': [400, 'text/plain', ''],
    '/other': [200, 'application/json', '{"object":{}}'],
    '/login': [302, 'text/html', ''],
  }
  const server = createServer((request, response) => {
    const [status, type, body] = answers[`/${request.url!.split('/')[1]}`]!
    response.writeHead(status, { 'content-type': type, ...(status === 302 && { location: '/' }) }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bases = [...Object.keys(answers).map((path) => here + path), `http://127.0.0.1:${await freePort()}`]
  for (const apiBase of bases) {
    const options = { location: 'https://git.example/o/r', apiBase, branch: 'main', pathPrefix: 'graphs', token: 'x' }
    const repository = succeeded(await openGitHubRepository({ ...options, now: () => Date.now() }))
    const error = await all(repository.log(undefined)).catch((thrown: unknown) => thrown)
    t.ok(error instanceof SetbackError, apiBase)
    const { detail } = (error as SetbackError).setback
    for (const part of ['git.example/o/r', apiBase, 'Check --history-api', '/api/v3.'])
      t.ok(detail.includes(part), detail)
    t.notMatch(detail, /\.\./)
    await repository.close()
  }
})

void t.test('ready', async (t) => {
  const { repository, github } = await open(t)
  t.equal(await repository.ready(), undefined, 'an empty repository')
  await github.push({ x: 'y' })
  t.equal(await repository.ready(), undefined)
  github.mayPush = false
  t.match(await repository.ready(), { failure: 'denied', detail: /may not write/ })
  const other = await connect(github, { location: 'https://github.example/owner/other' })
  t.match(await other.ready(), { failure: 'missing', detail: /location.*token/ }, 'another repository')
  await other.close()
  await repository.close()
  t.match(await repository.ready(), { failure: 'unreachable' }, 'closed')
})

void t.test('during a limit of GitHub nothing is sent; the pauses grow', async (t) => {
  const clock = { now: TIME }
  const { repository, github } = await open(t, { now: () => clock.now, elapsed: () => clock.now })
  const change = changeOf('a/', triple('1'))
  github.fault({ times: 3, answer: { status: 403, message: 'You have exceeded a secondary rate limit' } })
  for (const minutes of [1, 2, 4]) {
    t.match(await repository.commit([change]), { failure: 'limited', retryAt: clock.now + minutes * 60_000 })
    const calls = github.calls.length
    clock.now += minutes * 60_000 - 1
    t.match(await repository.commit([change]), { failure: 'limited' })
    t.equal(github.calls.length, calls)
    clock.now += 1
  }
  t.notOk(isFailure(await repository.commit([change])))
})

void t.test('during a limit of GitHub, setting the clock makes no difference', async (t) => {
  const [clock, elapsed] = [{ now: TIME }, { now: 0 }]
  const { repository, github } = await open(t, { now: () => clock.now, elapsed: () => elapsed.now })
  github.fault({ answer: { status: 429, headers: { 'retry-after': '30' } } })
  const commit = () => repository.commit([changeOf('a/', triple('1'))])
  t.match(await commit(), { failure: 'limited', retryAt: TIME + 30_000 })
  elapsed.now = 10_000
  for (const hours of [-5, 5]) {
    clock.now = TIME + hours * 3_600_000
    t.match(await commit(), { failure: 'limited', retryAt: clock.now + 20_000 }, `set by ${hours} hours`)
  }
  clock.now = TIME - 5 * 3_600_000
  elapsed.now = 30_000
  t.notOk(isFailure(await commit()))
})

void t.test('calls', PATIENT, async (t) => {
  type Row = readonly [
    name: string,
    before: ((github: GitHubDouble) => Promise<unknown>) | undefined,
    change: () => NewCommit,
    calls: readonly string[],
    commits: number,
  ]
  const foreign = triple('theirs')
  const push =
    (files: Parameters<GitHubDouble['push']>[0]): Row[1] =>
    (github) =>
      github.push(files)
  const headMoves: Row[1] = async (github) =>
    github.fault({ answer: { status: 409, message: 'main is at 1 but expected 2' } })
  const change =
    (name: string, value: string | undefined, previous?: string): Row[2] =>
    () =>
      changeOf(name, value && triple(value), previous === undefined ? {} : { previous: triple(previous) })
  const REREAD = ['PUT', 'GET repos/list-commits', 'GET repos/get-content', 'PUT']
  const EMPTY_COMMIT = [
    ...['GET repos/list-commits', 'GET repos/list-commits', 'GET git/get-ref', 'GET git/get-commit'],
    ...['POST', 'PATCH'],
  ]
  // prettier-ignore
  const rows: readonly Row[] = [
    ['a new document in an empty repository', undefined, change('a/', '1'), ['PUT'], 1],
    ['an update', undefined, change('a/', '2', '1'), ['PUT'], 1],
    ['a deletion', undefined, change('a/', undefined, '2'), ['DELETE'], 1],
    ['after a commit by others to another file', push({ README: 'x' }), change('b/', '1'), ['PUT'], 2],
    ['after a commit by others to the same file', push({ 'graphs/b.nt': foreign }), change('b/', '2', '1'), REREAD, 2],
    ['a file that others have created', push({ 'graphs/c.nt': foreign }), change('c/', '1'), REREAD, 2],
    ['a file that others have removed', push({ 'graphs/c.nt': null }), change('c/', '2', '1'), REREAD, 2],
    ['the head moves once', headMoves, change('d/', '1'), ['PUT', 'PUT'], 1],
    ['a deletion of a missing file', undefined, change('never/', undefined), EMPTY_COMMIT, 1],
  ]
  const { repository, github } = await open(t)
  for (const [name, before, change, calls, commits] of rows) {
    const known = (await github.history()).length
    await before?.(github)
    github.calls.length = 0
    const [committed] = await commitAll(repository, [change()])
    t.same(
      github.calls.map(({ method, operation }) => (method === 'GET' ? `GET ${operation}` : method)),
      calls,
      name,
    )
    const history = await github.history()
    t.equal(history.length - known, commits, `${name}: commits`)
    t.equal(history.at(-1)!.sha, committed!.commit)
  }

  await t.test('a missing branch begins at the default branch', async (t) => {
    const { repository, github } = await open(t, { branch: 'history' }, { defaultBranch: 'trunk' })
    const theirs = await github.push({ README: 'x' })
    const [committed] = await commitAll(repository, [changeOf('a/', triple('1'))])
    t.equal(committed!.parent, theirs)
    t.equal(github.calls.length, 5)
    t.equal((await github.history()).length, 1, 'which stays as it is')
    t.equal(await github.file('graphs/a.nt', 'history'), triple('1'))
  })
})

/** The code of the setback that reading to the end throws. */
const failureOf = (items: AsyncIterable<unknown>): Promise<string> =>
  all(items).then(
    () => 'none',
    (error: unknown) => (error instanceof SetbackError ? error.setback.failure : String(error)),
  )

void t.test('a commit of many files is read completely', PATIENT, async (t) => {
  const { repository, github } = await open(t)
  for (const count of [99, 100, 101, 299, 301]) {
    const files = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`graphs/${n}.nt`, triple(`${count} ${n}`)]),
    )
    const head = await github.push(files)
    const [logged] = (await all(repository.log(undefined))).slice(-1)
    t.equal(logged!.commit, head)
    t.same(logged!.files.map(({ path }) => path).sort(), Object.keys(files).sort(), `${count} files`)
  }
})

void t.test('reading', PATIENT, async (t) => {
  const { repository, github } = await open(t, { pathPrefix: 'data/graphs' })
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`data/graphs/${n % 4}/${n}.nt`, triple(String(n))]),
  )
  const head = await github.push({ ...files, 'data/graphs.nt': 'x', 'other/y.nt': 'y' })
  const paths = async (): Promise<string[]> => (await all(repository.files())).map(({ path }) => path).sort()
  t.same(await paths(), Object.keys(files).sort())
  github.treeLimit = 15
  t.same(await paths(), Object.keys(files).sort(), 'truncated trees are walked')
  github.treeLimit = 5
  t.equal(await failureOf(repository.files()), 'failed', 'a folder that cannot be read completely')
  github.treeLimit = 100_000
  t.same(Object.fromEntries((await all(repository.contents())).map(({ path, content }) => [path, content])), files)

  const at = { commit: head, path: 'data/graphs/0/0.nt', blob: undefined }
  github.token = 'other'
  t.match(await repository.read(at), { failure: 'denied' })
  github.fault({ answer: { status: 404 } }, { answer: { status: 404 } })
  t.match(await repository.read(at), { failure: 'missing' }, 'unreachable is not the same as absent')
  t.equal(await failureOf(repository.log(undefined)), 'denied')
  github.token = 'github_pat_secret'

  const renamed = await github.push({ 'data/graphs/0/0.nt': null, 'data/graphs/0/zero.nt': triple('0') })
  t.same(
    (await all(repository.log(head))).map(({ commit, files }) => [
      commit,
      files.map(({ path, blob }) => [path, !!blob]),
    ]),
    [
      [
        renamed,
        [
          ['data/graphs/0/0.nt', false],
          ['data/graphs/0/zero.nt', true],
        ],
      ],
    ],
    'a file that was renamed',
  )
  const tree = await github.git.git('rev-parse', 'main^{tree}')
  const odd = Buffer.from(`tree ${tree}\nparent ${renamed}\nauthor A <a@a.example> 1 +0000\ncommitter\n\nx\n`)
  const dateless = (
    await github.git.raw(['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], odd)
  ).toString()
  await github.git.moveBranch('main', dateless.trim(), renamed)
  t.match(
    await all(repository.log(renamed)),
    [{ commit: dateless.trim(), time: 0, files: [] }],
    'a commit without a date',
  )
  const [after] = await commitAll(repository, [changeOf('after/', undefined)])
  t.equal(after!.parent, dateless.trim())
  await github.git.moveBranch('main', renamed, after!.commit)

  for (let n = 0; n < 105; n++) await github.push({ n: String(n) })
  t.equal((await all(repository.log(renamed))).length, 105, 'more than a page since a commit')
  t.equal((await all(repository.log(undefined))).length, 107, 'more than a page')
})
