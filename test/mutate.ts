// `npm run mutate`: makes small changes to the code, one at a time, and runs the nearest tests, which should notice
// each change.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { makeRandom } from './crash/random.js'
import { mutantsOf, type Mutant } from './support/mutants.js'
import { executedOf, nearestTests } from './support/nearest-tests.js'
import { endShared, env, limitOf, makeBaselines, makeCopy, runShared, type Baseline } from './support/mutant-runs.js'
import { runTestFile } from './support/run-test-file.js'
import { SOURCES } from './support/sources.js'
import { compiledFile } from './support/test-files.js'

/** The code in which a wrong decision would be silent: rights, caching, recording. */
const PATHS = ['policies', 'cache', 'versioning/journal', 'gateway/mirror', 'gateway/sparql/rights', 'gateway/sparql/updates', 'gateway/identity', 'gateway/request/token-limits', 'gateway/methods/write-conditions', 'gateway/stores/holder', 'versioning/log', 'gateway/http/target'] // prettier-ignore
const RESULTS = resolve('.cache/mutants.jsonl')

const HELP = `Usage: npm run mutate [-- PATH…] [--sample N] [--seed S] [--nearest T] [--survived] [--list]
Changes the compiled code of the files named, one expression at a time, and runs the nearest test files, which should notice. PATH is
a source or the beginning of its path; without it these: ${PATHS.join(', ')}.
Results are remembered in .cache/mutants.jsonl: a run continues where the one before was stopped, while the file is the same.
--sample N takes N of all mutants, those that the seed S (1) gives; --nearest T runs T test files at most (8); --survived runs those again that have survived; --list runs none,
and prints those that have survived. Exit code: 0 all were noticed, 1 some survived, 2 wrong arguments, or a test fails without a change.
`

type Outcome = 'killed' | 'survived' | 'timed-out'
interface Result {
  readonly id: string
  readonly outcome: Outcome
}
/** A source file with its mutants. */
interface Subject {
  readonly file: string
  readonly text: string
  readonly lineOf: (position: number) => number
}
interface Case {
  readonly subject: Subject
  readonly mutant: Mutant
  readonly id: string
}

// A reader such as `head` may close the output early.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1))
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { compilerOptions: object }
const { options: OPTIONS } = ts.convertCompilerOptionsFromJson(compilerOptions, '.')

function subjectOf(file: string): Subject {
  const modules = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
  const compilerOptions = { ...OPTIONS, ...modules, sourceMap: true, incremental: false }
  const { outputText, sourceMapText } = ts.transpileModule(SOURCES.get(file)!, { fileName: file, compilerOptions })
  const text = outputText.replace(/\n\/\/# sourceMappingURL.*\n?$/, '\n')
  const map = new SourceMap(JSON.parse(sourceMapText!) as SourceMapPayload)
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index)
  const lineOf = (position: number): number => {
    const line = starts.findLastIndex((start) => start <= position)
    const entry = map.findEntry(line, position - starts[line]!)
    return 'originalLine' in entry ? entry.originalLine + 1 : 0
  }
  return { file, text, lineOf }
}

/** The mutants of a file. Equal changes of equal texts get equal ids. */
function casesOf(subject: Subject): Case[] {
  const hash = createHash('sha256').update(subject.text).digest('hex').slice(0, 12)
  return mutantsOf(subject.text).map((mutant) => {
    const id = `${subject.file} ${hash} ${mutant.start}-${mutant.end} ${mutant.text}`
    return { subject, mutant, id }
  })
}

function sampled(cases: readonly Case[], count: number, seed: number): Case[] {
  const random = makeRandom(seed)
  const drawn = cases.map((each, at) => ({ each, at, lot: random.between(0, 1) }))
  const chosen = drawn.sort((a, b) => a.lot - b.lot).slice(0, count)
  return chosen.sort((a, b) => a.at - b.at).map(({ each }) => each)
}

function shown({ subject: { file, text, lineOf }, mutant }: Case): string {
  const short = (part: string): string => (part.length > 60 ? `${part.slice(0, 57)}…` : part).replace(/\s+/g, ' ')
  return `${file}:${lineOf(mutant.start)}  ${short(text.slice(mutant.start, mutant.end))} → ${short(mutant.text)}`
}

async function outcomeOf(
  copy: string,
  baseline: Baseline,
  { subject: { file, text }, mutant }: Case,
): Promise<Outcome> {
  const path = compiledFile(file)
  writeFileSync(path, text.slice(0, mutant.start) + mutant.text + text.slice(mutant.end))
  try {
    const { test, isShared } = baseline
    const limit = limitOf(baseline)
    const { failed, ms } = await (isShared ? runShared(copy, test, limit) : runTestFile(test, env(copy), limit))
    return failed.length === 0 ? 'survived' : ms > limitOf(baseline) ? 'timed-out' : 'killed'
  } finally {
    writeFileSync(path, text)
  }
}

