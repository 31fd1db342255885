// The cache of documents (spec 4.6, design 5), by the rules of RFC 9111 that concern a gateway cache: Age, validators,
// invalidation, one request to the store at a time, writes behind the gateway, and a store that fails.
import { Readable } from 'node:stream'
import t from 'tap'
import fc from 'fast-check'
import { makeGraphVersions } from '../../../cache/graph-versions.js'
import { makeStoredGraphs } from '../../../cache/stored-graphs.js'
import { isFailure } from '../../../gateway/problem.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { freePort } from '../../support/fuseki.js'
import { startProxy, type StoreProxy } from '../../support/proxy.js'
import { cachedRowsOf, forEachStore, freshDataset, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'
import { startProbe } from '../../../gateway/features/operators/probe.js'
import { gate, until } from '../../support/wait.js'
import { makeWorld, ttl, turtle, update, type World } from '../../support/world.js'

const NT = { Accept: 'application/n-triples' }
const UPDATE = { 'Content-Type': 'application/sparql-update' }
const QUERY = { 'Content-Type': 'application/sparql-query', Accept: 'text/tab-separated-values' }

const purge = async (port: number, query = ''): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}/purge${query}`, { method: 'POST', headers: { 'Triplegate-Management': '1' } }))
    .status

void forEachStore(t, 'cache', async (suite, makeStores, kind) => {
  const row = rowsOf(suite, kind)
  const cachedRow = cachedRowsOf(suite, kind)
  const stores = await makeStores()
  const port = await freePort()
  const world = await makeWorld(suite, stores, { flags: ['--management', String(port), '--dataset-path', '/ds'] })
  const owner = world.as('owner')

  await cachedRow('Age is the time since the store answered; a write resets it', async (t) => {
    world.stopClock(t)
    const path = world.freshPath()
    await owner('PUT', path)
    const age = async () => Number((await owner('GET', path)).fields.age)
    t.equal(await age(), 0)
    world.passTime(1_200)
    t.equal(await age(), 1)
    const { etag } = (await owner('GET', path)).fields
    const unchanged = await owner('GET', path, { fields: { 'If-None-Match': etag! } })
    t.equal(unchanged.status, 304)
    t.equal(unchanged.fields.age, '1', 'RFC 9111 §5.1: a 304 has it too')
    await owner('POST', path, ttl(turtle('"x"')))
    t.equal(await age(), 0)
  })
  const tenth = (n: number): string => Array.from({ length: 10 }, (_, i) => turtle(`"${i === n ? 'x' : i}"`)).join('')
  for (const [name, ...writes] of [
    ['PUT of a few other lines', ['PUT', tenth(3)]],
    ['PUT of the same lines', ['PUT', tenth(-1)]],
    ['PUT of other lines', ['PUT', turtle('"y"')]],
    ['two PUTs', ['PUT', tenth(3)], ['PUT', tenth(4)]],
    ['POST', ['POST', turtle('"y"')]],
  ] as const)
    await row(`the tag of a write equals that of the document read again: ${name}`, async (t) => {
      const path = world.freshPath()
      await owner('PUT', path, ttl(tenth(-1)))
      let etag: string | undefined
      for (const [method, content] of writes) ({ etag } = (await owner(method, path, ttl(content))).fields)
      t.equal(await purge(port), 200)
      t.equal((await owner('GET', path, { fields: { Accept: 'text/turtle' } })).fields.etag, etag)
    })
  await cachedRow('POST /purge makes a write behind the gateway visible: all, one dataspace, one graph', async (t) => {
    const path = world.freshPath()
    const graph = world.origin + path
    for (const [i, query] of ['', `?dataspace=${world.base}`, `?graph=${graph}`].entries()) {
      await owner('PUT', path)
      const before = (await owner('GET', path, { fields: NT })).text
      await stores.endUser.replace(graph, `<${graph}> <http://e/p> "${i}" .\n`)
      t.equal((await owner('GET', path, { fields: NT })).text, before, 'still the cached response')
      t.equal(await purge(port, query), 200)
      t.match((await owner('GET', path, { fields: NT })).text, `"${i}"`)
      await stores.endUser.remove(graph)
      await purge(port, query)
    }
    t.equal(await purge(port, '?dataspace=https://nowhere.example/'), 404)
    t.equal((await fetch(`http://127.0.0.1:${port}/purge`)).status, 405)
  })
  await cachedRow('POST /purge of a graph that is below no base', async (t) => {
    const url = '/ds/data?graph=urn:x:purged'
    await owner('PUT', url, ttl('<urn:a> <urn:b> "before" .'))
    t.match((await owner('GET', url)).text, '"before"')
    await stores.endUser.replace('urn:x:purged', '<urn:a> <urn:b> "behind" .\n')
    t.match((await owner('GET', url)).text, '"before"', 'still the cached response')
    t.equal(await purge(port, '?graph=urn:x:purged'), 200)
    t.match((await owner('GET', url)).text, '"behind"')
  })
  await cachedRow('POST /purge makes a rule written behind the gateway effective', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path)
    const rule = `${world.base}admin/acl/authorizations/behind/`
    const acl = 'http://www.w3.org/ns/auth/acl#'
    const lines = [
      ['http://www.w3.org/1999/02/22-rdf-syntax-ns#type', `${acl}Authorization`],
      [`${acl}agent`, world.webIdOf('stranger')],
      [`${acl}mode`, `${acl}Read`],
      [`${acl}accessTo`, world.origin + path],
    ].map(([property, value]) => `<${rule}#this> <${property}> <${value}> .\n`)
    await stores.admin.replace(rule, lines.join(''))
    t.equal((await world.as('stranger')('GET', path)).status, 403)
    t.equal(await purge(port), 200)
    t.equal((await world.as('stranger')('GET', path)).status, 200)
    await stores.admin.remove(rule)
    t.equal(await purge(port, `?graph=${rule}`), 200)
    t.equal((await world.as('stranger')('GET', path)).status, 403)
  })
  await row('a write does not overwrite a state that was written behind the gateway', async (t) => {
    const path = world.freshPath()
    const graph = world.origin + path
    await owner('PUT', path)
    const { etag } = (await owner('GET', path)).fields
    await stores.endUser.replace(graph, `<${graph}> <http://e/p> "behind" .\n`)
    t.equal((await owner('PUT', path, { fields: { 'If-Match': etag! } })).status, 412)
    t.equal((await owner('POST', path, ttl(turtle('"appended"')))).status, 204)
    t.match((await owner('GET', path)).text, 'behind')
  })
  await row('access is decided before every look-up: no cached document for agents without access', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path)
    for (let i = 0; i < 3; i++) t.equal((await owner('GET', path)).status, 200)
    const refused = await world.as('stranger')('GET', path)
    t.equal(refused.status, 403)
    t.equal(refused.fields.etag, undefined)
    t.equal(refused.fields.age, undefined)
    const { etag } = (await owner('GET', path)).fields
    t.equal((await world.as('anonymous')('GET', path, { fields: { 'If-None-Match': etag! } })).status, 403)
    const read = await world.as('reader')('GET', path)
    t.notMatch(read.fields.link, world.ownerWebId, 'no fields about the other agent')
  })
  await cachedRow('a probe tells writes behind the gateway from writes through it, in one interval too', async (t) => {
    const { dataspaces, gateway } = world.running
    const probe = startProbe(dataspaces, gateway, 1_000_000)
    t.teardown(probe.close)
    const [path, both, other] = [world.freshPath(), world.freshPath(), world.freshPath()]
    const behind = (path: string, value: string) =>
      stores.endUser.replace(world.origin + path, `<${world.origin}${path}> <http://e/p> "${value}" .\n`)
    const noticed = (): number => world.log.filter(({ msg }) => String(msg).includes('behind the gateway')).length
    for (const each of [path, both, other]) await owner('PUT', each)
    await probe.look()
    await probe.look()
    t.equal(noticed(), 0, 'writes through the gateway are not reported')
    await behind(both, 'one')
    await owner('POST', both, ttl(turtle('"ours"')))
    await behind(both, 'one and another')
    await probe.look()
    t.match((await owner('GET', both)).text, /one and another/, 'a document that was written both ways is read again')
    await owner('PUT', other, ttl(turtle('"ours"')))
    await behind(path, 'two')
    await probe.look()
    t.match((await owner('GET', path)).text, /two/)
    t.equal(noticed(), 1)
    await probe.look()
    await stores.endUser.remove(world.origin + path)
    await behind(world.freshPath(), 'three')
    await probe.look()
    t.equal((await owner('GET', path)).status, 404)
    t.equal(noticed(), 2)
    await probe.look()
    t.equal(noticed(), 2, 'each write is reported once')
  })
  await cachedRow('a probe notices a write before its first look', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path)
    await owner('GET', path)
    await stores.endUser.replace(world.origin + path, `<${world.origin}${path}> <http://e/p> "early" .\n`)
    const probe = startProbe(world.running.dataspaces, world.running.gateway, 1_000_000)
    t.teardown(probe.close)
    await probe.look()
    t.match((await owner('GET', path)).text, /early/)
  })
  await cachedRow(
    'a probe notices a write of the default graph, and one that changes dct:modified alone',
    async (t) => {
      const probe = startProbe(world.running.dataspaces, world.running.gateway, 1_000_000)
      t.teardown(probe.close)
      const noticed = () => world.log.filter(({ msg }) => String(msg).includes('behind the gateway'))
      const count = async () => (await owner('POST', '/sparql', { fields: QUERY, body: ALL })).text
      const path = world.freshPath()
      const dated = (time: string) =>
        stores.endUser.replace(world.origin + path, `<http://e/s> <http://purl.org/dc/terms/modified> "${time}" .\n`)
      await dated('2026-01-01T00:00:00Z')
      await probe.look()
      const [before, reports] = [await count(), noticed().length]
      await stores.endUser.update('INSERT DATA { <http://e/default> <http://e/p> "o" }')
      t.equal(await count(), before, 'cached')
      await probe.look()
      t.not(await count(), before)
      t.match(noticed().at(-1), { count: 1, graphs: ['the default graph'] })
      await owner('PUT', world.freshPath())
      await probe.look()
      t.equal(noticed().length, reports + 1, 'a write through the gateway is not reported')
      await dated('2026-01-01T00:00:01Z')
      await probe.look()
      t.match(noticed().at(-1), { count: 1, graphs: [world.origin + path] })
      t.equal(noticed().length, reports + 2)
      await stores.endUser.update('DELETE DATA { <http://e/default> <http://e/p> "o" }')
    },
  )
  for (const behind of [true, false]) {
    const other = behind ? 'beside one behind the gateway' : 'and after another of ours'
    await cachedRow(`a write of ours while the probe asks, ${other}: no change behind the gateway`, async (t) => {
      const { dataspaces, gateway } = world.running
      const probe = startProbe(dataspaces, gateway, 1_000_000)
      t.teardown(probe.close)
      const [path, first] = [world.freshPath(), world.freshPath()]
      await owner('PUT', path)
      await probe.look()
      const noticed = (): number => world.log.filter(({ msg }) => String(msg).includes('behind the gateway')).length
      const before = noticed()
      if (behind) await stores.endUser.replace(world.origin + first, '<http://e/s> <http://e/p> <http://e/o> .\n')
      else await owner('PUT', path, ttl(turtle('"one"')))
      // The store has answered the query before the write arrives.
      const store = dataspaces[0]!.endUser.store as { query: GraphStore['query'] }
      const { query } = store
      store.query = async (...asked) => {
        const answer = await query(...asked)
        if (isFailure(answer)) return answer
        const pieces: Uint8Array[] = []
        for await (const piece of answer) pieces.push(piece)
        await owner('PUT', path, ttl(turtle('"one and another"')))
        return Readable.from(pieces)
      }
      await probe.look()
      store.query = query
      t.equal(noticed(), before + Number(behind))
      await probe.look()
      t.equal(noticed(), before + Number(behind), 'nor at the next look')
      await stores.endUser.replace(world.origin + path, '<http://e/s> <http://e/p> <http://e/o> .\n')
      await probe.look()
      await probe.look()
      t.match((await owner('GET', path)).text, /example|e\/o/, 'later writes behind the gateway are read')
    })
  }
  await cachedRow('property: after any sequence of writes, cached reads and queries equal uncached ones', async (t) => {
    await cachedEqualsUncached(world, port)
    t.pass()
  })
})

