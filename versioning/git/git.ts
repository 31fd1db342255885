// Running git: in one bare repository, with an environment and settings of our own only, within limits.
import { type Setback, SetbackError, isFailure } from '../failure.js'
import { type GitProcess, spawnGit, withoutPipes } from './git-process.js'
import { launch } from './launcher.js'
import { readFile, readdir } from 'node:fs/promises'

/** The processor time of a process group, in ticks of the system's clock; 0 if it is not known. */
export async function processorTimeOf(group: number): Promise<number> {
  let ticks = 0
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')
    // The name of the command is in brackets, and may have any characters.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[2]) === group) ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks
}

// 2.36 introduced core.fsync; without it a branch may not survive a power failure.
const LEAST_VERSION = [2, 36] as const
/** Longer parts are cut off: only messages of foreign commits are so long, and they say nothing about documents. */
const LONGEST_PART = 1024 * 1024
const IDLE_MS = 120_000

export type { GitProcess }

export interface GitEnding {
  /** Exit status; undefined when a signal ended the process, or it never started. */
  readonly code: number | undefined
  readonly stderr: string
}

/**
 * Starts git on a repository, in a process group of its own: a signal that interrupts the gateway does not reach it.
 * @param yields runs with a low priority
 */
export function startGit(
  folder: string,
  args: readonly string[],
  yields = false,
): { readonly child: GitProcess; readonly ended: Promise<GitEnding> } {
  const all = [`--git-dir=${folder}`, ...args]
  const child = launch(all, yields) ?? (spawnGit(all, yields) as GitProcess)
  // If no file descriptor is free, the child has no pipes.
  if (!(child.stdin as unknown)) Object.assign(child, withoutPipes())
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4000)))
  // If a pipe breaks, the exit of the process tells why.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<GitEnding>((resolve) => {
    child.on('error', (error) => resolve({ code: undefined, stderr: error.message }))
    child.on('close', (code) => resolve({ code: code ?? undefined, stderr }))
  })
  return { child, ended }
}

/**
 * Kills a process that has been idle for too long: `alive` was not called, and neither the process nor its children
 * have used the processor. A large task may take any time.
 */
export function watchIdle(child: GitProcess, limit = IDLE_MS): { alive(): void; stop(): void } {
  let used = 0
  let stopped = false
  const look = async (): Promise<void> => {
    const now = child.pid === undefined ? 0 : await processorTimeOf(child.pid)
    if (stopped) return
    if (now > used) timer.refresh()
    else child.kill('SIGKILL')
    used = now
  }
  const timer = setTimeout(() => void look(), limit)
  return {
    alive: () => void timer.refresh(),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** Runs git to its end and returns what it prints. */
export async function runGit(folder: string, args: readonly string[], limit = IDLE_MS): Promise<string | Setback> {
  const { child, ended } = startGit(folder, args)
  let stdout = ''
  child.stdout.on('data', (text: Buffer) => (stdout = (stdout + text.toString()).slice(-1_000_000)))
  child.stdin.end()
  const idle = watchIdle(child, limit)
  const ending = await ended
  idle.stop()
  return ending.code === 0 ? stdout : gitSetback(ending, `git ${args[0]}`)
}

/** Streams git's output in parts that end with NUL; long parts are cut off. Throws SetbackError. */
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
    if (ending.code !== 0) throw new SetbackError(gitSetback(ending, `git ${args[0]}`))
  } finally {
    idle.stop()
    child.kill('SIGKILL')
  }
}

export function gitSetback({ code, stderr }: GitEnding, what: string): Setback {
  const said = stderr.replace(/\s+/g, ' ').trim() || (code === undefined ? 'it was ended' : `exit status ${code}`)
  if (/no space left|out of diskspace|disk quota exceeded|file too large/i.test(stderr)) {
    return { failure: 'full', detail: `${what}: ${said}. Free some space on the disk of the repository.` }
  }
  if (/read-only file system|permission denied|operation not permitted|insufficient permission/i.test(stderr)) {
    return { failure: 'denied', detail: `${what}: ${said}. Make the folder of the repository writable.` }
  }
  return { failure: 'failed', detail: `${what}: ${said}` }
}

/** Undefined when git is installed and new enough. */
export async function checkGit(folder: string): Promise<Setback | undefined> {
  const least = LEAST_VERSION.join('.')
  const version = await runGit(folder, ['version'], 10_000)
  const remedy = `Install git ${least} or newer, and put it on the PATH.`
  if (isFailure(version)) return { failure: 'failed', detail: `${version.detail}. ${remedy}` }
  const [, major = 0, minor = 0] = (/^git version (\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  if (major > LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor >= LEAST_VERSION[1])) return undefined
  return { failure: 'failed', detail: `${version.trim()} is too old. ${remedy}` }
}
