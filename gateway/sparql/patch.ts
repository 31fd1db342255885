// In charge of reading a PATCH: whether its update is one that a document takes (spec 3, 4.1, 7, 8), and what it is made
// of. Pure. What is analysed is what patch-run.ts runs: one text, its IRIs absolute and its comments gone.
import { resolve } from 'relative-to-absolute-iri'
import sparqljs, { type SparqlQuery, type Term, type Triple, type UpdateOperation } from 'sparqljs'
import { flawOf, iri, nTriplesTerm, quad, type Quad } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readSource, type Source } from './patch-source.js'

/** A position is a `?variable`, a `_:label` (a new blank node in every solution) or a term in canonical N-Triples. */
export type TemplateTriple = readonly [subject: string, predicate: string, object: string]

export interface Patch {
  /** The update as it was sent. */
  readonly update: string
  /** The SELECT whose solutions fill the templates: the update's own pattern, at most SOLUTION_LIMIT + 1 of them. */
  readonly query: string
  readonly remove: readonly TemplateTriple[]
  readonly add: readonly TemplateTriple[]
  /** The variables that stand in triple patterns: their values are terms of the graph. */
  readonly matched: readonly string[]
}

export const SOLUTION_LIMIT = 200_000

type Modify = Extract<UpdateOperation, { updateType: 'insertdelete' | 'deletewhere' }>

const FORMS = 'A PATCH is one DELETE/INSERT … WHERE or one DELETE WHERE on the document itself'

/**
 * The update, resolved against the document's URI, as a plan. `update.syntax` where it is not SPARQL 1.1 Update,
 * `update.form` where it is, but not of a form that PATCH takes. Slow on long texts: `Evaluation.analyse` is the same in
 * a worker thread, with a time limit.
 */
export function analysePatch(update: string, base: string): Patch | Problem {
  let source: Source
  let tree: SparqlQuery
  try {
    source = readSource(update, (reference, against) => resolve(reference, against), base)
    if (source.depth > DEEPEST) return syntax(`it is nested more than ${DEEPEST} levels deep`)
    tree = new sparqljs.Parser({ baseIRI: source.base, skipUngroupedVariableCheck: true }).parse(source.text)
  } catch (error) {
    return syntax(reasonOf(error))
  }
  if (tree.type === 'query') return syntax('it is a query')
  const operation = onlyModify(tree.updates ?? [])
  if (isFailure(operation)) return operation
  const found = withOrUsing(operation) ?? inTree(operation)
  if (found) return form(`${found} is not allowed`)
  // What follows could change the prefixes that the pattern is read with.
  if (!/^\s*;?\s*$/.test(source.text.slice(source.groupEnd))) return form('nothing may follow the operation')
  return planOf(update, operation, tree.prefixes, source)
}

/** Deeper nesting costs the parser cubic time, and the engine its stack. */
const DEEPEST = 100

const syntax = (reason: string): Problem => problem('update.syntax', `The SPARQL update cannot be read: ${reason}.`)
const form = (reason: string): Problem => problem('update.form', `${FORMS}: ${reason}.`)

/** The parser's error, without the list of all that it would have taken instead. Lines count from 1. */
function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'it is nested too deeply'
  const { message, hash } = error as Error & { hash?: { line: number; text: string; token: string } }
  if (!hash) return message.split('\n')[0]!.slice(0, 200)
  const unexpected = hash.token === 'EOF' ? 'the end' : `“${hash.text.slice(0, 40)}”`
  return `unexpected ${unexpected} in line ${hash.line + 1}`
}

function onlyModify(operations: readonly UpdateOperation[]): Modify | Problem {
  if (operations.length === 0) return form('the update is empty')
  if (operations.length > 1) return form(`there are ${operations.length} operations`)
  const operation = operations[0]!
  const kind = 'updateType' in operation ? operation.updateType : operation.type
  if (kind === 'insertdelete' || kind === 'deletewhere') return operation as Modify
  const name = kind === 'insert' || kind === 'delete' ? `${kind} data` : kind
  return form(`${name.toUpperCase()} is not allowed`)
}

