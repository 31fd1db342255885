// Files in the repository that no store can read: stores are filled with all others, and these are reported.
import t, { type Test } from 'tap'
import { knownOtherGraphs } from '../../../gateway/start/known-other-graphs.js'
import { foreignCommit } from '../../support/bare-repository.js'
import { linesOf, makePlace, triple, type Place } from '../../support/mirror.js'
import { forEachStore, row, type MakeStores } from '../../support/stores.js'
import { A_MINUTE, until } from '../../support/wait.js'
import { ttl, turtle } from '../../support/world.js'

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
  // The gateway finds out after its start what rebuild says of other graphs.
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
      t.match(unreadable, new RegExp(`^unreadable +${bad}  .*graphs/bad.nt as at commit ${commit}\\.$`))
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
        { level: 50, difference: 'unreadable', detail: `graphs/bad.nt as at commit ${commit}` },
      )
      t.equal((await owner('GET', '/good/')).status, 200)
      t.equal((await owner('GET', '/bad/')).status, 404)
      t.match(await place.run(stores, 'verify'), { code: 1, out: /^missing in the store +\S+\/bad\/\n/ })
      await running.close(1_000)
    })
  }
})
