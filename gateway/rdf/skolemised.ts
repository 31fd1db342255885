// Replaces blank nodes by IRIs when documents are stored (design 3), and the reverse. Pure.
import { uriOf } from '../../versioning/memento/time-map.js'
import { blankNode, namedNode, quad, withNodes, type NamedNode, type Quad, type Term } from './graph.js'

/** Every blank node becomes `<document>#id<UUID>`. */
export function skolemised(content: readonly Quad[], document: string, uuid: () => string): Quad[] {
  const names = new Map<string, NamedNode>()
  const nameOf = (label: string): NamedNode => {
    const name = names.get(label) ?? namedNode(`${document}#id${uuid().replace(RANDOM, '$18')}`)
    names.set(label, name)
    return name
  }
  return content.map((triple) => withNodes(triple, nameOf))
}

/** RFC 9562 §5.8: version 8 distinguishes the gateway's UUIDs from those that clients put into their own IRIs. */
const RANDOM = /^([0-9a-f]{8}-[0-9a-f]{4}-)4/
const HEX = '[0-9a-f]'
/** Names made by an import, which depend on the node's content (imports/). */
const OWN = `${HEX}{8}-${HEX}{4}-8${HEX}{3}-${HEX}{4}-${HEX}{12}|${HEX}{32}`
const OWN_NAME = new RegExp(`#id(?:${OWN})$`)
/** Names made by earlier releases and LinkedDataHub. Clients may also have made such IRIs. */
const ANY_NAME = new RegExp(`#id(?:${OWN}|${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12})$`)

/** True if the IRI may stand for a blank node. */
export const isSkolem = (iri: string): boolean => ANY_NAME.test(iri)

/** A document of an import into a container. The names of blank nodes in all of them begin with the first one. */
export const partOf = (container: string, digest: string, number: number): string =>
  `${container}${digest.slice(0, 12)}-${number}/`
const firstPart = (document: string): string =>
  document.replace(/(\/[0-9a-f]{12}-)\d+\/$/, (_, start: string) => `${start}1/`)
/** True if several documents may have the blank node. */
export const isOfParts = (iri: string): boolean => /\/[0-9a-f]{12}-1\/#id[0-9a-f]{32}$/.test(iri)

/**
 * Turns the IRIs that the gateway made in this document, or in the parts of one import, back into blank nodes.
 * @param isName true for those to keep
 */
export function unskolemised(
  content: readonly Quad[],
  document: string,
  isName: (iri: string) => boolean = () => false,
): Quad[] {
  // An import knows the URL of a document, not its spelling in the store (documents/iri-spelling.ts).
  const starts = [...new Set([document, firstPart(document), uriOf(document)])].map((one) => `${one}#id`)
  const node = (term: Term): Term => {
    if (term.termType !== 'NamedNode' || !term.value.includes('#id')) return term
    const at = starts.findIndex((start) => term.value.startsWith(start))
    if (at < 0 || !OWN_NAME.test(term.value) || isName(term.value)) return term
    return blankNode(`n${at}x${term.value.slice(starts[at]!.length).replaceAll('-', '')}`)
  }
  return content.map((triple) => {
    const [subject, object] = [node(triple.subject), node(triple.object)]
    if (subject === triple.subject && object === triple.object) return triple
    return quad(subject as Quad['subject'], triple.predicate, object as Quad['object'])
  })
}
