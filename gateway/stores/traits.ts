// How a store answers queries, as far as restricting them relies on it (design 4). Queries that change nothing find it
// out; for the embedded store it is known.
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { AS_WRITTEN, UNCLEAR, type LiteralForms } from '../rdf/literal-forms.js'
import { NAMES_OF_JENA, type StoreTraits } from '../sparql/rights/restrict-query.js'
import { literalFormsOf } from './literal-probe.js'
import { isName } from './batch-sparql.js'
import { select } from './select.js'
import type { GraphStore } from './store.js'

/** A name that no graph has and no client can know. */
export const NOTHING = `urn:uuid:${randomUUID()}`

export interface Traits {
  /** The traits; a problem while they cannot be found out. The signal ends the first query to the store. */
  current(signal?: AbortSignal): Promise<StoreTraits | Problem>
  /** The traits; undefined until they have been found out. */
  known(): StoreTraits | undefined
  /** How the store stores literals: `unclear` until it has been found out. */
  literals(): LiteralForms
  /** Finds out how the store stores literals. If the store cannot be asked now, it is asked again later. */
  findLiterals(): Promise<void>
}

/** Asks the store once it has named graphs to ask about; a store without named graphs has nothing to hide. */
export function makeTraits(store: GraphStore, log: Log): Traits {
  let known = store.traits
  let asked: Promise<StoreTraits | Problem> | undefined
  async function find(signal: AbortSignal | undefined): Promise<StoreTraits | Problem> {
    const found = await traitsOf(store, signal)
    if (!isFailure(found) && found.isSettled) known = found
    asked = undefined
    if (signal?.aborted) return found
    const details = isFailure(found) ? { problem: found.detail } : found
    log[isFailure(found) ? 'warn' : 'info']({ store: store.name, ...details }, 'how the triplestore answers queries')
    return found
  }
  const { literals, findLiterals } = makeLiterals(store, log)
  return { current: async (signal) => known ?? (asked ??= find(signal)), known: () => known, literals, findLiterals }
}

/** ms between attempts. */
const ASK_LITERALS_EVERY = 60_000

function makeLiterals(store: GraphStore, log: Log): Pick<Traits, 'literals' | 'findLiterals'> {
  // The embedded store in memory keeps the text of each graph.
  let found: LiteralForms | undefined = store.announces && AS_WRITTEN
  let asked = -Infinity
  async function findLiterals(): Promise<void> {
    asked = performance.now()
    if (found) return
    const forms = await literalFormsOf(store)
    if (isFailure(forms))
      log.warn({ store: store.name, problem: forms.detail }, 'unknown how the triplestore stores literals')
    else log.info({ store: store.name, ...(found = forms) }, 'how the triplestore stores literals')
  }
  return {
    findLiterals,
    literals() {
      if (!found && performance.now() - asked > ASK_LITERALS_EVERY) void findLiterals()
      return found ?? UNCLEAR
    },
  }
}

const MAX_BYTES = 64 * 1024
/** If this many triples of named graphs are in a store's default graph, all of them are assumed to be there. */
const SAMPLE = 100

const ONE = 'SELECT ?s ?p { GRAPH ?g { ?s ?p ?o FILTER(isIRI(?s)) } } LIMIT 1'

/** How often the default graph has a triple that two graphs of a sample have. */
const SHARED = `SELECT ?x { { SELECT ?s ?p ?o (COUNT(*) AS ?x) { { SELECT DISTINCT ?s ?p ?o {
  { SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } } LIMIT ${SAMPLE} } GRAPH ?h { ?s ?p ?o } FILTER(?h != ?g) } LIMIT 1 }
  ?s ?p ?o } GROUP BY ?s ?p ?o } }`

