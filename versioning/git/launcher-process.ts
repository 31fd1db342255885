// In charge of the launcher's process: it starts git on the connections of its gateway, reports the end, and stops with the gateway.
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnGit } from './git-process.js'
import type { Ended, Kill, Listening, Start } from './launcher.js'

// 0700: no other account connects to it.
const folder = mkdtempSync(join(tmpdir(), `triplegate-launcher-${process.pid}-`))
const path = join(folder, 'socket')
const connections: Socket[] = []
const starts: Start[] = []
const running = new Map<number, ChildProcess>()
/** To be killed as soon as they run: their connections have not been taken yet. */
const killed = new Set<number>()

const report = (message: Listening | Ended): void => void process.send?.(message)

function start({ id, args, yields }: Start, streams: readonly Socket[]): void {
  const ended = (code: number | null, error?: Error): void => {
    if (running.delete(id)) report({ id, code, ...(error && { error: error.message }) })
  }
  const child = spawnGit(args, yields, [...streams])
  running.set(id, child)
  child.on('error', (error) => ended(null, error)).on('exit', (code) => ended(code))
  // Git alone has them now: they end with it.
  for (const stream of streams) stream.destroy()
  if (killed.delete(id)) child.kill('SIGKILL')
}

function startAll(): void {
  while (starts.length > 0 && connections.length >= 3) start(starts.shift()!, connections.splice(0, 3))
}

// Nothing of a connection is read here.
const server = createServer({ pauseOnConnect: true }, (connection) => {
  connections.push(connection.on('error', () => undefined))
  startAll()
})
server.listen(path, () => report({ path }))
process.on('message', (message: Start | Kill) => {
  if ('args' in message) {
    starts.push(message)
    startAll()
  } else if (starts.some(({ id }) => id === message.kill)) killed.add(message.kill)
  else running.get(message.kill)?.kill(message.signal)
})
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true })
  process.exit()
})
// The gateway finishes its commits after such a signal: it alone ends this process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
