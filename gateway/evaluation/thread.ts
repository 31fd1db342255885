// In charge of one evaluation thread as seen from outside: a job is answered within the time limit, or the thread ends.
import { Worker } from 'node:worker_threads'
import type { Job, Limits, Reply } from './worker.js'
import { problem, type Problem } from '../problem.js'

export interface Thread {
  /** Whether it can do no further job. */
  ended(): boolean
  /** One job at a time. Where it takes longer than `timeLimit` ms, or breaks the thread, the answer is a Problem. */
  do(job: Job, timeLimit: number): Promise<Reply['answer']>
  end(reason: Problem): Promise<void>
}

const BROKEN = problem('internal', 'The evaluation broke off.')

/** Starts a thread and waits until it can work: its start counts for no job. One that cannot start has ended. */
export async function startThread(limits: Limits): Promise<Thread> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: limits,
    // It needs nothing of the process's environment and flags; and what a panic prints is of no use to anybody.
    env: {},
    execArgv: [],
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: limits.memory / 2 ** 20 },
  })
  worker.stderr.resume()
  let over = false
  let settle: (answer: Reply['answer']) => void = () => undefined
  let started: () => void
  const ready = new Promise<void>((resolve) => (started = resolve))
  const end = async (answer: Reply['answer']): Promise<void> => {
    over = true
    started()
    settle(answer)
    await worker.terminate()
  }
  worker
    .on('message', (message: 'ready' | Reply) => {
      if (message === 'ready') started()
      else if (message.spent) void end(message.answer)
      else settle(message.answer)
    })
    .on('error', (error) => void end(reasonOf(error, limits)))
    .on('exit', () => void end(BROKEN))
  await ready
  return {
    ended: () => over,
    end,
    async do(job, timeLimit) {
      if (over) return BROKEN
      const answered = new Promise<Reply['answer']>((resolve) => (settle = resolve))
      const timer = setTimeout(() => void end(tooLong(job, timeLimit)), timeLimit)
      worker.postMessage(job)
      return answered.finally(() => clearTimeout(timer))
    },
  }
}

const reasonOf = (error: Error & { code?: string }, { memory }: Limits): Problem =>
  error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? problem('update.time', `The evaluation needs more memory than the ${memory} bytes it may take.`)
    : BROKEN

function tooLong({ kind }: Job, timeLimit: number): Problem {
  const what = kind === 'validate' ? 'Checking the constraints' : 'The update'
  return problem('update.time', `${what} took longer than the limit of ${timeLimit / 1000} s, and was ended.`)
}
