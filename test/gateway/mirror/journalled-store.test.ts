// Which requests become commits (spec 9.2, design 6): document writes, SPARQL updates, stores whose connections break;
// on both stores, with a real repository.
import t from 'tap'
import type { History } from '../../../versioning/history.js'
import type { ApplicationCache } from '../../../gateway/gateway.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import type { Problem } from '../../../gateway/problem.js'
import { problem } from '../../../gateway/problem.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { makeWorld, ttl, turtle, type World } from '../../support/world.js'
import { forEachStore, rowsOf, type Row } from '../../support/stores.js'
import { until } from '../../support/wait.js'
import { garbling, oddTerms, rdf12, unreadable } from './odd-terms.js'

const UPDATE = { 'Content-Type': 'application/sparql-update' }

interface Failing {
  readonly when: 'before' | 'after'
  readonly problem: Problem
  /** Applies until it is removed. */
  readonly stays?: boolean
}

/** A store whose next write can be made to fail, before or after it is done. */
function unsteady(store: GraphStore): GraphStore & { next: Failing | undefined } {
  const replace: GraphStore['replace'] = async (...call) => {
    const fault = own.next
    if (!fault?.stays) own.next = undefined
    if (fault?.when === 'before') return fault.problem
    const failed = await store.replace(...call)
    return fault ? fault.problem : failed
  }
  const update: GraphStore['update'] = async (text, call) => {
    // The update by which a settlement waits is not a write of a client.
    const fault = text.includes('fence') ? undefined : own.next
    if (!fault) return store.update(text, call)
    if (!fault.stays) own.next = undefined
    const failed = fault.when === 'after' ? await store.update(text, call) : undefined
    return failed ?? fault.problem
  }
  const own = {
    ...store,
    replace,
    update,
    ...(store.together && { together: { ...store.together, update } }),
    next: undefined as Failing | undefined,
  }
  return own
}

void forEachStore(t, 'journalled', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const endUser = unsteady(stores.endUser)
  const garbled = garbling(endUser)
  const world = await makeWorld(t, { ...stores, endUser: garbled }, { flags: ['--history', 'local'] })
  const row = rowsOf(t, kind)
  await documentWrites(world, row)
  await updates(world, row, kind)
  await refusedBefore(world, row)
  await brokenOff(world, row, endUser)
  await rdf12(world, row)
  if (stores.datasets) await oddTerms(world, row, stores.endUser, stores.datasets.endUser)
  await unreadable(world, row, garbled, kind)
})

async function versionsOf(world: World, path: string): Promise<TimeMapJson['versions']> {
  const { status, text } = await world.as('owner')('GET', `${path}?timemap`, { fields: { Accept: 'application/json' } })
  return status === 404 ? [] : (JSON.parse(text) as TimeMapJson).versions
}
const methodsOf = async (world: World, path: string): Promise<(string | undefined)[]> =>
  (await versionsOf(world, path)).map(({ method }) => method)

