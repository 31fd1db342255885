// The doctor finds faults in everything that the gateway depends on (more than twenty are planted here), and none in a
// recommended set-up.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { makeServerCertificate } from '../../../../gateway/agents/make-certificate.js'
import { runCommand } from '../../../../gateway/run-command.js'
import { parseSettings } from '../../../../gateway/configuration/settings.js'
import { canaryFindings } from '../../../../gateway/features/doctor/canaries.js'
import { readConfiguration } from '../../../../gateway/configuration/configuration.js'
import { oxigraphFindings } from '../../../../gateway/features/doctor/oxigraph.js'
import { installedOxigraph } from '../../../../gateway/stores/child-store.js'
import { machineFindings } from '../../../../gateway/features/doctor/machine.js'
import { isFailure } from '../../../../gateway/problem.js'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { freePort } from '../../../support/ports.js'
import { freshDataset, reasonWithoutFuseki } from '../../../support/stores.js'

const skip = await reasonWithoutFuseki()
const folder = mkdtempSync(join(tmpdir(), 'triplegate-doctor-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

/** The exit code, and the lines of findings. Node.js and Fuseki may be old on this machine. */
async function findings(
  args: readonly string[],
  now = Date.now,
): Promise<{ code: number; out: string; found: string[] }> {
  let out = ''
  const terminal = {
    out: (text: string | Buffer) => void (out += String(text)),
    error: (text: string) => void (out += text),
    waiting: () => undefined,
    interactive: false,
    now,
  }
  const code = await runCommand(['doctor', ...args], {}, terminal)
  const isOfTests = /Node\.js|: version: Fuseki [45]\./
  const lines = out.split('\n').filter((line) => line.startsWith('FINDING') && !isOfTests.test(line))
  return { code, out, found: lines.map((line) => line.slice('FINDING  '.length)) }
}

/** The URL of a server with these answers. */
async function served(t: Test, answer: RequestListener): Promise<URL> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

/** The faults that were found, each planted separately. */
const planted = new Set<string>()

const freshFolder = (mode = 0o700): string => {
  const fresh = mkdtempSync(join(folder, 'data-'))
  chmodSync(fresh, mode)
  return fresh
}

void t.test('a recommended set-up has no findings', async (t) => {
  const [data, https, management] = [freshFolder(), await freePort(), await freePort()]
  const args = ['--data', data, '--https', String(https), '--management', String(management)]
  const gateway = spawn(process.execPath, ['dist/gateway/main.js', 'serve', ...args], {
    env: { PATH: process.env['PATH'] },
  })
  t.teardown(() => gateway.kill('SIGTERM'))
  await once(gateway.stdout, 'data')
  const own = await findings(args)
  t.same(own.found, [], own.out)
  t.match(own.out, /^ok +base https:\/\/localhost:\d+\/: the gateway answers there/m)
  t.match(own.out, /^ok +running gateway: ready/m)

  const other = ['--data', data, '--management', String(management), '--https', String(await freePort())]
  t.match((await findings(other)).found, [/^base .*no server answers/, /^base .*no server answers/])
  planted.add('a gateway that does not answer at its base')
  const base = (await served(t, (_, response) => void response.end())).href
  t.match((await findings([...args, '--base', base, '--trusted-proxy', '127.0.0.1'])).found, [
    /^base .*no link to this base/,
    /^base .*no link/,
  ])
  planted.add('a program that is not the gateway')
  const renewed = await makeServerCertificate(['localhost'], Date.now())
  writeFileSync(join(data, 'certs/server.pem'), renewed)
  t.match((await findings(args)).found, [/^server certificate: the running gateway serves another certificate/])
  planted.add('a renewed certificate that the gateway has not read')
  t.match(own.out, /^ok +rights on SPARQL at https:\/\/localhost:\d+\/: .*\(1 checked\)/m)
  t.match(own.out, /^ok +rights on SPARQL at https:\/\/localhost:\d+\/admin\/: .*\(1 checked\)/m)
})

void t.test('the report of the running gateway', async (t) => {
  let [leaks, observes] = [false, false]
  const base = await served(t, ({ url, headers: { host } }, response) => {
    const links = ['', 'admin/'].map((path) => `<http://${host}/${path}>; rel="https://www.w3.org/ns/ldt#base"`)
    if (url!.includes('sparql?')) response.end(`{"boolean": ${leaks}}`)
    else response.writeHead(403, { Link: links, ...(observes && { 'Triplegate-Enforce': 'false' }) }).end()
  })
  let check: object = {}
  const management = await served(t, (_, response) => void response.end(JSON.stringify({ checks: [check] })))
  const seen = (...more: string[]) =>
    findings(['--data', freshFolder(), '--base', base.href, '--http', base.port, '--https', 'off', '--trusted-proxy', '127.0.0.1', '--management', management.port, ...more]) // prettier-ignore
  const rows: readonly (readonly [fault: string, check: object, leaks: boolean, found: readonly RegExp[]])[] = [
    ['none', { what: 'history', journal: { lastError: null } }, false, []],
    ['a store that fails', { what: 'store', problem: 'gone' }, false, [/^store: gone/]],
    ['a history out of step', { what: 'history', warning: 'lost' }, false, [/^history: lost/]],
    ['commits that wait', { what: 'history', journal: { lastError: 'full' } }, false, [/^history: full/]],
    ['SPARQL that reveals hidden documents', { what: 'store' }, true, [/^rights on SPARQL /, /^rights on SPARQL /]],
  ]
  for (const [fault, said, isLeak, found] of rows) {
    ;[check, leaks] = [said, isLeak]
    t.match((await seen()).found, found, fault)
    t.equal((await seen()).found.length, found.length, fault)
    if (found.length > 0) planted.add(fault)
  }
  leaks = false
  t.same(
    (await seen('--enforce=false')).found,
    [],
    'the running gateway enforces the rules, whatever these settings say',
  )
  ;[check, leaks, observes] = [{ what: 'store' }, false, true]
  t.match((await seen()).found, [/^rules: observed only: the running gateway/])
  planted.add('rules that the gateway only observes')
})

void t.test('canaries: fine only if a refusal was observed', async (t) => {
  let answers: { read: number; asked: number; text: string } = { read: 403, asked: 403, text: '' }
  const { href } = await served(t, ({ url, socket }, response) => {
    const { read, asked, text } = answers
    const status = url!.includes('sparql?') ? asked : read
    if (status === 0) socket.destroy()
    else response.writeHead(status).end(status === read ? undefined : text)
  })
  // prettier-ignore
  const rows: readonly (readonly [name: string, read: number, asked: number, text: string, state: string, evidence: RegExp])[] = [
    ['hidden', 403, 200, '{"boolean": false}', 'fine', /1 checked/],
    ['no right to SPARQL', 403, 401, '', 'fine', /1 checked/],
    ['found', 403, 200, '{"boolean": true}', 'finding', /although they have no right/],
    ['nobody answers the query', 403, 0, '', 'unknown', /no server answers/],
    ['the query fails', 403, 503, '', 'unknown', /got the status 503/],
    ['another program answers the query', 403, 200, '<html>', 'unknown', /instead of true or false/],
    ['the document fails', 503, 200, '{"boolean": false}', 'unknown', /answers 503/],
    ['everyone may read', 200, 403, '', 'unknown', /no document was found/],
  ]
  for (const [name, read, asked, text, state, evidence] of rows) {
    answers = { read, asked, text }
    const [found] = await canaryFindings([{ base: href } as never], [])
    t.match(found, { state, evidence }, name)
  }
})

void t.test('this machine', async (t) => {
  const [old, young] = [makeServerCertificate(['localhost'], 0), makeServerCertificate(['localhost'], Date.now())]
  const [expired, valid, other] = ['expired', 'valid', 'other'].map((name) => join(folder, `${name}.pem`)) as [
    string,
    string,
    string,
  ]
  writeFileSync(expired, await old, { mode: 0o600 })
  writeFileSync(valid, await young, { mode: 0o600 })
  writeFileSync(other, await makeServerCertificate(['localhost'], Date.now()), { mode: 0o600 })
  const open = freshFolder()
  mkdirSync(join(open, 'certs'))
  writeFileSync(join(open, 'certs/owner.pem'), 'no certificate', { mode: 0o600 })
  const readable = join(folder, 'readable.pem')
  writeFileSync(readable, await young, { mode: 0o644 })
  // prettier-ignore
  const rows: readonly (readonly [fault: string, args: readonly string[], found: RegExp])[] = [
    ['a data folder that others may use', ['--data', freshFolder(0o755)], /^data folder: other accounts may use/],
    ['a data folder that cannot be created', ['--data', '/dev/null/data'], /^data folder: .* cannot be written/],
    ['a certificate that has expired', ['--tls-cert', expired, '--tls-key', expired], /^server certificate: .*expired/],
    ['a key of another certificate', ['--tls-cert', valid, '--tls-key', other], /^server certificate: .*does not belong/],
    ['a missing certificate', ['--tls-cert', join(folder, 'none.pem'), '--tls-key', valid], /^server certificate: .*cannot be read/],
    ['a key that others may read', ['--tls-cert', readable, '--tls-key', readable], /^server certificate: .*other accounts may read/],
    ['an invalid owner certificate', ['--data', open], /^owner certificate: .*no certificate in PEM/],
    ['a base whose name has no address', ['--base', 'https://no-such-name.invalid/'], /^base .*has no address/],
    ['a base without TLS', ['--base', 'http://192.0.2.1/'], /^base .*without TLS/],
    ['plain HTTP without a proxy', ['--http', '8081', '--https', 'off'], /^proxy in front: plain HTTP is on/],
    ['rules that are not enforced', ['--enforce=false'], /^rules: observed only/],
    ['a base that no listener serves', ['--base', 'https://localhost:8765/'], /^base https:\/\/localhost:8765\/: no listener serves it: the gateway listens at https:\/\/localhost:8443/],
    // This file system has no space. According to its modes, only root may write there.
    ...(process.getuid?.() === 0 ? [['a disk without room', ['--data', '/proc/triplegate'], /^disk: 0 MiB free/] as const] : []),
  ]
  for (const [fault, args, found] of rows) {
    const management = ['--management', String(await freePort())]
    const data = args.includes('--data') ? [] : ['--data', freshFolder()]
    const seen = await findings([...args, ...management, ...data])
    t.match(seen.found.join('\n'), new RegExp(found.source, 'm'), fault)
    t.equal(seen.code, 1, fault)
    planted.add(fault)
  }
  t.equal((await findings(['--nonsense'])).code, 2)

  const path = process.env['PATH']
  process.env['PATH'] = freshFolder()
  t.match((await findings(['--data', freshFolder()])).found, [/^git: /], 'no git')
  process.env['PATH'] = path
  planted.add('no git')
  const settings = parseSettings(['--data', freshFolder()], {})
  if (isFailure(settings)) throw new Error(settings.detail)
  // prettier-ignore
  for (const [version, state] of [['20.18.3', 'finding'], ['18.20.0', 'finding'], ['20.19.0', 'fine'], ['22.1.0', 'fine']] as const) {
    const [node] = await machineFindings({ settings, dataspaces: [], now: Date.now(), node: version })
    t.match(node, { what: 'Node.js', state }, version)
  }
  planted.add('an old Node.js')
})

void t.test('the stores', { skip }, async (t) => {
  const [dataset, admin] = [await freshDataset(t), await freshDataset(t)]
  const base = 'https://localhost:8443/'
  const common = ['--data', freshFolder(), '--management', String(await freePort())]
  const both = ['--backend', dataset, '--admin-backend', admin]
  t.same((await findings([...common, ...both])).found, [])
  t.match(
    (await findings([...common, ...both])).out,
    /^ok +store of the end-user application: limits: it stops queries/m,
  )
  t.match(
    (await findings([...common, ...both])).out,
    /^ok +store of the end-user application: transactions: it runs a request of several operations as a whole/m,
  )
  t.match((await findings([...common, ...both, '--compact', '03:00'])).out, /^\S+ +store of the end-user application: compaction: /m) // prettier-ignore
  const guarded = createServer((_, response) => void response.writeHead(401).end()).listen(0, '0.0.0.0')
  await once(guarded, 'listening')
  t.teardown(() => guarded.close())
  const { port } = guarded.address() as AddressInfo
  const cutting = await served(t, (request, response) => {
    void (async () => {
      const { 'content-type': type = '', accept = '' } = request.headers
      const fields = { 'Content-Type': type, Accept: accept }
      const answer = await fetch(`${dataset}/query`, { method: 'POST', headers: fields, body: await text(request) })
      const lines = (await answer.text()).split('\n').slice(0, 10_001)
      response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type')! })
      response.end(`${lines.join('\n')}\n`)
    })()
  })
  const alone = (backend: string): string[] => ['--backend', backend]
  // prettier-ignore
  const rows: readonly (readonly [fault: string, args: readonly string[], found: RegExp])[] = [
    ['no store there', alone(`http://127.0.0.1:${await freePort()}/ds`), /^store of the end-user application: .*cannot be reached/i],
    ['no such dataset', alone(`${dataset}-none`), /^store of the end-user application: .*40[45]/],
    ['wrong credentials', alone(`http://127.0.0.1:${port}/ds`), /^store of the end-user application: .*credentials/],
    ['a store that truncates results', [...both, '--query-endpoint', `${cutting.href}query`], /limits: it returns 10000 of 11000 rows/],
    ['another update endpoint', [...both, '--update-endpoint', `${dataset}/none`], /updates: /],
  ]
  for (const [fault, args, found] of rows) {
    const seen = await findings([...common, ...args])
    t.match(seen.found.join('\n'), new RegExp(found.source, 'mi'), fault)
    planted.add(fault)
  }
  const refused = await findings([...common, ...alone(`http://127.0.0.1:${port}/ds`)])
  t.match(refused.out, /credentials\.\n +Give --backend-user and --backend-password, or --backend-token/)
  if (Object.values(networkInterfaces()).some((all) => all?.some(({ internal }) => !internal))) {
    const seen = await findings([...common, ...alone(`http://127.0.0.1:${port}/ds`)])
    t.match(seen.found.join('\n'), /^port of the store .*other machines reach it/m, 'a store that listens everywhere')
    planted.add('a store that listens everywhere')
  }
  const late = await findings([...common, ...both], () => Date.now() + 60_000)
  t.match(late.found, [/clock: differs .* by 60 s/, /clock: differs/], 'clocks that differ')
  planted.add('clocks that differ')

  const store = openHttpStore(fusekiEndpoints(dataset))
  t.teardown(store.close)
  await store.replace('urn:other', '<urn:a> <urn:b> <urn:c> .\n')
  await store.replace(`${base}admin/acl/x/`, '<urn:a> <urn:b> <urn:c> .\n')
  await store.replace(`${base}Straße/`, '<urn:a> <urn:b> <urn:c> .\n')
  const elsewhere = await findings([...common, ...both, '--graph-store-endpoint', `${dataset}/none`])
  t.match(elsewhere.found.join('\n'), /graphs: .*missing in the Graph Store Protocol/)
  const { found } = await findings([...common, ...both])
  t.match(found.join('\n'), /content: graphs of the admin application among the documents: <[^>]*admin\/acl\/x\/>/)
  t.match(found.join('\n'), /content: 1 of 3 graphs are not documents: <urn:other>/)
  t.equal(await store.read('urn:triplegate:doctor'), undefined, 'nothing is left')
  for (const fault of ['another Graph Store endpoint', 'rules among the documents', 'graphs that are not documents'])
    planted.add(fault)
  t.ok(planted.size >= 20, `${planted.size} planted faults were found`)
})

void t.test('the embedded store on disk', async (t) => {
  const data = freshFolder()
  const settings = parseSettings(['--store', 'oxigraph', '--data', data], {})
  const dataspaces = isFailure(settings) ? settings : await readConfiguration(settings)
  if (isFailure(dataspaces)) return t.fail(dataspaces.detail)
  const file = installedOxigraph(data)
  mkdirSync(dirname(file), { recursive: true })
  mkdirSync(join(data, 'store/documents'))
  for (const [script, found] of [
    ['echo oxigraph 0.5.13', { state: 'fine', evidence: `oxigraph 0.5.13, ${file}` }],
    ['exit 1', { state: 'finding', evidence: /does not run/, fix: /triplegate store install/ }],
  ] as const) {
    writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o700 })
    t.match(await oxigraphFindings({ data }, dataspaces), [found, { state: 'fine', evidence: /MiB/ }], script)
  }
})
