// The tests of Memento datetimes (RFC 7089 §2.1.1): the accepted form, and forms that are refused.
import fc from 'fast-check'
import t from 'tap'
import { formatMementoDatetime, parseMementoDatetime } from '../../../versioning/memento/memento-datetime.js'

void t.test('Accept-Datetime is an IMF-fixdate in GMT, case-sensitive (RFC 7089 §2.1.1)', async (t) => {
  // prettier-ignore
  const rows: [what: string, value: string, expected: string | undefined][] = [
    ['the example of the RFC', 'Thu, 31 May 2007 20:35:00 GMT', '2007-05-31T20:35:00Z'],
    ['the year 1', 'Mon, 01 Jan 0001 00:00:00 GMT', '0001-01-01T00:00:00Z'],
    ['a leap day', 'Thu, 29 Feb 2024 23:59:59 GMT', '2024-02-29T23:59:59Z'],
    ['a leap day in another year', 'Wed, 29 Feb 2023 00:00:00 GMT', undefined],
    ['another day of the week', 'Fri, 31 May 2007 20:35:00 GMT', undefined],
    ['lower case', 'thu, 31 may 2007 20:35:00 gmt', undefined],
    ['another time zone', 'Thu, 31 May 2007 20:35:00 CET', undefined],
    ['an offset', 'Thu, 31 May 2007 20:35:00 +0000', undefined],
    ['UTC', 'Thu, 31 May 2007 20:35:00 UTC', undefined],
    ['RFC 850', 'Thursday, 31-May-07 20:35:00 GMT', undefined],
    ['asctime', 'Thu May 31 20:35:00 2007', undefined],
    ['ISO 8601', '2007-05-31T20:35:00Z', undefined],
    ['one digit for the day', 'Fri, 1 Jun 2007 20:35:00 GMT', undefined],
    ['hour 24', 'Thu, 31 May 2007 24:00:00 GMT', undefined],
    ['an unknown month', 'Thu, 31 Foo 2007 20:35:00 GMT', undefined],
    ['text after it', 'Thu, 31 May 2007 20:35:00 GMT;', undefined],
    ['nothing', '', undefined],
    ['the text of an invalid date', 'Invalid Date', undefined],
  ]
  for (const [what, value, expected] of rows) {
    t.equal(parseMementoDatetime(value), expected === undefined ? undefined : Date.parse(expected), what)
  }
  const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }).map((s) => s * 1000)
  fc.assert(fc.property(seconds, (time) => parseMementoDatetime(formatMementoDatetime(time)) === time))
})
