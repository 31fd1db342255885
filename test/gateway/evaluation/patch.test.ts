// PATCH: the accepted forms of an update (spec 3, 4.1, 7, 8), the results, and the limits on time, memory and growth.
import t from 'tap'
import fc from 'fast-check'
import { openPool, type EvaluationPool, type PoolOptions } from '../../../gateway/evaluation/pool.js'
import {
  graphOf,
  iri,
  literal,
  nTriplesOf,
  quad,
  typed,
  type Literal,
  type NamedNode,
  type Quad,
} from '../../../gateway/rdf/graph.js'
import { AS_WRITTEN } from '../../../gateway/rdf/literal-forms.js'
import { analysePatch } from '../../../gateway/sparql/language/patch.js'
import { isFailure, STATUS_OF, type Problem } from '../../../gateway/problem.js'
import { SH, XSD } from '../../../gateway/rdf/vocabulary.js'
import { until } from '../../support/wait.js'

const DOC = 'https://data.example.org/a/b/'
const statusOf = (analysed: object | Problem): number => (isFailure(analysed) ? STATUS_OF[analysed.failure] : 204)

/** Everything that a pattern may contain. */
const BENIGN = `DELETE { ?s ?p ?o }
  WHERE { ?s ?p ?o OPTIONAL { ?o ?q ?r } { ?s a <T> } UNION { ?s a <U> } MINUS { ?s a <V> }
  VALUES ?v { 1 2 } BIND(?v + 1 AS ?w) FILTER EXISTS { ?s <x>/<y>* ?z FILTER NOT EXISTS { ?z ?z ?z } } }`

