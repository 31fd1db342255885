// Design 6: a store has its position in the log. A store that was restored to an earlier state gets the entries that it
// lacks. A store ahead of its log is not written to.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { EXIT } from '../../../gateway/commands/exit-codes.js'
import { makeSite, startGateway, type GatewayProcess, type Site } from '../../crash/gateway-process.js'
import { ownerOf } from '../../crash/writers.js'
import { startProxy, type Fault, type Recorded } from '../../support/proxy.js'
import { freshDataset, reasonWithoutFuseki, row } from '../../support/stores.js'
import { until, untilRemoved } from '../../support/wait.js'
import { ttl, turtle, update } from '../../support/world.js'

interface Place {
  readonly t: Test
  readonly site: Site
  start(): Promise<GatewayProcess>
  /** The title of each document, undefined if it does not exist, and its number of versions. */
  documents(): Promise<(readonly [title: string | undefined, versions: number])[]>
  /** The n-th round: one document stays, one changes, one is deleted, one is created. */
  change(n: number): Promise<void>
  /** Reads the end-user dataset with the position, as N-Quads; and restores it. */
  dump(): Promise<string>
  /** The status; 0 if the gateway has stopped. */
  put(path: string, message: ReturnType<typeof ttl>): Promise<number>
  /** The status of an update by the owner. */
  updated(text: string): Promise<number>
  /** `triplegate mirror sweep`. */
  sweep(): void
  putBack(quads: string): Promise<void>
  /** What happens to updates with this text of the end-user dataset from now on. */
  updatesGet(fault: Fault | undefined, text?: string): void
  /** The bodies of the updates that it was sent. */
  updates(): readonly string[]
}

const MAIN = resolve('dist/gateway/main.js')
const PATHS = ['stays', 'changes', 'goes', 'comes'].map((name) => `/${name}/`)
const VERSIONS = [1, 2, 2, 1].map((length) => ({ versions: Array.from({ length }) }))
const AFTER_TWO = [
  ['1', 1],
  ['2', 2],
  [undefined, 2],
  ['2', 1],
] as const

/** With a history, and with a log alone. */
async function onePlace(
  t: Test,
  name: string,
  run: (place: Place) => Promise<void>,
  options: PlaceOptions = {},
): Promise<void> {
  await onePlaceWith(t, ['--history', 'local'], name, run, options)
  await onePlaceWith(t, ['--log', 'local'], `without a history: ${name}`, run, options)
}

interface PlaceOptions {
  /** Through a proxy, which is in this process: a command that this process waits for cannot use it. */
  readonly isProxied?: boolean
}

