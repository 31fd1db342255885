// Compaction of TDB2 datasets: writes and reads wait and then succeed, and a compaction that does not end delays
// nobody.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { compactStore } from '../../../../gateway/features/maintenance/compact-store.js'
import {
  compactAll,
  untilCompacted,
  untilTime,
  type Outcome,
} from '../../../../gateway/features/maintenance/schedule.js'
import { isFailure } from '../../../../gateway/problem.js'
import { openFusekiAdmin } from '../../../../gateway/stores/fuseki-admin.js'
import { groupedStore } from '../../../../gateway/stores/grouped-store.js'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { freshDataset, reasonWithoutFuseki } from '../../../support/stores.js'
import { makeWorld, ttl, turtle } from '../../../support/world.js'

const leaving = (): AbortController => new AbortController()
const opened = (t: Test, dataset: string, limits: object = {}) => {
  const store = groupedStore(openHttpStore({ ...fusekiEndpoints(dataset), ...limits }))
  const admin = openFusekiAdmin(fusekiEndpoints(dataset))!
  t.teardown(() => Promise.all([store.close(), admin.close()]))
  return { store, admin }
}

void t.test('on a TDB2 dataset', { skip: await reasonWithoutFuseki() }, async (t) => {
  const { store, admin } = opened(t, await freshDataset(t, 'tdb2'))
  const rules = opened(t, await freshDataset(t)).store
  const world = await makeWorld(t, { endUser: store, admin: rules }, { flags: ['--cache', 'off'] })
  const owner = world.as('owner')
  const written = new Map<string, string>()
  const statuses = { writes: new Set<number>(), reads: new Set<number>() }
  let isOver = false
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const [path, title] = [`/w${writer}-${n % 10}/`, `"${n}"`]
      const { status } = await owner('PUT', path, ttl(turtle(title)))
      statuses.writes.add(status)
      written.set(path, title)
    }
  }
  const read = async (): Promise<void> => {
    while (!isOver) statuses.reads.add((await owner('GET', '/')).status)
  }
  const busy = [write(1), write(2), read(), read()]
  for (let n = 0; n < 3; n++) t.equal(await compactStore(store, admin, leaving()), 'done')
  isOver = true
  await Promise.all(busy)
  t.ok(written.size > 0)
  t.same(
    [...statuses.writes].filter((status) => status !== 200 && status !== 201),
    [],
  )
  t.same([...statuses.reads], [200])
  for (const [path, title] of written) t.match((await owner('GET', path)).text, title, path)

  const resume = await store.pause!(AbortSignal.timeout(10_000))
  if (isFailure(resume)) return t.fail(resume.detail)
  t.equal(await store.ready(), undefined, 'a paused store is not a fault')
  resume()
  t.match(await compactStore(rules, openFusekiAdmin(fusekiEndpoints(rules.name.replace(/\/data$/, '')))!, leaving()), {
    problem: /answers 400. Not a TDB2 dataset/,
  })
})

/** A Fuseki that gives these answers below `/$/`. */
async function fuseki(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ds`
}

void t.test('a failed compaction says why, and requests continue', async (t) => {
  const begun = '{"taskId": "1"}'
  const running = '[{"task": "Compact", "taskId": "1", "started": "2026-01-01"}]'
  const ended = '[{"task": "Compact", "taskId": "1", "finished": "2026-01-01", "success": false}]'
  const rows: readonly (readonly [name: string, status: number, tasks: readonly string[], problem: RegExp])[] = [
    ['a password is needed', 401, ['[]'], /answers 401. Give --backend-user/],
    ['the gateway is not allowed to compact', 403, ['[]'], /answers 403. Allow the gateway/],
    ['there is no administration', 404, ['[]'], /answers 404. Start Fuseki/],
    ['another compaction is running', 200, [running], /has not ended/],
    ['the compaction fails', 200, ['[]', ended], /See the log of Fuseki/],
    ['Fuseki was restarted', 200, ['[]', '[]'], /restarted/],
    ['the old files are still in use', 200, ['[]', running], /has not ended. If it never does, restart Fuseki/],
  ]
  for (const [name, status, tasks, problem] of rows) {
    let asked = 0
    const dataset = await fuseki(t, ({ url }, response) => {
      const text = url!.endsWith('/tasks') ? tasks[Math.min(asked++, tasks.length - 1)] : begun
      response.writeHead(url!.includes('/$/') ? status : 200).end(text)
    })
    const { store, admin } = opened(t, dataset)
    t.match(await compactStore(store, admin, { signal: leaving().signal, copying: 0, removing: 0 }), { problem }, name)
    t.equal(await store.update('DELETE WHERE { ?s ?p ?o }'), undefined, `${name}: writes go on`)
  }
})

void t.test('requests wait for a paused store, for a time', async (t) => {
  const dataset = await fuseki(t, (_, response) => void response.writeHead(204).end())
  const { store } = opened(t, dataset, { pauseTimeout: 20 })
  const resume = await store.pause!(AbortSignal.timeout(10_000))
  if (isFailure(resume)) return t.fail(resume.detail)
  t.match(await store.update('CLEAR ALL'), { failure: 'store.overloaded', fields: [['Retry-After', '10']] })
  t.match(await store.remove('urn:a'), { failure: 'store.overloaded' })
  resume()
  t.equal(await store.update('CLEAR ALL'), undefined)
})

void t.test('the next time of day', async (t) => {
  const now = new Date(2026, 0, 1, 12, 0, 0).getTime()
  const rows: readonly (readonly [time: string, hours: number])[] = [
    ['13:30', 1.5],
    ['12:00', 24],
    ['03:00', 15],
  ]
  for (const [time, hours] of rows) t.equal(untilTime(time, now) / 3_600_000, hours, time)
})

void t.test('only stores that are still due are compacted again', async (t) => {
  const rows: readonly (readonly [
    name: string,
    isDaily: boolean,
    b: readonly Outcome[],
    compacted: string,
    failed: string,
  ])[] = [
    // prettier-ignore
    ['both succeed', true, ['done'], 'ab', ''],
    ['one is busy', true, ['busy', 'busy', 'done'], 'abbb', ''],
    ['one fails: it waits for the next day', true, ['failed'], 'ab', 'b'],
    ['one is busy, and then fails', true, ['busy', 'failed'], 'abb', 'b'],
    ['one fails, by growth', false, ['failed', 'done'], 'abb', ''],
  ]
  for (const [name, isDaily, outcomes, expected, expectedFailed] of rows) {
    let [compacted, tries] = ['', 0]
    const compact = (store: string): Promise<Outcome> => {
      compacted += store
      return Promise.resolve(store === 'a' ? 'done' : (outcomes[tries++] ?? 'done'))
    }
    const pause = (): Promise<void> => Promise.resolve()
    const failed = await untilCompacted(['a', 'b'], (due) => compactAll(due, compact), { pause, isDaily })
    t.equal(compacted, expected, name)
    t.equal(failed.join(''), expectedFailed, name)
  }
})
