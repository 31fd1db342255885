// PATCH: the forms that it takes (spec 3, 4.1, 7, 8), what a run gives, and the limits on time, memory and growth.
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
import { analysePatch } from '../../../gateway/sparql/patch.js'
import { isFailure, STATUS_OF, type Problem } from '../../../gateway/problem.js'
import { SH, XSD } from '../../../gateway/rdf/vocabulary.js'

const DOC = 'https://data.example.org/a/b/'
const statusOf = (analysed: object | Problem): number => (isFailure(analysed) ? STATUS_OF[analysed.failure] : 204)

/** All that a pattern may hold. */
const BENIGN = `DELETE { ?s ?p ?o } WHERE { ?s ?p ?o OPTIONAL { ?o ?q ?r } { ?s a <T> } UNION { ?s a <U> } MINUS { ?s a <V> }
  VALUES ?v { 1 2 } BIND(?v + 1 AS ?w) FILTER EXISTS { ?s <x>/<y>* ?z FILTER NOT EXISTS { ?z ?z ?z } } }`

void t.test('spec 4.1, 7, 8: forms of an update and their status', async (t) => {
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
    ['the whole pattern a subquery', 'DELETE { ?s ?p ?o } WHERE { SELECT * { ?s ?p ?o } ORDER BY ?o LIMIT 1 }', 204],
    ['OPTIONAL, UNION, MINUS, VALUES, BIND, FILTER EXISTS', BENIGN, 204],
    ['forbidden words in strings and comments', 'INSERT { <a> <b> "GRAPH <g> { }" } # SERVICE <s> {\nWHERE {}', 204],
    [
      'forbidden words in names',
      'PREFIX graph: <g> INSERT { graph:with <service> ?using } WHERE { ?graph ?load ?using }',
      204,
    ],

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
    ['an operation after a good one', 'INSERT { <a> <b> <c> } WHERE {} ; DROP ALL', 422, '2 operations'],
    ['a prologue after the operation', 'INSERT { <a> <b> <c> } WHERE {} ; PREFIX a: <b>', 422, 'follow'],
    ['WITH', 'WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }', 422, 'WITH'],
    ['USING', 'DELETE { ?s ?p ?o } USING <g> WHERE { ?s ?p ?o }', 422, 'USING'],
    ['USING NAMED', 'DELETE { ?s ?p ?o } USING NAMED <g> WHERE { ?s ?p ?o }', 422, 'USING NAMED'],
    ['GRAPH in an INSERT template', 'INSERT { <a> <b> <c> . GRAPH <g> { <a> <b> <c> } } WHERE {}', 422, 'GRAPH'],
    ['an empty GRAPH in an INSERT template', 'INSERT { GRAPH <g> {} } WHERE {}', 422, 'GRAPH'],
    ['GRAPH in a DELETE template', 'DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { ?s ?p ?o }', 422, 'GRAPH'],
    ['GRAPH in DELETE WHERE', 'DELETE WHERE { ?s ?p ?o . GRAPH ?g { ?s ?p ?o } }', 422, 'GRAPH'],

    ['no SPARQL', 'this is not SPARQL', 400],
    ['half an update', 'DELETE { ?s ?p ?o } WHERE { ?s ?p', 400],
    ['a query', 'SELECT * WHERE { ?s ?p ?o }', 400],
    ['a blank node to delete', 'DELETE { _:a <p> 1 } WHERE {}', 400],
    ['an undeclared prefix', 'INSERT { x:a <p> 1 } WHERE {}', 400],
    ['an undeclared prefix that JavaScript knows', 'INSERT { toString:a <p> 1 } WHERE {}', 400],
    ['FROM in a subquery', 'INSERT { <a> <b> ?s } WHERE { { SELECT ?s FROM <g> { ?s ?p ?o } } }', 400],
    ['RDF 1.2 triple terms', 'INSERT { << <a> <b> <c> >> <p> 1 } WHERE {}', 400],
    ['an escaped brace', 'INSERT { <a> <b> <c> } WHERE \\u007B }', 400],
    ['an IRI that an escape would end', 'INSERT { <a> <b> <http://x/\\u003E> } WHERE {}', 400],
    ['nesting without end', `INSERT { <a> <b> <c> } WHERE ${'{'.repeat(50_000)}${'}'.repeat(50_000)}`, 400],
    ['brackets without end', `INSERT { <a> <b> <c> } WHERE { FILTER${'('.repeat(50_000)} }`, 400],
    ['empty lines and comments without end', `${'# \n'.repeat(50_000)}DELETE WHERE { ?s ?p ?o }`, 204],
  ]
  for (const [form, update, status, named] of rows) {
    const analysed = analysePatch(update, DOC)
    t.equal(statusOf(analysed), status, form)
    if (named) t.match((analysed as Problem).detail, named, `${form}: says what was found`)
  }
  const wrong = analysePatch('INSERT { <a> <b> <c> }\n\nWHERE {\n FILTR(1) }', DOC)
  t.match(isFailure(wrong) && wrong.detail, /line 4/, 'the line of an error is told')
})

