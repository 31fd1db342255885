// A real RDF4J server for tests, a store that is neither Fuseki nor Oxigraph: fetches it with Jetty from Maven Central,
// starts it, and creates repositories in memory.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoints } from '../../gateway/stores/http-store.js'
import { endWithThisProcess } from './fuseki.js'
import { fetchAgain, overHttp, type ClosableStores, type ComparedDataset } from './over-http.js'
import { askOxigraph, storeOf } from './over-oxigraph.js'
import { askingOver } from './fuseki-kinds.js'
import { freePort } from './ports.js'
import { NOTHING, type ComparedStores, type Rows } from './over-views.js'
import { merged, type Case } from './view-cases.js'

const FOLDER = resolve('.cache/rdf4j')
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'
const [SERVER, JETTY] = [
  'org.eclipse.rdf4j:rdf4j-http-server:4.1.3:war',
  'org.eclipse.jetty:jetty-runner:9.4.57.v20241219',
]
const FETCH_TIMEOUT = 300_000
/** A busy machine starts it slowly; one that ends is noticed at once. */
const START_TIMEOUT = 300_000

export interface Rdf4j {
  readonly base: string
  /** An empty repository in memory. */
  create(name: string): Promise<Endpoints>
  stop(): Promise<void>
}

/** True if it has already been fetched. */
export const isRdf4jHere = (): boolean => [SERVER, JETTY].every((artifact) => knownFile(artifact) !== undefined)

/** The files of server and Jetty; undefined if they cannot be fetched. */
export function fetchRdf4j(): { readonly war: string; readonly jetty: string } | undefined {
  const [war, jetty] = [fetched(SERVER), fetched(JETTY)]
  return war && jetty ? { war, jetty } : undefined
}

function knownFile(artifact: string): string | undefined {
  const [, name] = artifact.split(':') as [string, string]
  const known = existsSync(FOLDER) ? readdirSync(FOLDER).find((file) => file.startsWith(name)) : undefined
  return known && join(FOLDER, known)
}

function fetched(artifact: string): string | undefined {
  const known = knownFile(artifact)
  if (known) return known
  mkdirSync(FOLDER, { recursive: true })
  const folder = mkdtempSync(join(FOLDER, 'fetch-'))
  try {
    spawnSync('mvn', ['-q', '-B', COPY, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`], {
      timeout: FETCH_TIMEOUT,
    })
    const [file] = readdirSync(folder)
    if (file === undefined) return undefined
    renameSync(join(folder, file), join(FOLDER, file))
    return join(FOLDER, file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Throws if it does not start. */
export async function startRdf4j({ war, jetty }: { readonly war: string; readonly jetty: string }): Promise<Rdf4j> {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-rdf4j-'))
  const brief = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']
  const data = `-Dorg.eclipse.rdf4j.appdata.basedir=${folder}`
  const args = [...brief, data, '-jar', jetty, '--host', '127.0.0.1', '--port', String(port), '--path', '/', war]
  const child = spawn('java', args, { cwd: folder, stdio: 'ignore' })
  const forget = endWithThisProcess(child)
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    forget()
    rmSync(folder, { recursive: true, force: true })
  }
  const limit = AbortSignal.timeout(START_TIMEOUT)
  const answers = (): Promise<boolean> =>
    fetch(`${base}/protocol`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await answers())) {
    if (limit.aborted || child.exitCode !== null) {
      await stop()
      throw new Error('RDF4J did not start')
    }
    await sleep(200)
  }
  return { base, create: (name) => createRepository(base, name), stop }
}

async function createRepository(base: string, name: string): Promise<Endpoints> {
  const body = `@prefix rep: <http://www.openrdf.org/config/repository#> . @prefix sr: <http://www.openrdf.org/config/repository/sail#> .
    @prefix sail: <http://www.openrdf.org/config/sail#> . [] a rep:Repository ; rep:repositoryID "${name}" ; rep:repositoryImpl
    [ rep:repositoryType "openrdf:SailRepository" ; sr:sailImpl [ sail:sailType "openrdf:MemoryStore" ] ] .`
  const url = `${base}/repositories/${name}`
  const created = await fetch(url, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body })
  if (!created.ok) throw new Error(`not created: ${created.status} ${await created.text()}`)
  return { query: url, update: `${url}/statements`, graphStore: `${url}/rdf-graphs/service` }
}

/** Two repositories to compare queries on. */
export async function overRdf4j(rdf4j: Rdf4j): Promise<ClosableStores> {
  const [all, visible, given] = await Promise.all(
    ['all', 'visible', 'given'].map(async (name) => dataset(await rdf4j.create(name))),
  )
  const others = (quads: Case['quads'], query: string): Promise<readonly Rows[]> =>
    Promise.resolve([askOxigraph(storeOf(quads.filter(hasNoTripleTerm)), query)])
  const stores = overHttp(all!, visible!, others, merged)
  // Its default graph is always the bag of all its data.
  const ask = askingOver(given!)
  const askOver: ComparedStores['askOver'] = (quads, query) => {
    const named = quads.flatMap(([, graph]) => (graph === '' ? [] : [['named-graph-uri', graph] as [string, string]]))
    const dataset = new URLSearchParams([['default-graph-uri', MERGE], ['named-graph-uri', NOTHING], ...named])
    const inMerge = quads.map(([triple, graph]) => [triple, graph === '' ? MERGE : graph] as const)
    return ask(inMerge, query, `?${dataset}`)
  }
  // A triple that two graphs share shows that its default graph is a bag.
  await all!.load('<urn:s> <urn:p> <urn:o> <urn:g> .\n<urn:s> <urn:p> <urn:o> <urn:h> .\n')
  await stores.traits()
  // RDF4J answers 0 to `SELECT (COUNT(DISTINCT *) AS ?n) { VALUES ?x { 1 2 } VALUES ?y { 1 2 } }`.
  return { ...stores, askOver, isOdd: (query) => query.includes('COUNT(DISTINCT *)') }
}

const MERGE = 'urn:test:merge'

const hasNoTripleTerm = ([triple]: Case['quads'][number]): boolean => !triple.includes('<<(')

const dataset = (endpoints: Endpoints): ComparedDataset => ({
  endpoints,
  async load(nQuads) {
    // It does not support triple terms of RDF 1.2, and triples outside graphs would be in the union too.
    const lines = nQuads.split('\n').filter(isQuad)
    const headers = { 'Content-Type': 'application/n-quads' }
    const loaded = await fetchAgain(endpoints.update, { method: 'PUT', headers, body: lines.join('\n') })
    if (!loaded.ok) throw new Error(`not loaded: ${loaded.status} ${await loaded.text()}`)
  },
})

const isQuad = (line: string): boolean =>
  /^<[^>]*> <[^>]*> (?:<[^>]*>|"[^"]*"(?:@\w+|\^\^<[^>]*>)?) <[^>]*> \.$/.test(line)