void t.test('spec 4.1, 7, 8: forms of an update and their status', async (t) => {
  const names = 'PREFIX graph: <g> INSERT { graph:with <service> ?using } WHERE { ?graph ?load ?using }'
  const rows: [form: string, update: string, status: number, named?: string][] = [
    ['INSERT … WHERE', 'INSERT { <#i> <p> ?o } WHERE { ?s ?p ?o }', 204],
    ['INSERT … WHERE with an empty pattern', 'INSERT { <#i> <p> 1 } WHERE {}', 204],
    ['DELETE … WHERE', 'DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }', 204],
    ['DELETE … INSERT … WHERE', 'DELETE { ?s ?p ?o } INSERT { ?s ?p 1 } WHERE { ?s ?p ?o }', 204],
    ['DELETE WHERE', 'DELETE WHERE { ?s ?p ?o }', 204],
    ['BASE and PREFIX', `BASE <${DOC}x/> PREFIX : <> PREFIX a: <//h/> INSERT { :s a:p </o> } WHERE {}`, 204],
    ['lower case', 'insert { <a> <b> <c> } where { ?s ?p ?o filter(?o > 1) }', 204],
    ['a semicolon after it', 'DELETE WHERE { ?s ?p ?o } ;', 204],
    ['nothing to change', 'DELETE {} INSERT {} WHERE { ?s ?p ?o }', 204],
    ['a subquery', 'INSERT { <a> <b> ?n } WHERE { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }', 204],
    [
      'the whole pattern is a sub-query',
      'DELETE { ?s ?p ?o } WHERE { SELECT * { ?s ?p ?o } ORDER BY ?o LIMIT 1 }',
      204,
    ],
    ['OPTIONAL, UNION, MINUS, VALUES, BIND, FILTER EXISTS', BENIGN, 204],
    ['forbidden words in strings and comments', 'INSERT { <a> <b> "GRAPH <g> { }" } # SERVICE <s> {\nWHERE {}', 204],
    ['forbidden words in names', names, 204],

    ['an empty update', '', 422, 'empty'],
    ['a prologue and nothing else', 'PREFIX a: <b> # nothing', 422, 'empty'],
    ['INSERT DATA', 'INSERT DATA { <a> <b> <c> }', 422, 'INSERT DATA'],
    ['DELETE DATA', 'DELETE DATA { <a> <b> <c> }', 422, 'DELETE DATA'],
    ['LOAD', 'LOAD <http://attacker.example/>', 422, 'LOAD'],
    ['LOAD SILENT … INTO GRAPH', 'LOAD SILENT <http://attacker.example/> INTO GRAPH <g>', 422, 'LOAD'],
    ['CLEAR', 'CLEAR ALL', 422, 'CLEAR'],
    ['DROP', 'DROP GRAPH <g>', 422, 'DROP'],
    ['CREATE', 'CREATE GRAPH <g>', 422, 'CREATE'],
    ['COPY', 'COPY DEFAULT TO <g>', 422, 'COPY'],
    ['MOVE', 'MOVE <g> TO DEFAULT', 422, 'MOVE'],
    ['ADD', 'ADD <g> TO DEFAULT', 422, 'ADD'],
    ['two operations', 'DELETE WHERE { ?s ?p ?o } ; INSERT { <a> <b> <c> } WHERE {}', 422, '2 operations'],
    ['an operation after an accepted one', 'INSERT { <a> <b> <c> } WHERE {} ; DROP ALL', 422, '2 operations'],
    ['a prologue after the operation', 'INSERT { <a> <b> <c> } WHERE {} ; PREFIX a: <b>', 422, 'follow'],
    ['WITH', 'WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }', 422, 'WITH'],
    ['USING', 'DELETE { ?s ?p ?o } USING <g> WHERE { ?s ?p ?o }', 422, 'USING'],
    ['USING NAMED', 'DELETE { ?s ?p ?o } USING NAMED <g> WHERE { ?s ?p ?o }', 422, 'USING NAMED'],
    ['GRAPH in an INSERT template', 'INSERT { <a> <b> <c> . GRAPH <g> { <a> <b> <c> } } WHERE {}', 422, 'GRAPH'],
    ['an empty GRAPH in an INSERT template', 'INSERT { GRAPH <g> {} } WHERE {}', 422, 'GRAPH'],
    ['GRAPH in a DELETE template', 'DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { ?s ?p ?o }', 422, 'GRAPH'],
    ['GRAPH in DELETE WHERE', 'DELETE WHERE { ?s ?p ?o . GRAPH ?g { ?s ?p ?o } }', 422, 'GRAPH'],

    ['no SPARQL', 'this is not SPARQL', 422],
    ['half an update', 'DELETE { ?s ?p ?o } WHERE { ?s ?p', 422],
    ['a query', 'SELECT * WHERE { ?s ?p ?o }', 422],
    ['a blank node to delete', 'DELETE { _:a <p> 1 } WHERE {}', 422],
    ['an undeclared prefix', 'INSERT { x:a <p> 1 } WHERE {}', 422],
    ['an undeclared prefix that JavaScript knows', 'INSERT { toString:a <p> 1 } WHERE {}', 422],
    ['FROM in a subquery', 'INSERT { <a> <b> ?s } WHERE { { SELECT ?s FROM <g> { ?s ?p ?o } } }', 422],
    ['SPARQL 1.2: reified triples', 'INSERT { << <a> <b> <c> >> <p> 1 } WHERE {}', 422, '<<'],
    ['SPARQL 1.2: triple terms', 'INSERT { <a> <p> ?t } WHERE { BIND(TRIPLE(<a>, <b>, <c>) AS ?t) }', 422, 'TRIPLE'],
    ['SPARQL 1.2: the direction of a string', 'INSERT { <a> <p> "a"@en--ltr } WHERE {}', 422, '@en--ltr'],
    ['an escaped brace', 'INSERT { <a> <b> <c> } WHERE \\u007B }', 422],
    ['an IRI that an escape would end', 'INSERT { <a> <b> <http://x/\\u003E> } WHERE {}', 422],
    ['nesting without end', `INSERT { <a> <b> <c> } WHERE ${'{'.repeat(50_000)}${'}'.repeat(50_000)}`, 422],
    ['brackets without end', `INSERT { <a> <b> <c> } WHERE { FILTER${'('.repeat(50_000)} }`, 422],
    ['empty lines and comments without end', `${'# \n'.repeat(50_000)}DELETE WHERE { ?s ?p ?o }`, 204],
  ]
  for (const [form, update, status, named] of rows) {
    const analysed = analysePatch(update, DOC)
    t.equal(statusOf(analysed), status, form)
    if (named) t.match((analysed as Problem).detail, named, `${form}: the message names the form`)
  }
  const wrong = analysePatch('INSERT { <a> <b> <c> }\n\nWHERE {\n FILTR(1) }', DOC)
  t.match(isFailure(wrong) && wrong.detail, /line 4/, 'the message names the line of an error')
})

