// One check of terms for all syntaxes: a term refused in one is neither accepted nor dropped in another (design 3).
import t, { type Test } from 'tap'
import { isFailure } from '../../../gateway/problem.js'
import { read, XML } from './reading.js'

/** Texts in each syntax. `%` is the tested term, escaped for that syntax. */
type Syntax = readonly [contentType: string, around: string, escape: (text: string) => string]

const inTurtle = (text: string): string =>
  text.replace(/[^!#-;=?-[\]_a-z~]/gu, (one) => `\\U${one.codePointAt(0)!.toString(16).padStart(8, '0')}`)
const inXml = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const [TURTLE, XML_TYPE, JSON_LD, FORM] = [
  'text/turtle',
  'application/rdf+xml',
  'application/ld+json',
  'application/x-www-form-urlencoded',
]
const inPage = (json: string): string => `<html><script type="application/ld+json">${json}</script></html>`

const OBJECTS: readonly Syntax[] = [
  ...['application/n-triples', 'application/n-quads', 'application/trig', TURTLE].map((type): Syntax => [
    type,
    '<http://s/> <http://p/> <%> .',
    inTurtle,
  ]),
  [XML_TYPE, `${XML}<rdf:Description rdf:about="http://s/"><e:p rdf:resource="%"/></rdf:Description></rdf:RDF>`, inXml],
  [JSON_LD, '{"@id":"http://s/","http://p/":{"@id":"%"}}', inJson],
  [JSON_LD, '{"@context":{"p":{"@id":"http://p/","@type":"@id"}},"@id":"http://s/","p":"%"}', inJson],
  [JSON_LD, '{"@context":{"p":{"@id":"http://p/","@type":"@vocab"}},"@id":"http://s/","p":"%"}', inJson],
  ['text/html', inPage('{"@id":"http://s/","http://p/":{"@id":"%"}}'), inJson],
  [FORM, 'rdf=&su=http://s/&pu=http://p/&ou=%', encodeURIComponent],
]
const SUBJECTS: readonly Syntax[] = [
  [TURTLE, '<%> <http://p/> "x" .', inTurtle],
  [XML_TYPE, `${XML}<rdf:Description rdf:about="%"><e:p>x</e:p></rdf:Description></rdf:RDF>`, inXml],
  [JSON_LD, '{"@id":"%","http://p/":"x"}', inJson],
  [FORM, 'rdf=&su=%&pu=http://p/&ol=x', encodeURIComponent],
]
const PREDICATES: readonly Syntax[] = [
  [TURTLE, '<http://s/> <%> "x" .', inTurtle],
  [JSON_LD, '{"@id":"http://s/","%":"x"}', inJson],
  [FORM, 'rdf=&su=http://s/&pu=%&ol=x', encodeURIComponent],
]
const DATATYPES: readonly Syntax[] = [
  [TURTLE, '<http://s/> <http://p/> "x"^^<%> .', inTurtle],
  [XML_TYPE, `${XML}<rdf:Description><e:p rdf:datatype="%">x</e:p></rdf:Description></rdf:RDF>`, inXml],
  [JSON_LD, '{"@id":"http://s/","http://p/":{"@value":"x","@type":"%"}}', inJson],
  [FORM, 'rdf=&su=http://s/&pu=http://p/&ol=x&lt=%', encodeURIComponent],
]
const IRIS: readonly (readonly [behaviour: string, iri: string, isAllowed: boolean])[] = [
  ['a space', 'http://e/a b', false],
  ['brackets of terms', 'http://e/a<b>c', false],
  ['braces', 'http://e/{a}', false],
  ['a quotation mark', 'http://e/a"b', false],
  ['a circumflex', 'http://e/a^b', false],
  ['a backslash', 'http://e/a\\b', false],
  ['a control character', 'http://e/a\u0001b', false],
  ['a stray per cent sign', 'http://e/a%zz', false],
  ['two fragments', 'http://e/a#b#c', false],
  ['brackets in a path', 'http://e/a[b]', false],
  ['half an IPv6 address', 'http://[::1/x', false],
  ['no scheme', ':x', false],
  ['an IPv6 address', 'http://[::1]/x', true],
  ['a no-break space (RFC 3987 §2.2)', 'http://e/a\u00a0b', true],
  ['a letter beyond ASCII', 'http://e/é', true],
]

async function same(t: Test, name: string, syntaxes: readonly Syntax[], text: string, allowed: boolean): Promise<void> {
  for (const [contentType, around, escape] of syntaxes) {
    const body = around.replaceAll('%', () => escape(text))
    const result = await read(body, contentType)
    const outcome = isFailure(result) ? result.failure : result.length
    t.equal(outcome, allowed ? 1 : 'content.syntax', `${name}: ${contentType}: ${body}`)
  }
}

void t.test('IRIs', async (t) => {
  for (const [behaviour, iri, isAllowed] of IRIS) {
    await same(t, `object, ${behaviour}`, OBJECTS, iri, isAllowed)
    await same(t, `subject, ${behaviour}`, SUBJECTS, iri, isAllowed)
    await same(t, `predicate, ${behaviour}`, PREDICATES, iri, isAllowed)
    await same(t, `datatype, ${behaviour}`, DATATYPES, iri, isAllowed)
  }
})

const TAGGED: readonly Syntax[] = [
  [TURTLE, '<http://s/> <http://p/> "x"@% .', (text) => text],
  [XML_TYPE, `${XML}<rdf:Description><e:p xml:lang="%">x</e:p></rdf:Description></rdf:RDF>`, inXml],
  [JSON_LD, '{"@id":"http://s/","http://p/":{"@value":"x","@language":"%"}}', inJson],
  [JSON_LD, '{"@context":{"@language":"%"},"@id":"http://s/","http://p/":"x"}', inJson],
  [JSON_LD, '{"@context":{"p":{"@id":"http://p/","@container":"@language"}},"@id":"http://s/","p":{"%":"x"}}', inJson],
  [FORM, 'rdf=&su=http://s/&pu=http://p/&ol=x&ll=%', encodeURIComponent],
]

void t.test('language tags', async (t) => {
  for (const tag of ['en', 'de-CH-1996', 'x-klingon']) await same(t, tag, TAGGED, tag, true)
  for (const tag of ['e n', 'en_US', '123', 'en-', 'é', 'toolongsubtag', 'en-toolongsubtag']) {
    await same(t, tag, TAGGED, tag, false)
  }
  await same(t, 'a base direction belongs to RDF 1.2 Turtle', TAGGED.slice(1), 'en--ltr', false)
})

void t.test('statements that are not RDF triples', async (t) => {
  const refused: readonly (readonly [behaviour: string, contentType: string, body: string])[] = [
    ['a blank node as predicate', TURTLE, '<http://s/> _:p "x" .'],
    ['a blank node as predicate', JSON_LD, '{"@id":"http://s/","_:p":"x"}'],
    ['a term that is a blank node', JSON_LD, '{"@context":{"p":"_:p"},"@id":"http://s/","p":"x"}'],
    ['a vocabulary that is a blank node', JSON_LD, '{"@context":{"@vocab":"_:v"},"@id":"http://s/","p":"x"}'],
    ['a blank node as predicate', FORM, 'rdf=&su=http://s/&pb=p&ol=x'],
    ['a blank node as datatype', JSON_LD, '{"@id":"http://s/","http://p/":{"@value":"x","@type":"_:d"}}'],
    ['an invalid direction', JSON_LD, '{"@id":"","http://p/":{"@value":"x","@language":"en","@direction":"up"}}'],
    ['a relative IRI without a base', JSON_LD, '{"@context":{"@base":null},"@id":"a","http://p/":"x"}'],
    ['a relative IRI', 'application/n-triples', '<a> <http://p/> "x" .'],
    ['half a surrogate pair', TURTLE, '<http://s/> <http://p/> "\\uD800" .'],
    ['half a surrogate pair', JSON_LD, '{"@id":"http://s/","http://p/":"\\ud800"}'],
    ['half a surrogate pair', FORM, 'rdf=&su=http://s/&pu=http://p/&ol=%ED%A0%80'],
  ]
  for (const [behaviour, contentType, body] of refused) {
    const result = await read(body, contentType)
    t.equal(isFailure(result) && result.failure, 'content.syntax', `${behaviour}: ${contentType}: ${body}`)
  }
})
