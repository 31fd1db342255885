// The Oxigraph of the embedded store, in its own thread: queries and updates run on a copy of the graphs.
// Literals that Oxigraph would change have covers there (covers.ts).
import { parentPort, workerData } from 'node:worker_threads'
import { defaultGraph, namedNode } from 'oxigraph/web.js'
import { ready, type ThreadMessage } from './limited-thread.js'
import { openOxigraph, oxigraphRefusalOf } from './bounded-oxigraph.js'
import { makeCovers } from './covers.js'
import { hasBlankNode, irisIn, isTriple, linesOf, textOfLines, utf8Pieces } from './n-triples-lines.js'
import { JSON_LD, RDF_XML } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { canonicalLines } from '../rdf/canonical.js'
import { graphOf } from '../rdf/graph.js'
import { readNTriples } from '../rdf/n-triples.js'
import { RESULTS_JSON } from '../rdf/sparql-results.js'
import { writeGraph } from '../rdf/write.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'

/** A graph's IRI ('' for the default graph) and its N-Triples ('' for none). */
export type GraphText = readonly [graph: string, text: string]

/** The bytes that Oxigraph may use, and the tags that LANG gives (covers.ts). */
export interface Engine {
  readonly memory: number
  readonly formatsTags: boolean
}

/** The thread applies `changed` before the work. */
export type StoreJob = { readonly changed: readonly GraphText[] } & StoreWork
export type StoreWork =
  | { readonly kind: 'follow' }
  | { readonly kind: 'query'; readonly sparql: string; readonly accept: string }
  | { readonly kind: 'update'; readonly sparql: string }

/**
 * `failed`: refused, and nothing is changed; `unwritable`: the format cannot represent the result. The changes of an
 * update come in several replies.
 */
export type Reply =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unwritable'; readonly problem: Problem }
  | { readonly kind: 'results'; readonly pieces: Uint8Array[] }
  | { readonly kind: 'changes'; readonly changes: readonly GraphText[] }

const N_TRIPLES = 'application/n-triples'
const OWN = [RDF_XML, JSON_LD]
const N_QUADS = 'application/n-quads'
// The size of one reply, so that reading it does not block the main thread.
const REPLY_LENGTH = 1024 * 1024
const REPLY_GRAPHS = 1000

const engine = workerData as Engine
const oxigraph = openOxigraph(engine.memory)
const store = new oxigraph.Store()
const covers = makeCovers(engine)
const texts = new Map<string, string>()

async function doJob(job: StoreJob): Promise<void> {
  for (const [graph, text] of job.changed) follow(graph, text)
  switch (job.kind) {
    case 'follow':
      return reply({ kind: 'done' })
    case 'query': {
      const pieces = unlessRefused(() => query(job))
      if (typeof pieces === 'string') return reply({ kind: 'failed', reason: pieces })
      if (isFailure(pieces)) return reply({ kind: 'unwritable', problem: pieces })
      const moved = pieces.map(({ buffer }) => buffer as ArrayBuffer)
      return reply({ kind: 'results', pieces }, { moved })
    }
    case 'update': {
      // Oxigraph runs an update as one transaction: one that fails has changed nothing.
      const reason = unlessRefused(() => store.update(covers.text(job.sparql)))
      if (reason !== undefined) return reply({ kind: 'failed', reason })
      return replyChanges((await graphsWritten(job.sparql)) ?? new Set(['', ...texts.keys(), ...namesInStore()]))
    }
  }
}

/**
 * The reason why Oxigraph refuses the work: its own errors have these two names. After any other error (a panic, no
 * memory or stack left) the module may be inconsistent, so the error is rethrown and ends the thread, as an error
 * anywhere else does.
 */
function unlessRefused<T>(work: () => T): T | string {
  try {
    return work()
  } catch (error) {
    if (error instanceof Error && ['Error', 'URIError'].includes(error.name) && !('code' in error))
      return oxigraphRefusalOf(error)
    throw error
  }
}

// Oxigraph's parser and that of the gateway may resolve or unescape IRIs differently in such texts.
const UNSURE = /\\|\bbase\b/i

/** The graphs that the update can change ('' for the default graph); undefined if its text does not say. */
async function graphsWritten(update: string): Promise<readonly string[] | undefined> {
  if (UNSURE.test(update)) return undefined
  // The parser takes longer to load than everything else here, and most threads only answer queries.
  const { analyseUpdate } = await import('../sparql/language/analysis.js')
  const analysis = analyseUpdate(update, 'urn:')
  if (isFailure(analysis) || analysis.writeSet === 'dataset') return undefined
  return analysis.writeSet.map((graph) => (graph === DEFAULT_GRAPH ? '' : graph))
}

