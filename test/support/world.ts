// A gateway for tests: started on given stores, with agents that have real client certificates.
import { loadFeatures } from '../../gateway/features.js'
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { pino } from 'pino'
import { X509Certificate } from 'node:crypto'
import { readConfiguration } from '../../gateway/configuration/configuration.js'
import { parseSettings } from '../../gateway/configuration/settings.js'
import { startGateway, type RunningGateway } from '../../gateway/start/start.js'
import type { GraphStore } from '../../gateway/stores/store.js'
import { readClientCertificate } from '../../policies/identity/client-certificate.js'
import { agentCertificate, collectCertificates, shareCertificates } from './certificates.js'
import { makeClient, type Answer, type Client } from './client.js'
import { freePort, releasePort } from './ports.js'
import { A_MINUTE, until } from './wait.js'

export interface World {
  readonly running: RunningGateway
  /** The end-user application's base, and its origin (without a slash). */
  readonly base: string
  readonly origin: string
  readonly ownerWebId: string
  readonly secretaryWebId: string
  readonly ca: string
  /** Without blocks of the event loop, which depend on how busy the machine is. */
  readonly log: Record<string, unknown>[]
  readonly holds: Record<string, unknown>[]
  readonly folder: string
  /** A client with the agent's certificate: owner, writer (reads too), reader, stranger; `anonymous` has none. */
  as(name: string): Client
  webIdOf(name: string): string
  /** The PEM of an agent's certificate and key. */
  pemOf(name: string): string
  /** Moves the clock of the gateway forward, by ms. Its timers do not notice. */
  passTime(ms: number): void
  /** Stops the clock of the gateway, except for `passTime`, until this test ends. */
  stopClock(t: Test): void
  /** A path of a document that does not exist yet, below the root. */
  freshPath(): string
}

export interface WorldOptions {
  readonly flags?: readonly string[]
  /** Clients send a request again if they get 503 because the machine is too busy; with `isHasty` they do not. */
  readonly isHasty?: boolean
  /** A gateway without this feature. */
  readonly without?: string
}

/** Turtle that gives the document this title. */
export const turtle = (title: string): string => `<> <http://purl.org/dc/terms/title> ${title} .`

/** The owner adds these agents to the seeded groups that give them their rights. */
const GROUPS: Readonly<Record<string, string>> = { reader: 'readers', writer: 'writers' }
const AGENTS = ['reader', 'writer', 'stranger']

