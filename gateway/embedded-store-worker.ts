// In charge of the Oxigraph store in its own thread: does one job after the other and answers each with one reply.
import { parentPort } from 'node:worker_threads'
import { defaultGraph, namedNode, Store } from 'oxigraph'

export type Job =
  | { readonly kind: 'read' | 'remove'; readonly graph: string }
  | { readonly kind: 'replace'; readonly graph: string; readonly nTriples: string }
  | { readonly kind: 'query'; readonly sparql: string; readonly accept: string }
  | { readonly kind: 'update'; readonly sparql: string }

/** What a job came to: N-Triples of a read, the bytes of a query's results, nothing of a write. */
export type Reply = { readonly done: string | Uint8Array | undefined } | { readonly failed: true }

const N_TRIPLES = 'application/n-triples'
const BREAKDOWNS = ['RuntimeError', 'RangeError']
const store = new Store()

/**
 * Oxigraph keeps values, not spellings: 042 comes back as 42, @en-GB as @en-gb, 12:00:00.100Z as 12:00:00.1Z. For each
 * graph, the lines as they were written by the line that Oxigraph makes of them, where these differ.
 */
const spellings = new Map<string, Map<string, string[]>>()

function doJob(job: Job): string | Uint8Array | undefined {
  switch (job.kind) {
    case 'read':
      return withNode(job.graph, (graph) =>
        asWritten(job.graph, store.dump({ format: N_TRIPLES, from_graph_name: graph })),
      )
    case 'remove':
      return withNode(job.graph, () => remove(job.graph))
    case 'replace':
      return withNode(job.graph, (graph) => {
        const kept = asKept(job.nTriples)
        remove(job.graph)
        store.load(job.nTriples, { format: N_TRIPLES, to_graph_name: graph })
        rememberSpellings(job.graph, job.nTriples, kept)
        return undefined
      })
    case 'query':
      return new TextEncoder().encode(String(store.query(job.sparql, { results_format: job.accept })))
    case 'update':
      store.update(job.sparql)
      return undefined
  }
}

/** Throws where the text is no absolute IRI. What RFC 3987 allows in one can stand between < and > in SPARQL as it is. */
function withNode<T>(iri: string, use: (node: ReturnType<typeof namedNode>) => T): T {
  const node = namedNode(iri)
  try {
    return use(node)
  } finally {
    free(node)
  }
}

function remove(graph: string): undefined {
  store.update(`DROP SILENT GRAPH <${graph}>`)
  spellings.delete(graph)
}

/** The triples as Oxigraph writes them. Throws where it cannot read them, before anything that they replace is gone. */
function asKept(nTriples: string): string {
  const scratch = new Store()
  const graph = defaultGraph()
  try {
    scratch.load(nTriples, { format: N_TRIPLES })
    return scratch.dump({ format: N_TRIPLES, from_graph_name: graph })
  } finally {
    free(graph)
    free(scratch)
  }
}

const linesOf = (nTriples: string): string[] => nTriples.split('\n').filter(Boolean)

function rememberSpellings(graph: string, nTriples: string, kept: string): void {
  const given = new Set(linesOf(nTriples))
  const own = new Set(linesOf(kept))
  const written = new Map<string, string[]>()
  for (const line of given) {
    if (own.has(line)) continue
    const ownLine = asKept(line).trimEnd()
    const lines = written.get(ownLine) ?? (given.has(ownLine) ? [ownLine] : [])
    written.set(ownLine, [...lines, line])
  }
  if (written.size > 0) spellings.set(graph, written)
}

function asWritten(graph: string, kept: string): string {
  const written = spellings.get(graph)
  if (!written) return kept
  return linesOf(kept)
    .flatMap((line) => written.get(line) ?? line)
    .map((line) => `${line}\n`)
    .join('')
}

// Every object of the WebAssembly module has it, though its types do not say so.
const free = (object: object): void => (object as { free(): void }).free()

parentPort!.on('message', (job: Job) => {
  let reply: Reply
  try {
    reply = { done: doJob(job) }
  } catch (error) {
    // A panic, or no memory or stack left: the module broke off somewhere in its middle, and its state cannot be trusted
    // any more. The thread ends.
    if (error instanceof Error && BREAKDOWNS.includes(error.name)) throw error
    reply = { failed: true }
  }
  const bytes = 'done' in reply && reply.done instanceof Uint8Array ? [reply.done.buffer as ArrayBuffer] : []
  parentPort!.postMessage(reply, bytes)
})
parentPort!.postMessage('ready')
