// Reads and writes off the main thread whatever may take long, with limits on time and memory: RDF and SPARQL from
// clients, and large graphs in other formats (design 7). Short Turtle and N-Triples are read at once.
import { setImmediate } from 'node:timers/promises'
import type { Reach } from '../../policies/authorizations/reach.js'
import type { TimeMap } from '../../versioning/memento/time-map.js'
import type { Asker } from './job-queue.js'
import type { SentQuads } from './insertion.js'
import { openThreads, type Threads, type ThreadsOptions } from './threads.js'
import type { Canonical, LargeChange, LargeContent, StoredWith } from './large-changes.js'
import { askWithContexts } from './known-contexts.js'
import type { Converted, ReadingJob, ReadingReply } from './reading-worker.js'
import { N_TRIPLES, parseMediaType, TURTLE, type Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { ForeignContent } from '../rdf/convert.js'
import { graphOf, nTriplesOf, type Quad } from '../rdf/graph.js'
import type { Compared } from '../rdf/write-difference.js'
import type { LoadContext } from '../rdf/read-json-ld.js'
import { isReadable, readCanonical, readGraph } from '../rdf/read.js'
import type { SparqlText } from '../sparql/language/analyse.js'
import type { QueryAnalysis, UpdateAnalysis } from '../sparql/language/analysis.js'
import { analyseConstruct } from '../sparql/language/construct.js'
import type { ConstructPlan } from '../sparql/language/construct-plan.js'
import type { Viewed, ViewStep } from '../sparql/rights/restrict-in-thread.js'

export type { Canonical, LargeContent, StoredWith } from './large-changes.js'
export type { Converted } from './reading-worker.js'

export interface Content {
  readonly body: Buffer
  readonly contentType: string | undefined
  /** The URI of the document: relative IRIs are resolved against it, and a named graph must have this name. */
  readonly base: string
  /** The document to store it in, if it is another one: new nodes are named under it. */
  readonly document?: string
}

/**
 * Each call may fail with `server.overloaded`, `server.closing` or `internal`. `asker`: for whom the gateway works
 * (`askerOf`); all askers have equal shares. Without `loadContext` no remote contexts are fetched.
 */
export interface Reading {
  /**
   * The triples of the content. `content.too-large` over a limit on time or memory; otherwise fails like `readGraph`.
   */
  readRdf(asker: Asker, content: Content, loadContext: LoadContext | undefined): Promise<readonly Quad[] | Problem>
  /** Like `readRdf`, but as canonical N-Triples. */
  readText(asker: Asker, content: Content, loadContext: LoadContext | undefined): Promise<string | Problem>
  /**
   * Like `readRdf`, for content to be stored in the document `base`. Short content becomes triples with their blank
   * nodes, longer content a text.
   */
  readContent(
    asker: Asker,
    content: Content,
    loadContext: LoadContext | undefined,
    toStore: Omit<StoredWith, 'document'>,
  ): Promise<readonly Quad[] | LargeContent | Problem>
  /** `changeLarge` of large-changes.ts. */
  change(asker: Asker, change: LargeChange): Promise<LargeContent | 'unchanged' | Problem>
  /** `insertionOf` of insertion.ts. */
  insertion(asker: Asker, quads: SentQuads): Promise<string | Problem>
  /** `entailed` of rdf/entailment.ts, on canonical N-Triples. */
  entail(asker: Asker, nTriples: string): Promise<string | Problem>
  /** `areSame` of rdf/same-graph.ts. */
  areSame(asker: Asker, a: string, b: string): Promise<boolean | Problem>
  /** `lostType` of lost-type.ts. `gone`: the lines, joined. */
  lostType(asker: Asker, gone: string, after: string): Promise<string | undefined | Problem>
  /** `convert` of rdf/convert.ts. */
  convert(
    asker: Asker,
    content: ForeignContent,
    formats: readonly Format[],
    loadContext: LoadContext | undefined,
  ): Promise<Converted | Problem>
  /** `writeGraph`; `nTriples` must be canonical. */
  writeRdf(asker: Asker, nTriples: string, format: Format, key?: string): Promise<Uint8Array | Problem>
  /** Canonicalises N-Triples from a store; `store.failed` if malformed. `tagKey`: the secret of the entity-tags. */
  canonical(asker: Asker, nTriples: string, tagKey: string, key?: string): Promise<Canonical | Problem>
  /** Lets another asker wait for the result of the job with this key. */
  join(asker: Asker, key: string): void
  /** The TimeMap of a document as RDF. */
  writeTimeMap(asker: Asker, timeMap: TimeMap, format: Format): Promise<Uint8Array | Problem>
  /** `writeDifference` of rdf/write-difference.ts. */
  writeDifference(asker: Asker, compared: Compared, formats: readonly Format[]): Promise<Converted | Problem>
  /** `analyse` of sparql/language/analyse.ts; `content.too-large` over a limit. */
  analyseSparql(asker: Asker, sparql: SparqlText): Promise<QueryAnalysis | UpdateAnalysis | Problem>
  /** `takeViewStep` of sparql/rights/restrict-in-thread.ts. `text` is the text of an analysis. */
  view(asker: Asker, text: string, step: ViewStep): Promise<Viewed>
  /** `analyseConstruct` of sparql/language/construct.ts. */
  analyseConstruct(asker: Asker, text: string, base: string, given?: string): Promise<ConstructPlan | Problem>
  close(): Promise<void>
}

const MEMORY = 384 * 2 ** 20

export function openReading(options: ThreadsOptions = {}): Reading {
  const threads = openThreads<ReadingJob, ReadingReply>(
    {
      script: new URL('./reading-worker.js', import.meta.url),
      data: undefined,
      memory: MEMORY,
      broken: (outOfMemory) =>
        outOfMemory
          ? problem('content.too-large', `The content needs more memory than the limit of ${MEMORY} bytes.`)
          : problem('internal', 'Reading the content stopped unexpectedly.'),
    },
    tooLong,
    options,
  )
  return {
    async readRdf(asker, content, loadContext) {
      const short = await readShort(content)
      if (short) return short
      const nTriples = await readLong(threads, asker, content, { loadContext })
      return isFailure(nTriples) ? nTriples : triplesOf(nTriples as string)
    },
    readText: async (asker, content, loadContext) =>
      (await readShortText(content)) ??
      (readLong(threads, asker, content, { loadContext }) as Promise<string | Problem>),
    readContent: async (asker, content, loadContext, toStore) =>
      (await readShort(content)) ??
      (readLong(threads, asker, content, { loadContext, toStore }) as Promise<LargeContent | Problem>),
    change: (asker, change) =>
      threads.do(asker, { kind: 'change', change }) as Promise<LargeContent | 'unchanged' | Problem>,
    insertion: (asker, quads) => threads.do(asker, { kind: 'insertion', quads }) as Promise<string | Problem>,
    entail: (asker, nTriples) => threads.do(asker, { kind: 'entail', nTriples }) as Promise<string | Problem>,
    async areSame(asker, a, b) {
      const compared = await threads.do(asker, { kind: 'compare', a, b })
      return isFailure(compared) ? compared : compared === 'same'
    },
    async lostType(asker, gone, after) {
      const lost = (await threads.do(asker, { kind: 'lostType', gone, after })) as string | Problem
      return lost === '' ? undefined : lost
    },
    convert: (asker, content, formats, loadContext) =>
      convertLong(threads, asker, { content, formats }, loadContext) as Promise<Converted | Problem>,
    writeRdf: (asker, nTriples, format, key) =>
      threads.do(asker, { kind: 'write', nTriples, format }, key) as Promise<Uint8Array | Problem>,
    canonical: (asker, nTriples, tagKey, key) =>
      threads.do(asker, { kind: 'canonical', nTriples, tagKey }, key) as Promise<Canonical | Problem>,
    join: threads.join,
    writeTimeMap: (asker, timeMap, format) =>
      threads.do(asker, { kind: 'timeMap', timeMap, format }) as Promise<Uint8Array | Problem>,
    writeDifference: (asker, compared, formats) =>
      threads.do(asker, { kind: 'difference', compared, formats }) as Promise<Converted | Problem>,
    analyseSparql: (asker, sparql) =>
      threads.do(asker, { kind: 'analyse', sparql }) as Promise<QueryAnalysis | UpdateAnalysis | Problem>,
    view: (asker, text, step) => threads.do(asker, viewJob(text, step)) as Promise<Viewed>,
    analyseConstruct: async (asker, text, base, given) =>
      text.length <= SHORT_QUERY
        ? analyseConstruct(text, base, given)
        : (threads.do(asker, { kind: 'construct', text, base, given }) as Promise<ConstructPlan | Problem>),
    close: threads.close,
  }
}

const ABOUT_CONTENT: ReadonlySet<ReadingJob['kind']> = new Set(['read', 'convert', 'change', 'insertion', 'lostType'])

function tooLong({ kind }: ReadingJob, timeLimit: number): Problem {
  const limit = `the limit of ${timeLimit / 1000} s (--reading-timeout).`
  if (kind === 'analyse' || kind === 'view' || kind === 'construct')
    return problem('content.too-large', `Reading the query or update took longer than ${limit}`)
  if (!ABOUT_CONTENT.has(kind)) {
    return problem('server.overloaded', `Reading or writing the document took longer than ${limit}`)
  }
  return problem('content.too-large', `Reading the content took longer than ${limit} Send it in several requests.`)
}

// Content below these sizes can be read within a few milliseconds, whatever it is.
const SHORT = 32 * 1024
const SHORT_GRAPH = 1024 * 1024
const SHORT_QUERY = 1024
const PLAIN: ReadonlySet<string | undefined> = new Set([TURTLE.mediaType, N_TRIPLES.mediaType])

const isShort = ({ body, contentType = '' }: Content): boolean =>
  body.length === 0 ||
  !isReadable(contentType) ||
  (body.length <= SHORT && PLAIN.has(parseMediaType(contentType)?.type))

/** The triples of short content; undefined if it is long, or short but expands to much. */
async function readShort(content: Content): Promise<readonly Quad[] | Problem | undefined> {
  const { body, contentType, base } = content
  if (contentType !== undefined && !isShort(content)) return undefined
  const read = await readGraph(body, contentType, base, { limit: SHORT_GRAPH })
  return isFailure(read) && read.failure === 'content.too-large' ? undefined : read
}

async function readShortText(content: Content): Promise<string | Problem | undefined> {
  const short = await readShort(content)
  return short && !isFailure(short) ? nTriplesOf(graphOf(short)) : short
}

/** Functions cannot be sent to a thread. The graph names suffice to decide. */
function viewJob(text: string, { rights, ...step }: ViewStep): ReadingJob {
  const reach = { ...rights.reach, isEndpoint: undefined } as unknown as Reach
  return { kind: 'view', text, step: { ...step, rights: { ...rights, reach } } }
}

const readLong = (
  threads: Threads<ReadingJob, ReadingReply>,
  asker: Asker,
  { body, contentType, base, document }: Content,
  { loadContext, toStore }: { loadContext: LoadContext | undefined; toStore?: Omit<StoredWith, 'document'> },
): Promise<ReadingReply> =>
  askWithContexts<ReadingReply>(loadContext, (contexts) =>
    threads.do(asker, { kind: 'read', body, contentType: contentType!, base, document, toStore, contexts }),
  )

const convertLong = (
  threads: Threads<ReadingJob, ReadingReply>,
  asker: Asker,
  what: Pick<ReadingJob & { kind: 'convert' }, 'content' | 'formats'>,
  loadContext: LoadContext | undefined,
): Promise<ReadingReply> =>
  askWithContexts<ReadingReply>(loadContext, (contexts) => threads.do(asker, { kind: 'convert', ...what, contexts }))

const SLICE = 64 * 1024

/** The triples of canonical N-Triples, read in slices so that other requests are answered in between. */
async function triplesOf(nTriples: string): Promise<Quad[]> {
  const triples: Quad[] = []
  for (let at = 0; at < nTriples.length;) {
    const end = nTriples.indexOf('\n', at + SLICE) + 1 || nTriples.length
    for (const triple of readCanonical(nTriples.slice(at, end))) triples.push(triple)
    at = end
    if (at < nTriples.length) await setImmediate()
  }
  return triples
}
