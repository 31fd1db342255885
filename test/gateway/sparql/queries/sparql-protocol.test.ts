// W3C's tests of the SPARQL 1.1 Protocol (rdf-tests, sparql11/protocol), by name, as the owner. The requests follow
// their descriptions. The embedded store has documents only, so its graphs have names below the base.
import t from 'tap'
import { MERGED_GRAPHS } from '../../../../policies/authorizations/reach.js'
import { isOwnGraph } from '../../../../gateway/stores/graph-names.js'
import type { Answer } from '../../../support/client.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl, update, type World } from '../../../support/world.js'

interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly target?: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string | Buffer
}
type Wanted = '4xx' | '2xx' | 'true' | RegExp

const FOAF = 'http://xmlns.com/foaf/0.1/Document'
const BIBLIOGRAPHIC = 'http://purl.org/dc/terms/BibliographicResource'
const QUERY = 'application/sparql-query'
const UPDATE = 'application/sparql-update'
const FORM = 'application/x-www-form-urlencoded'
const XML = 'application/sparql-results+xml'

const target = (...parameters: readonly (readonly [name: string, value: string])[]): string =>
  `/sparql?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`

interface Graphs {
  readonly data: readonly [string, string, string]
  readonly made: string
}

/** Requests in sequence: all but the last are updates that must succeed. */
const rowsFor = ({
  data: [one, two, three],
  made,
}: Graphs): Readonly<Record<string, readonly [...Asked[], Wanted]>> => {
  const query = (body: string, ...parameters: [string, string][]): Asked => ({
    target: target(...parameters),
    type: QUERY,
    body,
  })
  const filled = `CLEAR ALL ; INSERT DATA { ${[one, two, three].map((graph) => `GRAPH <${graph}> { <${graph}> a <${FOAF}> }`).join(' ')} } ;`
  const using = (template: string, where: string, ...parameters: [string, string][]): Asked => ({
    ...{ target: target(...parameters), type: UPDATE },
    body: `${filled} INSERT { GRAPH <${made}> { ${template} } } WHERE { ${where} }`,
  })
  const typed = `?s a <${BIBLIOGRAPHIC}>`
  const found = (pattern: string): Asked => ({ type: QUERY, accept: XML, body: `ASK { ${pattern} }` })
  const twoOfThree = found(
    `GRAPH <${made}> { <${one}> a <${BIBLIOGRAPHIC}> . <${two}> a <${BIBLIOGRAPHIC}> } FILTER NOT EXISTS { GRAPH <${made}> { <${three}> a <${BIBLIOGRAPHIC}> } }`,
  )
  const RDF = /^(?:application\/(?:rdf\+xml|rdf\+json|n-triples)|text\/turtle)/
  // prettier-ignore
  return {
    query_post_form: [{ type: FORM, body: 'query=ASK%20%7B%7D' }, 'true'],
    query_dataset_default_graphs_get: [{ method: 'GET', target: target(['query', `ASK { <${one}> a ?type . <${two}> a ?type . }`], ['default-graph-uri', one], ['default-graph-uri', two]) }, 'true'],
    query_dataset_default_graphs_post: [query(`ASK { <${one}> ?p ?o . <${two}> ?p ?o }`, ['default-graph-uri', one], ['default-graph-uri', two]), 'true'],
    query_dataset_named_graphs_post: [query('ASK { GRAPH ?g { ?s ?p ?o } }', ['named-graph-uri', one], ['named-graph-uri', two]), 'true'],
    query_dataset_named_graphs_get: [{ method: 'GET', target: target(['named-graph-uri', one], ['named-graph-uri', two], ['query', 'ASK { GRAPH ?g { ?s ?p ?o } }']) }, 'true'],
    query_dataset_full: [query('SELECT ?g ?x ?s { ?x ?y ?o GRAPH ?g { ?s ?p ?o } }', ['default-graph-uri', three], ['named-graph-uri', one], ['named-graph-uri', two]), /^application\/sparql-results\+(?:xml|json)/],
    query_multiple_dataset: [query(`ASK FROM <${one}> { <${two}> ?p ?o }`, ['default-graph-uri', two]), 'true'],
    query_get: [{ method: 'GET', target: target(['query', 'ASK {}']) }, 'true'],
    query_content_type_select: [query('SELECT (1 AS ?value) {}'), /^(?:application\/sparql-results\+(?:xml|json)|text\/(?:tab-separated-values|csv))/],
    query_content_type_ask: [query('ASK {}'), /^application\/sparql-results\+(?:xml|json)/],
    query_content_type_describe: [query('DESCRIBE <http://example.org/>'), RDF],
    query_content_type_construct: [query('CONSTRUCT { <s> <p> 1 } WHERE {}'), RDF],
    update_dataset_default_graph: [using(typed, `?s a <${FOAF}>`, ['using-graph-uri', one]), found(`GRAPH <${made}> { <${one}> a <${BIBLIOGRAPHIC}> }`), 'true'],
    update_dataset_default_graphs: [using(typed, `?s a <${FOAF}>`, ['using-graph-uri', one], ['using-graph-uri', two]), twoOfThree, 'true'],
    update_dataset_named_graphs: [using(typed, `GRAPH ?g { ?s a <${FOAF}> }`, ['using-named-graph-uri', one], ['using-named-graph-uri', two]), twoOfThree, 'true'],
    update_dataset_full: [using('?s <urn:in> ?in', `{ GRAPH ?g { ?s a <${FOAF}> } BIND(?g AS ?in) } UNION { ?s a <${FOAF}> . BIND("default" AS ?in) }`, ['using-graph-uri', one], ['using-named-graph-uri', two]), found(`GRAPH <${made}> { <${one}> <urn:in> "default" . <${two}> <urn:in> <${two}> } FILTER NOT EXISTS { GRAPH <${made}> { <${three}> ?p ?o } }`), 'true'],
    update_post_form: [{ type: FORM, body: 'update=CLEAR%20ALL' }, '2xx'],
    update_post_direct: [{ type: UPDATE, body: 'CLEAR ALL' }, '2xx'],
    update_base_uri: [{ type: UPDATE, body: `CLEAR GRAPH <${made}> ; INSERT DATA { GRAPH <${made}> { <http://example.org/s> <http://example.org/p> <test> } }` }, found(`GRAPH <${made}> { <http://example.org/s> <http://example.org/p> ?o FILTER(isIRI(?o) && STRSTARTS(STR(?o), "https:") && STRENDS(STR(?o), "/test")) }`), 'true'],
    query_post_direct: [query('ASK {}'), 'true'],
    bad_query_method: [{ method: 'PUT', target: target(['query', 'ASK {}']) }, '4xx'],
    bad_multiple_queries: [{ method: 'GET', target: target(['query', 'ASK {}'], ['query', 'SELECT * {}']) }, '4xx'],
    bad_query_wrong_media_type: [{ type: 'text/plain', body: 'ASK {}' }, '4xx'],
    bad_query_missing_form_type: [{ body: 'query=ASK%20%7B%7D' }, '4xx'],
    bad_query_missing_direct_type: [{ body: 'ASK {}' }, '4xx'],
    bad_query_non_utf8: [{ type: `${QUERY}; charset=UTF-16`, body: Buffer.from('ASK {}', 'utf16le') }, '4xx'],
    bad_query_syntax: [{ method: 'GET', target: target(['query', 'ASK {']) }, '4xx'],
    bad_update_get: [{ method: 'GET', target: target(['update', 'CLEAR ALL']) }, '4xx'],
    bad_multiple_updates: [{ type: FORM, body: 'update=CLEAR%20NAMED&update=CLEAR%20DEFAULT' }, '4xx'],
    bad_update_wrong_media_type: [{ type: 'text/plain', body: 'CLEAR NAMED' }, '4xx'],
    bad_update_missing_form_type: [{ body: 'update=CLEAR%20NAMED' }, '4xx'],
    bad_update_non_utf8: [{ type: `${UPDATE}; charset=UTF-16`, body: Buffer.from('CLEAR NAMED', 'utf16le') }, '4xx'],
    bad_update_syntax: [{ type: FORM, body: 'update=CLEAR%20XYZ' }, '4xx'],
    bad_update_dataset_conflict: [{ type: FORM, body: `using-named-graph-uri=${encodeURIComponent('http://example/people')}&update=${encodeURIComponent('CLEAR ALL ; DROP ALL ; WITH <http://example/addresses> DELETE { ?p <urn:g> "Bill" } INSERT { ?p <urn:g> "William" } WHERE { ?p <urn:g> "Bill" }')}` }, '4xx'],
  }
}

