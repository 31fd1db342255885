// In charge of making a checkout runnable: installs the locked dependencies where they are missing and builds.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Triplegate needs Node.js 20.19 or later; this is ${process.version}.`)
  process.exit(1)
}
const run = (command, args) => {
  const { status } = spawnSync(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}
const installed = 'node_modules/.package-lock.json'
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync('package-lock.json').mtimeMs) {
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}
run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'])
