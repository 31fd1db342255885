// Runs a CONSTRUCT on data: Oxigraph finds the solutions, and the template is filled here. With many rows, each row is
// a graph of its own. New nodes get IRIs derived from the seed, the row and their position, so that repeated runs give
// the same triples.
import { createHash } from 'node:crypto'
import { counted, flawOf, iri, nTriplesTerm, quad, type Term } from '../rdf/graph.js'
import { normalisedUrl } from '../http/normal-path.js'
import { readOwnSolutions } from '../rdf/read-sparql-results.js'
import type { ResultRow } from '../rdf/sparql-results.js'
import {
  MOST_SOLUTIONS,
  ROW,
  type ConstructPlan,
  type RowPattern,
  type TemplateGraph,
} from '../sparql/language/construct-plan.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'
import { linesOf } from '../stores/n-triples-lines.js'
import { withCoveredStore, type CoveredStore } from './covered-store.js'

/** A triple in N-Triples without its final point, and the IRI of its graph ('' for the one that the caller chooses). */
export type Constructed = readonly [graph: string, triple: string]

export interface ConstructRow {
  /** The IRI of the row. */
  readonly name: string
  /** Properties and values in N-Triples. */
  readonly cells: readonly (readonly [property: string, value: string])[]
}

const RESULT_LIMIT = 128 * 1024 * 1024
const ANY = iri('urn:any')

const tooLarge = (): Problem =>
  problem('content.too-large', `The query has more than ${MOST_SOLUTIONS} solutions, or too large ones.`)

/** Runs on one graph in N-Triples. @param seed determines the names of new nodes */
export function constructFrom(
  oxigraph: Oxigraph,
  { query, template }: ConstructPlan,
  nTriples: string,
  { seed, target }: { readonly seed: string; readonly target: string },
): readonly Constructed[] | Problem {
  const json = withCoveredStore(oxigraph, (store) => {
    store.loadAll(linesOf(nTriples))
    return store.select(query)
  })
  if (json.length > RESULT_LIMIT) return tooLarge()
  const solutions = readOwnSolutions(json)
  if (solutions.length > MOST_SOLUTIONS) return tooLarge()
  return filled(template, solutions, makeNodes(seed, target))
}

/** Runs on each of these rows separately. */
export function constructRows(
  oxigraph: Oxigraph,
  construct: ConstructPlan,
  rows: readonly ConstructRow[],
  seeded: { readonly seed: string; readonly target: string },
): readonly Constructed[] | Problem {
  const { ofRow, template } = construct
  const { seed, target } = seeded
  // SPARQL's escapes begin like those of a literal (SPARQL 1.1 §19.2).
  if (!ofRow || rows.some(({ cells }) => cells.some(([, value]) => ESCAPES.test(value))))
    return constructFromGraphs(oxigraph, construct, rows, seeded)
  const fill = makeFilling(template, [ofRow.row, ...ofRow.columns.map(({ variable }) => variable)])
  const found = solutionsOfRows(oxigraph, ofRow, rows, fill.places)
  if (isFailure(found)) return found
  const made: Constructed[] = []
  for (const [i, { name }] of rows.entries()) {
    const values = found[i]
    if (values) fill.add(made, 0, values, makeNodes(`${seed} ${name}`, target))
  }
  return made
}

const ESCAPES = /\\u/i

/** In the order of the rows; undefined for rows without a solution. */
function solutionsOfRows(
  oxigraph: Oxigraph,
  { row, columns, rest }: RowPattern,
  rows: readonly ConstructRow[],
  places: ReadonlyMap<string, number>,
): readonly (Values | undefined)[] | Problem {
  const placeOf = new Map(columns.map(({ property, variable }) => [property, places.get(variable)!]))
  const needed = columns.flatMap(({ variable, isOptional }) => (isOptional ? [] : [places.get(variable)!]))
  const found = rows.map(({ name, cells }): Value[] | undefined => {
    const values = new Array<Value>(places.size).fill(undefined)
    values[places.get(row)!] = written(iri(name))
    for (const [property, value] of cells) {
      const place = placeOf.get(property)
      if (place !== undefined) values[place] = value
    }
    return needed.every((place) => values[place] !== undefined) ? values : undefined
  })
  if (!rest) return found
  const { needs, query } = rest
  const neededThere = needs.map((name) => places.get(name)!)
  // Many rows have the same cells in these columns.
  const alike = new Map<string, Value[][]>()
  for (const values of found) {
    if (!values) continue
    const cells = neededThere.map((place) => cellOf(values[place])).join(' ')
    const same = alike.get(cells)
    if (same) same.push(values)
    else alike.set(cells, [values])
  }
  if (alike.size === 0) return found
  const groups = [...alike.values()]
  const json = withCoveredStore(oxigraph, (store) => {
    const table = [...alike.values()].map(([first], group) => {
      const cells = neededThere.map((place) => store.term(cellOf(first![place])))
      return `(${group} ${cells.join(' ')})\n`
    })
    // Only the query around the table is analysed: the table is long and has no expressions.
    const [before, after] = store.text(query.join(TABLE)).split(TABLE)
    return store.selectText(`${before}${table.join('')}${after}`)
  })
  if (json.length > RESULT_LIMIT) return tooLarge()
  const passed = new Set<Values>()
  for (const solution of readOwnSolutions(json)) {
    const given = [...solution].flatMap(([name, term]) => (places.has(name) ? [[places.get(name)!, written(term)] as const] : [])) // prettier-ignore
    for (const values of groups[Number(solution.get(ROW)!.value)]!) {
      for (const [place, value] of given) values[place] = value
      passed.add(values)
    }
  }
  return found.map((values) => (values && passed.has(values) ? values : undefined))
}

