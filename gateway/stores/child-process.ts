// The process between the gateway and its own triplestore: it takes requests at a Unix socket, starts the store again
// when it dies, and stops with the gateway.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** The reports about the store: it answers; it has stopped; a line of its stderr; why it cannot be started. */
export type ChildReport =
  { readonly ready: number } | { readonly stopped: string } | { readonly says: string } | { readonly unable: string }

/** How long a request waits for a store that is being restarted, in ms. */
const PATIENCE_MS = 10_000
/** The pause between two attempts, if the store stops before it answers, in ms. */
const PAUSE_MS = 250
/** Attempts of the first start: a store that was killed with its gateway releases its folder only a moment later. */
const ATTEMPTS = 8
const LONGEST_LINE = 500

const [path = '', executable = '', ...args] = process.argv.slice(2)

const report = (message: ChildReport): void => void process.send?.(message, (error: unknown) => error && stop())

/** If possible, the kernel ends the store together with this process (prctl(2), PR_SET_PDEATHSIG). */
function stop(): void {
  if (!server || server.exitCode !== null || server.signalCode !== null) process.exit()
  server.once('exit', () => process.exit()).kill('SIGKILL')
}

let server: ReturnType<typeof spawn> | undefined
/** The port of the store, while it answers. */
let port: number | undefined
const waiting = new Set<() => void>()
const endsWithParent = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Runs the store until it stops. If it never answered, returns its last output. */
async function run(): Promise<string | undefined> {
  const free = await freePort()
  const command = [executable, ...args, '--bind', `127.0.0.1:${free}`]
  const [program = executable, ...rest] = endsWithParent ? ['setpriv', '--pdeathsig', 'KILL', ...command] : command
  const child = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe'] })
  server = child
  const started = performance.now()
  let last = ''
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.trim() === '') return
    if (!line.startsWith('Listening for requests')) return report({ says: (last = line.trim().slice(0, LONGEST_LINE)) })
    port = free
    report({ ready: Math.round(performance.now() - started) })
    for (const go of waiting) go()
  })
  const why = await new Promise<string>((resolve) =>
    child
      .on('error', ({ message }) => resolve(message))
      .on('close', (code, signal) => resolve(signal ?? `exit code ${code}`)),
  )
  const hasAnswered = port !== undefined
  port = undefined
  report({ stopped: why })
  return hasAnswered ? undefined : last || why
}

const giveUp = (why: string): void => void process.send?.({ unable: why } satisfies ChildReport, stop)

async function supervise(): Promise<void> {
  let hasAnswered = false
  for (let attempts = 1; ; attempts++) {
    const why = await run()
    hasAnswered ||= why === undefined
    if (why === undefined) continue
    if (!hasAnswered && attempts >= ATTEMPTS) return giveUp(why)
    await sleep(PAUSE_MS)
  }
}

const UNAVAILABLE =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'

/** Forwards a connection to the store. The request is not read before, so all of it waits for the store. */
async function serve(client: Socket): Promise<void> {
  client.on('error', () => undefined)
  const deadline = performance.now() + PATIENCE_MS
  while (!client.destroyed) {
    const store = port === undefined ? undefined : await reach(port)
    if (store) return join(client, store)
    if (performance.now() > deadline) return void client.end(UNAVAILABLE).resume()
    await nextStart(deadline - performance.now())
  }
}

/** Undefined if the store has stopped. */
async function reach(at: number): Promise<Socket | undefined> {
  const store = connect(at, '127.0.0.1').setNoDelay()
  try {
    await once(store, 'connect')
    return store.on('error', () => undefined)
  } catch {
    await sleep(10)
    return undefined
  }
}

async function nextStart(ms: number): Promise<void> {
  if (port !== undefined) return
  await new Promise<void>((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      waiting.delete(go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    waiting.add(go)
  })
}

/** Joins both connections, so that an answer that breaks off at the store breaks off at the gateway too. */
function join(client: Socket, store: Socket): void {
  if (client.destroyed) return void store.destroy()
  client.pipe(store).pipe(client)
  client.on('close', () => store.destroy())
  store.on('close', () => client.destroySoon())
}

// After such a signal the gateway finishes its requests, and then ends this process itself.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', stop)
rmSync(path, { force: true })
createServer({ pauseOnConnect: true }, (client) => void serve(client))
  .on('error', ({ message }) => giveUp(message))
  .listen(path, () => void supervise())
