// The launcher's process: starts git with connections of its gateway as stdin, stdout and stderr, reports the exit, and
// stops with the gateway.
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnGit } from './git-process.js'
import type { Ended, Kill, Listening, Start, Started } from './launcher.js'

/** A socket for one git that is to be started: its three connections arrive here. */
interface Place {
  readonly server: Server
  readonly streams: Socket[]
  order?: Start
  child?: ChildProcess
}

/** The number of sockets that are ready for the next gits. */
const FREE = 8
/** Longer names of sockets are cut off (unix(7)); macOS has the lowest limit, 103. */
const LONGEST_FOLDER = 90

let folder = ''
let count = 0
let isListening = false
const places = new Map<string, Place>()

/** Failing to send is the only sign that the gateway has ended early. */
const report = (message: Listening | Started | Ended): void =>
  void process.send?.(message, (error: unknown) => error && stop())

function clear(): void {
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
}

function stop(): void {
  clear()
  process.exit()
}

function giveUp(unable: string): void {
  clear()
  process.send?.({ unable } satisfies Listening, () => process.exit(1))
}

function ended(path: string, code: number | null, error?: Error): void {
  if (places.delete(path)) report({ path, code, ...(error && { error: error.message }) })
  offer()
}

function startIfComplete(path: string): void {
  const place = places.get(path)
  if (!place?.order || place.streams.length !== 3) return
  place.server.close()
  const child = spawnGit(place.order.args, place.order.yields, [...place.streams])
  place.child = child
  if (child.pid !== undefined) report({ path, pid: child.pid })
  child.on('error', (error) => ended(path, null, error)).on('exit', (code) => ended(path, code))
  // Now only git has the connections, and they close when it exits.
  for (const stream of place.streams) stream.destroy()
}

/** Gives up a git that has not started. */
function drop(path: string, error?: Error): void {
  const { server, streams } = places.get(path) ?? {}
  server?.close()
  for (const stream of streams ?? []) stream.destroy()
  ended(path, null, error)
}

function offer(): void {
  for (let free = [...places.values()].filter(({ order }) => !order).length; free < FREE; free++) {
    const path = join(folder, String(++count))
    const streams: Socket[] = []
    // The launcher itself must not read from the connections.
    const server = createServer({ pauseOnConnect: true }, (connection) => {
      streams.push(connection.on('error', () => undefined))
      startIfComplete(path)
    })
    places.set(path, { server, streams })
    server.on('error', (error) => {
      if (!isListening) giveUp(error.message)
      else if (server.listening) drop(path, error)
      // If file descriptors are short, offer fewer sockets until a git has ended.
      else places.delete(path)
    })
    server.listen(path, () => {
      isListening = true
      report({ free: path })
    })
  }
}

process.on('message', (message: Start | Kill) => {
  const place = places.get(message.path)
  if (!place) report({ path: message.path, code: null })
  else if ('args' in message) {
    place.order = message
    startIfComplete(message.path)
    offer()
  } else if (place.child) place.child.kill(message.signal)
  else drop(message.path)
})
process.on('disconnect', stop)
// The gateway finishes its commits after such a signal, so only the gateway ends this process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)

try {
  // Mode 0700: no other account can connect.
  folder = mkdtempSync(join(tmpdir(), `triplegate-launcher-${process.pid}-`))
  if (Buffer.byteLength(folder) > LONGEST_FOLDER) giveUp(`${tmpdir()} is too long for the name of a socket`)
  else offer()
} catch (error) {
  giveUp((error as Error).message)
}
