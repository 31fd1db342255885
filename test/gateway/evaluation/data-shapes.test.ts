// W3C's tests of SHACL (github.com/w3c/data-shapes), if TRIPLEGATE_TEST_DATA_SHAPES names their folder, which has core/
// and sparql/. The shapes graph is the ontology, the data graph the document.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { Parser } from 'n3'
import type { Quad, Term } from '../../../gateway/rdf/graph.js'
import { isFailure } from '../../../policies/failure.js'
import { indexOf, termKeyOf, type TripleIndex } from '../../../policies/constraints/graph.js'
import { checkAgainst } from '../../support/constraints.js'

const folder = process.env.TRIPLEGATE_TEST_DATA_SHAPES
const SH = 'http://www.w3.org/ns/shacl#'
const SHT = 'http://www.w3.org/ns/shacl-test#'
const MF = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#'

/** The expected results of tests that differ by design. */
const BY_DESIGN: Readonly<Record<string, string>> = {
  // Queries read only the document: $shapesGraph, which is optional (SHACL §5.3.1), is refused.
  'sparql/pre-binding/shapesGraph-001': 'unusable',
}

const read = (file: string): Quad[] =>
  new Parser({ baseIRI: pathToFileURL(file).href }).parse(readFileSync(file, 'utf8'))

const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ttl') && basename(name) !== 'manifest.ttl')
    .sort()

/** The results that refuse a document, as text without blank node labels. */
function resultsIn(report: Term, index: TripleIndex): readonly string[] {
  const structure = (node: Term, depth = 0): string => {
    if (node.termType !== 'BlankNode' || depth > 20) return termKeyOf(node)
    const said = index.about(node).map(({ predicate, object }) => `${predicate.value} ${structure(object, depth + 1)}`)
    return `[${said.sort().join(' ; ')}]`
  }
  const one = (result: Term, name: string): Term | undefined => index.objects(result, SH + name)[0]
  return index
    .objects(report, `${SH}result`)
    .filter((result) => one(result, 'resultSeverity')?.value === `${SH}Violation`)
    .map((result) => {
      const path = one(result, 'resultPath')
      const terms = ['focusNode', 'value', 'sourceConstraintComponent'].map((name) => one(result, name))
      const words = terms.map((term) => (term?.termType === 'BlankNode' ? '_:' : term ? termKeyOf(term) : '-'))
      return [...words, path ? structure(path) : '-'].join(' ')
    })
    .sort()
}

void t.test("W3C's tests of SHACL", { skip: !folder && 'TRIPLEGATE_TEST_DATA_SHAPES names no folder' }, (t) => {
  for (const name of filesIn(folder!)) {
    const file = join(folder!, name)
    const triples = read(file)
    const index = indexOf(triples)
    for (const test of index.subjects('http://www.w3.org/1999/02/22-rdf-syntax-ns#type', {
      termType: 'NamedNode',
      value: `${SHT}Validate`,
    } as Term)) {
      const action = index.objects(test, `${MF}action`)[0]!
      const graphOf = (kind: string): readonly Quad[] => {
        const url = index.objects(action, SHT + kind)[0]!.value
        return url === pathToFileURL(file).href ? triples : read(new URL(url).pathname)
      }
      const expected = index.objects(test, `${MF}result`)[0]!
      const wanted = expected.value === `${SHT}Failure` ? ['unusable'] : resultsIn(expected, index)
      const outcome = checkAgainst(graphOf('shapesGraph'))(graphOf('dataGraph'))
      const report = isFailure(outcome) || outcome.conforms ? [] : outcome.report
      const node = report.find(({ object }) => object.value === `${SH}ValidationReport`)?.subject
      const found = isFailure(outcome) ? ['unusable'] : node ? resultsIn(node, indexOf(report)) : []
      const detail = isFailure(outcome) ? outcome.detail : undefined
      const design = BY_DESIGN[name.replace('.ttl', '')]
      if (design === undefined) t.strictSame(found, wanted, name, { detail })
      else t.equal(found.join('\n'), design, `${name}, by design`)
    }
  }
  t.end()
})
