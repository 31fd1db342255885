// The analysis of SPARQL: the graphs that a query reads or an update writes, the services that they would call, and
// errors with their places. Spelling does not matter.
import fc from 'fast-check'
import t from 'tap'
import { isFailure } from '../../../../gateway/problem.js'
import { analyse } from '../../../../gateway/sparql/language/analyse.js'
import {
  analyseQuery,
  analyseUpdate,
  type QueryAnalysis,
  type UpdateAnalysis,
} from '../../../../gateway/sparql/language/analysis.js'
import { isRemoved } from '../../../../gateway/sparql/language/removed-graphs.js'
import { rowsOf } from '../../../support/stores.js'
import { quickest } from '../../../support/wait.js'

const BASE = 'http://e/sparql'
const DEFAULT = 'urn:triplegate:default-graph'

const query = (text: string, dataset?: Parameters<typeof analyseQuery>[2]): QueryAnalysis => {
  const analysis = analyseQuery(text, BASE, dataset)
  if (isFailure(analysis)) throw new Error(`${text}: ${analysis.detail}`)
  return analysis
}
const update = (text: string, using?: Parameters<typeof analyseUpdate>[2]): UpdateAnalysis => {
  const analysis = analyseUpdate(text, BASE, using)
  if (isFailure(analysis)) throw new Error(`${text}: ${analysis.detail}`)
  return analysis
}

const row = rowsOf(t, 'none')

const REMOVED: [update: string, g: boolean, other: boolean][] = [
  ['DROP ALL', true, true],
  ['CLEAR NAMED', true, true],
  ['CLEAR DEFAULT', false, false],
  ['DROP SILENT GRAPH <g>', true, false],
  ['CLEAR GRAPH <g> ; INSERT DATA { GRAPH <g> { <s> <p> <o> } }', false, false],
  ['CLEAR ALL ; INSERT DATA { GRAPH <g> { <s> <p> <o> } }', false, true],
  ['CLEAR ALL ; INSERT DATA { GRAPH <g> { <s> <p> <o> } } ; DROP GRAPH <g>', true, true],
  ['CLEAR ALL ; INSERT { GRAPH ?x { <s> <p> <o> } } WHERE { ?x ?y ?z }', false, false],
  ['WITH <g> INSERT { <s> <p> <o> } WHERE {}', false, false],
  ['DROP GRAPH <g> ; WITH <g> INSERT { <s> <p> <o> } WHERE {}', false, false],
  ['MOVE <g> TO <h>', true, false],
  ['MOVE <g> TO <g>', false, false],
  ['MOVE <h> TO <g>', false, false],
  ['DROP ALL ; COPY <h> TO <g>', false, true],
  ['DROP GRAPH <g> ; ADD DEFAULT TO <g>', false, false],
  ['DROP GRAPH <g> ; CREATE GRAPH <g>', true, false],
  ['DELETE WHERE { GRAPH <g> { ?s ?p ?o } }', true, false],
  ['DELETE WHERE { GRAPH ?g { ?s ?p ?o } }', true, true],
  ['DELETE WHERE { GRAPH <g> { ?s ?p ?s } }', false, false],
  ['DELETE WHERE { GRAPH ?s { ?s ?p ?o } }', false, false],
  ['DELETE WHERE { GRAPH <g> { ?s ?p ?o . ?o ?q ?r } }', false, false],
  ['DELETE WHERE { GRAPH <g> { ?s ?p ?o } GRAPH <h> { ?s ?p ?o } }', false, false],
  ['DELETE WHERE { ?s ?p ?o }', false, false],
  ['DELETE WHERE { GRAPH <g> { ?s ?p ?o ~ ?q } }', false, false],
  ['DELETE WHERE { GRAPH <g> { << ?s ?p ?o ~ ?q >> } }', false, false],
  ['DELETE { GRAPH <g> { ?s ?p ?o } } WHERE { GRAPH <g> { ?s ?p ?o } }', false, false],
]

const READ_SETS: [query: string, readSet: 'dataset' | string[]][] = [
  ['SELECT * { ?s ?p ?o }', 'dataset'],
  ['SELECT * { GRAPH <g> { ?s ?p ?o } }', ['http://e/g']],
  ['SELECT * { GRAPH <h> { ?s ?p ?o } GRAPH <g> { ?s ?p ?o } }', ['http://e/g', 'http://e/h']],
  ['SELECT * { GRAPH ?g { ?s ?p ?o } }', 'dataset'],
  ['SELECT * { VALUES ?g { <g> } GRAPH ?g { ?s ?p ?o } }', 'dataset'],
  ['SELECT * { GRAPH <g> { ?s ?p ?o } ?s ?q ?r }', 'dataset'],
  ['SELECT * { GRAPH <g> {} }', ['http://e/g']],
  ['SELECT * {}', []],
  ['SELECT (1 AS ?x) { VALUES ?y { 1 } }', []],
  ['SELECT * { GRAPH <g> { ?s ?p ?o FILTER EXISTS { ?o ?q ?r } } }', ['http://e/g']],
  ['SELECT * { GRAPH <g> { ?s ?p ?o } FILTER EXISTS { ?o ?q ?r } }', 'dataset'],
  ['SELECT * { GRAPH <g> { ?s ?p ?o } FILTER EXISTS { GRAPH <h> { ?o ?q ?r } } }', ['http://e/g', 'http://e/h']],
  ['SELECT (EXISTS { ?s ?p ?o } AS ?x) { GRAPH <g> { ?s ?p ?o } }', 'dataset'],
  ['SELECT * { GRAPH <g> { ?s ?p ?o } } ORDER BY (EXISTS { ?a ?b ?c })', 'dataset'],
  ['SELECT ?s { GRAPH <g> { ?s ?p ?o } } GROUP BY ?s HAVING (EXISTS { ?a ?b ?c })', 'dataset'],
  ['SELECT * { GRAPH <g> { { SELECT * { ?s ?p ?o } } } }', ['http://e/g']],
  ['SELECT * { { SELECT * { ?s ?p ?o } } }', 'dataset'],
  ['SELECT * { GRAPH <g> { GRAPH <h> { ?s ?p ?o } } }', ['http://e/g', 'http://e/h']],
  ['SELECT * { GRAPH <g> { ?s ?p ?o MINUS { ?s <p> 1 } OPTIONAL { ?s <q> 1 } } }', ['http://e/g']],
  ['SELECT * { GRAPH <g> { ?s <p>*/<q> ?o } }', ['http://e/g']],
  ['CONSTRUCT { ?s ?p ?o } { GRAPH <g> { ?s ?p ?o } }', ['http://e/g']],
  ['CONSTRUCT WHERE { ?s ?p ?o }', 'dataset'],
  ['ASK { GRAPH <g> { ?s ?p ?o } }', ['http://e/g']],
  ['DESCRIBE <g>', 'dataset'],
  ['DESCRIBE ?s FROM <g> { ?s ?p ?o }', 'dataset'],
  ['SELECT * FROM <g> { ?s ?p ?o }', ['http://e/g']],
  ['SELECT * FROM <g> FROM NAMED <h> { ?s ?p ?o GRAPH ?x { ?s ?p ?o } }', ['http://e/g', 'http://e/h']],
  ['SELECT * FROM <g> { GRAPH ?x { ?s ?p ?o } }', 'dataset'],
  ['SELECT * FROM NAMED <h> { ?s ?p ?o }', 'dataset'],
  ['SELECT * FROM NAMED <h> { GRAPH ?x { ?s ?p ?o } }', ['http://e/h']],
  ['SELECT * { GRAPH <urn:x-arq:UnionGraph> { ?s ?p ?o } }', 'dataset'],
  ['SELECT * FROM <urn:x-arq:UnionGraph> { ?s ?p ?o }', 'dataset'],
  ['SELECT * { GRAPH <urn:x-arq:DefaultGraph> { ?s ?p ?o } }', 'dataset'],
  ['SELECT * { GRAPH <tag:stardog:api:context:all> { ?s ?p ?o } }', 'dataset'],
  ['SELECT * { GRAPH <urn:g> { ?s ?p ?o } }', ['urn:g']],
  ['SELECT * { GRAPH <g> { ?s <http://jena.apache.org/text#query> "x" } }', 'dataset'],
  ['SELECT * { GRAPH <g> { ?s <http://jena.hpl.hp.com/ARQ/list#member>/<p> "x" } }', 'dataset'],
  ['CONSTRUCT { [ <p> ?o ] } { GRAPH <g> { [] <q> ?o } }', ['http://e/g']],
  ['SELECT * { GRAPH <g> { [ <p> ?o ] } }', ['http://e/g']],
  ['SELECT * { [ <p> ?o ] GRAPH <g> {} }', 'dataset'],
  ['SELECT * { GRAPH <g> { << ?s ?p ?o ~ ?r >> ?q 1 } }', ['http://e/g']],
  ['SELECT * { GRAPH <g> {} << ?s ?p ?o >> }', 'dataset'],
  ['SELECT * { GRAPH <g> { ?s ?p <<( ?a ?b "c"@en--ltr )>> {| ?q 1 |} } }', ['http://e/g']],
  [
    'VERSION "1.2" SELECT * { GRAPH <g> { ?s ?p ?o FILTER(ISTRIPLE(?o) && EXISTS { GRAPH <h> { ?o ?o ?o } }) } }',
    ['http://e/g', 'http://e/h'],
  ],
  ['SELECT * { GRAPH <x://weird+scheme> { ?s ?p ?o } }', 'dataset'],
]