async function documentWrites(world: World, row: Row): Promise<void> {
  const owner = world.as('owner')
  const writer = world.as('writer')
  await row('every successful write is one commit, with method and agent, in order', async (t) => {
    const path = world.freshPath()
    const patch = { fields: UPDATE, body: `INSERT { <> <urn:p> "patched" } WHERE {}` }
    const statuses = [
      await owner('PUT', path, ttl(turtle('"one"'))),
      await writer('PUT', path, ttl(turtle('"two"'))),
      await writer('POST', path, ttl('<> <urn:p> "three" .')),
      await owner('PATCH', path, patch),
      await owner('DELETE', path),
      await owner('PUT', path, ttl(turtle('"again"'))),
    ].map(({ status }) => status)
    t.same(statuses, [201, 200, 204, 204, 204, 201])
    const versions = await versionsOf(world, path)
    t.same(
      versions.map(({ method, agent }) => [method, agent]),
      [
        ['PUT', world.ownerWebId],
        ['PUT', world.webIdOf('writer')],
        ['POST', world.webIdOf('writer')],
        ['PATCH', world.ownerWebId],
        ['DELETE', world.ownerWebId],
        ['PUT', world.ownerWebId],
      ],
    )
  })
  await row('a PATCH that leaves no triples is a deletion, committed as PATCH', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    const all = { fields: UPDATE, body: 'DELETE WHERE { ?s ?p ?o }' }
    t.equal((await owner('PATCH', path, all)).status, 204)
    t.equal((await owner('GET', path)).status, 404)
    t.same(await methodsOf(world, path), ['PUT', 'PATCH'])
    t.equal((await versionsOf(world, path))[1]!.uri, undefined)
  })
  await row('a PATCH that changes nothing is no write: the same answer, and no commit', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    const patch = (body: string) => owner('PATCH', path, { fields: { ...UPDATE, Prefer: 'return=minimal' }, body })
    const changes = await patch('INSERT { <> <urn:p> "two" } WHERE {}')
    const nothing = [
      await patch('INSERT { <> <urn:p> "two" } WHERE {}'),
      await patch('DELETE WHERE { ?s <urn:absent> ?o }'),
      await patch('DELETE { <> <urn:p> "two" } INSERT { <> <urn:p> "two" } WHERE {}'),
    ]
    for (const { status, fields, text } of nothing) {
      t.same([status, text], [204, ''])
      t.same(Object.keys(fields), Object.keys(changes.fields))
      t.same([fields.etag, fields['last-modified']], [changes.fields.etag, changes.fields['last-modified']])
    }
    t.same(await methodsOf(world, path), ['PUT', 'PATCH'])
  })
  await row('a refused request is not a commit', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    const wrong = { fields: { 'Content-Type': 'text/turtle', 'If-Match': '"other"' }, body: turtle('"two"') }
    t.equal((await owner('PUT', path, wrong)).status, 412)
    t.equal((await owner('PUT', path, ttl('<> <urn:p> ."'))).status, 400)
    t.equal((await world.as('stranger')('PUT', path, ttl(turtle('"three"')))).status, 403)
    t.same(await methodsOf(world, path), ['PUT'])
  })
  await row('a PUT whose Content-Location is a version restores that version (RFC 9110 §8.7)', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    await owner('PUT', path, ttl(turtle('"two"')))
    const { version } = (await versionsOf(world, path))[0]!
    const restored = (location: string) => ({
      fields: { 'Content-Type': 'text/turtle', 'Content-Location': location },
      body: turtle('"one"'),
    })
    await owner('PUT', path, restored(`${world.origin}${path}?version=${version}`))
    await owner('PUT', path, restored(`?version=${version}`))
    await owner('PUT', path, restored(`https://elsewhere.example/?version=${version}`))
    t.same(
      (await versionsOf(world, path)).map(({ restores }) => restores),
      [undefined, undefined, version, version, undefined],
    )
  })
}

async function updates(world: World, row: Row, kind: string): Promise<void> {
  const owner = world.as('owner')
  const update = async (body: string): Promise<number> =>
    (await owner('POST', '/sparql', { fields: UPDATE, body })).status
  const iriOf = (path: string): string => `${world.origin}${path}`

  await row('a SPARQL update: each document that it changes is a commit, no other document is', async (t) => {
    const [a, b, c] = [world.freshPath(), world.freshPath(), world.freshPath()]
    for (const path of [a, b, c]) await owner('PUT', path, ttl(turtle('"one"')))
    const both = `INSERT DATA { GRAPH <${iriOf(a)}> { <${iriOf(a)}> <urn:p> 1 } } ;
      DELETE WHERE { GRAPH <${iriOf(b)}> { ?s <http://purl.org/dc/terms/title> ?o } } ;
      DELETE DATA { GRAPH <${iriOf(c)}> { <urn:not> <urn:there> 1 } }`
    t.equal(await update(both), 200)
    t.same(await methodsOf(world, a), ['PUT', 'UPDATE'])
    t.same(await methodsOf(world, b), ['PUT', 'UPDATE'])
    t.same(await methodsOf(world, c), ['PUT'], 'the update does not change it')
    const { agent, added, removed } = (await versionsOf(world, b))[1]!
    t.same([agent, added, removed], [world.ownerWebId, 1, 1], 'with dct:modified')
  })
  await row(
    'an update that empties a document deletes it, one that creates a graph makes its first version',
    async (t) => {
      const [gone, made] = [world.freshPath(), world.freshPath()]
      await owner('PUT', gone, ttl(turtle('"one"')))
      t.equal(await update(`DROP GRAPH <${iriOf(gone)}>`), 200)
      t.equal(await update(`INSERT DATA { GRAPH <${iriOf(made)}> { <urn:s> <urn:p> 1 } }`), 200)
      t.same(await methodsOf(world, gone), ['PUT', 'UPDATE'])
      t.same(await methodsOf(world, made), ['UPDATE'])
    },
  )
  await row('an update of any document: each document that it changes is a commit', async (t) => {
    const [a, b] = [world.freshPath(), world.freshPath()]
    await owner('PUT', a, ttl(turtle('"wide"')))
    await owner('PUT', b, ttl(turtle('"other"')))
    const wide = `DELETE { GRAPH ?g { ?s ?p "wide" } } INSERT { GRAPH ?g { ?s ?p "wider" } } WHERE { GRAPH ?g { ?s ?p "wide" } }`
    t.equal(await update(wide), 200)
    t.same(await methodsOf(world, a), ['PUT', 'UPDATE'])
    t.same(await methodsOf(world, b), ['PUT'])
    await owner('PUT', a, ttl(turtle('"then"')))
    t.same(await methodsOf(world, a), ['PUT', 'UPDATE', 'PUT'])
  })
  await row('updates of nearly 2 MB: of one document, and of 500, each a commit', async (t) => {
    const path = world.freshPath()
    const lines = (n: number): string =>
      Array.from(
        { length: n },
        (_, i) => `<urn:s:${i}> <http://purl.org/dc/terms/title> "a title of some length, ${i}" .`,
      ).join(' ')
    const one = `INSERT DATA { GRAPH <${world.origin}${path}> { ${lines(22_000)} } }`
    const graphs = Array.from({ length: 500 }, (_, i) => `GRAPH <${world.base}many-${i}/> { ${lines(44)} }`)
    for (const body of [one, `INSERT DATA { ${graphs.join(' ')} }`]) {
      t.ok(body.length > 1_600_000 && body.length < 2 * 2 ** 20, String(body.length))
      const { status, text } = await owner('POST', '/sparql', { fields: UPDATE, body })
      t.equal(status, 200, text)
    }
    // The gateway finds so many changes only after it has answered.
    const { history } = world.running.dataspaces[0]!.endUser
    await until(() => history!.status().inDoubt === 0)
    for (const document of [path, '/many-499/']) t.same(await methodsOf(world, document), ['UPDATE'])
  })
  await row('an update with a syntax error is not a commit', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    t.equal(await update(`INSERT DATA { GRAPH <${iriOf(path)}> { <urn:s> <urn:p> } }`), 400)
    t.same(await methodsOf(world, path), ['PUT'])
  })
  await row('graphs that are not documents have no history, and the embedded store refuses them', async (t) => {
    const status = kind === 'embedded' ? 422 : 200
    t.equal(await update('INSERT DATA { GRAPH <urn:elsewhere> { <urn:s> <urn:p> 1 } }'), status)
    t.equal(await update('INSERT DATA { <urn:s> <urn:p> 1 }'), status)
    t.equal(await update('ASK {}'), 400)
    t.equal(world.running.dataspaces[0]!.endUser.history!.status().inDoubt, 0)
  })
}

