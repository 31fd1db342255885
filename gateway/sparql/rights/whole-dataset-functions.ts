// Queries that read more than the graphs that they name, whatever stands beside them: nobody but agents who may read
// every graph can send them. Pure.
import { RDFS } from '../../rdf/vocabulary.js'
import { usesName } from './graph-name.js'
import type { View } from './restriction.js'
import { iriTerm, isPath, type GraphPattern, type Query, type Triple } from '../language/syntax.js'

export const readsMore = (
  { body, dataset }: Query,
  { looksInItself, isJena }: Pick<View, 'looksInItself' | 'isJena'>,
): boolean =>
  readsIndexes(body) || (isJena && countsMembers(body)) || (!looksInItself && hasPath(body, dataset !== undefined))

// Property functions that are no SPARQL extensions by their names (tree.ts): they may read an index over all graphs.
const INDEXES =
  /^(?:http:\/\/www\.opengis\.net\/ont\/geosparql#(?:sf|eh|rcc8)|http:\/\/www\.openrdf\.org\/contrib\/lucenesail#|http:\/\/franz\.com\/ns\/|http:\/\/www\.openlinksw\.com\/|http:\/\/marklogic\.com\/|http:\/\/qlever\.)/i

/** True where a predicate may be such a function. */
function readsIndexes(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind, value } = part as { kind?: string; value?: unknown }
  if (kind === 'iri') return INDEXES.test(value as string)
  for (const key in part) if (readsIndexes(part[key as keyof typeof part])) return true
  return false
}

/**
 * True where rdfs:member is a predicate. Jena has it for a function that finds each member of a container as often as triples say so, in
 * whatever graphs, and that fails on some numbers.
 */
function countsMembers(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { readonly kind?: string }
  if (kind === 'triples') {
    return (part as { readonly triples: readonly Triple[] }).triples.some(({ predicate }) =>
      usesName(predicate, MEMBER),
    )
  }
  return Object.values(part).some(countsMembers)
}

const MEMBER = iriTerm(RDFS('member'))

/**
 * True where a path with *, +, ? or ! stands in a graph. With RDF4J, one that takes no step leads from the terms of all graphs, and ! looks
 * into all of them.
 */
function hasPath(part: unknown, isInGraph: boolean): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { kind } = part as { readonly kind?: string }
  if (kind === 'triples') return isInGraph && (part as { readonly triples: readonly Triple[] }).triples.some(looksOut)
  return Object.values(part as Record<string, GraphPattern>).some((each) => hasPath(each, isInGraph || kind === 'graph'))
}

const looksOut = ({ predicate }: Triple): boolean =>
  isPath(predicate) && /"operator":"[*+?!]"/.test(JSON.stringify(predicate))
