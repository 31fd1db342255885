// Names for IRIs: labels of known terms, prefixed names, and short forms of other IRIs.
import { CONFIGURATION_PREFIXES, RDF } from '../rdf/vocabulary.js'
import { texts } from './texts.js'

const KNOWN: readonly (readonly [prefix: string, namespace: string])[] = Object.entries(CONFIGURATION_PREFIXES)

/** For people who write queries: every prefix once. */
export const LABELLED_NAMESPACES: readonly (readonly [prefix: string, namespace: string])[] = [
  ...new Map(KNOWN.toReversed()),
].sort(([a], [b]) => (a < b ? -1 : 1))

const LOCAL = /^[A-Za-z_][\w.-]{0,80}$/

/** For example `dct:title`; undefined if no known namespace matches. */
export function prefixedName(iri: string): string | undefined {
  for (const [prefix, namespace] of KNOWN) {
    if (iri.startsWith(namespace) && LOCAL.test(iri.slice(namespace.length)))
      return `${prefix}:${iri.slice(namespace.length)}`
  }
  return undefined
}

/** The part of an IRI after its last `#` or `/`. */
export function localName(iri: string): string {
  const whole = /[#/]$/.test(iri) ? iri.slice(0, -1) : iri
  return whole.slice(Math.max(whole.lastIndexOf('/'), whole.lastIndexOf('#')) + 1) || iri
}

/** `has_container` and `hasContainer` become `Has container`. */
function spelled(name: string): string {
  const words = name
    .replace(/[_-]+/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .trim()
  const rest = words.slice(1).replace(/ [A-Z](?=[a-z])/g, (letter) => letter.toLowerCase())
  return words.charAt(0).toUpperCase() + rest
}

/** The label of a property or a class. */
export function labelOf(iri: string): string {
  if (Object.hasOwn(texts().labels, iri)) return texts().labels[iri]!
  const name = localName(iri)
  if (iri.startsWith(RDF('_'))) return `Member ${name.slice(1)}`
  return LOCAL.test(name) ? spelled(name) : iri
}

/** A URL below `base` as its path, another IRI with its prefix if known, otherwise in full. */
export function shortIri(iri: string, base: string): string {
  if (iri.startsWith(base)) return `/${decoded(iri.slice(base.length))}`
  return prefixedName(iri) ?? iri
}

/** A path decoded for people; unchanged if it cannot be decoded. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