const VOLATILE: [expression: string, volatile: boolean][] = [
  ['NOW()', true],
  ['now()', true],
  ['RAND()', true],
  ['UUID()', true],
  ['STRUUID()', true],
  ['BNODE()', true],
  ['BNODE("a")', true],
  ['COALESCE(1, IF(true, STRLEN(STR(RAND())), 2))', true],
  ['<http://e/function>(1)', true],
  ['<http://www.w3.org/2001/XMLSchema#integer>("1")', false],
  ['"NOW()"', false],
  ['STRLEN("RAND")', false],
  ['SHA256("x")', false],
]

// prettier-ignore
const WRITE_SETS: [update: string, writeSet: 'dataset' | string[], loads?: string[]][] = [
  ['INSERT DATA { <s> <p> 1 }', [DEFAULT]],
  ['INSERT DATA { GRAPH <g> { <s> <p> 1 } }', ['http://e/g']],
  ['INSERT DATA { <s> <p> 1 GRAPH <g> { <s> <p> 1 } GRAPH <h> {} }', ['http://e/g', 'http://e/h', DEFAULT]],
  ['DELETE DATA { GRAPH <g> { <s> <p> 1 } }', ['http://e/g']],
  ['DELETE WHERE { GRAPH <g> { ?s ?p ?o } }', ['http://e/g']],
  ['DELETE WHERE { GRAPH ?g { ?s ?p ?o } }', 'dataset'],
  ['DELETE { ?s ?p ?o } INSERT { GRAPH <g> { ?s ?p ?o } } WHERE { GRAPH ?x { ?s ?p ?o } }', ['http://e/g', DEFAULT]],
  ['INSERT { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }', 'dataset'],
  ['WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }', ['http://e/g']],
  ['WITH <g> INSERT { GRAPH <h> { ?s ?p ?o } } WHERE { ?s ?p ?o }', ['http://e/h']],
  ['WITH <g> INSERT { ?s ?p ?o GRAPH <h> { ?s ?p ?o } } WHERE { ?s ?p ?o }', ['http://e/g', 'http://e/h']],
  ['INSERT { GRAPH <g> { ?s ?p ?o } } USING <u> USING NAMED <v> WHERE { ?s ?p ?o }', ['http://e/g']],
  ['CLEAR GRAPH <g>', ['http://e/g']],
  ['CLEAR SILENT GRAPH <g>', ['http://e/g']],
  ['CLEAR DEFAULT', [DEFAULT]],
  ['CLEAR ALL', 'dataset'],
  ['CLEAR NAMED', 'dataset'],
  ['DROP GRAPH <g>', ['http://e/g']],
  ['DROP ALL', 'dataset'],
  ['CREATE GRAPH <g>', ['http://e/g']],
  ['COPY <g> TO <h>', ['http://e/h']],
  ['COPY DEFAULT TO <h>', ['http://e/h']],
  ['ADD SILENT GRAPH <g> TO DEFAULT', [DEFAULT]],
  ['MOVE <g> TO <h>', ['http://e/g', 'http://e/h']],
  ['MOVE DEFAULT TO GRAPH <h>', ['http://e/h', DEFAULT]],
  ['LOAD <x> INTO GRAPH <g>', ['http://e/g'], ['http://e/x']],
  ['LOAD SILENT <x>', [DEFAULT], ['http://e/x']],
  ['CLEAR GRAPH <g> ; DROP GRAPH <h>', ['http://e/g', 'http://e/h']],
  ['CLEAR GRAPH <g> ; CLEAR ALL', 'dataset'],
  ['PREFIX : <http://a/> CLEAR GRAPH :g ; PREFIX : <http://b/> CLEAR GRAPH :g', ['http://a/g', 'http://b/g']],
  ['INSERT DATA { GRAPH <urn:x-arq:DefaultGraph> { <s> <p> 1 } }', 'dataset'],
  ['INSERT DATA { [ <p> 1 ] }', [DEFAULT]],
  ['INSERT DATA { GRAPH <g> { [ <p> 1 ] . << <s> <p> 1 >> <q> <<( <s> <p> 1 )>> } }', ['http://e/g']],
  ['WITH <g> INSERT { [ <p> ?o ] } WHERE {}', ['http://e/g']],
  ['INSERT DATA {}', []],
  ['', []],
  ['PREFIX : <http://a/> # nothing', []],
]

