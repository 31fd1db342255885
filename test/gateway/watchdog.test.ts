// The watchdog: the log names the request that has blocked the event loop, and no other.
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { openEmbeddedStore } from '../../gateway/stores/embedded-store.js'
import { startWatchdog, type Watchdog } from '../../gateway/watchdog.js'
import { rowsOf } from '../support/stores.js'
import { until } from '../support/wait.js'
import { makeWorld } from '../support/world.js'

const HELD = /^this request has blocked the event loop$/
/** Blocks the event loop. */
const hold = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until;);
}
const request = (id: string) => ({ id, method: 'GET', requestTarget: `/${id}/?secret` })

type Line = { readonly id?: string; readonly path?: string; readonly ms: number; readonly msg: string }
const linesTo = (lines: Line[]) => pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) })

interface Loop {
  readonly dog: Watchdog
  /** Work that takes this many ms. */
  pass(ms: number): void
  /** The loop is free, and the watchdog's timer ticks. */
  tick(): void
}

/** A watchdog whose clock is controlled by the test, so that no machine is too slow for it. */
function loopWith(lines: Line[]): Loop {
  let time = 0
  let tick = (): void => undefined
  const every = (_ms: number, ticks: () => void): (() => void) => {
    tick = ticks
    return () => undefined
  }
  const dog = startWatchdog(linesTo(lines), { now: () => time, every })
  return { dog, pass: (ms) => void (time += ms), tick: () => tick() }
}

void t.test('the watchdog', async (t) => {
  const row = rowsOf(t, 'none')
  const [long, short] = [request('long'), request('short')]
  const rows: readonly [name: string, act: (loop: Loop) => void, by: (string | undefined)[]][] = [
    ['work that blocks the loop, and ends', ({ dog, pass }) => { dog.works(long); pass(300); dog.rests() }, ['long']],
    ['work that blocks the loop, and waits', ({ dog, pass }) => { dog.works(long); pass(300) }, ['long']],
    ['short work before and after it', ({ dog, pass }) => {
      for (const [each, ms] of [[short, 1], [long, 300], [short, 1]] as const) { dog.works(each); pass(ms); dog.rests() }
    }, ['long']],
    ['work that waited before it continues', ({ dog, pass, tick }) => {
      dog.works(long)
      pass(100)
      tick()
      pass(50)
      dog.works(short)
      dog.rests()
      dog.works(long)
      pass(300)
    }, ['long']],
    ['work for no request, after short work', ({ dog, pass }) => { dog.works(short); pass(1); dog.rests(); pass(400) }, [undefined]],
    ['two holds', ({ dog, pass }) => { for (const each of [long, short]) { dog.works(each); pass(250) } }, ['long', 'short']],
    ['work below the bound', ({ dog, pass }) => { dog.works(long); pass(50); dog.rests() }, []],
    ['a loop that is idle', ({ pass, tick }) => { for (let i = 0; i < 6; i++) { pass(100); tick() } }, []],
  ] // prettier-ignore
  for (const [name, act, by] of rows) {
    await row(`${name}: ${by.map((id) => id ?? 'no request').join(', ') || 'nothing is logged'}`, (t) => {
      const lines: Line[] = []
      const loop = loopWith(lines)
      // Nobody waits for a gateway that is not serving yet.
      loop.pass(250)
      loop.dog.serves()
      act(loop)
      loop.tick()
      const { count } = loop.dog.holds()
      loop.dog.close()
      t.same(
        lines.map(({ id }) => id),
        by,
      )
      t.equal(count, by.length)
      for (const line of lines.filter(({ id }) => id)) t.match(line, { msg: HELD, path: `/${line.id}/` })
    })
  }
  await row('a real block of the loop: how long it was, since the start and in the last minute', async (t) => {
    const lines: Line[] = []
    const dog = startWatchdog(linesTo(lines))
    t.teardown(dog.close)
    dog.serves()
    // The first measurement needs an earlier one.
    await sleep(50)
    dog.works(long)
    hold(300)
    const { longest, lastMinute } = await until(() => dog.holds().lastMinute >= 0.2 && dog.holds())
    t.ok(longest >= 0.2, `${longest} s, ${lastMinute} s`)
    t.ok(await until(() => lines.some(({ id, ms }) => id === 'long' && ms >= 300)))
  })
  await row('a request to a gateway that blocks the loop: its id, method and path', async (t) => {
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
    const isOfSlow = ({ msg, path }: Record<string, unknown>): boolean => HELD.test(String(msg)) && path === '/slow/'
    t.match(await until(() => world.holds.find(isOfSlow)), { method: 'GET', id: String, ms: Number })
  })
})
