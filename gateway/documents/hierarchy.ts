// The hierarchy of documents (root, containers and items), derived from URLs and types (spec 2.1). Pure.
import { irisOf, type Graph } from '../rdf/graph.js'
import { DEF, DH, RDF } from '../rdf/vocabulary.js'

export const isRoot = (document: string, base: string): boolean => document === base

/** The URL of the parent: the document's URL without its last path segment (spec 2.1). */
export const parentOf = (document: string): string =>
  document.slice(0, document.lastIndexOf('/', document.length - 2) + 1)

/** The ancestors within the application, nearest first. */
export function ancestorsOf(document: string, base: string): string[] {
  const ancestors: string[] = []
  for (let at = document; at.length > base.length;) {
    at = parentOf(at)
    ancestors.push(at)
  }
  return ancestors
}

/** Types that the gateway manages. */
export const KINDS: ReadonlySet<string> = new Set([DH('Item'), DH('Container'), DEF('Root')])
/** True if the gateway manages this type. */
export const isKind = (type: string): boolean => KINDS.has(type)

/**
 * The types that access and hierarchy depend on. A stored graph without a type of the hierarchy is an item, like all
 * graphs older than the gateway (design 3: "anything else: dh:Item").
 */
export function typesOf(graph: Graph, document: string, base: string): string[] {
  const types = irisOf(graph, document, RDF('type')).filter((type) => type !== DEF('Root'))
  if (isRoot(document, base)) return [...types.filter((type) => !isKind(type)), DEF('Root')]
  return types.includes(DH('Container')) || types.includes(DH('Item')) ? types : [...types, DH('Item')]
}

export const isContainer = (types: readonly string[]): boolean =>
  types.includes(DH('Container')) || types.includes(DEF('Root'))
