// Measures queries of agents who may read a part, compared with the same query of an agent who may read everything, in
// one run: by kind of query and of right, by the number of hidden graphs, and cached.
import { isFailure } from '../../gateway/problem.js'
import { analyseQuery } from '../../gateway/sparql/language/analysis.js'
import { overView, type StoreTraits } from '../../gateway/sparql/rights/restrict-query.js'
import type { GraphRights } from '../../policies/authorizations/graph-rights.js'
import type { BenchTable } from './bench-table.js'
import { EXPLORE_QUERIES } from './explore-queries.js'
import { describeMachine } from './machine.js'
import { AGENT_NAMES, RIGHTS_QUERIES, type AgentName, type QueryName } from './rights-data.js'
import { makeRightsSetting, type RightsSetting } from './rights-setting.js'
import { COLUMNS, compare, figureOf, takeTurns, written, type Contestant, type Outcome, type Timing } from './series.js'

/** The documents in the largest dataset: set DOCUMENTS to 100,000 for more. */
const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 10_000)
/** With fewer rounds, busy moments of the machine dominate. For a new kind of query, the store compiles for seconds. */
const TIMING: Timing = { rounds: 120, seconds: 0.06, warmUp: 6 }

/**
 * For the first kind of query: the gateway has just started, and its code is still being compiled. The target is close:
 * with fewer and longer rounds, the median varies by 0.04 from run to run.
 */
const FIRST: Timing = { rounds: 1000, seconds: 0.015, warmUp: 20 }
const SLOW: Timing = { rounds: 5, seconds: 0.06, warmUp: 0.5 }

/** Slow cases have no target: docs/queries.md has their figures. */
const TARGETS: Readonly<Record<QueryName, number | undefined>> = {
  constants: 0.9,
  'GRAPH ?g': 0.5,
  'union of two patterns': 0.3,
  'union of three patterns': 0.3,
  'a point in the union': 0.3,
  'OPTIONAL in the union': undefined,
  'a path in the union': undefined,
}
const NAMES = Object.keys(TARGETS) as QueryName[]
/** Also measured by the number of hidden graphs. */
const FLAT_NAMES = NAMES.filter((name) => name !== 'constants' && TARGETS[name] !== undefined)
const RESTRICTED = AGENT_NAMES.filter((name) => name !== 'everything')

let asked = 0
/** Adds a limit that no result reaches, so that each query is new and no result is cached. */
const anew = (query: string): string => `${query} LIMIT ${100_000 + asked++}`

/** Asks one question at a time, and measures the time of each. */
function asking(setting: RightsSetting, agent: AgentName, name: QueryName, how = anew): Contestant {
  let n = 0
  return {
    name: agent,
    async run(seconds) {
      const from = performance.now()
      let count = 0
      for (; count === 0 || performance.now() - from < seconds * 1000; count++) {
        await setting.ask(agent, how(RIGHTS_QUERIES[name](setting.base, n++ % 10)))
      }
      return (count * 1000) / (performance.now() - from)
    },
  }
}

const turnsOf = (setting: RightsSetting, agents: readonly AgentName[], name: QueryName): Promise<Outcome> =>
  takeTurns(
    agents.map((agent) => asking(setting, agent, name)),
    TARGETS[name] === undefined ? SLOW : name === NAMES[0] ? FIRST : TIMING,
  )

async function byKind(setting: RightsSetting, progress: (what: string) => void): Promise<string[][]> {
  const rows: string[][] = []
  for (const name of NAMES) {
    progress(`${name}, with each kind of rights`)
    const outcome = await turnsOf(setting, ['everything', ...RESTRICTED], name)
    for (const agent of RESTRICTED) {
      const row = `${name}, ${agent}, ${setting.documents().toLocaleString('en')} documents`
      const target = TARGETS[name]
      rows.push(compare(outcome, { row, of: agent, to: 'everything', ...(target !== undefined && { target }) }))
    }
  }
  return rows
}

/** The median ratio of the agent who may read 500 documents. */
function ratioIn(outcome: Outcome): number | undefined {
  const [few, everything] = [outcome.get('few')!, outcome.get('everything')!]
  if ('failed' in few || 'failed' in everything) return undefined
  const ratios = few.map((figure, round) => figure / everything[round]!).sort((a, b) => a - b)
  return ratios[ratios.length >> 1]
}

const FLAT = 1.5

/**
 * The slowdown of the agent with few documents, compared with the agent who reads everything, with the most and with
 * the fewest documents hidden.
 */
