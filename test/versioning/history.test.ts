// The tests of the whole history: every change that is done is one commit, once, in order, and read back.
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Setback, SetbackCode } from '../../versioning/failure.js'
import type { Version } from '../../versioning/change.js'
import { commitMessage, readTrailers } from '../../versioning/git/commit-message.js'
import { documentPath } from '../../versioning/git/document-path.js'
import { openLocalRepository } from '../../versioning/git/local-repository.js'
import type { OpenEntry } from '../../versioning/history.js'
import { openDatabase, put } from '../../versioning/journal/database.js'
import { openHistory } from '../../versioning/open-history.js'
import { filesAt, foreignCommit, git, headOf, logged, temporaryFolder } from '../support/bare-repository.js'
import { until } from '../support/wait.js'
import { historyWorld, NO_LOG, PREFIX, QUICK, SOON, TIME, type Fault, type HistoryWorld } from './history-world.js'
import { all, BASE, succeeded, triple } from './repository-contract.js'
import { allVersions } from './versions.js'

const DOC = `${BASE}doc/`
const OTHER = `${BASE}other/`
const ANN = 'https://people.example/ann#me'
const pathOf = (document: string): string => documentPath(document, BASE, PREFIX)

const versionsOf = async ({ history }: HistoryWorld, document: string): Promise<readonly Version[]> =>
  succeeded(await allVersions(history, document, SOON)).versions

/** The commits of the branch, as [document, Journal-Id]. */
const committed = ({ bare }: HistoryWorld): (readonly [string, string])[] =>
  logged(bare, '%B').map((message) => {
    const { document = '', journalId = '' } = readTrailers(message)
    return [document, journalId] as const
  })
const idsOf = (world: HistoryWorld, document: string): string[] =>
  committed(world).flatMap(([of, id]) => (of === document ? [id] : []))
const noted = (entries: readonly OpenEntry[]): string[] => entries.map(({ id }) => id)

const setback = (kind: SetbackCode, more: Partial<Setback> = {}): Setback => ({
  failure: kind,
  detail: `it is ${kind}`,
  ...more,
})

void t.test('a change that is done is a version, with agent, time, method and counts', async (t) => {
  const world = await historyWorld(t)
  const [first] = await world.write(DOC, triple('1') + triple('2'), { agent: ANN })
  world.clock.now += 5_500
  await world.write(DOC, triple('2') + triple('3'), { agent: 'https://people.example/bob#me', method: 'PATCH' })
  const before = await versionsOf(world, DOC)
  await world.write(DOC, triple('1') + triple('2'), { restores: before[0]!.commit })
  await world.write(DOC, undefined)
  const versions = await versionsOf(world, DOC)
  const seen = versions.map(({ commit: _, blob, ...rest }) => ({ ...rest, exists: blob !== undefined }))
  t.strictSame(seen, [
    { seq: 0, position: 0, time: TIME, agent: ANN, method: 'PUT', added: 2, removed: 0, exists: true },
    {
      ...{ seq: 1, position: 1, time: TIME + 5000, agent: 'https://people.example/bob#me', method: 'PATCH' },
      ...{ added: 1, removed: 1, exists: true },
    },
    {
      ...{ seq: 2, position: 2, time: TIME + 5000, agent: undefined, method: 'PUT', added: 1, removed: 1 },
      ...{ restores: before[0]!.commit, exists: true },
    },
    { seq: 3, position: 3, time: TIME + 5000, agent: undefined, method: 'DELETE', added: 0, removed: 2, exists: false },
  ])
  t.same(
    versions.map(({ commit }) => commit),
    logged(world.bare, '%H'),
  )
  t.equal(await world.history.content(DOC, versions[1]!), triple('2') + triple('3'))
  t.equal(await world.history.content(DOC, versions[3]!), undefined, 'it did not exist then')
  t.equal(idsOf(world, DOC)[0], first!.id)
  t.same(await versionsOf(world, OTHER), [], 'a document without versions')
  const { index, rebuilt } = await world.indexAndRebuilt()
  t.ok(index.length > 4)
  t.same(index, rebuilt, 'the index is what a rebuild gives')
})

