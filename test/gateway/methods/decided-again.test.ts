// Design 6: if rules have changed since a write was decided, it is decided again.
import t from 'tap'
import type { History, WriteBasis } from '../../../versioning/history.js'
import { DCT, DH, NFO } from '../../../gateway/rdf/vocabulary.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { fileOf, upload } from '../../support/upload.js'
import { makeWorld, ttl, turtle } from '../../support/world.js'

interface Begun {
  readonly decided: WriteBasis | undefined
  readonly containers: readonly (string | undefined)[]
}

interface Expected {
  readonly read?: readonly string[]
  readonly children?: readonly string[]
  readonly containers?: readonly (string | undefined)[]
}

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

  /** What the history is told about the writes that are made meanwhile. */
  async function begun(act: () => Promise<{ readonly status: number }>, status: number): Promise<Begun> {
    const { begin } = history
    const all: Begun[] = []
    Object.assign(history, {
      begin: (...[changes, decided]: Parameters<typeof begin>) => (
        all.push({ decided, containers: changes.map(({ container }) => container) }),
        begin(changes, decided)
      ),
    })
    const answer = await act()
    Object.assign(history, { begin })
    t.equal(answer.status, status)
    return all.at(-1) ?? { decided: undefined, containers: [] }
  }

  await row('the basis of a decision is given as positions in the log of the dataspace', async (t) => {
    const path = world.freshPath()
    t.match((await owner('PUT', rule, ttl(ACL + grants(path)))).status, /20[01]/)
    const now = history.log.newest()
    t.ok(now > history.log.position(), 'the last change was one of the rules')
    const { decided } = await begun(() => owner('PUT', path, ttl(turtle('"one"'))), 201)
    t.match(decided, { asOf: now, rules: now })
  })

  const path = world.freshPath()
  const [document, child] = [`${world.origin}${path}`, `${world.origin}${path}child/`]
  const update = (text: string) => () => owner('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-update' }, body: text }) // prettier-ignore
  /** In this order: each row begins with what the rows before it have written. */
  const basis: readonly [what: string, act: () => Promise<{ readonly status: number }>, status: number, expected: Expected][] = [
    ['a new document: its parent, and the container that it is in', () => owner('PUT', path, ttl(`<> a <${DH('Container')}> ; <${DCT('title')}> "C" .`)), 201, { read: [`${world.origin}/`], containers: [`${world.origin}/`] }],
    ['a document in it', () => owner('PUT', `${path}child/`, ttl(turtle('"child"'))), 201, { read: [document], containers: [document] }],
    ['a document that exists: nothing else', () => owner('PUT', `${path}child/`, ttl(turtle('"again"'))), 200, {}],
    ['an update: the graphs that it reads by name', update(`INSERT { GRAPH <${child}> { <${child}> <urn:p> ?o } } WHERE { GRAPH <${document}> { ?s <${DCT('title')}> ?o } }`), 200, { read: [document] }],
    ['an update: not the documents that its variables find, which others may write to', update(`INSERT DATA { GRAPH <${child}> { <urn:a> <urn:b> 1 } } ; INSERT { GRAPH <${child}> { ?s <urn:c> ?o } } WHERE { GRAPH ?g { ?s <${DCT('title')}> ?o } }`), 200, {}],
    ['a subtree that is deleted: the lists of children in it', () => owner('DELETE', `${path}?cascade`), 204, { children: [document, child], containers: [document, `${world.origin}/`] }],
  ] // prettier-ignore
  for (const [what, act, status, { read = [], children = [], containers = [undefined] }] of basis)
    await row(`the basis of ${what}`, async (t) => {
      const now = history.log.newest()
      const all = await begun(act, status)
      const at = (names: readonly string[]): unknown => names.map((name) => [name, now])
      t.same([all.decided?.read, all.decided?.children, all.containers], [at(read), at(children), containers])
    })

  await row('the basis of a document that describes a file: the file', async (t) => {
    t.equal((await owner('PUT', '/', upload('a file'))).status, 200)
    const [sha1] = fileOf('a file').split('/').slice(-1)
    const described = `<${world.origin}${fileOf('a file')}> a <${NFO('FileDataObject')}> .`
    const { decided } = await begun(() => owner('PUT', world.freshPath(), ttl(described)), 201)
    t.same(decided?.files, [sha1])
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
