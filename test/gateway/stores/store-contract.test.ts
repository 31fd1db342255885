// The contract of a triplestore, tested on every kind of store: embedded, and HTTP with a real Fuseki.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { Parser } from 'n3'
import t, { type Test } from 'tap'
import { openEmbeddedStore, type EmbeddedStoreSettings } from '../../../gateway/stores/embedded-store.js'
import { graphOf } from '../../../gateway/rdf/graph.js'
import { isFailure, type Problem } from '../../../gateway/problem.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { forEachStore, isOnOtherStore, rowsOf } from '../../support/stores.js'
import { until } from '../../support/wait.js'

const DOCUMENT = 'https://data.example/a/'
const TSV = 'text/tab-separated-values'

/** The canonical lines of N-Triples in any order and spelling. */
const linesOf = (nTriples: string | undefined | Problem): readonly string[] => {
  if (typeof nTriples !== 'string') throw new Error(`no triples: ${JSON.stringify(nTriples)}`)
  return graphOf(new Parser({ format: 'N-Triples' }).parse(nTriples)).lines
}
const one = (value: string) => `<${DOCUMENT}> <http://purl.org/dc/terms/title> "${value}" .\n`

async function textOf(pieces: AsyncIterable<Uint8Array> | Problem): Promise<string> {
  if (isFailure(pieces)) throw new Error(pieces.detail)
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all).toString()
}

const TERMS: readonly [name: string, object: string][] = [
  ['an IRI', '<https://data.example/b/?q=1&r=%C3%A9#this>'],
  ['an IRI beyond ASCII', '<https://data.example/日本/é>'],
  ['a plain string', '"x"'],
  ['an empty string', '""'],
  ['quotes and backslashes', String.raw`"a \"b\" 'c' \\ \\u0041"`],
  ['line ends and tabs', String.raw`"a\nb\rc\td\r\n"`],
  ['other control characters', String.raw`"\b\f\u0001\u001F\u007F"`],
  ['Unicode', '"é ñ 日本語 \u{1F600} \uFFFD \u00A0 \u2028"'],
  ['text like the end of a triple', '"x> . <y> \\" . } ; DROP ALL #"'],
  ['white space at the ends', '"  x  "'],
  ['a language tag', '"colour"@en-gb'],
  ['an integer', '"042"^^<http://www.w3.org/2001/XMLSchema#integer>'],
  ['a decimal', '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>'],
  ['a double', '"1.0E0"^^<http://www.w3.org/2001/XMLSchema#double>'],
  ['a boolean', '"1"^^<http://www.w3.org/2001/XMLSchema#boolean>'],
  ['a date and time', '"2026-11-20T19:13:48.000Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'],
  ['an ill-typed literal', '"abc"^^<http://www.w3.org/2001/XMLSchema#integer>'],
  ['an unknown datatype', '"x"^^<urn:example:datatype>'],
  ['a base direction (RDF 1.2)', '"x"@en--ltr'],
  ['a triple term (RDF 1.2)', '<<( <urn:a> <urn:b> <<( <urn:c> <urn:d> "042"^^<urn:example:datatype> )>> )>>'],
]

const GRAPHS = [
  'https://data.example/',
  'https://data.example',
  'https://data.example/a/',
  'https://data.example/a',
  'https://data.example/A/',
  'https://data.example/a%20b/',
  'https://data.example/a+b/',
  'https://data.example/a%2Fb/',
  'https://data.example/a%2fb/',
  'https://data.example/%22quoted%22/',
  "https://data.example/it's/",
  'https://data.example/(x)*!,;=:@$/',
  'https://data.example/é/日本/',
  'https://data.example/%C3%A9/',
  'https://data.example/\u{1F600}/',
  'https://data.example/?q=1&graph=https://data.example/',
  'https://data.example/?default',
  'https://data.example/a/#this',
  'https://data.example/100%25/',
  'urn:example:a',
] as const

/** A query that counts ten to the power of this many rows. */
const counting = (power: number) => {
  const digits = Array.from({ length: power }, (_, i) => `VALUES ?v${i} { 0 1 2 3 4 5 6 7 8 9 }`)
  return `SELECT (COUNT(*) AS ?n) { ${digits.join(' ')} }`
}

