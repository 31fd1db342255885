// In charge of how a store answers queries, as far as restricting them relies on it (design 4): found out by queries, which
// change nothing, and known for the embedded store.
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { StoreTraits } from '../sparql/view/over-view.js'
import { select } from './select.js'
import type { GraphStore } from './store.js'

export interface Traits {
  /** `nothing`: the name of no graph. A problem while they cannot be found out. */
  current(nothing: string): Promise<StoreTraits | Problem>
}

/** Asks the store once it has named graphs to ask about; until then it has nothing to hide. */
export function makeTraits(store: GraphStore, log: Log): Traits {
  let known: Promise<StoreTraits | Problem> | undefined
  async function find(nothing: string): Promise<StoreTraits | Problem> {
    const found = await probe(store, nothing)
    const isKnown = !isFailure(found) && found.isSettled
    if (!isKnown) known = undefined
    const details = isFailure(found) ? { problem: found.detail } : found
    log[isFailure(found) ? 'warn' : 'info']({ store: store.name, ...details }, 'how the triplestore answers queries')
    return found
  }
  return { current: async (nothing) => store.traits ?? (known ??= find(nothing)) }
}

const LIMIT = { maxBytes: 64 * 1024 }
/** A store that has so many triples of named graphs in its default graph has all of them there. */
const SAMPLE = 100

async function probe(store: GraphStore, nothing: string): Promise<StoreTraits | Problem> {
  const none = `<${nothing}>`
  const values = async (query: string): Promise<readonly (string | undefined)[] | Problem> => {
    const rows = await select(store, query, ['x'], LIMIT)
    return isFailure(rows) ? rows : rows.map(([term]) => term?.value)
  }
  const answers = await Promise.all([
    values(
      `SELECT ?x { { SELECT ?s ?p ?o { GRAPH ?g { ?s ?p ?o } } LIMIT ${SAMPLE} } BIND(EXISTS { ?s ?p ?o } AS ?x) }`,
    ),
    values(`SELECT ?x FROM ${none} { ${none} ${none}* ?x }`),
    values('SELECT ?x { GRAPH ?g { VALUES ?x { 1 } } FILTER(!BOUND(?g)) }'),
    values(`SELECT ?x FROM ${none} { { ?x ?p ?o } UNION { GRAPH ?g { ?x ?p ?o } } } LIMIT 1`),
    values(`SELECT ?x FROM ${none} FROM NAMED ${none} { GRAPH ?g { ?x ?p ?o } } LIMIT 1`),
    values(`SELECT ?x { { SELECT ?x { GRAPH ?x { ?s ?p ?o } } LIMIT 1 } FILTER EXISTS { GRAPH ?x { ?a ?b ?c } } }`),
    values(
      `SELECT ?x { { SELECT ?x { GRAPH ?x { ?s ?p ?o } } LIMIT 1 } FILTER EXISTS { GRAPH ?x { ?x ${none} ?c } } }`,
    ),
    values(`SELECT ?x { GRAPH ?x { ?s ?p ?o } FILTER(?x IN (${none})) } LIMIT 1`),
  ])
  const failed = answers.find((answer) => isFailure(answer))
  if (failed) return failed as Problem
  const [inDefault, stays, unbound, beside, besideNamed, correlated, invented, unfiltered] =
    answers as unknown as readonly string[][]
  const isSettled = inDefault!.length > 0
  if (invented!.length > 0 || unfiltered!.length > 0 || (isSettled && correlated!.length === 0)) return UNUSABLE
  const isUnion = isSettled && inDefault!.every((value) => value === 'true')
  return {
    // Oxigraph counts a triple of its union for each graph, and lets no path stay at a term that no triple has.
    defaultGraph: !isUnion ? 'own' : stays!.length > 0 ? 'union' : 'bag',
    stays: stays!.length > 0,
    asQuads: unbound!.length > 0,
    honoursFrom: beside!.length + besideNamed!.length === 0,
    isSettled,
  }
}

const UNUSABLE = problem(
  'store.failed',
  'The triplestore does not evaluate FILTER and EXISTS on the name of a graph: only agents who may read every graph can query it.',
)
