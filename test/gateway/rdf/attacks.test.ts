// Content from attackers: reading it ends soon, with a failure or a graph that is not too large.
import t, { type Test } from 'tap'
import { isFailure, type Problem } from '../../../gateway/problem.js'
import { flawOf, type Quad } from '../../../gateway/rdf/graph.js'
import { about, read, XML } from './reading.js'
import { quickest } from '../../support/wait.js'

const times = (text: string, count: number): string => text.repeat(count)
const million = times('a', 1_000_000)
const longIri = `http://${million}`
const longPrefix = `@prefix a: <${longIri}/> .`

type Attacks = readonly (readonly [attack: string, body: string, expected: string | number])[]

// prettier-ignore
const TURTLE: Attacks = [
  ['100,000 nested blank nodes', `<> <p> ${times('[ <p> ', 100_000)}1${times(']', 100_000)} .`, 100_001],
  ['100,000 nested lists', `<> <p> ${times('( ', 100_000)}1${times(')', 100_000)} .`, 200_001],
  ['100,000 open brackets', `<> <p> ${times('[ <p> ', 100_000)}`, 'content.syntax'],
  ['100,000 open triple terms', `<> <p> ${times('<<( ', 100_000)}`, 'content.syntax'],
  ['a long prefix, used 80,000 times', `${longPrefix} <> <p> ${times('a:b,', 80_000)} a:c .`, 'content.syntax'],
  ['a triple of a megabyte, annotated 80,000 times', `<> <p> "${million}" ${times('~', 80_000)} .`, 'content.too-large'],
  ['100,000 nested triple terms', `<> <p> ${times('<<( <a> <b> ', 100_000)}1${times(')>>', 100_000)} .`, 'content.syntax'],
  ['a prefix as long as it may be, used 80,000 times', `@prefix a: <x:${times('a', 2000)}> . <> <p> ${times('a:b,', 80_000)} a:c .`, 'content.too-large'],
  ['a long base', `@base <http://${times('a/../', 6000)}> . ${times('<a><b><c>.', 600)}`, 'content.syntax'],
  ['a base that grows', times('@base <aaaaaaaaaa/> . ', 50_000), 'content.syntax'],
  ['a base of dot segments, as long as it may be', `@base <http://h/${times('a/../', 400)}> . ${times('<a><b><c>.', 60_000)}`, 60_000],
  ['a long subject with 80,000 objects', `<${longIri}> <p> ${times('1,', 80_000)} 2 .`, 'content.too-large'],
  ['a literal of a megabyte of escapes', `<> <p> "${times('\\u0041', 200_000)}" .`, 1],
  ['an IRI of dot segments', `<> <p> <${times('a/../', 200_000)}> .`, 1],
]
const TRIG: Attacks = [['a graph name of a megabyte', `<${longIri}> { <> <p> 1 }`, 'content.syntax']]

/** A document with declarations. */
const declaring = (declarations: string, content: string): string =>
  `<!DOCTYPE rdf:RDF [${declarations}]>${about(content)}`
const described = (content: string): string => `<rdf:Description>${content}</rdf:Description>`
const property = '<e:p rdf:resource="x:&e;&e;&e;"/>'
const kilobyte = `<!ENTITY e "${times('a', 1000)}">`
const lol = Array.from({ length: 10 }, (_, i) => `<!ENTITY l${i + 1} "${times(`&l${i};`, 10)}">`).join('')
const longNamespace = about(`<e:p xmlns:a="${longIri}">${described(times('<a:b/>', 80_000))}</e:p>`)
const namespaces = Array.from({ length: 30_000 }, (_, i) => ` xmlns:n${i}="x:y"`).join('')
const manyNamespaces = `${XML.slice(0, -1)}${namespaces}>${described(times('<e:p/>', 80_000))}</rdf:RDF>`
const xmlLiteral = '<e:p rdf:parseType="Literal">'
const parameterEntity = '<!ENTITY % e SYSTEM "http://169.254.169.254/"> %e;'

