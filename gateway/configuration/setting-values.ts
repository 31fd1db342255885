// The values of settings: a parser from text to value for each kind. Pure.
import { fileURLToPath } from 'node:url'
import ipaddr from 'ipaddr.js'
import { isFailure, type Failure } from '../problem.js'

/** `detail`: the reason why a text is invalid; `fix`: what to write instead. Neither contains the text. */
export interface InvalidValue extends Failure<'value.invalid'> {
  readonly fix: string
}

const invalid = (detail: string, fix: string): InvalidValue => ({ failure: 'value.invalid', detail, fix })

/** Any non-empty text: a file, folder, name or password. */
export const anyText = (value: string): string => value

/** A port number (0: chosen by the system), or `off`. */
export const port = (value: string): number | 'off' | InvalidValue =>
  value === 'off'
    ? 'off'
    : /^\d{1,5}$/.test(value) && Number(value) < 65536
      ? Number(value)
      : invalid('is not a port', 'Give a number from 0 to 65535, or off.')

const naturalUpTo =
  (most: number, what: string) =>
  (value: string): number | InvalidValue =>
    /^\d{1,15}$/.test(value) && Number(value) > 0 && Number(value) <= most
      ? Number(value)
      : invalid(`is not a number of ${what}`, `Give a whole number from 1 to ${most}.`)

export const count = naturalUpTo(10 ** 9, 'times')
export const bytes = naturalUpTo(2 ** 40, 'bytes')
/** Node.js timers are limited to 2³¹ − 1 ms: anything longer would fire at once. */
export const milliseconds = naturalUpTo(2 ** 31 - 1, 'milliseconds')

export const orOff =
  <Value>(parse: (value: string) => Value | InvalidValue) =>
  (value: string): Value | 'off' | InvalidValue =>
    value === 'off' ? 'off' : parse(value)

/** The place of a history: `local` (in the data folder), `off`, or the URL of a repository, without `.git`. */
export const historyPlace = (value: string): string | InvalidValue =>
  value === 'local' || value === 'off' ? value : repositoryUrl(value, 'Give local, off,')

