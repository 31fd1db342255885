// Restricted queries: the answer equals that of a store of the same kind with only the readable data, for random
// datasets, rights and queries (design 4). `npm run fuzz` runs more of them.
import oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { ACL, DH, RDF } from '../../../../gateway/rdf/vocabulary.js'
import { analyseQuery } from '../../../../gateway/sparql/language/analysis.js'
import { overCopy } from '../../../../gateway/sparql/rights/copy.js'
import { overView } from '../../../../gateway/sparql/rights/restrict-query.js'
import { graphsQuery } from '../../../../gateway/sparql/rights/readable-graph-list.js'
import { queryText } from '../../../../gateway/sparql/language/print.js'
import type { Query } from '../../../../gateway/sparql/language/syntax.js'
import { takeViewStep } from '../../../../gateway/sparql/rights/restrict-in-thread.js'
import { OXIGRAPH } from '../../../../gateway/stores/oxigraph-traits.js'
import type { GraphRights } from '../../../../policies/authorizations/graph-rights.js'
import { FUSEKI_KINDS, hasKinds, overFuseki } from '../../../support/fuseki-kinds.js'
import { overOxigraph } from '../../../support/over-oxigraph.js'
import { compare, compareCases, read, type Compared } from '../../../support/over-views.js'
import { fetchRdf4j, isRdf4jHere, overRdf4j, startRdf4j } from '../../../support/rdf4j.js'
import { FUSEKI } from '../../../support/stores.js'
import { groundsOf, randomCase, randomCases, visible, type Case } from '../../../support/view-cases.js'

const CASES = 1000
const CASES_OF_KIND = 340

/** Continuous integration skips nothing. */
const skipped = (reason: string | false): string | false => process.env['CI'] !== 'true' && reason
const hasFuseki = FUSEKI !== undefined && (await hasKinds(FUSEKI))
const withoutKinds = skipped(!hasFuseki && 'no Fuseki with these datasets: npm test starts one')

function judge(t: Test, { leaks, different, ...counts }: Compared, count: number): void {
  const told = JSON.stringify(counts)
  t.same(leaks, [], 'hidden data changes no answer')
  t.same(different, [], 'the answer equals that of a store with only readable data')
  t.ok(counts.filled > count / 6, told)
  t.ok(counts.unanswerable < count / 4, told)
  t.ok(counts.refused + counts.invalid < count / 20, told)
  t.ok(counts.ofStore + counts.ofWays + counts.broken < count / 30, told)
}

void t.test('a thread restricts the text of an analysis like the main thread restricts its tree', (t) => {
  let restricted = 0
  for (const of of randomCases(7, 200)) {
    const { query, rights } = of
    const analysis = analyseQuery(query, 'https://d.test/sparql')
    if (isFailure(analysis) || !analysis.tree) continue
    const again = analyseQuery(analysis.text, 'urn:')
    if (isFailure(again) || !again.tree) return t.fail(analysis.text)
    const sight = { rights, store: OXIGRAPH, nothing: 'urn:nothing', grounds: groundsOf(of) }
    t.same(overView(again.tree, sight), overView(analysis.tree, sight))
    restricted++
  }
  t.ok(restricted > 100)
  t.end()
})

void t.test(`${CASES} random queries on Oxigraph`, async (t) =>
  judge(t, await compare(overOxigraph(), 0, CASES), CASES),
)

void t.test(`${CASES_OF_KIND} random queries on each kind of dataset of Fuseki`, { skip: withoutKinds }, async (t) => {
  for (const [i, kind] of FUSEKI_KINDS.entries()) {
    await t.test(kind, async (t) => {
      const stores = overFuseki(FUSEKI!, kind)
      t.teardown(stores.close)
      judge(t, await compare(stores, 5000 + i * CASES_OF_KIND, CASES_OF_KIND), CASES_OF_KIND)
    })
  }
})

