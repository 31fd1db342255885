// Shows that a release runs where it is installed. Installs its package into an empty folder, without the scripts of
// any package, starts it there on an embedded store, requests its root document, and stops it. Its bill of materials
// must name every package that was installed. Exits with 1 on failure.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { release } from './release.mjs'

// For code only: documents and the licence do not count. The code has 2.53 MiB; what is packed by mistake is larger.
const MOST_BYTES = 3 * 2 ** 20

const folder = mkdtempSync(join(tmpdir(), 'triplegate-packed-'))
const run = (command, ...args) => execFileSync(command, args, { cwd: folder, encoding: 'utf8' })

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

try {
  const { packed, bill } = release(folder)
  const { filename, files, unpackedSize } = packed
  const code = files.filter(({ path }) => /^(dist|gateway)\//u.test(path)).reduce((sum, { size }) => sum + size, 0)
  if (code > MOST_BYTES) throw new Error(`the package has ${code} bytes of code, more than ${MOST_BYTES}`)
  run('npm', 'init', '--yes')
  const quietly = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--engine-strict']
  run('npm', 'install', ...quietly, join(folder, filename))
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
  const named = new Set(bill.components.map(({ name }) => name))
  const isNamed = (path) => named.has(path.replace(/^.*node_modules\//u, ''))
  const unnamed = Object.keys(packages).filter((path) => path !== 'node_modules/triplegate' && !isNamed(path))
  if (unnamed.length > 0) throw new Error(`the bill of materials lacks ${unnamed.join(', ')}`)
  const [https, management] = [await freePort(), await freePort()]
  const flags = ['--https', String(https), '--management', String(management), '--data', 'data']
  const command = join(folder, 'node_modules/.bin/triplegate')
  const gateway = spawn(command, ['serve', ...flags], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(gateway, 'exit')
  const isReady = await Promise.race([once(gateway.stdout, 'data').then(() => true), ended.then(() => false)])
  if (!isReady) throw new Error('the gateway did not start')
  const certificate = (name) => join(folder, 'data/certs', `${name}.pem`)
  statSync(certificate('owner'))
  const base = `https://localhost:${https}/`
  const root = run('curl', '-sSf', '--cacert', certificate('server'), '--cert', certificate('owner'), base)
  if (!root.includes(`<${base}>`)) throw new Error(`the root document is ${root}`)
  gateway.kill('SIGTERM')
  const [status] = await ended
  if (status !== 0) throw new Error(`the gateway ended with ${status}`)
  console.log(`The package of ${unpackedSize} bytes, ${code} of them code, runs after installation.`)
} catch (error) {
  console.error(`The package does not work: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
