// Reading Turtle, N-Triples, TriG and N-Quads (design 3).
import t from 'tap'
import { RDF, XSD } from '../../../gateway/rdf/vocabulary.js'
import { DOC, table, type Row } from './reading.js'

const [INTEGER, DECIMAL, DOUBLE, BOOLEAN] = ['integer', 'decimal', 'double', 'boolean'].map(XSD)

const REIFIES = `<${RDF('reifies')}> <<( <${DOC}a> <${DOC}b> <${DOC}c> )>>`

// prettier-ignore
const TURTLE_ROWS: readonly Row[] = [
  ['relative IRIs against the document', '<> <#p> <../e> , <x> .', ['<> <#p> <https://x.example/e>', '<> <#p> <x>']],
  ['a relative query against the document', '<> <#p> <?q> .', ['<> <#p> <https://x.example/d/?q>']],
  ['its own base', '@base <http://o/> . <a> <b> "c" .', ['<http://o/a> <http://o/b> "c"']],
  ['a language and a datatype', '<> <p> "a"@EN-gb , "x"^^<#t> .', ['<> <p> "a"@en-gb', '<> <p> "x"^^<#t>']],
  ['an integer and a decimal', '<> <p> 1 , 1.0 .', [`<> <p> "1"^^<${INTEGER}>`, `<> <p> "1.0"^^<${DECIMAL}>`]],
  ['a double and a boolean', '<> <p> 1e0 , true .', [`<> <p> "1e0"^^<${DOUBLE}>`, `<> <p> "true"^^<${BOOLEAN}>`]],
  ['a datatype of xsd:string is dropped', `<> <p> "a"^^<${XSD('string')}> .`, ['<> <p> "a"']],
  ['labelled and anonymous blank nodes are distinct', '_:n3-0 <p> [] , _:b0 .', ['_:b0 <p> _:b1', '_:b0 <p> _:b2']],
  ['a byte order mark', '\ufeff<> <p> "a" .', ['<> <p> "a"']],
  ['no triples', '# nothing\n', []],
  ['an error with line and column', '<> <p>\n <o> ; ; ,', 'content.syntax: line 2, column 10'],
  ['a long token is not echoed whole', `<> <p> ${'a'.repeat(100_000)}`, 'content.syntax: line 1'],
  ['truncated', '<> <p> "a', 'content.syntax: line 1'],
  ['not UTF-8', Buffer.from([0x3c, 0xff, 0x3e]), 'content.syntax: UTF-8'],
  ['UTF-16', Buffer.from('\ufeff<a> <b> <c> .', 'utf16le'), 'content.syntax: UTF-8'],
  ['an IRI with a space', '<> <p> <a\\u0020b> .', 'content.syntax: line 1'],
  ['an undeclared prefix', '<> a:b <c> .', 'content.syntax: Undefined prefix'],
  ['N3 formulas are not Turtle', '{ <a> <b> <c> } => { <a> <b> <d> } .', 'content.syntax: line 1'],
  ['a named graph is not Turtle', '<g> { <a> <b> <c> }', 'content.syntax: line 1'],
  ['RDF 1.2 triple terms', '<> <p> <<( <a> <b> <<( <c> <d> "x" )>> )>> .', [`<> <p> <<( <${DOC}a> <${DOC}b> <<( <${DOC}c> <${DOC}d> "x" )>> )>>`]],
  ['RDF 1.2 reified triples', '<< <a> <b> <c> >> <p> "x" .', ['_:b0 <p> "x"', `_:b0 ${REIFIES}`]],
  ['RDF 1.2 annotations', '<a> <b> <c> {| <p> "x" |} .', ['<a> <b> <c>', '_:b0 <p> "x"', `_:b0 ${REIFIES}`]],
  ['RDF 1.2 base direction', '<> <p> "a"@en--ltr .', ['<> <p> "a"@en--ltr']],
  ['another base direction', '<> <p> "a"@en--down .', 'content.syntax: line 1'],
  ['a triple term as subject', '<<( <a> <b> <c> )>> <p> "x" .', 'content.syntax: triple term as subject'],
  ['a malformed IRI within a triple term', '<> <p> <<( <a> <b> <http://a[b]> )>> .', 'content.syntax: malformed IRI'],
  ['triple terms nested 32 deep', `<> <p> ${'<<( <a> <b> '.repeat(33)}"x"${' )>>'.repeat(33)} .`, 'content.syntax: 32 levels'],
  ['rdf:langString without a tag', `<> <p> "a"^^<${RDF('langString')}> .`, 'content.syntax: line 1'],
  ['half a surrogate pair', '<> <p> "\\uD800" .', 'content.syntax: line 1'],
  ['a malformed language tag', '<> <p> "a"@waytoolongtag .', 'content.syntax: language tag'],
]