void t.test('queries in which hidden data made a difference', { skip: withoutKinds }, async (t) => {
  const [owned, named] = ['https://d.test/c/', 'https://literal.test/b/']
  const reach = { ...RIGHTS.reach, base: 'https://literal.test/' }
  const type = `<${RDF('type')}>`
  const rows: readonly Row[] = [
    {
      name: 'a triple of the union next to a sub-query in NOT EXISTS: Jena tested it after the join',
      query: `ASK { FILTER NOT EXISTS { ?x ?q <https://d.test/a/> . GRAPH ?g { SELECT ?x (COUNT(*) AS ?c) { GRAPH ?h { ?y ^${type} ?x . ?z <urn:p:3> ?v }
        { ?z (^<urn:p:2>)? ?z } UNION { ?x ${type} ?y } } GROUP BY ?x } } }`,
      rights: { ...RIGHTS, graphs: [], owner: 'https://d.test/me#i' },
      quads: [
        [`<urn:e:1> ${type} <https://d.test/>`, owned],
        ['<https://d.test/> <urn:p:3> <urn:c:1>', owned],
        [`<${owned}> <${ACL('owner')}> <https://d.test/me#i>`, owned],
        ['<https://d.test/a/> <urn:p:1> <https://d.test/a/>', 'urn:g:1'],
      ],
    },
    {
      // No other test has these terms: the store learns them in this order.
      name: 'a literal as predicate: Jena fails on it in the first row, and rows have the order in which terms were stored',
      query: `CONSTRUCT { ?x <urn:q> ?y . ?z ?v ?w } { ?y <urn:literal:2> ?z . ?w ${type} ?v
        GRAPH <${named}> { GRAPH ?x { GRAPH ?g { <urn:literal:s> ${type} <${named}> . ?x ?z ?y } } } }`,
      rights: { ...RIGHTS, reach, graphs: [named, 'https://literal.test/c/'], otherPrefixes: ['http://literal.test/'] },
      quads: [
        [`<${named}> <urn:literal:1> "literal"`, 'https://literal.test/a/'],
        ['<urn:literal:e> <urn:literal:2> <urn:literal:c>', named],
        ['<https://literal.test/a/> <urn:literal:2> "literal"', 'https://literal.test/c/'],
        [`<http://literal.test/g> ${type} <urn:literal:Container>`, 'http://literal.test/g'],
      ],
    },
    {
      name: 'a literal as predicate in a hidden graph, next to a path: over the list',
      query:
        'SELECT * { <urn:e:2> <urn:p:3> ?z . GRAPH ?g { ?v <urn:p:3>?/<urn:p:2> ?v . ?y <urn:p:2> <urn:e:1> . ?x ?z "a" } }',
      rights: { ...RIGHTS, graphs: [owned], classes: ['urn:c:2'] },
      quads: [
        ['<urn:e:2> <urn:p:3> 2', owned],
        ['<urn:e:1> <urn:p:2> <urn:e:1>', 'https://d.test/hidden/'],
      ],
    },
    {
      name: 'two conditions of HAVING over the list: Jena keeps one',
      query: 'SELECT ?s (COUNT(*) AS ?n) { ?s <urn:p:1>+ ?o } GROUP BY ?s HAVING (COUNT(*) > 0) (COUNT(*) > 1)',
      rights: { ...RIGHTS, graphs: [owned] },
      quads: [
        ['<urn:e:1> <urn:p:1> <urn:e:2>', owned],
        ['<urn:e:2> <urn:p:1> <urn:e:3>', owned],
      ],
    },
    {
      name: 'an alternative in EXISTS over the list: Jena fails on it over several graphs',
      query: 'SELECT * { ?s <urn:p:1>+ ?o FILTER EXISTS { ?x <urn:p:2>|<urn:p:3> ?y } }',
      rights: { ...RIGHTS, graphs: [owned, 'https://d.test/d/'] },
      quads: [
        ['<urn:e:1> <urn:p:1> <urn:e:2>', owned],
        ['<urn:e:2> <urn:p:2> <urn:e:3>', 'https://d.test/d/'],
      ],
      refused: 1,
    },
  ]
  const stores = overFuseki(FUSEKI!, 'fuseki-union')
  t.teardown(stores.close)
  for (const { name, refused = 0, ...of } of rows) {
    const { leaks, different, unanswerable } = await compareCases(stores, [{ ...of, compared: 'rows' }], name)
    t.same([leaks, different, unanswerable], [[], [], refused], name)
  }
})

interface Row extends Pick<Case, 'query' | 'rights' | 'quads'> {
  readonly name: string
  readonly refused?: number
}

/**
 * A store of another kind: its default graph is a bag of all its data. Continuous integration fetches it; elsewhere it
 * is optional.
 */
