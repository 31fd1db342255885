// Changes found after an update and before a write (design 6): on a real repository, with an embedded store that does
// not announce its changes, as a store over HTTP does not.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { FENCE } from '../../../gateway/mirror/write-failures.js'
import { bringUp } from '../../../gateway/mirror/bring-up.js'
import { makeJournalledStore, type JournalledStore } from '../../../gateway/mirror/journalled-store.js'
import { makeLog } from '../../../gateway/log.js'
import { makeLocks } from '../../../gateway/documents/locks.js'
import { openStates } from '../../../gateway/documents/stored-state.js'
import { fillStore } from '../../../gateway/mirror/rebuild.js'
import { sweepsOf, verify } from '../../../gateway/mirror/mirror.js'
import type { Mirrored } from '../../../gateway/mirror/all-documents.js'
import { isFailure, problem, type Problem } from '../../../gateway/problem.js'
import { AS_WRITTEN } from '../../../gateway/rdf/literal-forms.js'
import { LOG_GRAPH, setPosition } from '../../../gateway/stores/fenced-update.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { documentOfPath, documentPath } from '../../../versioning/git/document-path.js'
import type { History } from '../../../versioning/history.js'
import { openLocalRepository } from '../../../versioning/git/local-repository.js'
import { openHistory } from '../../../versioning/open-history.js'
import { temporaryFolder } from '../../support/bare-repository.js'
import { until } from '../../support/wait.js'
import { NO_LOG, SOON } from '../../versioning/history-world.js'
import { BASE, succeeded } from '../../versioning/repository-contract.js'

interface Life {
  readonly history: History
  readonly journalled: JournalledStore
  /** Method and agent of each commit of the document, oldest first. */
  commits(document: string): Promise<string[]>
  /** How many documents differ between store and branch. */
  differing(): Promise<number>
  /** Fills this store from the history. */
  fill(store: GraphStore): ReturnType<typeof fillStore>
  close(): Promise<void>
}

interface Kept {
  /** The store has its position in the log. */
  readonly keepsPosition?: boolean
  /** As `mirror sweep` does. */
  readonly takesOver?: boolean
}

/** Store and folder remain when a gateway stops. */
async function live(folder: string, store: GraphStore, { keepsPosition, takesOver = false }: Kept = {}): Promise<Life> {
  const place = { folder: join(folder, 'repository.git'), branch: 'main', pathPrefix: 'graphs', now: Date.now }
  const repository = succeeded(await openLocalRepository(place))
  const options = {
    folder: join(folder, 'journal'),
    repository,
    base: BASE,
    prefix: 'graphs',
    now: Date.now,
    log: NO_LOG,
  }
  const history = succeeded(await openHistory(options))
  const locks = makeLocks()
  const isDocument = (graph: string): boolean => graph.startsWith(BASE) && graph.endsWith('/')
  const states = openStates()
  const mirrored: Mirrored = {
    ...{
      history,
      repository,
      base: BASE,
      store,
      ...{ isDocument, isRecorded: isDocument },
      sharers: { bases: [BASE], isDocument },
      states,
      now: Date.now,
    },
    pathOf: (document) => documentPath(document, BASE, 'graphs'),
    documentOf: (path) => documentOfPath(path, BASE, 'graphs'),
    settle: (document) => journalled.settle(document),
    confirm: () => Promise.resolve(undefined),
  }
  const sweep = sweepsOf(mirrored, locks)
  const log = makeLog('silent')
  const applier = keepsPosition ? await bringUp({ ...mirrored, locks, log, takesOver }) : undefined
  const common = { store, history, base: BASE, isDocument, locks, states, log }
  const journalled = makeJournalledStore({ ...common, sweep, applier, literals: () => AS_WRITTEN })
  return {
    history,
    journalled,
    async commits(document) {
      await history.settled(SOON)
      const git = ['log', '--reverse', '--format=%s %an', 'main', '--', mirrored.pathOf(document)]
      const log = execFileSync('git', [`--git-dir=${place.folder}`, ...git], { encoding: 'utf8' })
      return log.split('\n').flatMap((line) => /^(\w+) .*urn:(\w+)$/.exec(line)?.slice(1).join(' ') ?? line.split(' ')[0]!).filter(Boolean) // prettier-ignore
    },
    async differing() {
      const outcome = await verify(mirrored, { locks, report: () => undefined })
      if (isFailure(outcome)) throw new Error(outcome.detail)
      return Object.values(outcome.differences).reduce((sum, count) => sum + count, 0)
    },
    fill: (store) => fillStore({ ...mirrored, store }, () => undefined),
    async close() {
      await journalled.close()
      await states.close()
      await history.close()
      await repository.close()
    },
  }
}

