// In charge of running git: in one bare repository, in an environment that nobody else has a say in, within limits.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { devNull, setPriority } from 'node:os'
import { Readable, Writable } from 'node:stream'
import type { Setback } from '../change.js'
import { SetbackError } from '../repository.js'

// 2.36 has core.fsync, without which a branch may not outlive a power failure.
const LEAST_VERSION = [2, 36] as const
/** Of what is longer the beginning is read: a message of somebody else, which says nothing about documents. */
const LONGEST_PART = 1024 * 1024
const IDLE_MS = 120_000

const SETTINGS = [
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
  // What is freed is kept for the next object (mallopt(3)): else four fifths of a commit's time are giving memory back.
  MALLOC_TOP_PAD_: String(1024 * 1024),
  // What the branch says is what counts, whatever refs/replace a push has brought.
  GIT_NO_REPLACE_OBJECTS: '1',
  // A missing object is missing: it is not fetched, by what a repository's own settings name as the command for that.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
})

export type GitProcess = ChildProcessWithoutNullStreams

export interface Ending {
  /** Exit status; undefined when it was ended by a signal, or never started. */
  readonly code: number | undefined
  readonly stderr: string
}

/**
 * A git on a repository, and how it ends. In a process group of its own: what interrupts the gateway leaves it alone.
 * @param yields to whatever else wants the processor
 */
export function startGit(
  folder: string,
  args: readonly string[],
  yields = false,
): { readonly child: GitProcess; readonly ended: Promise<Ending> } {
  const child = spawned([`--git-dir=${folder}`, ...SETTINGS, ...args])
  if (yields && child.pid !== undefined) yieldsFromNowOn(child.pid)
  // Where the process has no file descriptors left there are no pipes either.
  if (!(child.stdin as unknown)) Object.assign(child, withoutPipes())
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4000)))
  // Why a pipe breaks is told by how the process ends.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<Ending>((resolve) => {
    child.on('error', (error) => resolve({ code: undefined, stderr: error.message }))
    child.on('close', (code) => resolve({ code: code ?? undefined, stderr }))
  })
  return { child, ended }
}

/** What cannot be started for want of memory (ENOMEM) throws at once, where other reasons are told by an event: so is this. */
function spawned(args: readonly string[]): GitProcess {
  try {
    return spawn('git', args, { env: environment(), detached: true })
  } catch (error) {
    const child = Object.assign(new EventEmitter(), withoutPipes(), { pid: undefined, kill: () => false })
    process.nextTick(() => child.emit('error', error))
    return child as EventEmitter as GitProcess
  }
}

/** A thirtieth of the processor, where something else wants all of it. */
const NICENESS = 15

function yieldsFromNowOn(pid: number): void {
  try {
    setPriority(pid, NICENESS)
    // Linux may share the processor out between sessions first (sched(7), autogroup): git has one of its own.
    writeFileSync(`/proc/${pid}/autogroup`, String(NICENESS))
  } catch {
    // It has ended already, or nobody may: then it runs as others do.
  }
}

const withoutPipes = (): Pick<GitProcess, 'stdin' | 'stdout' | 'stderr'> => ({
  stdin: new Writable({ write: (_chunk, _encoding, written) => written() }),
  stdout: Readable.from([]),
  stderr: Readable.from([]),
})

/** Ends a process that does nothing for too long; `alive` says that it does. */
export function watchIdle(child: GitProcess, limit = IDLE_MS): { alive(): void; stop(): void } {
  const timer = setTimeout(() => child.kill('SIGKILL'), limit)
  return { alive: () => void timer.refresh(), stop: () => clearTimeout(timer) }
}

/** Runs git to its end; what it printed. */
export async function runGit(folder: string, args: readonly string[], limit = IDLE_MS): Promise<string | Setback> {
  const { child, ended } = startGit(folder, args)
  let stdout = ''
  child.stdout.on('data', (text: Buffer) => (stdout = (stdout + text.toString()).slice(-1_000_000)))
  child.stdin.end()
  const idle = watchIdle(child, limit)
  const ending = await ended
  idle.stop()
  return ending.code === 0 ? stdout : setbackOf(ending, `git ${args[0]}`)
}

/** What git prints, in parts that end with NUL, as it comes; of long ones the beginning. Throws SetbackError. */
export async function* nulSeparated(folder: string, args: readonly string[], input = ''): AsyncGenerator<string> {
  const { child, ended } = startGit(folder, args)
  child.stdin.end(input)
  const idle = watchIdle(child)
  try {
    let rest: Buffer[] = []
    let length = 0
    const keep = (piece: Buffer): void => {
      rest.push(piece.subarray(0, LONGEST_PART - length))
      length += rest.at(-1)!.length
    }
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      idle.alive()
      let from = 0
      for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, from)) {
        keep(chunk.subarray(from, at))
        yield Buffer.concat(rest).toString()
        rest = []
        length = 0
        from = at + 1
      }
      keep(chunk.subarray(from))
    }
    const ending = await ended
    if (ending.code !== 0) throw new SetbackError(setbackOf(ending, `git ${args[0]}`))
  } finally {
    idle.stop()
    child.kill('SIGKILL')
  }
}

/** How a failure is told. */
export function setbackOf({ code, stderr }: Ending, what: string): Setback {
  const said = stderr.replace(/\s+/g, ' ').trim() || (code === undefined ? 'it was ended' : `exit status ${code}`)
  if (/no space left|out of diskspace|disk quota exceeded|file too large/i.test(stderr)) {
    return { setback: 'full', detail: `${what}: ${said}. Free some room on the disk of the repository.` }
  }
  if (/read-only file system|permission denied|operation not permitted|insufficient permission/i.test(stderr)) {
    return { setback: 'denied', detail: `${what}: ${said}. Make the folder of the repository writable.` }
  }
  return { setback: 'failed', detail: `${what}: ${said}` }
}

/** Undefined when there is a git that will do. */
export async function checkGit(folder: string): Promise<Setback | undefined> {
  const least = LEAST_VERSION.join('.')
  const version = await runGit(folder, ['version'], 10_000)
  const mend = `Install git ${least} or newer, and have it on the PATH.`
  if (typeof version !== 'string') return { setback: 'failed', detail: `${version.detail}. ${mend}` }
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  if (major > LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor >= LEAST_VERSION[1])) return undefined
  return { setback: 'failed', detail: `This is ${version.trim()}, which is too old. ${mend}` }
}
