// The evaluation thread: analyses updates, runs them on documents and checks constraints, one job after the other.
// Updates and shapes from clients and ontologies are evaluated only here, where they can be stopped.
import { randomUUID } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { makeConstraintCheck, type ConstraintCheck } from '../../policies/constraints/constraints.js'
import type { Factory } from '../../policies/constraints/graph.js'
import { openOxigraph, oxigraphRefusalOf } from '../stores/bounded-oxigraph.js'
import { ready, type ThreadMessage } from '../stores/limited-thread.js'
import { blankNode, graphOf, literal, namedNode, nTriplesOf, quad, withNodes, type Quad } from '../rdf/graph.js'
import type { LiteralForms } from '../rdf/literal-forms.js'
import { readNTriples } from '../rdf/n-triples.js'
import { isSkolem, unskolemised } from '../rdf/skolemised.js'
import { constructFrom } from './run-construct.js'
import { makeRunQuery, type Prepared } from './constraint-queries.js'
import { withCoveredStore } from './covered-store.js'
import { makeNewLabels, runPatch, type Patched } from './run-patch.js'
import { runUpdate, type Updated, type UpdateOnCopies } from './run-update.js'
import type { ConstructPlan } from '../sparql/language/construct-plan.js'
import { prepareParser } from '../sparql/language/parse.js'
import { analysePatch, type Patch } from '../sparql/language/patch.js'
import { isFailure, problem, type Problem, type ProblemCode } from '../problem.js'
import { grown } from '../thread-memory.js'

export interface SentPatch {
  readonly update: string
  readonly base: string
  /** How the store normalises literals. */
  readonly forms?: LiteralForms
}

export type EvaluationJob =
  | ({ readonly kind: 'analyse' } & SentPatch)
  | ({ readonly kind: 'patch'; readonly nTriples: string } & SentPatch)
  | ({ readonly kind: 'update' } & UpdateOnCopies)
  | {
      readonly kind: 'construct'
      readonly construct: ConstructPlan
      readonly nTriples: string
      readonly target: string
    }
  | ({ readonly kind: 'validate' } & ValidationInput)

/** All graphs in N-Triples. `shapesVersion` identifies the shapes, `document` the document with the data. */
export interface ValidationInput {
  readonly shapes: string
  readonly shapesVersion: string
  readonly data: string
  readonly document: string
  /** The bases of the applications. */
  readonly bases: readonly string[]
  /** Those of the document's store. */
  readonly forms?: LiteralForms
}

/** The bytes that a thread may use, and the characters that an update may add to a document. */
export interface Limits {
  readonly memory: number
  readonly growth: number
}

/** The report is canonical N-Triples: a sh:ValidationReport on the violating nodes only. */
export type Validation = { readonly conforms: true } | { readonly conforms: false; readonly report: string }

/** The result of a job. */
/** `construct`: N-Triples, without a graph name. */
export type Evaluated = Patch | Patched | Updated | { readonly nTriples: string } | Validation | Problem

type Reply = Exclude<ThreadMessage<Evaluated>, { readonly ready: true }>

const { memory, growth } = workerData as Limits
const oxigraph = openOxigraph(memory)
const engine = { oxigraph, growth, newLabels: makeNewLabels() }
/** Oxigraph never returns memory, so a thread that uses this much is replaced. */
const KEPT_BYTES = 128 * 1024 * 1024

async function doJob(job: EvaluationJob): Promise<Reply> {
  switch (job.kind) {
    case 'analyse':
      return done(analyse(job))
    case 'patch':
      return patch(job)
    case 'update':
      return tried('update', () => runUpdate(engine, job))
    case 'construct': {
      const { construct, nTriples, target } = job
      return tried('query', () => {
        const made = constructFrom(oxigraph, construct, nTriples, { seed: randomUUID(), target })
        return isFailure(made) ? made : { nTriples: made.map(([, triple]) => `${triple} .\n`).join('') }
      })
    }
    case 'validate':
      return validate(job)
  }
}

const done = (reply: Evaluated): Reply => ({ reply, spent: oxigraph.size() > KEPT_BYTES })

// An update is usually run right after its analysis.
let last: (SentPatch & { readonly patch: Patch | Problem }) | undefined
function analyse({ update, base, forms }: SentPatch): Patch | Problem {
  const isLast = last?.update === update && last.base === base && String(last.forms?.byValue) === String(forms?.byValue)
  if (!last || !isLast) last = { update, base, ...(forms && { forms }), patch: analysePatch(update, base, forms) }
  return last.patch
}

function patch({ nTriples, ...sent }: EvaluationJob & { kind: 'patch' }): Reply {
  const analysed = analyse(sent)
  if (isFailure(analysed)) return done(analysed)
  return tried('update', () => runPatch(engine, nTriples, analysed, sent.forms), 'update.form')
}

function tried(kind: 'query' | 'update', run: () => Evaluated, code: ProblemCode = `${kind}.syntax`): Reply {
  try {
    return done(run())
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // Oxigraph's own errors are plain. After any other error it may be inconsistent, so the thread is replaced.
    if (error.name === 'Error')
      return done(problem(code, `The SPARQL ${kind} cannot be run: ${oxigraphRefusalOf(error)}.`))
    if (error instanceof RangeError) {
      const detail = `The SPARQL ${kind} is nested too deeply, or chains too many operators.`
      return { reply: problem(code, detail), spent: true }
    }
    if (error.name !== 'RuntimeError') throw error
    const detail = `The SPARQL ${kind} needs more memory than ${memory} bytes, or is nested too deeply.`
    return { reply: problem('update.time', detail), spent: true }
  }
}

let check: { readonly version: string; readonly run: ConstraintCheck; readonly prepared: Prepared } | undefined
const rdf = { namedNode, blankNode: () => blankNode(), literal, quad } as unknown as Factory

function validate({ shapes, shapesVersion, data, document: iri, bases, forms }: ValidationInput): Reply {
  if (check?.version !== shapesVersion) {
    const run = makeConstraintCheck(labelled(readNTriples(shapes)!, 'o'), { rdf, isSkolem })
    check = { version: shapesVersion, run, prepared: new Map() }
  }
  const { run, prepared } = check
  const document = labelled(unskolemised(readNTriples(data)!, iri), 'd')
  const outcome = withCoveredStore(
    oxigraph,
    (store) =>
      run(document, {
        queries: (graph) => makeRunQuery(store, graph, prepared),
        grown,
        isElsewhere: (other) => other.replace(/#.*/s, '') !== iri && bases.some((base) => other.startsWith(base)),
      }),
    forms,
  )
  if (isFailure(outcome)) {
    check = undefined
    return done(problem('constraint.unusable', `The constraints cannot be checked: ${outcome.detail}.`))
  }
  return done(outcome.conforms ? outcome : { conforms: false, report: nTriplesOf(graphOf(outcome.report)) })
}

/** The prefix keeps blank nodes of the ontologies apart from those of the document. */
const labelled = (triples: readonly Quad[], prefix: string): Quad[] =>
  triples.map((triple) => withNodes(triple, (label) => blankNode(prefix + label)))

parentPort!.on('message', (job: EvaluationJob) => {
  void doJob(job).then((reply) => parentPort!.postMessage(reply))
})
prepareParser()
parentPort!.postMessage(ready())
