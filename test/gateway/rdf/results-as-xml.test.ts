// Solutions in JSON become XML, however their bytes are split; what XML cannot contain is never passed on.
import t from 'tap'
import { resultsAsXml } from '../../../gateway/rdf/results-as-xml.js'

const FLAWS = { noXml: new Error('noXml'), broken: new Error('broken'), tooLarge: new Error('tooLarge') }

/** The XML, or the message of the flaw. */
async function through(...pieces: readonly Uint8Array[]): Promise<string> {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* pieces
  }
  const written: Uint8Array[] = []
  try {
    for await (const piece of resultsAsXml(source(), FLAWS)) written.push(piece)
  } catch (error) {
    if (error instanceof Error && Object.values(FLAWS).includes(error)) return error.message
    throw error
  }
  return Buffer.concat(written).toString()
}

const json = (bindings: string, vars = '"x"'): string =>
  `{ "head": { "link": [], "vars": [ ${vars} ] } ,\n"results": { "distinct": false, "bindings": [ ${bindings} ] } }\n`
const xml = (results: string, vars = '<variable name="x"/>'): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n<head>${vars}</head>\n<results>\n${results}</results>\n</sparql>\n`
const solution = (term: string): string => `<result><binding name="x">${term}</binding></result>\n`
const one = (term: object): string => json(JSON.stringify({ x: term }))
const [iri, text] = [
  { type: 'uri', value: 'urn:a?b&c' },
  { type: 'literal', value: '1' },
]
const triple = { type: 'triple', value: { subject: iri, predicate: iri, object: text } }
const uri = '<uri>urn:a?b&amp;c</uri>'

const rows: readonly [behaviour: string, json: string, xml: string][] = [
  ['no solution', json(''), xml('')],
  ['no variable', json('{}', ''), xml('<result></result>\n', '')],
  ['an IRI', one(iri), xml(solution(uri))],
  ['a blank node', one({ type: 'bnode', value: 'b0' }), xml(solution('<bnode>b0</bnode>'))],
  ['brackets and quotation marks', one({ type: 'literal', value: ']}{["\\' }), xml(solution('<literal>]}{["\\</literal>'))],
  ['a text that looks like the results', json('{}', '"bindings", "y"'), xml('<result></result>\n', '<variable name="bindings"/><variable name="y"/>')],
  ['white space and beyond ASCII', one({ ...text, value: '\t\r\n é€𝄞' }), xml(solution('<literal>\t&#xD;\n é€𝄞</literal>'))],
  ['a datatype', one({ ...text, datatype: 'urn:d' }), xml(solution('<literal datatype="urn:d">1</literal>'))],
  ['its older type', one({ ...text, type: 'typed-literal', datatype: 'urn:d' }), xml(solution('<literal datatype="urn:d">1</literal>'))],
  ['a language, in its case', one({ ...text, 'xml:lang': 'en-GB' }), xml(solution('<literal xml:lang="en-GB">1</literal>'))],
  ['a language with elements', one({ ...text, 'xml:lang': 'en"><a b="' }), xml(solution('<literal xml:lang="en&quot;&gt;&lt;a b=&quot;">1</literal>'))],
  ['a direction', one({ ...text, 'xml:lang': 'ar', 'its:dir': 'rtl' }), xml(solution('<literal xml:lang="ar" xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0" its:dir="rtl">1</literal>'))],
  ['a triple term', one(triple), xml(solution(`<triple><subject>${uri}</subject><predicate>${uri}</predicate><object><literal>1</literal></object></triple>`))],
  ['two solutions', json(`${JSON.stringify({ x: iri })},\n{}`), xml(`${solution(uri)}<result></result>\n`)],
  ['a character that XML cannot contain', one({ ...text, value: '\u0001' }), 'noXml'],
  ['half a surrogate pair', one({ ...text, value: '\ud800' }), 'noXml'],
  ['an element as type', one({ type: 'script', value: '' }), 'broken'],
  ['a boolean', '{"head":{},"boolean":true}', 'broken'],
  ['variables after the solutions', '{"results":{"bindings":[]},"head":{"vars":[]}}', 'broken'],
  ['XML', '<sparql/>', 'broken'],
  ['nothing', '', 'broken'],
  ['half of the results', one(text).slice(0, -8), 'broken'],
] // prettier-ignore

void t.test('solutions as XML', async (t) => {
  for (const [behaviour, from, expected] of rows) {
    const bytes = Buffer.from(from)
    t.equal(await through(bytes), expected, behaviour)
    t.equal(await through(...Array.from(bytes, (byte) => Buffer.from([byte]))), expected, `${behaviour}, byte by byte`)
    for (let at = 1; at < bytes.length; at++) {
      const parted = await through(bytes.subarray(0, at), bytes.subarray(at))
      if (parted !== expected) t.equal(parted, expected, `${behaviour}, in two pieces at ${at}`)
    }
  }
  t.equal(await through(Buffer.from([0x7b, 0xff])), 'broken', 'no UTF-8')
  const large = Buffer.from(one({ ...text, value: 'x'.repeat(9 * 1024 * 1024) }))
  t.equal(await through(large.subarray(0, -100), large.subarray(-100)), 'tooLarge', 'a large row')
})
