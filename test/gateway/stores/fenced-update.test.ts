// Fenced requests on real stores: whoever sends them, however late and how often, each entry is applied once and in
// order; also over a kill of the store. And the probe that says on which stores this can be relied on.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isFailure, problem } from '../../../gateway/problem.js'
import type { Replacement } from '../../../gateway/stores/batch-sparql.js'
import { fencedUpdate, firstPosition, LOG_GRAPH, positionQuery } from '../../../gateway/stores/fenced-update.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { select } from '../../../gateway/stores/select.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { transactionsOf } from '../../../gateway/stores/transaction-probe.js'
import { startDurableFuseki } from '../../crash/durable-fuseki.js'
import { fetchFuseki } from '../../support/fuseki.js'
import { freePort } from '../../support/ports.js'
import { until } from '../../support/wait.js'
import { forEachStore, isOnOtherStore, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'
import { randomFrom, type Random } from '../../versioning/log/log-model.js'

const LOG = 'urn:uuid:5f0e9a6e-6d0c-4a7e-9a3c-2f4f0e6b1c11'
const graphOf = (n: number): string => `https://docs.example/${n}/`

/** Five triples, with three blank nodes in most. */
function textOf(document: number, entry: number): string {
  const iri = `<${graphOf(document)}>`
  const value = `${iri} <urn:value> "${entry}" .\n`
  if (document % 4 === 0) return [1, 2, 3, 4].map((n) => `${iri} <urn:always> "${n}" .\n`).join('') + value
  return `${value}${iri} <urn:has> _:a .\n_:a <urn:value> "${entry}" .\n_:a <urn:has> _:b .\n_:b <urn:has> _:c .\n`
}

interface Entries {
  readonly changes: readonly Replacement[]
  /** What each graph has in the end. */
  readonly last: ReadonlyMap<string, string | undefined>
}

/** One change an entry: of whole graphs, removals, and lines that change. */
function randomEntries(count: number, random: Random): Entries {
  const last = new Map<string, string | undefined>()
  const changes = Array.from({ length: count }, (_, n): Replacement => {
    const document = random(12)
    const graph = graphOf(document)
    const before = last.get(graph)
    const nTriples = before !== undefined && random(8) === 0 ? undefined : textOf(document, n + 1)
    last.set(graph, nTriples)
    const [old, now] = [before, nTriples].map((text) => text?.split('\n').find((line) => line.includes('<urn:value>')))
    const isFew = document % 4 === 0 && old !== undefined && now !== undefined
    return { graph, nTriples, ...(isFew && { change: { removed: [old], added: [now] } }) }
  })
  return { changes, last }
}

async function positionIn(store: GraphStore): Promise<number> {
  const rows = await select(store, positionQuery(LOG), ['at'], {})
  if (isFailure(rows)) throw new Error(rows.detail)
  return rows.length === 1 ? Number(rows[0]![0]!.value) : NaN
}

/** Sends the entries after `position` in requests of several; is thrown back at random, and may fail. */
async function applyAll(store: GraphStore, { changes }: Entries, position: number, back: Random | undefined) {
  const random = back ?? randomFrom(1)
  while (position < changes.length) {
    const to = Math.min(changes.length, position + 1 + random(4))
    const text = fencedUpdate({ log: LOG, from: position, to }, changes.slice(position, to))
    if (isFailure(text)) throw new Error(text.detail)
    const failed = await store.update(text)
    if (failed) return failed
    position = back && random(20) === 0 ? Math.max(0, to - random(30)) : to
  }
  return undefined
}

const shapeOf = (text: string | undefined): string | undefined =>
  text?.replace(/_:\w+/g, '_:').split('\n').filter(Boolean).sort().join('\n') // prettier-ignore

async function isExact(t: Test, store: GraphStore, { changes, last }: Entries): Promise<void> {
  t.equal(await positionIn(store), changes.length)
  for (const [graph, text] of last)
    t.equal(shapeOf((await store.read(graph)) as string | undefined), shapeOf(text), graph)
  const shared = 'SELECT ?a { GRAPH ?g { ?a ?p ?b } GRAPH ?h { ?a ?q ?c } FILTER(isBlank(?a) && ?g != ?h) } LIMIT 1'
  t.same(await select(store, shared, ['a'], {}), [], 'no blank node is in two graphs')
}

async function race(t: Test, store: GraphStore): Promise<void> {
  const entries = randomEntries(200, randomFrom(3))
  t.equal(await store.update(firstPosition(LOG, 0)), undefined)
  t.equal(await store.update(firstPosition(LOG, 99)), undefined, 'a store that has a position keeps it')
  const appliers = [undefined, randomFrom(5), randomFrom(6)].map((back) => applyAll(store, entries, 0, back))
  t.same(await Promise.all(appliers), [undefined, undefined, undefined])
  await isExact(t, store, entries)
}

await forEachStore(t, 'three appliers, two of them thrown back', async (t, makeStores, kind) => {
  const { endUser } = await makeStores()
  const row = rowsOf(t, kind)
  await row('each entry is applied once, in order', (t) => race(t, endUser))
  await row('the probe', async (t) => {
    t.equal(await transactionsOf(endUser, 'urn:uuid:probe'), 'whole')
    t.match(
      await endUser.read(LOG_GRAPH),
      /^<urn:uuid:5f0e[^\n]*\n$/,
      'it leaves the positions of logs, and nothing else',
    )
  })
})

await forEachStore(t, { name: 'a store that is none for a log', kinds: ['embedded'] }, async (t, makeStores, kind) => {
  const { endUser } = await makeStores()
  const operations = (text: string): readonly string[] => text.split(' ;\n')
  const rows: readonly [what: string, found: string, update: GraphStore['update']][] = [
    [
      'it commits each operation',
      'part',
      async (text) => {
        for (const one of operations(text)) {
          const failed = await endUser.update(one)
          if (failed) return failed
        }
        return undefined
      },
    ],
    [
      'no operation fails',
      'unclear',
      (text) =>
        endUser.update(
          operations(text)
            .filter((one) => !/^(?:LOAD|MOVE)/.test(one))
            .join(' ;\n'),
        ),
    ],
    ['it is gone', 'store.unreachable', () => Promise.resolve(problem('store.unreachable', 'gone'))],
  ]
  for (const [what, expected, update] of rows)
    await rowsOf(t, kind)(what, async (t) => {
      const found = await transactionsOf({ query: endUser.query, update }, 'urn:uuid:probe')
      t.equal(isFailure(found) ? found.failure : found, expected)
      t.notMatch(await endUser.read(LOG_GRAPH), /probe/, 'nothing is left')
    })
})

const missing = (await reasonWithoutFuseki()) ?? (isOnOtherStore ? 'another store' : undefined)
const fusekiRow = rowsOf(t, 'fuseki')

await fusekiRow('Fuseki with TDB2 is killed and continues at its position', async (t) => {
  const fuseki = fetchFuseki()
  if (missing || 'missing' in fuseki) return t.pass('skipped', { skip: missing ?? 'no Fuseki' })
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-fence-'))
  const [port, entries] = [await freePort(), randomEntries(200, randomFrom(4))]
  const store = openHttpStore({ ...fusekiEndpoints(`http://127.0.0.1:${port}/ds`), connectTimeout: 60_000 })
  t.teardown(async () => (await store.close(), rmSync(folder, { recursive: true, force: true })))
  const first = await startDurableFuseki({ jar: fuseki.jar, port, folder }, ['ds'])
  await store.update(firstPosition(LOG, 0))
  const applying = Promise.all([applyAll(store, entries, 0, undefined), applyAll(store, entries, 0, randomFrom(8))])
  await until(async () => (await positionIn(store)) >= 40)
  await first.kill()
  t.ok((await applying).every(Boolean), 'both hear of it')
  const second = await startDurableFuseki({ jar: fuseki.jar, port, folder }, ['ds'])
  t.teardown(() => second.kill())
  const position = await positionIn(store)
  t.ok(position >= 40 && position < 200, `position ${position}`)
  t.equal(await applyAll(store, entries, position, undefined), undefined)
  await isExact(t, store, entries)
})

await rowsOf(t, 'none')('what SPARQL cannot hold, or has for something else, has no fenced request', (t) => {
  const rows: readonly [what: string, replacement: Replacement][] = [
    ['an escape that may be decoded early', { graph: 'urn:a', nTriples: '<urn:a> <urn:p> "\\\\u0022" .\n' }],
    ['a dot segment', { graph: 'urn:a', nTriples: '<https://e/a/../b> <urn:p> "" .\n' }],
    ['an IRI that is completed', { graph: 'urn:a', nTriples: '<file:a> <urn:p> "" .\n' }],
    [
      'a line that is none',
      { graph: 'urn:a', nTriples: '_:a <urn:p> "" . } ; DROP ALL ; INSERT DATA { <urn:a> <urn:p> "" .\n' },
    ],
    ['a graph with a dot segment', { graph: 'https://e/../', nTriples: undefined }],
    ['a graph that Jena makes', { graph: 'urn:x-arq:UnionGraph', nTriples: undefined }],
    ['lines that change', { graph: 'urn:a', nTriples: '', change: { removed: [], added: ['<urn:a> <urn:p> "\n'] } }],
  ]
  for (const [what, replacement] of rows)
    t.match(fencedUpdate({ log: LOG, from: 0, to: 1 }, [replacement]), { failure: 'update.form' }, what)
})

const AT = `GRAPH <urn:triplegate:log> { <${LOG}> <urn:triplegate:log#at> ?at }`

await rowsOf(t, 'none')('a graph that several entries change is written once', (t) => {
  const change = { removed: [], added: ['<urn:a> <urn:p> "2" .'] }
  const whole = { graph: 'urn:a', nTriples: '<urn:a> <urn:p> "1" .\n' }
  const after = { graph: 'urn:a', nTriples: '<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "2" .\n', change }
  const text = fencedUpdate({ log: LOG, from: 4, to: 6 }, [whole, after])
  t.equal(
    text,
    `DELETE { GRAPH <urn:a> { ?s ?p ?o } } WHERE { ${AT} FILTER(?at >= 4 && ?at < 6)  GRAPH <urn:a> { ?s ?p ?o } } ;
DELETE {
${AT} }
INSERT {
GRAPH <urn:a> {
<urn:a> <urn:p> "1" ; <urn:p> "2" }
GRAPH <urn:triplegate:log> { <${LOG}> <urn:triplegate:log#at> 6 } }
WHERE { ${AT} FILTER(?at >= 4 && ?at < 6) }`,
  )
})
