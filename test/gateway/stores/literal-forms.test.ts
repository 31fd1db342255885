// Some stores keep only the values of literals, and return them in other forms. The gateway finds out whether a store
// does so, and predicts its forms correctly.
import fc from 'fast-check'
import t from 'tap'
import { isFailure, problem } from '../../../gateway/problem.js'
import { nTriplesLine, triple, typed, type Quad } from '../../../gateway/rdf/graph.js'
import {
  AS_WRITTEN,
  lineInForm,
  storedForm,
  UNCLEAR,
  type LiteralForms,
  type TypedLiteral,
} from '../../../gateway/rdf/literal-forms.js'
import { readNTriples } from '../../../gateway/rdf/n-triples.js'
import { areSame } from '../../../gateway/rdf/same-graph.js'
import { XSD } from '../../../gateway/rdf/vocabulary.js'
import { literalFormsOf } from '../../../gateway/stores/literal-probe.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { forEachStore } from '../../support/stores.js'

const VALUES: LiteralForms = {
  byValue: ['integer', 'decimal', 'double', 'float', 'boolean', 'dateTime', 'date'],
  isUnclear: false,
  hidesZeros: false,
  formatsTags: true,
}
const UNCLEAR_OF_JENA: LiteralForms = { ...UNCLEAR, formatsTags: true }
const GRAPHS = 'SELECT ?g { GRAPH ?g { ?s ?p ?o } }'

async function answerOf(store: GraphStore, query: string): Promise<string> {
  const pieces = await store.query(query, 'text/csv')
  if (isFailure(pieces)) throw new Error(pieces.detail)
  let text = ''
  for await (const piece of pieces) text += Buffer.from(piece).toString()
  return text.trim()
}

const line = (form: string, type: string, subject = 'urn:s'): string =>
  nTriplesLine(triple(subject, 'urn:p', typed(form, XSD(type))))

void forEachStore(
  t,
  { name: 'how a store stores literals', kinds: ['fuseki', 'fuseki-union'] },
  async (t, makeStores, kind) => {
    const { endUser } = await makeStores()
    await t.test('is found by a probe, which leaves nothing in the store', async (t) => {
      const forms = await literalFormsOf(endUser)
      // In Jena 6, 1.5 and 1.50 are the same.
      const hidesZeros = !isFailure(forms) && forms.hidesZeros
      t.same(forms, kind === 'fuseki' ? { ...AS_WRITTEN, formatsTags: true } : { ...VALUES, hidesZeros })
      t.equal(await answerOf(endUser, GRAPHS), 'g')
    })
    await t.test('is unclear if a store has its own forms, or loses a literal of the probe', async (t) => {
      const read = (change: (text: string) => string): GraphStore => ({
        ...endUser,
        read: async (graph) => change((await endUser.read(graph)) as string),
      })
      t.same(await literalFormsOf(read((text) => text.replace(/"1\.50?"/, '"15e-1"'))), UNCLEAR_OF_JENA)
      t.same(await literalFormsOf(read((text) => text.replace(/.*gYear.*\n?/, ''))), UNCLEAR)
      t.same(await literalFormsOf(read((text) => text.replace(/.*zh-.*\n?/, ''))), UNCLEAR)
    })
    await t.test('tags stay in lower case if the store keeps them so', async (t) => {
      const lower: GraphStore = {
        ...endUser,
        read: async (graph) => ((await endUser.read(graph)) as string).replace('zh-Hant-TW', 'zh-hant-tw'),
      }
      t.match(await literalFormsOf(lower), { formatsTags: false })
    })
    await t.test('is a problem if the store accepts no update, or does not answer', async (t) => {
      const refused = problem('store.refused', 'no updates')
      t.same(await literalFormsOf({ ...endUser, update: () => Promise.resolve(refused) }), refused)
      t.same(await literalFormsOf({ ...endUser, read: () => Promise.resolve(refused) }), refused)
    })
    if (kind !== 'fuseki-union') return
    await t.test('TDB2 stores random literals in the predicted forms', async (t) => {
      const literals = fc.sample(anyLiteral, 1500)
      const lines = literals.map(([form, type], i) => line(form, type, `urn:s:${i}`))
      t.equal(await endUser.replace('http://example.org/random', lines.join('\n')), undefined)
      const text = await endUser.read('http://example.org/random')
      const found = new Map(readNTriples(text as string)!.map((one) => [one.subject.value, one]))
      let certain = 0
      for (const [i, literal] of literals.entries()) {
        const predicted = storedForm(literal)
        if (!predicted) continue
        certain++
        const stored = found.get(`urn:s:${i}`)
        const expected = line(predicted[0], predicted[1], `urn:s:${i}`)
        if (!stored || nTriplesLine(stored) !== expected)
          t.equal(stored && nTriplesLine(stored), expected, String(literal))
        if (!areSame(lines[i], expected)) t.fail(`the mirror takes ${lines[i]} and ${expected} for different`)
      }
      t.ok(certain > 1000, `${certain} are certain`)
    })
  },
)