interface Run {
  readonly copy: string
  readonly baselines: ReturnType<typeof makeBaselines>
  /** The number of test files that a mutant is shown to. */
  readonly nearest: number
}

/** The mutants of one file: each further test gets those that the nearer ones have not noticed. */
async function runFile({ copy, nearest, baselines }: Run, cases: readonly Case[], record: Recorder): Promise<void> {
  const { file } = cases[0]!.subject
  let alive = cases
  for (const test of nearestTests(file).slice(0, nearest)) {
    if (alive.length === 0) break
    const baseline = await baselines(test)
    if (!baseline) continue
    const executed = executedOf(baseline.folder, resolve(compiledFile(file)))
    const left: Case[] = []
    for (const each of alive) {
      // V8 counts an operator such as ?? as a part of its right side.
      const outcome = executed(each.mutant.start - 1) ? await outcomeOf(copy, baseline, each) : 'survived'
      if (outcome === 'survived') left.push(each)
      else record(each, outcome)
    }
    say(`${file}: ${left.length} of ${cases.length} left after ${test} (${(baseline.ms / 1000).toFixed(1)} s)`)
    alive = left
  }
  for (const each of alive) record(each, 'survived')
}

type Recorder = (each: Case, outcome: Outcome) => void

function readResults(): Map<string, Outcome> {
  const lines = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8').split('\n').filter(Boolean) : []
  return new Map(lines.map((line) => JSON.parse(line) as Result).map(({ id, outcome }) => [id, outcome]))
}

async function runCases(cases: readonly Case[], nearest: number, record: Recorder): Promise<void> {
  const copy = makeCopy()
  const origin = process.cwd()
  process.chdir(copy)
  try {
    const baselines = makeBaselines(copy)
    const subjects = new Set(cases.map(({ subject }) => subject))
    // The positions in the coverage are those of these texts.
    for (const { file, text } of subjects) writeFileSync(compiledFile(file), text)
    for (const subject of subjects) {
      const own = cases.filter((each) => each.subject === subject)
      await runFile({ copy, nearest, baselines }, own, record)
    }
  } finally {
    await endShared()
    process.chdir(origin)
    rmSync(copy, { recursive: true, force: true })
  }
}

function report(cases: readonly Case[], results: ReadonlyMap<string, Outcome>): number {
  const survived: Case[] = []
  for (const file of new Set(cases.map(({ subject }) => subject.file))) {
    const known = cases.filter((each) => each.subject.file === file && results.has(each.id))
    const alive = known.filter(({ id }) => results.get(id) === 'survived')
    survived.push(...alive)
    if (known.length > 0) say(`${file}: ${known.length - alive.length} of ${known.length} noticed`)
  }
  for (const each of survived) say(`survived: ${shown(each)}`)
  const count = cases.filter(({ id }) => results.has(id)).length
  say(`${count - survived.length} of ${count} noticed, ${((100 * (count - survived.length)) / count).toFixed(1)} %`)
  return survived.length > 0 ? 1 : 0
}

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: flag,
      survived: flag,
      list: flag,
      sample: { type: 'string' },
      nearest: { type: 'string', default: '8' },
      seed: { type: 'string', default: '1' },
    },
  })
  if (values.help) return (process.stdout.write(HELP), 0)
  const wanted = positionals.length > 0 ? positionals : PATHS
  const files = [...SOURCES.keys()].filter((file) => wanted.some((path) => file.startsWith(path)))
  if (files.length === 0) return (say(`No source begins with ${wanted.join(', ')}.`), 2)
  const results = readResults()
  const all = files.map(subjectOf).flatMap(casesOf)
  const chosen = values.sample === undefined ? all : sampled(all, Number(values.sample), Number(values.seed))
  const isDue = ({ id }: Case): boolean => (values.survived ? results.get(id) === 'survived' : !results.has(id))
  const due = values.list ? [] : chosen.filter(isDue)
  mkdirSync(dirname(RESULTS), { recursive: true })
  say(`${all.length} mutants in ${files.length} files, ${chosen.length} chosen, ${due.length} to run`)
  const record: Recorder = ({ id }, outcome) => {
    results.set(id, outcome)
    appendFileSync(RESULTS, `${JSON.stringify({ id, outcome } satisfies Result)}\n`)
  }
  if (due.length > 0) await runCases(due, Number(values.nearest), record)
  return report(chosen, results)
}

process.exitCode = await main()