interface TestStore extends GraphStore {
  slowness: number
  /** The connection of the next edit breaks before the store has done it, or after. */
  breaks: 'before' | 'after' | undefined
  /** The gateway no longer waits for the next update, which runs until this is false. */
  isLate: boolean
}

async function makeStore(t: Test, maxGraphLength = 1_000_000): Promise<TestStore> {
  const store = { ...(await openEmbeddedStore('settlement', { maxGraphLength })) }
  delete store.announces
  t.teardown(() => store.close())
  let running: string | undefined
  const slow: TestStore = {
    ...store,
    slowness: 0,
    breaks: undefined,
    isLate: false,
    async update(text) {
      if (slow.isLate) {
        running ??= text
        return problem(running === text ? 'store.time' : 'store.in-doubt', 'An update is running.')
      }
      const late = running
      running = undefined
      if (late !== undefined) await store.update(late)
      return store.update(text)
    },
    async edit(edits) {
      const when = slow.breaks
      slow.breaks = undefined
      const failed = when === 'before' ? undefined : await store.edit(edits)
      return failed ?? (when && problem('store.failed', 'The connection broke.'))
    },
    async read(graph: string) {
      await new Promise((resolve) => setTimeout(resolve, slow.slowness))
      return store.read(graph)
    },
  }
  return slow
}

const iriOf = (name: string): string => `${BASE}${name}/`
const content = (name: string, title: string): string =>
  `<${iriOf(name)}> <http://purl.org/dc/terms/modified> "2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n` +
  `<${iriOf(name)}> <http://purl.org/dc/terms/title> "${title}" .\n`
const put = (name: string, title: string, before?: string, agent = 'urn:ann') => ({
  ...{ document: iriOf(name), method: 'PUT', agent, time: Date.now(), before, content: content(name, title) },
})
const update = (text: string, agent: string, documents?: string[]) => ({ text, agent, documents, time: Date.now() })
const retitle = (from: string, to: string): string =>
  `DELETE { GRAPH ?g { ?s ?p "${from}" } } INSERT { GRAPH ?g { ?s ?p "${to}" } } WHERE { GRAPH ?g { ?s ?p "${from}" } }`

void t.test(
  'the changes of an update of any document are distinguished from earlier changes that are not on the branch yet',
  async (t) => {
    const life = await live(temporaryFolder(t), await makeStore(t))
    t.teardown(life.close)
    const { journalled } = life
    await journalled.carryOut(put('back', 'A'))
    await life.history.settled(SOON)
    await journalled.carryOut(put('gone', 'short-lived'))
    await journalled.carryOut(put('back', 'B', content('back', 'A')))
    const drop = 'DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?q "short-lived" . ?s ?p ?o } }'
    t.equal(await journalled.update(update(`${drop} ; ${retitle('B', 'A')}`, 'urn:bob')), undefined)
    t.same(await life.commits(iriOf('gone')), ['PUT ann', 'UPDATE bob'], 'created and removed before it was committed')
    t.same(await life.commits(iriOf('back')), ['PUT ann', 'PUT ann', 'UPDATE bob'], 'changed, and changed back')
    t.equal(await life.differing(), 0)
  },
)

void t.test('the changes of two updates of any document are distinguished', async (t) => {
  const store = await makeStore(t)
  const life = await live(temporaryFolder(t), store)
  t.teardown(life.close)
  const names = Array.from({ length: 40 }, (_, i) => `d${i}`)
  for (const name of names) await life.journalled.carryOut(put(name, 'old'))
  await life.history.settled(SOON)
  store.slowness = 500
  t.equal(await life.journalled.update(update(retitle('old', 'ann’s'), 'urn:ann')), undefined)
  const early = await life.journalled.update(update(retitle('ann’s', 'bob’s'), 'urn:bob'))
  t.equal(early?.failure, 'store.in-doubt', 'not all changes of the first are in the journal yet')
  store.slowness = 0
  await until(() => life.history.status().inDoubt === 0)
  t.equal(await life.journalled.update(update(retitle('ann’s', 'bob’s'), 'urn:bob')), undefined)
  for (const name of names) t.same(await life.commits(iriOf(name)), ['PUT ann', 'UPDATE ann', 'UPDATE bob'], name)
})

