// In charge of the launcher: a small process that starts git for a large one. To start a process copies the page tables of its parent,
// which takes a gateway with threads and large documents 100 ms, during which it answers nobody.
import { fork, type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { GitProcess } from './git-process.js'

/** Its three connections have been made before it is sent, in this order: stdin, stdout, stderr. */
export interface Start {
  readonly id: number
  readonly args: readonly string[]
  readonly yields: boolean
}

export interface Kill {
  readonly kill: number
  readonly signal: NodeJS.Signals
}

/** A process has ended, or could not start. */
export interface Ended {
  readonly id: number
  readonly code: number | null
  readonly error?: string
}

/** The path at which the launcher takes connections. */
export interface Listening {
  readonly path: string
}

interface Launcher {
  readonly process: ChildProcess
  /** Undefined while it starts. */
  path?: string
  readonly running: Map<number, { readonly child: EventEmitter; readonly streams: readonly Socket[] }>
}

let isWanted = false
let launcher: Launcher | undefined
let count = 0

/**
 * Starts the launcher of this process: early, while it is small. Until it listens, and where it cannot, git is started from here.
 * Gives the function that stops it.
 */
export function startLauncher(): () => void {
  isWanted = true
  const { PATH, TMPDIR } = process.env
  const child = fork(new URL('./launcher-process.js', import.meta.url), {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
    env: { PATH, ...(TMPDIR !== undefined && { TMPDIR }) },
  })
  const started: Launcher = { process: child, running: new Map() }
  launcher = started
  const lost = (): void => {
    // The next git is started from here, and another launcher with it.
    if (launcher === started) launcher = undefined
    for (const id of started.running.keys())
      over(started, { id, code: null, error: 'the process that starts git has stopped' })
  }
  started.process.on('message', (message: Listening | Ended) => {
    if ('path' in message) started.path = message.path
    else over(started, message)
  })
  started.process.on('error', lost).on('disconnect', lost)
  started.process.unref()
  started.process.channel?.unref()
  return () => {
    isWanted = false
    if (launcher?.process.connected) launcher.process.disconnect()
  }
}

/** Git, started by the launcher; undefined where there is none. */
export function launch(args: readonly string[], yields: boolean): GitProcess | undefined {
  if (isWanted && !launcher) startLauncher()
  const { path } = launcher ?? {}
  if (!launcher || path === undefined) return undefined
  const by = launcher
  const id = ++count
  const streams = [connect(path), connect(path), connect(path)] as const
  const [stdin, stdout, stderr] = streams
  let connected = 0
  let killedBy: NodeJS.Signals | undefined
  const kill = (signal: NodeJS.Signals = 'SIGTERM'): boolean => {
    killedBy = signal
    if (connected === streams.length) send(by, { kill: id, signal } satisfies Kill)
    return by.running.has(id)
  }
  const child = Object.assign(new EventEmitter(), { stdin, stdout, stderr, kill })
  by.running.set(id, { child, streams })
  by.process.channel?.ref()
  for (const stream of streams) {
    stream.once('connect', () => {
      if (++connected < streams.length) return
      send(by, { id, args, yields } satisfies Start)
      if (killedBy) kill(killedBy)
    })
    // The launcher takes connections by threes: without one of them, it would give those that follow to wrong processes.
    stream.once('close', () => connected < streams.length && by.process.kill('SIGKILL'))
    // The end of git tells why.
    stream.on('error', () => undefined)
  }
  // Nothing comes from there but its end.
  stdin.resume()
  return child as EventEmitter as GitProcess
}

function send({ process }: Launcher, message: Start | Kill): void {
  // Where it has stopped, its end is reported for all.
  if (process.connected) process.send(message, () => undefined)
}

/** Reported when its output has been read to the end, as Node.js does. */
function over({ process, running }: Launcher, { id, code, error }: Ended): void {
  const { child, streams } = running.get(id) ?? {}
  running.delete(id)
  if (running.size === 0) process.channel?.unref()
  if (!child || !streams) return
  const [stdin, ...outputs] = streams
  stdin!.destroy()
  if (error !== undefined) {
    for (const output of outputs) output.destroy()
    child.emit('error', new Error(error))
    return
  }
  let open = outputs.filter((output) => !output.closed).length
  const close = (): void => void (open-- <= 1 && child.emit('close', code))
  if (open === 0) close()
  for (const output of outputs) if (!output.closed) output.once('close', close)
}
