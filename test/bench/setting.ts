// The setting of the rows: one Fuseki with the data, an agent, and gateways in front of it.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeClientCertificate } from '../../gateway/agents/make-certificate.js'
import { createDataset } from '../support/fuseki-datasets.js'
import { fetchFuseki, startFuseki, type Fuseki } from '../support/fuseki.js'
import { freePort } from '../support/ports.js'
import { profileOf } from '../support/world.js'
import { adminQuads, agentOf, endUserQuads } from './bench-data.js'
import { answerTo, untilListening } from './contestants.js'
import type { Load } from './load.js'
import { MEASURED, MEASURING, pin, start, type Started } from './machine.js'

const PLACES = { measured: [MEASURED], measuring: [MEASURING], both: [MEASURED, MEASURING] } as const

export interface Setting {
  /** The versions of the programs in the comparison. */
  readonly versions: readonly string[]
  readonly base: string
  /** The base of the admin application. */
  readonly admin: string
  /** The data folder of every gateway. */
  readonly data: string
  /** The path of the document of 5 kB. */
  readonly path: string
  /** Moves the store to the core of the contestants, to that of the load, or to both. */
  place(core: 'measured' | 'measuring' | 'both'): void
  /** A request to the store's end-user dataset. */
  store(target: string, fields?: Record<string, string>): Load
  graphStore(document: string, dataset?: string): string
  /** Loads into the end-user dataset, unless another one is named. */
  load(nQuads: string, dataset?: string): Promise<void>
  /** Creates another, empty dataset: returns the URL for its queries and updates, or the reason why there is none. */
  makeDataset(name: string, type?: 'mem' | 'tdb2'): Promise<string | { readonly missing: string }>
  /** The number of queries so far on the store's end-user dataset. */
  queriesAsked(): Promise<number>
  startGateway(flags?: readonly string[], options?: GatewayOptions): Promise<BenchGateway>
  close(): Promise<void>
}

export interface GatewayOptions {
  readonly node?: readonly string[]
  readonly log?: 'discard'
  readonly env?: Readonly<Record<string, string>>
  /** The program of another checkout. */
  readonly main?: string
  /** Used instead of the end-user dataset of the setting. */
  readonly dataset?: string
  /** Use copies of the datasets: only one gateway may write to a store. */
  readonly isBeside?: boolean
  /** A separate data folder and port, for a gateway that runs next to another. */
  readonly data?: string
  readonly https?: number
  readonly http?: number
}

export interface BenchGateway extends Pick<Started, 'pid' | 'end'> {
  /** From the start of the process to its first answer, in ms. */
  readonly firstAnswer: number
  readonly http: number
  /** A request by the agent, on the plain listener. */
  request(target: string, fields?: Record<string, string>): Load
  /** A request without a certificate. */
  anonymous(target: string, fields?: Record<string, string>): Load
  /** By the agent, on the TLS listener. */
  tlsRequest(target: string, fields?: Record<string, string>): Load
}

/** Data loaded into these datasets is loaded into a copy too. */
const COPIED: ReadonlySet<string> = new Set(['ds', 'admin', 'disk'])
export const copyOf = (dataset: string): string => `${dataset}-copy`

