// An import while its store or its disk fails for some time (gateway/features/imports/repeat.ts).
import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { resumeRuns } from '../../../../gateway/features/imports/background-imports.js'
import { IMPORTING } from '../../../../gateway/features/imports/importing.js'
import { isTemporary, repeat } from '../../../../gateway/features/imports/repeat.js'
import type { Kept } from '../../../../gateway/features/imports/run-files.js'
import { STATUS_OF, type Problem, type ProblemCode, isFailure, problem } from '../../../../gateway/problem.js'
import type { Context } from '../../../../gateway/request/context.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl } from '../../../support/world.js'
import { until } from '../../../support/wait.js'

const GONE = problem('store.unreachable', 'gone')

void t.test('a write is repeated while its problem is temporary', async (t) => {
  // prettier-ignore
  const rows: readonly [name: string, failure: ProblemCode, failures: number, unready: number, expected: string, tries: number][] = [
    ['store.failed',                            'store.failed',      3,        3,        'written',           4],
    ['store.time',                              'store.time',        3,        3,        'written',           4],
    ['store.unreachable',                       'store.unreachable', 3,        3,        'written',           4],
    ['write.outdated',                          'write.outdated',    3,        0,        'written',           4],
    ['a store that is away for long',           'store.failed',      100,      100,      'written',           101],
    ['a document that alone fails',             'store.failed',      Infinity, 0,        'store.failed',      30],
    ['a document that fails after an outage',   'store.failed',      Infinity, 70,       'store.failed',      100],
    ['a disk that fails for long',          'files.failed',      100,      0,        'written',           101],
    ['a store that is away until the end',      'store.failed',      Infinity, Infinity, 'stopped',           200],
    ['a refusal',                               'access.denied',     1,        0,        'access.denied',     1],
    ['a store that is full',                    'store.full',        1,        0,        'store.full',        1],
    ['a store that refuses it',                 'store.refused',     1,        0,        'store.refused',     1],
  ]
  for (const [name, failure, failures, unready, expected, most] of rows) {
    let [tries, asked] = [0, 0]
    const stop = new AbortController()
    const store = { ready: () => Promise.resolve(++asked <= unready ? GONE : undefined) } as GraphStore
    const application = { store } as Context['application']
    const place = { application, dataspace: { endUser: application, admin: application } } as Context
    const write = (): Promise<'written' | Problem> => {
      if (++tries === most) stop.abort()
      return Promise.resolve(tries > failures ? 'written' : problem(failure, name))
    }
    const outcome = await repeat(place, stop.signal, write, 0)
    t.equal(isFailure(outcome) ? outcome.failure : outcome, expected, name)
    t.equal(tries, most, `${name}: tries`)
  }
  const temporary = (code: ProblemCode): boolean => isTemporary({ failure: code, detail: '' })
  const client = (Object.keys(STATUS_OF) as ProblemCode[]).filter((code) => STATUS_OF[code] < 500 && temporary(code))
  t.same(client, [], 'a fault of the client is not temporary')
})

const CALLS = ['read', 'excerpt', 'stream', 'replace', 'remove', 'query', 'update', 'edit', 'ready'] as const

/**
 * The store, as long as `failure` names none; without the calls that other stores do not have.
 * @param failure receives the arguments of the call
 * @param isDone whether a failing call is carried out all the same
 */
function failing(
  store: GraphStore,
  failure: (sent: unknown[]) => ProblemCode | undefined,
  isDone = (): boolean => false,
): GraphStore {
  const calls = CALLS.map((name) => {
    const call = store[name] as (...sent: unknown[]) => Promise<unknown>
    const orFailure = async (...sent: unknown[]): Promise<unknown> => {
      const code = failure(sent)
      if (code === undefined) return call(...sent)
      if (isDone()) await call(...sent)
      return problem(code, 'The store fails.')
    }
    return [name, orFailure] as const
  })
  const others = Object.entries(store).filter(([name]) => name !== 'together' && name !== 'readTyped')
  return Object.fromEntries([...others, ...calls]) as unknown as GraphStore
}

const DOCUMENTS = 600
const CONTAINER = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "C" .') // prettier-ignore

