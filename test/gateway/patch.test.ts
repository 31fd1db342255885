// PATCH: the forms that it takes (spec 3, 4.1, 7, 8), what a run gives, and the limits on time, memory and growth.
import t from 'tap'
import fc from 'fast-check'
import { openEvaluation, type Evaluation, type EvaluationOptions } from '../../gateway/evaluation.js'
import { graphOf, iri, literal, nTriplesOf, quad, typed, type Quad } from '../../gateway/graph.js'
import { analysePatch } from '../../gateway/patch.js'
import { isProblem, STATUS_OF, type Problem } from '../../gateway/problem.js'
import { SH, XSD } from '../../gateway/vocabulary.js'

const DOC = 'https://data.example.org/a/b/'
const statusOf = (analysed: object | Problem): number => (isProblem(analysed) ? STATUS_OF[analysed.code] : 204)

void t.test('spec 4.1, 7, 8: forms of an update and their status', async (t) => {
  const rows: [form: string, update: string, status: number, named?: string][] = [
    ['INSERT … WHERE', 'INSERT { <#i> <p> ?o } WHERE { ?s ?p ?o }', 204],
    ['INSERT … WHERE with an empty pattern', 'INSERT { <#i> <p> 1 } WHERE {}', 204],
    ['DELETE … WHERE', 'DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }', 204],
    ['DELETE … INSERT … WHERE', 'DELETE { ?s ?p ?o } INSERT { ?s ?p 1 } WHERE { ?s ?p ?o }', 204],
    ['DELETE WHERE', 'DELETE WHERE { ?s ?p ?o }', 204],
    ['BASE and PREFIX', `BASE <${DOC}x/> PREFIX : <> PREFIX a: <//h/> INSERT { :s a:p </o> } WHERE {}`, 204],
    ['lower case', 'insert { <a> <b> <c> } where { ?s ?p ?o filter(?o > 1) }', 204],
    ['a semicolon after it', 'DELETE WHERE { ?s ?p ?o } ;', 204],
    ['nothing to change', 'DELETE {} INSERT {} WHERE { ?s ?p ?o }', 204],
    ['a subquery', 'INSERT { <a> <b> ?n } WHERE { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }', 204],
    ['the whole pattern a subquery', 'DELETE { ?s ?p ?o } WHERE { SELECT * { ?s ?p ?o } ORDER BY ?o LIMIT 1 }', 204],
    ['OPTIONAL, UNION, MINUS, VALUES, BIND, FILTER EXISTS', BENIGN, 204],
    ['forbidden words in strings and comments', 'INSERT { <a> <b> "GRAPH <g> { }" } # SERVICE <s> {\nWHERE {}', 204],
    ['forbidden words in names', 'PREFIX graph: <g> INSERT { graph:with <service> ?using } WHERE { ?graph ?load ?using }', 204],

    ['an empty update', '', 422, 'empty'],
    ['a prologue and nothing else', 'PREFIX a: <b> # nothing', 422, 'empty'],
    ['INSERT DATA', 'INSERT DATA { <a> <b> <c> }', 422, 'INSERT DATA'],
    ['DELETE DATA', 'DELETE DATA { <a> <b> <c> }', 422, 'DELETE DATA'],
    ['LOAD', 'LOAD <http://attacker.example/>', 422, 'LOAD'],
    ['LOAD SILENT … INTO GRAPH', 'LOAD SILENT <http://attacker.example/> INTO GRAPH <g>', 422, 'LOAD'],
    ['CLEAR', 'CLEAR ALL', 422, 'CLEAR'],
    ['DROP', 'DROP GRAPH <g>', 422, 'DROP'],
    ['CREATE', 'CREATE GRAPH <g>', 422, 'CREATE'],
    ['COPY', 'COPY DEFAULT TO <g>', 422, 'COPY'],
    ['MOVE', 'MOVE <g> TO DEFAULT', 422, 'MOVE'],
    ['ADD', 'ADD <g> TO DEFAULT', 422, 'ADD'],
    ['two operations', 'DELETE WHERE { ?s ?p ?o } ; INSERT { <a> <b> <c> } WHERE {}', 422, '2 operations'],
    ['an operation after a good one', 'INSERT { <a> <b> <c> } WHERE {} ; DROP ALL', 422, '2 operations'],
    ['a prologue after the operation', 'INSERT { <a> <b> <c> } WHERE {} ; PREFIX a: <b>', 422, 'follow'],
    ['WITH', 'WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }', 422, 'WITH'],
    ['USING', 'DELETE { ?s ?p ?o } USING <g> WHERE { ?s ?p ?o }', 422, 'USING'],
    ['USING NAMED', 'DELETE { ?s ?p ?o } USING NAMED <g> WHERE { ?s ?p ?o }', 422, 'USING NAMED'],
    ['GRAPH in an INSERT template', 'INSERT { <a> <b> <c> . GRAPH <g> { <a> <b> <c> } } WHERE {}', 422, 'GRAPH'],
    ['an empty GRAPH in an INSERT template', 'INSERT { GRAPH <g> {} } WHERE {}', 422, 'GRAPH'],
    ['GRAPH in a DELETE template', 'DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { ?s ?p ?o }', 422, 'GRAPH'],
    ['GRAPH in DELETE WHERE', 'DELETE WHERE { ?s ?p ?o . GRAPH ?g { ?s ?p ?o } }', 422, 'GRAPH'],

    ['no SPARQL', 'this is not SPARQL', 400],
    ['half an update', 'DELETE { ?s ?p ?o } WHERE { ?s ?p', 400],
    ['a query', 'SELECT * WHERE { ?s ?p ?o }', 400],
    ['a blank node to delete', 'DELETE { _:a <p> 1 } WHERE {}', 400],
    ['an undeclared prefix', 'INSERT { x:a <p> 1 } WHERE {}', 400],
    ['an undeclared prefix that JavaScript knows', 'INSERT { toString:a <p> 1 } WHERE {}', 400],
    ['FROM in a subquery', 'INSERT { <a> <b> ?s } WHERE { { SELECT ?s FROM <g> { ?s ?p ?o } } }', 400],
    ['RDF 1.2 triple terms', 'INSERT { << <a> <b> <c> >> <p> 1 } WHERE {}', 400],
    ['an escaped brace', 'INSERT { <a> <b> <c> } WHERE \\u007B }', 400],
    ['an IRI that an escape would end', 'INSERT { <a> <b> <http://x/\\u003E> } WHERE {}', 400],
    ['nesting without end', `INSERT { <a> <b> <c> } WHERE ${'{'.repeat(50_000)}${'}'.repeat(50_000)}`, 400],
    ['brackets without end', `INSERT { <a> <b> <c> } WHERE { FILTER${'('.repeat(50_000)} }`, 400],
    ['empty lines and comments without end', `${'# \n'.repeat(50_000)}DELETE WHERE { ?s ?p ?o }`, 204],
  ]
  for (const [form, update, status, named] of rows) {
    const analysed = analysePatch(update, DOC)
    t.equal(statusOf(analysed), status, form)
    if (named) t.match((analysed as Problem).detail, named, `${form}: says what was found`)
  }
  const wrong = analysePatch('INSERT { <a> <b> <c> }\n\nWHERE {\n FILTR(1) }', DOC)
  t.match(isProblem(wrong) && wrong.detail, /“F”? ?.*line 4|line 4/, 'the line of an error is told')
})

// eslint-disable-next-line no-var -- used in the table above, which is run after this line.
var BENIGN = `DELETE { ?s ?p ?o } WHERE { ?s ?p ?o OPTIONAL { ?o ?q ?r } { ?s a <T> } UNION { ?s a <U> } MINUS { ?s a <V> }
  VALUES ?v { 1 2 } BIND(?v + 1 AS ?w) FILTER EXISTS { ?s <x>/<y>* ?z FILTER NOT EXISTS { ?z ?z ?z } } }`
