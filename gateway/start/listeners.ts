// In charge of the listeners: HTTPS, plain HTTP behind a proxy, management on loopback, and health and metrics for monitors.
import type { Certificates } from './certificates.js'
import { matcherOf } from './make-gateway.js'
import { listenAddress } from '../configuration/dataspace.js'
import type { DescribedDataspace } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { Gateway } from '../gateway.js'
import { handle } from '../handle.js'
import { listen, type Answer, type Listener, type ListenerSettings } from '../http/listener.js'
import { shared } from '../http/shares.js'
import { takePort, type TakenPort } from '../http/taken-port.js'
import { makeManagement } from '../features/operators/management.js'
import { openStorePages } from '../features/operators/store-pages.js'
import { problemAnswer } from '../request/problem-answer.js'
import { problemResponse } from '../request/respond.js'

type Name = 'https' | 'http' | 'management' | 'monitoring' | 'storePages'

const FLAGS = {
  https: 'https',
  http: 'http',
  management: 'management',
  monitoring: 'monitoring',
  storePages: 'store-pages',
} as const

/** The ports that listen. A port that the system chooses is known here only. */
export type Ports = Readonly<Partial<Record<Name, number>>>

export type TakenPorts = ReadonlyMap<Name, TakenPort>

export const portsOf = (taken: TakenPorts): Ports =>
  Object.fromEntries([...taken].map(([name, { port }]) => [name, port]))

export const closePorts = (taken: TakenPorts): Promise<unknown> =>
  Promise.all([...taken.values()].map((port) => port.close()))

/** Takes all ports, before anything is written: another process may have one of them. Throws StartFailure. */
export async function takePorts(settings: Settings, dataspaces: readonly DescribedDataspace[]): Promise<TakenPorts> {
  const host = settings.host ?? listenAddress(dataspaces)
  const taken = new Map<Name, TakenPort>()
  for (const name of Object.keys(FLAGS) as Name[]) {
    const port = settings[name]
    if (port === 'off') continue
    try {
      const own = name === 'management' ? '127.0.0.1' : name === 'monitoring' ? settings.monitoringHost : undefined
      taken.set(name, await takePort(port, own ?? host))
    } catch (error) {
      await closePorts(taken)
      throw new StartFailure(portFailure(name, port, error))
    }
  }
  return taken
}

export function openListeners(
  gateway: Gateway,
  settings: Settings,
  taken: TakenPorts,
  server: Certificates['server'],
): Promise<readonly Listener[]> {
  const answer: Answer = (request) => handle(request, gateway)
  const operators = makeManagement(gateway.dataspaces, gateway, settings)
  const started = gateway.now().toString(36)
  let count = 0
  const { bodyTimeout, bodyMemory, maxBody } = settings
  const { each, all } = shared(Math.max(bodyMemory, maxBody))
  const bodyRoom = { each: Math.max(each, maxBody), all }
  // Always as long: an error page has it, and HEAD the length of the page (RFC 9110 §9.3.2).
  const nextId = (): string => `${started}-${String(++count).padStart(9, '0')}`
  const common = { now: gateway.now, nextId, problemResponse, bodyTimeout, bodyRoom }
  const refuse: ListenerSettings['refuse'] = (reason, request) =>
    problemAnswer(reason, request.fields.accept, { gateway, request, trace: {} })
  const isTrustedProxy = matcherOf(settings.trustedProxy).matches
  const open: Readonly<Record<Name, (port: TakenPort) => Promise<Listener>>> = {
    https: (port) => listen({ ...common, port, tls: server, refuse }, answer),
    http: (port) => listen({ ...common, port, isTrustedProxy, refuse }, answer),
    management: (port) => listen({ ...common, port }, operators.answer),
    monitoring: (port) => listen({ ...common, port }, operators.monitor),
    storePages: (port) => listenForPages(gateway, settings, { ...common, port, ...(settings.https === 'off' ? { isTrustedProxy } : { tls: server }) }), // prettier-ignore
  }
  return Promise.all([...taken].map(([name, port]) => open[name](port)))
}

async function listenForPages(gateway: Gateway, settings: Settings, listening: ListenerSettings): Promise<Listener> {
  const pages = openStorePages(gateway, { mayWrite: settings.storePagesWrite, maxBytes: settings.maxUpload })
  if (!pages)
    throw new StartFailure(
      "--store-pages: needs a Graph Store endpoint that ends with /data, as Fuseki's. Remove it, or give one.",
    )
  const listener = await listen(listening, pages.answer)
  return { ...listener, close: (grace) => listener.close(grace).then(pages.close) }
}

function portFailure(name: Name, port: number, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const why =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not allowed for this account' : `failed: ${message}`
  return `--${FLAGS[name]}: port ${port} ${why}. Choose another port, or stop the process that uses it.`
}