const ERRORS: [text: string, where: RegExp][] = [
  ['SELECT', /the end, line 1, column 7/],
  ['SELECT * { ?s ?p }', /unexpected “}”, line 1, column 18/],
  ['SELECT *\n{ ?s ex:p ?o }', /ex: is not declared, line 2, column 6/],
  ['SELECT * { ?s ?p "a\nb" }', /unexpected “"”, line 1, column 18/],
  ['SELECT * { ?s ?p "\\q" }', /an escape that does not exist, line 1, column 18/],
  ['SELECT * { ?s ?p "\\uD800" }', /an escape that does not exist/],
  ['SELECT * { ?s <p> \\u0022a\\u0022 }', /unexpected “\\”/],
  ['SELECT * { ?s <a\\u0020b> ?o }', /unexpected/],
  ['SELECT * { ?s <a\\u003Eb> ?o }', /unexpected/],
  ['PREFIX a <http://e/> ASK {}', /PREFIX needs a name/],
  ['PREFIX a: ASK {}', /PREFIX needs an IRI/],
  ['BASE', /unexpected end/],
  ['SELECT * { PREFIX a: <http://e/> ?s ?p ?o }', /line 1, column 19/],
  ['INSERT DATA {}', /it is an update/],
  ['', /cannot be read: it is empty/],
  [' # nothing', /it is empty/],
  ['BASE <http://e/> PREFIX : <http://a/>', /it is empty/],
  ['ASK { GRAPH <http://e/a/../b/> {} }', /a dot segment .*line 1, column 13/],
  ['ASK { GRAPH <http://e/./b/> {} }', /a dot segment/],
  ['ASK { GRAPH <urn:./x-arq:UnionGraph> {} }', /a dot segment/],
  ['PREFIX u: <urn:> ASK { GRAPH u:\\.\\.\\/triplegate:log {} }', /a dot segment/],
  ['BASE <https://e/private/> SELECT (IRI("a") AS ?i) { GRAPH <https:> {} }', /begins with http: or https: without/],
  ['PREFIX e: <http://e/a/> ASK { GRAPH e:\\.\\./ {} }', /dot segment|unexpected/],
  ['PREFIX e: <http://e/a/../> ASK { GRAPH e:b {} }', /a dot segment/],
  [`ASK ${'{'.repeat(101)}${'}'.repeat(101)}`, /more than 100 levels deep/],
  [`ASK { FILTER(${'1=1||'.repeat(1100)}true) }`, /too many operators/],
  ['SELECT * { ?s ?p ?o } SELECT * { ?s ?p ?o }', /unexpected “SELECT”/],
  ['SELECT * { ?s ?p ?o . LATERAL { ?o ?q ?r } }', /line 1, column 23/],
  ['\u00a0ASK {}', /line 1, column 1/],
  ['SELECTDISTINCT ?s { ?s ?p ?o }', /unexpected “SELECTDISTINCT”, line 1, column 1/],
  ['ASK { BINDSERVICE <http://x/> {} }', /unexpected “BINDSERVICE”, line 1, column 7/],
  ['ASK { ?s ?p <<( ?a ?b ?c ) > > }', /line 1, column 26/],
  ['VERSION ASK {}', /VERSION needs a string/],
  ['VERSION """1.2""" ASK {}', /VERSION needs a string in one pair/],
  ["VERSION '''1.2''' ASK {}", /VERSION needs a string in one pair/],
  ['PREFIX ns: <urn:> ASK { ns:a\\u0062c ?p ?o }', /unexpected/],
  ['ASK { ?\\u0061 ?p ?o }', /unexpected/],
  ['\\u0041SK {}', /unexpected/],
]

const some = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ')
/** The limit for the embedded store is 1e8. */
// prettier-ignore
const ORDERING: [name: string, where: string, isMuch: boolean][] = [
  ['a hundred joined triples', some(95, (i) => `?s <p${i}> ?o .`), false],
  ['more', some(110, (i) => `?s <p${i}> ?o .`), true],
  ['in GRAPHs', some(110, (i) => `GRAPH ?g { ?s <p${i}> ?o }`), true],
  ['in groups of groups', some(11, () => `{ ${some(10, (i) => `{ ?s <p${i}> ?o }`)} }`), true],
  ['in groups that begin with OPTIONAL', some(110, (i) => `{ OPTIONAL { ?s <p> 1 } ?s <p${i}> ?o }`), true],
  ['steps of a path', `?s ${some(110, (i) => `${i ? '/' : ''}<p>`)} ?o`, true],
  ['VALUES', some(110, () => 'VALUES ?x { 1 2 }'), true],
  ['UNIONs', some(110, () => '{ {} UNION { ?s ?p ?o } }'), true],
  ['sub-queries', some(110, () => '{ SELECT * { ?s ?p ?o } }'), true],
  ['in one sub-query', `{ SELECT * { ${some(110, (i) => `?s <p${i}> ?o .`)} } }`, true],
  ['in one EXISTS', `FILTER EXISTS { ${some(110, (i) => `?s <p${i}> ?o .`)} }`, true],
  ['in one OPTIONAL', `OPTIONAL { ${some(110, (i) => `?s <p${i}> ?o .`)} }`, true],
  ['ten branches of ten', some(10, (j) => `${j ? 'UNION' : ''} { ${some(10, (i) => `?s <p${i}> ?o .`)} }`), false],
  ['ten branches of seventy', some(10, (j) => `${j ? 'UNION' : ''} { ${some(70, (i) => `?s <p${i}> ?o .`)} }`), true],
  ['two hundred OPTIONALs', some(200, (i) => `OPTIONAL { ?s <p${i}> ?o${i} }`), false],
  ['four hundred OPTIONALs', some(400, (i) => `OPTIONAL { ?s <p${i}> ?o${i} }`), true],
  ['seven hundred branches', some(700, (i) => `${i ? 'UNION' : ''} { ?s <p${i}> ?o }`), false],
  ['a thousand branches', some(1_000, (i) => `${i ? 'UNION' : ''} { ?s <p${i}> ?o }`), true],
  ['eighteen hundred FILTERs', `?s ?p ?o ${some(1_800, (i) => `FILTER (?o != ${i})`)}`, true],
  ['a thousand values', `VALUES ?x { ${some(1_000, String)} }`, false],
]

