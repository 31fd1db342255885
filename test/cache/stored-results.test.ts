// Cached results of queries (design 5): valid until a graph changes that the query reads, one query at a time, small
// answers cached and large ones streamed. The rows choose the order of answers.
import t from 'tap'
import { makeGraphVersions } from '../../cache/graph-versions.js'
import {
  makeStoredResults,
  type ReadSet,
  type ResultAnswer,
  type StoredResultsSettings,
} from '../../cache/stored-results.js'
import { gate } from '../support/wait.js'

const [GRAPH, OTHER] = ['https://localhost/a/', 'https://localhost/b/']
/** The size of an entry apart from its bytes and its key, which counts twice. */
const OVERHEAD = 512
const KEY = 'key'

type Pieces = readonly string[]
interface Asking {
  readonly key?: string
  readonly readSet?: ReadSet
  readonly isWhole?: boolean
  readonly signal?: AbortSignal
}

function makeCache(options: Partial<StoredResultsSettings> = {}) {
  const versions = makeGraphVersions()
  const clock = { now: 1_000_000 }
  const results = makeStoredResults({ maxBytes: 100_000, versions, now: () => clock.now, patience: 60_000, ...options })
  const asked: AbortSignal[] = []
  /** The answers of the store whose iteration has ended: until then, they may hold a place. */
  const ended: Pieces[] = []
  /** @param hold what the answer waits for after its first piece */
  const ask = (pieces: Pieces | 'failed', { key = KEY, readSet = [GRAPH], isWhole, signal }: Asking = {}, hold?: Promise<unknown>) =>
    results.get<string>(
      { key, readSet, formatCode: 'c', ...(isWhole && { isWhole }), signal: signal ?? new AbortController().signal },
      async (aborted) => {
        asked.push(aborted)
        if (pieces === 'failed') return { failure: 'down' }
        return {
          pieces: (async function* () {
            try {
              for (const [i, piece] of pieces.entries()) {
                if (i === 1) await hold
                yield Buffer.from(piece)
              }
            } finally {
              ended.push(pieces)
            }
          })(),
        }
      },
    ) // prettier-ignore
  return { results, versions, clock, asked, ended, ask }
}

/** The whole answer, and whether it was cached or streamed. */
async function read(answer: ResultAnswer<string> | Promise<ResultAnswer<string>>): Promise<string> {
  const found = await answer
  if (found.kind === 'failed') return `failed: ${found.failure}`
  if (found.kind === 'stored') return `stored: ${found.result.bytes.toString()}`
  let text = ''
  for await (const piece of found.pieces) text += Buffer.from(piece).toString()
  return `streamed: ${text}`
}

void t.test('a result is valid until a graph changes that its query has read', async (t) => {
  type World = ReturnType<typeof makeCache>
  const rows: readonly [name: string, readSet: ReadSet, change: (world: World) => void, isValid: boolean][] = [
    ['nothing changed', [GRAPH], () => undefined, true],
    ['the graph of the query changed', [GRAPH], ({ versions }) => versions.changed(GRAPH), false],
    ['another graph changed', [GRAPH], ({ versions }) => versions.changed(OTHER), true],
    ['the second graph of the query changed', [GRAPH, OTHER], ({ versions }) => versions.changed(OTHER), false],
    ['the query reads everything, and a graph changed', 'dataset', ({ versions }) => versions.changed(OTHER), false],
    ['the query reads everything, and nothing changed', 'dataset', () => undefined, true],
    ['an update of the dataset', [GRAPH], ({ versions }) => versions.everythingChanged(), false],
    ['the result has the maximum age', [GRAPH], ({ clock }) => void (clock.now += 10), true],
    ['the result is older', [GRAPH], ({ clock }) => void (clock.now += 11), false],
    ['the cache is cleared', [GRAPH], ({ results }) => results.clear(), false],
  ]
  for (const [name, readSet, change, isValid] of rows) {
    const world = makeCache({ maxAge: 10 })
    t.equal(await read(world.ask(['old'], { readSet })), 'stored: old')
    change(world)
    t.equal(await read(world.ask(['new'], { readSet })), `stored: ${isValid ? 'old' : 'new'}`, name)
    t.equal(world.asked.length, isValid ? 1 : 2, name)
  }
})