void t.test('begin, done, undone, open', async (t) => {
  const world = await historyWorld(t)
  const change = { document: DOC, method: 'PUT', agent: ANN, time: TIME, before: triple('0'), content: triple('1') }
  const [open] = succeeded(await world.history.begin([change]))
  t.match(open, { document: DOC, path: pathOf(DOC), added: 1, removed: 1 })
  t.match(world.history.status(), { depth: 1, inDoubt: 1, oldest: TIME, commits: 0, bytes: triple('1').length })
  const later = await world.write(OTHER, triple('x'))
  t.equal(await world.history.settled(SOON), true)
  t.same(
    committed(world),
    [[OTHER, later[0]!.id]],
    'a change in doubt does not delay other documents, and is not committed',
  )

  await world.restart()
  t.same(world.history.open(), [open], 'the change is still in doubt after a restart, with its content')
  t.same(world.history.open(OTHER), [])
  await world.history.undone(world.history.open(DOC))
  t.same(world.history.open(), [])
  await world.restart()
  t.match(world.history.status(), { depth: 0, inDoubt: 0, oldest: undefined, bytes: 0, commits: 1 })

  const two = succeeded(await world.history.begin([change, { ...change, document: OTHER, content: undefined }]))
  world.history.done(two)
  world.history.done(two)
  await world.history.undone(two)
  t.equal(await world.history.settled(SOON), true)
  t.same(
    committed(world).slice(1),
    two.map(({ id, document }) => [document, id]),
    'settled changes stay settled',
  )
  t.same(await world.history.begin([]), [])
})

void t.test('the changes of a document keep their order; one in doubt delays the later ones', async (t) => {
  const world = await historyWorld(t)
  const change = { document: DOC, method: 'PUT', agent: ANN, time: TIME, before: undefined }
  const first = succeeded(await world.history.begin([{ ...change, content: triple('1') }]))
  const second = succeeded(await world.history.begin([{ ...change, content: triple('2') }]))
  world.history.done(second)
  t.match(await allVersions(world.history, DOC, 50), { versions: [], pending: true })
  world.history.done(first)
  t.equal((await versionsOf(world, DOC)).length, 2)
  t.same(idsOf(world, DOC), noted([...first, ...second]))
})

void t.test('uncommitted changes can be read, and are committed after a restart', async (t) => {
  const world = await historyWorld(t)
  world.repository.down = setback('denied')
  await world.write(DOC, triple('1'))
  await world.write(OTHER, triple('2'))
  await world.write(DOC, undefined)
  const contents = async () =>
    (await all(world.history.uncommitted())).map(({ document, content }) => [document, content])
  const expected = [
    [DOC, undefined],
    [OTHER, triple('2')],
  ]
  t.same(await contents(), expected, 'the last change of each document')
  await world.restart()
  t.same(await contents(), expected)
  world.repository.down = undefined
  t.equal((await versionsOf(world, DOC)).length, 2)
  t.equal(await world.history.settled(SOON), true)
  t.same(await contents(), [])
})

void t.test('changes committed while they are read: an earlier one is not taken for the last', async (t) => {
  const world = await historyWorld(t)
  world.repository.down = setback('denied')
  await world.write(DOC, triple('1'))
  await world.write(DOC, triple('2'))
  const read: (readonly [string, string | undefined])[] = []
  for await (const { document, content } of world.history.uncommitted()) {
    read.push([document, content])
    world.repository.down = undefined
    t.ok(await world.settled())
  }
  t.same(read, [[DOC, triple('2')]])
})

const before = (kind: SetbackCode, more?: Partial<Setback>): Fault => ({ kind: 'before', setback: setback(kind, more) })
const overtaken = (bare: string, document: string): Fault => ({
  kind: 'overtaken',
  by: () => foreignCommit(bare, { [pathOf(document)]: triple('foreign') }),
})

// prettier-ignore
const unhappy: readonly [what: string, faults: (bare: string) => readonly Fault[], commits?: number][] = [
  ['unreachable: retried', () => [before('unreachable')]],
  ['failed: retried', () => [before('failed')]],
  ['full: retried', () => [before('full')]],
  ['limited: retried at its time', () => [before('limited', { retryAt: Date.now() + 20 })]],
  ['denied, then allowed: committed', () => [before('denied')]],
  ['missing, then created: committed', () => [before('missing')]],
  ['in doubt, and done: found on the branch', () => [{ kind: 'after', setback: setback('in-doubt') }]],
  ['in doubt, and not done: retried', () => [before('in-doubt')]],
  ['interrupted in the middle: the rest follows', () => [{ kind: 'partly', setback: setback('unreachable') }]],
  ['only some at a time: the rest follows', () => [{ kind: 'short' }, { kind: 'short' }]],
  ['a bug that throws after the commit: found on the branch', () => [{ kind: 'throws' }]],
  ['a conflict: the branch is read, then retried', () => [before('conflict')]],
  ['overtaken by others: their commit is a version too', (bare) => [overtaken(bare, DOC)], 1],
]

