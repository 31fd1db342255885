// Expressions on which Jena may work without end are refused wherever they are; common expressions are not.
import t from 'tap'
import { endlessIn } from '../../../../gateway/sparql/rights/endless-expressions.js'
import { regexWaysOf } from '../../../../gateway/sparql/rights/regex-ways.js'
import { read } from '../../../support/over-views.js'
import { rowsOf } from '../../../support/stores.js'

// prettier-ignore
const DEGREES: readonly (readonly [pattern: string, degree: number, flags?: string])[] = [
  ['fuseki', 1, 'i'], ['^https?://', 1], ['[a-z]+', 1], ['.*fuseki.*', 2], ['foo.*bar', 2], ['^.*x', 1], ['\\s+$', 2], ['^\\s+|\\s+$', 2],
  ['^[^@]+@[^@]+\\.[a-z]+$', 1], ['^\\d{4}-\\d{2}-\\d{2}$', 1], ['(a|b)*c', 2], ['(foo|for)*x', 2], ['([a-z]+ )*x', 2], ['\\p{L}+ \\p{L}+', 2],
  ['^([^,]*,){3}foo', 1], ['a{1,1000}b', 2], ['^(alpha|beta|gamma)$', 1], ['^urn:[a-z0-9][a-z0-9-]{0,31}:.+$', 1], ['', 1], ['[]a]+x', 2],
  ['(?:ab)+c', 2], ['[a-z&&[^b]]+x', 2], ['\\P{Lu}+x', 2], ['([a[b]]|b)*x', Infinity], ['([^]a]|b)*x', Infinity], ['([ab&&[b]]|b)*x', Infinity],
  // Several ways through one text: the degree is their number, plus one for the search.
  ['.*.*x', 3], ['.*.*.*x', 4], ['.*foo.*bar', 3], ['a+a+a+b', 4], ['(.*,){3}x', 4], ['[a-z]+[a-k]+[a-c]+X', 4], ['a*A*b', 3, 'i'], ['a*A*b', 2],
  ['é*ü*x', 3], ['.*?x', 2], ['a+?b', 2], ['a{2,3}?b', 1], ['a??b', 1], ['(\u0000|\u0000)*b', Infinity], ['[^a]*ü*x', 3], ['[^\\d]*é*x', 3], ['k*\u212a*x', 3, 'i'],
  // Which characters a part matches: brackets, escapes, and those beyond ASCII.
  ['(a)'.repeat(60), 1], ['$*a', Infinity], ['.*é*x', 3], ['.*\\n*x', 3], [']*]*x', 3], [']*a*x', 2], ['}*a*x', 2], ['\\ba*b', 2], ['a*\\Bb', 2], ['\\b*a', Infinity],
  ['\\px{L}', Infinity], ['([\\]a]|\\])*b', Infinity], ['([\\]a]|b)*c', 2], ['[\\b]*a*x', 3], ['[\\d]*a*x', 2], ['[]a]*b*x', 3], ['[a[b]]*c*x', 3], ['[ab&&[b]]*c*x', 3],
  ['[a&&b]*c*x', 3], ['[\\[a]*c*x', 2], ['[\\^\\]]*c*x', 2], ['[b-a]*c*x', 3], ['[^b]*b*x', 2], ['[^]b]*b*x', 3], ['(a*)(b*)x', 2],
  // A place in the pattern where a match has to be looked for again; groups as deep as can be read.
  ['\\bx.*', 2], ['\\Bx.*', 2], ['x.*', 1], [`${'('.repeat(50)}a${')'.repeat(50)}`, 1], [`${'('.repeat(51)}a${')'.repeat(51)}`, Infinity],
  // With the flag i, the Kelvin sign is a K.
  ['k*\u212a*x', 2], ['k*[^a-z]*x', 3, 'i'], ['K*[^a-z]*x', 3, 'i'], ['a*[^a-z]*x', 2, 'i'], ['\\w*[^a-z0-9_]*x', 3, 'i'], ['[j-l]*[^a-z]*x', 3, 'i'],
  // Each character doubles the ways.
  ['(a+)+$', Infinity], ['(a|a)*$', Infinity], ['(.*)*$', Infinity], ['(a|aa)+$', Infinity], ['(a*b*)*c', Infinity], ['(\\w+\\s?)+$', Infinity],
  ['(x+x+)+y', Infinity], ['^(a|a)*?$', Infinity], ['^(a+)+?$', Infinity], ['((a|aa)+b?)+$', Infinity], ['(a{1,30}){1,30}$', Infinity], ['(a|A)*b', Infinity, 'i'],
  [`${'a?'.repeat(28)}${'a'.repeat(28)}`, Infinity], [`${'(a|a)'.repeat(28)}$`, Infinity], ['^(.*?,){11}P', Infinity], ['([a-z]|\\w)*!', Infinity],
  // An optional part is tried first.
  ['^((a|a)*b)?', Infinity], ['((a|a)*b)*', Infinity], ['a(.*b)?', 2], ['([^,]*,)*', 2], ['a(.*b)*?', Infinity], ['a[^b]*', 1], ['x(ab*)+', 1], ['a.*b+', 2], ['a.*.*', 1],
  // Many ways without a repetition, and ways to match nothing.
  [`(${'a|'.repeat(29)}a){8}c`, Infinity], ['(foo|fob|fox)x', 1], ['(foo|fob|fox)(a|ab|ac).*x', 2], ['(foo|fob|fox)(foo|fob|fox)(foo|fob|fox).*x', Infinity],
  ['(|){20}b', Infinity], ['(a(|))*b', Infinity], ['(b(a?)?)*c', Infinity], ['(a?){20}b', Infinity], ['(a|b|)c', 1],
  [`^${'(a|a)'.repeat(8)}`, 1], [`^${'(a|a)'.repeat(9)}`, Infinity],
  // An optional anchor does not anchor the pattern.
  ['^?x.*y.*z', Infinity], ['^*x.*y.*z', Infinity], ['^{0}x.*y.*z', Infinity], ['^x.*y.*z', 2],
  // Unknown: back references, look-around, and everything that XPath does not have.
  ['(a*)*\\1b', Infinity], ['(a)\\1', Infinity], ['(?=a)a', Infinity], ['(?i)a', Infinity], ['a++', Infinity], ['\\Qa\\E', Infinity], ['(?<x>a)\\k<x>', Infinity],
  ['(a', Infinity], ['a)', Infinity], ['[a', Infinity], ['*a', Infinity], ['x'.repeat(1001), Infinity], [`${'('.repeat(200)}a${')'.repeat(200)}`, Infinity],
]

