// Reading RDF/XML (design 3).
import t from 'tap'
import { RDF } from '../../../gateway/rdf/vocabulary.js'
import { about, DOC, table, XML, type Row } from './reading.js'

const TYPE = RDF('type')
const XML_LITERAL = RDF('XMLLiteral')
const NAMESPACES = 'xmlns:e="http://e/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'

const described = (attributes: string, content: string): string =>
  `${XML}<rdf:Description ${attributes}>${content}</rdf:Description></rdf:RDF>`
const document = about('<e:p>é</e:p>')
const relative = about('<e:p rdf:resource="x"/><e:p rdf:resource="../e"/>')
const bases = '<e:p rdf:resource="b"/><e:p xml:base="http://k/" rdf:resource="c"/>'
const inBases = described('rdf:about="a" xml:base="http://o/"', bases)
const BASED = ['<http://o/a> <http://e/p> <http://o/b>', '<http://o/a> <http://e/p> <http://k/c>']
const typeAttribute = `${XML}<rdf:Description rdf:about="" rdf:type="T"/></rdf:RDF>`
const languageAndDatatype = about('<e:p xml:lang="EN">a</e:p><e:p rdf:datatype="http://t">b</e:p>')
const cdata = about('<e:p>a&amp;<![CDATA[b<]]>c<!-- no -->d</e:p>')
const xml = '<e:p rdf:parseType="Literal">a &lt; <b xmlns="http://h/" c="&quot;&lt;">d<i>e</i></b><e:f/></e:p>'
const canonicalXml =
  'a &lt; <b xmlns=\\"http://h/\\" c=\\"&quot;&lt;\\">d<i>e</i></b><e:f xmlns:e=\\"http://e/\\"></e:f>'
const twoNodes = about('<e:p rdf:nodeID="b0"/><e:p><rdf:Description/></e:p>')
const oneElement = `<e:T ${NAMESPACES} rdf:about="a"><e:p>b</e:p></e:T>`
const declared = '<!ENTITY e "http://e/"> <!-- c --> <!ENTITY f \'http://f/\'>'
const entities = `<!DOCTYPE rdf:RDF [${declared}]>${described('rdf:about="&f;a"', '<e:p>&e;</e:p>')}`
const ltEntity = `<!DOCTYPE rdf:RDF [<!ENTITY lt "evil">]>${about('<e:p>&lt;</e:p>')}`
const inRelativeNamespace = about('<e:p/>').replace('xmlns:e="http://e/"', 'xmlns:e="e"').replace(' rdf:about=""', '')
const triple = '<e:p rdf:parseType="Triple"><rdf:Description rdf:about="a"><e:p>x</e:p></rdf:Description></e:p>'

const encoded = (name: string, as: BufferEncoding, text = 'é', mark = ''): Buffer =>
  Buffer.from(`${mark}<?xml version="1.0" encoding='${name}'?>${about(`<e:p>${text}</e:p>`)}`, as)

// prettier-ignore
const ROWS: readonly Row[] = [
  ['relative IRIs against the document', relative, ['<> <http://e/p> <x>', '<> <http://e/p> <https://x.example/e>']],
  ['xml:base on the element and on the property', inBases, BASED],
  ['rdf:type as a relative attribute', typeAttribute, [`<> <${TYPE}> <T>`]],
  ['a language and a datatype', languageAndDatatype, ['<> <http://e/p> "a"@en', '<> <http://e/p> "b"^^<http://t>']],
  ['empty literals', about('<e:p/><e:p>  </e:p>'), ['<> <http://e/p> ""', '<> <http://e/p> "  "']],
  ['text around CDATA and comments', cdata, ['<> <http://e/p> "a&b<cd"']],
  ['an XML literal', about(xml), [`<> <http://e/p> "${canonicalXml}"^^<${XML_LITERAL}>`]],
  ['nodeID and anonymous nodes are distinct', twoNodes, ['<> <http://e/p> _:b0', '<> <http://e/p> _:b1']],
  ['one node element without rdf:RDF', oneElement, [`<a> <${TYPE}> <http://e/T>`, '<a> <http://e/p> "b"']],
  ['entities that stand for plain text', entities, ['<http://f/a> <http://e/p> "http://e/"']],
  ['a predefined entity keeps its meaning', ltEntity, ['<> <http://e/p> "<"']],
  ['a declaration', `<?xml version="1.0" encoding="utf-8"?>${document}`, ['<> <http://e/p> "é"']],
  ['Latin-1', encoded('ISO-8859-1', 'latin1'), ['<> <http://e/p> "é"']],
  ['windows-1252', encoded('windows-1252', 'latin1', '\x80'), ['<> <http://e/p> "€"']],
  ['UTF-16', encoded('UTF-16', 'utf16le', 'é', '\ufeff'), ['<> <http://e/p> "é"']],
  ['UTF-16, the other way round', encoded('UTF-16', 'utf16le', 'é', '\ufeff').swap16(), ['<> <http://e/p> "é"']],
  ['UTF-16 without a byte order mark', encoded('UTF-16LE', 'utf16le'), ['<> <http://e/p> "é"']],
  ['a byte order mark takes precedence over a declaration', encoded('ISO-8859-1', 'utf8', 'é', '\ufeff'), ['<> <http://e/p> "é"']],
  ['invalid UTF-16', encoded('UTF-16', 'utf8'), ['<> <http://e/p> "é"']],
  ['bytes that are not in the encoding', encoded('UTF-8', 'latin1'), 'content.syntax: not valid UTF-8'],
  ['an unknown encoding', encoded('UTF-99', 'utf8'), 'content.unsupported: UTF-99'],
  ['line and column', `${XML}\n<rdf:Description>\n<e:p>x</e:q>`, 'content.syntax: line 3'],
  ['truncated', `${XML}<rdf:Description rdf:about=""><e:p>a</e:p>`, 'content.syntax: unclosed'],
  ['only white space', ' ', 'content.syntax: root element'],
  ['HTML', '<html><body/></html>', 'content.syntax: not in a namespace'],
  ['an undeclared prefix', '<rdf:RDF/>', 'content.syntax: unbound'],
  ['an undeclared entity', about('<e:p>&x;</e:p>'), 'content.syntax: undefined entity'],
  ['an entity with an inherited name', about('<e:p>&constructor;</e:p>'), 'content.syntax: undefined entity'],
  ['an IRI with a space', described('rdf:about="a b"', '<e:p>c</e:p>'), 'content.syntax: malformed IRI'],
  ['a relative namespace', inRelativeNamespace, 'content.syntax: relative IRI'],
  ['a quotation mark in a datatype', about('<e:p rdf:datatype="http://t&quot;">b</e:p>'), 'content.syntax: malformed'],
  ['RDF 1.2 triple terms', described('rdf:about="" rdf:version="1.2"', triple), [`<> <http://e/p> <<( <${DOC}a> <http://e/p> "x" )>>`]],
]

void t.test('RDF/XML', (t) => table(t, 'application/rdf+xml', ROWS))

void t.test('RFC 7303 §3: the charset of the media type takes precedence over the XML declaration', async (t) => {
  const expected = ['<> <http://e/p> "é"']
  await table(t, 'application/rdf+xml;charset=UTF-8', [['UTF-8', encoded('ISO-8859-1', 'utf8'), expected]])
  await table(t, 'text/xml;charset="iso-8859-1"', [['Latin-1', encoded('UTF-8', 'latin1'), expected]])
  const unknown = 'content.unsupported: x-unknown'
  await table(t, 'application/xml;charset=x-unknown', [['an unknown charset', encoded('UTF-8', 'utf8'), unknown]])
})