export async function traitsOf(store: GraphStore, signal: AbortSignal | undefined): Promise<StoreTraits | Problem> {
  const none = `<${NOTHING}>`
  // Each query adds a listener to the signal.
  if (signal) setMaxListeners(0, signal)
  const values = async (query: string): Promise<readonly (string | undefined)[] | Problem> => {
    const rows = await select(store, query, ['x'], { maxBytes: MAX_BYTES, signal })
    return isFailure(rows) ? rows : rows.map(([term]) => term?.value)
  }
  // Most questions are about a single triple: a store would test a condition that is never met on every triple.
  const sample = await select(store, ONE, ['s', 'p'], { maxBytes: MAX_BYTES, signal })
  if (isFailure(sample)) return sample
  const [subject = '', predicate = ''] = (sample[0] ?? []).map((term) => term?.value)
  const one = isName(subject) && isName(predicate) ? `<${subject}> <${predicate}> ?o` : '?s ?p ?o'
  const answers = await Promise.all([
    values(
      `SELECT ?x { { SELECT ?s ?p ?o { GRAPH ?g { ?s ?p ?o } } LIMIT ${SAMPLE} } BIND(EXISTS { ?s ?p ?o } AS ?x) }`,
    ),
    values(`SELECT ?x { GRAPH <${NAMES_OF_JENA.union}> { ?x ?p ?o } } LIMIT 1`),
    values(`SELECT ?x FROM ${none} { ${none} ${none}* ?x }`),
    values('SELECT ?x { GRAPH ?g { VALUES ?x { 1 } } FILTER(!BOUND(?g)) }'),
    values(`SELECT ?x FROM NAMED ${none} { GRAPH ?g { VALUES ?x { 1 } } FILTER(!BOUND(?g)) }`),
    values(`SELECT ?x { GRAPH ?x { ${one} FILTER(BOUND(?x)) } } LIMIT 1`),
    values(`SELECT ?x { GRAPH ?x { OPTIONAL { ?s ${none} ?o } } } LIMIT 1`),
    values(`SELECT ?x FROM ${none} { { ?x ?p ?o } UNION { GRAPH ?g { ?x ?p ?o } } } LIMIT 1`),
    values(`SELECT ?x FROM ${none} FROM NAMED ${none} { GRAPH ?g { ?x ?p ?o } } LIMIT 1`),
    values(`SELECT ?x { { SELECT ?x { GRAPH ?x { ?s ?p ?o } } LIMIT 1 } FILTER EXISTS { GRAPH ?x { ?a ?b ?c } } }`),
    // A store that evaluates EXISTS independently of the graph finds a triple of any graph: then every graph would seem
    // to have the triple that gives a right.
    values(`SELECT ?x { VALUES ?x { ${none} } FILTER EXISTS { GRAPH ?x { ?a ?b ?c } } }`),
    values(
      `SELECT ?x { { SELECT ?x { GRAPH ?x { ?s ?p ?o } } LIMIT 1 } VALUES ?y { ${none} } FILTER EXISTS { GRAPH ?x { ?y ?b ?c } } }`,
    ),
    values(`SELECT ?x { GRAPH ?x { ${one} } FILTER(?x IN (${none})) } LIMIT 1`),
  ])
  const failed = answers.find((answer) => isFailure(answer))
  if (failed) return failed
  const [inDefault, ofJena, stays, unbound, unboundOfFrom, shown, listed, beside, besideNamed, correlated, ...others] =
    answers as unknown as readonly (readonly (string | undefined)[])[]
  const isSettled = inDefault!.length > 0
  if (others.some(({ length }) => length > 0) || (isSettled && correlated!.length === 0)) return UNUSABLE
  const isUnion = isSettled && inDefault!.every((value) => value === 'true')
  // Asked only if needed, since a store may look into every graph for the answer.
  const isOpen = isUnion && stays!.length > 0 && ofJena!.length === 0
  const shared = isOpen ? await values(SHARED) : []
  if (isFailure(shared)) return shared
  return {
    defaultGraph: isUnion ? unionOf(stays!.length > 0, Number(shared[0]), ofJena!.length > 0) : 'own',
    stays: stays!.length > 0,
    asQuads: unbound!.length > 0,
    asQuadsOfFrom: unboundOfFrom!.length > 0,
    showsName: shown!.length > 0,
    listsGraphs: listed![0] !== undefined,
    looksInItself: ofJena!.length > 0 || (shown!.length > 0 && listed![0] !== undefined),
    honoursFrom: beside!.length + besideNamed!.length === 0,
    isJena: ofJena!.length > 0,
    isSettled,
  }
}

/**
 * Oxigraph and RDF4J count a triple of the union once for each graph, Jena once. In Oxigraph, a path without a step
 * does not match a term that no triple has.
 */
function unionOf(stays: boolean, shared: number, isJena: boolean): StoreTraits['defaultGraph'] {
  if (!stays || shared > 1) return 'bag'
  return shared === 1 || isJena ? 'union' : 'unclear'
}

const UNUSABLE = problem(
  'store.failed',
  'The triplestore does not evaluate FILTER and EXISTS on the name of a graph: only agents who may read every graph can query it.',
)
