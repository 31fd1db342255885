// Parses Link fields of other servers (RFC 8288 §3). Pure.
import { parseHttpUrl } from '../../policies/fetch/destination.js'
import { isFailure } from '../problem.js'

export interface Link {
  /** An absolute URL. */
  readonly target: string
  /** By lower-case name; if a name repeats, the first value counts. */
  readonly parameters: ReadonlyMap<string, string>
}

const MOST_CHARACTERS = 8 * 1024
const LINK = /<([^<>]*)>((?:[^<>",]|"(?:[^"\\]|\\.)*")*)/g
const PARAMETER = /;\s*([\w!#$&+^`|~*.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))/g

/**
 * The links with this relation that apply to the response itself.
 * @param url the URL of the response: targets are relative to it
 */
export function linksIn(field: string | undefined, url: string, relation: string): Link[] {
  return [...(field ?? '').slice(0, MOST_CHARACTERS).matchAll(LINK)].flatMap(([, reference = '', rest = '']) => {
    const parameters = new Map<string, string>()
    for (const [, name = '', quoted, token = ''] of rest.matchAll(PARAMETER)) {
      const key = name.toLowerCase()
      if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token)
    }
    // RFC 8288 §3.3: relation types are case-insensitive.
    const relations = (parameters.get('rel') ?? '').toLowerCase().split(/\s+/)
    const target = parseHttpUrl(reference, new URL(url))
    // RFC 8288 §3.2: a link with an anchor is about another resource.
    const isMeant = relations.includes(relation.toLowerCase()) && !parameters.has('anchor') && !isFailure(target)
    return isMeant ? [{ target: target.href, parameters }] : []
  })
}
