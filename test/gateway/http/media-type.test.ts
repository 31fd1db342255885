// Content negotiation: RFC 9110 §12.5.1 (Accept), §8.3.1 (media types), design 3 "Accept".
import t from 'tap'
import fc from 'fast-check'
import {
  EXPANDED_JSON_LD,
  JSON_LD,
  negotiate,
  N_TRIPLES,
  parseAccept,
  parseMediaType,
  RDF_FORMATS,
  RDF_NAMES,
  RDF_XML,
  TURTLE,
  type Format,
} from '../../../gateway/http/media-type.js'
import { quickest } from '../../support/wait.js'

const HTML: Format = { mediaType: 'text/html', code: 'html', contentType: 'text/html;charset=UTF-8' }
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const JENA = 'text/turtle,application/n-triples;q=0.9,application/ld+json;q=0.8,application/rdf+xml;q=0.7,*/*;q=0.3'

void t.test('the format that Accept prefers', async (t) => {
  // prettier-ignore
  const rows: readonly [behaviour: string, accept: string | undefined, expected: Format | undefined][] = [
    ['no field accepts anything: Turtle', undefined, TURTLE],
    ['an empty field accepts anything', '', TURTLE],
    ['white space only', ' \t ', TURTLE],
    ['any type', '*/*', TURTLE],
    ['a family', 'text/*', TURTLE],
    ['a range that does not include Turtle', 'application/*', N_TRIPLES],
    ['an exact type', 'application/rdf+xml', RDF_XML],
    ['JSON-LD', 'application/ld+json', JSON_LD],
    ['case does not matter (§8.3.1)', 'APPLICATION/LD+Json', JSON_LD],
    ['ties go to the order offered', 'application/ld+json, application/rdf+xml, text/turtle', TURTLE],
    ['ties among the later ones too', 'application/ld+json, application/rdf+xml', RDF_XML],
    ['the greatest weight', 'text/turtle;q=0.5, application/ld+json;q=0.8', JSON_LD],
    ['three digits', 'text/turtle;q=0.998, application/ld+json;q=0.999', JSON_LD],
    ['white space around the weight', 'text/turtle ; q=0.5 ,\tapplication/ld+json\t;\tq=0.8', JSON_LD],
    ['the name of the weight in upper case', 'text/turtle;Q=0.5, application/ld+json;Q=0.8', JSON_LD],
    ['from the RFC: plain text preferred, anything else accepted', 'text/turtle; q=0.5, text/html, text/x-dvi; q=0.8, */*;q=0.1', TURTLE],
    ['the RFC: audio/*; q=0.2, audio/basic', 'application/*; q=0.2, application/rdf+xml', RDF_XML],
    ['q=0 excludes', 'text/turtle;q=0, */*', N_TRIPLES],
    ['q=0.000 excludes', 'text/turtle;q=0.000, */*;q=0.1', N_TRIPLES],
    ['q=0 alone leaves nothing', 'text/turtle;q=0', undefined],
    ['*/* with q=0 excludes the types that are not named', '*/*;q=0, application/ld+json;q=0.1', JSON_LD],
    ['a family with q=0', 'application/*;q=0, */*', TURTLE],
    ['the more specific range has precedence, though its weight is less', '*/*, text/turtle;q=0.1', N_TRIPLES],
    ['family before any', '*/*;q=0.9, application/*;q=0.1', TURTLE],
    ['type before family', 'application/*;q=0.9, application/n-triples;q=0.1', RDF_XML],
    ['with a parameter before without', 'text/turtle;charset=utf-8;q=0.1, text/turtle, application/ld+json;q=0.5', JSON_LD],
    ['parameters do not stop a match', 'application/ld+json;charset=utf-8', JSON_LD],
    ['JSON-LD 1.1 §8.2: compacted', 'application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted"', JSON_LD],
    ['expanded', 'application/ld+json;profile="http://www.w3.org/ns/json-ld#expanded"', EXPANDED_JSON_LD],
    ['one of several', 'application/ld+json;profile="http://e/ http://www.w3.org/ns/json-ld#expanded"', EXPANDED_JSON_LD],
    ['a profile that is not given', 'application/ld+json;profile="http://www.w3.org/ns/json-ld#flattened"', JSON_LD],
    ['expanded less than compacted', 'application/ld+json;profile="http://www.w3.org/ns/json-ld#expanded";q=0.5, application/ld+json', JSON_LD],
    ['a quoted string with a comma and a semicolon', 'application/ld+json;profile="a,b;c, text/turtle"', JSON_LD],
    ['a quoted string with escapes', 'application/ld+json;profile="a\\",text/turtle;q=\\"1"', JSON_LD],
    ['a parameter after the weight', 'text/turtle;q=0.2;level=1, application/ld+json;q=0.3', JSON_LD],
    ['application/x-turtle is Turtle', 'application/x-turtle, application/ld+json;q=0.9', TURTLE],
    ['text/plain is not N-Triples', 'text/plain', undefined],
    ['application/json is not JSON-LD', 'application/json', undefined],
    ['nothing acceptable', 'application/pdf, image/*', undefined],
    ['a malformed member is ignored', 'turtle, application/ld+json', JSON_LD],
    ['a weight over 1 is malformed', 'text/turtle;q=1.5, application/ld+json;q=0.1', JSON_LD],
    ['a weight that is not a number is malformed', 'text/turtle;q=high, application/ld+json;q=0.1', JSON_LD],
    ['a negative weight is malformed', 'text/turtle;q=-1, application/ld+json;q=0.1', JSON_LD],
    ['a parameter without a value is malformed', 'text/turtle;x, application/ld+json;q=0.1', JSON_LD],
    ['*/turtle is malformed', '*/turtle, application/ld+json;q=0.1', JSON_LD],
    ['an unterminated string is malformed', 'application/ld+json, text/turtle;a="b', JSON_LD],
    ['only malformed members: as if absent', 'turtle', TURTLE],
    ['empty members do not count (§5.6.1)', ',, ,application/ld+json,,', JSON_LD],
    ['the hundredth member counts', 'a/b,'.repeat(99) + 'application/ld+json', JSON_LD],
    ['the one after it does not', 'a/b,'.repeat(100) + 'application/ld+json', undefined],
    ['the Accept of Jena', JENA, TURTLE],
  ]
  for (const [behaviour, accept, expected] of rows) t.equal(negotiate(accept, RDF_FORMATS), expected, behaviour)
})

