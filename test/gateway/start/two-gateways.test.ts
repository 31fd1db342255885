// Design 2: one gateway at a time writes to a store, and has a data folder. A second one ends with who has it, waits as
// a standby, or takes the place of one that is gone or stands still.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kill } from 'node:process'
import t, { type Test } from 'tap'
import { EXIT } from '../../../gateway/commands/exit-codes.js'
import { makeSite, startGateway, type GatewayProcess, type Site } from '../../crash/gateway-process.js'
import { ownerOf } from '../../crash/writers.js'
import { freshDataset, reasonWithoutFuseki, row } from '../../support/stores.js'
import { until } from '../../support/wait.js'
import { ttl } from '../../support/world.js'

const PLACE = 'urn:triplegate:gateway'

interface Two {
  readonly t: Test
  /** Datasets of documents and of rules. */
  readonly stores: readonly string[]
  /** A site with these flags, before the stores; with the folder of another, or one of its own. */
  site(flags?: readonly string[], folder?: string): Promise<Site>
  /** Ended after the row. */
  start(site: Site): GatewayProcess
}

/** The site, on the ports of another: a standby serves what the other has served. */
const asStandby = (site: Site): Site => ({ ...site, flags: [...site.flags, '--standby'] })

const put = async (site: Site, path: string): Promise<number> => {
  const owner = ownerOf(site)
  try {
    const { status } = await owner('PUT', path, ttl(`<> <urn:value> "${path}" .`))
    return status
  } finally {
    owner.close()
  }
}

const placeIn = async (store: string): Promise<string> => {
  const answer = await fetch(`${store}?graph=${PLACE}`, { headers: { Accept: 'application/n-triples' } })
  return answer.status === 404 ? '' : answer.text()
}

const updateStore = async (store: string, update: string): Promise<unknown> =>
  fetch(`${store}/update`, { method: 'POST', headers: { 'Content-Type': 'application/sparql-update' }, body: update })

async function rowOfTwo(t: Test, name: string, run: (two: Two) => Promise<void>): Promise<void> {
  await row(t, 'fuseki', name, async (t) => {
    const stores = [await freshDataset(t), await freshDataset(t)]
    const folders: string[] = []
    const running = new Set<GatewayProcess>()
    try {
      await run({
        t,
        stores,
        site(flags = [], folder) {
          const own = folder ?? mkdtempSync(join(tmpdir(), 'triplegate-two-'))
          folders.push(own)
          return makeSite(own, ['--backend', stores[0]!, '--admin-backend', stores[1]!, ...flags])
        },
        start(site) {
          const gateway = startGateway(site)
          running.add(gateway)
          return gateway
        },
      })
    } finally {
      await Promise.all([...running].map((gateway) => gateway.kill()))
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    }
  })
}

