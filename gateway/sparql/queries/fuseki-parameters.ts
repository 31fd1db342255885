// The parameters of a query that Fuseki has beside those of the SPARQL Protocol: the format of the result, and a
// time limit. Those that clients must not decide here are refused.
import { problem, type Problem } from '../../problem.js'
import type { Output } from './formats.js'

export interface FusekiParameters {
  readonly output?: Output
  /** Milliseconds. */
  readonly timeout?: number
}

/** The first of these counts. */
export const OUTPUT = ['output', 'format', 'results'] as const
/** Beside a form, they may be in the URL too. */
export const OWN_PARAMETERS = [...OUTPUT, 'force-accept', 'timeout', 'callback', 'stylesheet'] as const

/** An empty value is none. A `+` that is not percent-encoded has arrived as a blank. */
export function fusekiParameters(parameters: URLSearchParams): FusekiParameters | Problem {
  const valueOf = (name: string): string | undefined => parameters.get(name)?.trim().replaceAll(' ', '+') || undefined
  const format = OUTPUT.map(valueOf).find((value) => value !== undefined)
  const [forced, timeout] = [valueOf('force-accept'), valueOf('timeout')]
  if (valueOf('callback') !== undefined) return NO_SCRIPT
  if (valueOf('stylesheet') !== undefined && /xml|^sparql$/i.test(format ?? '')) return NO_STYLESHEET
  if (forced !== undefined && forced !== 'text/plain') return NO_FORCE
  const ms = 1000 * Number(TIMES.exec(timeout ?? '')?.[1] ?? 0)
  return {
    ...((format ?? forced) !== undefined && { output: { ...(format && { format }), ...(forced && { forced }) } }),
    ...(ms > 0 && ms <= LONGEST_MS && { timeout: ms }),
  }
}

/** Seconds to the first row and in all, or in all. Fuseki ignores anything else. */
const TIMES = /^(?:[\d.]+,)?(\d+(?:\.\d+)?)$/
/** The store's own limit is shorter than a longer one. */
const LONGEST_MS = 3_600_000

const refused = (detail: string): Problem => problem('request.malformed', detail)
const NO_SCRIPT = refused('Results as scripts (callback) are not supported: request JSON. Pages of other origins may, where CORS lets them.') // prettier-ignore
const NO_STYLESHEET = refused('A stylesheet would run in pages of this gateway: leave it out, and transform the XML yourself.') // prettier-ignore
const NO_FORCE = refused('force-accept takes text/plain only. Name the format of the result by output, or by Accept.')
