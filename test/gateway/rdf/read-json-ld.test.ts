// Reading JSON-LD, alone and in HTML (design 3).
import t from 'tap'
import { isFailure } from '../../../gateway/problem.js'
import { RDF, XSD } from '../../../gateway/rdf/vocabulary.js'
import { DOC, read, table, type Row } from './reading.js'

const TYPE = RDF('type')
const TITLE = 'http://purl.org/dc/terms/title'
const INTEGER = XSD('integer')
const NOT_ALLOWED = 'content.syntax: http://169.254.169.254/: the context is not available'
const withContext = (name: string): string => `{"@context":"https://c.example/${name}","@id":""}`
const relative = '{"@id":"","http://b/c":[{"@id":"x"},{"@id":"../e"}]}'
const lastContext = '{"@id":"","t":"a","@type":"T","@context":{"@vocab":"http://v/"}}'
const tagged = '{"@id":"","http://p/":[{"@value":"y","@language":"EN"},{"@value":"z","@type":"http://t/"}]}'
const digits = '{"@id":"","http://p/":12345678901234567890}'
const ownGraph = `{"@id":"${DOC}","@graph":[{"@id":"a","http://p/":"x"}]}`
const ipv6 = '{"@id":"","http://p/":{"@id":"http://[::1]/"}}'
const sharedNode = '[{"@id":"_:é","http://p/":"1"},{"@id":"_:é","http://q/":{}}]'
const remote = '{"@context":"https://c.example/ok","@id":"","title":"x","type":"http://T/"}'
const manyRemote = JSON.stringify({ '@context': Array.from({ length: 20 }, (_, i) => `https://c.example/many/${i}`) })
const direction = '{"http://p/":[{"@value":"x","@language":"en","@direction":"ltr"},{"@value":"y","@direction":"rtl"}]}'
const INHERITED = ['valueOf', 'constructor', 'toString', '__proto__', 'hasOwnProperty']
const literalIris = '{"@id":"","http://p/":["http://[::1]/##",{"@value":"http://[::1]/##"}]}'

/** JSON-LD 1.1 API §8.2.2: the form of a number does not depend on its type, except for xsd:double. */
const NATIVE: readonly (readonly [value: string, type: string, expected: string])[] = [
  ['5', XSD('integer'), '5'],
  ['5', XSD('decimal'), '5'],
  ['5', XSD('double'), '5.0E0'],
  ['-0.5', XSD('float'), '-5.0E-1'],
  ['19.99', XSD('decimal'), '1.999E1'],
  ['100.5', XSD('float'), '1.005E2'],
  ['1e22', XSD('integer'), '1.0E22'],
  ['-1e22', XSD('integer'), '-1.0E22'],
  ['9007199254740993', XSD('integer'), '9007199254740993'],
  ['123456789012345678', XSD('decimal'), '123456789012345678'],
  ['9007199254740993', XSD('double'), '9.007199254740992E15'],
  ['true', XSD('boolean'), 'true'],
  ['false', 'http://t/', 'false'],
]

const P = { p: { '@id': 'http://p/', '@container': '@list' }, i: { '@id': 'http://p/', '@container': '@index' } }
const J = { j: { '@id': 'http://p/', '@type': '@json' } }
const Q = { 'http://q/': 'x' }
const LINK = ['<> <http://p/> _:b0', '_:b0 <http://q/> "x"']
const NIL = `<${RDF('nil')}>`
/** The cells of a list, whose last one is read first. */
const cells = (values: readonly string[], last = 0): string[] =>
  values.toReversed().flatMap((value, i) => {
    const cell = `_:b${last + i}`
    return [`${cell} <${RDF('first')}> ${value}`, `${cell} <${RDF('rest')}> ${i === 0 ? NIL : `_:b${last + i - 1}`}`]
  })
const listed = (...values: readonly string[]): string[] => [`<> <http://p/> _:b${values.length - 1}`, ...cells(values)]
const json = (text: string): string[] => [`<> <http://p/> "${text.replaceAll('"', '\\"')}"^^<${RDF('JSON')}>`]

const INCLUDED = [...cells(['_:b1']), `_:b2 <${RDF('first')}> "w"`, `_:b2 <${RDF('rest')}> _:b0`]