/** Every place that a pattern can stand in, and every expression that can hold one. */
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
/** A keyword in any case, its letters as code point escapes (SPARQL 1.1 §19.2), with anything that separates tokens after it. */
const spelling = (keyword: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.constantFrom('upper', 'lower', 'u', 'U'), { minLength: keyword.length, maxLength: keyword.length }),
      fc.constantFrom(' ', '\n', '\t\r\n', '# comment {\n', '# it\'s <a> "\n', ''),
    )
    .map(([ways, space]) => {
      const letters = [...keyword].map((letter, index) => {
        const hex = letter.charCodeAt(0).toString(16)
        if (ways[index] === 'u') return `\\u${hex.padStart(4, '0')}`
        if (ways[index] === 'U') return `\\U${hex.padStart(8, '0').toUpperCase()}`
        return ways[index] === 'lower' ? letter.toLowerCase() : letter
      })
      return letters.join('') + space
    })

void t.test('GRAPH and SERVICE are found at any place, depth and spelling', async (t) => {
  const places = fc.array(fc.constantFrom(...PLACES), { maxLength: 8 })
  const head = fc.constantFrom(
    'INSERT { <a> <b> <c> } WHERE',
    'DELETE { ?s ?p ?o } INSERT {} WHERE',
    'DELETE { <a> <b> "}" } # }\nWHERE',
  )
  const found = fc
    .constantFrom(...FORBIDDEN)
    .chain(([keyword, rest]) => spelling(keyword).map((spelt) => ({ keyword, construct: spelt + rest })))
  const inside = (wrappers: ((p: string) => string)[], pattern: string) =>
    wrappers.reduce((p, wrap) => wrap(p), pattern)
  fc.assert(
    fc.property(head, places, found, (head, wrappers, { keyword, construct }) => {
      const refused = analysePatch(`${head} { ${inside(wrappers, construct)} }`, DOC)
      const taken = analysePatch(`${head} { ${inside(wrappers, '?s ?p ?o .')} }`, DOC)
      if (isFailure(taken)) throw new Error(taken.detail)
      return isFailure(refused) && refused.failure === 'update.form' && refused.detail.includes(keyword)
    }),
    { numRuns: 1500 },
  )
  for (const place of PLACES) {
    for (const [keyword, rest] of FORBIDDEN) {
      const analysed = analysePatch(`INSERT {} WHERE { ${place(`${keyword} ${rest}`)} }`, DOC)
      t.equal(statusOf(analysed), 422, place(keyword))
    }
  }
})

const evaluationFor = (t: { teardown(end: () => Promise<void>): void }, options: PoolOptions = {}): EvaluationPool => {
  const evaluation = openPool({ timeLimit: 30_000, ...options })
  t.teardown(() => evaluation.close())
  return evaluation
}
const E = 'http://e.example/'
const thing = (name: string, predicate: string, object: Quad['object']): Quad =>
  quad(iri(E + name), iri(E + predicate), object as NamedNode | Literal)
const nt = (...triples: Quad[]): string => nTriplesOf(graphOf(triples))
const sorted = (nTriples: string | Problem | object): unknown =>
  typeof nTriples === 'string' ? nTriples.split('\n').filter(Boolean).sort() : nTriples

