// Design 2: one gateway at a time writes to a store and uses a data folder. A second gateway ends and names the first,
// waits as a standby, or takes over if the first has stopped or hangs.
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kill } from 'node:process'
import t, { type Test } from 'tap'
import { EXIT } from '../../../gateway/commands/exit-codes.js'
import { makeSite, startGateway, type GatewayProcess, type Site } from '../../crash/gateway-process.js'
import { ownerOf } from '../../crash/writers.js'
import { holdPlace, type Holder } from '../../../gateway/stores/holder.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { freePort } from '../../support/ports.js'
import { freshDataset, reasonWithoutFuseki, row } from '../../support/stores.js'
import { until, untilRemoved } from '../../support/wait.js'
import { ttl } from '../../support/world.js'

const PLACE = 'urn:triplegate:gateway'

interface Two {
  readonly t: Test
  /** A dataset for documents and one for rules. */
  readonly stores: readonly string[]
  /** A site with these flags, before the stores. */
  site(flags?: readonly string[]): Promise<Site>
  /** Stopped after the row. */
  start(site: Site): GatewayProcess
}

/** The same site on the ports of another gateway, as for a standby. */
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
        site(flags = []) {
          const own = mkdtempSync(join(tmpdir(), 'triplegate-two-'))
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
      await Promise.all(folders.map(untilRemoved))
    }
  })
}

void t.test('two gateways', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)

  await rowOfTwo(t, 'a running gateway keeps its place as the writer', async (two) => {
    const { stores, t } = two
    const first = await two.site(['--dataset-path', '/ds'])
    const one = two.start(first)
    t.ok(await one.ready, one.output())

    await t.test('a second gateway on the same store stops, and says which one holds it', async (t) => {
      const second = await two.site()
      for (const flags of [[], ['--standby']]) {
        const other = two.start({ ...second, flags: [...second.flags, ...flags] })
        t.equal(await other.ready, false)
        t.match(other.output(), `another gateway writes to this triplestore (process ${one.pid} on `)
        t.match(other.output(), flags.length > 0 ? 'A standby needs the same data folder' : 'Stop that one')
      }
    })

    await t.test('a second gateway on the same data folder', async (t) => {
      const [port, management] = [await freePort(), await freePort()]
      const flags = [...first.flags, '--base', first.base, '--trusted-proxy', '127.0.0.1/32']
      const other = two.start({ ...first, port, management, flags })
      t.equal(await other.ready, false)
      t.match(other.output(), `another gateway uses this data folder (process ${one.pid} on `)
    })

    await t.test('a gateway on a copy of the data folder', async (t) => {
      const copy = await two.site()
      cpSync(join(first.folder, 'gateway.json'), join(copy.folder, 'gateway.json'))
      const other = two.start(copy)
      t.equal(await other.ready, false)
      t.match(other.output(), 'another gateway writes to this triplestore')
    })

    await t.test('the graph of the holder can be neither read nor written through the gateway', async (t) => {
      const owner = ownerOf(first)
      const other = 'urn:other'
      for (const [graph, put, get, gone] of [
        [other, 201, 200, 204],
        [PLACE, 403, 403, 403],
      ] as const) {
        const url = `/ds?graph=${graph}`
        t.equal((await owner('PUT', url, ttl('<urn:a> <urn:b> "c" .'))).status, put, `PUT ${graph}`)
        t.equal((await owner('GET', url)).status, get, `GET ${graph}`)
        const { text } = await owner('GET', '/ds', { fields: { Accept: 'application/n-quads' } })
        t.equal(text.includes(`<${graph}>`), graph === other, `${graph} in the copy of the dataset`)
        t.equal((await owner('DELETE', url)).status, gone, `DELETE ${graph}`)
      }
      owner.close()
      t.equal(await put(first, '/still/'), 201)
    })

    await t.test('a store that was emptied, or restored from a backup', async (t) => {
      const mine = new RegExp(`#process> "${one.pid}"`)
      const of = `<${PLACE}#holder> <${PLACE}#instance>`
      const restored = `INSERT DATA { GRAPH <${PLACE}> { ${of} "of yesterday" } }`
      for (const update of ['CLEAR ALL', `CLEAR ALL ; ${restored}`]) {
        await updateStore(stores[0]!, update)
        t.ok(await until(async () => mine.test(await placeIn(stores[0]!))), update)
      }
    })

    await one.stop()
    for (const store of stores) t.equal(await placeIn(store), '', 'a gateway that stops gives its place back')
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

  await rowOfTwo(t, 'a standby on another host asks at all stores at the same time', async (two) => {
    const site = await two.site()
    const one = two.start(site)
    two.t.ok(await one.ready, one.output())
    const file = join(site.folder, 'gateway.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"host": "[^"]*"/, '"host": "another"'))
    const standby = two.start(asStandby(site))
    await one.kill()
    const asks = async (store: string): Promise<boolean> => (await placeIn(store)).includes('#asks>')
    two.t.ok(await until(async () => (await Promise.all(two.stores.map(asks))).every(Boolean)))
    two.t.ok(await standby.ready, standby.output())
    for (const store of two.stores) two.t.match(await placeIn(store), `"${standby.pid}"`)
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

  await rowOfTwo(t, 'a suspended gateway loses its place as the writer, and stops when it wakes', async (two) => {
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

  await rowOfTwo(t, 'of several that ask for the place of a dead one, one gets it', async ({ t, stores }) => {
    const store = openHttpStore(fusekiEndpoints(stores[0]!))
    const named = (instance: string): Holder => ({
      instance,
      folder: instance,
      host: 'h',
      process: instance,
      since: 's',
    })
    const lost = (): void => void t.fail('none of them loses it')
    const place = (instance: string) => holdPlace(store, { me: named(instance), lost })
    const of = `<${PLACE}#holder> <${PLACE}#instance>`
    await updateStore(stores[0]!, `INSERT DATA { GRAPH <${PLACE}> { ${of} "dead" } }`)
    const got = await Promise.all(['1', '2', '3', '4'].map(place))
    const [holder, ...others] = got.flatMap((one) => ('isSure' in one ? [one] : []))
    t.equal(others.length, 0)
    const by = got.flatMap((one) => ('heldBy' in one ? [one.heldBy.instance] : []))
    t.equal(new Set(by).size, 1, `three are told who has it: ${by.join()}`)
    t.equal(by.length, 3)
    await holder?.leave()
    t.equal(await placeIn(stores[0]!), '')
    await store.close()
  })
})
