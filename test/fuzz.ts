// `npm run fuzz`: any number of random queries over readable data, random updates, or random texts for parsers.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { fuzzParsers } from './fuzz/fuzz-parsers.js'
import { PARSERS } from './fuzz/parsers.js'
import { FUSEKI_KINDS, fusekiSecond, overFuseki, OVER_FUSEKI, type FusekiKind } from './support/fuseki-kinds.js'
import { fetchFuseki, startFuseki, type Fuseki } from './support/fuseki.js'
import { fetchRdf4j, overRdf4j, startRdf4j } from './support/rdf4j.js'
import { overOxigraph } from './support/over-oxigraph.js'
import { compare, type ComparedStores } from './support/over-views.js'
import { WITH_UNION } from './support/stores.js'

const SEED = 1_000_000
const PARSER_NAMES = Object.keys(PARSERS)
/** The available stores, and the number of cases to run on some of them, one store after the other. */
const KINDS = {
  queries: {
    known: ['embedded', ...FUSEKI_KINDS, 'rdf4j'],
    ...{ cases: 100_000, stores: ['fuseki', 'fuseki-union', 'embedded'] },
  },
  gateway: { known: ['embedded', 'fuseki'], cases: 2000, stores: ['fuseki', 'embedded'] },
  updates: { known: WITH_UNION, cases: 20_000, stores: ['embedded'] },
} as const
const { queries, gateway, updates } = KINDS
const named = (stores: readonly string[]): string => stores.join('|')

const HELP = `Usage: npm run fuzz [-- --cases N] [--seed S] [--store ${named(queries.known)}]
       npm run fuzz -- --gateway [--cases N] [--seed S] [--store ${named(gateway.known)}]
       npm run fuzz -- --updates [--cases N] [--seed S] [--store ${named(updates.known)}]
       npm run fuzz -- --parsers [NAME…] [--minutes 10] [--seed S]
Compares the answers to random queries over what an agent may read with those of a store that holds only that; with --gateway, the
answers of a gateway with random authorizations; with --updates, what random updates leave in the store with what they may. Without
--cases and --store it is ${queries.cases} queries on each of ${queries.stores.join(', ')}; with --gateway, ${gateway.cases}
on each of ${gateway.stores.join(', ')}; with --updates, ${updates.cases} updates on ${updates.stores.join(', ')}. The seed is ${SEED}.
Each case that fails is printed with its number: --seed with this number, and --cases 1 (of queries 10, with the number before the
point), runs it again. With --parsers, texts are changed at random, and what reaches other code is changed further; a finding is an
error, more than 200 ms, or more than 300 MiB. The parsers are ${PARSER_NAMES.join(', ')}. Exit code: 0 no difference, 1 differences, 2 wrong arguments, or a store that cannot be had.
`

/** Something that must be done before this can run. */
class Obstacle extends Error {}

function readArguments() {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const asked = { help: flag, updates: flag, gateway: flag, parsers: flag } as const
  const options = { ...asked, cases: text, seed: text, store: text, minutes: text } as const
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    return { ...values, named: positionals }
  } catch (error) {
    throw new Obstacle((error as Error).message.split(/\.\s/)[0])
  }
}

function numberOf(name: string, text: string | undefined, least: number, preset: number): number {
  const number = text === undefined ? preset : /^\d{1,9}$/.test(text) ? Number(text) : NaN
  if (!(number >= least)) throw new Obstacle(`${name} is a number from ${least} to 999999999, and not ${text}`)
  return number
}

interface Range {
  readonly cases: number
  readonly seed: number
}

const ROUND = 1000
const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function rounds(stores: ComparedStores, { cases, seed }: Range): Promise<number> {
  let failed = 0
  for (let done = 0; done < cases; done += ROUND) {
    const { leaks, different, ...counts } = await compare(stores, seed + done, Math.min(ROUND, cases - done))
    failed += leaks.length + different.length
    print(`to ${Math.min(done + ROUND, cases)}: ${JSON.stringify(counts)}`)
    for (const one of leaks) print(`LEAK, ${one}`)
    for (const one of different) print(`DIFFERENT, ${one}`)
  }
  return failed
}

async function onFuseki(range: Range, kind: FusekiKind): Promise<number> {
  const fuseki = await start()
  const stores = overFuseki(fuseki.base, kind)
  try {
    return await rounds(stores, range)
  } finally {
    await stores.close()
    await fuseki.stop()
  }
}

async function start(): Promise<Fuseki> {
  const found = fetchFuseki()
  if ('missing' in found) throw new Obstacle(`no Fuseki: ${found.missing}`)
  return startFuseki({ jar: found.jar, datasets: [], configuration: OVER_FUSEKI })
}

