// The rows about documents: cached and not, 304, over TLS, PUT; compared with Fastify, nginx and the store itself.
import { answerTo, startBareRoute, startNginx, type Contender } from './contestants.js'
import { bulkDocument, DIFFERENT, PUT_DOCUMENTS, putDocument, putQuads, TWENTY_TRIPLES } from './bench-data.js'
import { perSecond, type Load } from './load.js'
import { compare, takeTurns, type Contestant, type Timing } from './series.js'
import { copyOf, type BenchGateway, type GatewayOptions, type Setting } from './setting.js'

export interface Rows {
  readonly rows: readonly (readonly string[])[]
  readonly notes: readonly string[]
}

export const TURTLE = { Accept: 'text/turtle' }

export const contestant = (name: string, load: Load, before: () => void = () => undefined): Contestant => ({
  name,
  run: (seconds) => {
    before()
    return perSecond(load, seconds)
  },
})

/** The result of `use` with a gateway, which is stopped after it. */
export async function withGateway<T>(
  setting: Setting,
  flags: readonly string[],
  use: (gateway: BenchGateway) => Promise<T>,
  options: GatewayOptions = {},
): Promise<T> {
  const gateway = await setting.startGateway(flags, options)
  try {
    return await use(gateway)
  } finally {
    await gateway.end()
  }
}

const CACHED = 'cached GET'

export const cachedGet = (setting: Setting, timing: Timing): Promise<Rows> =>
  withGateway(setting, [], async (gateway) => {
    setting.place('measured')
    const load = gateway.request(setting.path, TURTLE)
    const { head, body } = await answerTo(load)
    const [, entityTag] = /\r\netag: *(\S+)/i.exec(head) ?? []
    const storeLoad = setting.store(setting.graphStore(`${setting.base}doc/`), TURTLE)
    const { body: storeBody } = await answerTo(storeLoad)
    const others: Contender[] = []
    try {
      const fastify = await startBareRoute(load)
      others.push(fastify)
      const nginx = await startNginx(load)
      if (nginx) others.push(nginx)
      const contestants = [
        contestant(CACHED, load),
        contestant('304', { ...load, fields: { ...load.fields, 'If-None-Match': entityTag ?? '*' }, status: [304] }),
        contestant('bare Fastify', { ...load, port: fastify.port }),
        ...(nginx ? [contestant('nginx proxy_cache', { ...load, port: nginx.port })] : []),
        contestant('Fuseki GSP GET', storeLoad),
      ]
      const outcome = await takeTurns(contestants, timing)
      return {
        rows: [
          compare(outcome, { row: CACHED, of: CACHED, to: 'bare Fastify', target: 0.8 }),
          compare(outcome, { row: CACHED, of: CACHED, to: 'nginx proxy_cache', target: 0.6 }),
          compare(outcome, { row: CACHED, of: CACHED, to: 'Fuseki GSP GET', target: 10 }),
          compare(outcome, { row: '304', of: '304', to: CACHED, target: 1 }),
        ],
        notes: [
          `The document: ${body.length} bytes of Turtle from the gateway, ${storeBody.length} from Fuseki.`,
          ...(nginx ? [] : ['nginx is missing and could not be installed.']),
        ],
      }
    } finally {
      for (const other of others) await other.end()
    }
  })

/** Cached reads with a log line for each request, as by default. */
export const loggedGet = (setting: Setting, timing: Timing): Promise<Rows> => {
  const one = (level: string, options: GatewayOptions): Contestant => ({
    name: level,
    run: (seconds) =>
      withGateway(
        setting,
        ['--log-level', level],
        async (gateway) => {
          const load = gateway.request(setting.path, TURTLE)
          await perSecond(load, 1)
          return perSecond(load, seconds)
        },
        options,
      ),
  })
  return takeTurns([one('info', { log: 'discard' }), one('warn', {})], { ...timing, warmUp: 0.2 }).then((outcome) => ({
    rows: [compare(outcome, { row: 'cached GET, each in the log', of: 'info', to: 'warn' })],
    notes: [],
  }))
}

export const tlsGet = (setting: Setting, timing: Timing): Promise<Rows> =>
  withGateway(setting, [], async (gateway) => {
    const load = gateway.tlsRequest(setting.path, TURTLE)
    const fastify = await startBareRoute(load)
    try {
      const contestants = [contestant('gateway', load), contestant('bare Fastify', { ...load, port: fastify.port })]
      const outcome = await takeTurns(contestants, timing)
      return {
        rows: [compare(outcome, { row: 'cached GET over TLS', of: 'gateway', to: 'bare Fastify' })],
        notes: ['TLS: a client certificate on every connection; the load is made by Node.js, for both.'],
      }
    } finally {
      await fastify.end()
    }
  })

/** Paths of this many documents of 5 kB. */
export const bulkPaths = ({ base }: Setting, count: number): string[] =>
  Array.from({ length: count }, (_, n) => new URL(bulkDocument(base, n)).pathname)

