// Runs benchmarks by name: `npm run bench -- [--help] [name …]`; without a name, all except those that run only when
// named.
import { benchAccess } from './access.js'
import { textOf, type BenchTable, type Part } from './bench-table.js'
import { benchCommits } from './commits.js'
import { benchGrowth, MILLION } from './growth.js'
import { benchRights } from './rights.js'
import { benchImports } from './imports.js'
import { benchPages } from './pages.js'
import { benchTier, TIER } from './tier.js'
import { benchVersioning } from './versioning.js'

/** Benchmarks with their own table. */
const ALONE: Readonly<
  Record<string, Part & { readonly measure: (progress: (what: string) => void) => Promise<BenchTable> }>
> = {
  access: { about: 'one access decision, from 100 to 1,000,000 authorizations', seconds: 25, measure: benchAccess },
  commits: {
    about: 'commits per second to a local repository, compared with git fast-import',
    seconds: 55,
    measure: benchCommits,
  },
  rights: {
    about: 'queries of agents who may read a part of the documents, compared with one who may read all',
    seconds: 180,
    onRequest: true,
    measure: benchRights,
  },
  import: {
    about: 'imports of CSV and N-Quads on Fuseki, with and without versioning',
    seconds: 90,
    onRequest: true,
    measure: benchImports,
  },
  pages: {
    about: 'cached pages compared with Turtle, containers with 5,000 children, a first visit',
    seconds: 50,
    onRequest: true,
    measure: benchPages,
  },
  growth: {
    about: `main-thread time as documents, rules and versions grow; ${MILLION} adds the largest size (half an hour)`,
    seconds: 240,
    onRequest: true,
    measure: benchGrowth,
  },
  versioning: {
    about: 'PUT with and without versioning, calls to GitHub, time maps and versions from 100,000 commits',
    seconds: 200,
    measure: benchVersioning,
  },
}
const PARTS = new Map<string, Part>(Object.entries({ ...ALONE, ...TIER }))

const duration = (seconds: number): string =>
  seconds < 90 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`
/** Fuseki's start, its data and its warm-up. */
const SETTING_SECONDS = 18
const total = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + PARTS.get(name)!.seconds, names.some((name) => name in TIER) ? SETTING_SECONDS : 0)

const line = (name: string): string => {
  const { about, seconds } = PARTS.get(name)!
  return `  ${name.padEnd(10)} ${duration(seconds).padStart(7)}  ${about}\n`
}
const standard = [...PARTS].filter(([, { onRequest }]) => !onRequest).map(([name]) => name)
const onRequest = [...PARTS].filter(([, part]) => part.onRequest).map(([name]) => name)
const help = `Usage: npm run bench -- [--help] [part …]

Without a part, these (about ${duration(total(standard))}):
${standard.map(line).join('')}
Only when asked for:
${onRequest.map(line).join('')}`

const failed =
  (name: string) =>
  (error: Error): BenchTable => ({ title: name, columns: [], rows: [], notes: [`failed: ${error.message}`] })

async function run(names: readonly string[]): Promise<void> {
  process.stdout.write(`Measuring, in about ${duration(total(names))}:\n${names.map(line).join('')}\n`)
  const progress = (what: string): void =>
    void process.stderr.write(`At ${Math.round(performance.now() / 1000)} s: ${what}\n`)
  for (const name of names) {
    const alone = ALONE[name]
    if (!alone) continue
    progress(name)
    process.stdout.write(textOf(await alone.measure(progress).catch(failed(name))))
  }
  const tier = names.filter((name) => name in TIER)
  if (tier.length > 0) process.stdout.write(textOf(await benchTier(tier, progress)))
}

const given = process.argv.slice(2)
const unknown = given.filter((name) => name !== '--help' && name !== MILLION && !PARTS.has(name))
if (given.includes('--help')) process.stdout.write(help)
else if (unknown.length > 0) {
  process.stderr.write(`Unknown part: ${unknown.join(', ')}.\n\n${help}`)
  process.exitCode = 2
} else
  await run(given.some((name) => PARTS.has(name)) ? [...PARTS.keys()].filter((name) => given.includes(name)) : standard)
