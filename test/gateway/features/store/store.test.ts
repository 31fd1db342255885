// `triplegate store install`: the download is checked before it is run.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { installExecutable } from '../../../../gateway/features/store/command.js'
import { WHEELS } from '../../../../gateway/features/store/wheels.js'
import { installedOxigraph } from '../../../../gateway/stores/child-store.js'
import { runCommand } from '../../../../gateway/run-command.js'
import { row } from '../../../support/stores.js'

/** A ZIP archive of these files (APPNOTE.TXT 4.3.6). */
function zipOf(files: readonly (readonly [name: string, text: string])[]): Buffer {
  const [locals, entries]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const [name, text] of files) {
    const packed = deflateRawSync(text)
    const local = Buffer.alloc(30 + 4)
    local.writeUInt16LE(name.length, 26)
    // An extra field that the entry of the directory does not have.
    local.writeUInt16LE(4, 28)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset, 42)
    entries.push(entry, Buffer.from(name))
    const whole = Buffer.concat([local.subarray(0, 30), Buffer.from(name), local.subarray(30), packed])
    locals.push(whole)
    offset += whole.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...entries, end])
}

const script = (code: number): readonly [string, string] => [
  'oxigraph-0.5.13.data/scripts/oxigraph',
  `#!/bin/sh\nexit ${code}\n`,
]
const METADATA = ['oxigraph-0.5.13.dist-info/METADATA', 'Name: oxigraph'] as const
const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

void t.test('triplegate store install', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-install-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = installedOxigraph(folder)
  const [runs, fails] = [zipOf([METADATA, script(0)]), zipOf([script(1)])]
  const installed = (bytes: Buffer, sha256: string) =>
    installExecutable(file, { url: 'https://pypi.example/wheel', sha256 }, () => Promise.resolve(bytes))
  for (const [name, run, message] of [
    ['another digest', () => installed(runs, sha256Of(fails)), /SHA-256 is not .*Nothing was installed/],
    ['an executable that does not run', () => installed(fails, sha256Of(fails)), /does not run here .*cargo install/],
    [
      'an archive without the executable',
      () => installed(zipOf([METADATA]), sha256Of(zipOf([METADATA]))),
      /Nothing was/,
    ],
    ['a platform without a wheel', () => installExecutable(file, undefined), /no Oxigraph for .*cargo install/],
  ] as const)
    await row(t, 'none', `is refused: ${name}`, async (t) => {
      t.match((await run())?.detail, message)
      t.notOk(existsSync(file))
    })
  await row(t, 'none', 'the executable is in the data folder, for its account only', async (t) => {
    t.equal(await installed(runs, sha256Of(runs)), undefined)
    t.equal(readFileSync(file, 'utf8'), script(0)[1])
    t.equal(statSync(file).mode & 0o777, 0o700)
  })
  await row(t, 'none', 'each wheel has its own address and digest', (t) => {
    const wheels = Object.values(WHEELS)
    t.equal(new Set(wheels.flatMap(({ url, sha256 }) => [url, sha256])).size, 2 * wheels.length)
    for (const { sha256 } of wheels) t.match(sha256, /^[0-9a-f]{64}$/)
  })
  for (const [argv, code, printed] of [
    [['store'], 2, /write triplegate store install/],
    [['store', 'remove'], 2, /write triplegate store install/],
    [['store', 'install', 'twice'], 2, /twice/],
    [['store', '--help'], 0, /fetch Oxigraph/],
  ] as const)
    await row(t, 'none', `triplegate ${argv.join(' ')}`, async (t) => {
      let text = ''
      const print = (more: string | Buffer): void => void (text += String(more))
      const terminal = { out: print, error: print, waiting: () => undefined, interactive: false, now: () => 0 }
      t.equal(await runCommand(argv, {}, terminal), code)
      t.match(text, printed)
    })
})
