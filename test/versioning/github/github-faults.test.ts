// The tests of faults of a history on GitHub: no change is lost or committed twice, each document keeps
// its order, and no document waits for another.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readTrailers } from '../../../versioning/git/commit-message.js'
import { openGitHubRepository } from '../../../versioning/github/github-repository.js'
import type { History } from '../../../versioning/history.js'
import { openHistory } from '../../../versioning/open-history.js'
import type { Repository } from '../../../versioning/repository.js'
import { temporaryFolder } from '../../support/bare-repository.js'
import { openGitHub, type Fault, type GitHubDouble } from '../../support/github.js'
import { until } from '../../support/wait.js'
import { NO_LOG, PREFIX, QUICK } from '../history-world.js'
import { all, BASE, changeOf, each, succeeded, triple } from '../repository-contract.js'
import { allVersions } from '../versions.js'

// Each call is one or more git processes.
const PATIENT = { timeout: 600_000 }

interface World {
  readonly github: GitHubDouble
  history: History
  clock: () => number
  /** A write that the store has done: the content, or undefined for a deletion. */
  write(document: string, content: string | undefined): Promise<void>
  /** Waits until all changes are committed, except blocked ones. */
  settled(): Promise<void>
  /** Starts the history again, with this token. */
  restart(token?: string): Promise<void>
  /** Compares the branch with the writes; the later writes of `blocked` documents are not on it. */
  check(t: Test, blocked?: readonly string[]): Promise<void>
}

async function makeWorld(t: Test, { branch = 'main', empty = false } = {}): Promise<World> {
  const world = { clock: () => Date.now() } as World
  const now = (): number => world.clock()
  const github = await openGitHub(t, { now })
  if (!empty) await github.push({ README: 'x' })
  const folder = join(temporaryFolder(t), 'journal')
  const written = new Map<string, (string | undefined)[]>()
  let repository: Repository
  async function open(token = github.token): Promise<void> {
    const { location, apiBase } = github
    const settings = { location, apiBase, branch, pathPrefix: PREFIX, token, now, pause: 5, timeout: 3000 }
    repository = succeeded(await openGitHubRepository(settings))
    const pauses = { ...QUICK, longest: 20, parked: 20 }
    const options = { folder, repository, base: BASE, prefix: PREFIX, now, log: NO_LOG, pauses }
    world.history = succeeded(await openHistory(options))
  }
  async function close(): Promise<void> {
    await world.history.close()
    await repository.close()
  }
  await open()
  t.teardown(close)

  return Object.assign(world, {
    github,
    async write(name: string, content: string | undefined) {
      const before = written.get(name) ?? []
      written.set(name, [...before, content])
      const change = { document: BASE + name, content, method: content === undefined ? 'DELETE' : 'PUT' }
      const entry = { ...change, agent: undefined, time: now(), before: before.at(-1) }
      world.history.done(succeeded(await world.history.begin([entry])))
    },
    async settled() {
      await until(() => world.history.status().depth === 0 || world.history.status().blocked.length > 0)
    },
    async restart(token?: string) {
      await close()
      await open(token)
    },
    async check(t: Test, blocked: readonly string[] = []) {
      const found = new Map<string, (string | undefined)[]>()
      const ids: string[] = []
      for (const { sha, message } of await github.history(branch)) {
        const { document, journalId } = readTrailers(message)
        if (document === undefined || journalId === undefined) continue
        ids.push(journalId)
        const name = document.slice(BASE.length)
        const entry = await github.git.entryAt(sha, `${PREFIX}/${name.slice(0, -1)}.nt`)
        found.set(name, [...(found.get(name) ?? []), entry?.content.toString()])
      }
      const expected = [...written].filter(([name]) => !blocked.includes(name))
      t.same([...found].sort(), expected.sort(), 'each write is one commit, in the order of its document')
      t.same(ids.length, new Set(ids).size, 'none is on the branch twice')
      for (const [name, contents] of expected) {
        const { versions, pending } = succeeded(await allVersions(world.history, BASE + name, 60_000))
        const own = versions.filter(({ method }) => method !== undefined)
        const seen = await Promise.all(own.map((version) => world.history.content(BASE + name, version)))
        t.notOk(pending)
        t.same(seen, contents, `${name}: its versions`)
      }
    },
  })
}

const writing: Fault['on'] = ({ method }) => method !== 'GET'
const HEAD_MOVED = { status: 409, message: 'main is at 1 but expected 2' }
const LOST: Fault = { on: writing, drop: true, applied: true }
const SECONDARY = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'

