// In charge of the listeners: HTTPS, plain HTTP behind a proxy, and management on loopback.
import type { Certificates } from './certificates.js'
import { matcherOf } from './make-gateway.js'
import { listenAddress } from '../configuration/dataspace.js'
import type { DescribedDataspace } from '../configuration/dataspace.js'
import type { Settings } from '../configuration/settings.js'
import { StartFailure } from '../configuration/start-failure.js'
import type { Gateway } from '../gateway.js'
import { handle } from '../handle.js'
import { listen, type Answer, type Listener } from '../http/listener.js'
import { shared } from '../http/shares.js'
import { makeManagement } from '../operators/management.js'
import { problemResponse } from '../request/respond.js'

type Name = 'https' | 'http' | 'management'

/** The ports that listen. A port that the system chooses is known here only. */
export type Ports = Readonly<Partial<Record<Name, number>>>

/** Throws StartFailure. */
export async function openListeners(
  gateway: Gateway,
  {
    settings,
    dataspaces,
    server,
  }: {
    readonly settings: Settings
    readonly dataspaces: readonly DescribedDataspace[]
    readonly server: Certificates['server']
  },
): Promise<{ readonly ports: Ports; readonly listeners: readonly Listener[] }> {
  const host = settings.host ?? listenAddress(dataspaces)
  const answer: Answer = (request) => handle(request, gateway)
  const operators: Answer = makeManagement(gateway.dataspaces, gateway)
  const started = gateway.now().toString(36)
  let count = 0
  const { bodyTimeout, bodyMemory, maxBody } = settings
  const { each, all } = shared(Math.max(bodyMemory, maxBody))
  const bodyRoom = { each: Math.max(each, maxBody), all }
  const nextId = (): string => `${started}-${++count}`
  const common = { host, now: gateway.now, nextId, problemResponse, bodyTimeout, bodyRoom }
  const isTrustedProxy = matcherOf(settings.trustedProxy).matches
  const rows: readonly [name: Name, open: (port: number) => Promise<Listener>][] = [
    ['https', (port) => listen({ ...common, port, tls: server }, answer)],
    ['http', (port) => listen({ ...common, port, isTrustedProxy }, answer)],
    ['management', (port) => listen({ ...common, port, host: '127.0.0.1' }, operators)],
  ]
  const ports: Partial<Record<Name, number>> = {}
  const listeners: Listener[] = []
  for (const [name, open] of rows) {
    const port = settings[name]
    if (port === 'off') continue
    try {
      const listener = await open(port)
      listeners.push(listener)
      ports[name] = listener.port
    } catch (error) {
      await Promise.all(listeners.map((listener) => listener.close(0)))
      throw new StartFailure(portFailure(name, port, error))
    }
  }
  return { ports, listeners }
}

function portFailure(name: Name, port: number, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const why =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not allowed for this account' : `failed: ${message}`
  return `--${name}: port ${port} ${why}. Choose another port, or stop the process that uses it.`
}
