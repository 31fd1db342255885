// In charge of what a benchmark needs of the machine: cores, processes of its own, their memory, tools, a description.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { endWithThisProcess } from '../support/fuseki.js'

/** What is measured runs on one core, what measures on another. */
export const MEASURED = 0
export const MEASURING = 1

const has = (tool: string): boolean => spawnSync('which', [tool]).status === 0
const canPin = has('taskset') && cpus().length > 1

/** Moves a process with all its threads to these cores, where the machine has `taskset` and two cores. */
export function pin(pid: number, ...cores: readonly number[]): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', cores.join(), String(pid)])
}

/** Whether the program is there, after an attempt to install its Debian package where it was not. */
export function provide(program: string): boolean {
  if (has(program)) return true
  if (process.getuid?.() !== 0 || !has('apt-get')) return false
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', program], { timeout: 120_000 })
  return has(program)
}

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  /** The end of what it has written to standard output and standard error. */
  output(): string
  /** Ends it by its id, at last without asking. */
  end(): Promise<void>
}

export interface StartOptions {
  /** What becomes of standard error; kept where nothing is said. */
  readonly log?: 'discard'
  /** For standard input. */
  readonly input?: string
  /** The folder it runs in; this process's where nothing is said. */
  readonly cwd?: string
  /** Environment variables beside this process's. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program on the measured core. It ends with this process, however that ends. */
export function start(command: string, args: readonly string[], options: StartOptions = {}): Started {
  const [file, ...rest] = canPin ? ['taskset', '-c', String(MEASURED), command, ...args] : [command, ...args]
  const child = spawn(file!, rest, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', options.log === 'discard' ? 'ignore' : 'pipe'],
  })
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input ?? '')
  const forget = endWithThisProcess(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => (output = (output + text).slice(-4000)))
  }
  child.on('error', (error) => (output += error.message))
  return {
    child,
    pid: child.pid ?? -1,
    output: () => output,
    async end() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit')
        child.kill('SIGTERM')
        const timer = setTimeout(() => child.kill('SIGKILL'), 12_000)
        await exit
        clearTimeout(timer)
      }
      forget()
    },
  }
}

/** Resident memory of a process in bytes (Linux, /proc). */
export function residentBytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) * 1024
}

/** One line: processors, versions, and how busy the machine was with other things. */
export function describeMachine(versions: readonly string[]): string {
  const [{ model } = { model: 'unknown processor' }] = cpus()
  const pinned = canPin ? `contestants on core ${MEASURED}, load on core ${MEASURING}` : 'not pinned to cores'
  const node = `Node.js ${process.versions.node}`
  return [
    `${cpus().length} × ${model}`,
    node,
    ...versions,
    pinned,
    `load ${loadavg()[0]!.toFixed(2)} at the start`,
  ].join(', ')
}