/** The placeholder for the table in the query. */
const TABLE = '<urn:x-triplegate:table>'

const cellOf = (value: Value): string =>
  value === undefined ? 'UNDEF' : typeof value === 'string' ? value : nTriplesTerm(value)

function constructFromGraphs(
  oxigraph: Oxigraph,
  { query, batched, template }: ConstructPlan,
  rows: readonly ConstructRow[],
  { seed, target }: { readonly seed: string; readonly target: string },
): readonly Constructed[] | Problem {
  const quads = rows.flatMap(({ name, cells }) =>
    cells.map(([property, value]) => `<${name}> ${property} ${value} <${name}> .`),
  )
  return withCoveredStore(oxigraph, (store) => {
    store.loadAll(quads)
    const byRow = new Map<string, ResultRow[]>()
    if (batched !== undefined) {
      const json = store.select(batched)
      if (json.length > RESULT_LIMIT) return tooLarge()
      for (const solution of readOwnSolutions(json)) {
        const row = solution.get(ROW)!.value
        const own = byRow.get(row)
        if (own) own.push(solution)
        else byRow.set(row, [solution])
      }
    }
    const made: Constructed[] = []
    let count = 0
    for (const { name } of rows) {
      const solutions = batched === undefined ? solutionsOf(store, query, name) : (byRow.get(name) ?? [])
      if ((count += solutions.length) > MOST_SOLUTIONS) return tooLarge()
      for (const one of filled(template, solutions, makeNodes(`${seed} ${name}`, target))) made.push(one)
    }
    return made
  })
}

const solutionsOf = (store: CoveredStore, query: string, name: string): readonly ResultRow[] =>
  readOwnSolutions(store.select(query, iri(name)))

/** Names a new node: under the document in which it first appears. */
type NameNode = (key: string, graph: string) => string

/** The value of a variable: an N-Triples term, or the original term if it has no name yet or has a flaw. */
type Value = string | Term | undefined
/** Indexed by the positions of the variables. */
type Values = readonly Value[]

function makeNodes(seed: string, target: string): NameNode {
  let names: Map<string, string> | undefined
  return (key, graph) => {
    names ??= new Map()
    const known = names.get(key)
    if (known !== undefined) return known
    const digest = createHash('sha256').update(`${seed} ${names.size}`).digest('hex')
    const name = `<${(graph || target).replace(/#.*/, '')}#id${digest.slice(0, 32)}>`
    names.set(key, name)
    return name
  }
}

const filled = (
  template: readonly TemplateGraph[],
  solutions: readonly ResultRow[],
  nameOf: NameNode,
): Constructed[] => {
  const { places, add } = makeFilling(template, [])
  const made: Constructed[] = []
  for (const [at, solution] of solutions.entries())
    add(made, at, Array.from(places.keys(), (name) => written(solution.get(name))), nameOf) // prettier-ignore
  return made
}

/** Prepares the template for many solutions. @param known variables whose positions precede the template's own */
function makeFilling(template: readonly TemplateGraph[], known: readonly string[]) {
  const places = new Map<string, number>()
  const placeOf = (variable: string): number => {
    if (!places.has(variable)) places.set(variable, places.size)
    return places.get(variable)!
  }
  known.forEach(placeOf)
  /** The position of a variable; other terms unchanged. */
  const ready = (term: string): string | number => (term.startsWith('?') ? placeOf(term.slice(1)) : term)
  const graphs = template.map(({ graph, triples }) => ({
    graph: graph.startsWith('?') ? placeOf(graph.slice(1)) : graph.slice(1, -1),
    triples: triples.map((triple) => triple.map(ready) as [string | number, string | number, string | number]),
  }))
  const add = (made: Constructed[], at: number, values: Values, nameOf: NameNode): void => {
    for (const { graph, triples } of graphs) {
      const given = typeof graph === 'number' ? iriIn(values[graph]) : graph
      // SPARQL 1.1 §10.2: unbound variables and invalid triples produce nothing.
      if (given === undefined) continue
      const name = normalisedUrl(given)
      const fill = (term: string | number): string | undefined => {
        if (typeof term === 'string') return term.startsWith('_:') ? nameOf(`${at} ${term}`, name) : term
        const value = values[term]
        if (value === undefined || typeof value === 'string') return value
        return value.termType === 'BlankNode' ? nameOf(`value ${value.value}`, name) : undefined
      }
      for (const [subject, predicate, object] of triples) {
        const [s, p, o] = [fill(subject), fill(predicate), fill(object)]
        if (isIri(s) && isIri(p) && o !== undefined) made.push([name, counted(`${s} ${p} ${o}`)])
      }
    }
  }
  return { places, add }
}

const isIri = (term: string | undefined): boolean =>
  term !== undefined && term.startsWith('<') && !term.startsWith('<<')

const iriIn = (value: Value): string | undefined => {
  if (typeof value === 'string') return isIri(value) ? value.slice(1, -1) : undefined
  return value?.termType === 'NamedNode' ? value.value : undefined
}

/** Blank nodes are left for the template to name. */
const written = (term: Term | undefined): Value =>
  term && term.termType !== 'BlankNode' && flawOf(quad(ANY, ANY, term as never)) === undefined
    ? nTriplesTerm(term)
    : term
