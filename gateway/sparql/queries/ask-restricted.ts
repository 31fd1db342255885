// One step of restricting a query to the graphs that its agent may read, at once or in a thread; and the query that
// results from it (design 4).
import { createHash } from 'node:crypto'
import { fingerprintByRules, type GraphRights } from '../../../policies/authorizations/graph-rights.js'
import { isFailure, type Problem } from '../../problem.js'
import { askerOf, type Context } from '../../request/context.js'
import type { QueryAnalysis } from '../language/analysis.js'
import type { StoreTraits } from '../rights/restrict-query.js'
import { dependsOn, takeViewStep, type Depending, type Viewed, type ViewStep } from '../rights/restrict-in-thread.js'
import type { Awaitable } from '../../maybe-async.js'
import { NOTHING } from '../../stores/traits.js'

export interface Viewing {
  readonly query: QueryAnalysis
  readonly rights: GraphRights
  readonly store: StoreTraits
}

/**
 * Up to this many characters times conditions of the rights, a query is restricted on the main thread. More take
 * another thread (design 7).
 */
const MOST_INLINE = 400_000

export function takeStep(
  context: Context,
  { query, rights, store }: Viewing,
  step: Pick<ViewStep, 'readable' | 'listed' | 'isCopied'>,
): Awaitable<Viewed> {
  const whole = { ...step, rights, store, nothing: NOTHING, graphs: query.reads.graphs }
  const tree = inlineTree(query, rights)
  if (tree) return takeViewStep(tree, whole)
  return context.gateway.reading.view(askerOf(context), query.text, whole)
}

/** The tree of a query that is small enough for the main thread. */
function inlineTree({ tree, text }: QueryAnalysis, { graphs, prefixes, otherPrefixes, classes }: GraphRights) {
  const conditions = graphs.length + prefixes.length + otherPrefixes.length + classes.length
  return text.length * conditions <= MOST_INLINE ? tree : undefined
}

/** The graphs on which the query depends, if they can be found on the main thread. */
export function dependingAtOnce({ query, rights }: Viewing): Depending | undefined {
  const depending = inlineTree(query, rights) ? dependsOn(query.reads.graphs, rights) : []
  return depending.length > 0 ? { depending } : undefined
}

export function restrictedBy({ query, rights }: Viewing, found: Viewed): Depending | QueryAnalysis | Problem {
  if (isFailure(found) || 'depending' in found) return found
  if ('plan' in found) throw new Error('The query is over a copy.')
  const { text, readSet } = found
  return {
    ...query,
    tree: undefined,
    text,
    readSet,
    key: viewKeyOf(rights, text),
    ...(!rights.everything && { isRestricted: true }),
  }
}

/**
 * Agents with the same rights share results; others never do. If the rights include the agent's own documents, the text
 * for the store names the agent.
 */
export const viewKeyOf = (rights: GraphRights, text: string): string =>
  `${fingerprintByRules(rights)} ${text.length <= MOST_IN_KEY ? text : createHash('sha256').update(text).digest('base64url')}`

/** In characters: the rights can make a text long, and each key would hold a copy of it. */
const MOST_IN_KEY = 2048