// JSON-LD 1.1 API §5.1.2, steps 5.2, 13.6 and 15: sets, lists and maps keep their links, and JSON is opaque.
type Linked = readonly [behaviour: string, context: object, properties: object, expected: readonly string[] | string]
// prettier-ignore
const LINKED: readonly Linked[] = [
  ['a blank node in a set', {}, { 'http://p/': { '@set': [Q] } }, LINK],
  ['a list in a set', {}, { 'http://p/': { '@set': [{ '@list': ['a'] }] } }, listed('"a"')],
  ['a blank node in an index map', P, { i: { k: Q } }, LINK],
  ['blank nodes in an index map', P, { i: { k: [Q, { 'http://r/': 'y' }] } }, [...LINK, '<> <http://p/> _:b1', '_:b1 <http://r/> "y"']],
  ['a list in an index map', P, { i: { k: { '@list': ['a'] } } }, listed('"a"')],
  ['an array in a list', {}, { 'http://p/': { '@list': ['a', ['b', 'c']] } }, listed('"a"', '"b"', '"c"')],
  ['an empty array in a list', {}, { 'http://p/': { '@list': [[]] } }, [`<> <http://p/> ${NIL}`]],
  ['a set in a list', {}, { 'http://p/': { '@list': [{ '@set': ['a', 'b'] }] } }, listed('"a"', '"b"')],
  ['a list in a list', {}, { 'http://p/': { '@list': [{ '@list': ['a'] }] } }, ['<> <http://p/> _:b1', ...cells(['_:b0'], 1), ...cells(['"a"'])]],
  ['@included in a list', {}, { 'http://p/': { '@list': ['w', { '@included': [{ '@id': 'a', ...Q }] }] } }, ['<> <http://p/> _:b2', '<a> <http://q/> "x"', ...INCLUDED]],
  ['an array in a list container', P, { p: ['a', ['b']] }, ['<> <http://p/> _:b2', ...cells(['"a"', '_:b0'], 1), ...cells(['"b"'])]],
  ['a set in a list container', P, { p: { '@set': ['a', 'b'] } }, listed('"a"', '"b"')],
  ['an alias of @set', { set: '@set' }, { 'http://p/': { set: 'b' } }, ['<> <http://p/> "b"']],
  ['an alias of @set with a node', { set: '@set' }, { 'http://p/': { set: { '@id': '#q' } } }, ['<> <http://p/> <#q>']],
  ['an alias of @list', { list: '@list' }, { 'http://p/': { list: 'c' } }, listed('"c"')],
  ['an alias of @list in a list container', { ...P, list: '@list' }, { p: { list: ['b'] } }, listed('"b"')],
  ['keywords in JSON of a term', J, { j: { '@set': { b: 1 }, '@list': 'a', '@context': 'x'.repeat(3000) } }, json(`{"@context":"${'x'.repeat(3000)}","@list":"a","@set":{"b":1}}`)],
  ['any @id in JSON of a term', J, { j: { '@id': 5 } }, json('{"@id":5}')],
  ['any @id in JSON by aliases', { t: '@type', v: '@value' }, { 'http://p/': { t: '@json', v: { '@id': 5 } } }, json('{"@id":5}')],
  ['the order of entries of JSON (RFC 8785 §3.2.3)', J, { j: { b: 1, valueOf: [1e21, -0], 'valueOf!': null } }, json('{"b":1,"valueOf":[1e+21,0],"valueOf!":null}')],
  ['maps of JSON', { j: { ...J.j, '@container': '@index' } }, { j: { k: 1 } }, 'content.syntax: a map of JSON'],
]

