// The tests of the journal and its database: durable, in order, bounded, and complete after a kill or a
// full disk.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ClassicLevel } from 'classic-level'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { isFailure, type Setback } from '../../../versioning/failure.js'
import { readTrailers } from '../../../versioning/git/commit-message.js'
import { openDatabase, put, type Database } from '../../../versioning/journal/database.js'
import type { NewChange, OpenEntry } from '../../../versioning/history.js'
import { openJournal, type Journal, type JournalLimits } from '../../../versioning/journal/journal.js'
import { makeWriteLog } from '../../../versioning/log/write-log.js'
import { openHistory } from '../../../versioning/open-history.js'
import { openLocalRepository } from '../../../versioning/git/local-repository.js'
import { makeUlids } from '../../../versioning/journal/ulid.js'
import { checkSound, logged, smallDisk, temporaryFolder } from '../../support/bare-repository.js'
import { until } from '../../support/wait.js'
import { NO_LOG, SOON } from '../history-world.js'
import { BASE, succeeded } from '../repository-contract.js'

const DOC = `${BASE}doc/`
const change = (content: string | undefined, document = DOC): NewChange => ({
  ...{ document, content, method: 'PUT', agent: undefined, time: 1, before: undefined },
})
const CUTS = Number(process.env.TRIPLEGATE_TEST_CUTS ?? 60)
const LIMITS: JournalLimits = { entries: 1000, bytes: 1_000_000 }

async function journalIn(
  folder: string,
  { now = (): number => 1, limits = LIMITS } = {},
): Promise<{ journal: Journal; database: Database }> {
  const database = succeeded(await openDatabase(folder, NO_LOG))
  const writeLog = makeWriteLog('urn:log')
  return {
    database,
    journal: await openJournal({ database, pathOf: (document) => document, now, limits, writeLog, hasRules: false }),
  }
}

void t.test('a ULID is later than every earlier one, whatever the clock says', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 48 - 1 }), { minLength: 2 }), (times) => {
      let last = ''
      for (const time of times) {
        const id = makeUlids(() => time, last)()
        t.match(id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
        if (id <= last) throw new Error(`${id} after ${last}`)
        last = id
      }
    }),
    { numRuns: 20 },
  )
  t.equal(makeUlids(() => 1469918176385)().slice(0, 10), '01ARYZ6S41', 'the example of the specification of ULIDs')
  t.equal(makeUlids(() => 0, '01ARYZ6S41YYYYYYYYYYYYYYZZ')(), '01ARYZ6S41YYYYYYYYYYYYYZ00')
})

void t.test('ids grow over restarts, even if the clock goes back and the journal is empty', async (t) => {
  const folder = temporaryFolder(t)
  const ids: string[] = []
  for (const time of [5_000, 3_000, 9_000, 0]) {
    const { journal, database } = await journalIn(folder, { now: () => time })
    for (let i = 0; i < 3; i++) {
      const entries = succeeded(await journal.begin([change('x')]))
      ids.push(entries[0]!.id)
      await journal.undone(entries)
    }
    await database.close()
  }
  t.same(ids, [...ids].sort())
  t.equal(new Set(ids).size, 12)
})

void t.test('changes that begin at the same time share a sync', async (t) => {
  const { journal, database } = await journalIn(temporaryFolder(t))
  const begun = await Promise.all(Array.from({ length: 100 }, (_, i) => journal.begin([change(`${i}`, `${DOC}${i}`)])))
  t.notOk(begun.some(isFailure))
  t.equal(journal.open().length, 100)
  t.ok(database.counts.synced >= 1 && database.counts.synced <= 25, `${database.counts.synced} syncs`)
  await database.close()
})

void t.test('`undone` is synced, `done` is not', async (t) => {
  const { journal, database } = await journalIn(temporaryFolder(t))
  const entries = succeeded(await journal.begin([change('1'), change('2', BASE)]))
  const before = database.counts.synced
  journal.done([entries[0]!])
  t.equal(database.counts.synced, before)
  await journal.undone([entries[1]!])
  t.equal(database.counts.synced - before, 1)
  await database.close()
})

