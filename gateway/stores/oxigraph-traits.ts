// How the embedded store answers queries: the result of probing it (traits.ts), and its limit.
import { problem, type Problem } from '../problem.js'
import type { StoreTraits } from '../sparql/rights/restrict-query.js'
import type { GraphStore } from './store.js'

export const OXIGRAPH: StoreTraits = {
  defaultGraph: 'own',
  stays: false,
  asQuads: true,
  asQuadsOfFrom: true,
  showsName: true,
  listsGraphs: true,
  looksInItself: true,
  honoursFrom: true,
  isJena: false,
  isSettled: true,
}

/**
 * In units of sparql/language/ordering-work.ts. Oxigraph takes about a second for this much: a hundred joined patterns.
 */
export const MOST_ORDERING = 1e8

/**
 * Design 7: the embedded store answers one query at a time, so a slow one would block it until the time limit. Other
 * stores have no such limit.
 */
export const tooManyPatterns = (
  { ordering }: { readonly ordering: number },
  { mostOrdering = Infinity }: Pick<GraphStore, 'mostOrdering'>,
): Problem | undefined => (ordering > mostOrdering ? TOO_MANY : undefined)

const TOO_MANY = problem(
  'content.too-large',
  'The embedded store would take too long: too many patterns in one group, or too many groups and OPTIONALs. Send several queries or updates.',
)
