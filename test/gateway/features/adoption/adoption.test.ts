// From a Fuseki with graphs of every kind of name to a gateway that observes, and then one that enforces its rules, by
// the five commands that `triplegate init` prints, as processes. TRIPLEGATE_TEST_GRAPHS=10000 makes that many graphs.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { select } from '../../../../gateway/stores/select.js'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { makeClient } from '../../../support/client.js'
import { freePort } from '../../../support/ports.js'
import { startProxy, type Recorded } from '../../../support/proxy.js'
import { freshDataset, reasonWithoutFuseki } from '../../../support/stores.js'
import { gate, until } from '../../../support/wait.js'

const skip = await reasonWithoutFuseki()
const GRAPHS = Number(process.env['TRIPLEGATE_TEST_GRAPHS'] ?? 300)
const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'

/** The name of a graph before and after. */
type Name = readonly [before: string, after: string]

function namesUnder(base: string, other: string): readonly Name[] {
  const nameOf = (i: number): Name => {
    const same = (name: string): Name => [name, name]
    switch (i % 20) {
      case 0:
        return [`${base}slash${i}`, `${base}slash${i}/`]
      case 1:
        return [`${other}scheme${i}/`, `${base}scheme${i}/`]
      case 2:
        return same(`${base}Straße${i}/`)
      case 3:
        return [`http://old.example/ds/a/${i}`, `${base}old/a/${i}/`]
      case 4:
        return same(`urn:x:${i}`)
      case 5:
        return same(`${base}a#${i}`)
      default:
        return same(`${base}c${i % 7}/d${i}/`)
    }
  }
  return Array.from({ length: GRAPHS }, (_, i) => nameOf(i))
}

const nQuads = (names: readonly Name[]): string =>
  names
    .map(([name], i) => {
      const next = names[(i + 1) % names.length]![0]
      const of = (predicate: string, object: string, subject = `<${name}>`): string => `${subject} <${predicate}> ${object} <${name}> .\n` // prettier-ignore
      return of(LABEL, `"${i}"`) + of('urn:next', `<${next}>`) + of('urn:next', `<${next}#this>`, `_:b${i}`)
    })
    .join('')