void t.test('no write is decided while the store may still run an update of any document', async (t) => {
  const [folder, store] = [temporaryFolder(t), await makeStore(t)]
  const first = await live(folder, store)
  await first.journalled.carryOut(put('a', '1'))
  store.isLate = true
  const answer = await first.journalled.update(update(retitle('1', '2'), 'urn:bob'))
  t.equal(answer?.failure, 'store.time')
  // Like a write: settled, then read.
  const settled = async ({ journalled }: Life): Promise<unknown> =>
    (await journalled.settle(iriOf('a')))?.failure ?? /"(.)" \./.exec(String(await store.read(iriOf('a'))))?.[1]
  t.equal(await settled(first), 'store.in-doubt')
  await first.close()
  // A gateway that starts meanwhile does not know when the update began.
  const second = await live(folder, store)
  t.teardown(second.close)
  const seen = new Set([await settled(second)])
  store.isLate = false
  await until(async () => seen.add(await settled(second)).size === 2)
  t.same([...seen], ['store.in-doubt', '2'])
  await until(() => second.history.status().inDoubt === 0)
  t.same(await second.commits(iriOf('a')), ['PUT ann', 'UPDATE bob'])
})

void t.test('writes that wait for an update in doubt share one request to the store', async (t) => {
  const [folder, store] = [temporaryFolder(t), await makeStore(t)]
  const { update: run } = store
  let [fences, release] = [0, (_: undefined): void => undefined]
  const held = new Promise<undefined>((resolve) => (release = resolve))
  store.update = async (text, call) => (text === FENCE ? (fences++, await held) : run(text, call))
  const life = await live(folder, store)
  t.teardown(life.close)
  await life.journalled.carryOut(put('a', '1'))
  store.isLate = true
  t.equal((await life.journalled.update(update(retitle('1', '2'), 'urn:bob')))?.failure, 'store.time')
  store.isLate = false
  const settle = async (): Promise<unknown> => (await life.journalled.settle(iriOf('a')))?.failure
  await until(() => fences === 1)
  const waiting = Promise.all(Array.from({ length: 10 }, settle))
  release(undefined)
  t.same([await waiting, fences], [Array.from({ length: 10 }, () => undefined), 1])
})

void t.test('killed after journalling the changes of an update, before marking them as done: one commit', async (t) => {
  const [folder, store] = [temporaryFolder(t), await makeStore(t)]
  const first = await live(folder, store)
  await first.journalled.carryOut(put('a', '1'))
  await first.history.settled(SOON)
  // This gateway stops here: the entries that it has begun are on disk, and their completion is not.
  first.history.done = () => undefined
  first.history.undone = () => new Promise(() => undefined)
  const asked = first.journalled.update(update(retitle('1', '2'), 'urn:bob', [iriOf('a')]))
  void asked
  await until(() => first.history.open().length >= 2)
  await first.close()
  const second = await live(folder, store)
  t.teardown(second.close)
  await until(() => second.history.status().inDoubt === 0)
  t.same(await second.commits(iriOf('a')), ['PUT ann', 'UPDATE bob'])
  t.equal(await second.differing(), 0)
})

const OTHER = 'urn:other'
/** Moves the title of the document to a graph whose states are read after the write. */
async function moveTitle({ journalled }: Life, name: string, title: string): ReturnType<JournalledStore['edit']> {
  const [document, before] = [iriOf(name), content(name, title)]
  const after = before.slice(0, before.indexOf('\n') + 1)
  const moved = before.slice(after.length, -1)
  const change = { document, before, content: after, method: 'UPDATE', agent: 'urn:bob', time: Date.now() }
  return journalled.edit(
    [{ ...change, isPart: true }],
    [
      { graph: document, isCleared: false, removed: [moved], added: [], after },
      { graph: OTHER, isCleared: false, removed: [], added: [moved] },
    ],
  )
}

const ENDS: readonly [what: string, breaks: TestStore['breaks'], title: string | undefined, moved: string | undefined, commits: string[]][] = [
  ['did not get', 'before', 'precious', undefined, ['PUT ann']],
  ['has done', 'after', undefined, 'precious', ['PUT ann', 'UPDATE bob']],
] // prettier-ignore
const titleIn = (text: unknown): string | undefined => /"(precious)"/.exec(String(text))?.[1]