// prettier-ignore
const RDF_XML: Attacks = [
  ['a long xml:base', about(`<e:p xml:base="http://h/${times('a/../', 6000)}">${described('')}</e:p>`), 'content.syntax'],
  ['an xml:base that grows', about(`${times(`<e:p xml:base="${times('a/', 1000)}">${'<rdf:Description>'}`, 100)}`), 'content.syntax'],
  ['a billion laughs', declaring(`<!ENTITY l0 "lol">${lol}`, '<e:p>&l10;</e:p>'), 'content.syntax'],
  ['quadratic growth of text', declaring(kilobyte, `<e:p>${times('&e;', 300_000)}</e:p>`), 'content.syntax'],
  ['quadratic growth of attributes', declaring(kilobyte, times(property, 50_000)), 'content.syntax'],
  ['a long entity', declaring(`<!ENTITY e "${million}">`, '<e:p>&e;</e:p>'), 'content.syntax'],
  ['an external entity', declaring('<!ENTITY e SYSTEM "file:///etc/passwd">', '<e:p>&e;</e:p>'), 'content.syntax'],
  ['an external subset', `<!DOCTYPE rdf:RDF SYSTEM "http://169.254.169.254/">${about('')}`, 'content.syntax'],
  ['a parameter entity', declaring(parameterEntity, ''), 'content.syntax'],
  ['half an entity declaration, many times', declaring(times('<!ENTITY a ', 100_000), ''), 'content.syntax'],
  ['a namespace of a megabyte, used 80,000 times', longNamespace, 'content.syntax'],
  ['30,000 namespaces in scope of 80,000 elements', manyNamespaces, 80_000],
  ['20,000 nested elements', XML + times('<rdf:Description><e:p>', 20_000), 'content.syntax'],
  ['20,000 nested elements in an XML literal', about(xmlLiteral + times('<e:x>', 20_000)), 'content.syntax'],
]

const types = Array.from({ length: 3000 }, (_, i) => ({ '@id': `http://x/${i}`, '@type': 'http://t/' }))
const terms = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`t${i}`, `http://t/${i}`]))
const manyTerms = types.map((_, i) => `"t${i}":1`).join()
const scoped = JSON.stringify({
  '@context': { ...terms, p: { '@id': 'http://p/', '@context': { q: 'http://q/' } } },
  '@graph': Array.from({ length: 2000 }, () => ({ p: { q: 1 } })),
})
const nestedContexts = (term?: string): string =>
  JSON.stringify({
    '@context': terms,
    '@graph': Array.from({ length: 2000 }, (_, i) => ({
      '@context': { [term ?? `p${i}`]: 'http://p/' },
      [term ?? `p${i}`]: 1,
    })),
  })
const withContext = (context: unknown): string => JSON.stringify({ '@context': context, '@id': '', 'http://p/': 1 })
const definitions = (count: number, of: (i: number) => unknown, prefix = 't'): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, of(i)]))
const growing = (of: (i: number) => object): object[] => Array.from({ length: 1000 }, (_, i) => of(i))
const VOCABULARY = '"@context":{"@vocab":"http://v/"}'
const label = '{"@id":"_:a> <http://p/> <http://x> .\\n<http://evil","http://p/":1}'

