// In charge of the doctor's look at addresses: the base as clients see it, its name, proxies, and the gateway that runs.
import { lookup } from 'node:dns/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isLoopbackUrl, type DescribedDataspace } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import { LDT } from '../rdf/vocabulary.js'
import { fine, finding, unknown, type Finding } from './finding.js'

const ASKING_MS = 5_000

export async function addressFindings(
  settings: Settings,
  dataspaces: readonly DescribedDataspace[],
): Promise<Finding[]> {
  const running = await runningFindings(settings)
  const isRunning = running.some(({ state }) => state !== 'unknown')
  const bases = [...new Set(dataspaces.flatMap(({ endUser, admin }) => [endUser.base, admin.base]))]
  const seen = await Promise.all(bases.map((base) => baseFindings(base, isRunning)))
  return [...seen.flat(), ...proxyFindings(settings), ...enforcementFindings(settings), ...running]
}

async function baseFindings(base: string, isRunning: boolean): Promise<Finding[]> {
  const what = `base ${base}`
  const { protocol, hostname } = new URL(base)
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const address = await lookup(name).catch(() => undefined)
  if (!address) return [finding(what, `the name ${name} has no address`, 'Add it to the DNS, or correct --base.')]
  const transport =
    protocol === 'https:' || isLoopbackUrl(base)
      ? []
      : [finding(what, 'clients send credentials without TLS', 'Give a base with https, and TLS here or in a proxy.')]
  if (!isRunning)
    return [...transport, unknown(what, `its name has the address ${address.address}; the gateway does not run`)]
  const answer = await ask(base, 'HEAD')
  if (typeof answer === 'string') {
    return [...transport, finding(what, answer, 'Check --base, the listeners, the proxy in front and its upstream.')]
  }
  return [
    ...transport,
    answer.links.includes(`<${base}>; rel="${LDT('base')}"`)
      ? fine(what, `the gateway answers there (${answer.status})`)
      : finding(
          what,
          `the answer (${answer.status}) has no link to this base`,
          'Another program answers there, or --base is not the URL that clients use.',
        ),
  ]
}

const LONGEST = 1024 * 1024

interface Answer {
  readonly status: number
  readonly links: string
  readonly text: string
}

/** The reason why there is no answer. The certificate is looked at elsewhere (machine.ts): here any will do. */
function ask(url: string, method: 'GET' | 'HEAD'): Promise<Answer | string> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(ASKING_MS)
    const failed = (error: Error): void =>
      resolve(signal.aborted ? `no answer in ${ASKING_MS / 1000} s` : `nothing answers: ${error.message}`)
    const request = url.startsWith('https:') ? httpsRequest : httpRequest
    request(url, { method, signal, rejectUnauthorized: false }, (answer) => {
      const links = String(answer.headers.link ?? '')
      let text = ''
      answer.setEncoding('utf8').on('error', failed)
      answer.on('data', (piece: string) => {
        if ((text += piece).length > LONGEST) answer.destroy(new Error('the answer is too long'))
      })
      answer.on('end', () => resolve({ status: answer.statusCode!, links, text }))
    })
      .on('error', failed)
      .end()
  })
}

function proxyFindings({ https, http, trustedProxy }: Settings): Finding[] {
  const what = 'proxy in front'
  if (http === 'off') return []
  return trustedProxy.length > 0
    ? [fine(what, 'the gateway believes Client-Cert and X-Forwarded-For of the proxies in --trusted-proxy')]
    : [
        finding(
          what,
          `plain HTTP is on${https === 'off' ? '' : ' too'}, and no proxy is trusted: no client has a certificate there, and all are one network`,
          'Give --trusted-proxy, or --http off.',
        ),
      ]
}

const enforcementFindings = ({ enforce }: Settings): Finding[] =>
  enforce
    ? [fine('rules', 'enforced')]
    : [finding('rules', 'observed only (--enforce=false)', 'Read triplegate access observed, then leave the flag out.')]

/** The report of the running gateway about itself: stores, journals, histories. */
async function runningFindings({ management }: Settings): Promise<Finding[]> {
  const what = 'running gateway'
  if (management === 'off') return [unknown(what, 'its management listener is off')]
  const url = `http://127.0.0.1:${management}/health/ready`
  const answer = await ask(url, 'GET')
  const health = typeof answer === 'string' ? undefined : healthIn(answer.text)
  if (!health) return [unknown(what, `none answers at ${url}`)]
  const failing = health.checks.filter(({ problem }) => problem !== undefined)
  return failing.length === 0
    ? [fine(what, `ready: ${health.checks.map(({ what }) => what).join('; ')}`)]
    : failing.map(({ what: checked, problem }) =>
        finding(checked, problem!, 'See docs/operating.md, "Health, metrics, purge, logs".'),
      )
}

interface Health {
  readonly checks: readonly { readonly what: string; readonly problem?: string }[]
}

function healthIn(text: string): Health | undefined {
  try {
    const value = JSON.parse(text) as Partial<Health> | null
    return Array.isArray(value?.checks) ? (value as Health) : undefined
  } catch {
    return undefined
  }
}
