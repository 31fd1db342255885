// The rows that compare the gateway with another checkout, such as the commit before: in one run, over equal datasets
// of one store, in turns.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePort } from '../support/ports.js'
import { DIFFERENT, QUERIES } from './bench-data.js'
import { answerTo } from './contestants.js'
import { bulkPaths, contestant, datasetOnDisk, putLoad, putOnDisk, TURTLE, type Rows } from './documents.js'
import type { Load } from './load.js'
import { mayReadAll } from './drop-in.js'
import { figureOf, takeTurns, written, type Outcome, type Timing } from './series.js'
import type { BenchGateway, Setting } from './setting.js'
import { ofGateway, queryLoad } from './sparql.js'

/** The folder of the other checkout, already built. */
const OTHER = process.env['BESIDE']

/** A load for each row: with the cache, with a cache too small for answers, without one, and with a dataset on disk. */
const LOADS: Readonly<
  Record<
    'on' | 'uncached' | 'off' | 'disk',
    Readonly<Record<string, (gateway: BenchGateway, setting: Setting) => Load>>
  >
> = {
  on: {
    'cached GET': (gateway, { path }) => gateway.request(path, TURTLE),
    'cached GET over TLS': (gateway, { path }) => gateway.tlsRequest(path, TURTLE),
    'cached SELECT': (gateway) => searches(gateway),
    PUT: putLoad,
  },
  uncached: {
    'uncached GET': (gateway, setting) => differentDocuments(gateway, setting),
    'uncached SELECT': (gateway) => searches(gateway),
  },
  off: {
    'GET, --cache off': (gateway, setting) => differentDocuments(gateway, setting),
    'SELECT, --cache off': (gateway) => searches(gateway),
  },
  disk: { 'PUT on disk (TDB2)': putLoad },
}

const differentDocuments = (gateway: BenchGateway, setting: Setting): Load => ({
  ...gateway.request('', TURTLE),
  targets: bulkPaths(setting, DIFFERENT),
})

const searches = (gateway: BenchGateway): Load => ({
  ...queryLoad(ofGateway(gateway), ''),
  targets: Array.from({ length: DIFFERENT }, (_, n) => queryLoad(ofGateway(gateway), QUERIES.search(n)).targets[0]!),
})

/** The agent may read everything. Before rights were checked for each graph, Read on the endpoint meant this. */
export async function besideOther(setting: Setting, timing: Timing): Promise<Rows> {
  await mayReadAll(setting)
  return besideIn(setting, timing, [
    { loads: 'on' },
    { loads: 'uncached', flags: ['--cache', '1'] },
    { loads: 'off', flags: ['--cache', 'off'] },
  ])
}

/** PUT to a store on disk, compared with the store itself, and with the other checkout if there is one. */
export async function putsOnDisk(setting: Setting, timing: Timing): Promise<Rows> {
  const dataset = await datasetOnDisk(setting)
  const own = await putOnDisk(setting, timing, dataset)
  if (OTHER === undefined) return own
  const beside = await besideIn(setting, timing, [{ loads: 'disk', dataset }])
  return { rows: [...own.rows, ...beside.rows], notes: [...own.notes, ...beside.notes] }
}

async function besideIn(setting: Setting, timing: Timing, turns: readonly Omit<Pass, 'main'>[]): Promise<Rows> {
  if (OTHER === undefined) throw new Error('name the other checkout in the variable BESIDE')
  const main = resolve(OTHER, 'dist/gateway/main.js')
  if (!existsSync(main)) throw new Error(`${main} does not exist: build the other checkout`)
  setting.place('measuring')
  const rows: string[][] = []
  for (const turn of turns) {
    const one = await passOf(setting, timing, { ...turn, main })
    const two = await passOf(setting, timing, { ...turn, main, otherFirst: true })
    for (const row of Object.keys(LOADS[turn.loads])) rows.push(combined(row, one.get(row)!, two.get(row)!))
  }
  const order = 'The gateway that starts later is faster by some 10 %: each starts first in one of two passes.'
  return {
    rows,
    notes: [`other: ${resolve(OTHER)}`, `${order} The ratio is the geometric mean of both, which follow it.`],
  }
}

interface Pass {
  readonly loads: keyof typeof LOADS
  readonly flags?: readonly string[]
  readonly dataset?: string
  readonly main: string
  readonly otherFirst?: boolean
}

async function passOf(
  setting: Setting,
  timing: Timing,
  { loads: kind, flags = [], dataset = 'ds', main, otherFirst = false }: Pass,
): Promise<Map<string, Outcome>> {
  const data = mkdtempSync(join(tmpdir(), 'triplegate-beside-'))
  const [https, http] = [await freePort(), await freePort()]
  const first = await setting.startGateway(flags, { dataset, ...(otherFirst && { main }) })
  const second = await setting.startGateway(flags, {
    dataset,
    isBeside: true,
    ...(!otherFirst && { main }),
    ...{ data, https, http },
  })
  const gateways = otherFirst ? { this: second, other: first } : { this: first, other: second }
  const outcomes = new Map<string, Outcome>()
  try {
    for (const [row, load] of Object.entries(LOADS[kind])) {
      const loads = Object.entries(gateways).map(([name, gateway]) => [name, load(gateway, setting)] as const)
      // Runs every query once, so that the first rounds do not measure an empty cache.
      if (row === 'cached SELECT') {
        for (const [, one] of loads) for (const target of one.targets) await answerTo({ ...one, targets: [target] })
      }
      const contestants = loads.map(([name, one]) => contestant(name, one))
      outcomes.set(row, await takeTurns(contestants, timing))
    }
    return outcomes
  } finally {
    await Promise.all([first.end(), second.end()])
    rmSync(data, { recursive: true, force: true })
  }
}

function combined(row: string, one: Outcome, two: Outcome): string[] {
  const failed = [one, two].flatMap((outcome) => [...outcome.values()]).find((figures) => 'failed' in figures)
  if (failed && 'failed' in failed) return [row, `failed: ${failed.failed}`]
  const [own, other] = ['this', 'other'].map((name) =>
    [one, two].map((outcome) => outcome.get(name) as readonly number[]),
  ) as [number[][], number[][]]
  const ratios = own.map((figures, pass) => figureOf(figures.map((figure, n) => figure / other[pass]![n]!)).median)
  const mean = Math.sqrt(ratios[0]! * ratios[1]!)
  const ratio = `${mean.toFixed(2)} (${ratios.map((each) => each.toFixed(2)).join(', ')})`
  const figures = [own, other].map((passes) => written(figureOf(passes.flat()), '/s'))
  return [row, figures[0]!, 'other', figures[1]!, ratio, '≥ 0.95', mean >= 0.95 ? 'met' : 'missed']
}