const XSD = 'http://www.w3.org/2001/XMLSchema#'
const chain = (first: string, step: string, times: number): string =>
  `SELECT * { BIND(${first} AS ?x0) ${Array.from({ length: times }, (_, i) => `BIND(${step.replaceAll('?x', `?x${i}`)} AS ?x${i + 1})`).join(' ')} }`
const LAZY = 'REGEX(?o, "^(a|a)*?$")'
const LONG = `"P999999999D"^^<${XSD}dayTimeDuration>`

// prettier-ignore
const QUERIES: readonly (readonly [query: string, endless: ReturnType<typeof endlessIn>])[] = [
  [`SELECT * { ?s ?p ?o FILTER(${LAZY}) }`, 'endless-regex'],
  [`SELECT * { ?s ?p ?o BIND(${LAZY} AS ?x) }`, 'endless-regex'],
  [`SELECT (${LAZY} AS ?x) { ?s ?p ?o }`, 'endless-regex'],
  [`SELECT ?s { ?s ?p ?o } GROUP BY (${LAZY} AS ?x) ?s`, 'endless-regex'],
  [`SELECT ?s { ?s ?p ?o } GROUP BY ?s ?o HAVING(${LAZY})`, 'endless-regex'],
  [`SELECT * { ?s ?p ?o } ORDER BY ${LAZY}`, 'endless-regex'],
  [`SELECT (COUNT(IF(${LAZY}, 1, 2)) AS ?n) { ?s ?p ?o }`, 'endless-regex'],
  [`CONSTRUCT { ?s ?p ?x } WHERE { ?s ?p ?o OPTIONAL { ?o ?q ?r FILTER(!${LAZY}) } }`, 'endless-regex'],
  [`ASK { FILTER NOT EXISTS { GRAPH <urn:g> { ?s ?p ?o FILTER(${LAZY}) } } }`, 'endless-regex'],
  [`DESCRIBE ?s { { SELECT ?s { ?s ?p ?o MINUS { ?s ?q ?o FILTER(${LAZY}) } } } }`, 'endless-regex'],
  ['SELECT * { ?s ?p ?o FILTER(STRLEN(REPLACE(?o, "(a*)*b", "")) > 1) }', 'endless-regex'],
  ['SELECT * { ?s ?p ?o FILTER(REGEX("abc", ?o)) }', 'endless-regex'],
  ['SELECT * { VALUES ?r { "a" "(a|a)*?b" } ?s ?p ?o FILTER(REGEX(?o, ?r)) }', 'endless-regex'],
  ['SELECT * { VALUES ?r { "a" } ?s ?p ?o , ?r FILTER(REGEX(?o, ?r)) }', 'endless-regex'],
  ['SELECT * { BIND("(a|a)*?b" AS ?r) ?s ?p ?o FILTER(REGEX(?o, ?r)) }', 'endless-regex'],
  ['SELECT * { ?s ?p ?o FILTER(REGEX(?o, CONCAT("a", "b"))) }', 'endless-regex'],
  ['SELECT * { ?s ?p ?o FILTER(REGEX(?o, "a", ?p)) }', 'endless-regex'],
  ['SELECT * { ?s ?p ?o FILTER(REGEX(?o, "a", "x")) }', 'endless-regex'],
  ['SELECT (REGEX(GROUP_CONCAT(?o), "a.*b") AS ?x) { ?s ?p ?o }', 'endless-regex'],
  [`SELECT * { FILTER(REGEX("${'a'.repeat(20_000)}", ".*x")) }`, 'endless-regex'],
  [`SELECT * { VALUES ?t { "${'a'.repeat(20_000)}" } FILTER(REGEX(?t, ".*x")) }`, 'endless-regex'],
  [chain('3', '?x * ?x', 20), 'growth'],
  [chain('1.3', '?x * ?x', 20), 'growth'],
  [chain(`<${XSD}integer>(1e300)`, '?x * ?x', 12), 'growth'],
  ['SELECT (?b * ?b AS ?c) { { SELECT (?a * ?a AS ?b) { { SELECT (SUM(?o * ?o * ?o * ?o * ?o * ?o * ?o * ?o * ?o) AS ?a) { ?s ?p ?o } } } } BIND(?c * ?c AS ?d) }', 'growth'],
  [chain('"aa"', 'CONCAT(?x, ?x)', 12), 'growth'],
  [chain('"aa"', 'REPLACE(?x, ".", "aa")', 12), 'growth'],
  [chain('"aa"', 'REPLACE(?x, "", "a")', 12), 'growth'],
  [chain('"ä"', 'ENCODE_FOR_URI(?x)', 12), 'growth'],
  [`SELECT (<${XSD}integer>("${'9'.repeat(100_000)}") AS ?x) {}`, 'growth'],
  [`SELECT (NOW() + ${LONG} AS ?x) {}`, 'long-duration'],
  [`SELECT * { VALUES ?d { ${LONG} } BIND(NOW() + ?d AS ?x) }`, 'long-duration'],
  [`SELECT (NOW() - <${XSD}dayTimeDuration>("PT99999999999999S") AS ?x) {}`, 'long-duration'],
  [`SELECT (NOW() - <${XSD}dayTimeDuration>(CONCAT("P99999", "9999D")) AS ?x) {}`, 'long-duration'],
  [`SELECT * { BIND(CONCAT("P99999", "9999D") AS ?d) BIND(NOW() + STRDT(?d, <${XSD}duration>) AS ?x) }`, 'long-duration'],
  [`SELECT (NOW()${' + (NOW() - ?t)'.repeat(5)} AS ?x) { ?s ?p ?t }`, 'long-duration'],
  [`SELECT * { ?s ?p ?d BIND(?d * 200 AS ?e) BIND(NOW()${' + ?e'.repeat(5)} AS ?x) }`, 'long-duration'],
  [`SELECT * { { SELECT (MAX(NOW() - ?t) AS ?e) { ?s ?p ?t } } BIND(IF(BOUND(?e), ?e, 1) AS ?f) FILTER(NOW()${' - ?f'.repeat(5)} > 1) }`, 'long-duration'],
  ...['(<urn:p>/<urn:p>)*', '(<urn:p>/^<urn:p>)+', '(<urn:p>*)*', '((<urn:p>|<urn:q>*))+', '(<urn:p>/<urn:p>?)*', '(<urn:p>/<urn:p>/<urn:p>/<urn:p>)?',
    '<urn:q>|(<urn:p>/<urn:p>/<urn:p>/<urn:p>)', '^(<urn:q>|<urn:p>*/<urn:p>*)', '<urn:q>/(<urn:p>/<urn:p>)*', '!<urn:q>/(!<urn:q>/!<urn:p>)+',
    `<urn:q>|(${Array(3).fill('(<urn:p>|<urn:p>|<urn:q>)').join('/')})`, `(${Array(501).fill('<urn:p>').join('|')})*`,
  ].map((path) => [`SELECT * { GRAPH ?g { ?s ${path} ?o } }`, 'endless-path'] as const),
  ['ASK { ?s ?p ?o FILTER NOT EXISTS { ?s (<urn:p>/<urn:p>)* ?o } }', 'endless-path'],
  // These are answered.
  ...['<urn:p>*', '(<urn:p>|^<urn:q>)*', '<urn:p>/<urn:p>/<urn:p>/<urn:p>/<urn:p>*', '<urn:a>/<urn:p>*/<urn:q>?/<urn:b>+', '<urn:p>*|<urn:q>+', '(<urn:p>?|!<urn:q>)+',
    '<urn:q>|(<urn:a>/<urn:p>*)', '(<urn:a>/<urn:b>/<urn:c>)?', '^(<urn:a>/<urn:b>*/<urn:c>/<urn:d>)', '<urn:a>|(<urn:b>/<urn:c>)|^<urn:d>',
  ].map((path) => [`SELECT * { GRAPH ?g { ?s ${path} ?o } }`, undefined] as const),
  [`SELECT (NOW() - "P7D"^^<${XSD}dayTimeDuration> AS ?x) {}`, undefined],
  ['SELECT * { ?s <urn:a> ?a ; <urn:b> ?b FILTER(?b - ?a > 5) }', undefined],
  ['SELECT * { ?s ?p ?label FILTER(REGEX(?label, "fuseki", "i")) }', undefined],
  ['SELECT * { ?s ?p ?o FILTER(REGEX(STR(?o), "^https?://")) }', undefined],
  ['SELECT * { VALUES ?r { "fuseki" "jena" } ?s ?p ?o FILTER(REGEX(?o, ?r, "i")) }', undefined],
  ['SELECT * { ?s ?p ?o FILTER(REGEX(?o, "a.b*c(", "q")) }', undefined],
  ['SELECT (REPLACE(LCASE(REPLACE(REPLACE(?o, "[^a-z]+", "-"), "^-|-$", "")), " ", "_") AS ?x) { ?s ?p ?o }', undefined],
  ['SELECT (SUM(?price * ?number * 1.19) AS ?total) { ?s <urn:a> ?price ; <urn:b> ?number }', undefined],
  ['SELECT (GROUP_CONCAT(?list; separator="\\n") AS ?all) { { SELECT ?s (GROUP_CONCAT(CONCAT(?p, "=", ?o)) AS ?list) { ?s ?p ?o } GROUP BY ?s } }', undefined],
  ['SELECT (GROUP_CONCAT(?o; separator=", ") AS ?all) { ?s ?p ?o } HAVING(REGEX(?all, "fuseki"))', undefined],
  [`SELECT * { ?s ?p ${LONG} }`, undefined],
  [`SELECT (<${XSD}dateTime>(?o) - <${XSD}dayTimeDuration>(?p) AS ?x) { ?s ?p ?o }`, undefined],
  [chain('1', '?x + 1', 30), undefined],
  ['SELECT (?a + ?b + ?c + ?d + ?e + ?f + ?g + ?h - ?i - ?j AS ?x) { ?s <urn:a> ?a , ?b , ?c , ?d , ?e , ?f , ?g , ?h , ?i , ?j }', undefined],
  ['SELECT (?a * ?b + ?c * ?d - (?e + ?f) AS ?x) (NOW() - (NOW() - ?t) AS ?y) { ?s <urn:a> ?a , ?b , ?c , ?d , ?e , ?f , ?t }', undefined],
  [`SELECT (NOW()${' + ?d'.repeat(10)} AS ?x) { ?s ?p ?d }`, undefined],
]

void t.test('the degree of the time that regular expressions take', async (t) => {
  const row = rowsOf(t, 'none')
  for (const [pattern, degree, flags = ''] of DEGREES) {
    await row(`${pattern.slice(0, 60)} ${flags}: ${degree}`, (t) => t.equal(regexWaysOf(pattern, flags).degree, degree))
  }
})

void t.test('expressions that may never end', async (t) => {
  const row = rowsOf(t, 'none')
  for (const [query, endless] of QUERIES) {
    await row(`${query.slice(0, 120)}: ${endless ?? 'answered'}`, (t) => t.equal(endlessIn(read(query)!.body), endless))
  }
})