void t.test('nothing is cached that a write may have changed meanwhile', async (t) => {
  for (const [doubtful, readSet, isCached] of [
    [GRAPH, [GRAPH], false],
    [OTHER, [GRAPH], true],
    [OTHER, [GRAPH, OTHER], false],
    [OTHER, 'dataset', false],
    [OTHER, [], false],
    [undefined, [GRAPH], false],
  ] as const) {
    const { versions, clock, ask } = makeCache()
    versions.inDoubt(doubtful, clock.now + 10)
    await read(ask(['old'], { readSet }))
    t.equal(await read(ask(['new'], { readSet })), `stored: ${isCached ? 'old' : 'new'}`, `${doubtful} of ${String(readSet)}`)
  }
  const { versions, ask } = makeCache()
  const held = gate()
  const early = ask(['o', 'ld'], {}, held.opened)
  versions.changed(GRAPH)
  held.open()
  t.equal(await read(early), 'stored: old', 'a client that asked before the change may get it')
  t.equal(await read(ask(['new'])), 'stored: new', 'a client that asks after the change does not')
}) // prettier-ignore

void t.test('RFC 5861 §4: if the store fails, a result that is too old is returned, up to a limit', async (t) => {
  for (const [age, expected] of [
    [10, 'stored: old'],
    [15, 'stored: old'],
    [16, 'failed: down'],
  ] as const) {
    const { clock, ask } = makeCache({ maxAge: 10, staleIfError: 5 })
    await read(ask(['old']))
    clock.now += age
    t.equal(await read(ask('failed')), expected, `${age} ms`)
  }
  const { versions, ask } = makeCache({ staleIfError: 5 })
  await read(ask(['old']))
  versions.changed(GRAPH)
  t.equal(await read(ask('failed')), 'failed: down', 'one that is known to have changed is never given')
})

void t.test('one query at a time for a key; it ends when the last client has left', async (t) => {
  const { versions, asked, ask } = makeCache()
  const held = gate()
  const clients = [new AbortController(), new AbortController()]
  const answers = clients.map(({ signal }) => ask(['o', 'ld'], { signal }, held.opened))
  t.equal(asked.length, 1)
  clients[0]!.abort()
  t.notOk(asked[0]!.aborted, 'one client waits')
  clients[1]!.abort()
  t.ok(asked[0]!.aborted, 'nobody waits')
  const again = ask(['new'])
  t.equal(asked.length, 2, 'a query that was given up is not joined')
  versions.changed(GRAPH)
  const after = ask(['newer'])
  t.equal(asked.length, 3, 'nor one that was sent before a change')
  held.open()
  t.same(await Promise.all([...answers, again, after].map(read)), ['stored: old', 'stored: old', 'stored: new', 'stored: newer'])
  const left = new AbortController()
  left.abort()
  const late = makeCache()
  void late.ask(['x'], { signal: left.signal })
  t.ok(late.asked[0]!.aborted, 'a client that has left already')
}) // prettier-ignore

void t.test('a large answer is streamed, and cached if it stays within the bound', async (t) => {
  const rows: readonly [pieces: Pieces, expected: string, isCached: boolean][] = [
    [['0123', '4567', '89'], 'stored: 0123456789', true],
    [['0123', '4567', '89x'], 'streamed: 0123456789x', false],
    [['0123456789x'], 'streamed: 0123456789x', false],
    [[''], 'stored: ', true],
  ]
  for (const [pieces, expected, isCached] of rows) {
    const { asked, ask } = makeCache({ maxEntryBytes: 10 })
    t.equal(await read(ask(pieces)), expected)
    await read(ask(['again']))
    t.equal(asked.length, isCached ? 1 : 2, expected)
  }
})

