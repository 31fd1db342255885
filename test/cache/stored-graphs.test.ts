// Cached graphs follow every write (design 5; RFC 9111 §4.4): after a write, the cache has the state that this write
// left, or nothing. `kept-documents.test.ts` tests the same through the front door; here the rows choose the order of
// answers.
import t from 'tap'
import { makeGraphVersions } from '../../cache/graph-versions.js'
import { makeStoredGraphs, type AskedGraph } from '../../cache/stored-graphs.js'

interface Value {
  readonly text: string
}
interface Failure {
  readonly failed: string
}
type Answer = Value | undefined | Failure

const [GRAPH, OTHER] = ['https://localhost/a/', 'https://localhost/b/']
/** The size of an entry apart from its value and name. */
const OVERHEAD = 256
const sizeOf = ({ text }: Value): number => text.length

interface Options {
  readonly maxBytes?: number
  readonly maxAge?: number
  readonly staleIfError?: number
}

/** A cache of a store that answers when the test lets it. */
function makeCache({ maxBytes = 100_000, maxAge, staleIfError = 0 }: Options = {}) {
  const versions = makeGraphVersions()
  const clock = { now: 1_000_000 }
  const asked: { graph: string; client: unknown; asked: AskedGraph; answer: (answer: Answer) => void }[] = []
  const joined: unknown[] = []
  const graphs = makeStoredGraphs<Value, Failure, string>({
    ...{ maxBytes, maxAge, staleIfError, versions, sizeOf },
    now: () => clock.now,
    ask: (graph, client, how) =>
      new Promise((answer) => asked.push({ graph, client, asked: how, answer: answer as (answer: Answer) => void })),
    joined: (_graph, client) => joined.push(client),
    isFailure: (answer): answer is Failure => answer !== undefined && 'failed' in answer,
  })
  /** The value that a read gets. If the store is asked, it answers with `stored`. */
  const read = async (stored: Answer, graph = GRAPH): Promise<Answer> => {
    const count = asked.length
    const found = graphs.get(graph)
    if (asked.length > count) asked.at(-1)!.answer(stored)
    const answer = await found
    return 'failed' in answer ? answer : answer.value
  }
  return { graphs, versions, clock, asked, joined, read }
}

const [OLD, NEW, LATER] = ['old', 'new', 'later'].map((text) => ({ text })) as [Value, Value, Value]
const FAILED: Failure = { failed: 'the store is down' }

void t.test('after a write its value is cached, unless something may have followed it in the store', async (t) => {
  type World = ReturnType<typeof makeCache>
  const rows: readonly [name: string, meanwhile: (world: World) => void, expected: Value][] = [
    ['nothing followed', () => undefined, NEW],
    ['another graph was written', ({ versions }) => versions.changed(OTHER), NEW],
    ['an update of the dataset overtook it', ({ versions }) => versions.everythingChanged(), LATER],
    ['a write of the same graph overtook it', ({ versions }) => versions.changed(GRAPH), LATER],
    ['a write of the graph is in doubt', ({ versions, clock }) => versions.inDoubt(GRAPH, clock.now + 1), LATER],
    ['an update is in doubt', ({ versions, clock }) => versions.inDoubt(undefined, clock.now + 1), LATER],
    ['a write of another graph is in doubt', ({ versions, clock }) => versions.inDoubt(OTHER, clock.now + 1), NEW],
  ]
  for (const [name, meanwhile, expected] of rows) {
    const world = makeCache()
    const { graphs, versions, read } = world
    await read(OLD)
    const before = versions.of(GRAPH)
    meanwhile(world)
    graphs.put(GRAPH, NEW, before)
    t.equal(graphs.has(GRAPH), expected === NEW, name)
    t.equal(await read(LATER), expected, name)
  }
})

void t.test('a doubt that has ended counts as a change: graphs written before it are read again', async (t) => {
  const { graphs, versions, clock, read } = makeCache()
  versions.inDoubt(GRAPH, clock.now + 10)
  const asOf = versions.of(GRAPH)
  clock.now += 10
  graphs.put(GRAPH, NEW, asOf)
  t.equal(await read(LATER), LATER)
  t.equal(await read(OLD), LATER, 'cached from then on')
})

void t.test('a removal is cached too', async (t) => {
  const { graphs, versions, read } = makeCache()
  graphs.put(GRAPH, undefined, versions.of(GRAPH))
  t.equal(await read(OLD), undefined)
  t.ok(graphs.has(GRAPH))
})

void t.test('an answer that a write has overtaken is returned, but not cached', async (t) => {
  for (const change of ['changed', 'everythingChanged', 'inDoubt'] as const) {
    const { graphs, versions, asked, read, clock } = makeCache()
    const found = graphs.get(GRAPH)
    versions[change](GRAPH, clock.now + 1_000_000)
    asked[0]!.answer(OLD)
    t.match(await found, { value: OLD })
    t.notOk(graphs.has(GRAPH), change)
    t.equal(await read(NEW), NEW, change)
  }
})

void t.test('an answer that is asked for while a write is in doubt is returned, but not cached', async (t) => {
  const { graphs, versions, clock, read } = makeCache()
  versions.inDoubt(GRAPH, clock.now + 10)
  t.equal(await read(OLD), OLD)
  t.notOk(graphs.has(GRAPH), 'the write may still happen')
  clock.now += 10
  t.equal(await read(NEW), NEW)
})

void t.test('an absent graph is cached', async (t) => {
  const { asked, read } = makeCache()
  for (let n = 0; n < 2; n++) t.equal(await read(undefined), undefined)
  t.equal(asked.length, 1)
})

