// The table of imports: rows of CSV and documents of N-Quads per second, compared with PUTs directly to Fuseki; their
// memory; and cached reads meanwhile. TRIPLEGATE_BENCH_IMPORT is the share of a million rows and 100,000 documents
// (default: 0.02). Each import is stopped after a while, and counts up to there.
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

const SHARE = Number(process.env['TRIPLEGATE_BENCH_IMPORT'] ?? 0.02)
const ROWS = Math.round(1_000_000 * SHARE)
const IN_DOCUMENT = 100
const DOCUMENTS = Math.round(100_000 * SHARE)
const DIRECT = 500
/** The time limit for one import, in ms. */
const LONGEST = 60_000 + 600_000 * SHARE
const READS_MS = 5_000
const READERS = 4

const QUERY = `CONSTRUCT { GRAPH ?g { ?row <urn:id> ?id ; <urn:name> ?name ; <urn:city> ?city } }
  WHERE { ?row <#group> ?group ; <#id> ?id ; <#name> ?name ; <#city> ?city BIND(IRI(CONCAT(STR(?base), "rows/", ?group, "/")) AS ?g) }`

const csvOf = (prefix: string): string => {
  const lines = Array.from({ length: ROWS }, (_, i) => `${prefix}${Math.floor(i / IN_DOCUMENT)},${i},The name of the person with number ${i} in this file,The city of number ${i % 997} somewhere`) // prettier-ignore
  return `group,id,name,city\n${lines.join('\n')}\n`
}

const documentOf = (graph: string, i: number): string =>
  Array.from({ length: 10 }, (_, n) => `<${graph}#${n}> <http://purl.org/dc/terms/title> "Title ${n} of the document ${i}" <${graph}> .\n`).join('') // prettier-ignore

const say = (text: string): void =>
  void process.stderr.write(`At ${Math.round(performance.now() / 1000)} s: imports: ${text}\n`)

export async function benchImports(): Promise<BenchTable> {
  const jar = fetchFuseki()
  if ('missing' in jar) throw new Error(jar.missing)
  const rows: string[][] = []
  for (const history of ['off', 'local']) {
    // The store keeps everything in memory.
    const fuseki = await startFuseki({
      jar: jar.jar,
      datasets: ['straight', 'import', 'import-admin'],
      isMeasured: true,
      heap: SHARE > 0.2 ? '14g' : '4g',
    })
    try {
      rows.push(...(await measured(fuseki.base, history, await putsStraight(fuseki.base))))
    } finally {
      await fuseki.stop()
    }
  }
  return {
    title: 'Imports on Fuseki',
    columns: ['versioning', 'what', 'in a second', 'more memory', 'beside'],
    rows,
    notes: [
      describeMachine([`Fuseki ${jar.version}`]),
      `CSV: ${ROWS} rows into documents of ${IN_DOCUMENT} rows. N-Quads: ${DOCUMENTS} documents of 10 triples. Beside: sequential PUTs to the Graph Store Protocol of Fuseki; reads of one cached document by ${READERS} clients.`,
    ],
  }
}

async function putsStraight(base: string): Promise<number> {
  const client = makeClient({ port: Number(new URL(base).port) })
  const put = async (i: number): Promise<void> => {
    const graph = `https://data.example/${i}/`
    const body = documentOf(graph, i).replaceAll(` <${graph}> .`, ' .')
    await client('PUT', `/straight/data?graph=${encodeURIComponent(graph)}`, { fields: { 'Content-Type': 'application/n-triples' }, body }) // prettier-ignore
  }
  for (let i = 0; i < DIRECT; i++) await put(-i)
  const from = performance.now()
  for (let i = 0; i < DIRECT; i++) await put(i)
  client.close()
  return (DIRECT / (performance.now() - from)) * 1000
}