await row('the work to order patterns', (t) => {
  for (const [name, where, isMuch] of ORDERING) {
    t.equal(query(`SELECT * { ${where} }`).ordering > 1e8, isMuch, name)
    t.equal(update(`INSERT { ?s <q> 1 } WHERE { ${where} }`).ordering > 1e8, isMuch, `${name}, in an update`)
  }
  t.ok(update(`DELETE WHERE { ${some(110, (i) => `?s <p${i}> ?o .`)} }`).ordering > 1e8)
  t.ok(update(`DELETE { ${some(110, (i) => `?s <p${i}> ?o .`)} } WHERE { ?s ?p ?o }`).ordering < 1e8, 'no template')
})
await row('read-sets', (t) => {
  for (const [text, readSet] of READ_SETS) t.same(query(text).readSet, readSet, text)
})
await row('the dataset of the request also replaces FROM in the read-set', (t) => {
  const dataset = { default: ['http://d/'], named: ['http://n/'] }
  for (const text of ['SELECT * { ?s ?p ?o GRAPH ?g {} }', 'SELECT * FROM <g> FROM NAMED <h> WHERE { ?s ?p ?o }']) {
    t.same(query(text, dataset).readSet, ['http://d/', 'http://n/'])
    t.same(query(text, dataset).from, dataset)
  }
  t.match(
    query('CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }', dataset).text,
    /} FROM <http:\/\/d\/> FROM NAMED <http:\/\/n\/> WHERE/,
  )
  t.match(query('CONSTRUCT WHERE { ?s ?p ?o }', dataset).text, /CONSTRUCT FROM/)
  t.match(query('SELECT (EXISTS { ?s ?p ?o } AS ?x) { }', dataset).text, /\?x \) FROM <http:\/\/d\/>/)
  t.match(query('DESCRIBE <x>', dataset).text, /DESCRIBE <http:\/\/e\/x> FROM <http:\/\/d\/>/)
  t.match(query('DESCRIBE <x> LIMIT 1', dataset).text, /FROM NAMED <http:\/\/n\/> LIMIT/)
  t.match(query('ASK { { SELECT * { ?s ?p ?o } } }', dataset).text, /^ASK FROM/)
})
await row('volatile expressions', (t) => {
  for (const [expression, volatile] of VOLATILE) {
    t.equal(query(`SELECT (${expression} AS ?x) {}`).volatile, volatile, expression)
    t.equal(query(`ASK { FILTER EXISTS { FILTER(${expression} = 1) } }`).volatile, volatile, `${expression}, in EXISTS`)
  }
})
await row('the graphs that an update certainly leaves empty', (t) => {
  for (const [text, g, other] of REMOVED) {
    const { removes } = update(text)
    t.same([isRemoved(removes, 'http://e/g'), isRemoved(removes, 'http://e/other')], [g, other], text)
  }
})
await row('write-sets', (t) => {
  for (const [text, writeSet, loads = []] of WRITE_SETS) {
    t.same(update(text).writeSet, writeSet, text)
    t.same(update(text).loads, loads, text)
  }
})
await row('the dataset of an update applies to every pattern', (t) => {
  const using = { default: ['http://d/'], named: ['http://n/'] }
  const clauses = 'USING <http://d/> USING NAMED <http://n/> WHERE'
  const three = 'DELETE WHERE { ?s ?p ?o } ; INSERT { ?s ?p 1 } WHERE { ?s ?p ?o } ; INSERT DATA { <s> <p> "WHERE" }'
  const { text } = update(three, using)
  t.equal(text.split(clauses).length, 3)
  t.match(text, `DELETE { ?s ?p ?o } ${clauses} { ?s ?p ?o }`)
  for (const wrong of [
    'WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }',
    'DELETE { ?s ?p ?o } USING <g> WHERE { ?s ?p ?o }',
  ]) {
    t.match(analyseUpdate(wrong, BASE, using), { failure: 'request.malformed' })
  }
})
await row('services and functions that a request would call', (t) => {
  t.same(query('ASK { SERVICE <http://a/> { SERVICE <http://b/> {} } }').services, ['http://a/', 'http://b/'])
  t.same(query('ASK { SERVICE <http://a/> { SERVICE ?b {} } }').services, 'variable')
  t.same(query('ASK { ?s <p> <java:a> }').services, [], 'an IRI that is neither function nor predicate')
  t.same(update('INSERT {} WHERE { SERVICE <http://a/> {} }').services, ['http://a/'])
})
const FUNCTIONS: [text: string, functions: string[]][] = [
  ['ASK { FILTER(STRLEN("a") = 1 && REGEX("a", "b") && COALESCE(1, 2) = IF(true, 1, 2)) }', []],
  ['ASK { BIND(<http://www.w3.org/2001/XMLSchema#integer>("1") AS ?x) }', []],
  ['ASK { BIND(<f>(1) AS ?x) }', ['http://e/f']],
  ['ASK { FILTER NOT EXISTS { FILTER(<f>(<g>(1))) } }', ['http://e/f', 'http://e/g']],
  ['SELECT (<f>(SUM(<g>(?o))) AS ?x) { ?s ?p ?o } ORDER BY <h>(?s)', ['http://e/f', 'http://e/g', 'http://e/h']],
  [
    'ASK { BIND(<http://www.w3.org/2005/xpath-functions#apply>(<java:a>, 1) AS ?x) }',
    ['http://www.w3.org/2005/xpath-functions#apply'],
  ],
  ['ASK { BIND(<JAVA:a>(1) AS ?x) ?s <java:b> ?o }', ['JAVA:a', 'java:b']],
  ['PREFIX j: <java:> ASK { ?s (<p>|j:b)+ ?o }', ['java:b']],
  ['ASK { ?s <http://jena.apache.org/text#query> "x" }', ['http://jena.apache.org/text#query']],
  ['ASK { ?s <http://jena.hpl.hp.com/ARQ/list#member>/<p> "x" }', ['http://jena.hpl.hp.com/ARQ/list#member']],
  ['ASK { ?s ^<http://jena.apache.org/ARQ/property#splitIRI> "x" }', ['http://jena.apache.org/ARQ/property#splitIRI']],
  ['ASK { ?s ?p <java:a> }', []],
  ['ASK { ?s <tag:example.org,2026:p> ?o }', []],
  ['ASK { ?s <tag:stardog:api:property:textMatch> ?o }', ['tag:stardog:api:property:textMatch']],
  ['ASK { ?s ?p ?o {| <java:a> 1 |} }', ['java:a']],
  ['ASK { << ?s <java:a> ?o >> ?q [ <java:b> ( [ <java:c> 1 ] ) ] }', ['java:a', 'java:b', 'java:c']],
  ['ASK { FILTER(TRIPLE(?s, ?p, <f>(1)) = ?t) }', ['http://e/f']],
  [
    'SELECT (SAMPLE(<f>(1)) AS ?x) (GROUP_CONCAT(DISTINCT <g>(1); SEPARATOR="x") AS ?y) {}',
    ['http://e/f', 'http://e/g'],
  ],
  ['CONSTRUCT { ?s <java:a> ?o } { ?s ?p ?o }', []],
  ['CONSTRUCT WHERE { ?s <java:a> ?o }', ['java:a']],
]
const UPDATE_FUNCTIONS: [text: string, functions: string[]][] = [
  ['INSERT DATA { GRAPH <g> { <s> <java:a> 1 } }', []],
  ['DELETE DATA { GRAPH <g> { <s> <java:a> 1 } }', []],
  ['INSERT { ?s <java:a> 1 } WHERE { ?s ?p ?o }', []],
  ['DELETE { ?s <java:a> 1 } WHERE { ?s ?p ?o }', []],
  ['DELETE WHERE { ?s <java:a> ?o }', ['java:a']],
  ['DELETE { ?s ?p ?o } WHERE { ?s <java:a> ?o }', ['java:a']],
  ['INSERT { ?s ?p ?o } WHERE { BIND(<f>(1) AS ?o) }', ['http://e/f']],
]
await row('functions other than those of SPARQL 1.1, and predicates that stores treat as functions', (t) => {
  for (const [text, functions] of FUNCTIONS) t.same([...query(text).functions].sort(), functions, text)
  for (const [text, functions] of UPDATE_FUNCTIONS) t.same(update(text).functions, functions, text)
})

