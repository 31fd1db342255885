// The quads that an update inserts and deletes, as templates that solutions fill. Pure.
import { MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import { iri, literal, nTriplesTerm, typed } from '../../rdf/graph.js'
import { stringValue } from './escapes.js'
import { DEFAULT_GRAPH } from './graph-sets.js'
import { literalAt } from './literal-tokens.js'
import type { ParsedValues } from './parse.js'
import type { PlainStatement } from './ground-triples.js'
import { literalOf } from './rdf-term.js'
import { triplesOf, Unknown } from './read-terms.js'
import type { Term } from './syntax.js'
import type { Token } from './tokens.js'
import { isIriNode, isVariable, type Node } from './tree.js'

/**
 * A `?variable`, a `_:label` (a new blank node in every solution), a term in canonical N-Triples, or the parts of a
 * triple term with variables or blank nodes.
 */
export type TemplateTerm = string | TemplateTerms
export type TemplateTerms = readonly [subject: TemplateTerm, predicate: TemplateTerm, object: TemplateTerm]

/** The terms, with each triple term replaced by the terms in it. */
export const leavesOf = (terms: TemplateTerms): readonly string[] =>
  terms.flatMap((term) => (typeof term === 'string' ? [term] : leavesOf(term)))

export const tripleTerm = (parts: readonly string[]): string => `<<( ${parts.join(' ')} )>>`

export interface QuadTemplate {
  /** An IRI, DEFAULT_GRAPH, or a `?variable`. */
  readonly graph: string
  readonly terms: TemplateTerms
}

/** Undefined for a name that stands for other graphs, or for no graph: it is left to the store. */
export const graphName = (term: Node, values: ParsedValues): string | undefined => {
  const name = values.iriOf(term)
  return isOwnName(name) ? name : undefined
}
export const isOwnName = (graph: string): boolean =>
  graph !== DEFAULT_GRAPH && graph !== MERGED_GRAPHS && !OF_JENA.test(graph)

/**
 * The graph that a value in N-Triples names; undefined if the value is not an IRI (SPARQL 1.1 Update §3.1.3).
 */
export const graphOfValue = (value: string | undefined): string | undefined =>
  value?.startsWith('<') && !value.startsWith('<<') ? value.slice(1, -1) : undefined

const OF_JENA = /^urn:x-arq:/i

/** Undefined if it has graph names that only the store understands, or anything that is not a triple. */
export function templateOf(
  blocks: unknown,
  withGraph: string | undefined,
  values: ParsedValues,
): QuadTemplate[] | undefined {
  const template: QuadTemplate[] = []
  // Many triples share a subject: write a long one once.
  const known = new Map<unknown, TemplateTerm>()
  const termOf = (term: Term): TemplateTerm => {
    const written = known.get(term) ?? templateTerm(term)
    known.set(term, written)
    return written
  }
  for (const block of (blocks ?? []) as Node[]) {
    const isGraph = block['type'] === 'graph'
    const triples = templateTriples(isGraph ? (block['triples'] as Node)['triples'] : block['triples'], values)
    if (triples?.length === 0) continue
    const graph = isGraph ? templateGraph(block['graph'], values) : (withGraph ?? DEFAULT_GRAPH)
    if (!triples || graph === undefined) return undefined
    for (const triple of triples) template.push({ graph, terms: triple.map(termOf) as unknown as TemplateTerms })
  }
  return template
}

/** Expands annotations and reifiers to the triples that they abbreviate (SPARQL 1.2 §4.3). */
function templateTriples(triples: unknown, values: ParsedValues): readonly (readonly Term[])[] | undefined {
  try {
    return triplesOf(triples, values).map(({ subject, predicate, object }) => [subject, predicate as Term, object])
  } catch (error) {
    if (error instanceof Unknown) return undefined
    throw error
  }
}

const templateGraph = (term: unknown, values: ParsedValues): string | undefined =>
  isVariable(term) ? `?${String(term['value'])}` : isIriNode(term) ? graphName(term, values) : undefined

function templateTerm(term: Term): TemplateTerm {
  switch (term.kind) {
    case 'iri':
      return nTriplesTerm(iri(term.value))
    case 'variable':
      return `?${term.value}`
    case 'blank':
      return `_:${term.value}`
    case 'literal':
      return nTriplesTerm(
        term.datatype === undefined ? literalOf(term.value, term.language) : typed(term.value, term.datatype),
      )
    case 'triple': {
      const parts = [term.subject, term.predicate, term.object].map(templateTerm) as unknown as TemplateTerms
      const isConstant = parts.every((part) => typeof part === 'string' && !/^[?_]/.test(part))
      return isConstant ? tripleTerm(parts as readonly string[]) : parts
    }
  }
}

/** The quads of a statement that is left out for the parser (ground-triples.ts). */
export function quadsOfStatement({ graph, tokens }: PlainStatement): QuadTemplate[] {
  const quads: QuadTemplate[] = []
  const name = graph === undefined ? DEFAULT_GRAPH : graph.slice(1, -1)
  const subject = plainTerm(tokens[0]!.text)
  let predicate = ''
  for (let at = 1; at < tokens.length;) {
    const { text } = tokens[at]!
    // A verb follows the subject or a semicolon, an object follows a comma; the dot is the last token.
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

/** An object, and its number of tokens. */
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
