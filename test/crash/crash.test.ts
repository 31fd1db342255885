// Crashes in short form (design 6): the gateway is killed while agents write, in other rows what it needs too; `npm run soak`
// does it for long.
import t from 'tap'
import { FUSEKI, reasonWithoutFuseki, row } from '../support/stores.js'
import { runCrashes } from './crash-run.js'
import type { Kind } from './places.js'

t.setTimeout(180_000)

const ROWS: readonly { kind: Kind; kills: number; what: string }[] = [
  { kind: 'embedded', kills: 3, what: 'the gateway, with the store within' },
  { kind: 'git', kills: 2, what: 'the gateway and its git processes' },
  { kind: 'cut', kills: 3, what: 'the gateway, in front of a Fuseki that is cut off now and then' },
]

void t.test(
  'kill -9 while agents write: each write that was answered is one commit, and nothing else is',
  async (t) => {
    const missing = await reasonWithoutFuseki()
    for (const [n, { kind, kills, what }] of ROWS.entries()) {
      const onFuseki = kind === 'cut'
      if (onFuseki && missing !== undefined) {
        await t.test(what, { skip: missing }, () => undefined)
        continue
      }
      await row(t, onFuseki ? 'fuseki' : 'embedded', what, async (t) => {
        const seed = Date.now() + n
        const fuseki = onFuseki ? { fuseki: FUSEKI! } : {}
        const { faults, folder, ...counts } = await runCrashes({ kind, kills, seed, ...fuseki })
        t.comment(`${JSON.stringify(counts)}, seed ${seed}`)
        t.same(faults, [], faults.length > 0 ? `see ${folder}` : 'as the agents saw it')
        t.equal(counts.kills, kills)
        t.ok(counts.writes.done > 0, 'something was written')
      })
    }
  },
)