function reply(part: Reply, { more = false, moved = [] }: { more?: boolean; moved?: ArrayBuffer[] } = {}): void {
  parentPort!.postMessage({ reply: part, more } satisfies ThreadMessage<Reply>, moved)
}

function follow(graph: string, text: string): void {
  if (texts.has(graph)) store.update(graph ? `DROP SILENT GRAPH <${graph}>` : 'DROP DEFAULT')
  if (text) {
    load(linesOf(text).map((line) => covers.line(inGraph(line, graph))))
    texts.set(graph, text)
  } else texts.delete(graph)
}

/** The line as N-Quads. */
const inGraph = (line: string, graph: string): string => (graph ? `${line.slice(0, -1)}<${graph}> .` : line)

function load(nQuads: readonly string[]): void {
  store.load(nQuads.filter((line) => !hasBlankNode(line)).join('\n'), { format: N_QUADS, lenient: true })
  for (const line of nQuads) if (hasBlankNode(line)) addLabelled(line)
}

/** `load` would give blank nodes new labels, `add` keeps them. */
function addLabelled(nQuad: string): void {
  for (const quad of oxigraph.parse(nQuad, { format: N_QUADS, lenient: true })) {
    store.add(quad)
    free(quad)
  }
}

const TOO_DEEP = problem('negotiation.not-acceptable', 'The result has triple terms that are nested too deeply.')

/** Oxigraph writes RDF/XML and JSON-LD even if they cannot express the graph, so these are written here. */
function query({ sparql, accept }: StoreWork & { kind: 'query' }): Uint8Array[] | Problem {
  const format = OWN.find(({ mediaType }) => mediaType === accept)
  const result = covers.uncovered(
    String(store.query(covers.text(sparql), { results_format: format ? N_TRIPLES : accept })),
  )
  const triples = format && readNTriples(result)
  if (format && !triples) return TOO_DEEP
  const written = format && triples ? writeGraph(graphOf(triples), format) : result
  return isFailure(written) ? written : [...utf8Pieces(written)]
}

/** Finds the changes of an update by comparing the graphs that it may have changed with their texts. */
function replyChanges(candidates: Iterable<string>): void {
  let changes: GraphText[] = []
  let length = 0
  for (const graph of candidates) {
    const text = changeOf(graph)
    if (text === undefined) continue
    if (text) texts.set(graph, text)
    else texts.delete(graph)
    changes.push([graph, text])
    length += text.length
    if (length < REPLY_LENGTH && changes.length < REPLY_GRAPHS) continue
    reply({ kind: 'changes', changes }, { more: true })
    changes = []
    length = 0
  }
  reply({ kind: 'changes', changes })
}

/** The names of all named graphs. Throws if one is a blank node. */
function namesInStore(): string[] {
  const json = store.query('SELECT ?g { GRAPH ?g {} }', { results_format: RESULTS_JSON }) as string
  const { results } = JSON.parse(json) as { results: { bindings: { g: { type: string; value: string } }[] } }
  return results.bindings.map(({ g: { type, value } }) => {
    if (type !== 'uri') throw new TypeError('a graph without an IRI')
    return value
  })
}

/** The new text of a graph, undefined if it has not changed. */
function changeOf(graph: string): string | undefined {
  const now = new Set(linesOf(dumped(graph)))
  const before = linesOf(texts.get(graph) ?? '')
  // Oxigraph keeps the name of a graph that is empty.
  if (now.size === 0 && graph) store.update(`DROP SILENT GRAPH <${graph}>`)
  const kept = before.filter((line) => now.delete(line) || now.delete(canonical(line)))
  if (now.size === 0 && kept.length === before.length) return undefined
  now.forEach(mustBeStorable)
  return textOfLines([...kept, ...now])
}

/** The line as Oxigraph writes it: without unnecessary escapes. */
const canonical = (line: string): string => canonicalLines(line)?.[0] ?? line

function dumped(graph: string): string {
  const node = graph ? namedNode(graph) : defaultGraph()
  const text = store.dump({ format: N_TRIPLES, from_graph_name: node })
  free(node)
  return covers.uncovered(text)
}

/** A triple must be one that can be loaded again. */
function mustBeStorable(line: string): void {
  if (!isTriple(line)) throw new TypeError('no triple of RDF 1.2')
  if (hasBlankNode(line)) for (const iri of irisIn(line)) free(namedNode(iri))
}

// Every object of the WebAssembly module has `free`, though its types do not say so.
const free = (object: object): void => (object as { free(): void }).free()

// One job after the other. An error in it ends the thread.
parentPort!.on('message', (job: StoreJob) => void doJob(job))
parentPort!.postMessage(ready())
