// The last check of an update before anything is written (design 4): its edits may change only graphs that were
// checked, and only as the mode allows. The evaluation should make no other edits; if it does, nothing is written.
import t from 'tap'
import { editsWithin } from '../../../../gateway/sparql/updates/carry-out.js'
import { isFailure } from '../../../../gateway/problem.js'
import type { GraphEdit } from '../../../../gateway/stores/store.js'
import type { Touch } from '../../../../gateway/sparql/language/touches.js'

const [A, B] = ['https://localhost/a/', 'https://localhost/b/']
const LINE = '<urn:s> <urn:p> <urn:o> .'
const named = (graph: string, mode?: Touch['mode']) => ({
  ...{ graph, isRead: mode === undefined },
  touch: mode && { graph, mode, isFilled: true },
})
const edit = (graph: string, changes: Partial<GraphEdit>): GraphEdit => ({
  ...{ graph, isCleared: false, removed: [], added: [] },
  ...changes,
})
const ADDS = { added: [LINE] }
const REMOVES = { removed: [LINE] }
const CLEARS = { isCleared: true }

const ROWS: readonly [
  name: string,
  named: readonly ReturnType<typeof named>[],
  edits: readonly GraphEdit[],
  isWithin: boolean,
][] = [
  ['no edit', [named(A, 'Append')], [], true],
  ['an insertion with Append', [named(A, 'Append')], [edit(A, ADDS)], true],
  ['a deletion with Append', [named(A, 'Append')], [edit(A, REMOVES)], false],
  ['a deletion and an insertion with Append', [named(A, 'Append')], [edit(A, { ...ADDS, ...REMOVES })], false],
  ['clearing with Append', [named(A, 'Append')], [edit(A, CLEARS)], false],
  ['an insertion, a deletion, clearing with Write', [named(A, 'Write')], [edit(A, { ...ADDS, ...REMOVES, ...CLEARS })], true],
  ['a graph that is only read', [named(A), named(B, 'Write')], [edit(A, ADDS)], false],
  ['a graph that is not named', [named(B, 'Write')], [edit(A, ADDS)], false],
  ['one graph within, another one not', [named(A, 'Write'), named(B, 'Append')], [edit(A, REMOVES), edit(B, REMOVES)], false],
  ['two graphs, each in its mode', [named(B, 'Append'), named(A, 'Write')], [edit(A, REMOVES), edit(B, ADDS)], true],
] // prettier-ignore

void t.test('the edits of an update are all within its rights, or nothing is written', async (t) => {
  for (const [name, graphs, edits, isWithin] of ROWS) {
    const found = editsWithin(graphs, edits)
    if (isWithin) t.equal(found, edits, name)
    else t.match(isFailure(found) && found, { failure: 'internal' }, name)
  }
})