/** Design 6: back-pressure, and writes that could never be committed. */
async function refusedBefore(world: World, row: Row): Promise<void> {
  const owner = world.as('owner')
  const { history, cache } = world.running.dataspaces[0]!.endUser as { history: History; cache: ApplicationCache }
  for (const [failure, status, words, isCached] of [
    ['full', 503, /no room to record the change.* is not made/, true],
    ['failed', 503, /cannot record the change.* is not made/, true],
    ['in-doubt', 502, /unknown whether the change is made/, false],
  ] as const)
    await row(`a journal that is ${failure} refuses the write`, async (t) => {
      const path = world.freshPath()
      await owner('PUT', path, ttl(turtle('"one"')))
      const { begin } = history
      t.teardown(() => Object.assign(history, { begin }))
      const cause = `${failure} in /var/lib/x`
      Object.assign(history, { begin: async () => ({ failure, detail: cause }) })
      const target = `<${world.origin + path}>`
      const update = `INSERT DATA { GRAPH ${target} { ${target} <urn:p> "two" } }`
      const answers = [
        await owner('PUT', path, ttl(turtle('"two"'))),
        await owner('POST', '/sparql', { fields: UPDATE, body: update }),
      ]
      for (const answer of answers) {
        t.equal(answer.status, status)
        t.match(answer.text, words)
        t.notMatch(answer.text, '/var/lib/x', 'the folder is for the operator')
      }
      const logged = world.log.filter((line) => line.problem === `history.${failure}` && line.cause === cause)
      t.equal(logged.length, 2, 'the log has the reason')
      const isOn = process.env.TRIPLEGATE_TEST_CACHE !== 'off'
      t.equal(cache.documents.get(world.origin + path) instanceof Promise, !(isOn && isCached), 'it is still cached')
      Object.assign(history, { begin })
      t.same(await methodsOf(world, path), ['PUT'])
    })
  await row('a document whose path is too long for Git is not created', async (t) => {
    const { status } = await owner('PUT', `/${'~'.repeat(2_000)}/`, ttl(turtle('"one"')))
    t.equal(status, 400)
    t.same(history.status().blocked, [])
  })
}

