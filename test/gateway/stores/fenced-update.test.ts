// Fenced requests on real stores: whoever sends them, however late and often, each entry is applied once and in order,
// even if the store is killed. Also the probe that finds out which stores support this.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isFailure, problem } from '../../../gateway/problem.js'
import type { Replacement } from '../../../gateway/stores/batch-sparql.js'
import { fencedUpdate, LOG_GRAPH, passTurn, positionQuery, setPosition } from '../../../gateway/stores/fenced-update.js'
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

/** Five triples; most of these contents have three blank nodes. */
function textOf(document: number, entry: number): string {
  const iri = `<${graphOf(document)}>`
  const value = `${iri} <urn:value> "${entry}" .\n`
  if (document % 4 === 0) return [1, 2, 3, 4].map((n) => `${iri} <urn:always> "${n}" .\n`).join('') + value
  return `${value}${iri} <urn:has> _:a .\n_:a <urn:value> "${entry}" .\n_:a <urn:has> _:b .\n_:b <urn:has> _:c .\n`
}

interface Entries {
  readonly changes: readonly Replacement[]
  /** The final content of each graph. */
  readonly last: ReadonlyMap<string, string | undefined>
}

/** Each entry has one change: a whole graph, a removal, or changed lines. */
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

async function positionIn(store: GraphStore): Promise<readonly [at: number, turn: string | undefined]> {
  const rows = await select(store, positionQuery(LOG), ['at', 'turn'], {})
  if (isFailure(rows)) throw new Error(rows.detail)
  return rows.length === 1 ? [Number(rows[0]![0]!.value), rows[0]![1]!.value] : [NaN, undefined]
}

/** Sends the entries after `from`, several in a request. If `again` is given, some requests are repeated late. */
async function applyAll(store: GraphStore, { changes }: Entries, from: number, turn: string, again?: Random) {
  const random = again ?? randomFrom(1)
  const sent: Promise<unknown>[] = []
  for (let at = from; at < changes.length;) {
    const to = Math.min(changes.length, at + 1 + random(4))
    const text = fencedUpdate({ log: LOG, turn, next: `${to}`, at: to }, changes.slice(at, to))
    if (isFailure(text)) throw new Error(text.detail)
    const late = Array.from({ length: again ? random(3) : 0 }, () => sleep(random(40)).then(() => store.update(text)))
    sent.push(...late)
    const failed = await store.update(text)
    if (failed) return Promise.all(sent).then(() => failed)
    ;[at, turn] = [to, `${to}`]
  }
  await Promise.all(sent)
  return undefined
}

const shapeOf = (text: string | undefined): string | undefined =>
  text?.replace(/_:\w+/g, '_:').split('\n').filter(Boolean).sort().join('\n') // prettier-ignore

async function isExact(t: Test, store: GraphStore, { changes, last }: Entries): Promise<void> {
  t.equal((await positionIn(store))[0], changes.length)
  for (const [graph, text] of last)
    t.equal(shapeOf((await store.read(graph)) as string | undefined), shapeOf(text), graph)
  const shared = 'SELECT ?a { GRAPH ?g { ?a ?p ?b } GRAPH ?h { ?a ?q ?c } FILTER(isBlank(?a) && ?g != ?h) } LIMIT 1'
  t.same(await select(store, shared, ['a'], {}), [], 'no blank node is in two graphs')
}

await forEachStore(t, 'requests that are sent again, late', async (t, makeStores, kind) => {
  const { endUser } = await makeStores()
  const row = rowsOf(t, kind)
  await row('each entry is applied once, in order', async (t) => {
    const entries = randomEntries(200, randomFrom(3))
    t.equal(await endUser.update(setPosition(LOG, 0, 'first')), undefined)
    t.equal(await applyAll(endUser, entries, 0, 'first', randomFrom(5)), undefined)
    await isExact(t, endUser, entries)
  })
  await row('a request that was passed over does nothing', async (t) => {
    const none = { graph: graphOf(99), nTriples: textOf(99, 1) }
    const text = fencedUpdate({ log: LOG, turn: '200', next: 'late', at: 201 }, [none]) as string
    for (const pass of [
      passTurn({ log: LOG, turn: 'other', next: 'b' }),
      passTurn({ log: LOG, turn: '200', next: 'b' }),
    ])
      t.equal(await endUser.update(pass), undefined)
    t.equal(await endUser.update(text), undefined)
    t.same(await positionIn(endUser), [200, 'b'])
    t.equal(await endUser.update(setPosition(LOG, 7, 'c')), undefined)
    t.same(await positionIn(endUser), [7, 'c'], 'whatever there was')
    await endUser.update('DROP ALL')
    t.equal(await endUser.update(text), undefined)
    t.same(await positionIn(endUser), [NaN, undefined], 'nor in a store that was emptied')
    t.equal(await endUser.read(graphOf(99)), undefined)
    await endUser.update(setPosition(LOG, 7, 'c'))
  })
  await row('the probe', async (t) => {
    t.equal(await transactionsOf(endUser, 'urn:uuid:probe'), 'whole')
    t.match(
      await endUser.read(LOG_GRAPH),
      /^(?:<urn:uuid:5f0e[^\n]*\n){2}$/,
      'the probe leaves only the positions of logs',
    )
  })
})

