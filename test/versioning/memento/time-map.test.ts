// The tests of TimeMaps in link format, and of the links of a document's history (RFC 7089 §2.2, §5; spec 9.4).
import t from 'tap'
import {
  documentLinks,
  historyLinks,
  mementosOf,
  timeMapText,
  type Memento,
  type TimeMap,
} from '../../../versioning/memento/time-map.js'
import { mementos } from '../versions.js'

const DOCUMENT = 'https://example.org/a/'
const DAY = 86_400
const [one, two, three, four] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40))
const datetime = (day: number): string => `datetime="${new Date(day * DAY * 1000).toUTCString()}"`

const timeMap = (versions: readonly Memento[]): TimeMap => ({
  ...{ document: DOCUMENT, uri: `${DOCUMENT}?timemap`, versions, before: undefined, others: [] },
  ...{ from: versions[0]!.time, until: versions.at(-1)!.time, isOldest: true, isNewest: true },
})

void t.test('RFC 7089 §5.1.1: one of several TimeMaps lists the others, with the times that they cover', async (t) => {
  const others = [{ uri: `${DOCUMENT}?timemap=1`, from: 0, until: DAY * 1000 }]
  const text = timeMapText({ ...timeMap(mementos(2 * DAY, 3 * DAY)), others, isOldest: false })
  t.match(
    text,
    `<${DOCUMENT}?timemap=1>; rel="timemap"; type="application/link-format"; from="Thu, 01 Jan 1970 00:00:00 GMT"; until="Fri, 02 Jan 1970 00:00:00 GMT",\n`,
  )
  t.match(text, /rel="last memento"; .*\n$/)
  t.notMatch(text, 'first')
})

void t.test('the link format of a TimeMap', async (t) => {
  t.equal(
    timeMapText(timeMap(mementos(0, DAY, 2 * DAY))),
    [
      `<${DOCUMENT}>; rel="original"`,
      `<${DOCUMENT}?timemap>; rel="self"; type="application/link-format"; from="Thu, 01 Jan 1970 00:00:00 GMT"; until="Sat, 03 Jan 1970 00:00:00 GMT"`,
      `<${DOCUMENT}?timegate>; rel="timegate"`,
      `<${DOCUMENT}?version=${one}>; rel="first memento"; ${datetime(0)}`,
      `<${DOCUMENT}?version=${two}>; rel="memento"; ${datetime(1)}`,
      `<${DOCUMENT}?version=${three}>; rel="last memento"; ${datetime(2)}`,
    ].join(',\n') + '\n',
  )
  t.match(timeMapText(timeMap(mementos(0))), `?version=${one}>; rel="first last memento"; `, 'one is first and last')
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
    const beside = chosen === undefined ? {} : { prev: all[chosen - 1], next: all[chosen + 1] }
    const [original, timeGate, timeMap, ...others] = historyLinks(
      DOCUMENT,
      { first: all[0], last: all[3], firstInMap: all[0], ...beside },
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
  t.equal(historyLinks(DOCUMENT).length, 3, 'without mementos there is no range')
  t.notMatch(historyLinks(DOCUMENT)[2], 'from')
})