// prettier-ignore
const JSON_LD: Attacks = [
  ['100,000 nested arrays', times('[', 100_000) + times(']', 100_000), 'content.syntax'],
  ['100,000 open arrays', times('[', 100_000), 'content.syntax'],
  ['100,000 nested objects', `${times('{"http://p/":', 100_000)}1${times('}', 100_000)}`, 'content.syntax'],
  ['a million values in one node', `{"@id":"","http://p/":[${times('1,', 900_000)}1]}`, 'content.too-large'],
  ['a million values', `[${times('1,', 900_000)}1]`, 'content.too-large'],
  ['thousands of types, which the parser compares with all others', JSON.stringify(types), 3000],
  ['a long base', `{"@context":{"@base":"http://h/${times('a/../', 6000)}"},"@id":"x","http://p/":1}`, 'content.syntax'],
  ['a vocabulary of a megabyte', `{"@context":{"@vocab":"${longIri}/"},${manyTerms}}`, 'content.syntax'],
  ['a long id with 5,000 values', `{"@id":"${longIri}","http://p/":[${times('1,', 5000)}1]}`, 'content.too-large'],
  ['a vocabulary that makes no compact IRIs', '{"@context":{"@vocab":"#a:/","r":"p"},"r":1}', 1],
  ['the same with a type', '{"@context":{"@vocab":":a","p":{"@type":"t"}},"p":"1"}', 'content.syntax'],
  ['a prefix that is defined by itself, through others', '{"@context":{"a":"b:x/","b":"c:y/","c":"a:z/"},"a:r":1}', 'content.syntax'],
  ['a prefix of a scoped context that is defined by itself', '{"@context":{"p":{"@id":"http://p/","@context":{"a":{"@id":"b:x/","@prefix":true},"b":"a:y/"}}},"p":{"a:r":1}}', 'content.syntax'],
  ['a chain of 300 prefixes', JSON.stringify({ '@context': { p0: 'http://p/', ...Object.fromEntries(types.slice(1, 300).map((_, i) => [`p${i + 1}`, `p${i}:`])) }, 'p299:q': 1 }), 1],
  ['a scoped context, used thousands of times', scoped, 4000],
  ['the same nested context, thousands of times', nestedContexts('p'), 2000],
  ['thousands of nested contexts', nestedContexts(), 2000],
  ['thousands of terms with scoped contexts', withContext(definitions(6000, (i) => ({ '@id': `http://t/${i}`, '@context': {} }))), 'content.syntax'],
  ['thousands of contexts in an array', withContext(Array.from({ length: 9000 }, (_, i) => ({ [`t${i}`]: 'http://t/' }))), 'content.syntax'],
  ['thousands of terms in the form of IRIs', withContext({ x: 'http://t/', ...definitions(8000, (i) => `http://t/${i}`, 'x:') }), 'content.syntax'],
  ['a chain of long prefixes', withContext(definitions(2000, (i) => (i === 0 ? 'http://t/' : `t${i - 1}:${times('a', 2000)}`))), 'content.syntax'],
  ['IRIs that grow from context to context', withContext(growing((i) => ({ [i % 2 ? 'a' : 'b']: i === 0 ? 'http://t/' : `${i % 2 ? 'b' : 'a'}:${times('a', 2000)}/` }))), 'content.syntax'],
  ['a vocabulary that grows from context to context', withContext(growing(() => ({ '@vocab': times('a', 2000) }))), 'content.syntax'],
  ['a base that grows from context to context', withContext(growing(() => ({ '@base': times('a/', 1000) }))), 'content.syntax'],
  ['scoped contexts of types, left 8000 times', JSON.stringify({ '@context': { ...terms, T: { '@id': 'http://T', '@context': { q: 'http://q/' } } }, '@graph': Array.from({ length: 4000 }, () => ({ '@type': 'T', t1: [{ t2: 1 }, { t2: 2 }] })) }), 20_000],
  ['arrays in arrays, thousands of times', JSON.stringify({ '@id': '', 'http://p/': [{ '@list': Array.from({ length: 2000 }, (_, i) => [[i]]) }, Array.from({ length: 2000 }, (_, i) => [i])] }), 6001],
  ['__proto__ as a key', `{${VOCABULARY},"__proto__":{"polluted":"yes"}}`, 2],
  ['__proto__ as a term', '{"@context":{"__proto__":{"@id":"http://v/"}},"a":1}', 'content.syntax'],
  ['constructor as a key', `{${VOCABULARY},"constructor":{"prototype":{"polluted":"yes"}}}`, 3],
  ['a blank node label that ends the term', label, 'content.syntax'],
]

// prettier-ignore
const HTML: Attacks = [
  ['200,000 nested elements of HTML', times('<div>', 200_000), 'content.syntax'],
  ['a long base of HTML', `<base href="http://h/${times('a/../', 6000)}"><script type="application/ld+json">{}</script>`, 0],
  ['200,000 open comments of HTML', times('<!--', 200_000), 'content.syntax'],
]
// prettier-ignore
const FORM: Attacks = [
  ['200,000 pairs of a form', `rdf=&su=&pu=http://p/${times('&ol=a', 200_000)}`, 200_000],
  ['a long namespace in a form', `rdf=&v=${longIri}/&su=&pu=http://p/${times('&ov=a', 80_000)}`, 'content.syntax'],
]

const ATTACKS: readonly [contentType: string, attacks: Attacks][] = [
  ['text/turtle', TURTLE],
  ['application/trig', TRIG],
  ['application/rdf+xml', RDF_XML],
  ['application/ld+json', JSON_LD],
  ['text/html', HTML],
  ['application/x-www-form-urlencoded', FORM],
]

async function attack(t: Test, contentType: string, [name, body, expected]: Attacks[number]): Promise<void> {
  const results: (Quad[] | Problem)[] = []
  const took = Math.round(await quickest(15_000, async () => results.push(await read(body, contentType))))
  const result = results.at(-1)!
  t.equal(isFailure(result) ? result.failure : result.length, expected, name)
  t.ok(took < 15_000, `${name}: ${took} ms`)
  if (!isFailure(result)) t.notOk(result.some(flawOf), `${name}: no flawed triple`)
  else t.ok(result.detail.length < 500, `${name}: a short detail`)
}

void t.test('reading an attack ends soon, with a problem or a graph that is not too large', async (t) => {
  for (const [contentType, attacks] of ATTACKS) {
    for (const row of attacks) await attack(t, contentType, row)
  }
  t.equal(({} as { polluted?: string }).polluted, undefined, 'Object.prototype is unchanged')
})