const withoutRdf4j = skipped(!isRdf4jHere() && 'no RDF4J: npm run fuzz -- --store rdf4j fetches it')
void t.test('100 random queries on RDF4J', { skip: withoutRdf4j }, async (t) => {
  const found = fetchRdf4j()
  if (!found) throw new Error('RDF4J cannot be fetched')
  const rdf4j = await startRdf4j(found)
  t.teardown(rdf4j.stop)
  const stores = await overRdf4j(rdf4j)
  t.teardown(stores.close)
  t.equal((await stores.traits()).defaultGraph, 'bag')
  const { leaks, different, filled } = await compare(stores, 7200, 100)
  t.same([leaks, different], [[], []])
  t.ok(filled > 15, String(filled))
  const [mine, hidden] = [READABLE, 'https://d.test/b/']
  const type = `<${RDF('type')}> <urn:c:1>`
  const quads = [
    [`<${mine}> ${type}`, mine],
    [`<${hidden}> ${type}`, mine],
    [`<${mine}> <urn:p:1> <urn:e:1>`, hidden],
    ['<urn:e:2> <urn:p:2> <urn:e:1>', mine],
    [`<urn:e:3> <${RDF('type')}> <urn:e:2>`, mine],
  ] as const
  for (const [name, rights, query, isAnswered = true] of [
    // RDF4J turns || into a UNION if IN or sameTerm is in it.
    ['each row once', { ...RIGHTS, prefixes: ['https://d.test/a'] }, 'SELECT * { ?s ?p ?o }'],
    [
      'each row once, of two patterns',
      { ...RIGHTS, prefixes: ['https://d.test/a'] },
      'SELECT * { ?s ?p ?o . ?s ?q ?x }',
    ],
    // RDF4J reads every graph for a pattern that contains the name of its own graph.
    ['a type that another graph states', { ...CLASS, graphs: [] }, 'SELECT * { GRAPH ?g { ?s ?p ?o } }'],
    ['the same for a constant', { ...CLASS, graphs: [] }, `SELECT * { GRAPH <${hidden}> { ?s ?p ?o } }`],
    [
      'a graph that names itself',
      RIGHTS,
      `SELECT * { GRAPH <${mine}> { <${mine}> <urn:p:1> ?w . ?b <urn:p:2> ?w . ?y a ?b } }`,
    ],
    [
      'the same for a readable graph',
      RIGHTS,
      `SELECT * { GRAPH <${mine}> { <${mine}> a ?w . ?b <urn:p:2> ?z . ?y a ?b } }`,
    ],
    [
      'the same for a variable',
      RIGHTS,
      'SELECT * { VALUES ?g { <https://d.test/a/> } GRAPH ?g { ?g <urn:p:1> ?w } }',
      false,
    ],
    ['a path without a step', RIGHTS, `SELECT * { GRAPH <${mine}> { ?s <urn:p:1>? ?o } }`, false],
    ['any property except these', RIGHTS, `SELECT * { GRAPH <${mine}> { ?s !<urn:p:2> ?o } }`, false],
  ] as const) {
    const of = { quads, rights, query, compared: 'rows' as const }
    await stores.load(quads, visible(of))
    const restricted = overView(read(query)!, {
      ...of,
      store: await stores.traits(),
      nothing: 'urn:test:nothing',
      grounds: groundsOf(of),
    })
    t.equal(isFailure(restricted), !isAnswered, `${name}: refused`)
    if (isFailure(restricted)) continue
    const got = await stores.ask('all', restricted.text)
    t.same([...got].sort(), [...(await stores.ask('visible', query))].sort(), `${name}: ${query}`)
  }
})