const READS: [text: string, graphs: string[], more: string][] = [
  ['INSERT DATA { GRAPH <g> { <s> <p> 1 } }', [], ''],
  ['DELETE WHERE { GRAPH <g> { ?s ?p ?o } }', ['http://e/g'], ''],
  ['DELETE WHERE { GRAPH ?g { ?s ?p ?o } }', [], 'any'],
  ['DELETE WHERE { ?s ?p ?o }', [], 'default'],
  ['WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }', ['http://e/g'], ''],
  ['WITH <g> DELETE { ?s ?p ?o } WHERE { GRAPH ?h { ?s ?p ?o } }', ['http://e/g'], 'any'],
  ['WITH <g> INSERT { ?s ?p ?o } USING <h> WHERE { ?s ?p ?o }', ['http://e/h'], ''],
  ['INSERT { GRAPH <g> { ?s ?p ?o } } USING <h> WHERE { GRAPH ?x { ?s ?p ?o } }', ['http://e/h'], 'any'],
  ['INSERT { GRAPH <g> { ?s ?p ?o } } USING NAMED <h> WHERE { GRAPH ?x { ?s ?p ?o } }', ['http://e/h'], ''],
  ['INSERT { GRAPH <g> { ?s ?p ?o } } USING NAMED <h> WHERE { ?s ?p ?o }', ['http://e/h'], 'default'],
  [
    'INSERT { GRAPH <g> { ?s ?p ?o } } WHERE { GRAPH <h> { ?s ?p ?o FILTER EXISTS { GRAPH <i> { ?s ?p ?o } } } }',
    ['http://e/h', 'http://e/i'],
    '',
  ],
  ['COPY <g> TO <h>', ['http://e/g'], ''],
  ['MOVE DEFAULT TO <h>', [], 'default'],
  ['LOAD <x> INTO GRAPH <g>', [], ''],
  ['CLEAR ALL', [], ''],
  ['CLEAR GRAPH <g> ; DELETE WHERE { GRAPH ?g { ?s ?p ?o } }', [], 'any'],
]
await row('the graphs that the patterns of an update read', (t) => {
  for (const [text, graphs, more] of READS) {
    const { reads } = update(text)
    t.same([...reads.graphs].sort(), graphs, text)
    t.equal([reads.default && 'default', reads.any && 'any'].filter(Boolean).join(' '), more, text)
  }
})

