// In charge of evaluating the updates, queries and shapes of clients and ontologies in a pool of threads, with limits on time
// and memory: updates are analysed and run (PATCH), queries are analysed, constraints are checked.
import type { Evaluated, EvaluationJob, Limits, Validation } from './worker.js'
import { CLOSING, makeJobQueue } from './job-queue.js'
import type { Patch } from '../sparql/patch.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { startThread, type LimitedThread } from '../stores/limited-thread.js'
import type { DatasetDescription, QueryAnalysis, UpdateAnalysis } from '../sparql/analysis.js'

export type { Validation } from './worker.js'

/** Each job may be `update.time` (over a limit), `server.overloaded`, `server.closing` or `internal`. */
export interface EvaluationPool {
  /** `analysePatch` with a time limit, off the main thread. */
  analyse(update: string, base: string): Promise<Patch | Problem>
  /** `analyseQuery` or `analyseUpdate` with a time limit, off the main thread. */
  analyseSparql(
    form: 'query' | 'update',
    text: string,
    base: string,
    dataset: DatasetDescription | undefined,
  ): Promise<QueryAnalysis | UpdateAnalysis | Problem>
  /**
   * The document after the update: N-Triples in no order, '' for an empty graph. `nTriples` must be canonical. Any
   * problem of `analyse`, `update.syntax` where only the run finds it, `content.too-large` for too large a result.
   */
  patch(nTriples: string, update: string, base: string): Promise<string | Problem>
  /**
   * SHACL. `shapes`: the ontologies as N-Triples, with a version that names exactly this text; `data`: the document.
   * `constraint.unusable` where the shapes cannot be evaluated: the document must not pass.
   */
  validate(input: { shapes: string; shapesVersion: string; data: string }): Promise<Validation | Problem>
  close(): Promise<void>
}

export interface PoolOptions {
  /** ms that one job may run. */
  readonly timeLimit?: number
  readonly workers?: number
  /** How many jobs may wait, and for how many ms. */
  readonly queue?: number
  readonly patience?: number
  readonly limits?: Partial<Limits>
}

const DEFAULT_LIMITS: Limits = { memory: 256 * 2 ** 20, growth: 16 * 2 ** 20 }
const BROKEN = problem('internal', 'The evaluation broke off.')

type Thread = LimitedThread<EvaluationJob, Evaluated>

/** Starts the threads and keeps them warm. Jobs wait in order of arrival. */
export function openPool(options: PoolOptions = {}): EvaluationPool {
  const { timeLimit = 5000, workers = 1, queue = 100, patience = 2 * timeLimit } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const jobs = makeJobQueue<EvaluationJob, Evaluated>(queue, patience)
  const threads = new Set<Thread>()
  let closed = false

  async function start(ended?: Thread): Promise<Thread> {
    if (ended) threads.delete(ended)
    const thread = await startEvaluation(limits)
    if (closed) await thread.end(CLOSING)
    else threads.add(thread)
    return thread
  }

  /** One thread's work. A thread that has ended is replaced at once, so that the next job finds a warm one. */
  async function serve(): Promise<void> {
    let thread = await start()
    for (let next = await jobs.first(); next; next = await jobs.first()) {
      if (thread.ended()) thread = await start(thread)
      // It has left where it waited too long meanwhile, or another thread took it.
      if (!jobs.take(next)) continue
      const parts = await thread.do(next.job, { time: timeLimit, tooLong: tooLong(next.job, timeLimit) })
      next.settle(isFailure(parts) ? parts : parts[0]!)
      if (thread.ended()) thread = await start(thread)
    }
  }

  const served = Promise.all(Array.from({ length: workers }, serve))
  return {
    ...callsTo((job) => jobs.add(job)),
    async close() {
      closed = true
      jobs.close()
      await Promise.all([...threads].map((thread) => thread.end(CLOSING)))
      await served
    },
  }
}

const callsTo = (send: (job: EvaluationJob) => Promise<Evaluated>): Omit<EvaluationPool, 'close'> => ({
  analyse: (update, base) => send({ kind: 'analyse', update, base }) as Promise<Patch | Problem>,
  analyseSparql: (form, text, base, dataset) =>
    send({ kind: 'analyseSparql', form, text, base, dataset }) as Promise<QueryAnalysis | UpdateAnalysis | Problem>,
  patch: (nTriples, update, base) => send({ kind: 'patch', nTriples, update, base }) as Promise<string | Problem>,
  validate: (input) => send({ kind: 'validate', ...input }) as Promise<Validation | Problem>,
})

const startEvaluation = (limits: Limits): Promise<Thread> =>
  startThread({
    script: new URL('./worker.js', import.meta.url),
    data: limits,
    memory: limits.memory,
    broken: (outOfMemory) =>
      outOfMemory
        ? problem('update.time', `The evaluation needs more memory than the ${limits.memory} bytes it may take.`)
        : BROKEN,
  })

function tooLong({ kind }: EvaluationJob, timeLimit: number): Problem {
  const work = kind === 'validate' ? 'Checking the constraints' : 'The update'
  return problem('update.time', `${work} took longer than the limit of ${timeLimit / 1000} s, and was ended.`)
}
