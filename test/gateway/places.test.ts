// Daily shares, per client and in total (design 7).
import t from 'tap'
import { makeUploadMeter } from '../../gateway/features/files/read-upload.js'
import { makeDaily, makeSharedDaily } from '../../gateway/places.js'

void t.test('the daily limits of one client and of all', (t) => {
  let time = 5_000
  const take = makeDaily({ each: 2, all: 3 }, () => time)
  const rows: [who: string, count: number, allowed: boolean][] = [
    ['a', 1, true],
    ['a', 2, false],
    ['a', 1, true],
    ['a', 1, false],
    ['b', 1, true],
    ['b', 1, false],
    ['c', 1, false],
  ]
  for (const [who, count, allowed] of rows) t.equal(typeof take(who, count) === 'function', allowed, `${who} ${count}`)
  time += 1_000
  t.equal(take('a'), 86_399_000, 'the ms until the next day')
  time += 86_399_000
  const giveBack = take('a', 2)
  t.type(giveBack, 'function')
  t.type(take('a'), 'number')
  if (typeof giveBack === 'function') giveBack()
  t.type(take('a'), 'function', 'what is given back counts no more')
  t.end()
})

void t.test("returning a share of yesterday does not change today's count", (t) => {
  let time = 0
  const take = makeDaily({ each: 1, all: 1 }, () => time)
  const giveBack = take('a')
  time += 86_400_000
  t.type(take('a'), 'function')
  if (typeof giveBack === 'function') giveBack()
  t.type(take('a'), 'number')
  t.end()
})

void t.test('the daily limit of a network with many agents', (t) => {
  const take = makeSharedDaily({ each: 2, network: 3, all: 5 }, () => 0)
  const rows: [who: string, network: string, count: number, allowed: boolean][] = [
    ['a', '1', 3, false],
    ['a', '1', 2, true],
    ['b', '1', 2, false],
    ['b', '1', 1, true],
    ['c', '1', 1, false],
    ['a', '2', 1, false],
    ['c', '2', 2, true],
    ['d', '3', 1, false],
  ]
  for (const [who, network, count, allowed] of rows) {
    t.equal(typeof take(who, network, count) === 'function', allowed, `${who} of ${network}: ${count}`)
  }
  t.end()
})

void t.test('the daily share that an upload takes', (t) => {
  const MIB = 2 ** 20
  // prettier-ignore
  const rows: [name: string, left: number, told: number | undefined, pieces: readonly number[], refusedAt: number, settled: number][] = [
    ['a length that is too large is refused before the file comes', 10, 11, [], 0, 0],
    ['a length above the limit of a file counts as that limit', 10, 200 * MIB, [], 0, 0],
    ['the received bytes count, not the announced ones', 10, 10, [4, 3], -1, 7],
    ['without a length the bytes count while they arrive', 10, undefined, [4, 6, 1], 3, 0],
    ['without a length a little is reserved before', 20 * MIB, undefined, [1, 1], -1, 2],
    ['more than was announced counts too', 10, 2, [4, 3], -1, 7],
    ['an empty file', 0, undefined, [], -1, 0],
  ]
  for (const [name, left, told, pieces, refusedAt, settled] of rows) {
    let taken = 0
    const meter = makeUploadMeter((count) => {
      if (taken + count > left) return 1000
      taken += count
      return () => void (taken -= count)
    }, 100 * MIB)
    const failures = [meter.begin(told), ...pieces.map((piece) => meter.take(piece))]
    t.equal(
      failures.findIndex((failed) => failed !== undefined),
      refusedAt,
      name,
    )
    if (refusedAt >= 0) meter.giveBack()
    else t.equal(meter.settle(), undefined, name)
    t.equal(taken, settled, `${name}: what counts`)
  }
  t.end()
})
