// Unbounded expressions, which may fail or take long for some values: a store may evaluate them on hidden data (design
// 4).
import t from 'tap'
import { unboundedIn } from '../../../../gateway/sparql/rights/unbounded-expressions.js'
import { read } from '../../../support/over-views.js'

const LONG = 'a'.repeat(3000)
const bound = (steps: number, of: (name: string) => string): string =>
  Array.from({ length: steps }, (_, i) => `BIND(${of(`?v${i}`)} AS ?v${i + 1})`).join(' ')
// prettier-ignore
for (const [name, isUnbounded, query] of [
  ['a constant regular expression', false, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "^foo", "i")) }'],
  ['a group that does not repeat', false, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "^(Mr|Mrs) .*$")) }'],
  ['a bracket in a class or after a backslash is not a group', false, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "[(]a\\\\)*")) }'],
  ['a class with signs of repetition', false, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "[*+?]a[*+{]")) }'],
  ['the local part of a name', false, 'SELECT * { ?s ?p ?o BIND(REPLACE(STR(?s), "^.*[/#]", "") AS ?l) }'],
  ['few texts joined, and searched', false, 'SELECT * { ?s ?p ?o BIND(CONCAT(?a, " ", ?b) AS ?l) FILTER(REGEX(?l, "x y")) }'],
  ['comparisons, arithmetic and texts', false, 'SELECT * { ?s ?p ?o FILTER(STRLEN(STR(?o)) > 3 && ?x + 1 < 7 || CONTAINS(LCASE(?o), "x")) }'],
  ['what SELECT computes of the solutions', false, 'SELECT (REGEX(?o, "(a|b)*") AS ?x) { ?s ?p ?o } ORDER BY (REPLACE(?o, ?p, ?o))'],
  ['texts joined of all solutions', false, 'SELECT (GROUP_CONCAT(?o; separator=", ") AS ?all) { ?s ?p ?o } GROUP BY ?s'],
  ['a group that repeats', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "(a|b)*")) }'],
  ['the same with white space that a flag ignores', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "( a ) *", "x")) }'],
  ['the same in BIND, of solutions that have been tested', false, 'SELECT * { ?s ?p ?o BIND(REGEX(?o, "(a|b)+c") AS ?x) }'],
  ['the same in BIND, in an EXISTS of a pattern', true, 'SELECT * { ?s ?p ?o FILTER EXISTS { BIND(REGEX(?o, "(a|b)+c") AS ?x) } }'],
  ['the same if a FILTER tests a value computed by BIND', false, 'SELECT * { ?s ?p ?o BIND(REGEX(?o, "(a|b)+c") AS ?x) FILTER(?x) }'],
  ['the same in OPTIONAL', true, 'SELECT * { ?s ?p ?o OPTIONAL { ?s ?q ?x FILTER(REGEX(?x, "(a|b){2}")) } }'],
  ['the same in a sub-query', false, 'SELECT * { GRAPH ?g { SELECT (REGEX(?o, "(a|b)*") AS ?x) { ?s ?p ?o } } }'],
  ['the same in an EXISTS of a pattern', true, 'SELECT * { ?s ?p ?o FILTER EXISTS { ?s ?q ?x FILTER(REGEX(?x, "(a|b)*c")) } }'],
  ['the same in an EXISTS of SELECT', true, 'SELECT (EXISTS { ?s ?q ?x FILTER(REGEX(?x, "(a|b)*c")) } AS ?e) { ?s ?p ?o }'],
  ['the same in an EXISTS of HAVING', true, 'SELECT * { ?s ?p ?o } HAVING (EXISTS { ?s ?q ?x FILTER(REGEX(?x, "(a|b)*c")) })'],
  ['a reference to a group', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "(a)\\\\1")) }'],
  ['many quantifiers', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "a*a*a*b")) }'],
  ['a regular expression of the data', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, ?x)) }'],
  ['a regular expression over a long text', true, `SELECT * { ?s ?p ?o FILTER(REGEX(CONCAT(?o, "${LONG}"), "a.*b")) }`],
  ['a long replacement', true, `SELECT * { ?s ?p ?o FILTER(REPLACE(?o, "a", "${LONG}") = ?p) }`],
  ['a replacement of the data', true, 'SELECT * { ?s ?p ?o FILTER(REPLACE(?o, "a", ?x) = ?p) }'],
  ['a repeated group behind quoted brackets', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "\\\\Q[\\\\E(a|b)*]")) }'],
  ['a repeated group behind a control character', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "\\\\c[(a|b)*]")) }'],
  ['a repeated group behind a class', true, 'SELECT * { ?s ?p ?o FILTER(REGEX(?o, "[]x](a|b)*]")) }'],
  ['a date and a duration', true, 'SELECT * { ?s ?p ?o FILTER(?o + "PT999999999999999999999S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration> > 0) }'],
  ['a comparison with a duration', true, 'SELECT * { ?s ?p ?o FILTER(?o < "P2D"^^<http://www.w3.org/2001/XMLSchema#duration>) }'],
  ['a comparison with a value that may be one by its datatype', true, 'SELECT * { ?s ?p ?o . ?s ?q ?x FILTER(STRDT(?o, ?x) = STRDT(?x, ?o)) }'],
  ['a possible date and duration', true, 'SELECT * { ?s ?p ?o . ?s ?q ?x FILTER(?o - ?x > 0) }'],
  ['the same in BIND', false, 'SELECT * { ?s ?p ?o . ?s ?q ?x BIND(?o - ?x AS ?y) }'],
  ['the same by a number of times', true, 'SELECT * { ?s ?p ?o . ?s ?q ?x FILTER(?o + ?x * 2 > 0) }'],
  ['together with a number', false, 'SELECT * { ?s ?p ?o . ?s ?q ?x FILTER(<http://www.w3.org/2001/XMLSchema#decimal>(?o) - ?x + ?x > 0 && STRLEN(?o) + ?x > 1.5) }'],
  ['together with a product of numbers', false, 'SELECT * { ?s ?p ?o . ?s ?q ?x FILTER((?o - 50.5) * (?o - 50.5) + ?x > 0) }'],
  ['a product with a possible duration', true, 'SELECT * { ?s ?p ?o . ?s ?q ?x FILTER(?o * 2 + ?x > 0) }'],
  ['the same in SELECT', false, 'SELECT (?o - ?x AS ?y) { ?s ?p ?o . ?s ?q ?x }'],
  ['a text that doubles, four times', false, `SELECT * { ?s ?p ?v0 ${bound(4, (of) => `CONCAT(${of}, ${of})`)} FILTER(STRLEN(?v4) > 1) }`],
  ['a text that doubles, five times', true, `SELECT * { ?s ?p ?v0 ${bound(5, (of) => `CONCAT(${of}, ${of})`)} FILTER(STRLEN(?v5) > 1) }`],
  ['a number that is squared, five times', true, `SELECT * { ?s ?p ?v0 ${bound(5, (of) => `${of} * ${of}`)} FILTER(?v5 > 1) }`],
  ['a list of 100,000 values', false, `SELECT * { ?s ?p ?o FILTER(?o IN (1${',1'.repeat(100_000)})) }`],
  ['100,000 texts joined', true, `SELECT * { ?s ?p ?o FILTER(CONCAT("a"${',?o'.repeat(100_000)}) = ?p) }`],
  ['a name with 20,000 values', false, `SELECT * { ${'{ BIND(1 AS ?x) } UNION '.repeat(20_000)} { ?s ?p ?o FILTER(STR(?x) = "a") } }`],
  ['20,000 names, each by the next', true, `SELECT * { ${Array.from({ length: 20_000 }, (_, i) => `{ BIND(?v${i + 1} AS ?v${i}) } UNION`).join(' ')} { FILTER(STR(?v0) = "a") } }`],
  ['the same in branches, each of which has the name of the other', true, 'SELECT * { { BIND(CONCAT(?x, ?x) AS ?y) } UNION { BIND(CONCAT(?y, ?y) AS ?x) } FILTER(?x = "a") }'],
] as const) {
  void t.test(`${isUnbounded ? 'may fail' : 'is bounded'}: ${name}`, (t) => {
    const { body } = read(query)!
    t.equal(body.form !== 'DESCRIBE' && unboundedIn(body) !== undefined, isUnbounded)
    t.end()
  })
}
