// The tests of the version that a TimeGate chooses (RFC 7089 §4.5; spec 9.5).
import fc from 'fast-check'
import t from 'tap'
import { closestPlace } from '../../../versioning/memento/time-gate.js'

/** @param times in seconds; a negative one is that of a deletion */
async function closest(times: readonly number[], datetime: number | undefined) {
  let read = 0
  const place = await closestPlace(
    {
      count: times.length,
      timeAt: (at) => Promise.resolve((read++, Math.abs(times[at]!))),
      isMemento: (at) => times[at]! >= 0,
    },
    datetime,
  )
  return { place, read }
}

void t.test('a TimeGate chooses the closest memento', async (t) => {
  const given = [100, 200, 300, 300, 400]
  const rows: [what: string, times: number[], datetime: number | undefined, place: number | undefined][] = [
    ['before the first: the first', given, 0, 0],
    ['at one: that one', given, 200, 1],
    ['nearer to the older', given, 149, 0],
    ['nearer to the newer', given, 151, 1],
    ['a tie: the newer (spec 9.5)', given, 150, 1],
    ['two of the same second: the newer', given, 300, 3],
    ['a tie with two of the same second: the newest', given, 250, 3],
    ['after the last: the last', given, 1000, 4],
    ['no datetime: the newest', given, undefined, 4],
    ['a deletion does not count: no datetime', [100, -200], undefined, 0],
    ['a deletion does not count: its own time', [100, -200, 400], 200, 0],
    ['a deletion does not count: nearer to what follows it', [100, -200, 300], 250, 2],
    ['none at all', [], 0, undefined],
  ]
  for (const [what, times, datetime, place] of rows) t.equal((await closest(times, datetime)).place, place, what)
})

void t.test('property: no memento is closer, none that is equally close is newer, and few are read', async () => {
  const times = fc
    .array(fc.tuple(fc.nat(50), fc.boolean()), { minLength: 1, maxLength: 40 })
    .map((all) => all.sort(([a], [b]) => a - b))
    .map((all) => {
      let before = true
      return all.map(([time, isDeletion]) => {
        before = isDeletion && time > 0 && !before
        return before ? -time : time
      })
    })
    .filter(([first]) => first! >= 0)
  await fc.assert(
    fc.asyncProperty(times, fc.nat(60), async (all, at) => {
      const distance = (place: number): number => (all[place]! < 0 ? Infinity : Math.abs(all[place]! - at))
      const best = Math.min(...all.map((_, place) => distance(place)))
      const { place, read } = await closest(all, at)
      return place === all.findLastIndex((_, place) => distance(place) === best) && read <= 16
    }),
  )
})
