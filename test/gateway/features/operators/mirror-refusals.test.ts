// Refusals of the mirror commands: they do not create missing parts, do not commit the deletion of lost documents, and
// do not act on another store or repository than intended.
import { existsSync, mkdirSync, readdirSync, rmdirSync, symlinkSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import t from 'tap'
import { ownData, RESTORE_FOLDER } from '../../../../gateway/start/own-data.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { git, headOf, temporaryFolder } from '../../../support/bare-repository.js'
import { openGitHub } from '../../../support/github.js'
import { command, linesOf, makePlace, OUTSIDE, triple, VERSIONED } from '../../../support/mirror.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'

void t.test('missing parts are not created', async (t) => {
  const row = rowsOf(t, 'none')
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const folder = temporaryFolder(t)
  const application = ['--application', 'https://localhost:8443/', '--management', 'off']
  const github = await openGitHub(t)
  await github.push({ README: 'x' })
  const onGitHub = ['--history', github.location, '--history-token', github.token, '--history-api', github.apiBase]
  const bare = join(folder, 'bare.git')
  git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', bare])
  const [nowhere, empty] = [join(folder, 'nowhere'), join(folder, 'data')]
  const NO_REPOSITORY = /there is no repository at .*Correct --data, --history or/
  const NO_JOURNAL = /there is no journal at .*Correct --data\./
  const NOTHING = /has no documents: there is nothing to rebuild from/
  const rows: [name: string, action: string, history: string[], err: RegExp][] = [
    ['no data folder', 'verify', VERSIONED, NO_REPOSITORY],
    ['no data folder', 'rebuild', VERSIONED, NO_REPOSITORY],
    ['no such repository', 'verify', ['--history', `file://${nowhere}`], NO_REPOSITORY],
    ['no such repository', 'rebuild', ['--history', `file://${nowhere}`], NO_REPOSITORY],
    ['an empty repository without a journal', 'verify', ['--history', `file://${bare}`], NO_JOURNAL],
    ['an empty repository without a journal', 'rebuild', ['--history', `file://${bare}`], NOTHING],
    ['a repository on GitHub without a journal', 'verify', onGitHub, NO_JOURNAL],
    ['a repository on GitHub without documents', 'rebuild', onGitHub, NOTHING],
  ]
  for (const [name, action, history, err] of rows) {
    await row(`${action}: ${name}`, async (t) => {
      const ended = await command([action, ...application, ...OUTSIDE, ...history, '--data', empty], stores)
      t.match(ended, { code: 3, out: '', err })
      t.same(readdirSync(folder), ['bare.git'], 'nothing is created')
      t.equal(headOf(bare), undefined)
    })
  }
  await row('rebuild: a repository that has lost its branch, with a journal', async (t) => {
    const place = await makePlace(t)
    const first = await place.start(stores)
    await first.running.dataspaces[0]!.endUser.history!.settled(60_000)
    await first.running.close(1_000)
    git(place.repository, ['update-ref', '-d', 'refs/heads/main'])
    t.match(await place.run(stores, 'rebuild'), { code: 3, err: NOTHING })
  })
})

void t.test('a data folder that is in use', async (t) => {
  const row = rowsOf(t, 'none')
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const place = await makePlace(t)
  const first = await place.start(stores)
  await first.running.dataspaces[0]!.endUser.history!.settled(60_000)
  await first.running.close(1_000)
  const restore = join(place.folder, RESTORE_FOLDER)
  const takeAway = async (): Promise<void> => (await ownData(place.folder)).release()
  const rows: [name: string, take: () => Promise<() => unknown>, err: RegExp][] = [
    ['by a gateway that does not answer', async () => (await ownData(place.folder)).release, /a gateway uses this data folder\. (It does not answer at --management \d+: give its port, or stop it|Stop it)\./], // prettier-ignore
    ['by a restore that has not ended', async () => (mkdirSync(restore), () => rmdirSync(restore)), /a restore into it has not finished/], // prettier-ignore
  ]
  for (const [name, take, err] of rows) {
    await row(name, async (t) => {
      const release = await take()
      for (const action of ['verify', 'sweep', 'rebuild']) t.match(await place.run(stores, action), { code: 3, out: '', err }, action) // prettier-ignore
      await release()
    })
  }
  await row('free again afterwards', async (t) => {
    t.match(await place.run(stores, 'verify'), { code: 0, out: /equal/ })
    await t.resolves(takeAway())
  })
})

void forEachStore(t, 'a sweep of a store that has lost documents', async (t, makeStores, kind) => {
  const row = rowsOf(t, kind)
  const place = await makePlace(t)
  const [stores, empty] = [await makeStores(), await makeStores()]
  // 30 documents, with the seeded root.
  const documents = Array.from({ length: 29 }, (_, i) => `${place.base}a${i}/`)
  for (const document of documents) await stores.endUser.replace(document, triple(document, 'x'))
  const first = await place.start(stores)
  await first.running.dataspaces[0]!.endUser.history!.settled(60_000)

  await row('up to half of the documents: committed', async (t) => {
    for (const document of documents.slice(0, 15)) await stores.endUser.remove(document)
    t.match(await place.run(stores, 'sweep'), { code: 0, out: '15 missing in the store' })
  })
  const head = headOf(place.repository)
  await row('more than half of the documents, and more than ten: refused by the gateway, unless forced', async (t) => {
    for (const document of documents.slice(15, 26)) await stores.endUser.remove(document)
    const err = /lacks 11 of the 15 documents that .* has.*mirror rebuild.*--force/
    t.match(await place.run(stores, 'sweep'), { code: 3, out: '', err })
    t.equal(headOf(place.repository), head)
    t.match(await place.run(stores, 'sweep', '--force'), { code: 0, out: '11 missing in the store' })
  })
  await row('few documents, although more than half: committed', async (t) => {
    for (const document of documents.slice(26, 28)) await stores.endUser.remove(document)
    t.match(await place.run(stores, 'sweep'), { code: 0, out: '2 missing in the store' })
  })
  await first.running.close(1_000)
  await row('all documents: refused without a gateway too, unless forced', async (t) => {
    const before = headOf(place.repository)
    t.match(await place.run(empty, 'sweep'), { code: 3, err: /lacks 2 of the 2 documents.*--force/ })
    t.equal(headOf(place.repository), before)
    const forced = await place.run(empty, 'sweep', '--force')
    t.match(forced, { code: 0, out: 'found: 2 missing in the store' })
    t.same(linesOf(forced).slice(0, -1), [
      `missing in the store       ${place.base}`,
      `missing in the store       ${documents[28]}`,
    ])
  })
})

void t.test('a gateway with another store or repository than the settings name', async (t) => {
  const row = rowsOf(t, 'none')
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const place = await makePlace(t)
  const { running } = await place.start(stores)
  const { https, management } = running.ports
  const asked = ['--application', place.base, '--https', String(https), '--management', String(management)]
  const other = temporaryFolder(t)
  const own = ['--data', place.folder]
  const backend = (url: string): string[] => ['--backend', url, '--admin-backend', 'http://127.0.0.1:1/admin']
  const EQUAL = { code: 0, out: /equal/, err: '' }
  const local = ['--history', 'local']
  const refused = (err: RegExp): object => ({ code: 3, out: '', err })
  const STORE = /refuses: the store of \S+ is \S+1\/ds\/query, not \S+1\/other\/query\. Give the/
  const FOLDER = /refuses: the repository of \S+ is \S+repository.git, not \S+repository.git\. Give/
  const REPOSITORY = /the repository of .*, not github.com\/owner\/other\./
  const github = ['--history', 'https://github.com/owner/other', '--history-token', 'x']
  // prettier-ignore
  const rows: [name: string, args: string[], expected: object][] = [
    ['the settings of the gateway', [...OUTSIDE, ...local, ...own], EQUAL],
    ['no store is named', [...own], EQUAL],
    ['another name of the machine', [...backend('http://localhost:1/ds/'), ...local, ...own], EQUAL],
    ['another store', [...backend('http://127.0.0.1:1/other'), ...local, ...own], refused(STORE)],
    ['another data folder', [...OUTSIDE, ...local, '--data', other], refused(FOLDER)],
    ['another repository', [...OUTSIDE, ...github, ...own], refused(REPOSITORY)],
  ]
  for (const [name, args, expected] of rows) {
    await row(name, async (t) => {
      for (const action of ['verify', 'sweep']) {
        const ended = await command([action, ...asked, ...args])
        t.match(
          ended,
          action === 'verify' || !('out' in expected) ? expected : { ...expected, out: /nothing to commit|^$/ },
        )
        t.notMatch(ended.err, '{', 'no JSON')
      }
      t.notOk(existsSync(join(other, 'history')))
    })
  }
})

void t.test('a log without a history, in a data folder with several names', async (t) => {
  const row = rowsOf(t, 'none')
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const links = temporaryFolder(t)
  const relativeTo = (folder: string): string => relative(process.cwd(), folder)
  const linkTo = (folder: string): string => {
    const link = join(links, basename(folder))
    symlinkSync(folder, link)
    return link
  }
  const rows: [name: string, spelt: (folder: string) => string][] = [
    ['a relative path', relativeTo],
    ['a symbolic link', linkTo],
  ]
  for (const [name, spelt] of rows) {
    await row(`the gateway has ${name}`, async (t) => {
      const place = await makePlace(t, [...OUTSIDE, '--log', 'local'], spelt)
      const { running } = await place.start(stores)
      t.match(await place.run(stores, 'verify'), { code: 0, out: /equal/, err: '' }, 'the settings of the gateway')
      const { https, management } = running.ports
      const ports = ['--https', String(https), '--management', String(management)]
      const asked = ['--application', place.base, ...ports, ...OUTSIDE, '--log', 'local']
      const askedWith = (action: string, data: string) => command([action, ...asked, '--data', data])
      t.match(await askedWith('sweep', place.folder), { code: 0, err: '' }, 'the absolute path')
      const refused = { code: 3, out: '', err: /refuses: the repository of \S+ is \S+, not \S+\. Give/ }
      t.match(await askedWith('verify', links), refused, 'another folder')
    })
  }
})