const ALL = 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }'
const PATTERN = '?s <http://e/p> ?o'
const replaceIn = (graph: string, triple: string): string =>
  `DELETE { GRAPH ?g { ${PATTERN} } } INSERT { GRAPH <${graph}> { ${triple} } } WHERE { GRAPH ?g { ${PATTERN} } }`

async function cachedEqualsUncached(world: World, port: number): Promise<void> {
  const paths = [0, 1, 2].map(() => world.freshPath())
  const agents = ['owner', 'writer']
  const queries = [
    ...paths.map((path) => `SELECT ?s ?p ?o { GRAPH <${world.origin}${path}> { ?s ?p ?o } } ORDER BY ?s ?p ?o`),
    'SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g',
  ]
  const step = fc.record({
    agent: fc.constantFrom(...agents),
    action: fc.constantFrom('PUT', 'POST', 'PATCH', 'DELETE', 'update', 'clear', 'read', 'query'),
    at: fc.nat(paths.length - 1),
    value: fc.nat(3),
  })
  const look = async (): Promise<string[]> => {
    const answers = [
      ...paths.flatMap((path) => [world.as('owner')('GET', path), world.as('owner')('GET', path, { fields: NT })]),
      ...queries.map((body) => world.as('owner')('POST', '/sparql', { fields: QUERY, body })),
    ]
    return (await Promise.all(answers)).map(({ status, fields, text }) => `${status} ${fields.etag} ${text}`)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      for (const { agent, action, at, value } of steps) {
        const path = paths[at]!
        const graph = world.origin + path
        const client = world.as(agent)
        const triple = `<${graph}#x> <http://e/p> "${value}"`
        const endpoint = (fields: Record<string, string>, body: string) => client('POST', '/sparql', { fields, body })
        if (action === 'PUT') await client('PUT', path, ttl(`${triple} .`))
        else if (action === 'POST') await client('POST', path, ttl(`${triple} .`))
        else if (action === 'PATCH') await client('PATCH', path, update(`INSERT { ${triple} } WHERE {}`))
        else if (action === 'DELETE') await client('DELETE', path)
        else if (action === 'update') await endpoint(UPDATE, replaceIn(graph, triple))
        else if (action === 'clear') await endpoint(UPDATE, `CLEAR SILENT GRAPH <${graph}>`)
        else if (action === 'read') await client('GET', path)
        else await endpoint(QUERY, queries[at]!)
      }
      const cached = await look()
      const again = await look()
      await purge(port)
      const uncached = await look()
      for (const [i, answer] of uncached.entries()) {
        if (cached[i] !== answer || again[i] !== answer) throw new Error(`cached:\n${cached[i]}\nuncached:\n${answer}`)
      }
    }),
    { numRuns: 25 },
  )
}

