// Reads many graphs in sequence: hundreds with one query, if the store supports that.
import { isFailure, type Problem, type ProblemCode } from '../problem.js'
import { answersIn, batchedGraphsQuery, isName } from './batch-sparql.js'
import type { GraphStore } from './store.js'

type Text = string | undefined | Problem

/** The most graphs in one query; the bytes of an answer are limited too (MOST_TOGETHER). */
const MOST = 500
/** The number of graphs in the first query, since they may be large. */
const FIRST = 50
/** The most concurrent requests if each graph is requested separately. */
const AT_ONCE = 8
/** After these failures, a query names fewer graphs. */
const DIVIDES: ReadonlySet<ProblemCode> = new Set(['store.too-large', 'store.failed', 'store.time'])
/** After these failures, no such query is sent again. */
const REFUSED: ReadonlySet<ProblemCode> = new Set(['store.refused', 'query.syntax'])

interface Reader {
  readonly store: GraphStore
  /** The number of graphs in the next query. */
  most: number
  isUnderstood: boolean
}

/** The graphs in order, as `read` returns them. The store works on the next ones meanwhile. */
export async function* readMany(store: GraphStore, graphs: readonly string[]): AsyncGenerator<readonly [string, Text]> {
  const reader: Reader = { store, most: store.together ? FIRST : AT_ONCE, isUnderstood: store.together !== undefined }
  let at = 0
  const ask = (): { readonly asked: readonly string[]; readonly texts: Promise<readonly Text[]> } => {
    const asked = graphs.slice(at, at + reader.most)
    at += asked.length
    const texts = readSome(reader, asked)
    // A rejection is thrown when the texts are awaited.
    texts.catch(() => undefined)
    return { asked, texts }
  }
  for (let next = ask(); next.asked.length > 0;) {
    const { asked } = next
    const texts = await next.texts
    next = ask()
    for (const [i, graph] of asked.entries()) yield [graph, texts[i]]
  }
}

async function readSome(reader: Reader, graphs: readonly string[]): Promise<readonly Text[]> {
  const { together } = reader.store
  const asked = graphs.filter(isName)
  if (!together?.isKnown() || !reader.isUnderstood || asked.length < 2) return readAlone(reader.store, graphs)
  const tsv = await together.select(batchedGraphsQuery(asked.map((graph) => ({ graph, about: 'content' }))))
  if (isFailure(tsv) && DIVIDES.has(tsv.failure)) {
    const half = Math.ceil(graphs.length / 2)
    reader.most = half
    return [...(await readSome(reader, graphs.slice(0, half))), ...(await readSome(reader, graphs.slice(half)))]
  }
  if (isFailure(tsv) && !REFUSED.has(tsv.failure)) return graphs.map(() => tsv)
  const found = typeof tsv === 'string' ? answersIn(tsv, asked.length) : undefined
  reader.isUnderstood = found !== undefined
  reader.most = found ? Math.min(MOST, 2 * graphs.length) : AT_ONCE
  const texts = new Map<string, Text>(asked.flatMap((graph, n) => (found?.has(n) ? [[graph, found.get(n)]] : [])))
  const rest = graphs.filter((graph) => !texts.has(graph))
  for (const [i, text] of (await readAlone(reader.store, rest)).entries()) texts.set(rest[i]!, text)
  return graphs.map((graph) => texts.get(graph))
}

async function readAlone(store: GraphStore, graphs: readonly string[]): Promise<readonly Text[]> {
  const texts: Text[] = []
  for (let at = 0; at < graphs.length; at += AT_ONCE)
    texts.push(...(await Promise.all(graphs.slice(at, at + AT_ONCE).map((graph) => store.read(graph)))))
  return texts
}
