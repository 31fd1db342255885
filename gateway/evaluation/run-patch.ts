// In charge of running a PATCH on a document: Oxigraph finds the solutions, the templates are filled with exact terms.
// Oxigraph keeps the value of a typed literal, not its spelling ("01" becomes "1", xsd:long becomes xsd:integer: its issue
// 526). So the document stays a set of N-Triples lines here, of which a PATCH changes only those that it names, and a value
// that matched in the graph becomes the literal of the graph again.
import { randomUUID } from 'node:crypto'
import type { Store } from 'oxigraph/web.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'
import { hasBlankNode } from '../stores/n-triples-lines.js'
import { nTriplesTerm } from '../rdf/graph.js'
import { readOwnSolutions } from '../rdf/read-sparql-results.js'
import { RESULTS_JSON } from '../rdf/sparql-results.js'
import { SOLUTION_LIMIT, type Patch, type TemplateTriple } from '../sparql/patch.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { XSD } from '../rdf/vocabulary.js'

/** The value of each bound variable (`?name`) in canonical N-Triples. */
export type Values = ReadonlyMap<string, string>

const N_TRIPLES = 'application/n-triples'
export const RESULT_LIMIT = 64 * 1024 * 1024

export interface PatchEngine {
  readonly oxigraph: Oxigraph
  /** The characters that an update may add to a document. */
  readonly growth: number
  /** The labels of one solution's new blank nodes, by their labels in the template. */
  readonly newLabels: () => (label: string) => string
}

/** SPARQL 1.1 Update §3.1.3: a blank node of a template is a new one in every solution, and shared within it. */
export function makeNewLabels(): PatchEngine['newLabels'] {
  const mark = randomUUID().replaceAll('-', '')
  let solutions = 0
  return () => {
    const number = solutions++
    return (label) => `_:p${mark}x${number}x${label.slice(2)}`
  }
}

