// Loaded into a gateway before it starts: writes to a file how long something has held its event loop, each on a line with
// the time. Only the processor time of its main thread counts: the same work gives the same figure, however busy the machine
// is. If the thread itself waits, the other client of an attack notices it.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { timesOf } from './thread-times.js'

const TICK_MS = 5
/** Shorter ones are no attack. */
const LONG_MS = 10

const file = process.env['HOLDS_FILE']
if (file !== undefined && isMainThread) {
  let before = timesOf('thread-self').ran
  setInterval(() => {
    const { ran } = timesOf('thread-self')
    const held = ran - before - TICK_MS
    if (held > LONG_MS) appendFileSync(file, `${Date.now()} ${held}\n`)
    before = ran
  }, TICK_MS).unref()
}