void t.test('the journal is bounded, in changes and in bytes, and accepts more when there is room again', async (t) => {
  const rows: readonly [what: string, limits: JournalLimits, contents: readonly string[]][] = [
    ['changes', { entries: 2, bytes: 1000 }, ['1', '2', '3']],
    ['bytes', { entries: 100, bytes: 10 }, ['12345', '12345', '1']],
  ]
  for (const [what, limits, [first, second, third]] of rows) {
    const folder = temporaryFolder(t)
    const { journal, database } = await journalIn(folder, { limits })
    const begun = await Promise.all([journal.begin([change(first)]), journal.begin([change(second, BASE)])])
    t.match(await journal.begin([change(third)]), { failure: 'full', detail: /status/ }, what)
    t.equal(journal.figures().depth, 2)
    await journal.undone(succeeded(begun[0]!))
    t.notOk(isFailure(await journal.begin([change(third)])), what)
    await database.close()
  }
})

void t.test(
  'ready changes: done, oldest first, with no earlier one of the same document that is open or passed over',
  async (t) => {
    const { journal, database } = await journalIn(temporaryFolder(t))
    const [a, b, c] = ['a', 'b', 'c']
    const entries = succeeded(
      await journal.begin([
        change('1', a),
        change('1', b),
        change('2', a),
        change('1', c),
        change('2', b),
        change('2', c),
      ]),
    )
    const ready = (most = 10, passOver: readonly string[] = []) =>
      journal
        .ready(most, (document) => passOver.includes(document))
        .map(({ id }) => entries.findIndex((e) => e.id === id))
    t.same(ready(), [])
    journal.done([entries[2]!, entries[1]!, entries[3]!, entries[4]!])
    t.same(ready(), [1, 3, 4], 'the second of a waits for the first, the second of c is open')
    t.same(ready(2), [1, 3])
    t.same(ready(10, [b]), [3])
    await journal.undone([entries[0]!])
    t.same(ready(), [1, 2, 3, 4])
    await database.close()
  },
)

void t.test('operations are written in the given order, in one batch or in several', async (t) => {
  const folder = temporaryFolder(t)
  const database = succeeded(await openDatabase(folder, NO_LOG))
  await Promise.all(Array.from({ length: 50 }, (_, i) => database.write([put('k', String(i))], i % 7 === 0, 'drop')))
  t.equal(await database.get('k'), '49')
  t.ok(database.counts.batches < 25, `${database.counts.batches} batches`)
  const large = 'x'.repeat(9 * 1024 * 1024)
  const before = database.counts.batches
  await Promise.all(['1', '2', '3'].map((key) => database.write([put(key, large)], false, 'drop')))
  t.equal(database.counts.batches - before, 3, 'large values are not in one batch')
  await database.close()
  t.match(await database.write([put('k', '')], true, 'drop'), { failure: 'failed' })
})

void t.test('a damaged or locked folder is reported, with the remedy', async (t) => {
  const folder = temporaryFolder(t)
  const database = succeeded(await openDatabase(folder, NO_LOG))
  t.match(await openDatabase(folder, NO_LOG), { failure: 'failed', detail: /another process/ })
  await database.close()
  writeFileSync(join(folder, 'CURRENT'), 'MANIFEST-999999\n')
  t.match(await openDatabase(folder, NO_LOG), { failure: 'failed', detail: /Put back a copy|cannot be opened/ })
  writeFileSync(join(folder, 'file'), '')
  t.match(await openDatabase(join(folder, 'file'), NO_LOG), { failure: 'failed' })
})

