// One process of git: its environment and settings, its priority, and starting it.
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { devNull, setPriority } from 'node:os'
import { Readable, Writable } from 'node:stream'

export type GitProcess = ChildProcessWithoutNullStreams

const GIT_SETTINGS = [
  'core.fsync=all',
  'core.fsyncMethod=fsync',
  `core.hooksPath=${devNull}`,
  'fastimport.unpackLimit=0',
  'gc.auto=0',
  'maintenance.auto=false',
  'log.showSignature=false',
  'log.showRoot=true',
].flatMap((setting) => ['-c', setting])

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LITERAL_PATHSPECS: '1',
  // Reuse freed memory for the next object (mallopt(3)): returning it to the system takes 80 % of a commit's time.
  MALLOC_TOP_PAD_: String(1024 * 1024),
  // Ignore refs/replace, which a push may have brought.
  GIT_NO_REPLACE_OBJECTS: '1',
  // Do not fetch missing objects: settings of the repository could name the command that does.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
})

/**
 * Starts git in a process group of its own: a signal that interrupts the gateway does not reach it. `spawn` throws if
 * memory is short (ENOMEM), and reports all other failures by an event; here that one is an event too.
 * @param yields runs with a low priority
 */
export function spawnGit(args: readonly string[], yields: boolean, stdio: StdioOptions = 'pipe'): ChildProcess {
  try {
    const child = spawn('git', [...GIT_SETTINGS, ...args], { env: environment(), detached: true, stdio })
    if (yields && child.pid !== undefined) lowerPriority(child.pid)
    return child
  } catch (error) {
    const child = Object.assign(new EventEmitter(), withoutPipes(), { pid: undefined, kill: () => false })
    process.nextTick(() => child.emit('error', error))
    return child as EventEmitter as ChildProcess
  }
}

/** A thirtieth of the processor, while other processes want all of it. */
const NICENESS = 15

/**
 * Linux may divide the processor among sessions before it looks at priorities (sched(7), autogroup). Git has a session
 * of its own, so the session needs the low priority too. If the system has no such file, or the process has ended,
 * nothing is done.
 */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS)
    writeFileSync(`/proc/${pid}/autogroup`, String(NICENESS))
  } catch {}
}

export const withoutPipes = (): Pick<GitProcess, 'stdin' | 'stdout' | 'stderr'> => ({
  stdin: new Writable({ write: (_chunk, _encoding, written) => written() }),
  stdout: Readable.from([]),
  stderr: Readable.from([]),
})
