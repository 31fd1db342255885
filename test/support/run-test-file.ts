// The processes that run test files, alone or one after the other, and the test points in their output (TAP).
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Parser, type FinalResults, type Result } from 'tap-parser'
import { compiledFile, FILE_BEGINS, FILE_OVER } from './test-files.js'
import { endWithThisProcess } from './fuseki.js'

/** tap's time limit for a test file, in seconds, unless the file sets its own. */
const TIMEOUT = '600'
/** A file that does not stop even at its own timeout is killed. */
const KILLED_AFTER_MS = 1_200_000
/**
 * A process for several files fails by itself if it does not end (run-files.ts). If it cannot even do that, it is
 * killed.
 */
const KILLED_AFTER_END_MS = 20_000
const MAX_LOOSE_LINES = 40
const LOADED_FIRST = ['./without-domains.js', './seeded.js'].flatMap((name) => [
  '--import',
  new URL(name, import.meta.url).href,
])
/** V8 collects garbage less often than by default. */
const V8 = ['--max-semi-space-size=64']
/**
 * V8 optimises functions later: in tests most run too seldom for optimisation to pay. Not for files that measure time.
 * Node.js 22 has no such flag.
 */
const V8_OF_SHARED = Number.parseInt(process.versions.node) < 22 ? ['--interrupt-budget=600000'] : []
const RUN_FILES = fileURLToPath(new URL('./run-files.js', import.meta.url))

export interface FileOutcome {
  readonly source: string
  readonly passed: number
  readonly skipped: number
  /** The failed points, each with its names and tap's details. */
  readonly failed: readonly string[]
  readonly ms: number
}

type Points = Pick<FileOutcome, 'passed' | 'skipped' | 'failed'>

interface Tests {
  readonly child: ChildProcess
  readonly parser: Parser
  /** The points since the last call; a fault counts as one more failure. */
  take(fault?: string): Points
  /** How the process ended, if that was a fault which no failed point explains; otherwise undefined. */
  readonly closed: Promise<string | undefined>
}

/** Runs a test file in a separate process, which is killed after `limit` ms. */
export async function runTestFile(
  source: string,
  env: NodeJS.ProcessEnv,
  limit = KILLED_AFTER_MS,
): Promise<FileOutcome> {
  const began = performance.now()
  const { child, take, closed } = startTests([...V8, ...LOADED_FIRST, compiledFile(source)], env, 'ignore')
  const timer = killLater(child, limit)
  const fault = await closed
  clearTimeout(timer)
  return outcomeOf(source, take(fault), began)
}

/** A process for several test files, which share its start, their imported modules, and the compiled code. */
export interface SharedProcess {
  /** False if the process has ended, or will end because a file has left something behind. */
  isUsable(): boolean
  /** Runs one file at a time; the process is killed after `limit` ms. */
  run(source: string, limit?: number): Promise<FileOutcome>
  /** Ends the process. Output after the end of a file counts for that file: points, or a fault of the process. */
  end(): Promise<readonly FileOutcome[]>
}

