// In charge of the quads that an update inserts and deletes, as templates that solutions fill. Pure.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { iri, literal, nTriplesTerm, typed } from '../../rdf/graph.js'
import { stringValue } from './escapes.js'
import { DEFAULT_GRAPH } from './graph-sets.js'
import { literalAt } from './literal-tokens.js'
import type { Values } from './parse.js'
import type { PlainStatement } from './ground-triples.js'
import { rdfTerm } from './rdf-term.js'
import type { Token } from './tokens.js'
import { isIri, isVariable, nodesOf, type Node } from './tree.js'

/** Each position is a `?variable`, a `_:label` (a new blank node in every solution) or a term in canonical N-Triples. */
type Terms = readonly [subject: string, predicate: string, object: string]

export interface QuadTemplate {
  /** An IRI, DEFAULT_GRAPH, or a `?variable`. */
  readonly graph: string
  readonly terms: Terms
}

/** A name that stands for other graphs, or for none of its own, is left to the store. */
export const graphName = (term: Node, values: Values): string | undefined => {
  const name = values.iriOf(term)
  return isOwnName(name) ? name : undefined
}
export const isOwnName = (graph: string): boolean =>
  graph !== DEFAULT_GRAPH && graph !== MERGED_GRAPHS && !OF_JENA.test(graph)

/** The graph that a value of a variable names, in N-Triples: undefined where it is no IRI (SPARQL 1.1 Update §3.1.3). */
export const graphOfValue = (value: string | undefined): string | undefined =>
  value?.startsWith('<') && !value.startsWith('<<') ? value.slice(1, -1) : undefined

const OF_JENA = /^urn:x-arq:/i

/** Undefined where it has what only the store can write: annotations, reifiers, triple terms with variables. */
export function templateOf(blocks: unknown, withGraph: string | undefined, values: Values): QuadTemplate[] | undefined {
  const template: QuadTemplate[] = []
  // Many triples have one subject: a long one is written once.
  const known = new Map<Node, string | undefined>()
  const termOf = (node: Node): string | undefined => {
    if (!known.has(node)) known.set(node, templateTerm(node, values))
    return known.get(node)
  }
  for (const block of (blocks ?? []) as Node[]) {
    const graph = block['type'] === 'graph' ? templateGraph(block['graph'], values) : (withGraph ?? DEFAULT_GRAPH)
    for (const { type, subject, predicate, object, annotations } of nodesOf(block)) {
      if (type !== 'triple') continue
      const terms = [subject, predicate, object].map((node) => termOf(node as Node))
      if ((annotations as unknown[]).length > 0 || terms.includes(undefined) || graph === undefined) return undefined
      template.push({ graph, terms: terms as unknown as Terms })
    }
  }
  return template
}

const templateGraph = (term: unknown, values: Values): string | undefined =>
  isVariable(term) ? `?${String(term['value'])}` : isIri(term) ? graphName(term, values) : undefined

function templateTerm(node: Node, values: Values): string | undefined {
  const term =
    node['type'] === 'term' ? node : node['type'] === 'tripleCollection' ? (node['identifier'] as Node) : undefined
  if (!term) return undefined
  if (isVariable(term)) return `?${String(term['value'])}`
  const found = rdfTerm(term, values)
  return found && nTriplesTerm(found)
}

/** The quads of a statement that the parser does not get (plain-data.ts). */
export function quadsOfStatement({ graph, tokens }: PlainStatement): QuadTemplate[] {
  const quads: QuadTemplate[] = []
  const name = graph === undefined ? DEFAULT_GRAPH : graph.slice(1, -1)
  const subject = plainTerm(tokens[0]!.text)
  let predicate = ''
  for (let at = 1; at < tokens.length;) {
    const { text } = tokens[at]!
    // After the subject and a semicolon stands a verb, after a comma an object; the dot is the last token.
    if (text === ';' || at === 1) {
      const verb = tokens[at === 1 ? 1 : at + 1]!.text
      predicate = verb === 'a' ? RDF_TYPE : plainTerm(verb)
      at += at === 1 ? 1 : 2
    } else if (text === ',') at++
    else break
    const [object, length] = objectAt(tokens, at)
    quads.push({ graph: name, terms: [subject, predicate, object] })
    at += length
  }
  return quads
}

const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'

const plainTerm = (token: string): string => nTriplesTerm(iri(token.slice(1, -1)))

/** An object, and how many tokens it is. */
function objectAt(tokens: readonly Token[], at: number): readonly [term: string, length: number] {
  const found = literalAt(tokens, at)
  if (found) return [nTriplesTerm(typed(found.form, found.datatype)), found.tokens]
  const { text } = tokens[at]!
  if (!text.startsWith('"')) return [plainTerm(text), 1]
  const next = tokens[at + 1]!.text
  return next.startsWith('@')
    ? [nTriplesTerm(literal(stringValue(text), next.slice(1))), 2]
    : [nTriplesTerm(literal(stringValue(text))), 1]
}
