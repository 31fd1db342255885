// Runs test files on a copy of the compiled files, one of which is changed at a time.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runTestFile, startSharedProcess, type SharedProcess } from './run-test-file.js'
import { isAlone } from './test-files.js'

/** A checkout whose compiled files can be changed; everything else is linked. */
export function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'triplegate-mutants-'))
  for (const name of readdirSync('.')) if (name !== 'dist') symlinkSync(resolve(name), join(copy, name))
  cpSync('dist', join(copy, 'dist'), { recursive: true, preserveTimestamps: true })
  for (const folder of ['temporary', 'rows', 'certificates']) mkdirSync(join(copy, folder))
  return copy
}

export const env = (copy: string): NodeJS.ProcessEnv => ({
  ...{ TAP_BAIL: '1', TMPDIR: join(copy, 'temporary'), NODE_OPTIONS: '--max-old-space-size=1024' },
  ...{ TRIPLEGATE_TEST_ROWS: join(copy, 'rows'), TRIPLEGATE_TEST_CERTIFICATES: join(copy, 'certificates') },
})

/** A run of a test file on unchanged code. */
export interface Baseline {
  readonly test: string
  readonly ms: number
  /** The folder with V8's coverage of the run. */
  readonly folder: string
  /** The file can run repeatedly in one process. */
  readonly isShared: boolean
}

export function makeBaselines(copy: string): (test: string) => Promise<Baseline | undefined> {
  const known = new Map<string, Promise<Baseline | undefined>>()
  const run = async (test: string): Promise<Baseline | undefined> => {
    const folder = mkdtempSync(join(copy, 'coverage-'))
    const { failed, ms } = await runTestFile(test, { ...env(copy), NODE_V8_COVERAGE: folder })
    if (failed.length > 0) process.stdout.write(`${test} is left out: without a change, ${failed[0]}\n`)
    return failed.length > 0
      ? undefined
      : { test, ms, folder, isShared: !isAlone(test) && (await isRepeatable(copy, test)) }
  }
  return (test) => {
    const found = known.get(test) ?? run(test)
    known.set(test, found)
    return found
  }
}

let sharedProcess: SharedProcess | undefined

/** Starts far fewer processes than there are mutants. */
export async function runShared(copy: string, test: string, limit?: number): ReturnType<typeof runTestFile> {
  if (!sharedProcess?.isUsable()) {
    const hooks = pathToFileURL(join(copy, 'dist/test/support/mutant-hooks.js')).href
    const register = `import{register}from"node:module";register("${hooks}")`
    const own: NodeJS.ProcessEnv = { ...env(copy), TAP_BAIL: undefined }
    const NODE_OPTIONS = `${own.NODE_OPTIONS} --import data:text/javascript,${encodeURIComponent(register)}`
    sharedProcess = startSharedProcess({ ...own, NODE_OPTIONS }, 'dist/test/support/run-files.js')
  }
  return sharedProcess.run(test, limit)
}

async function isRepeatable(copy: string, test: string): Promise<boolean> {
  for (let run = 0; run < 2; run++) if ((await runShared(copy, test)).failed.length > 0) return false
  return true
}

/** The time limit for a test that hangs: several times its usual time, on a machine with other work. */
export const limitOf = ({ ms }: Baseline): number => 10_000 + 4 * ms

export const endShared = async (): Promise<void> => void (await sharedProcess?.end())
