// Seeding happens once in the life of a dataspace (design 3): what was deleted does not come back at a later start, and
// a first start that was interrupted is completed. Real restarts, on the embedded store and Fuseki.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openSeeded, SEEDED_FILE } from '../../../gateway/start/seeded.js'
import { readOrMakeTagKey, TAG_KEY_FILE } from '../../../gateway/start/tag-key.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { makePlace, OUTSIDE, type Place, type Started } from '../../support/mirror.js'
import { forEachStore, rowsOf, type Stores } from '../../support/stores.js'

const UNVERSIONED = [...OUTSIDE, '--history', 'off', '--admin-history', 'off']

interface Life {
  readonly place: Place
  readonly stores: Stores
  readonly has: (store: GraphStore, path: string) => Promise<boolean>
}

void forEachStore(t, 'seeding', async (t, makeStores, kind) => {
  const row = rowsOf(t, kind)
  const begin = async (t: Test): Promise<Life> => {
    const place = await makePlace(t, UNVERSIONED)
    const stores = await makeStores()
    await during(place, stores, () => undefined)
    return { place, stores, has: async (store, path) => (await store.read(place.base + path)) !== undefined }
  }
  const PUBLIC = 'admin/acl/authorizations/public/'
  const deletePublic = async ({ place, stores }: Life): Promise<void> =>
    during(place, stores, async ({ owner }) => {
      const { status } = await owner('DELETE', `/${PUBLIC}`)
      if (status !== 204) throw new Error(String(status))
    })

  // prettier-ignore
  const rows: [name: string, between: (life: Life) => unknown][] = [
    ['with the data folder', () => undefined],
    ['with a data folder of a version without the mark', ({ place }) => rmSync(join(place.folder, SEEDED_FILE))],
    ['after the root was removed behind the gateway', ({ place, stores }) => stores.admin.remove(`${place.base}admin/`)],
    ['after that, without the mark', async ({ place, stores }) => {
      rmSync(join(place.folder, SEEDED_FILE))
      await stores.admin.remove(`${place.base}admin/`)
    }],
  ]
  for (const [name, between] of rows) {
    await row(`a deleted authorization does not come back, ${name}`, async (t) => {
      const life = await begin(t)
      await deletePublic(life)
      await between(life)
      await during(life.place, life.stores, () => undefined)
      t.equal(await life.has(life.stores.admin, PUBLIC), false)
      t.equal(await life.has(life.stores.admin, 'admin/acl/authorizations/full-control/'), true)
    })
  }
  await row('the root is missing: a line in the log, and PUT creates it again', async (t) => {
    const { place, stores, has } = await begin(t)
    await stores.endUser.remove(place.base)
    await stores.endUser.replace(`${place.base}x/`, '<http://e/s> <http://e/p> <http://e/o> .\n')
    await during(place, stores, async ({ log, owner }) => {
      t.ok(log.some(({ msg, base }) => /root document is missing/.test(String(msg)) && base === place.base))
      t.equal(await has(stores.endUser, ''), false)
      t.equal((await owner('PUT', '/')).status, 201)
    })
  })
  await row('another store that has documents but no root: the root is added', async (t) => {
    const { place, stores, has } = await begin(t)
    const file = join(place.folder, SEEDED_FILE)
    const marks = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
    // As if the gateway had used its embedded store before.
    writeFileSync(file, JSON.stringify({ ...marks, [place.base]: { ...marks[place.base], store: 'embedded' } }))
    await stores.endUser.remove(place.base)
    await stores.endUser.replace(`${place.base}x/`, '<http://e/s> <http://e/p> <http://e/o> .\n')
    await during(place, stores, () => undefined)
    t.same([await has(stores.endUser, ''), await has(stores.admin, PUBLIC)], [true, true])
    t.match(JSON.parse(readFileSync(file, 'utf8')), { [place.base]: { state: 'done', store: /1\/ds/ } })
  })
  await row('a removed membership does not come back', async (t) => {
    const { place, stores } = await begin(t)
    const group = `${place.base}admin/acl/groups/writers/`
    const without = String(await stores.admin.read(group))
      .split('\n')
      .filter((line) => !line.includes('member'))
    await stores.admin.replace(group, without.join('\n'))
    await during(place, stores, () => undefined)
    t.notMatch(String(await stores.admin.read(group)), /foaf\/0\.1\/member/)
  })
  await row('another store with the same data folder is seeded', async (t) => {
    const { place, has } = await begin(t)
    const others = await makeStores()
    await during(place, others, async ({ owner, log }) => {
      t.equal((await owner('GET', '/')).status, 200)
      const lines = log
        .filter(({ msg }) => msg === 'seeded')
        .map(({ base, documents }) => [base, Number(documents) > 30])
      t.same(lines, [[place.base, true]], 'one line')
    })
    t.equal(await has(others.admin, PUBLIC), true)
    t.match(String(await others.admin.read(`${place.base}admin/acl/groups/owners/`)), /member/)
  })
  await row('an interrupted first start is completed', async (t) => {
    const life = await begin(t)
    const { place, stores, has } = life
    const file = join(place.folder, SEEDED_FILE)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"done"', '"begun"'))
    await stores.admin.remove(`${place.base}admin/`)
    await stores.admin.remove(place.base + PUBLIC)
    await during(place, stores, () => undefined)
    t.same([await has(stores.admin, 'admin/'), await has(stores.admin, PUBLIC)], [true, true])
    t.match(readFileSync(file, 'utf8'), /"done"/)
  })
  await row('a store with documents and no seed, and a new data folder: the root is added', async (t) => {
    const place = await makePlace(t, UNVERSIONED)
    const stores = await makeStores()
    await stores.endUser.replace(`${place.base}x/`, '<http://e/s> <http://e/p> <http://e/o> .\n')
    await during(place, stores, async ({ owner }) => t.equal((await owner('GET', '/x/')).status, 200))
    t.not(await stores.endUser.read(place.base), undefined)
  })
  await row('the key of the entity-tags: the same tags after a restart, others with another key', async (t) => {
    const { place, stores } = await begin(t)
    const tagOf = async (): Promise<string | undefined> => {
      let tag: string | undefined
      await during(place, stores, async ({ owner }) => void (tag = (await owner('GET', '/')).fields.etag))
      return tag
    }
    const [first, second] = [await tagOf(), await tagOf()]
    t.ok(first)
    t.equal(second, first)
    rmSync(join(place.folder, TAG_KEY_FILE))
    t.not(await tagOf(), first)
  })
})

