// Makes a checkout runnable: installs the locked dependencies if they are missing, builds if a source file has changed
// since the last build, and links the command.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
const changedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

/** npm itself runs this script after an installation (`prepare` in package.json): then nothing has to be installed. */
const isInstalling = process.env.npm_lifecycle_event === 'prepare'
if (!isInstalling && changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) {
  console.error('Installing dependencies …')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}

const COMPILER = 'node_modules/typescript/bin/tsc'
const MAIN = 'dist/gateway/main.js'
/** Written after a build without errors. */
const BUILT = 'dist/.built'
/** Includes the folders: the time of a folder changes when a file in it is added or removed. */
const sources = (folder) => [
  folder,
  ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
]
const inputs = [
  'tsconfig.json',
  'package-lock.json',
  ...['gateway', 'policies', 'cache', 'versioning', 'test'].flatMap(sources),
]
const isBuilt = existsSync(MAIN) && inputs.every((path) => changedAt(path) <= changedAt(BUILT))
// Without development dependencies there is no compiler: such an installation contains its build.
if (!isBuilt && existsSync(COMPILER)) {
  console.error('Building …')
  // The compiler's notes about an earlier build are useless if its result is missing.
  if (!existsSync(MAIN)) rmSync('dist/.tsbuildinfo', { force: true })
  run(process.execPath, [COMPILER, '-p', '.'])
  writeFileSync(BUILT, '')
}

// npm links only the commands of dependencies. This link is what `npx triplegate` finds in a checkout.
if (existsSync(MAIN) && existsSync('node_modules')) {
  mkdirSync('node_modules/.bin', { recursive: true })
  if (process.platform === 'win32') {
    writeFileSync('node_modules/.bin/triplegate.cmd', '@node "%~dp0\\..\\..\\dist\\gateway\\main.js" %*\r\n')
  } else {
    chmodSync(MAIN, 0o755)
    if (!existsSync('node_modules/.bin/triplegate')) symlinkSync(`../../${MAIN}`, 'node_modules/.bin/triplegate')
  }
}