async function onePlaceWith(
  t: Test,
  flagsOf: readonly string[],
  name: string,
  run: (place: Place) => Promise<void>,
  { isProxied }: PlaceOptions,
): Promise<void> {
  await row(t, 'fuseki', name, async (t) => {
    const stores = [await freshDataset(t), await freshDataset(t)] as const
    const folder = mkdtempSync(join(tmpdir(), 'triplegate-position-'))
    const proxy = await startProxy(stores[0])
    t.teardown(() => proxy.stop())
    const isUpdate = ({ fields }: { readonly fields: Recorded['fields'] }): boolean =>
      fields['content-type']?.startsWith('application/sparql-update') ?? false
    const flags = ['--backend', isProxied ? proxy.url : stores[0], '--admin-backend', stores[1], ...flagsOf]
    const isLog = flagsOf.includes('--log')
    const site = await makeSite(folder, flags)
    const running = new Set<GatewayProcess>()
    let client: ReturnType<typeof ownerOf> | undefined
    // The first start creates the owner's certificate.
    const owner = (...request: Parameters<ReturnType<typeof ownerOf>>) => (client ??= ownerOf(site))(...request)
    const put = async (path: string, title: string): Promise<void> => {
      const { status, text } = await owner('PUT', path, ttl(turtle(`"${title}"`)))
      t.ok(status === 200 || status === 201, `${status} ${text}`)
    }
    try {
      await run({
        t,
        site,
        async start() {
          const gateway = startGateway(site)
          running.add(gateway)
          t.ok(await gateway.ready, gateway.output())
          return gateway
        },
        documents: () =>
          Promise.all(
            PATHS.map(async (path, n) => {
              const { status, text } = await owner('GET', path, { fields: { Accept: 'application/n-triples' } })
              const map = await owner('GET', `${path}?timemap`, { fields: { Accept: 'application/json' } })
              if (isLog) t.notMatch(map.text, '"versions"', 'a log has no versions')
              const { versions } = isLog ? VERSIONS[n]! : (JSON.parse(map.text) as { versions: readonly unknown[] })
              return [status === 404 ? undefined : /title> "(.*)"/.exec(text)?.[1], versions.length] as const
            }),
          ),
        async change(n) {
          if (n === 1) for (const path of PATHS.slice(0, 3)) await put(path, '1')
          else {
            await put('/changes/', '2')
            t.equal((await owner('DELETE', '/goes/')).status, 204)
            await put('/comes/', '2')
          }
        },
        put: (path, message) => owner('PUT', path, message).then(({ status }) => status, () => 0), // prettier-ignore
        updated: async (text) => (await owner('POST', '/sparql', update(text))).status,
        sweep() {
          const sweep = ['mirror', 'sweep', '--https', String(site.port), '--management', String(site.management)]
          const swept = spawnSync(process.execPath, [MAIN, ...sweep, '--data', site.folder, ...site.flags], { encoding: 'utf8', env: { PATH: process.env['PATH'] } }) // prettier-ignore
          t.equal(swept.status, 0, swept.stderr)
        },
        async dump() {
          const answer = await fetch(stores[0], { headers: { Accept: 'application/n-quads' } })
          return answer.text()
        },
        async putBack(body) {
          const headers = { 'Content-Type': 'application/n-quads' }
          t.ok((await fetch(stores[0], { method: 'PUT', headers, body })).ok)
        },
        updatesGet: (fault, text = '') =>
          proxy.fault(fault && { ...fault, only: (sent) => isUpdate(sent) && sent.body.includes(text) }),
        updates: () => proxy.requests.filter(isUpdate).map(({ body }) => body),
      })
    } finally {
      client?.close()
      await Promise.all([...running].map((gateway) => gateway.kill()))
      await untilRemoved(folder)
    }
  })
}

