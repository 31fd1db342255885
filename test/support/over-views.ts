// Compares the answers to random queries, restricted to the graphs that an agent may read, with those of a store that
// contains only these graphs.
import { isFailure } from '../../gateway/problem.js'
import { parseSparql } from '../../gateway/sparql/language/parse.js'
import { mayBeListed } from '../../gateway/sparql/rights/refusals.js'
import { graphPredicate } from '../../gateway/sparql/rights/graph-condition.js'
import { constructOf } from '../../gateway/sparql/rights/describe.js'
import { type Overviewed, type StoreTraits } from '../../gateway/sparql/rights/restrict-query.js'
import { MERGED_GRAPHS } from '../../policies/authorizations/reach.js'
import { queryText } from '../../gateway/sparql/language/print.js'
import { makeTreeReader } from '../../gateway/sparql/language/read-tree.js'
import { isOfAll } from '../../gateway/sparql/rights/readable-graph-list.js'
import { variable, type Describe, type Query } from '../../gateway/sparql/language/syntax.js'
import { freshNames } from '../../gateway/sparql/language/variables.js'
import { takeViewStep } from '../../gateway/sparql/rights/restrict-in-thread.js'
import { groundsOf, merged, randomCases, visible, type Case } from './view-cases.js'

const BASE = 'https://d.test/sparql'
export const NOTHING = 'urn:test:nothing'

/** Rows as a multiset; 'refused' if the store refuses the query; 'broken' if it fails because of a known defect. */
export type Rows = readonly string[] | 'refused' | 'broken'

/** A store with all quads of a case, and one with the visible quads. */
export interface ComparedStores {
  /** Available once data is loaded. */
  traits(): Promise<StoreTraits>
  load(all: Case['quads'], visible: Case['quads']): Promise<void>
  ask(of: 'all' | 'visible', query: string): Promise<Rows>
  /** The answer of a store with only these quads and its own default graph. */
  askOver(quads: Case['quads'], query: string): Promise<Rows>
  /** True if DESCRIBE reads every graph. Otherwise the reference is its definition (describe.ts). */
  readonly describesAll?: boolean
  /**
   * True if an answer counts once even if several ways of a path lead to it. A merge, which is queried triple by
   * triple, counts each way.
   */
  readonly countsWaysOnce?: boolean
  /** True if the store answers the query differently than SPARQL says, whatever other data it has. */
  isOdd?(query: string, got: Rows, wanted: Rows): boolean
  /** The answers of other kinds of stores with only the visible quads, or these quads. */
  others?(query: string, given?: Case['quads']): Promise<readonly Rows[]>
}

export interface Compared {
  equal: number
  /** Equal answers that have rows. */
  filled: number
  /** Queries that are refused for everyone with restricted rights. */
  unanswerable: number
  /** Queries that were answered over a list of the graphs. */
  listed: number
  /** Queries that the store refuses. */
  refused: number
  /** Queries on which the store fails because of a known defect. */
  broken: number
  /** Texts that are not SPARQL. */
  invalid: number
  /**
   * The store interprets the query, or the restricted one, in its own way: with only the visible quads, another kind of
   * store gives the same answer, or answers both alike.
   */
  ofStore: number
  /** For stores that count an answer of a path once: the rows are the same, but how often each occurs differs. */
  ofWays: number
  /** Cases in which hidden data changes the answer. */
  readonly leaks: string[]
  /** Cases in which the restricted query has another meaning than the client's over readable data. */
  readonly different: string[]
}

const NO_DATASET = { default: [], named: [] }

const PER_DATASET = 10

/** Cases from a seed, ten for each dataset. */
export async function compare(stores: ComparedStores, seed: number, count: number): Promise<Compared> {
  const compared = nothingCompared()
  for (let done = 0; done < count; done += PER_DATASET) {
    const cases = randomCases(seed + done, Math.min(PER_DATASET, count - done))
    await compareCases(stores, cases, String(seed + done), compared)
  }
  return compared
}

