// Content that attackers send: reading it ends soon, with a failure or a graph that is not too large.
import t from 'tap'
import { isFailure } from '../../../gateway/problem.js'
import { flawOf } from '../../../gateway/rdf/graph.js'
import { about, read, XML } from './reading.js'

const times = (text: string, count: number): string => text.repeat(count)
const million = times('a', 1_000_000)
const lol = Array.from({ length: 10 }, (_, i) => `<!ENTITY l${i + 1} "${times(`&l${i};`, 10)}">`).join('')
const types = Array.from({ length: 3000 }, (_, i) => ({ '@id': `http://x/${i}`, '@type': 'http://t/' }))
const terms = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, `http://t/${i}`]))

// prettier-ignore
const ATTACKS: readonly [attack: string, contentType: string, body: string, expected: string | number][] = [
  ['100,000 nested blank nodes', 'text/turtle', `<> <p> ${times('[ <p> ', 100_000)}1${times(']', 100_000)} .`, 100_001],
  ['100,000 nested lists', 'text/turtle', `<> <p> ${times('( ', 100_000)}1${times(')', 100_000)} .`, 200_001],
  ['100,000 open brackets', 'text/turtle', `<> <p> ${times('[ <p> ', 100_000)}`, 'content.syntax'],
  ['100,000 open triple terms', 'text/turtle', `<> <p> ${times('<<( ', 100_000)}`, 'content.syntax'],
  ['a prefix of a megabyte, used 80,000 times', 'text/turtle', `@prefix a: <http://${million}/> . <> <p> ${times('a:b,', 80_000)} a:c .`, 'content.too-large'],
  ['a subject of a megabyte with 80,000 objects', 'text/turtle', `<http://${million}> <p> ${times('1,', 80_000)} 2 .`, 'content.too-large'],
  ['a graph name of a megabyte', 'application/trig', `<http://${million}/> { <> <p> 1 }`, 'content.syntax'],
  ['a literal of a megabyte of escapes', 'text/turtle', `<> <p> "${times('\\u0041', 200_000)}" .`, 1],
  ['an IRI of dot segments', 'text/turtle', `<> <p> <${times('a/../', 200_000)}> .`, 1],
  ['a billion laughs', 'application/rdf+xml', `<!DOCTYPE rdf:RDF [<!ENTITY l0 "lol">${lol}]>${about('<e:p>&l10;</e:p>')}`, 'content.syntax'],
  ['quadratic blow-up in text', 'application/rdf+xml', `<!DOCTYPE rdf:RDF [<!ENTITY e "${times('a', 1000)}">]>${about(`<e:p>${times('&e;', 300_000)}</e:p>`)}`, 'content.syntax'],
  ['quadratic blow-up in attributes', 'application/rdf+xml', `<!DOCTYPE rdf:RDF [<!ENTITY e "${times('a', 1000)}">]>${about(times('<e:p rdf:resource="x:&e;&e;&e;"/>', 50_000))}`, 'content.syntax'],
  ['a long entity', 'application/rdf+xml', `<!DOCTYPE rdf:RDF [<!ENTITY e "${million}">]>${about('<e:p>&e;</e:p>')}`, 'content.syntax'],
  ['an external entity', 'application/rdf+xml', `<!DOCTYPE rdf:RDF [<!ENTITY e SYSTEM "file:///etc/passwd">]>${about('<e:p>&e;</e:p>')}`, 'content.syntax'],
  ['an external subset', 'application/rdf+xml', `<!DOCTYPE rdf:RDF SYSTEM "http://169.254.169.254/">${about('')}`, 'content.syntax'],
  ['a parameter entity', 'application/rdf+xml', `<!DOCTYPE rdf:RDF [<!ENTITY % e SYSTEM "http://169.254.169.254/"> %e;]>${about('')}`, 'content.syntax'],
  ['half an entity declaration, many times', 'application/rdf+xml', `<!DOCTYPE rdf:RDF [${times('<!ENTITY a ', 100_000)}]>${about('')}`, 'content.syntax'],
  ['a namespace of a megabyte, used 80,000 times', 'application/rdf+xml', about(`<e:p xmlns:a="http://${million}"><rdf:Description>${times('<a:b/>', 80_000)}</rdf:Description></e:p>`), 'content.too-large'],
  ['30,000 namespaces in scope of 80,000 elements', 'application/rdf+xml', `${XML.slice(0, -1)}${Array.from({ length: 30_000 }, (_, i) => ` xmlns:n${i}="x:y"`).join('')}><rdf:Description>${times('<e:p/>', 80_000)}</rdf:Description></rdf:RDF>`, 80_000],
  ['20,000 nested elements', 'application/rdf+xml', XML + times('<rdf:Description><e:p>', 20_000), 'content.syntax'],
  ['20,000 nested elements in an XML literal', 'application/rdf+xml', about(`<e:p rdf:parseType="Literal">${times('<e:x>', 20_000)}`), 'content.syntax'],
  ['100,000 nested arrays', 'application/ld+json', times('[', 100_000) + times(']', 100_000), 'content.syntax'],
  ['100,000 open arrays', 'application/ld+json', times('[', 100_000), 'content.syntax'],
  ['100,000 nested objects', 'application/ld+json', `${times('{"http://p/":', 100_000)}1${times('}', 100_000)}`, 'content.syntax'],
  ['a million values in one node', 'application/ld+json', `{"@id":"","http://p/":[${times('1,', 900_000)}1]}`, 'content.too-large'],
  ['a million values', 'application/ld+json', `[${times('1,', 900_000)}1]`, 'content.too-large'],
  ['thousands of types, which the parser compares with all others', 'application/ld+json', JSON.stringify(types), 3000],
  ['a vocabulary of a megabyte', 'application/ld+json', `{"@context":{"@vocab":"http://${million}/"},${types.map((_, i) => `"t${i}":1`).join()}}`, 'content.syntax'],
  ['an id of a megabyte with thousands of values', 'application/ld+json', `{"@id":"http://${million}","http://p/":[${times('1,', 5000)}1]}`, 'content.too-large'],
  ['a scoped context, used thousands of times', 'application/ld+json', JSON.stringify({ '@context': { ...terms(1000), p: { '@id': 'http://p/', '@context': { q: 'http://q/' } } }, '@graph': Array.from({ length: 2000 }, () => ({ p: { q: 1 } })) }), 'content.syntax'],
  ['thousands of nested contexts', 'application/ld+json', JSON.stringify({ '@context': terms(1000), '@graph': Array.from({ length: 2000 }, () => ({ '@context': { p: 'http://p/' }, p: 1 })) }), 'content.syntax'],
  ['__proto__ as a key', 'application/ld+json', '{"@context":{"@vocab":"http://v/"},"__proto__":{"polluted":"yes"}}', 'content.syntax'],
  ['__proto__ as a term', 'application/ld+json', '{"@context":{"__proto__":{"@id":"http://v/"}},"a":1}', 'content.syntax'],
  ['constructor as a key', 'application/ld+json', '{"@context":{"@vocab":"http://v/"},"constructor":{"prototype":{"polluted":"yes"}}}', 'content.syntax'],
  ['a blank node label that ends the term', 'application/ld+json', '{"@id":"_:a> <http://p/> <http://x> .\\n<http://evil","http://p/":1}', 'content.syntax'],
  ['200,000 nested elements of HTML', 'text/html', times('<div>', 200_000), 'content.syntax'],
  ['200,000 open comments of HTML', 'text/html', times('<!--', 200_000), 'content.syntax'],
  ['200,000 pairs of a form', 'application/x-www-form-urlencoded', `rdf=&su=&pu=http://p/${times('&ol=a', 200_000)}`, 200_000],
  ['a namespace of a megabyte in a form', 'application/x-www-form-urlencoded', `rdf=&v=http://${million}/&su=&pu=http://p/${times('&ov=a', 80_000)}`, 'content.too-large'],
]

void t.test('what attackers send ends soon, with a problem or a graph that is not too large', async (t) => {
  for (const [attack, contentType, body, expected] of ATTACKS) {
    const started = performance.now()
    const result = await read(body, contentType)
    t.equal(isFailure(result) ? result.failure : result.length, expected, attack)
    const took = Math.round(performance.now() - started)
    t.ok(took < 15_000, `${attack}: ${took} ms`)
    if (!isFailure(result)) t.notOk(result.some(flawOf), `${attack}: no flawed triple`)
    else t.ok(result.detail.length < 500, `${attack}: a short detail`)
  }
  t.equal(({} as { polluted?: string }).polluted, undefined, 'Object.prototype is as it was')
})
