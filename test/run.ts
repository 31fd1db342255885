// In charge of `npm test`: which test files run, a Fuseki for each pass over them, and the count at the end.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDataset, fetchFuseki, startFuseki, type Fuseki } from './support/fuseki.js'
import { runTestFile, type FileOutcome } from './support/run-test-file.js'
import type { RowCount } from './support/stores.js'
import { allTestFiles, filesNamed, startsGateway } from './support/test-files.js'

/** Files that run at the same time: tests wait for stores, timers and processes about as long as they compute. */
const JOBS = Math.min(availableParallelism() + 1, 6)

const HELP = `Usage: npm test [-- FILE…]
Runs the test files named, or all. FILE is a source (test/gateway/http/target.test.ts), its compiled file or a folder.
Without FILE, the files that start a gateway run a second time with TRIPLEGATE_TEST_CACHE=off: without the cache.
TRIPLEGATE_TEST_FUSEKI=URL uses a Fuseki that runs already, instead of starting one.
Exit code: 0 all tests passed, 1 a test failed, 2 a name matches no test file.
`

const say = (line: string) => process.stdout.write(`${line}\n`)

/** The Fuseki that the environment gives, else one of our own, else the reason why there is none. */
async function openFuseki(): Promise<{ url: string; own?: Fuseki } | { missing: string }> {
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

/** Test files with the environment in which they run. */
interface Pass {
  readonly title: string
  readonly files: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

function report(title: string, { source, passed, skipped, failed, ms }: FileOutcome): void {
  const counts = `${passed} passed${failed.length > 0 ? `, ${failed.length} FAILED` : ''}${skipped > 0 ? `, ${skipped} skipped` : ''}`
  say(`${source}${title}: ${counts} (${(ms / 1000).toFixed(1)} s)`)
  for (const failure of failed) say(failure.replace(/^/gm, '    '))
}

const NOTHING = { passed: 0, skipped: 0, failed: [], ms: 0 }

/** Each pass has a Fuseki that has served no other: a heap filled by thousands of datasets makes it slow. */
async function runPass({ title, files, env }: Pass): Promise<FileOutcome[]> {
  const fuseki = await openFuseki()
  if ('missing' in fuseki) {
    say(`The tests on Fuseki are skipped: ${fuseki.missing}.`)
    if (process.env.CI === 'true')
      return [{ ...NOTHING, source: 'test/run.ts', failed: [`no Fuseki: ${fuseki.missing}`] }]
  }
  const all = { ...env, ...('url' in fuseki && { TRIPLEGATE_TEST_FUSEKI: fuseki.url }) }
  const waiting = [...files]
  const outcomes: FileOutcome[] = []
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const outcome = await runTestFile(file, all)
      outcomes.push(outcome)
      report(title, outcome)
    }
  }
  try {
    await Promise.all(Array.from({ length: JOBS }, work))
  } finally {
    if ('own' in fuseki) await fuseki.own?.stop()
  }
  return outcomes
}

const rowsIn = (folder: string): RowCount[] =>
  readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as RowCount),
  )

function summary(outcomes: readonly FileOutcome[], rows: readonly RowCount[]): number {
  const sum = (count: (outcome: FileOutcome) => number): number => outcomes.reduce((all, one) => all + count(one), 0)
  const [passed, failed, skipped] = [
    sum((one) => one.passed),
    sum((one) => one.failed.length),
    sum((one) => one.skipped),
  ]
  for (const { source, failed } of outcomes) for (const name of failed) say(`failed: ${source}: ${name.split('\n')[0]}`)
  const rowsOn = (kind: RowCount['kind']) => rows.filter((row) => row.kind === kind && row.outcome !== 'skipped').length
  say(`rows on Fuseki: ${rowsOn('fuseki')}, rows embedded: ${rowsOn('embedded')}`)
  say(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return failed > 0 || passed === 0 ? 1 : 0
}

async function main(names: readonly string[]): Promise<number> {
  if (names.includes('--help')) {
    process.stdout.write(HELP)
    return 0
  }
  const all = allTestFiles()
  const { files, unknown } = names.length === 0 ? { files: all, unknown: [] } : filesNamed(names, all)
  for (const { name, near } of unknown)
    say(`${name} is no test file and no folder of them. Did you mean ${near.join(', ')}?`)
  if (unknown.length > 0) return 2
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-test-'))
  const [rows, certificates] = [join(folder, 'rows'), join(folder, 'certificates')]
  for (const made of [rows, certificates]) mkdirSync(made)
  const env = { TRIPLEGATE_TEST_ROWS: rows, TRIPLEGATE_TEST_CERTIFICATES: certificates }
  try {
    const outcomes = await runPass({ title: '', files, env })
    if (names.length === 0) {
      const second = { title: ' without the cache', files: files.filter(startsGateway) }
      outcomes.push(...(await runPass({ ...second, env: { ...env, TRIPLEGATE_TEST_CACHE: 'off' } })))
    }
    return summary(outcomes, rowsIn(rows))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main(process.argv.slice(2))