function flatness(byName: ReadonlyMap<QueryName, readonly (number | undefined)[]>): string[][] {
  return [...byName].map(([name, ratios]) => {
    const row = `${name}: ratio with the fewest hidden, and with the most`
    const [first, last] = [ratios[0], ratios.at(-1)]
    if (first === undefined || last === undefined) return [row, 'failed']
    const growth = first / last
    return [row, first.toFixed(2), 'most hidden', last.toFixed(2), growth.toFixed(2), `≤ ${FLAT}`, growth <= FLAT ? 'met' : 'missed'] // prettier-ignore
  })
}

/** The time to read, restrict and write a query: the median of many repetitions, in a warm process. */
function rewriting(): string[][] {
  const sight = { rights: sampleRights(), store: UNION, grounds: new Map(), nothing: 'urn:bench:nothing' }
  const times: number[][] = EXPLORE_QUERIES.map(() => [])
  for (let round = 0; round < 300; round++) {
    for (const [i, query] of EXPLORE_QUERIES.entries()) {
      const from = performance.now()
      const analysis = analyseQuery(query, BASE)
      if (isFailure(analysis) || isFailure(overView(analysis.tree!, sight))) throw new Error(`refused: ${query}`)
      if (round >= 100) times[i]!.push(performance.now() - from)
    }
  }
  const medians = times.map((its) => figureOf(its).median).sort((a, b) => a - b)
  const figure = { median: figureOf(medians).median, least: medians[0]!, most: medians.at(-1)! }
  const verdict = figure.most <= 1 ? 'met' : 'missed'
  return [
    ['check and rewriting, the twelve explore queries of BSBM', written(figure, ' ms'), '', '', '', '≤ 1 ms', verdict],
  ]
}

const BASE = 'https://bench.example/'
const UNION: StoreTraits = {
  defaultGraph: 'union',
  stays: true,
  asQuads: true,
  asQuadsOfFrom: false,
  showsName: false,
  listsGraphs: false,
  looksInItself: true,
  honoursFrom: true,
  isJena: true,
  isSettled: true,
}

/** By class, by container and by ownership. */
const sampleRights = (): GraphRights => ({
  reach: { application: 'end-user', base: BASE, below: [`${BASE}admin/`], alone: true, isEndpoint: () => false },
  ...{ everything: false, documents: false, others: false, defaultGraph: false, items: false, containers: false },
  ...{ graphs: [], prefixes: [`${BASE}open/`], otherPrefixes: [], classes: [`${BASE}terms#Half`], fingerprint: '' },
  owner: `${BASE}admin/acl/agents/one/#this`,
})

async function cached(setting: RightsSetting): Promise<string[][]> {
  const name = 'GRAPH ?g'
  for (const agent of AGENT_NAMES) {
    for (let n = 0; n < 10; n++) await setting.ask(agent, RIGHTS_QUERIES[name](setting.base, n))
  }
  const asked = AGENT_NAMES.map((agent) => asking(setting, agent, name, (query) => query))
  const outcome = await takeTurns(asked, TIMING)
  return RESTRICTED.map((agent) =>
    compare(outcome, { row: `cached result, ${agent}`, of: agent, to: 'everything', target: 0.9 }),
  )
}

export async function benchRights(progress: (what: string) => void): Promise<BenchTable> {
  const title = 'Queries of agents who may read a part, compared with one who may read everything: median (least–most) of rounds that take turns' // prettier-ignore
  const machine = describeMachine([])
  const rows = rewriting()
  const setting = await makeRightsSetting()
  if ('missing' in setting) return { title, columns: COLUMNS, rows, notes: [setting.missing] }
  try {
    const ratios = new Map<QueryName, (number | undefined)[]>(FLAT_NAMES.map((name) => [name, []]))
    for (const documents of [1_000, DOCUMENTS]) {
      progress(`${documents.toLocaleString('en')} documents are written`)
      await setting.grow(documents)
      await setting.startGateway()
      for (const [name, its] of ratios) {
        progress(`${name}, with few documents readable`)
        its.push(ratioIn(await turnsOf(setting, ['everything', 'few'], name)))
      }
    }
    rows.push(...(await byKind(setting, progress)), ...flatness(ratios))
    progress('cached results')
    rows.push(...(await cached(setting)))
    return { title, columns: COLUMNS, rows, notes: [machine, NOTE] }
  } finally {
    await setting.close()
  }
}

const NOTE =
  'Fuseki on TDB2 with a union default graph; one question at a time, another one each time, so that no result is cached but in the last rows. class and ' +
  'container: a half of the documents; few: 500, by class. DOCUMENTS=100000 measures as many.'
