// In charge of finding orphans: documents whose parent does not exist, or is no container (spec 3 lets a container be deleted
// or replaced while it has documents below it). Making the container again heals them.
import { parentOf } from '../documents/hierarchy.js'
import { isFailure, type Problem } from '../problem.js'
import { DH } from '../rdf/vocabulary.js'
import { select } from '../stores/select.js'
import { documentsIn, type Mirrored } from './mirrored.js'

/** `documents`: the first of them. */
export interface Orphans {
  readonly count: number
  readonly documents: readonly string[]
}

const NAMED = 100
/** Bytes of the names of all containers. */
const MAX_NAMES = 1024 * 1024 * 1024

/** Undefined where there are none. */
export async function orphansIn(mirrored: Mirrored): Promise<Orphans | undefined | Problem> {
  const { store, base } = mirrored
  const names = await documentsIn(mirrored)
  if (isFailure(names)) return names
  const query = `SELECT ?g WHERE { GRAPH ?g { ?g a <${DH('Container')}> } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)})) }`
  const rows = await select(store, query, ['g'], { maxBytes: MAX_NAMES })
  if (isFailure(rows)) return rows
  const parents = new Set(rows.map(([graph]) => graph?.value))
  if (names.includes(base)) parents.add(base)
  const orphans = names.filter((document) => document !== base && !parents.has(parentOf(document))).sort()
  return orphans.length === 0 ? undefined : { count: orphans.length, documents: orphans.slice(0, NAMED) }
}
