// Constraints of the ontologies (spec 4.1, 422): SHACL shapes on the state that a write would give, the report, and the
// types that an update must not remove.
import t from 'tap'
import { Parser } from 'n3'
import { flawOf, type Quad } from '../../../gateway/rdf/graph.js'
import { isFailure } from '../../../policies/failure.js'
import type { ConstraintOutcome } from '../../../policies/constraints/constraints.js'
import { constraintsIn } from '../../../policies/constraints/presence.js'
import { typeLost } from '../../../policies/constraints/type-lost.js'
import { checkAgainst } from '../../support/constraints.js'

const PREFIXES = `@prefix : <http://e.example/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
  @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
  @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . `
const read = (turtle: string): Quad[] => new Parser().parse(PREFIXES + turtle)
const check = (ontologies: string, document: string): ConstraintOutcome =>
  checkAgainst(read(ontologies), 'http://e.example/elsewhere')(read(document))

const SH = 'http://www.w3.org/ns/shacl#'
/** The violations of a report as `focus component`, sorted; else `conforms` or `unusable`. */
function summary(outcome: ConstraintOutcome): string {
  if (isFailure(outcome)) return outcome.failure
  if (outcome.conforms) return 'conforms'
  const local = (iri: string) => iri.replace(/^.*[/#]/, '')
  const of = (subject: Quad['subject'], property: string) =>
    outcome.report.find((q) => q.subject.equals(subject) && q.predicate.value === SH + property)!.object.value
  return outcome.report
    .filter(({ predicate }) => predicate.value === `${SH}result`)
    .map(({ object: result }) => result as Quad['subject'])
    .map((result) => {
      const component = local(of(result, 'sourceConstraintComponent')).replace('ConstraintComponent', '')
      return `${local(of(result, 'focusNode'))} ${component}`
    })
    .sort()
    .join(', ')
}
const property = (constraint: string, target = 'sh:targetClass :C'): string =>
  `:S ${target} ; sh:property [ sh:path :p ; ${constraint} ] .`

const required = property('sh:minCount 1')
const requiredFor = (target: string): string => property('sh:minCount 1', target)
const requiredInteger = property('sh:minCount 1 ; sh:datatype xsd:integer')
const ofClassD = property('sh:class :D')
const sub = (type: string, superclass: string): string => `:${type} rdfs:subClassOf :${superclass} .`
const min = (path: string): string => `sh:property [ sh:path ${path} ; sh:minCount 1 ]`
const ignored = 'sh:closed true ; sh:ignoredProperties ( rdf:type )'
const integers = ':S sh:targetObjectsOf :q ; sh:datatype xsd:integer .'
const closed = `:S sh:targetClass :C ; ${ignored} ; sh:property [ sh:path :p ] .`
const onlyTypeC = ':S sh:targetClass :D ; sh:property [ sh:path rdf:type ; sh:in ( :C ) ] .'
const several = ':x a :C . :y a :C ; :p "a", 1, "b" . :z a :C ; :p 3 .'
const violation = required.replace(':S', ':T').replace('sh:path :p', 'sh:path :q')
const warningAndViolation = `${property('sh:minCount 1 ; sh:severity sh:Warning')} ${violation}`
const oneOfTwo = ':x a :C . :y a :C ; :q 1 .'
const circle = [sub('C', 'D'), sub('D', 'C'), sub('E', 'D')].join(' ')
const circleAB = [sub('A', 'B'), sub('B', 'A')].join(' ')
const metaCircle = 'rdfs:Class rdfs:subClassOf owl:Class . owl:Class rdfs:subClassOf rdfs:Class .'

void t.test('documents against shapes', (t) => {
  // prettier-ignore
  const rows: [name: string, ontologies: string, document: string, expected: string][] = [
    ['minCount', property('sh:minCount 1'), ':x a :C .', 'x MinCount'],
    ['minCount, satisfied', property('sh:minCount 1'), ':x a :C ; :p 1 .', 'conforms'],
    ['maxCount', property('sh:maxCount 1'), ':x a :C ; :p 1, 2 .', 'x MaxCount'],
    ['maxCount of texts that differ in direction', property('sh:maxCount 1'), ':x a :C ; :p "a"@ar--rtl, "a"@ar--ltr .', 'x MaxCount'],
    ['maxCount of texts with and without a direction', property('sh:maxCount 1'), ':x a :C ; :p "a"@ar--rtl, "a"@ar .', 'x MaxCount'],
    ['maxCount of one text with a direction', property('sh:maxCount 1'), ':x a :C ; :p "a"@ar--rtl, "a"@AR--rtl .', 'conforms'],
    ['uniqueLang of texts that differ in direction', property('sh:uniqueLang true'), ':x a :C ; :p "a"@ar--rtl, "a"@ar--ltr .', 'x UniqueLang'],
    ['in', property('sh:in ( "a"@ar--rtl )'), ':x a :C ; :p "a"@ar--ltr .', 'x In'],
    ['hasValue', property('sh:hasValue "a"@ar--rtl'), ':x a :C ; :p "a"@ar--ltr .', 'x HasValue'],
    ['datatype', property('sh:datatype xsd:integer'), ':x a :C ; :p "1" .', 'x Datatype'],
    ['datatype, ill-typed', property('sh:datatype xsd:integer'), ':x a :C ; :p "one"^^xsd:integer .', 'x Datatype'],
    ['datatype, satisfied', property('sh:datatype xsd:integer'), ':x a :C ; :p 1 .', 'conforms'],
    ['pattern', property('sh:pattern "^a+$"'), ':x a :C ; :p "b", "aa" .', 'x Pattern'],
    ['class', property('sh:class :D'), ':x a :C ; :p :y . :y a :E .', 'x Class'],
    ['class of a subclass', `${ofClassD} ${sub('E', 'F')} ${sub('F', 'D')}`, ':x a :C ; :p :y . :y a :E .', 'conforms'],
    ['class of a defined resource', `${ofClassD} :red a :E . ${sub('E', 'D')}`, ':x a :C ; :p :red .', 'conforms'],
    ['closed', closed, ':x a :C ; :p 1 ; :q 2 .', 'x Closed'],
    ['closed: superclasses add no types', `${onlyTypeC} ${sub('C', 'D')}`, ':x a :C .', 'conforms'],
    ['nodeKind', ':S sh:targetClass :C ; sh:nodeKind sh:BlankNode .', ':x a :C .', 'x NodeKind'],
    ['a shape for the values', `${property('sh:node :V')} :V ${min(':q')} .`, ':x a :C ; :p :y . :y :r 1 .', 'x Node'],
    ['or', `:S sh:targetClass :C ; sh:or ( [ ${min(':p')} ] [ ${min(':q')} ] ) .`, oneOfTwo, 'x Or'],
    ['deactivated', property('sh:minCount 1 ; sh:deactivated true'), ':x a :C .', 'conforms'],

    ['targetClass by a subclass', `${required} ${sub('D', 'C')}`, ':x a :D .', 'x MinCount'],
    ['a subclass that the document defines', required, ':D rdfs:subClassOf :C . :x a :D .', 'x MinCount'],
    ['another class', required, ':x a :D .', 'conforms'],
    ['targetNode', requiredFor('sh:targetNode :x'), ':x a :D .', 'x MinCount'],
    ['targetNode of another document', requiredFor('sh:targetNode :elsewhere'), ':x :q :elsewhere .', 'conforms'],
    ['targetSubjectsOf', requiredFor('sh:targetSubjectsOf :q'), ':x :q 1 .', 'x MinCount'],
    ['targetObjectsOf, described here', requiredFor('sh:targetObjectsOf :q'), ':x :q :y . :y a :D .', 'y MinCount'],
    ['targetObjectsOf, described elsewhere', requiredFor('sh:targetObjectsOf :q'), ':x :q :elsewhere .', 'conforms'],
    ['targetObjectsOf, a literal', integers, ':x :q "one" .', 'one Datatype'],
    ['a class as shape (SHACL §2.1.3.3)', `:C a rdfs:Class, sh:NodeShape ; ${min(':p')} .`, ':x a :C .', 'x MinCount'],
    ['an OWL class as a shape', `:C a owl:Class, sh:NodeShape ; ${min(':p')} .`, ':x a :C .', 'x MinCount'],
    ['the nodes of the ontologies are not checked', `${required} :individual a :C .`, ':x a :D .', 'conforms'],
    ['several violations', requiredInteger, several, 'x MinCount, y Datatype, y Datatype'],

    ['a warning does not refuse', property('sh:minCount 1 ; sh:severity sh:Warning'), ':x a :C .', 'conforms'],
    ['information does not refuse', property('sh:minCount 1 ; sh:severity sh:Info'), ':x a :C .', 'conforms'],
    ['a violation beside a warning', warningAndViolation, ':x a :C .', 'x MinCount'],

    ['a class that is its own superclass', `${required} ${sub('C', 'C')}`, ':x a :C .', 'x MinCount'],
    ['classes in a circle', `${required} ${circle}`, ':x a :E . :y a :D .', 'x MinCount, y MinCount'],
    ['a circle in the document', required, `${circleAB} ${sub('B', 'C')} :x a :A .`, 'x MinCount'],
    ['a circle among the classes of classes', `${required} ${metaCircle}`, ':x a :C .', 'x MinCount'],
    ['shapes that contain themselves', `${property('sh:node :S')}`, ':x a :C ; :p :x .', 'conforms'],
    ['owl:imports are ignored', `${required} : owl:imports <http://attacker.example/> .`, ':x a :C .', 'x MinCount'],

    ['sh:target', ':S sh:target [ ] ; sh:nodeKind sh:IRI .', ':x a :C .', 'unusable'],
    ['a malformed pattern', property('sh:pattern "("'), ':x a :C ; :p "a" .', 'unusable'],
    ['a malformed path', `:S sh:targetClass :C ; ${min('[ ]')} .`, ':x a :C .', 'unusable'],
    ['a malformed path, where no node is checked', `:S sh:targetClass :C ; ${min('[ ]')} .`, ':x a :D .', 'conforms'],
    ['sh:entailment', `${required} : sh:entailment :E .`, ':x a :D .', 'unusable'],
    ['a constraint that is not known', property('sh:memberShape :V'), ':x a :C .', 'unusable'],
    ['two values where only one is allowed', property('sh:minCount 1, 2'), ':x a :C .', 'unusable'],
    ['a malformed list', property('sh:in [ rdf:first 1 ]'), ':x a :C ; :p 1 .', 'unusable'],
    ['a list that is a ring', `${property('sh:in _:l')} _:l rdf:first 1 ; rdf:rest _:l .`, ':x a :C ; :p 1 .', 'unusable'],
  ]
  for (const [name, ontologies, document, expected] of rows) {
    t.equal(summary(check(ontologies, document)), expected, name)
  }
  t.end()
})

const at = (path: string, constraint = 'sh:minCount 1'): string =>
  `:S sh:targetClass :C ; sh:property [ sh:path ${path} ; ${constraint} ] .`
/** A blank node of an ontology document as it is stored. */
const NAMED = '<http://e.example/o/#id0c6a1d0e-9a55-4d0a-8d1c-0123456789ab>'

void t.test('paths (SHACL §2.3.1)', (t) => {
  // prettier-ignore
  const rows: [ontologies: string, document: string, expected: string][] = [
    [at('[ sh:inversePath :p ]'), ':x a :C . :y :p :x .', 'conforms'],
    [at('[ sh:inversePath :p ]'), ':x a :C ; :p :y .', 'x MinCount'],
    [at('( :p :q )'), ':x a :C ; :p [ :q 1 ] .', 'conforms'],
    [at('( :p :q )'), ':x a :C ; :p [ :r 1 ] .', 'x MinCount'],
    [at('[ sh:alternativePath ( :q :r ) ]'), ':x a :C ; :r 1 .', 'conforms'],
    [at('[ sh:zeroOrOnePath :p ]'), ':x a :C .', 'conforms'],
    [at('[ sh:oneOrMorePath :p ]'), ':x a :C .', 'x MinCount'],
    [at('[ sh:inversePath ( :p :q ) ]'), ':x a :C . :y :p :z . :z :q :x .', 'conforms'],
    [at('[ sh:inversePath [ sh:alternativePath ( :p :q ) ] ]'), ':x a :C . :y :q :x .', 'conforms'],
    [at('[ sh:inversePath [ sh:inversePath :p ] ]'), ':x a :C ; :p 1 .', 'conforms'],
    [at('( [ sh:inversePath :p ] [ sh:inversePath :q ] )'), ':x a :C . :y :p :x . :z :q :y .', 'conforms'],
    [at('( [ sh:zeroOrMorePath :p ] :r )'), ':x a :C ; :p :y . :y :p :x ; :r 1 .', 'conforms'],
    [at('( [ sh:oneOrMorePath :p ] :q )', 'sh:hasValue 1'), ':x a :C ; :p :y . :y :p [ :q 1 ] .', 'conforms'],
    [at('( rdf:type [ sh:zeroOrMorePath rdfs:subClassOf ] )', 'sh:hasValue :D') + sub('C', 'D'), ':x a :C .', 'conforms'],
    [at(NAMED) + `${NAMED} sh:inversePath :p .`, ':x a :C . :y :p :x .', 'conforms'],
    [at(NAMED) + `${NAMED} sh:inversePath :p .`, ':x a :C ; :p 1 .', 'x MinCount'],
    [at('( :p )'), ':x a :C ; :p 1 .', 'unusable'],
    [at('"p"'), ':x a :C .', 'unusable'],
    [at('_:p') + ' _:p sh:inversePath _:p .', ':x a :C .', 'unusable'],
    [at('_:0') + Array.from({ length: 20 }, (_, i) => ` _:${i} sh:alternativePath ( _:${i + 1} _:${i + 1} ) .`).join(''), ':x a :C .', 'unusable'],
  ]
  for (const [ontologies, document, expected] of rows)
    t.equal(summary(check(ontologies, document)), expected, ontologies)
  t.end()
})

void t.test('repetitions within repetitions reach each node once (SPARQL 1.1 §18.4)', (t) => {
  const nodes = Array.from({ length: 20 }, (_, i) => i)
  const document = `:n0 a :C . ${nodes.flatMap((i) => nodes.map((j) => `:n${i} :p :n${j} ; :q :n${j} .`)).join(' ')}`
  const kinds: readonly ((inner: string) => string)[] = [
    (inner) => `[ sh:zeroOrMorePath [ sh:alternativePath ( ${inner} ${inner} ) ] ]`,
    (inner) => `[ sh:oneOrMorePath [ sh:alternativePath ( ${inner} :q ) ] ]`,
    (inner) => `[ sh:zeroOrMorePath ( [ sh:zeroOrOnePath ${inner} ] [ sh:inversePath ${inner} ] ) ]`,
  ]
  for (const wrap of kinds) {
    const path = Array.from({ length: 5 }, () => wrap).reduce((inner, wrapped) => wrapped(inner), ':p')
    for (const [most, expected] of [
      [20, 'conforms'],
      [19, 'n0 MaxCount'],
    ] as const) {
      t.equal(summary(check(at(path, `sh:minCount 20 ; sh:maxCount ${most}`), document)), expected, path)
    }
  }
  t.end()
})

void t.test('a shape that many shapes share looks at each node once', (t) => {
  const levels = Array.from({ length: 40 }, (_, i) => i)
  const under = (i: number, kind: string, severity: string, more = ''): string =>
    `:S${i} sh:path :p ; sh:severity sh:${severity} ; sh:minCount 2 ${more}; ${kind} [ sh:path :p ; sh:property :S${i + 1} ] , [ sh:path :p ; sh:property :S${i + 1} ] .`
  const shaped = (kind: string, severity: string, more?: (i: number) => string): string =>
    `:S sh:targetClass :C ; sh:property :S0 . ${levels.map((i) => under(i, kind, severity, more?.(i))).join(' ')}`
  const back = (i: number): string => `; sh:node :S${i >> 1} `
  // prettier-ignore
  const rows: readonly (readonly [name: string, shapes: string, document: string, expected: string])[] = [
    ['properties, warnings', shaped('sh:property', 'Warning'), ':x a :C ; :p :x .', 'conforms'],
    ['nodes, warnings', shaped('sh:node', 'Warning'), ':x a :C ; :p :x .', 'conforms'],
    ['properties, violations: the first hundred are reported', shaped('sh:property', 'Violation'), ':x a :C ; :p :x .', Array(100).fill('x MinCount').join(', ')],
    ['shapes in circles', shaped('sh:property', 'Warning', back), ':x a :C ; :p :x .', 'conforms'],
    ['shapes in circles, satisfied', shaped('sh:property', 'Violation', back), ':x a :C ; :p :x, :y . :y :p :x, :y .', 'conforms'],
  ]
  for (const [name, shapes, document, expected] of rows) t.equal(summary(check(shapes, document)), expected, name)

  const blamed = `:S sh:targetClass :C ; sh:node :T ; sh:property :P .
    :P sh:path :p ; sh:minCount 1 ; sh:severity sh:Warning . :T sh:node :S ; sh:property :Q . :Q sh:path :q ; sh:minCount 1 .`
  t.equal(summary(check(blamed, ':x a :C .')), 'x Node', 'a node wrongly assumed to conform refuses the document')
  t.end()
})

void t.test('literals (SHACL §4.1.2, §4.3, §4.4)', (t) => {
  // prettier-ignore
  const rows: [constraint: string, value: string, conforms: boolean][] = [
    ['sh:datatype xsd:byte', '"128"^^xsd:byte', false],
    ['sh:datatype xsd:date', '"2024-02-30"^^xsd:date', false],
    ['sh:datatype xsd:date', '"2024-02-29"^^xsd:date', true],
    ['sh:datatype xsd:integer', '" 1"^^xsd:integer', false],
    ['sh:datatype xsd:int', '"05"^^xsd:int', true],
    ['sh:datatype xsd:decimal', '"1.50"^^xsd:decimal', true],
    ['sh:datatype rdf:langString', '"a"@en', true],
    ['sh:minInclusive 5', '"5.0"^^xsd:double', true],
    ['sh:minExclusive 5', '"5.00000000000000000001"^^xsd:decimal', true],
    ['sh:maxInclusive 10', '"9"', false],
    ['sh:maxInclusive 100000000000000000000', '99999999999999999999', true],
    ['sh:minInclusive "2000-01-01"^^xsd:date', '"1999-12-31"^^xsd:date', false],
    ['sh:minInclusive "2000-01-01T00:00:00Z"^^xsd:dateTime', '"2000-01-01T00:30:00+01:00"^^xsd:dateTime', false],
    ['sh:minInclusive "2000-01-01T00:00:00Z"^^xsd:dateTime', '"2000-01-01T00:30:00"^^xsd:dateTime', false],
    ['sh:minInclusive "2000-01-01T00:00:00Z"^^xsd:dateTime', '"2000-01-01T14:00:00"^^xsd:dateTime', false],
    ['sh:minInclusive "2000-01-01T00:00:00Z"^^xsd:dateTime', '"2000-01-01T14:00:01"^^xsd:dateTime', true],
    ['sh:minInclusive "2000-01-01T00:00:00"^^xsd:dateTime', '"2000-01-01T14:00:01Z"^^xsd:dateTime', true],
    ['sh:maxExclusive "2000-01-01T00:00:00Z"^^xsd:dateTime', '"1999-12-31T10:00:00"^^xsd:dateTime', false],
    ['sh:maxExclusive "2000-01-01T00:00:00Z"^^xsd:dateTime', '"1999-12-31T09:59:59"^^xsd:dateTime', true],
    ['sh:minInclusive "2000-01-01"^^xsd:date', '"2000-01-01Z"^^xsd:date', false],
    ['sh:minInclusive "2000-01-01"^^xsd:date', '"2000-01-02Z"^^xsd:date', true],
    ['sh:maxInclusive "23:00:00Z"^^xsd:time', '"09:00:00"^^xsd:time', false],
    ['sh:maxInclusive "23:00:00Z"^^xsd:time', '"08:59:59"^^xsd:time', true],
    ['sh:maxInclusive "2000"^^xsd:gYear', '"1998Z"^^xsd:gYear', true],
    ['sh:lessThan :q', '"2000-01-01T00:00:00Z"^^xsd:dateTime ; :q "2020-01-01T00:00:00"^^xsd:dateTime', true],
    ['sh:lessThanOrEquals :q', '"2020-01-01T00:00:00Z"^^xsd:dateTime ; :q "2000-01-01T00:00:00"^^xsd:dateTime', false],
    ['sh:maxInclusive "P1Y"^^xsd:yearMonthDuration', '"P13M"^^xsd:yearMonthDuration', false],
    ['sh:minInclusive "B"', '"a"', true],
    ['sh:minInclusive 1', ':iri', false],
    ['sh:maxLength 1', '"😀"', true],
    ['sh:minLength 2', '"😀"', false],
    ['sh:minLength 1', '[]', false],
    ['sh:pattern "^\\\\p{L}+$"', '"Ünder"', true],
    ['sh:pattern "^\\\\d{2}\\\\-\\\\d$"', '"12-3"', true],
    ['sh:pattern "a b" ; sh:flags "xi"', '"AB"', true],
    ['sh:pattern "a.b" ; sh:flags "q"', '"acb"', false],
    ['sh:pattern "^\\\\w+$"', '"Müller"', true],
    ['sh:pattern "^\\\\i\\\\c*$"', '"a-1"', true],
    ['sh:pattern "^http"', '<http://e.example/>', true],
    ['sh:languageIn ( "en" )', '"a"@EN-gb', true],
    ['sh:languageIn ( "en" )', '"a"@eng', false],
    ['sh:nodeKind sh:BlankNode', '[]', true],
    ['sh:nodeKind sh:BlankNode', ':y', false],
    ['sh:nodeKind sh:IRI', '[]', false],
    ['sh:hasValue "a"@EN', '"a"@en', true],
    ['sh:in ( 1 )', '"01"^^xsd:integer', false],
    ['sh:singleLine true', '"a\\nb"', false],
  ]
  for (const [constraint, value, conforms] of rows) {
    const outcome = check(property(constraint), `:x a :C ; :p ${value} .`)
    t.equal(
      !isFailure(outcome) && outcome.conforms,
      conforms,
      `${constraint} of ${value}${isFailure(outcome) ? outcome.detail : ''}`,
    )
  }
  t.end()
})

void t.test('the report contains the violations and nothing else', (t) => {
  const path = '[ sh:alternativePath ( :p [ sh:inversePath :q ] ) ]'
  const ontologies = `:S sh:targetClass :C ;
    sh:property [ sh:path :p ; sh:datatype xsd:integer ; sh:message "A number."@en ] ,
      [ sh:path ${path} ; sh:maxCount 0 ] .`
  const outcome = check(ontologies, ':x a :C ; :p "secret" . :y a :C . :z :p "other" .')
  const report = isFailure(outcome) || outcome.conforms ? [] : outcome.report
  const valuesOf = (name: string) =>
    report.filter(({ predicate }) => predicate.value === SH + name).map(({ object }) => object.value)
  t.same(valuesOf('conforms'), ['false'])
  t.equal(valuesOf('result').length, 2)
  t.same(valuesOf('focusNode'), ['http://e.example/x', 'http://e.example/x'], 'only nodes that violate')
  t.same(valuesOf('value'), ['secret'])
  t.ok(valuesOf('resultMessage').includes('A number.'))
  t.ok(valuesOf('resultPath').includes('http://e.example/p'))
  t.equal(valuesOf('alternativePath').length, 1, 'the path is reported unchanged')
  t.equal(valuesOf('inversePath').length, 1)
  t.same(valuesOf('resultSeverity'), [`${SH}Violation`, `${SH}Violation`])
  t.same(valuesOf('sourceShape'), [], 'a shape without an IRI is not named')
  t.same(report.map(flawOf).filter(Boolean), [], 'every triple can be written')
  const subjects = report.filter(({ subject }) => subject.termType === 'NamedNode')
  t.same(subjects, [], 'no triple of the document or the ontologies')

  const named = check(':S sh:targetClass :C ; sh:nodeKind sh:Literal .', ':x a :C .')
  const said = isFailure(named) || named.conforms ? [] : named.report.map(({ object }) => object.value)
  t.ok(said.includes('http://e.example/S'), 'a shape with an IRI is named')
  t.end()
})

void t.test('one check serves many documents, independently of one another', (t) => {
  const run = checkAgainst(read(property('sh:minCount 1 ; sh:maxCount 1')))
  for (let i = 0; i < 3; i++) {
    t.equal(summary(run(read(`:x${i} a :C .`))), `x${i} MinCount`)
    t.equal(summary(run(read(`:x${i} a :C ; :p ${i} .`))), 'conforms')
  }
  const many = Array.from({ length: 150 }, (_, i) => `:x${i} a :C .`).join(' ')
  t.equal(summary(run(read(many))).split(', ').length, 100, 'the first hundred are reported')
  t.end()
})

void t.test('a long value makes no report that is many times as long', (t) => {
  const long = 'x'.repeat(400_000)
  const rows: readonly (readonly [name: string, shape: string, results: number])[] = [
    ['a value of many nodes', 'sh:path (:p :q) ; sh:maxLength 9', 3],
    ['a message that names it often', `sh:path :r ; sh:maxLength 9 ; sh:message "${'{$value}'.repeat(50)}"`, 1],
  ]
  const document = `${Array.from({ length: 50 }, (_, i) => `:x${i} a :C ; :p :y .`).join(' ')} :y :q "${long}" . :x0 :r "${long}" .`
  for (const [name, shape, results] of rows) {
    const outcome = check(`:S sh:targetClass :C ; sh:property [ ${shape} ] .`, document)
    const report = isFailure(outcome) || outcome.conforms ? [] : outcome.report
    t.equal(report.filter(({ predicate }) => predicate.value === `${SH}result`).length, results, name)
    t.ok(report.reduce((sum, { object }) => sum + object.value.length, 0) < 4 * long.length, name)
  }
  const pairs = Array.from({ length: 2_000 }, (_, i) => `:x :p ${i + 2_000} ; :q ${i} .`).join(' ')
  const outcome = check(':S sh:targetSubjectsOf :p ; sh:property [ sh:path :p ; sh:lessThan :q ] .', pairs)
  t.equal(summary(outcome).split(', ').length, 100, 'of pairs that are not in order, the first hundred')
  t.end()
})

void t.test('no shapes, no check', (t) => {
  t.equal(constraintsIn(read(':C a owl:Class ; rdfs:subClassOf :D . :x a :C .')), false)
  t.equal(constraintsIn(read(property('sh:minCount 1'))), true)
  t.equal(constraintsIn(read(':S sh:targetClass :C .')), true)
  t.equal(summary(check(':C a owl:Class .', ':x a :C .')), 'conforms')
  t.end()
})

void t.test('an update must not remove the types of a resource', (t) => {
  const rows: [name: string, before: string, after: string, lost: string | undefined][] = [
    ['nothing changes', ':x a :C ; :p 1 .', ':x a :C ; :p 1 .', undefined],
    ['the type is removed, a property stays', ':x a :C ; :p 1 .', ':x :p 1 .', 'x'],
    ['the type is removed, a property is added', ':x a :C .', ':x :p 1 .', 'x'],
    ['the resource is removed', ':x a :C ; :p 1 . :y a :C .', ':y a :C .', undefined],
    ['the type is replaced', ':x a :C ; :p 1 .', ':x a :D ; :p 1 .', undefined],
    ['one of two types is removed', ':x a :C, :D ; :p 1 .', ':x a :D ; :p 1 .', undefined],
    ['the resource never had a type', ':x :p 1 .', ':x :p 2 .', undefined],
    ['the resource is only an object afterwards', ':x a :C . :y :p :x .', ':y :p :x .', undefined],
    ['one of many resources', ':x a :C ; :p 1 . :y a :C ; :p 1 .', ':x a :C ; :p 1 . :y :p 1 .', 'y'],
    ['all triples are removed', ':x a :C .', '', undefined],
  ]
  for (const [name, before, after, lost] of rows) {
    t.equal(typeLost(read(before), read(after)), lost && `http://e.example/${lost}`, name)
  }
  t.end()
})
