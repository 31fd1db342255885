// Only the gateway's own account can use its files: those that the gateway, LevelDB and git create, and existing ones.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { makeGatewayCaches } from '../../../gateway/caches.js'
import { openUndoFile } from '../../../gateway/features/adoption/undo-file.js'
import { runCommand } from '../../../gateway/run-command.js'
import { ownData } from '../../../gateway/start/own-data.js'
import { keepPrefixes } from '../../../gateway/start/start.js'
import { makePrivate, reportShared, unusableFolder } from '../../../gateway/start/private-folder.js'
import { makeSite, startGateway, untilSettled } from '../../crash/gateway-process.js'
import { rowsOf } from '../../support/stores.js'

const temporary = mkdtempSync(join(tmpdir(), 'triplegate-private-'))
t.teardown(() => rmSync(temporary, { recursive: true, force: true }))

/** The files and folders at and under a folder that other accounts can use, as `mode path`. */
function openIn(folder: string): string[] {
  const paths = [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ]
  return paths.flatMap((path) => {
    const mode = lstatSync(path).mode & 0o777
    return lstatSync(path).isSymbolicLink() || (mode & 0o077) === 0 ? [] : [`${mode.toString(8)} ${path}`]
  })
}

type Line = { readonly msg: string; readonly corrected?: number }
const logOf = (lines: Line[]) => pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) })

void t.test('a data folder that cannot be used: what to do', (t) => {
  // prettier-ignore
  const rows = [
    ['ENOSPC', 'Make room on its disk.'],
    ['IO error: /d/triplegate-data/MANIFEST-000008: No space left on device', 'Make room on its disk.'],
    ['IO error: /d/triplegate-data/000008.log: Disk quota exceeded', 'Make room on its disk.'],
    ['EACCES', 'Correct the owner of its files (chown -R).'],
    ['IO error: /d/triplegate-data/LOCK: Permission denied', 'Correct the owner of its files (chown -R).'],
    ['ENOTDIR', 'Give another folder with --data.'],
  ] as const
  for (const [why, fix] of rows) t.match(unusableFolder('/d', why).message, `(${why}). ${fix}`)
  t.end()
})

const NOWHERE = 'http://127.0.0.1:1/'
const COMMANDS: readonly (readonly string[])[] = [
  ['store', 'install'],
  ['mirror', 'sweep', '--management', 'off', '--history', 'local', '--backend', `${NOWHERE}ds`, '--admin-backend', `${NOWHERE}admin`], // prettier-ignore
]

void t.test('root does not write to a data folder of another account', async (t) => {
  if (process.getuid?.() !== 0) return t.comment('only root can change owners')
  const rows: readonly (readonly [name: string, owner: number, ofFile: number | undefined, isRefused: boolean])[] = [
    ['an empty folder of another account', 10001, undefined, true],
    ['its gateway runs as another account, on a disk of root', 0, 10001, true],
    ['its gateway runs as root, in a folder of another account', 10001, 0, false],
    ['a folder of root', 0, undefined, false],
  ]
  for (const [name, owner, ofFile, isRefused] of rows) {
    const folder = mkdtempSync(join(temporary, 'owned-'))
    if (ofFile !== undefined) {
      writeFileSync(join(folder, 'gateway.json'), '{}')
      chownSync(join(folder, 'gateway.json'), ofFile, ofFile)
    }
    chownSync(folder, owner, owner)
    const before = readdirSync(folder)
    const message = `${folder} belongs to account 10001. Run this as that account (sudo -u '#10001').`
    if (!isRefused) {
      await (await ownData(folder)).release()
      continue
    }
    await t.rejects(ownData(folder), { message }, name)
    t.match(openUndoFile(folder, { base: '', admin: '', asked: '' }, 0), { detail: message }, name)
    let text = ''
    const print = (more: string | Buffer): void => void (text += String(more))
    const terminal = { out: print, error: print, waiting: () => undefined, interactive: false, now: () => 0 }
    for (const command of COMMANDS) {
      text = ''
      t.equal(await runCommand([...command, '--data', folder], {}, terminal), 3, `${command[0]}: ${name}`)
      t.match(text, message)
    }
    t.same(readdirSync(folder), before, 'nothing is written')
  }
})