/** `https://host/owner/repository`, without `.git`, or the `file:` URL of a folder. */
export function repositoryUrl(value: string, give = 'Give'): string | InvalidValue {
  const fix = `${give} https://github.com/OWNER/REPOSITORY or file:///FOLDER.`
  if (/^file:\/\/\/[^?#\s]+$/.test(value)) {
    return isPath(value) ? value : invalid('has percent-encodings that a path cannot contain', fix)
  }
  // The form expected by versioning/github/api.ts.
  const [location] = /^https?:\/\/[\w.-]+(?::\d+)?\/[\w-]+\/[\w.-]+(?=\/?$)/.exec(value) ?? []
  if (location === undefined) return invalid('is not a repository', fix)
  if (location.startsWith('http:')) return invalid('would receive the token unencrypted', fix)
  return location.replace(/\.git$/, '')
}

/** True if the `file:` URL can be a path: `%2F`, `%00` and invalid UTF-8 cannot. */
function isPath(url: string): boolean {
  try {
    return !fileURLToPath(url).includes('\0')
  } catch {
    return false
  }
}

/** The base URL of a REST API that receives a token: https, or on this machine. */
export function apiUrl(value: string): string | InvalidValue {
  const url = storeUrl(value)
  if (isFailure(url)) return url
  const { protocol, hostname, username, password } = new URL(url)
  if (username || password) return invalid('contains a user or password', 'Remove it, and give --history-token.')
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
    ? url
    : invalid('would receive the token unencrypted', 'Give its https URL.')
}

export const yesOrNo = (value: string): boolean | InvalidValue =>
  value === 'true' || value === 'false' ? value === 'true' : invalid('is neither true nor false', 'Give true or false.')

export const oneOf =
  <const T extends string>(...values: readonly T[]) =>
  (value: string): T | InvalidValue =>
    values.find((one) => one === value) ?? invalid('is not allowed', `Give one of ${values.join(', ')}.`)

/** An address or network, as the CIDR block of its network address. Refuses the block of all addresses. */
export function addresses(value: string): string | InvalidValue {
  const fix = 'Give an address such as 10.0.0.7 or a network such as 10.0.0.0/8 or fd00::/8.'
  const [address, bits, more] = value.split('/')
  if (!ipaddr.isValid(address!) || more !== undefined) return invalid('is not an IP address or network', fix)
  const parsed = ipaddr.parse(address!)
  if (parsed.kind() === 'ipv4' && !ipaddr.IPv4.isValidFourPartDecimal(address!)) {
    return invalid('is not an IPv4 address of four decimal numbers', fix)
  }
  const most = parsed.kind() === 'ipv4' ? 32 : 128
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : NaN
  if (!(length <= most)) return invalid('has an invalid prefix length', fix)
  if (length === 0) return invalid('includes every address', `It would trust everyone. ${fix}`)
  const block = `${parsed.toString()}/${length}`
  const network =
    parsed.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(block) : ipaddr.IPv6.networkAddressFromCIDR(block)
  return `${network.toString()}/${length}`
}

/** An address or a name to listen at. The brackets of an IPv6 address, as in URLs, are removed. */
export function listenHost(value: string): string | InvalidValue {
  const host = value.replace(/^\[(.*)\]$/, '$1')
  if (ipaddr.isValid(host) && !host.includes('%') && (host.includes(':') || /^\d+(?:\.\d+){3}$/.test(host))) return host
  if (!value.startsWith('[') && !/^[\d.]+$/.test(value) && HOST_NAME.test(value)) return value
  return invalid('is not an address or a name', 'Give one such as 127.0.0.1, ::1 or localhost, without a port.')
}
const HOST_NAME = /^(?=.{1,253}$)[a-z\d_](?:[\w-]{0,62})(?:\.[a-z\d_](?:[\w-]{0,62}))*\.?$/i

/** An absolute http or https URL without characters that parsing would remove. */
function httpUrl(value: string): URL | undefined {
  if (!/^https?:\/\/[^\s\\]+$/i.test(value) || !URL.canParse(value)) return undefined
  return new URL(value)
}

/** The URL of a store or of one of its endpoints, without query; `user:password@` is allowed. */
export function storeUrl(value: string): string | InvalidValue {
  const url = httpUrl(value)
  if (!url) return invalid('is not an http or https URL', 'Give one such as http://localhost:3030/ds.')
  if (url.search || url.hash) return invalid('has a query or a fragment', 'Remove it.')
  return url.href
}

/**
 * The base of an application. A missing final slash is added.
 * @param relativeTo the base that a path such as `admin/` is resolved against
 */
export function baseUrl(value: string, relativeTo?: string): string | InvalidValue {
  const url = httpUrl(relativeTo && /^[\w-]+(\/[\w-]+)*\/?$/.test(value) ? relativeTo + value : value)
  if (!url) return invalid('is not an http or https URL', 'Give one such as https://data.example.org/.')
  if (url.username || url.password || url.search || url.hash) {
    return invalid('has user information, a query or a fragment', 'Give scheme, host, port and path only.')
  }
  // The normal form of a request path (RFC 3986 §6.2.2).
  if (!/^(\/[A-Za-z0-9\-._~!$&'()*+,;=:@]+)*\/?$/.test(url.pathname)) {
    return invalid('has empty or percent-encoded path segments', 'Use only unreserved characters in the path.')
  }
  return url.href.replace(/\/?$/, '/')
}

/** The path of a dataset, without a final slash, in plain characters as in `baseUrl`. */
export const pathOfDataset = (value: string): string | InvalidValue =>
  /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~!$&'()*+,;=:@]+)+$/.test(value)
    ? value
    : invalid('is not a dataset path', 'Give one such as /ds, or off.')

/** A WebID, unchanged: WebIDs are compared as strings. */
export const webId = (value: string): string | InvalidValue =>
  httpUrl(value) && !/[<>"{}|^`]/.test(value)
    ? value
    : invalid('is not a WebID', 'Give an http or https URL such as https://example.org/me#this.')

/**
 * An https URL without query, unchanged: issuers are compared as strings (OpenID Connect Core §2). Also http on this
 * machine, for development.
 */
export const issuerUrl = (value: string): string | InvalidValue =>
  httpUrl(value) && (/^https:\/\/[^?#@]+$/.test(value) || LOCAL_URL.test(value))
    ? value
    : invalid(
        'is not an https URL',
        'Give one such as https://accounts.example.org, or for development http://localhost:PORT.',
      )
const LOCAL_URL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/[^?#@]*)?$/

/** An origin as browsers write it (RFC 6454 §6.2). */
export const origin = (value: string): string | InvalidValue =>
  /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value
    ? value
    : invalid('is not an origin', 'Give scheme, host and port only, such as https://app.example.org.')

/** A name that needs no encoding in a path. */
export const providerName = (value: string): string | InvalidValue =>
  /^[A-Za-z0-9][\w-]{0,63}$/.test(value) ? value : invalid('is not a valid name', 'Give letters, digits, - and _ only.')

/** The smtp or smtps URL of a mail server, with user and password if it requires them. */
export const mailServer = (value: string): string | InvalidValue =>
  /^smtps?:\/\/[^\s/?#]+\/?$/.test(value) && URL.canParse(value)
    ? value
    : invalid('is not the URL of a mail server', 'Give one such as smtps://user:password@mail.example.org.')

/** RFC 5321 §4.1.2, without the parts that a `mailto:` IRI would have to escape. */
export const isMailAddress = (value: string): boolean =>
  value.length <= 254 && /^[\w!$&'*+=~.-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)*[a-z\d-]{1,63}$/i.test(value)

export const mailAddress = (value: string): string | InvalidValue =>
  isMailAddress(value) ? value : invalid('is not an e-mail address', 'Give one such as data@example.org.')

/** Hides the user information of URLs in a text. */
export const withoutUserInfo = (value: string): string => value.replace(/\/\/[^/?#\s]*@/g, '//***@')

/** The IRI of a function, or a prefix of such IRIs followed by `*`. */
export const functionName = (value: string): string | InvalidValue =>
  /^[a-z][a-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\*]+\*?$/i.test(value)
    ? value
    : invalid('is not an IRI', 'Give one such as http://jena.apache.org/text#query, or http://jena.apache.org/text#*.')

/** A time of day, or growth by a factor. */
export const compactionTime = (value: string): string | InvalidValue =>
  /^(?:[01]\d|2[0-3]):[0-5]\d$|^(?:[2-9]|[1-9]\d)(?:\.\d)?x$|^1\.[5-9]x$/.test(value)
    ? value
    : invalid('is neither a time of day nor a factor', 'Give a time from 00:00 to 23:59, or a factor from 1.5x to 99x.')
