// A gateway whose main thread is measured, over separate datasets that were filled before.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processorTimeOf } from '../../gateway/stores/processor-time.js'
import { makeSite, startGateway, type Site } from '../crash/gateway-process.js'
import { makeClient, type Answer, type Client } from '../support/client.js'
import { createDataset, removeDataset } from '../support/fuseki-datasets.js'
import { figureOf } from './series.js'

export interface GrownGateway {
  readonly site: Site
  readonly owner: Client
  readonly anonymous: Client
  /** The main thread's time in ms from the start of the process until it was ready. */
  readonly startMs: number
  /** The median cost of an act for the main thread, in ms; `before` is not measured. */
  costOf(act: (n: number) => Promise<Answer>, options?: CostOptions): Promise<number>
}

export interface CostOptions {
  /** The status of each answer. */
  readonly status?: number
  readonly before?: (n: number) => Promise<unknown>
  readonly rounds?: number
}

export interface GrownData {
  readonly flags?: readonly string[]
  /** N-Quads in parts, for the dataset of documents and for the dataset of rules. */
  readonly documents?: (site: Site) => Iterable<string>
  readonly rules?: (site: Site) => Iterable<string>
  /** Called before the first start. */
  readonly prepare?: (site: Site) => Promise<void>
}

let count = 0

/** @param fuseki the base URL of a Fuseki that creates datasets */
export async function withGrown<T>(
  fuseki: string,
  { flags = ['--history', 'off', '--admin-history', 'off'], documents, rules, prepare }: GrownData,
  use: (gateway: GrownGateway) => Promise<T>,
): Promise<T> {
  const names = ['documents', 'rules'].map((name) => `growth-${process.pid}-${++count}-${name}`)
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-growth-'))
  try {
    for (const name of names) await created(fuseki, name)
    const [endUser, admin] = names.map((name) => `${fuseki}/${name}`)
    const site = await makeSite(folder, ['--backend', endUser!, '--admin-backend', admin!, ...flags])
    for (const part of documents?.(site) ?? []) await load(endUser!, part)
    for (const part of rules?.(site) ?? []) await load(admin!, part)
    await prepare?.(site)
    // The first start creates certificates and seeds.
    const first = startGateway(site)
    if (!(await first.ready)) throw new Error(first.output())
    await first.stop()
    return await withStarted(site, use)
  } finally {
    for (const name of names) await removeDataset(fuseki, name)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withStarted<T>(site: Site, use: (gateway: GrownGateway) => Promise<T>): Promise<T> {
  const gateway = startGateway(site)
  if (!(await gateway.ready)) throw new Error(gateway.output())
  const busy = (): number => processorTimeOf(`${gateway.pid}/task/${gateway.pid}`) ?? NaN
  const startMs = busy()
  const pem = (name: string): string => readFileSync(join(site.folder, 'certs', `${name}.pem`), 'utf8')
  const owner = makeClient({ port: site.port, ca: pem('server'), pem: pem('owner') })
  const anonymous = makeClient({ port: site.port, ca: pem('server') })
  const idle = await restingShare(busy)
  const costOf: GrownGateway['costOf'] = async (act, { status = 200, before, rounds = 9 } = {}) => {
    const figures: number[] = []
    for (let n = 0; n < WARM_UP + rounds; n++) {
      await before?.(n)
      await sleep(QUIET_MS)
      const [from, began] = [busy(), performance.now()]
      const answer = await act(n)
      // Work after the answer is part of the act.
      await sleep(QUIET_MS)
      if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text.slice(0, 200)}`)
      if (n >= WARM_UP) figures.push(Math.max(0, busy() - from - idle * (performance.now() - began)))
    }
    return figureOf(figures).median
  }
  try {
    return await use({ site, owner, anonymous, startMs, costOf })
  } finally {
    owner.close()
    anonymous.close()
    await gateway.stop()
  }
}

/**
 * Waits until the gateway has done its work after a start, such as reading the names of all documents. Returns the share
 * of time that it works when nobody asks.
 */
async function restingShare(busy: () => number): Promise<number> {
  const deadline = performance.now() + LONGEST_START_MS
  for (;;) {
    const from = busy()
    await sleep(IDLE_MS)
    const share = (busy() - from) / IDLE_MS
    if (share < RESTING) return share
    if (performance.now() > deadline) throw new Error('the gateway still works, minutes after its start')
  }
}

const LONGEST_START_MS = 10 * 60_000
const RESTING = 0.02

/** Acts before the first measured one: they compile code and open connections. */
const WARM_UP = 6
const QUIET_MS = 30
const IDLE_MS = 3_000

async function created(fuseki: string, name: string): Promise<void> {
  const refused = await createDataset(fuseki, name, 'tdb2')
  if (refused) throw new Error(refused.missing)
}

async function load(dataset: string, body: string): Promise<void> {
  const headers = { 'Content-Type': 'application/n-quads' }
  const answer = await fetch(`${dataset}/data`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`${dataset}: ${answer.status} ${await answer.text()}`)
}
