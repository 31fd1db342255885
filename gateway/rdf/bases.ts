// The IRIs that a text makes others from: its bases and the namespaces of its prefixes. Each use of one costs its
// length, so they are bounded, and dot segments are removed once (RFC 3986 §5.2.4). Pure.
import { resolve } from 'relative-to-absolute-iri'

/** The most characters of a base or a namespace. */
export const LONGEST_BASE = 2048

export const BASE_TOO_LONG = `a base or a namespace is longer than ${LONGEST_BASE} characters`

/** True where a base that a text declares is too long. It may be as long as the URL of the document. */
export const isTooLong = (base: string, document = ''): boolean => base.length > Math.max(LONGEST_BASE, document.length)

/**
 * The base without dot segments before its last slash; what follows that never becomes part of another IRI (§5.2.3).
 */
export function normalBase(base: string): string {
  const path = base.search(/[?#]|$/)
  const slash = base.lastIndexOf('/', path)
  const authority = /^[^:/?#]+:\/\/[^/?#]*/.exec(base)?.[0].length ?? 0
  if (slash < authority || !DOT_SEGMENT.test(base)) return base
  return resolve(base.slice(0, slash + 1), '') + base.slice(slash + 1)
}

/** True where an IRI reference has dot segments that resolving it removes. */
export const baseHasDotSegment = (reference: string): boolean => DOT_SEGMENT.test(reference)

const DOT_SEGMENT = /(?:^|\/)\.\.?(?:$|[/?#])/
