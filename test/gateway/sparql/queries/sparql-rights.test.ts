// Queries are answered over the graphs that their agent may read (design 4): one row for each way to reach another
// graph. No part of an answer reveals changes there. On both stores, and on one whose default graph is the union of all
// graphs.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { RDFS, XSD } from '../../../../gateway/rdf/vocabulary.js'
import { MERGED_GRAPHS } from '../../../../policies/authorizations/reach.js'
import { REFUSALS } from '../../../../gateway/sparql/rights/refusals.js'
import { MOST_COPIED, MOST_COPIED_BYTES } from '../../../../gateway/sparql/rights/copy.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import type { Answer } from '../../../support/client.js'
import { forEachStore, rowsOf, WITH_UNION, type Row } from '../../../support/stores.js'
import { gate } from '../../../support/wait.js'
import { makeWorld, ttl, update, type World } from '../../../support/world.js'

const [VALUE, NEXT, CLASS] = ['urn:value', 'urn:next', 'urn:class']
const any = `?s <${VALUE}> ?v`
const step = (from: number): string => `<urn:n${from}> <${NEXT}> <urn:n${from + 1}>`
const get = (query: string, parameters: readonly (readonly [string, string])[] = []): string =>
  `/sparql?${new URLSearchParams([['query', query], ...parameters.map(([name, value]) => [name, value] as [string, string])])}`
const CSV = { fields: { Accept: 'text/csv, application/n-triples, application/sparql-results+json;q=0.1' } }

async function* slowly(pieces: AsyncIterable<Uint8Array>, ms: number): AsyncGenerator<Uint8Array> {
  yield* pieces
  await sleep(ms)
}

