// Reading RDF/XML (design 3).
import t from 'tap'
import { RDF } from '../../../gateway/rdf/vocabulary.js'
import { about, table, XML, type Row } from './reading.js'

const XML_LITERAL = RDF('XMLLiteral')

// prettier-ignore
const ROWS: readonly Row[] = [
  ['relative IRIs against the document', about('<e:p rdf:resource="x"/><e:p rdf:resource="../e"/>'), ['<> <http://e/p> <x>', '<> <http://e/p> <https://x.example/e>']],
  ['xml:base on the element and on the property', `${XML}<rdf:Description rdf:about="a" xml:base="http://o/"><e:p rdf:resource="b"/><e:p xml:base="http://k/" rdf:resource="c"/></rdf:Description></rdf:RDF>`, ['<http://o/a> <http://e/p> <http://o/b>', '<http://o/a> <http://e/p> <http://k/c>']],
  ['rdf:type as a relative attribute', `${XML}<rdf:Description rdf:about="" rdf:type="T"/></rdf:RDF>`, [`<> <${RDF('type')}> <T>`]],
  ['literals', about('<e:p xml:lang="EN">a</e:p><e:p rdf:datatype="http://t">b</e:p><e:p/><e:p>  </e:p>'), ['<> <http://e/p> "a"@en', '<> <http://e/p> "b"^^<http://t>', '<> <http://e/p> ""', '<> <http://e/p> "  "']],
  ['text around CDATA and comments', about('<e:p>a&amp;<![CDATA[b<]]>c<!-- no -->d</e:p>'), ['<> <http://e/p> "a&b<cd"']],
  ['an XML literal', about('<e:p rdf:parseType="Literal">a &lt; <b xmlns="http://h/" c="&quot;&lt;">d<i>e</i></b><e:f/></e:p>'), [`<> <http://e/p> "a &lt; <b xmlns=\\"http://h/\\" c=\\"&quot;&lt;\\">d<i>e</i></b><e:f xmlns:e=\\"http://e/\\"></e:f>"^^<${XML_LITERAL}>`]],
  ['nodeID and anonymous nodes are distinct', about('<e:p rdf:nodeID="b0"/><e:p><rdf:Description/></e:p>'), ['<> <http://e/p> _:b0', '<> <http://e/p> _:b1']],
  ['one node element without rdf:RDF', '<e:T xmlns:e="http://e/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" rdf:about="a"><e:p>b</e:p></e:T>', [`<a> <${RDF('type')}> <http://e/T>`, '<a> <http://e/p> "b"']],
  ['entities that stand for plain text', `<!DOCTYPE rdf:RDF [<!ENTITY e "http://e/"> <!-- c --> <!ENTITY f 'http://f/'>]>${XML}<rdf:Description rdf:about="&f;a"><e:p>&e;</e:p></rdf:Description></rdf:RDF>`, ['<http://f/a> <http://e/p> "http://e/"']],
  ['a predefined entity stays what it is', `<!DOCTYPE rdf:RDF [<!ENTITY lt "evil">]>${about('<e:p>&lt;</e:p>')}`, ['<> <http://e/p> "<"']],
  ['a declaration', `<?xml version="1.0" encoding="utf-8"?>${about('<e:p>é</e:p>')}`, ['<> <http://e/p> "é"']],
  ['another encoding is declared', `<?xml version="1.0" encoding="ISO-8859-1"?>${about('<e:p>é</e:p>')}`, 'content.syntax: ISO-8859-1'],
  ['line and column', `${XML}\n<rdf:Description>\n<e:p>x</e:q>`, 'content.syntax: line 3'],
  ['truncated', `${XML}<rdf:Description rdf:about=""><e:p>a</e:p>`, 'content.syntax: unclosed'],
  ['only white space', ' ', 'content.syntax: root element'],
  ['HTML', '<html><body/></html>', 'content.syntax: no namespace'],
  ['an undeclared prefix', '<rdf:RDF/>', 'content.syntax: unbound'],
  ['an undeclared entity', about('<e:p>&x;</e:p>'), 'content.syntax: undefined entity'],
  ['an entity by the name of an inherited property', about('<e:p>&constructor;</e:p>'), 'content.syntax: undefined entity'],
  ['an IRI with a space', `${XML}<rdf:Description rdf:about="a b"><e:p>c</e:p></rdf:Description></rdf:RDF>`, 'content.syntax: malformed IRI'],
  ['a relative namespace', '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="e"><rdf:Description><e:p/></rdf:Description></rdf:RDF>', 'content.syntax: relative IRI'],
  ['a datatype with a quotation mark', about('<e:p rdf:datatype="http://t&quot;">b</e:p>'), 'content.syntax: malformed'],
  ['RDF 1.2 triple terms', `${XML}<rdf:Description rdf:about="" rdf:version="1.2"><e:p rdf:parseType="Triple"><rdf:Description rdf:about="a"><e:p>x</e:p></rdf:Description></e:p></rdf:Description></rdf:RDF>`, 'content.syntax: RDF 1.2'],
]

void t.test('RDF/XML', (t) => table(t, 'application/rdf+xml', ROWS))
