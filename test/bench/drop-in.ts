// The rows about the store's own URLs: a graph by its name, and queries, cached and not, and the store itself.
import { CONTAINER, DEFAULT_GRAPH, ITEM, OTHER_GRAPH, ROOT } from '../../policies/vocabulary.js'
import { ACL, RDF } from '../../gateway/rdf/vocabulary.js'
import { DIFFERENT, QUERIES, agentOf, bulkDocument } from './bench-data.js'
import { answerTo } from './contestants.js'
import { contestant, TURTLE, withGateway, type Rows } from './documents.js'
import type { Load } from './load.js'
import { compare, takeTurns, type Timing } from './series.js'
import type { Setting } from './setting.js'
import { queryLoad } from './sparql.js'

const TRIPLES = 40
const graphOf = (n: number): string => `urn:bench:graph:${n}`

/**
 * Creates graphs that are not documents, and gives the right to read everything, as seeded readers have it and a client
 * of the store had it.
 */
async function prepare({ load, admin }: Setting): Promise<void> {
  const line = (n: number, i: number): string =>
    `<urn:bench:${n}:${i}> <urn:bench:property:${i % 7}> "A value of about a hundred characters, so that the graph is like a document, number ${i}." <${graphOf(n)}> .\n`
  const quads = Array.from({ length: DIFFERENT }, (_, n) =>
    Array.from({ length: TRIPLES }, (_, i) => line(n, i)).join(''),
  )
  await load(quads.join(''))
  await mayReadAll({ load, admin })
}

/** An authorization for the agent to read every document, every other graph, and the default graph. */
export async function mayReadAll({ load, admin }: Pick<Setting, 'load' | 'admin'>): Promise<void> {
  const graph = `${admin}acl/authorizations/bench-graphs/`
  const statements = [
    `<${RDF('type')}> <${ACL('Authorization')}>`,
    `<${ACL('mode')}> <${ACL('Read')}>`,
    `<${ACL('agent')}> <${agentOf(admin)}>`,
    ...[ROOT, CONTAINER, ITEM, OTHER_GRAPH].map((type) => `<${ACL('accessToClass')}> <${type}>`),
    `<${ACL('accessTo')}> <${DEFAULT_GRAPH}>`,
  ]
  await load(statements.map((rest) => `<${graph}#this> ${rest} <${graph}> .\n`).join(''), 'admin')
}

type Targets = (setting: Setting) => readonly string[]
const times = (target: (n: number) => string): readonly string[] =>
  Array.from({ length: DIFFERENT }, (_, n) => target(n))

// prettier-ignore
const ROWS: readonly (readonly [row: string, targets: Targets, fields: Load['fields']])[] = [
  ['GET of another graph', ({ graphStore }) => times((n) => graphStore(graphOf(n))), TURTLE],
  ['GET of a document by its name', ({ graphStore, base }) => times((n) => graphStore(bulkDocument(base, n))), TURTLE],
  ['SELECT at /ds/query', ({ store }) => times((n) => queryLoad({ query: '/ds/query', ask: store }, QUERIES.search(n)).targets[0]!), { Accept: 'application/sparql-results+json' }],
]

interface Caching {
  readonly cache: string
  readonly flags: readonly string[]
  /** More rounds if the ratio is close to its target. */
  readonly rounds: number
  readonly target?: number
}
/**
 * A cache of one byte has no room for any answer. With `--cache off` the rules are also read for each request, so that
 * row has no target.
 */
const CACHES: readonly Caching[] = [
  { cache: 'cached', flags: [], rounds: 3, target: 10 },
  { cache: 'not cached', flags: ['--cache', '1'], rounds: 9, target: 0.9 },
  { cache: '--cache off', flags: ['--cache', 'off'], rounds: 3 },
]

/**
 * All rows are warmed up before the first one is measured: otherwise its store and gateway would have compiled less
 * than those of later rows.
 */
export async function dropIn(setting: Setting, timing: Timing, progress: (what: string) => void): Promise<Rows> {
  await prepare(setting)
  const rows: string[][] = []
  for (const { cache, flags, rounds, target } of CACHES) {
    const cached = cache === 'cached'
    await withGateway(setting, flags, async (gateway) => {
      setting.place(cached ? 'measured' : 'measuring')
      const measured = ROWS.map(([name, targets, fields]) => {
        const own = { ...gateway.request('', fields), targets: targets(setting) }
        const store = { ...setting.store('', fields), targets: targets(setting) }
        return { row: `${name}, ${cache}`, own, turns: [contestant('gateway', own), contestant('Fuseki', store)] }
      })
      progress(`warming up, ${cache}`)
      for (const { turns } of measured) await takeTurns(turns, { rounds: 0, seconds: 0, warmUp: cached ? 4 : 2 })
      for (const { row, own, turns } of measured) {
        progress(row)
        if (cached) for (const one of own.targets) await answerTo({ ...own, targets: [one] })
        const outcome = await takeTurns(turns, { ...timing, rounds, warmUp: 0 })
        rows.push(compare(outcome, { row, of: 'gateway', to: 'Fuseki', ...(target !== undefined && { target }) }))
      }
    })
  }
  return {
    rows,
    notes: [
      `The store's own URLs: ${DIFFERENT} graphs of ${TRIPLES} triples, documents or queries in turn, of an agent who may read everything.`,
    ],
  }
}