void t.test('each setback has its rule, and each change becomes one commit', async (t) => {
  for (const [what, faults, foreign = 0] of unhappy) {
    await t.test(what, async (t) => {
      const world = await historyWorld(t)
      await world.history.settled(SOON)
      world.repository.faults.push(...faults(world.bare))
      const change = { document: DOC, method: 'PUT', agent: ANN, time: TIME, before: undefined, content: triple('1') }
      const entries = succeeded(
        await world.history.begin([change, { ...change, document: OTHER }, { ...change, content: triple('2') }]),
      )
      world.history.done(entries)
      t.equal(await world.settled(), true)
      t.same(world.repository.sentAgain, [], 'a change on the branch is found there')
      t.same(idsOf(world, DOC), [entries[0]!.id, entries[2]!.id])
      t.same(idsOf(world, OTHER), [entries[1]!.id])
      t.equal((await versionsOf(world, DOC)).length, 2 + foreign)
      t.match(world.history.status(), { depth: 0, lastError: undefined, parked: undefined, commits: 3 + foreign })
      const { index, rebuilt } = await world.indexAndRebuilt()
      t.same(index, rebuilt)
    })
  }
})

void t.test('while an operator has to do something, that is reported, and no request waits', async (t) => {
  const world = await historyWorld(t, { pauses: { ...QUICK, parked: 60_000 } })
  await world.history.settled(SOON)
  world.repository.down = setback('denied', { detail: 'The token may not write.' })
  await world.write(DOC, triple('1'))
  const from = Date.now()
  t.equal(await world.history.settled(60_000), false)
  t.match(await allVersions(world.history, DOC, 60_000), { versions: [], pending: true })
  t.ok(Date.now() - from < 20_000, 'answered at once')
  t.match(world.history.status(), {
    parked: 'The token may not write.',
    lastError: 'The token may not write.',
    depth: 1,
  })
  t.ok(world.lines.some((line) => line.includes('The token may not write.')))
  await world.history.close()
  t.ok(Date.now() - from < 20_000, 'closed at once')
})

void t.test('no request waits for a limit that lasts longer than its patience', async (t) => {
  const world = await historyWorld(t)
  await world.history.settled(SOON)
  world.repository.faults.push({ kind: 'before', setback: setback('limited', { retryAt: Date.now() + 3_000_000 }) })
  await world.write(DOC, triple('1'))
  const from = Date.now()
  t.match(await allVersions(world.history, DOC, 60_000), { versions: [], pending: true })
  t.ok(Date.now() - from < 20_000)
})

void t.test('a clock that is set back while a request waits makes no difference', async (t) => {
  let shift = 0
  const world = await historyWorld(t, { now: () => Date.now() + shift })
  await world.history.settled(SOON)
  world.repository.down = setback('unreachable')
  await world.write(DOC, triple('1'))
  const from = performance.now()
  const waiting = world.history.settled(300)
  shift = -3_600_000
  t.equal(await waiting, false)
  t.ok(performance.now() - from < 20_000)
  world.repository.down = undefined
  t.equal(await world.settled(), true)
})

void t.test('an unfit change blocks its own document only, is reported, and is retried after a restart', async (t) => {
  const world = await historyWorld(t)
  world.repository.unfit.add(DOC)
  const change = { document: OTHER, method: 'PUT', agent: ANN, time: TIME, before: undefined, content: triple('1') }
  const others = Array.from({ length: 5 }, (_, i) => ({ ...change, document: `${BASE}o${i}/` }))
  const entries = succeeded(
    await world.history.begin([...others.slice(0, 3), { ...change, document: DOC }, ...others.slice(3)]),
  )
  world.history.done(entries)
  for (const { document } of others) t.equal((await versionsOf(world, document)).length, 1)
  await world.write(DOC, triple('2'))
  const from = Date.now()
  t.match(await allVersions(world.history, DOC, 60_000), { versions: [], pending: true })
  t.ok(Date.now() - from < 20_000, 'no request waits for it')
  t.match(world.history.status(), { depth: 2, blocked: [{ document: DOC, reason: 'Too large for this repository.' }] })
  world.repository.unfit.clear()
  await world.restart()
  t.equal((await versionsOf(world, DOC)).length, 2)
  t.match(world.history.status(), { depth: 0, blocked: [] })
})

