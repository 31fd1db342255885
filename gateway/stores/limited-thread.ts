// A worker thread that is limited in time and memory: a job is answered within its limits, or the thread stops.
import { Worker } from 'node:worker_threads'
import type { Problem } from '../problem.js'
import { processorTimeOf, thisThread } from './processor-time.js'
import { OUT_OF_MEMORY, heapLimitOf } from '../thread-memory.js'
import { givenUp } from './connection-slots.js'

/** A message of the thread: first that it is ready, then the parts of each reply. */
export type ThreadMessage<Reply> =
  | Ready
  | {
      readonly reply: Reply
      /** More parts of the reply follow. */
      readonly more?: boolean
      /** The thread can do no further job. */
      readonly spent?: boolean
    }

interface Ready {
  readonly ready: true
  readonly thread: string | undefined
}

/** The message that a thread sends when it is ready. */
export const ready = (): Ready => ({ ready: true, thread: thisThread() })

export interface ThreadSettings {
  readonly script: URL
  /** The thread's `workerData`. */
  readonly data: unknown
  /** The most bytes of its heap, counted by `grown` of thread-memory.ts. */
  readonly memory: number
  /** The part of the heap for new objects: a smaller one saves memory and costs time. */
  readonly young?: number
  /** The answer to a job in which the thread broke off. */
  broken(outOfMemory: boolean): Problem
}

export interface JobLimits {
  /** In ms: of processor time if `busy` is given, otherwise by the clock. */
  readonly time: number
  /** The answer to a job that takes longer. */
  readonly tooLong: Problem
  /** The answer to a job that took too long by the clock because its thread waited for a processor on a busy machine. */
  readonly busy?: Problem
  /** The limit by the clock, in ms; by default BUSY times the limit of processor time. */
  readonly clockTime?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface LimitedThread<Job, Reply> {
  /** True if the thread can do no further job, and its data is gone. */
  ended(): boolean
  /** Does one job at a time; gives the parts of the reply. Stops the thread at a limit, or soon after an abort. */
  do(job: Job, limits: JobLimits): Promise<readonly Reply[] | Problem>
  end(reason: Problem): Promise<void>
}

const BUSY = 6
/** The shortest time, in ms, between two checks of a thread's processor time. */
const LOOK = 100

/** A job that is nearly done when its caller gives up may finish: replacing the thread costs more. */
const GRACE_MS = 500

/**
 * Starts a thread and waits until it can work, so that its start counts for no job. A thread that cannot start counts
 * as ended.
 */
export async function startThread<Job, Reply>(settings: ThreadSettings): Promise<LimitedThread<Job, Reply>> {
  const worker = startWorker(settings)
  let over = false
  let parts: Reply[] = []
  let settle: (answer: readonly Reply[] | Problem) => void = () => undefined
  let name: string | undefined
  let started: () => void
  const canWork = new Promise<void>((resolve) => (started = resolve))

  const end = async (answer: readonly Reply[] | Problem): Promise<void> => {
    over = true
    started()
    settle(answer)
    await worker.terminate()
  }
  const receive = (message: ThreadMessage<Reply>): void => {
    if ('ready' in message) {
      name = message.thread
      return started()
    }
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
    .on('exit', (code) => void end(settings.broken(code === OUT_OF_MEMORY)))
  await canWork

  return {
    ended: () => over,
    end,
    async do(job, limits) {
      const { signal } = limits
      if (over) return settings.broken(false)
      parts = []
      const answered = new Promise<readonly Reply[] | Problem>((resolve) => (settle = resolve))
      const endWatch = watch(name, limits, end)
      let leaving: NodeJS.Timeout | undefined
      const leave = () => void (leaving = setTimeout(() => void end(givenUp(signal!)), GRACE_MS))
      if (signal?.aborted) leave()
      else signal?.addEventListener('abort', leave, { once: true })
      worker.postMessage(job)
      return answered.finally(() => {
        endWatch()
        clearTimeout(leaving)
        signal?.removeEventListener('abort', leave)
      })
    },
  }
}

/** Ends the job at its time limit. Returns the function that stops watching. */
function watch(
  thread: string | undefined,
  { time, tooLong, busy, clockTime = BUSY * time }: JobLimits,
  end: (answer: Problem) => Promise<void>,
): () => void {
  const processorTime = () => (busy && thread !== undefined ? processorTimeOf(thread) : undefined)
  const [from, begun] = [processorTime(), performance.now()]
  const look = (): void => {
    const now = processorTime()
    const left = now === undefined || from === undefined ? 0 : time - (now - from)
    if (left <= 0) return void end(tooLong)
    if (performance.now() - begun >= clockTime) return void end(busy!)
    timer = setTimeout(look, Math.max(LOOK, left))
  }
  let timer = setTimeout(look, time)
  return () => clearTimeout(timer)
}

function startWorker({ script, data, memory, young }: ThreadSettings): Worker {
  const worker = new Worker(script, {
    workerData: data,
    // The thread needs neither the environment nor the flags of the process. Its stderr, such as the text of a panic,
    // has no reader.
    env: {},
    execArgv: [],
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: heapLimitOf(memory),
      ...(young && { maxYoungGenerationSizeMb: Math.ceil(young / 2 ** 20) }),
    },
  })
  worker.stderr.resume()
  return worker
}
