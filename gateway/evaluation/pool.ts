// Evaluates updates and shapes from clients and ontologies in threads, with limits on time and memory: runs updates
// (PATCH) and checks constraints. Serves only writes: reading.ts has its own threads.
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
 * Every job may fail with `update.time` (over a limit), `server.overloaded`, `server.closing` or `internal`. `asker`:
 * for whom the gateway works (`askerOf`); all askers have equal shares.
 */
export interface EvaluationPool {
  /** `analysePatch` off the main thread and with a time limit. */
  analyse(asker: Asker, sent: SentPatch): Promise<Patch | Problem>
  /**
   * The changes that the update makes in the document (run-patch.ts). `nTriples` must be canonical. Fails like
   * `analyse`, with `update.syntax` if only the run finds an error, or `content.too-large` for too large a result.
   */
  patch(asker: Asker, nTriples: string, sent: SentPatch): Promise<Patched | Problem>
  /**
   * The changes that an update with a plan (sparql/language/update-steps.ts) makes in its named graphs (run-update.ts).
   */
  update(asker: Asker, update: UpdateOnCopies): Promise<Updated | Problem>
  /**
   * The result of a CONSTRUCT on this graph in N-Triples (run-construct.ts). Its template names no graph. New nodes are
   * named under the document `target`. `query.syntax` if only the run finds an error, `content.too-large` if the result
   * is too large.
   */
  construct(
    asker: Asker,
    construct: ConstructPlan,
    nTriples: string,
    target: string,
  ): Promise<{ readonly nTriples: string } | Problem>
  /**
   * Checks a document against the shapes of the ontologies (SHACL and SPIN). `constraint.unusable` if the shapes cannot
   * be evaluated: then the document must not pass.
   */
  validate(asker: Asker, input: ValidationInput): Promise<Validation | Problem>
  close(): Promise<void>
}

export interface PoolOptions extends ThreadsOptions {
  readonly limits?: Partial<Limits>
}

const DEFAULT_LIMITS: Limits = { memory: 256 * 2 ** 20, growth: 16 * 2 ** 20 }
const BROKEN = problem('internal', 'The evaluation stopped unexpectedly.')

/** The threads start with the first jobs. */
export function openPool(options: PoolOptions = {}): EvaluationPool {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const settings = {
    script: new URL('./worker.js', import.meta.url),
    data: limits,
    memory: limits.memory,
    broken: (outOfMemory: boolean) =>
      outOfMemory
        ? problem('update.time', `The evaluation needs more memory than the limit of ${limits.memory} bytes.`)
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
  return problem('update.time', `${work} was stopped after the limit of ${timeLimit / 1000} s (--patch-timeout).`)
}