void t.test('commits by others are history too', async (t) => {
  const world = await historyWorld(t)
  await world.write(DOC, triple('1'), { agent: ANN })
  await world.history.settled(SOON)
  const path = pathOf(DOC)
  foreignCommit(world.bare, { [path]: triple('by hand'), 'README.md': 'not a document' })
  const described = { id: 'x', document: OTHER, method: 'PUT', agent: ANN, added: 7, removed: 3 }
  foreignCommit(world.bare, { [pathOf(OTHER)]: triple('o'), [path]: undefined }, { message: commitMessage(described) })
  world.history.refresh()
  const versions = await versionsOf(world, DOC)
  t.match(versions, [
    { seq: 0, agent: ANN, added: 1 },
    { seq: 1, agent: undefined, method: undefined, added: undefined, removed: undefined, position: 1 },
    { seq: 2, agent: ANN, blob: undefined, added: undefined, position: 2 },
  ])
  t.ok(
    versions.every(({ time }) => time >= TIME),
    'never before an earlier version, whatever its clock said',
  )
  t.equal(await world.history.content(DOC, versions[1]!), triple('by hand'))
  await world.write(DOC, triple('2'))
  t.equal((await versionsOf(world, DOC)).length, 4)
  const { index, rebuilt } = await world.indexAndRebuilt()
  t.same(index, rebuilt)
})

void t.test("a commit by others with a change's id is not taken for that change", async (t) => {
  // prettier-ignore
  const rows: readonly (readonly [what: string, files: Readonly<Record<string, string>>, isCounted: boolean])[] = [
    ['of another file', { README: 'x' }, false],
    ['of another document', { [pathOf(OTHER)]: triple('o') }, false],
    ['of its document', { [pathOf(DOC)]: triple('1'), README: 'x' }, true],
    ['of nothing', {}, true],
  ]
  for (const [what, files, isCounted] of rows) {
    await t.test(what, async (t) => {
      const world = await historyWorld(t)
      await world.history.settled(SOON)
      world.repository.down = setback('in-doubt')
      const [entry] = await world.write(DOC, triple('1'))
      const message = commitMessage({ id: entry!.id, document: DOC, method: 'PUT', agent: ANN })
      const theirs = foreignCommit(world.bare, files, { message })
      world.history.refresh()
      await until(() => world.history.status().commits !== 0)
      t.equal(world.history.status().depth, isCounted ? 0 : 1)
      world.repository.down = undefined
      t.equal(await world.settled(), true)
      t.equal(headOf(world.bare) === theirs, isCounted)
      if (!isCounted) t.equal(filesAt(world.bare, headOf(world.bare)!).get(pathOf(DOC)), triple('1'))
    })
  }
})

void t.test('a branch that was rewritten is read again', async (t) => {
  const world = await historyWorld(t)
  for (const value of ['1', '2', '3']) await world.write(DOC, triple(value))
  const [first] = await versionsOf(world, DOC)
  git(world.bare, ['update-ref', 'refs/heads/main', first!.commit])
  foreignCommit(world.bare, { [pathOf(OTHER)]: triple('o') })
  await world.write(DOC, triple('4'))
  t.match(await versionsOf(world, DOC), [{ commit: first!.commit }, { seq: 1, position: 2 }])
  t.equal((await versionsOf(world, OTHER)).length, 1)
  const line = world.lines.find((line) => line.includes('rewritten'))
  for (const part of [world.bare, BASE, 'triplegate mirror verify']) t.ok(line?.includes(part), part)
  const { index, rebuilt } = await world.indexAndRebuilt()
  t.same(index, rebuilt)
})