void t.test('the weight of another name of a format counts as that of any media type', async (t) => {
  const rows: readonly [behaviour: string, accept: string | undefined, expected: string | undefined][] = [
    ['an old name before anything else', 'text/plain, */*;q=0.1', 'text/plain'],
    ['N-Quads before Turtle', 'application/n-quads, text/turtle;q=0.5', 'application/n-quads'],
    ['TriG before N-Triples', 'application/n-triples;q=0.8, application/trig;q=0.9', 'application/trig'],
    ['a usual name before another', 'application/json;q=0.5, application/ld+json', 'application/ld+json'],
    ['a usual name wins a tie', 'application/json, text/plain, */*', 'text/turtle'],
    ['q=0 excludes another name', 'text/plain;q=0, application/json;q=0.1', 'application/json'],
    [
      'another name of a format is chosen if the usual one is excluded',
      'text/turtle;q=0, application/trig',
      'application/trig',
    ],
    ['the default', undefined, 'text/turtle'],
  ]
  for (const [behaviour, accept, expected] of rows)
    t.equal(negotiate(accept, RDF_NAMES)?.mediaType, expected, behaviour)
})

void t.test('HTML is offered last: only when it is ranked first', async (t) => {
  const rows: readonly [behaviour: string, accept: string | undefined, expected: Format | undefined][] = [
    ['a browser', BROWSER, HTML],
    ['curl', '*/*', TURTLE],
    ['HTML as good as Turtle', 'text/html, text/turtle', TURTLE],
    ['HTML as good as the family', 'text/*', TURTLE],
    ['HTML only', 'text/html', HTML],
    ['HTML less wanted', 'text/html;q=0.5, application/ld+json', JSON_LD],
  ]
  for (const [behaviour, accept, expected] of rows)
    t.equal(negotiate(accept, [...RDF_FORMATS, HTML]), expected, behaviour)
  t.equal(negotiate('*/*', []), undefined, 'nothing offered')
})