/** Every position in a pattern, and every expression that can contain a pattern. */
const PLACES: ((pattern: string) => string)[] = [
  (p) => `{ ${p} }`,
  (p) => `?a ?b ?c . ${p} ?d ?e ?f .`,
  (p) => `OPTIONAL { ${p} }`,
  (p) => `MINUS { ${p} }`,
  (p) => `{ ${p} } UNION { ?s ?p ?o }`,
  (p) => `{} UNION { ?s ?p ?o } UNION { ${p} }`,
  (p) => `FILTER EXISTS { ${p} }`,
  (p) => `FILTER NOT EXISTS { ${p} }`,
  (p) => `FILTER(1 > 2 || !(EXISTS { ${p} }))`,
  (p) => `FILTER(IF(true, COALESCE(?x, EXISTS { ${p} }), -1 * 2))`,
  (p) => `FILTER(?x NOT IN (1, NOT EXISTS { ${p} }))`,
  (p) => `FILTER(<http://f.example/>(1, EXISTS { ${p} }))`,
  (p) => `OPTIONAL { BIND(EXISTS { ${p} } AS ?bound) }`,
  (p) => `{ SELECT * { ${p} } }`,
  (p) => `{ SELECT (EXISTS { ${p} } AS ?e) { ?s ?p ?o } }`,
  (p) => `{ SELECT (SUM(IF(EXISTS { ${p} }, 1, 0)) AS ?sum) { ?s ?p ?o } GROUP BY ?s }`,
  (p) => `{ SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (EXISTS { ${p} }) }`,
  (p) => `{ SELECT ?s { ?s ?p ?o } GROUP BY ?s (EXISTS { ${p} } AS ?g) }`,
  (p) => `{ SELECT ?s { ?s ?p ?o } ORDER BY ?s DESC(EXISTS { ${p} }) LIMIT 1 }`,
]
const FORBIDDEN: [keyword: string, rest: string][] = [
  ['GRAPH', '?g { ?s ?p ?o }'],
  ['GRAPH', '<g> {}'],
  ['SERVICE', '<http://attacker.example/> { ?s ?p ?o }'],
  ['SERVICE', 'SILENT ?s {}'],
]
/** A keyword in any case, followed by a separator of tokens. */
const spelling = (keyword: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.boolean(), { minLength: keyword.length, maxLength: keyword.length }),
      fc.constantFrom(' ', '\n', '\t\r\n', '# comment {\n', '# it\'s <a> "\n', ''),
    )
    .map(([lower, space]) => {
      const letters = [...keyword].map((letter, index) => (lower[index] ? letter.toLowerCase() : letter))
      return letters.join('') + space
    })

void t.test('GRAPH and SERVICE are found at any place, depth and spelling', async (t) => {
  // Each place nests two levels of queries at most.
  const places = fc.array(fc.constantFrom(...PLACES), { maxLength: 4 })
  const head = fc.constantFrom(
    'INSERT { <a> <b> <c> } WHERE',
    'DELETE { ?s ?p ?o } INSERT {} WHERE',
    'DELETE { <a> <b> "}" } # }\nWHERE',
  )
  const found = fc.constantFrom(...FORBIDDEN).chain(([keyword, rest]) =>
    // Two words need a separator.
    spelling(keyword).map((spelt) => ({
      keyword,
      construct: spelt + (/\w$/.test(spelt) && /^\w/.test(rest) ? ` ${rest}` : rest),
    })),
  )
  const inside = (wrappers: ((p: string) => string)[], pattern: string) =>
    wrappers.reduce((p, wrap) => wrap(p), pattern)
  fc.assert(
    fc.property(head, places, found, (head, wrappers, { keyword, construct }) => {
      const refused = analysePatch(`${head} { ${inside(wrappers, construct)} }`, DOC)
      const accepted = analysePatch(`${head} { ${inside(wrappers, '?s ?p ?o .')} }`, DOC)
      if (isFailure(accepted)) throw new Error(accepted.detail)
      return isFailure(refused) && refused.failure === 'update.form' && refused.detail.includes(keyword)
    }),
    { numRuns: 400 },
  )
  for (const place of PLACES) {
    for (const [keyword, rest] of FORBIDDEN) {
      const analysed = analysePatch(`INSERT {} WHERE { ${place(`${keyword} ${rest}`)} }`, DOC)
      t.equal(statusOf(analysed), 422, place(keyword))
    }
  }
})

