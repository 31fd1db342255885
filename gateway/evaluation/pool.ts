// Evaluating the updates and shapes of clients and ontologies in threads, with limits on time and memory: updates
// are analysed and run (PATCH), constraints are checked. Work on writes only: reading.ts has threads of its own.
import type { Updated } from './run-update.js'
import type { Evaluated, EvaluationJob, Limits, SentPatch, Validation, ValidationInput } from './worker.js'
import type { Asker } from './job-queue.js'
import { openThreads, type ThreadsOptions } from './threads.js'
import type { Patched } from './run-patch.js'
import type { UpdateOnCopies } from './run-update.js'
import type { ConstructPlan } from '../sparql/language/construct-plan.js'
import type { Patch } from '../sparql/language/patch.js'
import { problem, type Problem } from '../problem.js'

export type { Validation } from './worker.js'

/**
 * Each job may be `update.time` (over a limit), `server.overloaded`, `server.closing` or `internal`. `asker`: for whom
 * the gateway works (`askerOf`); all askers have the same share.
 */
export interface EvaluationPool {
  /** `analysePatch` with a time limit, off the main thread. */
  analyse(asker: Asker, sent: SentPatch): Promise<Patch | Problem>
  /**
   * The changes of the update in the document (run-patch.ts). `nTriples` must be canonical. Any
   * problem of `analyse`, `update.syntax` where only the run finds it, `content.too-large` for too large a result.
   */
  patch(asker: Asker, nTriples: string, sent: SentPatch): Promise<Patched | Problem>
  /**
   * The changes of an update with a plan (sparql/language/update-steps.ts) in the graphs that it names (run-update.ts).
   */
  update(asker: Asker, update: UpdateOnCopies): Promise<Updated | Problem>
  /**
   * The result of the CONSTRUCT on this graph (run-construct.ts), in N-Triples; its template names no graph. `target`:
   * the document in which new nodes get their names. `query.syntax` where only the run finds it, `content.too-large`
   * for too large a result.
   */
  construct(
    asker: Asker,
    construct: ConstructPlan,
    nTriples: string,
    target: string,
  ): Promise<{ readonly nTriples: string } | Problem>
  /**
   * SHACL and SPIN: the shapes of the ontologies, and a document. `constraint.unusable` where the shapes cannot be
   * evaluated: the document must not pass.
   */
  validate(asker: Asker, input: ValidationInput): Promise<Validation | Problem>
  close(): Promise<void>
}

export interface PoolOptions extends ThreadsOptions {
  readonly limits?: Partial<Limits>
}

const DEFAULT_LIMITS: Limits = { memory: 256 * 2 ** 20, growth: 16 * 2 ** 20 }
const BROKEN = problem('internal', 'The evaluation broke off.')

/** The threads start with the first jobs. */
export function openPool(options: PoolOptions = {}): EvaluationPool {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const settings = {
    script: new URL('./worker.js', import.meta.url),
    data: limits,
    memory: limits.memory,
    broken: (outOfMemory: boolean) =>
      outOfMemory
        ? problem('update.time', `The evaluation needs more memory than the ${limits.memory} bytes it may take.`)
        : BROKEN,
  }
  const threads = openThreads<EvaluationJob, Evaluated>(settings, tooLong, options)
  return {
    analyse: (asker, sent) => threads.do(asker, { kind: 'analyse', ...sent }) as Promise<Patch | Problem>,
    patch: (asker, nTriples, sent) =>
      threads.do(asker, { kind: 'patch', nTriples, ...sent }) as Promise<Patched | Problem>,
    update: (asker, update) => threads.do(asker, { kind: 'update', ...update }) as Promise<Updated | Problem>,
    construct: (asker, construct, nTriples, target) =>
      threads.do(asker, { kind: 'construct', construct, nTriples, target }) as Promise<
        { readonly nTriples: string } | Problem
      >,
    validate: (asker, input) => threads.do(asker, { kind: 'validate', ...input }) as Promise<Validation | Problem>,
    close: threads.close,
  }
}

function tooLong({ kind }: EvaluationJob, timeLimit: number): Problem {
  const work = kind === 'validate' ? 'Checking the constraints' : kind === 'construct' ? 'The query' : 'The update'
  return problem(
    'update.time',
    `${work} took longer than the limit of ${timeLimit / 1000} s (--patch-timeout), and was ended.`,
  )
}
