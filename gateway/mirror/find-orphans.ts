// Finds orphans: documents whose parent does not exist or is not a container (spec 3 lets a container with documents
// below it be deleted or replaced). Creating the container again heals them.
import { parentOf } from '../documents/hierarchy.js'
import { isFailure, type Problem } from '../problem.js'
import { DH } from '../rdf/vocabulary.js'
import { selectEach } from '../stores/select.js'
import { documentsIn, inSlices, type Mirrored } from './all-documents.js'

/** `documents`: the first of them. */
export interface Orphans {
  readonly count: number
  readonly documents: readonly string[]
}

const NAMED = 100
/** The most bytes that the names of all containers may take. */
const MAX_NAMES = 1024 * 1024 * 1024

/** Undefined if there are none. */
export async function orphansIn(mirrored: Mirrored): Promise<Orphans | undefined | Problem> {
  const { store, base } = mirrored
  const names = await documentsIn(mirrored)
  if (isFailure(names)) return names
  const query = `SELECT ?g WHERE { GRAPH ?g { ?g a <${DH('Container')}> } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)})) }`
  const parents = new Set<string | undefined>()
  const failed = await selectEach(store, query, ['g'], { maxBytes: MAX_NAMES }, ([graph]) => parents.add(graph?.value))
  if (failed) return failed
  if (names.includes(base)) parents.add(base)
  let [count, first]: [number, string[]] = [0, []]
  for await (const slice of inSlices(names)) {
    const orphans = slice.filter((document) => document !== base && !parents.has(parentOf(document)))
    count += orphans.length
    first = [...first, ...orphans].sort().slice(0, NAMED)
  }
  return count === 0 ? undefined : { count, documents: first }
}
