// In charge of the table of imports: rows of CSV and documents of N-Quads in a second, beside PUTs straight to Fuseki, and the memory
// that they take. TRIPLEGATE_BENCH_IMPORT=full takes a million rows and 100,000 documents.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSite, startGateway } from '../crash/gateway-process.js'
import { makeClient, type Client } from '../support/client.js'
import { fetchFuseki, startFuseki } from '../support/fuseki.js'
import { accept, ttl } from '../support/world.js'
import type { BenchTable } from './bench-table.js'
import { describeMachine, residentBytes } from './machine.js'

const isFull = process.env['TRIPLEGATE_BENCH_IMPORT'] === 'full'
const ROWS = isFull ? 1_000_000 : 50_000
const IN_DOCUMENT = 100
const DOCUMENTS = isFull ? 100_000 : 5_000
const DIRECT = 500

const QUERY = `CONSTRUCT { GRAPH ?g { ?row <urn:id> ?id ; <urn:name> ?name ; <urn:city> ?city } }
  WHERE { ?row <#group> ?group ; <#id> ?id ; <#name> ?name ; <#city> ?city BIND(IRI(CONCAT(STR(?base), "rows/", ?group, "/")) AS ?g) }`

const csvOf = (): string => {
  const lines = Array.from({ length: ROWS }, (_, i) => `g${Math.floor(i / IN_DOCUMENT)},${i},The name of number ${i} in this file,The city of number ${i % 997} somewhere`) // prettier-ignore
  return `group,id,name,city\n${lines.join('\n')}\n`
}

const documentOf = (graph: string, i: number): string =>
  Array.from({ length: 10 }, (_, n) => `<${graph}#${n}> <http://purl.org/dc/terms/title> "Title ${n} of the document ${i}" <${graph}> .\n`).join('') // prettier-ignore

export async function benchImports(): Promise<BenchTable> {
  const jar = fetchFuseki()
  if ('missing' in jar) throw new Error(jar.missing)
  const datasets = [
    'straight',
    ...['off', 'local'].flatMap((history) => [`import-${history}`, `import-admin-${history}`]),
  ]
  const fuseki = await startFuseki({ jar: jar.jar, datasets, isMeasured: true })
  const rows: string[][] = []
  try {
    const direct = await putsStraight(fuseki.base)
    for (const history of ['off', 'local']) rows.push(...(await measured(fuseki.base, history, direct)))
  } finally {
    await fuseki.stop()
  }
  return {
    title: 'Imports on Fuseki',
    columns: ['versioning', 'what', 'in a second', 'more memory', 'beside'],
    rows,
    notes: [
      describeMachine([`Fuseki ${jar.version}`]),
      `CSV: ${ROWS} rows into documents of ${IN_DOCUMENT} rows. N-Quads: ${DOCUMENTS} documents of 10 triples. Beside: sequential PUTs to the Graph Store Protocol of Fuseki.`,
    ],
  }
}

async function putsStraight(base: string): Promise<number> {
  const client = makeClient({ port: Number(new URL(base).port) })
  const from = performance.now()
  for (let i = 0; i < DIRECT; i++) {
    const graph = `https://data.example/${i}/`
    const body = documentOf(graph, i).replaceAll(` <${graph}> .`, ' .')
    await client('PUT', `/straight/data?graph=${encodeURIComponent(graph)}`, { fields: { 'Content-Type': 'application/n-triples' }, body }) // prettier-ignore
  }
  client.close()
  return (DIRECT / (performance.now() - from)) * 1000
}

async function measured(fuseki: string, history: string, direct: number): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-bench-import-'))
  const [data, admin] = [`import-${history}`, `import-admin-${history}`]
  const stores = ['--backend', `${fuseki}/${data}`, '--admin-backend', `${fuseki}/${admin}`]
  const site = await makeSite(folder, [...stores, '--history', history, '--admin-history', history])
  const gateway = startGateway(site)
  if (!(await gateway.ready)) throw new Error(gateway.output())
  const client = makeClient({
    port: site.port,
    ca: readFileSync(join(folder, 'certs/server.pem'), 'utf8'),
    pem: readFileSync(join(folder, 'certs/owner.pem'), 'utf8'),
  })
  try {
    for (const path of ['/rows/', '/bulk/']) await client('PUT', path, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "C" .')) // prettier-ignore
    const csv = await during(gateway.pid, () => importCsv(client))
    const body = Array.from({ length: DOCUMENTS }, (_, i) => documentOf(`${site.base}bulk/${i}/`, i)).join('')
    const bulk = await during(gateway.pid, async () => {
      const { status, text } = await client('POST', '/importer', { fields: { 'Content-Type': 'application/n-quads', Accept: 'application/n-triples' }, body }) // prettier-ignore
      if (status !== 200 || !text.includes(`#written> "${DOCUMENTS}"`))
        throw new Error(`${status} ${text.slice(0, 2000)}`)
    })
    const bulkRate = (DOCUMENTS / bulk.ms) * 1000
    return [
      [history, 'rows of CSV', ((ROWS / csv.ms) * 1000).toFixed(0), csv.memory, 'wanted: 10,000'],
      [
        history,
        'documents of N-Quads',
        bulkRate.toFixed(0),
        bulk.memory,
        `${(bulkRate / direct).toFixed(2)} × ${direct.toFixed(0)} (wanted: 3)`,
      ],
    ]
  } finally {
    client.close()
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function importCsv(client: Client): Promise<void> {
  const sent = { fields: { 'Content-Type': 'text/csv' }, body: csvOf() }
  const started = await client('POST', `/importer?query=${encodeURIComponent(QUERY)}`, sent)
  if (started.status !== 201) throw new Error(`${started.status} ${started.text}`)
  for (;;) {
    const { text } = await client('GET', new URL(started.fields.location!).pathname, accept('application/n-triples'))
    if (/#Done>/.test(text)) return
    if (/#(?:Failed|Cancelled)>/.test(text)) throw new Error(text)
    await sleep(50)
  }
}

/** The time of it, and the most memory of the process beyond that before. */
async function during(
  pid: number,
  act: () => Promise<void>,
): Promise<{ readonly ms: number; readonly memory: string }> {
  const before = residentBytes(pid)
  let most = before
  const timer = setInterval(() => (most = Math.max(most, residentBytes(pid))), 100)
  const from = performance.now()
  await act().finally(() => clearInterval(timer))
  return { ms: performance.now() - from, memory: `${((most - before) / 2 ** 20).toFixed(0)} MiB` }
}
