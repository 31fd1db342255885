// The tests of the main line: the commits that a branch has pointed to, for all kinds of merges.
import fc from 'fast-check'
import t from 'tap'
import { mainLine, mainLineSince, parentsOf, type Ancestor } from '../../../versioning/git/main-line.js'

/** From `name: parents`, oldest first; commits of the gateway have names in capitals. */
const commitsOf = (text: string): ReadonlyMap<string, Ancestor> =>
  new Map(
    text.split('; ').map((one) => {
      const [commit = '', parents = ''] = one.split(':')
      const isOurs = commit === commit.toUpperCase()
      return [commit, { commit, parents: parents.split(' ').filter((parent) => parent !== ''), isOurs }]
    }),
  )

// prettier-ignore
const ROWS: readonly (readonly [name: string, commits: string, head: string, line: string])[] = [
  ['no merge', 'A:; b: A; C: b', 'C', 'A b C'],
  ['others merge into the branch', 'A:; b: A; C: A; d: C b', 'd', 'A C d'],
  ['the branch merged into the work of others', 'A:; b: A; C: A; d: b C', 'd', 'A C d'],
  ['a merge of three parents', 'A:; b: A; c: A; D: A; e: b c D', 'e', 'A D e'],
  ['merged, and merged again elsewhere', 'A:; b: A; C: A; d: b C; e: A; F: d; g: e F', 'g', 'A C d F g'],
  ['nothing of the gateway: the first parent', 'A:; b: A; c: A; d: b c', 'd', 'A b d'],
  ['nothing of the gateway at all', 'a:; b: a; c: a; d: c b', 'd', 'a c d'],
  ['another beginning', 'A:; b:; c: b A', 'c', 'A c'],
]

for (const [name, commits, head, line] of ROWS) {
  void t.test(name, async (t) => {
    const found = mainLine(head, commitsOf(commits))
    t.equal(found.map(({ commit }) => commit).join(' '), line)
    t.same(
      found.map(({ parent }) => parent),
      [undefined, ...line.split(' ').slice(0, -1)],
    )
  })
}

void t.test('a commit that is its own ancestor is refused', async (t) => {
  for (const cycle of ['a: b; b: a', 'a: b; b: a; c: a b']) {
    t.throws(() => mainLine(cycle.at(-1) === 'b' ? 'c' : 'a', commitsOf(cycle)), /own ancestor/, cycle)
  }
})

void t.test("the parent that the branch pointed to before, by git's own message", async (t) => {
  // prettier-ignore
  for (const [message, expected] of [
    ["Merge branch 'main' of https://github.example/owner/repo", 'b a'],
    ["Merge remote-tracking branch 'origin/main'", 'b a'],
    ["Merge branch 'main' into feature", 'b a'],
    ["Merge branch 'feature'", 'a b'],
    ["Merge branch 'main2' of https://github.example/owner/repo", 'a b'],
    ['Merge pull request #1 from owner/main', 'a b'],
  ] as const) {
    t.equal(parentsOf(['a', 'b'], message, 'main').join(' '), expected, message)
  }
})

type Step = { readonly kind: 'ours' | 'theirs' | 'beside' | 'merged' | 'pulled'; readonly at: number }
const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('ours', 'theirs', 'beside', 'merged', 'pulled'),
  at: fc.nat(),
})

void t.test(
  'read step by step, the main line is the same as read at once, and has all commits of the gateway',
  async (t) => {
    const grows = fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 30 }), async (steps) => {
      const all = new Map<string, Ancestor>([['C0', { commit: 'C0', parents: [], isOurs: true }]])
      let head = 'C0'
      let line = mainLine(head, all)
      for (const [n, { kind, at }] of steps.entries()) {
        const other = [...all.keys()][at % all.size]!
        const parents = { ours: [head], theirs: [head], beside: [other], merged: [head, other], pulled: [other, head] }[
          kind
        ]
        const commit = `${kind === 'ours' ? 'C' : 'c'}${n + 1}`
        all.set(commit, { commit, parents: [...new Set(parents)], isOurs: kind === 'ours' })
        if (kind === 'beside') continue
        const known = reachable(head, all)
        const added = new Map([...reachable(commit, all)].filter(([one]) => !known.has(one)))
        const between = async (base: string): Promise<boolean> => {
          const before = reachable(base, all)
          return [...known.values()].some(({ commit, isOurs }) => isOurs && !before.has(commit))
        }
        const since = await mainLineSince(head, commit, added, between)
        head = commit
        const whole = mainLine(head, reachable(head, all))
        line = since[0]?.parent === line.at(-1)!.commit ? [...line, ...since] : whole
        t.same(line, whole)
        const ours = [...all.values()].flatMap(({ commit, isOurs }) => (isOurs ? [commit] : []))
        t.same(
          line.map(({ commit }) => commit).filter((commit) => ours.includes(commit)),
          ours,
          'the commits of the gateway, in their order',
        )
        if (!t.passing()) throw new Error('see above')
      }
    })
    await fc.assert(grows, { numRuns: 200 })
  },
)

function reachable(head: string, all: ReadonlyMap<string, Ancestor>): ReadonlyMap<string, Ancestor> {
  const found = new Map<string, Ancestor>()
  for (const left = [head]; left.length > 0;) {
    const commit = all.get(left.pop()!)!
    if (found.has(commit.commit)) continue
    found.set(commit.commit, commit)
    left.push(...commit.parents)
  }
  return found
}
