// Design 6: if rules have changed since a write was decided, it is decided again.
import t from 'tap'
import type { History, WriteBasis } from '../../../versioning/history.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { makeWorld, ttl, turtle } from '../../support/world.js'

await forEachStore(t, { name: 'decided again', kinds: ['embedded'] }, async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores(), { flags: ['--history', 'local', '--admin-history', 'local'] })
  const [owner, stranger] = [world.as('owner'), world.as('stranger')]
  const history = world.running.dataspaces[0]!.endUser.history!
  const rule = '/admin/acl/authorizations/of-stranger/'
  const grants = (document: string): string => `<#it> a acl:Authorization ; acl:mode acl:Read, acl:Write ;
    acl:accessTo <${world.origin}${document}> ; acl:agent <${world.webIdOf('stranger')}> .`
  const ACL = '@prefix acl: <http://www.w3.org/ns/auth/acl#> .\n'
  const row = rowsOf(t, kind)

  /** Acts when the next write has been decided, before it is in the log. */
  function onceDecided(act: () => Promise<unknown>): void {
    const { begin } = history
    const changed: Pick<History, 'begin'> = {
      async begin(...asked) {
        Object.assign(history, { begin })
        await act()
        return begin(...asked)
      },
    }
    Object.assign(history, changed)
  }

  await row('the basis of a decision is given as positions in the log of the dataspace', async (t) => {
    const path = world.freshPath()
    t.match((await owner('PUT', rule, ttl(ACL + grants(path)))).status, /20[01]/)
    const { begin } = history
    let decided: WriteBasis | undefined
    Object.assign(history, { begin: (...asked: Parameters<typeof begin>) => ((decided = asked[1]), begin(...asked)) })
    const now = history.log.newest()
    t.ok(now > history.log.position(), 'the last change was one of the rules')
    t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 201)
    Object.assign(history, { begin })
    t.match(decided, { asOf: now, rules: now })
  })

  const rows: readonly [what: string, meanwhile: (path: string) => Promise<unknown>, status: number, title: string][] =
    [
      ['the right of its agent is revoked: refused', () => owner('DELETE', rule), 403, 'one'],
      [
        'the rules change, but not the right of its agent',
        (path) => owner('PUT', rule, ttl(ACL + grants(path))),
        200,
        'two',
      ],
      ['another document is written', () => owner('PUT', world.freshPath(), ttl(turtle('"other"'))), 200, 'two'],
    ]
  for (const [what, meanwhile, status, title] of rows)
    await row(what, async (t) => {
      const path = world.freshPath()
      t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 201)
      t.match((await owner('PUT', rule, ttl(ACL + grants(path)))).status, /20[01]/)
      onceDecided(() => meanwhile(path))
      t.equal((await stranger('PUT', path, ttl(turtle('"two"')))).status, status)
      t.match((await owner('GET', path)).text, `"${title}"`)
    })
})
