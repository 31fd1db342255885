// In charge of the embedded triplestore: Oxigraph, in memory, in a worker thread, as a GraphStore.
// A call in progress has no time limit: nothing ends it but the end of the thread, and with that of the data. A query that
// is nested too deep or needs too much memory ends the thread.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Job, Reply } from './embedded-store-worker.js'
import { isProblem, problem, type Problem } from './problem.js'
import type { Call, GraphStore } from './store.js'
import { givenUp, makeTurns } from './turns.js'

const PIECE_BYTES = 64 * 1024
const REFUSED = problem('store.failed', 'The embedded triplestore cannot do this.')
const GONE = problem(
  'store.failed',
  'The embedded triplestore has ended, and its data with it: the gateway must be restarted.',
)

/**
 * Starts an empty store. Its calls are done one after the other; `queue` of them may wait, beyond that they are
 * `store.overloaded`. A call whose signal aborts is answered at once: if it waits it is not done, if it has begun it
 * is still done. Language tags come back in lower case, blank nodes with labels of the store's own.
 */
export async function openEmbeddedStore(name: string, { queue = 1000 } = {}): Promise<GraphStore> {
  const worker = new Worker(new URL('./embedded-store-worker.js', import.meta.url))
  const turns = makeTurns(1, queue)
  let gone = false
  let settle: (reply: Reply | Problem) => void = () => undefined
  const end = () => {
    gone = true
    settle(GONE)
  }
  await once(worker, 'message')
  worker
    .on('message', (reply: Reply) => settle(reply))
    .on('error', end)
    .on('exit', end)

  async function send(job: Job, { signal }: Call = {}): Promise<string | Uint8Array | undefined | Problem> {
    const place = await turns.take(signal)
    if (isProblem(place)) return place
    if (gone) {
      place()
      return GONE
    }
    const replied = new Promise<Reply | Problem>((resolve) => (settle = resolve))
    void replied.then(place)
    worker.postMessage(job)
    const reply = await unlessAborted(replied, signal)
    if (isProblem(reply)) return reply
    return 'failed' in reply ? REFUSED : reply.done
  }
  const write = async (job: Job, call?: Call): Promise<undefined | Problem> => {
    const done = await send(job, call)
    return isProblem(done) ? done : undefined
  }

  return {
    name,
    async read(graph, call) {
      const triples = await send({ kind: 'read', graph }, call)
      return isProblem(triples) ? triples : (triples as string) || undefined
    },
    replace: (graph, nTriples, call) => write({ kind: 'replace', graph, nTriples }, call),
    remove: (graph, call) => write({ kind: 'remove', graph }, call),
    async query(sparql, accept, call) {
      const results = await send({ kind: 'query', sparql, accept }, call)
      return isProblem(results) ? results : piecesOf(results as Uint8Array)
    },
    update: (sparql, call) => write({ kind: 'update', sparql }, call),
    ready: (call) => write({ kind: 'query', sparql: 'ASK {}', accept: 'application/sparql-results+json' }, call),
    async close() {
      await worker.terminate()
    },
  }
}

function unlessAborted<T>(outcome: Promise<T>, signal: AbortSignal | undefined): Promise<T | Problem> {
  if (!signal) return outcome
  return new Promise((resolve) => {
    const leave = () => resolve(givenUp(signal))
    signal.addEventListener('abort', leave, { once: true })
    void outcome.then((value) => {
      signal.removeEventListener('abort', leave)
      resolve(value)
    })
  })
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}
