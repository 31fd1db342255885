// One step of restricting a query, as a single call: a thread runs it if it may take long (design 7). Pure.
import type { CopyPlan } from '../language/analysis.js'
import type { GraphRights, Ground } from '../../../policies/authorizations/graph-rights.js'
import { overCopy } from './copy.js'
import type { Query } from '../language/syntax.js'
import { datasetOf } from './readable-graph-list.js'
import { overView, type Overviewed, type StoreTraits } from './restrict-query.js'
import { withLaterFilters } from './evaluate-filters-last.js'
import { CLOSURE, isUnboundedRefusal, REFUSALS } from './refusals.js'
import type { Problem } from '../../problem.js'
import { graphPredicate } from './graph-condition.js'
import { withShortTexts } from './short-texts.js'
import { endlessIn } from './endless-expressions.js'
import { isOxigraph, type Grounds } from './restriction.js'

export interface ViewStep {
  readonly rights: GraphRights
  readonly store: StoreTraits
  readonly nothing: string
  /** The graphs that the query names. */
  readonly graphs: readonly string[]
  /**
   * The readable graphs among those whose names alone do not decide; undefined to ask for the names of such graphs
   * first.
   */
  readonly readable: readonly Readable[] | undefined
  /** All readable graphs, which replace the dataset. */
  readonly listed?: readonly string[]
  /** Run the query over a copy (copy.ts). */
  readonly isCopied?: boolean
}

export type Readable = readonly [graph: string, ground: Ground]

/** The graphs of the query for which the name alone does not decide. */
export interface Depending {
  readonly depending: readonly string[]
}

export type Viewed = Depending | Overviewed | { readonly plan: CopyPlan; readonly text: string } | Problem

export function takeViewStep(asked: Query, { graphs, readable, listed, isCopied, ...seen }: ViewStep): Viewed {
  // Oxigraph limits its numbers, its regular expressions take linear time, and the gateway can stop its thread.
  const isBounded = seen.rights.everything || isOxigraph(seen.store) || isCopied === true
  const endless = isBounded ? undefined : endlessIn(asked.body)
  if (endless) return REFUSALS[endless]
  const query = isBounded ? asked : withShortTexts(asked)
  const depending = readable || listed ? [] : dependsOn(graphs, seen.rights)
  if (depending.length > 0) return { depending }
  if (listed) {
    const grounds: Grounds = new Map(listed.map((graph) => [graph, 'unknown']))
    const dataset = datasetOf(listed, query, seen)
    return dataset ? overView({ ...query, dataset }, { ...seen, grounds, isListed: true }) : CLOSURE
  }
  const sight = { ...seen, grounds: new Map(readable) }
  if (isCopied) return overCopy(query, sight) ?? CLOSURE
  const found = overView(query, sight)
  if (!isUnboundedRefusal(found)) return found
  const { query: rewritten, expressions } = withLaterFilters(query)
  return expressions.size > 0 ? overView(rewritten, { ...sight, later: expressions }, query.body) : found
}

/** Those of the graphs for which the name alone does not decide. */
export function dependsOn(graphs: readonly string[], rights: GraphRights): readonly string[] {
  const { byName } = graphPredicate(rights, '')
  return graphs.filter((graph) => byName(graph) === 'depends')
}
