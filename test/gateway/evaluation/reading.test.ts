// Reading and writing in threads (design 7): the same results as on the main thread, limits, and fair shares.
import t, { type Test } from 'tap'
import fc from 'fast-check'
import { openReading, type Reading } from '../../../gateway/evaluation/reading.js'
import { N_TRIPLES, RDF_FORMATS, TURTLE } from '../../../gateway/http/media-type.js'
import { isFailure, type Problem } from '../../../gateway/problem.js'
import { canonicalLines } from '../../../gateway/rdf/canonical.js'
import { graphOf, nTriplesLine, nTriplesOf, type Quad } from '../../../gateway/rdf/graph.js'
import { readGraph, readNTriples } from '../../../gateway/rdf/read.js'
import { writeGraph } from '../../../gateway/rdf/write.js'
import { analyseQuery } from '../../../gateway/sparql/language/analysis.js'
import { until } from '../../support/wait.js'

const DOC = 'https://x.example/d/'
const times = (text: string, count: number): string => text.repeat(count)

function open(t: Test, options: Parameters<typeof openReading>[0] = { timeLimit: 30_000 }): Reading {
  const reading = openReading(options)
  t.teardown(() => reading.close())
  return reading
}

const contentOf = (body: string, contentType: string) => ({ body: Buffer.from(body), contentType, base: DOC })
const summary = (read: readonly Quad[] | Problem): unknown =>
  isFailure(read) ? read.failure : graphOf(read as Quad[]).lines.map((line) => line.replace(/_:\S+/g, '_:b'))

const described = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `<#t${i}> <http://e/p> "a\\n${i}"@EN, _:b${i}, ${i}, <../o${i}>, '\\u00e9' .\n`,
  ).join('')
const XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'

void t.test('content is read identically on the main thread and in a thread', async (t) => {
  const reading = open(t)
  const html = '<script type="application/ld+json">{"@id":"","http://e/p":[{"@id":"_:x"},2]}</script>'
  const rows: [name: string, contentType: string, body: string][] = [
    ['short Turtle', 'text/turtle', described(3)],
    ['long Turtle', 'text/turtle', described(2000)],
    [
      'short Turtle that expands to a large graph',
      'text/turtle',
      `@prefix p: <http://e/${times('a', 1900)}> . <> <http://e/p> ${times('p:a,', 2000)} 1 .`,
    ],
    ['TriG', 'application/trig', '<> <http://e/p> 1 .'],
    ['JSON-LD', 'application/ld+json', '{"@context":{"p":"http://e/p"},"@id":"","p":[1,"x"]}'],
    ['RDF/XML', 'application/rdf+xml', `${XML}<e:T rdf:about=""><e:p>x</e:p></e:T></rdf:RDF>`],
    ['HTML', 'text/html', html],
    ['RDF/POST', 'application/x-www-form-urlencoded', 'rdf=&su=&pu=http%3A%2F%2Fe%2Fp&ol=x'],
    ['content that violates its syntax', 'application/ld+json', '{'],
    ['no content', 'application/ld+json', ''],
    ['an unsupported media type', 'image/png', 'x'],
  ]
  for (const [name, contentType, body] of rows) {
    const read = await reading.readRdf('a', contentOf(body, contentType), undefined)
    t.strictSame(summary(read), summary(await readGraph(Buffer.from(body), contentType, DOC, {})), name)
  }
  const large = nTriplesOf(graphOf((await readGraph(Buffer.from(described(500)), 'text/turtle', DOC, {})) as Quad[]))
  for (const format of RDF_FORMATS.filter(({ code }) => code !== N_TRIPLES.code)) {
    const written = await reading.writeRdf('a', large, format)
    const here = writeGraph(graphOf(readNTriples(large)!), format) as string
    t.equal(isFailure(written) ? written.detail : Buffer.from(written).toString(), here, `written as ${format.code}`)
  }
  const query = 'SELECT * { ?s ?p ?o }'
  t.strictSame(
    await reading.analyseSparql('a', {
      kind: 'query',
      text: query,
      base: DOC,
      dataset: undefined,
      mayLoad: [],
      syntax: 'standard',
    }),
    analyseQuery(query, DOC),
  )
  const canonical = await reading.canonical('a', large.split('\n').reverse().join('\n'), 'key')
  t.equal(isFailure(canonical) ? canonical.detail : canonical.nTriples, large)
  t.match(await reading.canonical('a', 'x', 'key'), { failure: 'store.unreadable' })
})

