// Shares of a day: for each and for all (design 7).
import t from 'tap'
import { makeDaily } from '../../gateway/places.js'

void t.test('what each and all may do in a day', (t) => {
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

void t.test('a day that has begun is not changed by what is given back of the one before', (t) => {
  let time = 0
  const take = makeDaily({ each: 1, all: 1 }, () => time)
  const giveBack = take('a')
  time += 86_400_000
  t.type(take('a'), 'function')
  if (typeof giveBack === 'function') giveBack()
  t.type(take('a'), 'number')
  t.end()
})
