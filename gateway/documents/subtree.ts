// Finds the stored documents below a container by their URLs, whether or not their parents exist.
import { isFailure, type Problem } from '../problem.js'
import { SIOC } from '../rdf/vocabulary.js'
import { select } from '../stores/select.js'
import type { Call, GraphStore } from '../stores/store.js'
import type { Traits } from '../stores/traits.js'

const MAX_BYTES = 16 * 1024 * 1024

interface HasDocuments {
  readonly store: GraphStore
  readonly traits: Traits
  isDocument(graph: string): boolean
}

interface Asked {
  /** A SPARQL condition on `?g`. */
  readonly condition: string
  readonly most: number
  readonly isOrdered?: boolean
}

/** Names of graphs. If the store lists its graphs, only matching ones are checked for triples: some may be empty. */
async function namesOf(
  { store, traits }: HasDocuments,
  { condition, most, isOrdered = false }: Asked,
  call: Call,
): Promise<{ readonly names: readonly string[]; readonly hasMore: boolean } | Problem> {
  const known = traits.known() ?? (await traits.current())
  if (isFailure(known)) return known
  const any = 'GRAPH ?g { ?s ?p ?o }'
  const meant = known.listsGraphs
    ? `?g WHERE { GRAPH ?g { } FILTER(${condition}) FILTER EXISTS { ${any} } }`
    : `DISTINCT ?g WHERE { ${any} FILTER(${condition}) }`
  const query = `SELECT ${meant} ${isOrdered ? 'ORDER BY STR(?g)' : ''} LIMIT ${most}`
  const rows = await select(store, query, ['g'], { ...call, maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  const names = rows.flatMap(([graph]) => (graph?.termType === 'NamedNode' ? [graph.value] : []))
  return { names, hasMore: rows.length >= most }
}

/** Documents at and below this URL, in the order of their URLs; `last` is set if there may be more. */
export async function documentsFrom(
  application: HasDocuments,
  top: string,
  after: string,
  most: number,
  call: Call,
): Promise<{ readonly documents: readonly string[]; readonly last: string | undefined } | Problem> {
  const condition = `STRSTARTS(STR(?g), ${JSON.stringify(top)}) && STR(?g) > ${JSON.stringify(after)}`
  const found = await namesOf(application, { condition, most, isOrdered: true }, call)
  if (isFailure(found)) return found
  const { names, hasMore } = found
  return { documents: names.filter(application.isDocument), last: hasMore ? names.at(-1) : undefined }
}

/** True if some document says that it is in this one. The store finds that by an index. */
export async function hasDocumentsIn(
  { store }: HasDocuments,
  document: string,
  call: Call,
): Promise<boolean | Problem> {
  const query = `SELECT ?g WHERE { VALUES ?in { <${SIOC('has_container')}> <${SIOC('has_parent')}> }
    GRAPH ?g { ?g ?in <${document}> } } LIMIT 1`
  const rows = await select(store, query, ['g'], { ...call, maxBytes: MAX_BYTES })
  return isFailure(rows) ? rows : rows.length > 0
}

/** The documents below this one, parents before children. `hasMore`: there are at least `most`, and these are some. */
export async function documentsBelow(
  application: HasDocuments,
  container: string,
  most: number,
  call: Call = {},
): Promise<{ readonly documents: readonly string[]; readonly hasMore: boolean } | Problem> {
  const start = JSON.stringify(container)
  const condition = `STRSTARTS(STR(?g), ${start}) && STR(?g) != ${start} && STRENDS(STR(?g), "/")`
  const found = await namesOf(application, { condition, most }, call)
  if (isFailure(found)) return found
  return { documents: found.names.filter(application.isDocument).sort(), hasMore: found.hasMore }
}
