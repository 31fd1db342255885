// The datasets of a Fuseki for comparing random queries: two of each kind, and one for a second opinion.
import { branched, deferred, type Unused } from '../../gateway/sparql/rights/jena-hash-joins.js'
import { queryText } from '../../gateway/sparql/language/print.js'
import {
  filter,
  operation,
  triples,
  variable,
  type Blank,
  type GraphPattern,
  type Query,
  type Variable,
} from '../../gateway/sparql/language/syntax.js'
import { freshNames } from '../../gateway/sparql/language/variables.js'
import { fusekiEndpoints } from '../../gateway/stores/http-store.js'
import { configurationOf } from './fuseki-datasets.js'
import { askHttp, fetchAgain, overHttp, type ClosableStores, type ComparedDataset } from './over-http.js'
import { askOxigraph, storeOf } from './over-oxigraph.js'
import { NOTHING, read, same, type ComparedStores, type Rows } from './over-views.js'
import { merged, nQuads, type Case } from './view-cases.js'

export type FusekiKind = 'fuseki' | 'fuseki-union' | 'tdb2'

const DATASETS = { fuseki: 'mem', 'fuseki-union': 'union', tdb2: 'tdb2' } as const
export const FUSEKI_KINDS = Object.keys(DATASETS) as readonly FusekiKind[]

/** Test files run at the same time, so each has separate datasets. */
const USERS = ['over', 'terms', 'unfit', 'joins', 'ways', 'optional', 'computed', 'deep', 'later', 'corpus'] as const

const PARTS = ['all', 'visible', 'given'] as const

/** In memory, Fuseki evaluates as in SPARQL 1.1 §18. TDB2 does not if a group in GRAPH begins with an empty pattern. */
const SECONDS = ['over-second', 'gateway-second'] as const
/** The default graph of the given data is always its own. */
const kindOf = (part: (typeof PARTS)[number], kind: FusekiKind): FusekiKind =>
  part === 'given' && kind === 'fuseki-union' ? 'tdb2' : kind
const services = [
  ...USERS.flatMap((user) =>
    FUSEKI_KINDS.flatMap((kind) =>
      PARTS.map((part) => [`${user}-${kind}-${part}`, DATASETS[kindOf(part, kind)]] as const),
    ),
  ),
  ...SECONDS.map((name) => [name, DATASETS.fuseki] as const),
]

export const OVER_FUSEKI = configurationOf(services)

/** The datasets of this kind, of a Fuseki with `OVER_FUSEKI`. */
export function overFuseki(base: string, kind: FusekiKind, user: (typeof USERS)[number] = 'over'): ClosableStores {
  const [all, visible, given] = PARTS.map((part) => dataset(`${base}/${user}-${kind}-${part}`))
  const second = fusekiSecond(base)
  const inGiven = askingOver(given!)
  const others = async (quads: Case['quads'], query: string): Promise<readonly Rows[]> => [
    askOxigraph(storeOf(quads), query),
    await second(quads, withPartsOfExists(query)),
    await second(quads, kind === 'fuseki' ? withNamesOfGraphs(query) : query),
    ...(kind === 'fuseki' ? [] : [await inGiven(quads, withSelectsApart(query))]),
  ]
  const isUnion = kind === 'fuseki-union'
  const stores = overHttp(all!, visible!, others, isUnion ? merged : undefined)
  // If the default graph is the union, Jena's DESCRIBE also reads its real default graph, which is not part of the
  // dataset.
  const load: typeof stores.load = (quads, seen) => stores.load(quads, isUnion ? seen.filter(isNamed) : seen)
  return { ...stores, load, askOver: inGiven, describesAll: true, ...(isUnion && { isOdd: countsWaysOnce }) }
}

