// In charge of running a CONSTRUCT on data: Oxigraph finds the solutions, the template is filled here. Over many rows at once each
// row is a graph of its own. Nodes without a name get IRIs that follow from the seed, the row and their place: the same data gives
// the same triples, however often it is run.
import { createHash } from 'node:crypto'
import { flawOf, iri, nTriplesTerm, quad, type Term } from '../rdf/graph.js'
import { readOwnSolutions } from '../rdf/read-sparql-results.js'
import { RESULTS_JSON, type Solution } from '../rdf/sparql-results.js'
import { MOST_SOLUTIONS, ROW, type Construct, type RowPattern, type TemplateGraph } from '../sparql/construct-plan.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'

/** A triple in N-Triples, without its point, and the IRI of its graph: '' for the one that the caller chooses. */
export type Constructed = readonly [graph: string, triple: string]

export interface Row {
  /** The IRI that stands for it. */
  readonly name: string
  /** Predicates and objects in N-Triples. */
  readonly cells: readonly (readonly [property: string, value: string])[]
}

type Store = InstanceType<Oxigraph['Store']>

const N_TRIPLES = 'application/n-triples'
const N_QUADS = 'application/n-quads'
const RESULT_LIMIT = 128 * 1024 * 1024
const ANY = iri('urn:any')

const tooLarge = (): Problem =>
  problem('content.too-large', `The query has more than ${MOST_SOLUTIONS} solutions, or too large ones.`)

/** On one graph, in N-Triples. @param seed from which the names of new nodes follow */
export function constructFrom(
  { Store }: Oxigraph,
  { query, template }: Construct,
  nTriples: string,
  { seed, target }: { readonly seed: string; readonly target: string },
): readonly Constructed[] | Problem {
  const json = withStore(Store, (store) => {
    store.load(nTriples, { format: N_TRIPLES, lenient: true })
    return store.query(query, { results_format: RESULTS_JSON }) as string
  })
  if (json.length > RESULT_LIMIT) return tooLarge()
  const solutions = readOwnSolutions(json)
  if (solutions.length > MOST_SOLUTIONS) return tooLarge()
  return filled(template, solutions, makeNodes(seed, target))
}

/** On each of these rows by itself. */
export function constructRows(
  oxigraph: Oxigraph,
  construct: Construct,
  rows: readonly Row[],
  seeded: { readonly seed: string; readonly target: string },
): readonly Constructed[] | Problem {
  const { ofRow, template } = construct
  const { seed, target } = seeded
  // The escapes of SPARQL begin like those of a literal (SPARQL 1.1 §19.2).
  if (!ofRow || rows.some(({ cells }) => cells.some(([, value]) => ESCAPES.test(value))))
    return constructFromGraphs(oxigraph, construct, rows, seeded)
  const found = solutionsOfRows(oxigraph, ofRow, rows)
  if (isFailure(found)) return found
  return [...found].flatMap(([i, solution]) =>
    filled(template, [solution], makeNodes(`${seed} ${rows[i]!.name}`, target)),
  )
}

const ESCAPES = /\\u/i

/** By the number of the row; what a cell says as N-Triples. */
function solutionsOfRows(
  { Store }: Oxigraph,
  { row, columns, rest }: RowPattern,
  rows: readonly Row[],
): ReadonlyMap<number, Values> | Problem {
  const found = new Map<number, Map<string, Term | string>>()
  for (const [i, { name, cells }] of rows.entries()) {
    const values = new Map<string, Term | string>([[row, iri(name)]])
    const isWhole = columns.every(({ property, variable, isOptional }) => {
      const cell = cells.find(([own]) => own === property)
      if (cell) values.set(variable, cell[1])
      return cell !== undefined || isOptional
    })
    if (isWhole) found.set(i, values)
  }
  if (!rest || found.size === 0) return found
  const { needs, query } = rest
  const written = (value: Term | string | undefined): string =>
    value === undefined ? 'UNDEF' : typeof value === 'string' ? value : nTriplesTerm(value)
  // Many rows have the same cells there.
  const alike = new Map<string, number[]>()
  for (const [i, values] of found) {
    const cells = needs.map((name) => written(values.get(name))).join(' ')
    const same = alike.get(cells)
    if (same) same.push(i)
    else alike.set(cells, [i])
  }
  const groups = [...alike.values()]
  const table = [...alike.keys()].map((cells, group) => `(${group} ${cells})\n`)
  const json = withStore(
    Store,
    (store) => store.query(query.join(table.join('')), { results_format: RESULTS_JSON }) as string,
  )
  if (json.length > RESULT_LIMIT) return tooLarge()
  const passed = new Map<number, Values>()
  for (const solution of readOwnSolutions(json)) {
    for (const i of groups[Number(solution.get(ROW)!.value)]!) {
      const values = found.get(i)!
      for (const [name, term] of solution) values.set(name, term)
      passed.set(i, values)
    }
  }
  // In the order of the rows.
  return new Map([...passed].sort(([a], [b]) => a - b))
}

