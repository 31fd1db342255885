// Random updates by agents with rights on some graphs (design 3, 4): afterwards the readable part equals that of a
// store with only readable data, and the rest is untouched; or nothing has changed. No part of an answer reveals hidden
// data.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { Answer } from '../../../support/client.js'
import { makeRandom } from '../../../crash/random.js'
import { isFailure } from '../../../../gateway/problem.js'
import { nTriplesTerm } from '../../../../gateway/rdf/graph.js'
import { select } from '../../../../gateway/stores/select.js'
import { forEachStore, WITH_UNION, type Stores } from '../../../support/stores.js'
import {
  comparable,
  expectedOf,
  lines,
  randomQuads,
  randomUpdate,
  servedAt,
  SOURCE,
  textOf,
  type GraphModes,
  type Modes,
  type Quad,
} from '../../../support/update-cases.js'
import { makeWorld, ttl, update, type World } from '../../../support/world.js'

const MODES: Readonly<Record<string, Modes>> = {
  none: [],
  read: ['Read'],
  append: ['Append'],
  write: ['Write'],
  readAppend: ['Read', 'Append'],
  readWrite: ['Read', 'Write'],
  readWriteToo: ['Read', 'Write'],
}
const CASES = { embedded: 150, fuseki: 50, 'fuseki-union': 30 }
/** `npm run fuzz -- --updates`: the store, the first case, and the number of cases. */
const [ONLY, FIRST = '0', COUNT] = process.env.TRIPLEGATE_TEST_UPDATES?.split(' ') ?? []
const REFUSED = { kind: 'refused', isUnclear: false } as const
const ALL: Modes = ['Read', 'Write']

void forEachStore(t, { name: 'random updates', kinds: WITH_UNION }, async (t, makeStores, kind) => {
  if (ONLY !== undefined && ONLY !== kind) return
  const [first, count] = [Number(FIRST), COUNT === undefined ? CASES[kind] : Number(COUNT)]
  const stores = await makeStores()
  const sources = await serveSource(t)
  const world = await makeWorld(t, stores, {
    flags: ['loaded', 'absent'].flatMap((name) => ['--allow-service', sources + name]),
  })
  const graphs = await grant(world, kind === 'fuseki-union')
  const documents = await Promise.all(
    [...graphs.keys()].filter((graph) => graph.startsWith(world.base)).map(async (iri) => contentOf(stores, iri)),
  )
  const counts = { done: 0, changed: 0, refused: 0, noSource: 0 }
  for (let seed = first; seed < first + count; seed++) {
    const random = makeRandom(seed)
    for (let i = 0; i < 5; i++) random.chance(0.5)
    const isOwner = random.chance(0.25)
    const modes = isOwner ? new Map([...graphs.keys()].map((graph) => [graph, ALL])) : graphs
    const quads = [...documents.flat(), ...randomQuads(random, [...graphs.keys()])]
    const asked = randomUpdate(random, [...graphs.keys()])
    const text = servedAt(sources, textOf(asked))
    const told = `case ${seed}${isOwner ? ', the owner' : ''}: ${text}`
    const send = (): Promise<Answer> => world.as(isOwner ? 'owner' : 'stranger')('POST', '/sparql', update(text))
    await fill(world, stores, quads)
    const before = await found(stores)
    const answer = await send()
    const after = await found(stores)
    // Agents who may read the default graph can copy it.
    const isCopied = ({ touches: [touched] }: (typeof asked)[number]): boolean =>
      touched?.[0] !== '' && modes.get('')?.includes('Read') === true
    const isForStore = !isOwner && asked.some((each) => each.isForStore && !isCopied(each))
    const expected = isForStore ? REFUSED : expectedOf(asked, quads, modes)
    const isReported = expected.isUnclear && answer.status === 422
    if (expected.kind === 'done' && !isReported) {
      counts.done++
      t.equal(answer.status, 200, `${told} ${answer.text}`)
      const wanted = comparable(expected.quads)
      if (JSON.stringify(wanted) !== JSON.stringify(before)) counts.changed++
      if (JSON.stringify(after) !== JSON.stringify(wanted)) t.same(after, wanted, told)
    } else {
      counts[expected.kind === 'refused' ? 'refused' : 'noSource']++
      // If nothing is hidden and no document changes, the store itself refuses to copy an absent graph.
      const wanted = expected.kind === 'refused' ? [403] : isOwner ? [422, 502] : [422]
      if (!isReported && !wanted.includes(answer.status)) t.fail(`${told} ${answer.status} ${answer.text}`)
      if (JSON.stringify(after) !== JSON.stringify(before)) t.same(after, before, told)
    }
    // Send the update again, with other data in the hidden graphs.
    const isSeen = ([triple, graph]: Quad): boolean => modes.get(graph)!.includes('Read') || !triple.includes('<urn:p:')
    const hidden = randomQuads(random, [...graphs.keys()]).filter((quad) => !isSeen(quad))
    await fill(world, stores, [...quads.filter(isSeen), ...hidden])
    const again = await send()
    if (JSON.stringify(shown(again)) !== JSON.stringify(shown(answer))) t.same(shown(again), shown(answer), told)
  }
  t.ok(count < 100 || (counts.changed > count / 8 && counts.refused > count / 8), JSON.stringify(counts))
})

