// The thread of an import (gateway/imports/import-worker.ts) leaves the processor to requests.
import { once } from 'node:events'
import { constants, getPriority } from 'node:os'
import { basename } from 'node:path'
import t from 'tap'
import { Worker } from 'node:worker_threads'
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