/** The failures of a request that certainly had no effect. */
const REFUSAL = /^(?:store\.refused|query\.syntax|update\.syntax|update\.failed)$/

await forEachStore(t, 'the contract of a store', async (suite, makeStores, kind) => {
  const { endUser: store, admin } = await makeStores()
  const row = rowsOf(suite, kind)

  await row('a store is ready', async (t) => t.equal(await store.ready(), undefined))
  await row('an absent graph', async (t) => t.equal(await store.read('https://data.example/none/'), undefined))

  for (const [name, object] of TERMS)
    await row(`is read as it was written: ${name}`, async (t) => {
      const triple = `<${DOCUMENT}> <urn:p> ${object} .\n`
      t.equal(await store.replace(DOCUMENT, triple), undefined)
      t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(triple))
    })

  await row('two spellings of a value are two triples', async (t) => {
    const integer = (value: string) =>
      `<${DOCUMENT}> <urn:p> "${value}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n`
    await store.replace(DOCUMENT, integer('42') + integer('042') + integer('+42'))
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(integer('42') + integer('042') + integer('+42')))
    await store.replace(DOCUMENT, integer('42'))
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(integer('42')))
  })
  await row('an update of a graph keeps the spelling of its other triples', async (t) => {
    const seconds = (value: string) =>
      `<${DOCUMENT}> <urn:p> "2026-11-20T19:13:${value}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n`
    await store.replace(DOCUMENT, seconds('48.100') + seconds('49.000') + one('x'))
    await store.update(`DELETE DATA { GRAPH <${DOCUMENT}> { ${seconds('49.000')} ${one('x')} } }`)
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(seconds('48.100')))
  })
  await row('each blank node stays one node', async (t) => {
    await store.replace(DOCUMENT, '_:a <urn:p> _:b .\n_:b <urn:p> _:a .\n_:b <urn:q> "b" .\n')
    const query = `ASK { GRAPH <${DOCUMENT}> { ?a <urn:p> ?b . ?b <urn:p> ?a ; <urn:q> "b" } }`
    t.match(await textOf(await store.query(query, 'application/sparql-results+json')), /"boolean"\s*:\s*true/)
    t.equal(linesOf(await store.read(DOCUMENT)).length, 3)
  })
  await row('replacing a graph removes all its triples', async (t) => {
    await store.replace(DOCUMENT, one('1') + one('2'))
    t.equal(await store.replace(DOCUMENT, one('3')), undefined)
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('3')))
  })
  await row('a graph of thousands of triples', async (t) => {
    const many = Array.from({ length: 5_000 }, (_, i) => one(`${i} é`)).join('')
    t.equal(await store.replace(DOCUMENT, many), undefined)
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(many))
  })
  await row('malformed triples change nothing', async (t) => {
    await store.replace(DOCUMENT, one('old'))
    for (const broken of [one('new') + '<a> <b> .', '} } ; DROP ALL #', '<https://data.example/> <urn:p> "x'])
      t.match(await store.replace(DOCUMENT, broken), { failure: REFUSAL })
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('old')))
  })
  for (const length of [10, 200_000]) {
    await row(`an excerpt of a graph with a literal of ${length} characters`, async (t) => {
      const [graph, rdf, acl, cert] = ['https://data.example/excerpt/', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#', 'http://www.w3.org/ns/auth/acl#', 'http://www.w3.org/ns/auth/cert#'] // prettier-ignore
      const fact = `<${graph}> <${rdf}type> <urn:T> .`
      const key = `<${graph}#me> <${cert}key> <${graph}#key> .`
      const others = `<${graph}> <urn:p> "${'x'.repeat(length)}" .\n<${graph}#me> <${rdf}type> <urn:Agent> .`
      t.equal(await store.excerpt(graph, 'facts'), undefined, 'no graph')
      await store.replace(graph, `${fact}\n${others}\n${key}\n`)
      const own = (nTriples: string | undefined | Problem) =>
        linesOf(nTriples).filter((line) => !line.includes('urn:triplegate:'))
      t.same(own(await store.excerpt(graph, 'facts')), [fact])
      t.same(own(await store.excerpt(graph, 'profile')), [key])
      await store.replace(graph, `<urn:s> <${acl}owner> <urn:o> .\n`)
      t.same(own(await store.excerpt(graph, 'facts')), [], 'a graph without facts exists all the same')
      t.not(await store.excerpt(graph, 'facts'), undefined)
      await store.remove(graph)
      t.equal(await store.excerpt(graph, 'facts'), undefined, 'removed')
    })
  }
  await row('canonical text is stored as it is, and read as any other', async (t) => {
    const canonical = graphOf(new Parser().parse(one('a') + one('b') + `_:x <urn:p> "é\\n" .`))
    const text = canonical.lines.map((line) => `${line}\n`).join('')
    for (const content of [text, one('a')]) {
      t.equal(await store.replace(DOCUMENT, content, { canonical: true }), undefined)
      const read = await store.read(DOCUMENT)
      t.equal(linesOf(read).length, content.split('\n').length - 1)
      t.match(
        await textOf(await store.query(`SELECT (COUNT(*) AS ?n) { GRAPH <${DOCUMENT}> { ?s ?p ?o } }`, TSV)),
        String(linesOf(read).length),
      )
    }
  })
  await row('removing a graph', async (t) => {
    await store.replace(DOCUMENT, one('x'))
    t.equal(await store.remove(DOCUMENT), undefined)
    t.equal(await store.read(DOCUMENT), undefined)
  })
  await row('removing an absent graph is no failure', async (t) =>
    t.equal(await store.remove('https://data.example/none/'), undefined),
  )

  await row('every graph name is a graph of its own', async (t) => {
    for (const graph of GRAPHS) t.equal(await store.replace(graph, one(graph)), undefined, graph)
    for (const graph of GRAPHS) t.strictSame(linesOf(await store.read(graph)), linesOf(one(graph)), graph)
    const results = await textOf(await store.query('SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }', TSV))
    const [, ...names] = results.trim().split('\n')
    t.strictSame(names.sort(), GRAPHS.map((graph) => `<${graph}>`).sort())
    for (const graph of GRAPHS) t.equal(await store.remove(graph), undefined, graph)
    // For an absent graph with a name beyond ASCII, Fuseki 5.6 answers 500.
    for (const graph of GRAPHS) {
      t.equal(await store.read(graph), undefined, graph)
      t.equal(await store.stream(graph), undefined, graph)
      t.equal(await store.remove(graph), undefined, graph)
    }
  })
  await row('a graph name that is no IRI changes no graph', async (t) => {
    await store.replace(DOCUMENT, one('old'))
    const names = [`${DOCUMENT}> ; DROP ALL #`, `x> } } ; DROP ALL #`, `${DOCUMENT}" ; DROP ALL`, `${DOCUMENT}\n`]
    for (const name of names) {
      await store.remove(name)
      await store.replace(name, one('x'))
    }
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('old')))
  })

  await row('a SELECT as TSV', async (t) => {
    await store.replace(DOCUMENT, `<${DOCUMENT}> <urn:p> "a\\tb"@en .\n<${DOCUMENT}> <urn:p> <urn:x> .\n`)
    const results = await textOf(await store.query(`SELECT ?o { GRAPH <${DOCUMENT}> { ?s <urn:p> ?o } }`, TSV))
    t.strictSame(results.trim().split('\n').sort(), ['"a\\tb"@en', '<urn:x>', '?o'])
  })
  await row('a SELECT as CSV, JSON and XML', async (t) => {
    for (const [mediaType, expected] of [
      ['text/csv', /^x\r\n1\r\n$/],
      ['application/sparql-results+json', /"value"\s*:\s*"1"/],
      ['application/sparql-results+xml', /<literal[^>]*>1<\/literal>/],
    ] as const)
      t.match(await textOf(await store.query('SELECT ?x { VALUES ?x { 1 } }', mediaType)), expected, mediaType)
  })
  await row('a SELECT without results is an answer', async (t) =>
    t.equal((await textOf(await store.query('SELECT ?o { ?s <urn:none> ?o }', TSV))).trim(), '?o'),
  )
  await row('a CONSTRUCT as N-Triples and Turtle', async (t) => {
    await store.replace(DOCUMENT, one('x'))
    for (const mediaType of ['application/n-triples', 'text/turtle']) {
      const query = `CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <${DOCUMENT}> { ?s ?p ?o } }`
      const text = await textOf(await store.query(query, mediaType))
      t.strictSame(graphOf(new Parser({ format: mediaType }).parse(text)).lines, linesOf(one('x')), mediaType)
    }
  })
  await row('named graphs are not in the default graph', async (t) => {
    await store.replace(DOCUMENT, one('x'))
    t.match(await textOf(await store.query('ASK { ?s ?p ?o }', 'application/sparql-results+json')), /false/)
  })
  await row('a malformed query', async (t) => {
    t.match(await store.query('SELECT * {', TSV), { failure: REFUSAL })
    t.match(await store.query('DROP ALL', TSV), { failure: REFUSAL }, 'an update is no query')
    t.equal(await store.ready(), undefined, 'the store continues')
  })
  await row('a query whose results do not have the requested format', async (t) =>
    t.match(await store.query('SELECT ?s { ?s ?p ?o }', 'application/n-triples'), { failure: String }),
  )

  await row('an update', async (t) => {
    await store.remove(DOCUMENT)
    t.equal(await store.update(`INSERT DATA { GRAPH <${DOCUMENT}> { ${one('a')} } }`), undefined)
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('a')))
    t.equal(await store.update(`DELETE WHERE { GRAPH <${DOCUMENT}> { ?s ?p ?o } }`), undefined)
    t.equal(await store.read(DOCUMENT), undefined, 'an emptied graph no longer exists')
  })
  await row('a malformed update changes nothing', async (t) => {
    await store.replace(DOCUMENT, one('old'))
    t.match(await store.update(`DROP GRAPH <${DOCUMENT}> ; NONSENSE`), { failure: REFUSAL })
    t.match(await store.update('SELECT * { ?s ?p ?o }'), { failure: REFUSAL }, 'a query is no update')
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('old')))
  })
  await row('a write does not change the other dataset', async (t) => {
    await store.replace(DOCUMENT, one('x'))
    t.equal(await admin.read(DOCUMENT), undefined)
  })

  await row('many graphs at once', async (t) => {
    const graphs = Array.from({ length: 100 }, (_, i) => `https://data.example/many/${i}/`)
    const written = await Promise.all(graphs.map((graph) => store.replace(graph, one(graph))))
    t.ok(written.every((result) => result === undefined))
    const texts = await Promise.all(graphs.map((graph) => store.read(graph)))
    const expected = graphs.map((graph) => linesOf(one(graph)))
    t.strictSame(texts.map(linesOf), expected)
  })
  await row('many writes of one graph at once: the result is one of them, never a mixture', async (t) => {
    const versions = Array.from({ length: 20 }, (_, i) => one(`${i} a`) + one(`${i} b`))
    const seen: Promise<unknown>[] = []
    await store.replace(DOCUMENT, versions[0]!)
    for (const version of versions) seen.push(store.replace(DOCUMENT, version), store.read(DOCUMENT))
    const possible = versions.map((version) => linesOf(version).join())
    const read = (await Promise.all(seen)).filter((result) => result !== undefined)
    t.equal(read.length, versions.length)
    for (const text of [...read, await store.read(DOCUMENT)]) t.ok(possible.includes(linesOf(text as string).join()))
  })

  await row('a call with an aborted signal does nothing', async (t) => {
    await store.replace(DOCUMENT, one('old'))
    const call = { signal: AbortSignal.abort() }
    for (const result of [
      await store.replace(DOCUMENT, one('new'), call),
      await store.remove(DOCUMENT, call),
      await store.update('DROP ALL', call),
      await store.read(DOCUMENT, call),
      await store.query('ASK {}', TSV, call),
      await store.ready(call),
    ])
      t.match(result, { failure: /^store\.(?:failed|refused)$/ })
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('old')))
  })
  await row('a signal that aborts ends the call at once, and the store continues', async (t) => {
    const gone = new AbortController()
    const slow = store.query(counting(6), TSV, { signal: gone.signal })
    await sleep(20)
    const started = performance.now()
    gone.abort()
    const outcome = await slow
    const failed = await textOf(outcome).then(
      () => false,
      () => true,
    )
    // A fast machine may have answered before. Otherwise the call must not wait for the end of the query.
    if (failed) t.ok(performance.now() - started < 10_000)
    t.equal(await store.ready(), undefined)
  })

  await row('after closing every call fails', async (t) => {
    const { endUser: store } = await makeStores()
    await store.close()
    t.ok(isFailure(await store.read(DOCUMENT)))
    t.ok(isFailure(await store.replace(DOCUMENT, one('x'))))
    t.ok(isFailure(await store.ready()))
  })
})

