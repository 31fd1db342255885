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

const P = '<http://e/p>'
const statement = (object: string): string[] => [
  `<> ${P} ${object}`,
  `<#st> <${TYPE}> <${RDF('Statement')}>`,
  `<#st> <${RDF('subject')}> <>`,
  `<#st> <${RDF('predicate')}> ${P}`,
  `<#st> <${RDF('object')}> ${object}`,
]
const list = (object: string): string[] => [`_:b0 <${RDF('first')}> ${object}`, `_:b0 <${RDF('rest')}> <${RDF('nil')}>`]
const xmlLiteral = (content: string): string => `<> ${P} "${content}"^^<${XML_LITERAL}>`
const annotated = 'rdf:version="1.2" rdf:annotation="http://r/"'

/** RDF/XML §7.2: what a property element may have. */
// prettier-ignore
const PROPERTY_ROWS: readonly Row[] = [
  ['rdf:type on a property (§7.2.21)', about('<e:p rdf:type="T"/>'), [`<> ${P} _:b0`, `_:b0 <${TYPE}> <T>`]],
  ['rdf:type with rdf:resource', about('<e:p rdf:type="T" rdf:resource="b" e:q="x"/>'), [`<> ${P} <b>`, `<b> <${TYPE}> <T>`, '<b> <http://e/q> "x"']],
  ['rdf:type with another attribute', about('<e:p rdf:type="T" e:q="x"/>'), [`<> ${P} _:b0`, `_:b0 <${TYPE}> <T>`, '_:b0 <http://e/q> "x"']],
  ['rdf:nodeID after an attribute', about('<e:p e:q="x" rdf:nodeID="n"/>'), [`<> ${P} _:b0`, '_:b0 <http://e/q> "x"']],
  ['rdf:ID of a literal', about('<e:p rdf:ID="st">x</e:p>'), statement('"x"')],
  ['rdf:ID of a node: only its own statement (§7.2.15)', about('<e:p rdf:ID="st"><e:T rdf:about="b" e:p="x"><e:q>y</e:q></e:T></e:p>'), [...statement('<b>'), `<b> <${TYPE}> <http://e/T>`, `<b> ${P} "x"`, '<b> <http://e/q> "y"']],
  ['rdf:ID with rdf:resource and attributes', about('<e:p e:q="x" rdf:resource="b" rdf:ID="st"/>'), [...statement('<b>'), '<b> <http://e/q> "x"']],
  ['rdf:ID before parseType="Resource" (§7.2.18)', about('<e:p rdf:ID="st" rdf:parseType="Resource"><e:q>x</e:q></e:p>'), [...statement('_:b0'), '_:b0 <http://e/q> "x"']],
  ['rdf:ID after parseType="Resource"', about('<e:p rdf:parseType="Resource" rdf:ID="st"><e:q>x</e:q></e:p>'), [...statement('_:b0'), '_:b0 <http://e/q> "x"']],
  ['rdf:ID of a collection (§7.2.19)', about('<e:p rdf:parseType="Collection" rdf:ID="st"><e:T rdf:about="b"/></e:p>'), [...statement('_:b0'), ...list('<b>'), `<b> <${TYPE}> <http://e/T>`]],
  ['rdf:ID of an empty collection', about('<e:p rdf:ID="st" rdf:parseType="Collection"/>'), statement(`<${RDF('nil')}>`)],
  ['an annotation (RDF 1.2): only of its own triple', about(`<e:p ${annotated} rdf:resource="b" e:q="x"/>`), [`<> ${P} <b>`, `<http://r/> <${RDF('reifies')}> <<( <${DOC}> ${P} <${DOC}b> )>>`, '<b> <http://e/q> "x"']],
  ['a language after an attribute', about('<e:p e:q="Hallo" xml:lang="de"/>'), [`<> ${P} _:b0`, '_:b0 <http://e/q> "Hallo"@de']],
  ['another parseType is Literal (§7.2.20)', about('<e:p rdf:parseType="literal">x <b xmlns="http://h/">y</b></e:p>'), [xmlLiteral('x <b xmlns=\\"http://h/\\">y</b>')]],
  ['parseType="Triple" without a version of RDF/XML', about('<e:p rdf:parseType="Triple">x</e:p>'), [xmlLiteral('x')]],
  ['comments and instructions in an XML literal (§7.2.17)', about('<e:p rdf:parseType="Literal">a<!-- c & --><b><?pi x?><?pj?></b>b</e:p><!-- c --><?pi?>'), [xmlLiteral('a<!-- c & --><b><?pi x?><?pj?></b>b')]],
  ['white space around one node', about('<e:p>\n <e:T rdf:about="b"/> \n</e:p>'), [`<> ${P} <b>`, `<b> <${TYPE}> <http://e/T>`]],
  ...([
    ['text before a node (§7.2.15)', '<e:p>text<e:T/></e:p>', 'only one value'],
    ['text after a node', '<e:p><e:T/>text</e:p>', 'text is allowed only'],
    ['text in an empty property', '<e:p rdf:resource="b">text</e:p>', 'text is allowed only'],
    ['text in a property with attributes', '<e:p e:q="x">text</e:p>', 'text is allowed only'],
    ['text in a node', 'text<e:p/>', 'text is allowed only'],
    ['text in a node of parseType="Resource"', '<e:p rdf:parseType="Resource">text</e:p>', 'text is allowed only'],
    ['text in a collection', '<e:p rdf:parseType="Collection">text<e:T/></e:p>', 'text is allowed only'],
    ['two nodes in one property', '<e:p><e:T/><e:T/></e:p>', 'only one value'],
    ['a node in an empty property', '<e:p rdf:resource="b"><e:T/></e:p>', 'only one value'],
    ['a node in a property with attributes', '<e:p e:q="x"><e:T/></e:p>', 'only one value'],
    ['a node in a typed literal (§7.2.16)', '<e:p rdf:datatype="http://t"><e:T/></e:p>', 'only one value'],
    ['rdf:type and a parseType', '<e:p rdf:parseType="Resource" rdf:type="T"/>', 'rdf:parseType and rdf:type'],
    ['rdf:type and a datatype', '<e:p rdf:datatype="http://t" rdf:type="T"/>', 'rdf:datatype and rdf:type'],
    ['a resource and a datatype', '<e:p rdf:resource="" rdf:datatype="http://t"/>', 'rdf:datatype and rdf:resource'],
    ['a resource and a parseType', '<e:p rdf:resource="" rdf:parseType="Literal"/>', 'rdf:parseType and rdf:resource'],
    ['another name without a prefix (§6.1.4)', '<e:p foo="b"/>', 'the attribute foo is not in a namespace'],
    ['a name with and without its prefix', '<e:p rdf:resource="a" resource="b"/>', 'two attributes rdf:resource'],
    ['rdf:about of a property (§7.2.25)', '<e:p rdf:about="q"/>', 'rdf:about is not allowed here'],
    ['rdf:resource of a node (§7.2.11)', '<e:p><e:T rdf:resource="q"/></e:p>', 'rdf:resource is not allowed here'],
    ['rdf:li as an attribute', '<e:p rdf:li="q"/>', 'rdf:li is not allowed here'],
  ] as const).map(([behaviour, content, flaw]): Row => [behaviour, about(content), `content.syntax: ${flaw}`]),
]

