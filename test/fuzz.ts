// In charge of `npm run fuzz`: random queries over what an agent may read, or random updates, as many as wanted.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { FUSEKI_KINDS, fusekiSecond, overFuseki, OVER_FUSEKI } from './support/fuseki-kinds.js'
import { fetchFuseki, startFuseki, type Fuseki } from './support/fuseki.js'
import { fetchRdf4j, overRdf4j, startRdf4j } from './support/rdf4j.js'
import { overOxigraph } from './support/over-oxigraph.js'
import { compare, type ComparedStores } from './support/over-views.js'
import { WITH_UNION } from './support/stores.js'

const HELP = `Usage: npm run fuzz [-- --cases N] [--seed S] [--store embedded|fuseki|fuseki-union|tdb2|rdf4j]
       npm run fuzz -- --updates [--cases N] [--seed S] [--store embedded|fuseki|fuseki-union]
Compares the answers to random queries over what an agent may read with those of a store that holds only that; with --updates, what
random updates leave in the store with what they may. Each case that fails is printed with its number: --seed with this number, and
--cases 1 (of queries 10, with the number before the point), runs it again. Exit code: 0 no difference, 1 differences.
`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    updates: { type: 'boolean', default: false },
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'embedded' },
  },
})
const [cases, seed] = [Number(values.cases), Number(values.seed)]
const ROUND = 1000
const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function rounds(stores: ComparedStores): Promise<number> {
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

async function onFuseki(): Promise<number> {
  const kind = FUSEKI_KINDS.find((each) => each === values.store)
  if (!kind) throw new Error(`--store is embedded, rdf4j, ${FUSEKI_KINDS.join(' or ')}`)
  const fuseki = await start()
  const stores = overFuseki(fuseki.base, kind)
  try {
    return await rounds(stores)
  } finally {
    await stores.close()
    await fuseki.stop()
  }
}

async function start(): Promise<Fuseki> {
  const found = fetchFuseki()
  if ('missing' in found) throw new Error(`no Fuseki: ${found.missing}`)
  return startFuseki({ jar: found.jar, datasets: [], configuration: OVER_FUSEKI })
}

/** Fuseki is started for the first difference only. */
async function onOxigraph(): Promise<number> {
  let started: Promise<Fuseki> | undefined
  try {
    return await rounds(
      overOxigraph(async (seen, query) => fusekiSecond((await (started ??= start())).base)(seen, query)),
    )
  } finally {
    await (await started)?.stop()
  }
}

async function onRdf4j(): Promise<number> {
  const found = fetchRdf4j()
  if (!found) throw new Error('no RDF4J: Maven could not fetch it')
  const rdf4j = await startRdf4j(found)
  try {
    return await rounds(await overRdf4j(rdf4j))
  } finally {
    await rdf4j.stop()
  }
}

/** By the test of updates, so many cases at once. */
const UPDATES_AT_ONCE = 500
function onUpdates(): number {
  if (!WITH_UNION.some((kind) => kind === values.store))
    throw new Error(`--updates is for --store ${WITH_UNION.join(' or ')}`)
  let failed = 0
  for (let done = 0; done < cases; done += UPDATES_AT_ONCE) {
    const count = Math.min(UPDATES_AT_ONCE, cases - done)
    const env = { ...process.env, TRIPLEGATE_TEST_UPDATES: `${values.store} ${seed + done} ${count}` }
    const args = ['dist/test/run.js', 'test/gateway/endpoints/update-differential.test.ts']
    const { stdout, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8', maxBuffer: 2 ** 28 })
    print(`to ${done + count}: ${status === 0 ? 'no difference' : `\n${stdout}`}`)
    if (status !== 0) failed++
  }
  return failed
}

const on = values.updates
  ? onUpdates
  : values.store === 'embedded'
    ? onOxigraph
    : values.store === 'rdf4j'
      ? onRdf4j
      : onFuseki
if (values.help) process.stdout.write(HELP)
else {
  const failed = await on()
  print(failed === 0 ? 'no difference' : values.updates ? `differences in ${failed} rounds` : `${failed} differences`)
  process.exitCode = failed === 0 ? 0 : 1
}
