// Random queries by agents with random authorizations (design 4): the gateway answers like a store of the same kind
// that contains only the readable data, and no part of an answer reveals hidden data.
import t from 'tap'
import type { Answer } from '../../../support/client.js'
import { makeRandom } from '../../../crash/random.js'
import { isFailure } from '../../../../gateway/problem.js'
import { fusekiEndpoints } from '../../../../gateway/stores/http-store.js'
import { REFUSALS } from '../../../../gateway/sparql/rights/refusals.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { fusekiSecond, hasKinds } from '../../../support/fuseki-kinds.js'
import { ACCEPT, askHttp, rowsOf } from '../../../support/over-http.js'
import { askOxigraph, storeOf } from '../../../support/over-oxigraph.js'
import { isOfWays, read, reference, same, shown, type Readable, type Rows } from '../../../support/over-views.js'
import { mayRead, randomRules, readableOf, rulesTurtle, type Names, type Rules } from '../../../support/random-rules.js'
import { DH } from '../../../../gateway/rdf/vocabulary.js'
import { FUSEKI, forEachStore, WITH_UNION, type StoreKind, type Stores } from '../../../support/stores.js'
import { ME, nQuads, randomCases, type Case } from '../../../support/view-cases.js'
import { ABSENT, BASE, C1, C2, GRAPHS } from '../../../support/view-queries.js'
import { makeWorld, ttl, type World } from '../../../support/world.js'

const CASES: Readonly<Record<StoreKind, number>> = { embedded: 100, fuseki: 60, 'fuseki-union': 40 }
/** `npm run fuzz -- --gateway`: the store, the first case, and the number of cases. */
const [ONLY, FIRST = '0', COUNT] = process.env.TRIPLEGATE_TEST_QUERIES?.split(' ') ?? []
/** For each case. */
const QUERIES = 4
type Quads = Case['quads']

void forEachStore(t, { name: 'random queries', kinds: WITH_UNION }, async (t, makeStores, kind) => {
  if (ONLY !== undefined && ONLY !== kind) return
  const [first, count] = [Number(FIRST), COUNT === undefined ? CASES[kind] : Number(COUNT)]
  const [stores, other] = [await makeStores(), await makeStores()]
  const sent: string[] = []
  const endUser: GraphStore = {
    ...stores.endUser,
    query: (text, ...more) => (sent.push(text), stores.endUser.query(text, ...more)),
  }
  const world = await makeWorld(t, { ...stores, endUser })
  world.stopClock(t)
  const counts = {
    equal: 0,
    filled: 0,
    refused: 0,
    failed: 0,
    broken: 0,
    wrong: 0,
    ofStore: 0,
    ofWays: 0,
    otherBytes: 0,
  }
  for (let seed = first; seed < first + count; seed++) {
    const made = makeCase(world, seed)
    await grant(world, made.rules)
    const [answers, again] = [
      await answersOver(world, endUser, made, made.all, sent),
      await answersOver(world, endUser, made, made.changed, sent),
    ]
    let held: Quads | undefined
    for (const [i, of] of made.queries.entries()) {
      const [answer, told] = [answers[i]!, `case ${seed}, ${made.asker}: ${of.query}\n${rulesTurtle(made.rules)}`]
      if (!isAsBefore(of, answer, again[i]!)) t.same(open(again[i]!), open(answer), `hidden data shows, ${told}`)
      if (answer.text !== again[i]!.text) counts.otherBytes++
      if (isRefusal(answer)) {
        counts.refused++
        continue
      }
      const wanted = reference(read(of.query)!, made, kind !== 'embedded')
      const quads = wanted.quads ?? made.quads
      if (held !== quads) await fill(other.endUser, quads)
      held = quads
      const [rows, expected] = [rowsIn(answer), await askStore(other, wanted.text)]
      if (typeof expected === 'string') {
        counts.failed++
        held = undefined
        if (expected === 'broken' || rows === 'broken') counts.broken++
        else if (answer.status === 200 && (await isRefusedByAny(other, wanted.text))) counts.wrong++
        else if (answer.status < 400) t.fail(`${told}\nthe store fails`)
        continue
      }
      if (answer.status !== 200 || answer.fields['content-type'] !== mediaTypeOf(of)) {
        t.same([answer.status, answer.fields['content-type']], [200, mediaTypeOf(of)], `${told} ${answer.text}`)
        continue
      }
      if (same(rows, expected, of.compared)) {
        counts.equal++
        if (expected.length > 0 && !['0', 'false'].includes(expected[0]!)) counts.filled++
      } else if (kind === 'embedded' && isOfWays(of, false, rows, expected)) counts.ofWays++
      else if (
        await isOfStore(kind, quads, of, { rows, asked: reference(read(of.query)!, made).text, sent: answer.sent })
      )
        counts.ofStore++
      else t.fail(`${told}\ngot ${shown(rows)}\nnot ${shown(expected)}\n${nQuads(made.all)}`)
    }
  }
  const [asked, told] = [count * QUERIES, JSON.stringify(counts)]
  t.comment(told)
  t.ok(count < 50 || (counts.filled > asked / 6 && counts.equal > asked * 0.8), told)
  t.ok(count < 50 || (counts.refused < asked / 20 && counts.failed < asked / 20), told)
  t.ok(count < 50 || counts.ofStore + counts.ofWays + counts.broken + counts.wrong < asked / 30, told)
})