/** Jena fails if the name of a graph gets a value in OPTIONAL, and hidden data would decide whether it does. */
void t.test('a condition in OPTIONAL', { skip: withoutKinds }, async (t) => {
  const refusing: string[] = []
  for (const kind of FUSEKI_KINDS) {
    const stores = overFuseki(FUSEKI!, kind)
    await stores.load([...SEEN, ...HIDDEN, ...TYPED], [...SEEN, ...TYPED])
    const store = await stores.traits()
    for (const query of [
      'SELECT * { GRAPH ?g { ?s ?p ?o } OPTIONAL { GRAPH ?g { ?s <urn:p:2> ?v } } }',
      'SELECT * { GRAPH ?g { ?s ?p ?o } OPTIONAL { ?s ?p ?o FILTER NOT EXISTS { GRAPH ?g { ?s <urn:p:3> ?v } } } }',
      'SELECT * { GRAPH ?g { ?s ?p ?o } FILTER EXISTS { OPTIONAL { GRAPH ?g { ?s <urn:p:2> ?v } } } }',
      'SELECT * { GRAPH ?g { SELECT * { ?s ?p ?o } } }',
    ]) {
      const sight = {
        rights: CLASS,
        store,
        nothing: 'urn:test:nothing',
        grounds: new Map(),
      }
      const restricted = overView(read(query)!, sight)
      if (isFailure(restricted)) return void t.fail(restricted.detail)
      const got = await stores.ask('all', restricted.text)
      t.equal(got.length, 3, `${kind}: ${query}`)
      t.same([...got].sort(), [...(await stores.ask('visible', query))].sort())
    }
    const inOptional = 'GRAPH ?k { ?a ?b ?c } FILTER NOT EXISTS { GRAPH ?k { ?a ?b ?d } BIND(<urn:x> AS ?g) }'
    const spying = `SELECT * { GRAPH ?g { ?s <urn:p:1> ?o } OPTIONAL { ${inOptional} } }`
    const sight = { rights: CLASS, store, nothing: 'urn:test:nothing', grounds: new Map() }
    const restricted = overView(read(spying)!, sight)
    if (isFailure(restricted)) refusing.push(kind)
    else t.same(await stores.ask('all', restricted.text), [], `${kind}: fails for nothing hidden`)
    await stores.close()
  }
  t.same(refusing, [], 'the kinds on which it is refused')
})

const READABLE = 'https://d.test/a/'
const HIDDEN = [['<urn:e:1> <urn:p:1> <https://d.test/c/>', 'https://d.test/d/']] as const
const CONTAINER = [[`<https://d.test/c/> <${RDF('type')}> <${DH('Container')}>`, 'https://d.test/c/']] as const
const SEEN = [
  ['<urn:e:1> <urn:p:2> <urn:e:2>', READABLE],
  [`<${READABLE}> <urn:p:2> <https://d.test/c/>`, READABLE],
] as const
const RIGHTS: GraphRights = {
  reach: { ...randomCase(0).rights.reach, alone: true },
  ...{ everything: false, documents: false, others: false, defaultGraph: false, items: false, containers: false },
  ...{ graphs: [READABLE], prefixes: [], otherPrefixes: [], classes: [], owner: undefined, fingerprint: '' },
}
const CLASS: GraphRights = { ...RIGHTS, classes: ['urn:c:1'] }
const TYPED = [[`<https://d.test/c/> <${RDF('type')}> <urn:c:1>`, 'https://d.test/c/']] as const
const ITEMS: GraphRights = { ...RIGHTS, items: true }

