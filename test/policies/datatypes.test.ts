// The built-in datatypes of XML Schema 1.1: which texts are lexical forms, and the meaning of times.
import t from 'tap'
import { isLexical, timeOf } from '../../policies/datatypes.js'

// prettier-ignore
const FORMS: readonly (readonly [type: string, valid: readonly string[], invalid: readonly string[]])[] = [
  ['integer',           ['0', '+05', '-0', '9'.repeat(1000)], ['', '1.0', ' 1', '1e3', '0x1']],
  ['byte',              ['127', '-128', '0000000000000000000000127'], ['128', '-129']],
  ['long',              ['9223372036854775807', '-9223372036854775808'], ['9223372036854775808', '-9223372036854775809', '9'.repeat(1000)]],
  ['unsignedInt',       ['0', '-0', '4294967295'], ['-1', '4294967296']],
  ['positiveInteger',   ['1', '9'.repeat(1000)], ['0', '-1']],
  ['negativeInteger',   ['-1', `-${'9'.repeat(1000)}`], ['0', '-0', '1']],
  ['decimal',           ['1', '1.', '.5', '-0.50'], ['.', '', '1e3', 'INF']],
  ['double',            ['1', '1e3', '.5E-3', 'INF', '-INF', '+INF', 'NaN'], ['Infinity', '-NaN', 'e3', '1e', '1e0.5']],
  ['boolean',           ['true', 'false', '1', '0'], ['TRUE', 'yes', '']],
  ['date',              ['2024-02-29', '2026-11-26Z', '2026-11-26-14:00', '-0001-01-01', '12026-01-01', '300000-02-29', '0000-02-29'],
                        ['2023-02-29', '1900-02-29', '300001-02-29', '2026-13-01', '2026-04-31', '26-01-01', '012026-01-01', '2026-01-01+14:01', '2026-1-1']],
  ['dateTime',          ['2026-11-26T24:00:00', '2026-11-26T23:59:59.999Z'], ['2026-11-26T24:00:01', '2026-11-26T23:60:00', '2026-11-26', '2026-11-26 10:00:00']],
  ['dateTimeStamp',     ['2026-11-26T10:00:00Z'], ['2026-11-26T10:00:00']],
  ['time',              ['10:00:00', '24:00:00.0', '10:00:00.5+02:00'], ['25:00:00', '10:00']],
  ['gMonthDay',         ['--02-29', '--12-31Z'], ['--02-30', '--04-31']],
  ['duration',          ['P1Y', 'PT1M', '-P1DT0.5S'], ['P', 'PT', 'P1S', 'P-1D']],
  ['dayTimeDuration',   ['P1D', 'PT1M', 'P1DT1M'], ['P1M', 'P1Y']],
  ['yearMonthDuration', ['P1Y2M'], ['P1D', 'PT1M']],
  ['hexBinary',         ['', '0aFF'], ['0', '0g']],
  ['language',          ['en', 'de-CH-1996'], ['', 'e n', 'abcdefghi']],
]

void t.test('lexical forms', async (t) => {
  for (const [type, valid, invalid] of FORMS) {
    await t.test(`of ${type}`, async (t) => {
      for (const text of valid) t.equal(isLexical(text, type), true, text.slice(0, 40))
      for (const text of invalid) t.equal(isLexical(text, type), false, text.slice(0, 40))
    })
  }
  for (const type of ['string', 'toString', '', 'anyURI']) t.equal(isLexical('1', type), undefined, type)
})

// prettier-ignore
const TIMES: readonly (readonly [text: string, type: string, seconds: number])[] = [
  ['1970-01-01',                'date',       0],
  ['1970-01-01T00:00:00-05:00', 'dateTime',   18_000],
  ['1969-12-31T24:00:00Z',      'dateTime',   0],
  ['2000',                      'gYear',      946_684_800],
  ['0000-03-01',                'date',       new Date('0000-03-01').getTime() / 1000],
  ['-0001-12-31',               'date',       new Date('-000001-12-31').getTime() / 1000],
  ['275760-09-13',              'date',       8.64e12],
]

void t.test('seconds since 1970', async (t) => {
  for (const [text, type, seconds] of TIMES) t.equal(timeOf(text, type)?.seconds, seconds, text)
  const [last, next] = ['299999-12-31', '300000-01-01'].map((text) => timeOf(text, 'date')!.seconds)
  t.equal(next! - last!, 86_400, 'years beyond those of Date')
})
