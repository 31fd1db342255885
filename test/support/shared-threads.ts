// The threads for reading and evaluation: the gateways of a test process share them one after the other, since starting
// a thread costs more than most tests. `npm test` loads this file (run-files.ts). A thread keeps nothing from one job
// to the next except shapes. One that has checked shapes, or is busy, stops with its gateway.
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import threads, { type Worker, type WorkerOptions } from 'node:worker_threads'
import type { ThreadMessage } from '../../gateway/stores/limited-thread.js'

const SHARED = /\/evaluation\/(?:reading-)?worker\.js$/
/** The most threads of one kind that wait for the next gateway. */
const MOST = 2

interface Idle {
  readonly worker: Worker
  readonly ready: ThreadMessage<unknown>
}

const Started = threads.Worker
const idle = new Map<string, Idle[]>()

/** A thread with its own stderr, which is read, would keep this process alive, even with `unref`. */
function started(script: URL, options: WorkerOptions): Worker {
  const worker = new Started(script, { ...options, stderr: false })
  worker.stderr.unpipe()
  return worker
}

/** The part of a Worker that limited-thread.ts uses, while one gateway has the thread. */
class SharedWorker extends EventEmitter {
  readonly #waiting: Idle[]
  readonly #worker: Worker
  #ready: ThreadMessage<unknown> | undefined
  #mayBeLeft = true
  #isBusy = true
  #isLeft = false

  constructor(script: URL, options: WorkerOptions) {
    super()
    const kind = JSON.stringify([script, options.workerData, options.resourceLimits])
    this.#waiting = idle.get(kind) ?? []
    idle.set(kind, this.#waiting)
    const found = this.#waiting.pop()
    this.#worker = found?.worker ?? started(script, options)
    this.#worker.on('message', this.#receive).on('error', this.#fail).on('exit', this.#exit).ref()
    if (found) setImmediate(this.#receive, found.ready)
  }

  get stderr(): Worker['stderr'] {
    return this.#worker.stderr
  }

  postMessage(job: { readonly kind: string }): void {
    this.#isBusy = true
    this.#mayBeLeft &&= job.kind !== 'validate'
    this.#worker.postMessage(job)
  }

  async terminate(): Promise<unknown> {
    const [worker, ready] = [this.#worker, this.#ready]
    if (this.#isLeft) return undefined
    if (this.#isBusy || !this.#mayBeLeft || !ready || this.#waiting.length === MOST) return worker.terminate()
    this.#isLeft = true
    worker.off('message', this.#receive).off('error', this.#fail).off('exit', this.#exit).unref()
    this.#waiting.push({ worker, ready })
    return undefined
  }

  readonly #receive = (message: ThreadMessage<unknown>): void => {
    if ('ready' in message) this.#ready = message
    else if (message.spent) this.#mayBeLeft = false
    this.#isBusy = 'more' in message && message.more === true
    this.emit('message', message)
  }
  readonly #fail = (error: Error): void => void this.emit('error', error)
  readonly #exit = (code: number): void => {
    this.#mayBeLeft = false
    this.emit('exit', code)
  }
}

threads.Worker = new Proxy(Started, {
  construct: (_worker, [script, options]: [URL, WorkerOptions]) =>
    SHARED.test(String(script)) ? new SharedWorker(script, options) : new Started(script, options),
})
syncBuiltinESMExports()