const refused = 'refused'
for (const [name, query, rights, hidden, rows] of [
  ['a sub-query lists as many graphs as may be read', 'SELECT ?x { GRAPH ?g { SELECT ?x { } } }', RIGHTS, HIDDEN, 1],
  ['a sub-query counts these', 'SELECT ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { } } }', RIGHTS, HIDDEN, 1],
  ['a group in a group lists these', 'SELECT ?g { GRAPH ?g { { } } }', RIGHTS, HIDDEN, 1],
  ['a group with only FILTER lists these', 'SELECT ?g { GRAPH ?g { FILTER EXISTS { } } }', RIGHTS, HIDDEN, 1],
  ['* of nothing', 'SELECT * { GRAPH ?g { SELECT * { } } }', RIGHTS, HIDDEN, refused],
  ['AS replaces a name', `SELECT * { GRAPH ?g { ?s ?p ?o BIND(<${READABLE}> AS ?g) } }`, RIGHTS, HIDDEN, refused],
  [
    'the same in a group',
    `SELECT * { GRAPH ?g { ?s ?p ?o OPTIONAL { BIND(<${READABLE}> AS ?g) } } }`,
    RIGHTS,
    HIDDEN,
    refused,
  ],
  [
    'the same in a sub-query',
    `SELECT * { GRAPH ?g { SELECT ?s (<${READABLE}> AS ?g) { ?s ?p ?o } } }`,
    RIGHTS,
    HIDDEN,
    refused,
  ],
  ['the same next to GRAPH', `SELECT * { GRAPH ?g { ?s ?p ?o } BIND(<${READABLE}> AS ?g) }`, RIGHTS, HIDDEN, refused],
  ['a GRAPH twice', 'SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(true) GRAPH ?g { ?s ?p ?o } }', RIGHTS, HIDDEN, 2],
  ['a leading MINUS removes nothing', 'SELECT * { FILTER(true) MINUS { } GRAPH ?g { ?s ?p ?o } }', RIGHTS, HIDDEN, 2],
  ['blank nodes, whose rows multiply', `SELECT * { ${'GRAPH ?g { [] ?p [] } '.repeat(2)} }`, RIGHTS, HIDDEN, 4],
  [
    'a sub-query has no name of its GRAPH',
    'SELECT ?s { GRAPH ?g { SELECT * { ?s ?p ?o FILTER(BOUND(?g)) } } }',
    ITEMS,
    CONTAINER,
    0,
  ],
  [
    'a sub-query that selects the name of its GRAPH has it',
    'SELECT ?s { GRAPH ?g { SELECT ?s ?g { ?s ?p ?o FILTER(BOUND(?g)) } } }',
    ITEMS,
    CONTAINER,
    2,
  ],
  [
    'a name that means other graphs to stores is below no prefix',
    'SELECT * { VALUES ?g { <http://www.ontotext.com/explicit> } GRAPH ?g { ?s ?p ?o } }',
    { ...RIGHTS, otherPrefixes: ['http://www.o'] },
    [['<urn:e:8> <urn:p:1> <urn:e:9>', 'http://www.ontotext.com/explicit']],
    0,
  ],
  ['a value that names a graph', 'SELECT ?x { GRAPH ?x { GRAPH ?g { ?s <urn:p:2> ?x } } }', ITEMS, CONTAINER, 2],
] as const) {
  void t.test(name, async (t) => {
    const parsed = read(query)!
    const sight = {
      rights,
      store: OXIGRAPH,
      nothing: 'urn:test:nothing',
      grounds: new Map(),
    }
    const restricted = overView(parsed, sight)
    if (isFailure(restricted)) return void t.equal(rows, refused, restricted.detail)
    const stores = overOxigraph()
    await stores.load([...SEEN, ...hidden], SEEN)
    const got = await stores.ask('all', restricted.text)
    t.equal(got.length, rows, restricted.text)
    t.same(got, await stores.ask('visible', query))
  })
}

void t.test('a leading MINUS is left out: RDF4J would remove rows because of hidden data', (t) => {
  const store = { ...OXIGRAPH, showsName: false, listsGraphs: false }
  const sight = { rights: RIGHTS, store, nothing: 'urn:test:nothing', grounds: new Map() }
  const query = `SELECT * { MINUS { GRAPH ?g { ?s ?q ?o } } ?s ?p ?o OPTIONAL { FILTER(true) MINUS { GRAPH ?g { ?s ?q ?o } } GRAPH ?g { ?s ?q ?o } } }`
  const restricted = overView(read(query)!, sight)
  t.notMatch(isFailure(restricted) ? '' : restricted.text, /MINUS/)
  t.end()
})

const doubling = (steps: number): string => `SELECT * { <urn:e:1> ${'(<urn:p>?|<urn:q>?)/'.repeat(steps)}<urn:p>? ?x }`
const MANY: GraphRights = { ...RIGHTS, graphs: Array.from({ length: 2000 }, (_, i) => `https://d.test/${i}/`) }
// prettier-ignore
for (const [name, query, rights, defaultGraph, length] of [
  ['512 ways without a step', doubling(9), RIGHTS, 'own', 512 * 20],
  ['more ways than 1000', doubling(10), RIGHTS, 'own', refused],
  ['2^26 ways', doubling(26), RIGHTS, 'own', refused],
  ['2^40 ways', doubling(40), RIGHTS, 'own', refused],
  ['a thousand alternatives', `SELECT * { <urn:e:1> <urn:p>?${'|<urn:p>?'.repeat(1000)} ?x }`, RIGHTS, 'own', refused],
  ['many paths, each with many ways', `SELECT * { ${`<urn:e:1> ${'(<urn:p>?|<urn:q>?)/'.repeat(9)}<urn:p>? ?x . `.repeat(1000)} }`, RIGHTS, 'own', refused],
  ['20 patterns under 2000 rules', `SELECT * { ${'OPTIONAL { ?s <urn:p> ?o } '.repeat(20)} }`, MANY, 'union', 3_000_000],
  ['400 patterns under 2000 rules', `SELECT * { ${'OPTIONAL { ?s <urn:p> ?o } '.repeat(400)} }`, MANY, 'union', refused],
  ['400 graphs under 2000 rules', `SELECT * { ${Array.from({ length: 400 }, (_, i) => `GRAPH ?g { ?s <urn:p:${i}> ?o } `).join('')} }`, MANY, 'own', refused],
  ['one graph 400 times under 2000 rules', `SELECT * { ${'GRAPH ?g { ?s <urn:p> ?o } '.repeat(400)} }`, MANY, 'own', 100_000],
] as const) {
  void t.test(`how long a restricted query is at most: ${name}`, (t) => {
    const store = { ...OXIGRAPH, defaultGraph, stays: true } as const
    const found = overView(read(query)!, { rights, store, nothing: 'urn:test:nothing', grounds: new Map() })
    if (isFailure(found)) t.equal(length, refused, found.detail)
    else t.ok(length !== refused && found.text.length < length, String(found.text.length))
    t.end()
  })
}

