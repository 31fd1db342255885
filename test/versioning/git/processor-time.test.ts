// The tests of the time limit of a git process: it measures the processor time of the process, not the clock.
import { spawn } from 'node:child_process'
import t from 'tap'
import { watchIdle, type GitProcess } from '../../../versioning/git/git.js'
import { processorTimeOf } from '../../../versioning/git/git.js'
import { until } from '../../support/wait.js'

/** In a separate process group, as git is. */
function start(script: string): GitProcess {
  const child = spawn(process.execPath, ['-e', script], { detached: true })
  t.teardown(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  })
  return child
}

const isLinux = process.platform === 'linux'

void t.test('the processor time of a process and of those that it starts', { skip: !isLinux }, async (t) => {
  const working = 'for (;;);'
  const child = start(`require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(working)}])`)
  const own = await processorTimeOf(child.pid!)
  t.ok(await until(async () => (await processorTimeOf(child.pid!)) > own + 100), 'more than a second')
  t.equal(await processorTimeOf(0x7fffffff), 0, 'no such group')
})

void t.test('a process that does nothing is ended', async (t) => {
  const child = start('setInterval(() => undefined, 1e9)')
  const ended = new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)))
  watchIdle(child, 100)
  t.equal(await ended, 'SIGKILL')
})
