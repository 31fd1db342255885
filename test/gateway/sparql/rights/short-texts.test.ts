// Expressions that take quadratic time get a condition on the length of their texts; all others stay unchanged.
import t from 'tap'
import { queryText } from '../../../../gateway/sparql/language/print.js'
import { withShortTexts } from '../../../../gateway/sparql/rights/short-texts.js'
import { read } from '../../../support/over-views.js'
import { rowsOf } from '../../../support/stores.js'

const XSD = 'http://www.w3.org/2001/XMLSchema#'
const short = (text: string, most = 32_768): string =>
  `IF(STRLEN(STR(${text})) <= "${most}"^^<${XSD}integer>, ${text}, COALESCE())`

// prettier-ignore
const EXPRESSIONS: readonly (readonly [expression: string, bounded?: string])[] = [
  ['REGEX(?x, "fuseki", "i")'], ['REGEX(?x, "^a.b")'], ['CONTAINS(?x, "fuseki")'], ['STRSTARTS(?x, ?y)'], ['?x = ?y'], ['?x + ?y'], [`STRDT(?x, <${XSD}date>)`],
  [`<${XSD}double>(?x)`], ['CONCAT(?x, ?y)'],
  ['REGEX(?x, "a.*b")', `REGEX(${short('?x')}, "a.*b")`],
  ['REGEX(LCASE(STR(?x)), "a.*b", "i")', `REGEX(LCASE(STR(${short('?x')})), "a.*b", "i")`],
  ['REPLACE(?x, "\\\\s+$", "")', `REPLACE(${short('?x')}, "\\\\s+$", "")`],
  ['CONTAINS(?x, ?y)', `CONTAINS(${short('?x')}, ${short('?y')})`],
  ['CONTAINS(CONCAT(?x, " ", ?y), STR(?z))', `CONTAINS(CONCAT(${short('?x', 10_922)}, " ", ${short('?y', 10_922)}), STR(${short('?z')}))`],
  ['STRBEFORE(REPLACE(?x, "a", "bbb"), ?y)', `STRBEFORE(REPLACE(${short('?x', 8192)}, "a", "bbb"), ${short('?y')})`],
  [`STRAFTER(?x, "${'a'.repeat(40_000)}")`, `STRAFTER(${short('?x')}, COALESCE())`],
  [`STRAFTER(?x, "${'a'.repeat(2000)}")`, `STRAFTER(${short('?x')}, "${'a'.repeat(2000)}")`],
  [`<${XSD}integer>(?x)`, `<${XSD}integer>(${short('?x')})`],
  [`STRDT(?x, <${XSD}integer>)`, `STRDT(${short('?x')}, <${XSD}integer>)`],
  ['STRDT(?x, ?y)', `STRDT(${short('?x')}, ?y)`],
  ['IRI(?x)', `IRI(${short('?x')})`],
]

void t.test('the texts of an expression', async (t) => {
  const row = rowsOf(t, 'none')
  const inQuery = (expression: string): string => `SELECT * WHERE { ?x ?y ?z . FILTER(${expression}) }`
  const printed = (text: string): string => queryText(read(text)!)
  for (const [expression, bounded = expression] of EXPRESSIONS) {
    await row(`${expression.slice(0, 80)}: ${bounded === expression ? 'as it is' : 'bounded'}`, (t) => {
      t.equal(queryText(withShortTexts(read(inQuery(expression))!)), printed(inQuery(bounded)))
    })
  }
})