void t.test('what a run gives', async (t) => {
  const evaluation = evaluationFor(t)
  const int = (value: string) => typed(value, XSD('integer'))
  const [one, two, three] = [thing('s', 'p', int('1')), thing('s', 'p', int('2')), thing('s', 'q', iri(`${E}o`))]
  const long = thing('s', 'long', typed('007', XSD('long')))
  const created = thing('s', 'created', typed('2026-07-10T20:53:01.120Z', XSD('dateTime')))
  const price = thing('s', 'price', typed('1.50', XSD('decimal')))
  const P = `PREFIX : <${E}> PREFIX xsd: <${XSD('')}>\n`
  const rows: [name: string, before: Quad[], update: string, after: Quad[]][] = [
    ['DELETE WHERE deletes what matches', [one, two, three], 'DELETE WHERE { :s :p ?o }', [three]],
    ['DELETE WHERE with no match leaves the graph', [one, three], 'DELETE WHERE { :other ?p ?o }', [one, three]],
    ['DELETE WHERE of everything leaves nothing', [one, three], 'DELETE WHERE { ?s ?p ?o }', []],
    [
      'INSERT for every solution',
      [one, two],
      'INSERT { :t :has ?o } WHERE { :s :p ?o FILTER(?o > 1) }',
      [one, two, thing('t', 'has', int('2'))],
    ],
    ['INSERT without a solution', [one], 'INSERT { :t :has 1 } WHERE { :other :p ?o }', [one]],
    ['deletions come before insertions', [one], 'DELETE { :s :p 1 } INSERT { :s :p 1 } WHERE {}', [one]],
    [
      'one state for all solutions',
      [one, two],
      'DELETE { :s :p ?o } INSERT { :s :p ?n } WHERE { :s :p ?o BIND(?o + 1 AS ?n) }',
      [two, thing('s', 'p', int('3'))],
    ],
    [
      'an unbound variable makes no triple',
      [one],
      'INSERT { :t :a ?none . :t :b ?o } WHERE { :s :p ?o OPTIONAL { ?o :x ?none } }',
      [one, thing('t', 'b', int('1'))],
    ],
    ['a literal as subject makes no triple', [one], 'INSERT { ?o :a :b } WHERE { :s :p ?o }', [one]],
    ['a literal as predicate makes no triple', [one], 'INSERT { :a ?o :b } WHERE { :s :p ?o }', [one]],
    [
      'relative IRIs are against the document (RFC 3986 §5.2)',
      [],
      'INSERT { <../c/> <//h.example/p> <#i>, <?q>, <>, <./d/../e>, </f> } WHERE {}',
      ['#i', '?q', '', 'e']
        .map((o) => quad(iri('https://data.example.org/a/c/'), iri('https://h.example/p'), iri(DOC + o)))
        .concat(
          quad(iri('https://data.example.org/a/c/'), iri('https://h.example/p'), iri('https://data.example.org/f')),
        ),
    ],
    [
      'IRI() is against BASE',
      [],
      `BASE <${E}x/> INSERT { <../s> <../p> ?i } WHERE { BIND(IRI("../o") AS ?i) }`,
      [thing('s', 'p', iri(`${E}o`))],
    ],
    [
      'code point escapes in IRIs, character escapes in names',
      [],
      'INSERT { <http://e.example/\\u0073> :p\\-q :r\\#s } WHERE {}',
      [thing('s', 'p-q', iri(`${E}r#s`))],
    ],
    [
      'a collection',
      [],
      'INSERT { :s :p () } WHERE {}',
      [thing('s', 'p', iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#nil'))],
    ],
    [
      'what is not touched keeps its writing',
      [long, created, price, one],
      'DELETE WHERE { :s :p ?o }',
      [long, created, price],
    ],
    [
      'what is matched and inserted keeps its writing',
      [long, created, price],
      'DELETE { :s ?p ?o } INSERT { :t ?p ?o } WHERE { :s ?p ?o }',
      [long, created, price].map((q) => thing('t', q.predicate.value.slice(E.length), q.object)),
    ],
    [
      'what is named keeps its writing',
      [],
      'INSERT { :s :long "007"^^xsd:long ; :price "1.50"^^xsd:decimal } WHERE {}',
      [long, price],
    ],
    [
      'only the writing changes',
      [long],
      'DELETE { :s :long "007"^^xsd:long } INSERT { :s :long "7"^^xsd:long } WHERE {}',
      [thing('s', 'long', typed('7', XSD('long')))],
    ],
    ['another writing is another literal', [long], 'DELETE { :s :long "7"^^xsd:long } WHERE {}', [long]],
    [
      'equal values are equal in a pattern, and both are deleted',
      [long, thing('s', 'long', int('7'))],
      'DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?o = 7) }',
      [],
    ],
    [
      'a computed value is its own',
      [long],
      'INSERT { :s :next ?n } WHERE { :s :long ?o BIND(?o + 0 AS ?n) }',
      [long, thing('s', 'next', int('7'))],
    ],
  ]
  for (const [name, before, update, after] of rows) {
    t.same(sorted(await evaluation.patch(nt(...before), P + update, DOC)), sorted(nt(...after)), name)
  }

  const blank = await evaluation.patch(
    nt(one, two),
    `${P}INSERT { ?s :has [ :value ?o ; :self _:b ] . _:b :of ?s } WHERE { ?s :p ?o }`,
    DOC,
  )
  const labels = new Set(String(blank).match(/_:\S+/g))
  t.equal(labels.size, 4, 'blank nodes of a template: new in every solution, shared within it')
  const legacy = `<${E}s> <${E}p> _:old .\n_:old <${E}q> "x" .\n`
  t.same(
    sorted(await evaluation.patch(legacy, `${P}DELETE WHERE { ?b :q ?x }`, DOC)),
    [`<${E}s> <${E}p> _:old .`],
    'blank nodes of the document keep their labels',
  )

  for (const [name, update, code] of [
    ['an unknown function', 'INSERT { :a :b ?x } WHERE { BIND(<http://f.example/>(1) AS ?x) }', 'update.syntax'],
    [
      'what only the engine refuses',
      'INSERT { :a :b ?x } WHERE { ?s ?p ?x . { ?x ?y ?z } BIND(1 AS ?x) }',
      'update.syntax',
    ],
    ['a form that is not taken', 'DROP ALL', 'update.form'],
  ] as const) {
    const answer = await evaluation.patch(nt(one), P + update, DOC)
    t.equal(isFailure(answer) && answer.failure, code, name)
  }
})

void t.test('a PATCH of constants is exact, whatever the literals', async (t) => {
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
      t.same(sorted(await evaluation.patch(nTriplesOf(before), update, DOC)), [...expected].sort())
    }),
    { numRuns: 150 },
  )
})