for (const [what, breaks, title, moved, commits] of ENDS)
  void t.test(`an update of a document and another graph that the store ${what} is whole or nothing`, async (t) => {
    const store = await makeStore(t)
    const life = await live(temporaryFolder(t), store)
    t.teardown(life.close)
    await life.journalled.carryOut(put('a', 'precious'))
    store.breaks = breaks
    t.equal((await moveTitle(life, 'a', 'precious'))?.failure, 'store.failed')
    await until(() => life.history.status().inDoubt === 0)
    t.same([await store.read(iriOf('a')), await store.read(OTHER)].map(titleIn), [title, moved])
    t.same(await life.commits(iriOf('a')), commits)
    t.equal(await life.differing(), 0)
  })

/** Too long for a request with others, which sets the position of the store. */
const LONG = `precious${'x'.repeat(300_000)}`
type Move = 'to the document' | 'from the document'

/** A gateway moves a long triple, and is killed before the outcome is in the journal. */
async function killedMove(folder: string, store: TestStore, move: Move, breaks: TestStore['breaks']): Promise<History> {
  let isDead = false
  const gone = (): Problem => problem('store.unreachable', 'The gateway is dead.')
  const life = await live(folder, {
    ...store,
    update: async (...sent) => (isDead ? gone() : store.update(...sent)),
    edit: async (...sent) => (isDead ? gone() : store.edit(...sent)),
  }, { keepsPosition: true }) // prettier-ignore
  const document = iriOf('a')
  const lines = content('a', LONG).match(/.+\n/g)!
  const [empty, full] = [lines[0]!, lines.join('')]
  const [before, after] = move === 'to the document' ? [empty, full] : [full, undefined]
  const change = { document, method: 'PUT', agent: 'urn:ann', time: Date.now() }
  t.equal(await life.journalled.carryOut({ ...change, before: undefined, content: before }), undefined)
  if (move === 'to the document') await store.replace(OTHER, lines[1]!)
  store.breaks = breaks
  const line = [lines[1]!.trim()]
  const edit = { graph: OTHER, isCleared: false, removed: after ? line : [], added: after ? [] : line }
  const part = { ...change, method: 'UPDATE', agent: 'urn:bob', before, content: after, isPart: true } as const
  const own = after
    ? { graph: document, isCleared: false, removed: [], added: line, after }
    : { graph: document, isCleared: true, removed: [], added: [], after: '' }
  void life.journalled.edit([part], [own, edit])
  await until(() => store.breaks === undefined)
  isDead = true
  life.history.done = () => undefined
  life.history.undone = () => new Promise(() => undefined)
  await life.close()
  return life.history
}

/** The graphs that have the triple, and the commits of the document. */
const afterMove = async (life: Life, store: TestStore): Promise<unknown> => [
  [titleOf(await store.read(iriOf('a'))), titleOf(await store.read(OTHER))],
  await life.commits(iriOf('a')),
]
const titleOf = (text: unknown): string | undefined => /"(precious)x+"/.exec(String(text))?.[1]

for (const move of ['to the document', 'from the document'] as const)
  for (const breaks of ['before', 'after'] as const)
    void t.test(`after a kill, a long move ${move} that breaks ${breaks} the store has it is whole`, async (t) => {
      const [folder, store] = [temporaryFolder(t), await makeStore(t)]
      await killedMove(folder, store, move, breaks)
      const life = await live(folder, store, { keepsPosition: true })
      t.teardown(life.close)
      const isInDocument = (move === 'to the document') === (breaks === 'after')
      t.same(await afterMove(life, store), [
        isInDocument ? ['precious', undefined] : [undefined, 'precious'],
        breaks === 'after' ? ['PUT ann', 'UPDATE bob'] : ['PUT ann'],
      ])
      t.equal(await life.differing(), 0)
      t.equal(life.history.status().inDoubt, 0)
    })

for (const [what, text] of [
  ['an earlier position', (log: string) => setPosition(log, 0, 'earlier:1')],
  ['no position', () => `DROP GRAPH <${LOG_GRAPH}>`],
] as const)
  void t.test(`a store that was put back to ${what} shows nothing by a document that it does not have`, async (t) => {
    const [folder, store] = [temporaryFolder(t), await makeStore(t)]
    const { log } = await killedMove(folder, store, 'from the document', 'before')
    await store.remove(iriOf('a'))
    t.equal(await store.update(text(log.iri)), undefined)
    const life = await live(folder, store, { keepsPosition: true })
    t.teardown(life.close)
    t.same(await afterMove(life, store), [['precious', undefined], ['PUT ann']])
  })