void t.test('a crash at any byte of the log: what was answered is there, and nothing else', async (t) => {
  const folder = temporaryFolder(t)
  const written = join(folder, 'written')
  const { journal, database } = await journalIn(written)
  const log = readdirSync(written).find((name) => name.endsWith('.log'))!
  const answered: { size: number; open: readonly string[]; position: number }[] = []
  const after = async (step: Promise<readonly OpenEntry[] | Setback | void>): Promise<readonly OpenEntry[]> => {
    const entries = (await step) ?? []
    const [open, position] = [journal.open().map(({ id }) => id), journal.position()]
    answered.push({ size: statSync(join(written, log)).size, open, position })
    return succeeded(entries)
  }
  await after(Promise.resolve())
  const first = await after(journal.begin([change('<urn:a> <urn:b> "1" .\n')]))
  await after(journal.begin([change('x', `${BASE}a/`), change(undefined, `${BASE}b/`)], { readAll: 1, rules: 0 }))
  await after(journal.undone(first))
  // More than a block of LevelDB's log, 32 KiB.
  await after(journal.begin([change('y'.repeat(40_000), `${BASE}c/`)]))
  await after(journal.begin([change('z')]))
  await database.close()
  const size = answered.at(-1)!.size
  const cuts = new Set(
    [
      ...answered.flatMap((one) => [one.size - 1, one.size, one.size + 1]),
      ...[-1, 0, 1, 6, 7, 8].map((at) => 32 * 1024 + at),
      ...Array.from({ length: CUTS }, (_, n) => Math.floor((size * n) / CUTS)),
    ].filter((at) => at >= 0 && at <= size),
  )
  t.setTimeout(30_000 + cuts.size * 50)
  for (const at of cuts) {
    const cut = join(folder, 'cut')
    cpSync(written, cut, { recursive: true })
    truncateSync(join(cut, log), at)
    const again = await journalIn(cut)
    const expected = answered.findLast((one) => one.size <= at)!
    const found = { open: again.journal.open().map(({ id }) => id), position: again.journal.position() }
    if (!isDeepStrictEqual({ ...found, size: expected.size }, expected))
      t.same(found, expected, `${at} of ${size} bytes`)
    const [next] = succeeded(await again.journal.begin([change('next')]))
    if (again.journal.position() !== expected.position + 1 || expected.open.some((id) => id >= next!.id))
      t.fail(`the next change after ${at} bytes`)
    await again.database.close()
    rmSync(cut, { recursive: true })
  }
  t.ok(cuts.size > 50)
})

void t.test('a full disk: no change begins, none is lost, and the journal continues when there is room', async (t) => {
  const disk = smallDisk(t)
  if (disk === undefined) return void t.pass('not tried: no tmpfs can be mounted here', { skip: true })
  const folder = join(disk, 'journal')
  const { journal, database } = await journalIn(folder, { limits: { entries: 1e6, bytes: 1e9 } })
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(1024 * 1024))
  const acknowledged: string[] = []
  const refused: string[] = []
  const begin = async (): Promise<boolean> => {
    const entries = await journal.begin([change('x'.repeat(10_000))])
    if (isFailure(entries)) {
      refused.push(entries.failure)
      t.match(entries.detail, /Make room/)
      return false
    }
    acknowledged.push(entries[0]!.id)
    return true
  }
  while (await begin());
  t.ok(acknowledged.length > 10)
  for (let i = 0; i < 20; i++) t.equal(await begin(), false)
  t.same([...new Set(refused)], ['in-doubt', 'full'], 'only the first may be in the log')
  t.match(await journal.undone([{ id: acknowledged.shift()! }]), { failure: 'full' })
  t.equal(journal.open().length, acknowledged.length)
  t.ok(await database.get(`e${acknowledged[0]}`), 'the journal can be read meanwhile')
  rmSync(ballast)
  t.equal(await begin(), true, 'there is room again')
  t.equal(await begin(), true)
  await database.close()
  const again = await journalIn(folder)
  t.same(
    again.journal.open().map(({ id }) => id),
    acknowledged,
    'acknowledged changes are in the journal; refused and undone ones are not',
  )
  await again.database.close()
})

/** The next syncs fail, after LevelDB has written the batch to its log. */
function failSyncs(t: Test, failures: { left: number }): void {
  const { prototype } = ClassicLevel
  const { batch } = prototype
  t.teardown(() => Object.assign(prototype, { batch }))
  const failing = function (this: ClassicLevel) {
    const chained = batch.call(this)
    const write = chained.write.bind(chained)
    return Object.assign(chained, {
      async write(options: { readonly sync: boolean }) {
        await write(options)
        if (options.sync && failures.left-- > 0) throw new Error('IO error: 000003.log: No space left on device')
      },
    })
  }
  Object.assign(prototype, { batch: failing })
}

