// Reads a PATCH: decides whether a document accepts the update (spec 3, 4.1, 7, 8), and returns the query and the
// templates that run it. Pure. run-patch.ts executes the analysed text, since both come from the same tokens.
import { flawOf, iri, nTriplesTerm, quad } from '../../rdf/graph.js'
import type { LiteralForms } from '../../rdf/literal-forms.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { flawOfAssigned } from './inserted-terms.js'
import { NEW_TOKENS } from './keywords.js'
import { parseSparql, unreadable, type Parsed, type ParseOptions, type ParsedValues } from './parse.js'
import { rdfTerm } from './rdf-term.js'
import { lastGroup, sparqlOf, type Token } from './tokens.js'
import { isVariable, nodesOf, operationsIn, type Node } from './tree.js'

/** Each term is a `?variable`, a `_:label` (a new blank node in every solution) or a term in canonical N-Triples. */
export type TemplateTriple = readonly [subject: string, predicate: string, object: string]

export interface Patch {
  /** The update as the client sent it. */
  readonly update: string
  /** The SELECT whose solutions fill the templates: the update's own pattern, at most SOLUTION_LIMIT + 1 of them. */
  readonly query: string
  readonly remove: readonly TemplateTriple[]
  readonly add: readonly TemplateTriple[]
}

export const SOLUTION_LIMIT = 200_000

const FORMS = 'A PATCH is one DELETE/INSERT … WHERE or one DELETE WHERE on the document itself'

/**
 * The update as a plan, with relative IRIs resolved against the document's URI. Spec 7: `update.form` both for a text
 * that is not an update and for a form that PATCH does not accept. Slow on long texts: `EvaluationPool.analyse` does
 * the same in a thread, with a time limit.
 */
export function analysePatch(update: string, base: string, forms?: LiteralForms): Patch | Problem {
  const plan = planOfText(update, { kind: 'update', base, ...(forms && { forms }) })
  return isFailure(plan) && plan.failure === 'update.syntax' ? problem('update.form', plan.detail) : plan
}

function planOfText(update: string, options: ParseOptions): Patch | Problem {
  const parsed = parseSparql(update, options)
  if (isFailure(parsed)) return parsed
  const operation = onlyModify(operationsIn(parsed.tree))
  if (isFailure(operation)) return operation
  const forbidden = withOrUsing(operation) ?? inTree(operation) ?? newIn(parsed.tokens)
  if (forbidden) return form(`${forbidden} is not allowed`)
  // Anything that follows could change the base of the pattern.
  if (parsed.endsWithDeclaration) return form('nothing may follow the operation')
  return planOf(update, operation, parsed)
}

const form = (reason: string): Problem => problem('update.form', `${FORMS}: ${reason}.`)

function onlyModify(operations: readonly Node[]): Node | Problem {
  if (operations.length === 0) return form('the update is empty')
  if (operations.length > 1) return form(`there are ${operations.length} operations`)
  const operation = operations[0]!
  const kind = String(operation['subType'])
  if (kind === 'modify' || kind === 'deletewhere') return operation
  const advice = kind.endsWith('data') ? ': write INSERT { … } WHERE {} or DELETE { … } WHERE {}' : ''
  return form(`${kind.replace(/data$/, ' data').toUpperCase()} is not allowed${advice}`)
}

function withOrUsing({ graph, from }: Node): string | undefined {
  if (graph) return 'WITH'
  const clauses = (from as { clauses: { clauseType: string }[] } | undefined)?.clauses ?? []
  if (clauses.length === 0) return undefined
  return clauses.some(({ clauseType }) => clauseType === 'named') ? 'USING NAMED' : 'USING'
}

/** Finds GRAPH or SERVICE anywhere in the tree: in templates, groups, subqueries, and EXISTS in any expression. */
function inTree(operation: Node): string | undefined {
  for (const { type, subType } of nodesOf(operation)) {
    if (type === 'graph' || (type === 'pattern' && subType === 'graph')) return 'GRAPH'
    if (type === 'pattern' && subType === 'service') return 'SERVICE'
  }
  return undefined
}

/** Syntax that only SPARQL 1.2 has. */
const newIn = (tokens: readonly Token[]): string | undefined =>
  tokens.find(({ text }) => NEW_TOKENS.has(text) || (text.startsWith('@') && text.includes('--')))?.text

function planOf(update: string, operation: Node, { tokens, base, values }: Parsed): Patch | Problem {
  const isModify = operation['subType'] === 'modify'
  const remove = patchTemplateOf(isModify ? operation['delete'] : operation['data'], values)
  const add = isModify ? patchTemplateOf(operation['insert'], values) : []
  if (isFailure(remove)) return remove
  if (isFailure(add)) return add
  const flaw = flawOfAssigned(operation, values)
  if (flaw !== undefined) return unreadable('update', flaw)
  const terms = [...remove, ...add].flat()
  const variables = [...new Set(terms.filter((term) => term.startsWith('?')))]
  // If no blank nodes are created, equal solutions have equal effects.
  const each = terms.some((term) => term.startsWith('_:'))
  const projection = variables.length === 0 ? '*' : `${each ? '' : 'DISTINCT '}${variables.join(' ')}`
  const limit = variables.length === 0 && !each ? 1 : SOLUTION_LIMIT + 1
  return {
    update,
    query: `BASE <${base}>\nSELECT ${projection} WHERE ${sparqlOf(lastGroup(tokens))} LIMIT ${limit}`,
    remove,
    add,
  }
}

/** The triples of a template: lists and bracketed nodes are triples too (SPARQL 1.1 §4.1.4, §4.2.3). */
export function patchTemplateOf(blocks: unknown, values: ParsedValues): TemplateTriple[] | Problem {
  const template: TemplateTriple[] = []
  // Many triples share a subject: write a long one once.
  const known = new Map<Node, string>()
  for (const { type, subject, predicate, object } of nodesOf(blocks)) {
    if (type !== 'triple') continue
    const terms: string[] = []
    for (const node of [subject, predicate, object] as Node[]) {
      const written =
        known.get(node) ?? templateTerm(node['type'] === 'term' ? node : (node['identifier'] as Node), values)
      if (isFailure(written)) return written
      known.set(node, written)
      terms.push(written)
    }
    template.push(terms as unknown as TemplateTriple)
  }
  return template
}

const ANY = iri('urn:any')

export function templateTerm(term: Node, values: ParsedValues): string | Problem {
  if (isVariable(term)) return `?${String(term['value'])}`
  const node = rdfTerm(term, values)!
  const flaw = flawOf(quad(ANY, ANY, node))
  return flaw ? unreadable('update', flaw) : nTriplesTerm(node)
}
