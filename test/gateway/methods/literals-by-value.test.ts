// In front of a store that keeps only the values of literals (TDB2), a client may write, delete and query any form of a
// value. Cache, entity-tag and history have the store's form.
import t from 'tap'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { nTriplesLine, triple, typed } from '../../../gateway/rdf/graph.js'
import { XSD } from '../../../gateway/rdf/vocabulary.js'
import { tokensInForms } from '../../../gateway/sparql/language/literal-tokens.js'
import { tokensOf } from '../../../gateway/sparql/language/tokens.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { accept, makeWorld, ttl, update } from '../../support/world.js'

const P = 'urn:p'
const N_TRIPLES = accept('application/n-triples')

/** Two forms of a value: the written one, and the one that later requests use. */
const ROWS: readonly (readonly [written: string, named: string, type: string])[] = [
  ['1.50', '1.500', 'decimal'],
  ['2', '2.0', 'decimal'],
  ['01', '+1', 'integer'],
  ['007', '7', 'long'],
  ['1e0', '1.00', 'double'],
  ['1.50', '15e-1', 'float'],
  ['1', 'true', 'boolean'],
  ['2020-01-01T00:00:00.500Z', '2020-01-01T00:00:00.50Z', 'dateTime'],
  ['2020-01-01T00:00:00-00:00', '2020-01-01T00:00:00.0+00:00', 'dateTime'],
  ['2020-01-01-00:00', '2020-01-01+00:00', 'date'],
]
const literal = (form: string, type: string): string => `"${form}"^^<${XSD(type)}>`

void forEachStore(t, { name: 'literals by value', kinds: ['fuseki-union'] }, async (t, makeStores, kind) => {
  const stores = await makeStores()
  const world = await makeWorld(t, stores, { flags: ['--history', 'local', '--management', '0'] })
  const owner = world.as('owner')
  const row = rowsOf(t, kind)
  const left = async (path: string): Promise<readonly string[]> =>
    (await owner('GET', path, N_TRIPLES)).text.split('\n').filter((line) => line.includes(`<${P}>`))
  const send = (text: string) => owner('POST', '/sparql', update(text))

  for (const [written, named, type] of ROWS) {
    const [one, other] = [literal(written, type), literal(named, type)]
    await row(`${one}, named as ${named}`, async (t) => {
      const path = world.freshPath()
      const iri = `${world.origin}${path}`
      const content = ttl(`<> <${P}> ${one} .`)
      const put = await owner('PUT', path, {
        ...content,
        fields: { ...content.fields, accept: 'application/n-triples' },
      })
      t.equal(put.status, 201)
      const got = await owner('GET', path, N_TRIPLES)
      t.equal(put.fields['etag'], got.fields['etag'], 'the entity-tag of the answer is that of the document')
      t.equal(
        ((await stores.endUser.read(iri)) as string).split('\n').filter(Boolean).sort().join('\n'),
        got.text.trim(),
        'cached as stored',
      )
      const again = await owner('PATCH', path, update(`INSERT { <${iri}> <${P}> ${other} } WHERE {}`))
      t.equal(again.status, 204)
      t.equal(
        again.fields['etag'] && (await owner('GET', path, N_TRIPLES)).fields['etag'],
        got.fields['etag'],
        'nothing is new',
      )
      const found = await owner('PATCH', path, update(`INSERT { ?s <urn:found> "it" } WHERE { ?s <${P}> ${other} }`))
      t.equal(found.status, 204)
      t.match((await owner('GET', path, N_TRIPLES)).text, /<urn:found>/, 'a pattern finds it')
      t.equal((await owner('PATCH', path, update(`DELETE { <${iri}> <${P}> ${other} } WHERE {}`))).status, 204)
      t.same(await left(path), [], 'PATCH deletes it')
      t.equal((await owner('POST', path, content)).status, 204)
      t.equal((await send(`DELETE DATA { GRAPH <${iri}> { <${iri}> <${P}> ${other} } }`)).status, 200)
      t.same(await left(path), [], 'an update deletes it')
      t.notMatch(await stores.endUser.read(iri), new RegExp(`<${P}>`), 'in the store too')
      const { versions } = JSON.parse(
        (await owner('GET', `${path}?timemap`, accept('application/json'))).text,
      ) as TimeMapJson
      const first = await owner('GET', `${path}?version=${versions[0]!.version}`, N_TRIPLES)
      t.equal(first.text, got.text, 'the first version is what the store had')
    })
  }
  await row('a decimal that was written behind the gateway is removed', async (t) => {
    const decimal = (iri: string) => nTriplesLine(triple(iri, P, typed('1.500', XSD('decimal'))))
    for (const [way, act] of Object.entries(WAYS)) {
      const path = world.freshPath()
      const iri = `${world.origin}${path}`
      await owner('PUT', path, ttl(`<> <urn:q> "x" .`))
      await stores.endUser.update(`INSERT DATA { GRAPH <${iri}> { ${decimal(iri)} } }`)
      world.passTime(600_000)
      t.match(await left(path), [/1\.5/], `${way}: before`)
      const [method, request] = act(iri)
      const answer =
        method === 'UPDATE'
          ? await send(request)
          : await owner(method, path, method === 'PUT' ? ttl(request) : update(request))
      t.match(answer.status, /20\d/, way)
      t.notMatch(await stores.endUser.read(iri), new RegExp(`<${P}>`), `${way}: the store`)
      t.same(await left(path), [], `${way}: the document`)
    }
  })
})

