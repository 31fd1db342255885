// triplegate init and adopt: reports on a store, a configuration that the gateway starts with, and graphs that become
// documents.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { readConfiguration } from '../../../../gateway/configuration/configuration.js'
import { parseSettings } from '../../../../gateway/configuration/settings.js'
import { isFailure } from '../../../../gateway/problem.js'
import { runCommand } from '../../../../gateway/run-command.js'
import { makeNames } from '../../../../gateway/documents/iri-spelling.js'
import { isNameable, renamesOf, ruleOf, rulesForNames } from '../../../../gateway/features/adoption/renames.js'
import { isDocumentOf } from '../../../../gateway/documents/document.js'
import { graphKindOf } from '../../../../gateway/survey/survey.js'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { freePort } from '../../../support/ports.js'
import { freshDataset, reasonWithoutFuseki } from '../../../support/stores.js'

const skip = await reasonWithoutFuseki()
const folder = mkdtempSync(join(tmpdir(), 'triplegate-init-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

async function command(...argv: string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const take = (text: string | Buffer): void => void (out += String(text))
  const terminal = { out: take, error: take, waiting: () => undefined, interactive: false, now: Date.now }
  return { code: await runCommand(argv, {}, terminal), out }
}

void t.test('the kind of a graph, by its name', async (t) => {
  const base = 'https://data.example.org/'
  // prettier-ignore
  const rows = [
    [base, 'documents'],
    [`${base}a/b/`, 'documents'],
    [`${base}a`, 'without-slash'],
    ['http://data.example.org/a/', 'other-scheme'],
    ['http://data.example.org/a', 'other-scheme'],
    [`${base}Straße/`, 'other-spelling'],
    [`${base}%61bc/`, 'other-spelling'],
    [`${base}a?b/`, 'other-names'],
    [`${base}a//b/`, 'other-names'],
    [`${base}${'x'.repeat(2100)}/`, 'other-names'],
    [`${base}admin/a/`, 'other-names'],
    [`${base}a#b`, 'other-names'],
    ['urn:a', 'elsewhere'],
    ['https://data.example.com/a/', 'elsewhere'],
  ] as const
  const isDocument = (graph: string): boolean => isDocumentOf({ base, kind: 'end-user' }, `${base}admin/`, graph)
  for (const [graph, kind] of rows) t.equal(graphKindOf(graph, { base, isDocument }), kind, graph)
})

void t.test('adopt: the URL that a graph gets', async (t) => {
  const base = 'https://data.example.org/'
  const isDocument = (graph: string): boolean => isDocumentOf({ base, kind: 'end-user' }, `${base}admin/`, graph)
  const names = makeNames(base, isDocument)
  const given = ['http://old.example/ds/*=https://data.example.org/old/*', `urn:x=${base}x/`, `urn:a=b=${base}c/`]
  const rules = given.map((text) => ruleOf(text, isDocument))
  for (const rule of rules) t.notOk('failure' in rule, JSON.stringify(rule))
  const renames = renamesOf([...(rules as Exclude<(typeof rules)[number], { failure: string }>[]), ...rulesForNames(base)], base, names) // prettier-ignore
  // prettier-ignore
  const rows = [
    [`${base}a`, `${base}a/`],
    [`${base}a/`, undefined],
    [base, undefined],
    ['http://data.example.org/a', `${base}a/`],
    ['http://data.example.org/', base],
    [`${base}Straße/`, `${base}Stra%C3%9Fe/`],
    [`${base}Stra%c3%9fe`, `${base}Stra%C3%9Fe/`],
    [`${base}%7ea/`, `${base}~a/`],
    [`${base}50%/`, `${base}50%25/`],
    [`${base}a#b`, undefined],
    [`${base}a?b`, undefined],
    [`${base}a//b/`, undefined],
    [`${base}a/../b/`, undefined],
    [`${base}admin/a`, undefined],
    ['http://old.example/ds/a/b', `${base}old/a/b/`],
    ['http://old.example/ds/', `${base}old/`],
    ['http://old.example/', undefined],
    ['urn:x', `${base}x/`],
    ['urn:xy', undefined],
    ['urn:a=b', `${base}c/`],
  ] as const
  for (const [graph, name] of rows) t.equal(renames.nameAfter(graph), name, graph)
  for (const text of [
    'urn:x',
    `urn:x=${base}x`,
    `urn:x*=${base}x/`,
    `urn:x=${base}*`,
    `urn:x=${base}admin/x/`,
    'urn:x=http://other.example/x/',
  ])
    // prettier-ignore
    t.match(ruleOf(text, isDocument), { failure: 'rule.wrong' }, text)
})

void t.test('the names of graphs that SPARQL can express', (t) => {
  // prettier-ignore
  const rows = [
    ['urn:a', true], ['https://data.example.org/Straße/', true], ['x+y-z.1:a', true],
    ['rel/graph', false], ['/graph', false], ['//data.example.org/', false], ['a/b:c', false], ['1:a', false], ['', false],
    ['urn:a b', false], ['https://data.example.org/a/../b', false], ['https:a', false],
  ] as const
  for (const [name, isOne] of rows) t.equal(isNameable(name), isOne, name)
  t.end()
})

void t.test('init without a dataset for the rules proposes a name that no dataset has', async (t) => {
  const taken = new Set<string>()
  const server = createServer((request, response) => {
    const isTaken = taken.has(request.url!.split('/')[1]!)
    response.writeHead(isTaken ? 200 : 404, { 'Content-Type': 'application/sparql-results+json' })
    response.end(isTaken ? '{ "head": {}, "boolean": true }' : '')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const [name, next] of [
    ['ds', 'admin'],
    ['admin', 'rules'],
    ['rules', 'triplegate'],
    ['triplegate', 'NAME'],
  ] as const) {
    // prettier-ignore
    taken.add(name)
    const { code, out } = await command('init', `${origin}/ds`)
    t.equal(code, 2)
    t.match(out, `dbName=${next}&`)
    t.match(out, new RegExp(`Then add --admin-backend ${origin}/${next}$`, 'm'))
  }
})

void t.test('init and adopt', { skip }, async (t) => {
  const [dataset, admin] = [await freshDataset(t), await freshDataset(t)]
  const [https, management] = [await freePort(), await freePort()]
  const base = `https://localhost:${https}/`
  const store = openHttpStore(fusekiEndpoints(dataset))
  t.teardown(store.close)
  const names = [
    `${base}a/b/c/`,
    `${base}a/`,
    `${base}slash`,
    `http://localhost:${https}/old/`,
    `${base}%7eu/`,
    'urn:x',
    'urn:y',
  ]
  for (const name of names)
    await store.replace(name, `_:b <urn:b> <${base}slash#this> .\n<${name}> <urn:of> <urn:x> .\n`)
  await store.replace(base, `<${base}> <urn:of> <${base}slash> .\n`)
  // SPARQL cannot express the name of this graph.
  const headers = { 'Content-Type': 'application/n-quads' }
  await fetch(`${dataset}/data`, { method: 'POST', headers, body: `<${base}> <urn:of> <urn:x> <${base}dot/../s/> .\n` })
  const file = join(folder, 'system.trig')
  const given = ['init', dataset, '--base', base, '--out', file]

  t.match(await command('init'), { code: 2, out: /triplegate init URL/ })
  t.match(await command(...given), {
    code: 2,
    out: /--admin-backend: is missing.*curl -X POST.*triplegate http:.* keeps the rules in an embedded store/s,
  })
  const absent = `http://127.0.0.1:${await freePort()}/ds`
  t.match(await command('init', absent, '--admin-backend', admin), { code: 1, out: /FINDING {2}store of the end-user/ })
  const asked = await command(...given, '--admin-backend', admin)
  t.equal(asked.code, 0, asked.out)
  for (const line of [
    /^store of the end-user application: updates: accepts updates at http/m,
    /^store of the end-user application: version: (?:Fuseki \d|a Fuseki)/m,
    /^store of the end-user application: default graph: its own$/m,
    /^9 graphs with 16 triples; by their names, with the base https/m,
    /^ +3 graphs are documents/m,
    /^ +1 graph would be a document with a slash.*\(adopt --names\)/m,
    /^ +1 graph would be a document if .* scheme/m,
    /^ +1 graph would be a document if .* percent-encoded and normalised \(adopt --names\)/m,
    /^ +2 graphs have names outside the base/m,
    /^ +1 container of existing documents is missing/m,
    /^ +2 documents have no type/m,
    /With --yes/,
  ])
    t.match(asked.out, line)
  t.notOk(existsSync(file))
  const written = await command(...given, '--admin-backend', admin, '--yes')
  t.match(written, { code: 0, out: /--enforce=false/ })
  t.equal(
    written.out.match(new RegExp(`--config \\S+ --https ${https}(?: |$)`, 'gm'))?.length,
    3,
    'with the port of the base',
  )
  const chosen = await command(...given, '--admin-backend', admin, '--https', String(await freePort()), '--yes')
  t.match(chosen, { code: 2, out: new RegExp(`no listener serves it: .*Give --https ${https}`) })
  const more = [
    '--out',
    join(folder, 'more.trig'),
    '--https',
    String(https),
    '--management',
    'off',
    '--look',
    "it's",
    '--shared-cache',
  ]
  t.match(await command(...given.slice(0, -2), '--admin-backend', admin, ...more, '--yes'), {
    code: 0,
    out: /more\.trig --look='it'\\''s' --https=\d+ --management=off --shared-cache/,
  })
  t.match(await command(...given, '--admin-backend', admin, '--yes'), { code: 3, out: /already exists/ })
  t.match(await store.read(base), /^<\S+> <urn:of> <\S+slash> \.\n$/, 'the store is not changed')

  const own = mkdtempSync(join(folder, 'histories-'))
  const histories = ['local', '--admin-history', 'https://github.com/owner/rules', '--history-token', 'secret']
  const api = ['--history-api', 'https://api.example.org', '--data', 'data', '--yes']
  const init = ['init', dataset, '--base', base, '--admin-backend', admin, '--history', ...histories, ...api]
  const run = () =>
    spawnSync(process.execPath, [resolve('dist/gateway/main.js'), ...init], {
      cwd: own,
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    })
  for (const [taken, fix] of [
    ['system.trig', /^triplegate: system\.trig already exists\. Move it away, or give another name with --out\.$/m],
    ['credentials.trig', /^triplegate: credentials\.trig already exists\. Move it away\.$/m],
  ] as const) {
    writeFileSync(join(own, taken), '# mine')
    t.match(run(), { status: 3, stderr: fix })
    t.strictSame(readdirSync(own), [taken], 'no part of the configuration is written')
    t.equal(readFileSync(join(own, taken), 'utf8'), '# mine')
    rmSync(join(own, taken))
  }
  const ran = run()
  t.equal(ran.status, 0, ran.stdout + ran.stderr)
  t.match(ran.stdout, /serve --config system\.trig --credentials credentials\.trig --data data --https=?/)
  const files = ['--config', join(own, 'system.trig'), '--credentials', join(own, 'credentials.trig')]
  const settings = parseSettings(files, {})
  const dataspaces = isFailure(settings) ? settings : await readConfiguration(settings)
  if (isFailure(dataspaces)) return t.fail(dataspaces.detail)
  const { host } = new URL(base)
  t.match(
    dataspaces[0],
    {
      endUser: {
        versioning: {
          location: pathToFileURL(join(own, 'data/history', encodeURIComponent(`${host}/`), 'repository.git')).href,
          branch: 'main',
        },
      },
      admin: {
        versioning: { location: 'https://github.com/owner/rules', apiBase: 'https://api.example.org', token: 'secret' },
      },
    },
    'the histories that were given',
  )

  const args = ['serve', '--config', file, '--data', join(folder, 'data'), '--https', String(https)]
  const gateway = spawn(process.execPath, ['dist/gateway/main.js', ...args, '--management', String(management)], {
    env: { PATH: process.env['PATH'] },
  })
  t.teardown(() => gateway.kill('SIGTERM'))
  const [banner] = (await once(gateway.stdout, 'data')) as [Buffer]
  t.match(String(banner), `Documents   ${base}`, readFileSync(file, 'utf8'))

  const adopt = (...more: string[]) => command('adopt', base, '--data', join(folder, 'data'), ...more)
  t.match(await adopt(), { code: 0, out: /^ +1 graph would be a document if .* percent-encoded .*\(adopt --names\)/m })
  const all = ['--names', '--references', '--rename', `urn:x=${base}moved/x/`, '--containers', '--types']
  const planned = await adopt(...all, '--dry-run')
  t.match(planned, { code: 0, out: /^ +4 graphs are renamed.*^ +3 containers are created/ms })
  t.match(await adopt(...all), { code: 0, out: /With --yes/ })
  t.match(await store.read('urn:x'), /urn:of/, 'nothing is written')
  const done = await adopt(...all, '--yes')
  t.match(done, { code: 0, out: /^Done: 4 graphs renamed, references changed in \d+ graphs/m })
  t.match(await adopt(...all, '--yes'), { code: 0, out: /^Nothing to do/m }, 'a second run')
  t.match(await store.read(`${base}moved/x/`), `<${base}moved/x/> <urn:of> <${base}moved/x/>`)
  t.match(await store.read(`${base}moved/x/`), `sioc/ns#has_container> <${base}moved/>`, 'with its managed triples')
  t.match(await store.read(`${base}~u/`), `<urn:b> <${base}slash/#this>`)
  t.match(
    await store.read('urn:y'),
    new RegExp(`_:\\S+ <urn:b> <${base}slash/#this>`),
    'including graphs that are not documents',
  )
  for (const name of [`${base}slash`, `http://localhost:${https}/old/`, `${base}%7eu/`, 'urn:x'])
    t.equal((await store.read(name)) ?? '', '', `${name} is gone`)
})
