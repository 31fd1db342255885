// Design 6: the gateway finds out whether the store has done a write, even if answers are lost, and sends again what
// the store loses. On a real Fuseki.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { makeLog } from '../../../gateway/log.js'
import { makeApplier } from '../../../gateway/mirror/applier.js'
import { problem, type Problem } from '../../../gateway/problem.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { firstTurn, turnText } from '../../../gateway/stores/store-position.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { LOG_GRAPH, setPosition } from '../../../gateway/stores/fenced-update.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { startProxy, type Fault, type Recorded, type StoreProxy } from '../../support/proxy.js'
import { freshDataset, PATIENCE, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'
import { gate, until } from '../../support/wait.js'
import { accept, makeWorld, ttl, turtle, type World } from '../../support/world.js'

/** Too long for a fenced request. */
const long = (of: string): string =>
  Array.from({ length: 4_000 }, (_, i) => `<#${i}> <urn:p> "${of}${'x'.repeat(80)}" .\n`).join('')

const isWrite = ({ method, fields }: Recorded): boolean =>
  method === 'PUT' || method === 'DELETE' || fields['content-type'] === 'application/sparql-update'
/** True for requests with triples of a client, not only a position. */
const isOfClient = ({ body }: Recorded): boolean => body.includes('purl.org')

interface Place {
  readonly world: World
  readonly proxy: StoreProxy
  /** The Graph Store endpoint of the dataset of documents. */
  readonly dataset: string
  title(path: string): Promise<string | undefined>
  /** The values of the versions in the history, oldest first. */
  methods(path: string): Promise<readonly string[]>
}

async function placeOf(t: Test): Promise<Place> {
  const dataset = await freshDataset(t)
  const proxy = await startProxy(dataset)
  const endUser = openHttpStore({ ...fusekiEndpoints(proxy.url), ...PATIENCE })
  const admin = openHttpStore({ ...fusekiEndpoints(await freshDataset(t)), ...PATIENCE })
  t.teardown(() => Promise.all([endUser.close(), admin.close()]).then(() => proxy.stop()))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--history', 'local', '--admin-history', 'local'] })
  const owner = world.as('owner')
  return {
    ...{ world, proxy, dataset },
    async title(path) {
      const { status, text } = await owner('GET', path, accept('application/n-triples'))
      return status === 404 ? undefined : /(?<=title> ")\w+/.exec(text)?.[0]
    },
    async methods(path) {
      const { text } = await owner('GET', `${path}?timemap`, accept('application/json'))
      return (JSON.parse(text) as TimeMapJson).versions.map(({ method }) => method ?? 'none')
    },
  }
}

void t.test('the outcome of a write', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)
  const row = rowsOf(t, 'fuseki')
  const { world, proxy, title, methods } = await placeOf(t)
  const owner = world.as('owner')
  const { history } = world.running.dataspaces[0]!.endUser

  const answers = (status: number): Fault => ({ kind: 'answer', status, body: 'no' })
  const lost = (when: 'before' | 'after'): Fault => ({ kind: 'drop', when })
  const isOne = (request: Recorded): boolean => isWrite(request) && isOfClient(request)
  interface Faults {
    readonly fault: Fault
    /** The number of requests with this fault; by default all, until the client has its answer. */
    readonly times?: number
    /** Requests other than writes have the fault too. */
    readonly isOfAll?: boolean
    /** The fault of the requests after these. */
    readonly then?: Fault
  }
  const rows: readonly [what: string, faults: Faults, status: number, last: string, body?: (of: string) => string][] = [
    ['the write is refused: not done', { fault: answers(400) }, 400, 'one'],
    ['the store is not available: not done', { fault: answers(503) }, 503, 'one'],
    ['the answer is lost once: reported as done', { fault: lost('after'), times: 1 }, 200, 'two'],
    [
      'the request is lost twice on the way to the store: reported as done',
      { fault: lost('before'), times: 2 },
      200,
      'two',
    ],
    ['all answers are lost: done', { fault: lost('after'), isOfAll: true }, 502, 'two'],
    ['a proxy says that the store is down: done when the store is back', { fault: answers(502) }, 502, 'two'],
    [
      'the store fails each time: not done, and no later write waits for it',
      { fault: answers(500), then: answers(500) },
      502,
      'one',
    ],
    ['the request is lost once, and then refused: not done', { fault: lost('before'), then: answers(400) }, 502, 'one'],
    ['a long write, whose answer is lost: done', { fault: lost('after') }, 502, 'two', long],
    [
      'a long write, and the store fails each time: not done',
      { fault: answers(500), then: answers(500) },
      502,
      'one',
      long,
    ],
  ]
  for (const [what, { fault, times = Infinity, isOfAll, then }, status, last, body = () => ''] of rows)
    await row(what, async (t) => {
      const path = world.freshPath()
      const put = (text: string) => owner('PUT', path, ttl(body(text) + turtle(`"${text}"`)))
      t.equal((await put('one')).status, 201)
      let count = 0
      proxy.fault({
        ...fault,
        only: (request) => (isOne(request) && ++count <= times) || (count > 0 && isOfAll === true),
      })
      const answer = await put('two')
      proxy.fault(then && { ...then, only: isOne })
      t.equal(answer.status, status, answer.text)
      await until(() => history!.status().inDoubt === 0)
      proxy.fault(undefined)
      t.equal(await title(path), last)
      const versions = await methods(path)
      t.equal(versions.length, last === 'one' ? 1 : 2)
      t.equal((await put('three')).status, 200)
      t.equal(await title(path), 'three')
      t.same(await methods(path), [...versions, 'PUT'])
    })
})

