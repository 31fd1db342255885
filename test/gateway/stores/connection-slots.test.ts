// Connections to a store: agents and networks take turns, and none gets all connections (design 7).
import t from 'tap'
import { isFailure } from '../../../gateway/problem.js'
import type { Asker } from '../../../gateway/stores/fair-queue.js'
import { makeTurns, type EndTurn } from '../../../gateway/stores/connection-slots.js'

const A = { agent: 'a', network: '1' }
const B = { agent: 'b', network: '1' }
const C = { agent: 'c', network: '2' }
const OWN = undefined

// prettier-ignore
const ROWS: readonly [name: string, places: number, calls: readonly (Asker | undefined)[], order: string][] = [
  ['the agents of a network take turns', 1, [A, A, A, B], 'a a b a'],
  ['networks take turns', 1, [A, A, B, C], 'a a c b'],
  ['an agent does not get all connections', 2, [A, A, A, C], 'a c a a'],
  ['a network does not get all connections', 2, [A, B, C], 'a c b'],
  ['a network leaves a quarter of them', 8, [A, A, A, A, A, A, A, C], 'a a a a a a c a'],
  ['the gateway itself has every other turn', 1, [A, A, A, OWN, OWN], 'a own a own a'],
  ['the gateway itself may have all connections', 2, [OWN, OWN, A], 'own own a'],
  ['more calls of one agent than a quarter are refused', 1, [A, A, A, A, C], 'a overloaded a c a'],
]

void t.test('fair turns', async (t) => {
  for (const [name, places, calls, order] of ROWS) {
    const turns = makeTurns(places, 8)
    const happened: string[] = []
    const ends: (() => void)[] = []
    const taken = calls.map(async (asker) => {
      const place = await turns.take(undefined, asker)
      if (isFailure(place)) return void happened.push('overloaded')
      happened.push(typeof asker === 'object' ? asker.agent : 'own')
      ends.push(place)
    })
    const settled = Promise.all(taken)
    await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < calls.length; i++) {
      ends.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await settled
    t.equal(happened.join(' '), order, name)
  }
})

void t.test(
  'a wait that lasts longer than its patience ends as an overload, and leaves its place in the line',
  async (t) => {
    const turns = makeTurns(1, 8, { patience: 10 })
    const held = await turns.take(undefined, A)
    t.match(await turns.take(undefined, C), { failure: 'store.overloaded' })
    if (!isFailure(held)) held()
    t.notOk(isFailure(await turns.take(undefined, A)), 'the place is free')
  },
)

// prettier-ignore
const LENDING: readonly [name: string, places: number, calls: readonly Asker[], entered: string, calledBack: string][] = [
  ['a free connection is lent to a network that has all others', 2, [A, B], 'a b', ''],
  ['the loan is called back when another network waits', 2, [A, B, C], 'a b', 'b'],
  ['a call of the same network calls no loan back', 2, [A, B, A], 'a b', ''],
  ['nothing is lent if another network has a connection', 2, [A, C, B], 'a c', ''],
  ['at most one connection is lent', 4, [A, A, A, B, B], 'a a a b', ''],
]

void t.test('connections on loan', async (t) => {
  for (const [name, places, calls, entered, calledBack] of LENDING) {
    const turns = makeTurns(places, 32, { lends: true })
    const held: { readonly name: string; readonly end: EndTurn }[] = []
    const taken = calls.map(async (asker) => {
      const end = await turns.take(undefined, asker)
      if (!isFailure(end)) held.push({ name: (asker as typeof A).agent, end })
    })
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(held.map(({ name }) => name).join(' '), entered, name)
    const back = held.filter(({ end }) => end.isCalledBack())
    t.equal(back.map(({ name }) => name).join(' '), calledBack, `${name}: called back`)
    for (const { end } of back) end()
    await new Promise((resolve) => setImmediate(resolve))
    if (back.length > 0) t.equal(held.at(-1)!.name, 'c', `${name}: the other has it then`)
    for (let i = 0; i < held.length; i++) {
      held[i]!.end()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(taken)
    t.equal(held.length, calls.length, `${name}: all have their turn`)
  }
  const turns = makeTurns(2, 32, { lends: true })
  const [first, lent] = [await turns.take(undefined, A), await turns.take(undefined, B)]
  if (isFailure(first) || isFailure(lent)) throw new Error('refused')
  first()
  void turns.take(undefined, C)
  void turns.take(undefined, C)
  t.notOk(lent.isCalledBack(), 'a network that has no other place any longer keeps the one that was lent')
})
