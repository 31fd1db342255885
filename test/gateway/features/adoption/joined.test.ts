// The requests of an adoption: updates of several graphs share one, and each graph has its own outcome.
import t from 'tap'
import { perform, type JoinOutcome, type JoinWork } from '../../../../gateway/features/adoption/joined.js'

interface Step {
  readonly graph: string
  readonly work: JoinWork
}

const BASE = 'https://data.example.org/'
const step = (graph: string, size = 10, { base = BASE, graphs = 1, parts = 1 } = {}): Step => ({
  graph,
  work: { base, updates: Array.from({ length: parts }, () => `# ${graph} ${'x'.repeat(size)}`), graphs },
})
const some = (count: number, size?: number, more?: Parameters<typeof step>[2]): Step[] =>
  Array.from({ length: count }, (_, i) => step(`g${i}.`, size, more))
const alone = (graph: string, outcome: JoinOutcome): Step => ({
  graph,
  work: { act: () => Promise.resolve(outcome) },
})

// prettier-ignore
const rows: readonly (readonly [name: string, steps: readonly Step[], bad: readonly string[], requests: number, refused: readonly string[]])[] = [
  ['none', [], [], 0, []],
  ['one', some(1), [], 1, []],
  ['sixty graphs share a request', some(60), [], 1, []],
  ['sixty-one do not', some(61), [], 2, []],
  ['a move names two graphs', some(60, 10, { graphs: 2 }), [], 2, []],
  ['a mebibyte of text', some(60, 100_000), [], 6, []],
  ['a longer update is sent alone', [...some(1), step('long.', 2 * 1024 * 1024), ...some(1)], [], 3, []],
  ['each application has its own', [step('a.'), step('b.', 10, { base: `${BASE}admin/` }), step('c.')], [], 3, []],
  ['updates of one graph, refused together, go one by one', some(1, 10, { parts: 3 }), [], 3, []],
  ['a refused update does not affect the others', some(32), ['g5.'], 11, ['g5.']],
  ['two of them', some(32), ['g0.', 'g31.'], 19, ['g0.', 'g31.']],
  ['all of them', some(8), some(8).map(({ graph }) => graph), 15, some(8).map(({ graph }) => graph)],
  ['a separate request between updates', [...some(2), alone('c.', undefined), ...some(2)], [], 2, []],
  ['a separate request that is refused', [...some(2), alone('c.', { refusal: 'bad' }), ...some(2)], [], 2, ['c.']],
]

void t.test('outcomes', async (t) => {
  for (const [name, steps, bad, requests, refused] of rows) {
    const begun: string[] = []
    let sent = 0
    const update = (_base: string, text: string): Promise<JoinOutcome> => {
      sent++
      for (const { graph } of steps.filter((one) => text.includes(`# ${one.graph} `)))
        t.ok(begun.includes(graph), `${name}: ${graph} is noted before it is sent`)
      return Promise.resolve(bad.some((graph) => text.includes(`# ${graph} `)) ? { refusal: 'bad' } : undefined)
    }
    const outcomes: (readonly [Step, JoinOutcome])[] = []
    for await (const one of perform(steps, { update }, ({ graph }) => begun.push(graph))) outcomes.push(one)
    t.strictSame(outcomes.map(([{ graph }]) => graph), steps.map(({ graph }) => graph), name) // prettier-ignore
    t.strictSame(outcomes.flatMap(([{ graph }, outcome]) => (outcome ? [graph] : [])), refused, name) // prettier-ignore
    t.equal(sent, requests, `${name}: requests`)
  }
})

void t.test('a refusal is unclear if an earlier request with the step may have had an effect', async (t) => {
  const [no, lost] = [{ refusal: 'bad' }, { refusal: 'late', isUnclear: true }] as const
  // prettier-ignore
  const rows: readonly (readonly [name: string, steps: readonly Step[], answers: readonly JoinOutcome[], unclear: readonly boolean[]])[] = [
    ['one request', some(1), [no], [false]],
    ['one request, whose answer is lost', some(1), [lost], [true]],
    ['a joined request that is refused', some(2), [no, no, no], [false, false]],
    ['a joined request, whose answer is lost', some(2), [lost, no, no], [true, true]],
    ['halves', some(4), [no, lost, no, no, no, no, no], [true, true, false, false]],
    ['the second update of a step', some(1, 10, { parts: 2 }), [undefined, no], [true]],
    ['the first update of a step', some(1, 10, { parts: 2 }), [no], [false]],
  ]
  for (const [name, steps, answers, unclear] of rows) {
    let sent = 0
    const update = (): Promise<JoinOutcome> => Promise.resolve(answers[sent++])
    const outcomes: JoinOutcome[] = []
    for await (const [, outcome] of perform(steps, { update })) outcomes.push(outcome)
    t.strictSame(outcomes.map((one) => one && 'refusal' in one && (one.isUnclear ?? false)), unclear, name) // prettier-ignore
    t.equal(sent, answers.length, `${name}: requests`)
  }
})

void t.test('a failure ends the run', async (t) => {
  let sent = 0
  const gone = { failure: 'gateway.unreachable', detail: 'gone' } as const
  const update = (): Promise<JoinOutcome> => Promise.resolve(++sent === 1 ? { refusal: 'bad' } : gone)
  const failures: JoinOutcome[] = []
  for await (const [, outcome] of perform(some(40), { update })) failures.push(outcome)
  t.equal(sent, 2, 'the second half is not sent')
  t.ok(failures.length > 0 && failures.every((one) => one === gone))
})