void t.test('a sweep that takes a store over does not record a move that this store has not done', async (t) => {
  const [folder, store] = [temporaryFolder(t), await makeStore(t)]
  const { log } = await killedMove(folder, store, 'to the document', 'before')
  t.equal(await store.update(setPosition(log.iri, 1_000, 'later:1')), undefined)
  const life = await live(folder, store, { keepsPosition: true, takesOver: true })
  t.teardown(life.close)
  t.same(await afterMove(life, store), [[undefined, 'precious'], ['PUT ann']])
})

void t.test('a gateway starts with a move in doubt to a document that cannot be read, which stays', async (t) => {
  const [folder, store] = [temporaryFolder(t), await makeStore(t)]
  await killedMove(folder, store, 'to the document', 'before')
  await store.replace(iriOf('a'), content('a', 'x'.repeat(1_000_000)))
  const life = await live(folder, store, { keepsPosition: true })
  t.teardown(life.close)
  t.match(await store.read(iriOf('a')), { failure: 'store.too-large' })
  t.equal(life.history.status().inDoubt, 0)
  t.same(await life.commits(iriOf('a')), ['PUT ann'])
})

void t.test('a long move to a document that could not be read is sent again', async (t) => {
  const store = await makeStore(t)
  const life = await live(temporaryFolder(t), store, { keepsPosition: true })
  t.teardown(life.close)
  await store.replace(iriOf('a'), content('a', 'x'.repeat(1_000_000)))
  store.breaks = 'before'
  const change = { ...put('a', LONG), method: 'UPDATE', isPart: true } as const
  const added = content('a', LONG).trim().split('\n')
  const own = { graph: iriOf('a'), isCleared: true, removed: [], added, after: change.content }
  const edits = [own, { graph: OTHER, isCleared: false, removed: [], added }]
  t.equal((await life.journalled.edit([change], edits))?.failure, 'store.failed')
  await until(() => life.history.status().inDoubt === 0)
  t.same(await afterMove(life, store), [['precious', 'precious'], ['UPDATE ann']])
})

void t.test('a store that has lost its position keeps a move until it is sent again', async (t) => {
  const [folder, store] = [temporaryFolder(t), await makeStore(t)]
  let [isSent, isBack] = [false, false]
  const first = await live(folder, {
    ...store,
    async update(text) {
      if (isSent && text.includes('precious')) return problem('store.time', 'The store is busy.')
      const failed = await store.update(text)
      if (isSent && text.startsWith('DELETE WHERE')) isBack = true
      if (failed || !text.includes(OTHER)) return failed
      isSent = true
      await store.update(`DROP GRAPH <${LOG_GRAPH}>`)
      return problem('store.time', 'The store is busy.')
    },
  }, { keepsPosition: true }) // prettier-ignore
  await first.journalled.carryOut(put('a', 'precious'))
  t.equal((await moveTitle(first, 'a', 'precious'))?.failure, 'store.time')
  await until(() => isBack)
  // This gateway stops here.
  first.history.done = () => undefined
  first.history.undone = () => new Promise(() => undefined)
  await first.close()
  const life = await live(folder, store, { keepsPosition: true })
  t.teardown(life.close)
  t.same([await store.read(iriOf('a')), await store.read(OTHER)].map(titleIn), [undefined, 'precious'])
  t.same(await life.commits(iriOf('a')), ['PUT ann', 'UPDATE bob'])
})

void t.test('a store that has such an update keeps it when it is filled again', async (t) => {
  const store = await makeStore(t)
  const life = await live(temporaryFolder(t), store)
  t.teardown(life.close)
  for (const [name, breaks] of [
    ['a', 'after'],
    ['b', 'before'],
  ] as const) {
    await life.journalled.carryOut(put(name, 'precious'))
    store.breaks = breaks
    t.equal((await moveTitle(life, name, 'precious'))?.failure, 'store.failed')
  }
  t.equal(await life.fill(store), 0)
  t.same([await store.read(iriOf('a')), await store.read(iriOf('b'))].map(titleIn), [undefined, 'precious'])
  t.same(await life.commits(iriOf('a')), ['PUT ann', 'UPDATE bob'])
  t.same(await life.commits(iriOf('b')), ['PUT ann'])
})