/** @param runFiles the compiled run-files.ts, perhaps that of a copy */
export function startSharedProcess(env: NodeJS.ProcessEnv, runFiles = RUN_FILES): SharedProcess {
  const { child, parser, take, closed } = startTests([...V8, ...V8_OF_SHARED, ...LOADED_FIRST, runFiles], env, 'pipe')
  const late: FileOutcome[] = []
  let last = ''
  let usable = true
  let isEndCounted = false
  let over = (_isClean: boolean): void => undefined

  const takeLate = (fault?: string): void => {
    const points = take(fault)
    if (points.passed + points.skipped + points.failed.length > 0) late.push({ source: last, ...points, ms: 0 })
  }
  const stop = (): void => {
    if (usable) {
      const timer = killLater(child, KILLED_AFTER_END_MS)
      child.once('close', () => clearTimeout(timer))
    }
    usable = false
    child.stdin!.end()
  }
  child.once('close', () => (usable = false))
  // The process may end while a name is being sent: `closed` then says how.
  child.stdin!.on('error', () => undefined)
  parser.on('pragma', (name, isOn) => {
    if (name === FILE_BEGINS) takeLate()
    if (name === FILE_OVER) over(isOn)
  })
  return {
    isUsable: () => usable,
    async run(source, limit = KILLED_AFTER_MS) {
      const [began, before] = [performance.now(), last]
      const timer = killLater(child, limit)
      const ended = new Promise<boolean>((resolve) => (over = resolve))
      child.stdin!.write(`${source}\n`)
      const isClean = await Promise.race([ended, closed.then(() => undefined)])
      clearTimeout(timer)
      last = source
      if (isClean) return outcomeOf(source, take(), began)
      isEndCounted = true
      // The process ends when everything left open is closed.
      stop()
      const how = await closed
      const fault = isClean === false ? how : `${how ?? 'stopped'} before its end${before && `, after ${before}`}`
      return outcomeOf(source, take(fault), began)
    },
    async end() {
      stop()
      const fault = await closed
      if (!isEndCounted) takeLate(fault)
      return late
    },
  }
}

const killLater = (child: ChildProcess, ms: number): NodeJS.Timeout => setTimeout(() => child.kill('SIGKILL'), ms)

function startTests(args: readonly string[], env: NodeJS.ProcessEnv, stdin: 'ignore' | 'pipe'): Tests {
  const child = spawn(process.execPath, args, {
    stdio: [stdin, 'pipe', 'inherit'],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: stdin === 'pipe' ? '0' : TIMEOUT, ...env },
  })
  const letGo = endWithThisProcess(child)
  const parser = new Parser()
  child.stdout!.pipe(parser)
  const closed = Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    once(parser, 'complete').then(([all]) => all as FinalResults),
  ]).then(([[code, signal], { ok, fail }]) => {
    letGo()
    // A failed point explains code 1, and a result that is not ok.
    const isKnown = fail > 0 && code === 1
    return isKnown || (code === 0 && ok) ? undefined : `stopped with ${signal ?? code}`
  })
  return { child, parser, take: pointsOf(parser), closed }
}

function pointsOf(parser: Parser): Tests['take'] {
  const none = () => ({ passed: 0, skipped: 0, failed: [] as string[], loose: [] as string[] })
  // `loose` are lines that are not TAP: tests print none, but a broken process may.
  let points = none()
  parser.on('pass', () => points.passed++)
  parser.on('skip', () => points.skipped++)
  parser.on('fail', (point: Result) => points.failed.push(failureOf(point)))
  parser.on('extra', (line: string) => points.loose.push(line))
  return (fault) => {
    const { loose, ...taken } = points
    points = none()
    if (fault !== undefined) taken.failed.push([fault, ...loose.slice(-MAX_LOOSE_LINES)].join('\n').trimEnd())
    return taken
  }
}

function outcomeOf(source: string, points: Points, began: number): FileOutcome {
  const isEmpty = points.passed + points.skipped + points.failed.length === 0
  return { source, ...points, ...(isEmpty && { failed: ['has no test'] }), ms: performance.now() - began }
}

const SHOWN = ['diff', 'message', 'found', 'wanted', 'reason', 'at', 'stack'] as const

function failureOf({ fullname, diag }: Result): string {
  const details = (diag ?? {}) as Record<string, unknown>
  const lines = SHOWN.flatMap((key) => {
    const value = details[key]
    if (value === undefined || value === null || ((key === 'found' || key === 'wanted') && 'diff' in details)) return []
    const text = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)
    return text.includes('\n') ? [`${key}:`, ...text.split('\n').map((line) => `  ${line}`)] : [`${key}: ${text}`]
  })
  return [fullname, ...lines.map((line) => `  ${line}`)].join('\n')
}
