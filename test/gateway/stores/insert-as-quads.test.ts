// Changes that only add triples are sent as N-Quads (gateway/stores/http-store.ts).
import t from 'tap'
import { additionsOf } from '../../../gateway/stores/http-store.js'
import { editText } from '../../../gateway/stores/edit-text.js'
import { DEFAULT_GRAPH } from '../../../gateway/sparql/language/graph-sets.js'
import type { GraphEdit } from '../../../gateway/stores/store.js'

const edit = (added: readonly string[], more: Partial<GraphEdit> = {}): GraphEdit => ({
  ...{ graph: 'urn:g', isCleared: false, removed: [], added },
  ...more,
})

void t.test('changes as N-Quads', async (t) => {
  const rows: [name: string, edits: readonly GraphEdit[], quads: string | undefined][] = [
    ['two graphs', [edit(['<urn:s> <urn:p> "a ." .']), edit(['<urn:s> <urn:p> <urn:o> .'], { graph: 'urn:h' })], '<urn:s> <urn:p> "a ." <urn:g> .\n<urn:s> <urn:p> <urn:o> <urn:h> .\n'], // prettier-ignore
    ['nothing', [], undefined],
    ['a graph that is cleared', [edit(['<urn:s> <urn:p> "a" .'], { isCleared: true })], undefined],
    ['a line that is removed', [edit(['<urn:s> <urn:p> "a" .'], { removed: ['<urn:s> <urn:p> "b" .'] })], undefined],
    ['the default graph', [edit(['<urn:s> <urn:p> "a" .'], { graph: DEFAULT_GRAPH })], undefined],
    ['a blank node', [edit(['_:b <urn:p> "a" .'])], undefined],
    ['a base direction', [edit(['<urn:s> <urn:p> "a"@en--ltr .'])], undefined],
  ]
  for (const [name, edits, quads] of rows) t.equal(await additionsOf(edits), quads, name)
})

void t.test('other work runs during a long change', async (t) => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `<urn:s> <urn:p> "${i}" .`)
  for (const [name, write, last] of [
    ['as N-Quads', additionsOf, '<urn:s> <urn:p> "19999" <urn:g> .\n'],
    ['as an update', editText, '<urn:s> <urn:p> "19999" .\n}\n}'],
    ['of many graphs', () => editText(lines.map((line, i) => edit([line], { graph: `urn:${i}` }))), '"19999" .\n}\n}'],
  ] as const) {
    let [turns, isDone] = [0, false]
    const count = (): unknown => !isDone && ++turns && setImmediate(count)
    count()
    const text = (await write([edit(lines)])) as string
    isDone = true
    t.ok(text.endsWith(last), `${name}: ${text.slice(-60)}`)
    t.ok(turns > 5, `${name}: ${turns} turns`)
  }
})