const digits = (most: number): fc.Arbitrary<string> => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`))
const joined = (...parts: readonly (fc.Arbitrary<string> | string)[]): fc.Arbitrary<string> =>
  fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((texts) => texts.join(''))
const sign = fc.constantFrom('', '', '-', '+')
const blank = fc.constantFrom('', '', '', ' ', '\t')
const whole = joined(blank, sign, fc.constantFrom('', '0', '00'), digits(20), blank)
const decimal = joined(
  blank,
  sign,
  fc.oneof(digits(17), joined(digits(6), '.', digits(10)), joined('.', digits(5)), joined(digits(4), '.')),
  blank,
)
const exponent = joined(fc.constantFrom('e', 'E'), sign, digits(2))
const float = fc.oneof(decimal, joined(decimal, exponent), fc.constantFrom('INF', '-INF', '+INF', 'NaN', 'inf', '1d'))
const two = fc.integer({ min: 0, max: 62 }).map((number) => String(number).padStart(2, '0'))
const year = fc.constantFrom('2020', '2019', '0000', '0001', '7999', '8000', '12020', '-0001', '02020')
const day = joined(
  year,
  '-',
  fc.constantFrom('01', '02', '12', '13'),
  '-',
  fc.constantFrom('01', '28', '29', '30', '31', '32'),
)
const zone = fc.constantFrom('', 'Z', '+00:00', '-00:00', '-00:15', '-00:30', '+05:45', '+01:07', '+14:00', '+14:15')
const time = joined(fc.constantFrom('00', '13', '23', '25'), ':', two, ':', two)
const part = fc.oneof(fc.constantFrom('', '.0', '.500', '.580'), joined('.', digits(7)))

const anyLiteral: fc.Arbitrary<TypedLiteral> = fc.oneof(
  ...[
    'integer',
    'long',
    'int',
    'short',
    'byte',
    'unsignedLong',
    'unsignedByte',
    'nonNegativeInteger',
    'positiveInteger',
  ]
    .concat(['unsignedInt', 'unsignedShort', 'nonPositiveInteger', 'negativeInteger'])
    .map((type) => fc.tuple(fc.oneof(whole, digits(3)), fc.constant(type))),
  ...['double', 'float'].map((type) => fc.tuple(float, fc.constant(type))),
  fc.tuple(decimal, fc.constant('decimal')),
  fc.tuple(fc.constantFrom('1', '0', 'true', 'false', 'TRUE', ' 1 ', 'yes'), fc.constant('boolean')),
  ...['dateTime', 'dateTimeStamp'].map((type) => fc.tuple(joined(day, 'T', time, part, zone), fc.constant(type))),
  fc.tuple(joined(day, zone), fc.constant('date')),
  fc.tuple(joined(time, part, zone), fc.constant('time')),
  fc.tuple(joined(year, zone), fc.constant('gYear')),
)

void t.test('predicted forms, and literals for which stores differ', (t) => {
  const rows: readonly [form: string, type: string, expected: string | undefined][] = [
    ['01', 'integer', '1'],
    ['-0', 'integer', '0'],
    [' +007\n', 'long', '7'],
    ['300', 'byte', '300'],
    ['0300', 'byte', '0300'],
    ['-1', 'nonNegativeInteger', '-1'],
    ['x', 'integer', 'x'],
    ['36028797018963967', 'integer', '36028797018963967'],
    ['36028797018963968', 'integer', undefined],
    ['00000000000000000001', 'integer', undefined],
    ['1.50', 'decimal', '1.5'],
    ['2', 'decimal', '2.0'],
    ['.5', 'decimal', '0.5'],
    ['-0.0', 'decimal', '0.0'],
    ['123456789012345.5', 'decimal', undefined],
    ['1e3', 'decimal', '1e3'],
    ['1e0', 'double', '1.0e0'],
    ['1E7', 'double', '1.0E7'],
    ['0.0001', 'double', '1.0E-4'],
    ['+INF', 'double', 'INF'],
    ['1e23', 'double', undefined],
    ['1e0', 'float', '1.0'],
    ['1', 'boolean', 'true'],
    ['TRUE', 'boolean', 'TRUE'],
    ['2020-01-01T00:00:00.500Z', 'dateTime', '2020-01-01T00:00:00.5Z'],
    ['2020-01-01T00:00:00+00:00', 'dateTime', '2020-01-01T00:00:00+00:00'],
    ['2020-01-01T00:00:00-00:00', 'dateTime', '2020-01-01T00:00:00+00:00'],
    ['2020-01-01T24:00:00Z', 'dateTime', '2020-01-01T24:00:00Z'],
    ['2020-02-30T00:00:00.0Z', 'dateTime', '2020-02-30T00:00:00.0Z'],
    ['2020-01-01-00:00', 'date', '2020-01-01+00:00'],
    ['00:00:00.500', 'time', '00:00:00.500'],
    ['1.50', 'string', '1.50'],
  ]
  for (const [form, type, expected] of rows) {
    t.equal(storedForm([form, type])?.[0], expected, `${form} ${type}`)
    const changed = lineInForm(line(form, type), VALUES)
    t.equal(changed, line(expected ?? form, type), `the line with ${form} ${type}`)
  }
  const odd: readonly Quad[] = readNTriples(
    '<urn:s> <urn:p> "say \\" \\"1.50\\"^^<http://www.w3.org/2001/XMLSchema#decimal> ." .',
  )!
  t.equal(lineInForm(nTriplesLine(odd[0]!), VALUES), nTriplesLine(odd[0]!), 'a text that looks like one')
  t.end()
})
