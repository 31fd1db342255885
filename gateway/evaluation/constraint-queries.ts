// In charge of running the queries of constraints on the data graph (SHACL §5, §6; SPIN), in the evaluation thread.
import type { ConstraintQuery, RunQuery, Solution } from '../../policies/constraints/shape.js'
import type { Path } from '../../policies/constraints/paths.js'
import { isFailure, type Failure } from '../problem.js'
import { nTriplesLine, nTriplesTerm, type Quad, type Term } from '../rdf/graph.js'
import { readOwnSolutions } from '../rdf/read-sparql-results.js'
import { RESULTS_JSON } from '../rdf/sparql-results.js'
import { analyseQuery } from '../sparql/analysis.js'
import { withPlaces } from '../sparql/prebound.js'
import { iri, type Path as QueryPath, type PathOperator } from '../sparql/view/syntax.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'

/** Queries that were analysed before, by their text: the parts between which the values stand. */
export type Prepared = Map<string, readonly string[] | Failure<'unusable'>>

/** Gives the memory of the data back. */
export interface Queries {
  readonly run: RunQuery
  free(): void
}

const BASE = 'urn:triplegate:constraint'
const N_QUADS = 'application/n-quads'
/** The graph that says which blank node is which: no query reaches it (SPARQL has no other way to name one). */
const NODES = 'urn:triplegate:nodes'
const IS = 'urn:triplegate:is'
/** The most violations of one node that are looked at. */
const MOST = 100

const unusable = (detail: string): Failure<'unusable'> => ({ failure: 'unusable', detail })
const nameOf = (label: string): string => `urn:triplegate:node:${encodeURIComponent(label)}`

export function makeQueries({ Store }: Pick<Oxigraph, 'Store'>, data: readonly Quad[], prepared: Prepared): Queries {
  let store: InstanceType<typeof Store> | undefined
  const loaded = (): InstanceType<typeof Store> => {
    if (store) return store
    store = new Store()
    store.load(nQuadsOf(data), { format: N_QUADS, lenient: true })
    return store
  }
  const select = (text: string): readonly Solution[] =>
    readOwnSolutions(loaded().query(text, { results_format: RESULTS_JSON }) as string)
  let labels: ReadonlyMap<string, Term> | undefined
  /** The store has labels of its own for blank nodes. */
  const own = (term: Term): Term => {
    if (term.termType !== 'BlankNode') return term
    labels ??= labelsIn(data, select(`SELECT ?name ?node { GRAPH <${NODES}> { ?name <${IS}> ?node } }`))
    return labels.get(term.value) ?? term
  }
  return {
    run(query, bindings) {
      const key = `${query.form} ${query.language} ${JSON.stringify(query.path ?? null)} ${query.text}`
      const parts = prepared.get(key) ?? prepare(query)
      prepared.set(key, parts)
      if (isFailure(parts)) return parts
      const text = parts.join(valuesOf(bindings))
      try {
        if (query.form === 'ASK') return loaded().query(text) === true ? [new Map()] : []
        return select(text).map((solution) => new Map([...solution].map(([name, term]) => [name, own(term)])))
      } catch (error) {
        // Oxigraph's own errors are plain; any other ends the thread.
        if (!(error instanceof Error) || error.name !== 'Error') throw error
        return unusable(`a query cannot be run: ${error.message.split('\n')[0]!.slice(0, 200)}`)
      }
    },
    free: () => (store as { free(): void } | undefined)?.free(),
  }
}

const blankNodesIn = (data: readonly Quad[]): ReadonlyMap<string, Term> =>
  new Map(
    data
      .flatMap(({ subject, object }): readonly Term[] => [subject, object])
      .filter(({ termType }) => termType === 'BlankNode')
      .map((node) => [nameOf(node.value), node]),
  )

function nQuadsOf(data: readonly Quad[]): string {
  const names = [...blankNodesIn(data)].map(([name, node]) => `<${name}> <${IS}> ${nTriplesTerm(node)} <${NODES}> .`)
  return [...data.map(nTriplesLine), ...names].join('\n')
}

function labelsIn(data: readonly Quad[], solutions: readonly Solution[]): ReadonlyMap<string, Term> {
  const nodes = blankNodesIn(data)
  return new Map(solutions.map((solution) => [solution.get('node')!.value, nodes.get(solution.get('name')!.value)!]))
}

/** The pattern that gives the variables their values. */
function valuesOf(bindings: Solution): string {
  const all = [...bindings]
  const [blank, plain] = [true, false].map((isBlank) =>
    all.filter(([, { termType }]) => (termType === 'BlankNode') === isBlank),
  ) as [typeof all, typeof all]
  const names = plain.map(([name]) => `?${name}`).join(' ')
  const values = plain.map(([, term]) => nTriplesTerm(term)).join(' ')
  const nodes = blank.map(([name, { value }]) => `<${nameOf(value)}> <${IS}> ?${name} .`).join(' ')
  return [
    ...(plain.length > 0 ? [`VALUES (${names}) { (${values}) }`] : []),
    ...(blank.length > 0 ? [`GRAPH <${NODES}> { ${nodes} }`] : []),
  ].join(' ')
}

/** A constraint reads the data graph, and nothing else; what it calls has to be known. */
function prepare(query: ConstraintQuery): readonly string[] | Failure<'unusable'> {
  const { text, form, prebound: names, path, language } = query
  const analysed = analyseQuery(text, BASE)
  if (isFailure(analysed)) return unusable(`a query is no SPARQL: ${analysed.detail}`)
  if (analysed.form !== form) return unusable(`a query is no ${form}`)
  const [called] = analysed.functions
  if (called !== undefined) return unusable(`a query calls <${called}>, which is not known here`)
  if (!analysed.tree) return unusable('a query has what is not supported here')
  const prebinding = { names, path: path && queryPath(path), isStrict: language === 'SHACL', limit: MOST }
  const placed = withPlaces(analysed.tree, prebinding)
  return typeof placed === 'string' ? unusable(`a query cannot be used: ${placed}`) : placed.parts
}

const OPERATORS: Readonly<Record<Exclude<Path['kind'], 'predicate'>, PathOperator>> = {
  sequence: '/',
  alternative: '|',
  inverse: '^',
  zeroOrMore: '*',
  oneOrMore: '+',
  zeroOrOne: '?',
}

function queryPath(path: Path): QueryPath {
  if (path.kind === 'predicate') return iri(path.predicate.value)
  const items = 'items' in path ? path.items : [path.item]
  return { kind: 'path', operator: OPERATORS[path.kind], items: items.map(queryPath) }
}
