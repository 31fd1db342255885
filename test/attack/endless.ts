// In charge of attacks by one short query: an expression that the store does not interrupt, so that a thread of it works for ever.
import type { Attack } from './run-row.js'
import { answered } from './availability.js'

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
  ['replace', `SELECT (REPLACE("${A}!", "^(a+)+?$", "b") AS ?x) {}`],
  ['squares', chain('3', '?x * ?x')],
  ['texts-doubled', chain('"aaaa"', 'CONCAT(?x, ?x)')],
  ['texts-replaced', chain('"aaaa"', 'REPLACE(?x, ".", "aa")')],
  ['long-duration', `SELECT (NOW() + "P999999999D"^^<${XSD}dayTimeDuration> AS ?x) {}`],
  ['long-number', `SELECT (<${XSD}integer>("${'9'.repeat(1_000_000)}") + 1 AS ?x) {}`],
]
const USUAL = `SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(REGEX(STR(?o), "fuseki", "i")) BIND(NOW() - "P7D"^^<${XSD}dayTimeDuration> AS ?week) }`

// prettier-ignore
export const ENDLESS: readonly Attack[] = QUERIES.map(([name, query]) => ({
  name: `endless-${name}`, section: 'availability', wanted: 'refused where the store would work for ever; usual queries are answered', needs: 'fuseki',
  run: async (place) => {
    const ask = (body: string) => place.as('stranger')('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body })
    const usual = answered([await ask(USUAL)], 200)
    return usual.wrong === undefined ? answered([await ask(query)], 403) : usual
  },
}))
