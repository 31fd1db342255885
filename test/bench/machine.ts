// The machine that a benchmark runs on: cores, processes and their memory, tools, a description.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { endWithThisProcess } from '../support/fuseki.js'

/** The measured process runs on one core, the load on another. */
export const MEASURED = 0
export const MEASURING = 1

const has = (tool: string): boolean => spawnSync('which', [tool]).status === 0
const canPin = has('taskset') && cpus().length > 1

/** Moves a process with all its threads to these cores, if the machine has `taskset` and two cores. */
export function pin(pid: number, ...cores: readonly number[]): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', cores.join(), String(pid)])
}

/** True if the program is installed; if it was not, after installing its Debian package. */
export function provide(program: string): boolean {
  if (has(program)) return true
  if (process.getuid?.() !== 0 || !has('apt-get')) return false
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', program], { timeout: 120_000 })
  return has(program)
}

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  /** The end of its standard output and standard error. */
  output(): string
  /** Stops it by its id, if necessary with SIGKILL. */
  end(): Promise<void>
}

export interface StartOptions {
  /** Where standard error goes; by default the end of it is kept. */
  readonly log?: 'discard'
  /** For standard input. */
  readonly input?: string
  /** The folder in which it runs; by default that of this process. */
  readonly cwd?: string
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program on the measured core. It stops with this process, however that stops. */
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

/** One line: processors, versions, and the other load on the machine. */
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
