// The attacks of `npm run attack` that take at most 2 s, on the embedded store.
import t from 'tap'
import { AVAILABILITY } from './attack/availability.js'
import { DOORS } from './attack/doors.js'
import { HISTORIES } from './attack/histories.js'
import { LONG_TEXTS } from './attack/long-texts.js'
import { MEMORY } from './attack/memory.js'
import { openPlace } from './attack/place.js'
import { RIGHTS } from './attack/rights.js'
import { carryOut } from './attack/run-row.js'
import { rowsOf } from './support/stores.js'

/**
 * Other tests run on the same machine, which is slower and sometimes stalls. So an attack that was too slow is measured
 * again.
 */
const SLACK = 8
const TRIES = 5

void t.test('a gateway withstands', async (t) => {
  const row = rowsOf(t, 'embedded')
  const place = await openPlace(undefined)
  t.teardown(() => place.stop())
  for (const attack of [...AVAILABILITY, ...LONG_TEXTS, ...MEMORY, ...RIGHTS, ...DOORS, ...HISTORIES].filter(
    ({ quick }) => quick,
  )) {
    await row(`${attack.name}: ${attack.wanted}`, async (t) => {
      let judged = await carryOut(attack, place, SLACK)
      for (let n = 1; n < TRIES && judged.faults.length > 0 && judged.wrong === undefined; n++)
        judged = await carryOut(attack, place, SLACK)
      t.same(judged.faults, [])
    })
  }
})