const nested = (levels: number, open: string, close: string): string => open.repeat(levels) + close.repeat(levels)
const NESTED: [name: string, text: (levels: number) => string][] = [
  ['NOT EXISTS', (n) => `ASK { ${nested(n, 'FILTER NOT EXISTS { ?s ?p ?o ', '}')} }`],
  ['EXISTS', (n) => `ASK { ${nested(n, 'FILTER EXISTS { ?s ?p ?o ', '}')} }`],
  ['MINUS', (n) => `ASK { ?s ?p ?o ${nested(n, 'MINUS { ?s ?p ?o ', '}')} }`],
  ['sub-queries', (n) => `ASK { ${nested(n, '{ SELECT * { ?s ?p ?o ', '} }')} }`],
]
await row('design 7: (NOT) EXISTS, MINUS and sub-queries nest eight levels deep, and no deeper', (t) => {
  for (const [name, text] of NESTED) {
    t.notOk(isFailure(analyseQuery(text(8), BASE)), name)
    t.match(analyseQuery(text(9), BASE), { failure: 'query.syntax', detail: /more than 8 levels/ }, name)
    const pattern = text(9).slice(4)
    t.match(
      analyseUpdate(`INSERT { <s> <p> 1 } WHERE ${pattern}`, BASE),
      { failure: 'update.syntax' },
      `${name}, in an update`,
    )
  }
  const mixed = nested(3, 'FILTER EXISTS { ?s ?p ?o MINUS { { SELECT * { ?s ?p ?o ', '} } } }')
  t.match(analyseQuery(`ASK { ${mixed} }`, BASE), { failure: 'query.syntax' }, 'all three kinds together')
})
const LANG_STRING = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString'
await row('errors and their places', (t) => {
  for (const [text, where] of ERRORS) {
    const analysis = analyseQuery(text, BASE)
    t.match(analysis, { failure: 'query.syntax', detail: where }, text.slice(0, 60))
  }
  for (const text of ['', 'PREFIX : <http://a/>'])
    t.match(
      analyseQuery(text, BASE, { default: ['http://e/g'], named: [] }),
      { detail: /it is empty/ },
      'with a dataset',
    )
  t.match(analyseUpdate('INSERT DATA { ?s ?p ?o }', BASE), { failure: 'update.syntax' })
  t.match(analyseUpdate('ASK {}', BASE), { failure: 'update.syntax' })
  // Constants that no document may contain, although stores would accept them.
  for (const [update, flaw] of [
    ['INSERT DATA { <urn:s> <urn:p> <http://e/a[b]> }', 'the malformed IRI <http://e/a[b]>'],
    ['INSERT DATA { <urn:s> <http://e/50%> 1 }', 'the malformed IRI <http://e/50%>'],
    ['INSERT DATA { GRAPH <http://e/#a#b> { <urn:s> <urn:p> 1 } }', 'the malformed IRI <http://e/#a#b>'],
    ['WITH <http://e/[]> INSERT { <urn:s> <urn:p> ?o } WHERE { ?s ?p ?o }', 'the malformed IRI <http://e/[]>'],
    ['INSERT { <urn:s> <urn:p> "x"@en-abcdefghijkl } WHERE {}', 'the malformed language tag en-abcdefghijkl'],
    ['INSERT { ?s ?p "x"^^<http://e/[]> } WHERE { ?s ?p ?o }', 'the malformed IRI <http://e/[]>'],
    ['COPY <urn:a> TO <http://e/[]>', 'the malformed IRI <http://e/[]>'],
    ['CREATE GRAPH <http://e/[]>', 'the malformed IRI <http://e/[]>'],
    ['LOAD <http://e/> INTO GRAPH <http://e/[]>', 'the malformed IRI <http://e/[]>'],
    ['INSERT DATA { "lit" <urn:p> 1 }', 'a literal as subject'],
    ['INSERT DATA { <<( <urn:a> <urn:b> 1 )>> <urn:p> 1 }', 'a triple term as subject'],
    ['INSERT DATA { << "lit" <urn:b> 1 >> <urn:p> 1 }', 'a literal as subject'],
    [`INSERT DATA { <urn:a> <urn:b> 1 . <urn:a> <urn:b> "x"^^<${LANG_STRING}> }`, 'the datatype'],
    ['INSERT { ?s <urn:p> ?i } WHERE { ?s ?p ?o BIND(<http://e/%zz> AS ?i) }', 'the malformed IRI <http://e/%zz>'],
    ['INSERT { ?s <urn:p> ?i } WHERE { VALUES (?i) { (1) (<http://e/#a#b>) } }', 'the malformed IRI <http://e/#a#b>'],
    ['INSERT { ?s <urn:p> ?i } WHERE { VALUES ?i { "x"@verylongtag } }', 'the malformed language tag verylongtag'],
    ['INSERT { ?s <urn:p> ?i } WHERE { { SELECT (<http://e/[]> AS ?i) {} } }', 'the malformed IRI <http://e/[]>'],
    [
      'INSERT { ?s <urn:p> ?i } WHERE { { SELECT ?i {} GROUP BY (<http://e/[]> AS ?i) } }',
      'the malformed IRI <http://e/[]>',
    ],
    [
      'INSERT { ?s <urn:p> ?i } WHERE { OPTIONAL { BIND("x"^^<http://e/%zz> AS ?i) } }',
      'the malformed IRI <http://e/%zz>',
    ],
    ['INSERT { GRAPH ?g { ?s <urn:p> 1 } } WHERE { BIND(<http://e/#a#b> AS ?g) }', 'the malformed IRI <http://e/#a#b>'],
    [
      'INSERT { ?s <urn:p> <<( ?s <urn:p> ?i )>> } WHERE { BIND(<http://e/%zz> AS ?i) }',
      'the malformed IRI <http://e/%zz>',
    ],
  ] as const) {
    const refused = analyseUpdate(update, BASE)
    t.match(refused, { failure: 'update.syntax' }, update)
    t.ok(isFailure(refused) && refused.detail.includes(`it would insert ${flaw}`), `${update}: the reason`)
  }
  for (const update of [
    'DELETE DATA { <urn:s> <urn:p> <http://e/a[b]> }',
    'DELETE WHERE { GRAPH <http://e/#a#b> { ?s <http://e/50%> "x"@en-abcdefghijkl } }',
    'DROP GRAPH <http://e/[]>',
    'INSERT { ?s <urn:p> ?o } WHERE { ?s <http://e/a[b]> ?o }',
    'DELETE { ?s ?p ?i } INSERT { ?s ?p <urn:i> } WHERE { VALUES ?i { <http://e/a[b]> } ?s ?p ?i }',
  ])
    t.notOk(isFailure(analyseUpdate(update, BASE)), `it may be removed and read: ${update}`)
})
await row('the text that is sent is unambiguous', (t) => {
  const { text } = query(`PREFIX : <http://x/> # comment
    select$s{?s <http://x/p\\u0061.b> 'it\\'s "\\u0022' , """a
b""" , "x"@en-GB ; a :T, true , TRUE , -1.50 . ?s :q\\-r () . [] :p [ :q 1 ] FILTER(?s<?o&&BNODE(  )!=?s)}`)
  t.equal(
    text,
    'SELECT ?s { ?s <http://x/pa.b> "it\'s \\"\\"" , "a\\nb" , "x" @en-GB ; a <http://x/T> , true , true , -1.50 . ' +
      '?s <http://x/q-r> () . [] <http://x/p> [ <http://x/q> 1 ] FILTER( ?s < ?o && BNODE() != ?s ) }',
  )
  t.equal(query(text).text, text)
})
const BASES: [text: string, sent: string][] = [
  ['ASK { FILTER(IRI("x") = ?i) }', `BASE <${BASE}> ASK { FILTER( IRI( "x" ) = ?i ) }`],
  [
    'BASE <http://example.org/> SELECT (IRI("x") AS ?i) {}',
    'BASE <http://example.org/> SELECT( IRI( "x" ) AS ?i ) { }',
  ],
  [
    'BASE <http://a/> BASE <b/> ASK { FILTER(uri("x") = <y>) }',
    'BASE <http://a/b/> ASK { FILTER( URI( "x" ) = <http://a/b/y> ) }',
  ],
  ['BASE <http://example.org/> SELECT (ISIRI("iri(x)") AS ?IRI) {}', 'SELECT( ISIRI( "iri(x)" ) AS ?IRI ) { }'],
]
await row(
  'SPARQL 1.1 §17.4.2.8: BASE is sent if IRI() or URI() resolves against it, and is then part of the key',
  (t) => {
    for (const [text, sent] of BASES) {
      t.equal(query(text).text, sent, text)
      t.equal(query(text).key, sent, text)
      t.equal(query(sent).text, sent, 'the text is its own spelling')
    }
    const dataset = { default: ['http://d/'], named: [] }
    const constructed = query('CONSTRUCT { ?s ?p ?i } WHERE { BIND(IRI("x") AS ?i) }', dataset).text
    t.match(constructed, /^BASE <http:\/\/e\/sparql> CONSTRUCT \{ \?s \?p \?i \} FROM <http:\/\/d\/> WHERE/)
    const insert = 'INSERT { ?s ?p ?i } WHERE { BIND(IRI("x") AS ?i) }'
    t.equal(
      update(`BASE <http://a/> CLEAR GRAPH <g> ; BASE <b/> ${insert} ; BASE <http://c/> DROP GRAPH <g> ; ${insert} ;`)
        .text,
      'CLEAR SILENT GRAPH <http://a/g> ; BASE <http://a/b/> INSERT { ?s ?p ?i } WHERE { BIND( IRI( "x" ) AS ?i ) } ; ' +
        'DROP SILENT GRAPH <http://c/g> ; BASE <http://c/> INSERT { ?s ?p ?i } WHERE { BIND( IRI( "x" ) AS ?i ) } ;',
    )
  },
)
const SILENT_LOADS: [text: string, sent: string, loads?: string[]][] = [
  ['LOAD SILENT <http://x/>', 'INSERT DATA {}'],
  ['load silent <http://x/> into graph <g> ;', 'INSERT DATA {}'],
  ['LOAD SILENT <http://yes/>', 'LOAD SILENT <http://yes/>', ['http://yes/']],
  ['LOAD <http://x/>', 'LOAD <http://x/>', ['http://x/']],
  [
    'CLEAR GRAPH <g> ; LOAD SILENT <http://x/> ; CLEAR GRAPH <h>',
    'CLEAR SILENT GRAPH <http://e/g> ; CLEAR SILENT GRAPH <http://e/h>',
  ],
  [
    'LOAD SILENT <http://x/> ; INSERT DATA { <s> <p> "; LOAD SILENT <http://x/>" }',
    'INSERT DATA { <http://e/s> <http://e/p> "; LOAD SILENT <http://x/>" }',
  ],
]
await row('SPARQL 1.1 Update §3.1.4: LOAD SILENT of a forbidden source is left out', (t) => {
  for (const [text, sent, loads = []] of SILENT_LOADS) {
    const analysis = analyseUpdate(text, BASE, undefined, ['http://yes/'])
    t.match(analysis, { text: sent, loads }, text)
  }
  t.match(analyseUpdate('LOAD SILENT <http://x/> x', BASE, undefined, []), { failure: 'update.syntax' })
})
const LATERAL = 'SELECT * { ?s ?p ?o LATERAL { ?o ?q ?r } }'
const passing = (kind: 'query' | 'update', text: string, syntax: 'standard' | 'store' = 'store', using?: 'a dataset') =>
  analyse({
    ...{ kind, text, base: BASE, mayLoad: [], syntax },
    dataset: using && { default: ['http://d/'], named: [] },
  })
