// The possible failures of an outbound fetch, with a sentence for each.
import { failure, type Failure } from '../failure.js'

/** No sentence reveals a host or address. */
const DETAIL = {
  'refused-address': 'The URL leads to an address that may not be fetched from.',
  'refused-scheme': 'Only http and https URLs are fetched.',
  'refused-port': 'The URL leads to a port that may not be fetched from.',
  malformed: 'The URL or a field of the request is malformed.',
  unresolvable: 'The host of the URL has no address.',
  unreachable: 'The connection failed or broke off.',
  time: 'The answer took too long.',
  'too-large': 'The answer is too large.',
  redirects: 'The URL is redirected too often, or by an unsupported redirect.',
  encoding: 'The content coding of the answer is not supported or is broken.',
  /** By the caller's signal, or by `close`. */
  aborted: 'The fetch was aborted.',
} as const

export type FetchFailure = Failure<keyof typeof DETAIL>

/** The server's certificate is not trusted. Retrying will not help. */
export const isUntrusted = ({ failure, detail }: Failure): boolean =>
  failure === 'unreachable' && /CERT|SELF_SIGNED|ISSUER/.test(detail)

/** `cause` is an error code of the connection, of TLS or of the parser. */
export const fetchFailure = (code: FetchFailure['failure'], cause?: string): FetchFailure =>
  failure(code, cause ? `${DETAIL[code]} (${cause})` : DETAIL[code])