// prettier-ignore
const ROWS: readonly Row[] = [
  ['relative IRIs against the document', relative, ['<> <http://b/c> <x>', '<> <http://b/c> <https://x.example/e>']],
  ['a context that comes last', lastContext, ['<> <http://v/t> "a"', `<> <${TYPE}> <http://v/T>`]],
  ['an integer', '{"@id":"","http://p/":1}', [`<> <http://p/> "1"^^<${INTEGER}>`]],
  ['a double', '{"@id":"","http://p/":1.5}', [`<> <http://p/> "1.5E0"^^<${XSD('double')}>`]],
  ['a boolean', '{"@id":"","http://p/":true}', [`<> <http://p/> "true"^^<${XSD('boolean')}>`]],
  ['a string', '{"@id":"","http://p/":"x"}', ['<> <http://p/> "x"']],
  ['a language and a datatype', tagged, ['<> <http://p/> "y"@en', '<> <http://p/> "z"^^<http://t/>']],
  ['an integer with more digits than a double has', digits, [`<> <http://p/> "12345678901234567890"^^<${INTEGER}>`]],
  ['such integers beside texts that contain them', `{"@id":"","http://p/":[ -9007199254740993, "\\\\\\":9007199254740993,", {"@value":\n9007199254740995.0}, 9007199254740992]}`, ['-9007199254740993', '9007199254740992', '9007199254740995'].map((one) => `<> <http://p/> "${one}"^^<${INTEGER}>`).concat('<> <http://p/> "\\\\\\":9007199254740993,"')],
  ['the numbers of JSON literals are doubles (RFC 8785 §3.2.2.3)', `{"@context":${JSON.stringify(J)},"@id":"","j":[9007199254740993]}`, json('[9007199254740992]')],
  ['integers of 10^21 and more are doubles', '{"@id":"","http://p/":1234567890123456789012}', [`<> <http://p/> "1.234567890123457E21"^^<${XSD('double')}>`]],
  ['@reverse and @graph', '{"@graph":[{"@id":"a","@reverse":{"http://p/":{"@id":"b"}}}]}', ['<b> <http://p/> <a>']],
  ['the named graph of the document', ownGraph, ['<a> <http://p/> "x"']],
  ['another named graph', '{"@id":"g","@graph":[{"@id":"a","http://p/":"x"}]}', 'content.syntax: that of the document'],
  ['the document shares blank nodes', sharedNode, ['_:b0 <http://p/> "1"', '_:b0 <http://q/> _:b1']],
  ['the last of duplicate keys', '{"@id":"","http://p/":"1","http://p/":"2"}', ['<> <http://p/> "2"']],
  ['an allowed remote context', remote, [`<> <${TITLE}> "x"`, `<> <${TYPE}> <http://T/>`]],
  ['another remote context', '{"@context":"http://169.254.169.254/","@id":""}', NOT_ALLOWED],
  ['a remote context without @context', withContext('none'), 'content.syntax: Missing @context'],
  ['a remote context that is a text', withContext('text'), 'content.syntax: not available'],
  ['a context that includes itself', withContext('self'), 'content.syntax: cyclic'],
  ['contexts that include each other', withContext('a'), 'content.syntax: cyclic'],
  ['many remote contexts', manyRemote, 'content.syntax: too many remote contexts'],
  ['line and column', '{"a":\n1,}', 'content.syntax: line 2, column 3'],
  ['truncated', '{"a":', 'content.syntax: line 1'],
  ['text after the document', '{} x', 'content.syntax: line 1'],
  ['two documents', '{}{}', 'content.syntax: line 1'],
  ['not an object', '"x"', 'content.syntax: neither an object nor an array'],
  ['null', 'null', 'content.syntax: neither an object nor an array'],
  ['half a surrogate pair', '{"http://p/":"\\ud800"}', 'content.syntax: surrogate'],
  ['a base direction is dropped (JSON-LD 1.1 API §9.3)', direction, ['_:b0 <http://p/> "x"@en', '_:b0 <http://p/> "y"']],
  ['a base direction in a context is dropped', '{"@context":{"@direction":"rtl","@language":"ar"},"@id":"","http://p/":"x"}', ['<> <http://p/> "x"@ar']],
  ['keys that objects inherit, with a vocabulary', `{"@context":{"@vocab":"http://v/"},"@id":"",${INHERITED.map((key) => `"${key}":"${key}"`).join()}}`, INHERITED.map((key) => `<> <http://v/${key}> "${key}"`)],
  ['as terms', `{"@context":{${INHERITED.map((key) => `"${key}":"http://t/${key}"`).join()}},"@id":"",${INHERITED.map((key) => `"${key}":1`).join()}}`, INHERITED.map((key) => `<> <http://t/${key}> "1"^^<${INTEGER}>`)],
  ['keys that objects inherit, as terms of a remote context', '{"@context":"https://c.example/inherited","@id":"","valueOf":{"@id":"constructor:x"}}', ['<> <http://t/valueOf> <http://c/x>']],
  ['keys that objects inherit, not defined: nothing', `{"@id":"","http://p/":1,${INHERITED.map((key) => `"${key}":1`).join()}}`, [`<> <http://p/> "1"^^<${INTEGER}>`]],
  ['keys that objects inherit, as types, prefixes and terms of a vocabulary', '{"@context":{"@vocab":"http://v/","p":{"@id":"http://p/","@type":"@vocab"}},"@id":"toString:x","@type":"valueOf","p":"constructor"}', ['<toString:x> <http://p/> <http://v/constructor>', `<toString:x> <${TYPE}> <http://v/valueOf>`]],
  ['as aliases', '{"@context":{"valueOf":"@id","toString":"@type"},"valueOf":"","toString":"http://t/"}', [`<> <${TYPE}> <http://t/>`]],
  ['an annotation (RDF 1.2)', '{"@id":"","http://p/":{"@id":"a","@annotation":{"http://q/":"x"}}}', 'content.syntax: '],
  ['a wrong context', '{"@context":5}', 'content.syntax: '],
  ['a wrong term', '{"@context":{"a":{"@id":5}},"a":1}', 'content.syntax: '],
  ['an @id with a space', '{"@id":"x y","http://p/":1}', 'content.syntax: malformed IRI'],
  ['an @id with an IPv6 address', ipv6, ['<> <http://p/> <http://[::1]/>']],
  ['a property with an IPv6 address', '{"@id":"","http://[::1]/":"x"}', ['<> <http://[::1]/> "x"']],
  ['a type with two fragments', '{"@id":"","@type":["http://x/##"]}', 'content.syntax: malformed IRI'],
  ['an @id that is not a string', '{"@id":["a"],"http://p/":1}', 'content.syntax: @id is not a string'],
  ['any @id within JSON that is the value', '{"@id":"","http://p/":{"@type":"@json","@value":{"@id":5}}}', [`<> <http://p/> "{\\"@id\\":5}"^^<${RDF('JSON')}>`]],
  ['a text in the form of a keyword is not an IRI', '{"@id":"","http://p/":[{"@id":"@foo"},"x"]}', ['<> <http://p/> "x"']],
  ['a single value of a set', '{"@id":"","http://p/":{"@set":"x"}}', ['<> <http://p/> "x"']],
  ['a single value of a list', '{"@id":"","http://p/":{"@list":{"@id":"a"}}}', ['<> <http://p/> _:b0', `_:b0 <${RDF('first')}> <a>`, `_:b0 <${RDF('rest')}> <${RDF('nil')}>`]],
  ['a key that is not a term', '{"@id":"","http://p/":"x","name":"y"}', ['<> <http://p/> "x"']],
  ['only keys that are not terms', '{"@id":"","name":"y"}', 'content.syntax: no triples: name is neither an IRI nor a term'],
  ['a term without values', '{"@context":{"@vocab":"http://schema.org/"},"@id":"","name":[]}', []],
  ['a term with nulls', '{"@context":{"@vocab":"http://schema.org/"},"@id":"","name":[null],"p":{"@value":null}}', []],
  ['a key that is not a term, without values', '{"@id":"","name":[]}', 'content.syntax: name is neither'],
  ['a key that is not a term, after a term without values', '{"@context":{"p":"http://p/"},"@id":"","p":[],"toString":"y"}', 'content.syntax: no triples: toString is neither'],
  ['only aliases of keywords', '{"@context":{"id":"@id","graph":"@graph"},"graph":[{"id":"a"}]}', []],
  ['a language map without values', '{"@context":{"p":{"@id":"http://p/","@container":"@language"}},"@id":"","p":{"de":[]}}', []],
  ['a value that is null', '{"@id":"","http://p/":{"@value":null}}', []],
  ['a value of a wrong kind', '{"@context":{"p":{"@id":"http://p/","@container":5}},"p":1}', 'content.syntax: not allowed there'],
  ...NATIVE.map(([value, type, expected]): Row => [`${value} with the type ${type}`, `{"@id":"","http://p/":{"@value":${value},"@type":"${type}"}}`, [`<> <http://p/> "${expected}"^^<${type}>`]]),
  ...NATIVE.map(([value, type, expected]): Row => [`${value} with the type ${type} of its term`, `{"@context":{"p":{"@id":"http://p/","@type":"${type}"}},"@id":"","p":${value}}`, [`<> <http://p/> "${expected}"^^<${type}>`]]),
  ['a literal like an IRI', literalIris, ['<> <http://p/> "http://[::1]/##"', '<> <http://p/> "http://[::1]/##"']],
  // JSON.parse would make it Infinity, which JSON cannot write.
  ...['1E400', '-1E400', '{"@type":"@json","@value":1E400}', '{"@type":"@json","@value":[{"a":1E400}]}'].map((value): Row => [`a number that is too large: ${value}`, `{"@id":"","http://p/":${value},"http://q/":1}`, 'content.syntax: too large for xsd:double']),
  // JSON-LD 1.1 API §5.1.2, step 14.1.
  ['another property of a value object', '{"@id":"","http://p/":{"@value":"x","http://p/note":"y"}}', 'content.syntax: http://p/note'],
  ['… by a term', '{"@context":{"note":"http://n/"},"@id":"","http://p/":{"@value":"x","note":"y"}}', 'content.syntax: http://n/'],
  ['… with a vocabulary', '{"@context":{"@vocab":"http://v/"},"@id":"","p":{"@value":"x","note":"y"}}', 'content.syntax: note'],
  ['… of a member of a list', '{"@id":"","http://p/":{"@list":[{"@value":"x","http://p/note":"y"}]}}', 'content.syntax: http://p/note'],
  ['… of a member of an array', '{"@id":"","http://p/":["a",{"@value":"x","http://p/note":"y"}]}', 'content.syntax: http://p/note'],
  ['… with an alias of @value', '{"@context":{"v":"@value"},"@id":"","http://p/":{"v":"x","http://p/note":"y"}}', 'content.syntax: http://p/note'],
  ['… not within JSON that is the value', '{"@id":"","http://p/":{"@type":"@json","@value":{"@value":1,"http://p/note":2}}}', [`<> <http://p/> "{\\"@value\\":1,\\"http://p/note\\":2}"^^<${RDF('JSON')}>`]],
  ['a key of a value object that is not a term', '{"@id":"","http://p/":{"@value":"x","note":"y"}}', ['<> <http://p/> "x"']],
  ['aliases of keywords in a value object', '{"@context":{"v":"@value","l":"@language","i":"@index"},"@id":"","http://p/":{"v":"x","l":"en","i":"1"}}', ['<> <http://p/> "x"@en']],
  ['@index beside @list', '{"@id":"","http://p/":{"@list":["x"],"@index":"i"}}', ['<> <http://p/> _:b0', `_:b0 <${RDF('first')}> "x"`, `_:b0 <${RDF('rest')}> <${RDF('nil')}>`]],
  ['@index beside @set', '{"@id":"","http://p/":{"@set":["x","y"],"@index":"i"}}', ['<> <http://p/> "x"', '<> <http://p/> "y"']],
  ['… by an alias', '{"@context":{"i":"@index"},"@id":"","http://p/":{"i":"1","@set":["x"]}}', ['<> <http://p/> "x"']],
  ['another key beside @list', '{"@id":"","http://p/":{"@list":["x"],"http://q/":"y"}}', 'content.syntax: @list'],
  ...LINKED.map(([behaviour, context, properties, expected]): Row => [behaviour, JSON.stringify({ '@context': context, '@id': '', ...properties }), expected]),
  ['bases within bases', '{"@context":{"@base":"http://b/abs/"},"@id":"x","http://p/":{"@context":{"@base":"more/"},"@id":"y"}}', ['<http://b/abs/x> <http://p/> <http://b/abs/more/y>']],
  ['… against that of the document', '{"@context":{"@base":"sub/"},"@id":"x","http://p/":{"@context":{"@base":"more/"},"@id":"y"}}', [`<${DOC}sub/x> <http://p/> <${DOC}sub/more/y>`]],
  ['a relative base with dots, and an empty one', '[{"@context":{"@base":"../x/"},"@id":"y","http://p/":1},{"@context":{"@base":""},"@id":"#me","http://p/":{"@id":""}}]', [`<${new URL('../x/y', DOC).href}> <http://p/> "1"^^<${INTEGER}>`, `<${DOC}#me> <http://p/> <${DOC}>`]],
  ['a base with an at sign in its path', '{"@context":{"@base":"http://b/users/alice@example.org"},"@id":"bob","http://p/":{"@id":"/x"}}', ['<http://b/users/bob> <http://p/> <http://b/x>']],
  ['a base whose query has a slash (RFC 3986 §5.2.3)', '{"@context":{"@base":"http://b/d/e?q=1/2"},"@id":"g","http://p/":{"@id":"../h"}}', ['<http://b/d/g> <http://p/> <http://b/h>']],
  ['a relative IRI with a colon (RFC 3986 §4.2)', '{"@id":"./a:b","http://p/":1}', [`<${DOC}a:b> <http://p/> "1"^^<${INTEGER}>`]],
  ['an IRI with a space of Unicode (RFC 3987 §2.2)', '{"@id":"http://x/\u00a0","http://p/":"a\u2028b"}', ['<http://x/\u00a0> <http://p/> "a\u2028b"']],
  ['a property with a space', '{"@id":"","http://p/a b":1}', 'content.syntax: the malformed IRI <http://p/a b>'],
  ['nulls in a language map', '{"@context":{"p":{"@id":"http://p/","@container":"@language"}},"@id":"","p":{"en":["a",null]}}', ['<> <http://p/> "a"@en']],
  ['a key in the form of a keyword (§5.2.2)', '{"@id":"","@foo":1,"http://p/":"x"}', ['<> <http://p/> "x"']],
  ['properties of a node whose @id has the form of a keyword', '{"@id":"@foo","http://p/":"x"}', 'content.syntax: keyword'],
  ['several types of a value', '{"@id":"","http://p/":{"@value":"x","@type":["http://t/","http://u/"]}}', 'content.syntax: several types'],
  ['the base of a remote context does not count (§4.1.2, step 5.7)', '{"@context":"https://c.example/based","@id":"a","p":1}', [`<${DOC}a> <http://p/> "1"^^<${INTEGER}>`]],
  ['imports with other terms', '[{"@context":{"@import":"https://c.example/ok","a":"http://a/"},"@id":"","a":"1","title":"x"},{"@context":{"@import":"https://c.example/ok","b":"http://b/"},"@id":"","b":"2"},{"@context":"https://c.example/ok","@id":"","title":"y"}]', ['<> <http://a/> "1"', `<> <${TITLE}> "x"`, '<> <http://b/> "2"', `<> <${TITLE}> "y"`]],
  ['a term whose definition contains it', '{"@context":{"a":"a:b"},"a":1}', 'content.syntax: '],
]

