// A gateway whose history is on GitHub (spec 9.2 to 9.5): commits, versions, and warnings for the operator. GitHub is a
// double over a real repository, checked against GitHub's OpenAPI description.
import t from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { readTrailers } from '../../../versioning/git/commit-message.js'
import { makeClient } from '../../support/client.js'
import { freePort } from '../../support/fuseki.js'
import { openGitHub } from '../../support/github.js'
import { makePlace } from '../../support/mirror.js'
import { rowsOf } from '../../support/stores.js'
import { A_MINUTE, until } from '../../support/wait.js'
import { makeWorld, ttl, turtle } from '../../support/world.js'

interface Check {
  readonly what: string
  readonly warning?: string
  readonly journal?: { readonly depth: number; readonly lastError: string | null }
}

void t.test('a history on GitHub', async (t) => {
  const github = await openGitHub(t)
  await github.push({ README: 'x' })
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const management = await freePort()
  const flags = [
    '--history',
    github.location,
    '--history-token',
    github.token,
    '--history-api',
    github.apiBase,
    '--management',
    String(management),
  ]
  const world = await makeWorld(t, stores, { flags })
  const operator = makeClient({ port: management })
  t.teardown(operator.close)
  const owner = world.as('owner')
  const history = world.running.dataspaces[0]!.endUser.history!
  const row = rowsOf(t, 'none')
  const check = async (): Promise<Check> => {
    const { text } = await operator('GET', '/health/ready')
    return (JSON.parse(text) as { checks: Check[] }).checks.find(({ journal }) => journal)!
  }
  await history.settled(A_MINUTE)

  await row('each write is one commit by its agent, takes one call, and can be read as a version', async () => {
    const before = github.calls.length
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    await owner('PUT', path, ttl(turtle('"two"')))
    t.ok(await history.settled(A_MINUTE))
    t.equal(github.calls.length - before, 2)
    const commits = (await github.history()).slice(-2)
    t.same(
      commits.map(({ message, author, paths }) => [readTrailers(message).method, author, paths]),
      Array(2).fill(['PUT', world.ownerWebId, [`graphs${path.slice(0, -1)}.nt`]]),
    )
    const memento = await owner('GET', `${path}?version=${commits[0]!.sha}`)
    t.equal(memento.status, 200)
    t.match(memento.text, /"one"/)
    t.match(memento.fields['memento-datetime'], /GMT$/)
  })
  await row('a refused token: writes continue, and the operator reads why and what to do', async () => {
    const token = github.token
    github.token = 'another'
    const path = world.freshPath()
    t.equal((await owner('PUT', path, ttl(turtle('"three"')))).status, 201)
    await until(async () => (await check()).warning)
    const { warning, journal } = await check()
    t.match(warning, /token/i)
    t.equal(journal!.depth, 1)
    t.notMatch(JSON.stringify(await check()), new RegExp(token))
    const { text: metrics } = await operator('GET', '/metrics')
    t.match(metrics, /triplegate_history_parked\{application="[^"]*"\} 1/)
    t.match(metrics, /triplegate_journal_entries\{application="[^"]*"\} 1/)
    github.token = token
  })
})

void t.test('a restart while GitHub still shows an earlier head: the embedded store gets every write', async (t) => {
  const github = await openGitHub(t)
  await github.push({ README: 'x' })
  const place = await makePlace(t, ['--history', github.location, '--history-token', github.token, '--history-api', github.apiBase]) // prettier-ignore
  const start = async () => {
    const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
    t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
    return place.start(stores)
  }
  const settled = ({ running }: Awaited<ReturnType<typeof start>>) =>
    running.dataspaces[0]!.endUser.history!.settled(A_MINUTE)
  const first = await start()
  await first.owner('PUT', '/d/', ttl(turtle('"one"')))
  t.ok(await settled(first))
  await github.freeze()
  t.equal((await first.owner('PUT', '/d/', ttl(turtle('"two"')))).status, 200)
  t.equal((await first.owner('PUT', '/new/', ttl(turtle('"new"')))).status, 201)
  t.ok(await settled(first))
  await first.running.close(1_000)
  const second = await start()
  github.thaw()
  t.match((await second.owner('GET', '/d/')).text, /"two"/)
  t.match((await second.owner('GET', '/new/')).text, /"new"/)
  await second.owner('POST', '/d/', ttl('<> <urn:a> "x" .'))
  t.ok(await settled(second))
  t.match(await github.file('graphs/d.nt'), /"two"[^]*"x"|"x"[^]*"two"/)
})