function constructFromGraphs(
  { Store }: Oxigraph,
  { query, batched, template }: Construct,
  rows: readonly Row[],
  { seed, target }: { readonly seed: string; readonly target: string },
): readonly Constructed[] | Problem {
  const quads = rows.flatMap(({ name, cells }) =>
    cells.map(([property, value]) => `<${name}> ${property} ${value} <${name}> .`),
  )
  return withStore(Store, (store) => {
    store.load(quads.join('\n'), { format: N_QUADS, lenient: true })
    const byRow = new Map<string, Solution[]>()
    if (batched !== undefined) {
      const json = store.query(batched, { results_format: RESULTS_JSON }) as string
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

const solutionsOf = (store: Store, query: string, name: string): readonly Solution[] =>
  readOwnSolutions(store.query(query, { results_format: RESULTS_JSON, default_graph: iri(name) as never }) as string)

/** The IRI of a node without a name: below the document that it stands in first. */
type NameNode = (key: string, graph: string) => string

/** The values of variables: a literal may be N-Triples already. */
interface Values {
  get(variable: string): Term | string | undefined
}

function makeNodes(seed: string, target: string): NameNode {
  const names = new Map<string, string>()
  return (key, graph) => {
    const known = names.get(key)
    if (known !== undefined) return known
    const digest = createHash('sha256').update(`${seed} ${names.size}`).digest('hex')
    const name = `<${(graph || target).replace(/#.*/, '')}#id${digest.slice(0, 32)}>`
    names.set(key, name)
    return name
  }
}

function filled(template: readonly TemplateGraph[], solutions: readonly Values[], nameOf: NameNode): Constructed[] {
  const made: Constructed[] = []
  for (const [at, solution] of solutions.entries()) {
    for (const { graph, triples } of template) {
      const name = graph.startsWith('?') ? iriIn(solution.get(graph.slice(1))) : graph.slice(1, -1)
      // SPARQL 1.1 §10.2: what is unbound, or would be no RDF, gives no triple.
      if (name === undefined) continue
      const fill = (term: string): string | undefined =>
        term.startsWith('?')
          ? written(solution.get(term.slice(1)), nameOf, name)
          : term.startsWith('_:')
            ? nameOf(`${at} ${term}`, name)
            : term
      for (const [subject, predicate, object] of triples) {
        const [s, p, o] = [fill(subject), fill(predicate), fill(object)]
        if (s?.startsWith('<') && p?.startsWith('<') && o !== undefined) made.push([name, `${s} ${p} ${o}`])
      }
    }
  }
  return made
}

const iriIn = (term: Term | string | undefined): string | undefined =>
  typeof term === 'object' && term.termType === 'NamedNode' ? term.value : undefined

function written(term: Term | string | undefined, nameOf: NameNode, graph: string): string | undefined {
  if (!term || typeof term === 'string') return term
  if (term.termType === 'BlankNode') return nameOf(`value ${term.value}`, graph)
  return flawOf(quad(ANY, ANY, term as never)) === undefined ? nTriplesTerm(term) : undefined
}

function withStore<T>(Store: Oxigraph['Store'], use: (store: Store) => T): T {
  const store = new Store()
  const result = use(store)
  // Not after an error: the broken module would throw another one, which would hide it. Its types do not name `free`.
  ;(store as Store & { free(): void }).free()
  return result
}
