// Changes that only add, as N-Quads (gateway/stores/additions.ts).
import t from 'tap'
import { additionsOf } from '../../../gateway/stores/additions.js'
import { DEFAULT_GRAPH } from '../../../gateway/sparql/graph-sets.js'
import type { GraphEdit } from '../../../gateway/stores/store.js'

const edit = (added: readonly string[], more: Partial<GraphEdit> = {}): GraphEdit => ({
  ...{ graph: 'urn:g', isCleared: false, removed: [], added },
  ...more,
})

void t.test('changes as N-Quads', (t) => {
  const rows: [name: string, edits: readonly GraphEdit[], quads: string | undefined][] = [
    ['two graphs', [edit(['<urn:s> <urn:p> "a ." .']), edit(['<urn:s> <urn:p> <urn:o> .'], { graph: 'urn:h' })], '<urn:s> <urn:p> "a ." <urn:g> .\n<urn:s> <urn:p> <urn:o> <urn:h> .\n'], // prettier-ignore
    ['nothing', [], undefined],
    ['a graph that is cleared', [edit(['<urn:s> <urn:p> "a" .'], { isCleared: true })], undefined],
    ['a line that goes', [edit(['<urn:s> <urn:p> "a" .'], { removed: ['<urn:s> <urn:p> "b" .'] })], undefined],
    ['the default graph', [edit(['<urn:s> <urn:p> "a" .'], { graph: DEFAULT_GRAPH })], undefined],
    ['a blank node', [edit(['_:b <urn:p> "a" .'])], undefined],
    ['a base direction', [edit(['<urn:s> <urn:p> "a"@en--ltr .'])], undefined],
  ]
  for (const [name, edits, quads] of rows) t.equal(additionsOf(edits), quads, name)
  t.end()
})