/** Waits until the probe, which runs on a real timer, has seen every write so far. */
async function probed({ requests }: StoreProxy): Promise<void> {
  const before = new Set(requests)
  const looks = (): number =>
    requests.filter((request) => !before.has(request) && request.body.includes('MAX(?changed)')).length
  // The probe runs again only after comparing the answer with its previous one. A write that comes while it looks counts
  // for the next comparison too.
  await until(() => looks() >= 3)
}

void t.test('the cache in front of a store', async (suite) => {
  const missing = await reasonWithoutFuseki()
  if (missing) return suite.test('cache in front of a store (fuseki)', { skip: missing }, () => undefined)
  const row = rowsOf(suite, 'fuseki')
  const cachedRow = cachedRowsOf(suite, 'fuseki')
  const proxy = await startProxy(await freshDataset(suite))
  suite.teardown(() => proxy.stop())
  const admin = openHttpStore(fusekiEndpoints(await freshDataset(suite)))
  const endUser = openHttpStore(fusekiEndpoints(proxy.url))
  suite.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const stores = { endUser, admin }
  const flags = ['--cache-max-age', '1000', '--stale-if-error', '60000', '--probe', '300']
  const world = await makeWorld(suite, stores, { flags })
  // Cached entries age only in the rows that say so.
  world.stopClock(suite)
  const owner = world.as('owner')
  const reads = (path: string): number =>
    proxy.requests.filter(({ method, graph }) => method === 'GET' && graph === world.origin + path).length

  await cachedRow('a cached read sends no request to the store, nor does one of an absent document', async (t) => {
    const [path, absent] = [world.freshPath(), world.freshPath()]
    await owner('PUT', path)
    // A write through the gateway makes the probe forget the document.
    await probed(proxy)
    for (const each of [path, absent]) await owner('GET', each)
    proxy.requests.length = 0
    for (let i = 0; i < 5; i++) {
      t.equal((await owner('GET', path)).status, 200)
      t.equal((await owner('GET', absent)).status, 404)
    }
    t.same([reads(path), reads(absent)], [0, 0])
  })
  await row('one request to the store at a time, however many clients wait', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path)
    // A write through the gateway makes the probe forget the document, which would be a second request.
    await probed(proxy)
    world.passTime(1_100)
    proxy.requests.length = 0
    const { opened, open } = gate()
    proxy.fault({ kind: 'held', until: opened, only: ({ graph }) => graph === world.origin + path })
    const { documents } = world.running.dataspaces[0]!.endUser.cache
    const { get } = documents
    let come = 0
    const counted: typeof get = (graph, client) => {
      if (graph === world.origin + path) come++
      return get(graph, client)
    }
    Object.assign(documents, { get: counted })
    const answers = Promise.all(Array.from({ length: 10 }, () => owner('GET', path)))
    await until(() => come === 10 && reads(path) > 0)
    open()
    t.ok((await answers).every(({ status }) => status === 200))
    Object.assign(documents, { get })
    proxy.fault(undefined)
    t.equal(reads(path), 1)
  })
  await row('--cache-max-age limits the age of a response', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path)
    await probed(proxy)
    await owner('GET', path)
    world.passTime(1_100)
    proxy.requests.length = 0
    t.equal((await owner('GET', path)).fields.age, '0')
    t.equal(reads(path), 1)
  })
  await cachedRow(
    'RFC 5861 §4: --stale-if-error: cached documents and results with their true Age, writes 503',
    async (t) => {
      const path = world.freshPath()
      const result = (graph: string) =>
        `/sparql?query=${encodeURIComponent(`SELECT ?s { GRAPH <${graph}> { ?s a ?t } }`)}`
      const query = result(world.origin + path)
      await owner('PUT', path)
      // A write through the gateway makes the probe forget the document.
      await probed(proxy)
      await owner('GET', path)
      const fresh = await owner('GET', query)
      world.passTime(1_300)
      proxy.fault({ kind: 'answer', status: 503, fields: { 'Retry-After': '7' } })
      const stale = await owner('GET', path)
      const unknown = await owner('GET', world.freshPath())
      const staleResult = await owner('GET', query)
      const unknownResult = await owner('GET', result('http://e/unknown'))
      const write = await owner('PUT', path)
      proxy.fault(undefined)
      t.equal(stale.status, 200)
      t.equal(stale.fields.age, '1')
      t.same([unknown.status, write.status], [503, 503])
      t.same([fresh.status, staleResult.status, unknownResult.status], [200, 200, 503])
      t.same([staleResult.text, staleResult.fields.etag], [fresh.text, fresh.fields.etag])
      t.equal(staleResult.fields.age, '1')
      t.equal(unknownResult.fields['retry-after'], '7')
      t.equal(write.fields['retry-after'], '7')
      t.equal((await owner('GET', path)).fields.age, '0', 'fresh again when the store answers')
    },
  )
  await row('--probe notices a write behind the gateway and logs it', async (t) => {
    const path = world.freshPath()
    const graph = world.origin + path
    await owner('PUT', path)
    await probed(proxy)
    world.log.length = 0
    await endUser.replace(graph, `<${graph}> <http://e/p> "written behind the gateway" .\n`)
    await until(() => world.log.some(({ msg }) => String(msg).includes('changed behind the gateway')))
    t.match((await owner('GET', path)).text, 'behind')
    await endUser.update('INSERT DATA { <http://e/s> <http://e/p> "in the default graph" }')
    t.ok(
      await until(() => world.log.some(({ graphs }) => String(graphs).includes('the default graph'))),
      'a write to the default graph too',
    )
  })
})