async function measured(fuseki: string, history: string, direct: number): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-bench-import-'))
  const stores = ['--backend', `${fuseki}/import`, '--admin-backend', `${fuseki}/import-admin`]
  const site = await makeSite(folder, [...stores, '--history', history, '--admin-history', history])
  const gateway = startGateway(site)
  if (!(await gateway.ready)) throw new Error(gateway.output())
  const client = makeClient({
    port: site.port,
    ca: readFileSync(join(folder, 'certs/server.pem'), 'utf8'),
    pem: readFileSync(join(folder, 'certs/owner.pem'), 'utf8'),
  })
  const run = (what: string, target: string, type: string, body: string): Promise<Ran> =>
    importThis(client, gateway.pid, { what: `${what}, versioning ${history}`, target, type, body })
  try {
    for (const path of ['/rows/', '/bulk/']) await client('PUT', path, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "C" .')) // prettier-ignore
    const query = `?query=${encodeURIComponent(QUERY)}`
    const csv = await run('CSV', query, 'text/csv', csvOf('g'))
    const quads = Array.from({ length: DOCUMENTS }, (_, i) => documentOf(`${site.base}bulk/${i}/`, i)).join('')
    const bulk = await run('N-Quads', '', 'application/n-quads', quads)
    const bulkRate = bulk.documents / bulk.seconds
    const alone = await readsFor(client, sleep(READS_MS))
    const beside = await readsWhile(client, run('CSV, with reads', query, 'text/csv', csvOf('h')))
    const share = (beside.rate / alone).toFixed(2)
    return [
      [history, 'rows of CSV', (csv.rows / csv.seconds).toFixed(0), csv.memory, 'wanted: 10,000'],
      [history, 'documents of N-Quads', bulkRate.toFixed(0), bulk.memory, `${(bulkRate / direct).toFixed(2)} × ${direct.toFixed(0)} (wanted: 3)`], // prettier-ignore
      [history, 'cached reads meanwhile', beside.rate.toFixed(0), beside.ran.memory, `${share} × ${alone.toFixed(0)} (wanted: 0.7), ${(beside.ran.rows / beside.ran.seconds).toFixed(0)} rows`], // prettier-ignore
    ]
  } finally {
    client.close()
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Sent {
  readonly what: string
  readonly target: string
  readonly type: string
  readonly body: string
}

interface Ran {
  readonly rows: number
  readonly documents: number
  readonly seconds: number
  /** The largest memory of the process, minus that before the import. */
  readonly memory: string
}

async function importThis(client: Client, pid: number, { what, target, type, body }: Sent): Promise<Ran> {
  const before = residentBytes(pid)
  const from = performance.now()
  const fields = { 'Content-Type': type, Prefer: 'respond-async' }
  const started = await client('POST', `/importer${target}`, { fields, body })
  if (started.status !== 201) throw new Error(`${started.status} ${started.text}`)
  const run = `/importer?import=${encodeURIComponent(started.fields.location!)}`
  let [most, said] = [before, from]
  for (;;) {
    const { text } = await client('GET', run, accept('application/n-triples'))
    const of = (name: string): number => Number(new RegExp(`#${name}> "(\\d+)"`).exec(text)?.[1])
    const [rows, documents, now] = [of('rows'), of('written'), performance.now()]
    most = Math.max(most, residentBytes(pid))
    const isOver = /#(?:Done|Failed|Cancelled)>/.test(text)
    const ran = {
      rows,
      documents,
      seconds: (now - from) / 1000,
      memory: `${((most - before) / 2 ** 20).toFixed(0)} MiB`,
    }
    if (isOver || now - said > 5_000) {
      said = now
      say(`${what}: ${rows} rows or triples read, ${documents} documents written, ${ran.memory} more memory, in ${ran.seconds.toFixed(1)} s`) // prettier-ignore
    }
    if (/#(?:Failed|Cancelled)>/.test(text) || of('refused') > 0) throw new Error(`${what}: ${text.slice(0, 3_000)}`)
    if (isOver) return ran
    if (now - from > LONGEST) {
      await client('DELETE', run)
      return { ...ran, rows: Math.min(rows, documents * IN_DOCUMENT) }
    }
    await sleep(100)
  }
}

async function readsWhile(
  client: Client,
  running: Promise<Ran>,
): Promise<{ readonly rate: number; readonly ran: Ran }> {
  const rate = await readsFor(client, running)
  return { rate, ran: await running }
}

/** Reads in a second. */
async function readsFor(client: Client, until: Promise<unknown>): Promise<number> {
  let [reads, isOver] = [0, false]
  const from = performance.now()
  const over = until.finally(() => (isOver = true))
  const read = async (): Promise<void> => {
    while (!isOver) {
      await client('GET', '/bulk/0/', accept('text/turtle'))
      reads++
    }
  }
  await Promise.all([over, ...Array.from({ length: READERS }, read)])
  return (reads / (performance.now() - from)) * 1000
}
