// Bases and prefix namespaces, from which a text builds other IRIs. Each use costs their length, so they are bounded,
// and dot segments are removed once (RFC 3986 §5.2.4). Pure.
import { resolve as resolved } from 'relative-to-absolute-iri'

/** The most characters in a base or a namespace. */
export const LONGEST_BASE = 2048

export const BASE_TOO_LONG = `a base or a namespace is longer than ${LONGEST_BASE} characters`

/** True if a declared base is too long. A base may always be as long as the document's URL. */
export const isTooLong = (base: string, document = ''): boolean => base.length > Math.max(LONGEST_BASE, document.length)

/** RFC 3986 §5.2.3: a path is merged with the base's path alone; the library would count slashes of its query too. */
export const resolve = (reference: string, base = ''): string =>
  resolved(reference, /^(?:$|[?#])/.test(reference) ? base : base.replace(/[?#][^]*/, ''))

/** The base without dot segments before its last slash. The rest never becomes part of another IRI (§5.2.3). */
export function normalBase(base: string): string {
  const path = base.search(/[?#]|$/)
  const slash = base.lastIndexOf('/', path)
  const authority = /^[^:/?#]+:\/\/[^/?#]*/.exec(base)?.[0].length ?? 0
  if (slash < authority || !DOT_SEGMENT.test(base)) return base
  return resolve(base.slice(0, slash + 1), '') + base.slice(slash + 1)
}

/** True if resolving this IRI reference removes dot segments. */
export const baseHasDotSegment = (reference: string): boolean => DOT_SEGMENT.test(reference)

const DOT_SEGMENT = /(?:^|\/)\.\.?(?:$|[/?#])/