void t.test('property: stored graphs never give a state older than the last write with a response', async (t) => {
  interface Value {
    readonly n: number
  }
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom('read', 'write', 'doubt'), { maxLength: 12 }),
      async (s, steps) => {
        let stored = 0
        let acknowledged = 0
        let clock = 0
        const versions = makeGraphVersions()
        const graphs = makeStoredGraphs<Value, { failure: true }>({
          maxBytes: 10_000,
          staleIfError: 0,
          versions,
          now: () => clock++,
          ask: async () => {
            await s.schedule(Promise.resolve())
            const n = stored
            await s.schedule(Promise.resolve())
            return { n }
          },
          isFailure: (answer): answer is { failure: true } => answer !== undefined && 'failure' in answer,
          sizeOf: () => 10,
        })
        // One writer at a time, as the document's lock ensures.
        let writing: Promise<void> = Promise.resolve()
        const write = async (): Promise<void> => {
          const n = stored + 1
          const asOf = versions.of('g')
          await s.schedule(Promise.resolve())
          stored = n
          await s.schedule(Promise.resolve())
          graphs.put('g', { n }, asOf)
          acknowledged = n
        }
        const all = steps.map((step) => {
          if (step === 'write') return (writing = writing.then(write))
          if (step === 'doubt') return s.schedule(Promise.resolve()).then(() => versions.inDoubt('g', clock + 5))
          return s.schedule(Promise.resolve()).then(async () => {
            const least = acknowledged
            const answer = await graphs.get('g')
            if (!('answeredAt' in answer) || answer.value!.n < least)
              throw new Error('older than the acknowledged write')
          })
        })
        await s.waitFor(Promise.all(all))
        const last = await s.waitFor(Promise.resolve(graphs.get('g')))
        if (!('answeredAt' in last) || last.value!.n !== stored) throw new Error('not the last state')
      },
    ),
  )
  t.pass()
})