void t.test('a slow answer is streamed and cached; other clients send queries of their own', async (t) => {
  const { asked, ask } = makeCache({ patience: 0, maxEntryBytes: 4 })
  const held = gate()
  const [first, second] = [ask(['a', 'bc'], {}, held.opened), ask(['a', 'bc'], {}, held.opened)]
  await first
  held.open()
  t.equal(await read(first), 'streamed: abc')
  t.match(await read(second), /^(stored|streamed): abc$/)
  t.equal(asked.length, 2)
  t.equal(await read(ask(['new'])), 'stored: abc')
  const late = gate()
  const large = ask(['a', 'bcde'], { key: 'large' }, late.opened)
  await large
  late.open()
  t.equal(await read(large), 'streamed: abcde')
  t.equal(await read(ask(['new'], { key: 'large', isWhole: true })), 'stored: new', 'it grew too large')
  const whole = gate()
  const waited = ask(['a', 'b'], { key: 'whole', isWhole: true }, whole.opened)
  setImmediate(whole.open)
  t.equal(await read(waited), 'stored: ab', 'a client that waits for the whole answer')
})

void t.test('a client that leaves in the middle of a stream ends the query', async (t) => {
  const { asked, ended, ask } = makeCache({ maxEntryBytes: 1 })
  const answer = await ask(['ab', 'cd'])
  if (answer.kind !== 'streamed') return t.fail(answer.kind)
  const iterator = answer.pieces[Symbol.asyncIterator]()
  await iterator.next()
  t.notOk(asked[0]!.aborted)
  t.same(await iterator.return!(), { done: true, value: undefined })
  t.ok(asked[0]!.aborted)
  t.equal(ended.length, 1)
})

void t.test('the total size of results and their derived forms is bounded', async (t) => {
  const entry = OVERHEAD + 2 * KEY.length
  const { results, asked, ask } = makeCache({ maxBytes: 2 * entry + 20 })
  const first = await ask(['0123456789'])
  if (first.kind !== 'stored') return t.fail(first.kind)
  t.equal(results.bytes(), entry + 10)
  t.ok(results.holds(KEY, first.result))
  results.grown(KEY, { ...first.result }, 5)
  t.equal(results.bytes(), entry + 10, 'another result is not counted')
  results.grown(KEY, first.result, 5)
  t.equal(results.bytes(), entry + 15)
  await ask(['01234'], { key: 'two' })
  t.equal(results.bytes(), 2 * entry + 20)
  results.grown(KEY, first.result, 1)
  t.equal(results.bytes(), entry + 16, 'the one used least recently had to go')
  t.ok(results.holds(KEY, first.result))
  await ask(['01234'], { key: 'two' })
  t.equal(asked.length, 3)
  results.clear()
  t.equal(results.bytes(), 0)
  t.notOk(results.holds(KEY, first.result))

  const exact = makeCache({ maxBytes: entry + 1 })
  await exact.ask(['a'])
  t.equal(exact.results.bytes(), entry + 1)
  await exact.ask(['ab'], { key: 'two' })
  t.equal(exact.results.bytes(), entry + 1, 'one that is larger than the cache takes nothing out of it')
  const off = makeCache({ maxBytes: 0 })
  const answer = await off.ask(['a'])
  if (answer.kind === 'stored') off.results.grown(KEY, answer.result, 1)
  t.equal(off.results.bytes(), 0)
  t.equal(await read(off.ask(['b'])), 'stored: b')
})

void t.test('the entity-tag is that of the bytes and the format', async (t) => {
  const tagOf = async (text: string): Promise<string | undefined> => {
    const answer = await makeCache().ask([text])
    return answer.kind === 'stored' ? answer.result.entityTag : undefined
  }
  t.equal(await tagOf('a'), await tagOf('a'))
  t.not(await tagOf('a'), await tagOf('b'))
  t.match(await tagOf('a'), /^"[\w-]+\.?c?.*"$/)
})
