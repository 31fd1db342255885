// In charge of a page of a container's children: those that the agent may read. The store is asked with the agent's rights as a
// condition; where these name too many documents one by one, each child is decided on, for as many as the page needs.
import { createHash } from 'node:crypto'
import { mayTouch, type GraphRights } from '../../policies/authorizations/graph-rights.js'
import {
  childrenNamed,
  MOST_NAMES,
  namesOf,
  type ChildrenSource,
  type Listing,
  type Named,
} from '../documents/children.js'
import { readFacts } from '../documents/document.js'
import { parentOf } from '../documents/hierarchy.js'
import type { Shown } from '../http/target.js'
import { CHILDREN_PER_PAGE, type Children } from '../pages/children-list.js'
import { isFailure, type Problem } from '../problem.js'
import { askerOf, type Context } from '../request/context.js'
import { rightsOnGraphs } from '../request/agent-graph-rights.js'
import { documentCondition } from '../sparql/rights/readable-graph-list.js'
import type { StoreTraits } from '../sparql/rights/restrict-query.js'
import { NOTHING } from '../stores/traits.js'

/** The store puts children in order for so many at the same time; so many more wait in turn, and others get 503. */
export const LISTINGS = { atOnce: 4, waiting: 128 } as const

const PAGES = MOST_NAMES / CHILDREN_PER_PAGE
/** A store tests each child for each of them. */
const MOST_CONDITIONS = 100
/** So many children are decided on for a page, and so many at the same time. */
const MOST_DECIDED = 2000
const AT_ONCE = 100

/** A part of the list, from this place on. */
type Part = Named & { readonly from: number; readonly isCut?: boolean }

export async function childrenShown(context: Context, container: string, shown: Shown): Promise<Children | Problem> {
  const { application, trace, request, gateway } = context
  const rights = rightsOnGraphs(context, 'Read')
  if (isFailure(rights)) return rights
  const store = application.traits.known() ?? (await trace.store(application.traits.current()))
  if (isFailure(store)) return store
  const { condition, isDecided } = conditionOf(rights, store, container)
  const listing = { container, order: shown.order, condition }
  const source = { application, turns: gateway.listings, asker: askerOf(context), signal: request.signal() }
  const part = await (isDecided
    ? decidedPart(context, source, { listing, rights, page: shown.page })
    : trace.store(partOf(source, listing, shown.page)))
  if (isFailure(part)) return part
  const { from, names, hasMore, order, isCut = false } = part
  const pages = hasMore ? PAGES : Math.max(1, Math.ceil(names.length / CHILDREN_PER_PAGE))
  const within = Math.min(shown.page - from / CHILDREN_PER_PAGE, pages)
  const some = names.slice((within - 1) * CHILDREN_PER_PAGE, within * CHILDREN_PER_PAGE)
  const children = await trace.store(childrenNamed(source, listing, some))
  if (isFailure(children)) return children
  const page = from / CHILDREN_PER_PAGE + within
  return digested(children, { page, all: from + names.length, hasMore, order, isCut })
}

/** The last of each list of children, as long as that is cached. */
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

/** The part of the list that has the page; the first part where there is no such page. */
async function partOf(source: ChildrenSource, listing: Listing, page: number): Promise<Part | Problem> {
  const from = Math.floor((page - 1) / PAGES) * MOST_NAMES
  const found = await namesOf(source, listing, from)
  if (isFailure(found)) return found
  return found.names.length === 0 && from > 0 ? partOf(source, listing, 1) : { ...found, from }
}

interface Deciding {
  readonly listing: Listing
  readonly rights: GraphRights
  readonly page: number
}

/** The children from the first one on, as far as the page, and one more that tells that there is a next page. */
async function decidedPart(
  { application, trace }: Context,
  source: ChildrenSource,
  { listing, rights, page }: Deciding,
): Promise<Part | Problem> {
  const names: string[] = []
  const needed = page * CHILDREN_PER_PAGE + 1
  for (let from = 0; ; from += MOST_NAMES) {
    const found = await trace.store(namesOf(source, listing, from))
    if (isFailure(found)) return found
    const { order } = found
    for (let at = 0; at < found.names.length && names.length < needed; at += AT_ONCE) {
      const some = found.names.slice(at, at + AT_ONCE)
      const facts = await Promise.all(some.map((name) => readFacts(application, name, trace)))
      for (const one of facts) {
        if (isFailure(one)) return one
        if (one.value && mayTouch(rights, one.value)) names.push(one.value.iri)
      }
    }
    if (names.length >= needed) return { order, from: 0, names: names.slice(0, needed - 1), hasMore: true }
    if (!found.hasMore) return { order, from: 0, names, hasMore: false }
    if (from + MOST_NAMES >= MOST_DECIDED) return { order, from: 0, names, hasMore: false, isCut: true }
  }
}

interface Condition {
  readonly condition: string
  /** True where the condition is of all documents: the rights have to be decided on one by one. */
  readonly isDecided: boolean
}

/** By rights: a value of these is another one when they change. */
const CONDITIONS = new WeakMap<GraphRights, Map<string, Condition>>()
const REMEMBERED = 64

function conditionOf(rights: GraphRights, store: StoreTraits, container: string): Condition {
  const known = CONDITIONS.get(rights) ?? new Map<string, Condition>()
  const found = known.get(container) ?? makeCondition(rights, store, container)
  if (known.size >= REMEMBERED) known.clear()
  CONDITIONS.set(rights, known.set(container, found))
  return found
}

function makeCondition(rights: GraphRights, store: StoreTraits, container: string): Condition {
  const few = isMany(rights) ? rightsIn(rights, container) : rights
  const isDecided = isMany(few)
  const asked = isDecided ? { ...rights, documents: true } : few
  return { condition: documentCondition({ rights: asked, store, nothing: NOTHING }, 'child'), isDecided }
}

const isMany = ({ graphs, prefixes, otherPrefixes, classes }: GraphRights): boolean =>
  graphs.length + prefixes.length + otherPrefixes.length + classes.length > MOST_CONDITIONS

/** The rights that can reach a child of the container, whose URL is that of its parent with one segment more (spec 2.1). */
const rightsIn = (rights: GraphRights, container: string): GraphRights => ({
  ...rights,
  graphs: rights.graphs.filter((graph) => parentOf(graph) === container),
  prefixes: rights.prefixes.filter((prefix) => container.startsWith(prefix)),
  otherPrefixes: [],
})
