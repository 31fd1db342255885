// Refusals of updates and queries name the single part that is the reason, and suggest what to write instead.
import t from 'tap'
import { storeOnly } from '../../../../gateway/sparql/updates/answer-update.js'
import { isFailure } from '../../../../gateway/problem.js'
import { analyseUpdate } from '../../../../gateway/sparql/language/analysis.js'
import { REFUSALS } from '../../../../gateway/sparql/rights/refusals.js'
import { unboundedIn } from '../../../../gateway/sparql/rights/unbounded-expressions.js'
import { read } from '../../../support/over-views.js'
import { rowsOf } from '../../../support/stores.js'

const isShort = (detail: string): boolean => detail.split(/\s+/).filter((word) => /\w/.test(word)).length <= 25

void t.test('updates that only the store can carry out', async (t) => {
  const row = rowsOf(t, 'none')
  // prettier-ignore
  const rows: readonly (readonly [update: string, detail: RegExp])[] = [
    ['LOAD <http://e/x> INTO GRAPH <urn:x-arq:DefaultGraph>',                       /graph names of the triplestore/],
    ['INSERT { GRAPH <urn:g> { ?s ?p ?o } } WHERE { SERVICE <http://e/> { ?s ?p ?o } }', /SERVICE in an update/],
    ['INSERT { GRAPH <urn:g> { ?s ?p ?x } } WHERE { GRAPH <urn:h> { ?s ?p ?o } BIND(<http://e/f>(?o) AS ?x) }', /the function <http:\/\/e\/f>/],
    ['INSERT DATA { GRAPH <urn:x-arq:DefaultGraph> { <urn:s> <urn:p> 1 } }',        /graph names of the triplestore/],
  ]
  for (const [update, detail] of rows) {
    await row(update, (t) => {
      const analysis = analyseUpdate(update, 'http://e/')
      if (isFailure(analysis)) return t.fail(analysis.detail)
      t.equal(analysis.plan, undefined)
      const refused = storeOnly(analysis)
      t.equal(refused.failure, 'access.graphs')
      t.match(refused.detail, detail)
      t.ok(isShort(refused.detail), refused.detail)
    })
  }
})

void t.test('queries that cannot be restricted', async (t) => {
  const row = rowsOf(t, 'none')
  for (const [reason, { detail }] of Object.entries(REFUSALS)) {
    await row(`${reason}: 25 words at most`, (t) => t.ok(isShort(detail), detail))
  }
  const where = (filter: string): string => `SELECT * { ?s ?p ?o . ?s ?q ?x OPTIONAL { ?s ?r ?y FILTER(${filter}) } }`
  // prettier-ignore
  const filters: readonly (readonly [filter: string, reason: string])[] = [
    ['REGEX(?y, ?x)',                                 'regex'],
    ['STRLEN(REPLACE(?y, "(a|b)*", "")) > 3',         'regex'],
    ['?y - ?x > 0',                                   'sum'],
    ['REGEX(?o, "a") && ABS(?y + ?x) > 0',            'sum'],
    ['?y < "P1D"^^<http://www.w3.org/2001/XMLSchema#duration>', 'duration'],
    [`CONTAINS(CONCAT(?y, "${'a'.repeat(5000)}"), "b")`, 'long-text'],
  ]
  for (const [filter, reason] of filters) {
    await row(`${filter.slice(0, 60)}: ${reason}`, (t) => {
      const { body } = read(where(filter))!
      t.equal(body.form === 'DESCRIBE' ? '' : unboundedIn(body), reason)
    })
  }
})
