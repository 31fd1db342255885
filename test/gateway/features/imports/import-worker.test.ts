// The thread of an import (gateway/features/imports/import-worker.ts) leaves the processor to requests.
import { once } from 'node:events'
import { constants, getPriority } from 'node:os'
import { basename, join } from 'node:path'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { Worker } from 'node:worker_threads'
import { askImport, makeBatches, startImportThread } from '../../../../gateway/features/imports/import-thread.js'
import { USUAL } from '../../../../gateway/features/imports/csvw-dialect.js'
import { readMetadata, type Metadata } from '../../../../gateway/features/imports/csvw-metadata.js'
import { startOfRun } from '../../../../gateway/features/imports/background-imports.js'
import type { Starts } from '../../../../versioning/starts.js'
import { openSpool } from '../../../../gateway/features/imports/spool.js'
import type { ImportPlan, ReadProgress } from '../../../../gateway/features/imports/plan.js'
import { CANCELLED } from '../../../../gateway/features/imports/run-import.js'
import { isFailure } from '../../../../gateway/problem.js'
import { AS_WRITTEN } from '../../../../gateway/rdf/literal-forms.js'
import { thisThread } from '../../../../gateway/stores/processor-time.js'

void t.test('the thread of an import has the lowest priority, and no other thread', async (t) => {
  const own = thisThread()
  if (own === undefined) return t.pass('', { skip: 'only Linux has priorities of threads' })
  const before = getPriority()
  const script = new URL('../../../../gateway/features/imports/import-worker.js', import.meta.url)
  const worker = new Worker(script, { workerData: { memory: 64 * 1024 * 1024 } })
  t.teardown(() => worker.terminate())
  const [{ thread }] = (await once(worker, 'message')) as [{ thread: string }]
  t.equal(getPriority(Number(basename(thread))), constants.priority.PRIORITY_LOW)
  t.equal(getPriority(Number(basename(own))), before)
})

void t.test('a run that has read everything is continued by another thread, however large it is', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-thread-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [documents, read] = [1_000_000, 900_000]
  const path = join(folder, 'spool')
  const spool = openSpool(path, 0)
  for (let i = 0; i < documents; i++) {
    spool.add(`https://localhost/a/container/of/many/documents/${i}/`, `<urn:s> <urn:p> "${i}"`)
    if (i % 10_000 === 9_999) spool.flush()
  }
  const spooled = spool.flush()
  spool.close()
  writeFileSync(`${path}.progress`, JSON.stringify({ rows: documents, spooled, done: true }))
  // The source is not read again: it does not exist.
  const plan = { path: join(folder, 'none'), size: spooled, spool: path, kind: 'csv', maxBytes: spooled } as ImportPlan
  const thread = await startImportThread()
  t.teardown(() => thread.end(CANCELLED))
  let progress = await askImport<ReadProgress>(thread, { kind: 'open', plan })
  let steps = 0
  while (!isFailure(progress) && !progress.done) {
    progress = await askImport<ReadProgress>(thread, { kind: 'read', rows: 5_000, time: 100 })
    steps++
  }
  t.match(progress, { rows: documents, documents, bytes: spooled, done: true })
  t.ok(steps > 1, 'in steps')
  const made = await makeBatches(thread, read, { tagKey: 'key', forms: AS_WRITTEN }).next()
  t.equal(isFailure(made) ? made : made.length, 256)
})

void t.test(
  'a few bytes of CSV do not become many: the disk and the memory that a step takes are bounded',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'triplegate-thread-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const metadataOf = (table: object): Metadata =>
      readMetadata(JSON.stringify({ url: 'a.csv', ...table }), ['a.csv']) as Metadata
    const many = (most: number, make: (i: number) => object): object[] =>
      Array.from({ length: most }, (_, i) => make(i))
    const short = '1\n'.repeat(20_000)
    // prettier-ignore
    const rows: readonly [name: string, csv: string, expected: RegExp, metadata?: object][] = [
    ['a long name', `${'ä'.repeat(1000)}\n${short}`, /more than \d+ bytes/],
    ['a name that is too long', `${'a'.repeat(90_000)}\n${short}`, /the name of column 1 has more than/],
    ['virtual columns with defaults', `a\n${short}`, /more than \d+ bytes|left out/, { tableSchema: { columns: [{ name: 'a' }, ...many(200, () => ({ virtual: true, default: 'd'.repeat(1000) }))] } }],
    ['long templates', `a\n${short}`, /more than \d+ bytes|left out/, { tableSchema: { columns: many(200, (i) => ({ virtual: i > 0, aboutUrl: `http://e.test/${'a'.repeat(900)}`, default: 'd' })) } }],
    ['many values of a cell', `a\n${';1'.repeat(45_000)}\n`, /^Row 2 would become more than 4194304 characters/, { tableSchema: { columns: [{ name: 'a', separator: ';', aboutUrl: `http://e.test/${'a'.repeat(900)}` }] } }],
    ['a template that repeats a long cell', `a\n${'x'.repeat(100_000)}\n`, /gives no IRI here/, { tableSchema: { columns: [{ name: 'a', valueUrl: `http://e.test/${'{a}'.repeat(300)}` }] } }],
  ]
    for (const [name, csv, expected, metadata] of rows) {
      const path = join(folder, 'a.csv')
      const spool = join(folder, `spool-${name.replaceAll(' ', '-')}`)
      writeFileSync(path, csv)
      const plan = {
        ...{
          path,
          size: csv.length,
          spool,
          kind: 'csv',
          mediaType: 'text/csv',
          maxBytes: 2 ** 30,
          digest: 'd'.repeat(64),
        },
        ...{
          base: 'https://x.test/a.csv',
          into: 'https://x.test/in/',
          name: undefined,
          namespace: 'https://x.test/ns#',
        },
        ...{
          dialect: USUAL,
          encoding: 'utf-8',
          mapping: { plain: true },
          ...(metadata && { metadata: metadataOf(metadata) }),
        },
      } satisfies ImportPlan
      const thread = await startImportThread()
      const before = process.memoryUsage().rss
      let [progress, most] = [await askImport<ReadProgress>(thread, { kind: 'open', plan }), 0]
      const said: string[] = []
      while (!isFailure(progress) && !progress.done) {
        progress = await askImport<ReadProgress>(thread, { kind: 'read', rows: 5_000, time: 100 })
        if (!isFailure(progress)) said.push(...progress.findings.map(({ detail }) => detail))
        most = Math.max(most, process.memoryUsage().rss - before)
      }
      if (isFailure(progress)) said.push(progress.detail)
      await thread.end(CANCELLED)
      t.ok(
        said.some((one) => expected.test(one)),
        `${name}: ${said.slice(0, 3).join('; ')}`,
      )
      const written = existsSync(spool) ? statSync(spool).size : 0
      t.ok(written < 512 * csv.length + 16 * 2 ** 20, `${name}: ${written} bytes on disk`)
      t.ok(most < 300 * 2 ** 20, `${name}: ${most} bytes of memory`)
    }
  },
)

void t.test('an import is given up at its third start without progress', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-starts-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const spool = join(folder, 'spool')
  const plan = { spool } as ImportPlan
  const start = (written: number, before?: Starts) => startOfRun(plan, written, before)
  const first = await start(0)
  const second = await start(0, first)
  t.equal(second?.count, 2)
  t.equal(await start(0, second), undefined, 'at the same place')
  t.equal((await start(1, second))?.count, 1, 'a document was written')
  writeFileSync(`${spool}.progress`, '{"rows":250}')
  t.equal((await start(0, second))?.count, 1, 'rows were read')
})