void t.test('a store that does not accept its position', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)
  const { world, proxy } = await placeOf(t)
  await rowsOf(t, 'fuseki')('it is asked again a second later, and reads go on', async (t) => {
    const [owner, path] = [world.as('owner'), world.freshPath()]
    t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 201)
    proxy.fault({
      kind: 'answer',
      status: 403,
      body: 'no',
      only: (request) => isWrite(request) && !isOfClient(request),
    })
    t.equal((await owner('PUT', path, ttl(long('two') + turtle('"two"')))).status, 502)
    proxy.requests.length = 0
    await sleep(3_000)
    t.ok(proxy.requests.filter(isWrite).length < 10, `${proxy.requests.filter(isWrite).length} requests`)
    t.equal((await owner('GET', path)).status, 200)
    proxy.fault(undefined)
  })
})

void t.test('a store that loses entries while it is served', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)
  const { world, dataset, title, methods } = await placeOf(t)
  const owner = world.as('owner')
  const dump = async (): Promise<string> =>
    (await fetch(dataset, { headers: { Accept: 'application/n-quads' } })).text()
  const putBack = async (body: string): Promise<void> => {
    const { ok } = await fetch(dataset, { method: 'PUT', headers: { 'Content-Type': 'application/n-quads' }, body })
    t.ok(ok)
  }
  const put = async (path: string, text: string): Promise<void> =>
    void t.match((await owner('PUT', path, ttl(turtle(`"${text}"`)))).status, /20[01]/)
  const rows: readonly [what: string, earlier: (now: string) => string][] = [
    ['the store is restored to an earlier state', (earlier) => earlier],
    ['the store is restored to a state without a position', (earlier) => earlier.split('\n').filter((line) => !line.includes(LOG_GRAPH)).join('\n')], // prettier-ignore
    ['it is emptied', () => ''],
  ]
  for (const [what, earlierOf] of rows)
    await rowsOf(t, 'fuseki')(`${what}: it gets them, and no version is made of what it had`, async (t) => {
      const [written, other, removed] = [world.freshPath(), world.freshPath(), world.freshPath()]
      for (const path of [written, other, removed]) await put(path, 'one')
      const earlier = earlierOf(await dump())
      for (const path of [written, other]) await put(path, 'two')
      t.equal((await owner('DELETE', removed)).status, 204)
      await putBack(earlier)
      // The store and the history differ for a moment: the client may have to try again.
      await until(async () => (await owner('PUT', written, ttl(turtle('"three"')))).status === 200)
      await until(async () => {
        const stored = await dump()
        const has = (path: string, text: string): boolean =>
          stored.includes(`<${world.origin}${path}> <http://purl.org/dc/terms/title> "${text}"`)
        return has(written, 'three') && has(other, 'two') && !stored.includes(`${removed}>`)
      })
      t.same([await title(written), await title(other), await title(removed)], ['three', 'two', undefined])
      t.same(await methods(written), ['PUT', 'PUT', 'PUT'])
      t.same(await methods(other), ['PUT', 'PUT'])
      t.same(await methods(removed), ['PUT', 'DELETE'])
    })
})