/** Lines in N-Triples; those added may be in another form than the canonical one. */
export interface Patched {
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/**
 * The changes of the PATCH in the document. `nTriples` must be canonical (nTriplesOf); its blank nodes keep their labels. `content.too-large` beyond SOLUTION_LIMIT solutions, or where the document would grow
 * by more than `growth` characters.
 */
export function runPatch(engine: PatchEngine, nTriples: string, patch: Patch): Patched | Problem {
  const { oxigraph, growth, newLabels } = engine
  const lines = new Set(nTriples.split('\n').filter(Boolean))
  const solutions = solve(oxigraph, lines, patch.query)
  if (isFailure(solutions)) return solutions
  const written = makeWritten(oxigraph, lines, patch)

  const gone: string[] = []
  const come: string[] = []
  let grown = 0
  for (const solution of solutions) {
    for (const triple of patch.remove) gone.push(...linesOf(triple, solution, written))
    const fresh = newLabels()
    for (const triple of patch.add) {
      const [line] = linesOf(triple, solution, written, fresh)
      if (line === undefined) continue
      grown += line.length
      if (grown > growth) return tooLarge(`add more than ${growth} characters to the document`)
      come.push(line)
    }
  }
  // SPARQL 1.1 Update §3.1.3: all that is deleted before all that is inserted.
  const coming = new Set(come)
  return {
    removed: [...new Set(gone)].filter((line) => lines.has(line) && !coming.has(line)),
    added: [...coming].filter((line) => !lines.has(line)),
  }
}

export const tooLarge = (effect: string): Problem => problem('content.too-large', `The update would ${effect}.`)

/**
 * The lines that a template triple gives with a solution: none where a variable is unbound or the triple would be no
 * RDF (SPARQL 1.1 Update §3.1.3), one for each literal of the graph that has the value.
 */
export function linesOf(
  template: TemplateTriple,
  solution: Values,
  written: Written,
  fresh?: (label: string) => string,
): string[] {
  const [subject, predicate, object] = template.map((term) => {
    if (term.startsWith('?')) return solution.get(term)
    return fresh && term.startsWith('_:') ? fresh(term) : term
  })
  if (!subject || !predicate || !object || subject.startsWith('"') || !predicate.startsWith('<')) return []
  const objects = written(template[2], object) ?? [object]
  return objects.map((term) => `${subject} ${predicate} ${term} .`)
}

function solve({ Store, parse }: Oxigraph, lines: ReadonlySet<string>, query: string): Values[] | Problem {
  return withStore(Store, (store) => {
    const named: string[] = []
    const anonymous: string[] = []
    for (const line of lines) (hasBlankNode(line) ? anonymous : named).push(line)
    load(named, (text) => store.load(text, { format: N_TRIPLES, lenient: true }))
    // `load` would give blank nodes new labels, `add` keeps them.
    load(anonymous, (text) => {
      for (const triple of parse(text, { format: N_TRIPLES, lenient: true })) store.add(triple)
    })

    const json = store.query(query, { results_format: RESULTS_JSON }) as string
    if (json.length > RESULT_LIMIT) return tooLarge(`have solutions of more than ${RESULT_LIMIT} characters`)
    const solutions = solutionsIn(json)
    return solutions.length > SOLUTION_LIMIT ? tooLarge(`have more than ${SOLUTION_LIMIT} solutions`) : solutions
  })
}

/** Lines that Oxigraph does not take, such as those with terms that only Jena lets in, match no pattern: they stay. */
export function load(lines: readonly string[], into: (nTriples: string) => void): void {
  try {
    into(lines.join('\n'))
  } catch (error) {
    if (!(error instanceof Error) || !REFUSALS.has(error.name)) throw error
    if (lines.length === 1) return
    const half = Math.ceil(lines.length / 2)
    load(lines.slice(0, half), into)
    load(lines.slice(half), into)
  }
}

/** Of Oxigraph's own errors. Any other, such as that of a lack of memory, ends the thread. */
const REFUSALS: ReadonlySet<string> = new Set(['Error', 'URIError'])

export function withStore<T>(Store: Oxigraph['Store'], use: (store: Store) => T): T {
  const store = new Store()
  const result = use(store)
  // Not after an error: the broken module would throw another one, which would hide it. Its types do not name `free`.
  ;(store as Store & { free(): void }).free()
  return result
}

export const solutionsIn = (json: string): Values[] =>
  readOwnSolutions(json).map(
    (solution) => new Map(Array.from(solution, ([name, term]) => [`?${name}`, nTriplesTerm(term)])),
  )

/** The literals of the graph with this value, which Oxigraph has written; undefined where there is none. */
export type Written = (variable: string, value: string) => readonly string[] | undefined

/** True where a term is a literal of a datatype of XML Schema. No IRI contains a quotation mark. */
const isTyped = (term: string): boolean => term.startsWith(`"^^<${XSD('')}`, term.lastIndexOf('"'))

export function makeWritten(engine: Oxigraph, lines: Iterable<string>, { matched }: Pick<Patch, 'matched'>): Written {
  const inGraph = new Set(matched)
  let literals: ReadonlyMap<string, readonly string[]> | undefined
  return (variable, value) => {
    if (!inGraph.has(variable) || !isTyped(value)) return undefined
    return (literals ??= literalsByValue(engine, lines)).get(value)
  }
}

function literalsByValue({ Store }: Oxigraph, lines: Iterable<string>): Map<string, string[]> {
  const objects = [...lines].map((line) => line.slice(line.indexOf(' ', line.indexOf(' ') + 1) + 1, -2))
  const literals = [...new Set(objects.filter(isTyped))]
  const numbered = literals.map((literal, number) => `<x:${number}> <x:> ${literal} .`)
  const json = withStore(Store, (store) => {
    store.load(numbered.join('\n'), { format: N_TRIPLES, lenient: true })
    return store.query('SELECT ?number ?value WHERE { ?number ?is ?value }', { results_format: RESULTS_JSON }) as string
  })
  const byValue = new Map<string, string[]>()
  for (const solution of solutionsIn(json)) {
    const value = solution.get('?value')!
    const literal = literals[Number(solution.get('?number')!.slice('<x:'.length, -1))]!
    const others = byValue.get(value) ?? []
    // The literal with Oxigraph's own spelling comes first.
    byValue.set(value, literal === value ? [literal, ...others] : [...others, literal])
  }
  return byValue
}