void t.test('two gateways', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)

  await rowOfTwo(t, 'a second one on the store of a living one ends, and says who has it', async (two) => {
    const [first, second] = [await two.site(), await two.site()]
    const one = two.start(first)
    two.t.ok(await one.ready, one.output())
    for (const flags of [[], ['--standby']]) {
      const other = two.start({ ...second, flags: [...second.flags, ...flags] })
      two.t.equal(await other.ready, false)
      two.t.match(other.output(), `another gateway writes to this triplestore (process ${one.pid} on `)
      two.t.match(other.output(), flags.length > 0 ? 'A standby needs the data folder of that one' : 'Stop that one')
    }
    two.t.equal(await put(first, '/still/'), 201)
    await one.stop()
    for (const store of two.stores) two.t.equal(await placeIn(store), '', 'a gateway that stops gives its place back')
  })

  await rowOfTwo(t, 'a second one on the data folder of a living one ends, and says who has it', async (two) => {
    const first = await two.site()
    const one = two.start(first)
    two.t.ok(await one.ready, one.output())
    const other = two.start(await two.site(['--base', first.base, '--trusted-proxy', '127.0.0.1/32'], first.folder))
    two.t.equal(await other.ready, false)
    two.t.match(other.output(), `another gateway uses this data folder (process ${one.pid} on `)
  })

  await rowOfTwo(t, 'a standby takes over when the other is killed', async (two) => {
    const site = await two.site(['--history', 'local', '--admin-history', 'local'])
    const one = two.start(site)
    two.t.ok(await one.ready, one.output())
    const standby = two.start(asStandby(site))
    two.t.equal(await put(site, '/before/'), 201)
    await one.kill()
    two.t.ok(await standby.ready, standby.output())
    two.t.equal(await put(site, '/before/'), 200, 'what was written is there')
    two.t.equal(await put(site, '/after/'), 201)
  })

  await rowOfTwo(t, 'a standby ends one that stands still, and takes over', async (two) => {
    const site = await two.site()
    const one = two.start(site)
    two.t.ok(await one.ready, one.output())
    const standby = two.start(asStandby(site))
    kill(one.pid, 'SIGSTOP')
    two.t.ok(await standby.ready, standby.output())
    two.t.equal(await put(site, '/after/'), 201)
    two.t.throws(() => kill(one.pid, 0), 'the other is gone')
  })

  await rowOfTwo(t, 'one that stands still loses its place at the store, and ends when it wakes', async (two) => {
    const [first, second] = [await two.site(), await two.site()]
    const one = two.start(first)
    two.t.ok(await one.ready, one.output())
    kill(one.pid, 'SIGSTOP')
    const late = put(first, '/late/').catch(() => 0)
    const other = two.start(second)
    two.t.ok(await other.ready, other.output())
    kill(one.pid, 'SIGCONT')
    await until(() => one.exitCode() !== undefined)
    two.t.equal(one.exitCode(), EXIT.failed)
    two.t.match(one.output(), `(process ${other.pid} on `)
    two.t.not(await late, 201, 'what it was sent meanwhile has no effect')
    const graph = encodeURIComponent(`${first.base}late/`)
    two.t.equal((await fetch(`${two.stores[0]}?graph=${graph}`)).status, 404)
    two.t.equal(await put(second, '/after/'), 201)
  })

  await rowOfTwo(t, 'a killed one blocks nobody, on its own data folder or another', async (two) => {
    const first = await two.site()
    for (const site of [first, first, await two.site()]) {
      const gateway = two.start(site)
      two.t.ok(await gateway.ready, gateway.output())
      two.t.match(await placeIn(two.stores[0]!), `"${gateway.pid}"`)
      await gateway.kill()
    }
  })

  await rowOfTwo(t, 'a copy of a data folder is another gateway', async (two) => {
    const first = await two.site()
    const one = two.start(first)
    two.t.ok(await one.ready, one.output())
    const copy = await two.site()
    cpSync(join(first.folder, 'gateway.json'), join(copy.folder, 'gateway.json'))
    const other = two.start(copy)
    two.t.equal(await other.ready, false)
    two.t.match(other.output(), 'another gateway writes to this triplestore')
    two.t.match(readFileSync(join(first.folder, 'gateway.json'), 'utf8'), `"${one.pid}"`)
  })

  await rowOfTwo(t, 'a store that was emptied, or restored from a backup, stays with the living one', async (two) => {
    const site = await two.site()
    const one = two.start(site)
    two.t.ok(await one.ready, one.output())
    const store = two.stores[0]!
    const mine = new RegExp(`#process> "${one.pid}"`)
    await updateStore(store, 'CLEAR ALL')
    await until(async () => mine.test(await placeIn(store)))
    const of = `<${PLACE}#holder> <${PLACE}#instance>`
    await updateStore(store, `CLEAR ALL ; INSERT DATA { GRAPH <${PLACE}> { ${of} "of yesterday" } }`)
    two.t.ok(await until(async () => mine.test(await placeIn(store))))
  })

  await rowOfTwo(t, 'nobody reads or writes the place through the gateway', async (two) => {
    const site = await two.site()
    const one = two.start(site)
    two.t.ok(await one.ready, one.output())
    const owner = ownerOf(site)
    try {
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const { status } = await owner(
          method,
          `/service?graph=${PLACE}`,
          method === 'PUT' ? ttl('<urn:a> <urn:b> "c" .') : {},
        )
        two.t.ok(status >= 400, `${method}: ${status}`)
      }
      two.t.match(await placeIn(two.stores[0]!), `"${one.pid}"`)
    } finally {
      owner.close()
    }
  })
})
