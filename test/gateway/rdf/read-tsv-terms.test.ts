// Terms in TSV as stores write them (SPARQL 1.1 TSV §4): numbers may be abbreviated, in triple terms too.
import t from 'tap'
import { nTriplesTerm } from '../../../gateway/rdf/graph.js'
import { readTsvTerm } from '../../../gateway/rdf/read-sparql-results.js'
import { XSD } from '../../../gateway/rdf/vocabulary.js'

const typed = (value: string, type: string): string => `"${value}"^^<${XSD(type)}>`

const ROWS: readonly (readonly [field: string, term: string | undefined])[] = [
  ['<urn:a>', '<urn:a>'],
  ['042', typed('042', 'integer')],
  ['-1.50', typed('-1.50', 'decimal')],
  ['<<( <urn:a> <urn:b> 042 )>>', `<<( <urn:a> <urn:b> ${typed('042', 'integer')} )>>`],
  ['<<( _:a <urn:b> 1.5e0 )>>', `<<( _:a <urn:b> ${typed('1.5e0', 'double')} )>>`],
  ['<<( <urn:a> <urn:b> <<( <urn:a> <urn:b> true )>> )>>', `<<( <urn:a> <urn:b> <<( <urn:a> <urn:b> ${typed('true', 'boolean')} )>> )>>`],
  ['<<( <urn:a> <urn:b> " 1 \\" 2 "@en )>>', '<<( <urn:a> <urn:b> " 1 \\" 2 "@en )>>'],
  [`<<( <urn:a> <urn:b> ${typed('1', 'int')} )>>`, `<<( <urn:a> <urn:b> ${typed('1', 'int')} )>>`],
  ['<<( <urn:a> <urn:b> 1x )>>', undefined],
  ['<<( 1 <urn:b> 1 )>>', undefined],
] // prettier-ignore

void t.test('terms', (t) => {
  for (const [field, term] of ROWS) {
    const read = readTsvTerm(field)
    t.equal(read && nTriplesTerm(read), term, field)
  }
  t.end()
})
