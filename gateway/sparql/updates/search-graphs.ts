// Finds data that the steps of an update may read without naming its graph (design 3): graphs with a triple that one of
// their patterns could match, and triples of the default graph. It searches only the graphs that the agent may read.
import { DEFAULT_GRAPH } from '../../../policies/vocabulary.js'
import type { CopiedGraph } from '../../evaluation/run-update.js'
import { isFailure, type Problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { graphOfValue } from '../language/quad-templates.js'
import type { Search } from '../language/search.js'
import type { Solutions } from '../language/touches.js'
import type { OpenStep } from '../language/update-plan.js'
import { readPattern, solveSoon } from './find-solutions.js'
import { isForStore, type ForStore } from './touched-graphs.js'
import { mayReadOther, type UpdateRights } from './update-rights.js'

export interface Seen {
  readonly graphs: readonly string[]
  readonly default: CopiedGraph
  readonly isUnion: boolean
}

export async function searchGraphs(
  context: Context,
  rights: UpdateRights,
  search: Search,
): Promise<Seen | ForStore | Problem> {
  const traits = await context.application.traits.current()
  if (isFailure(traits)) return traits
  const isUnion = traits.defaultGraph !== 'own'
  const named = await found(context, rights, (isUnion && search.union) || search.graphs)
  if (isFailure(named) || isForStore(named)) return named
  const triples = await found(context, rights, isUnion ? undefined : search.default)
  if (isFailure(triples) || isForStore(triples)) return triples
  const part = triples.map((row) => `${row.get('?s')!} ${row.get('?p')!} ${row.get('?o')!} .\n`).join('')
  const isVisible = mayReadOther(rights, { iri: DEFAULT_GRAPH, types: [], owners: [] })
  return {
    graphs: named.map((row) => graphOfValue(row.get('?graph'))!),
    default: { graph: DEFAULT_GRAPH, nTriples: undefined, isVisible, part },
    isUnion,
  }
}

async function found(
  context: Context,
  rights: UpdateRights,
  open: OpenStep | undefined,
): Promise<Solutions | ForStore | Problem> {
  const asked = open && (await readPattern(context, open))
  if (!open || !asked) return []
  return isFailure(asked) ? asked : solveSoon(context, rights, { open, asked })
}