const [ONE, TWO] = ['urn:p:1', 'urn:p:2']
// prettier-ignore
for (const [name, query, part, stays] of [
  ['of the properties that the query names', `SELECT * { ?x <${ONE}>+ ?y . ?y <${TWO}> ?z }`, [ONE, TWO], []],
  ['of all: a variable as the property', `SELECT * { ?x <${ONE}>+ ?y . ?y ?p ?z }`, undefined, []],
  ['of all: a negated set', `SELECT * { ?x <${ONE}>+/!<${TWO}> ?y }`, undefined, []],
  ['of all: a path without a step, anywhere', `SELECT * { ?x <${ONE}>* ?y }`, undefined, []],
  ['a path without a step, at a name', `SELECT * { <urn:e:1> <${ONE}>* ?y FILTER NOT EXISTS { ?y <${TWO}>? <urn:e:2> } }`, [ONE, TWO], ['urn:e:1', 'urn:e:2']],
  ['a path without a step, at a name, twice', `SELECT * { <urn:e:1> <${ONE}>* ?y . <urn:e:1> <${TWO}>* ?z }`, [ONE, TWO], ['urn:e:1']],
  ['a path without a step, at 51 names', `SELECT * { ${Array.from({ length: 51 }, (_, i) => `<urn:e:${i}> <${ONE}>* ?y .`).join(' ')} }`, 'none', []],
  ['a step before it', `SELECT * { ?x <${TWO}>/<${ONE}>* ?y }`, [TWO, ONE], []],
  ['of any graph', `SELECT * { ?x <${ONE}>+ ?y GRAPH ?g { } }`, 'none', []],
  ['another server', `SELECT * { ?x <${ONE}>+ ?y SERVICE <urn:e:1> { ?y ?q ?z } }`, 'none', []],
  ['a path without a step, at a literal', `SELECT * { ?x <${ONE}>* "a" }`, 'none', []],
  ['a description', `DESCRIBE ?x { ?x <${ONE}>+ ?y }`, 'none', []],
  ['named graphs', `SELECT * FROM <urn:g:1> { ?x <${ONE}>+ ?y }`, 'none', []],
] as const) {
  void t.test(`the data copied for a path: ${name}`, async (t) => {
    const store = { ...OXIGRAPH, defaultGraph: 'union', stays: true } as const
    const found = overCopy(read(query)!, { rights: RIGHTS, store, nothing: 'urn:test:nothing', grounds: new Map() })
    if (!found) return void t.equal(part, 'none')
    t.match(found.plan.collect, /LIMIT 20001\b/)
    t.equal(found.plan.isPart, part !== undefined)
    const properties = [...found.plan.collect.matchAll(/<(urn:p:\d)> AS/g)].map(([, property]) => property)
    t.same(properties, part ?? [])
    t.same(found.plan.stays, stays)
  })
}