const embeddedRow = rowsOf(t, 'embedded')
type OnStore = (t: Test, store: GraphStore) => Promise<unknown>
const embedded = async (name: string, run: OnStore, settings: EmbeddedStoreSettings = {}) => {
  if (isOnOtherStore) return
  await embeddedRow(name, async (t) => {
    const store = await openEmbeddedStore('test', settings)
    t.teardown(() => store.close())
    await run(t, store)
  })
}

const ENDLESS = counting(15)
const ENDLESS_UPDATE = `INSERT { GRAPH <${DOCUMENT}> { <urn:s> <urn:p> ?n } } WHERE { { ${ENDLESS} } }`
const COUNT_OF_ALL = 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }'
const countIn = async (store: GraphStore) => {
  const results = await textOf(await store.query(COUNT_OF_ALL, 'text/csv'))
  return results.split('\r\n')[1]
}
const countsOne = (store: GraphStore): Promise<boolean> =>
  countIn(store).then(
    (count) => count === '1',
    () => false,
  )
const integer = (value: string) => `<${DOCUMENT}> <urn:p> "${value}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n`

await embedded(
  'an embedded store with too many waiting calls refuses the next call at once',
  async (t, store) => {
    const calls = Array.from({ length: 4 }, () => store.query(counting(5), TSV))
    t.match(await calls[3], { failure: 'store.overloaded', fields: [['Retry-After', '1']] })
    for (const call of calls.slice(0, 3)) t.match(await textOf(await call), /100000/)
    t.equal(await store.ready(), undefined)
  },
  { queue: 2 },
)