/** Next to a SELECT DISTINCT without values, Jena counts an answer of a path once. */
const countsWaysOnce: IsOdd = (query, got, wanted) =>
  /\{.*SELECT DISTINCT/s.test(query) && /[|!]/.test(query) && same(got, wanted, 'set')

/**
 * The query with each triple of EXISTS in a separate group, and with joins that Jena makes on demand. Otherwise Jena
 * fails on closing a join that it has not begun, or on ordering triples with a predicate that is not an IRI: then
 * EXISTS counts as false, or the row is lost.
 */
function withPartsOfExists(text: string): string {
  const query = read(text)!
  const unused = unusedIn(query)
  const blanks = new Map<string, Variable>()
  const named = ({ value }: Blank): Variable => {
    const known = blanks.get(value) ?? unused.fresh()
    blanks.set(value, known)
    return known
  }
  const apart = (part: unknown): unknown =>
    mapped(
      mapped(part, 'blank', (each) => named(each as Blank)),
      'triples',
      (each) => ({
        kind: 'group',
        patterns: (each as Triples).triples.map((one) => branched(triples(one), unused)),
      }),
    )
  return queryText(
    mapped(query, 'exists', (each) => {
      const { patterns } = each as { readonly patterns: readonly GraphPattern[] }
      return { ...(each as object), patterns: deferred(apart(patterns) as readonly GraphPattern[], unused) }
    }),
  )
}

/**
 * The query with each sub-query as the branch of a UNION: in OPTIONAL, TDB2 substitutes earlier values into a sub-query
 * in `GRAPH ?g`.
 */
function withSelectsApart(text: string): string {
  const query = read(text)!
  const unused = unusedIn(query)
  const { where } = mapped({ where: query.body.where }, 'select', (each) => branched(each as GraphPattern, unused))
  return queryText({ ...query, body: { ...query.body, where } })
}

function unusedIn({ body }: Query): Unused {
  const fresh = freshNames([body])
  return { nothing: NOTHING, fresh: () => variable(fresh()), add: () => undefined }
}

type Triples = GraphPattern & { readonly kind: 'triples' }

/**
 * The query with FILTERs that state that names of graphs are IRIs: in a join, Jena forgets that a GRAPH binds its name.
 */
const withNamesOfGraphs = (text: string): string =>
  queryText(
    mapped(read(text)!, 'graph', (each) => {
      const { name } = each as GraphPattern & { readonly kind: 'graph' }
      if (name.kind === 'iri') return each
      return {
        kind: 'group',
        patterns: [each as GraphPattern, filter(operation('isiri', name))],
      } satisfies GraphPattern
    }),
  )

/** A copy of a part, with nodes of one kind replaced. */
function mapped<Part>(part: Part, kind: string, change: (node: unknown) => unknown): Part {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map((each: unknown) => mapped(each, kind, change)) as Part
  const made = Object.fromEntries(Object.entries(part).map(([key, each]) => [key, mapped(each, kind, change)]))
  return ((part as { readonly kind?: string }).kind === kind ? change(made) : made) as Part
}

type IsOdd = NonNullable<ComparedStores['isOdd']>

const isNamed = ([, graph]: Case['quads'][number]): boolean => graph !== ''

/** The answer of this Fuseki if it contains only these quads. */
export const fusekiSecond = (
  base: string,
  name: (typeof SECONDS)[number] = 'over-second',
): ReturnType<typeof askingOver> => askingOver(dataset(`${base}/${name}`))

/** Asks one question at a time. */
export function askingOver({
  load,
  endpoints,
}: ComparedDataset): (quads: Case['quads'], query: string, dataset?: string) => Promise<Rows> {
  let last: Promise<unknown> = Promise.resolve()
  return (quads, query, dataset = '') => {
    const asked = last.then(async () => {
      await load(nQuads(quads))
      return askHttp(endpoints.query + dataset, query)
    })
    last = asked.catch(() => undefined)
    return asked
  }
}

const dataset = (url: string): ComparedDataset => ({
  endpoints: fusekiEndpoints(url),
  async load(body) {
    const headers = { 'Content-Type': 'application/n-quads' }
    const loaded = await fetchAgain(`${url}/data`, { method: 'PUT', headers, body })
    if (!loaded.ok) throw new Error(`not loaded: ${loaded.status} ${await loaded.text()}`)
  },
  async remove(quads) {
    const lines = quads.map(([triple, graph]) => (graph === '' ? `${triple} .` : `GRAPH <${graph}> { ${triple} }`))
    const headers = { 'Content-Type': 'application/sparql-update' }
    // DELETE DATA has no blank nodes.
    const hasBlank = (line: string): boolean => line.includes('_:')
    const found = lines.filter(hasBlank).map((line) => `; DELETE WHERE { ${line.replaceAll('_:', '?')} }`)
    const body = `DELETE DATA { ${lines.filter((line) => !hasBlank(line)).join('\n')} } ${found.join('\n')}`
    const removed = await fetchAgain(`${url}/update`, { method: 'POST', headers, body })
    if (!removed.ok) throw new Error(`not removed: ${removed.status} ${await removed.text()}`)
  },
})

/** True if this Fuseki has these datasets. */
export const hasKinds = async (base: string): Promise<boolean> =>
  (await fetch(`${base}/over-tdb2-all/query?query=ASK%7B%7D`)).ok