/** Fuseki is started only when a difference is found. */
async function onOxigraph(range: Range): Promise<number> {
  let started: Promise<Fuseki> | undefined
  try {
    return await rounds(
      overOxigraph(async (seen, query) => fusekiSecond((await (started ??= start())).base)(seen, query)),
      range,
    )
  } finally {
    await (await started)?.stop()
  }
}

async function onRdf4j(range: Range): Promise<number> {
  const found = fetchRdf4j()
  if (!found) throw new Obstacle('no RDF4J: Maven could not fetch it')
  const rdf4j = await startRdf4j(found)
  try {
    return await rounds(await overRdf4j(rdf4j), range)
  } finally {
    await rdf4j.stop()
  }
}

async function onStore(store: string, range: Range): Promise<number> {
  if (store === 'embedded') return onOxigraph(range)
  return store === 'rdf4j' ? onRdf4j(range) : onFuseki(range, store as FusekiKind)
}

/** Cases at a time, for the test of updates. */
const UPDATES_AT_ONCE = 500
function onUpdates(store: string, range: Range): number {
  return byTest(['TRIPLEGATE_TEST_UPDATES', 'updates/update-differential', UPDATES_AT_ONCE], store, range)
}

/** Cases at a time, for the test of queries through the gateway. */
const QUERIES_AT_ONCE = 1000
function onGateway(store: string, range: Range): number {
  return byTest(['TRIPLEGATE_TEST_QUERIES', 'queries/query-differential', QUERIES_AT_ONCE], store, range)
}

/** The number of rounds with differences. */
function byTest(
  [variable, name, atOnce]: readonly [variable: string, name: string, atOnce: number],
  store: string,
  { cases, seed }: Range,
): number {
  let failed = 0
  for (let done = 0; done < cases; done += atOnce) {
    const count = Math.min(atOnce, cases - done)
    const env = { ...process.env, [variable]: `${store} ${seed + done} ${count}` }
    const args = ['dist/test/run.js', `test/gateway/sparql/${name}.test.ts`]
    const { stdout, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8', maxBuffer: 2 ** 28 })
    print(`to ${done + count}: ${status === 0 ? 'no difference' : `\n${stdout}`}`)
    if (status !== 0) failed++
  }
  return failed
}

async function onParsers(
  names: readonly string[],
  minutes: string | undefined,
  seed: string | undefined,
): Promise<number> {
  const unknown = names.find((name) => !PARSER_NAMES.includes(name))
  if (unknown !== undefined) throw new Obstacle(`${unknown} is not a parser`)
  const run = {
    names: names.length === 0 ? PARSER_NAMES : names,
    minutes: numberOf('--minutes', minutes, 1, 10),
    seed: numberOf('--seed', seed, 0, SEED),
  }
  const findings = await fuzzParsers(run, print)
  print(`${findings} findings`)
  return findings === 0 ? 0 : 1
}

async function main(): Promise<number> {
  const values = readArguments()
  if (values.help) return (process.stdout.write(HELP), 0)
  if (values.parsers) return onParsers(values.named, values.minutes, values.seed)
  if (values.named.length > 0) throw new Obstacle(`${values.named[0]} means nothing without --parsers`)
  if (values.updates && values.gateway) throw new Obstacle('--updates and --gateway do not go together')
  const kind = values.updates ? 'updates' : values.gateway ? 'gateway' : 'queries'
  const { cases: preset, stores, known } = KINDS[kind]
  const range = { cases: numberOf('--cases', values.cases, 1, preset), seed: numberOf('--seed', values.seed, 0, SEED) }
  const asked: readonly string[] = values.store === undefined ? stores : [values.store]
  if (!asked.every((store) => known.some((each) => each === store)))
    throw new Obstacle(`--store is ${known.join(', ')}, and not ${asked.join(', ')}`)
  const on = { queries: onStore, gateway: onGateway, updates: onUpdates }[kind]
  let failed = 0
  for (const store of asked) {
    print(`${store}: ${range.cases} cases from ${range.seed}`)
    failed += await on(store, range)
  }
  print(
    failed === 0 ? 'no difference' : kind === 'queries' ? `${failed} differences` : `differences in ${failed} rounds`,
  )
  return failed === 0 ? 0 : 1
}

process.exitCode = await main().catch((error: unknown) => {
  if (!(error instanceof Obstacle)) throw error
  process.stderr.write(`${error.message}: see npm run fuzz -- --help\n`)
  return 2
})
