// In charge of running a PATCH on a document: Oxigraph finds the solutions, the templates are filled with exact terms.
// Oxigraph keeps the value of a typed literal, not how it was written ("01" becomes "1", xsd:long xsd:integer: its issue
// 526). So the document stays a set of N-Triples lines here, of which a PATCH touches those that it names, and a value
// that was matched in the graph becomes again the literal that stands there.
import { randomUUID } from 'node:crypto'
import type { Store } from 'oxigraph/web.js'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'
import { blankNode, iri, literal, nTriplesTerm, typed } from '../rdf/graph.js'
import { SOLUTION_LIMIT, type Patch, type TemplateTriple } from '../sparql/patch.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { XSD } from '../rdf/vocabulary.js'

/** A solution: the value of each bound variable (`?name`) in canonical N-Triples. */
type Solution = ReadonlyMap<string, string>

const N_TRIPLES = 'application/n-triples'
const JSON_RESULTS = 'application/sparql-results+json'
const RESULT_LIMIT = 64 * 1024 * 1024

/**
 * The document after the PATCH as N-Triples in no order, '' when nothing is left. `nTriples` must be canonical (nTriplesOf);
 * its blank nodes keep their labels. `content.too-large` beyond SOLUTION_LIMIT solutions, or where more than `growth`
 * characters would be added to the document.
 */
export function runPatch(engine: Oxigraph, nTriples: string, patch: Patch, growth: number): string | Problem {
  const lines = new Set(nTriples.split('\n').filter(Boolean))
  const solutions = solve(engine, lines, patch.query)
  if (isFailure(solutions)) return solutions
  const written = makeWritten(engine, lines, patch)

  const gone: string[] = []
  const come: string[] = []
  let grown = 0
  for (const solution of solutions) {
    for (const triple of patch.remove) gone.push(...linesOf(triple, solution, written))
    const fresh = makeFresh()
    for (const triple of patch.add) {
      const [line] = linesOf(triple, solution, written, fresh)
      if (line === undefined) continue
      grown += line.length
      if (grown > growth) return tooLarge(`add more than ${growth} characters to the document`)
      come.push(line)
    }
  }
  // SPARQL 1.1 Update §3.1.3: all that is deleted before all that is inserted.
  for (const line of gone) lines.delete(line)
  for (const line of come) lines.add(line)
  return lines.size === 0 ? '' : [...lines].join('\n') + '\n'
}

const tooLarge = (what: string): Problem => problem('content.too-large', `The update would ${what}.`)

const MARK = randomUUID().replaceAll('-', '')
let solutionsSeen = 0

/** SPARQL 1.1 Update §3.1.3: a blank node of a template is a new one in every solution, and shared within it. */
function makeFresh(): (label: string) => string {
  const number = solutionsSeen++
  return (label) => `_:p${MARK}x${number}x${label.slice(2)}`
}

/**
 * The lines that a template triple gives with a solution: none where a variable is unbound or the triple would be no
 * RDF (SPARQL 1.1 Update §3.1.3), one for each literal of the graph that has the value.
 */
function linesOf(
  template: TemplateTriple,
  solution: Solution,
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

function solve({ Store, parse }: Oxigraph, lines: ReadonlySet<string>, query: string): Solution[] | Problem {
  return withStore(Store, (store) => {
    const named: string[] = []
    const anonymous: string[] = []
    for (const line of lines) (BLANK_NODE.test(line) ? anonymous : named).push(line)
    store.load(named.join('\n'), { format: N_TRIPLES, lenient: true })
    // `load` would give blank nodes new labels, `add` keeps them.
    for (const triple of parse(anonymous.join('\n'), { format: N_TRIPLES, lenient: true })) store.add(triple)

    const json = store.query(query, { results_format: JSON_RESULTS }) as string
    if (json.length > RESULT_LIMIT) return tooLarge(`have solutions of more than ${RESULT_LIMIT} characters`)
    const solutions = solutionsIn(json)
    return solutions.length > SOLUTION_LIMIT ? tooLarge(`have more than ${SOLUTION_LIMIT} solutions`) : solutions
  })
}

const BLANK_NODE = /^_:|^\S+ \S+ _:\S+ \.$/

function withStore<T>(Store: Oxigraph['Store'], use: (store: Store) => T): T {
  const store = new Store()
  const result = use(store)
  // Only here: after an error the module may be broken, and would hide it behind another. Its types do not name `free`.
  ;(store as Store & { free(): void }).free()
  return result
}

function solutionsIn(json: string): Solution[] {
  const { results } = JSON.parse(json) as { results: { bindings: Record<string, Value>[] } }
  return results.bindings.map(
    (binding) => new Map(Object.entries(binding).map(([name, value]) => [`?${name}`, termOf(value)])),
  )
}

/** SPARQL 1.1 Query Results JSON Format §3.2.2. */
type Value = { type: 'uri' | 'literal' | 'bnode'; value: string; datatype?: string; 'xml:lang'?: string }

function termOf({ type, value, datatype, 'xml:lang': language }: Value): string {
  if (type === 'uri') return nTriplesTerm(iri(value))
  if (type === 'bnode') return nTriplesTerm(blankNode(value))
  return nTriplesTerm(datatype ? typed(value, datatype) : literal(value, language))
}

/** How the literals of the graph are written that have this value, as Oxigraph writes it; undefined where there is none. */
type Written = (variable: string, value: string) => readonly string[] | undefined

const TYPED = new RegExp(`"\\^\\^<${XSD('')}[^>]*>$`)

function makeWritten(engine: Oxigraph, lines: ReadonlySet<string>, { matched }: Patch): Written {
  const inGraph = new Set(matched)
  let literals: ReadonlyMap<string, readonly string[]> | undefined
  return (variable, value) => {
    if (!inGraph.has(variable) || !TYPED.test(value)) return undefined
    return (literals ??= literalsByValue(engine, lines)).get(value)
  }
}

function literalsByValue({ Store }: Oxigraph, lines: ReadonlySet<string>): Map<string, string[]> {
  const objects = [...lines].map((line) => line.slice(line.indexOf(' ', line.indexOf(' ') + 1) + 1, -2))
  const literals = [...new Set(objects.filter((object) => TYPED.test(object)))]
  const numbered = literals.map((literal, number) => `<x:${number}> <x:> ${literal} .`)
  const json = withStore(Store, (store) => {
    store.load(numbered.join('\n'), { format: N_TRIPLES, lenient: true })
    return store.query('SELECT ?number ?value WHERE { ?number ?is ?value }', { results_format: JSON_RESULTS }) as string
  })
  const byValue = new Map<string, string[]>()
  for (const solution of solutionsIn(json)) {
    const value = solution.get('?value')!
    const literal = literals[Number(solution.get('?number')!.slice('<x:'.length, -1))]!
    const others = byValue.get(value) ?? []
    // The one that is written as Oxigraph writes it comes first.
    byValue.set(value, literal === value ? [literal, ...others] : [...others, literal])
  }
  return byValue
}