void t.test('one request at a time for a graph; after a change there is a new one', async (t) => {
  const { graphs, versions, asked, joined } = makeCache()
  const first = [graphs.get(GRAPH, 'a'), graphs.get(GRAPH, 'b'), graphs.get(GRAPH)]
  t.equal(asked.length, 1)
  t.same(joined, ['b'], 'the store learns of the further client')
  versions.changed(GRAPH)
  const second = graphs.get(GRAPH, 'c')
  t.equal(asked.length, 2, 'it may have been answered before the change')
  asked[0]!.answer(OLD)
  for (const each of first) t.match(await each, { value: OLD })
  const third = graphs.get(GRAPH, 'd')
  t.equal(asked.length, 2, 'the end of the first request does not end the second one')
  asked[1]!.answer(NEW)
  t.match(await second, { value: NEW })
  t.match(await third, { value: NEW })
  versions.changed(GRAPH)
  void graphs.get(GRAPH)
  t.equal(asked.length, 3, 'nothing is left of the requests')
})

void t.test('a writer asks the store, whatever is cached or under way', async (t) => {
  const { graphs, asked, read } = makeCache()
  await read(OLD)
  const found = graphs.fetch(GRAPH, 'writer')
  t.match(asked.at(-1), { graph: GRAPH, client: 'writer', asked: { isForWrite: true } })
  asked.at(-1)!.answer(NEW)
  t.match(await found, { value: NEW })
  t.equal(await read(LATER), NEW, 'the answer is cached')
  const failed = graphs.fetch(GRAPH)
  asked.at(-1)!.answer(FAILED)
  t.equal(await failed, FAILED, 'it never gets a stale one')
})

void t.test('a graph that does not meet a condition is not cached as absent', async (t) => {
  const { graphs, asked, read } = makeCache()
  const [plain, conditional] = [graphs.get(GRAPH, 'a'), graphs.getWhere(GRAPH, 'small', 'b')]
  t.same(
    asked.map(({ client, asked }) => [client, asked.condition]),
    [
      ['a', undefined],
      ['b', 'small'],
    ],
    'different questions',
  )
  asked[1]!.answer(undefined)
  t.match(await conditional, { value: undefined })
  t.notOk(graphs.has(GRAPH))
  asked[0]!.answer(OLD)
  await plain
  t.match(await graphs.getWhere(GRAPH, 'small'), { value: OLD }, 'a cached graph is returned whatever the condition')
  t.equal(await read(NEW), OLD)
})

void t.test('requests with different conditions are not shared', async (t) => {
  const { graphs, asked } = makeCache()
  const [small, large] = [graphs.getWhere(GRAPH, 'small'), graphs.getWhere(GRAPH, 'large')]
  t.equal(asked.length, 2)
  asked[0]!.answer(undefined)
  asked[1]!.answer(OLD)
  t.match([await small, await large], [{ value: undefined }, { value: OLD }])
})

void t.test('a graph that no longer meets a condition is not answered from an older entry', async (t) => {
  const { graphs, asked, clock, read } = makeCache({ maxAge: 10, staleIfError: 5 })
  await read(OLD)
  clock.now += 11
  const found = graphs.getWhere(GRAPH, 'small')
  asked.at(-1)!.answer(undefined)
  t.match(await found, { value: undefined })
})

void t.test('RFC 9111 §4.2, RFC 5861 §4: fresh up to the maximum age, stale up to a limit', async (t) => {
  const rows: readonly [age: number, stored: Answer, expected: Answer][] = [
    [10, NEW, OLD],
    [11, NEW, NEW],
    [11, FAILED, OLD],
    [15, FAILED, OLD],
    [16, FAILED, FAILED],
  ]
  for (const [age, stored, expected] of rows) {
    const { graphs, clock, read } = makeCache({ maxAge: 10, staleIfError: 5 })
    await read(OLD)
    clock.now += age
    t.equal(graphs.has(GRAPH), age <= 10)
    t.equal(graphs.cached(GRAPH) !== undefined, age <= 10)
    t.equal(graphs.cached(GRAPH, clock.now - 1) !== undefined, age <= 11, 'the time that the caller has read')
    t.equal(await read(stored), expected, `${age} ms, ${JSON.stringify(stored)}`)
  }
  const { versions, read } = makeCache({ staleIfError: 5 })
  await read(OLD)
  versions.changed(GRAPH)
  t.equal(await read(FAILED), FAILED, 'a graph known to have changed is never returned')
})

void t.test('the bytes of all entries are bounded', async (t) => {
  const text = (length: number): Value => ({ text: 'x'.repeat(length) })
  const entry = OVERHEAD + GRAPH.length
  const { graphs, versions, read } = makeCache({ maxBytes: 2 * entry + 300 })
  await read(text(100))
  t.equal(graphs.bytes(), entry + 100)
  const value = text(200)
  graphs.put(OTHER, value, versions.of(OTHER))
  t.equal(graphs.bytes(), 2 * entry + 300)
  graphs.grown(OTHER, text(200), 10)
  t.equal(graphs.bytes(), 2 * entry + 300, 'a representation of another value is not counted')
  graphs.grown(OTHER, value, 10)
  t.equal(graphs.bytes(), entry + 210, 'the graph used least recently had to go')
  t.notOk(graphs.has(GRAPH))
  graphs.grown(OTHER, value, 20)
  t.equal(graphs.bytes(), entry + 230)
  graphs.put(OTHER, undefined, versions.of(OTHER))
  t.equal(graphs.bytes(), entry, 'an absent graph')

  const off = makeCache({ maxBytes: 0 })
  await off.read(OLD)
  off.graphs.grown(GRAPH, OLD, 1)
  t.equal(off.graphs.bytes(), 0)
  t.notOk(off.graphs.has(GRAPH))
})