interface Made extends Readable {
  readonly asker: string
  readonly rules: Rules
  readonly queries: readonly Case[]
  /** All data in the store; `quads` is the part that the asker may read. */
  readonly all: Quads
  /** The readable data together with other hidden data. */
  readonly changed: Quads
}

function makeCase(world: World, seed: number): Made {
  const { base, webIdOf } = world
  const random = makeRandom(seed)
  for (let i = 0; i < 5; i++) random.chance(0.5)
  const asker = random.one(['stranger', 'stranger', 'stranger', 'anonymous'])
  const agent = asker === 'anonymous' ? undefined : webIdOf(asker)
  const rules = randomRules(random, namesOf(world))
  const queries = randomCases(seed, QUERIES).map((of) => ({ ...of, query: inWorld(world, of.query) }))
  const here = (quads: Quads): Quads =>
    quads.map(([triple, graph]) => [inWorld(world, triple), inWorld(world, graph)] as const)
  const [all, others] = [here(queries[0]!.quads), here(randomCases(seed + OTHER_DATA, 1)[0]!.quads)]
  const quads = readableOf(rules, base, agent, all)
  const known = new Set(quads.map(([, graph]) => graph))
  const beside = others.filter(([, graph]) => !known.has(graph))
  const readable = new Set(readableOf(rules, base, agent, beside).map(([, graph]) => graph))
  const changed = [...quads, ...beside.filter(([, graph]) => !readable.has(graph))]
  const isReadable = (iri: string): boolean =>
    [[], [DH('Container')]].every((types) => mayRead(rules, base, agent, { iri, types, owners: [] }))
  return { asker, rules, queries, all, quads, changed, isReadable }
}
const OTHER_DATA = 1_000_000

/** A query that cannot be restricted to what its agent may read (refusals.ts). */
const isRefusal = ({ status, text }: Answer): boolean =>
  status === 403 && Object.values(REFUSALS).some(({ detail }) => text.includes(detail))

/** An answer with the last query that the store got for it, if any. */
type Sent = Answer & { readonly sent: string | undefined }

/** @param sent collects the queries that the store gets */
async function answersOver(
  ...[world, store, { asker, queries }, quads, sent]: [World, GraphStore, Made, Quads, string[]]
): Promise<Sent[]> {
  await fill(store, quads)
  world.running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
  const answers: Sent[] = []
  for (const { query } of queries) {
    sent.length = 0
    answers.push({ ...(await world.as(asker)('POST', '/sparql', asQuery(query))), sent: sent.at(-1) })
  }
  return answers
}

const JSON_RESULTS = 'application/sparql-results+json'
const asQuery = (body: string) => ({ fields: { 'Content-Type': 'application/sparql-query', Accept: ACCEPT }, body })
const mediaTypeOf = ({ query }: Case): string =>
  /^\s*(CONSTRUCT|DESCRIBE)/.test(query) ? 'application/n-triples;charset=UTF-8' : JSON_RESULTS

const inWorld = ({ base, webIdOf }: World, text: string): string =>
  text.replaceAll(ME, webIdOf('stranger')).replaceAll(BASE, base)