const WAYS: Readonly<Record<string, (iri: string) => readonly [method: 'PUT' | 'PATCH' | 'UPDATE', text: string]>> = {
  'PUT of another content': () => ['PUT', '<> <urn:q> "y" .'],
  'PATCH that names it': (iri) => ['PATCH', `DELETE { <${iri}> <${P}> 1.50 } WHERE {}`],
  'PATCH that finds it': () => ['PATCH', `DELETE WHERE { ?s <${P}> ?o }`],
  'an update that names it': (iri) => ['UPDATE', `DELETE DATA { GRAPH <${iri}> { <${iri}> <${P}> 1.5 } }`],
}

void t.test('literals of patterns, templates and data have the form of the store, those of expressions stay', (t) => {
  const forms = { byValue: ['decimal', 'integer'], isUnclear: false, hidesZeros: false, formatsTags: false } as const
  const [xsd, kept] = [`<${XSD('decimal')}>`, `"1.5"^^<${XSD('decimal')}>`]
  // prettier-ignore
  const rows: readonly (readonly [update: string, expected: string])[] = [
    ['DELETE DATA { <urn:s> <urn:p> 1.50 , 1.5 , "1.50"^^TYPE , "1.50" , "1.50"@en }', 'DELETE DATA { <urn:s> <urn:p> K , 1.5 , K , "1.50" , "1.50"@en }'],
    ['DELETE { ?s ?p 1.50 } INSERT { ?s ?p (1.50) } WHERE { ?s ?p 1.50 }', 'DELETE { ?s ?p K } INSERT { ?s ?p ( K ) } WHERE { ?s ?p K }'],
    ['DELETE WHERE { GRAPH <urn:g> { ?s ?p 1.50 } }', 'DELETE WHERE { GRAPH <urn:g> { ?s ?p K } }'],
    ['INSERT { ?s ?p ?o } WHERE { ?s ?p (1.50 ?o) FILTER(?o = 1.50) FILTER EXISTS { ?s ?p 1.50 FILTER(1.50 < ?o) } }', 'INSERT { ?s ?p ?o } WHERE { ?s ?p ( K ?o ) FILTER ( ?o = 1.50 ) FILTER EXISTS { ?s ?p K FILTER ( 1.50 < ?o ) } }'],
    ['INSERT { ?s ?p ?o } WHERE { ?s ?p 1.50 BIND(STR(1.50) AS ?o) ?s <urn:q> 1.50 }', 'INSERT { ?s ?p ?o } WHERE { ?s ?p K BIND ( STR( 1.50 ) AS ?o ) ?s <urn:q> K }'],
    ['INSERT { ?s ?p ?o } WHERE { { SELECT ?s (SUM(1.50) AS ?o) { ?s ?p 1.50 } GROUP BY ?s (1.50 + 1) HAVING(COUNT(*) > 01) } VALUES (?p ?x) { (1.50 01) } }', `INSERT { ?s ?p ?o } WHERE { { SELECT ?s ( SUM( 1.50 ) AS ?o ) { ?s ?p K } GROUP BY ?s ( 1.50 + 1 ) HAVING( COUNT( * ) > 01 ) } VALUES ( ?p ?x ) { ( K "1"^^<${XSD('integer')}> ) } }`],
    ['INSERT { ?s ?p 1.50 } WHERE { ?s ?p ?o FILTER regex(?o, "1") ?s ?q 1.50 }', 'INSERT { ?s ?p K } WHERE { ?s ?p ?o FILTER REGEX( ?o , "1" ) ?s ?q K }'],
    ['INSERT { ?s ?p 1.50 } WHERE { ?s ?p ?o FILTER NOT EXISTS { ?s ?q 1.50 } OPTIONAL { ?s ?q (1.50) } }', 'INSERT { ?s ?p K } WHERE { ?s ?p ?o FILTER NOT EXISTS { ?s ?q K } OPTIONAL { ?s ?q ( K ) } }'],
  ]
  const plain = (text: string): string => text.replace(/\s+/g, '')
  for (const [update, expected] of rows) {
    const read = tokensOf(update.replaceAll('TYPE', xsd), 'http://example.org/')
    if ('failure' in read) return t.fail(read.detail)
    const changed = tokensInForms(read.tokens, forms).map(({ text }) => text)
    t.equal(plain(changed.join('')), plain(expected.replace(/\bK\b/g, kept)), update)
  }
  t.end()
})
