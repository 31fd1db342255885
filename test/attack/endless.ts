// Attacks by one short query: an expression that the store does not interrupt, so that it blocks a thread without end.
import type { Attack } from './run-row.js'
import { ttl } from '../support/world.js'
import { answered } from './availability.js'
import { expected } from './place.js'

const XSD = 'http://www.w3.org/2001/XMLSchema#'
const chain = (first: string, step: string): string =>
  `SELECT * { BIND(${first} AS ?x0) ${Array.from({ length: 24 }, (_, i) => `BIND(${step.replaceAll('?x', `?x${i}`)} AS ?x${i + 1})`).join(' ')} }`
const A = 'a'.repeat(40)

// prettier-ignore
const QUERIES: readonly (readonly [name: string, query: string])[] = [
  ['lazy-group', `ASK { FILTER(REGEX("${A}!", "^(a|a)*?$")) }`],
  ['back-reference', `ASK { FILTER(REGEX("${A}!", "^(a*)*\\\\1b$")) }`],
  ['nested-repetition', `SELECT (REGEX("${A}${A}!", "^((a|aa)+b?)+$") AS ?x) {}`],
  ['many-options', `SELECT * {} ORDER BY REGEX("${A}", "${'a?'.repeat(40)}${A}")`],
  ['adjacent-repetitions', `SELECT * { { SELECT (GROUP_CONCAT(?o) AS ?all) { ?s ?p ?o } } FILTER(REGEX(?all, ".*.*.*.*x")) }`],
  ['pattern-from-data', `SELECT * { BIND(CONCAT("^(a|a)", "*?$") AS ?r) FILTER(REGEX("${A}!", ?r)) }`],
  ['optional-group', `SELECT (REGEX("${A}!", "^((a|a)*b)?") AS ?x) {}`],
  ['many-alternatives', `SELECT (REGEX("${A}!", "(${'a|'.repeat(29)}a){8}c") AS ?x) {}`],
  ['path-of-paths', `SELECT * { GRAPH ?g { ?s (((!<urn:x>|^!<urn:x>)/(!<urn:x>|^!<urn:x>))*)* ?o } }`],
  ['path-of-many-ways', `SELECT * { GRAPH ?g { ?s (${Array(20).fill('(!<urn:x>|^!<urn:x>)').join('/')})? ?o } }`],
  ['replace', `SELECT (REPLACE("${A}!", "^(a+)+?$", "b") AS ?x) {}`],
  ['squares', chain('3', '?x * ?x')],
  ['texts-doubled', chain('"aaaa"', 'CONCAT(?x, ?x)')],
  ['texts-replaced', chain('"aaaa"', 'REPLACE(?x, ".", "aa")')],
  ['long-duration', `SELECT (NOW() + "P999999999D"^^<${XSD}dayTimeDuration> AS ?x) {}`],
  ['differences-of-dates', `SELECT (NOW()${` + (NOW() - <${XSD}dateTime>("-2000000-01-01T00:00:00Z"))`.repeat(20)} AS ?x) {}`],
  ['long-number', `SELECT (<${XSD}integer>("${'9'.repeat(1_000_000)}") + 1 AS ?x) {}`],
]
const USUAL = `SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(REGEX(STR(?o), "fuseki", "i")) BIND(NOW() - "P7D"^^<${XSD}dayTimeDuration> AS ?week) }`

// prettier-ignore
/** Expressions on texts of the largest size that are answered: they fail on such texts, or take no longer. */
const OF_LONG_TEXTS = ['REGEX(?x, "a.*b")', 'CONTAINS(?x, ?y)', 'BOUND(?x) && xsd:integer(?z) > 5', 'ISIRI(IRI(?dots))']
const LONG_TEXTS: Attack = {
  name: 'endless-texts-of-data',
  section: 'availability',
  wanted: 'answered at once',
  needs: 'fuseki',
  async prepare(place) {
    const [path, more] = [place.path(), place.path()]
    const ofPublic = `@prefix dh: <https://www.w3.org/ns/ldt/document-hierarchy#> . <> a <urn:Public> .`
    await expected(
      place.as('owner')(
        'PUT',
        path,
        ttl(`${ofPublic} <#it> <urn:x> "${'a'.repeat(1_000_000)}" ; <urn:y> "${'a'.repeat(500_000)}b" .`),
      ),
      201,
    )
    await expected(
      place.as('owner')(
        'PUT',
        more,
        ttl(`${ofPublic} <#it> <urn:z> "${'9'.repeat(1_000_000)}" ; <urn:dots> "${'a/../'.repeat(150_000)}" .`),
      ),
      201,
    )
    await expected(
      place.as('owner')(
        'PUT',
        '/admin/acl/authorizations/long-texts/',
        ttl(
          `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode acl:Read ; acl:agent <${place.webIdOf('stranger')}> ; acl:accessToClass <urn:Public> .`,
        ),
      ),
      201,
    )
    return ''
  },
  async run(place) {
    const answers = []
    for (const expression of OF_LONG_TEXTS)
      answers.push(
        await place.as('stranger')('POST', '/sparql', {
          fields: { 'Content-Type': 'application/sparql-query' },
          body: `PREFIX xsd: <${XSD}> SELECT (${expression} AS ?found) { GRAPH ?g { ?it <urn:x> ?x ; <urn:y> ?y } GRAPH ?h { ?that <urn:z> ?z ; <urn:dots> ?dots } }`,
        }),
      )
    return answered(answers, 200)
  },
}
const LONG_NUMBER: Attack = {
  name: 'endless-number-written',
  section: 'availability',
  wanted: 'refused: the store would read it for minutes, and block all writes',
  needs: 'fuseki',
  run: async (place) =>
    answered(
      [await place.as('writer')('PUT', place.path(), ttl(`<> <urn:p> "${'9'.repeat(1_000_000)}"^^<${XSD}integer> .`))],
      413,
    ),
}

// prettier-ignore
const REFUSED: readonly Attack[] = QUERIES.map(([name, query]) => ({
  name: `endless-${name}`, section: 'availability', wanted: 'refused if the store would work for ever; usual queries are answered', needs: 'fuseki',
  run: async (place) => {
    const ask = (body: string) => place.as('stranger')('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body })
    const usual = answered([await ask(USUAL)], 200)
    return usual.wrong === undefined ? answered([await ask(query)], 403) : usual
  },
}))

export const ENDLESS: readonly Attack[] = [...REFUSED, LONG_TEXTS, LONG_NUMBER]
