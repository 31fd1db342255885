// Runs the queries of constraints on the data graph (SHACL §5, §6; SPIN), in the evaluation thread.
import type { ConstraintQuery, RunQuery, Solution } from '../../policies/constraints/shape.js'
import type { ShapePath } from '../../policies/constraints/paths.js'
import { isFailure, type Failure } from '../problem.js'
import { nTriplesLine, nTriplesTerm, type Quad, type Term } from '../rdf/graph.js'
import { readOwnSolutions } from '../rdf/read-sparql-results.js'
import { analyseQuery } from '../sparql/language/analysis.js'
import { withPlaces } from '../sparql/language/prebound.js'
import { iriTerm, type Path as QueryPath, type PathOperator } from '../sparql/language/syntax.js'
import type { CoveredStore } from './covered-store.js'

/** Analysed queries by their text: the parts between which values are inserted. */
export type Prepared = Map<string, readonly string[] | Failure<'unusable'>>

const BASE = 'urn:triplegate:constraint'
/**
 * A graph that maps IRIs to blank nodes, which SPARQL cannot name. Constraints may not use GRAPH, so they cannot see
 * it.
 */
const NODES = 'urn:triplegate:nodes'
const IS = 'urn:triplegate:is'
/** The most violations of one node that are examined. */
const MOST = 100

const unusable = (detail: string): Failure<'unusable'> => ({ failure: 'unusable', detail })
const nameOf = (label: string): string => `urn:triplegate:node:${encodeURIComponent(label)}`

/** @param store empty; the first query loads the data */
export function makeRunQuery(store: CoveredStore, data: readonly Quad[], prepared: Prepared): RunQuery {
  let isLoaded = false
  return (query, bindings) => {
    const key = `${query.form} ${query.language} ${JSON.stringify([query.path, query.prebound])} ${query.text}`
    const parts = prepared.get(key) ?? prepare(query)
    prepared.set(key, parts)
    if (isFailure(parts)) return parts
    if (!isLoaded) store.load(nQuadsOf(data))
    isLoaded = true
    const text = parts.join(valuesOf(bindings))
    try {
      if (query.form === 'ASK') return store.ask(text) ? [new Map()] : []
      return readOwnSolutions(store.select(text))
    } catch (error) {
      // Oxigraph's own errors are plain; any other error ends the thread.
      if (!(error instanceof Error) || error.name !== 'Error') throw error
      return unusable(`a query cannot be run: ${error.message.split('\n')[0]!.slice(0, 200)}`)
    }
  }
}

function nQuadsOf(data: readonly Quad[]): readonly string[] {
  const nodes = data.flatMap(({ subject, object }): readonly Term[] => [subject, object])
  const labels = new Set(nodes.filter(({ termType }) => termType === 'BlankNode').map(({ value }) => value))
  return [
    ...data.map(nTriplesLine),
    ...[...labels].map((label) => `<${nameOf(label)}> <${IS}> _:${label} <${NODES}> .`),
  ]
}

/** The pattern that binds the variables to their values. */
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

/** Constraints may read only the data graph and call only functions of SPARQL. */
function prepare(query: ConstraintQuery): readonly string[] | Failure<'unusable'> {
  const { text, form, prebound: names, path, language } = query
  const analysed = analyseQuery(text, BASE)
  if (isFailure(analysed)) return unusable(`a query is not valid SPARQL: ${analysed.detail}`)
  if (analysed.form !== form) return unusable(`a query is not of the form ${form}`)
  const [called] = analysed.functions
  if (called !== undefined) return unusable(`a query calls <${called}>, an unknown function`)
  if (!analysed.tree) return unusable('a query uses an unsupported feature')
  const prebinding = { names, path: path && queryPath(path), isStrict: language === 'SHACL', limit: MOST }
  const placed = withPlaces(analysed.tree, prebinding)
  return typeof placed === 'string' ? unusable(`a query cannot be used: ${placed}`) : placed.parts
}

const OPERATORS: Readonly<Record<Exclude<ShapePath['kind'], 'predicate'>, PathOperator>> = {
  sequence: '/',
  alternative: '|',
  inverse: '^',
  zeroOrMore: '*',
  oneOrMore: '+',
  zeroOrOne: '?',
}

function queryPath(path: ShapePath): QueryPath {
  if (path.kind === 'predicate') return iriTerm(path.predicate.value)
  const items = 'items' in path ? path.items : [path.item]
  return { kind: 'path', operator: OPERATORS[path.kind], items: items.map(queryPath) }
}
