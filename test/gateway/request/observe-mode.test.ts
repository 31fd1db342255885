// Observe mode (--enforce=false): requests that would be refused are logged and pass, except in the admin application.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DEFAULT_GRAPH } from '../../../policies/vocabulary.js'
import { runCommand } from '../../../gateway/run-command.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { doctorOf } from '../../../gateway/request/observe.js'
import { rowsOf } from '../../support/stores.js'
import { accept, makeWorld, ttl, turtle, type World } from '../../support/world.js'

const observing = async (t: Test, flags: readonly string[]): Promise<World> => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return makeWorld(t, { endUser, admin }, { flags })
}

/** Exit code, output and messages. */
async function command(...argv: string[]): Promise<[code: number, out: string, error: string]> {
  let [out, error] = ['', '']
  const terminal = {
    out: (text: string | Buffer) => void (out += String(text)),
    error: (text: string) => void (error += text),
    waiting: () => undefined,
    interactive: false,
    now: Date.now,
  }
  const code = await runCommand(argv, {}, terminal)
  return [code, out, error]
}

void t.test('observe mode', async (t) => {
  const row = rowsOf(t, 'none')
  const world = await observing(t, ['--enforce=false', '--dataset-path', '/ds'])
  const anonymous = world.as('anonymous')
  await world.as('owner')('PUT', '/doc/', ttl(turtle('"Doc"')))
  const warnings = (): Record<string, unknown>[] => world.log.filter(({ msg }) => msg === 'would have been refused')

  await row('the start says so', async (t) => {
    t.ok(world.log.some(({ level, msg }) => level === 40 && String(msg).includes('NOT ENFORCED')))
  })
  await row('a read that would be refused passes, with a field, and is logged with the evidence', async (t) => {
    const answer = await anonymous('GET', '/doc/')
    t.equal(answer.status, 200)
    t.equal(answer.fields['triplegate-enforce'], 'false')
    t.match(answer.fields['cache-control'], /^private/)
    const [warning] = warnings().slice(-1)
    t.match(warning, {
      level: 40,
      method: 'GET',
      path: '/doc/',
      decision: { required: 'Read', reason: 'no-authorization' },
    })
    t.ok((warning!.decision as { considered: unknown[] }).considered.length > 0)
  })
  await row('only a doctor that knows the secret of the data folder is not recorded', async (t) => {
    const count = warnings().length
    const { tagKey } = world.running.dataspaces[0]!.endUser.cache
    const now = Date.now()
    const known = doctorOf(tagKey, world.base, now)
    for (const [by, method, agent] of [
      ['anonymous', 'GET', known],
      ['anonymous', 'HEAD', doctorOf(tagKey, world.base, now - 180_000)],
      ['anonymous', 'GET', 'triplegate-doctor'],
      ['anonymous', 'GET', doctorOf('another', world.base, now)],
      ['anonymous', 'GET', doctorOf(tagKey, `${world.base}other/`, now)],
      ['anonymous', 'GET', doctorOf(tagKey, world.base, now - 360_000)],
      ['anonymous', 'DELETE', known],
      ['stranger', 'GET', known],
    ] as const)
      await world.as(by)(method, method === 'DELETE' ? '/none/' : '/doc/', { fields: { 'User-Agent': agent } })
    t.equal(warnings().length, count + 6)
  })
  await row('the same for answers from the cache, for 304 and for errors', async (t) => {
    const count = warnings().length
    const again = await anonymous('GET', '/doc/')
    t.equal(again.fields['triplegate-enforce'], 'false')
    t.equal(again.fields['age'] !== undefined, true)
    const unchanged = await anonymous('GET', '/doc/', { fields: { 'If-None-Match': again.fields.etag! } })
    t.same([unchanged.status, unchanged.fields['triplegate-enforce']], [304, 'false'])
    t.equal(warnings().length, count + 2)
    const missing = await anonymous('GET', '/missing/')
    t.same([missing.status, missing.fields['triplegate-enforce']], [404, 'false'])
    t.equal((await anonymous('OPTIONS', '/doc/')).fields['triplegate-enforce'], 'false')
  })
  await row('an allowed request is not logged', async (t) => {
    const count = warnings().length
    t.equal((await world.as('owner')('GET', '/doc/')).status, 200)
    t.equal(warnings().length, count)
  })
  await row('writes and queries pass too', async (t) => {
    t.equal((await anonymous('PUT', '/new/', ttl(turtle('"New"')))).status, 201)
    t.equal((await anonymous('POST', '/doc/', ttl('<#a> <urn:p> "b" .'))).status, 204)
    t.equal((await anonymous('DELETE', '/new/')).status, 204)
    t.equal((await anonymous('GET', '/sparql?query=ASK%7B%7D')).status, 200)
  })
  await row('refusals for reasons other than rights remain', async (t) => {
    t.equal((await anonymous('PUT', '/no/parent/', ttl(turtle('"Orphan"')))).status, 403)
    t.equal((await anonymous('PUT', '/doc/child/', ttl(turtle('"Child of an item"')))).status, 403)
    const crossSite = { 'Content-Type': 'text/turtle', 'Sec-Fetch-Site': 'cross-site' }
    t.equal((await anonymous('POST', '/doc/', { fields: crossSite, body: turtle('"x"') })).status, 403)
    t.equal((await anonymous('GET', '/doc/', { fields: { Authorization: 'Bearer nonsense' } })).status, 401)
  })
  await row('the admin application stays closed', async (t) => {
    for (const path of ['/admin/', '/admin/acl/groups/owners/', '/admin/sparql?query=ASK%7B%7D']) {
      t.equal((await anonymous('GET', path)).status, 403, path)
    }
    t.equal((await anonymous('PUT', '/admin/x/', ttl(turtle('"x"')))).status, 403)
    t.equal((await anonymous('GET', `/access?this=${world.base}doc/&audit`)).status, 403)
  })
  await row('the access endpoint still reports the rules', async (t) => {
    const { text } = await world.as('owner')(
      'GET',
      `/access?this=${world.base}doc/&agent=`,
      accept('application/n-triples'),
    )
    t.match(text, /allowed> "false"/)
  })
  await row('queries and updates name the graphs that the rules would hide, or not let them change', async (t) => {
    const stranger = world.as('stranger')
    const doc = `${world.base}doc/`
    const ask = (pattern: string): string => `/sparql?query=${encodeURIComponent(`ASK { ${pattern} }`)}`
    const update = (text: string) => ({ fields: { 'Content-Type': 'application/sparql-update' }, body: text })
    // prettier-ignore
    const rows: readonly (readonly [path: string, sent: ReturnType<typeof update> | undefined, expected: readonly string[]])[] = [
      [ask(`GRAPH <${doc}> { ?s ?p ?o }`), undefined, [`Read ${doc}`]],
      [ask('GRAPH <urn:other> { ?s ?p ?o }'), undefined, ['Read urn:other']],
      [ask('GRAPH ?g { ?s ?p ?o }'), undefined, ['Read every graph']],
      [ask(`GRAPH <${doc}missing/> { ?s ?p ?o }`), undefined, []],
      ['/sparql', update(`INSERT DATA { GRAPH <${doc}> { <urn:s> <urn:p> 1 } }`), [`Append ${doc}`]],
      ['/sparql', update(`DELETE DATA { GRAPH <${doc}> { <urn:s> <urn:p> 1 } }`), [`Write ${doc}`]],
      ['/sparql', update(`INSERT DATA { GRAPH <${world.base}made/> { <urn:s> <urn:p> 1 } }`), [`Write ${world.base}`]],
      ['/sparql', update('DELETE WHERE { GRAPH ?g { <urn:none> ?p ?o } }'), ['Write every graph']],
      ['/ds/data', undefined, [`Read ${DEFAULT_GRAPH}`, 'Read every graph']],
      ['/ds', undefined, [`Read ${DEFAULT_GRAPH}`, 'Read every graph']],
      ['/ds/data?default', undefined, [`Read ${DEFAULT_GRAPH}`]],
      [`/ds/data?graph=${doc}`, undefined, [`Read ${doc}`]],
    ]
    for (const [path, sent, expected] of rows) {
      const count = warnings().length
      const answer = await stranger(sent ? 'POST' : 'GET', path, sent)
      t.ok(answer.status < 300, `${path} ${answer.text}`)
      const seen = warnings()
        .slice(count)
        .map(({ decision }) => decision as { required: string; on: string })
      t.same(seen.filter(({ on }) => !on.endsWith('sparql')).map(({ required, on }) => `${required} ${on}`), expected, sent?.body ?? path) // prettier-ignore
    }
  })
  await row('access observed sums it up, and its authorizations would allow everything', async (t) => {
    const log = join(mkdtempSync(join(tmpdir(), 'triplegate-observed-')), 'log')
    const lines = [
      ...world.log.map((line) => JSON.stringify(line)),
      'no JSON',
      '{"msg":',
      '{"msg":"would have been refused"}',
    ]
    writeFileSync(log, lines.join('\n'))
    const [code, table] = await command('access', 'observed', log)
    t.equal(code, 0)
    t.match(table, /^COUNT +LAST +MODE +ON +AGENT$/m)
    t.match(table, new RegExp(`^7 .*Read +${world.base}doc/ +anonymous clients$`, 'm'))
    t.match(table, new RegExp(`^1 .*Write +${world.base} +anonymous clients$`, 'm'))
    const [, turtle] = await command('access', 'observed', log, '--turtle')
    const put = await world.as('owner')('PUT', '/admin/acl/authorizations/observed/', ttl(turtle))
    t.equal(put.status, 201, put.text)
    const count = warnings().length
    t.equal((await anonymous('GET', '/doc/')).status, 200)
    t.equal((await anonymous('PUT', '/new/', ttl('<> <urn:p> "New" .'))).status, 201)
    t.equal((await anonymous('GET', '/sparql?query=ASK%7B%7D')).status, 200)
    t.equal(warnings().length, count)
    t.match(await command('access', 'observed', '/no/such/file'), [3, '', /cannot be read/])
    t.match(await command('access', 'observed'), [2, '', /FILE/])
    writeFileSync(log, 'a line for people\n')
    t.match(await command('access', 'observed', log), [3, '', /--log-format json/])
    writeFileSync(log, '')
    t.match(await command('access', 'observed', log), [0, /^Nothing/])
  })
  await row('by default the rules are enforced, and there is no special field', async (t) => {
    const enforced = await observing(t, [])
    const answer = await enforced.as('anonymous')('GET', '/')
    t.equal(answer.status, 403)
    t.equal(answer.fields['triplegate-enforce'], undefined)
  })
})
