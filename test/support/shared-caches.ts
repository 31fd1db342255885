// The real nginx and the real Varnish in front of a gateway, with the files that operators get.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort, releasePort } from './ports.js'

export const missing = (program: 'nginx' | 'varnishd', version: string): string | undefined =>
  spawnSync(program, [version]).error && `${program} is not installed`

export async function ports(t: Test, count: number): Promise<number[]> {
  const taken: number[] = []
  for (let i = 0; i < count; i++) taken.push(await freePort())
  t.teardown(() => taken.forEach(releasePort))
  return taken
}

export interface SharedCache {
  /** Everything that it has stored, as text. */
  stored(): string
}

export interface Nginx extends SharedCache {
  /** Its warnings. */
  warnings(): string
}

/** nginx with the template unchanged except for ports and folders. @param pem the certificate and key of the server */
export async function startNginx(
  t: Test,
  pem: string,
  [tls, plain, gateway]: readonly [tls: number, plain: number, gateway: number],
): Promise<Nginx> {
  const home = mkdtempSync(join(tmpdir(), 'triplegate-nginx-'))
  mkdirSync(join(home, 'cache'))
  const filled = readFileSync('nginx/triplegate.conf.template', 'utf8')
    .replaceAll('${SERVER_NAME}', 'localhost')
    .replaceAll(/\$\{CERTIFICATE(?:_KEY)?\}/g, pem)
    .replaceAll('${GATEWAY}', `127.0.0.1:${gateway}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${tls} ssl`)
    .replace('listen 80', `listen 127.0.0.1:${plain}`)
    .replace('/var/cache/nginx/triplegate', join(home, 'cache'))
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${home}/${name};`,
  )
  writeFileSync(
    join(home, 'nginx.conf'),
    `${user} daemon off; pid ${home}/pid; error_log ${home}/errors warn; events {} http { access_log off; ${temporary.join(' ')} ${filled} }`,
  )
  const arguments_ = ['-p', home, '-c', join(home, 'nginx.conf'), '-e', join(home, 'errors')]
  await started(t, home, { program: 'nginx', arguments_, port: tls, signal: 'SIGQUIT' })
  return { stored: () => textBelow(join(home, 'cache')), warnings: () => readFileSync(join(home, 'errors'), 'utf8') }
}

/** Varnish with the VCL unchanged except for the port of the gateway. It stores its content in a file. */
export async function startVarnish(
  t: Test,
  [port, gateway]: readonly [port: number, gateway: number],
): Promise<SharedCache> {
  const home = mkdtempSync(join(tmpdir(), 'triplegate-varnish-'))
  const filled = readFileSync('packaging/triplegate.vcl', 'utf8').replace('"8080"', `"${gateway}"`)
  writeFileSync(join(home, 'triplegate.vcl'), filled)
  const arguments_ = [
    ...['-F', '-j', 'none', '-T', 'none', '-n', join(home, 'work'), '-a', `127.0.0.1:${port}`],
    ...['-f', join(home, 'triplegate.vcl'), '-s', `default=file,${join(home, 'storage')},16M`],
    ...['-p', 'http_gzip_support=off', '-p', 'thread_pools=1', '-p', 'thread_pool_min=5'],
  ]
  await started(t, home, { program: 'varnishd', arguments_, port, signal: 'SIGTERM' })
  return { stored: () => readFileSync(join(home, 'storage'), 'latin1') }
}

interface Program {
  readonly program: string
  readonly arguments_: readonly string[]
  readonly port: number
  readonly signal: NodeJS.Signals
}

async function started(t: Test, home: string, { program, arguments_, port, signal }: Program): Promise<void> {
  const child = spawn(program, arguments_, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (piece) => (said += String(piece)))
  const ended = new Promise((done) => child.on('exit', done))
  t.teardown(async () => {
    child.kill(signal)
    await ended
    rmSync(home, { recursive: true, force: true })
  })
  for (let tries = 0; tries < 2_400 && child.exitCode === null; tries++) {
    if (await listens(port)) return
    await new Promise((done) => setTimeout(done, 25))
  }
  throw new Error(`${program} does not listen: ${said}`)
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

const textBelow = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
