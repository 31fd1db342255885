// Graphs whose names are almost document URLs: finds the URL that each was meant to have. Pure.
import { normalisedPath } from '../http/normal-path.js'
import { isFailure } from '../problem.js'

/** The base with the other scheme: http instead of https, https instead of http. */
export const withOtherScheme = (base: string): string =>
  base.startsWith('https:') ? `http${base.slice(5)}` : `https${base.slice(4)}`

/** True if a name is under the base, or would be with the other scheme. */
export const isMeantFor = (graph: string, base: string): boolean =>
  graph.startsWith(base) || graph.startsWith(withOtherScheme(base))

/**
 * The document URL that results from normalising and percent-encoding the name, adding a final slash, and taking the
 * scheme of the base; undefined if the graph could not be a document even then.
 */
export function documentMeant(graph: string, base: string, isDocument: (graph: string) => boolean): string | undefined {
  if (!isMeantFor(graph, base)) return undefined
  const rest = graph.slice((graph.startsWith(base) ? base : withOtherScheme(base)).length)
  const name = documentNameOf(base + rest, base)
  return name !== undefined && isDocument(name) ? name : undefined
}

/** Normalises a name to a document URL; undefined if that would change the meaning of a part. */
export function documentNameOf(name: string, base: string): string | undefined {
  if (!name.startsWith(base) || /[?#\\]/.test(name) || !name.isWellFormed()) return undefined
  const path = name
    .slice(base.length - 1)
    .replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+/g, encodeURIComponent)
    .replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
  const normal = normalisedPath(path.endsWith('/') ? path : `${path}/`)
  return isFailure(normal) ? undefined : base.slice(0, -1) + normal
}
