// In charge of one step of restricting a query, in one call: where that may take long, a thread does it (design 7). Pure.
import type { GraphRights } from '../../../policies/authorizations/graph-rights.js'
import { overCopy, type CopyPlan } from './copy.js'
import type { Query } from './syntax.js'
import { CLOSURE, dependsOn, overView, type Overviewed, type StoreTraits } from './over-view.js'
import type { Problem } from '../../problem.js'

export interface ViewStep {
  readonly rights: GraphRights
  readonly store: StoreTraits
  readonly nothing: string
  /** The graphs that may be read, of those whose names do not decide; undefined: the names of these are wanted, if there are any. */
  readonly readable: readonly string[] | undefined
  /** These graphs take the place of the dataset. */
  readonly listed?: readonly string[]
  /** Over a copy (copy.ts). */
  readonly isCopied?: boolean
}

/** The graphs that the query names, and whose names do not decide. */
export interface Depending {
  readonly depending: readonly string[]
}

export type Viewed = Depending | Overviewed | { readonly plan: CopyPlan; readonly text: string } | Problem

export function takeViewStep(query: Query, { readable, listed, isCopied, ...seen }: ViewStep): Viewed {
  const depending = readable || listed ? [] : dependsOn(query, seen.rights)
  if (depending.length > 0) return { depending }
  const all = new Set(listed ?? readable)
  const sight = { ...seen, mayRead: (graph: string) => all.has(graph) }
  const stated = listed ? { ...query, dataset: { default: listed, named: listed } } : query
  return isCopied ? (overCopy(stated, sight) ?? CLOSURE) : overView(stated, sight)
}
