// The watchdog: the log names the request that has held the event loop, and no other.
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { openEmbeddedStore } from '../../gateway/stores/embedded-store.js'
import { startWatchdog, type Watchdog } from '../../gateway/watchdog.js'
import { rowsOf } from '../support/stores.js'
import { makeWorld } from '../support/world.js'

const HELD = /^this request has held the event loop$/
const hold = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until;);
}
const request = (id: string) => ({ id, method: 'GET', requestTarget: `/${id}/?secret` })

void t.test('the watchdog', async (t) => {
  const row = rowsOf(t, 'none')
  const [long, short] = [request('long'), request('short')]
  type Line = { readonly id?: string; readonly path?: string; readonly ms: number; readonly msg: string }
  const rows: readonly [name: string, act: (watchdog: Watchdog) => Promise<void> | void, by: (string | undefined)[]][] = [
    ['work that holds the loop, and ends', (dog) => { dog.works(long); hold(300); dog.rests() }, ['long']],
    ['work that holds the loop, and waits', (dog) => { dog.works(long); hold(300) }, ['long']],
    ['short work before and after it', (dog) => {
      for (const [each, ms] of [[short, 1], [long, 300], [short, 1]] as const) { dog.works(each); hold(ms); dog.rests() }
    }, ['long']],
    ['work that waited before it continues', async (dog) => {
      dog.works(long)
      await sleep(150)
      dog.works(short)
      dog.rests()
      dog.works(long)
      hold(300)
    }, ['long']],
    ['work for no request, after short work', (dog) => { dog.works(short); hold(1); dog.rests(); hold(400) }, [undefined]],
    ['two holds', (dog) => { for (const each of [long, short]) { dog.works(each); hold(250) } }, ['long', 'short']],
    ['work below the bound', (dog) => { dog.works(long); hold(50); dog.rests() }, []],
    ['a loop that is idle', () => sleep(600), []],
  ] // prettier-ignore
  for (const [name, act, by] of rows) {
    await row(`${name}: ${by.map((id) => id ?? 'no request').join(', ') || 'nothing is logged'}`, async (t) => {
      const lines: Line[] = []
      const dog = startWatchdog(pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) }))
      // Nobody waits for a gateway that does not serve yet.
      hold(250)
      dog.serves()
      // The first measurement needs one before it.
      await sleep(50)
      await act(dog)
      await sleep(150)
      const { longest, lastMinute, count } = dog.holds()
      dog.close()
      t.same(
        lines.map(({ id }) => id),
        by,
      )
      t.equal(count, by.length)
      for (const line of lines.filter(({ id }) => id)) t.match(line, { msg: HELD, path: `/${line.id}/` })
      if (by.length > 0) t.ok(longest >= 0.2 && Math.abs(lastMinute - longest) < 0.02, `${longest} s`)
      else t.ok(longest < 0.2, `${longest} s`)
    })
  }
  await row('a request of a gateway that holds the loop: its id, method and path', async (t) => {
    const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
    t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
    const world = await makeWorld(t, stores)
    const { gateway } = world.running
    const { targetOf } = gateway
    Object.assign(gateway, {
      targetOf: (...given: Parameters<typeof targetOf>) => {
        if (given[0].startsWith('/slow/')) hold(300)
        return targetOf(...given)
      },
    })
    const owner = world.as('owner')
    await Promise.all(['/', '/slow/?x=1', '/', '/'].map((path) => owner('GET', path)))
    await sleep(150)
    const held = world.log.filter(({ msg }) => HELD.test(String(msg)))
    t.match(held, [{ method: 'GET', path: '/slow/', id: String, ms: Number }])
    t.equal(held.length, 1)
  })
})
