// In charge of running one test file in a process of its own, and of the test points in what it prints (TAP).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Parser, type Result } from 'tap-parser'
import { compiledFile } from './test-files.js'
import { endWithThisProcess } from './fuseki.js'

/** The time that tap gives a test file unless the file sets its own, in seconds. */
const TIMEOUT = '600'
/** A file that does not even stop at its own timeout is killed. */
const KILLED_AFTER_MS = 1_200_000
const MAX_LOOSE_LINES = 40
const WITHOUT_DOMAINS = new URL('./without-domains.js', import.meta.url).href

export interface FileOutcome {
  readonly source: string
  readonly passed: number
  readonly skipped: number
  /** The failed points, each with its names and the details that tap gives. */
  readonly failed: readonly string[]
  readonly ms: number
}

export async function runTestFile(source: string, env: NodeJS.ProcessEnv): Promise<FileOutcome> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--import', WITHOUT_DOMAINS, compiledFile(source)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: TIMEOUT, ...env },
  })
  const letGo = endWithThisProcess(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), KILLED_AFTER_MS)
  const points = { passed: 0, skipped: 0, failed: [] as string[] }
  // Lines that are not TAP: tests print none, but a process that breaks does.
  const loose: string[] = []
  const parser = new Parser()
  parser.on('pass', () => points.passed++)
  parser.on('skip', () => points.skipped++)
  parser.on('fail', (point) => points.failed.push(failureOf(point)))
  parser.on('extra', (line) => loose.push(line))
  child.stdout.pipe(parser)
  const [[code, signal], results] = await Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    once(parser, 'complete').then(([all]) => all as { ok: boolean }),
  ])
  clearTimeout(timer)
  letGo()
  if ((code !== 0 || !results.ok) && points.failed.length === 0) {
    points.failed.push([`stopped with ${signal ?? code}`, ...loose.slice(-MAX_LOOSE_LINES)].join('\n').trimEnd())
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
