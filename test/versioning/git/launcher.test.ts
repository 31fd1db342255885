// In charge of the tests of the launcher: git that it starts is as git that this process starts, and nothing is left of it.
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { launcherOf } from '../../crash/gateway-process.js'
import { headOf, temporaryFolder } from '../../support/bare-repository.js'
import { until } from '../../support/wait.js'
import { nulSeparated, runGit, startGit } from '../../../versioning/git/git.js'
import { startLauncher } from '../../../versioning/git/launcher.js'
import { openLocalRepository } from '../../../versioning/git/local-repository.js'
import { changeOf, commitAll, succeeded, triple } from '../repository-contract.js'

/** Git is started by the launcher, which alone does not tell its process id. */
const isLaunching = async (folder: string): Promise<boolean> => {
  const { child, ended } = startGit(folder, ['version'])
  child.stdin.end()
  child.stdout.resume()
  const { code } = await ended
  return code === 0 && child.pid === undefined
}

const isRunning = (pid: number): boolean => {
  try {
    // A process that nobody has waited for yet has stopped too.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

const placesOf = (pid: number): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`triplegate-launcher-${pid}-`))

void t.test('git by the launcher', { skip: process.platform !== 'linux' && 'it needs /proc' }, async (t) => {
  const stop = startLauncher()
  const folder = temporaryFolder(t)
  const repository = succeeded(
    await openLocalRepository({ folder, branch: 'main', pathPrefix: 'graphs', now: () => Date.now() }),
  )
  t.teardown(() => repository.close())
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

  await t.test('one that is killed has no exit status, killed at once or later', async (t) => {
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

  await t.test(
    'where the launcher has been killed, git is reported as ended; the next starts, and another launcher',
    async (t) => {
      const { child, ended } = startGit(folder, ['cat-file', '--batch'])
      child.stdout.resume()
      process.kill(launcher, 'SIGKILL')
      t.match(await ended, { code: undefined, stderr: /has stopped/ })
      await commitAll(repository, [changeOf('b/', triple('y'))])
      await until(() => isLaunching(folder))
      t.not(launcherOf(process.pid), launcher)
    },
  )

  await t.test('it ends with its gateway, and its folder too', async (t) => {
    const second = launcherOf(process.pid)!
    t.equal(placesOf(second).length, 1)
    stop()
    await until(() => !isRunning(second))
    t.same(placesOf(second), [])
    t.notOk(await isLaunching(folder), 'git is started from here')
  })
})
