// The doctor's checks of addresses: the base as clients see it, its name, proxies, and the running gateway.
import { lookup } from 'node:dns/promises'
import { isLoopbackUrl, type DescribedDataspace } from '../../configuration/dataspace.js'
import { unservedBases } from '../../configuration/served-bases.js'
import type { Settings } from '../../configuration/settings.js'
import { LDT } from '../../rdf/vocabulary.js'
import { doctorOf } from '../../request/observe.js'
import { readTagKey } from '../../start/tag-key.js'
import { askUrl, type AskedAnswer } from '../../survey/ask.js'
import { canaryFindings } from './canaries.js'
import { fine, finding, unknown, type Finding } from '../../survey/finding.js'
import type { OpenedStore } from '../../survey/stores.js'

export async function addressFindings(
  settings: Settings,
  dataspaces: readonly DescribedDataspace[],
  stores: readonly OpenedStore[],
  now: () => number,
): Promise<Finding[]> {
  const running = await runningFindings(settings)
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const tagKey = readTagKey(settings.data)
  const as = (base: string) => tagKey && doctorOf(tagKey, base, now())
  // Without a management port, only the base shows whether the gateway runs.
  const isAsked = settings.management === 'off' || running.some(({ state }) => state !== 'unknown')
  const asked = await Promise.all(
    applications.map(({ base }) => (isAsked ? askUrl(base, 'HEAD', as(base)) : undefined)),
  )
  const ours = asked.flatMap((answer, at) => (isOurs(applications[at]!.base, answer) ? [answer as AskedAnswer] : []))
  const isRunning = settings.management === 'off' ? ours.length > 0 : isAsked
  const unserved = unservedBases(settings, dataspaces)
  const seen = await Promise.all(
    applications.map(({ base }, at) => {
      const own = unserved.find((one) => one.base === base)
      if (!own || isOurs(base, asked[at])) return baseFindings(base, isRunning ? asked[at] : undefined)
      return [finding(`base ${base}`, own.problem, `Give ${own.flags}, or --trusted-proxy if a proxy serves it.`)]
    }),
  )
  const enforcement = enforcementFinding(settings, isRunning, ours)
  const canaries = isRunning ? await canaryFindings(applications, stores, as) : []
  return [...seen.flat(), ...canaries, ...proxyFindings(settings), enforcement, ...running]
}

/** @param answer undefined if the gateway does not run */
async function baseFindings(base: string, answer: AskedAnswer | string | undefined): Promise<Finding[]> {
  const what = `base ${base}`
  const { protocol, hostname } = new URL(base)
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const address = await lookup(name).catch(() => undefined)
  if (!address) return [finding(what, `the name ${name} has no address`, 'Add it to the DNS, or correct --base.')]
  const transport =
    protocol === 'https:' || isLoopbackUrl(base)
      ? []
      : [finding(what, 'clients send credentials without TLS', 'Give an https base, and TLS here or in a proxy.')]
  if (answer === undefined)
    return [...transport, unknown(what, `its name has the address ${address.address}; the gateway does not run`)]
  if (typeof answer === 'string') {
    return [...transport, finding(what, answer, 'Check --base, the listeners, the proxy in front and its upstream.')]
  }
  return [
    ...transport,
    isOurs(base, answer)
      ? fine(what, `the gateway answers there (${answer.status})`)
      : finding(
          what,
          `the answer (${answer.status}) has no link to this base`,
          'Another program answers there, or --base is not the URL that clients use.',
        ),
  ]
}

function proxyFindings({ https, http, trustedProxy }: Settings): Finding[] {
  const what = 'proxy in front'
  if (http === 'off') return []
  return trustedProxy.length > 0
    ? [fine(what, 'the gateway accepts Client-Cert and X-Forwarded-For from the proxies in --trusted-proxy')]
    : [
        finding(
          what,
          `plain HTTP is on${https === 'off' ? '' : ' too'}, and no proxy is trusted: clients have no certificates, and all count as one network`,
          'Give --trusted-proxy, or --http off.',
        ),
      ]
}

const isOurs = (base: string, answer: AskedAnswer | string | undefined): boolean =>
  typeof answer === 'object' && answer.links.includes(`<${base}>; rel="${LDT('base')}"`)

const OBSERVED = 'Read triplegate access observed, then start the gateway without --enforce=false.'

/** The running gateway's behaviour counts, whatever these settings say. */
function enforcementFinding({ enforce }: Settings, isRunning: boolean, answers: readonly AskedAnswer[]): Finding {
  const what = 'rules'
  if (answers.some(({ isObserved }) => isObserved))
    return finding(what, 'observed only: the running gateway has --enforce=false', OBSERVED)
  if (answers.length > 0) return fine(what, 'the running gateway enforces them')
  if (!enforce) return finding(what, 'observed only, with these settings (--enforce=false)', OBSERVED)
  return unknown(what, isRunning ? 'no base answers' : 'no gateway answers at the port of --management')
}

/** The running gateway's report on its stores, journals and histories. */
async function runningFindings({ management }: Settings): Promise<Finding[]> {
  const what = 'running gateway'
  if (management === 'off') return [unknown(what, 'its management listener is off')]
  const url = `http://127.0.0.1:${management}/health/ready`
  const answer = await askUrl(url, 'GET')
  const health = typeof answer === 'string' ? undefined : healthIn(answer.text)
  if (!health) return [unknown(what, `no gateway answers at ${url}`)]
  const failing = health.checks.flatMap(({ what: checked, problem, warning, journal }) => {
    const evidence = problem ?? warning ?? journal?.lastError
    return evidence ? [finding(checked, evidence, 'See docs/monitoring.md.')] : []
  })
  const checked = health.checks.map(({ what }) => what).join('; ')
  return failing.length === 0 ? [fine(what, `ready: ${checked}`)] : failing
}

interface Health {
  readonly checks: readonly {
    readonly what: string
    readonly problem?: string
    /** Set if a history differs from its store. */
    readonly warning?: string
    /** `lastError`: why commits wait. */
    readonly journal?: { readonly lastError?: string | null }
  }[]
}

function healthIn(text: string): Health | undefined {
  try {
    const value = JSON.parse(text) as Partial<Health> | null
    return Array.isArray(value?.checks) ? (value as Health) : undefined
  } catch {
    return undefined
  }
}