export async function makeWorld(
  t: Test,
  stores: { endUser: GraphStore; admin: GraphStore },
  { flags = [], isHasty = false, without }: WorldOptions = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const given = flags.indexOf('--https')
  const port = given < 0 ? await freePort() : Number(flags[given + 1])
  // The next world reuses its port, and its certificates.
  if (given < 0) t.teardown(() => releasePort(port))
  const management = flags.includes('--management') ? [] : ['--management', 'off']
  // Histories cost time, so there is none unless the test requests one.
  const history = ['--history', '--admin-history'].flatMap((flag) => (flags.includes(flag) ? [] : [flag, 'off']))
  const cache = process.env.TRIPLEGATE_TEST_CACHE === 'off' && !flags.includes('--cache') ? ['--cache', 'off'] : []
  const settings = parseSettings(
    [...(given < 0 ? ['--https', String(port)] : []), ...management, ...cache, ...history, '--data', folder, ...flags],
    {},
  )
  if ('faults' in settings) throw new Error(settings.faults.join('\n'))
  const dataspaces = await readConfiguration(settings)
  if ('faults' in dataspaces) throw new Error(JSON.stringify(dataspaces.faults))
  const [log, holds]: Record<string, unknown>[][] = [[], []]
  // The certificates of other worlds at this port have WebIDs under the usual base.
  const isUsual = !flags.includes('--admin-base')
  if (isUsual) shareCertificates(port, folder)
  let ahead = 0
  let stopped: number | undefined
  const clock = { now: () => (stopped ?? Date.now()) + ahead }
  const running = await startGateway({
    features: await loadFeatures(without),
    settings,
    dataspaces,
    openStore: (_service, application) =>
      Promise.resolve(keepOpen(stores[application.kind === 'admin' ? 'admin' : 'endUser'])),
    ...clock,
    commitsWait: A_MINUTE,
    jobsTime: 5 * A_MINUTE,
    log: pino(
      { base: null },
      {
        write: (line: string) =>
          void (line.includes('has blocked the event loop') ? holds! : log!).push(
            JSON.parse(line) as Record<string, unknown>,
          ),
      },
    ),
  })
  t.teardown(() => running.close(1_000))
  if (isUsual) collectCertificates(port, folder)

  const ca = readFileSync(join(folder, 'certs/server.pem'), 'utf8')
  const { base } = settings
  const pems = new Map([['owner', readFileSync(join(folder, 'certs/owner.pem'), 'utf8')]])
  const clients = new Map<string, Client>()
  t.teardown(() => clients.forEach((client) => client.close()))
  const as = (name: string): Client => {
    const pem = pems.get(name)
    if (!pem && name !== 'anonymous') throw new Error(`no agent ${name}`)
    const known = clients.get(name)
    if (known) return known
    const client = makeClient({ port, ca, ...(pem && { pem }) })
    const used = isHasty ? client : patient(client)
    clients.set(name, used)
    return used
  }
  const webIdOf = (name: string): string =>
    name === 'owner' ? running.certificates.owner.webId : `${settings.adminBase}acl/agents/${name}/#this`

  // Absolute URLs, since the admin application may have another host.
  for (const name of AGENTS) {
    const pem = await agentCertificate(port, webIdOf(name), name)
    pems.set(name, pem)
    await expectStatus(as('owner')('PUT', webIdOf(name).replace(/#.*/, ''), ttl(profileOf(webIdOf(name), pem))), 201)
    const group = GROUPS[name]
    if (!group) continue
    const url = `${settings.adminBase}acl/groups/${group}/`
    await expectStatus(
      as('owner')('POST', url, ttl(`<#this> <http://xmlns.com/foaf/0.1/member> <${webIdOf(name)}> .`)),
      204,
    )
  }

  let counter = 0
  return {
    running,
    base,
    origin: new URL(base).origin,
    ownerWebId: running.certificates.owner.webId,
    secretaryWebId: running.certificates.secretary.webId,
    ca,
    log: log!,
    holds: holds!,
    folder,
    as,
    webIdOf,
    pemOf: (name) => pems.get(name)!,
    passTime: (ms) => void (ahead += ms),
    stopClock(t) {
      const from = (stopped ??= Date.now())
      t.teardown(() => {
        ahead -= Date.now() - from
        stopped = undefined
      })
    },
    freshPath: () => `/d${++counter}/`,
  }
}

/** A WebID profile in Turtle that lists the key of this certificate. */
export function profileOf(webId: string, pem: string): string {
  const { key } = readClientCertificate(new X509Certificate(pem).raw)!
  return `<${webId}> a <http://xmlns.com/foaf/0.1/Agent> ; <http://www.w3.org/ns/auth/cert#key> [
    a <http://www.w3.org/ns/auth/cert#RSAPublicKey> ;
    <http://www.w3.org/ns/auth/cert#modulus> "${key!.modulus}"^^<http://www.w3.org/2001/XMLSchema#hexBinary> ;
    <http://www.w3.org/ns/auth/cert#exponent> ${key!.exponent} ] .`
}

export const ttl = (body: string): { fields: Record<string, string>; body: string } => ({
  fields: { 'Content-Type': 'text/turtle' },
  body,
})

/** The body of a SPARQL update: of a PATCH, or for the SPARQL endpoint. */
export const update = (body: string): { fields: Record<string, string>; body: string } => ({
  fields: { 'Content-Type': 'application/sparql-update' },
  body,
})

export const accept = (mediaTypes: string): { fields: Record<string, string> } => ({ fields: { Accept: mediaTypes } })

async function expectStatus(answer: ReturnType<Client>, status: number): Promise<void> {
  const { status: actual, text } = await answer
  if (actual !== status) throw new Error(`expected ${status}, got ${actual}: ${text}`)
}

/**
 * The gateway's message if a thread did not start, or did not end, in time (gateway/evaluation/): nothing has been
 * done.
 */
const TOO_BUSY = /The machine was too busy|Too much work is waiting/

/** The client tries again after such answers. */
export function patient(client: Client): Client {
  const ask = (...request: Parameters<Client>): ReturnType<Client> =>
    until(async (): Promise<Answer | false> => {
      const answered = await client(...request)
      return (answered.status !== 503 || !TOO_BUSY.test(answered.text)) && answered
    })
  return Object.assign(ask, { close: () => client.close() })
}

/** The test that opened a store also closes it. */
const keepOpen = (store: GraphStore): GraphStore => ({ ...store, close: () => Promise.resolve() })