const differentGets = (setting: Setting): Load => ({
  ...setting.store('', TURTLE),
  targets: Array.from({ length: DIFFERENT }, (_, n) => setting.graphStore(bulkDocument(setting.base, n))),
})

/** The store's virtual machine compiles for a while at first, which is not measured. */
export async function warmStore(setting: Setting): Promise<void> {
  await perSecond(differentGets(setting), 6)
}

export const uncachedGet = (setting: Setting, timing: Timing): Promise<Rows> =>
  withGateway(setting, ['--cache', 'off'], async (gateway) => {
    // The store runs on the core of the load for both, so that it is the same with and without the gateway.
    setting.place('measuring')
    const contestants = [
      contestant('gateway', { ...gateway.request('', TURTLE), targets: bulkPaths(setting, DIFFERENT) }),
      contestant('Fuseki GSP GET', differentGets(setting)),
    ]
    const outcome = await takeTurns(contestants, timing)
    return {
      rows: [compare(outcome, { row: 'uncached GET', of: 'gateway', to: 'Fuseki GSP GET', target: 0.85 })],
      notes: [
        'In rows in which the gateway reads the store, the store runs on the core of the load, also for its own figures.',
        `Uncached: ${DIFFERENT} documents, or queries, in turn.`,
      ],
    }
  })

const WRITING = { method: 'PUT', body: TWENTY_TRIPLES, status: [200, 201, 204] }
const WRITING_FIELDS = { 'Content-Type': 'text/turtle' }

const putDocuments = ({ base }: Setting): string[] =>
  Array.from({ length: PUT_DOCUMENTS }, (_, n) => putDocument(base, n))

export const putLoad = (gateway: BenchGateway, setting: Setting): Load => ({
  ...gateway.request('', WRITING_FIELDS),
  ...WRITING,
  targets: putDocuments(setting).map((document) => new URL(document).pathname),
})

const putOnto = (
  setting: Setting,
  timing: Timing,
  { row, dataset, target }: { readonly row: string; readonly dataset: string; readonly target: number },
): Promise<Rows> =>
  withGateway(
    setting,
    [],
    async (gateway) => {
      setting.place('measuring')
      const contestants = [
        contestant('gateway', putLoad(gateway, setting)),
        contestant('Fuseki GSP PUT', {
          ...setting.store('', WRITING_FIELDS),
          ...WRITING,
          targets: putDocuments(setting).map((document) => setting.graphStore(document, dataset)),
        }),
      ]
      const outcome = await takeTurns(contestants, timing)
      return { rows: [compare(outcome, { row, of: 'gateway', to: 'Fuseki GSP PUT', target })], notes: [] }
    },
    { dataset },
  )

export const put = (setting: Setting, timing: Timing): Promise<Rows> =>
  putOnto(setting, timing, { row: 'PUT of 20 triples', dataset: 'ds', target: 0.6 })

/** Puts the documents into a dataset on disk, which syncs each of its transactions. Returns its name. */
export async function datasetOnDisk(setting: Setting): Promise<string> {
  for (const name of [DISK, copyOf(DISK)]) {
    const made = await setting.makeDataset(name, 'tdb2')
    if (typeof made !== 'string') throw new Error(made.missing)
  }
  await setting.load(putQuads(setting.base), DISK)
  return DISK
}
const DISK = 'disk'

export const putOnDisk = (setting: Setting, timing: Timing, dataset: string): Promise<Rows> =>
  putOnto(setting, timing, { row: 'PUT on disk (TDB2)', dataset, target: 1 })

/** The number of documents requested in turn for reads without the cache. */
const BESIDE = 64

/** The paths of the documents that the other server needs too. */
export const documentsBeside = (setting: Setting): string[] => bulkPaths(setting, BESIDE)

/** GET of the same documents from another server over the same Fuseki; `load` has one target for each. */
export async function getsBeside(setting: Setting, timing: Timing, name: string, load: Load): Promise<Rows> {
  const documents = documentsBeside(setting)
  const sizes: number[] = []
  const row = (title: string, flags: readonly string[], count: number): Promise<string[]> =>
    withGateway(setting, flags, async (gateway) => {
      setting.place('measuring')
      const loads = [
        ['gateway', { ...gateway.request('', TURTLE), targets: documents.slice(0, count) }],
        [name, { ...load, targets: load.targets.slice(0, count) }],
      ] as const
      for (const [, one] of loads) sizes.push((await answerTo(one)).body.length)
      const contestants = loads.map(([who, one]) => contestant(who, one))
      return compare(await takeTurns(contestants, timing), { row: title, of: 'gateway', to: name })
    })
  return {
    rows: [await row(CACHED, [], 1), await row('uncached GET', ['--cache', 'off'], BESIDE)],
    notes: [
      `${name}: the same documents in Turtle (${sizes[1]} bytes from it, ${sizes[0]} from the gateway), ` +
        `one of them in the row cached GET, ${BESIDE} in turn in the other.`,
    ],
  }
}
