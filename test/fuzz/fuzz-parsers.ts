// `npm run fuzz -- --parsers`: each parser that an anonymous client reaches, in a thread with a limit of memory, and
// what breaks it: an error, a text that takes too long, too much memory.
import { Worker } from 'node:worker_threads'
import type { FuzzJob, FuzzMessage } from './fuzz-worker.js'
import { PARSERS } from './parsers.js'

const MOST_MIB = 300
const LONGEST = 4096
/** ms without an end of one text, on a machine with other work. */
const MOST_MS = 15_000

type Print = (line: string) => void

/** The number of findings. */
export async function fuzzParsers(
  names: readonly string[],
  minutes: number,
  seed: number,
  print: Print,
): Promise<number> {
  let findings = 0
  for (const name of names) {
    const until = Date.now() + minutes * 60_000
    // A thread that has broken is followed by another one, which makes other choices.
    for (let run = 0; run === 0 || (Date.now() < until && run < 10); run++) {
      const { found, isOver } = await fuzz(name, seed + run, until, print)
      findings += found
      if (isOver) break
    }
  }
  return findings
}

export const PARSER_NAMES: readonly string[] = Object.keys(PARSERS)

function fuzz(name: string, seed: number, until: number, print: Print): Promise<{ found: number; isOver: boolean }> {
  const counts = new Int32Array(new SharedArrayBuffer(8))
  const text = new Uint16Array(new SharedArrayBuffer(2 * LONGEST))
  const workerData: FuzzJob = { name, seed, until, counts, text }
  const worker = new Worker(new URL('./fuzz-worker.js', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MIB },
  })
  let found = 0
  const report = (what: string, input: string): void => {
    found++
    print(`FOUND, ${name}: ${what}\n  ${JSON.stringify(input)}`)
  }
  const current = (): string => String.fromCharCode(...text.subarray(0, counts[1]!))
  return new Promise((resolve) => {
    let before = -1
    const timer = setInterval(() => {
      if (before === counts[0]) {
        report(`does not end within ${MOST_MS / 1000} s`, current())
        void worker.terminate()
      }
      before = counts[0]!
    }, MOST_MS)
    let isOver = false
    worker.on('message', (message: FuzzMessage) => {
      if (message.kind === 'finding') return report(message.what, message.input)
      isOver = true
      const { inputs, corpus, reached } = message
      print(`${name}: ${inputs} inputs, ${corpus} kept, ${reached} places reached, ${found} findings`)
    })
    worker.on('error', (error) => report(`breaks the thread: ${error.message}`, current()))
    worker.on('exit', () => {
      clearInterval(timer)
      resolve({ found, isOver })
    })
  })
}
