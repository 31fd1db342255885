// N-Triples as lines: triples, malformed triples, and texts made to occupy a checker for a long time.
import t from 'tap'
import { hasBlankNode, irisIn, linesIn } from '../../../gateway/stores/n-triples-lines.js'

const same = (label: string): string => label

void t.test('a triple keeps its spelling', (t) => {
  for (const line of [
    '<urn:s> <urn:p> <urn:o> .',
    String.raw`<urn:s> <urn:p> "a\u0041\n\"b\\"^^<urn:d\u0042> .`,
    '<urn:s> <urn:p> "é\u{1f600}"@en-GB .',
    '_:b <urn:p> _:c .',
    '<urn:s> <urn:p> "a"@en-GB--ltr .',
    '_:b <urn:p> <<( _:c <urn:q> <<( <urn:s> <urn:p> "a )>> _:d"@en )>> )>> .',
  ]) {
    t.same([...linesIn(`${line}\n`, same)!], [line])
  }
  t.end()
})

void t.test('IRIs and blank nodes of a line are found in triple terms too', (t) => {
  const line = (subject: string, object: string) =>
    `<urn:s> <urn:p> <<( ${subject} <urn:q> <<( <urn:a> <urn:b> ${object} )>> )>> .`
  t.same(irisIn(line('<urn:c>', '"<urn:no> _:no"^^<urn:d>')), [
    'urn:s',
    'urn:p',
    'urn:c',
    'urn:q',
    'urn:a',
    'urn:b',
    'urn:d',
  ])
  t.same(
    ['<urn:c>', '_:c'].map((subject) => hasBlankNode(line(subject, '" _:no"'))),
    [false, true],
  )
  t.same([...linesIn(line('_:c', '_:d'), (label) => `${label}1`)!], [line('_:c1', '_:d1')])
  t.end()
})

void t.test('a malformed triple is refused, in time that grows with its length only', (t) => {
  const many = 100_000
  const rows: [name: string, text: string][] = [
    ['an IRI with a space', `<urn:s> <urn:p> <urn:${'a'.repeat(many)} b> .`],
    ['an IRI without its end', `<urn:${'a'.repeat(many)}`],
    ['a literal with an unknown escape', String.raw`<urn:s> <urn:p> "${'a'.repeat(many)}\q" .`],
    ['a literal of escapes without its end', `<urn:s> <urn:p> "${'\\u0041a'.repeat(many)}`],
    ['a label of dots', `_:${'a.'.repeat(many)} <urn:p> <urn:o>`],
    ['a triple term that is not closed', '<urn:s> <urn:p> <<( <urn:s> <urn:p> "a" .'],
    ['a triple term that is closed twice', '<urn:s> <urn:p> <<( <urn:s> <urn:p> "a" )>> )>> .'],
    ['a triple term as subject', '<<( <urn:s> <urn:p> "a" )>> <urn:p> "a" .'],
    ['many triple terms', `<urn:s> <urn:p> ${'<<( <urn:s> <urn:p> '.repeat(many)}`],
    ['a language tag of several parts', `<urn:s> <urn:p> "x"@${'a-'.repeat(many)} .`],
  ]
  for (const [name, text] of rows) t.equal(linesIn(`${text}\n`, same), undefined, name)
  t.end()
})
