// In charge of reading a PATCH: whether a document takes its update (spec 3, 4.1, 7, 8), and the query and the templates that
// run it. Pure. What is analysed is what run-patch.ts executes: both come from the same tokens.
import type { Term, Triple, Update, UpdateOperation } from 'sparqljs'
import { flawOf, iri, nTriplesTerm, quad, typed, type Quad } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { parseSparql, unreadable, type Parsed } from './parse.js'
import { sparqlOf, type Token } from './tokens.js'
import type { Node } from './tree.js'

/** A position is a `?variable`, a `_:label` (a new blank node in every solution) or a term in canonical N-Triples. */
export type TemplateTriple = readonly [subject: string, predicate: string, object: string]

export interface Patch {
  /** The update as it was sent. */
  readonly update: string
  /** The SELECT whose solutions fill the templates: the update's own pattern, at most SOLUTION_LIMIT + 1 of them. */
  readonly query: string
  readonly remove: readonly TemplateTriple[]
  readonly add: readonly TemplateTriple[]
  /** The variables of triple patterns: their values are terms of the graph. */
  readonly matched: readonly string[]
}

export const SOLUTION_LIMIT = 200_000

type Modify = Extract<UpdateOperation, { updateType: 'insertdelete' | 'deletewhere' }>

const FORMS = 'A PATCH is one DELETE/INSERT … WHERE or one DELETE WHERE on the document itself'

/**
 * The update, resolved against the document's URI, as a plan. `update.syntax` where it is not SPARQL 1.1 Update,
 * `update.form` where it is, but in a form that PATCH does not take. Slow on long texts: `EvaluationPool.analyse` does the
 * same in a thread, with a time limit.
 */
export function analysePatch(update: string, base: string): Patch | Problem {
  const parsed = parseSparql(update, { kind: 'update', base })
  if (isFailure(parsed)) return parsed
  const operation = onlyModify((parsed.tree as unknown as Update).updates ?? [])
  if (isFailure(operation)) return operation
  const forbidden = withOrUsing(operation) ?? inTree(operation)
  if (forbidden) return form(`${forbidden} is not allowed`)
  // What follows could change the base that the pattern is read with.
  if (parsed.endsWithDeclaration) return form('nothing may follow the operation')
  return planOf(update, operation, parsed)
}

const form = (reason: string): Problem => problem('update.form', `${FORMS}: ${reason}.`)

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

/** Every object of the tree but the RDF terms, without recursion: the client determines its depth. */
function* nodesOf(root: object): Generator<object> {
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== 'object' || node === null || 'termType' in node) continue
    if (!Array.isArray(node)) yield node
    for (const child of Object.values(node)) waiting.push(child)
  }
}

function planOf(update: string, operation: Modify, { tokens, base, iriOf }: Parsed): Patch | Problem {
  const remove = templateOf(operation.delete, iriOf)
  const add = 'insert' in operation ? templateOf(operation.insert, iriOf) : []
  if (isFailure(remove)) return remove
  if (isFailure(add)) return add
  const terms = [...remove, ...add].flat()
  const variables = [...new Set(terms.filter((term) => term.startsWith('?')))]
  // Where no blank node is created, equal solutions have equal effects.
  const each = terms.some((term) => term.startsWith('_:'))
  const projection = variables.length === 0 ? '*' : `${each ? '' : 'DISTINCT '}${variables.join(' ')}`
  const limit = variables.length === 0 && !each ? 1 : SOLUTION_LIMIT + 1
  return {
    update,
    query: `BASE <${base}>\nSELECT ${projection} WHERE ${sparqlOf(lastGroup(tokens))} LIMIT ${limit}`,
    remove,
    add,
    matched: [...matchedIn('where' in operation ? operation.where : operation.delete)],
  }
}

/** The last outermost group `{ … }`: the pattern of every form that PATCH takes. */
function lastGroup(tokens: readonly Token[]): readonly Token[] {
  let depth = 0
  let [start, end] = [0, 0]
  tokens.forEach(({ text }, at) => {
    if (text === '{' && depth++ === 0) start = at
    if (text === '}' && --depth === 0) end = at + 1
  })
  return tokens.slice(start, end)
}

function templateOf(
  blocks: readonly { readonly triples: readonly Triple[] }[],
  iriOf: Parsed['iriOf'],
): TemplateTriple[] | Problem {
  const template: TemplateTriple[] = []
  for (const { triples } of blocks) {
    for (const { subject, predicate, object } of triples) {
      const terms: string[] = []
      for (const term of [subject, predicate as Term, object]) {
        const written = templateTerm(term, iriOf)
        if (isFailure(written)) return written
        terms.push(written)
      }
      template.push(terms as unknown as TemplateTriple)
    }
  }
  return template
}

const ANY = iri('urn:any')

function templateTerm(term: Term, iriOf: Parsed['iriOf']): string | Problem {
  if (term.termType === 'Variable') return `?${term.value}`
  const node = withIris(term, iriOf)
  const flaw = flawOf(quad(ANY, ANY, node))
  return flaw ? unreadable('update', flaw) : nTriplesTerm(node)
}

function withIris(term: Exclude<Term, { termType: 'Variable' }>, iriOf: Parsed['iriOf']): Quad['object'] {
  if (term.termType === 'NamedNode') return iri(iriOf(term as unknown as Node))
  const isTyped = term.termType === 'Literal' && !term.language
  return isTyped ? typed(term.value, iriOf(term.datatype as unknown as Node)) : (term as Quad['object'])
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
