// Runs the test files named in its input, one per line, one after the other: each is one test of this process.
import { createInterface } from 'node:readline'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { startLauncher } from '../../versioning/git/launcher.js'
import './shared-threads.js'
import { compiledFile, FILE_BEGINS, FILE_OVER } from './test-files.js'

/** The time limit in ms for a file that sets none. */
const TIMEOUT = 600_000
/** How long connections and processes may take to close when a file is finished, in ms. */
const PATIENCE = 300
/** A process that does not end fails after this time in ms, since its last file has left something open. */
const LEFT_OPEN = 15_000
/** In bytes: a process that has used more runs no further files. */
const MEMORY = 2 ** 30

// This process becomes large. Starting a git from it would take longer than most tests.
const stopLauncher = startLauncher(() => undefined)

const runTest = t.test.bind(t)
const variables = { ...process.env }
const resources = openNow()

for await (const source of createInterface({ input: process.stdin })) {
  t.pragma({ [FILE_BEGINS]: true })
  const results = await runTest(source, { timeout: TIMEOUT }, async (file: Test) => {
    // Calls of the file on the root test go to the file's own test.
    for (const name of ['test', 'teardown', 'setTimeout'] as const) {
      Object.defineProperty(t, name, { value: file[name].bind(file), configurable: true })
    }
    await import(pathToFileURL(resolve(compiledFile(source))).href)
  })
  if (results?.count === 0) t.fail('has no test')
  // The parser of test points handles this line immediately; it handles a point or a comment only with the next line.
  t.pragma({ [FILE_OVER]: await isClean() })
}
stopLauncher()
setTimeout(() => {
  const open = [...openNow()].map(([kind, count]) => `${count} ${kind}`)
  t.fail(`${LEFT_OPEN / 1000} s after its end the file has left open: ${open.join(', ')}. Close it in a teardown.`)
  process.exit(1)
}, LEFT_OPEN).unref()

/** The resources that keep this process alive: the number of each kind. */
function openNow(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** False if the file has left something behind: then this process runs no further files. */
async function isClean(): Promise<boolean> {
  const names = new Set([...Object.keys(variables), ...Object.keys(process.env)])
  if ([...names].some((name) => process.env[name] !== variables[name])) return false
  if (process.memoryUsage.rss() > MEMORY) return false
  // Work that the file began last may open something in the next turn of the loop.
  await turn()
  for (const limit = performance.now() + PATIENCE; performance.now() < limit;) {
    if ([...openNow()].every(([kind, count]) => count <= (resources.get(kind) ?? 0))) return true
    await sleep(5, undefined, { ref: false })
  }
  return false
}
