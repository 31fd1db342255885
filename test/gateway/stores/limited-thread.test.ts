// A thread with limits. Of time: by the clock, or by its own processor time, which does not depend on how busy the
// machine is. Of memory: the thread stops, never the process.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { problem } from '../../../gateway/problem.js'
import { thisThread } from '../../../gateway/stores/processor-time.js'
import { startThread } from '../../../gateway/stores/limited-thread.js'

/** It waits, or computes, for this many ms. */
const SCRIPT = `
import { readlinkSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
parentPort.on('message', ([act, ms]) => {
  if (act === 'waits') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  else for (const end = performance.now() + ms; performance.now() < end;);
  parentPort.postMessage({ reply: 'done' })
})
parentPort.postMessage({ ready: true, thread: readlinkSync('/proc/thread-self') })`

const [tooLong, busy, broken] = [problem('update.time', ''), problem('server.overloaded', ''), problem('internal', '')]

// prettier-ignore
const ROWS: readonly [name: string, job: readonly ['waits' | 'works', number], isByProcessor: boolean, outcomes: readonly unknown[]][] = [
  ['a job that waits for a processor may take longer than its limit', ['waits', 400], true, [['done']]],
  ['a job that waits six times as long is given up: the machine is too busy', ['waits', 60_000], true, [busy]],
  // If other programs use most of the processors, it does not get enough time before the limit by the clock.
  ['a job that works longer than its limit', ['works', 60_000], true, [tooLong, busy]],
  ['by the clock: a job that waits longer than its limit', ['waits', 60_000], false, [tooLong]],
]

void t.test('limits of time', { skip: thisThread() === undefined && 'no /proc' }, async (t) => {
  const script = new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`)
  for (const [name, job, isByProcessor, outcomes] of ROWS) {
    const thread = await startThread({ script, data: undefined, memory: 2 ** 26, broken: () => broken })
    const answered = await thread.do(job, { time: 200, tooLong, ...(isByProcessor && { busy }) })
    t.ok(
      outcomes.some((outcome) => isDeepStrictEqual(answered, outcome)),
      `${name}: ${JSON.stringify(answered)}`,
    )
    await thread.end(broken)
  }
})

const MEMORY_MODULE = new URL('../../../gateway/thread-memory.js', import.meta.url).href
/** Counts what it adds. V8 would end the process when the Map, the array or the text needs a larger piece of memory. */
const GROWING = `
import { parentPort } from 'node:worker_threads'
import { grown } from ${JSON.stringify(MEMORY_MODULE)}
const add = {
  map() { const all = new Map(); for (let i = 0; ; i++) { grown(64); all.set(i, { i }) } },
  set() { const all = new Set(); for (let i = 0; ; i++) { grown(32); all.add('x' + i) } },
  array() { const all = []; for (let i = 0; ; i++) { grown(8); all.push(i + 0.5) } },
  text() { let all = 'a'; for (;;) { grown(2 * all.length); all = [all, all].join('b') } },
  caught() { for (const all = []; ; ) try { grown(1024); all.push(new Array(100).fill(all)) } catch {} },
  garbage() { for (let i = 0; i < 1000; i++) { grown(2 ** 17); new Array(2 ** 14).fill(i) } },
}
parentPort.on('message', (kind) => { add[kind](); parentPort.postMessage({ reply: 'done' }) })
parentPort.postMessage({ ready: true })`

void t.test('a thread that would use more than its memory stops by itself', async (t) => {
  const script = new URL(`data:text/javascript,${encodeURIComponent(GROWING)}`)
  const full = problem('content.too-large', '')
  for (const kind of ['map', 'set', 'array', 'text', 'caught', 'garbage'] as const) {
    const thread = await startThread({ script, data: undefined, memory: 2 ** 25, broken: (isFull) => (isFull ? full : broken) }) // prettier-ignore
    t.same(await thread.do(kind, { time: 30_000, tooLong }), kind === 'garbage' ? ['done'] : full, kind)
    await thread.end(broken)
  }
})
