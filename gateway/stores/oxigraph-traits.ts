// How the embedded store answers queries: what probes of it say (traits.ts), and what it gets.
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

/** Of sparql/language/ordering-work.ts. So much takes Oxigraph about a second: a hundred patterns that are joined. */
export const MOST_ORDERING = 1e8

/**
 * Design 7: it answers one query at a time, and would be held until its time limit. Other stores have no such bound.
 */
export const tooManyPatterns = (
  { ordering }: { readonly ordering: number },
  { mostOrdering = Infinity }: Pick<GraphStore, 'mostOrdering'>,
): Problem | undefined => (ordering > mostOrdering ? TOO_MANY : undefined)

const TOO_MANY = problem(
  'content.too-large',
  'The embedded store would take too long: too many patterns in one group, or too many groups and OPTIONALs. Send several queries or updates.',
)
