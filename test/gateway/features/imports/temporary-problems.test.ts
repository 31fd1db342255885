// An import while its store fails for some time (gateway/features/imports/repeat.ts).
import t from 'tap'
import { IMPORTING } from '../../../../gateway/features/imports/importing.js'
import { isTemporary, repeat } from '../../../../gateway/features/imports/repeat.js'
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

/** The store, as long as `failure` names none; without the calls that other stores do not have. */
function failing(store: GraphStore, failure: () => ProblemCode | undefined): GraphStore {
  const calls = CALLS.map((name) => {
    const call = store[name] as (...sent: unknown[]) => Promise<unknown>
    const orFailure = (...sent: unknown[]): Promise<unknown> => {
      const code = failure()
      return code === undefined ? call(...sent) : Promise.resolve(problem(code, 'The store fails.'))
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
