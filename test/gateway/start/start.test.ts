// The start of a gateway: its clock, and the reasons not to start.
import { loadFeatures } from '../../../gateway/features.js'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { lookup } from 'node:dns/promises'
import { createServer } from 'node:net'
import { connect } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { readConfiguration } from '../../../gateway/configuration/configuration.js'
import { parseSettings } from '../../../gateway/configuration/settings.js'
import { StartFailure } from '../../../gateway/configuration/start-failure.js'
import type { DescribedDataspace } from '../../../gateway/configuration/dataspace.js'
import type { Settings } from '../../../gateway/configuration/settings.js'
import { isFailure } from '../../../gateway/problem.js'
import { openSeeded, refuseMoved, SEEDED_FILE } from '../../../gateway/start/seeded.js'
import { startGateway, type RunningGateway, type StartOptions } from '../../../gateway/start/start.js'
import { freePort } from '../../support/fuseki.js'
import { rowsOf } from '../../support/stores.js'

const folder = mkdtempSync(join(tmpdir(), 'triplegate-start-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

async function start(flags: readonly string[], options: Partial<StartOptions> = {}): Promise<RunningGateway> {
  const off = flags.includes('--management') ? [] : ['--management', 'off']
  const settings = parseSettings([...off, ...flags], {})
  if (isFailure(settings)) throw new Error(settings.detail)
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) throw new Error(dataspaces.detail)
  return startGateway({
    settings,
    dataspaces,
    features: await loadFeatures(),
    log: pino({ level: 'silent' }),
    ...options,
  })
}

void t.test('the start of a gateway', async (t) => {
  const row = rowsOf(t, 'none')
  await row('everything uses the given clock', async (t) => {
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
  const OFF = ['--history', 'off', '--admin-history', 'off']
  for (const host of ['127.0.0.1', 'localhost']) {
    await row(`an address that this machine does not have, beside ${host}: the message names it`, async (t) => {
      const args = [
        '--https',
        String(await freePort()),
        '--data',
        join(folder, 'elsewhere'),
        '--host',
        '192.0.2.1',
        ...OFF,
      ]
      const failure = await start(args).catch((error: unknown) => error)
      t.match(failure, { failure: 'start.failed', message: /^--host: 192\.0\.2\.1 is not an address of this machine/ })
    })
    await row(`a port that another process has at ${host}: the start fails, and has written nothing`, async (t) => {
      const other = createServer().listen(await freePort(), host)
      await once(other, 'listening')
      t.teardown(() => other.close())
      const { port } = other.address() as { port: number }
      const data = join(folder, `taken-${host}`)
      // The port of the management listener is taken last.
      const ports = ['--https', String(await freePort()), '--management', String(port)]
      const failure = await start([...ports, '--data', data, ...OFF]).catch((error: unknown) => error)
      t.match(failure, { failure: 'start.failed', message: `--management: port ${port} is in use` })
      const second = await start(['--https', String(port), '--data', data, ...OFF]).catch((error: unknown) => error)
      t.match(second, { failure: 'start.failed', message: `--https: port ${port} is in use` })
      t.equal(existsSync(data), false)
      const free = await start(['--https', String(await freePort()), '--data', data, ...OFF])
      await free.close(0)
    })
  }
  await row('every address of localhost answers', async (t) => {
    const port = await freePort()
    const running = await start(['--https', String(port), '--data', join(folder, 'addresses'), ...OFF])
    t.teardown(() => running.close(0))
    for (const { address } of await lookup('localhost', { all: true })) {
      const socket = connect({ port, host: address, rejectUnauthorized: false })
      socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`)
      let answer = ''
      for await (const piece of socket) answer += String(piece)
      t.match(answer, /^HTTP\/1\.1 \d{3} /, address)
    }
  })
  await row('a data folder of another base, or another gateway: the start fails, and says which', async (t) => {
    const [port, other] = [String(await freePort()), String(await freePort())]
    const data = ['--data', join(folder, 'moved'), ...OFF]
    const base = `https://localhost:${port}/`
    const first = await start(['--https', port, ...data])
    const beside = await start(['--https', other, '--base', base, ...data]).catch((error: unknown) => error)
    t.match(beside, {
      failure: 'start.failed',
      message: /moved: another gateway uses this data folder \(process \d+ on .*\)\. Stop that one/,
    })
    await first.close(0)
    const message = new RegExp(
      `^https://localhost:${other}/: .* belongs to ${base},.* Give --base ${base}, or, .*--data\\.$`,
    )
    const failed = await start(['--https', other, ...data]).catch((error: unknown) => error)
    t.match(failed, { failure: 'start.failed', message })
    const marks = join(folder, 'moved', SEEDED_FILE)
    const now = readFileSync(marks, 'utf8')
    writeFileSync(marks, now.replace(/,?\s*"application": "[^"]*"/g, ''))
    t.match(await start(['--https', other, ...data]).catch((error: unknown) => error), { message }, 'of an old version')
    const again = await start(['--https', other, '--base', base, ...data])
    await again.close(0)
    t.equal(readFileSync(marks, 'utf8'), now)
    const admin = await start(['--https', port, '--admin-base', 'rules/', ...data]).catch((error: unknown) => error)
    t.match(admin, { message: `Give --admin-base ${base}admin/, or` })
  })
  await row(
    'the bases of several dataspaces: a new or removed dataspace does not count as a changed base',
    async (t) => {
      const data = t.testdir({})
      const seeded = openSeeded(data)
      const settings = { config: ['system.trig'] } as unknown as Settings
      const dataspace = (name: string, base: string): DescribedDataspace => {
        const application = (kind: string, base: string): unknown => ({ kind, base, iri: `urn:${name}:${kind}` })
        return {
          iri: `urn:${name}`,
          endUser: application('end-user', base),
          admin: application('admin', `${base}admin/`),
        } as DescribedDataspace
      }
      const [one, two, moved] = [
        dataspace('one', 'https://1/'),
        dataspace('two', 'https://2/'),
        dataspace('one', 'https://3/'),
      ]
      const check = (...dataspaces: DescribedDataspace[]) => refuseMoved(seeded, settings, dataspaces)
      check(one, two)
      for (const { iri, base } of [one.endUser, one.admin]) seeded.recordApplication(base, iri)
      check(one, two)
      check(two)
      t.throws(() => check(moved, two), {
        message: /^https:\/\/3\/: .*Give the application the base https:\/\/1\/ again/,
      })
    },
  )
})
