// triplegate init: what a store has, and a configuration that the gateway starts with.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { runCommand } from '../../../gateway/commands/run-command.js'
import { kindOf } from '../../../gateway/doctor/survey.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { freePort } from '../../support/ports.js'
import { freshDataset, reasonWithoutFuseki } from '../../support/stores.js'

const skip = await reasonWithoutFuseki()
const folder = mkdtempSync(join(tmpdir(), 'triplegate-init-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

async function command(...argv: string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const take = (text: string | Buffer): void => void (out += String(text))
  const terminal = { out: take, error: take, waiting: () => undefined, interactive: false, now: Date.now }
  return { code: await runCommand(argv, {}, terminal), out }
}

void t.test('what a graph is, by its name', async (t) => {
  const base = 'https://data.example.org/'
  // prettier-ignore
  const rows = [
    [base, 'documents'],
    [`${base}a/b/`, 'documents'],
    [`${base}a`, 'without-slash'],
    ['http://data.example.org/a/', 'other-scheme'],
    ['http://data.example.org/a', 'other-scheme'],
    [`${base}Straße/`, 'other-names'],
    [`${base}a#b`, 'other-names'],
    ['urn:a', 'elsewhere'],
    ['https://data.example.com/a/', 'elsewhere'],
  ] as const
  for (const [graph, kind] of rows) t.equal(kindOf(graph, base), kind, graph)
})

void t.test('init', { skip }, async (t) => {
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
    `${base}Ü/`,
    'urn:x',
    'urn:y',
  ]
  for (const name of names) await store.replace(name, '<urn:a> <urn:b> <urn:c> .\n')
  const file = join(folder, 'system.trig')
  const given = ['init', dataset, '--base', base, '--out', file]

  t.match(await command('init'), { code: 2, out: /triplegate init URL/ })
  t.match(await command(...given), { code: 2, out: /--admin-backend: is missing.*curl -X POST/s })
  const absent = `http://127.0.0.1:${await freePort()}/ds`
  t.match(await command('init', absent, '--admin-backend', admin), { code: 1, out: /FINDING {2}store of the end-user/ })
  const asked = await command(...given, '--admin-backend', admin)
  t.equal(asked.code, 0, asked.out)
  for (const line of [
    /^ +2 graphs are documents/m,
    /^ +1 graphs would be documents with a slash/m,
    /^ +1 graphs would be documents if .* scheme/m,
    /^ +1 graphs are under the base, but/m,
    /^ +2 graphs have names elsewhere/m,
    /^ +1 containers above documents do not exist/m,
    /With --yes/,
  ])
    t.match(asked.out, line)
  t.notOk(existsSync(file))
  const written = await command(...given, '--admin-backend', admin, '--yes')
  t.match(written, { code: 0, out: /--enforce=false/ })
  t.match(await command(...given, '--admin-backend', admin, '--yes'), { code: 3, out: /exists already/ })
  t.equal((await store.read(base)) ?? '', '', 'the store is not changed')

  const args = ['serve', '--config', file, '--data', join(folder, 'data'), '--https', String(https)]
  const gateway = spawn(process.execPath, ['dist/gateway/main.js', ...args, '--management', String(management)], {
    env: { PATH: process.env['PATH'] },
  })
  t.teardown(() => gateway.kill('SIGTERM'))
  const [banner] = (await once(gateway.stdout, 'data')) as [Buffer]
  t.match(String(banner), `Documents   ${base}`, readFileSync(file, 'utf8'))
})
