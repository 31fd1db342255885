// The rows about documents with terms that RDF 1.1 lacks, or that no version of RDF allows although the store does:
// such documents are read, written and versioned. A document that cannot be read can be replaced and removed.
import { Parser } from 'n3'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { graphOf, type Quad } from '../../../gateway/rdf/graph.js'
import { readNTriples } from '../../../gateway/rdf/read.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { accept, ttl, turtle, update, type World } from '../../support/world.js'
import type { Row } from '../../support/stores.js'

const versionsOf = async (world: World, path: string): Promise<TimeMapJson['versions']> =>
  (JSON.parse((await world.as('owner')('GET', `${path}?timemap`, accept('application/json'))).text) as TimeMapJson)
    .versions

const N_TRIPLES = accept('application/n-triples')
const linesOf = (text: string): readonly string[] => graphOf(readNTriples(text) ?? []).lines
const readTurtle = (text: string): Quad[] => new Parser({ baseIRI: 'urn:x' }).parse(text)

const TRIPLE_TERM = '<<( <urn:a> <urn:b> <<( <urn:c> <urn:d> "e"@en--rtl )>> )>>'
const REIFIES = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies'

/** RDF 1.2 in contents of clients, on stores that support it. */
export async function rdf12(world: World, row: Row): Promise<void> {
  const owner = world.as('owner')
  await row('RDF 1.2: triple terms and base directions are written, read, changed and versioned', async (t) => {
    const path = world.freshPath()
    const own = `<${world.origin}${path}>`
    const content = `<> <urn:p> ${TRIPLE_TERM} , "x"@en--ltr ; <urn:q> "1" {| <urn:by> <urn:me> |} .`
    t.equal((await owner('PUT', path, ttl(content))).status, 201)
    const lines = linesOf((await owner('GET', path, N_TRIPLES)).text)
    t.ok(lines.includes(`${own} <urn:p> ${TRIPLE_TERM} .`), 'a triple term')
    t.ok(lines.includes(`${own} <urn:p> "x"@en--ltr .`), 'a base direction')
    const reifier = lines.find((line) => line.includes(REIFIES))!.split(' ')[0]!
    t.match(reifier, /#id[0-9a-f-]{36}>$/, 'the reifier of an annotation is skolemised')
    t.ok(lines.includes(`${reifier} <urn:by> <urn:me> .`), 'an annotation')
    const written = await owner('GET', path, accept('text/turtle'))
    t.same(graphOf(readTurtle(written.text)).lines, lines, 'Turtle says the same')
    t.equal((await owner('PUT', path, ttl(written.text))).status, 200, 'and can be sent back')
    for (const alone of ['application/rdf+xml', 'application/ld+json']) {
      t.equal((await owner('GET', path, accept(alone))).status, 406, `no form in ${alone} → 406`)
      const next = await owner('GET', path, accept(`${alone}, application/n-triples;q=0.1`))
      t.match(next, { status: 200, fields: { 'content-type': /n-triples/ } }, 'else the next accepted format')
    }
    t.equal((await owner('POST', path, ttl('<> <urn:r> <<( _:x <urn:b> _:x )>> .'))).status, 204)
    const patched = await owner(
      'PATCH',
      path,
      update('DELETE { ?s ?p ?o } INSERT { <> <urn:n> ?o } WHERE { ?s ?p ?o FILTER(?p = <urn:p>) }'),
    )
    t.equal(patched.status, 204)
    const after = linesOf((await owner('GET', path, N_TRIPLES)).text)
    t.ok(after.includes(`${own} <urn:n> ${TRIPLE_TERM} .`), 'PATCH moves a triple term')
    t.match(
      after.find((line) => line.includes('<urn:r>')),
      /<<\( (<\S+#id\S+>) <urn:b> \1 \)>>/,
      'skolemised within',
    )
    const versions = await versionsOf(world, path)
    t.same(
      versions.map(({ method }) => method),
      ['PUT', 'PUT', 'POST', 'PATCH'],
    )
    const last = await owner('GET', `${path}?version=${versions[3]!.version}`, N_TRIPLES)
    t.same(linesOf(last.text), after, 'the version has all of it')
    const difference = await owner(
      'GET',
      `${path}?version=${versions[3]!.version}&diff=${versions[2]!.version}`,
      accept('application/json'),
    )
    t.equal(difference.status, 200, 'and there are differences')
  })
}

/** Terms that Jena accepts from other clients, and returns. */
const ODD: readonly string[] = [
  '<http://ex/a[b]>',
  '<http://ex/50%>',
  '<http://ex/a#b#c>',
  '<http://ex/a\\u0020b>',
  '<http://ex/a\\u003E\\u000Ab\\u0022\\u005C>',
  '<relative>',
  '"x"@en-abcdefghijkl',
  '"x"^^<http://ex/a\\u0020b>',
  '"x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>',
  '<<( <http://ex/a[b]> <urn:p> "x"@en--ltr )>>',
]

/** Terms that other clients or updates have written to the store: they are read leniently. */
export async function oddTerms(world: World, row: Row, store: GraphStore, dataset: string): Promise<void> {
  const owner = world.as('owner')
  await row('terms that only the store lets in are read, changed and versioned', async (t) => {
    const path = world.freshPath()
    const iri = `${world.origin}${path}`
    const lines = ODD.map((term) => `<${iri}> <urn:p> ${term} .`)
    t.equal(await store.replace(iri, `${lines.join('\n')}\n`), undefined, 'the store takes them')
    const expected = graphOf(readNTriples(lines.join('\n'))!).lines
    const got = await owner('GET', path, N_TRIPLES)
    t.same([got.status, linesOf(got.text)], [200, expected])
    const asTurtle = await owner('GET', path, accept('text/turtle'))
    t.equal(asTurtle.status, 200)
    const [headers, { text: body }] = [{ 'Content-Type': 'text/turtle' }, asTurtle]
    t.ok(
      (await fetch(`${dataset}/data?graph=urn:back`, { method: 'PUT', headers, body })).ok,
      'the store reads the Turtle',
    )
    const same = linesOf((await store.read('urn:back')) as string).filter((line) => !line.includes('relative>'))
    t.same(
      same,
      expected.filter((line) => !line.includes('relative>')),
      'and finds the same, but for a relative IRI',
    )
    t.equal((await owner('GET', path, accept('application/ld+json'))).status, 406)
    t.equal((await owner('POST', path, ttl('<> <urn:q> "more" .'))).status, 204)
    t.equal((await owner('PATCH', path, update('INSERT { <> <urn:q> "patched" } WHERE {}'))).status, 204)
    const after = linesOf((await owner('GET', path, N_TRIPLES)).text)
    t.ok(
      lines.every((line) => linesOf(line).every((one) => after.includes(one))),
      'nothing is lost by POST and PATCH',
    )
    const methods = (await versionsOf(world, path)).map(({ method }) => method)
    t.same(methods, ['SWEEP', 'POST', 'PATCH'])
    const removed = await owner(
      'POST',
      '/sparql',
      update(`DELETE DATA { GRAPH <${iri}> { <${iri}> <urn:p> <http://ex/a[b]> } }`),
    )
    t.equal(removed.status, 200, 'an update can remove them')
    t.equal((await owner('PUT', path, ttl(turtle('"clean"')))).status, 200)
    t.equal((await owner('DELETE', path)).status, 204)
    t.same((await versionsOf(world, path)).map(({ method }) => method).slice(3), ['UPDATE', 'PUT', 'DELETE'])
  })
  await row(
    'a triple term as subject, which only updates of others write, is read; the document can be replaced',
    async (t) => {
      const path = world.freshPath()
      const triple = '<<( <urn:a> <urn:b> "c" )>> <urn:p> "x" .'
      t.equal(await store.update(`INSERT DATA { GRAPH <${world.origin}${path}> { ${triple} } }`), undefined)
      t.equal((await owner('GET', path, N_TRIPLES)).text, `${triple}\n`)
      t.equal(
        (await owner('POST', path, ttl('<> <urn:q> "more" .'))).status,
        422,
        'the store does not take it as content',
      )
      t.equal((await owner('PUT', path, ttl(turtle('"clean"')))).status, 200)
    },
  )
  await row(
    'updates of documents do not bind such terms, like a PATCH; a constant term of this kind is refused',
    async (t) => {
      const path = world.freshPath()
      const iri = `${world.origin}${path}`
      t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 201)
      const bound = `INSERT { GRAPH <${iri}> { <${iri}> <urn:p> ?x } } WHERE { BIND(STRLANG("a", "en-abcdefghijkl") AS ?x) }`
      t.equal((await owner('POST', '/sparql', update(bound))).status, 200)
      t.notMatch((await owner('GET', path)).text, '"a"@en-abcdefghijkl')
      const LANG_STRING = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString'
      for (const made of [`STRDT("made", <${LANG_STRING}>)`, 'IRI("http://ex/made%zz")']) {
        // GRAPH with a variable: the store finds the solutions.
        const open = `INSERT { GRAPH <${iri}> { <${iri}> <urn:p> ?x } } WHERE { GRAPH ?g { ?s ?p ?o } BIND(${made} AS ?x) }`
        t.equal((await owner('POST', '/sparql', update(open))).status, 200)
        t.notMatch((await owner('GET', path)).text, /made/, made)
      }
      for (const term of ['<http://ex/a[b]>', '<http://ex/50%>', '<http://ex/#a#b>', '"x"@en-abcdefghijkl']) {
        const refused = await owner(
          'POST',
          '/sparql',
          update(`INSERT DATA { GRAPH <${iri}> { <${iri}> <urn:p> ${term} } }`),
        )
        t.match(refused, { status: 400, text: /would insert the malformed/ }, term)
        const given = `INSERT { GRAPH <${iri}> { <${iri}> <urn:p> ?x } } WHERE { ?s ?p ?o BIND(${term} AS ?x) }`
        const alike = await owner('POST', '/sparql', update(given))
        t.match(alike, { status: 400, text: /would insert the malformed/ }, `BIND: ${term}`)
      }
    },
  )
}

/** A store that has a document which cannot be parsed. */
export function garbling(store: GraphStore): GraphStore & { garbled: string | undefined } {
  const garble = <T>(graph: string, answer: T): T | string =>
    graph === own.garbled && typeof answer === 'string' ? `${answer}<urn:s> "no triple" .\n` : answer
  const afterwards = async <T>(done: Promise<T>): Promise<T> => done.finally(() => (own.garbled = undefined))
  const own: GraphStore & { garbled: string | undefined } = {
    ...store,
    read: async (graph, call) => garble(graph, await store.read(graph, call)),
    excerpt: async (graph, kind, call) => garble(graph, await store.excerpt(graph, kind, call)),
    replace: (...call) => afterwards(store.replace(...call)),
    remove: (...call) => afterwards(store.remove(...call)),
    update: (...call) => afterwards(store.update(...call)),
    garbled: undefined,
  }
  return own
}

export async function unreadable(
  world: World,
  row: Row,
  store: ReturnType<typeof garbling>,
  kind: string,
): Promise<void> {
  const owner = world.as('owner')
  const REPLACED: readonly (readonly [
    name: string,
    write: (path: string) => ReturnType<typeof owner>,
    status: number,
  ])[] = [
    ['PUT', (path) => owner('PUT', path, ttl(turtle('"new"'))), 200],
    ['DELETE', (path) => owner('DELETE', path), 204],
    ['DROP', (path) => owner('POST', '/sparql', update(`DROP GRAPH <${world.origin}${path}>`)), 200],
  ]
  for (const [name, write, status] of REPLACED) {
    // The embedded store only has documents that it could parse.
    if (name === 'DROP' && kind === 'embedded') continue
    await row(`a document that cannot be read: ${name} works, everything else says why`, async (t) => {
      const path = world.freshPath()
      await world.as('writer')('PUT', path, ttl(turtle('"one"')))
      const [before] = await versionsOf(world, path)
      const [{ cache }, conditional] = [world.running.gateway.dataspaces[0]!.endUser, { fields: { 'If-Match': '"x"' } }]
      store.garbled = `${world.origin}${path}`
      cache.versions.changed(store.garbled)
      for (const refused of [
        await owner('GET', path),
        await owner('POST', path, ttl('<> <urn:p> 1 .')),
        await owner('DELETE', path, conditional),
      ]) {
        t.match(refused, { status: 502, text: /cannot be read as N-Triples/ })
      }
      t.equal((await write(path)).status, status, name)
      const now = await owner('GET', path, N_TRIPLES)
      if (name !== 'PUT') t.equal(now.status, 404)
      else t.match(now.text, new RegExp(`acl#owner> <${world.webIdOf('writer')}>`), 'the owner stays')
      t.same((await versionsOf(world, path))[0], before, 'its versions stay')
    })
  }
}