/** Undefined, with a reason in the output, if there is no Fuseki. */
export async function makeSetting(): Promise<Setting | { readonly missing: string }> {
  const fetched = fetchFuseki()
  if ('missing' in fetched) return fetched
  const ports = { https: await freePort(), http: await freePort() }
  const base = `https://localhost:${ports.https}/`
  const admin = `${base}admin/`
  const webId = agentOf(admin)
  const pem = await makeClientCertificate(webId, 'bench', Date.now())
  // RFC 9440 §2.1: the certificate as a byte sequence.
  const clientCert = `:${new X509Certificate(pem).raw.toString('base64')}:`
  const ownData = mkdtempSync(join(tmpdir(), 'triplegate-bench-'))
  const fuseki = await startQuietFuseki(fetched.jar, ownData)
  const gateways = new Set<Started>()
  const close = async () => {
    await Promise.all([...gateways].map((gateway) => gateway.end()))
    await fuseki.stop()
    rmSync(ownData, { recursive: true, force: true })
  }

  const send = async (url: string, type: string, body: string): Promise<void> => {
    const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': type }, body })
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  }
  const load: Setting['load'] = async (nQuads, dataset = 'ds') => {
    const all = COPIED.has(dataset) ? [dataset, copyOf(dataset)] : [dataset]
    for (const name of all) await send(`${fuseki.url(name)}/data`, 'application/n-quads', nQuads)
  }
  try {
    await load(endUserQuads(base))
    await load(adminQuads(base, admin), 'admin')
    const profile = webId.split('#', 1)[0]!
    for (const name of ['admin', copyOf('admin')])
      await send(`${fuseki.url(name)}/data?graph=${encodeURIComponent(profile)}`, 'text/turtle', profileOf(webId, pem))
  } catch (error) {
    await close()
    throw error
  }

  const host = { Host: new URL(base).host }
  const storePort = Number(new URL(fuseki.base).port)
  const queriesAsked = async (): Promise<number> => {
    const { datasets } = (await (await fetch(`${fuseki.base}/$/stats/ds`)).json()) as Statistics
    return datasets['/ds']!.endpoints['query']!.Requests
  }
  const startGateway = async (
    flags: readonly string[] = [],
    {
      node = [],
      main = resolve('dist/gateway/main.js'),
      dataset = 'ds',
      isBeside = false,
      data = ownData,
      https = ports.https,
      http = ports.http,
      ...options
    }: GatewayOptions = {},
  ): Promise<BenchGateway> => {
    const storeOf = (name: string): string => fuseki.url(isBeside ? copyOf(name) : name)
    const from = performance.now()
    const started = start(
      process.execPath,
      [
        ...node,
        main,
        'serve',
        ...['--base', base, '--https', String(https), '--http', String(http), '--trusted-proxy', '127.0.0.1/32'],
        ...['--backend', storeOf(dataset), '--admin-backend', storeOf('admin'), '--management', 'off'],
        ...['--data', data, ...(flags.includes('--log-level') ? [] : ['--log-level', 'warn']), ...flags],
      ],
      options,
    )
    gateways.add(started)
    const anonymous: BenchGateway['anonymous'] = (target, fields = {}) => ({
      port: http,
      targets: [target],
      fields: { ...host, ...fields },
      status: [200],
    })
    const request: BenchGateway['request'] = (target, fields = {}) =>
      anonymous(target, { 'Client-Cert': clientCert, ...fields })
    await untilListening('the gateway', started, http)
    const { status, head, body } = await answerTo(request('/doc/'))
    if (status !== 200)
      throw new Error(`the gateway answers ${head.split('\r\n')[0]}: ${body.toString().slice(0, 300)}`)
    const firstAnswer = performance.now() - from
    return {
      pid: started.pid,
      http,
      firstAnswer,
      request,
      anonymous,
      tlsRequest: (target, fields) => ({ ...anonymous(target, fields), port: https, pem }),
      end: async () => {
        gateways.delete(started)
        await started.end()
      },
    }
  }

  return {
    versions: [`Fuseki ${fetched.version}`],
    base,
    admin,
    data: ownData,
    path: '/doc/',
    place: (core) => pin(fuseki.pid, ...PLACES[core]),
    store: (target, fields = {}) => ({
      port: storePort,
      targets: [target],
      fields: { Host: 'localhost', ...fields },
      status: [200],
    }),
    graphStore: (document, dataset = 'ds') => `/${dataset}/data?graph=${encodeURIComponent(document)}`,
    load,
    makeDataset: async (name, type) => (await createDataset(fuseki.base, name, type)) ?? fuseki.url(name),
    queriesAsked,
    startGateway,
    close,
  }
}

/** Starts a Fuseki that logs errors only, as the gateway does: a line for each request would cost throughput. */
async function startQuietFuseki(jar: string, folder: string): Promise<Fuseki> {
  const config = join(folder, 'log4j2.properties')
  writeFileSync(
    config,
    'appender.out.type=Console\nappender.out.name=out\nrootLogger.level=warn\nrootLogger.appenderRef.out.ref=out\n',
  )
  process.env['JAVA_TOOL_OPTIONS'] = `-Dlog4j2.configurationFile=${config} -Dlog4j.configurationFile=${config}`
  try {
    return await startFuseki({ jar, datasets: ['ds', 'admin', copyOf('ds'), copyOf('admin')], isMeasured: true })
  } finally {
    delete process.env['JAVA_TOOL_OPTIONS']
  }
}

/** The format of Fuseki's statistics. */
interface Statistics {
  readonly datasets: Readonly<Record<string, { readonly endpoints: Readonly<Record<string, { Requests: number }>> }>>
}