/** Returns the base of the sources for LOAD. */
async function serveSource(t: Test): Promise<string> {
  const server = createServer(({ url }, answer) =>
    answer.writeHead(url === '/loaded' ? 200 : 404, { 'Content-Type': 'text/turtle' }).end(SOURCE),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Creates a document and another graph for each set of modes, and uses the default graph if it is not a union. */
async function grant({ base, as, webIdOf }: World, isUnion: boolean): Promise<GraphModes> {
  const graphs = new Map<string, Modes>(isUnion ? [] : [['', ['Read', 'Append']]])
  const rules = [`acl:mode acl:Read, acl:Write ; acl:accessTo <${base}sparql>`, `acl:mode acl:Read, acl:Append ; acl:accessTo <urn:triplegate:default-graph>`] // prettier-ignore
  for (const [name, modes] of Object.entries(MODES)) {
    for (const graph of [`${base}u-${name}/`, `http://x.test/u/${name}`]) {
      graphs.set(graph, modes)
      if (graph.startsWith(base)) t.equal((await as('owner')('PUT', new URL(graph).pathname, ttl(''))).status, 201)
      for (const mode of modes) rules.push(`acl:mode acl:${mode} ; acl:accessTo <${graph}>`)
    }
  }
  const body = rules.map((rule, i) => `<#r${i}> a acl:Authorization ; acl:agent <${webIdOf('stranger')}> ; ${rule} .`)
  const turtle = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . ${body.join('\n')}`
  t.equal((await as('owner')('PUT', '/admin/acl/authorizations/differential/', ttl(turtle))).status, 201)
  return graphs
}

async function contentOf({ endUser }: Stores, iri: string): Promise<readonly Quad[]> {
  const rows = await select(endUser, `SELECT ?s ?p ?o { GRAPH <${iri}> { ?s ?p ?o } }`, ['s', 'p', 'o'], LIMIT)
  if (isFailure(rows)) throw new Error(rows.detail)
  return rows.map((row) => [row.map((term) => nTriplesTerm(term!)).join(' '), iri])
}

const LIMIT = { maxBytes: 1024 * 1024 }

/** Behind the gateway, like another client of the store. */
async function fill({ running }: World, { endUser }: Stores, quads: readonly Quad[]): Promise<void> {
  const names = [...new Set([...quads.map(([, graph]) => graph).filter(Boolean), ...Object.keys(MODES).map((name) => `http://x.test/u/${name}`)])] // prettier-ignore
  const insert = quads.map(([triple, graph]) => (graph ? `GRAPH <${graph}> { ${triple} }` : `${triple} .`)).join('\n')
  const text = `${names.map((graph) => `DROP SILENT GRAPH <${graph}>`).join(' ;\n')} ; DROP DEFAULT ; INSERT DATA { ${insert} }`
  const failed = await endUser.update(text)
  if (failed) throw new Error(`${failed.detail} ${lines(quads)}`)
  running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
}

async function found({ endUser, kind }: Stores): Promise<readonly string[]> {
  const about = `?s ?p ?o FILTER(STRSTARTS(STR(?p), "urn:p:"))`
  // Besides the union, Jena has a default graph that only queries with its name read: nothing may end up there.
  const ofDefault = kind === 'fuseki-union' ? `GRAPH <urn:x-arq:DefaultGraph> { ${about} }` : about
  const text = `SELECT ?s ?p ?o ?g { { ${ofDefault} } UNION { GRAPH ?g { ${about} } } }`
  const rows = await select(endUser, text, ['s', 'p', 'o', 'g'], LIMIT)
  if (isFailure(rows)) throw new Error(rows.detail)
  return comparable(
    rows.map(([s, p, o, g]) => [[s, p, o].map((term) => nTriplesTerm(term!)).join(' '), g?.value ?? '']),
  )
}

/** The whole answer except its date and the number of its request. */
const shown = ({ status, fields, text }: Answer): unknown => ({
  ...{ status, text },
  fields: Object.entries(fields).filter(([name]) => !/^date$|request|id$/.test(name)),
})