await embedded(
  'an endless query of an embedded store stops at its limit',
  async (t, store) => {
    await store.replace(DOCUMENT, one('before'))
    t.match(await store.query(ENDLESS, TSV), { failure: 'store.time' })
    t.ok(await until(() => countsOne(store)), 'the next query works on the same graphs')
  },
  { queryTimeout: 1_000 },
)
await embedded(
  'documents do not wait for an endless query of an embedded store; its client leaves, and frees its place for the next',
  async (t, store) => {
    await store.replace(DOCUMENT, one('x'))
    t.equal(await countIn(store), '1')
    const gone = new AbortController()
    let ended = false
    const endless = store.query(ENDLESS, TSV, { signal: gone.signal }).finally(() => (ended = true))
    const next = countIn(store)
    // The query is running.
    await sleep(50)
    for (let i = 0; i < 100; i++) {
      t.equal(await store.replace(DOCUMENT, one(`${i}`)), undefined)
      t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one(`${i}`)))
    }
    t.equal(await store.ready(), undefined)
    t.equal(ended, false)
    gone.abort()
    t.match(await endless, { failure: 'store.failed' })
    t.equal(await next, '1')
  },
  { queryTimeout: 3_600_000 },
)
const nestedCalls = (depth: number) => `ASK { FILTER(${'STR('.repeat(depth)}"a"${')'.repeat(depth)} = "a") }`
const nestedGroups = (depth: number) => `ASK ${'{'.repeat(depth)}${'}'.repeat(depth)}`
const insertIf = (condition: string) =>
  `INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:p> 1 } } ;
  INSERT { GRAPH <urn:h> { <urn:s> <urn:p> 1 } } WHERE { FILTER(EXISTS ${condition}) }`
