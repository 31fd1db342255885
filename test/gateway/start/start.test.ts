// The start of a gateway: its clock, and the reasons not to start.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { readConfiguration } from '../../../gateway/configuration/configuration.js'
import { parseSettings } from '../../../gateway/configuration/settings.js'
import { StartFailure } from '../../../gateway/configuration/start-failure.js'
import { isFailure } from '../../../gateway/problem.js'
import { startGateway, type Running, type StartOptions } from '../../../gateway/start/start.js'
import { freePort } from '../../support/fuseki.js'
import { rowsOf } from '../../support/stores.js'

const folder = mkdtempSync(join(tmpdir(), 'triplegate-start-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

async function start(flags: readonly string[], options: Partial<StartOptions> = {}): Promise<Running> {
  const settings = parseSettings(['--management', 'off', ...flags], {})
  if (isFailure(settings)) throw new Error(settings.detail)
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) throw new Error(dataspaces.detail)
  return startGateway({ settings, dataspaces, log: pino({ level: 'silent' }), ...options })
}

void t.test('the start of a gateway', async (t) => {
  const row = rowsOf(t, 'none')
  await row('everything takes the clock that is given', async (t) => {
    const now = (): number => Date.parse('2030-02-03T04:05:06.789Z')
    const flags = ['--https', String(await freePort()), '--data', join(folder, 'clock')]
    const running = await start([...flags, '--history', 'off', '--admin-history', 'off'], { now })
    t.teardown(() => running.close(0))
    const { endUser, admin } = running.dataspaces[0]!
    for (const { store, base } of [endUser, admin]) {
      t.match(await store.read(base), '/created> "2030-02-03T04:05:06.789Z"')
    }
    t.equal(running.gateway.now(), now())
  })
  await row('access control that would be lost at each stop: a wrong configuration', async (t) => {
    const backend = ['--backend', 'http://127.0.0.1:1/ds', '--admin-history', 'off']
    const failure = await start([...backend, '--data', join(folder, 'lost')]).catch((error: unknown) => error)
    t.ok(failure instanceof StartFailure)
    t.match(failure, { failure: 'configuration.wrong', message: /\/admin\/: .* Give --admin-history local\.$/ })
  })
  await row('a certificate that has expired: the start fails', async (t) => {
    const data = join(folder, 'expired')
    const flags = ['--https', String(await freePort()), '--data', data]
    const first = await start([...flags, '--history', 'off', '--admin-history', 'off'])
    await first.close(0)
    const failure = await start(flags, { now: () => Date.parse('2060-01-01') }).catch((error: unknown) => error)
    t.match(failure, { failure: 'start.failed', message: /server\.pem: expired on .*\n.*owner\.pem: expired/ })
  })
})