const namesOf = (world: World): Names => ({
  base: world.base,
  agents: [world.webIdOf('stranger'), 'urn:agent:2'],
  groups: [`${world.base}admin/acl/groups/one/#this`, `${world.base}admin/acl/groups/two/#this`],
  graphs: [...GRAPHS, ...ABSENT].map((graph) => inWorld(world, graph)),
  classes: [C1, C2, 'urn:c:3'],
})

/** Every identified agent may use the endpoint. */
async function grant({ base, as }: World, rules: Rules): Promise<void> {
  const door = `<#door> a acl:Authorization ; acl:mode acl:Read ; acl:accessTo <${base}sparql> ; acl:agentClass <http://xmlns.com/foaf/0.1/Agent> .`
  const body = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . ${door}\n${rulesTurtle(rules)}`
  const { status, text } = await as('owner')('PUT', '/admin/acl/authorizations/differential/', ttl(body))
  if (![200, 201, 204].includes(status)) throw new Error(`${status} ${text}`)
}

/** Behind the gateway, like another client of the store. */
async function fill(store: GraphStore, quads: Quads): Promise<void> {
  const insert = quads.map(([triple, graph]) => (graph ? `GRAPH <${graph}> { ${triple} }` : `${triple} .`)).join('\n')
  const failed = await store.update(`DROP ALL ; INSERT DATA { ${insert} }`)
  if (failed) throw new Error(failed.detail)
}

async function askStore({ endUser, datasets }: Stores, query: string): Promise<Rows> {
  if (datasets) return askHttp(fusekiEndpoints(datasets.endUser).query, query)
  const mediaType = /^\s*(?:BASE <[^>]*>)?\s*(?:CONSTRUCT|DESCRIBE)/.test(query)
    ? 'application/n-triples'
    : JSON_RESULTS
  const pieces = await endUser.query(query, mediaType)
  if (isFailure(pieces)) return 'refused'
  const all: Uint8Array[] = []
  try {
    for await (const piece of pieces) all.push(piece)
  } catch {
    return 'refused'
  }
  return rowsOf(Buffer.concat(all).toString(), mediaType)
}

/** True if a store of the other kind gives this answer, or answers the sent query like the original one. */
async function isOfStore(
  ...[kind, quads, { compared }, { rows, asked, sent }]: [
    StoreKind,
    Quads,
    Case,
    { rows: Rows; asked: string; sent: string | undefined },
  ]
): Promise<boolean> {
  const wanted = await second(kind, quads, asked)
  if (typeof wanted === 'string') return false
  return same(wanted, rows, compared) || (sent !== undefined && same(await second(kind, quads, sent), wanted, compared))
}

/** Asks a store of the other kind. */
async function second(kind: StoreKind, quads: Quads, query: string): Promise<Rows> {
  if (kind === 'fuseki') return askOxigraph(storeOf(quads), query)
  return FUSEKI !== undefined && (await hasKinds(FUSEKI))
    ? fusekiSecond(FUSEKI, 'gateway-second')(quads, query)
    : 'refused'
}

/**
 * True if a store refuses the query even when it is empty: the mistake may be in a part that is omitted for the agent.
 */
async function isRefusedByAny(store: Stores, query: string): Promise<boolean> {
  await fill(store.endUser, [])
  return (await askStore(store, query)) === 'refused'
}

const rowsIn = ({ text, fields }: Answer): Rows => rowsOf(text, fields['content-type'] ?? '')

/** The whole answer except its date and the number of its request. */
const open = ({ status, fields, text }: Answer) => ({
  ...{ status, text },
  fields: Object.entries(fields).filter(([name]) => !/^date$|request|id$/.test(name)),
})

/** Compares byte by byte, except the order of rows, which the store chooses, and the resulting entity-tag. */
function isAsBefore({ compared }: Case, before: Answer, after: Answer): boolean {
  const withoutBytes = (answer: Answer): string =>
    JSON.stringify({
      ...{ ...open(answer), text: '' },
      fields: open(answer).fields.filter(([name]) => !/^etag$|^content-length$/.test(name)),
    })
  if (before.status !== 200 || before.text === after.text)
    return JSON.stringify(open(before)) === JSON.stringify(open(after))
  return withoutBytes(before) === withoutBytes(after) && same(rowsIn(before), rowsIn(after), compared)
}
