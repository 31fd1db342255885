// The other servers in the comparison: a bare Fastify route, and nginx with a cache.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/ports.js'
import type { BareRoute } from './bare-route.js'
import type { Load } from './load.js'
import { provide, start, type Started } from './machine.js'
import { openConnection, requestBytes } from './raw-http.js'

export interface Contender {
  readonly port: number
  end(): Promise<void>
}

/** Fields that the server adds by itself. */
const OWN_FIELDS = /^(?:date|connection|keep-alive|content-length|transfer-encoding)$/i

/** A Fastify route that sends the answer of `load`: the same bytes and fields. */
export async function startBareRoute(load: Load): Promise<Contender> {
  const { head, body } = await answerTo(load)
  const fields = head
    .split('\r\n')
    .slice(1)
    .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
    .filter(([name]) => !OWN_FIELDS.test(name))
  const route: BareRoute = {
    path: load.targets[0]!,
    fields: Object.fromEntries(fields),
    body: body.toString('base64'),
    ...(load.pem !== undefined && { tls: load.pem }),
  }
  const started = start(process.execPath, [resolve('dist/test/bench/bare-route.js')], { input: JSON.stringify(route) })
  const first = await Promise.race([once(started.child.stdout!, 'data'), once(started.child, 'exit')])
  const port = Number(String(first[0]).trim())
  if (!(port > 1023)) {
    await started.end()
    throw new Error(`the bare route did not start: ${started.output()}`)
  }
  return { port, end: started.end }
}

export async function answerTo(load: Load): ReturnType<Awaited<ReturnType<typeof openConnection>>['exchange']> {
  const connection = await openConnection(load)
  try {
    return await connection.exchange(requestBytes(load.method ?? 'GET', load.targets[0]!, load.fields, load.body))
  } finally {
    connection.close()
  }
}

const START_TIMEOUT_MS = 60_000

/** Waits until it takes connections. Throws with its output if it stops before, or takes too long. */
export async function untilListening(name: string, { child, output }: Started, port: number): Promise<void> {
  const until = performance.now() + START_TIMEOUT_MS
  for (;;) {
    // A port that is taken before its server answers drops connections.
    const connection = await openConnection({ port }).catch(() => undefined)
    const answered = await connection?.exchange(requestBytes('GET', '/', { Host: 'localhost' })).catch(() => undefined)
    connection?.close()
    if (answered) return
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > until) {
      throw new Error(`${name} did not start on Node.js ${process.versions.node}: ${output()}`)
    }
    await sleep(5)
  }
}

/** Starts a server that listens on this port, in a separate folder, where `commandLine` writes its configuration. */
export async function startContender(
  name: string,
  port: number,
  commandLine: (folder: string) => readonly [command: string, ...args: string[]],
): Promise<Contender> {
  const folder = mkdtempSync(join(tmpdir(), `triplegate-${name}-`))
  const [command, ...args] = commandLine(folder)
  const started = start(command, args, { cwd: folder })
  const end = async (): Promise<void> => {
    await started.end()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await untilListening(name, started, port)
  } catch (error) {
    await end()
    throw error
  }
  return { port, end }
}

/** One worker with `proxy_cache` in front of the gateway's plain listener. Undefined if nginx is not installed. */
export async function startNginx({ port: upstream, fields }: Load): Promise<Contender | undefined> {
  if (!provide('nginx')) return undefined
  const port = await freePort()
  const given = Object.entries(fields).map(([name, value]) => `proxy_set_header ${name} "${value}";`)
  return startContender('nginx', port, (folder) => {
    const config = join(folder, 'nginx.conf')
    writeFileSync(
      config,
      `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr error;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; large_client_header_buffers 4 16k;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  proxy_cache_path ${folder}/cache keys_zone=bench:10m inactive=1h;
  open_file_cache max=1000 inactive=1h;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${upstream}; proxy_http_version 1.1;
      ${given.join(' ')}
      proxy_cache bench; proxy_cache_valid 200 1h; proxy_ignore_headers Cache-Control Expires Vary;
    }
  }
}
`,
    )
    return ['nginx', '-p', folder, '-c', config, '-e', 'stderr']
  })
}
