// Normalises the path of a URL. A path with two readings is refused, not cleaned (design 1).
import { uriOf } from '../../versioning/memento/time-map.js'
import { isFailure, problem, type Problem } from '../problem.js'

/** The longest path in characters, and the deepest: rights are looked up for each container above a document. */
const LONGEST = 2048
const DEEPEST = 100

/** The path in the normal form of RFC 3986 §6.2.2, or the reason for refusing it. */
export function normalisedPath(raw: string): string | Problem {
  const refused = (why: string): Problem => problem('target.malformed', `The path of the URL ${why}.`)
  if (!raw.startsWith('/')) return refused('does not start with a slash')
  // RFC 9110 §15.5.15
  if (raw.length > LONGEST)
    return problem('target.too-long', `The path of the URL has more than ${LONGEST} characters.`)
  if (raw.split('/', DEEPEST + 3).length > DEEPEST + 2) return refused(`has more than ${DEEPEST} segments`)
  // RFC 3986 §3.3: only pchar and "/", so neither control characters nor backslashes.
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@/%]*$/.test(raw)) return refused('has a character that URIs do not allow')
  if (/%(?![0-9A-Fa-f]{2})/.test(raw)) return refused('has an incomplete percent-encoding')
  if (/%(?:2f|5c|7f|[01][0-9a-f])/i.test(raw)) return refused('has an encoded slash, backslash or control character')
  const path = raw.replace(/%[0-9A-Fa-f]{2}/g, (triplet) => {
    const character = String.fromCharCode(parseInt(triplet.slice(1), 16))
    return /[A-Za-z0-9\-._~]/.test(character) ? character : triplet.toUpperCase()
  })
  try {
    decodeURIComponent(path)
  } catch {
    return refused('has percent-encoded bytes that are not UTF-8')
  }
  if (path.includes('//')) return refused('has an empty segment')
  if (/\/\.{1,2}(?:\/|$)/.test(path)) return refused('has a dot segment')
  return path
}

/** The URL of an IRI (RFC 3987 §3.1) with its path in normal form; unchanged if there is no such URL. */
export function normalisedUrl(iri: string): string {
  if (!/[^!-~]|%/.test(iri) || !iri.isWellFormed()) return iri
  const uri = uriOf(iri)
  const [origin] = /^https?:\/\/[^/?#]*/.exec(uri) ?? []
  const path = origin === undefined ? undefined : normalisedPath(uri.slice(origin.length))
  return path === undefined || isFailure(path) ? iri : origin + path
}