void t.test('merging the branch into other work and pushing that removes no version', async (t) => {
  const world = await historyWorld(t)
  for (const value of ['1', '2']) await world.write(DOC, triple(value), { agent: ANN })
  await world.history.settled(SOON)
  const [first] = await versionsOf(world, DOC)
  git(world.bare, ['update-ref', 'refs/heads/side', first!.commit])
  foreignCommit(world.bare, { [pathOf(OTHER)]: triple('o') }, { branch: 'side' })
  // A commit whose answer is lost.
  world.repository.faults.push({ kind: 'after', setback: setback('in-doubt') })
  world.repository.logFaults.push(setback('unreachable'))
  const pulled = (content: string): void => {
    foreignCommit(
      world.bare,
      { [pathOf(DOC)]: content },
      { branch: 'side', merge: 'refs/heads/main', message: 'pulled' },
    )
    git(world.bare, ['update-ref', 'refs/heads/main', headOf(world.bare, 'side')!])
  }
  const before = await versionsOf(world, DOC)
  await world.write(DOC, triple('3'))
  t.equal(await world.settled(), true)
  pulled(triple('4'))
  world.history.refresh()
  const versions = await versionsOf(world, DOC)
  t.same(versions.slice(0, 2), before, 'unchanged')
  t.match(versions.slice(2), [
    { seq: 2, method: 'PUT' },
    { seq: 3, method: undefined, position: 3 },
  ])
  t.match(await versionsOf(world, OTHER), [{ seq: 0, position: 3 }], "the merge's")
  t.notOk(world.lines.some((line) => line.includes('rewritten')))
  const { index, rebuilt } = await world.indexAndRebuilt()
  t.same(index, rebuilt)
  t.same(world.repository.sentAgain, [])
})

void t.test('the version that a commit id names', async (t) => {
  const world = await historyWorld(t)
  await world.write(OTHER, triple('o'))
  for (let i = 0; i < 40; i++) await world.write(DOC, triple(String(i)))
  const own = await versionsOf(world, DOC)
  const [other] = await versionsOf(world, OTHER)
  const later = foreignCommit(world.bare, { 'README.md': 'x' })
  world.history.refresh()
  await world.history.settled(SOON)
  const resolve = (commit: string) => world.history.resolve(DOC, commit, SOON)
  const third = own[3]!
  const sharesStart = (length: number) => own.filter(({ commit }) => commit.startsWith(third.commit.slice(0, length)))
  // prettier-ignore
  const rows: readonly [what: string, id: string, expected: unknown][] = [
    ['the full id', third.commit, third],
    ['in upper case', third.commit.toUpperCase(), third],
    ['abbreviated', third.commit.slice(0, 12), third],
    ['four digits', third.commit.slice(0, 4), sharesStart(4).length > 1 ? 'ambiguous' : third],
    ['three digits', third.commit.slice(0, 3), undefined],
    ['no digits', '', undefined],
    ['more than forty', `${third.commit}0`, undefined],
    ['no hexadecimal digits', 'main', undefined],
    ['another commit of the branch, in full: the version at that commit', later, own.at(-1)],
    ['another commit of the branch, abbreviated', later.slice(0, 12), undefined],
    ['a commit before the document', other!.commit, undefined],
    ['no commit of the branch', '0123456789'.repeat(4), undefined],
  ]
  for (const [what, id, expected] of rows) t.same(await resolve(id), expected, what)
})

void t.test('the first digits of several own commits are ambiguous', async (t) => {
  const world = await historyWorld(t)
  const seen = new Map<string, string>()
  let shared: string | undefined
  for (let round = 0; !shared && round < 20; round++) {
    const change = { document: DOC, method: 'PUT', agent: ANN, time: TIME, before: undefined }
    const changes = Array.from({ length: 200 }, (_, i) => ({ ...change, content: triple(`${round}.${i}`) }))
    world.history.done(succeeded(await world.history.begin(changes)))
    for (const { commit } of await versionsOf(world, DOC)) {
      const start = commit.slice(0, 4)
      if ((seen.get(start) ?? commit) !== commit) shared = start
      seen.set(start, commit)
    }
  }
  t.ok(shared)
  t.equal(await world.history.resolve(DOC, shared!, SOON), 'ambiguous')
})

