// Canonical N-Triples and graphs as values: RDF 1.2 N-Triples §4, order of bytes.
import t from 'tap'
import fc from 'fast-check'
import { compareAsBytes } from '../../../gateway/rdf/graph.js'

void t.test('lines are ordered as LC_ALL=C sort orders them', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b))
      return Math.sign(compareAsBytes(a, b)) === expected
    }),
  )
  t.pass()
})
