// The crash test in short form (design 6): the gateway is killed while agents write; in some rows git is killed too, or
// the connection to the store fails. `npm run soak` is the long form. A run takes its choices from a seed;
// TRIPLEGATE_CRASH_SEED=N tries others. The timing still differs from run to run.
import t from 'tap'
import { FUSEKI, reasonWithoutFuseki, row } from '../support/stores.js'
import { runCrashes } from './crash-run.js'
import type { Kind } from './places.js'

const SEED = Number(process.env.TRIPLEGATE_CRASH_SEED ?? 20)
if (!Number.isSafeInteger(SEED)) throw new Error('TRIPLEGATE_CRASH_SEED is not a whole number.')

const ROWS: readonly { kind: Kind; kills: number; what: string }[] = [
  { kind: 'embedded', kills: 3, what: 'the gateway, with the embedded store' },
  { kind: 'git', kills: 2, what: 'the gateway and its git processes' },
  { kind: 'cut', kills: 3, what: 'the gateway, in front of a Fuseki whose connection fails now and then' },
]

void t.test(
  'kill -9 while agents write: each write with a 2xx response is one commit, and no refused write is one',
  async (t) => {
    const missing = await reasonWithoutFuseki()
    for (const [n, { kind, kills, what }] of ROWS.entries()) {
      const onFuseki = kind === 'cut'
      if (onFuseki && missing !== undefined) {
        await t.test(what, { skip: missing }, () => undefined)
        continue
      }
      await row(t, onFuseki ? 'fuseki' : 'embedded', what, async (t) => {
        t.comment(`TRIPLEGATE_CRASH_SEED=${SEED}`)
        const fuseki = onFuseki ? { fuseki: FUSEKI! } : {}
        const { faults, folder, ...counts } = await runCrashes({ kind, kills, seed: SEED + n, ...fuseki })
        t.comment(JSON.stringify(counts))
        const evidence = `TRIPLEGATE_CRASH_SEED=${SEED}, see ${folder}`
        t.same(faults, [], faults.length > 0 ? evidence : 'the commits are those of the responses')
        t.equal(counts.kills, kills)
        t.ok(counts.writes.done > 0, 'something was written')
        if (onFuseki) t.ok(counts.sharedUpdates! > 0, 'writes shared updates of the store')
      })
    }
  },
)
