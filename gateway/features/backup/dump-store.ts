// Reads a store as N-Quads in one state, that of the moment when the dump begins, while writes continue.
import { isFailure, problem, type Problem } from '../../problem.js'
import { nTriplesTerm } from '../../rdf/graph.js'
import { HOLDER_GRAPH } from '../../stores/holder.js'
import { linesOf } from '../../stores/n-triples-lines.js'
import { selectBatches, type Row } from '../../stores/select.js'
import type { GraphStore } from '../../stores/store.js'
import type { Traits } from '../../stores/traits.js'
import { inLines } from './pieces.js'

/** While a store has this graph, a restore into it has not ended; the graph names the restore. */
export const RESTORE_GRAPH = 'urn:triplegate:restore'

export interface Dump {
  readonly parts: AsyncIterable<Uint8Array>
  /** So far. */
  quads(): number
}

const BEGIN_MS = 10_000

/** Stores answer a query in their state at its arrival. (SPARQL 1.1 Protocol has no snapshots.) */
export async function beginDump(
  { store, traits }: { readonly store: GraphStore; readonly traits: Traits },
  signal: AbortSignal,
): Promise<Dump | Problem> {
  const leaving = new AbortController()
  const late = setTimeout(() => leaving.abort(), BEGIN_MS)
  const call = { signal: AbortSignal.any([signal, leaving.signal]) }
  const asked = (await store.quads?.(call)) ?? NO_QUADS
  const pieces = isFailure(asked) && asked.failure !== 'store.unreachable' ? await selected(store, traits, call) : asked
  clearTimeout(late)
  if (isFailure(pieces)) return pieces
  let quads = 0
  async function* parts(of: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of inLines(of)) {
      const part = withoutOwn(piece)
      for (let at = part.indexOf(0x0a); at >= 0; at = part.indexOf(0x0a, at + 1)) quads++
      if (part.length > 0) yield part
    }
  }
  return { parts: parts(pieces), quads: () => quads }
}

const NO_QUADS = problem('store.refused', 'The triplestore does not return N-Quads.')

const OWN = [HOLDER_GRAPH, RESTORE_GRAPH].map((graph) => `<${graph}>`)

/** Leaves out graphs that say which gateway or restore uses the store: they are not content. */
function withoutOwn(part: Buffer): Buffer {
  if (!OWN.some((graph) => part.includes(graph))) return part
  const isOwn = (line: string): boolean => OWN.some((graph) => line.replace(/ ?\.\s*$/, '').endsWith(` ${graph}`))
  const lines = linesOf(part.toString()).filter((line) => !isOwn(line))
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

const DEFAULT_AND_NAMED = 'SELECT ?s ?p ?o ?g { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }'
const NAMED = 'SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }'

/** For stores whose Graph Store Protocol returns single graphs only, not the whole dataset. */
async function selected(
  store: GraphStore,
  traits: Traits,
  call: { readonly signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array> | Problem> {
  const known = await traits.current(call.signal)
  if (isFailure(known)) return known
  const query = known.defaultGraph === 'own' ? DEFAULT_AND_NAMED : NAMED
  const batches = await selectBatches(store, query, ['s', 'p', 'o', 'g'], call)
  return isFailure(batches) ? batches : quadsOf(batches)
}

async function* quadsOf(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<Uint8Array> {
  const lineOf = (row: Row): string => `${row.map((term) => (term ? `${nTriplesTerm(term)} ` : '')).join('')}.\n`
  for await (const rows of batches) yield Buffer.from(rows.map(lineOf).join(''))
}