for (const [load, query] of [
  ['nested calls', nestedCalls(300)],
  ['more nested calls', nestedCalls(20_000)],
  ['nested groups', nestedGroups(1_000)],
  ['more nested groups', nestedGroups(100_000)],
  ['results above the memory limit', counting(8).replace('(COUNT(*) AS ?n)', '*').concat(' ORDER BY ?v0')],
] as const)
  await embedded(
    `a load that breaks the thread of an embedded store harms nothing else: ${load}`,
    async (t, store) => {
      await store.replace(DOCUMENT, one('old'))
      const later = [store.query(query, TSV), countIn(store)] as const
      t.match(await later[0], { failure: 'store.failed' })
      t.equal(await later[1], '1')
      const update = insertIf(query.slice(query.indexOf('{')))
      t.ok(isFailure(await store.update(update)) || load === 'results above the memory limit')
      t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('old')))
    },
    { memory: 64 * 1024 * 1024, queryTimeout: 600_000 },
  )

await embedded(
  'an endless update of an embedded store stops at its limit, and changes nothing',
  async (t, store) => {
    await store.replace(DOCUMENT, one('before'))
    t.match(await store.update(ENDLESS_UPDATE), { failure: 'store.time' })
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('before')))
    t.ok(await until(() => countsOne(store)))
  },
  { queryTimeout: 1_000 },
)
await embedded(
  'writes wait for an endless update of an embedded store, reads do not; it is given up, and changes nothing',
  async (t, store) => {
    await store.replace(DOCUMENT, one('before'))
    const ended: string[] = []
    const noted = <T>(name: string, call: Promise<T>) => call.finally(() => ended.push(name))
    const left = new AbortController()
    const update = noted('update', store.update(ENDLESS_UPDATE, { signal: left.signal }))
    // The query is running if a write is not done within a turn of the event loop.
    await until(async () => {
      let isDone = false
      void store.replace('urn:early', one('early')).then(() => (isDone = true))
      await new Promise((resolve) => setImmediate(resolve))
      return !isDone
    })
    const gone = new AbortController()
    const write = noted('write', store.replace('urn:other', one('after')))
    const given = noted('aborted write', store.replace(DOCUMENT, one('given up'), { signal: gone.signal }))
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('before')))
    gone.abort()
    t.match(await given, { failure: 'store.failed' })
    t.strictSame(ended, ['aborted write'])
    left.abort()
    t.match(await update, { failure: 'store.failed' })
    t.equal(await write, undefined)
    t.strictSame(ended, ['aborted write', 'update', 'write'])
    t.strictSame(linesOf(await store.read(DOCUMENT)), linesOf(one('before')))
    t.equal(await countIn(store), '3')
  },
  { queryTimeout: 3_600_000 },
)
await embedded('an update of an embedded store changes the triples that it names, and no other', async (t, store) => {
  const odd = [
    '<urn:s> <urn:p> "042"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    '<urn:s> <urn:p> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .',
    String.raw`<urn:s> <urn:p> "\u0041\u000a" .`,
    '<urn:s> <urn:p> "colour"@en-GB .',
  ].map((line) => `${line}\n`)
  const written = (lines: string | Problem | undefined) => String(lines).split('\n').filter(Boolean).sort()
  const others = Array.from({ length: 50 }, (_, i) => `urn:other:${i}`)
  for (const graph of [DOCUMENT, ...others]) await store.replace(graph, odd.join('') + integer('7'))
  const step = async (name: string, update: string, lines: readonly string[]) => {
    t.equal(await store.update(update), undefined, name)
    t.strictSame(written(await store.read(DOCUMENT)), written(lines.join('')), name)
  }
  const [seven, x] = [integer('7'), one('x')]
  const all = [...odd, seven, x]
  const other = '<urn:s> <urn:p> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
  const inDocument = (triples: string) => `DATA { GRAPH <${DOCUMENT}> { ${triples} } }`
  const removal = `WITH <${DOCUMENT}> DELETE { ?s ?p 42, "x" } WHERE { ?s ?p 42 }`
  await step('nothing', `DELETE ${inDocument('<urn:none> <urn:p> 1')}`, [...odd, seven])
  await step('a triple added', `INSERT ${inDocument(x)}`, all)
  await step('another spelling of a value is another triple', `INSERT ${inDocument(other)}`, [...all, other])
  await step('a triple removed', removal, all)
  const removed = `WITH <${DOCUMENT}> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(ISNUMERIC(?o) && ?o = 42) }`
  await step('a triple removed by its value', removed, [...odd.slice(1), seven, x])
  for (const graph of others) t.strictSame(written(await store.read(graph)), written(odd.join('') + seven))
  await step('in all graphs', 'DELETE WHERE { GRAPH ?g { ?s <urn:p> 7 } }', [...odd.slice(1), x])
  for (const graph of others) t.strictSame(written(await store.read(graph)), written(odd.join('')))
  t.equal(await store.update(`MOVE <${DOCUMENT}> TO <urn:moved>`), undefined)
  t.equal(await store.read(DOCUMENT), undefined)
  t.equal(written(await store.read('urn:moved')).length, 4)
  t.equal(await store.update('DROP NAMED'), undefined)
  for (const graph of others) t.equal(await store.read(graph), undefined)
  const left = await textOf(await store.query('SELECT ?g { GRAPH ?g {} }', TSV))
  t.match(left, /^\?g\s*$/, 'no graph without triples')
})
await embedded('an update of an embedded store is all or nothing', async (t, store) => {
  const graphs = Array.from({ length: 1_500 }, (_, i) => `urn:g:${i}`)
  for (const graph of graphs) await store.replace(graph, one('before'))
  const update = store.update(
    'DELETE { GRAPH ?g { ?s ?p ?o } } INSERT { GRAPH ?g { ?s ?p "after" } } WHERE { GRAPH ?g { ?s ?p ?o } }',
  )
  let done = false
  void update.then(() => (done = true))
  while (!done) {
    const texts = new Set(await Promise.all(graphs.map((graph) => store.read(graph))))
    t.equal(texts.size, 1)
    await sleep(5)
  }
  t.equal(await update, undefined)
  t.strictSame(new Set(await Promise.all(graphs.map((graph) => store.read(graph)))), new Set([one('after')]))
  for (const failing of [
    'DROP ALL ; DROP GRAPH <urn:none>',
    'DROP ALL ; LOAD <http://127.0.0.1:1/>',
    `DROP ALL ; INSERT DATA { GRAPH <urn:g:1> { <urn:s> <urn:p> ${'<<( <urn:s> <urn:p> '.repeat(40)}1${')>>'.repeat(40)} } }`,
    'DROP ALL ; INSERT DATA { _:b <urn:p> 1 } ; INSERT { GRAPH ?b { ?b <urn:p> 1 } } WHERE { ?b <urn:p> 1 }',
  ])
    t.match(await store.update(failing), { failure: String }, failing)
  t.strictSame(new Set(await Promise.all(graphs.map((graph) => store.read(graph)))), new Set([one('after')]))
  t.equal(await countIn(store), '1500')
})
await embedded('the default graph and the blank nodes of an embedded store survive its thread', async (t, store) => {
  const same = 'ASK { ?b <urn:p> 1 GRAPH <urn:g> { ?b <urn:p> 2 } GRAPH <urn:h> { ?c <urn:p> "3" } FILTER(?b != ?c) }'
  await store.replace('urn:h', '_:b <urn:p> "3" .\n')
  t.equal(await store.update('INSERT DATA { _:b <urn:p> 1 GRAPH <urn:g> { _:b <urn:p> 2 } }'), undefined)
  t.match(await textOf(await store.query(same, 'text/csv')), /true/)
  t.ok(isFailure(await store.query(`ASK ${'{'.repeat(100_000)}`, TSV)))
  t.match(await textOf(await store.query(same, 'text/csv')), /true/)
})
await embedded('a query of an embedded store sees every earlier acknowledged write', async (t, store) => {
  const chain = async (graph: string) => {
    for (let i = 0; i < 20; i++) {
      await store.replace(graph, one(`${i}`))
      t.match(await textOf(await store.query(`SELECT ?o { GRAPH <${graph}> { ?s ?p ?o } }`, TSV)), `"${i}"`)
      if (i === 10 && graph === 'urn:chain:0') t.ok(isFailure(await store.query(nestedGroups(1_000), TSV)))
    }
  }
  await Promise.all(Array.from({ length: 10 }, (_, i) => chain(`urn:chain:${i}`)))
})
await embedded('thousands of graphs and long results of an embedded store', async (t, store) => {
  const value = '\u{1F600}é'.repeat(500)
  await Promise.all(Array.from({ length: 3_000 }, (_, i) => store.replace(`urn:g:${i}`, one(`${i} ${value}`))))
  const results = await textOf(await store.query('SELECT ?o { GRAPH ?g { ?s ?p ?o } }', TSV))
  t.equal(results.split('\n').length, 3_002)
  t.notMatch(results, /\uFFFD/)
})