void t.test('a data folder that exists', async (t) => {
  const row = rowsOf(t, 'none')
  const rows: readonly [name: string, folder: number, file: number, corrected: number][] = [
    ['open to everybody', 0o755, 0o644, 4],
    ['open to a group', 0o750, 0o640, 4],
    ['files that anybody may write', 0o777, 0o666, 4],
    ['private already', 0o700, 0o600, 0],
    ["git's read-only objects", 0o700, 0o444, 2],
  ]
  for (const [name, ofFolders, ofFiles, corrected] of rows) {
    await row(`${name}: ${corrected} corrected, and a line in the log where there are any`, async (t) => {
      const folder = mkdtempSync(join(temporary, 'data-'))
      const outside = mkdtempSync(join(temporary, 'outside-'))
      mkdirSync(join(folder, 'history'))
      const files = [join(folder, 'history', 'journal'), join(folder, 'session-keys.json')]
      for (const file of files) {
        writeFileSync(file, 'x')
        chmodSync(file, ofFiles)
      }
      for (const each of [folder, join(folder, 'history'), outside]) chmodSync(each, ofFolders)
      symlinkSync(outside, join(folder, 'link'))
      const lines: Line[] = []
      await makePrivate(folder, logOf(lines))
      t.same(openIn(folder), [])
      t.equal(lstatSync(files[0]!).mode & 0o700, ofFiles & 0o700, 'the rights of its own account stay')
      t.equal(lstatSync(outside).mode & 0o777, ofFolders, 'links are not followed')
      t.same(
        lines.map((line) => line.corrected),
        corrected > 0 ? [corrected] : [],
      )
    })
  }
  await row('the prefixes typed in forms are in the folder while the gateway is stopped', async (t) => {
    const folder = mkdtempSync(join(temporary, 'data-'))
    const lines: Line[] = []
    const started = async () => {
      const { prefixes } = makeGatewayCaches(2 ** 20)
      return { prefixes, stop: await keepPrefixes(folder, prefixes, logOf(lines)) }
    }
    const first = await started()
    await first.stop()
    t.same(readdirSync(folder), [], 'nothing is written where nothing was typed')
    first.prefixes.set('urn:a', { text: '@prefix a: <urn:a#>' })
    await first.stop()
    t.same(openIn(folder), [])
    const second = await started()
    t.equal(second.prefixes.get('urn:a')?.text, '@prefix a: <urn:a#>')
    t.same(lines, [])
    writeFileSync(join(folder, 'prefixes.json'), '{')
    t.same((await started()).prefixes.entries(), [], 'a file that is cut: the gateway starts all the same')
    t.equal(lines.length, 1)
  })
  await row('the root of a volume belongs to another account, and to the group of this one', async (t) => {
    if (process.geteuid?.() !== 0) return t.pass('only root can change owners')
    chmodSync(temporary, 0o711)
    for (const [mode, warned] of [
      [0o2770, 1],
      [0o2777, 2],
    ] as const) {
      // prettier-ignore
      const folder = mkdtempSync(join(temporary, 'volume-'))
      const file = join(folder, 'seeded.json')
      writeFileSync(file, '{}')
      chownSync(file, 10001, 10001)
      chmodSync(file, 0o640)
      chownSync(folder, 0, 10001)
      chmodSync(folder, mode)
      const lines: Line[] = []
      process.setegid?.(10001)
      process.seteuid?.(10001)
      try {
        await makePrivate(folder, logOf(lines))
      } finally {
        process.seteuid?.(0)
        process.setegid?.(0)
      }
      t.equal(lines.length, warned)
      t.same([lstatSync(folder).mode & 0o7777, lstatSync(file).mode & 0o777], [mode, 0o600])
    }
  })
  await row('one that does not exist: nothing', async (t) => {
    const lines: Line[] = []
    await makePrivate(join(temporary, 'none'), logOf(lines))
    t.same(lines, [])
  })
})

void t.test('a repository outside the data folder', async (t) => {
  const row = rowsOf(t, 'none')
  for (const [mode, reported] of [
    [0o755, 1],
    [0o750, 1],
    [0o700, 0],
  ] as const) {
    // prettier-ignore
    await row(`${mode.toString(8)}: ${reported === 1 ? 'reported, not changed' : 'nothing'}`, async (t) => {
      const repository = mkdtempSync(join(temporary, 'repository-'))
      chmodSync(repository, mode)
      const lines: Line[] = []
      await reportShared(repository, logOf(lines))
      t.equal(lines.length, reported)
      if (reported > 0) t.match(lines[0]!.msg, `chmod -R go= ${repository}`)
      t.equal(lstatSync(repository).mode & 0o777, mode)
    })
  }
})

void t.test('everything that a gateway creates, with LevelDB and git, in a folder that was open', async (t) => {
  const folder = join(temporary, 'process')
  const repository = join(temporary, 'elsewhere', 'rules.git')
  mkdirSync(folder, { mode: 0o755 })
  chmodSync(folder, 0o755)
  const site = await makeSite(folder, ['--admin-history', `file://${repository}`])
  const flags = [...site.flags, '--base', site.base]
  const gateway = startGateway({ ...site, flags })
  t.teardown(() => gateway.kill())
  t.ok(await gateway.ready, gateway.output())
  t.equal(await untilSettled(site), undefined)
  t.same(openIn(folder), [])
  t.same(openIn(repository), [])
  t.ok(openIn(temporary).every((open) => !open.includes('process') && !open.includes('rules.git')))
  await gateway.stop()
})