const limited = (answer: { readonly status: number; readonly message?: string }): Fault => ({
  on: writing,
  answer: { ...answer, headers: { 'retry-after': '1' } },
})

type Files = Parameters<GitHubDouble['push']>[0]
const THEIR_A: Files = { 'graphs/a.nt': triple('theirs') }
const OF_OTHERS: readonly Files[] = [
  { 'other.txt': 'x', 'graphs/z.nt': triple('theirs') },
  { ...THEIR_A, 'graphs/b.nt': null },
  { 'graphs/c.nt': triple('theirs') },
]
const pushing = (github: GitHubDouble, files: Files, on?: Fault['on']): Fault => ({
  ...(on && { on }),
  meanwhile: () => github.push(files),
})

/** The faults of the following calls. */
// prettier-ignore
const ROWS: readonly (readonly [name: string, faults: (github: GitHubDouble) => readonly Fault[]])[] = [
  ['cut off before it was done', () => [{ on: writing, drop: true, times: 3 }]],
  ['cut off after it was done', () => [{ on: writing, drop: true, applied: true, times: 4 }]],
  ['502 after it was done', () => [{ on: writing, answer: { status: 502 }, applied: true, times: 3 }]],
  ['silence after it was done', () => [{ on: writing, delay: 3500, drop: true, applied: true }]],
  ['the head moves again and again', () => [{ on: writing, answer: HEAD_MOVED, times: 8 }]],
  ['secondary limit, then 429', () => [limited({ status: 403, message: SECONDARY }), limited({ status: 429 })]],
  ['everything fails, reads too', () => [{ answer: { status: 500 }, times: 20 }]],
  ['others commit to other files and to the same', (github) => OF_OTHERS.map((one) => pushing(github, one, writing))],
  ['done, cut off, and others commit on top of it', (github) => [LOST, pushing(github, THEIR_A)]],
]

async function writeAll(world: World): Promise<void> {
  await world.write('a/', triple('a2'))
  await world.write('b/', triple('b2'))
  await world.write('a/', triple('a3'))
  await world.write('b/', undefined)
  await world.write('c/', triple('c1'))
  await world.write('a/', triple('a4'))
}

async function begun(t: Test, options?: Parameters<typeof makeWorld>[1]): Promise<World> {
  const world = await makeWorld(t, options)
  await world.write('a/', triple('a1'))
  await world.write('b/', triple('b1'))
  await world.settled()
  return world
}

for (const [name, faults] of ROWS) {
  void t.test(name, PATIENT, async (t) => {
    const world = await begun(t)
    world.github.fault(...faults(world.github))
    await writeAll(world)
    await world.settled()
    await world.check(t)
  })
}

void t.test('one call for each write, in the steady state', PATIENT, async (t) => {
  const world = await begun(t, { empty: true })
  world.github.calls.length = 0
  await writeAll(world)
  await world.settled()
  t.same(
    world.github.calls.map(({ method }) => method),
    ['PUT', 'PUT', 'PUT', 'DELETE', 'PUT', 'PUT'],
  )
  await world.check(t)
})

void t.test('five hours of 503', PATIENT, async (t) => {
  const world = await begun(t)
  const clock = { now: Date.now() }
  world.clock = () => clock.now
  const end = clock.now + 5 * 3_600_000
  const minute = async (): Promise<unknown> => (clock.now += 60_000)
  world.github.fault({ times: 300, answer: { status: 503 }, meanwhile: minute })
  await writeAll(world)
  await world.settled()
  t.ok(clock.now >= end)
  await world.check(t)
})

void t.test('a revoked token, and a new one', PATIENT, async (t) => {
  const world = await begun(t)
  world.github.token = 'github_pat_new'
  await writeAll(world)
  await until(() => world.history.status().parked !== undefined)
  t.match(world.history.status(), { parked: /401.*token/, depth: 6, blocked: [] })
  t.notMatch(JSON.stringify(world.history.status()), /github_pat/)
  await world.restart('github_pat_new')
  await world.settled()
  await world.check(t)
})

void t.test('reads that show an earlier state', PATIENT, async (t) => {
  const world = await begun(t)
  const { github } = world
  await github.freeze()
  github.fault({ on: writing, drop: true, applied: true, times: 2 })
  let reads = 0
  github.fault({ on: ({ method }) => method === 'GET' && ++reads === 12, meanwhile: async () => github.thaw() })
  await writeAll(world)
  await world.settled()
  t.ok(reads >= 12)
  await world.check(t)
})

