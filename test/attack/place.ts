// The place of attacks: a gateway in its own process on fresh stores, its agents, and a foreign server.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeClientCertificate } from '../../gateway/agents/make-certificate.js'
import { makeSite, startGateway, type GatewayProcess, type Site } from '../crash/gateway-process.js'
import { makeClient, type Answer, type Client } from '../support/client.js'
import { createDataset } from '../support/fuseki-datasets.js'
import { profileOf, ttl, turtle } from '../support/world.js'

export interface Place {
  readonly site: Site
  readonly gateway: GatewayProcess
  /** With a slash at the end. */
  readonly base: string
  readonly admin: string
  readonly ca: string
  /** On Fuseki: the URLs of the datasets. */
  readonly datasets?: { readonly endUser: string; readonly admin: string }
  /** A client with the certificate of an agent: owner, writer, reader, stranger; `anonymous` has none. */
  as(name: string): Client
  webIdOf(name: string): string
  pemOf(name: string): string
  /** A separate client, which comes from this address and requests this host. */
  client(pem?: string, from?: string, host?: string): Client
  /** A path that no other attack uses. */
  path(): string
  /** The value of the first metric with this name. */
  metrics(): Promise<(name: string) => number>
  /** The longest time for which something has held the event loop, in ms, since this time or the last restart. */
  longestHold(since: number): number
  /** Starts the gateway again on the same folder. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const GROUPS = { writer: 'writers', reader: 'readers', stranger: undefined } as const

export interface PlaceOptions {
  readonly flags?: readonly string[]
  /** A second dataspace on the same datasets, at this host. Its owner is this agent of the first dataspace. */
  readonly second?: { readonly host: string; readonly owner: string }
}

/** @param fuseki the base URL of a Fuseki that creates datasets; undefined: the embedded store */
export async function openPlace(fuseki: string | undefined, { flags = [], second }: PlaceOptions = {}): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-attack-'))
  const datasets = fuseki === undefined ? undefined : { endUser: await dataset(fuseki), admin: await dataset(fuseki) }
  const stores = datasets
    ? [
        '--backend',
        datasets.endUser,
        '--admin-backend',
        datasets.admin,
        '--admin-history',
        'local',
        ...(flags.includes('--history') ? [] : ['--history', 'local']),
      ]
    : []
  const open = ['--proxy', 'everyone', '--allow-fetch', '127.0.0.1/32']
  // With a backend nobody may sign up otherwise.
  if (!flags.includes('--sign-up')) open.push('--sign-up', 'everyone')
  const plain = await makeSite(folder, [...(second ? [] : stores), ...open, ...flags])
  const site = second && datasets ? withSecond(plain, datasets, second) : plain
  let gateway = await started(site)
  let startedAt = Date.now()
  const pem = (name: string): string => readFileSync(join(folder, 'certs', `${name}.pem`), 'utf8')
  const [ca, owner] = [pem('server'), pem('owner')]
  const clients: Client[] = []
  const client = (pem?: string, from?: string, host?: string): Client => {
    const made = makeClient({
      port: site.port,
      ca,
      ...(pem !== undefined && { pem }),
      ...(from !== undefined && { from }),
      ...(host !== undefined && { host: `${host}:${site.port}` }),
    })
    clients.push(made)
    return made
  }
  const pems = new Map([['owner', owner]])
  const known = new Map<string, Client>()
  const webIdOf = (name: string): string => agentIn(site, name)
  let count = 0
  const place: Place = {
    site,
    get gateway() {
      return gateway
    },
    base: site.base,
    admin: site.admin,
    ca,
    ...(datasets && { datasets }),
    as(name) {
      const made = known.get(name) ?? client(pems.get(name))
      known.set(name, made)
      return made
    },
    webIdOf,
    pemOf: (name) => pems.get(name)!,
    client,
    path: () => `/attack${++count}/`,
    async metrics() {
      const answer = await fetch(`http://127.0.0.1:${site.management}/metrics`, { signal: AbortSignal.timeout(20_000) })
      const text = await answer.text()
      return (name) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1])
    },
    longestHold(since) {
      const lines = existsSync(holdsIn(site)) ? readFileSync(holdsIn(site), 'utf8').trim().split('\n') : []
      const held = lines.map((line) => line.split(' ').map(Number) as [at: number, ms: number])
      return Math.max(0, ...held.filter(([at]) => at >= Math.max(since, startedAt)).map(([, ms]) => ms))
    },
    async restart() {
      await gateway.stop()
      gateway = await started(site)
      startedAt = Date.now()
    },
    async stop() {
      for (const each of clients) each.close()
      await gateway.kill()
      // Its Git processes may still be writing.
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
  for (const [name, group] of Object.entries(GROUPS)) {
    pems.set(name, await makeClientCertificate(webIdOf(name), name, Date.now()))
    const document = new URL(webIdOf(name)).pathname
    await expected(place.as('owner')('PUT', document, ttl(profileOf(webIdOf(name), pems.get(name)!))), 201)
    const member = ttl(`<#this> <http://xmlns.com/foaf/0.1/member> <${webIdOf(name)}> .`)
    if (group) await expected(place.as('owner')('POST', `/admin/acl/groups/${group}/`, member), 204)
  }
  await expected(place.as('owner')('PUT', CACHED, ttl(turtle('"cached"'))), 201)
  return place
}

