// In charge of `npm run fuzz`: random queries over what an agent may read, as many as wanted. `npm run fuzz -- --cases N --seed S
// --store embedded|fuseki|fuseki-union|tdb2|rdf4j`; each case that fails is printed with its number.
import { parseArgs } from 'node:util'
import { FUSEKI_KINDS, fusekiSecond, overFuseki, OVER_FUSEKI } from './support/fuseki-kinds.js'
import { fetchFuseki, startFuseki, type Fuseki } from './support/fuseki.js'
import { fetchRdf4j, overRdf4j, startRdf4j } from './support/rdf4j.js'
import { overOxigraph } from './support/over-oxigraph.js'
import { compare, type ComparedStores } from './support/over-views.js'

const { values } = parseArgs({
  options: {
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

const on = values.store === 'embedded' ? onOxigraph : values.store === 'rdf4j' ? onRdf4j : onFuseki
const failed = await on()
print(failed === 0 ? 'no difference' : `${failed} differences`)
process.exitCode = failed === 0 ? 0 : 1