void t.test('Turtle', (t) => table(t, 'text/turtle', TURTLE_ROWS))

// prettier-ignore
const N_TRIPLES_ROWS: readonly Row[] = [
  ['a triple', '<http://a> <http://b> _:c .\n', ['<http://a> <http://b> _:b0']],
  ['relative IRIs are an error', '<a> <http://b> "c" .', 'content.syntax: Invalid IRI'],
  ['and as datatype', '<http://a> <http://b> "c"^^<d> .', 'content.syntax: Invalid IRI'],
  ['escapes', '<http://a> <http://b> "\\u00e9\\U0001F600\\n\\"" .', ['<http://a> <http://b> "é😀\\n\\""']],
  ['no prefixes', '@prefix a: <http://a> .', 'content.syntax: @prefix'],
  ['no prefixed names', '<http://a> a:b <http://c> .', 'content.syntax: line 1'],
  ['no abbreviated type', '<http://a> a <http://c> .', 'content.syntax: line 1'],
  ['no numbers', '<http://a> <http://b> 1 .', 'content.syntax: line 1'],
  ['no predicate lists', '<http://a> <http://b> <http://c> ; <http://b> <http://d> .', 'content.syntax: line 1'],
  ['no object lists', '<http://a> <http://b> <http://c> , <http://d> .', 'content.syntax: line 1'],
  ['no single quotes', "<http://a> <http://b> 'c' .", 'content.syntax: line 1'],
  ['no long strings', '<http://a> <http://b> """c""" .', 'content.syntax: line 1'],
  ['no line break in a string', '<http://a> <http://b> "c\nd" .', 'content.syntax: line 1'],
  ['no collections', '<http://a> <http://b> () .', 'content.syntax: line 1'],
  ['no anonymous blank nodes', '<http://a> <http://b> [] .', 'content.syntax: line 1'],
  ['no blank predicate', '<http://a> _:b <http://c> .', 'content.syntax: line 1'],
  ['no literal subject', '"a" <http://b> <http://c> .', 'content.syntax: line 1'],
  ['no fourth term', '<http://a> <http://b> <http://c> <http://g> .', 'content.syntax: line 1'],
  ['no unknown escape', '<http://a> <http://b> "\\q" .', 'content.syntax: line 1'],
  ['no escaped forbidden character in an IRI', '<http://a\\u003E> <http://b> "c" .', 'content.syntax: line 1'],
  ['the full stop is needed', '<http://a> <http://b> "c"', 'content.syntax: line 1'],
  ['the line of the error', '<http://a> <http://b> "c" .\n<http://a> x .', 'content.syntax: line 2'],
  ['RDF 1.2', '<http://a> <http://b> <<( <http://a> <http://b> "c" )>> .', ['<http://a> <http://b> <<( <http://a> <http://b> "c" )>>']],
  ['no reified triples', '<http://a> <http://b> << <http://a> <http://b> "c" >> .', 'content.syntax: line 1'],
]

void t.test('N-Triples', (t) => table(t, 'application/n-triples', N_TRIPLES_ROWS))

// prettier-ignore
const TRIG_ROWS: readonly Row[] = [
  ['the default graph', '<> <p> "a" .', ['<> <p> "a"']],
  ['the default graph in braces', '{ <> <p> "a" }', ['<> <p> "a"']],
  ['the graph of the document', '<> { <> <p> "a" , "b" }', ['<> <p> "a"', '<> <p> "b"']],
  ['another graph', '<g> { <> <p> "a" }', `content.syntax: must be a single graph, that of the document: it has <${DOC}g>`],
  ['two graphs', '<> <p> "a" . <> { <> <p> "b" }', 'content.syntax: it has several'],
  ['a blank graph', '_:g { <> <p> "a" }', 'content.syntax: that of the document'],
]

void t.test('TriG: one graph of a dataset', (t) => table(t, 'application/trig', TRIG_ROWS))

// prettier-ignore
const N_QUADS_ROWS: readonly Row[] = [
  ['the default graph', '<http://a> <http://b> "c" .', ['<http://a> <http://b> "c"']],
  ['the graph of the document', `<http://a> <http://b> "c" <${DOC}> .`, ['<http://a> <http://b> "c"']],
  ['another graph', '<http://a> <http://b> "c" <http://g> .', 'content.syntax: that of the document'],
  ['a relative graph', '<http://a> <http://b> "c" <> .', 'content.syntax: line 1'],
]

void t.test('N-Quads: one graph of a dataset', (t) => table(t, 'application/n-quads', N_QUADS_ROWS))