void t.test('JSON-LD', async (t) => {
  await table(t, 'application/ld+json', ROWS)
  const many = Array.from({ length: 1000 }, (_, i) => ({ '@id': `_:n${i % 10}`, p: i }))
  const context = { p: 'http://p/' }
  for (const [behaviour, value] of [
    ['an array', many.map((node) => ({ '@context': context, ...node }))],
    ['a graph', { '@context': context, '@graph': many }],
    ['the named graph', { '@context': context, '@id': DOC, '@graph': many }],
    ['the members of one node', { '@context': context, '@id': '', p: many.map(({ p }) => p) }],
  ] as const) {
    const quads = await read(JSON.stringify(value), 'application/ld+json')
    if (isFailure(quads)) t.fail(quads.detail)
    else {
      t.equal(quads.length, 1000, `${behaviour} of many nodes, read in pieces: all triples`)
      t.equal(
        new Set(quads.map(({ subject }) => subject.value)).size,
        behaviour.startsWith('the members') ? 1 : 10,
        `${behaviour}: the same nodes`,
      )
    }
  }
})

const island = (json: string, type = 'application/ld+json'): string => `<script type="${type}">${json}</script>`

const island1 = island('{"@id":"_:a","http://p/":"1"}')
const island2 = island('[{"@id":"_:a","http://p/":"2"}]', 'Application/LD+JSON; profile=x')
const inBase = island('{"@id":"a","http://p/":"1"}')