await forEachStore(
  t,
  { name: 'a store that cannot keep a position in the log', kinds: ['embedded'] },
  async (t, makeStores, kind) => {
    const { endUser } = await makeStores()
    const operations = (text: string): readonly string[] => text.split(' ;\n')
    const rows: readonly [what: string, found: string, update: GraphStore['update']][] = [
      [
        'the store commits each operation',
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
      ['the store has stopped', 'store.unreachable', () => Promise.resolve(problem('store.unreachable', 'gone'))],
    ]
    for (const [what, expected, update] of rows)
      await rowsOf(t, kind)(what, async (t) => {
        const found = await transactionsOf({ query: endUser.query, update }, 'urn:uuid:probe')
        t.equal(isFailure(found) ? found.failure : found, expected)
        t.notMatch(await endUser.read(LOG_GRAPH), /probe/, 'nothing is left')
      })
  },
)

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
  await store.update(setPosition(LOG, 0, 'first'))
  const applying = applyAll(store, entries, 0, 'first', randomFrom(8))
  await until(async () => (await positionIn(store))[0] >= 40)
  await first.kill()
  t.ok(await applying, 'the client hears of it')
  const second = await startDurableFuseki({ jar: fuseki.jar, port, folder }, ['ds'])
  t.teardown(() => second.kill())
  const [position, turn] = await positionIn(store)
  t.ok(position >= 40 && position < 200, `position ${position}`)
  t.equal(await applyAll(store, entries, position, turn!), undefined)
  await isExact(t, store, entries)
})

await rowsOf(t, 'none')('changes that SPARQL cannot express exactly have no fenced request', (t) => {
  const rows: readonly [what: string, replacement: Replacement][] = [
    ['an escape that may be decoded early', { graph: 'urn:a', nTriples: '<urn:a> <urn:p> "\\\\u0022" .\n' }],
    ['a dot segment', { graph: 'urn:a', nTriples: '<https://e/a/../b> <urn:p> "" .\n' }],
    ['an IRI that is completed', { graph: 'urn:a', nTriples: '<file:a> <urn:p> "" .\n' }],
    [
      'a line that is not one triple',
      { graph: 'urn:a', nTriples: '_:a <urn:p> "" . } ; DROP ALL ; INSERT DATA { <urn:a> <urn:p> "" .\n' },
    ],
    ['a graph with a dot segment', { graph: 'https://e/../', nTriples: undefined }],
    ['a graph that Jena computes', { graph: 'urn:x-arq:UnionGraph', nTriples: undefined }],
    ['lines that change', { graph: 'urn:a', nTriples: '', change: { removed: [], added: ['<urn:a> <urn:p> "\n'] } }],
  ]
  for (const [what, replacement] of rows)
    t.match(fencedUpdate({ log: LOG, turn: 'a', next: 'b', at: 1 }, [replacement]), { failure: 'update.form' }, what)
})

const inLog = (at: string, turn: string): string =>
  `GRAPH <urn:triplegate:log> { <${LOG}> <urn:triplegate:log#at> ${at} ; <urn:triplegate:log#turn> "${turn}" }`
const FENCE = inLog('?at', 'a')

await rowsOf(t, 'none')('a graph that several entries change is written once', (t) => {
  const change = { removed: [], added: ['<urn:a> <urn:p> "2" .'] }
  const whole = { graph: 'urn:a', nTriples: '<urn:a> <urn:p> "1" .\n' }
  const after = { graph: 'urn:a', nTriples: '<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "2" .\n', change }
  const text = fencedUpdate({ log: LOG, turn: 'a', next: 'b', at: 6 }, [whole, after])
  t.equal(
    text,
    `DELETE { GRAPH <urn:a> { ?s ?p ?o } } WHERE { ${FENCE}  GRAPH <urn:a> { ?s ?p ?o } } ;
DELETE {
${FENCE} }
INSERT {
GRAPH <urn:a> {
<urn:a> <urn:p> "1" ; <urn:p> "2" }
${inLog('6', 'b')} }
WHERE { ${FENCE} }`,
  )
})
