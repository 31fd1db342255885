// In charge of measuring queries of agents who may read a part, beside the same query of one who may read everything, in one run:
// by kind of query and of right, by the number of graphs that are hidden, and cached.
import type { BenchTable } from './bench-table.js'
import { describeMachine } from './machine.js'
import { AGENT_NAMES, RIGHTS_QUERIES, type AgentName, type QueryName } from './rights-data.js'
import { makeRightsSetting, type RightsSetting } from './rights-setting.js'
import { COLUMNS, compare, takeTurns, type Contestant, type Outcome, type Timing } from './series.js'

/** Documents in the largest dataset: 100,000 where the variable DOCUMENTS says so. */
const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 10_000)
const TIMING: Timing = { rounds: 5, seconds: 1, warmUp: 1 }

const TARGETS: Readonly<Record<QueryName, number>> = {
  constants: 0.9,
  'GRAPH ?g': 0.5,
  'union of two patterns': 0.3,
  'union of three patterns': 0.3,
  'a point in the union': 0.3,
}
const NAMES = Object.keys(TARGETS) as QueryName[]
const RESTRICTED = AGENT_NAMES.filter((name) => name !== 'everything')

let asked = 0
/** A limit that no result reaches: no query is the same as one before, so that no result is cached. */
const anew = (query: string): string => `${query} LIMIT ${100_000 + asked++}`

/** One question after the other: what counts is the time of each. */
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

const turnsOf = (setting: RightsSetting, agents: readonly AgentName[], name: QueryName, how = anew): Promise<Outcome> =>
  takeTurns(
    agents.map((agent) => asking(setting, agent, name, how)),
    TIMING,
  )

async function byKind(setting: RightsSetting): Promise<string[][]> {
  const rows: string[][] = []
  for (const name of NAMES) {
    const outcome = await turnsOf(setting, ['everything', ...RESTRICTED], name)
    for (const agent of RESTRICTED) {
      const row = `${name}, ${agent}, ${setting.documents().toLocaleString('en')} documents`
      rows.push(compare(outcome, { row, of: agent, to: 'everything', target: TARGETS[name] }))
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

/** How much slower the agent with few documents is, beside the one who reads everything, with the most and the fewest hidden. */
function flatness(byName: ReadonlyMap<QueryName, readonly (number | undefined)[]>): string[][] {
  return [...byName].map(([name, ratios]) => {
    const row = `${name}: ratio with the fewest hidden, beside that with the most`
    const [first, last] = [ratios[0], ratios.at(-1)]
    if (first === undefined || last === undefined) return [row, 'failed']
    const growth = first / last
    return [row, first.toFixed(2), 'most hidden', last.toFixed(2), growth.toFixed(2), `≤ ${FLAT}`, growth <= FLAT ? 'met' : 'missed'] // prettier-ignore
  })
}

async function cached(setting: RightsSetting): Promise<string[][]> {
  const name = 'GRAPH ?g'
  for (const agent of AGENT_NAMES) {
    for (let n = 0; n < 10; n++) await setting.ask(agent, RIGHTS_QUERIES[name](setting.base, n))
  }
  const outcome = await turnsOf(setting, ['everything', ...RESTRICTED], name, (query) => query)
  return RESTRICTED.map((agent) =>
    compare(outcome, { row: `cached result, ${agent}`, of: agent, to: 'everything', target: 0.9 }),
  )
}

export async function benchRights(): Promise<BenchTable> {
  const title = 'Queries of agents who may read a part, beside one who may read everything: median (least–most) of rounds that take turns' // prettier-ignore
  const setting = await makeRightsSetting()
  if ('missing' in setting) return { title, columns: COLUMNS, rows: [], notes: [setting.missing] }
  const machine = describeMachine([])
  try {
    const rows: string[][] = []
    const ratios = new Map<QueryName, (number | undefined)[]>(NAMES.slice(1).map((name) => [name, []]))
    for (const documents of [1_000, DOCUMENTS]) {
      await setting.grow(documents)
      await setting.startGateway()
      for (const [name, its] of ratios) its.push(ratioIn(await turnsOf(setting, ['everything', 'few'], name)))
    }
    rows.push(...(await byKind(setting)), ...flatness(ratios), ...(await cached(setting)))
    return { title, columns: COLUMNS, rows, notes: [machine, NOTE] }
  } finally {
    await setting.close()
  }
}

const NOTE =
  'Fuseki on TDB2 with a union default graph; one question at a time, another one each time, so that no result is cached but in the last rows. class and ' +
  'container: a half of the documents; few: 500, by class. DOCUMENTS=100000 measures as many.'
