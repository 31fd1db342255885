// `npm test`: chooses the test files, starts a Fuseki for them, and counts the results.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDataset } from './support/fuseki-datasets.js'
import { fetchFuseki, startFuseki, type Fuseki } from './support/fuseki.js'
import { OVER_FUSEKI } from './support/fuseki-kinds.js'
import { runTestFile, startSharedProcess, type FileOutcome, type SharedProcess } from './support/run-test-file.js'
import type { RowCount } from './support/stores.js'
import { allTestFiles, filesNamed, isAlone, READ_THROUGH_THE_CACHE } from './support/test-files.js'

/**
 * The number of files that run at the same time: tests wait for stores, timers and processes about as long as they
 * compute.
 */
const JOBS = Math.min(2 * availableParallelism(), 6)

const HELP = `Usage: npm test [-- FILE…]
Runs the test files named, or all. FILE is a source (test/gateway/http/target.test.ts), its compiled file or a folder.
Without FILE, the files about what clients read run a second time with TRIPLEGATE_TEST_CACHE=off.
TRIPLEGATE_TEST_SEED=N tries other values for properties than the run before.
TRIPLEGATE_TEST_FUSEKI=URL uses a Fuseki that runs already, instead of starting one.
Exit code: 0 all tests passed, 1 a test failed, 2 a name matches no test file.
`

const say = (line: string) => process.stdout.write(`${line}\n`)

/** The Fuseki that the environment gives, else one of our own; none if this machine cannot run it. */
async function openFuseki(): Promise<{ url: string; own?: Fuseki } | { missing: string }> {
  const given = process.env.TRIPLEGATE_TEST_FUSEKI
  if (given) return { url: given }
  const found = fetchFuseki()
  if ('missing' in found) return without(found)
  const own = await startFuseki({ jar: found.jar, datasets: [], configuration: OVER_FUSEKI })
  const refused = await createDataset(own.base, 'probe')
  if (!refused) return { url: own.base, own }
  await own.stop()
  return without(refused)
}

function without(reason: { missing: string }): { missing: string } {
  if (process.env.CI === 'true') throw new Error(`Continuous integration needs Fuseki: ${reason.missing}.`)
  say(`The tests on Fuseki are skipped: ${reason.missing}.`)
  return reason
}

/** One Fuseki for all files, started with the first. */
type SharedFuseki = () => ReturnType<typeof openFuseki>

/** Test files that run with the same environment. */
interface Pass {
  readonly files: readonly string[]
  /** Runs the file in a separate process, or in the process that `job` has or gets. */
  run(file: string, job: Job): Promise<readonly FileOutcome[]>
}

/** One of the jobs that run at the same time. Its process runs one file after the other. */
interface Job {
  shared?: { readonly pass: Pass; readonly process: SharedProcess }
}

function report(title: string, { source, passed, skipped, failed, ms }: FileOutcome): void {
  const counts = `${passed} passed${failed.length > 0 ? `, ${failed.length} FAILED` : ''}${skipped > 0 ? `, ${skipped} skipped` : ''}`
  say(`${source}${title}: ${counts} (${(ms / 1000).toFixed(1)} s)`)
  for (const failure of failed) say(failure.replace(/^/gm, '    '))
}

function passOf(files: readonly string[], title: string, env: NodeJS.ProcessEnv, fuseki: SharedFuseki): Pass {
  const pass: Pass = {
    files,
    async run(file, job) {
      const opened = await fuseki()
      const variables = { ...env, ...('url' in opened && { TRIPLEGATE_TEST_FUSEKI: opened.url }) }
      const late = isAlone(file) || isUsable(job, pass) ? [] : await endOf(job)
      const outcome = await (isAlone(file) ? runTestFile(file, variables) : processOf(job, pass, variables).run(file))
      report(title, outcome)
      return [outcome, ...late]
    },
  }
  return pass
}

const isUsable = ({ shared }: Job, pass: Pass): boolean => shared?.pass === pass && shared.process.isUsable()

function processOf(job: Job, pass: Pass, variables: NodeJS.ProcessEnv): SharedProcess {
  job.shared ??= { pass, process: startSharedProcess(variables) }
  return job.shared.process
}

/** Ends the process that `job` has. What the process printed after the end of a file is added to the results. */
async function endOf(job: Job): Promise<readonly FileOutcome[]> {
  const late = (await job.shared?.process.end()) ?? []
  delete job.shared
  for (const outcome of late) report(', after its end', outcome)
  return late
}

/**
 * The files that take longest, in this order, run before all others: if a long file began last, the other jobs would be
 * idle.
 */
const LONG = ['data-rights', 'importer', 'two-gateways', 'backup', 'github-repository', 'applier', 'local-repository', 'growth', 'position', 'recursive-paths', 'sparql-streams', 'features', 'pages/pages', 'sparql-rights', 'github-faults', 'mirror', 'command-line', 'crash', 'adoption', 'query-differential', 'seeding', 'versioning/history', 'journalled-store', 'add', 'alignment', 'rights-on-writes', 'updates', 'restrict-query', 'traits', 'corpus', 'fenced-update', 'clients', 'attack', 'dataset', 'write-rules', 'sign-up', 'oidc', 'import-worker', 'sparql-protocol', 'kept-queries', 'fuzz-parsers', 'update-differential', 'store-faults', 'rules-age', 'store-ways', 'store-contract', 'request/head', 'kept-documents', 'rebuild', 'sparql-update', 'children', 'identify', 'sparql', 'linked-data-proxy', 'bounded-work', 'patch', 'methods/documents', 'large-documents', 'updates-of-agents', 'iri-spelling', 'computed-values', 'import', 'settlement', 'only-constants', 'access/access'] // prettier-ignore
const orderOf = (file: string): number => {
  const at = LONG.findIndex((name) => file.includes(`${name}.test`))
  return at < 0 ? LONG.length : at
}

/** One queue, so that the second pass begins while the last files of the first are still running. */
async function runAll(passes: readonly Pass[]): Promise<FileOutcome[]> {
  const waiting = passes
    .flatMap((pass) => pass.files.map((file) => ({ file, run: (job: Job) => pass.run(file, job) })))
    .sort((a, b) => orderOf(a.file) - orderOf(b.file))
    .map(({ run }) => run)
  const outcomes: FileOutcome[] = []
  const work = async (): Promise<void> => {
    const job: Job = {}
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) outcomes.push(...(await next(job)))
    outcomes.push(...(await endOf(job)))
  }
  await Promise.all(Array.from({ length: JOBS }, work))
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
  const onUnion = rowsOn('fuseki-union')
  say(`rows on Fuseki: ${rowsOn('fuseki') + onUnion} (on a union ${onUnion}), rows embedded: ${rowsOn('embedded')}`)
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
  let opened: ReturnType<typeof openFuseki> | undefined
  const fuseki: SharedFuseki = () => (opened ??= openFuseki())
  try {
    const passes = [passOf(files, '', env, fuseki)]
    if (names.length === 0) {
      const off = { ...env, TRIPLEGATE_TEST_CACHE: 'off' }
      passes.push(passOf(READ_THROUGH_THE_CACHE, ' without the cache', off, fuseki))
    }
    const outcomes = await runAll(passes)
    return summary(outcomes, rowsIn(rows))
  } finally {
    const used = await opened
    if (used && 'own' in used) await used.own?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main(process.argv.slice(2))