const setBack = ({ github }: World): Promise<unknown> => github.git.git('update-ref', 'refs/heads/main', 'main~1')
const rename = ({ github }: World): Promise<unknown> => github.git.git('branch', '--move', 'main', 'other')
const push = ({ github }: World): Promise<unknown> => github.push({ 'graphs/z.nt': triple('theirs') })

// prettier-ignore
const SHOWN: readonly (readonly [name: string, since: number, act: (world: World) => Promise<unknown>, isTaken: boolean])[] = [
  ['an earlier commit, a second after the last', 1_000, setBack, false],
  ['no branch, a second after the last commit', 1_000, rename, false],
  ['an earlier commit, a minute after the last: the branch was set back', 60_000, setBack, true],
  ['a commit by others on top', 1_000, push, true],
  ['a commit by others in place of the last', 1_000, (world) => setBack(world).then(() => push(world)), true],
]

for (const [name, since, act, isTaken] of SHOWN) {
  void t.test(`a start that is shown ${name}`, PATIENT, async (t) => {
    const world = await begun(t)
    const { git } = world.github
    const before = await git.resolve('refs/heads/main')
    await act(world)
    const head = isTaken ? await git.resolve('refs/heads/main') : before
    world.clock = () => Date.now() + since
    await world.restart()
    t.ok(await world.history.settled(60_000))
    const files = (await all(world.history.repository.files())).map(({ path, blob }) => `100644 blob ${blob}\t${path}`)
    t.equal(files.join('\n'), await git.git('ls-tree', '-r', head!, 'graphs/'))
    t.equal(`${world.history.status().commits}`, await git.git('rev-list', '--count', head!))
  })
}

void t.test('a commit of many files that GitHub shows late is in the history at once', PATIENT, async (t) => {
  const world = await begun(t)
  const { github, history } = world
  await github.freeze()
  const change = { id: changeOf('', '').id, method: 'SWEEP', agent: undefined, time: world.clock() }
  succeeded(await history.repository.commitFiles(each([{ path: 'graphs/c.nt', content: triple('c') }]), change))
  history.refresh()
  t.equal(await history.latest(`${BASE}c/`, 60_000), triple('c'))
})

void t.test('an empty repository', PATIENT, async (t) => {
  const world = await makeWorld(t, { empty: true })
  world.github.fault({ on: writing, drop: true, applied: true })
  await writeAll(world)
  await world.settled()
  await world.check(t)
})

void t.test('a missing branch', PATIENT, async (t) => {
  const world = await makeWorld(t, { branch: 'history' })
  await writeAll(world)
  await world.settled()
  await world.check(t)
  t.equal((await world.github.history()).length, 1, 'the default branch stays')
})

const REFUSED: readonly (readonly [status: number, message: string])[] = [
  [422, 'file is too large'],
  [409, 'Repository rule violations found\n\nSecret detected in content'],
]

for (const [status, message] of REFUSED) {
  void t.test(`a refused file stops its own document only: ${status}`, PATIENT, async (t) => {
    const world = await begun(t)
    const refused = ({ target }: { target: string }): boolean => target === 'graphs/refused.nt'
    world.github.fault({ on: refused, times: Infinity, answer: { status, message } })
    await world.write('refused/', triple('l1'))
    await writeAll(world)
    await world.write('refused/', triple('l2'))
    await until(() => world.history.status().depth <= 2)
    const reason = new RegExp(message.slice(-9))
    t.match(world.history.status(), { depth: 2, blocked: [{ document: `${BASE}refused/`, reason }] })
    await world.check(t, ['refused/'])
  })
}

void t.test(
  'a rule of the branch that denies one document only: the others continue, and later that one too',
  PATIENT,
  async (t) => {
    const world = await begun(t)
    let denies = true
    const on = ({ target }: { target: string }): boolean => denies && target === 'graphs/denied.nt'
    const message = 'Repository rule violations found\n\nChanges must be signed'
    world.github.fault({ on, times: Infinity, answer: { status: 409, message } })
    await world.write('denied/', triple('d1'))
    await world.write('denied/', triple('d2'))
    await writeAll(world)
    await until(() => world.history.status().depth <= 2)
    t.match(world.history.status(), { depth: 2, blocked: [] })
    denies = false
    await world.settled()
    await world.check(t)
  },
)