void t.test('graphs for which the name alone does not decide are asked for first', (t) => {
  const [open, one, two] = [READABLE, 'https://d.test/1/', 'https://d.test/2/']
  const step = { rights: CLASS, store: OXIGRAPH, nothing: 'urn:test:nothing', readable: undefined }
  const query = read(
    `SELECT * { GRAPH <${open}> { ?s ?p ?o } GRAPH <${one}> { ?s ?p ?o } GRAPH <${two}> { ?s ?p ?o } }`,
  )!
  for (const [graphs, depending] of [
    [[open], undefined],
    [[open, one], [one]],
    [
      [one, two],
      [one, two],
    ],
  ] as const) {
    const found = takeViewStep(query, { ...step, graphs })
    t.same('depending' in found ? found.depending : undefined, depending, graphs.join(' '))
    t.notOk('depending' in takeViewStep(query, { ...step, graphs, readable: [] }), 'once')
    t.notOk('depending' in takeViewStep(query, { ...step, graphs, listed: [open] }), 'not for a list of all')
  }
  t.end()
})

const ASK: Query = read('ASK { }')!

void t.test('the text of a query is read as the same query', async (t) => {
  for (let seed = 0; seed < 300; seed++) {
    const printed = queryText(read(randomCase(seed).query) ?? ASK)
    const again = queryText(read(printed)!)
    if (relabelled(again) !== relabelled(printed)) t.equal(again, printed)
  }
})

/** The text with the same labels for blank nodes, numbered in the order of the text. */
function relabelled(text: string): string {
  const labels = new Map<string, string>()
  return text.replace(/_:b\d+/g, (label) => {
    if (!labels.has(label)) labels.set(label, `_:n${labels.size}`)
    return labels.get(label)!
  })
}

void t.test('the known traits of the embedded store are those that probes find', async (t) => {
  const { defaultGraph, stays, asQuads, asQuadsOfFrom, showsName, listsGraphs } = OXIGRAPH
  const store = new oxigraph.Store()
  store.load('<urn:s> <urn:p> <urn:o> <urn:g> .', { format: 'application/n-quads' })
  const rows = (query: string): number => (store.query(query) as unknown[]).length
  t.equal(defaultGraph === 'own', rows('SELECT * { ?s ?p ?o }') === 0)
  t.equal(stays, rows('SELECT * FROM <urn:none> { <urn:none> <urn:p>* ?x }') > 0)
  t.equal(asQuads, rows('SELECT * { GRAPH ?g { VALUES ?x { 1 } } FILTER(!BOUND(?g)) }') > 0)
  t.equal(asQuadsOfFrom, rows('SELECT * FROM NAMED <urn:none> { GRAPH ?g { VALUES ?x { 1 } } FILTER(!BOUND(?g)) }') > 0)
  t.equal(showsName, rows('SELECT ?x { GRAPH ?x { ?s ?p ?o FILTER(BOUND(?x)) } }') > 0)
  t.equal(listsGraphs, rows('SELECT ?g { GRAPH ?g { OPTIONAL { ?s <urn:none> ?o } } FILTER(BOUND(?g)) }') > 0)
})

// prettier-ignore
for (const [name, store, listed, expected] of [
  ['names', OXIGRAPH, [READABLE], /^SELECT \* FROM <urn:test:nothing> FROM NAMED <https:\/\/d\.test\/a\/> WHERE/],
  ['none', OXIGRAPH, [], /^SELECT \* FROM <urn:test:nothing> WHERE/],
  ['a name that SPARQL cannot express', OXIGRAPH, [READABLE, 'urn:odd name'], refused],
] as const) {
  void t.test(`a query over a list of graphs: ${name}`, (t) => {
    const step = { rights: RIGHTS, store, nothing: 'urn:test:nothing', graphs: [], readable: undefined, listed }
    const found = takeViewStep(read('SELECT * { GRAPH ?g { ?s ?p ?o } }')!, step)
    if ('text' in found) t.match(found.text, expected)
    else t.equal(isFailure(found) && refused, expected)
    t.end()
  })
}

void t.test('the query for the list, for a store that looks into every graph to find the name of a graph', (t) => {
  const sight = { rights: CLASS, store: { ...OXIGRAPH, looksInItself: false }, nothing: 'urn:test:nothing' }
  const text = graphsQuery(sight, 101)
  t.match(text, /GRAPH \?graph \{ \?s \?p \?o \. \}/)
  t.notMatch(text, /GRAPH \?graph \{ \?graph/)
  t.match(graphsQuery({ ...sight, store: OXIGRAPH }, 101), /GRAPH \?graph \{ \}.*GRAPH \?graph \{ \?graph/)
  t.end()
})
