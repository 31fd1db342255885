// Datetime negotiation (RFC 7089 §2.1, §4.5; spec 9.5): which datetimes are understood, and which memento is chosen.
import fc from 'fast-check'
import t from 'tap'
import { formatMementoDatetime, parseMementoDatetime } from '../../../versioning/memento/memento-datetime.js'
import { closestMemento } from '../../../versioning/memento/time-map.js'
import { mementos } from '../versions.js'

void t.test('Accept-Datetime is an IMF-fixdate in GMT, case-sensitive (RFC 7089 §2.1.1)', async (t) => {
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
    ['a month that there is not', 'Thu, 31 Foo 2007 20:35:00 GMT', undefined],
    ['something after it', 'Thu, 31 May 2007 20:35:00 GMT;', undefined],
    ['nothing', '', undefined],
    ['what a date that is none is written as', 'Invalid Date', undefined],
  ]
  for (const [what, value, expected] of rows) {
    t.equal(parseMementoDatetime(value), expected === undefined ? undefined : Date.parse(expected), what)
  }
  const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }).map((s) => s * 1000)
  fc.assert(fc.property(seconds, (time) => parseMementoDatetime(formatMementoDatetime(time)) === time))
})

void t.test('a TimeGate chooses the closest memento', async (t) => {
  const given = mementos(100, 200, 300, 300, 400)
  const rows: [what: string, datetime: number | undefined, index: number][] = [
    ['before the first: the first', 0, 0],
    ['at one: that one', 200, 1],
    ['nearer to the older', 149, 0],
    ['nearer to the newer', 151, 1],
    ['a tie: the newer (spec 9.5)', 150, 1],
    ['two of the same second: the newer', 300, 3],
    ['a tie with two of the same second: the newest', 250, 3],
    ['after the last: the last', 1000, 4],
    ['no datetime: the newest', undefined, 4],
  ]
  for (const [what, datetime, index] of rows) {
    t.equal(closestMemento(given, datetime && datetime * 1000), given[index], what)
  }
  t.equal(closestMemento([], 0), undefined, 'none without mementos')
  const times = fc.array(fc.nat(50), { minLength: 1 }).map((all) => mementos(...all.sort((a, b) => a - b)))
  fc.assert(
    fc.property(times, fc.nat(60), (all, at) => {
      const distance = ({ time }: { time: number }): number => Math.abs(time - at * 1000)
      const best = all.filter((one) => all.every((other) => distance(one) <= distance(other)))
      return closestMemento(all, at * 1000) === best.at(-1)
    }),
  )
})
