// The reading thread: parses foreign RDF and SPARQL and writes large graphs, one job after the other.
import { sumOf } from '../../cache/entity-tag.js'
import type { TimeMap } from '../../versioning/memento/time-map.js'
import type { Format } from '../http/media-type.js'
import { type Problem, isFailure } from '../problem.js'
import { canonicalLines } from '../rdf/canonical.js'
import { type ForeignContent, convert } from '../rdf/convert.js'
import { entailed } from '../rdf/entailment.js'
import { graphOf, nTriplesOf } from '../rdf/graph.js'
import { NOT_N_TRIPLES, type ReadOptions, readCanonical, readGraph } from '../rdf/read.js'
import { areSame } from '../rdf/same-graph.js'
import { timeMapTriples } from '../rdf/time-map-triples.js'
import { type Compared, writeDifference } from '../rdf/write-difference.js'
import { writeGraph } from '../rdf/write.js'
import { type SparqlText, analyse } from '../sparql/language/analyse.js'
import { type QueryAnalysis, type UpdateAnalysis, analyseQuery } from '../sparql/language/analysis.js'
import type { ConstructPlan } from '../sparql/language/construct-plan.js'
import { analyseConstruct } from '../sparql/language/construct.js'
import { UNREAD } from '../sparql/rights/refusals.js'
import { type ViewStep, type Viewed, takeViewStep } from '../sparql/rights/restrict-in-thread.js'
import { type ThreadMessage, ready } from '../stores/limited-thread.js'
import { collectGarbage } from '../thread-memory.js'
import { type SentQuads, insertionOf } from './insertion.js'
import { type KnownContexts, type MissingContexts, withContexts } from './known-contexts.js'
import {
  type Canonical,
  type LargeChange,
  type LargeContent,
  type StoredWith,
  changeLarge,
  largeContentOf,
} from './large-changes.js'
import { lostType } from './lost-type.js'
import { type StateForm, stateIn } from './state.js'
import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'

/** The heap that an idle thread may hold, in bytes. Collecting less is not worth the time. */
const IDLE_BYTES = 64 * 2 ** 20

/** Call it after the reply has been sent. */
function returnMemory(): void {
  if (getHeapStatistics().total_heap_size > IDLE_BYTES) collectGarbage()
}

export type ReadingJob =
  | { readonly kind: 'analyse'; readonly sparql: SparqlText }
  /** `text` is the text of a QueryAnalysis. */
  | { readonly kind: 'view'; readonly text: string; readonly step: ViewStep }
  /** `analyseConstruct`. */
  | { readonly kind: 'construct'; readonly text: string; readonly base: string; readonly given: string | undefined }
  | {
      readonly kind: 'read'
      readonly body: Uint8Array
      readonly contentType: string
      readonly base: string
      readonly document: string | undefined
      readonly contexts: KnownContexts
      /** Set if the content is to be stored: then the result is a LargeContent. */
      readonly toStore: Omit<StoredWith, 'document'> | undefined
    }
  | { readonly kind: 'change'; readonly change: LargeChange }
  | { readonly kind: 'insertion'; readonly quads: SentQuads }
  /** `entailed` of rdf/entailment.ts. Returns N-Triples. */
  | { readonly kind: 'entail'; readonly nTriples: string }
  | { readonly kind: 'compare'; readonly a: string; readonly b: string }
  | { readonly kind: 'lostType'; readonly gone: string; readonly after: string }
  | {
      readonly kind: 'convert'
      readonly content: ForeignContent
      readonly formats: readonly Format[]
      readonly contexts: KnownContexts
    }
  | { readonly kind: 'write'; readonly nTriples: string; readonly format: Format }
  | { readonly kind: 'canonical'; readonly nTriples: string; readonly tagKey: string }
  | { readonly kind: 'state'; readonly nTriples: string; readonly form: StateForm }
  | { readonly kind: 'timeMap'; readonly timeMap: TimeMap; readonly format: Format }
  | { readonly kind: 'difference'; readonly compared: Compared; readonly formats: readonly Format[] }

export interface Converted {
  readonly format: Format
  readonly bytes: Uint8Array
}

