// In charge of the documents below a container, by their URLs: as the store has them, whether their parents exist or not.
import { isFailure, type Problem } from '../problem.js'
import { select } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'

const MAX_BYTES = 16 * 1024 * 1024

interface HasDocuments {
  readonly store: GraphStore
  isDocument(graph: string): boolean
}

/** Documents at this URL and below it, in the order of their URLs; `last` where there may be more after it. */
export async function documentsFrom(
  { store, isDocument }: HasDocuments,
  top: string,
  after: string,
  most: number,
): Promise<{ readonly documents: readonly string[]; readonly last: string | undefined } | Problem> {
  const query = `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(top)}) && STR(?g) > ${JSON.stringify(after)}) } ORDER BY STR(?g) LIMIT ${most}`
  const rows = await select(store, query, ['g'], { maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  const names = rows.flatMap(([graph]) => (graph?.termType === 'NamedNode' ? [graph.value] : []))
  return { documents: names.filter(isDocument), last: rows.length < most ? undefined : names.at(-1) }
}

/** The documents below this one, parents before their children; `more` where there are `most` or more. */
export async function documentsBelow(
  { store, isDocument }: HasDocuments,
  container: string,
  most: number,
): Promise<readonly string[] | 'more' | Problem> {
  const start = JSON.stringify(container)
  const query = `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o }
    FILTER(STRSTARTS(STR(?g), ${start}) && STR(?g) != ${start} && STRENDS(STR(?g), "/")) } LIMIT ${most}`
  const rows = await select(store, query, ['g'], { maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  if (rows.length >= most) return 'more'
  const names = rows.flatMap(([graph]) => (graph?.termType === 'NamedNode' ? [graph.value] : []))
  return names.filter(isDocument).sort()
}