const ONE = `<${E}s> <${E}p> "1" .\n`
const many = (count: number): string =>
  Array.from({ length: count }, (_, i) => `<${E}s${i}> <${E}p> "${i}" .\n`).join('')
const SIMPLE = `INSERT { <${E}t> <${E}p> "2" } WHERE {}`
const ENDLESS = `INSERT { <${E}t> <${E}p> ?n } WHERE { ${'abcdefg'.replaceAll(/./g, '?s$& ?p$& ?o$& . ')} BIND(CONCAT(?oa, ?ob, ?oc) AS ?n) FILTER(REGEX(?n, "^(9+)+x$")) }`
const DOUBLING = `INSERT { <${E}t> <${E}p> ?a30 } WHERE { BIND("aaaaaaaa" AS ?a0) ${Array.from({ length: 30 }, (_, i) => `BIND(CONCAT(?a${i}, ?a${i}) AS ?a${i + 1})`).join(' ')} }`
const CHAIN = `INSERT { <${E}t> <${E}p> ?o } WHERE { ?s ?p ?o FILTER(${'?o + '.repeat(20_000)} 1 > 1) }`

void t.test('limits: a job that is too much ends, the next one works', async (t) => {
  const rows: [name: string, options: PoolOptions, document: string, update: string, code: string, says?: RegExp][] = [
    ['endless', { timeLimit: 1000 }, many(500), ENDLESS, 'update.time', /limit of 1 s/],
    ['too much memory in the engine', { limits: { memory: 64 * 2 ** 20 } }, ONE, DOUBLING, 'update.time', /memory/],
    ['too many solutions', {}, many(600), 'INSERT { ?a ?b ?c } WHERE { ?a ?x ?y . ?b ?z ?c }', 'content.too-large'],
    [
      'too large a result',
      { limits: { growth: 10_000 } },
      many(600),
      'INSERT { ?s <x> ?p } WHERE { ?s ?p ?o }',
      'content.too-large',
    ],
    ['a chain too long for the stack', {}, ONE, CHAIN, 'update.time|update.syntax'],
  ]
  for (const [name, options, document, update, codes, says] of rows) {
    const evaluation = evaluationFor(t, options)
    const answer = await evaluation.patch(document, update, DOC)
    t.ok(
      isFailure(answer) && codes.split('|').includes(answer.failure),
      `${name}: ${isFailure(answer) ? answer.detail : 'a result'}`,
    )
    if (says) t.match(isFailure(answer) && answer.detail, says, `${name}: says which limit`)
    t.equal(await evaluation.patch(ONE, SIMPLE, DOC), `${ONE}<${E}t> <${E}p> "2" .\n`, `${name}: the next one works`)
    await evaluation.close()
  }
})