void t.test('media types', async (t) => {
  t.strictSame(parseMediaType('Text/Turtle; Charset="utf-8"; a=B'), {
    type: 'text/turtle',
    parameters: new Map([
      ['charset', 'utf-8'],
      ['a', 'B'],
    ]),
  })
  t.equal(parseMediaType('application/x-turtle')?.type, 'text/turtle', 'a synonym')
  t.equal(parseMediaType('text/turtle;')?.type, 'text/turtle', 'an empty parameter')
  for (const malformed of [
    '',
    'text',
    'text/',
    '/turtle',
    'text/turtle, text/html',
    'te xt/turtle',
    'text/tur tle',
    'text/turtle;a',
    'a/b/c',
  ]) {
    t.equal(parseMediaType(malformed), undefined, `malformed: ${JSON.stringify(malformed)}`)
  }
  t.strictSame(
    RDF_FORMATS.map(({ contentType }) => contentType),
    [
      'text/turtle;charset=UTF-8',
      'application/n-triples;charset=UTF-8',
      'application/rdf+xml;charset=UTF-8',
      'application/ld+json',
      'application/ld+json',
    ],
    'the Content-Type of each format, exactly',
  )
  t.strictSame(parseAccept(undefined), [], 'no Accept, no ranges')
})

void t.test('the choice is the one that RFC 9110 §12.5.1 defines', async () => {
  const ranges = fc.uniqueArray(
    fc.record({
      range: fc.constantFrom(
        ...['*/*', 'text/*', 'application/*', 'image/*', 'text/html', 'image/png'],
        ...RDF_FORMATS.map(({ mediaType }) => mediaType),
      ),
      thousandths: fc.constantFrom(0, 1, 200, 500, 999, 1000),
    }),
    { selector: ({ range }) => range, minLength: 1, maxLength: 8 },
  )
  // Written from the text of the section: for each representation, the matching ranges, and the most specific of them.
  const oracle = (members: readonly { range: string; thousandths: number }[]): string | undefined => {
    const quality = (mediaType: string): number => {
      const named = members.find(({ range }) => range === mediaType)
      const family = members.find(({ range }) => range === mediaType.replace(/\/.*/, '/*'))
      const any = members.find(({ range }) => range === '*/*')
      return (named ?? family ?? any)?.thousandths ?? 0
    }
    const qualities = RDF_FORMATS.map(({ mediaType }) => quality(mediaType))
    const greatest = Math.max(...qualities)
    return greatest === 0 ? undefined : RDF_FORMATS[qualities.indexOf(greatest)]!.mediaType
  }
  fc.assert(
    fc.property(ranges, fc.constantFrom(',', ', ', ' ,\t'), (members, comma) => {
      const accept = members.map(({ range, thousandths }) => `${range};q=${thousandths / 1000}`).join(comma)
      return negotiate(accept, RDF_FORMATS)?.mediaType === oracle(members)
    }),
    { numRuns: 2000 },
  )
})

void t.test('any field gives an offered format or none', async (t) => {
  const pieces = fc.constantFrom(
    'text/turtle',
    '*/*',
    'text/*',
    ';q=',
    '0.5',
    ',',
    ';',
    '"',
    '\\',
    ' ',
    '=',
    'q',
    '/',
    '*',
    'a',
  )
  const noise = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.array(pieces).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(noise, (accept) => {
      const answer = negotiate(accept, RDF_FORMATS)
      return answer === undefined || RDF_FORMATS.includes(answer)
    }),
    { numRuns: 2000 },
  )
  const took = await quickest(5_000, () => {
    for (const part of ['a/b;', '"', '"\\', ',', 'a/b;a="', 'a/b;q=0.', ';', 'a']) {
      negotiate(part.repeat(100_000), RDF_FORMATS)
      parseMediaType(part.repeat(100_000))
    }
  })
  t.ok(took < 5_000, 'fields of hundreds of kilobytes take linear time')
})