void t.test(`from ${GRAPHS} graphs of every kind of name to rules that are enforced`, { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-adoption-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [dataset, admin] = [await freshDataset(t), await freshDataset(t)]
  const [https, management] = [String(await freePort()), String(await freePort())]
  const base = `https://localhost:${https}/`
  const store = openHttpStore(fusekiEndpoints(dataset))
  t.teardown(store.close)
  const proxy = await startProxy(dataset)
  t.teardown(() => proxy.stop())
  const names = namesUnder(base, base.replace('https', 'http'))
  const loaded = await fetch(dataset, { method: 'POST', headers: { 'Content-Type': 'application/n-quads' }, body: nQuads(names) }) // prettier-ignore
  t.ok(loaded.ok)

  const command = (...argv: string[]) => spawn(process.execPath, ['dist/gateway/main.js', ...argv], { env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', log] }) // prettier-ignore
  const log = openSync(join(folder, 'log'), 'a')
  const run = async (...argv: string[]): Promise<[code: number, out: string]> => {
    const child = command(...argv)
    let out = ''
    child.stdout!.on('data', (data) => (out += String(data)))
    const [code] = (await once(child, 'close')) as [number]
    return [code, out]
  }
  const config = ['--config', join(folder, 'system.trig'), '--data', join(folder, 'data')]
  const serve = async (...more: string[]): Promise<ChildProcess> => {
    const gateway = command('serve', ...config, '--https', https, '--management', management, '--log-format', 'json', ...more) // prettier-ignore
    t.teardown(() => gateway.kill('SIGKILL'))
    await Promise.race([once(gateway.stdout!, 'data'), once(gateway, 'exit')])
    t.equal(gateway.exitCode, null, 'the gateway runs')
    return gateway
  }
  const stop = async (gateway: ChildProcess): Promise<void> => {
    gateway.kill('SIGTERM')
    await once(gateway, 'exit')
  }
  const found = async (query: string, variables: readonly string[]): Promise<string[]> => {
    const rows = await select(store, query, variables, {})
    if (isFailure(rows)) throw new Error(rows.detail)
    return rows.map((row) => row.map((term) => term!.value).join(' ')).sort()
  }

  t.match(await run('init', proxy.url, '--admin-backend', admin, '--base', base, '--out', config[1]!, '--yes'), [0, /graphs would be documents/]) // prettier-ignore
  const observing = await serve('--enforce=false')
  const pem = (name: string): string => readFileSync(join(folder, 'data/certs', `${name}.pem`), 'utf8')
  const owner = makeClient({ port: Number(https), ca: pem('server'), pem: pem('owner') })
  const anonymous = makeClient({ port: Number(https), ca: pem('server') })
  t.teardown(() => [owner, anonymous].forEach((client) => client.close()))
  const open = `<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> ;
    <http://www.w3.org/ns/auth/acl#agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <http://www.w3.org/ns/auth/acl#accessTo> <${base}slash0> .`
  const turtle = (body: string) => ({ fields: { 'Content-Type': 'text/turtle' }, body })
  t.equal((await owner('PUT', '/admin/acl/authorizations/before/', turtle(open))).status, 201)

  const adopt = ['adopt', base, '--names', '--references', '--containers', '--rename', `http://old.example/ds/*=${base}old/*`, '--yes', '--data', join(folder, 'data')] // prettier-ignore
  const renamed = new Set(names.flatMap(([before, after]) => (before === after ? [] : [before])))
  const left = async (): Promise<number> =>
    (await found('SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }', ['g'])).filter((g) => renamed.has(g)).length
  const isWrite = ({ method, fields }: Recorded): boolean =>
    method !== 'GET' && fields['content-type'] !== 'application/sparql-query'
  const writes = (): number => proxy.requests.filter(isWrite).length
  const holdWrites = (): (() => void) => {
    const { opened, open } = gate()
    proxy.fault({ kind: 'held', until: opened, only: isWrite })
    return open
  }
  // The store gets one write at a time until some graphs have been renamed; then the command is killed.
  let goOn = holdWrites()
  let seen = writes()
  const killed = command(...adopt)
  for (; ; seen++) {
    await until(() => writes() > seen || killed.exitCode !== null)
    if (killed.exitCode !== null || (await left()) < renamed.size) break
    const done = goOn
    goOn = holdWrites()
    done()
  }
  const rest = await left()
  killed.kill('SIGKILL')
  proxy.fault(undefined)
  goOn()
  // The graphs of old.example, whose new names are deeper, come last.
  t.ok(rest > 0 && rest < renamed.size, `killed when ${rest} of ${renamed.size} were left`)
  const [code, out] = await run(...adopt)
  t.equal(code, 0, out)
  t.match(out, /^Done: \d+ graphs renamed/m)
  t.strictSame(
    await found(`SELECT ?g ?l WHERE { GRAPH ?g { ?g <${LABEL}> ?l } FILTER(?g != <${base}>) }`, ['g', 'l']),
    names.map(([, name], i) => `${name} ${i}`).sort(),
    'nothing is lost, and nothing twice',
  )
  const nexts = names.map((_, i) => names[(i + 1) % names.length]![1])
  t.strictSame(
    await found('SELECT ?g ?o WHERE { GRAPH ?g { ?s <urn:next> ?o } }', ['g', 'o']),
    names.flatMap(([, name], i) => [`${name} ${nexts[i]}`, `${name} ${nexts[i]}#this`]).sort(),
    'every reference has the new name',
  )

  t.match(readFileSync(join(folder, 'log'), 'utf8'), /triplegate adopt --names/, 'the start has named the command')
  const watched = new URL(names[6]![1]).pathname
  t.equal((await anonymous('GET', watched)).status, 200, 'observed only')
  await stop(observing)
  const observed = await run('access', 'observed', join(folder, 'log'), '--turtle')
  t.match(observed, [0, `<${names[6]![1]}>`])
  await serve()
  t.equal((await anonymous('GET', watched)).status, 403, 'enforced')
  t.equal((await anonymous('GET', '/slash0/')).status, 200, 'a rule about a graph is one about its new name')
  t.equal((await owner('GET', watched)).status, 200)
  t.equal((await owner('PUT', '/admin/acl/authorizations/observed/', turtle(observed[1]))).status, 201)
  t.equal((await anonymous('GET', watched)).status, 200, 'as observed')
})