void t.test('a store that loses entries before or during an update that it carries out itself', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)
  const { world, proxy, dataset, title, methods } = await placeOf(t)
  const owner = world.as('owner')
  const { journalled } = world.running.dataspaces[0]!.endUser
  const putBack = (body: string) => fetch(dataset, { method: 'PUT', headers: { 'Content-Type': 'application/n-quads' }, body }) // prettier-ignore
  for (const isBeside of [false, true])
    for (const isWide of [false, true])
      await rowsOf(t, 'fuseki')(`${isBeside ? 'beside' : 'before'}, ${isWide ? 'any document' : 'one'}`, async (t) => {
        const [path, other] = [world.freshPath(), world.freshPath()]
        t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 201)
        t.equal((await owner('PUT', other, ttl(turtle('"one"')))).status, 201)
        const earlier = await (await fetch(dataset, { headers: { Accept: 'application/n-quads' } })).text()
        t.equal((await owner('PUT', path, ttl(turtle('"two"')))).status, 200)
        const { opened, open } = gate()
        let isLost = false
        // The gateway must not notice the loss before this request, though it looks every second.
        const only = (request: Recorded): boolean => {
          const loses = !isLost && (isBeside ? request.body.includes('urn:added') : isWrite(request))
          if (loses) void putBack(earlier).then(open)
          isLost ||= loses
          return loses
        }
        proxy.fault({ kind: 'held', until: opened, only })
        const text = `INSERT DATA { GRAPH <${world.origin}${other}> { <urn:a> <urn:added> 1 } }`
        const documents = isWide ? undefined : [world.origin + other]
        const failed = await journalled.update({ text, documents, agent: undefined, time: Date.now() })
        proxy.fault(undefined)
        t.match(failed, { failure: isBeside ? 'store.in-doubt' : 'store.overloaded' }, 'it is not said to be done')
        await until(async () => (await title(path)) === 'two' && !(await journalled.settle(world.origin + other)))
        t.same(await methods(path), ['PUT', 'PUT'])
        await until(async () => (await owner('PUT', path, ttl(turtle('"three"')))).status === 200)
      })
})

/** The fate of a request: it does not arrive, its answer is lost, or (undefined) neither. */
type Fate = 'before' | 'after' | undefined

void t.test('a write that a proxy answers with 503, and the question to the store whether it was done', async (t) => {
  const rows: readonly [what: string, updates: readonly Fate[], isAsked: boolean][] = [
    ['the store has done the write, and is not asked', ['after', 'before'], false],
    ['the write does not arrive; the turn is passed on, and the answer to that is lost', ['before', 'after'], false],
    ['the write does not arrive; the turn is passed on, and the store is not asked', ['before'], false],
    ['the store has done the write, and says so', ['after'], true],
  ]
  for (const [what, fates, isAsked] of rows)
    await t.test(what, async (t) => {
      const embedded = await openEmbeddedStore('embedded')
      const [iri, turn, open] = ['urn:uuid:log', firstTurn(), new Set<number>()]
      const done = new Map<number, readonly [graph: string, nTriples: string]>()
      await embedded.update(setPosition(iri, 0, turnText(turn)))
      const [left, unsure] = [[...fates], { ...problem('store.unreachable', '503'), isUnsure: true } as const]
      let isFaulty = true
      const update: GraphStore['update'] = async (text, call) => {
        const fate = isFaulty ? left.shift() : undefined
        const failed = fate === 'before' ? unsure : await embedded.update(text, call)
        return fate === 'after' ? unsure : failed
      }
      const query: GraphStore['query'] = async (...asked) =>
        isFaulty && !isAsked ? problem('store.unreachable', '503') : embedded.query(...asked)
      let last = 0
      const applier = makeApplier({
        ...{ store: { ...embedded, together: undefined, update, query }, iri, at: 0, turn, log: makeLog('silent') },
        settledPosition: (isCounted = () => false) =>
          Math.min(last, ...[...open].filter((position) => !isCounted(position)).map((position) => position - 1)),
        async catchUp(from = 0) {
          for (const [position, text] of done) if (position > from) await embedded.replace(...text)
          return undefined
        },
      })
      t.teardown(() => applier.close().then(embedded.close))
      const write = (value: string): Promise<undefined | Problem> => {
        const [position, graph, nTriples] = [++last, `urn:${value}`, `<urn:a> <urn:b> "${value}" .\n`] as const
        open.add(position)
        return applier.apply({
          ...{ position, replacements: [{ graph, nTriples }] },
          alone: () => Promise.resolve(undefined),
          isThere: () => Promise.resolve(true),
          settled(failed) {
            open.delete(position)
            if (!failed) done.set(position, [graph, nTriples])
            return undefined
          },
        })
      }
      await write('first')
      isFaulty = false
      await until(() => !applier.stalled())
      for (const value of ['second', 'third']) t.equal(await write(value), undefined, `${value} is answered`)
      await until(async () => !(await applier.confirm()))
      for (const [, [graph]] of done) t.ok(await embedded.read(graph), `the store has ${graph}`)
      t.ok(done.size >= 2)
    })
})

