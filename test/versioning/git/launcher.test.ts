// The tests of the launcher: git behaves as if this process had started it, and no process is left behind.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { gitsOf, launcherOf } from '../../crash/gateway-process.js'
import { headOf, temporaryFolder } from '../../support/bare-repository.js'
import { until } from '../../support/wait.js'
import { nulSeparated, runGit, startGit } from '../../../versioning/git/git.js'
import { startLauncher } from '../../../versioning/git/launcher.js'
import { openLocalRepository } from '../../../versioning/git/local-repository.js'
import { changeOf, commitAll, succeeded, triple } from '../repository-contract.js'

/** True if the launcher starts git: only then this process does not learn the process id of git. */
const isLaunching = async (folder: string): Promise<boolean> => {
  const { child, ended } = startGit(folder, ['version'])
  child.stdin.end()
  child.stdout.resume()
  const { code } = await ended
  return code === 0 && child.pid === undefined
}

const isRunning = (pid: number): boolean => {
  try {
    // A process that nobody has waited for yet counts as stopped.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

const placesOf = (pid: number): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`triplegate-launcher-${pid}-`))

void t.test('git by the launcher', { skip: process.platform !== 'linux' && 'it needs /proc' }, async (t) => {
  const unable: string[] = []
  const startHere = () => startLauncher((why) => unable.push(why))
  const folder = temporaryFolder(t)
  const repository = succeeded(
    await openLocalRepository({ folder, branch: 'main', pathPrefix: 'graphs', now: () => Date.now() }),
  )
  t.teardown(() => repository.close())

  await t.test('if it cannot start, this is reported once, and this process starts git', async (t) => {
    const long = join(folder, 'x'.repeat(100))
    mkdirSync(long)
    const rows = [
      ['TMPDIR', join(folder, 'none'), /ENOENT/],
      ['TMPDIR', long, /too long/],
      ['PATH', 'x'.repeat(1_000_000), /E2BIG/],
    ] as const
    for (const [name, value, why] of rows) {
      const before = process.env[name]
      unable.length = 0
      process.env[name] = value
      try {
        startHere()
        await until(() => unable.length > 0)
      } finally {
        if (before === undefined) delete process.env[name]
        else process.env[name] = before
      }
      t.notOk(await isLaunching(folder))
      t.equal(launcherOf(process.pid), undefined, 'it is not tried again')
      t.match(unable, [why])
      t.equal(unable.length, 1)
    }
    t.same(readdirSync(long), [])
    unable.length = 0
  })

  const stop = startHere()
  await until(() => isLaunching(folder))
  const launcher = launcherOf(process.pid)!

  await t.test('commits, and reads what it has committed', async (t) => {
    const [{ commit } = { commit: '' }] = await commitAll(repository, [changeOf('a/', triple('x'.repeat(3_000_000)))])
    t.equal(headOf(folder), commit)
    t.equal(await repository.read({ commit, blob: undefined, path: 'graphs/a.nt' }), triple('x'.repeat(3_000_000)))
  })

  await t.test('a git that fails says why', async (t) => {
    t.match(await runGit(folder, ['nonsense']), { failure: 'failed', detail: /nonsense.*is not a git command/ })
  })

  await t.test('a git that is killed has no exit status, whether killed at once or later', async (t) => {
    for (const isLater of [false, true]) {
      const { child, ended } = startGit(folder, ['cat-file', '--batch'])
      child.stdout.resume()
      if (isLater) {
        child.stdin.write('HEAD\n')
        await new Promise((resolve) => child.stdout.once('data', resolve))
      }
      child.kill('SIGKILL')
      t.equal((await ended).code, undefined)
    }
  })

  await t.test('a log that nobody reads to its end is stopped', async (t) => {
    for await (const part of nulSeparated(folder, ['log', '-z', '--format=%H', '-p', 'main'])) {
      t.match(part, /^[0-9a-f]{40}/)
      break
    }
    t.ok(await isLaunching(folder))
  })

  await t.test('each of many at once has its own input; one without a connection fails alone', async (t) => {
    const hash = async (text: string, isCut: boolean): Promise<string | undefined> => {
      const { child, ended } = startGit(folder, ['hash-object', '--stdin'])
      let id = ''
      child.stdout.on('data', (part: Buffer) => (id += part.toString()))
      if (isCut) child.stdout.destroy()
      child.stdin.end(text)
      return (await ended).code === 0 ? id.trim() : undefined
    }
    const ids = await Promise.all([...'abcdefghijkl'].map((text, at) => hash(text, at === 1 || at === 4)))
    for (const [at, text] of [...'abcdefghijkl'].entries()) {
      const id = createHash('sha1').update(`blob 1\0${text}`).digest('hex')
      t.equal(ids[at], at === 1 || at === 4 ? undefined : id, text)
    }
    t.equal(launcherOf(process.pid), launcher)
  })

  for (const [name, signal] of [
    ['has been killed', 'SIGKILL'],
    ['does not answer', 'SIGSTOP'],
  ] as const) {
    await t.test(`if the launcher ${name}, its git ends; then the next git starts, and another launcher`, async (t) => {
      const launcher = launcherOf(process.pid)!
      const { child, ended } = startGit(folder, ['cat-file', '--batch'])
      const reading = startGit(folder, ['cat-file', '--batch'])
      reading.child.stdin.write('HEAD\n')
      await new Promise((resolve) => reading.child.stdout.once('data', resolve))
      const gits = gitsOf(launcher)
      t.ok(gits.length > 0)
      process.kill(launcher, signal)
      child.kill('SIGKILL')
      t.match(await reading.ended, { code: undefined, stderr: /has stopped/ })
      await ended
      await until(() => !gits.some(isRunning))
      await until(() => placesOf(launcher).length === 0)
      await commitAll(repository, [changeOf('b/', triple(name))])
      await until(() => isLaunching(folder))
      t.not(launcherOf(process.pid), launcher)
      t.same(unable, [])
    })
  }

  await t.test('it ends with its gateway, and removes its folder', async (t) => {
    const second = launcherOf(process.pid)!
    t.equal(placesOf(second).length, 1)
    stop()
    await until(() => !isRunning(second))
    t.same(placesOf(second), [])
    t.notOk(await isLaunching(folder), 'git is started from here')
  })
})
