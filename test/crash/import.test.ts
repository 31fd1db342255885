// A killed import continues at its row: no row is lost, and none is imported twice. With TRIPLEGATE_IMPORT_KILLS=50 the
// import of 20,000 rows is killed fifty times.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { rowsOf } from '../support/stores.js'
import { killImport, type Left } from './import-kills.js'
import { makeRandom } from './random.js'

const wanted = Number(process.env['TRIPLEGATE_IMPORT_KILLS'] ?? 2)
// Fifty kills exceed the usual time limit of a test.
if (wanted > 2) t.setTimeout(wanted * 60_000)

void t.test('an import that is killed at random moments', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-import-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const size = wanted > 2 ? { rows: 20_000, documents: 2_000 } : { rows: 3_000, documents: 300 }
  await rowsOf(t, 'embedded')('leaves what an undisturbed one leaves, with one version of each document', async (t) => {
    const random = makeRandom(20)
    const attempt = (n: number): Promise<Left> =>
      killImport(join(folder, String(n)), { ...size, kills: wanted, random: () => random.between(0, 1) })
    let left = await attempt(0)
    // On a machine that stalls, the import may end before the first kill.
    for (let n = 1; n < 10 && left.killed === 0; n++) left = await attempt(n)
    t.match(left.state, /#Done>/)
    t.ok(left.killed > 0, 'it was killed')
    t.equal(left.found.length, size.rows)
    t.same(left.found, left.expected)
    t.same(left.otherVersions, [])
  })
})
