// Maps failures of a connection to a triplestore to the problems that clients see.
import { problem, type Problem } from '../problem.js'
import { StoreBreak } from './store.js'

const RETRY_AFTER_SECONDS = '5'
export const TOO_LONG = problem('store.time', 'The triplestore took longer to answer than its limit (--store-timeout).')
const BROKEN_OFF = problem('store.failed', 'The answer of the triplestore broke off or is not HTTP.')
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH'])
const OUT_OF_TIME = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])
const CLOSED = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])
const CERTIFICATE = /CERT|SIGNATURE|^ERR_TLS_|^ERR_SSL_/

/** `store.unreachable`, with the delay that the store asks for, if any. */
export const unreachable = (detail: string, retryAfter = RETRY_AFTER_SECONDS): Problem =>
  problem('store.unreachable', detail, { fields: [['Retry-After', retryAfter]] })

/** The problem of a failure of the connection. Any other error is a bug, and rethrown. */
export function connectionProblem(error: unknown): Problem {
  if (error instanceof StoreBreak) return error.problem
  const { code, name } = error as { code?: string; name?: string }
  if (name === 'HTTPParserError') return BROKEN_OFF
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG') throw error
  if (NO_CONNECTION.has(code)) return unreachable('The triplestore cannot be reached.')
  if (OUT_OF_TIME.has(code)) return TOO_LONG
  if (CLOSED.has(code)) return problem('server.closing', 'The gateway is closing its connections to the triplestore.')
  if (CERTIFICATE.test(code)) return NO_CERTIFICATE
  return BROKEN_OFF
}

const NO_CERTIFICATE = problem('store.failed', 'The certificate of the triplestore was not accepted.')
export const NO_CREDENTIALS = problem('store.refused', "The triplestore refused the gateway's credentials.")

/** What the operator can do about the problem of a store. */
export function storeAdvice({ detail }: Problem, otherwise: string): string {
  if (detail === NO_CREDENTIALS.detail)
    return 'Give --backend-user and --backend-password, or --backend-token; with --config, correct its --credentials.'
  if (detail === NO_CERTIFICATE.detail)
    return 'If its certificate is of an authority of your own, start with NODE_EXTRA_CA_CERTS=FILE.'
  return otherwise
}
