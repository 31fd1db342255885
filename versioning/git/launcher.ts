// The launcher: a small process that starts git for the gateway. Starting a process copies the page tables of its
// parent: a gateway with threads and large documents would answer nobody for 100 ms.
import { fork, type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { GitProcess } from './git-process.js'

/** Each git has a socket path of its own. Three connections are made to it, in this order: stdin, stdout, stderr. */
export interface Start {
  readonly path: string
  readonly args: readonly string[]
  readonly yields: boolean
}

export interface Kill {
  readonly path: string
  readonly signal: NodeJS.Signals
}

/** A path at which the launcher takes the connections of one git, or why it cannot. */
export type Listening = { readonly free: string } | { readonly unable: string }

export interface Started {
  readonly path: string
  readonly pid: number
}

/** A process has ended, or could not start. */
export interface Ended {
  readonly path: string
  readonly code: number | null
  readonly error?: string
}

interface Run {
  readonly child: EventEmitter
  readonly streams: readonly Socket[]
  /** Undefined while it starts. */
  pid?: number
}

interface Launcher {
  readonly process: ChildProcess
  readonly free: string[]
  readonly running: Map<string, Run>
}

/** If git has not ended this long after SIGKILL, the launcher itself hangs. */
const END_LIMIT_MS = 5000

let isWanted = false
let launcher: Launcher | undefined
let reportUnable: (why: string) => void

/**
 * Starts the launcher of this process: early, while the process is small. Until the launcher listens, or if it cannot,
 * this process starts git itself. Returns the function that stops the launcher.
 * @param unable is called once if it cannot start: it is not tried again
 */
export function startLauncher(unable: (why: string) => void): () => void {
  isWanted = true
  reportUnable = unable
  start()
  return () => {
    isWanted = false
    if (launcher?.process.connected) launcher.process.disconnect()
  }
}

function start(): void {
  const { PATH, TMPDIR } = process.env
  let child: ChildProcess
  try {
    child = fork(new URL('./launcher-process.js', import.meta.url), {
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: { PATH, ...(TMPDIR !== undefined && { TMPDIR }) },
    })
  } catch (error) {
    return giveUp((error as Error).message)
  }
  const started: Launcher = { process: child, free: [], running: new Map() }
  launcher = started
  let folder: string | undefined
  let why = 'it stopped before it was ready'
  const lost = (): void => {
    // This process starts the next git itself, and another launcher.
    if (launcher === started) launcher = undefined
    if (folder === undefined) giveUp(why)
    else void rm(folder, { recursive: true, force: true }).catch(() => undefined)
    for (const [path, { pid }] of started.running) {
      if (pid !== undefined) killGroup(pid)
      over(started, { path, code: null, error: 'the process that starts git has stopped' })
    }
  }
  child.on('message', (message: Listening | Started | Ended) => {
    if ('free' in message) {
      folder = dirname(message.free)
      started.free.push(message.free)
    } else if ('unable' in message) why = message.unable
    else if ('code' in message) over(started, message)
    else {
      const run = started.running.get(message.path)
      if (run) run.pid = message.pid
    }
  })
  child.on('error', ({ message }) => {
    why = message
    lost()
  })
  child.on('disconnect', lost)
  child.unref()
  child.channel?.unref()
}

function giveUp(why: string): void {
  if (isWanted) reportUnable(why)
  isWanted = false
}

/** Kills a git that has lost its launcher: it must not work at the same time as the next git. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

/** Lets the launcher start git; undefined if there is no launcher, or it is busy. */
export function launch(args: readonly string[], yields: boolean): GitProcess | undefined {
  if (isWanted && !launcher) start()
  const by = launcher
  const path = by?.free.shift()
  if (!by || path === undefined) return undefined
  const streams = [connect(path), connect(path), connect(path)] as const
  const [stdin, stdout, stderr] = streams
  const kill = (signal: NodeJS.Signals = 'SIGTERM'): boolean => {
    if (!by.running.has(path)) return false
    send(by, { path, signal })
    // Read the messages that have arrived meanwhile first.
    const killLauncher = (): unknown => setImmediate(() => by.running.has(path) && by.process.kill('SIGKILL'))
    if (signal === 'SIGKILL') setTimeout(killLauncher, END_LIMIT_MS).unref()
    return true
  }
  const child = Object.assign(new EventEmitter(), { stdin, stdout, stderr, kill })
  const run: Run = { child, streams }
  Object.defineProperty(child, 'pid', { get: () => (by.running.has(path) ? run.pid : undefined) })
  by.running.set(path, run)
  by.process.channel?.ref()
  send(by, { path, args, yields })
  for (const stream of streams) {
    // Git never starts if one of its connections is missing.
    stream.once('close', () => run.pid === undefined && kill('SIGKILL'))
    // The exit of git tells why.
    stream.on('error', () => undefined)
  }
  // Read stdin's socket only to notice when it closes.
  stdin.resume()
  return child as EventEmitter as GitProcess
}

function send({ process }: Launcher, message: Start | Kill): void {
  // If the launcher has stopped, `lost` reports the end of every git.
  if (process.connected) process.send(message, () => undefined)
}

/** Reports the end of a git after its output has been read to the end, as Node.js does. */
function over({ process, running }: Launcher, { path, code, error }: Ended): void {
  const { child, streams } = running.get(path) ?? {}
  running.delete(path)
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
