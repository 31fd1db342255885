// In charge of the tests of TimeMaps in link format, of the links of a document's history (RFC 7089 §2.2, §5; spec
// 9.4), and of the choice of a TimeGate (RFC 7089 §4.5; spec 9.5).
import fc from 'fast-check'
import t from 'tap'
import {
  closestMemento,
  documentLinks,
  historyLinks,
  mementosOf,
  timeMapText,
} from '../../../versioning/memento/time-map.js'
import { mementos } from '../versions.js'

const DOCUMENT = 'https://example.org/a/'
const DAY = 86_400
const [one, two, three, four] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40))
const datetime = (day: number): string => `datetime="${new Date(day * DAY * 1000).toUTCString()}"`

void t.test('the link format of a TimeMap', async (t) => {
  t.equal(
    timeMapText(DOCUMENT, mementos(0, DAY, 2 * DAY)),
    [
      `<${DOCUMENT}>; rel="original"`,
      `<${DOCUMENT}?timemap>; rel="self"; type="application/link-format"; from="Thu, 01 Jan 1970 00:00:00 GMT"; until="Sat, 03 Jan 1970 00:00:00 GMT"`,
      `<${DOCUMENT}?timegate>; rel="timegate"`,
      `<${DOCUMENT}?version=${one}>; rel="first memento"; ${datetime(0)}`,
      `<${DOCUMENT}?version=${two}>; rel="memento"; ${datetime(1)}`,
      `<${DOCUMENT}?version=${three}>; rel="last memento"; ${datetime(2)}`,
    ].join(',\n') + '\n',
  )
  t.match(timeMapText(DOCUMENT, mementos(0)), `?version=${one}>; rel="first last memento"; `, 'one is first and last')
})

void t.test('a deletion is not a memento', async (t) => {
  const [first, second] = mementos(0, DAY)
  t.same(mementosOf([first!, { ...second!, blob: undefined }]), [first])
})

void t.test('the document links its TimeMap and TimeGate, and no original (RFC 7089 §4.2.1)', async (t) => {
  t.same(documentLinks(DOCUMENT), [
    `<${DOCUMENT}?timemap>; rel="timemap"; type="application/link-format"`,
    `<${DOCUMENT}?timegate>; rel="timegate"`,
  ])
})

void t.test('the links of a response about the history', async (t) => {
  const all = mementos(0, DAY, 2 * DAY, 3 * DAY)
  // prettier-ignore
  const rows: [chosen: number | undefined, links: [commit: string | undefined, rel: string, day: number][]][] = [
    [undefined, [[one, 'first memento', 0], [four, 'last memento', 3]]],
    [0, [[one, 'first memento', 0], [two, 'next memento', 1], [four, 'last memento', 3]]],
    [1, [[one, 'first prev memento', 0], [two, 'memento', 1], [three, 'next memento', 2], [four, 'last memento', 3]]],
    [2, [[one, 'first memento', 0], [two, 'prev memento', 1], [three, 'memento', 2], [four, 'last next memento', 3]]],
    [3, [[one, 'first memento', 0], [three, 'prev memento', 2], [four, 'last memento', 3]]],
  ]
  for (const [chosen, expected] of rows) {
    const [original, timeGate, timeMap, ...others] = historyLinks(
      DOCUMENT,
      all,
      chosen === undefined ? undefined : all[chosen],
    )
    t.equal(original, `<${DOCUMENT}>; rel="original"`)
    t.equal(timeGate, `<${DOCUMENT}?timegate>; rel="timegate"`)
    t.match(timeMap, /rel="timemap"; type="application\/link-format"; from="Thu, 01.*"; until="Sun, 04.*"$/)
    t.same(
      others,
      expected.map(([commit, rel, day]) => `<${DOCUMENT}?version=${commit}>; rel="${rel}"; ${datetime(day)}`),
      `chosen: ${chosen}`,
    )
  }
  t.equal(historyLinks(DOCUMENT, []).length, 3, 'without mementos there is no range')
  t.notMatch(historyLinks(DOCUMENT, [])[2], 'from')
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
  t.equal(closestMemento([], 0), undefined, 'none where there are no mementos')
  const times = fc.array(fc.nat(50), { minLength: 1 }).map((all) => mementos(...all.sort((a, b) => a - b)))
  fc.assert(
    fc.property(times, fc.nat(60), (all, at) => {
      const distance = ({ time }: { time: number }): number => Math.abs(time - at * 1000)
      const best = all.filter((one) => all.every((other) => distance(one) <= distance(other)))
      return closestMemento(all, at * 1000) === best.at(-1)
    }),
  )
})