void t.test('an import waits for its store', async (t) => {
  await forEachStore(t, 'imports without a store', async (t, makeStores, kind) => {
    let failure: ProblemCode | undefined
    const { endUser, admin } = await makeStores()
    const stores = { endUser: failing(endUser, () => failure), admin }
    const world = await makeWorld(t, stores, { flags: ['--history', 'local'] })
    const owner = world.as('owner')
    const { runs } = IMPORTING.of(world.running.gateway)
    const start = async (): Promise<string> => {
      const path = world.freshPath()
      await owner('PUT', path, CONTAINER)
      const graphs = Array.from({ length: DOCUMENTS }, (_, i) => `<urn:s> <urn:p> "${i}" <${world.base}${path.slice(1)}${i}/> .\n`) // prettier-ignore
      const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
      return (await owner('POST', '/importer', { fields, body: graphs.join('') })).fields.location!
    }
    for (const code of ['store.failed', 'store.time', 'store.unreachable'] as const) {
      await rowsOf(t, kind)(`${code} for two seconds: nothing is refused`, async (t) => {
        const url = await start()
        const { progress, ended } = runs.get(url)!
        await until(() => progress.written > 0)
        failure = code
        setTimeout(() => (failure = undefined), 2_000)
        await ended
        t.match(progress, { state: 'done', refused: 0, findings: [] })
        t.equal(progress.written + progress.unchanged, DOCUMENTS)
        const { text } = await owner('GET', new URL(url).pathname, accept('application/n-triples'))
        t.match(text, /#Done>/, 'its document says so')
      })
    }
  })
})

// prettier-ignore
const LEFT: readonly [name: string, left: (at: number) => object, code: ProblemCode | undefined, isBlocked: boolean][] = [
  ['before it begins: its disk fails',                     () => ({}),                  undefined,    true],
  ['at its end: its disk fails',                           (at) => ({ endedAt: at }),   undefined,    true],
  ['at its end: its document cannot be written',           (at) => ({ endedAt: at }),   'store.full', false],
  ['after a fault: its document cannot be written',        () => ({ begun: 'broken' }), 'store.full', false],
]

void t.test('an import that cannot record its state is not lost', async (t) => {
  await forEachStore(t, 'imports without a record', async (t, makeStores, kind) => {
    let failure: ProblemCode | undefined
    const { endUser, admin } = await makeStores()
    const stores = { endUser: failing(endUser, () => failure), admin }
    const world = await makeWorld(t, stores, { flags: ['--history', 'local'] })
    const owner = world.as('owner')
    const { gateway } = world.running
    const { runs, turns, folder } = IMPORTING.of(gateway)
    const runsFolder = join(folder, '../runs')
    const saysOf = async (url: string): Promise<string | undefined> =>
      /#(Waiting|Running|Done|Failed)>/.exec((await owner('GET', new URL(url).pathname, accept('application/n-triples'))).text)?.[1] // prettier-ignore

    /** Leaves the files of an import that has not begun, as a process that stops does. */
    async function waiting(): Promise<{ readonly url: string; readonly file: string }> {
      const others = [1, 2].map((n) => ({ agent: `urn:${n}`, network: `${n}` }))
      const taken = await Promise.all(others.map((one) => turns.take(undefined, one)))
      const path = world.freshPath()
      await owner('PUT', path, CONTAINER)
      const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
      const body = `<urn:s> <urn:p> "imported" <${world.base}${path.slice(1)}1/> .\n`
      const url = (await owner('POST', '/importer', { fields, body })).fields.location!
      runs.get(url)!.stop()
      await runs.get(url)!.ended
      for (const endTurn of taken) if (!isFailure(endTurn)) endTurn()
      return { url, file: join(runsFolder, readdirSync(runsFolder)[0]!, 'run.json') }
    }

    for (const [name, left, code, isBlocked] of LEFT) {
      await rowsOf(t, kind)(name, async (t) => {
        const { url, file } = await waiting()
        const first = readFileSync(file, 'utf8')
        const kept = JSON.parse(first) as Kept
        const progress = { ...kept.progress, state: 'done' }
        writeFileSync(file, JSON.stringify({ ...kept, progress, ...left(kept.record.startedAt) }))
        failure = code
        // A folder in the place of a file: the system refuses to write it.
        if (isBlocked) mkdirSync(`${file}.next`)
        const logged = world.log.length
        resumeRuns(gateway)
        const isSaid = (): boolean =>
          world.log.slice(logged).some(({ document, level }) => document === url && Number(level) >= 40)
        await (isBlocked ? until(isSaid) : runs.get(url)!.ended)
        t.equal(readdirSync(runsFolder).length, 1, 'its files stay')
        failure = undefined
        t.match(await saysOf(url), /Waiting|Running/, 'its document does not say that it has ended')
        if (isBlocked) rmdirSync(`${file}.next`)
        else {
          writeFileSync(file, first)
          resumeRuns(gateway)
        }
        await runs.get(url)!.ended
        t.equal(runs.get(url)!.progress.state, 'done')
        t.equal(await saysOf(url), 'Done')
        t.same(readdirSync(runsFolder), [])
      })
    }
    await rowsOf(t, kind)('a stop while its disk fails', async (t) => {
      const { url, file } = await waiting()
      mkdirSync(`${file}.next`)
      resumeRuns(gateway)
      await until(() => world.log.some(({ document, level }) => document === url && Number(level) >= 40))
      runs.get(url)!.stop()
      await runs.get(url)!.ended
      t.equal(await saysOf(url), 'Running')
      rmdirSync(`${file}.next`)
      resumeRuns(gateway)
      await runs.get(url)!.ended
      t.equal(await saysOf(url), 'Done')
    })
  })
})

void t.test('an import whose document is in doubt', async (t) => {
  await forEachStore(t, 'imports in doubt', async (t, makeStores, kind) => {
    for (const [flags, named] of [
      [['--history', 'local'], 'a history'],
      [[], 'no history'],
    ] as const) {
      let [failure, isFailing, isDone]: [ProblemCode | undefined, boolean, boolean] = [undefined, false, false]
      const { endUser, admin } = await makeStores()
      // From the write of the import's document on, the store fails.
      const fails = (sent: unknown[]): ProblemCode | undefined => {
        isFailing ||= failure !== undefined && JSON.stringify(sent).includes('Import of')
        return isFailing ? failure : undefined
      }
      const world = await makeWorld(t, { endUser: failing(endUser, fails, () => isDone), admin }, { flags })
      const owner = world.as('owner')
      const { runs, folder } = IMPORTING.of(world.running.gateway)
      // prettier-ignore
      const doubts: readonly [name: string, code: ProblemCode, isDone: boolean, status: number][] = [
        ['which the store has written',     'store.failed', true,  201],
        ['which the store has not written', 'store.failed', false, 201],
        ['which the store refuses',         'store.full',   false, 507],
      ]
      for (const [name, code, done, status] of doubts) {
        await rowsOf(t, kind)(`${name}, with ${named}`, async (t) => {
          const path = world.freshPath()
          await owner('PUT', path, CONTAINER)
          const imported = `${path}1/`
          ;[failure, isFailing, isDone] = [code, false, done]
          const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
          const body = `<urn:s> <urn:p> "imported" <${world.base}${imported.slice(1)}> .\n`
          const started = await owner('POST', '/importer', { fields, body })
          failure = undefined
          t.equal(started.status, status)
          const url = started.fields.location
          await runs.get(url ?? '')?.ended
          const waiting = await owner('GET', `/sparql?query=${encodeURIComponent(WAITING)}`, accept('text/csv'))
          t.equal(waiting.text.trim(), 'g', 'no document says that an import waits that does not')
          t.equal((await owner('GET', imported)).status, status === 201 ? 200 : 404)
          if (url !== undefined) t.match((await owner('GET', new URL(url).pathname)).text, /tgi:Done/)
          t.same(readdirSync(join(folder, '../runs')), [])
        })
      }
    }
  })
})

const WAITING = `SELECT ?g { GRAPH ?g { ?import <urn:triplegate:import#state> ?state } FILTER(?state != <urn:triplegate:import#Done>) }`
