// In charge of a worker thread that is limited in time and memory: a job is answered within its limits, or the thread stops.
import { Worker } from 'node:worker_threads'
import type { Problem } from '../problem.js'
import { givenUp } from './turns.js'

/** What the thread sends once it can work, and then in reply to each job: one part or several. */
export type ThreadMessage<Reply> =
  | 'ready'
  | {
      readonly reply: Reply
      /** More parts of the reply follow. */
      readonly more?: boolean
      /** The thread can do no further job. */
      readonly spent?: boolean
    }

export interface ThreadSettings {
  readonly script: URL
  /** The thread's `workerData`. */
  readonly data: unknown
  /** Bytes that its heap may take. */
  readonly memory: number
  /** The answer to a job in which the thread broke off. */
  broken(outOfMemory: boolean): Problem
}

export interface JobLimits {
  /** ms. */
  readonly time: number
  /** The answer to a job that takes longer. */
  readonly tooLong: Problem
  readonly signal?: AbortSignal | undefined
}

export interface LimitedThread<Job, Reply> {
  /** It can do no further job, and its data is gone. */
  ended(): boolean
  /** One job at a time; the parts of its reply. Stops the thread at a limit, or soon after the signal aborts. */
  do(job: Job, limits: JobLimits): Promise<readonly Reply[] | Problem>
  end(reason: Problem): Promise<void>
}

/** A job that is nearly done when its caller gives up may finish: replacing the thread costs more. */
const GRACE_MS = 500

/** Starts a thread and waits until it can work, so that its start counts for no job. One that cannot start has ended. */
export async function startThread<Job, Reply>(settings: ThreadSettings): Promise<LimitedThread<Job, Reply>> {
  const worker = startWorker(settings)
  let over = false
  let parts: Reply[] = []
  let settle: (answer: readonly Reply[] | Problem) => void = () => undefined
  let started: () => void
  const ready = new Promise<void>((resolve) => (started = resolve))

  const end = async (answer: readonly Reply[] | Problem): Promise<void> => {
    over = true
    started()
    settle(answer)
    await worker.terminate()
  }
  const receive = (message: ThreadMessage<Reply>): void => {
    if (message === 'ready') return started()
    if (over) return
    parts.push(message.reply)
    if (message.spent) void end(parts)
    else if (!message.more) settle(parts)
  }
  worker
    .on('message', receive)
    .on('error', ({ code }: Error & { code?: string }) => {
      void end(settings.broken(code === 'ERR_WORKER_OUT_OF_MEMORY'))
    })
    .on('exit', () => void end(settings.broken(false)))
  await ready

  return {
    ended: () => over,
    end,
    async do(job, { time, tooLong, signal }) {
      if (over) return settings.broken(false)
      parts = []
      const answered = new Promise<readonly Reply[] | Problem>((resolve) => (settle = resolve))
      const timers = [setTimeout(() => void end(tooLong), time)]
      const leave = () => timers.push(setTimeout(() => void end(givenUp(signal!)), GRACE_MS))
      if (signal?.aborted) leave()
      else signal?.addEventListener('abort', leave, { once: true })
      worker.postMessage(job)
      return answered.finally(() => {
        timers.forEach(clearTimeout)
        signal?.removeEventListener('abort', leave)
      })
    },
  }
}

function startWorker({ script, data, memory }: ThreadSettings): Worker {
  const worker = new Worker(script, {
    workerData: data,
    // It needs neither the environment nor the flags of the process; and its stderr, such as a panic's, has no reader.
    env: {},
    execArgv: [],
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memory / 2 ** 20) },
  })
  worker.stderr.resume()
  return worker
}
