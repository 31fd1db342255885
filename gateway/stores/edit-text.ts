// In charge of changes of several graphs as the text of one SPARQL update, which stores perform as one transaction. Pure.
import { isFailure, problem, type Problem } from '../problem.js'
import { isPlain } from '../rdf/canonical.js'
import { flawOf } from '../rdf/graph.js'
import { readNTriples } from '../rdf/n-triples.js'
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'
import { hasBlankNode, linesOf } from './n-triples-lines.js'
import type { GraphEdit } from './store.js'

/** `update.form` where a graph has terms that cannot stand in SPARQL. */
export function editText(edits: readonly GraphEdit[]): string | Problem {
  const parts = edits.map(writable)
  const failed = parts.find((part) => isFailure(part))
  if (failed) return failed
  const all = parts as readonly GraphEdit[]
  const operations = [
    ...all.flatMap(({ graph, isCleared }) => (isCleared ? [clearing(graph)] : [])),
    ...data('DELETE DATA', all, ({ removed }) => removed),
    ...data('INSERT DATA', all, ({ added }) => added),
  ]
  return operations.join(' ;\n')
}

const clearing = (graph: string): string => (graph === DEFAULT_GRAPH ? 'DROP DEFAULT' : `DROP SILENT GRAPH <${graph}>`)

function data(
  keyword: string,
  edits: readonly GraphEdit[],
  linesIn: (edit: GraphEdit) => readonly string[],
): readonly string[] {
  const blocks = edits.flatMap((edit) => {
    const lines = linesIn(edit)
    if (lines.length === 0) return []
    const text = lines.join('\n')
    return [edit.graph === DEFAULT_GRAPH ? text : `GRAPH <${edit.graph}> {\n${text}\n}`]
  })
  return blocks.length === 0 ? [] : [`${keyword} {\n${blocks.join('\n')}\n}`]
}

/** The edit in a form that SPARQL has: where lines that change have none, the whole graph is written again. */
function writable(edit: GraphEdit): GraphEdit | Problem {
  const { graph, removed, added, after } = edit
  if (removed.every(isRemovable) && added.every(isWritable) && !added.some(hasBlankNode)) return edit
  const lines = after === undefined ? undefined : linesOf(after)
  // Of a graph that was not read, blank nodes that are inserted are new ones, and tags are those of the client.
  if (!lines && removed.every((line) => !hasBlankNode(line) && isWritable(line)) && added.every(isWritable)) return edit
  if (lines?.every(isWritable)) return { graph, isCleared: true, removed: [], added: lines }
  return problem(
    'update.form',
    `The update would change terms of <${graph}> that RDF does not allow, or that stores may read otherwise. Change them with a PUT of the graph alone.`,
  )
}

/** SPARQL 1.1 Update §3.1.2: DELETE DATA has no blank nodes. A store may have a language tag in other letters. */
const isRemovable = (line: string): boolean => !hasBlankNode(line) && !line.includes('"@') && isWritable(line)

/** A backslash, and what looks like an escape with it. */
const DECODED_EARLY = /\\\\(?:u[0-9a-f]{4}|U[0-9a-f]{8})/i

/** An odd term could end the update early for a store that decodes escapes before it parses (SPARQL 1.1 §19.2). */
function isWritable(line: string): boolean {
  if (DECODED_EARLY.test(line)) return false
  if (isPlain(line)) return true
  const triples = readNTriples(line)
  return triples !== undefined && triples.every((triple) => flawOf(triple) === undefined)
}
