// The places where crashes happen: the store behind the gateway, and other parts that fail while it runs.
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../support/client.js'
import { createDataset, removeDataset } from '../support/fuseki-datasets.js'
import { fetchFuseki, freePort, startFuseki } from '../support/fuseki.js'
import { oxigraphExecutable } from '../support/other-stores.js'
import { startProxy, type Fault, type Recorded } from '../support/proxy.js'
import { startDurableFuseki } from './durable-fuseki.js'
import type { ReadDocuments } from './evidence.js'
import { gitsOf, launcherOf, oxigraphsOf } from './gateway-process.js'
import type { Random } from './random.js'

export interface Place {
  readonly flags: readonly string[]
  /** True if the store may be down when a gateway starts. */
  readonly failing: boolean
  /**
   * The number of agents that write at the same time, to twice as many documents: behind HTTP, their writes share
   * updates of the store (design 5).
   */
  readonly agents: number
  /** How many updates of several documents the store has received, if the place can count them. */
  readonly sharedUpdates?: () => number
  /** How long a gateway serves before it is killed, in ms. */
  readonly life: readonly [least: number, most: number]
  /** Makes parts fail until `over`, then repairs them. Returns the number of processes that it has killed. */
  disturb(gateway: number, over: AbortSignal, random: Random): Promise<number>
  /** Kills the store at once; resolves when the next gateway can use it or start it. */
  killStore?(gateway: number): Promise<unknown>
  /** Reads the documents of an application from the store. */
  documents(owner: Client): ReadDocuments
  close(): Promise<void>
}

export const KINDS = ['embedded', 'git', 'cut', 'store', 'oxigraph'] as const
/** The part that fails besides the gateway: none, git, the connection to Fuseki, Fuseki itself, the embedded store on disk. */
export type Kind = (typeof KINDS)[number]

/** @param shared the URL of a Fuseki that creates datasets on demand; without it, one is started for this place */
export async function openPlace(kind: Kind, folder: string, shared?: string): Promise<Place> {
  if (kind === 'embedded') return { ...EMBEDDED, disturb: async () => 0 }
  if (kind === 'git') return { ...EMBEDDED, disturb: killGits }
  if (kind === 'oxigraph') return onDisk()
  return kind === 'cut' ? cutOff(shared) : killedStore(folder)
}

const EMBEDDED: Omit<Place, 'disturb'> = {
  flags: [],
  failing: false,
  agents: 4,
  life: [50, 1500],
  documents: (owner) => async (base) => {
    const { pathname } = new URL(base)
    const query = 'SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }'
    const fields = { Accept: 'application/sparql-results+json' }
    const { text } = await owner('GET', `${pathname}sparql?query=${encodeURIComponent(query)}`, { fields })
    const read = async (graph: string): Promise<string> =>
      (await owner('GET', new URL(graph).pathname, { fields: { Accept: 'application/n-triples' } })).text
    return byGraph(graphsIn(text), read)
  },
  close: async () => undefined,
}

/** The gateway starts the server of its store again. */
function onDisk(): Place {
  const executable = oxigraphExecutable()
  if (executable === undefined) throw new Error('pip cannot fetch oxigraph')
  process.env['PATH'] = `${dirname(executable)}:${process.env['PATH']}`
  return {
    ...EMBEDDED,
    flags: ['--store', 'oxigraph'],
    agents: MANY_AGENTS,
    life: [100, 4000],
    async disturb(gateway, over, random) {
      if (random.chance(0.4)) return 0
      await sleep(random.between(0, 1500), undefined, { signal: over }).catch(() => undefined)
      return killAll(oxigraphsOf(gateway))
    },
    killStore: async (gateway) => killAll(oxigraphsOf(gateway)),
  }
}

async function killGits(gateway: number, over: AbortSignal, random: Random): Promise<number> {
  let killed = 0
  while (!over.aborted) {
    const until = Date.now() + random.between(50, 600)
    await sleep(random.between(0, 50))
    // A commit takes only some ms: if there is nothing else to kill, wait for one.
    for (let gits = gitsOf(gateway); !over.aborted && Date.now() < until; gits = gitsOf(gateway)) {
      if (gits.length > 1 || (gits.length === 1 && random.chance(0.02))) {
        // Without the launcher, the gateway itself starts git, until there is another launcher.
        const launcher = random.chance(0.2) ? launcherOf(gateway) : undefined
        killed += killAll([...gits, ...(launcher === undefined ? [] : [launcher])])
        break
      }
      await sleep(1)
    }
    await sleep(random.between(50, 300))
  }
  return killed
}

function killAll(pids: readonly number[]): number {
  let killed = 0
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
      killed++
    } catch {
      // It has stopped by itself.
    }
  }
  return killed
}

const versioned = (endUser: string, admin: string): readonly string[] => [
  ...['--backend', endUser, '--admin-backend', admin, '--history', 'local', '--admin-history', 'local'],
  ...['--store-timeout', '2000'],
]

const MANY_AGENTS = 12