function isAs(answer: Answer, wanted: Wanted): boolean {
  const { status, text, fields } = answer
  if (wanted === '4xx') return status >= 400 && status < 500
  if (status < 200 || status >= 300) return false
  if (wanted === '2xx') return true
  if (wanted === 'true') return /true/.test(text)
  return wanted.test(fields['content-type'] ?? '')
}

const ask = (world: World, { method = 'POST', target = '/sparql', type, accept, body }: Asked): Promise<Answer> =>
  world.as('owner')(method, target, {
    ...(body !== undefined && { body }),
    fields: { ...(type !== undefined && { 'content-type': type }), ...(accept !== undefined && { accept }) },
  })

void forEachStore(
  t,
  { name: 'SPARQL 1.1 Protocol', kinds: ['embedded', 'fuseki', 'fuseki-union'] },
  async (t, makeStores, kind) => {
    const stores = await makeStores()
    const world = await makeWorld(t, stores, {
      flags: kind === 'fuseki' ? ['--history', 'local', '--management', '0'] : [],
    })
    const owner = world.as('owner')
    const row = rowsOf(t, kind)
    const name = (slug: string): string =>
      kind === 'embedded' ? `${world.base}${slug}/` : `http://example.org/${slug}`
    const data = [name('data1'), name('data2'), name('data3')] as const
    const rows = Object.entries(rowsFor({ data, made: name('made') }))
    t.equal(rows.length, 34)
    for (const [test, [...requests]] of rows) {
      await row(test, async (t) => {
        const wanted = requests.pop() as Wanted
        for (const graph of data)
          await stores.endUser.replace(
            graph,
            `<${graph}> a <${FOAF}> .`.replace(' a ', ' <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> '),
          )
        for (const [i, asked] of (requests as Asked[]).entries()) {
          const answer = await ask(world, asked)
          const isLast = i === requests.length - 1
          t.ok(isAs(answer, isLast ? wanted : '2xx'), `${answer.status} ${answer.text.slice(0, 300)}`)
        }
      })
    }

    // SPARQL 1.1 Protocol §2.1.1, §2.1.2, §2.2.1: parameters are UTF-8. Two encodings that are not, and a stray one.
    for (const wrong of ['%FF', '%ED%A0%80', '%zz']) {
      const insertion = `update=INSERT%20DATA%20%7B%20GRAPH%20%3C${name('made')}%3E%20%7B%20%3Curn:s%3E%20%3Curn:p%3E%20%22${wrong}%22%20%7D%20%7D`
      const rows: readonly [name: string, asked: Asked][] = [
        ['an update in a form', { type: FORM, body: insertion }],
        ['a query in a form', { type: FORM, body: `query=ASK%20%7B%20?s%20?p%20%22${wrong}%22%20%7D` }],
        ['the name of a graph in a form', { type: FORM, body: `query=ASK%7B%7D&default-graph-uri=urn:${wrong}` }],
        ['a query in the URL', { method: 'GET', target: `/sparql?query=ASK%20%7B%20?s%20?p%20%22${wrong}%22%20%7D` }],
        ['the name of a graph in the URL', { target: `/sparql?using-graph-uri=urn:${wrong}`, type: UPDATE, body: 'CLEAR ALL' }],
      ] // prettier-ignore
      for (const [part, asked] of rows)
        await row(`${part} has ${wrong}`, async (t) => {
          const { status, text } = await ask(world, asked)
          t.match({ status, text }, { status: 400, text: /UTF-8/ })
        })
    }

    const graphs = async (): Promise<readonly string[]> => {
      const answer = await ask(world, {
        type: QUERY,
        accept: 'text/csv',
        body: 'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g',
      })
      const names = answer.text.trim().split(/\r?\n/).slice(1)
      return names.filter((name) => !isOwnGraph(name))
    }
    for (const form of [
      'CLEAR ALL',
      'DROP ALL',
      'CLEAR NAMED',
      'DROP NAMED',
      'CLEAR SILENT ALL',
      `DROP ALL ; INSERT DATA { GRAPH <${world.base}> { <${world.base}> <urn:p> "again" } }`,
    ]) {
      await row(`${form}: only the managed triples of the root are left`, async (t) => {
        await owner('PUT', '/cleared/', ttl('<> <urn:p> 1.5 .'))
        await owner('POST', '/', ttl('<> <urn:p> "of the root" .'))
        const before = (await owner('GET', '/', { fields: { accept: 'application/n-triples' } })).text
        t.equal((await owner('POST', '/sparql', update(form))).status, 200)
        t.same(await graphs(), [world.base])
        const after = (await owner('GET', '/', { fields: { accept: 'application/n-triples' } })).text
        const managed = (text: string) =>
          text
            .split('\n')
            .filter((line) => /created|creator|acl#owner|#Root/.test(line))
            .sort()
        t.same(managed(after), managed(before))
        t.notMatch(after, /of the root/)
        t[form.includes('again') ? 'match' : 'notMatch'](after, /again/)
        t.equal((await owner('GET', '/cleared/')).status, 404)
        t.equal(
          (await owner('PUT', '/cleared/', ttl('<> <urn:p> "new" .'))).status,
          201,
          'documents can be created again',
        )
      })
    }
    await row('DROP GRAPH of the root is refused even together with CLEAR ALL', async (t) => {
      t.equal((await owner('POST', '/sparql', update(`CLEAR ALL ; DROP GRAPH <${world.base}>`))).status, 400)
    })
    await row('a graph of the gateway cannot be written, by name or by a variable', async (t) => {
      const [own, triple] = ['urn:triplegate:kept', '<urn:triplegate:kept> <urn:own> "1" .']
      await owner('PUT', '/beside/', ttl('<> <urn:own> "1" .'))
      await stores.endUser.replace(own, `${triple}\n`)
      const beside = `<${world.base}beside/>`
      const computed = 'BIND(IRI(CONCAT("urn:triplegate", ":kept")) AS ?g)'
      for (const [text, status] of [
        [`DROP GRAPH <${own}>`, 403],
        [`COPY ${beside} TO <${own}>`, 403],
        [`ADD DEFAULT TO <${own}>`, 403],
        [`INSERT DATA { GRAPH <${own}> { <a> <b> 1 } GRAPH ${beside} { <a> <b> 1 } }`, 403],
        // These do not name all that they write, so that only the store can carry them out.
        [`CLEAR ALL ; INSERT DATA { GRAPH <${own}> { <a> <b> 1 } }`, 403],
        [`INSERT DATA { GRAPH <urn:x-arq:DefaultGraph> { <a> <b> 1 } } ; INSERT { GRAPH ?g { <a> <b> 1 } GRAPH <${own}> { <a> <b> 1 } } WHERE { BIND(${beside} AS ?g) }`, 403], // prettier-ignore
        [`INSERT DATA { GRAPH ${beside} { <a> <b> 1 } } ; INSERT { GRAPH ?g { <a> <b> 1 } } WHERE { GRAPH ${beside} { ?s ?p 1 } ${computed} }`, 200], // prettier-ignore
        [`INSERT { GRAPH ?g { <a> <b> 1 } } WHERE { ${computed} }`, 200],
        ['DELETE { GRAPH ?g { ?s ?p ?o } } INSERT { GRAPH ?g { ?s ?p "2" } } WHERE { GRAPH ?g { ?s ?p ?o FILTER(?p = <urn:own>) } }', 200], // prettier-ignore
        ['DELETE WHERE { GRAPH ?g { ?s <urn:own> ?o } }', 200],
      ] as const) {
        t.equal((await owner('POST', '/sparql', update(text))).status, status, text)
        t.equal(await stores.endUser.read(own), `${triple}\n`, text)
      }
      t.notMatch((await owner('GET', '/beside/')).text, 'urn:own', 'documents are changed by variables')
    })
    await row('no graph has the name of the default graph or of the union: an update cannot write it', async (t) => {
      const inStore = async (): Promise<readonly string[]> => {
        const found = '?s ?p ?o FILTER(?p = <urn:reserved>)'
        const body = `SELECT ?o { { ${found} } UNION { GRAPH ?g { ${found} } } }`
        return (await ask(world, { type: QUERY, accept: 'text/csv', body })).text.trim().split(/\r?\n/).slice(1)
      }
      for (const [name, reason] of [
        ['urn:triplegate:default-graph', /belong to the gateway/],
        [MERGED_GRAPHS, /No graph has the name/],
      ] as const) {
        const quad = `GRAPH <${name}> { <urn:s> <urn:reserved> 1 }`
        const computed = `BIND(IRI(CONCAT("${name.slice(0, 9)}", "${name.slice(9)}")) AS ?g)`
        const byVariable = `INSERT { GRAPH ?g { <urn:s> <urn:reserved> 2 } } WHERE { ${computed} }`
        for (const [text, status] of [
          [`INSERT DATA { ${quad} }`, 403],
          [`INSERT { ${quad} } WHERE { GRAPH ?g { ?s ?p ?o } }`, 403],
          [`WITH <${name}> INSERT { <urn:s> <urn:reserved> 1 } WHERE {}`, 403],
          [`CLEAR ALL ; INSERT DATA { ${quad} }`, 403],
          [`DROP GRAPH <${name}>`, 403],
          [`MOVE SILENT <${name}> TO <${world.base}beside/>`, 403],
          [`COPY <${world.base}> TO <${name}>`, 403],
          [byVariable, 200],
          [`INSERT DATA { GRAPH <${world.base}> { <urn:s> <urn:beside> 1 } } ; ${byVariable}`, 200],
          [
            `CREATE SILENT GRAPH <urn:x-arq:DefaultGraph> ; ${byVariable.replace(computed, `VALUES ?g { <${name}> }`)}`,
            200,
          ],
        ] as const) {
          const answer = await owner('POST', '/sparql', update(text))
          t.equal(answer.status, status, text)
          if (status === 403) t.match(answer.text, reason, text)
          t.same(await inStore(), [], text)
        }
      }
    })
    await row('CLEAR ALL of the rules: the documents of the owner and the secretary stay', async (t) => {
      const paths = [world.ownerWebId, world.secretaryWebId].map((webId) => new URL(webId).pathname)
      const before = await Promise.all(paths.map(async (path) => (await owner('GET', path)).text))
      t.equal(
        (await owner('POST', '/admin/sparql', update(`CLEAR ALL ; CLEAR GRAPH <${world.ownerWebId.split('#')[0]}>`)))
          .status,
        403,
      )
      t.equal((await owner('POST', '/admin/sparql', update('CLEAR ALL'))).status, 200)
      for (const [i, path] of paths.entries())
        t.ok((String(await stores.admin.read(`${world.origin}${path}`)).match(/ \.\n/g) ?? []).length > 2, before[i]!)
    })
  },
)
