// The thread of an import (gateway/imports/import-worker.ts) leaves the processor to requests.
import { once } from 'node:events'
import { constants, getPriority } from 'node:os'
import { basename, join } from 'node:path'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { Worker } from 'node:worker_threads'
import { ask, makeBatches, startImportThread } from '../../../gateway/imports/import-thread.js'
import { openSpool } from '../../../gateway/imports/spool.js'
import type { Plan, ReadProgress } from '../../../gateway/imports/plan.js'
import { CANCELLED } from '../../../gateway/imports/run-import.js'
import { isFailure } from '../../../gateway/problem.js'
import { thisThread } from '../../../gateway/stores/processor-time.js'

void t.test('the thread of an import has the lowest priority, and no other thread', async (t) => {
  const own = thisThread()
  if (own === undefined) return t.pass('', { skip: 'only Linux has priorities of threads' })
  const before = getPriority()
  const script = new URL('../../../gateway/imports/import-worker.js', import.meta.url)
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
  // The source is not read again: there is none.
  const plan = { path: join(folder, 'none'), size: 7, spool: path, kind: 'csv', maxBytes: spooled } as Plan
  const thread = await startImportThread()
  t.teardown(() => thread.end(CANCELLED))
  let progress = await ask<ReadProgress>(thread, { kind: 'open', plan })
  let steps = 0
  while (!isFailure(progress) && !progress.done) {
    progress = await ask<ReadProgress>(thread, { kind: 'read', rows: 5_000, time: 100 })
    steps++
  }
  t.match(progress, { rows: documents, documents, bytes: 7, done: true })
  t.ok(steps > 1, 'in steps')
  const made = await makeBatches(thread, read, 'key').next()
  t.equal(isFailure(made) ? made : made.length, 256)
})