const nothingCompared = (): Compared => ({
  ...{ equal: 0, filled: 0, unanswerable: 0, listed: 0, refused: 0, broken: 0, invalid: 0, ofStore: 0, ofWays: 0 },
  ...{ leaks: [], different: [] },
})

/** Compares cases with the same dataset and rights, and adds to the results. */
export async function compareCases(
  stores: ComparedStores,
  cases: readonly Case[],
  name: string,
  compared = nothingCompared(),
): Promise<Compared> {
  await stores.load(cases[0]!.quads, visible(cases[0]!))
  const traits = await stores.traits()
  await Promise.all(cases.map((of, i) => compareOne(stores, traits, of, `${name}.${i}`, compared)))
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
  const restricted = restrictedTo(query, of, traits)
  if (!restricted) return void compared.unanswerable++
  if (restricted.isListed) compared.listed++
  const isSame = (got: Rows, wanted: Rows): boolean => same(got, wanted, of.compared)
  const readable = readableOf(of)
  const expected = reference(query, readable, stores.describesAll)
  const wanted = expected.quads
    ? await stores.askOver(expected.quads, expected.text)
    : await stores.ask('visible', expected.text)
  const others = async (text: string): Promise<readonly Rows[]> => (await stores.others?.(text, expected.quads)) ?? []
  const told = (text: string, got: Rows, wanted: Rows): string =>
    [`case ${name}: ${of.query}`, `sent: ${text}`, `got ${shown(got)}`, `not ${shown(wanted)}`].join('\n  ')
  const answer = async ({ text }: Overviewed): Promise<Rows> => {
    const [got, overVisible] = await Promise.all([stores.ask('all', text), stores.ask('visible', text)])
    if (!isSame(got, overVisible)) compared.leaks.push(told(text, got, overVisible))
    return got
  }
  const got = await answer(restricted)
  if (wanted === 'broken') return void compared.broken++
  if (got === 'refused' || typeof wanted === 'string') return void compared.refused++
  if (isSame(got, wanted)) {
    compared.equal++
    if (wanted.length > 0 && !['0', 'false'].includes(wanted[0]!)) compared.filled++
  } else if (stores.countsWaysOnce && isOfWays(of, !of.rights.reach.alone, got, wanted)) compared.ofWays++
  else if (stores.isOdd?.(of.query, got, wanted)) compared.ofStore++
  else {
    const opinions = await others(reference(query, readable).text)
    const ofRestricted = await others(restricted.text)
    // Another kind of store confirms the answer, or shows that both texts are the same and that this store's answer to
    // the query is wrong.
    const isSameQuery = (opinion: Rows, i: number): boolean =>
      typeof opinion !== 'string' && isSame(opinion, ofRestricted[i]!) && !isSame(opinion, wanted)
    if (opinions.some((opinion) => isSame(got, opinion)) || opinions.some(isSameQuery)) compared.ofStore++
    else if (opinions.includes('broken')) compared.broken++
    else compared.different.push(told(restricted.text, got, wanted))
  }
}

/**
 * The sorted rows for a restricted query, from both stores, and those for the original query, which the store must
 * answer.
 */
export async function rowsOfEach(
  { ask }: Pick<ComparedStores, 'ask'>,
  sent: string,
  query: string,
): Promise<readonly [got: readonly string[], overVisible: readonly string[], wanted: readonly string[]]> {
  const asked = [ask('all', sent), ask('visible', sent), ask('visible', query)] as const
  const [got, overVisible, wanted] = await Promise.all(asked)
  if (typeof wanted === 'string') throw new Error(`${wanted}: ${query}`)
  return [[...got].sort(), [...overVisible].sort(), [...wanted].sort()]
}

type Asked = Pick<Case, 'query' | 'compared'>