/** An operation and its effect on a simple model: lines by graph. Lines differ only in their integer. */
interface Step {
  readonly name: string
  do(store: GraphStore): Promise<unknown>
  model(graphs: Map<string, Set<string>>): void
}
const VALUES = fc.constantFrom('1', '01', '+1', '2', '3')
const GRAPH = fc.constantFrom('urn:a', 'urn:b', 'urn:c')
const without = (lines: Set<string> | undefined, value: string) =>
  new Set([...(lines ?? [])].filter((line) => line !== integer(value)))
const including = (lines: Set<string> | undefined, others: Iterable<string>) => new Set([...(lines ?? []), ...others])
const updated = (update: string, model: Step['model']): Step => ({
  name: update,
  do: (store) => store.update(update),
  model,
})
const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(GRAPH, fc.uniqueArray(VALUES, { minLength: 1 })).map(([graph, values]) => ({
    name: `replace ${graph} ${values.join()}`,
    do: (store: GraphStore) => store.replace(graph, values.map(integer).join('')),
    model: (graphs: Map<string, Set<string>>) => void graphs.set(graph, new Set(values.map(integer))),
  })),
  GRAPH.map((graph) => ({
    name: `remove ${graph}`,
    do: (store: GraphStore) => store.remove(graph),
    model: (graphs: Map<string, Set<string>>) => void graphs.delete(graph),
  })),
  fc
    .tuple(GRAPH, VALUES)
    .map(([graph, value]) =>
      updated(`INSERT DATA { GRAPH <${graph}> { ${integer(value)} } }`, (graphs) =>
        graphs.set(graph, including(graphs.get(graph), [integer(value)])),
      ),
    ),
  fc
    .tuple(GRAPH, VALUES)
    .map(([graph, value]) =>
      updated(`DELETE DATA { GRAPH <${graph}> { ${integer(value)} } }`, (graphs) =>
        graphs.set(graph, without(graphs.get(graph), value)),
      ),
    ),
  VALUES.map((value) =>
    updated(`DELETE WHERE { GRAPH ?g { ?s ?p ${value} } }`, (graphs) =>
      graphs.forEach((lines, graph) => graphs.set(graph, without(lines, value))),
    ),
  ),
  fc
    .tuple(GRAPH, GRAPH)
    .map(([from, to]) =>
      updated(`INSERT { GRAPH <${to}> { ?s ?p ?o } } WHERE { GRAPH <${from}> { ?s ?p ?o } }`, (graphs) =>
        graphs.set(to, including(graphs.get(to), graphs.get(from) ?? [])),
      ),
    ),
  fc.constant(updated('DROP ALL', (graphs) => graphs.clear())),
)
const BREAK: Step = {
  name: 'break',
  do: (store) => store.query(`ASK ${'{'.repeat(100_000)}`, TSV),
  model: () => undefined,
}

await embedded('property: an embedded store equals its model after any sequence of operations', async (_t, store) => {
  const steps = fc.array(fc.oneof({ weight: 12, arbitrary: STEP }, { weight: 1, arbitrary: fc.constant(BREAK) }), {
    maxLength: 15,
  })
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      await store.update('DROP ALL')
      const graphs = new Map<string, Set<string>>()
      for (const step of steps) {
        await step.do(store)
        step.model(graphs)
        for (const graph of ['urn:a', 'urn:b', 'urn:c'])
          assert.deepEqual(
            ((await store.read(graph)) as string | undefined)?.split('\n').filter(Boolean).sort() ?? [],
            [...(graphs.get(graph) ?? [])].map((line) => line.trim()).sort(),
            step.name,
          )
      }
      const rows = await textOf(await store.query('SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } }', 'text/csv'))
      const expected = [...graphs].flatMap(([graph, lines]) =>
        [...lines].map((line) => `${graph},${/"(.*)"/.exec(line)![1]}`),
      )
      assert.deepEqual(rows.trim().split('\r\n').slice(1).sort(), expected.sort())
    }),
    { numRuns: 30 },
  )
})
