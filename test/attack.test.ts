// The attacks of `npm run attack` that take 2 s at most, on the embedded store.
import t from 'tap'
import { AVAILABILITY } from './attack/availability.js'
import { LONG_TEXTS } from './attack/long-texts.js'
import { openPlace } from './attack/place.js'
import { RIGHTS } from './attack/rights.js'
import { carryOut } from './attack/run-row.js'
import { rowsOf } from './support/stores.js'

t.setTimeout(300_000)

/** Other tests run on the same machine. */
const SLACK = 4

void t.test('a gateway withstands', async (t) => {
  const row = rowsOf(t, 'embedded')
  const place = await openPlace(undefined)
  t.teardown(() => place.stop())
  for (const attack of [...AVAILABILITY, ...LONG_TEXTS, ...RIGHTS].filter(({ quick }) => quick)) {
    await row(`${attack.name}: ${attack.wanted}`, async (t) => {
      const { faults } = await carryOut(attack, place, SLACK)
      t.same(faults, [])
    })
  }
})