void t.test('RDF/XML: property elements', (t) => table(t, 'application/rdf+xml', PROPERTY_ROWS))

const encoded = (name: string, as: BufferEncoding, text = 'é', mark = ''): Buffer =>
  Buffer.from(`${mark}<?xml version="1.0" encoding='${name}'?>${about(`<e:p>${text}</e:p>`)}`, as)

// prettier-ignore
const ROWS: readonly Row[] = [
  ['relative IRIs against the document', relative, ['<> <http://e/p> <x>', '<> <http://e/p> <https://x.example/e>']],
  ['xml:base on the element and on the property', inBases, BASED],
  ['a base with a slash in its query (RFC 3986 §5.2.3)', `${XML}<rdf:Description xml:base="http://b/d/e?q=1/2" rdf:about="g"><e:p rdf:resource="../h"/><e:p rdf:resource="?r"/><e:p rdf:resource=""/></rdf:Description></rdf:RDF>`, ['<http://b/d/g> <http://e/p> <http://b/h>', '<http://b/d/g> <http://e/p> <http://b/d/e?r>', '<http://b/d/g> <http://e/p> <http://b/d/e?q=1/2>']],
  ['names of RDF without a prefix (§6.1.4)', described('about=""', '<e:p resource="b"/><e:p parseType="Resource"><e:q ID="st">x</e:q></e:p>'), [`<> ${P} <b>`, `<> ${P} _:b0`, '_:b0 <http://e/q> "x"', ...[['type', `<${RDF('Statement')}>`], ['subject', '_:b0'], ['predicate', '<http://e/q>'], ['object', '"x"']].map(([name, object]) => `<#st> <${RDF(name!)}> ${object}`)]],
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