const SPARED = (graph: string): string =>
  `FILTER( COALESCE( ! STRSTARTS( STR( ${graph} ) , "urn:triplegate:" ) && STR( ${graph} ) != "http://www.w3.org/ns/solid/sparql#union-default-graph" , true ) )`
const SPARING: [text: string, sent: string][] = [
  [
    'DELETE WHERE { GRAPH ?g { ?s ?p ?o } GRAPH ?h { ?o ?q ?g } }',
    `DELETE { GRAPH ?g { ?s ?p ?o } GRAPH ?h { ?o ?q ?g } } WHERE { { GRAPH ?g { ?s ?p ?o } GRAPH ?h { ?o ?q ?g } } ${SPARED('?g')} ${SPARED('?h')} }`,
  ],
  [
    'DELETE { GRAPH $g { ?s ?p 1 } } INSERT { GRAPH ?g { ?s ?p 2 } } WHERE { SELECT * { GRAPH ?g { ?s ?p 1 } } }',
    `DELETE { GRAPH ?g { ?s ?p 1 } } INSERT { GRAPH ?g { ?s ?p 2 } } WHERE { { SELECT * { GRAPH ?g { ?s ?p 1 } } } ${SPARED('?g')} }`,
  ],
  [
    'CLEAR ALL ; WITH <g> INSERT { GRAPH ?g { ?s ?p 1 } } USING <h> WHERE { ?s ?p ?g } ; CLEAR ALL',
    `CLEAR ALL ; WITH <http://e/g> INSERT { GRAPH ?g { ?s ?p 1 } } USING <http://e/h> WHERE { { ?s ?p ?g } ${SPARED('?g')} } ; CLEAR ALL`,
  ],
  ...[
    'INSERT { GRAPH <http://e/g> { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }',
    'INSERT DATA { GRAPH <http://e/g> { <http://e/s> <http://e/p> "GRAPH ?g" } }',
  ].map((text): [string, string] => [text, text]),
  [
    'DELETE { ?s ?p 1 ; ?q 2 GRAPH ?g { ?s ?p 1 ; ?q 2 } } WHERE { GRAPH ?g { ?s ?p 1 ; ?q 2 } }',
    `DELETE { ?s ?p 1 ; ?q 2 GRAPH ?g { ?s ?p 1 ; ?q 2 } } WHERE { { GRAPH ?g { ?s ?p 1 ; ?q 2 } } ${SPARED('?g')} }`,
  ],
]
await row('graphs of the gateway are spared: no variable of a template stands for one', (t) => {
  for (const [text, sent] of SPARING)
    for (const made of [update(text), passing('update', text)]) t.match(made, { text: sent })
  const long = 'GRAPH ?g { ?s ?p ?o LATERAL { ?o ?q ?r } }'
  t.match(passing('update', `DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { ${long} }`), {
    text: `DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { { ${long} } ${SPARED('?g')} }`,
  })
})
const KEPT_BACK: [kind: 'query' | 'update', text: string, reason: RegExp][] = [
  ['query', 'SELECT * { LATERAL { SERVICE <http://x/> {} } }', /the word SERVICE/],
  ['query', 'SELECT * { LATERAL {} BIND(CALL(<java:x>) AS ?y) }', /the word CALL is unknown/],
  ['query', 'SELECT * { LATERAL {} BIND(?f(1) AS ?y) }', /may name a function/],
  ['query', 'SELECT * { LATERAL {} } INSERT', /the word INSERT/],
  ['query', 'DEFINE "x" SELECT * { LATERAL {} }', /not a SELECT, CONSTRUCT, DESCRIBE or ASK/],
  ['query', 'JSON { "a": ?x } WHERE { ?s ?p ?x }', /the prefix : is not declared/],
  ['query', 'SELECT * { LATERAL { ) }', /brackets do not match/],
  ['query', 'SELECT * { ?s <p>{1,900} ?o LATERAL {} }', /repeats a path/],
  ['query', 'SELECT * { ?s <p>{,9} ?o LATERAL {} }', /repeats a path/],
  ['query', `ASK { LATERAL {} ${'FILTER EXISTS {} '.repeat(9)} }`, /more than 8/],
  ['query', `ASK { LATERAL {} FILTER(${'1=1||'.repeat(1100)}true) }`, /more than 1000 operators/],
  ['query', `ASK { FILTER(${'1=1||'.repeat(1100)}true) }`, /too many operators/],
  ['query', `ASK { LATERAL {} ${'FILTER NOT EXISTS { '.repeat(8)}${'}'.repeat(8)} }`, /more than 8/],
  ['query', 'CLEAR ALL', /it is an update/],
  ['query', 'CLEAR ALL ; INSERT {} WHERE { LATERAL {} }', /DESCRIBE or ASK/],
  ['update', 'LOAD <http://x/> LATERAL', /unknown form/],
  ['update', 'CLEAR ALL ; LOAD <http://x/> ; INSERT {} WHERE { LATERAL {} }', /unknown form/],
  ['update', 'INSERT {} WHERE { LATERAL {} } ; LATERAL {}', /unknown form/],
  ['update', 'INSERT {} WHERE { LATERAL { SERVICE SILENT ?x {} } }', /the word SERVICE/],
  ['update', 'INSERT { GRAPH <urn:triplegate:log> { ?s ?p 1 } } WHERE { LATERAL {} }', /graph of the gateway/],
  [
    'update',
    'INSERT { GRAPH <http://www.w3.org/ns/solid/sparql#union-default-graph> { ?s ?p 1 } } WHERE { LATERAL {} }',
    /name of the union/,
  ],
  ['update', LATERAL, /unknown form/],
]
await row('--sparql-syntax store: text for the store alone is passed on, as reading and writing everything', (t) => {
  t.match(passing('query', `# comment\n${LATERAL}`), {
    ...{
      form: 'SELECT',
      text: LATERAL,
      key: LATERAL,
      readSet: 'dataset',
      volatile: false,
      functions: [],
      services: [],
    },
    reads: { default: true, any: true, magic: true },
  })
  t.match(passing('query', 'BASE <http://b/> ASK { LATERAL { BIND(IRI("x") AS ?i) } }'), {
    text: 'BASE <http://b/> ASK { LATERAL { BIND( IRI( "x" ) AS ?i ) } }',
  })
  t.match(passing('query', 'ASK { LATERAL { BIND(NOW() AS ?n) } }'), { volatile: true })
  t.match(passing('query', 'SELECT (MEDIAN(?o) AS ?m) (<f>(1) AS ?x) { ?s <java:a> ?o VALUES ?y { 1 2 } }'), {
    functions: ['http://e/f', 'java:a'],
  })
  const update = 'INSERT { ?s ?p ?r } WHERE { ?s ?p ?o LATERAL { ?o ?q ?r } } ; DROP SILENT DEFAULT ;'
  t.match(passing('update', update), {
    ...{ text: update, writeSet: 'dataset', loads: [], services: [], functions: [] },
    reads: { magic: true },
    removes: { graphs: [], allBut: undefined },
  })
  for (const [kind, text, reason] of KEPT_BACK) {
    t.match(passing(kind, text), { failure: `${kind}.syntax`, detail: reason }, text.slice(0, 60))
  }
  t.match(passing('query', LATERAL, 'standard'), { failure: 'query.syntax', detail: /unexpected “LATERAL”/ })
  t.match(passing('query', LATERAL, 'store', 'a dataset'), { failure: 'query.syntax' })
  t.match(passing('query', 'ASK {}'), { readSet: [] }, 'text that the parser can read is analysed')
})
await row('names of variables matter: the answer has them', (t) => {
  t.not(query('SELECT ?a { ?a ?p ?o }').key, query('SELECT ?b { ?b ?p ?o }').key)
  t.not(query('SELECT ("a" AS ?x) {}').key, query('SELECT ("A" AS ?x) {}').key)
  t.not(query('SELECT ("a b" AS ?x) {}').key, query('SELECT ("a  b" AS ?x) {}').key)
})
await row('time grows with the length of a text only', async (t) => {
  // prettier-ignore
  const pieces = [
    '{', '(', '"', "'''a", '<a', 'a.', '_:a.', 'a:', 'a:b.', '\\u', '\\', '#', '"\\', '1.', '?', '<', '||',
  ]
  for (const piece of pieces) {
    const text = `SELECT * { ${piece.repeat(16_384 / piece.length)}`
    t.ok((await quickest(2_000, () => analyseQuery(text, BASE))) < 2_000, piece)
  }
})

