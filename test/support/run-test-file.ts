// In charge of the processes that run test files, alone or one after the other, and of the test points in what they print (TAP).
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Parser, type Result } from 'tap-parser'
import { compiledFile, FILE_OVER } from './test-files.js'
import { endWithThisProcess } from './fuseki.js'

/** The time that tap gives a test file unless the file sets its own, in seconds. */
const TIMEOUT = '600'
/** A file that does not even stop at its own timeout is killed. */
const KILLED_AFTER_MS = 1_200_000
const MAX_LOOSE_LINES = 40
const WITHOUT_DOMAINS = new URL('./without-domains.js', import.meta.url).href
const RUN_FILES = fileURLToPath(new URL('./run-files.js', import.meta.url))

export interface FileOutcome {
  readonly source: string
  readonly passed: number
  readonly skipped: number
  /** The failed points, each with its names and the details that tap gives. */
  readonly failed: readonly string[]
  readonly ms: number
}

interface Tests {
  readonly child: ChildProcess
  readonly parser: Parser
  /** How it has ended, in words; undefined where that was without a failure. */
  readonly closed: Promise<string | undefined>
}

/** Runs a test file in a process of its own. */
export async function runTestFile(source: string, env: NodeJS.ProcessEnv): Promise<FileOutcome> {
  const tests = startTests(compiledFile(source), env, 'ignore')
  return outcomeOf(source, tests, tests.closed)
}

/** A process for several test files: they share its start, the modules that they import, and the code compiled for these. */
export interface SharedProcess {
  /** False where it has ended, or will since a file has left something behind. */
  isUsable(): boolean
  /** One file at a time. */
  run(source: string): Promise<FileOutcome>
  end(): void
}

export function startSharedProcess(env: NodeJS.ProcessEnv): SharedProcess {
  const tests = startTests(RUN_FILES, env, 'pipe')
  const { child, parser, closed } = tests
  let usable = true
  const end = (): void => {
    usable = false
    child.stdin!.end()
  }
  child.once('close', end)
  return {
    isUsable: () => usable,
    end,
    run(source) {
      let over = false
      const ended = new Promise<undefined>((resolve) => {
        const listen = (name: string, isClean: boolean): void => {
          if (name !== FILE_OVER) return
          parser.off('pragma', listen)
          over = true
          if (isClean) resolve(undefined)
          // The process ends when what was left open is closed.
          else end()
        }
        parser.on('pragma', listen)
      })
      const broken = closed.then((how) => (over ? undefined : (how ?? 'stopped before its end')))
      child.stdin!.write(`${source}\n`)
      return outcomeOf(source, tests, Promise.race([ended, broken]))
    },
  }
}

function startTests(script: string, env: NodeJS.ProcessEnv, stdin: 'ignore' | 'pipe'): Tests {
  const child = spawn(process.execPath, ['--import', WITHOUT_DOMAINS, script], {
    stdio: [stdin, 'pipe', 'inherit'],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: stdin === 'pipe' ? '0' : TIMEOUT, ...env },
  })
  const letGo = endWithThisProcess(child)
  const parser = new Parser()
  child.stdout!.pipe(parser)
  const closed = Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    once(parser, 'complete').then(([all]) => all as { ok: boolean }),
  ]).then(([[code, signal], { ok }]) => {
    letGo()
    return code === 0 && ok ? undefined : `stopped with ${signal ?? code}`
  })
  return { child, parser, closed }
}

/** The test points until the end, which says what is wrong where no point does. */
async function outcomeOf(
  source: string,
  { child, parser }: Tests,
  end: Promise<string | undefined>,
): Promise<FileOutcome> {
  const began = performance.now()
  const timer = setTimeout(() => child.kill('SIGKILL'), KILLED_AFTER_MS)
  const points = { passed: 0, skipped: 0, failed: [] as string[] }
  // Lines that are not TAP: tests print none, but a process that breaks does.
  const loose: string[] = []
  const listeners = {
    pass: () => void points.passed++,
    skip: () => void points.skipped++,
    fail: (point: Result) => void points.failed.push(failureOf(point)),
    extra: (line: string) => void loose.push(line),
  }
  for (const [event, listener] of Object.entries(listeners)) parser.on(event, listener)
  const how = await end
  for (const [event, listener] of Object.entries(listeners)) parser.off(event, listener)
  clearTimeout(timer)
  if (how !== undefined && points.failed.length === 0) {
    points.failed.push([how, ...loose.slice(-MAX_LOOSE_LINES)].join('\n').trimEnd())
  }
  return { source, ...points, ms: performance.now() - began }
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