async function during({ start }: Place, stores: Stores, act: (started: Started) => unknown): Promise<void> {
  const started = await start(stores)
  await act(started)
  started.owner.close()
  await started.running.close(100)
}

void t.test('the files of the data folder', async (t) => {
  const folder = t.testdir({})
  const key = readOrMakeTagKey(folder)
  t.match(key, /^[\w-]{43}$/)
  t.equal(readOrMakeTagKey(folder), key, 'made once')
  t.equal(statSync(join(folder, TAG_KEY_FILE)).mode & 0o777, 0o600)
  writeFileSync(join(folder, TAG_KEY_FILE), 'short')
  t.match(readOrMakeTagKey(folder), { failure: 'tag-key.unusable' })
  t.equal(readFileSync(join(folder, TAG_KEY_FILE), 'utf8'), 'short', 'never overwritten')

  const seeded = openSeeded(folder)
  t.equal(existsSync(join(folder, SEEDED_FILE)), false)
  seeded.record('http://e/', 'begun', 'http://s/query')
  seeded.recordAgent('http://e/', 'http://e/#me')
  t.equal(statSync(join(folder, SEEDED_FILE)).mode & 0o777, 0o600)
  const again = openSeeded(folder)
  t.same([again.of('http://e/'), again.of('http://f/')], ['begun', undefined])
  const ofStores = (): unknown[] => ['http://s/query', 'embedded'].map((store) => again.ofStore('http://e/', store))
  t.same(ofStores(), ['begun', 'begun'], 'a seed that was interrupted is completed, however the store is named')
  again.record('http://e/', 'done', 'http://s/query')
  t.same(ofStores(), ['done', undefined])
  t.same([again.hasAgent('http://e/', 'http://e/#me'), again.hasAgent('http://e/', 'http://e/#you')], [true, false])
  writeFileSync(join(folder, SEEDED_FILE), '{')
  t.throws(() => openSeeded(folder), /seeded\.json/)
})