/** A query as tokens. The differences between its two spellings are drawn separately for each. */
// prettier-ignore
const TOKENS = [
  'SELECT', '?s', 'WHERE', '{', 'GRAPH', 'p:g', '{', '?s', 'a', 'p:T', ';', 'q:name', '"x # y"', '.',
  'FILTER', '(', 'STRLEN', '(', '?s', ')', '<=', '2', ')', '}', '}', 'LIMIT', '5',
]
const space = fc
  .array(fc.constantFrom(' ', '\n', '\t', '\r\n', '# comment "\n', '#}\n'), { minLength: 1, maxLength: 3 })
  .map((pieces) => pieces.join(''))
const spelled = fc
  .tuple(
    fc.array(space, { minLength: TOKENS.length + 1, maxLength: TOKENS.length + 1 }),
    fc.array(fc.boolean(), { minLength: TOKENS.length, maxLength: TOKENS.length }),
    fc.constantFrom(['p', 'q'], ['q', 'p'], ['', 'x.y'], ['long-name', 'é']),
    fc.boolean(),
  )
  .map(([spaces, choices, [p, q], full]) => {
    const token = (text: string, i: number): string => {
      const [, prefix, local] = /^([pq]):(.*)$/.exec(text) ?? []
      if (prefix !== undefined) {
        if (full && choices[i]) return `<http://e/${prefix}/${local}>`
        const escaped = `\\u00${local!.charCodeAt(0).toString(16)}${local!.slice(1)}`
        return choices[i] ? `${prefix === 'p' ? p : q}:${local}` : `<http://e/${prefix}/${escaped}>`
      }
      if (text.startsWith('"')) return choices[i] ? text : `'''${text.slice(1, -1).replace('x', '\\u0078')}'''`
      if (text.startsWith('?')) return choices[i] ? text : `$${text.slice(1)}`
      return /^[A-Z]+$/.test(text) && choices[i] ? text.toLowerCase() : text
    }
    const prologue = [`PREFIX ${p}: <http://e/p/>`, `prefix ${q}:<q/>`]
    const text = TOKENS.map((text, i) => token(text, i) + spaces[i + 1]!).join('')
    return `BASE <http://e/>${prologue.join(spaces[0])} ${text}`
  })

await row('white space, comments, prefixes, escapes and case do not matter', () => {
  fc.assert(
    fc.property(
      spelled,
      spelled,
      (one, other) => query(one).key === query(other).key && query(one).readSet[0] === 'http://e/p/g',
    ),
    { numRuns: 300 },
  )
})
await row('any text is analysed or refused, and the text that is sent is its own spelling', () => {
  const piece = fc.oneof(
    fc.constantFrom(...TOKENS, 'SERVICE', '<http://e/>', '[', ']', 'UNION', 'PREFIX', ':', '\\u0041'),
    fc.string({ maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const analysis = analyseQuery(pieces.join(' '), BASE)
      return isFailure(analysis) || query(analysis.text).text === analysis.text
    }),
    { numRuns: 500 },
  )
})