void t.test('quads become an update that adds them, limited to the size of a document', async (t) => {
  const reading = open(t)
  const quads = '<urn:a> <urn:p> 1 <urn:g> .\n'.replace('1', '"1"')
  // prettier-ignore
  const rows: [name: string, type: 'trig' | 'n-quads', text: string, update: string | RegExp][] = [
    ['a quad twice', 'n-quads', times(quads, 2), 'INSERT DATA {\nGRAPH <urn:g> {\n<urn:a> <urn:p> "1" .\n}\n}'],
    ['the default graph', 'trig', '<x> <urn:p> <urn:o> .', `INSERT DATA {\n<${DOC}x> <urn:p> <urn:o> .\n}`],
    ['nothing', 'trig', '# nothing', 'INSERT DATA {}'],
    ['no quads', 'n-quads', 'nothing', /content.syntax/],
    ['a graph with a bad name', 'trig', '<urn:a#b#c> { <urn:s> <urn:p> 1 }', /content.syntax/],
    ['one subject many times', 'trig', `<urn:${times('s', 2 ** 20)}> <urn:p> ${times('1,', 500)} 1 .`, /content.too-large/],
    ['characters that N-Triples escapes', 'trig', `<urn:s> <urn:p> ${Array.from({ length: 7 }, (_, i) => `"${times('\x01', 800_000)}${i}"`).join()} .`, /content.too-large/],
  ]
  for (const [name, type, text, update] of rows) {
    const read = await reading.insertion('a', {
      body: Buffer.from(text),
      contentType: `application/${type}`,
      base: DOC,
    })
    t.match(isFailure(read) ? read.failure : read, update, name)
  }
})

void t.test('property: canonical lines are those of the parsed graph', (t) => {
  const iri = fc.constantFrom('<http://e/a>', '<urn:é#x>', '<http://e/%2f>', '<http://[::1]/>', '<http://e/\\u0041>')
  const datatype = fc
    .constantFrom('x', 'integer', 'string')
    .map((name) => `^^<http://www.w3.org/2001/XMLSchema#${name}>`)
  const literal = fc
    .tuple(
      fc.string({
        unit: fc.constantFrom('a', '\\n', '\\"', '\\\\', "\\'", '\\u000A', '\\u00e9', '\x7f', '😀', '\t', ' . '),
      }),
      fc.oneof(datatype, fc.constantFrom('', '@en', '@EN-gb')),
    )
    .map(([text, kind]) => `"${text}"${kind}`)
  const subject = fc.oneof(iri, fc.constantFrom('_:a', '_:a.b-c', '_:é'))
  const line = fc
    .tuple(
      subject,
      iri,
      fc.oneof(subject, literal),
      fc.constantFrom(' ', '\t', '  '),
      fc.constantFrom('.', '. # x', 'x'),
    )
    .map(([s, p, o, space, end]) => `${s}${space}${p} ${o} ${end}`)
  fc.assert(
    fc.property(fc.array(fc.oneof({ arbitrary: line, weight: 9 }, fc.constant('')), { maxLength: 8 }), (lines) => {
      const text = lines.join('\n')
      const parsed = readNTriples(text)
      const expected = parsed && graphOf(parsed).lines
      const actual = canonicalLines(text)
      if (JSON.stringify(actual) !== JSON.stringify(expected))
        throw new Error(`${actual?.join()} for ${expected?.join()}`)
    }),
    { numRuns: 500 },
  )
  t.end()
})

/** Remote contexts by URL, and those that were requested. */
function contexts(documents: Readonly<Record<string, unknown>>) {
  const asked: string[] = []
  const load = (url: string): Promise<string | undefined> => {
    asked.push(url)
    return Promise.resolve(url in documents ? JSON.stringify({ '@context': documents[url] }) : undefined)
  }
  return { asked, load }
}