/** The site with a configuration file instead of the settings of one dataspace. */
function withSecond(
  site: Site,
  datasets: NonNullable<Place['datasets']>,
  { host, owner }: NonNullable<PlaceOptions['second']>,
): Site {
  const service = (name: string, dataset: string): string =>
    `<urn:${name}> a sd:Service ; sd:endpoint <${dataset}/query> ; a:graphStore <${dataset}/data> .`
  const dataspace = (name: string, base: string, maker = ''): string =>
    `<urn:${name}> a lds:EndUserDataspace ; lds:origin <${base}> ; lds:service <urn:documents> ${maker} .
    <urn:${name}-admin> a lds:AdminDataspace ; lds:origin <${base}admin/> ; lds:service <urn:rules> .`
  const file = join(site.folder, 'system.trig')
  writeFileSync(
    file,
    `PREFIX lds: <https://w3id.org/atomgraph/linkeddatahub/dataspaces#> PREFIX a: <https://w3id.org/atomgraph/core#>
    PREFIX sd: <http://www.w3.org/ns/sparql-service-description#> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
    ${service('documents', datasets.endUser)} ${service('rules', datasets.admin)} ${dataspace('first', site.base)}
    ${dataspace('second', `https://${host}:${site.port}/`, `; foaf:maker <${agentIn(site, owner)}>`)}`,
  )
  return { ...site, flags: [...site.flags, '--config', file] }
}

const agentIn = ({ admin }: Pick<Site, 'admin'>, name: string): string => `${admin}acl/agents/${name}/#this`

/** A document that is in the cache. */
export const CACHED = '/cached/'

const holdsIn = ({ folder }: Site): string => join(folder, 'holds')

async function started(site: Site): Promise<GatewayProcess> {
  const gateway = startGateway(site, holdsIn(site))
  if (!(await gateway.ready)) throw new Error(`the gateway did not start: ${gateway.output()}`)
  return gateway
}

let made = 0
async function dataset(fuseki: string): Promise<string> {
  const name = `attack-${process.pid}-${++made}`
  const refused = await createDataset(fuseki, name)
  if (refused) throw new Error(refused.missing)
  return `${fuseki}/${name}`
}

export async function expected(answer: Promise<Answer>, status: number): Promise<Answer> {
  const given = await answer
  if (given.status !== status) throw new Error(`expected ${status}, got ${given.status}: ${given.text.slice(0, 200)}`)
  return given
}

/** A foreign server, on loopback. */
export async function serve<T>(listener: RequestListener, use: (url: string) => Promise<T>, port = 0): Promise<T> {
  const server: Server = createServer(listener).listen(port, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