/**
 * `read`: canonical N-Triples, or a LargeContent. `change`: a LargeContent, or 'unchanged'. `compare`: 'same' or
 * 'different'. `lostType`, `state`: '' if there is none. `write`: bytes.
 */
export type ReadingReply =
  | string
  | Uint8Array
  | Canonical
  | LargeContent
  | Converted
  | MissingContexts
  | QueryAnalysis
  | UpdateAnalysis
  | Viewed
  | ConstructPlan
  | Problem

function doJob(job: ReadingJob): ReadingReply | Promise<ReadingReply> {
  switch (job.kind) {
    case 'analyse':
      return withoutTree(analyse(job.sparql))
    case 'view': {
      const query = analyseQuery(job.text, 'urn:')
      if (isFailure(query)) return query
      return query.tree ? takeViewStep(query.tree, job.step) : UNREAD
    }
    case 'construct':
      return analyseConstruct(job.text, job.base, job.given)
    case 'read':
      return withContexts(job.contexts, (options) => read(job, options))
    case 'change':
      return changeLarge(job.change)
    case 'insertion':
      return insertionOf(job.quads)
    case 'entail': {
      const triples = entailed(readCanonical(job.nTriples))
      return isFailure(triples) ? triples : nTriplesOf(graphOf(triples))
    }
    case 'compare':
      return areSame(job.a, job.b) ? 'same' : 'different'
    case 'lostType':
      return lostType(job.gone.split('\n'), job.after) ?? ''
    case 'convert':
      return withContexts(job.contexts, async (options) => {
        const converted = await convert(job.content, job.formats, options)
        return isFailure(converted) ? converted : { format: converted.format, bytes: bytesOf(converted.text) }
      })
    case 'write':
      return write(job)
    case 'canonical':
      return canonical(job)
    case 'state':
      return stateIn(job.nTriples, job.form) ?? ''
    case 'timeMap': {
      const written = writeGraph(graphOf(timeMapTriples(job.timeMap)), job.format)
      return isFailure(written) ? written : bytesOf(written)
    }
    case 'difference': {
      const written = writeDifference(job.compared, job.formats)
      return isFailure(written) ? written : { format: written.format, bytes: bytesOf(written.text) }
    }
  }
}

/** Trees above this size are not sent to the main thread, since taking them over would block it (design 7). */
const LONGEST_TREE = 8 * 1024

const withoutTree = (found: QueryAnalysis | UpdateAnalysis | Problem): QueryAnalysis | UpdateAnalysis | Problem =>
  !isFailure(found) && 'tree' in found && found.tree && found.text.length > LONGEST_TREE
    ? { ...found, tree: undefined, isLong: true }
    : found

async function read(
  { body, contentType, base, document = base, toStore }: ReadingJob & { kind: 'read' },
  options: ReadOptions,
): Promise<string | LargeContent | Problem> {
  const triples = await readGraph(Buffer.from(body), contentType, base, options)
  if (isFailure(triples)) return triples
  return toStore ? largeContentOf(triples, { document, ...toStore }) : nTriplesOf(graphOf(triples))
}

function canonical({ nTriples, tagKey }: ReadingJob & { kind: 'canonical' }): Canonical | Problem {
  const lines = canonicalLines(nTriples)
  return lines ? { nTriples: nTriplesOf({ lines }), sum: sumOf(lines, tagKey) } : NOT_N_TRIPLES
}

function write({ nTriples, format }: ReadingJob & { kind: 'write' }): Uint8Array | Problem {
  const triples = readCanonical(nTriples)
  const written = writeGraph({ triples, lines: nTriples.split('\n').slice(0, -1) }, format)
  return isFailure(written) ? written : bytesOf(written)
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const buffersOf = (reply: ReadingReply): ArrayBuffer[] => {
  if (typeof reply === 'string') return []
  const bytes = reply instanceof Uint8Array ? reply : 'bytes' in reply ? reply.bytes : undefined
  return bytes ? [bytes.buffer as ArrayBuffer] : []
}

parentPort!.on('message', (job: ReadingJob) => {
  void Promise.resolve(doJob(job)).then((reply) => {
    const message: ThreadMessage<ReadingReply> = { reply }
    parentPort!.postMessage(message, buffersOf(reply))
    setImmediate(returnMemory)
  })
})
parentPort!.postMessage(ready())