void t.test('remote contexts of JSON-LD', async (t) => {
  const reading = open(t)
  const chain = (length: number): Record<string, unknown> =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [`http://c/${i}`, i === length - 1 ? { p: 'http://e/p' } : `http://c/${i + 1}`]),
    )
  const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `http://c/${i}`)
  const each = (count: number): Record<string, unknown> =>
    Object.fromEntries(many(count).map((url) => [url, { p: 'http://e/p' }]))
  const heavy = Object.fromEntries(
    many(8).map((url) => [
      url,
      times('x', 400_000)
        .match(/.{1,2000}/g)!
        .map((text) => ({ [text]: null })),
    ]),
  )
  const P = `<${DOC}> <http://e/p> "x" .`
  const rows: [name: string, context: unknown, documents: Record<string, unknown>, expected: string, asked: number][] =
    [
      ['one', 'http://c/0', each(1), P, 1],
      ['relative to the document', '../c', { 'https://x.example/c': { p: 'http://e/p' } }, P, 1],
      ['each is fetched once', ['http://c/0', 'http://c/0'], each(1), P, 1],
      ['as many as are allowed', many(8), each(8), P, 8],
      ['one too many', many(9), each(9), 'content.syntax', 8],
      ['contexts that name contexts', 'http://c/0', chain(3), P, 3],
      ['deeper', 'http://c/0', chain(4), 'content.syntax', 3],
      ['one that names itself', 'http://c/0', { 'http://c/0': ['http://c/0'] }, 'content.syntax', 1],
      ['one that is not available', 'http://c/0', {}, 'content.syntax', 1],
      ['too heavy together', many(8), heavy, 'content.syntax', 8],
    ]
  for (const [name, context, documents, expected, asked] of rows) {
    const body = JSON.stringify({ '@context': context, '@id': '', p: 'x' })
    const remote = contexts(documents)
    const read = await reading.readRdf('a', contentOf(body, 'application/ld+json'), remote.load)
    t.equal(isFailure(read) ? read.failure : read.map(nTriplesLine).join(), expected, name)
    t.equal(remote.asked.length, asked, `${name}: contexts fetched`)
  }
  const refused = await reading.readRdf(
    'a',
    contentOf('{"@context":"http://c/0","p":1}', 'application/ld+json'),
    undefined,
  )
  t.match(
    refused,
    { failure: 'content.syntax', detail: /http:\/\/c\/0.*only for identified agents/ },
    'none for anonymous clients',
  )
})

void t.test('limits and fair shares', async (t) => {
  const reading = open(t, { timeLimit: 600, workers: 2, patience: 60_000 })
  // Resolving a name of dot segments costs time for its whole length and leaves nothing.
  const endless = `rdf=&v=http%3A%2F%2Fh%2F${times('a', 2000)}%2F..%2Fb&su=&pu=http%3A%2F%2Fe%2Fp${times('&ov=', 300_000)}`
  const slow = (agent = 'a') =>
    reading.readRdf({ agent, network: 'slow' }, contentOf(endless, 'application/x-www-form-urlencoded'), undefined)
  // Both threads are warm.
  await Promise.all([slow(), reading.readRdf('b', contentOf('{}', 'application/ld+json'), undefined)])
  let ended = 0
  const jobs = Array.from({ length: 4 }, async (_, i) => {
    const answer = await slow(`agent ${i}`)
    ended++
    return answer
  })
  for (let i = 0; i < 20; i++) {
    // On an overloaded machine, the answer is to retry.
    const read = await until(async () => {
      const answer = await reading.readRdf('quick', contentOf(described(i), 'application/trig'), undefined)
      if (i === 0) t.ok(ended < 4, 'while the slow jobs of one network wait for each other')
      return (!isFailure(answer) || answer.failure !== 'server.overloaded') && answer
    })
    t.notOk(isFailure(read), 'another asker is answered')
  }
  for (const answer of await Promise.all(jobs))
    // On an overloaded machine, the answer is to retry.
    t.match(answer, { failure: /^(?:content\.too-large|server\.overloaded)$/, detail: /limit of 0.6 s|too busy/ })
  const write = await reading.writeRdf('slow', '<http://e/s> <http://e/p> "x" .\n', TURTLE)
  t.equal(
    isFailure(write) ? write.detail : Buffer.from(write).toString(),
    '<http://e/s> <http://e/p> "x".\n',
    'the next job works',
  )
})
