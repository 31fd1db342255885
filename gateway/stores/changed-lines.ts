// Changes a few lines of a large graph: the store gets these lines instead of the whole graph (design 7).
import { differenceInSlices } from '../../versioning/memento/difference.js'
import type { Problem } from '../problem.js'
import { changeOf, isName, isSparql, type Replacement } from './batch-sparql.js'
import { textOfLines } from './n-triples-lines.js'
import type { GraphStore } from './store.js'

/** In characters: for a shorter graph, most of the work is the request itself. */
const LONG = 128 * 1024
/** The graph must be at least this many times as long as the changed lines. */
const TIMES = 8

/**
 * Makes the graph equal `after`, atomically. Both texts are canonical.
 * @param before the content of the store, as read from it
 */
export async function replaceChanged(
  store: GraphStore,
  graph: string,
  before: string,
  after: string,
): Promise<undefined | Problem> {
  const { together } = store
  const update = together?.isKnown() ? await updateOf(graph, before, after) : undefined
  const failed = update === undefined ? 'not sent' : await together!.update(update)
  const isUndone = failed === 'not sent' || (failed && REFUSED.has(failed.failure))
  return isUndone ? store.replace(graph, after, { canonical: true, before }) : failed
}

/** The store has done nothing. */
const REFUSED = new Set<string>(['store.refused', 'update.syntax'])

/** In characters: while longer texts are compared, other work runs in between. */
const QUICKLY_COMPARED = 32 * 1024

/** Undefined if many lines change, or if SPARQL cannot express them exactly. */
export async function changeBetween(before: string, after: string): Promise<Replacement['change']> {
  if (before.length + after.length <= 2 * QUICKLY_COMPARED) return changeOf(before, after)
  const change = await differenceInSlices(before, after)
  const [gone, come] = [change.removed, change.added].map(textOfLines) as [string, string]
  if ((gone.length + come.length) * TIMES > after.length) return undefined
  // A store may change the case of a language tag.
  return gone.includes('"@') || !isSparql(gone) || !isSparql(come) ? undefined : change
}

/** Undefined if many lines change, or if stores may read them differently in SPARQL. */
async function updateOf(graph: string, before: string, after: string): Promise<string | undefined> {
  if (after.length < LONG || before.length < LONG || !isName(graph)) return undefined
  const change = await changeBetween(before, after)
  const data = (keyword: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [`${keyword} DATA { GRAPH <${graph}> {\n${textOfLines(lines)}} }`]
  return change && [...data('DELETE', change.removed), ...data('INSERT', change.added)].join(' ;\n')
}
