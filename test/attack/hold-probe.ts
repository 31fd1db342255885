// Loaded into a gateway before it starts: writes to a file how long something has held its event loop, each on a line with
// the time. Waits for a processor do not count: the same work gives the same figure, however busy the machine is.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { waitingTimeOf } from './waiting-time.js'

const TICK_MS = 5
/** Shorter ones are no attack. */
const LONG_MS = 10

const file = process.env['HOLDS_FILE']
if (file !== undefined && isMainThread) {
  let before = { at: performance.now(), waited: waitingTimeOf('thread-self') }
  setInterval(() => {
    const now = { at: performance.now(), waited: waitingTimeOf('thread-self') }
    const held = now.at - before.at - (now.waited - before.waited) - TICK_MS
    if (held > LONG_MS) appendFileSync(file, `${Date.now()} ${held}\n`)
    before = now
  }, TICK_MS).unref()
}
