// In charge of the embedded store's Oxigraph thread as seen from outside: a job is answered within its limit, or the thread ends.
import { Worker } from 'node:worker_threads'
import type { GraphText, Job, Reply } from './embedded-worker.js'
import { problem, type Problem } from '../problem.js'

/** What a job came to: nothing, the bytes of a query's results, or the graphs that an update changed. */
export type Outcome = { readonly pieces: Uint8Array[]; readonly changes: readonly GraphText[] } | Problem

export interface Thread {
  /** Whether it can do no further job, and has nothing of what it held. */
  ended(): boolean
  /** One job at a time. It ends the thread where it takes longer than `timeLimit` ms, or soon after the signal aborts. */
  do(job: Job, timeLimit: number, signal?: AbortSignal): Promise<Outcome>
  end(reason: Problem): Promise<void>
}

/** A job that is nearly done when its caller goes is let finish: filling a new thread costs more. */
const GRACE_MS = 500
const BROKEN = problem(
  'store.failed',
  'The embedded triplestore broke off: what it was to do is nested too deeply, or needs too much memory.',
)
const REFUSED = problem('store.refused', 'The embedded triplestore cannot do this.')
const GIVEN_UP = problem('store.failed', 'The request to the triplestore was given up.')

/** Starts an empty one, of which neither the data nor a query's results may take more than `memory` bytes. */
export async function startThread(memory: number): Promise<Thread> {
  const worker = new Worker(new URL('./embedded-worker.js', import.meta.url), {
    workerData: memory,
    // It needs nothing of the process's environment and flags; and what a panic prints is of no use to anybody.
    env: {},
    execArgv: [],
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memory / 2 ** 20) },
  })
  worker.stderr.resume()
  let over = false
  let changes: GraphText[] = []
  let settle: (outcome: Outcome) => void = () => undefined
  let started: () => void
  const ready = new Promise<void>((resolve) => (started = resolve))

  const end = async (reason: Problem): Promise<void> => {
    over = true
    started()
    settle(reason)
    await worker.terminate()
  }
  const receive = (reply: Reply): void => {
    if (over) return
    if (reply.kind === 'changes') {
      for (const change of reply.changes) changes.push(change)
      if (reply.last) settle({ pieces: [], changes })
    } else if (reply.kind === 'results') settle({ pieces: reply.pieces, changes })
    else settle(reply.kind === 'done' ? { pieces: [], changes } : REFUSED)
  }
  worker
    .on('message', (message: 'ready' | Reply) => (message === 'ready' ? started() : receive(message)))
    .on('error', () => void end(BROKEN))
    .on('exit', () => void end(BROKEN))
  await ready

  return {
    ended: () => over,
    end,
    async do(job, timeLimit, signal) {
      if (over) return BROKEN
      changes = []
      const outcome = new Promise<Outcome>((resolve) => (settle = resolve))
      const timers = [setTimeout(() => void end(tooLong(timeLimit)), timeLimit)]
      const leave = () => timers.push(setTimeout(() => void end(GIVEN_UP), GRACE_MS))
      if (signal?.aborted) leave()
      else signal?.addEventListener('abort', leave, { once: true })
      worker.postMessage(job)
      return outcome.finally(() => {
        timers.forEach(clearTimeout)
        signal?.removeEventListener('abort', leave)
      })
    },
  }
}

const tooLong = (timeLimit: number): Problem =>
  problem('store.time', `The embedded triplestore took longer than the limit of ${timeLimit / 1000} s, and was ended.`)
