// Changes of several graphs as the text of one SPARQL update, which stores perform as one transaction.
import { isFailure, problem, type Problem } from '../problem.js'
import { isPlain } from '../rdf/canonical.js'
import { flawOf } from '../rdf/graph.js'
import { readNTriples } from '../rdf/n-triples.js'
import { DEFAULT_GRAPH } from '../sparql/language/graph-sets.js'
import { hasDotSegment } from '../sparql/language/tokens.js'
import { hasBlankNode, irisIn, linesOf } from './n-triples-lines.js'
import { makeSlices } from './slices.js'
import type { GraphEdit } from './store.js'

/** `update.form` if SPARQL cannot express a graph name or a term, or would change it. */
export async function editText(edits: readonly GraphEdit[]): Promise<string | Problem> {
  const slices = makeSlices()
  const every: Every = async (lines, test) => {
    for (const line of lines) {
      if (!test(line)) return false
      const turn = slices(line.length)
      if (turn) await turn
    }
    return true
  }
  const all: GraphEdit[] = []
  for (const edit of edits) {
    const part = isName(edit.graph) ? await writable(edit, every) : oddName(edit.graph)
    if (isFailure(part)) return part
    all.push(part)
  }
  const operations = [
    ...all.flatMap(({ graph, isCleared }) => (isCleared ? [clearing(graph)] : [])),
    ...data('DELETE DATA', all, ({ removed }) => removed),
    ...data('INSERT DATA', all, ({ added }) => added),
  ]
  return operations.join(' ;\n')
}

type Every = (lines: readonly string[], test: (line: string) => boolean) => Promise<boolean>

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

/** The edit in a form that SPARQL can express: if SPARQL cannot express changed lines, the whole graph is written. */
async function writable(edit: GraphEdit, every: Every): Promise<GraphEdit | Problem> {
  const { graph, removed, added, after } = edit
  const isWhole = (await every(removed, isRemovable)) && (await every(added, standsInSparql))
  if (isWhole && (await every(added, (line) => !hasBlankNode(line)))) return edit
  const lines = after === undefined ? undefined : linesOf(after)
  // If the graph was not read before, inserted blank nodes are new ones, and language tags are as the client wrote
  // them.
  const isSent = !lines && (isWhole || ((await every(removed, isExact)) && (await every(added, standsInSparql))))
  if (isSent) return edit
  if (lines && (await every(lines, standsInSparql))) return { graph, isCleared: true, removed: [], added: lines }
  return problem(
    'update.form',
    `The update would change terms of <${graph}> that stores may read differently. Change them by PUT of the graph.`,
  )
}

/** SPARQL 1.1 Update §3.1.2: DELETE DATA has no blank nodes. A store may have a language tag in other letters. */
const isRemovable = (line: string): boolean => !hasBlankNode(line) && !line.includes('"@') && standsInSparql(line)

const isExact = (line: string): boolean => !hasBlankNode(line) && standsInSparql(line)

const isName = (graph: string): boolean =>
  graph === DEFAULT_GRAPH || standsInSparql(`<${graph}> <${graph}> <${graph}> .`)

const oddName = (graph: string): Problem =>
  problem('update.form', `The update would change the graph <${graph}>, whose name cannot be written in SPARQL.`)

/** A backslash with the text after it, if both together look like an escape. */
const DECODED_EARLY = /\\\\(?:u[0-9a-f]{4}|U[0-9a-f]{8})/i

/**
 * True if a line can stand in SPARQL. An odd term could end the update early for a store that decodes escapes before
 * it parses (SPARQL 1.1 §19.2).
 */
export function standsInSparql(line: string): boolean {
  if (DECODED_EARLY.test(line) || /<https?:(?!\/\/)/i.test(line)) return false
  if (/[:/]\./.test(line) && irisIn(line).some(hasDotSegment)) return false
  if (isPlain(line)) return true
  const triples = readNTriples(line)
  return triples !== undefined && triples.every((triple) => flawOf(triple) === undefined)
}