void t.test('a repository that shows commits late: the change is not committed again', async (t) => {
  const world = await historyWorld(t)
  await world.history.settled(SOON)
  world.repository.faults.push({
    kind: 'overtaken',
    by: () => void foreignCommit(world.bare, { [pathOf(OTHER)]: triple('o') }),
  })
  world.repository.logFaults.push(0, 1, 0)
  const [entry] = await world.write(DOC, triple('1'))
  t.equal((await versionsOf(world, DOC)).length, 1)
  t.same(idsOf(world, DOC), [entry!.id])
  t.same(world.repository.sentAgain, [])
  t.equal((await versionsOf(world, OTHER)).length, 1)
})

void t.test('an index of an earlier release, which has no list of deletions, gets one', async (t) => {
  const world = await historyWorld(t)
  for (const content of ['1', undefined, '2', undefined, '3']) await world.write(DOC, content && triple(content))
  await world.write(OTHER, triple('o'))
  await world.settled()
  const { index } = await world.indexAndRebuilt()
  const outline = { count: 5, deletions: [1, 3], pending: false }
  t.same(await world.history.outline(DOC, SOON), outline)
  await world.history.close()
  const database = succeeded(await openDatabase(world.journal, NO_LOG))
  await database.clear('r')
  const head = JSON.parse((await database.get('h'))!) as object
  await database.write([put('h', JSON.stringify({ ...head, hasDeletions: undefined }))], true, 'drop')
  await database.close()
  await world.restart()
  t.same(await world.history.outline(DOC, SOON), outline)
  t.same((await world.indexAndRebuilt()).index, index)
})

void t.test('another, empty repository has nothing of the earlier one', async (t) => {
  const world = await historyWorld(t)
  for (const content of ['1', '2', undefined, '3']) await world.write(DOC, content && triple(content))
  await world.settled()
  const place = { folder: join(temporaryFolder(t), 'new.git'), branch: 'main', pathPrefix: PREFIX, now: () => TIME }
  const repository = succeeded(await openLocalRepository(place))
  t.teardown(() => repository.close())
  await world.restart({ repository })
  t.same(await world.history.outline(DOC, SOON), { count: 0, deletions: [], pending: false })
  for (const content of ['4', '5']) await world.write(DOC, triple(content))
  t.equal((await versionsOf(world, DOC)).length, 2)
  await world.restart({ repository })
  t.equal((await versionsOf(world, DOC)).length, 2)
})

void t.test('an index of an earlier release that has commits of another repository is built again', async (t) => {
  const world = await historyWorld(t)
  for (const content of ['1', '2', '3']) await world.write(DOC, triple(content))
  await world.settled()
  const { index } = await world.indexAndRebuilt()
  await world.history.close()
  const database = succeeded(await openDatabase(world.journal, NO_LOG))
  const head = JSON.parse((await database.get('h'))!) as object
  await database.write([put('h', JSON.stringify({ ...head, position: 0, isOfOne: undefined }))], true, 'drop')
  await database.close()
  await world.restart()
  t.equal((await versionsOf(world, DOC)).length, 3)
  t.same((await world.indexAndRebuilt()).index, index)
})

void t.test('an index of an earlier release that has commits of its own repository alone is used', async (t) => {
  const world = await historyWorld(t)
  for (const content of ['1', '2', '3']) await world.write(DOC, triple(content))
  await world.settled()
  await world.history.close()
  const database = succeeded(await openDatabase(world.journal, NO_LOG))
  const head = JSON.parse((await database.get('h'))!) as object
  // An index that is built again would have another time.
  await database.write([put('h', JSON.stringify({ ...head, isOfOne: undefined })), put('a', '7')], true, 'drop')
  await database.close()
  await world.restart()
  t.equal((await versionsOf(world, DOC)).length, 3)
  await world.history.close()
  const after = succeeded(await openDatabase(world.journal, NO_LOG))
  t.same([await after.get('a'), JSON.parse((await after.get('h'))!)], ['7', { ...head, isOfOne: true }])
  await after.close()
  await world.restart()
})

void t.test('an import of very many files is read', async (t) => {
  const world = await historyWorld(t)
  const FILES = 20_000
  async function* files() {
    for (let i = 0; i < FILES; i++) {
      yield { path: pathOf(`${BASE}c${i % 100}/d${i}/`), content: triple(String(i)) }
    }
  }
  const change = { id: '01J', method: 'SWEEP', agent: ANN, time: TIME }
  succeeded(await world.repository.commitFiles(files(), change))
  const from = Date.now()
  world.history.refresh()
  t.equal(await world.history.settled(60_000), true)
  t.comment(`${Date.now() - from} ms for ${FILES} files of one commit`)
  t.match(await versionsOf(world, `${BASE}c42/d42/`), [{ seq: 0, position: 0, agent: ANN, method: 'SWEEP' }])
  t.ok(Date.now() - from < 60_000)
})