type WholePool = Omit<EvaluationPool, 'patch'> & {
  patch(...job: Parameters<EvaluationPool['patch']>): Promise<string | Problem>
}
/** `patch` gives the whole document after the update. */
const evaluationFor = (t: { teardown(end: () => Promise<void>): void }, options: PoolOptions = {}): WholePool => {
  const evaluation = openPool({ timeLimit: 30_000, ...options })
  t.teardown(() => evaluation.close())
  const patch: WholePool['patch'] = async (asker, nTriples, sent) => {
    const patched = await evaluation.patch(asker, nTriples, sent)
    if (isFailure(patched)) return patched
    const lines = nTriples.split('\n').filter((line) => line !== '' && !patched.removed.includes(line))
    return [...lines, ...patched.added].map((line) => `${line}\n`).join('')
  }
  return { ...evaluation, patch }
}
const E = 'http://e.example/'
const thing = (name: string, predicate: string, object: Quad['object']): Quad =>
  quad(iri(E + name), iri(E + predicate), object as NamedNode | Literal)
const nt = (...triples: Quad[]): string => nTriplesOf(graphOf(triples))
const sorted = (nTriples: string | Problem | object): unknown =>
  typeof nTriples === 'string' ? nTriples.split('\n').filter(Boolean).sort() : nTriples

