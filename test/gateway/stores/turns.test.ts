// Turns at a store: askers take turns, and no agent and no network holds all places (design 7).
import t from 'tap'
import { isFailure } from '../../../gateway/problem.js'
import type { Asker } from '../../../gateway/stores/rounds.js'
import { makeTurns } from '../../../gateway/stores/turns.js'

const A = { agent: 'a', network: '1' }
const B = { agent: 'b', network: '1' }
const C = { agent: 'c', network: '2' }
const OWN = undefined

// prettier-ignore
const ROWS: readonly [name: string, places: number, calls: readonly (Asker | undefined)[], order: string][] = [
  ['the agents of a network take turns', 1, [A, A, A, B], 'a a b a'],
  ['networks take turns', 1, [A, A, B, C], 'a a c b'],
  ['an agent does not hold all places', 2, [A, A, A, C], 'a c a a'],
  ['a network does not hold all places', 2, [A, B, C], 'a c b'],
  ['the gateway itself has every other turn', 1, [A, A, A, OWN, OWN], 'a own a own a'],
  ['the gateway itself may hold all places', 2, [OWN, OWN, A], 'own own a'],
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