void t.test('the cache is bounded by bytes; 0 caches nothing', async (t) => {
  const make = (maxBytes: number) =>
    makeStoredGraphs<{ size: number }, { failure: true }>({
      maxBytes,
      staleIfError: 0,
      versions: makeGraphVersions(),
      now: () => 0,
      ask: () => Promise.resolve({ size: 1000 }),
      isFailure: (answer): answer is { failure: true } => answer !== undefined && 'failure' in answer,
      sizeOf: ({ size }) => size,
    })
  const graphs = make(10_000)
  for (let i = 0; i < 100; i++) await graphs.get(`g${i}`)
  t.ok(graphs.bytes() <= 10_000)
  t.notOk(graphs.get('g99') instanceof Promise, 'the last graph is cached')
  t.ok(graphs.get('g0') instanceof Promise, 'the first graph is no longer cached')
  const none = make(0)
  await none.get('g')
  t.ok(none.get('g') instanceof Promise)
})

void t.test('a state written while an earlier write may still take effect is not cached', async (t) => {
  const versions = makeGraphVersions()
  let time = 0
  const graphs = makeStoredGraphs<{ by: string }, { failure: true }>({
    ...{ maxBytes: 10_000, staleIfError: 0, versions, now: () => time, sizeOf: () => 10 },
    ask: () => Promise.resolve({ by: 'store' }),
    isFailure: (answer): answer is { failure: true } => answer !== undefined && 'failure' in answer,
  })
  versions.inDoubt('g', 5)
  for (const cached of [undefined, { by: 'writer' }]) {
    graphs.put('g', { by: 'writer' }, versions.of('g'))
    t.same(graphs.cached('g')?.value, cached)
    t.match(await graphs.get('g'), { value: cached ?? { by: 'store' } })
    time = 6
    versions.isSettled('g', time)
  }
})
