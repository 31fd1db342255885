// Files in the repository that no store can read: stores are filled with all others, and these are reported.
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { knownOtherGraphs } from '../../../gateway/start/known-other-graphs.js'
import { openDatabase } from '../../../versioning/journal/database.js'
import { openResumed } from '../../../versioning/journal/resumed.js'
import { foreignCommit } from '../../support/bare-repository.js'
import { linesOf, makePlace, triple, type Place } from '../../support/mirror.js'
import { forEachStore, row, type MakeStores } from '../../support/stores.js'
import { A_MINUTE, until } from '../../support/wait.js'
import { ttl, turtle } from '../../support/world.js'
import { NO_LOG } from '../../versioning/history-world.js'

const FILES: [name: string, content: string][] = [
  ['text that is not N-Triples', 'this is no triple\n'],
  ['a triple that is cut off', triple('https://localhost/bad/', 'x').slice(0, -6)],
  ['a blank predicate', '<a:a> _:b <c:c> .\n'],
]

/** Writes a document and closes the gateway. */
async function begin(place: Place, makeStores: MakeStores, isOutside = false): Promise<void> {
  const { owner, running } = await place.start(await makeStores())
  await owner('PUT', '/good/', ttl(turtle('"good"')))
  await running.dataspaces[0]!.endUser.history!.settled(A_MINUTE)
  // The gateway learns only after its start what `rebuild` reports about other graphs.
  if (isOutside) await until(() => knownOtherGraphs(place.folder, place.base))
  await running.close(1_000)
}

void forEachStore(t, 'rebuild from a repository with a file of', async (t, makeStores, kind) => {
  const place = await makePlace(t)
  const [bad, good] = [`${place.base}bad/`, `${place.base}good/`]
  await begin(place, makeStores, true)
  for (const [name, content] of FILES) {
    await row(t, kind, name, async (t: Test) => {
      const commit = foreignCommit(place.repository, { 'graphs/bad.nt': content })
      const stores = await makeStores()
      const ended = await place.run(stores, 'rebuild')
      t.match(ended, { code: 1, err: '' })
      const [unreadable, missing, said, ...more] = linesOf(ended)
      t.match(unreadable, new RegExp(`^unreadable +${bad}  .*graphs/bad.nt at commit ${commit}\\.$`))
      t.equal(missing, `missing in the store       ${bad}`)
      t.match(said, /: 3 documents; different: 1 missing in the store, 1 unreadable\.$/)
      t.same(more, [])
      t.match(await stores.endUser.read(good), '"good"')
      t.equal(await stores.endUser.read(bad), undefined)
    })
  }
})

void forEachStore(t, 'an embedded store, filled from a repository with a file of', async (t, makeStores, kind) => {
  if (kind !== 'embedded') return
  const place = await makePlace(t, [])
  await begin(place, makeStores)
  for (const [name, content] of FILES) {
    await row(t, kind, name, async (t: Test) => {
      const commit = foreignCommit(place.repository, { 'graphs/bad.nt': content })
      const stores = await makeStores()
      const { log, owner, running } = await place.start(stores)
      t.match(
        log.find(({ document }) => document === `${place.base}bad/`),
        { level: 50, difference: 'unreadable', detail: `graphs/bad.nt at commit ${commit}` },
      )
      t.equal((await owner('GET', '/good/')).status, 200)
      t.equal((await owner('GET', '/bad/')).status, 404)
      t.match(await place.run(stores, 'verify'), { code: 1, out: /^missing in the store +\S+\/bad\/\n/ })
      await running.close(1_000)
    })
  }
  await row(
    t,
    kind,
    'any kind: the start says so after two processes have not survived the filling, and the next one tries again',
    async (t) => {
      const stores = await makeStores()
      for (let n = 0; n < 2; n++) {
        const database = await openDatabase(join(dirname(place.repository), 'journal'), NO_LOG)
        if ('failure' in database) throw new Error(database.detail)
        const resumed = await openResumed(database)
        t.ok(await resumed.begin('fill'))
        await database.close()
      }
      await t.rejects(place.start(stores), { message: /ended twice while it filled its embedded store/ })
      const { owner, running } = await place.start(stores)
      t.equal((await owner('GET', '/good/')).status, 200)
      await running.close(1_000)
    },
  )
})
