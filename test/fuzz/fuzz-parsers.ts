// `npm run fuzz -- --parsers`: runs each parser that an anonymous client can reach in a watched thread, and reports
// what breaks it: an error, a text that takes too long, or too much memory.
import { Worker } from 'node:worker_threads'
import { OUT_OF_MEMORY } from '../../gateway/thread-memory.js'
import type { FuzzJob, FuzzMessage } from './fuzz-worker.js'

/** A text that needs more is stopped at once; the thread reports 300 MiB afterwards. The heap's limit aborts. */
const MOST_BYTES = 600 * 2 ** 20
const HEAP_MIB = 4096
const MEMORY_MS = 50
const LONGEST = 4096
/** In processor time: the limit for one text. */
const MOST_MS = 10_000
const TICK_MS = 1000

type Print = (line: string) => void

export interface FuzzRun {
  readonly names: readonly string[]
  readonly minutes: number
  readonly seed: number
  /** The module that exports `PARSERS`. */
  readonly parsers?: string
  /** A parser's run stops after this number of findings. */
  readonly most?: number
}

const OWN = new URL('./parsers.js', import.meta.url).href

/** Returns the number of findings. */
export async function fuzzParsers(run: FuzzRun, print: Print): Promise<number> {
  const { names, minutes, seed, parsers = OWN, most = Infinity } = run
  let findings = 0
  for (const name of names) {
    const until = Date.now() + minutes * 60_000
    // A broken thread is replaced by another one, which makes other choices.
    for (let begun = 0; begun === 0 || (Date.now() < until && begun < 10); begun++) {
      const { found, isOver } = await fuzz({ parsers, name, seed: seed + begun, until, most }, print)
      findings += found
      if (isOver || found >= most) break
    }
  }
  return findings
}

interface Asked extends Omit<FuzzJob, 'counts' | 'text'> {
  readonly most: number
}

function fuzz({ most, ...asked }: Asked, print: Print): Promise<{ found: number; isOver: boolean }> {
  const { name } = asked
  const counts = new Int32Array(new SharedArrayBuffer(8))
  const text = new Uint16Array(new SharedArrayBuffer(2 * LONGEST))
  const workerData: FuzzJob = { ...asked, counts, text }
  const worker = new Worker(new URL('./fuzz-worker.js', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  })
  let found = 0
  const report = (what: string, input: string): void => {
    found++
    print(`FOUND, ${name}: ${what}\n  ${JSON.stringify(input)}`)
    if (found >= most) void worker.terminate()
  }
  const current = (): string => String.fromCharCode(...text.subarray(0, counts[1]!))
  return new Promise((resolve) => {
    const end = (): void => [onTime, onMemory].forEach((timer) => clearInterval(timer))
    const stop = (what: string): void => {
      end()
      report(what, current())
      void worker.terminate()
    }
    let [before, began] = [0, process.cpuUsage()]
    const onTime = setInterval(() => {
      const { user, system } = process.cpuUsage(began)
      // Before the first text, the thread loads the parsers.
      if (before !== counts[0] || before === 0) [before, began] = [counts[0]!, process.cpuUsage()]
      else if (user + system > MOST_MS * 1000) stop(`does not end within ${MOST_MS / 1000} s`)
    }, TICK_MS)
    const mostBytes = process.memoryUsage.rss() + MOST_BYTES
    const onMemory = setInterval(() => {
      if (process.memoryUsage.rss() > mostBytes) stop(`needs more than ${MOST_BYTES / 2 ** 20} MiB`)
    }, MEMORY_MS)
    let isOver = false
    worker.on('message', (message: FuzzMessage) => {
      if (message.kind === 'finding') return report(message.what, message.input)
      isOver = true
      const { inputs, corpus, reached } = message
      print(`${name}: ${inputs} inputs, ${corpus} kept, ${reached} characters of code reached, ${found} findings`)
    })
    worker.on('error', (error) => report(`breaks the thread: ${error.message}`, current()))
    worker.on('exit', (code) => {
      end()
      if (code === OUT_OF_MEMORY) report(`needs more than ${HEAP_MIB / 2} MiB`, current())
      if (!isOver && found === 0) report('is never answered', current())
      resolve({ found, isOver })
    })
  })
}