void t.test('the position of a store', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)

  await onePlace(
    t,
    'a store from a backup gets what it lacks',
    async ({ t, start, change, dump, putBack, documents }) => {
      const first = await start()
      await change(1)
      const earlier = await dump()
      t.match(earlier, 'urn:triplegate:log#at', 'the backup has its position')
      await change(2)
      await first.kill()
      await putBack(earlier)
      await start()
      t.same(await documents(), AFTER_TWO)
    },
  )

  await onePlace(
    t,
    'so does one that is put back while it is served',
    async ({ t, start, change, dump, putBack, documents }) => {
      await start()
      await change(1)
      const earlier = await dump()
      await change(2)
      await putBack(earlier)
      await until(async () => (await dump()).includes('/comes/'))
      t.same(await documents(), AFTER_TWO)
    },
  )

  await onePlace(t, 'no update of all graphs gives it another position', async ({ t, start, dump, updated, put }) => {
    const first = await start()
    const log = /<(\S+)> <urn:triplegate:log#at>/.exec(await dump())![1]!
    const triples = `<${log}> <urn:triplegate:log#at> 999999 ; <urn:triplegate:log#turn> "another:1"`
    const computed = 'BIND(IRI(CONCAT("urn:triplegate", ":log")) AS ?g)'
    // Only the store carries it out: it clears all graphs.
    t.equal(await updated(`CLEAR NAMED ; INSERT { GRAPH ?g { ${triples} } } WHERE { ${computed} }`), 200)
    t.notMatch(await dump(), /999999|another:1/)
    t.equal(await put('/after/', ttl(turtle('"after"'))), 201)
    t.match(await dump(), '"after"')
    await first.kill()
    await start()
  })

  await onePlace(
    t,
    'mirror sweep gives it what it lacks too, before it looks for changes of others',
    async ({ t, sweep, start, change, dump, putBack, documents }) => {
      const first = await start()
      await change(1)
      const earlier = await dump()
      await change(2)
      await first.stop()
      await putBack(earlier)
      sweep()
      await start()
      t.same(await documents(), AFTER_TWO)
    },
  )

  await onePlace(
    t,
    'a document with which the store always fails does not prevent a start',
    async ({ t, start, put }) => {
      const first = await start()
      const date = `"2020-01-01T00:00:00.${'1'.repeat(50)}"^^<http://www.w3.org/2001/XMLSchema#dateTime>`
      // SPARQL would change this IRI, so the document is sent alone.
      const broken = put('/broken/', ttl(`<> <urn:see> <file:///x> ; <urn:at> ${date} .`))
      await until(() => /repeated until the store has it/.test(first.output()))
      await first.kill()
      await broken
      await start()
      t.equal(await put('/after/', ttl(turtle('"after"'))), 201)
    },
  )

  const long = 'x'.repeat(8_000)
  const [lost, done] = [{ kind: 'silence' }, { kind: 'drop', when: 'after' }] as const
  // A large update is sent without a turn: the store gets its position only later.
  for (const [what, fault, triples, isFromDocument] of [
    ['an update of a document and another graph that the store did not get', lost, 1, true],
    ['an update of a document and another graph that the store has done', done, 1, true],
    ['a large update of a document and another graph that the store has done', done, 40, true],
    ['a large update of another graph and a document that the store has done', done, 40, false],
  ] as const)
    await onePlace(
      t,
      `after a kill, ${what} is carried out whole or not at all`,
      async ({ t, site, start, put, updated, dump, updatesGet, updates }) => {
        const first = await start()
        const [document, other] = [`${site.base}precious/`, 'http://example.org/other']
        const [from, to] = isFromDocument ? [document, other] : [other, document]
        const value = `"precious${triples > 1 ? long : ''}"`
        const lines = Array.from({ length: triples }, (_, i) => `<urn:${i}> <urn:v> ${value} .`).join('\n')
        if (isFromDocument) t.equal(await put('/precious/', ttl(lines)), 201)
        else t.equal(await updated(`INSERT DATA { GRAPH <${other}> { ${lines} } }`), 200)
        /** The graph of each triple. */
        const holders = async (): Promise<readonly (string | undefined)[]> => {
          const quads = (await dump()).split('\n').filter((line) => line.includes('"precious'))
          return quads.map((quad) => /<(\S*)> \.$/.exec(quad)?.[1])
        }
        const all = (graph: string): readonly string[] => Array.from({ length: triples }, () => graph)
        t.same(await holders(), all(from))
        updatesGet(fault, other)
        const begun = updates().length
        const isSent = (): boolean =>
          updates()
            .slice(begun)
            .some((text) => text.includes(other))
        const move = async (): Promise<void> => {
          // A busy gateway may refuse it before the store gets it.
          do await updated(`MOVE GRAPH <${from}> TO GRAPH <${to}>`).catch(() => 0)
          while (!isSent())
        }
        const moved = move()
        await until(isSent)
        if (fault === done) await until(async () => (await holders()).every((graph) => graph === to))
        await first.kill()
        await moved
        updatesGet(undefined)
        await start()
        t.same(await holders(), all(fault === done ? to : from))
        t.equal(await put('/precious/', ttl('<> <urn:v> "again" .')), (fault === done) === isFromDocument ? 201 : 200)
      },
      { isProxied: true },
    )

  await onePlace(
    t,
    'a store ahead of its log is taken over by a sweep',
    async ({ t, site, sweep, start, change, documents }) => {
      const first = await start()
      await change(1)
      await first.stop()
      const kept = mkdtempSync(join(tmpdir(), 'triplegate-position-'))
      t.teardown(() => rmSync(kept, { recursive: true, force: true }))
      cpSync(site.folder, kept, { recursive: true })
      const second = await start()
      await change(2)
      await second.stop()
      rmSync(site.folder, { recursive: true })
      cpSync(kept, site.folder, { recursive: true })
      const refused = startGateway(site)
      t.notOk(await refused.ready)
      t.equal(refused.exitCode(), EXIT.failed)
      t.match(refused.output(), /has \d+ entries of the log, and the data folder has \d+\. .*mirror sweep/)
      sweep()
      await start()
      t.same(await documents(), AFTER_TWO)
    },
  )
})
