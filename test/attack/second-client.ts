// The other client during an attack: a thread in which the owner reads, every few ms, a cached document and one that
// nobody has read yet, and asks the store itself. When asked to end, it reports the longest waits.
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { makeClient, type Origin } from '../support/client.js'
import { clockBeside } from './thread-times.js'

export interface Waits {
  /** In ms, without waits for a processor. */
  readonly cachedMs: number
  readonly uncachedMs: number
  /** Directly from the store; 0 if the store is embedded. */
  readonly storeMs: number
  /** Unwanted answers, without repetition. */
  readonly failed: readonly string[]
}

const { origin, cached, store, gateway } = workerData as {
  readonly origin: Origin
  readonly cached: string
  /** The dataset behind the gateway. */
  readonly store: string | undefined
  /** The id of its process. */
  readonly gateway: number
}
const client = makeClient(origin)
const longest = { cachedMs: 0, uncachedMs: 0, storeMs: 0 }
const failed = new Set<string>()
let isOver = false

const clock = clockBeside(gateway)

async function read(path: string, kind: 'cachedMs' | 'uncachedMs', wanted: number): Promise<void> {
  const from = clock()
  try {
    const { status } = await client('GET', path)
    if (status !== wanted) failed.add(`${status} for ${kind === 'cachedMs' ? 'a cached' : 'an uncached'} GET`)
  } catch (error) {
    failed.add((error as NodeJS.ErrnoException).code ?? String(error))
  }
  longest[kind] = Math.max(longest[kind], clock() - from)
}

/** Asks the store directly: this shows how much of the waits of the reads is its own. */
async function askStore(dataset: string): Promise<void> {
  for (let i = 0; i === 0 || !isOver; i++) {
    const from = performance.now()
    await fetch(`${dataset}/query?query=${encodeURIComponent(`ASK { GRAPH <urn:second-${i}> { ?s ?p ?o } }`)}`)
      .then((answer) => answer.text())
      .catch(() => undefined)
    longest.storeMs = Math.max(longest.storeMs, performance.now() - from)
    await sleep(20)
  }
}

const end = (): void => {
  parentPort!.postMessage({ ...longest, failed: [...failed] } satisfies Waits)
  process.exit()
}
parentPort!.once('message', () => {
  isOver = true
  // A read that is still waiting counts too.
  setTimeout(() => {
    failed.add('no answer in 5 s')
    end()
  }, 5_000)
})
await client('GET', cached)
parentPort!.postMessage('ready')
const asking = store === undefined ? undefined : askStore(store)
for (let i = 0; i === 0 || !isOver; i++) {
  await read(cached, 'cachedMs', 200)
  await read(`/second-${Date.now()}-${i}/`, 'uncachedMs', 404)
  await sleep(20)
}
await asking
end()
