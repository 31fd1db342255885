// In charge of `npm test`: a Fuseki for all test files, the run of tap, and the count at the end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Parser } from 'tap-parser'
import { createDataset, endWithThisProcess, fetchFuseki, startFuseki, type Fuseki } from './support/fuseki.js'
import type { RowCount } from './support/stores.js'

const TAP = 'node_modules/tap/dist/esm/run.mjs'
const say = (line: string) => process.stdout.write(`${line}\n`)

/** The Fuseki given by the environment, else one of our own, else the reason why there is none. */
async function fusekiForAll(): Promise<{ url: string; own?: Fuseki } | { missing: string }> {
  const given = process.env.TRIPLEGATE_TEST_FUSEKI
  if (given) return { url: given }
  const found = fetchFuseki()
  if ('missing' in found) return found
  const own = await startFuseki({ jar: found.jar, datasets: [] })
  const without = await createDataset(own.base, 'probe')
  if (!without) return { url: own.base, own }
  await own.stop()
  return without
}

async function runTap(filters: string[], env: NodeJS.ProcessEnv, output: string): Promise<number> {
  const reporter = process.stdout.isTTY ? [] : ['--reporter=terse']
  // tap's reporters redraw what they wrote unless they believe themselves in continuous integration.
  const quiet = process.stdout.isTTY ? {} : { CI: process.env.CI ?? '1' }
  const args = [TAP, 'run', ...reporter, `--output-dir=${output}`, ...filters]
  const tap = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...quiet, ...env } })
  const forget = endWithThisProcess(tap, 'SIGTERM')
  const [code] = (await once(tap, 'exit')) as [number | null]
  forget()
  return code ?? 1
}

interface Points {
  passed: number
  /** Where, by file and names. */
  readonly failed: string[]
  skipped: number
}

/** The test points in a folder of TAP files: those of every depth, without the ones that only sum up others. */
function pointsIn(folder: string): Points {
  const points: Points = { passed: 0, failed: [], skipped: 0 }
  if (!existsSync(folder)) return points
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.tap')) continue
    const parser = new Parser()
    parser.on('pass', () => points.passed++)
    parser.on('fail', ({ fullname }) => points.failed.push(`${file}: ${fullname}`))
    parser.on('skip', () => points.skipped++)
    parser.end(readFileSync(join(folder, file)))
  }
  return points
}

const rowsIn = (folder: string): RowCount[] =>
  readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as RowCount),
  )

/** The test files that start a gateway: those that import the world of tests. */
const throughTheGateway = (): string[] =>
  readdirSync('dist/test', { recursive: true, encoding: 'utf8' })
    .map((name) => join('dist/test', name))
    .filter((file) => file.endsWith('.test.js') && readFileSync(file, 'utf8').includes('/support/world.js'))

/** One run of tap, with a Fuseki that has seen no other: a heap filled by thousands of datasets makes it slow. */
async function pass(filters: string[], env: NodeJS.ProcessEnv, output: string): Promise<number> {
  const fuseki = await fusekiForAll()
  if ('missing' in fuseki) {
    say(`Rows on Fuseki are skipped: ${fuseki.missing}.`)
    if (process.env.CI === 'true') return 1
  }
  try {
    return await runTap(filters, { ...env, ...('url' in fuseki && { TRIPLEGATE_TEST_FUSEKI: fuseki.url }) }, output)
  } finally {
    if ('own' in fuseki) await fuseki.own?.stop()
  }
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-test-'))
  const rows = join(folder, 'rows')
  mkdirSync(rows)
  try {
    const output = join(folder, 'tap')
    const env = { TRIPLEGATE_TEST_ROWS: rows }
    const filters = process.argv.slice(2)
    let status = await pass(filters, env, output)
    // Design 5: what is kept changes nothing but the time. Everything that goes through the gateway is run without it too.
    if (filters.length === 0) {
      say('again, without the cache:')
      const off = { ...env, TRIPLEGATE_TEST_CACHE: 'off' }
      status = (await pass(throughTheGateway(), off, join(output, 'off'))) || status
    }
    const { passed, failed, skipped } = pointsIn(output)
    for (const where of failed) say(`failed: ${where}`)
    const done = rowsIn(rows).filter(({ outcome }) => outcome !== 'skipped')
    const rowsOn = (kind: RowCount['kind']) => done.filter((row) => row.kind === kind).length
    say(`rows on Fuseki: ${rowsOn('fuseki')}, rows embedded: ${rowsOn('embedded')}`)
    // A file that breaks outside of its tests fails the run without a failed point.
    const failures = status === 0 ? failed.length : Math.max(failed.length, 1)
    say(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
    return passed + failures === 0 ? 1 : status
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