function withOrUsing(operation: Modify): string | undefined {
  if (operation.graph) return 'WITH'
  if (!('using' in operation) || !operation.using) return undefined
  return operation.using.named.length > 0 ? 'USING NAMED' : 'USING'
}

const FORBIDDEN: Readonly<Record<string, string>> = { graph: 'GRAPH', service: 'SERVICE' }

/** GRAPH or SERVICE at any place of the tree: templates, groups, subqueries, and EXISTS in any expression. */
function inTree(operation: Modify): string | undefined {
  for (const node of nodesOf(operation)) {
    const found = 'type' in node && typeof node.type === 'string' && Object.hasOwn(FORBIDDEN, node.type)
    if (found) return FORBIDDEN[node.type as string]
  }
  return undefined
}

/** Every object of the tree but the RDF terms, without recursion: its depth is the client's. */
function* nodesOf(root: object): Generator<object> {
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== 'object' || node === null || 'termType' in node) continue
    if (!Array.isArray(node)) yield node
    for (const child of Object.values(node)) waiting.push(child)
  }
}

function planOf(
  update: string,
  operation: Modify,
  prefixes: Readonly<Record<string, string>>,
  { text, base, groupStart, groupEnd }: Source,
): Patch | Problem {
  const remove = templateOf(operation.delete)
  const add = 'insert' in operation ? templateOf(operation.insert) : []
  if (isFailure(remove)) return remove
  if (isFailure(add)) return add
  const terms = [...remove, ...add].flat()
  const variables = [...new Set(terms.filter((term) => term.startsWith('?')))]
  // Where no blank node is made, equal solutions come to the same.
  const each = terms.some((term) => term.startsWith('_:'))
  const projection = variables.length === 0 ? '*' : `${each ? '' : 'DISTINCT '}${variables.join(' ')}`
  const limit = variables.length === 0 && !each ? 1 : SOLUTION_LIMIT + 1
  const prologue = Object.entries(prefixes).map(([prefix, namespace]) => `PREFIX ${prefix}: <${namespace}>\n`)
  const pattern = text.slice(groupStart, groupEnd)
  return {
    update,
    query: `BASE <${base}>\n${prologue.join('')}SELECT ${projection} WHERE ${pattern} LIMIT ${limit}`,
    remove,
    add,
    matched: [...matchedIn('where' in operation ? operation.where : operation.delete)],
  }
}

function templateOf(blocks: readonly { readonly triples: readonly Triple[] }[]): TemplateTriple[] | Problem {
  const template: TemplateTriple[] = []
  for (const { triples } of blocks) {
    for (const { subject, predicate, object } of triples) {
      const terms = [subject, predicate as Term, object].map(templateTerm)
      const flaw = terms.find((term) => typeof term !== 'string')
      if (flaw) return syntax(flaw.flaw)
      template.push(terms as unknown as TemplateTriple)
    }
  }
  return template
}

const ANY = iri('urn:any')

function templateTerm(term: Term): string | { flaw: string } {
  if (term.termType === 'Variable') return `?${term.value}`
  // SPARQL 1.1 §19.8 PN_LOCAL_ESC: the parser leaves these backslashes in, and no IRI may hold one otherwise.
  const node = term.termType === 'NamedNode' ? iri(term.value.replace(/\\(.)/g, '$1')) : term
  const flaw = flawOf(quad(ANY, ANY, node as Quad['object'] & Parameters<typeof quad>[2]))
  return flaw ? { flaw } : nTriplesTerm(node as Quad['object'])
}

function matchedIn(pattern: object): Set<string> {
  const matched = new Set<string>()
  for (const node of nodesOf(pattern)) {
    if (!('subject' in node)) continue
    for (const term of Object.values(node) as { termType?: string; value: string }[]) {
      if (term.termType === 'Variable') matched.add(`?${term.value}`)
    }
  }
  return matched
}
