// A change of a few lines of a large graph: the store gets these lines, and not the whole graph again (design 7).
import { differenceInSlices } from '../../versioning/memento/difference.js'
import type { Problem } from '../problem.js'
import { isName, isSparql } from './batch-sparql.js'
import type { GraphStore } from './store.js'

/** In characters: of a shorter graph, the request is most of the work. */
const LONG = 128 * 1024
/** The graph is at least so many times as long as the lines that change. */
const TIMES = 8

/**
 * Makes the graph hold `after`, atomically. Both texts are canonical.
 * @param before what the store holds, as it was read from it
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

/** Undefined where the lines that change are many, or stores may read them otherwise in SPARQL. */
async function updateOf(graph: string, before: string, after: string): Promise<string | undefined> {
  if (after.length < LONG || before.length < LONG || !isName(graph)) return undefined
  const { removed, added } = await differenceInSlices(before, after)
  const [gone, come] = [removed, added].map((lines) => lines.map((line) => `${line}\n`).join('')) as [string, string]
  if ((gone.length + come.length) * TIMES > after.length) return undefined
  // A store may have a language tag in other letters.
  if (gone.includes('"@') || !isSparql(gone) || !isSparql(come)) return undefined
  const data = (keyword: string, lines: string): readonly string[] =>
    lines === '' ? [] : [`${keyword} DATA { GRAPH <${graph}> {\n${lines}} }`]
  return [...data('DELETE', gone), ...data('INSERT', come)].join(' ;\n')
}