/** For a path over a merge, the rows are the same, or differ only in results that depend on their number. */
export const isOfWays = ({ query, compared }: Asked, isMerge: boolean, got: Rows, wanted: Rows): boolean =>
  (isMerge || query.includes(MERGED_GRAPHS)) &&
  /!\(?[<^]|[>)?*+]\||[<(^!]/.test(query) &&
  (compared === 'number' || /\((?:COUNT|SUM|AVG|STRLEN\(GROUP)/.test(query) || same(got, wanted, 'set'))

interface Restricted extends Overviewed {
  readonly isListed?: boolean
}

/** As at the endpoint: over a list of the graphs if no condition is exact. */
function restrictedTo(query: Query, of: Case, store: StoreTraits): Restricted | undefined {
  const step = { rights: of.rights, store, nothing: NOTHING, graphs: [] }
  const found = takeViewStep(query, { ...step, readable: [...groundsOf(of)] })
  if ('text' in found) return found as Overviewed
  if (!mayBeListed(found) || !isOfAll(query.dataset ?? NO_DATASET)) return undefined
  const graphs = visible(of).flatMap(([, graph]) => (graph === '' ? [] : [graph]))
  const overList = takeViewStep(query, { ...step, readable: undefined, listed: [...new Set(graphs)].sort() })
  return 'text' in overList ? { ...(overList as Overviewed), isListed: true } : undefined
}

export const shown = (rows: Rows): string =>
  typeof rows === 'string' ? rows : `${rows.length} rows: ${rows.slice(0, 3).join(' | ')}`

export const same = (got: Rows, wanted: Rows, compared: Case['compared']): boolean => {
  if (typeof got === 'string' || typeof wanted === 'string') return got === wanted
  if (compared === 'number') return got.length === wanted.length
  const comparable = (rows: readonly string[]): string =>
    JSON.stringify((compared === 'set' ? [...new Set(rows)] : [...rows]).sort())
  return comparable(got) === comparable(wanted)
}

/** Undefined if the text is not SPARQL. */
export function read(text: string): Query | undefined {
  const parsed = parseSparql(text, { kind: 'query', base: BASE })
  if (isFailure(parsed)) return undefined
  const query = makeTreeReader(parsed.values).query(parsed.tree)
  if (!query) throw new Error(`not read: ${text}`)
  return query
}

export interface Reference {
  readonly text: string
  /** Undefined for the readable quads. */
  readonly quads: Case['quads'] | undefined
}

/** The readable part of the dataset. */
export interface Readable {
  readonly quads: Case['quads']
  /** True if the agent may read the graph with this name, whatever it contains. */
  isReadable(graph: string): boolean
}

/** The meaning of the query over a store with only readable data. */
export function reference(query: Query, { quads, isReadable }: Readable, describesAll = false): Reference {
  const fresh = freshNames([query.body])
  const isDescribed = query.body.form === 'DESCRIBE' && !describesAll
  const body = isDescribed ? constructOf(query.body as Describe, () => variable(fresh())) : query.body
  const { dataset } = query
  if (!dataset) return { text: queryText({ ...query, body }), quads: undefined }
  const exists = (graph: string): boolean => quads.some(([, name]) => name === graph)
  if (dataset.default.includes(MERGED_GRAPHS)) {
    const isListed = ([, graph]: Case['quads'][number]): boolean =>
      graph === '' || dataset.named.length === 0 || dataset.named.includes(graph)
    return { text: queryText({ ...query, dataset: undefined, body }), quads: merged(quads).filter(isListed) }
  }
  // A dataset does not name a graph that does not exist, unless the agent could read it.
  const named = dataset.named.filter((graph) => isReadable(graph) || exists(graph))
  const stated = { default: dataset.default.length > 0 ? dataset.default : [NOTHING], named }
  return { text: queryText({ ...query, dataset: stated, body }), quads: undefined }
}

const readableOf = (of: Case): Readable => {
  const { byName } = graphPredicate(of.rights, NOTHING)
  return { quads: visible(of), isReadable: (graph) => byName(graph) === true }
}