void t.test('a store is filled without an update of which the journal has only the part of a document', async (t) => {
  const [store, fresh] = [await makeStore(t), await makeStore(t)]
  const life = await live(temporaryFolder(t), store)
  t.teardown(life.close)
  for (const name of ['a', 'b']) await life.journalled.carryOut(put(name, 'precious'))
  for (const name of ['a', 'b']) {
    store.breaks = 'before'
    t.equal((await moveTitle(life, name, 'precious'))?.failure, 'store.failed')
  }
  // A write that has begun after such an update was done.
  t.notOk(isFailure(await life.history.begin([put('b', 'later')])))
  t.equal(await life.fill(fresh), 0)
  t.equal(await fresh.read(iriOf('a')), content('a', 'precious'))
  t.equal(await fresh.read(iriOf('b')), content('b', 'later'))
  t.equal(life.history.status().inDoubt, 0)
  t.same(await life.commits(iriOf('a')), ['PUT ann'])
  t.same(await life.commits(iriOf('b')), ['PUT ann', 'UPDATE bob', 'PUT ann'])
})

void t.test('a state that was written behind the gateway becomes a version before it is overwritten', async (t) => {
  const store = await makeStore(t)
  const life = await live(temporaryFolder(t), store)
  t.teardown(life.close)
  const { journalled } = life
  const behind = content('a', 'behind')
  await journalled.carryOut(put('a', 'one'))
  await store.replace(iriOf('a'), behind)
  await journalled.carryOut(put('a', 'two', behind))
  t.same(await life.commits(iriOf('a')), ['PUT ann', 'SWEEP anonymous', 'PUT ann'])
  await store.replace(iriOf('b'), content('b', 'behind'))
  const text = `DROP GRAPH <${iriOf('b')}>`
  t.equal(await journalled.update(update(text, 'urn:bob', [iriOf('b')])), undefined)
  t.same(await life.commits(iriOf('b')), ['SWEEP anonymous', 'UPDATE bob'])
  await store.remove(iriOf('a'))
  await journalled.carryOut(put('a', 'three'))
  t.same(
    await life.commits(iriOf('a')),
    ['PUT ann', 'SWEEP anonymous', 'PUT ann', 'SWEEP anonymous', 'PUT ann'],
    'a removal too',
  )
})

void t.test('a change that could never be committed is not journalled', async (t) => {
  const life = await live(temporaryFolder(t), await makeStore(t))
  t.teardown(life.close)
  const document = `${BASE}${'long'.repeat(1_200)}/`
  const text = `INSERT DATA { GRAPH <${document}> { <urn:s> <urn:p> 1 } }`
  t.equal((await life.journalled.update(update(text, 'urn:bob', [document])))?.failure, 'update.form')
  await life.journalled.carryOut(put('a', document))
  t.equal(await life.journalled.update(update(`INSERT { GRAPH ?g { ?s ?p 1 } } WHERE { GRAPH ?h { ?s ?p ?o } BIND(IRI(?o) AS ?g) }`, 'urn:bob')), undefined) // prettier-ignore
  t.equal(await life.history.settled(SOON), true)
  t.match(
    life.history.status(),
    { depth: 0, blocked: [] },
    'not even where only the store knows which graph it has created',
  )
})

void t.test('a document that has become too large to be read can be made smaller, and removed', async (t) => {
  const life = await live(temporaryFolder(t), await makeStore(t, 2_000))
  t.teardown(life.close)
  const document = iriOf('large')
  const grow = (by: string): string => `INSERT DATA { GRAPH <${document}> { <urn:s> <urn:p> "${by.repeat(900)}" } }`
  for (const by of ['1', '2', '3']) t.equal(await life.journalled.update(update(grow(by), 'urn:bob', [document])), undefined) // prettier-ignore
  const shrink = `DELETE { GRAPH <${document}> { ?s ?p ?o } } WHERE { GRAPH <${document}> { ?s ?p ?o FILTER(STRSTARTS(?o, "3")) } }`
  t.equal(await life.journalled.update(update(shrink, 'urn:cy', [document])), undefined)
  t.same(await life.commits(document), ['UPDATE bob', 'UPDATE bob'], 'it is equal to its last version again')
  t.equal(await life.journalled.update(update(grow('4'), 'urn:bob', [document])), undefined)
  t.equal(await life.journalled.update(update(`DROP GRAPH <${document}>`, 'urn:cy', [document])), undefined)
  t.same(await life.commits(document), ['UPDATE bob', 'UPDATE bob', 'UPDATE cy'])
  t.equal(await life.differing(), 0)
})
