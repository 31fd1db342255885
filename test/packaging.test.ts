// The files in packaging/: they name existing settings, run nothing as root, and publish no port of the store.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withCommand } from '../gateway/run-command.js'
import { SETTINGS } from '../gateway/configuration/settings.js'

const FOLDER = 'packaging'
const FILES = readdirSync(FOLDER)
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

void t.test('every setting that they name exists', async (t) => {
  const known = new Set(SETTINGS.map(({ env }) => env))
  for (const file of FILES) {
    for (const [name] of textOf(file).matchAll(/\bTRIPLEGATE_[A-Z_]+\b/g)) {
      t.ok(known.has(name) || name === 'TRIPLEGATE_NAME', `${file}: ${name}`)
    }
  }
})

void t.test('the files in packaging/ request the health at its URL', async (t) => {
  const port = SETTINGS.find(({ name }) => name === 'management')?.default
  for (const file of ['Dockerfile', 'kubernetes.yaml']) {
    const asked = [...textOf(file).matchAll(/http:\/\/127\.0\.0\.1:(\d+)\/health\//g)]
    t.not(asked.length, 0, file)
    for (const [, own] of asked) t.equal(own, port, file)
  }
  t.match(textOf('kubernetes.yaml'), `image: triplegate:${version}`)
})

void t.test('nothing runs as root, and the store has no port', async (t) => {
  for (const file of ['Dockerfile', 'fuseki.Dockerfile']) t.match(textOf(file), /^USER [1-9]\d+:[1-9]\d+$/m, file)
  t.match(textOf('triplegate.service'), /^User=triplegate$/m)
  t.match(textOf('kubernetes.yaml'), 'runAsNonRoot: true')
  const [, store = ''] = /^ {2}fuseki:\n((?: {4}.*\n)+)/m.exec(textOf('compose.yaml')) ?? []
  t.match(store, 'networks: [stores]')
  t.notMatch(store, 'ports:')
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
void t.test(
  'systemd: the unit is well-formed and confined',
  { skip: !hasSystemd && 'no systemd-analyze here' },
  async (t) => {
    const unit = join(FOLDER, 'triplegate.service')
    const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    // The program may be elsewhere on this machine.
    t.same(
      verified.stderr.split('\n').filter((line) => line && !/is not executable/.test(line)),
      [],
    )
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit], { encoding: 'utf8' })
    const [, exposure] = /exposure level for triplegate\.service: ([\d.]+)/.exec(stdout) ?? []
    t.ok(Number(exposure) <= 2.5, `exposure ${exposure}`)
  },
)

void t.test('V8 has the flag that the gateway sets', async (t) => {
  const [, flag] = /setFlagsFromString\('(--[a-z-]+)=/.exec(readFileSync('gateway/main.ts', 'utf8')) ?? []
  t.match(spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' }).stdout, `${flag} (`)
})

void t.test('triplegate URL runs the gateway in front of it', async (t) => {
  const url = 'http://localhost:3030/ds'
  // prettier-ignore
  const rows: readonly (readonly [given: readonly string[], meant: readonly string[]])[] = [
    [[url], ['serve', '--backend', url]],
    [[url, '--https', '9443'], ['serve', '--backend', url, '--https', '9443']],
    [['serve', '--backend', url], ['serve', '--backend', url]],
    [['history', url], ['history', url]],
    [[], []],
  ]
  for (const [given, meant] of rows) t.strictSame(withCommand(given), meant, given.join(' '))
})