/** Delays writes as a disk does, so that writes share updates of the store. */
const AS_ON_DISK: Fault = {
  ...{ kind: 'delay', milliseconds: 15 },
  only: ({ method, path }) => method !== 'GET' && !path.includes('/query'),
}

/** Reads the documents from the two datasets of a Fuseki directly. */
const documentsOf = (endUser: string, admin: string): Place['documents'] => {
  return () => async (base) => {
    const dataset = base.endsWith('/admin/') ? admin : endUser
    const query = 'SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }'
    const ask = async (url: string, accept: string): Promise<string> =>
      (await fetch(url, { headers: { Accept: accept } })).text()
    const graphs = await ask(`${dataset}/query?query=${encodeURIComponent(query)}`, 'application/sparql-results+json')
    const read = (graph: string): Promise<string> =>
      ask(`${dataset}/data?graph=${encodeURIComponent(graph)}`, 'application/n-triples')
    return byGraph(graphsIn(graphs), read)
  }
}

function graphsIn(json: string): string[] {
  const { results } = JSON.parse(json) as { results: { bindings: { g: { value: string } }[] } }
  return results.bindings.map(({ g }) => g.value)
}

async function byGraph(graphs: readonly string[], read: (graph: string) => Promise<string>) {
  const documents = new Map<string, string>()
  for (const graph of graphs) documents.set(graph, await read(graph))
  return documents
}

/** Two datasets in memory, with a proxy in front of each that makes requests fail. */
async function cutOff(shared: string | undefined): Promise<Place> {
  const own = shared === undefined ? await startFuseki({ jar: jarOf(), datasets: [] }) : undefined
  const fuseki = shared ?? own!.base
  const names = ['end-user', 'admin'].map((name) => `crash-${process.pid}-${Date.now()}-${name}`)
  for (const name of names) {
    const missing = await createDataset(fuseki, name)
    if (missing) throw new Error(missing.missing)
  }
  const [endUser, admin] = names.map((name) => `${fuseki}/${name}`) as [string, string]
  const proxies = [await startProxy(endUser), await startProxy(admin)] as const
  let sharedBefore = 0
  proxies[0].fault(AS_ON_DISK)
  return {
    flags: versioned(proxies[0].url, proxies[1].url),
    failing: false,
    agents: MANY_AGENTS,
    sharedUpdates: () => sharedBefore + sharedIn(proxies[0].requests),
    life: [100, 3000],
    documents: documentsOf(endUser, admin),
    async disturb(_gateway, over, random) {
      const [{ fault, requests }] = proxies
      while (!over.aborted) {
        await sleep(random.between(200, 800))
        fault(cut(random))
        await sleep(random.between(5, 40))
        fault(AS_ON_DISK)
        sharedBefore += sharedIn(requests)
        requests.length = 0
      }
      return 0
    },
    async close() {
      for (const proxy of proxies) await proxy.stop()
      for (const name of names) await removeDataset(fuseki, name)
      await own?.stop()
    },
  }
}

const sharedIn = (requests: readonly Recorded[]): number =>
  requests.filter(({ path, body }) => path.endsWith('/update') && new Set(body.match(/GRAPH <http[^>]*>/g)).size > 1)
    .length

const cut = (random: Random): Fault =>
  random.one<() => Fault>([
    () => ({ kind: 'drop', when: 'before' }),
    () => ({ kind: 'drop', when: 'after' }),
    () => ({ kind: 'silence' }),
    () => ({ kind: 'answer', status: 503 }),
    () => ({ kind: 'answer', status: 500 }),
    () => ({ kind: 'delay', milliseconds: random.between(50, 3500) }),
    () => ({ kind: 'cut', after: Math.floor(random.between(0, 200)), framing: 'chunked' }),
  ])()

function jarOf(): string {
  const fetched = fetchFuseki()
  if ('missing' in fetched) throw new Error(`no Fuseki: ${fetched.missing}`)
  return fetched.jar
}

/** Two datasets on disk, on a Fuseki that is killed and started again. */
async function killedStore(folder: string): Promise<Place> {
  const [jar, port, names] = [jarOf(), await freePort(), ['end-user', 'admin']]
  const [endUser, admin] = names.map((name) => `http://127.0.0.1:${port}/${name}`) as [string, string]
  let fuseki = await startDurableFuseki({ jar, port, folder }, names)
  async function killStore(): Promise<void> {
    await fuseki.kill()
    fuseki = await startDurableFuseki({ jar, port, folder }, names)
  }
  return {
    flags: versioned(endUser, admin),
    failing: true,
    agents: MANY_AGENTS,
    // The store takes seconds to start.
    life: [100, 8000],
    documents: documentsOf(endUser, admin),
    async disturb(_gateway, over, random) {
      if (random.chance(0.4)) return 0
      await sleep(random.between(0, 1000), undefined, { signal: over }).catch(() => undefined)
      await killStore()
      return 1
    },
    killStore,
    close: () => fuseki.kill(),
  }
}
