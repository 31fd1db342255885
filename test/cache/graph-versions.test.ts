// Design 6: an answer read before a change of its graph is invalid after it. Each row makes changes and says which
// versions are new; random changes are compared with a list of everything that happened.
import t from 'tap'
import { makeGraphVersions, type GraphVersions } from '../../cache/graph-versions.js'
import { makeRandom } from '../crash/random.js'

type Change = (versions: GraphVersions) => unknown

void t.test('which graphs have a new version after a change', (t) => {
  const rows: readonly [
    name: string,
    change: Change,
    changed: readonly string[],
    since: readonly string[] | undefined,
  ][] = [
    ['nothing', () => undefined, [], []],
    ['a graph', (v) => v.changed('a'), ['a', 'dataset'], ['a']],
    ['a graph, twice', (v) => [v.changed('a'), v.changed('a')], ['a', 'dataset'], ['a']],
    ['two graphs', (v) => [v.changed('b'), v.changed('a')], ['a', 'b', 'dataset'], ['a', 'b']],
    ['everything', (v) => v.everythingChanged(), ['a', 'b', 'dataset'], undefined],
    ['a graph, then everything', (v) => [v.changed('a'), v.everythingChanged()], ['a', 'b', 'dataset'], undefined],
    ['a graph in doubt', (v) => v.inDoubt('a', 10), ['a', 'dataset'], ['a']],
    ['an update in doubt', (v) => v.inDoubt(undefined, 10), ['a', 'b', 'dataset'], undefined],
    [
      'more graphs than have versions of their own',
      (v) => ['c', 'd', 'e'].map(v.changed),
      ['a', 'b', 'dataset'],
      undefined,
    ],
    ['as many writes in doubt', (v) => ['c', 'd', 'e'].map((g) => v.inDoubt(g, 10)), ['a', 'b', 'dataset'], undefined],
  ]
  for (const [name, change, changed, since] of rows) {
    // "a" had its own version before.
    const versions = makeGraphVersions(3)
    versions.changed('a')
    const before = { a: versions.of('a'), b: versions.of('b'), dataset: versions.dataset() }
    change(versions)
    const after = { a: versions.of('a'), b: versions.of('b'), dataset: versions.dataset() }
    const grown = (['a', 'b', 'dataset'] as const).filter((key) => after[key] > before[key])
    const names = since && [...(versions.since(before.dataset) ?? ['all'])].sort()
    t.same({ grown, names: names ?? versions.since(before.dataset) }, { grown: changed, names: since }, name)
  }
  t.end()
})

void t.test('after everything has changed, graphs have their own versions again', (t) => {
  const versions = makeGraphVersions()
  versions.everythingChanged()
  const then = versions.dataset()
  t.same(versions.since(then), [])
  versions.changed('a')
  t.same(versions.since(then), ['a'])
  t.end()
})

void t.test('a write in doubt: answers read meanwhile are not cached, and earlier answers become invalid', (t) => {
  const rows: readonly [name: string, change: Change, settled: Readonly<Record<string, boolean>>][] = [
    ['no doubt', () => undefined, { 'a 0': true, '* 0': true }],
    [
      'until its time',
      (v) => v.inDoubt('a', 10),
      { 'a 9': false, 'b 9': true, '* 9': false, 'a 10': true, '* 11': true },
    ],
    ['an update', (v) => v.inDoubt(undefined, 10), { 'a 9': false, 'b 9': false, '* 9': false, 'a 10': true }],
    ['the later of two', (v) => [v.inDoubt('a', 20), v.inDoubt('a', 10)], { 'a 19': false, 'a 20': true }],
    [
      'one of two doubts ends, and the other stays',
      (v) => [v.inDoubt('b', 10), v.inDoubt('a', 20)],
      { 'b 10': true, 'a 10': false, '* 15': false, '* 20': true },
    ],
  ]
  for (const [name, change, settled] of rows) {
    for (const [asked, expected] of Object.entries(settled)) {
      const [graph, time] = asked.split(' ') as [string, string]
      const versions = makeGraphVersions()
      change(versions)
      t.equal(versions.isSettled(graph === '*' ? undefined : graph, Number(time)), expected, `${name}: ${asked}`)
    }
  }
  const versions = makeGraphVersions()
  versions.inDoubt('a', 10)
  const during = [versions.of('a'), versions.of('b')]
  t.ok(versions.isSettled('b', 10))
  t.ok(versions.of('a') > during[0]!, 'the write may have been done in the last moment')
  t.equal(versions.of('b'), during[1])
  t.end()
})

void t.test(
  'random changes: a version stays the same only if nothing has changed, and never becomes too large',
  (t) => {
    const random = makeRandom(Number(process.env.TRIPLEGATE_TEST_SEED ?? 7))
    const graphs = ['a', 'b', 'c', 'd', 'e', 'f']
    for (let run = 0; run < 500; run++) {
      const versions = makeGraphVersions(Math.floor(random.between(1, 6)))
      // What a cache has read: the graph, its version, the version of the dataset.
      let read: { readonly graph: string; readonly version: number; readonly dataset: number; stale: boolean }[] = []
      for (let step = 0; step < 40; step++) {
        const graph = random.one(graphs)
        const isEverything = random.chance(0.1)
        if (!isEverything && random.chance(0.45))
          read.push({ graph, version: versions.of(graph), dataset: versions.dataset(), stale: false })
        else {
          if (isEverything) versions.everythingChanged()
          else versions.changed(graph)
          read = read.map((one) => (isEverything || one.graph === graph ? { ...one, stale: true } : one))
        }
        for (const { graph, version, dataset, stale } of read) {
          const since = versions.since(dataset)
          if (stale && versions.of(graph) === version) t.fail(`${graph} has changed, and its version has not`)
          if (stale && since && !since.includes(graph)) t.fail(`${graph} has changed since, and is not named`)
          if (since && (versions.of(graph) === version) === since.includes(graph)) t.fail(`${graph}: two answers`)
          if (since && since.length > 5) t.fail('more graphs than the bound')
        }
      }
    }
    t.end()
  },
)