// prettier-ignore
const FAILED_SYNCS: readonly (readonly [what: string, failures: number, steps: readonly (readonly ['begin' | 'undone', expected: string])[]])[] = [
  ['one sync fails', 1, [['begin', 'full'], ['begin', 'done']]],
  ['two syncs fail, so the change may come back', 2, [['begin', 'in-doubt'], ['begin', 'done']]],
  ['syncs keep failing: only the first change was written at all', Infinity, [['begin', 'in-doubt'], ['begin', 'full'], ['begin', 'full']]],
  ['a withdrawal is synced at the second attempt', 1, [['undone', 'done'], ['begin', 'done']]],
  ['a withdrawal is not synced', 2, [['undone', 'full'], ['begin', 'done']]],
]

for (const [what, left, steps] of FAILED_SYNCS) {
  void t.test(`a kill after a failed sync: no refused change is there again: ${what}`, async (t) => {
    const folder = temporaryFolder(t)
    const written = join(folder, 'written')
    const { journal, database } = await journalIn(written)
    const first = succeeded(await journal.begin([change('first')]))
    failSyncs(t, { left })
    const certain = new Map([['first', true]])
    for (const [n, [step, expected]] of steps.entries()) {
      const outcome = await (step === 'begin' ? journal.begin([change(`${n}`)]) : journal.undone(first))
      t.equal(isFailure(outcome) ? outcome.failure : 'done', expected, `${n}`)
      if (step === 'undone' && expected === 'done') certain.set('first', false)
      if (step === 'undone' && expected !== 'done') certain.delete('first')
      if (step === 'begin' && expected !== 'in-doubt') certain.set(`${n}`, expected === 'done')
      const killed = join(folder, `killed${n}`)
      cpSync(written, killed, { recursive: true })
      const again = await journalIn(killed)
      const found = new Set(again.journal.open().map(({ content }) => content))
      for (const [content, isThere] of certain) t.equal(found.has(content), isThere, `${content} after ${n}`)
      await again.database.close()
    }
    await database.close()
  })
}

void t.test('killed again and again: every acknowledged change is committed, once and in order', async (t) => {
  const folder = temporaryFolder(t)
  const acknowledged: string[][] = []
  for (let run = 0; run < 10; run++) {
    const load = spawn(process.execPath, [join(import.meta.dirname, 'journal-load.js'), folder, String(run)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface(load.stdout)
    const ended = once(load, 'exit')
    const before = acknowledged.length
    const read = (async () => {
      for await (const line of lines) acknowledged.push(line.split(' '))
    })()
    await until(() => acknowledged.length > before + 5)
    // Then at any moment.
    await sleep(20 + ((run * 37) % 150))
    load.kill('SIGKILL')
    await Promise.all([ended, read])
  }
  const [bare, now] = [join(folder, 'repository.git'), () => Date.now()]
  const repository = succeeded(await openLocalRepository({ folder: bare, branch: 'main', pathPrefix: 'graphs', now }))
  const options = { repository, base: BASE, prefix: 'graphs', now, log: NO_LOG }
  const history = succeeded(await openHistory({ ...options, folder: join(folder, 'journal') }))
  t.ok(history.open().length <= 4, 'at most the last change of each document is in doubt')
  history.done(history.open())
  t.equal(await history.settled(SOON), true)
  const commits = logged(bare, '%B').map(readTrailers)
  const ids = commits.map(({ journalId }) => journalId)
  t.ok(acknowledged.length > 50)
  t.comment(`${acknowledged.length} acknowledged, ${commits.length} commits`)
  t.equal(new Set(ids).size, ids.length, 'none twice')
  const onBranch = new Set(ids)
  t.same(
    acknowledged.filter(([id]) => !onBranch.has(id)),
    [],
    'none is missing',
  )
  for (const document of new Set(commits.map(({ document }) => document))) {
    const own = commits.filter((commit) => commit.document === document).map(({ journalId }) => journalId)
    t.same(own, [...own].sort(), 'in order')
  }
  await history.close()
  await repository.close()
  checkSound(t, bare)
  t.ok(existsSync(join(folder, 'journal')))
})
