// Runs a PATCH on a document: Oxigraph finds the solutions, and the templates are filled with exact terms. The document
// stays a set of N-Triples lines, of which a PATCH changes only those that it names.
import { randomUUID } from 'node:crypto'
import type { Oxigraph } from '../stores/bounded-oxigraph.js'
import { counted, nTriplesTerm } from '../rdf/graph.js'
import { AS_WRITTEN, lineInForm, type LiteralForms } from '../rdf/literal-forms.js'
import { readOwnSolutions } from '../rdf/read-sparql-results.js'
import { SOLUTION_LIMIT, type Patch } from '../sparql/language/patch.js'
import { tripleTerm, type TemplateTerms } from '../sparql/language/quad-templates.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { withCoveredStore } from './covered-store.js'
import { insertableOver, type Insertable } from './insertable.js'

/** The values of bound variables (`?name`) in canonical N-Triples. */
export type PatchValues = ReadonlyMap<string, string>

const RESULT_LIMIT = 64 * 1024 * 1024

export interface PatchEngine {
  readonly oxigraph: Oxigraph
  /** How many characters an update may add to a document. */
  readonly growth: number
  /** New labels for the blank nodes of one solution, by their labels in the template. */
  readonly newLabels: () => (label: string) => string
}

/** SPARQL 1.1 Update §3.1.3: a template's blank node is new in every solution and shared within it. */
export function makeNewLabels(): PatchEngine['newLabels'] {
  const mark = randomUUID().replaceAll('-', '')
  let solutions = 0
  return () => {
    const number = solutions++
    return (label) => `_:p${mark}x${number}x${label.slice(2)}`
  }
}

/** Lines of N-Triples. Added lines need not be in canonical form. */
export interface Patched {
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/**
 * The changes that the PATCH makes in the document. `nTriples` must be canonical (nTriplesOf); blank nodes keep their
 * labels. `content.too-large` beyond SOLUTION_LIMIT solutions, or if the document would grow by more than `growth`
 * characters.
 */
export function runPatch(engine: PatchEngine, nTriples: string, patch: Patch, forms = AS_WRITTEN): Patched | Problem {
  const { oxigraph, growth, newLabels } = engine
  const lines = new Set(nTriples.split('\n').filter(Boolean))
  const solutions = solve(oxigraph, lines, patch.query, forms)
  if (isFailure(solutions)) return solutions

  const insertable = insertableOver(() => lines)
  const gone: string[] = []
  const come: string[] = []
  let grown = 0
  for (const solution of solutions) {
    for (const triple of patch.remove) {
      const line = lineOf(triple, solution)
      if (line !== undefined) gone.push(lineInForm(line, forms))
    }
    const fresh = newLabels()
    for (const triple of patch.add) {
      const line = lineOf(triple, solution, { fresh, insertable })
      if (line === undefined) continue
      grown += line.length
      if (grown > growth) return patchTooLarge(`add more than ${growth} characters to the document`)
      come.push(lineInForm(line, forms))
    }
  }
  // SPARQL 1.1 Update §3.1.3: all deletions precede all insertions.
  const coming = new Set(come)
  return {
    removed: [...new Set(gone)].filter((line) => lines.has(line) && !coming.has(line)),
    added: [...coming].filter((line) => !lines.has(line)),
  }
}

export const patchTooLarge = (effect: string): Problem => problem('content.too-large', `The update would ${effect}.`)

/** What a template needs that inserts its triples. */
export interface Inserting {
  /** New labels for its blank nodes. */
  readonly fresh: (label: string) => string
  readonly insertable: Insertable
}

/**
 * The line that a template triple produces for a solution; undefined if a variable is unbound or the triple would not
 * be valid RDF (SPARQL 1.1 Update §3.1.3).
 */
export function lineOf(template: TemplateTerms, solution: PatchValues, inserting?: Inserting): string | undefined {
  const parts = filled(template, solution, inserting)
  return parts && counted(`${parts.join(' ')} .`)
}

function filled(
  template: TemplateTerms,
  solution: PatchValues,
  inserting: Inserting | undefined,
): readonly string[] | undefined {
  const [subject, predicate, object] = template.map((term) => {
    if (typeof term !== 'string') {
      const parts = filled(term, solution, inserting)
      return parts && tripleTerm(parts)
    }
    if (term.startsWith('?')) {
      const value = solution.get(term)
      return value === undefined || !inserting || inserting.insertable(value) ? value : undefined
    }
    return inserting && term.startsWith('_:') ? inserting.fresh(term) : term
  })
  if (!subject || !predicate || !object || /^(?:"|<<)/.test(subject) || !/^<(?!<)/.test(predicate)) return undefined
  return [subject, predicate, object]
}

const solve = (
  oxigraph: Oxigraph,
  lines: ReadonlySet<string>,
  query: string,
  forms: LiteralForms,
): PatchValues[] | Problem =>
  withCoveredStore(
    oxigraph,
    (store) => {
      store.load(lines)
      return boundedSolutions(store.select(query))
    },
    forms,
  )

export function boundedSolutions(json: string): PatchValues[] | Problem {
  if (json.length > RESULT_LIMIT) return patchTooLarge(`have solutions of more than ${RESULT_LIMIT} characters`)
  const solutions = solutionsIn(json)
  return solutions.length > SOLUTION_LIMIT ? patchTooLarge(`have more than ${SOLUTION_LIMIT} solutions`) : solutions
}

const solutionsIn = (json: string): PatchValues[] =>
  readOwnSolutions(json).map(
    (solution) => new Map(Array.from(solution, ([name, term]) => [`?${name}`, nTriplesTerm(term)])),
  )
