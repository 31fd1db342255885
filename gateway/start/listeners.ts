// The listeners: HTTPS, plain HTTP behind a proxy, and those of features.
import type { Certificates } from './certificates.js'
import { matcherOf } from './fetchers.js'
import { listenAddress } from '../configuration/dataspace.js'
import type { DescribedDataspace } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { FeatureListeners, GatewayFeature, PortSetting } from '../feature.js'
import type { Gateway } from '../gateway.js'
import { handle } from '../handle.js'
import { listen, type AnswerRequest, type Listener, type ListenerSettings } from '../http/listener.js'
import { shared } from '../http/shares.js'
import { takePort, type TakenPort } from '../http/taken-port.js'
import { targetOfRequest } from '../request/preflight.js'
import { problemAnswer } from '../request/problem-answer.js'
import { problemResponse } from '../request/respond.js'

/** The ports that listen. Only here is a port known that the system chooses. */
export type Ports = Readonly<Partial<Record<PortSetting, number>>>

export type TakenPorts = ReadonlyMap<PortSetting, TakenPort>

export const portsOf = (taken: TakenPorts): Ports =>
  Object.fromEntries([...taken].map(([name, { port }]) => [name, port]))

export const closePorts = (taken: TakenPorts): Promise<unknown> =>
  Promise.all([...taken.values()].map((port) => port.close()))

/** Takes all ports, before anything is written: another process may have one of them. Throws StartFailure. */
export async function takePorts({ settings, dataspaces, features }: Ported): Promise<TakenPorts> {
  const host = settings.host ?? listenAddress(dataspaces)
  const addresses: FeatureListeners['addresses'] = Object.assign({}, ...features.map((one) => one.listeners?.addresses))
  const taken = new Map<PortSetting, TakenPort>()
  for (const name of ['https', 'http', ...Object.keys(addresses)] as PortSetting[]) {
    const port = settings[name]
    if (port === 'off') continue
    const address = addresses[name]?.(settings) ?? host
    try {
      taken.set(name, await takePort(port, address))
    } catch (error) {
      await closePorts(taken)
      throw new StartFailure(portFailure(name, port, address, error))
    }
  }
  return taken
}

/** The memory for the contents of requests, in bytes. */
const BODY_MEMORY = 128 * 1024 * 1024

interface Ported {
  readonly settings: Settings
  readonly dataspaces: readonly DescribedDataspace[]
  readonly features: readonly GatewayFeature[]
}

export function openListeners(
  gateway: Gateway,
  { settings, features }: Pick<Ported, 'settings' | 'features'>,
  taken: TakenPorts,
  server: Certificates['server'],
): Promise<readonly Listener[]> {
  const answer: AnswerRequest = (request) => handle(request, gateway)
  const started = gateway.now().toString(36)
  let count = 0
  const { maxBody } = settings
  const { each, all } = shared(Math.max(BODY_MEMORY, maxBody))
  const bodyRoom = { each: Math.max(each, maxBody), all }
  // Always of the same length, since error pages contain it, and HEAD has the length of the page (RFC 9110 §9.3.2).
  const nextId = (): string => `${started}-${String(++count).padStart(9, '0')}`
  const common = { now: gateway.now, nextId, problemResponse, bodyRoom }
  const refuse: ListenerSettings['refuse'] = (reason, request) =>
    problemAnswer(reason, {
      gateway,
      request,
      target: targetOfRequest(request, gateway),
      accept: request.fields.accept,
      trace: {},
    })
  const isTrustedProxy = matcherOf(settings.trustedProxy).matches
  const behindProxy = (port: TakenPort): ListenerSettings => ({ ...common, port, isTrustedProxy })
  const withTls = (port: TakenPort): ListenerSettings => ({ ...common, port, tls: server })
  const forDocuments = settings.https === 'off' ? behindProxy : withTls
  const others: ReturnType<FeatureListeners['open']> = Object.assign(
    {},
    ...features.map((one) => one.listeners?.open(gateway, settings)),
  )
  const open = (name: PortSetting, port: TakenPort): Promise<Listener> => {
    if (name === 'https') return listen({ ...withTls(port), refuse }, answer)
    if (name === 'http') return listen({ ...behindProxy(port), refuse }, answer)
    return others[name]!({ ...common, port }, forDocuments(port))
  }
  return Promise.all([...taken].map(([name, port]) => open(name, port)))
}

const NO_ADDRESS: ReadonlySet<string | undefined> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'])

function portFailure(name: PortSetting, port: number, address: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (NO_ADDRESS.has(code))
    return `--${name === 'monitoring' ? 'monitoring-host' : 'host'}: ${address} is not an address of this machine (${code}). Correct it.`
  const why =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not allowed for this account' : `failed: ${message}`
  return `--${flagOf(name)}: port ${port} ${why}. Choose another port, or stop the process that uses it.`
}

const flagOf = (name: PortSetting): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
