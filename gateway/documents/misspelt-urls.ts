// Graphs whose names are almost URLs of documents: which URL each was meant to have. Pure.
import { normalisedPath } from '../http/normal-path.js'
import { isFailure } from '../problem.js'

/** The same base with the other scheme: http for https, https for http. */
export const withOtherScheme = (base: string): string =>
  base.startsWith('https:') ? `http${base.slice(5)}` : `https${base.slice(4)}`

/** True where a name is under the base, or would be with the other scheme. */
export const isMeantFor = (graph: string, base: string): boolean =>
  graph.startsWith(base) || graph.startsWith(withOtherScheme(base))

/**
 * The document that a graph would be with a slash at the end, percent-encoded, in normal form, with the scheme of the
 * base; undefined where it is no document for another reason.
 */
export function documentMeant(graph: string, base: string, isDocument: (graph: string) => boolean): string | undefined {
  if (!isMeantFor(graph, base)) return undefined
  const rest = graph.slice((graph.startsWith(base) ? base : withOtherScheme(base)).length)
  const name = documentNameOf(base + rest, base)
  return name !== undefined && isDocument(name) ? name : undefined
}

/** The normal form of a name as the URL of a document; undefined where a part of it would get another meaning. */
export function documentNameOf(name: string, base: string): string | undefined {
  if (!name.startsWith(base) || /[?#\\]/.test(name) || !name.isWellFormed()) return undefined
  const path = name
    .slice(base.length - 1)
    .replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+/g, encodeURIComponent)
    .replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
  const normal = normalisedPath(path.endsWith('/') ? path : `${path}/`)
  return isFailure(normal) ? undefined : base.slice(0, -1) + normal
}
