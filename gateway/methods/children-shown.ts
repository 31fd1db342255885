// A page of a container's children, restricted to those that the agent may read. The store gets the agent's rights as a
// condition or, if they are many, the names of the readable children. Other children never affect a number or an order.
import { createHash } from 'node:crypto'
import type { GraphRights } from '../../policies/authorizations/graph-rights.js'
import {
  childrenNamed,
  MOST_NAMES,
  namesOf,
  type ChildrenSource,
  type Listed,
  type ChildrenListing,
  type NamedChild,
} from '../documents/children.js'
import { parentOf } from '../documents/hierarchy.js'
import type { Shown } from '../http/target.js'
import { CHILDREN_PER_PAGE, type Children } from '../pages/children-list.js'
import { primary } from '../pages/preferred-text.js'
import { isFailure, type Problem } from '../problem.js'
import { askerOf, type Context } from '../request/context.js'
import { rightsOnGraphs } from '../request/agent-graph-rights.js'
import { textsOf } from '../request/page-answer.js'
import { documentCondition } from '../sparql/rights/readable-graph-list.js'
import type { StoreTraits } from '../sparql/rights/restrict-query.js'
import { NOTHING } from '../stores/traits.js'

/** How many requests may let the store sort children at a time, and how many may wait for this; others get 503. */
export const LISTINGS = { atOnce: 4, waiting: 128, patience: 10_000 } as const

const PAGES = MOST_NAMES / CHILDREN_PER_PAGE
/** The most conditions, since a store tests each child against each of them. */
const MOST_CONDITIONS = 100
/** The most children that are listed by name: the first ones by URL. */
const MOST_NAMED = 2000

/** A part of the list, from position `from` on. */
type Part = NamedChild & { readonly from: number }

export async function childrenShown(context: Context, container: string, shown: Shown): Promise<Children | Problem> {
  const { application, trace, request, gateway } = context
  const rights = rightsOnGraphs(context, 'Read')
  if (isFailure(rights)) return rights
  const store = application.traits.known() ?? (await trace.store(application.traits.current()))
  if (isFailure(store)) return store
  const { isCut, ...listed } = listedBy(context, rights, store, container)
  const language = primary(textsOf(request, gateway).tag)
  const listing = { container, order: shown.order, language, ...listed }
  const source = { application, turns: gateway.listings, asker: askerOf(context), signal: request.signal() }
  const part = await trace.store(partOf(source, listing, shown.page))
  if (isFailure(part)) return part
  const { from, names, hasMore, order } = part
  const pages = hasMore ? PAGES : Math.max(1, Math.ceil(names.length / CHILDREN_PER_PAGE))
  const within = Math.min(shown.page - from / CHILDREN_PER_PAGE, pages)
  const some = names.slice((within - 1) * CHILDREN_PER_PAGE, within * CHILDREN_PER_PAGE)
  const children = await trace.store(childrenNamed(source, listing, some))
  if (isFailure(children)) return children
  const page = from / CHILDREN_PER_PAGE + within
  return digested(children, { page, all: from + names.length, hasMore, order, isCut })
}

/** The last child of each list, remembered as long as the list is cached. */
const LAST = new WeakMap<Children['shown'], { readonly key: string; readonly made: Children }>()

function digested(shown: Children['shown'], rest: Omit<Children, 'shown' | 'digest'>): Children {
  const key = JSON.stringify(rest)
  const last = LAST.get(shown)
  if (last?.key === key) return last.made
  const digest = createHash('sha256').update(key).update(JSON.stringify(shown)).digest('hex').slice(0, 24)
  const made = { ...rest, shown, digest }
  LAST.set(shown, { key, made })
  return made
}

/** The part of the list with this page; the first part if there is no such page. */
async function partOf(source: ChildrenSource, listing: ChildrenListing, page: number): Promise<Part | Problem> {
  const from = Math.floor((page - 1) / PAGES) * MOST_NAMES
  const found = await namesOf(source, listing, from)
  if (isFailure(found)) return found
  return found.names.length === 0 && from > 0 ? partOf(source, listing, 1) : { ...found, from }
}

function listedBy(context: Context, rights: GraphRights, store: StoreTraits, container: string): Listed {
  const { listed } = context.gateway.caches
  const key = `${context.application.base} ${rights.fingerprint} ${JSON.stringify(store)} ${container}`
  const known = listed.get(key)
  if (known) return known
  const made = makeListed(rights, store, container)
  listed.set(key, made)
  return made
}

function makeListed(rights: GraphRights, store: StoreTraits, container: string): Listed {
  const few = isMany(rights) ? rightsIn(rights, container) : rights
  const isByName = isMany(few)
  const asked = isByName ? { ...few, graphs: [], classes: few.classes.slice(0, MOST_CONDITIONS) } : few
  return {
    condition: documentCondition({ rights: asked, store, nothing: NOTHING }, 'child'),
    named: isByName ? few.graphs.slice(0, MOST_NAMED) : [],
    isCut: isByName && (few.graphs.length > MOST_NAMED || few.classes.length > MOST_CONDITIONS),
  }
}

const isMany = ({ graphs, prefixes, otherPrefixes, classes }: GraphRights): boolean =>
  graphs.length + prefixes.length + otherPrefixes.length + classes.length > MOST_CONDITIONS

/**
 * The rights that can apply to a child of the container: its URL has one segment more than that of its parent (spec
 * 2.1).
 */
const rightsIn = (rights: GraphRights, container: string): GraphRights => ({
  ...rights,
  graphs: rights.graphs.filter((graph) => parentOf(graph) === container),
  prefixes: rights.prefixes.filter((prefix) => container.startsWith(prefix)),
  otherPrefixes: [],
})
