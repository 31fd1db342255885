// In charge of comparing the answers to random queries, restricted to what an agent may read, with those of the same store that
// holds only that.
import { isFailure } from '../../gateway/problem.js'
import { parseSparql } from '../../gateway/sparql/parse.js'
import { overView, type StoreTraits } from '../../gateway/sparql/view/over-view.js'
import { graphPredicate } from '../../gateway/sparql/view/predicate.js'
import { queryText } from '../../gateway/sparql/view/print.js'
import { makeTreeReader } from '../../gateway/sparql/view/read-tree.js'
import type { Query } from '../../gateway/sparql/view/syntax.js'
import { mayTouch } from '../../policies/authorizations/graph-rights.js'
import { factsOf, randomCases, visible, type Case } from './view-cases.js'

const BASE = 'https://d.test/sparql'
const NOTHING = 'urn:test:nothing'

/** Rows as a multiset; a store that refuses a query, or fails, says so. */
export type Rows = readonly string[] | 'refused'

/** A store with all of a case's quads, and one with the visible ones. */
export interface ComparedStores {
  readonly traits: StoreTraits
  load(all: Case['quads'], visible: Case['quads']): void
  ask(of: 'all' | 'visible', query: string): Rows
}

export interface Compared {
  equal: number
  /** Of those that are equal, answers with rows. */
  filled: number
  /** Refused for everyone who may not read everything. */
  unanswerable: number
  /** The store refuses or fails. */
  refused: number
  /** No SPARQL. */
  invalid: number
  /** What the agent may not read changes the answer. */
  readonly leaks: string[]
  /** The query says another thing over what the agent may read than its author's. */
  readonly different: string[]
}

const PER_DATASET = 10

/** Cases from a seed, ten for each dataset. */
export function compare(stores: ComparedStores, seed: number, count: number): Compared {
  const compared: Compared = { equal: 0, filled: 0, unanswerable: 0, refused: 0, invalid: 0, leaks: [], different: [] }
  for (let done = 0; done < count; done += PER_DATASET) {
    const cases = randomCases(seed + done, Math.min(PER_DATASET, count - done))
    stores.load(cases[0]!.quads, visible(cases[0]!))
    for (const [i, of] of cases.entries()) compareOne(stores, of, `${seed + done}.${i}`, compared)
  }
  return compared
}

function compareOne(stores: ComparedStores, of: Case, name: string, compared: Compared): void {
  const query = read(of.query)
  if (!query) return void compared.invalid++
  const mayRead = (graph: string): boolean =>
    of.quads.some(([, name]) => name === graph) && mayTouch(of.rights, factsOf(of, graph))
  const restricted = overView(query, { rights: of.rights, store: stores.traits, nothing: NOTHING, mayRead })
  if (isFailure(restricted)) return void compared.unanswerable++
  const got = stores.ask('all', restricted.text)
  const told = (wanted: Rows): string =>
    [`case ${name}: ${of.query}`, `sent: ${restricted.text}`, `got ${shown(got)}`, `not ${shown(wanted)}`].join('\n  ')
  const overVisible = stores.ask('visible', restricted.text)
  if (!same(got, overVisible, of.countsOnly)) compared.leaks.push(told(overVisible))
  const wanted = stores.ask('visible', reference(query, of))
  if (got === 'refused' || wanted === 'refused') return void compared.refused++
  // Oxigraph counts an answer once where several ways of a path lead to it; triples of a merge one by one are more.
  const isPathOfMerge = !of.rights.reach.alone && /!\(?[<^]|[>)?*+]\|[<(^!]/.test(of.query)
  if (same(got, wanted, of.countsOnly)) {
    compared.equal++
    if (wanted.length > 0 && !['0', 'false'].includes(wanted[0]!)) compared.filled++
  } else if (!isPathOfMerge) compared.different.push(told(wanted))
}

const shown = (rows: Rows): string =>
  rows === 'refused' ? rows : `${rows.length} rows: ${rows.slice(0, 3).join(' | ')}`

const same = (got: Rows, wanted: Rows, countsOnly: boolean): boolean =>
  (countsOnly && got !== 'refused' && wanted !== 'refused' && got.length === wanted.length) ||
  JSON.stringify([...got].sort()) === JSON.stringify([...wanted].sort())

/** Undefined where the text is no SPARQL. */
export function read(text: string): Query | undefined {
  const parsed = parseSparql(text, { kind: 'query', base: BASE })
  if (isFailure(parsed)) return undefined
  const query = makeTreeReader(parsed.values).query(parsed.tree)
  if (!query) throw new Error(`not read: ${text}`)
  return query
}

/** A dataset has no name for a graph that does not exist, unless the agent could read it. */
function reference(query: Query, of: Case): string {
  const { dataset } = query
  if (!dataset) return queryText(query)
  const { byName } = graphPredicate(of.rights, NOTHING)
  const exists = (graph: string): boolean => visible(of).some(([, name]) => name === graph)
  const named = dataset.named.filter((graph) => byName(graph) === true || exists(graph))
  return queryText({ ...query, dataset: { default: dataset.default.length > 0 ? dataset.default : [NOTHING], named } })
}
