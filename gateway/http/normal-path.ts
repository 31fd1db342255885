// The normal form of the path of a URL: what has two readings is refused, not cleaned (design 1).
import { problem, type Problem } from '../problem.js'

/** The longest path, in characters, and the deepest: rights are looked up for each container above a document. */
const LONGEST = 2048
const DEEPEST = 100

/** The path in the normal form of RFC 3986 §6.2.2, or the reason why it is refused. */
export function normalisedPath(raw: string): string | Problem {
  const refused = (why: string): Problem => problem('target.malformed', `Malformed document URI: ${why}.`)
  if (!raw.startsWith('/')) return refused('its path does not start with a slash')
  // RFC 9110 §15.5.15
  if (raw.length > LONGEST)
    return problem('target.too-long', `The path of a URL has at most ${LONGEST} characters here.`)
  if (raw.split('/', DEEPEST + 3).length > DEEPEST + 2) return refused(`its path has more than ${DEEPEST} segments`)
  // RFC 3986 §3.3: pchar and "/", nothing else, control characters and backslashes included.
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@/%]*$/.test(raw)) return refused('it has a character that a URI may not hold')
  if (/%(?![0-9A-Fa-f]{2})/.test(raw)) return refused('an incomplete percent-encoding')
  if (/%(?:2f|5c|7f|[01][0-9a-f])/i.test(raw)) return refused('an encoded slash, backslash or control character')
  const path = raw.replace(/%[0-9A-Fa-f]{2}/g, (triplet) => {
    const character = String.fromCharCode(parseInt(triplet.slice(1), 16))
    return /[A-Za-z0-9\-._~]/.test(character) ? character : triplet.toUpperCase()
  })
  try {
    decodeURIComponent(path)
  } catch {
    return refused('percent-encoded bytes that are not UTF-8')
  }
  if (path.includes('//')) return refused('an empty path segment')
  if (/\/\.{1,2}(?:\/|$)/.test(path)) return refused('a dot segment')
  return path
}
