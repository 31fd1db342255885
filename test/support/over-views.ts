// In charge of comparing the answers to random queries, restricted to what an agent may read, with those of the same store that
// holds only that.
import { isFailure } from '../../gateway/problem.js'
import { parseSparql } from '../../gateway/sparql/parse.js'
import { type StoreTraits } from '../../gateway/sparql/view/over-view.js'
import { isOfConditions } from '../../gateway/sparql/view/refusals.js'
import { graphPredicate } from '../../gateway/sparql/view/predicate.js'
import { queryText } from '../../gateway/sparql/view/print.js'
import { makeTreeReader } from '../../gateway/sparql/view/read-tree.js'
import type { Query } from '../../gateway/sparql/view/syntax.js'
import { isOfAll } from '../../gateway/sparql/view/listing.js'
import { takeViewStep, type ViewStep } from '../../gateway/sparql/view/view-step.js'
import { groundsOf, randomCases, visible, type Case } from './view-cases.js'

const BASE = 'https://d.test/sparql'
export const NOTHING = 'urn:test:nothing'

/** Rows as a multiset; a store that refuses a query says so, and `broken` is one that fails by a known defect of its own. */
export type Rows = readonly string[] | 'refused' | 'broken'

/** A store with all of a case's quads, and one with the visible ones. */
export interface ComparedStores {
  /** Once it is loaded. */
  traits(): Promise<StoreTraits>
  load(all: Case['quads'], visible: Case['quads']): Promise<void>
  ask(of: 'all' | 'visible', query: string): Promise<Rows>
  /** True where it answers the query otherwise than SPARQL says, whatever else is in it. */
  isOdd?(query: string): boolean
  /** The answers of stores of other kinds that hold the visible quads only. */
  others?(query: string): Promise<readonly Rows[]>
}

export interface Compared {
  equal: number
  /** Of those that are equal, answers with rows. */
  filled: number
  /** Refused for everyone who may not read everything. */
  unanswerable: number
  /** Of all, those over a list of the graphs. */
  listed: number
  /** The store refuses the query. */
  refused: number
  /** The store fails by a known defect of its own. */
  broken: number
  /** No SPARQL. */
  invalid: number
  /**
   * The store reads the query, or the restricted one, in its own way: with only the visible quads, another kind of store answers
   * the query so, or both in the same way.
   */
  ofStore: number
  /** Data that the agent may not read changes the answer. */
  readonly leaks: string[]
  /** The query says another thing over what the agent may read than its author's. */
  readonly different: string[]
}

const NO_DATASET = { default: [], named: [] }

const PER_DATASET = 10

/** Cases from a seed, ten for each dataset. */
export async function compare(stores: ComparedStores, seed: number, count: number): Promise<Compared> {
  const counts = { equal: 0, filled: 0, unanswerable: 0, listed: 0, refused: 0, broken: 0, invalid: 0, ofStore: 0 }
  const compared: Compared = { ...counts, leaks: [], different: [] }
  for (let done = 0; done < count; done += PER_DATASET) {
    const cases = randomCases(seed + done, Math.min(PER_DATASET, count - done))
    await stores.load(cases[0]!.quads, visible(cases[0]!))
    const traits = await stores.traits()
    await Promise.all(cases.map((of, i) => compareOne(stores, traits, of, `${seed + done}.${i}`, compared)))
  }
  return compared
}

async function compareOne(
  stores: ComparedStores,
  traits: StoreTraits,
  of: Case,
  name: string,
  compared: Compared,
): Promise<void> {
  const query = read(of.query)
  if (!query) return void compared.invalid++
  const restricted = restrictedTo(query, of, traits, compared)
  if (!restricted) return void compared.unanswerable++
  const [got, overVisible, wanted] = await Promise.all([
    stores.ask('all', restricted.text),
    stores.ask('visible', restricted.text),
    stores.ask('visible', reference(query, of)),
  ])
  const isOfStore = async (): Promise<boolean> => {
    const others = (await stores.others?.(reference(query, of))) ?? []
    return others.some((other) => same(got, other, of.countsOnly))
  }
  if ([got, overVisible, wanted].includes('broken')) return void compared.broken++
  const told = (wanted: Rows): string =>
    [`case ${name}: ${of.query}`, `sent: ${restricted.text}`, `got ${shown(got)}`, `not ${shown(wanted)}`].join('\n  ')
  if (!same(got, overVisible, of.countsOnly)) compared.leaks.push(told(overVisible))
  if (typeof got === 'string' || typeof wanted === 'string') return void compared.refused++
  // Oxigraph counts an answer once where several ways of a path lead to it; triples of a merge one by one are more.
  const isPathOfMerge = !of.rights.reach.alone && /!\(?[<^]|[>)?*+]\|[<(^!]/.test(of.query)
  if (same(got, wanted, of.countsOnly)) {
    compared.equal++
    if (wanted.length > 0 && !['0', 'false'].includes(wanted[0]!)) compared.filled++
  } else if (isPathOfMerge) return
  else if (stores.isOdd?.(of.query) || (await isOfStore())) compared.ofStore++
  else compared.different.push(told(wanted))
}

/** As the endpoint does: over a list of the graphs where no condition is exact. */
function restrictedTo(query: Query, of: Case, store: StoreTraits, counts: Pick<Compared, 'listed'>) {
  const step: Omit<ViewStep, 'readable'> = { rights: of.rights, store, nothing: NOTHING }
  const found = takeViewStep(query, { ...step, readable: [...groundsOf(of)] })
  if ('text' in found) return found
  if (!isOfConditions(found) || !isOfAll(query.dataset ?? NO_DATASET)) return undefined
  const graphs = visible(of).flatMap(([, graph]) => (graph === '' ? [] : [graph]))
  const overList = takeViewStep(query, { ...step, readable: undefined, listed: [...new Set(graphs)].sort() })
  if (!('text' in overList)) return undefined
  counts.listed++
  return overList
}

const shown = (rows: Rows): string =>
  typeof rows === 'string' ? rows : `${rows.length} rows: ${rows.slice(0, 3).join(' | ')}`

const same = (got: Rows, wanted: Rows, countsOnly: boolean): boolean =>
  (countsOnly && typeof got !== 'string' && typeof wanted !== 'string' && got.length === wanted.length) ||
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