void t.test('the result of an update', async (t) => {
  const evaluation = evaluationFor(t)
  const int = (value: string) => typed(value, XSD('integer'))
  const ofS = (predicate: string, object: Quad['object']) => thing('s', predicate, object)
  const ofT = (predicate: string, object: Quad['object']) => thing('t', predicate, object)
  const [one, two, three] = [ofS('p', int('1')), ofS('p', int('2')), ofS('q', iri(`${E}o`))]
  const long = ofS('long', typed('007', XSD('long')))
  const created = ofS('created', typed('2026-07-10T20:53:01.120Z', XSD('dateTime')))
  const price = ofS('price', typed('1.50', XSD('decimal')))
  const short = ofS('long', typed('7', XSD('long')))
  const [long7, next7, p3] = [ofS('long', int('7')), ofS('next', int('7')), ofS('p', int('3'))]
  const [has2, b1] = [ofT('has', int('2')), ofT('b', int('1'))]
  const odd = [long, created, price]
  const oddOfT = odd.map((q) => ofT(q.predicate.value.slice(E.length), q.object))
  const nil = iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#nil')
  const P = `PREFIX : <${E}> PREFIX xsd: <${XSD('')}>\n`
  const BASE = 'https://data.example.org/'
  const resolved = ['a/b/#i', 'a/b/?q', 'a/b/', 'a/b/e', 'f'].map((object) =>
    quad(iri(`${BASE}a/c/`), iri('https://h.example/p'), iri(BASE + object)),
  )
  const relative = '<../c/> <//h.example/p> <#i>, <?q>, <>, <./d/../e>, </f>'
  const fromBase = `BASE <${E}x/> INSERT { <../s> <../p> ?i } WHERE { BIND(IRI("../o") AS ?i) }`
  const optional = ':s :p ?o OPTIONAL { ?o :x ?none }'
  const escapes = '<http://e.example/\\u0073> :p\\-q :r\\#s'
  const named = ':s :long "007"^^xsd:long ; :price "1.50"^^xsd:decimal'
  const insert = (template: string, pattern = '') => `INSERT { ${template} } WHERE { ${pattern} }`
  const replace = (deleted: string, inserted: string, pattern = '') =>
    `DELETE { ${deleted} } INSERT { ${inserted} } WHERE { ${pattern} }`
  // prettier-ignore
  const rows: [name: string, before: Quad[], update: string, after: Quad[]][] = [
    ['DELETE WHERE deletes the matches', [one, two, three], 'DELETE WHERE { :s :p ?o }', [three]],
    ['DELETE WHERE with no match leaves the graph', [one, three], 'DELETE WHERE { :other ?p ?o }', [one, three]],
    ['DELETE WHERE of everything leaves nothing', [one, three], 'DELETE WHERE { ?s ?p ?o }', []],
    ['INSERT for every solution', [one, two], insert(':t :has ?o', ':s :p ?o FILTER(?o > 1)'), [one, two, has2]],
    ['INSERT without a solution', [one], insert(':t :has 1', ':other :p ?o'), [one]],
    ['deletions come before insertions', [one], replace(':s :p 1', ':s :p 1'), [one]],
    ['all solutions are found on one state', [one, two], replace(':s :p ?o', ':s :p ?n', ':s :p ?o BIND(?o + 1 AS ?n)'), [two, p3]],
    ['no triple of an unbound variable', [one], insert(':t :a ?none . :t :b ?o', optional), [one, b1]],
    ['a literal as subject makes no triple', [one], insert('?o :a :b', ':s :p ?o'), [one]],
    ['a literal as predicate makes no triple', [one], insert(':a ?o :b', ':s :p ?o'), [one]],
    ['the document is the base of relative IRIs (RFC 3986 §5.2)', [], insert(relative), resolved],
    ['BASE is the base of IRI()', [], fromBase, [ofS('p', iri(`${E}o`))]],
    ['code point escapes in IRIs, character escapes in names', [], insert(escapes), [ofS('p-q', iri(`${E}r#s`))]],
    ['a collection', [], insert(':s :p ()'), [ofS('p', nil)]],
    ['an untouched literal keeps its spelling', [...odd, one], 'DELETE WHERE { :s :p ?o }', odd],
    ['a matched and inserted literal keeps its spelling', odd, replace(':s ?p ?o', ':t ?p ?o', ':s ?p ?o'), oddOfT],
    ['a named literal keeps its spelling', [], insert(named), [long, price]],
    ['only the spelling changes', [long], replace(':s :long "007"^^xsd:long', ':s :long "7"^^xsd:long'), [short]],
    ['another spelling is another literal', [long], 'DELETE { :s :long "7"^^xsd:long } WHERE {}', [long]],
    ['equal values: both are deleted', [long, long7], 'DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?o = 7) }', []],
    ['a computed value is a new one', [long], insert(':s :next ?n', ':s :long ?o BIND(?o + 0 AS ?n)'), [long, next7]],
  ]
  for (const [name, before, update, after] of rows) {
    t.same(
      sorted(await evaluation.patch('a', nt(...before), { update: P + update, base: DOC })),
      sorted(nt(...after)),
      name,
    )
  }

  const blank = await evaluation.patch('a', nt(one, two), {
    update: `${P}INSERT { ?s :has [ :value ?o ; :self _:b ] . _:b :of ?s } WHERE { ?s :p ?o }`,
    base: DOC,
  })
  const labels = new Set(String(blank).match(/_:\S+/g))
  t.equal(labels.size, 4, 'blank nodes of a template: new in every solution, shared within it')
  const legacy = `<${E}s> <${E}p> _:old .\n_:old <${E}q> "x" .\n`
  t.same(
    sorted(await evaluation.patch('a', legacy, { update: `${P}DELETE WHERE { ?b :q ?x }`, base: DOC })),
    [`<${E}s> <${E}p> _:old .`],
    'blank nodes of the document keep their labels',
  )

  for (const [name, update, code] of [
    ['an unknown function', insert(':a :b ?x', 'BIND(<http://f.example/>(1) AS ?x)'), 'update.form'],
    ['only the engine refuses', insert(':a :b ?x', '?s ?p ?x . { ?x ?y ?z } BIND(1 AS ?x)'), 'update.form'],
    ['a refused form', 'DROP ALL', 'update.form'],
  ] as const) {
    const answer = await evaluation.patch('a', nt(one), { update: P + update, base: DOC })
    t.equal(isFailure(answer) && answer.failure, code, name)
  }
})