void t.test('a folder in use, or an index of another subject', async (t) => {
  const world = await historyWorld(t)
  await world.write(DOC, triple('1'))
  await world.history.settled(SOON)
  const options = { repository: world.repository, base: BASE, prefix: PREFIX, now: () => TIME, log: NO_LOG }
  t.match(await openHistory({ ...options, folder: world.journal }), { failure: 'failed', detail: /another process/ })
  foreignCommit(world.bare, { 'elsewhere/other.nt': triple('o') })
  world.history.refresh()
  t.same(await versionsOf(world, OTHER), [], 'not under the prefix')
  await world.restart({ prefix: 'elsewhere' })
  t.same(await versionsOf(world, DOC), [], 'another prefix: other files')
  t.equal((await versionsOf(world, OTHER)).length, 1)
  await world.restart()
  t.equal((await versionsOf(world, DOC)).length, 1)

  world.repository.down = setback('unreachable')
  await world.write(DOC, triple('2'))
  await world.history.close()
  const moved = await openHistory({ ...options, folder: world.journal, base: 'https://elsewhere.example/' })
  t.match(moved, { failure: 'failed', detail: /is no document of https:\/\/elsewhere.example\// })
  world.repository.down = undefined
  await world.restart()
  t.equal((await versionsOf(world, DOC)).length, 2)
})

type Step =
  | { readonly do: 'begin'; readonly documents: readonly number[]; readonly remove: boolean }
  | { readonly do: 'done' | 'undone'; readonly which: number }
  | { readonly do: 'restart' }
  | { readonly do: 'foreign'; readonly document: number }
  | { readonly do: 'commit faults'; readonly faults: readonly Fault[] }
  | { readonly do: 'log faults'; readonly faults: readonly (Setback | number)[] }
  | { readonly do: 'wait' }

const kinds = ['unreachable', 'in-doubt', 'conflict', 'limited', 'denied', 'missing', 'full', 'failed'] as const
const anySetback = fc.constantFrom(...kinds).map((kind) => setback(kind, kind === 'limited' ? { retryAt: 0 } : {}))
const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constantFrom('before' as const, 'partly' as const), setback: anySetback }),
  fc.constant<Fault>({ kind: 'after', setback: setback('in-doubt') }),
  fc.constantFrom<Fault>({ kind: 'short' }, { kind: 'throws' }, { kind: 'none' }),
)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      documents: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 }),
      remove: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('done' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undone' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'restart' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('foreign' as const), document: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('commit faults' as const), faults: fc.array(anyFault, { maxLength: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('log faults' as const),
      faults: fc.array(fc.oneof(anySetback, fc.nat(2)), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'wait' }) },
)

void t.test('for all faults: one commit for each change that is done, in order, and a correct index', async (t) => {
  const property = fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), async (steps) => {
    await t.test('a sequence', (t) => happens(t, steps))
    if (!t.passing()) throw new Error('see above')
  })
  await fc.assert(property, { numRuns: 12, endOnFailure: true })
})

