// Readiness: 503 if a store fails, the disk is full, or a history falls behind; and health and metrics for monitors
// with a token.
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import t from 'tap'
import type { Dataspace } from '../../../../gateway/gateway.js'
import { checksOf } from '../../../../gateway/features/operators/checks.js'
import { learn, makeCommitTurns } from '../../../../versioning/journal/relay.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { freePort } from '../../../support/ports.js'
import { makeWorld } from '../../../support/world.js'

const NOW = 1_000_000

/** A dataspace whose history has an uncommitted change of this age. */
function dataspaceOf(age: number | undefined, status: object = {}): Dataspace {
  const figures = { repository: 'r', depth: 1, inDoubt: 0, bytes: 0, commits: 1, blocked: [] }
  const history = {
    status: () => ({
      ...figures,
      oldest: age === undefined ? undefined : NOW - age,
      lastError: undefined,
      parked: undefined,
      ...status,
    }),
  }
  const application = { base: 'https://a.example/', store: { name: 's', ready: () => Promise.resolve(undefined) } }
  return {
    endUser: { ...application, mirrored: { base: application.base, history } },
    admin: application,
    access: { current: () => ({}) },
  } as unknown as Dataspace
}

type Limits = Parameters<typeof checksOf>[1]
const limitsOf = (historyDelay: number | 'off', data = tmpdir()): Limits => ({ historyDelay, data, now: () => NOW })

void t.test('reasons for not being ready', async (t) => {
  // prettier-ignore
  const rows: readonly [name: string, dataspace: Dataspace, limits: Limits, problem: RegExp | undefined, warning?: RegExp][] = [
    ['a history that keeps up', dataspaceOf(undefined), limitsOf(600_000), undefined],
    ['a change that waits for a while', dataspaceOf(600_000), limitsOf(600_000), undefined],
    ['a change that waits for longer than the limit', dataspaceOf(601_000), limitsOf(600_000), /waited 601 s .*--history-delay/],
    ['no limit', dataspaceOf(601_000), limitsOf('off'), undefined],
    ['commits that fail, for a while', dataspaceOf(1_000, { lastError: 'git: no' }), limitsOf(600_000), undefined, /git: no/],
    ['a document that cannot be committed', dataspaceOf(1_000, { blocked: [{}] }), limitsOf(600_000), undefined, /1 documents cannot/],
    ['a disk that cannot be checked', dataspaceOf(undefined), limitsOf(600_000, '/nowhere'), /cannot be checked/],
  ]
  for (const [name, dataspace, limits, problem, warning] of rows) {
    const checks = await checksOf([dataspace], limits)
    const said = (key: 'problem' | 'warning') => checks.flatMap((check) => check[key] ?? []).join('\n')
    if (problem) t.match(said('problem'), problem, name)
    else t.equal(said('problem'), '', name)
    if (warning) t.match(said('warning'), warning, name)
    else t.equal(said('warning'), '', name)
  }
})

void t.test('a monitor on another machine', async (t) => {
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const port = await freePort()
  const flags = ['--monitoring', String(port), '--monitoring-host', '127.0.0.1', '--monitoring-token', 'secret']
  await makeWorld(t, stores, { flags })
  const send = (method: string, path: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode!))
      })
      sent.on('error', reject).end()
    })
  const token = { Authorization: 'Bearer secret' }
  const rows: readonly [method: string, path: string, fields: Record<string, string>, status: number][] = [
    ['GET', '/health/live', {}, 401],
    ['GET', '/metrics', { Authorization: 'Bearer other' }, 401],
    ['GET', '/metrics', { Authorization: 'Bearer ' }, 401],
    ['GET', '/health/live', token, 200],
    ['GET', '/health/ready', { ...token, Host: 'gateway.internal' }, 200],
    ['GET', '/metrics', token, 200],
    ['GET', '/', token, 404],
    ['POST', '/purge', { ...token, 'Triplegate-Management': '1' }, 404],
    ['POST', '/mirror/sweep', { ...token, 'Triplegate-Management': '1' }, 404],
    ['POST', '/metrics', token, 405],
  ]
  for (const [method, path, fields, status] of rows)
    t.equal(await send(method, path, fields), status, `${method} ${path} ${JSON.stringify(fields)}`)
})

void t.test('a failed batch of commits is retried in smaller batches', (t) => {
  const turns = makeCommitTurns({ journal: {} as never, log: {} as never, batch: 1000 })
  const sizes: number[] = []
  for (const [tried, hasFailed] of [
    [1000, true],
    [500, true],
    [250, false],
    [500, false],
    [3, false],
    [1, true],
  ] as const) {
    learn(turns, tried, hasFailed)
    sizes.push(turns.most)
  }
  t.same(sizes, [500, 250, 500, 1000, 1000, 1])
  t.end()
})
