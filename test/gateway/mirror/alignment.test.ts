// A start on a store and a repository that do not have the same documents: refusals, imports and warnings.
import t, { type Test } from 'tap'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { wholeText } from '../../../gateway/stores/whole-text.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { checkSound, git, headOf } from '../../support/bare-repository.js'
import { openGitHub, type GitHubDouble } from '../../support/github.js'
import { makePlace, OUTSIDE, triple, type Place, type Started } from '../../support/mirror.js'
import { forEachStore, rowsOf, type Stores } from '../../support/stores.js'
import { A_MINUTE, until } from '../../support/wait.js'
import { ttl, turtle } from '../../support/world.js'

async function fill({ endUser }: Pick<Stores, 'endUser'>, documents: readonly string[]): Promise<void> {
  for (const document of documents) await endUser.replace(document, triple(document, document))
}

const named = ({ base }: Place, name: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${base}${name}${i}/`)

async function settled({ running }: Started): Promise<void> {
  for (const { endUser, admin } of running.dataspaces) {
    for (const { history } of [endUser, admin]) t.ok((await history?.settled(A_MINUTE)) ?? true)
  }
}

const isAligning = ({ running }: Started): boolean =>
  running.dataspaces.some(({ endUser, admin }) => endUser.alignment?.isUnderWay() || admin.alignment?.isUnderWay())

/** Requests are answered while documents are imported. */
async function aligned(t: Test, started: Started): Promise<void> {
  t.ok(await until(() => !isAligning(started)))
  await settled(started)
}

const imports = ({ log }: Started): unknown[] =>
  log.filter(({ msg }) => msg === 'imported into the repository').map(({ documents }) => documents)

void forEachStore(t, 'a start on', async (t, makeStores, kind) => {
  const row = rowsOf(t, kind)
  const place = await makePlace(t)
  const stores = await makeStores()
  const before = named(place, 'a', 12)

  await row('a store of documents and no repository: imports them', async (t) => {
    await fill(stores, before)
    const first = await place.start(stores)
    await aligned(t, first)
    t.same(imports(first), [12])
    t.equal(await first.warning(), '')
    await first.running.close(1_000)
  })
  await row('a store that has lost all documents: fails, and writes nothing', async (t) => {
    const fresh = await makeStores()
    const rows = [
      ['end-user', { endUser: fresh.endUser, admin: stores.admin }, place.base],
      ['admin', { endUser: stores.endUser, admin: fresh.admin }, `${place.base}admin/`],
    ] as const
    const head = headOf(place.repository)
    for (const [name, pair, base] of rows) {
      const failure = await place.start(pair).then(
        () => 'it started',
        ({ message }: Error) => message,
      )
      t.match(
        failure,
        new RegExp(`^${base}: .* has no documents, though .* has \\d+ documents.*mirror rebuild.*--data`),
      )
      const query = 'SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } }'
      const found = await wholeText(pair[name === 'admin' ? 'admin' : 'endUser'].query(query, 'text/csv'), 1_000)
      t.equal(String(found).trim(), 'g', `${name}: nothing is seeded`)
    }
    t.equal(headOf(place.repository), head, 'nothing is committed')
  })
  await row('documents that only the store has: imports exactly these, as one commit', async (t) => {
    const [alone, other] = named(place, 'b', 2) as [string, string]
    await fill(stores, [alone, other])
    const commits = place.commits()
    const again = await place.start(stores)
    await aligned(t, again)
    t.same(imports(again), [2])
    t.same(place.commits().slice(commits.length), ['SWEEP several documents'])
    const files = git(place.repository, ['diff-tree', '-r', '--name-only', 'main~1', 'main'])
    t.same(files.trim().split('\n'), ['graphs/b0.nt', 'graphs/b1.nt'])
    const path = new URL(alone).pathname
    t.equal((await again.owner('PUT', path, ttl(turtle('"later"')))).status, 200)
    const { text } = await again.owner('GET', `${path}?timemap`, { fields: { Accept: 'application/json' } })
    t.match((JSON.parse(text) as TimeMapJson).versions, [{ method: 'SWEEP' }, { method: 'PUT', removed: 1 }])
    checkSound(t, place.repository)
    await again.running.close(1_000)
  })
  await row('documents that only the repository has: warns until verify or sweep has been run', async (t) => {
    for (const document of before.slice(0, 3)) await stores.endUser.remove(document)
    const commits = place.commits()
    const again = await place.start(stores)
    const warning = /^3 documents of the repository are missing in the store: run triplegate mirror verify/
    await aligned(t, again)
    t.match(await again.warning(), warning)
    t.equal(await again.status(), 200)
    t.match(
      again.log.find(({ msg }) => warning.test(String(msg))),
      { level: 40 },
    )
    await settled(again)
    t.same(place.commits(), commits, 'nothing is committed')
    t.match(await place.run(stores, 'verify'), { code: 1, out: '3 missing in the store' })
    t.match(await again.warning(), warning)
    t.match(await place.run(stores, 'sweep'), { code: 0, out: '3 missing in the store' })
    t.equal(await again.warning(), '')
    await settled(again)
    await again.running.close(1_000)
  })
  await row('equal documents: says and does nothing', async (t) => {
    const commits = place.commits()
    const again = await place.start(stores)
    await aligned(t, again)
    t.same([imports(again), await again.warning(), place.commits()], [[], '', commits])
  })
})

async function gitHubPlace(
  t: Test,
): Promise<{ github: GitHubDouble; place: Place; stores: Pick<Stores, 'endUser' | 'admin'> }> {
  const github = await openGitHub(t)
  await github.push({ README: 'x' })
  const history = ['--history', github.location, '--history-token', github.token, '--history-api', github.apiBase]
  const place = await makePlace(t, [...OUTSIDE, ...history, '--admin-history', 'local'])
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return { github, place, stores: { endUser, admin } }
}

void t.test('a start while GitHub', async (t) => {
  const row = rowsOf(t, 'none')
  await row('cannot be reached: imports when it can, whatever clients have written meanwhile', async (t) => {
    const { github, place, stores } = await gitHubPlace(t)
    const [written, removed, ...rest] = named(place, 'a', 5) as [string, string, ...string[]]
    await fill(stores, [written, removed, ...rest])
    let down = true
    github.fault({ on: () => down, times: Infinity, answer: { status: 503 } })
    const first = await place.start(stores)
    t.ok(await until(async () => (await first.warning()) !== ''))
    t.match(await first.warning(), /Documents of the store may be missing in the repository until then: .*503/)
    t.equal(await first.status(), 200)
    t.equal((await first.owner('PUT', new URL(written).pathname, ttl(turtle('"later"')))).status, 200)
    t.equal((await first.owner('DELETE', new URL(removed).pathname)).status, 204)
    t.equal((await first.owner('PUT', '/fresh/', ttl(turtle('"fresh"')))).status, 201)
    down = false
    t.ok(await until(async () => (await first.warning()) === ''), 'the warning ends with the import')
    await settled(first)
    t.same(imports(first), [rest.length], 'documents in the journal are not imported')
    t.match(await place.run(stores, 'verify'), { code: 0, out: '6 documents; equal' })
  })
  await row('answers late: a document that is written meanwhile is not reported as missing', async (t) => {
    const { github, place, stores } = await gitHubPlace(t)
    await fill(stores, named(place, 'a', 2))
    const first = await place.start(stores)
    await aligned(t, first)
    await first.running.close(1_000)
    let [down, waits, isListed] = [true, false, false]
    const { query } = stores.endUser
    const listing: GraphStore['query'] = (...question) => {
      if (waits) [down, waits, isListed] = [false, false, true]
      return query(...question)
    }
    github.fault({ on: () => down, times: Infinity, answer: { status: 503 } })
    const second = await place.start({ ...stores, endUser: { ...stores.endUser, query: listing } })
    t.ok(await until(async () => (await second.warning()) !== ''))
    let written = 0
    // If the held call is one that the commit waits for, the wait ends without the commit, and nothing is tested.
    const meanwhile = async (): Promise<void> => {
      written = (await second.owner('PUT', '/fresh/', ttl(turtle('"fresh"')))).status
      for (const { endUser } of second.running.dataspaces) await endUser.history?.settled(10_000)
    }
    github.fault({ on: () => isListed, meanwhile })
    waits = true
    await aligned(t, second)
    t.equal(written, 201)
    t.equal(await second.warning(), '')
  })
  await row('still lacks changes of the journal: does not import these', async (t) => {
    const { github, place, stores } = await gitHubPlace(t)
    const first = await place.start(stores)
    await aligned(t, first)
    let down = true
    github.fault({ on: () => down, times: Infinity, answer: { status: 503 } })
    await first.owner('PUT', '/late/', ttl(turtle('"late"')))
    await first.running.close(1_000)
    down = false
    const second = await place.start(stores)
    await aligned(t, second)
    t.same(imports(second), [])
    t.same(
      (await github.history()).map(({ message }) => message.split('\n')[0]),
      ['By another author', 'PUT /', 'PUT /late/'],
    )
    await second.running.close(1_000)
    down = true
    const empty = { endUser: await openEmbeddedStore('end-user'), admin: stores.admin }
    t.teardown(empty.endUser.close)
    await t.rejects(
      place.start(empty),
      /has no documents, though .* has its documents/,
      'a store that has lost its documents is refused',
    )
  })
})
