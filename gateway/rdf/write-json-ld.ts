// Writes JSON-LD: expanded, or compacted with the prefixes that it uses.
import type { Graph, Quad, Term } from './graph.js'
import { RDF, XSD } from './vocabulary.js'

type Node = Record<string, unknown>

/** JSON-LD 1.1 API §8.1, without native types and lists: one node object per subject, one per line. */
export function writeExpandedJsonLd({ triples }: Graph): string {
  const expanded = (object: Quad['object']): Node => valueOf(object, (iri) => iri)
  const nodes = nodesOf(triples, (iri) => iri, expanded)
  return `[\n${nodes.map((node) => JSON.stringify(node)).join(',\n')}\n]\n`
}

/**
 * Compacted: compact IRIs, no arrays of one value, and JSON's own strings, booleans and integers. The latter only in
 * canonical form, so that readers restore the same lexical form (JSON-LD 1.1 API §8.2.2).
 * @param prefixes for the context: none may be the scheme of an IRI in the triples
 */
export function writeCompactedJsonLd({ triples }: Graph, prefixes: Readonly<Record<string, string>>): string {
  const prefixOf = new Map(Object.entries(prefixes).map(([prefix, namespace]) => [namespace, prefix]))
  const compact = (iri: string): string => {
    const [, namespace = '', local] = NAMESPACE_AND_LOCAL.exec(iri) ?? []
    const prefix = prefixOf.get(namespace)
    return prefix === undefined ? iri : `${prefix}:${local}`
  }
  const nodes = nodesOf(triples, compact, (object) => native(object) ?? valueOf(object, compact))
  const lines = nodes.map((node) => JSON.stringify(Object.fromEntries(Object.entries(node).map(single))))
  return `{"@context":${JSON.stringify(prefixes)},"@graph":[\n${lines.join(',\n')}\n]}\n`
}

/** A local name that has only one reading: `dct://x` would be an IRI (JSON-LD 1.1 §4.1.5). */
const NAMESPACE_AND_LOCAL = /^(.*[/#])([_a-zA-Z0-9][-_a-zA-Z0-9]*)$/s

const single = ([key, values]: [string, unknown]): [string, unknown] =>
  Array.isArray(values) && values.length === 1 ? [key, values[0]] : [key, values]

/** @param compact shortens IRIs */
function nodesOf(
  triples: readonly Quad[],
  compact: (iri: string) => string,
  write: (object: Quad['object']) => unknown,
): Node[] {
  const nodes: Node[] = []
  let subject: Term | undefined
  for (const triple of triples) {
    if (!subject?.equals(triple.subject)) nodes.push({ '@id': compact(idOf((subject = triple.subject))) })
    const node = nodes.at(-1)!
    const isType = triple.predicate.value === RDF('type') && triple.object.termType !== 'Literal'
    const values = (node[isType ? '@type' : compact(triple.predicate.value)] ??= []) as unknown[]
    values.push(isType ? compact(idOf(triple.object)) : write(triple.object))
  }
  return nodes
}

const idOf = ({ termType, value }: Term): string => (termType === 'BlankNode' ? `_:${value}` : value)

function valueOf(object: Quad['object'], compact: (iri: string) => string): Node {
  if (object.termType !== 'Literal') return { '@id': compact(idOf(object)) }
  if (object.language) return { '@value': object.value, '@language': object.language }
  const { value } = object.datatype
  return value === XSD('string') ? { '@value': object.value } : { '@value': object.value, '@type': compact(value) }
}

/** With more digits, readers would take it for xsd:double. */
const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/

function native(object: Quad['object']): string | number | boolean | undefined {
  if (object.termType !== 'Literal' || object.language) return undefined
  const { value } = object
  switch (object.datatype.value) {
    case XSD('string'):
      return value
    case XSD('boolean'):
      return value === 'true' || (value === 'false' ? false : undefined)
    case XSD('integer'):
      return CANONICAL_INTEGER.test(value) ? Number(value) : undefined
    default:
      return undefined
  }
}