void t.test('property: a PATCH with constants is exact for all literals', async (t) => {
  const evaluation = evaluationFor(t)
  const datatypes = ['integer', 'long', 'decimal', 'double', 'boolean', 'dateTime', 'duration', 'hexBinary'].map(
    (name) => XSD(name),
  )
  const object = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('1', '01', '+1', '1.0', 'true', 'x', '2026-01-01T00:00:00.0Z', 'P12M'),
        fc.constantFrom(...datatypes),
      )
      .map(([value, type]) => typed(value, type)),
    fc.string({ unit: 'binary', maxLength: 6 }).map((value) => literal(value)),
    fc
      .tuple(fc.string({ maxLength: 3 }), fc.constantFrom('en', 'EN-gb'))
      .map(([value, language]) => literal(value, language)),
    fc.constantFrom('a', 'é', '%20', 'x#y').map((name) => iri(E + name)),
  )
  const triples = fc.array(
    fc.tuple(fc.constantFrom('s', 't'), fc.constantFrom('p', 'q'), object).map(([s, p, o]) => thing(s, p, o)),
    { maxLength: 6 },
  )
  await fc.assert(
    fc.asyncProperty(triples, triples, triples, fc.boolean(), async (kept, deleted, inserted, present) => {
      const before = graphOf([...kept, ...(present ? deleted : [])])
      const update = `DELETE { ${nt(...deleted)} } INSERT { ${nt(...inserted)} } WHERE {}`
      const expected = new Set(before.lines)
      for (const line of graphOf(deleted).lines) expected.delete(line)
      for (const line of graphOf(inserted).lines) expected.add(line)
      t.same(
        sorted(await evaluation.patch('a', nTriplesOf(before), { update: update, base: DOC })),
        [...expected].sort(),
      )
    }),
    { numRuns: 60 },
  )
})

const ONE = `<${E}s> <${E}p> "1" .\n`
const many = (count: number): string =>
  Array.from({ length: count }, (_, i) => `<${E}s${i}> <${E}p> "${i}" .\n`).join('')
const SIMPLE = `INSERT { <${E}t> <${E}p> "2" } WHERE {}`
const PRODUCT = 'abcdefg'.replaceAll(/./g, '?s$& ?p$& ?o$& . ')
const ENDLESS = `INSERT { <${E}t> <${E}p> ?n }
  WHERE { ${PRODUCT} BIND(CONCAT(?oa, ?ob, ?oc) AS ?n) FILTER(REGEX(?n, "^(9+)+x$")) }`
const DOUBLINGS = Array.from({ length: 30 }, (_, i) => `BIND(CONCAT(?a${i}, ?a${i}) AS ?a${i + 1})`).join(' ')
const DOUBLING = `INSERT { <${E}t> <${E}p> ?a30 } WHERE { BIND("aaaaaaaa" AS ?a0) ${DOUBLINGS} }`
const CHAIN = `INSERT { <${E}t> <${E}p> ?o } WHERE { ?s ?p ?o FILTER(${'?o + '.repeat(20_000)} 1 > 1) }`

void t.test('limits: a job above a limit is stopped, the next job works', async (t) => {
  const cross = 'INSERT { ?a ?b ?c } WHERE { ?a ?x ?y . ?b ?z ?c }'
  const large = 'INSERT { ?s <x> ?p } WHERE { ?s ?p ?o }'
  const memory = { limits: { memory: 64 * 2 ** 20 } }
  const growth = { limits: { growth: 10_000 } }
  const rows: [name: string, options: PoolOptions, document: string, update: string, code: string, says?: RegExp][] = [
    // On an overloaded machine, the answer is to retry.
    [
      'endless',
      { timeLimit: 400, patience: 30_000 },
      many(500),
      ENDLESS,
      'update.time|server.overloaded',
      /limit of 0.4 s|too busy/,
    ],
    ['too much memory in the engine', memory, ONE, DOUBLING, 'update.time', /memory/],
    ['too many solutions', {}, many(450), cross, 'content.too-large'],
    ['too large a result', growth, many(600), large, 'content.too-large'],
    ['a chain too long for the stack', {}, ONE, CHAIN, 'update.time|update.form'],
  ]
  for (const [name, options, document, update, codes, says] of rows) {
    const evaluation = evaluationFor(t, options)
    const answer = await evaluation.patch('a', document, { update: update, base: DOC })
    const detail = isFailure(answer) ? answer.detail : 'a result'
    t.ok(isFailure(answer) && codes.split('|').includes(answer.failure), `${name}: ${detail}`)
    if (says) t.match(isFailure(answer) && detail, says, `${name}: the message names the limit`)
    // On an overloaded machine, the answer is to retry.
    const next = await until(async () => {
      const result = await evaluation.patch('a', ONE, { update: SIMPLE, base: DOC })
      return (!isFailure(result) || result.failure !== 'server.overloaded') && result
    })
    t.equal(next, `${ONE}<${E}t> <${E}p> "2" .\n`, `${name}: the next job works`)
    await evaluation.close()
  }
})

