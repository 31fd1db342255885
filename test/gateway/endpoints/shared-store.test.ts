// Two dataspaces with their rules in one store: a change through one takes effect in the other at once.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { readConfiguration, type DescribedDataspace } from '../../../gateway/configuration/configuration.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import type { OpenStore } from '../../../gateway/start/open-stores.js'
import { startProbe } from '../../../gateway/operators/probe.js'
import { parseSettings } from '../../../gateway/configuration/settings.js'
import { startGateway } from '../../../gateway/start/start.js'
import { makeClient } from '../../support/client.js'
import { freePort } from '../../support/ports.js'
import { update } from '../../support/world.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'

/** The same dataspace at another host. */
const at = (host: string, dataspace: DescribedDataspace): DescribedDataspace =>
  JSON.parse(
    JSON.stringify(dataspace).replaceAll('localhost', host).replaceAll('"iri":"', '"iri":"urn:other:'),
  ) as DescribedDataspace

void t.test('two dataspaces on one admin store', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-'))
  const port = await freePort()
  const flags = ['--https', String(port), '--management', 'off', '--history', 'off', '--admin-history', 'off']
  const settings = parseSettings([...flags, '--data', folder], {})
  if ('faults' in settings) throw new Error(settings.faults.join('\n'))
  const configured = await readConfiguration(settings)
  if ('faults' in configured) throw new Error(JSON.stringify(configured.faults))
  const dataspaces = [configured[0]!, at('127.0.0.1', configured[0]!)]
  const admin = await openEmbeddedStore('admin')
  const running = await startGateway({
    settings,
    dataspaces,
    openStore: (_service, { kind }) => (kind === 'admin' ? Promise.resolve(admin) : openEmbeddedStore('end-user')),
    log: pino({ level: 'silent' }),
  })
  t.teardown(() => running.close(1_000).then(() => rmSync(folder, { recursive: true, force: true })))
  const ca = readFileSync(join(folder, 'certs/server.pem'), 'utf8')
  const pem = readFileSync(join(folder, 'certs/owner.pem'), 'utf8')
  const [owner, anonymous] = [makeClient({ port, ca, pem }), makeClient({ port, ca, host: `127.0.0.1:${port}` })]
  t.teardown(() => [owner, anonymous].forEach((client) => client.close()))

  const { endUser, admin: other } = dataspaces[1]!
  const graph = `${other.base}acl/authorizations/open/`
  const rule = `<${graph}#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ;
    <${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <${ACL}accessTo> <${endUser.base}> .`
  const change = (rules: string) => owner('POST', '/admin/sparql', update(rules))
  const reads = async (): Promise<number> => (await anonymous('GET', '/')).status

  await t.test('an update of rules', async (t) => {
    t.equal(await reads(), 403)
    t.equal((await change(`INSERT DATA { GRAPH <${graph}> { ${rule} } }`)).status, 200)
    t.equal(await reads(), 200)
    t.equal((await change(`DROP GRAPH <${graph}>`)).status, 200)
    t.equal(await reads(), 403)
  })
  await t.test('rules written behind the gateway, noticed by the probe', async (t) => {
    const probe = startProbe(running.dataspaces, running.gateway, 1_000_000)
    t.teardown(probe.close)
    await probe.look()
    await admin.update(`INSERT DATA { GRAPH <${graph}> { ${rule} } }`)
    t.equal(await reads(), 403)
    await probe.look()
    t.equal(await reads(), 200)
  })
})

void t.test(
  'spec 9.2: an update through one of two dataspaces on one store is a commit of each document, in its history',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'triplegate-'))
    const port = await freePort()
    const flags = ['--https', String(port), '--management', 'off', '--history', 'local', '--admin-history', 'off']
    const settings = parseSettings([...flags, '--data', folder], {})
    if ('faults' in settings) throw new Error(settings.faults.join('\n'))
    const configured = await readConfiguration(settings)
    if ('faults' in configured) throw new Error(JSON.stringify(configured.faults))
    const dataspaces = [configured[0]!, at('127.0.0.1', configured[0]!)]
    // Like a store over HTTP: it does not announce the changes of an update.
    const shared = { ...(await openEmbeddedStore('end-user')) }
    delete shared.announces
    const openStore: OpenStore = (_service, { kind }) =>
      kind === 'admin' ? openEmbeddedStore('admin') : Promise.resolve(shared)
    const running = await startGateway({ settings, dataspaces, openStore, log: pino({ level: 'silent' }) })
    t.teardown(() => running.close(1_000).then(() => rmSync(folder, { recursive: true, force: true })))
    const ca = readFileSync(join(folder, 'certs/server.pem'), 'utf8')
    const owner = makeClient({ port, ca, pem: readFileSync(join(folder, 'certs/owner.pem'), 'utf8') })
    t.teardown(() => owner.close())
    const [here, there] = dataspaces.map(({ endUser: { base } }) => `${base}shared/`) as [string, string]
    const change = async (body: string): Promise<number> => (await owner('POST', '/sparql', update(body))).status
    const methods = async (): Promise<(string | undefined)[][]> =>
      Promise.all(
        running.dataspaces.map(async ({ endUser: { base, history } }) => {
          const found = await history!.versions(`${base}shared/`, 10_000)
          return 'failure' in found ? [] : found.versions.map(({ method, agent }) => agent && method)
        }),
      )
    const insert = (graph: string): string => `GRAPH <${graph}> { <${graph}> <urn:p> "one" }`
    t.equal(await change(`INSERT DATA { ${insert(here)} ${insert(there)} }`), 200)
    t.same(await methods(), [['UPDATE'], ['UPDATE']], 'documents that it names')
    t.equal(await change('DELETE { GRAPH ?g { ?s ?p "one" } } INSERT { GRAPH ?g { ?s ?p "two" } } WHERE { GRAPH ?g { ?s ?p "one" } }'), 200) // prettier-ignore
    t.same(
      await methods(),
      [
        ['UPDATE', 'UPDATE'],
        ['UPDATE', 'UPDATE'],
      ],
      'any document',
    )
    t.equal(await change(`DROP GRAPH <${there}>`), 200)
    t.same(await methods(), [
      ['UPDATE', 'UPDATE'],
      ['UPDATE', 'UPDATE', 'UPDATE'],
    ])
  },
)
