// The repository of a log without a history, against a model: it has the newest contents only, whatever comes between.
import fc from 'fast-check'
import t from 'tap'
import { SetbackError } from '../../../versioning/failure.js'
import { blobId } from '../../../versioning/git/fast-import.js'
import type { History } from '../../../versioning/history.js'
import { openDatabase } from '../../../versioning/journal/database.js'
import { dumpIndex } from '../../../versioning/journal/version-index.js'
import { openHistory } from '../../../versioning/open-history.js'
import type { NewFile } from '../../../versioning/repository.js'
import { temporaryFolder } from '../../support/bare-repository.js'
import { NO_LOG, PREFIX, QUICK, SOON } from '../history-world.js'
import { all, BASE, changeOf, succeeded, TIME, triple } from '../repository-contract.js'

const NAMES = ['a/', 'b/', 'c/', 'd/']
const name = fc.constantFrom(...NAMES)
const content = fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined })
const changes = fc.array(fc.tuple(name, content), { minLength: 1, maxLength: 5 })
const documents = fc.uniqueArray(fc.tuple(name, content), { minLength: 1, maxLength: 4, selector: ([one]) => one })
/** A write; commits that the index has not heard of, as before a crash; an import, also one that breaks off; a start. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), changes }),
  fc.record({ kind: fc.constant('commit' as const), changes }),
  fc.record({ kind: fc.constant('import' as const), changes: documents, breaks: fc.boolean() }),
  fc.record({ kind: fc.constant('start' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Model = Map<string, string>

const textOf = (n: number | undefined): string | undefined => (n === undefined ? undefined : triple(`${n} é`))

function follow(model: Model, document: string, text: string | undefined): void {
  if (text === undefined) model.delete(document)
  else model.set(document, text)
}

async function take(history: History, model: Model, taken: Exclude<Step, { kind: 'start' }>): Promise<void> {
  const { repository } = history
  if (taken.kind === 'write') {
    for (const [document, n] of taken.changes) {
      const { method, agent, time, content } = changeOf(document, textOf(n))
      const change = { document: BASE + document, method, agent, time, content, before: model.get(document) }
      const entries = succeeded(await history.begin([change]))
      history.done(entries)
      follow(model, document, textOf(n))
    }
    if (!(await history.settled(SOON))) throw new Error('the changes are not committed')
  } else if (taken.kind === 'commit') {
    const made = taken.changes.map(([document, n]) => changeOf(document, textOf(n)))
    const first = succeeded(await repository.commit(made))
    const again = succeeded(await repository.commit(made))
    if (JSON.stringify(first) !== JSON.stringify(again)) throw new Error('a change was committed twice')
    for (const [document, n] of taken.changes) follow(model, document, textOf(n))
    history.refresh()
  } else {
    const files = async function* (): AsyncGenerator<NewFile> {
      for (const [document, n] of taken.changes) {
        yield changeOf(document, textOf(n))
        follow(model, document, textOf(n))
      }
      if (taken.breaks) throw new SetbackError({ failure: 'unreachable', detail: 'The store has stopped.' })
    }
    const before = new Map(model)
    const { id, method, agent } = changeOf('', '')
    await repository.commitFiles(files(), { id, method, agent, time: TIME })
    // Files that did not fill a piece before the commit broke off are not written.
    if (taken.breaks) {
      model.clear()
      for (const [document, text] of before) model.set(document, text)
    }
    history.refresh()
  }
}

void t.test('it has the newest contents, and the index has them after each step', async (t) => {
  const root = temporaryFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const folder = `${root}/${++runs}`
      const open = async (): Promise<History> =>
        succeeded(
          await openHistory({
            ...{ folder, repository: 'newest', base: BASE, prefix: PREFIX, now: Date.now, log: NO_LOG, pauses: QUICK },
          }),
        )
      let history = await open()
      const model: Model = new Map()
      for (const taken of [...steps, { kind: 'start' } as const]) {
        if (taken.kind === 'start') {
          await history.close()
          history = await open()
        } else await take(history, model, taken)
        if (!(await history.settled(SOON))) throw new Error('the index is not current')
        for (const document of NAMES) {
          const text = model.get(document)
          const latest = succeeded(await history.latest(BASE + document, SOON))
          if (latest !== text) throw new Error(`${document} is ${latest}, not ${text}`)
          if (!(await history.isLatest(BASE + document, text))) throw new Error(`the index has another ${document}`)
        }
        const files = await all(history.repository.files())
        const expected = [...model.values()].map(blobId).sort()
        if (files.map(({ blob }) => blob).sort().join() !== expected.join()) throw new Error('other files') // prettier-ignore
        const contents = await all(history.repository.contents())
        if (contents.map((file) => file.content).sort().join() !== [...model.values()].sort().join()) throw new Error('other contents') // prettier-ignore
      }
      await history.close()
      const database = succeeded(await openDatabase(folder, NO_LOG))
      const rows = await dumpIndex(database)
      await database.close()
      // The head; and a tip and a version for each document.
      if (rows.length > 1 + 2 * NAMES.length) throw new Error(`${rows.length} rows in the index`)
    }),
    { numRuns: 60 },
  )
  t.pass()
})

void t.test('an import that breaks off after a piece was written: the index has what there is', async (t) => {
  const folder = temporaryFolder(t)
  const open = async (): Promise<History> =>
    succeeded(
      await openHistory({
        ...{ folder, repository: 'newest', base: BASE, prefix: PREFIX, now: Date.now, log: NO_LOG, pauses: QUICK },
      }),
    )
  let history = await open()
  succeeded(await history.repository.commit([changeOf('a/', triple('first'))]))
  history.refresh()
  t.ok(await history.settled(SOON))
  const large = triple('x'.repeat(1_200_000))
  const files = async function* (): AsyncGenerator<NewFile> {
    yield changeOf('b/', large)
    yield changeOf('c/', triple('never written'))
    throw new SetbackError({ failure: 'unreachable', detail: 'The store has stopped.' })
  }
  const { id, method, agent } = changeOf('', '')
  t.match(await history.repository.commitFiles(files(), { id, method, agent, time: TIME }), { failure: 'unreachable' })
  for (const again of [false, true]) {
    if (again) {
      await history.close()
      history = await open()
    } else history.refresh()
    t.ok(await history.settled(SOON))
    const latest = await Promise.all(['a/', 'b/', 'c/'].map((name) => history.latest(BASE + name, SOON)))
    t.same(latest, [triple('first'), large, undefined], again ? 'after a start' : 'at once')
  }
  await history.close()
})