void t.test('the queue is bounded', async (t) => {
  const evaluation = evaluationFor(t, { workers: 2 })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      evaluation.patch('a', ONE, { update: `INSERT { <${E}t> <${E}p> ${i} } WHERE {}`, base: DOC }),
    ),
  )
  answers.forEach((answer, i) => t.match(answer, `"${i}"^^`, `answer ${i} belongs to request ${i}`))

  const small = evaluationFor(t, { timeLimit: 900, each: 1, patience: 600 })
  // Waiting jobs also wait for the start of the thread.
  await until(async () => !isFailure(await small.patch('a', '', { update: SIMPLE, base: DOC })))
  const running = small.patch('a', many(500), { update: ENDLESS, base: DOC })
  await new Promise((resolve) => setImmediate(resolve))
  const [waiting, refused] = await Promise.all([
    small.patch('a', ONE, { update: SIMPLE, base: DOC }),
    small.patch('a', ONE, { update: SIMPLE, base: DOC }),
  ])
  t.equal(isFailure(waiting) && waiting.failure, 'server.overloaded', 'a job that waits too long')
  t.equal(isFailure(refused) && refused.failure, 'server.overloaded', 'a job above the length of the queue')
  const ended = await running
  t.match(ended, { failure: /^(?:update\.time|server\.overloaded)$/ })

  const closing = evaluationFor(t)
  t.equal(await closing.patch('a', '', { update: SIMPLE, base: DOC }), `<${E}t> <${E}p> "2" .\n`)
  const busy = closing.patch('a', many(500), { update: ENDLESS, base: DOC })
  const behind = closing.analyse('a', { update: SIMPLE, base: DOC })
  await closing.close()
  for (const answer of [await busy, await behind, await closing.analyse('a', { update: SIMPLE, base: DOC })]) {
    t.equal(isFailure(answer) && answer.failure, 'server.closing', 'closing answers every job')
  }
})

void t.test('analysis and constraints run in the thread too', async (t) => {
  const evaluation = evaluationFor(t)
  t.same(await evaluation.analyse('a', { update: SIMPLE, base: DOC }), analysePatch(SIMPLE, DOC))
  const target = `<${E}S> <${SH('targetClass')}> <${E}C> .\n`
  const shape = (more: string) => `${target}<${E}S> <${SH('property')}> _:b .\n_:b <${SH('path')}> <${E}p> .\n${more}`
  const required = shape(`_:b <${SH('minCount')}> "1"^^<${XSD('integer')}> .\n`)
  const data = `<${E}x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${E}C> .\n<${E}x> <${E}q> "x"@en-gb .\n`
  const check = (shapes: string, shapesVersion: string, forms = AS_WRITTEN) =>
    evaluation.validate('a', { shapes, shapesVersion, data, document: DOC, bases: [], forms })
  t.match(await check(required, '1'), { conforms: false, report: `<${SH('focusNode')}> <${E}x>` })
  t.match(await check('not read again', '1'), { conforms: false }, 'shapes are read once per version')
  const unusable = await check(required + `<${E}S> <${SH('sparql')}> _:q .\n`, '2')
  t.equal(isFailure(unusable) && unusable.failure, 'constraint.unusable')
  t.match(await check(required, '3'), { conforms: false }, 'unusable shapes do not change the next check')
  t.same(await check(shape(''), '4'), { conforms: true })
  const british = `SELECT $this { $this ?p ?o FILTER(LANG(?o) = \\"en-GB\\") }`
  const tagged = `${target}<${E}S> <${SH('sparql')}> _:q .\n_:q <${SH('select')}> "${british}" .\n`
  t.same(await check(tagged, '5'), { conforms: true }, 'tags as the document has them')
  t.match(await check(tagged, '5', { ...AS_WRITTEN, formatsTags: true }), { conforms: false }, 'as the store has them')
})