async function happens(t: Test, steps: readonly Step[]): Promise<void> {
  const world = await historyWorld(t, { batch: 4 })
  const documents = Array.from({ length: 4 }, (_, i) => `${BASE}d${i}/`)
  const expected = new Map<string, string[]>(documents.map((document) => [document, []]))
  const dropped: string[] = []
  let count = 0
  const settle = async (entries: readonly OpenEntry[], fate: 'done' | 'undone'): Promise<void> => {
    for (const { document, id } of entries) (fate === 'done' ? expected.get(document)! : dropped).push(id)
    await world.history[fate](entries)
  }
  for (const step of steps) {
    const open = world.history.open()
    if (step.do === 'begin') {
      const free = step.documents
        .map((i) => documents[i]!)
        .filter((document) => world.history.open(document).length === 0)
      const content = step.remove ? undefined : triple(String(count++))
      const change = { method: 'PUT', agent: ANN, time: TIME + count, before: undefined, content }
      succeeded(await world.history.begin(free.map((document) => ({ ...change, document }))))
    } else if (step.do === 'done' || step.do === 'undone') {
      if (open.length > 0) await settle([open[step.which % open.length]!], step.do)
    } else if (step.do === 'restart') await world.restart()
    else if (step.do === 'foreign') {
      foreignCommit(world.bare, { [pathOf(documents[step.document]!)]: triple(`foreign ${count++}`) })
    } else if (step.do === 'commit faults') world.repository.faults.push(...step.faults)
    else if (step.do === 'log faults') world.repository.logFaults.push(...step.faults)
    else await world.history.settled(20)
  }
  await settle(world.history.open(), 'done')
  // If reading the log ends too early, this is not noticed until the next commit.
  world.repository.logFaults.length = 0
  world.history.refresh()
  await world.settled()
  t.match(world.history.status(), { depth: 0, blocked: [] })
  for (const document of documents) t.same(idsOf(world, document), expected.get(document), 'one commit each, in order')
  const ids = new Set(committed(world).map(([, id]) => id))
  t.notOk(dropped.some((id) => ids.has(id)))
  const head = headOf(world.bare)
  const files = head === undefined ? new Map<string, string>() : filesAt(world.bare, head)
  for (const document of documents) {
    const newest = (await versionsOf(world, document)).at(-1)
    t.equal(newest && (await world.history.content(document, newest)), files.get(pathOf(document)))
  }
  const { index, rebuilt } = await world.indexAndRebuilt()
  t.same(index, rebuilt)
}

void t.test('changes are gathered; a request for versions does not wait for that', async (t) => {
  const world = await historyWorld(t, { pauses: { ...QUICK, gather: 1_000 } })
  // The relay reads the branch first.
  await world.settled()
  const { commit } = world.repository
  const batches: { changes: number; presses: boolean | undefined }[] = []
  Object.assign(world.repository, {
    commit: (changes: Parameters<typeof commit>[0], presses?: boolean) => {
      batches.push({ changes: changes.length, presses })
      return commit(changes)
    },
  })
  for (let i = 0; i < 5; i++) await world.write(DOC, triple(String(i)))
  t.equal((await versionsOf(world, DOC)).length, 5)
  t.same(batches, [{ changes: 5, presses: true }], 'one batch, at full priority')
  await world.write(OTHER, triple('1'))
  await until(() => world.history.status().depth === 0)
  t.same(batches[1], { changes: 1, presses: false }, 'while no request waits, at low priority')
})

void t.test('the excerpt of a deleted document is known without reading its content', async (t) => {
  const world = await historyWorld(t, { excerptOf: (document, nTriples) => `${document} ${nTriples.split('\n')[0]}` })
  const { repository } = world
  let reads = 0
  const { read } = repository
  Object.assign(repository, {
    read: (...at: Parameters<typeof read>) => {
      reads++
      return read(...at)
    },
  })
  const last = () => world.history.lastExcerpt(DOC, SOON)
  const expected = (value: string) => ({ excerpt: `${DOC} ${triple(value).trimEnd()}`, pending: false })
  t.same(await last(), { excerpt: undefined, pending: false }, 'it never existed')

  await world.write(DOC, triple('1') + triple('x'))
  t.same(await last(), expected('1'), 'it exists: its content is read')
  t.equal(reads, 1)
  repository.down = setback('denied')
  await world.write(DOC, triple('2'))
  await world.write(DOC, undefined)
  t.same(await last(), expected('2'), 'deleted, and not committed: nothing is waited for')
  await world.restart()
  t.same(await last(), expected('2'), 'after a restart too')
  repository.down = undefined
  t.ok(await world.settled())
  t.same(await last(), expected('2'), 'committed')
  await world.write(DOC, triple('3'))
  await world.write(DOC, undefined)
  t.ok(await world.settled())
  t.same(await last(), expected('3'), 'made and deleted again')
  t.equal(reads, 1)

  await world.write(DOC, triple('4'))
  t.ok(await world.settled())
  foreignCommit(world.bare, { [pathOf(DOC)]: undefined })
  world.history.refresh()
  t.ok(await world.settled())
  t.equal((await versionsOf(world, DOC)).at(-1)!.blob, undefined)
  t.same(await last(), expected('4'), 'deleted by others: read once')
  t.same(await last(), expected('4'))
  t.equal(reads, 2)
})