void forEachStore(t, { name: 'rights on SPARQL', kinds: WITH_UNION }, async (t, makeStores, kind) => {
  const made = await makeStores()
  /** In ms, before an answer of the store ends. */
  let pause = 0
  let beforeQuery: (text: string) => Promise<unknown> = () => Promise.resolve()
  const endUser: GraphStore = {
    ...made.endUser,
    async query(text, ...more) {
      await beforeQuery(text)
      const pieces = await made.endUser.query(text, ...more)
      return pause === 0 || isFailure(pieces) ? pieces : slowly(pieces, pause)
    },
  }
  const stores = { ...made, endUser }
  const world = await makeWorld(t, stores)
  const row = rowsOf(t, kind)
  const isUnion = kind === 'fuseki-union'
  /** Values in a default graph that is the union of the named graphs; any other default graph is hidden. */
  const ofUnion = (...values: string[]): readonly string[] => (isUnion ? values : [])
  const { base } = world
  const [open, hidden, typed] = ['open', 'hidden', 'typed'].map((name) => `${base}${name}/`) as [string, string, string] // prettier-ignore
  const [owner, agent] = [world.as('owner'), world.as('stranger')]
  const put = async (path: string, body: string): Promise<void> =>
    void t.match((await owner('PUT', path, ttl(body))).status, /20[014]/, path)
  await put('/open/', `<> <${VALUE}> "open" . <urn:thing> <${VALUE}> "open" . ${step(1)} .`)
  await put('/hidden/', `<> <${VALUE}> "hidden" . <urn:thing> <${VALUE}> "hidden" . ${step(2)} .`)
  await put('/typed/', `<> a <${CLASS}> ; <${VALUE}> "typed" . ${step(3)} .`)
  await put('/owned/', `<> <${VALUE}> "owned" .`)
  const owning = `DATA { GRAPH <${base}owned/> { <${base}owned/> <http://www.w3.org/ns/auth/acl#owner> <${world.webIdOf('stranger')}> } }`
  const behind = async (text: string): Promise<void> => {
    await stores.endUser.update(text)
    world.running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
  }
  await behind(`INSERT ${owning}`)
  const insert = `INSERT DATA { GRAPH <urn:other> { <urn:s> <${VALUE}> "other" } <urn:s> <${VALUE}> "default" }`
  t.equal((await owner('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-update' }, body: insert })).status, 200) // prettier-ignore
  await grant(world, put)

  // No condition would restrict these queries exactly: the first in the embedded store, the second in Fuseki. On TDB2,
  // the store with the union, some of them are refused, since TDB2 evaluates GRAPH differently if the dataset lists the
  // graphs.
  const COUNTS = `SELECT (SUM(?n) AS ?v) { GRAPH ?g { SELECT (COUNT(DISTINCT *) AS ?n) { [] <${VALUE}> ?x } } }`
  const FILTERS = `SELECT ?v { { SELECT ?g ?v { } } OPTIONAL { GRAPH ?g { FILTER(STRSTARTS(STR(?g), "${base}")) <urn:n1> ?p ?v } } }`
  // For a long text, Java runs out of stack when it matches this.
  const searched = (start: string): string => `REGEX(CONCAT(?v, "|${'a'.repeat(30_000)}"), "^${start}[^|]*[|](a|b)*$")`
  const failing = (start: string): string =>
    `SELECT ?v { GRAPH ?g { ?s <${VALUE}> ?v BIND(${searched(start)} AS ?x) } FILTER(?v = "hidden") }`
  // prettier-ignore
  const QUERIES: [name: string, query: string, expected: 400 | 403 | readonly (string | RegExp)[], parameters?: [string, string][]][] = [
    ['GRAPH ?g: by name, by class, by ownership', `SELECT ?v { GRAPH ?g { ${any} } FILTER(?s != <urn:thing>) }`, ['open', 'owned', 'typed']],
    ['GRAPH <readable>', `SELECT ?v { GRAPH <${open}> { ${any} } }`, ['open', 'open']],
    ['GRAPH <readable by its class>', `SELECT ?v { GRAPH <${typed}> { ${any} } }`, ['typed']],
    ['GRAPH <hidden>', `SELECT ?v { GRAPH <${hidden}> { ${any} } }`, []],
    ['GRAPH <absent>', `SELECT ?v { GRAPH <${base}absent/> { ${any} } }`, []],
    ['GRAPH <hidden>, with other escapes', `SELECT ?v { GRAPH <${hidden.replace('hidden', '\\u0068idden')}> { ${any} } }`, []],
    ['GRAPH of a graph that is not a document', `SELECT ?v { GRAPH <urn:other> { ${any} } }`, []],
    ['FROM <readable>', `SELECT ?v FROM <${open}> { ${any} }`, ['open', 'open']],
    ['FROM <readable by its class>', `SELECT ?v FROM <${typed}> { ${any} }`, ['typed']],
    ['FROM <hidden>', `SELECT ?v FROM <${hidden}> { ${any} }`, []],
    ['FROM <hidden> and GRAPH ?g', `SELECT ?v FROM <${hidden}> { { ${any} } UNION { GRAPH ?g { ${any} } } }`, []],
    ['FROM NAMED <hidden>', `SELECT ?v FROM NAMED <${hidden}> { GRAPH ?g { ${any} } }`, []],
    ['FROM NAMED <hidden> and <readable>', `SELECT ?v FROM NAMED <${hidden}> FROM NAMED <${typed}> { GRAPH ?g { ${any} } }`, ['typed']],
    ['default-graph-uri: hidden', `SELECT ?v { ${any} }`, [], [['default-graph-uri', hidden]]],
    ['default-graph-uri: hidden and readable', `SELECT ?v { ${any} }`, ['typed'], [['default-graph-uri', hidden], ['default-graph-uri', typed]]],
    ['named-graph-uri: hidden', `SELECT ?v { GRAPH ?g { ${any} } }`, [], [['named-graph-uri', hidden]]],
    ['the default graph', `SELECT ?v { ${any} }`, ofUnion('open', 'open', 'owned', 'typed')],
    ['the default graph, counted', `SELECT (COUNT(*) AS ?v) { ?s <${VALUE}> ?x }`, [isUnion ? '4' : '0']],
    ['the default graph, a join', `SELECT ?v { <urn:n1> <${NEXT}> ?x . ?x <${NEXT}> ?v }`, []],
    ['the default graph, a path', `SELECT ?v { <urn:n1> <${NEXT}>/<${NEXT}> ?v }`, []],
    ['the default graph, a path of any length', `SELECT ?v { <urn:n1> <${NEXT}>+ ?v }`, ofUnion('urn:n2')],
    ['the default graph, EXISTS', `SELECT ?v { VALUES ?v { "open" "hidden" "other" "default" } FILTER EXISTS { ${any} } }`, ofUnion('open')],
    ['the default graph, MINUS', `SELECT ?v { VALUES ?v { "hidden" "default" } MINUS { ${any} } }`, ['default', 'hidden']],
    ['the default graph, OPTIONAL after GRAPH', `SELECT ?v { GRAPH <${typed}> { ?x a <${CLASS}> } OPTIONAL { <urn:thing> <${VALUE}> ?v } }`, ofUnion('open')],
    ['the default graph, DESCRIBE', `DESCRIBE ?s { ?s <${VALUE}> "typed" }`, ofUnion('typed')],
    ['the default graph, ASK', `ASK { ?s ?p "hidden" }`, ['false']],
    ['the merge of all graphs', `SELECT ?v FROM <${MERGED_GRAPHS}> { ?s <${VALUE}> ?v FILTER(?s != <urn:thing>) }`, ['open', 'owned', 'typed']],
    ['the merge of all graphs, as a parameter', `SELECT ?v { ?s <${VALUE}> ?v FILTER(?s != <urn:thing>) }`, ['open', 'owned', 'typed'], [['default-graph-uri', MERGED_GRAPHS]]],
    ['the merge of all graphs: no graph has the name', `SELECT ?v { GRAPH <${MERGED_GRAPHS}> { ${any} } }`, []],
    ['the merge of all graphs: FROM NAMED of it is absent', `SELECT ?v FROM NAMED <${MERGED_GRAPHS}> { GRAPH ?g { ${any} } }`, []],
    ['the merge of all graphs, as named-graph-uri: absent', `SELECT ?v { GRAPH ?g { ${any} } }`, [], [['named-graph-uri', MERGED_GRAPHS]]],
    ['the merge of all graphs: the named graphs stay', `SELECT ?v FROM <${MERGED_GRAPHS}> { <${typed}> ?q ?v GRAPH ?g { <${typed}> <${VALUE}> ?v } }`, ['typed']],
    ['the merge of all graphs: FROM NAMED names them', `SELECT ?v FROM <${MERGED_GRAPHS}> FROM NAMED <${open}> { ?x <${VALUE}> "typed" GRAPH ?g { ${any} FILTER(?s != <urn:thing>) } }`, ['open']],
    ['another name with the same beginning is that of an absent graph', `SELECT ?v FROM <${MERGED_GRAPHS}X> { ${any} }`, []],
    ['another name of the same beginning, in GRAPH', `SELECT ?v { GRAPH <${MERGED_GRAPHS.toUpperCase()}> { ${any} } }`, []],
    ['a join in the merge', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n1> <${NEXT}> ?x . ?x <${NEXT}> ?v }`, []],
    ['a path in the merge', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n1> <${NEXT}>/<${NEXT}> ?v }`, []],
    ['a path of any length in the merge', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n1> <${NEXT}>+ ?v }`, ['urn:n2']],
    ['a path of any length in the merge, also without a step', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n2> <${NEXT}>* ?v }`, ['urn:n2']],
    ['a path of any length in the merge, without a step at a name that no triple has', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n9> <${NEXT}>* ?v }`, kind === 'embedded' ? [] : ['urn:n9']],
    ['a path of any length in the merge, with any property', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n3> <${NEXT}>* ?x . ?x ?p ?v }`, ['urn:n4']],
    ['a path of any length in the merge, counted', `SELECT (COUNT(*) AS ?v) FROM <${MERGED_GRAPHS}> { ?s <${NEXT}>/<${NEXT}>* ?o }`, ['2']],
    ['a path of any length in the merge, with GRAPH', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n1> <${NEXT}>+ ?v GRAPH ?g { ?v ?p ?o } }`, kind === 'embedded' ? 403 : []],
    ['OPTIONAL', `SELECT ?v { VALUES ?s { <urn:thing> } OPTIONAL { GRAPH ?g { ${any} } } }`, ['open']],
    ['EXISTS', `SELECT ?v { VALUES ?v { "open" "hidden" "other" "default" } FILTER EXISTS { GRAPH ?g { ${any} } } }`, ['open']],
    ['NOT EXISTS', `SELECT ?v { VALUES ?v { "open" "hidden" } FILTER NOT EXISTS { GRAPH ?g { ${any} } } }`, ['hidden']],
    ['MINUS', `SELECT ?v { VALUES ?v { "open" "hidden" } MINUS { GRAPH ?g { ${any} } } }`, ['hidden']],
    ['a sub-query', `SELECT ?v { { SELECT ?v { GRAPH ?g { <${hidden}> ?p ?v } } } }`, []],
    ['a sub-query in GRAPH ?g counts no hidden graph', `SELECT ?v { GRAPH ?g { { SELECT (COUNT(*) AS ?v) { ?x <${VALUE}> "hidden" } } <urn:thing> <${VALUE}> "open" } }`, ['0']],
    ['OPTIONAL alone in GRAPH ?g', `SELECT ?v { GRAPH ?g { OPTIONAL { ?x <${VALUE}> "hidden" } } GRAPH ?g { <${typed}> <${VALUE}> ?v } }`, isUnion ? 403 : ['typed']],
    ['EXISTS alone in GRAPH ?g', `SELECT ?v { GRAPH ?g { { FILTER EXISTS { ?x <${VALUE}> "hidden" } } ${any} } }`, []],
    ['a path in GRAPH ?g', `SELECT ?v { GRAPH ?g { <urn:n1> <${NEXT}>+ ?v } }`, ['urn:n2']],
    ['a path through FROM', `SELECT ?v FROM <${open}> FROM <${hidden}> FROM <${typed}> { <urn:n1> <${NEXT}>+ ?v }`, ['urn:n2']],
    ['COUNT', `SELECT (COUNT(*) AS ?v) { GRAPH ?g { ?s <${VALUE}> ?x } }`, ['4']],
    ['COUNT of graphs', `SELECT (COUNT(DISTINCT ?g) AS ?v) { GRAPH ?g { ?s <${VALUE}> ?x } }`, ['3']],
    ['names of graphs', `SELECT ?v { GRAPH ?v {} FILTER(?v IN (<${open}>, <${hidden}>, <urn:other>)) }`, [open]],
    ['DISTINCT * is counted over a blank node in a sub-query', COUNTS, isUnion ? 403 : ['4']],
    ['a FILTER in GRAPH on its name, which Fuseki does not know there', FILTERS, kind === 'embedded' ? ['urn:n2'] : []],
    ['an expression that may never end', 'SELECT ?v { BIND(REGEX("aaa", "^(a|a)*?$") AS ?v) }', kind === 'embedded' ? ['true'] : 403],
    ['an expression that may never end, on a readable graph alone', `SELECT ?v { GRAPH <${typed}> { ?s <${VALUE}> ?v FILTER(REGEX(?v, "(.*)*$")) } }`, kind === 'embedded' ? ['typed'] : 403],
    ['LIMIT', `SELECT ?v { GRAPH ?g { <urn:thing> <${VALUE}> ?v } } LIMIT 1`, ['open']],
    ['ORDER BY and HAVING', `SELECT (COUNT(?x) AS ?v) { GRAPH ?g { ?s <${VALUE}> ?x } } GROUP BY ?s HAVING (EXISTS { GRAPH <${hidden}> { ?s ?p ?o } })`, []],
    ['a name of a union, bound by VALUES', `SELECT ?v { VALUES ?g { <urn:x-arq:UnionGraph> <urn:x-arq:DefaultGraph> } GRAPH ?g { ${any} } }`, []],
    ['a name of a union, bound by FILTER', `SELECT ?v { GRAPH ?g { ${any} } FILTER(?g IN (<urn:x-arq:UnionGraph>)) }`, []],
    ['a name of a union, bound by BIND', `SELECT ?v { BIND(IRI(CONCAT("urn:x-arq:", "UnionGraph")) AS ?g) GRAPH ?g { ${any} } }`, []],
    ['GRAPH <urn:x-arq:UnionGraph>', `SELECT ?v { GRAPH <urn:x-arq:UnionGraph> { ${any} } }`, 403],
    ['FROM <urn:x-arq:UnionGraph>', `SELECT ?v FROM <urn:x-arq:UnionGraph> { ${any} }`, 403],
    ['GRAPH <urn:x-arq:DefaultGraph>', `SELECT ?v { GRAPH <urn:x-arq:DefaultGraph> { ${any} } }`, 403],
    ['a property function that reads an index', `SELECT ?v { ?v <http://jena.apache.org/text#query> "hidden" }`, 400],
    ['a property function by an unknown name', `SELECT ?v { GRAPH ?g { ?v <http://www.opengis.net/ont/geosparql#sfWithin> ?o } }`, 403],
    ['a function of Jena that counts members of containers in every graph', `SELECT ?v { VALUES ?k { 1 } ?x <${RDFS('member')}> ?v }`, kind === 'embedded' ? [] : 403],
    ['a value that Jena fails to compute, and shows in its error', `SELECT DISTINCT ?v { { BIND("first" AS ?v) } UNION { GRAPH ?g { ?s <${VALUE}> ?o BIND(IF(?o = "hidden", HOURS(IRI(CONCAT("urn:", ?o))), "second") AS ?v) } } }`, ['first', 'second']],
    ['DESCRIBE of a resource that a hidden graph describes too', 'DESCRIBE <urn:thing>', ['open']],
    ['DESCRIBE of a hidden document', `DESCRIBE <${hidden}>`, []],
    ['DESCRIBE of the results of a pattern', `DESCRIBE ?s { GRAPH ?g { ?s <${VALUE}> "typed" } }`, ['typed']],
    ['CONSTRUCT', `CONSTRUCT { <urn:s> <${VALUE}> ?v } { GRAPH ?g { <urn:thing> ?p ?v } }`, ['open']],
    ['ASK', `ASK { GRAPH ?g { ?s ?p "hidden" } }`, ['false']],
    ['no graph at all', 'SELECT ?v { VALUES ?v { "1" } }', ['1']],
    ['a query that only the store can read', `SELECT ?v { LATERAL { GRAPH ?g { ${any} } } }`, 400],
  ]
  for (const [name, query, expected, parameters] of QUERIES) {
    await row(
      `${name}: ${Array.isArray(expected) ? expected.join(', ') || 'nothing' : String(expected)}`,
      async (t) => {
        const answer = await agent('GET', get(query, parameters), CSV)
        t.equal(answer.status, typeof expected === 'number' ? expected : 200, answer.text)
        if (typeof expected !== 'number') t.same(valuesIn(answer.text), expected)
        if (!query.includes('hidden')) t.notMatch(answer.text, /hidden/)
      },
    )
  }

  await row('the owner sees everything, and the log says how each query was answered', async (t) => {
    const query = `SELECT ?v { GRAPH ?g { <urn:thing> <${VALUE}> ?v } }`
    t.same(valuesIn((await owner('GET', get(query), CSV)).text), ['hidden', 'open'])
    t.equal(world.log.findLast(({ path }) => path === '/sparql')?.view, 'unchanged')
    const views = world.log.flatMap(({ path, view }) => (path === '/sparql' ? [view] : []))
    // Jena's list is exact even for a path.
    const ways = ['constants', 'predicate', 'list', 'refused', ...(kind === 'embedded' ? ['copy'] : [])]
    for (const view of ways) t.ok(views.includes(view as (typeof views)[number]), String(view))
  })
  // prettier-ignore
  for (const [name, query, expected] of [
    ['DESCRIBE', 'DESCRIBE <urn:thing>', ['hidden', 'open']],
    ['a path through the merge of all graphs', `SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n1> <${NEXT}>+ ?v }`, ['urn:n2', 'urn:n3', 'urn:n4']],
    ['a path through the merge, with GRAPH', `SELECT ?v FROM <${MERGED_GRAPHS}> FROM NAMED <${open}> { <urn:n1> <${NEXT}>+ ?v GRAPH ?g { ?x <${NEXT}> ?v } }`, kind === 'embedded' ? 403 : ['urn:n2']],
    ['the named graphs, with the merge', `SELECT ?v FROM <${MERGED_GRAPHS}> { <${typed}> ?q ?v GRAPH ?g { <${typed}> <${VALUE}> ?v } }`, ['typed']],
    ['DISTINCT * counted over blank nodes of the merge', `SELECT (COUNT(DISTINCT *) AS ?v) FROM <${MERGED_GRAPHS}> { [] <${NEXT}> ?x }`, kind === 'embedded' ? 403 : ['3']],
  ] as const) {
    await row(`the owner, ${name}: ${String(expected)}`, async (t) => {
      const answer = await owner('GET', get(query), CSV)
      t.equal(answer.status, typeof expected === 'number' ? expected : 200, answer.text)
      if (typeof expected !== 'number') t.same(valuesIn(answer.text), expected)
      else t.notMatch(answer.text, /agents who may|agent who may/)
    })
  }
  const uri = (graph: string): string => `default-graph-uri=${encodeURIComponent(graph)}`
  const post = (target: string, type: string, body: string): Promise<Answer> =>
    agent('POST', target, { fields: { ...CSV.fields, 'Content-Type': type }, body })
  const [FORM, QUERY] = ['application/x-www-form-urlencoded', 'application/sparql-query']
  const text = `SELECT ?v { ${any} }`
  // prettier-ignore
  for (const [name, asked, expected] of [
    ['POST of a form, the graph in the form', () => post('/sparql', FORM, `query=${encodeURIComponent(text)}&${uri(hidden)}`), []],
    ['POST of a form, with a readable graph', () => post('/sparql', FORM, `query=${encodeURIComponent(text)}&${uri(hidden)}&${uri(typed)}`), ['typed']],
    ['POST of a query, the graph in the query string', () => post(`/sparql?${uri(hidden)}`, QUERY, text), []],
    ['POST of a query, with a readable graph', () => post(`/sparql?${uri(typed)}&${uri(hidden)}`, QUERY, text), ['typed']],
    ['POST of a query that names it', () => post('/sparql', QUERY, `SELECT ?v { GRAPH <${hidden}> { ${any} } }`), []],
  ] as const) {
    await row(`a hidden graph by each kind of request, ${name}: ${expected.join(', ') || 'nothing'}`, async (t) => {
      const answer = await asked()
      t.equal(answer.status, 200, answer.text)
      t.same(valuesIn(answer.text), expected)
    })
  }
  await row('a result cached for an agent with all rights is not used for others', async (t) => {
    for (const [, query, expected, parameters] of QUERIES) {
      if (!Array.isArray(expected)) continue
      const target = get(query, parameters)
      await owner('GET', target, CSV)
      t.same(valuesIn((await agent('GET', target, CSV)).text), expected, query)
    }
  })
  const pathIn = (from: number): string => get(`SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n${from}> <${NEXT}>+ ?v }`)
  const posted = (query: string): Promise<Answer> => post('/sparql', QUERY, query)
  for (const start of ['hid', 'had']) {
    await row(`a query that would fail for hidden values, ^${start}: nothing`, async (t) => {
      const { status, text } = await posted(failing(start))
      t.equal(status, 200, text)
      t.same(valuesIn(text), [])
    })
  }
  await row('an update whose pattern fails halfway through its solutions changes nothing, and says why', async (t) => {
    const rule = '/admin/acl/authorizations/writing/'
    const targets = `acl:accessTo <${base}sparql> , <${open}>`
    await put(rule, `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:agent <${world.webIdOf('stranger')}> ; acl:mode acl:Write ; ${targets} .`) // prettier-ignore
    const where = failing('typ')
      .replace('SELECT ?v ', '')
      .replace(/ FILTER.*?\) \}$/, ' }')
    const updated = (pattern: string): Promise<Answer> =>
      post('/sparql', 'application/sparql-update', `INSERT { GRAPH <${open}> { ?s <urn:done> ?v } } WHERE ${pattern}`)
    const isDone = async (): Promise<boolean> =>
      (await owner('GET', get('ASK { GRAPH ?g { ?s <urn:done> ?v } }'), CSV)).text.includes('true')
    const halves = `{ GRAPH ?g { ?s <${VALUE}> ?v } BIND(IF(?v = "typed", "P1M"^^<${XSD('yearMonthDuration')}> / 3, 1) AS ?x) FILTER(BOUND(?x)) }`
    for (const pattern of kind === 'embedded' ? [] : [where, halves]) {
      const failed = await updated(pattern)
      t.equal(failed.status, 502, failed.text)
      t.notMatch(failed.text, /hidden/)
      t.notOk(await isDone(), pattern)
    }
    t.equal((await updated(`{ GRAPH ?g { ?s <${VALUE}> ?v } }`)).status, 200)
    t.ok(await isDone())
    await behind(`DELETE WHERE { GRAPH <${open}> { ?s <urn:done> ?v } }`)
    t.equal((await owner('DELETE', rule)).status, 204)
  })
  if (kind !== 'embedded') {
    await row('a result with a late failing row is discarded', async (t) => {
      const values = [...Array.from({ length: 100 }, (_, i) => `"a${i}"`), '"typed"'].join(' ')
      const body = failing('typ').replace(`GRAPH ?g { ?s <${VALUE}> ?v `, `{ VALUES ?v { ${values} } `).replace(/ FILTER.*?\) \}$/, ' }') // prettier-ignore
      for (const format of ['json', 'xml']) {
        const fields = { 'Content-Type': 'application/sparql-query', Accept: `application/sparql-results+${format}` }
        for (const again of [1, 2]) {
          const { status, text } = await owner('POST', '/sparql', { fields, body })
          t.equal(status, 502, `${format}, ${again}: ${text.slice(-200)}`)
        }
      }
    })
  }
  await row('an answer over a list, repeated: the store is not asked', async (t) => {
    const query = get(`${kind === 'embedded' ? COUNTS : FILTERS} LIMIT 77`)
    const first = await agent('GET', query, CSV)
    let asked = 0
    beforeQuery = () => Promise.resolve(asked++)
    const second = await agent('GET', query, CSV)
    beforeQuery = () => Promise.resolve()
    t.same([first.status, second.status, second.text, asked], [200, 200, first.text, 0])
  })
  const many = Array.from({ length: 101 }, (_, i) => `GRAPH <${base}many-${i}/> { <${base}many-${i}/> a <${CLASS}> }`)
  await behind(`INSERT DATA { ${many.join(' ')} }`)
  await row('a list of more than 100 graphs: 403 with advice', async (t) => {
    const { status, text } = await agent('GET', get(kind === 'embedded' ? COUNTS : FILTERS), CSV)
    t.equal(status, 403)
    t.match(
      text,
      kind === 'embedded' ? /COUNT\(DISTINCT \?variable\)/ : /Give each OPTIONAL, UNION or sub-query its own GRAPH/,
    )
  })
  for (const start of ['hid', 'had']) {
    await row(
      `a FILTER of OPTIONAL that may fail, of more than 100 graphs, ^${start}: 403, whatever hidden values are`,
      async (t) => {
        const asked = `SELECT ?v { GRAPH ?g { ?g a ?c OPTIONAL { ?s <${VALUE}> ?v FILTER(${searched(start)}) } } }`
        const { status, text } = await posted(asked)
        t.equal(status, 403)
        t.match(text, /REGEX or REPLACE in this FILTER may take long/)
      },
    )
    await row(`such a FILTER elsewhere, ^${start}: nothing`, async (t) => {
      const asked = `SELECT ?v { GRAPH ?g { ?s <${VALUE}> ?v FILTER(${searched(start)} && ?v = "hidden") } }`
      const { status, text } = await posted(asked)
      t.equal(status, 200, text)
      t.same(valuesIn(text), [])
    })
    await row(
      `a query that would fail for hidden values if it computed them, of more than 100 graphs, ^${start}: nothing`,
      async (t) => {
        const { status, text } = await posted(failing(start))
        t.equal(status, 200, text)
        t.same(valuesIn(text), [])
      },
    )
  }
  await row('a second query on a copy at the same time: 503, and 200 afterwards', async (t) => {
    const [asked, held] = [gate(), gate()]
    beforeQuery = async (text) => {
      if (!text.includes(`LIMIT ${MOST_COPIED + 1}`)) return
      asked.open()
      await held.opened
    }
    const first = agent('GET', pathIn(11), CSV)
    await asked.opened
    const { status, fields } = await agent('GET', pathIn(12), CSV)
    held.open()
    t.same([status, fields['retry-after'], (await first).status], [503, '2', 200])
    beforeQuery = () => Promise.resolve()
    t.equal((await agent('GET', pathIn(12), CSV)).status, 200)
  })
  await row('a path that repeats two steps: over a copy, not in GRAPH', async (t) => {
    const twice = `<urn:n1> (<${NEXT}>/<${NEXT}>)* ?v`
    const merged = await agent('GET', get(`SELECT ?v FROM <${MERGED_GRAPHS}> { ${twice} }`), CSV)
    t.equal(merged.status, 200)
    t.ok(valuesIn(merged.text).includes('urn:n1'), merged.text)
    const named = await agent('GET', get(`SELECT ?v { GRAPH ?g { ${twice} } }`), CSV)
    t.equal(named.status, kind === 'embedded' ? 200 : 403, named.text)
  })
  await row('a copy that is too large: one 403 with advice', async (t) => {
    const big = `${base}big/`
    const other = await agent(
      'GET',
      get(`SELECT ?v FROM <${MERGED_GRAPHS}> { <urn:n1> <${NEXT}>+ ?v GRAPH ?g { } }`),
      CSV,
    )
    t.match(other.text, /name the graphs: GRAPH <…> \{ \} or FROM/)
    const readable = `<${big}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${CLASS}> .\n`
    const many = Array.from({ length: MOST_COPIED }, (_, i) => `<urn:m${i}> <${NEXT}> <urn:m> .\n`).join('')
    const long = `<urn:m> <${NEXT}> "${'x'.repeat(MOST_COPIED_BYTES)}" .\n`
    for (const [i, content] of [many, long].entries()) {
      t.equal(await stores.endUser.replace(big, readable + content), undefined)
      world.running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
      const answer = await agent('GET', pathIn(20 + i), CSV)
      t.same([answer.status, answer.text], [403, other.text])
    }
    t.equal(await stores.endUser.remove(big), undefined)
    world.running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
  })
  await behind(`DELETE DATA { ${many.join(' ')} }`)
  await row(
    'a right on a default graph that is the union of the others has no effect, and `access` says so',
    async (t) => {
      const { text } = await owner('GET', '/access?graph=urn:triplegate:default-graph&mode=Read')
      t.equal(text.includes('is the union of its named graphs'), isUnion, text)
    },
  )
  await row('the service description names no graph', async (t) => {
    const { status, text } = await agent('GET', '/sparql', { fields: { Accept: 'application/n-triples' } })
    t.equal(status, 200)
    t.notMatch(text, /hidden|open|typed/)
    t.equal(/service-description#UnionDefaultGraph/.test(text), kind === 'fuseki-union', text)
    t.equal(/solid\/sparql#UnionDefaultGraphOptIn/.test(text), kind !== 'fuseki-union', text)
    t.notMatch(text, /BasicFederatedQuery/)
  })
  for (const format of ['text/turtle', 'application/trig', 'application/ld+json', 'application/rdf+xml', 'application/n-triples']) {
    await row(`no prefix of hidden data is in a result in ${format}`, async (t) => {
      const target = get(`CONSTRUCT { ?s <${VALUE}> ?v } WHERE { GRAPH ?g { ?s <${VALUE}> ?v } }`)
      const ask = (): Promise<Answer> => agent('GET', target, { fields: { Accept: format } })
      const before = await ask()
      const body = `@prefix project-condor: <urn:condor#> . <urn:s> project-condor:p 1 .`
      if (stores.datasets) {
        const loaded = await fetch(`${stores.datasets.endUser}/data?graph=urn:condor`, { method: 'POST', headers: { 'Content-Type': 'text/turtle' }, body })
        t.ok(loaded.ok)
      } else await behind('INSERT DATA { GRAPH <urn:condor> { <urn:s> <urn:condor#p> 1 } }')
      world.running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
      const after = await ask()
      t.same([before.status, after.text, after.fields.etag], [200, before.text, before.fields.etag])
      t.match(after.text, /open/)
      t.notMatch(after.text, /condor/)
      await behind('DROP GRAPH <urn:condor>')
    })
  } // prettier-ignore
  await row('Turtle of a graph has the prefixes of well-known vocabularies', async (t) => {
    const target = get(
      `CONSTRUCT { ?s <http://www.w3.org/2004/02/skos/core#note> ?v } WHERE { GRAPH ?g { ?s <${VALUE}> ?v } }`,
    )
    for (const Accept of ['text/turtle', 'application/trig']) {
      const { text, fields } = await agent('GET', target, { fields: { Accept } })
      t.equal(fields['content-type'], `${Accept};charset=UTF-8`)
      t.match(text, /^@prefix skos: <http:\/\/www.w3.org\/2004\/02\/skos\/core#>\.\n/)
      t.match(text, /> skos:note "open"/)
    }
  })
  await row('blank nodes of a template differ in each answer, which is never cached', async (t) => {
    const target = get(`CONSTRUCT { _:x <${VALUE}> ?v } WHERE { GRAPH ?g { ?s <${VALUE}> ?v } }`)
    for (let i = 0; i < 2; i++) {
      const { status, fields } = await agent('GET', target, { fields: { Accept: 'application/n-triples' } })
      t.same([status, fields.etag, fields.age], [200, undefined, undefined])
    }
  })
  await row('a slow result has the same fields with and without the cache', async (t) => {
    const target = get(`SELECT ?v { GRAPH ?g { ${any} } } LIMIT 78`)
    const ask = async (): Promise<readonly unknown[]> => {
      const { status, fields } = await agent('GET', target, CSV)
      return [status, typeof fields.etag, fields['content-length'], fields['transfer-encoding'], fields.vary]
    }
    pause = 700
    const first = await ask()
    pause = 0
    t.same(await ask(), first)
    t.same(first.slice(0, 2), [200, 'string'])
  })
  await row('the page does not show whether a result comes from the cache, since a hidden graph may have changed', async (t) => {
    const target = get(`SELECT ?v { GRAPH ?g { ${any} } }`)
    for (let i = 0; i < 2; i++) {
      const { text } = await agent('GET', target, { fields: { Accept: 'text/html' } })
      t.match(text, /[0-9] ms/)
      t.notMatch(text, /from the (cache|triplestore)/)
    }
  }) // prettier-ignore
  await row('no part of an answer reveals changes to hidden graphs', async (t) => {
    world.stopClock(t)
    const targets = QUERIES.map(([, query, , parameters]) => get(query, parameters))
    /** @param seconds since the first time */
    const ask = async (seconds: number): Promise<readonly Shown[]> => {
      const answers: Shown[] = []
      for (const target of targets)
        for (let i = 0; i < 2; i++) answers.push(shown(await agent('GET', target, CSV), seconds))
      return answers
    }
    const before = await ask(0)
    t.ok(before.some(({ age }) => age !== undefined))
    world.passTime(5_000)
    await put('/hidden/', `<> <${VALUE}> "hidden" , "more" . <urn:thing> <${VALUE}> "open" . ${step(1)} . ${step(2)} .`)
    await put('/hidden-too/', `<> <${VALUE}> "hidden" . <urn:thing> <${NEXT}> <urn:n1> .`)
    await stores.endUser.update(`INSERT DATA { GRAPH <urn:other> { <urn:thing> <${VALUE}> "open" } <urn:a> <urn:b> 1 }`)
    t.same(await ask(5), before)
    world.passTime(5_000)
    t.equal((await owner('DELETE', '/hidden/')).status, 204)
    t.same(await ask(10), before)
  })
  await row('a revoked right shows in the next answer', async (t) => {
    const query = get(`SELECT ?v { GRAPH ?g { ${any} } FILTER(?s != <urn:thing>) }`)
    t.same(valuesIn((await agent('GET', query, CSV)).text), ['open', 'owned', 'typed'])
    await put('/admin/acl/authorizations/classes/', '<> <http://purl.org/dc/terms/title> "none" .')
    t.same(valuesIn((await agent('GET', query, CSV)).text), ['open', 'owned'])
    await behind(`DELETE ${owning}`)
    t.same(valuesIn((await agent('GET', query, CSV)).text), ['open'])
    t.equal((await owner('DELETE', '/admin/acl/authorizations/names/')).status, 204)
    // The seed lets every identified agent use the endpoint.
    const last = await agent('GET', query, CSV)
    t.same([last.status, valuesIn(last.text)], [200, []])
  })
  await changes(world, row)
})

/** Changes of rules, and the answers that follow: values, or a status. At first only the owner may read anything. */
async function changes({ as, base, webIdOf }: World, row: Row): Promise<void> {
  const [RULE, GROUP] = ['/admin/acl/authorizations/changing/', '/admin/acl/groups/changing/']
  const group = new URL(GROUP, base).href
  const PREFIXES = '@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .'
  const reads = (rule: string): string => `${PREFIXES} <#this> a acl:Authorization ; acl:mode acl:Read ; ${rule} .`
  const members = (...names: string[]): string =>
    `${PREFIXES} <#this> a foaf:Group . ${names.map((name) => `<#this> foaf:member <${webIdOf(name)}> .`).join(' ')}`
  const valued = (value: string, more = ''): string => `<> <${VALUE}> "${value}" . ${more}`
  const IS_CONTAINER = '<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'
  const isStranger = `acl:agent <${webIdOf('stranger')}>`
  const toGroup = `acl:agentGroup <${group}#this>`
  const query = get(`SELECT ?v { GRAPH ?g { ${any} } FILTER(?s != <urn:thing>) }`)
  type Next = readonly string[] | number
  /** A document without content is deleted. */
  type Step = readonly [path: string, content: string | undefined, stranger: Next, anonymous?: Next]
  // prettier-ignore
  const ROWS: readonly (readonly [name: string, steps: readonly Step[]])[] = [
    ['a member of a group', [
      [GROUP, members(), []],
      [RULE, reads(`${toGroup} ; acl:accessTo <${base}open/>`), []],
      [GROUP, members('stranger'), ['open']],
      [GROUP, members('reader'), []],
      [GROUP, members('reader', 'stranger'), ['open']],
      [GROUP, undefined, []],
      [RULE, undefined, []],
    ]],
    ['a rule for a group', [
      [GROUP, members('stranger'), []],
      [RULE, reads(`${toGroup} ; acl:accessTo <${base}open/>`), ['open']],
      [RULE, reads(`${toGroup} ; acl:accessTo <${base}open/> , <${base}owned/>`), ['open', 'owned']],
      [RULE, undefined, []],
    ]],
    ['acl:default on a container', [
      ['/box/', valued('box', IS_CONTAINER), []],
      ['/box/one/', valued('one', IS_CONTAINER), []],
      [RULE, reads(`${isStranger} ; acl:default <${base}box/>`), ['one']],
      ['/box/two/', valued('two'), ['one', 'two']],
      ['/box/two/', valued('three'), ['one', 'three']],
      ['/box/two/', undefined, ['one']],
      [RULE, reads(`${isStranger} ; acl:default <${base}box/one/>`), []],
      ['/box/one/more/', valued('more'), ['more']],
      [RULE, undefined, []],
    ]],
    ['acl:agentClass foaf:Agent', [
      [RULE, reads(`acl:agentClass foaf:Agent ; acl:accessTo <${base}open/>`), ['open'], 403],
      [RULE, reads(`acl:agentClass foaf:Agent ; acl:accessTo <${base}open/> , <${base}sparql>`), ['open'], ['open']],
      [RULE, reads(`acl:agentClass foaf:Agent ; acl:accessTo <${base}owned/> , <${base}sparql>`), ['owned'], ['owned']],
      [RULE, reads(`acl:agentClass acl:AuthenticatedAgent ; acl:accessTo <${base}owned/> , <${base}sparql>`), ['owned'], 403],
      [RULE, undefined, [], 403],
    ]],
    ['the class of a document', [
      [RULE, reads(`${isStranger} ; acl:accessToClass <${CLASS}>`), ['typed']],
      ['/typed/', valued('typed'), []],
      ['/open/', valued('open', `<> a <${CLASS}> .`), ['open']],
      ['/open/', undefined, []],
      [RULE, undefined, []],
    ]],
  ]
  const next = async (who: string): Promise<Next> => {
    const { status, text } = await as(who)('GET', query, CSV)
    return status === 200 ? valuesIn(text) : status
  }
  for (const [name, steps] of ROWS) {
    await row(`the next answer after a change: ${name}`, async (t) => {
      for (const [i, [path, content, stranger, anonymous]] of steps.entries()) {
        const { status, text } = await as('owner')(content === undefined ? 'DELETE' : 'PUT', path, content === undefined ? {} : ttl(content)) // prettier-ignore
        t.ok(status < 300, `${path} ${text}`)
        t.same(await next('stranger'), stranger, `step ${i}`)
        if (anonymous !== undefined) t.same(await next('anonymous'), anonymous, `step ${i}, anonymous`)
      }
    })
  }
}

void forEachStore(t, { name: 'queries that only a store can read', kinds: ['fuseki'] }, async (t, makeStores, kind) => {
  const functions = 'http://jena.apache.org/ARQ/'
  const flags = ['--sparql-syntax', 'store', '--allow-function', `${functions}*`]
  const world = await makeWorld(t, await makeStores(), { flags })
  const { base, webIdOf } = world
  const prefix = '@prefix acl: <http://www.w3.org/ns/auth/acl#> .'
  const about = `a acl:Authorization ; acl:mode acl:Read , acl:Write ; acl:agent <${webIdOf('stranger')}>`
  // prettier-ignore
  for (const [path, body] of [
    ['/open/', `<> <${VALUE}> "open" .`],
    ['/hidden/', `<> <${VALUE}> "hidden" .`],
    ['/admin/acl/authorizations/open/', `${prefix} <#this> ${about} ; acl:accessTo <${base}sparql> , <${base}open/> , <urn:x-arq:UnionGraph> .`],
  ] as const) t.equal((await world.as('owner')('PUT', path, ttl(body))).status, 201)
  const row = rowsOf(t, kind)
  const inGraphs = `GRAPH ?g { ${any} }`
  // prettier-ignore
  const ROWS: readonly (readonly [name: string, pattern: string, owner: readonly string[], stranger: readonly string[] | 403])[] = [
    ['neither', inGraphs, ['hidden', 'open'], ['open']],
    ['LATERAL', `VALUES ?s { <${base}open/> <${base}hidden/> } LATERAL { ${inGraphs} }`, ['hidden', 'open'], 403],
    ['LATERAL over readable graphs', `VALUES ?s { <${base}open/> } LATERAL { GRAPH <${base}open/> { ${any} } }`, ['open'], 403],
    ['a function', `GRAPH ?g { ?s <${VALUE}> ?x } BIND(<${functions}function#sprintf>("%s", ?x) AS ?v)`, ['hidden', 'open'], 403],
    ['a function of constants', `BIND(<${functions}function#sprintf>("%s", "one") AS ?v)`, ['one'], 403],
    ['a property function', `?v <${functions}property#strSplit> ( "one two" " " )`, ['one', 'two'], 403],
  ]
  for (const [name, pattern, owner, stranger] of ROWS) {
    await row(`${name}: ${String(stranger)}`, async (t) => {
      const ask = (who: string): Promise<Answer> => world.as(who)('GET', get(`SELECT ?v { ${pattern} }`), CSV)
      const [all, seen] = [await ask('owner'), await ask('stranger')]
      t.same([all.status, valuesIn(all.text)], [200, owner], all.text)
      t.equal(seen.status, stranger === 403 ? 403 : 200, seen.text)
      if (stranger === 403) t.match(seen.text, REFUSALS.unread.detail)
      else t.same(valuesIn(seen.text), stranger)
    })
    await row(`${name}, in an update: ${stranger === 403 ? 403 : 200}`, async (t) => {
      const text = `INSERT { GRAPH <${base}open/> { <urn:found> <urn:found> ?v } } WHERE { ${pattern} }`
      const { status } = await world.as('stranger')('POST', '/sparql', update(text))
      t.equal(status, stranger === 403 ? 403 : 200)
      t.notMatch(
        (await world.as('owner')('GET', '/open/', { fields: { Accept: 'application/n-triples' } })).text,
        /hidden|one/,
      )
    })
  }
})

async function grant({ base, webIdOf }: World, put: (path: string, body: string) => Promise<void>): Promise<void> {
  const about = `a <http://www.w3.org/ns/auth/acl#Authorization> ; acl:mode acl:Read ; acl:agent <${webIdOf('stranger')}>`
  const prefix = '@prefix acl: <http://www.w3.org/ns/auth/acl#> .'
  await put(
    '/admin/acl/authorizations/names/',
    `${prefix} <#this> ${about} ; acl:accessTo <${base}sparql> , <${base}open/> , <urn:x-arq:UnionGraph> .`,
  )
  await put('/admin/acl/authorizations/classes/', `${prefix} <#this> ${about} ; acl:accessToClass <${CLASS}> .`)
}

type Shown = Pick<Answer, 'status' | 'fields' | 'text'> & { readonly age: number | undefined }

/**
 * The parts of an answer that hidden graphs must not change: all but its date and the number of its request. `age` is
 * the Age less the seconds that have passed, so it stays the same while the answer is cached.
 */
function shown({ status, fields, text }: Answer, seconds: number): Shown {
  const others = Object.fromEntries(Object.entries(fields).filter(([name]) => !/^date$|^age$|request|id$/.test(name)))
  return { status, fields: others, text, age: fields.age === undefined ? undefined : Number(fields.age) - seconds }
}

/** The plain values in CSV, N-Triples or a boolean, sorted. */
const valuesIn = (text: string): string[] =>
  /"boolean"/.test(text)
    ? [/"boolean"\s*:\s*(true|false)/.exec(text)![1]!]
    : text
        .split(/\r?\n/)
        .flatMap((line) => (line.startsWith('<') ? [/"(.*?)"/.exec(line)?.[1] ?? ''] : line === '' ? [] : [line]))
        .filter((value) => !['v', '_askResult', ''].includes(value) && !/^\d{4}-/.test(value))
        .sort()
