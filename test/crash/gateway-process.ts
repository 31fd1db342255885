// A gateway as a process: `triplegate serve` on fixed ports, which can be killed and started again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { shareCertificates } from '../support/certificates.js'
import { endWithThisProcess } from '../support/fuseki.js'
import { freePort } from '../support/ports.js'
import { A_MINUTE } from '../support/wait.js'

export interface Site {
  readonly folder: string
  readonly base: string
  readonly admin: string
  readonly port: number
  readonly management: number
  readonly flags: readonly string[]
}

export async function makeSite(folder: string, flags: readonly string[]): Promise<Site> {
  const [port, management] = [await freePort(), await freePort()]
  const base = `https://localhost:${port}/`
  shareCertificates(port, folder)
  return { folder, base, admin: `${base}admin/`, port, management, flags }
}

/** The folder of an application's history, with the journal and repository.git. */
export const historyFolder = ({ folder }: Site, base: string): string =>
  join(folder, 'history', encodeURIComponent(base.replace('https://', '')))

export interface GatewayProcess {
  readonly pid: number
  /** True once it serves requests; false if it stops before that. */
  readonly ready: Promise<boolean>
  /** The exit status; undefined while it runs, and if it was killed. */
  exitCode(): number | undefined
  output(): string
  /** Stops it as a crash would. */
  kill(): Promise<void>
  /** Shuts it down. */
  stop(): Promise<void>
}

/** @param holds where it writes what has held its event loop (test/attack/hold-probe.ts) */
export function startGateway({ folder, port, management, flags }: Site, holds?: string): GatewayProcess {
  const args = ['--https', port, '--management', management, '--data', folder, '--log-level', 'warn'].map(String)
  const probe = holds === undefined ? [] : ['--import', pathToFileURL(resolve('dist/test/attack/hold-probe.js')).href]
  const child = spawn(process.execPath, [...probe, resolve('dist/gateway/main.js'), 'serve', ...args, ...flags], {
    // As the packages set it.
    env: { PATH: process.env['PATH'], MALLOC_ARENA_MAX: '1', ...(holds !== undefined && { HOLDS_FILE: holds }) }, // prettier-ignore
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const forget = endWithThisProcess(child)
  const exited = once(child, 'exit').then(forget)
  let output = ''
  const ready = new Promise<boolean>((settle) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output = (output + text).slice(-4000)
        if (output.includes(' is ready.')) settle(true)
      })
    }
    void exited.then(() => settle(false))
  })
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await exited
  }
  return {
    pid: child.pid!,
    ready,
    exitCode: () => child.exitCode ?? undefined,
    output: () => output,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

/** The git processes started by this process or its launcher (Linux, /proc). */
export const gitsOf = (pid: number): number[] => namedBelow(pid, 'git')

/** The servers of the embedded store on disk. */
export const oxigraphsOf = (pid: number): number[] => namedBelow(pid, 'oxigraph')

const namedBelow = (pid: number, wanted: string): number[] =>
  childrenOf(pid).flatMap(({ pid, name }) => (name === wanted ? [pid] : namedBelow(pid, wanted)))

/** The launcher of a gateway; undefined if it has none. */
export const launcherOf = (pid: number): number | undefined =>
  childrenOf(pid).find(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('launcher-process.js')
    } catch {
      return false
    }
  })?.pid

function childrenOf(pid: number): { readonly pid: number; readonly name: string }[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
      .map(Number)
      .filter((child) => child > 0)
      .map((child) => ({ pid: child, name: readFileSync(`/proc/${child}/comm`, 'utf8').trim() }))
  } catch {
    // One of these processes has stopped meanwhile.
    return []
  }
}

/** Waits until everything is committed. Returns the fault if nothing happens for a minute. */
export async function untilSettled({ management }: Site): Promise<string | undefined> {
  let seen = ''
  for (let until = Infinity; ; await sleep(100)) {
    const answer = await fetch(`http://127.0.0.1:${management}/health/ready`)
    const { checks } = (await answer.json()) as {
      checks: readonly { journal?: { depth: number; commits: number; blocked: unknown[] } }[]
    }
    const journals = checks.flatMap(({ journal }) => (journal ? [journal] : []))
    if (journals.length === 2 && journals.every(({ depth, blocked }) => depth + blocked.length === 0)) return undefined
    const now = journals.map(({ depth, commits }) => `${depth} ${commits}`).join()
    if (now !== seen) until = Date.now() + A_MINUTE
    seen = now
    if (Date.now() > until) return `not settled: ${JSON.stringify(checks)}`
  }
}