void t.test('a write that is refused with others', async (t) => {
  const store = await openEmbeddedStore('embedded')
  t.teardown(store.close)
  const log = 'urn:uuid:log'
  const turn = firstTurn()
  await store.update(setPosition(log, 0, turnText(turn)))
  let isLost = true
  const update: GraphStore['update'] = async (text, call) => {
    if (text.includes('bad')) return problem('store.refused', 'bad')
    if (text.includes('lost') && isLost) return problem('store.time', 'lost')
    return store.update(text, call)
  }
  const applier = makeApplier({
    ...{ store: { ...store, together: undefined, update }, iri: log, at: 0, turn, log: makeLog('silent') },
    settledPosition: () => 0,
    catchUp: () => Promise.resolve(undefined),
  })
  t.teardown(applier.close)
  const writes = ['good', 'bad', 'lost', 'waits'].map((value, i) =>
    applier.apply({
      position: i + 1,
      replacements: [{ graph: `urn:${value}`, nTriples: `<urn:a> <urn:b> "${value}" .\n` }],
      alone: () => Promise.resolve(undefined),
      isThere: () => Promise.resolve(true),
      settled: () => undefined,
    }),
  )
  t.same((await Promise.all(writes)).map((failed) => failed?.failure), [undefined, 'store.refused', 'store.time', 'store.overloaded']) // prettier-ignore
  isLost = false
  await until(() => !applier.stalled())
  for (const [graph, has] of [
    ['urn:good', true],
    ['urn:bad', false],
    ['urn:lost', true],
    ['urn:waits', false],
  ] as const)
    // prettier-ignore
    t.equal((await store.read(graph)) !== undefined, has, graph)
})

void t.test('a rule that is written after its client was told that the outcome is unknown', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing !== undefined) return t.comment(missing)
  const proxy = await startProxy(await freshDataset(t))
  const endUser = openHttpStore(fusekiEndpoints(await freshDataset(t)))
  const admin = openHttpStore(fusekiEndpoints(proxy.url))
  t.teardown(() => Promise.all([endUser.close(), admin.close()]).then(() => proxy.stop()))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--history', 'local', '--admin-history', 'local'] })
  const [owner, stranger, path] = [world.as('owner'), world.as('stranger'), world.freshPath()]
  t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 201)
  const rule = '/admin/acl/authorizations/late/'
  const grant = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#it> a acl:Authorization ; acl:mode acl:Read ;
    acl:accessTo <${world.origin}${path}> ; acl:agent <${world.webIdOf('stranger')}> .`
  const { history } = world.running.dataspaces[0]!.admin
  for (const [method, body, status] of [
    ['PUT', ttl(grant), 200],
    ['DELETE', {}, 403],
  ] as const)
    // prettier-ignore
    await rowsOf(t, 'fuseki')(`it holds at once: ${method}`, async (t) => {
      proxy.fault({ kind: 'drop', when: 'before', only: ({ body }) => body.includes('INSERT') })
      t.equal((await owner(method, rule, body)).status, 502)
      proxy.fault(undefined)
      await until(() => history!.status().inDoubt === 0)
      t.equal((await stranger('GET', path)).status, status)
    })
})