void t.test('a queue that is bounded', async (t) => {
  const evaluation = evaluationFor(t, { workers: 2 })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => evaluation.patch(ONE, `INSERT { <${E}t> <${E}p> ${i} } WHERE {}`, DOC)),
  )
  answers.forEach((answer, i) => t.match(answer, `"${i}"^^`, `answer ${i} is its own`))

  const small = evaluationFor(t, { timeLimit: 3000, queue: 1, patience: 1000 })
  // The start of the thread counts for those that wait, too.
  for (let tries = 0; tries < 20 && isFailure(await small.patch('', SIMPLE, DOC)); tries++) continue
  const running = small.patch(many(500), ENDLESS, DOC)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const [waiting, refused] = await Promise.all([small.patch(ONE, SIMPLE, DOC), small.patch(ONE, SIMPLE, DOC)])
  t.equal(isFailure(waiting) && waiting.failure, 'server.overloaded', 'waiting too long')
  t.equal(isFailure(refused) && refused.failure, 'server.overloaded', 'too many waiting')
  const ended = await running
  t.equal(isFailure(ended) && ended.failure, 'update.time')

  const closing = evaluationFor(t)
  t.equal(await closing.patch('', SIMPLE, DOC), `<${E}t> <${E}p> "2" .\n`)
  const busy = closing.patch(many(500), ENDLESS, DOC)
  const behind = closing.analyse(SIMPLE, DOC)
  await closing.close()
  for (const answer of [await busy, await behind, await closing.analyse(SIMPLE, DOC)]) {
    t.equal(isFailure(answer) && answer.failure, 'server.closing', 'closing answers everybody')
  }
})

void t.test('analysis and constraints run in the thread too', async (t) => {
  const evaluation = evaluationFor(t)
  t.same(await evaluation.analyse(SIMPLE, DOC), analysePatch(SIMPLE, DOC))
  const shape = (more: string) =>
    `<${E}S> <${SH('targetClass')}> <${E}C> .\n<${E}S> <${SH('property')}> _:b .\n_:b <${SH('path')}> <${E}p> .\n${more}`
  const required = shape(`_:b <${SH('minCount')}> "1"^^<${XSD('integer')}> .\n`)
  const data = `<${E}x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${E}C> .\n`
  const check = (shapes: string, shapesVersion: string) => evaluation.validate({ shapes, shapesVersion, data })
  t.match(await check(required, '1'), { conforms: false, report: `<${SH('focusNode')}> <${E}x>` })
  t.match(await check('not read again', '1'), { conforms: false }, 'shapes are read once per version')
  const unusable = await check(required + `<${E}S> <${SH('sparql')}> _:q .\n`, '2')
  t.equal(isFailure(unusable) && unusable.failure, 'constraint.unusable')
  t.match(await check(required, '3'), { conforms: false }, 'a fault leaves nothing behind')
  t.same(await check(shape(''), '4'), { conforms: true })
})