/** Design 6: a write whose connection broke is done as soon as the store is able to, and becomes a commit. */
async function brokenOff(world: World, row: Row, store: ReturnType<typeof unsteady>): Promise<void> {
  const owner = world.as('owner')
  const history = world.running.dataspaces[0]!.endUser.history!
  const cut = (when: 'before' | 'after', code: Problem['failure']): void => {
    store.next = { when, problem: problem(code, 'cut') }
  }
  const settled = async (): Promise<void> => {
    await until(() => history.status().inDoubt === 0)
  }
  // A store that has its position in the log can be sent the same request again.
  const isFenced = !store.announces
  await row('a write that broke off after the store had done it becomes a commit', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    cut('after', 'store.failed')
    t.equal((await owner('PUT', path, ttl(turtle('"two"')))).status, isFenced ? 200 : 502)
    await settled()
    t.equal((await owner('PUT', path, ttl(turtle('"three"')))).status, 200)
    t.same(await methodsOf(world, path), ['PUT', 'PUT', 'PUT'])
  })
  await row('a write that broke off before the store had done it is done later', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(turtle('"one"')))
    store.next = { when: 'before', problem: problem('store.time', 'cut'), stays: true }
    t.equal((await owner('PUT', path, ttl(turtle('"two"')))).status, 504)
    const early = await owner('PUT', path, ttl(turtle('"three"')))
    t.equal(early.status, 503, 'until then the document cannot be written')
    t.match(early.fields['retry-after'], /^\d+$/)
    t.equal((await owner('GET', path)).status, 200, 'but it can be read')
    store.next = undefined
    await settled()
    t.match((await owner('GET', path)).text, '"two"')
    t.equal((await owner('PUT', path, ttl(turtle('"four"')))).status, 200)
    t.same(await methodsOf(world, path), ['PUT', 'PUT', 'PUT'])
  })
  await row('a write that did not reach the store is dropped at once', async (t) => {
    const path = world.freshPath()
    cut('before', 'store.unreachable')
    t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 503)
    t.equal(history.status().inDoubt, 0)
    t.equal((await owner('PUT', path, ttl(turtle('"two"')))).status, 201)
    t.same(await methodsOf(world, path), ['PUT'])
  })
  await row('a write that did not reach the store is unknown if the disk does not have that', async (t) => {
    const path = world.freshPath()
    const { undone } = history
    t.teardown(() => Object.assign(history, { undone }))
    const failing: History['undone'] = (entries) => undone(entries).then(() => ({ failure: 'full', detail: '/var' }))
    Object.assign(history, { undone: failing })
    cut('before', 'store.unreachable')
    const { status, text } = await owner('PUT', path, ttl(turtle('"one"')))
    t.equal(status, 502)
    t.match(text, /unknown whether the change is made/)
    Object.assign(history, { undone })
    t.equal((await owner('PUT', path, ttl(turtle('"two"')))).status, 201)
  })
  await row('an update in doubt is dated when it was made, and not when it was found', async (t) => {
    if (store.announces) return t.pass('it is never in doubt')
    const [path, other] = [world.freshPath(), world.freshPath()]
    await owner('PUT', path, ttl(turtle('"one"')))
    const made = world.running.gateway.now()
    cut('after', 'store.time')
    const body = `INSERT DATA { GRAPH <${world.origin}${path}> { <urn:s> <urn:p> "late" } }`
    t.equal((await owner('POST', '/sparql', { fields: UPDATE, body })).status, 504)
    world.passTime(3_600_000)
    await owner('PUT', other)
    t.same(await methodsOf(world, other), ['PUT'], 'committed before the update')
    await settled()
    const [, late] = await versionsOf(world, path)
    t.match(late, { method: 'UPDATE', agent: world.ownerWebId })
    t.ok(Math.abs(Date.parse(late!.time) - made) < 60_000, late!.time)
    const { fields } = await owner('GET', `${path}?version=${late!.version}`)
    t.ok(Math.abs(Date.parse(String(fields['memento-datetime'])) - made) < 60_000)
  })
  for (const [name, when, code, status, gone] of [
    ['after the store had done it: all of it becomes commits', 'after', 'store.failed', isFenced ? 204 : 502, true],
    ['before the store had done it: all of it is done later', 'before', 'store.time', 504, true],
    ['before it reached the store: nothing of it is done', 'before', 'store.unreachable', 503, false],
  ] as const) {
    await row(`DELETE with ?cascade that broke off ${name}`, async (t) => {
      const path = world.freshPath()
      await owner('PUT', path, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
      const paths = [path, `${path}a/`, `${path}b/`]
      for (const child of paths.slice(1)) await owner('PUT', child, ttl(turtle('"one"')))
      cut(when, code)
      t.equal((await owner('DELETE', `${path}?cascade`)).status, status)
      await settled()
      for (const document of paths) {
        t.equal((await owner('GET', document)).status, gone ? 404 : 200)
        t.same(await methodsOf(world, document), gone ? ['PUT', 'DELETE'] : ['PUT'])
      }
      if (!gone) t.equal((await owner('DELETE', `${path}?cascade`)).status, 204)
    })
  }
}