// prettier-ignore
const HTML_ROWS: readonly Row[] = [
  ['an island', `<p>x</p>${island('{"@id":"","http://p/":"a<b>&amp;"}')}`, ['<> <http://p/> "a<b>&amp;"']],
  ['several islands share blank nodes', `${island1}<p>${island2}`, ['_:b0 <http://p/> "1"', '_:b0 <http://p/> "2"']],
  ['the base element', `<base href="/e/">${inBase}<base href="/f/">`, ['<https://x.example/e/a> <http://p/> "1"']],
  ['upper case', '<SCRIPT TYPE=APPLICATION/LD+JSON>{"@id":"","http://p/":"1"}</SCRIPT>', ['<> <http://p/> "1"']],
  ['other scripts are ignored', `${island('{', 'text/javascript')}<!-- ${island('{}')} -->`, 'content.syntax: no script element'],
  ['no islands', '<p>x</p>', 'content.syntax: no script element'],
  ['an island with an error', island('{"a":}'), 'content.syntax: JSON-LD'],
  ['one of several with an error', island('{}') + island('{'), 'content.syntax: JSON-LD'],
  ['an empty island', island(''), 'content.syntax: JSON-LD'],
]

void t.test('HTML', (t) => table(t, 'text/html', HTML_ROWS))
