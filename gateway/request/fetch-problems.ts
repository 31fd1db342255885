// Maps failures of fetches that the gateway makes for a client to the problems that the client sees.
import type { FetchFailure } from '../../policies/fetch/fetch-failure.js'
import type { ProblemCode } from '../problem.js'

export const FETCH_PROBLEMS: Readonly<Record<FetchFailure['failure'], ProblemCode>> = {
  'refused-address': 'proxy.refused',
  'refused-scheme': 'proxy.refused',
  'refused-port': 'proxy.refused',
  malformed: 'proxy.refused',
  unresolvable: 'proxy.failed',
  unreachable: 'proxy.failed',
  'too-large': 'proxy.failed',
  redirects: 'proxy.failed',
  encoding: 'proxy.failed',
  time: 'proxy.time',
  aborted: 'server.closing',
}
