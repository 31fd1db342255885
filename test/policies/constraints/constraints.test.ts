// Constraints of the ontologies (spec 4.1, 422): SHACL shapes on the state that a write would give, the report, and the
// types that an update must not remove.
import t from 'tap'
import { Parser } from 'n3'
import { flawOf, type Quad } from '../../../gateway/rdf/graph.js'
import { isFailure } from '../../../policies/failure.js'
import {
  makeConstraintCheck,
  constraintsIn,
  typeLost,
  type ConstraintOutcome,
} from '../../../policies/constraints/constraints.js'

const PREFIXES = `@prefix : <http://e.example/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
  @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
  @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . `
const read = (turtle: string): Quad[] => new Parser().parse(PREFIXES + turtle)
const check = async (ontologies: string, document: string): Promise<ConstraintOutcome> =>
  (await makeConstraintCheck(read(ontologies)))(read(document))

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
const sparql = ':S sh:targetClass :C ; sh:sparql [ sh:select "SELECT $this { }" ] .'

void t.test('documents against shapes', async (t) => {
  // prettier-ignore
  const rows: [name: string, ontologies: string, document: string, expected: string][] = [
    ['minCount', property('sh:minCount 1'), ':x a :C .', 'x MinCount'],
    ['minCount, satisfied', property('sh:minCount 1'), ':x a :C ; :p 1 .', 'conforms'],
    ['maxCount', property('sh:maxCount 1'), ':x a :C ; :p 1, 2 .', 'x MaxCount'],
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
    ['targetObjectsOf, described elsewhere', requiredFor('sh:targetObjectsOf :q'), ':x :q :y .', 'conforms'],
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

    ['sh:sparql, where it applies', sparql, ':x a :C .', 'unusable'],
    ['sh:sparql, where it does not', sparql, ':x a :D .', 'conforms'],
    ['sh:target', ':S sh:target [ ] ; sh:nodeKind sh:IRI .', ':x a :C .', 'unusable'],
    ['a malformed pattern', property('sh:pattern "("'), ':x a :C ; :p "a" .', 'unusable'],
    ['a malformed path', `:S sh:targetClass :C ; ${min('[ ]')} .`, ':x a :C .', 'unusable'],
  ]
  for (const [name, ontologies, document, expected] of rows) {
    t.equal(summary(await check(ontologies, document)), expected, name)
  }
})

void t.test('the report contains the violations and nothing else', async (t) => {
  const path = '[ sh:alternativePath ( :p [ sh:inversePath :q ] ) ]'
  const ontologies = `:S sh:targetClass :C ;
    sh:property [ sh:path :p ; sh:datatype xsd:integer ; sh:message "A number."@en ] ,
      [ sh:path ${path} ; sh:maxCount 0 ] .`
  const outcome = await check(ontologies, ':x a :C ; :p "secret" . :y a :C . :z :p "other" .')
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

  const named = await check(':S sh:targetClass :C ; sh:nodeKind sh:Literal .', ':x a :C .')
  const said = isFailure(named) || named.conforms ? [] : named.report.map(({ object }) => object.value)
  t.ok(said.includes('http://e.example/S'), 'a shape with an IRI is named')
})

void t.test('one check serves many documents, independently of one another', async (t) => {
  const run = await makeConstraintCheck(read(property('sh:minCount 1 ; sh:maxCount 1')))
  for (let i = 0; i < 3; i++) {
    t.equal(summary(await run(read(`:x${i} a :C .`))), `x${i} MinCount`)
    t.equal(summary(await run(read(`:x${i} a :C ; :p ${i} .`))), 'conforms')
  }
  const many = Array.from({ length: 150 }, (_, i) => `:x${i} a :C .`).join(' ')
  t.equal(summary(await run(read(many))).split(', ').length, 100, 'the first hundred are reported')
})

void t.test('no shapes, no check', async (t) => {
  t.equal(constraintsIn(read(':C a owl:Class ; rdfs:subClassOf :D . :x a :C .')), false)
  t.equal(constraintsIn(read(property('sh:minCount 1'))), true)
  t.equal(constraintsIn(read(':S sh:targetClass :C .')), true)
  t.equal(summary(await check(':C a owl:Class .', ':x a :C .')), 'conforms')
})

void t.test('an update must not remove the types of a resource', async (t) => {
  const rows: [name: string, before: string, after: string, lost: string | undefined][] = [
    ['nothing changes', ':x a :C ; :p 1 .', ':x a :C ; :p 1 .', undefined],
    ['the type goes, a property stays', ':x a :C ; :p 1 .', ':x :p 1 .', 'x'],
    ['the type goes, a property comes', ':x a :C .', ':x :p 1 .', 'x'],
    ['the resource goes', ':x a :C ; :p 1 . :y a :C .', ':y a :C .', undefined],
    ['another type comes', ':x a :C ; :p 1 .', ':x a :D ; :p 1 .', undefined],
    ['one of two types goes', ':x a :C, :D ; :p 1 .', ':x a :D ; :p 1 .', undefined],
    ['it never had one', ':x :p 1 .', ':x :p 2 .', undefined],
    ['it is only an object', ':x a :C . :y :p :x .', ':y :p :x .', undefined],
    ['one of many', ':x a :C ; :p 1 . :y a :C ; :p 1 .', ':x a :C ; :p 1 . :y :p 1 .', 'y'],
    ['all triples go', ':x a :C .', '', undefined],
  ]
  for (const [name, before, after, lost] of rows) {
    t.equal(typeLost(read(before), read(after)), lost && `http://e.example/${lost}`, name)
  }
})
