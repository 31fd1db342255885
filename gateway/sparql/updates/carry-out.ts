// SPARQL updates that the gateway carries out itself: it locks and reads their graphs, and computes the changes. So
// each document keeps its managed properties, and agents change only what they may (design 3, 4).
import { isRoot, parentOf } from '../../documents/hierarchy.js'
import { everyUpdate, everyWrite, underLocks, type Lock } from '../../documents/locks.js'
import { sharersOf } from '../../gateway.js'
import { commit, type WritePlan } from '../../methods/commit.js'
import type { Writing } from '../../methods/write-rules.js'
import { afterEdit, changesOf } from '../../methods/edit-documents.js'
import { writingOf } from '../../methods/write.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Facts } from '../../request/access.js'
import { askerOf, type Context } from '../../request/context.js'
import type { UpdateAnalysis } from '../language/analysis.js'
import { DEFAULT_GRAPH } from '../language/graph-sets.js'
import { joined, touchesOf, type Solutions, type Touch } from '../language/touches.js'
import type { UpdatePlan } from '../language/update-plan.js'
import { hasLine } from '../../rdf/sorted-lines.js'
import type { GraphEdit } from '../../stores/store.js'
import {
  findGraphs,
  isForStore,
  MOST_GRAPHS,
  refusedTouch,
  TOO_MANY_GRAPHS,
  tooMuch,
  type ForStore,
  type NamedGraphs,
} from './touched-graphs.js'
import { loadSources, type LoadedSources } from './load-sources.js'
import { readPattern, solve, solveSoon, type Opened } from './find-solutions.js'
import { searchGraphs, type Seen } from './search-graphs.js'
import { mayReadOther, REFUSED, updateRights, type UpdateRights } from './update-rights.js'

type Outcome = undefined | ForStore | Problem

/** How often the graphs that the variables stand for are searched again, if they change in the meantime. */
const MOST_ROUNDS = 3
/**
 * How often steps that see the results of earlier steps are run on copies: the graphs of each step may depend on the
 * step before.
 */
const MOST_ROUNDS_OF_COPIES = 8

/**
 * The most concurrent updates with graphs by variables, or LOAD: of one agent, of one network, and of all. While one of
 * them runs, other updates wait.
 */
export const OPEN_UPDATES = { each: 2, network: 4, all: 8 } as const

/** Undefined on success. */
export async function carryOutPlan(
  context: Context,
  update: Pick<UpdateAnalysis, 'text'>,
  plan: UpdatePlan,
  endpoint: Facts,
): Promise<Outcome> {
  if (plan.touches.length > MOST_GRAPHS || plan.reads.length > MOST_GRAPHS) return TOO_MANY_GRAPHS
  if (!plan.open && !plan.search && plan.loads.length === 0) return carryOutRounds(context, update, plan, endpoint)
  const { agent, gateway } = context
  const network = context.request.network()
  const leave = gateway.takeOpenUpdate(agent.webId ?? network, network)
  if (!leave) return BUSY
  try {
    return await carryOutRounds(context, update, plan, endpoint)
  } finally {
    leave()
  }
}

const BUSY = problem(
  'server.overloaded',
  'Too many updates that load sources or search for their graphs are running. Retry when one is done.',
  { fields: [['Retry-After', '2']] },
)

async function carryOutRounds(
  context: Context,
  { text }: Pick<UpdateAnalysis, 'text'>,
  plan: UpdatePlan,
  endpoint: Facts,
): Promise<Outcome> {
  const { open, search } = plan
  const left = context.request.signal()
  const early = updateRights(context, endpoint)
  if (isFailure(early)) return early
  const hidden = (open?.copies ?? search?.copies) && (await hidesDefaultGraph(context, early))
  if (hidden) return hidden
  const asked = open && (await readPattern(context, open))
  if (isFailure(asked)) return asked
  const opened = open && asked && { open, asked }
  const first = opened && (await solve(context, early, opened, { signal: left, asker: askerOf(context) }))
  if (isFailure(first) || isForStore(first)) return first
  let touches = first ? touchesOf(open!, first) : []
  let loaded: LoadedSources | undefined
  for (let round = 0; round < (search ? MOST_ROUNDS_OF_COPIES : MOST_ROUNDS); round++) {
    const named = namedIn(plan, touches)
    if (named.length > MOST_GRAPHS) return TOO_MANY_GRAPHS
    const refused = await refusedTouch(context, early, named)
    if (refused) return refused
    // Nothing would change.
    if (!search && !named.some(({ touch }) => touch)) return undefined
    // Fetch nothing before the gateway knows that the agent may write it there, and nothing twice.
    const sources = loaded ?? (await loadSources(context, plan.loads))
    if (isFailure(sources)) return sources
    loaded = sources
    const pinnedPlan = async (): Promise<WritePlan<Outcome | Again> | Problem> => {
      // The rules may have changed while the update waited.
      const asked = updateRights(context, endpoint)
      if (isFailure(asked)) return asked
      // The graphs that the variables stand for are fixed: others may have appeared since, which are not locked.
      const now = opened && (await solveSoon(context, asked, opened))
      const seen = search && (await searchGraphs(context, asked, search))
      if (isFailure(now) || isFailure(seen)) return (now ?? seen) as Problem
      if (isForStore(now) || isForStore(seen)) return nothing((now ?? seen) as ForStore)
      // The rules may also have changed while the store answered.
      const rights = updateRights(context, endpoint)
      if (isFailure(rights)) return rights
      const found = now ? touchesOf(open!, now) : []
      const again = beyond(found, named)
      return again ?? planOf({ context, text, rights, named, loaded: sources, plan, seen }, now)
    }
    const locks = locksOf(context, named, (open ?? search) !== undefined)
    const settles = named.flatMap(({ graph, touch }) => (touch && context.application.isRecorded(graph) ? [graph] : []))
    const outcome = await commit<Outcome | Again>(updating(context), { locks, settles, signal: left }, pinnedPlan)
    if (!isAgain(outcome)) return outcome
    touches = outcome.again
    // RAND, UUID and the like give other graphs each time.
    if (opened?.asked.volatile)
      return early.isFree || opened.open.isOnly
        ? carryOutAlone({ context, text, loaded: sources, plan }, endpoint, opened)
        : OTHER_EACH_TIME
  }
  return !search ? UNSTEADY : search.isVolatile ? OTHER_EACH_TIME : TOO_DEEP
}

/**
 * Carries out the next solutions, whatever their graphs are, without any other write between them and the change
 * (SPARQL 1.1 Update §3.1.3).
 */
async function carryOutAlone(
  carried: Pick<Carried, 'context' | 'text' | 'loaded' | 'plan'>,
  endpoint: Facts,
  opened: Opened,
): Promise<Outcome> {
  const { context, plan } = carried
  const { application, gateway } = context
  const signal = context.request.signal()
  const act = async (): Promise<Outcome> => {
    const early = updateRights(context, endpoint)
    if (isFailure(early)) return early
    const now = await solveSoon(context, early, opened, true)
    if (isFailure(now) || isForStore(now)) return now
    const named = namedIn(plan, touchesOf(opened.open, now))
    if (named.length > MOST_GRAPHS) return TOO_MANY_GRAPHS
    const refused = await refusedTouch(context, early, named)
    if (refused) return refused
    // A write in doubt is settled under the lock of its own document only.
    const written = named.flatMap(({ graph, touch }) => (touch ? [graph] : []))
    const locks = written.map((graph) => [graph, 'exclusive'] as const)
    const place = { locks, settles: written.filter(application.isRecorded), signal }
    const outcome = await commit<Outcome | Again>(updating(context), place, async () => {
      const rights = updateRights(context, endpoint)
      return isFailure(rights) ? rights : planOf({ ...carried, rights, named, seen: undefined }, now)
    })
    return isAgain(outcome) ? UNSTEADY : outcome
  }
  const sharers = sharersOf(application.store, gateway)
  const locks = sharers.map((sharer) => everyWrite(sharer.application, 'exclusive'))
  return underLocks(gateway, [everyUpdate(application, 'exclusive'), ...locks], act, signal)
}

/**
 * Only the store can copy a default graph that is a union of others. If an agent may not read the default graph, it is
 * not copied as an empty one.
 */
async function hidesDefaultGraph(
  { application }: Context,
  rights: UpdateRights,
): Promise<undefined | ForStore | Problem> {
  const traits = await application.traits.current()
  if (isFailure(traits)) return traits
  if (traits.defaultGraph !== 'own') return UNION
  return mayReadOther(rights, { iri: DEFAULT_GRAPH, types: [], owners: [] }) ? undefined : REFUSED
}

const UNION: ForStore = {
  reason: problem(
    'access.graphs',
    'The default graph of this store is a union of graphs, and cannot be copied. Write INSERT { GRAPH <…> { … } } WHERE { … }.',
  ),
}

/** True if the rights that were checked for the pinned touch are enough for this one. */
const isWithin = (pinned: Touch | undefined, { mode, isFilled }: Touch): boolean =>
  pinned !== undefined && (pinned.mode === 'Write' || mode === 'Append') && (pinned.isFilled || !isFilled)

interface Again {
  readonly again: readonly Touch[]
}
const isAgain = (outcome: Outcome | Again): outcome is Again => outcome !== undefined && 'again' in outcome

/** Starts again if the touches need other rights than those that were checked. */
function beyond(touches: readonly Touch[], named: readonly NamedGraphs[]): WritePlan<Again> | undefined {
  const pinned = new Map(named.flatMap(({ touch }) => (touch ? [[touch.graph, touch] as const] : [])))
  return touches.every((touch) => isWithin(pinned.get(touch.graph), touch)) ? undefined : nothing({ again: touches })
}

const TOO_DEEP = tooMuch(
  `More than ${MOST_ROUNDS_OF_COPIES - 1} operations of the update depend on one another to find their graphs.`,
)

const OTHER_EACH_TIME = tooMuch(
  'NOW, RAND, UUID or STRUUID may give the update other graphs each time it runs. Send the operation with it alone.',
)

const UNSTEADY = problem('server.overloaded', 'Other writes keep changing the graphs of the update. Retry shortly.', {
  fields: [['Retry-After', '1']],
})

const updating = (context: Context): Writing => ({ ...writingOf(context), method: 'UPDATE' })

/** Changes nothing. */
const nothing = <Answer>(answer: Answer): WritePlan<Answer> => ({ changes: [], answer: () => answer })

interface Carried {
  readonly context: Context
  readonly text: string
  readonly rights: UpdateRights
  readonly named: readonly NamedGraphs[]
  readonly loaded: LoadedSources
  readonly plan: UpdatePlan
  /** Set if the steps run on copies of all graphs that they may read. */
  readonly seen: Seen | undefined
}

async function planOf(
  { context, text, rights, named: pinned, loaded, plan, seen }: Carried,
  solutions: Solutions | undefined,
): Promise<WritePlan<Outcome | Again> | Problem> {
  const { application, gateway } = context
  const named = seen ? withRead(pinned, seen.graphs) : pinned
  const graphs = named.length > MOST_GRAPHS ? TOO_MANY_GRAPHS : await findGraphs(context, rights, named)
  if (isFailure(graphs)) return graphs
  if (isForStore(graphs)) return nothing<Outcome>(graphs)
  const forms = application.traits.literals()
  const copies = seen ? [...graphs.copies.filter(({ graph }) => graph !== DEFAULT_GRAPH), seen.default] : graphs.copies
  const job = { update: text, base: application.base, graphs: copies, solutions, loaded, forms, isUnion: seen?.isUnion === true } // prettier-ignore
  const updated = await gateway.evaluation.update(askerOf(context), job)
  if (isFailure(updated)) return FOR_STORE.has(updated.failure) ? nothing<Outcome>({ reason: updated }) : updated
  const again = beyond(updated.touches, named)
  if (again ?? updated.failed) return again ?? updated.failed!
  const edits = editsWithin(named, updated.edits)
  if (isFailure(edits)) return edits
  const others = edits.flatMap((edit) => {
    if (application.isDocument(edit.graph)) return []
    const before = graphs.others.get(edit.graph)
    return [before === undefined ? edit : { ...edit, after: afterEdit(before, edit) }]
  })
  // The traits say whether the default graph is recorded.
  if (others.some(({ graph }) => graph === DEFAULT_GRAPH)) await application.traits.current()
  const isCleared = plan.open?.clears !== undefined || plan.search?.clears === true
  const isMoved = (line: string): boolean =>
    rights.isFree && copies.some(({ nTriples }) => nTriples !== undefined && hasLine(nTriples, line))
  const changes = await changesOf(context, graphs.documents, edits, { text, isCleared, isMoved })
  // These are locked, unlike those that variables have found.
  const read = pinned.flatMap(({ graph, touch, isRead }) =>
    isRead && !touch && graph !== DEFAULT_GRAPH ? [graph] : [],
  )
  return isFailure(changes) ? changes : { changes, others, read, answer: (failed) => failed }
}

/** Fails closed: returns all edits, or a problem if one of them changes a graph that was not checked. */
export const editsWithin = (
  named: readonly NamedGraphs[],
  edits: readonly GraphEdit[],
): readonly GraphEdit[] | Problem =>
  edits.some((edit) => isBeyond(edit, named))
    ? problem('internal', 'The update would change a graph that was not checked.')
    : edits

function isBeyond({ graph, isCleared, removed }: GraphEdit, named: readonly NamedGraphs[]): boolean {
  const touch = named.find((one) => one.graph === graph)?.touch
  return !touch || (touch.mode === 'Append' && (isCleared || removed.length > 0))
}

/** Limits of the evaluation, and syntax that only the store understands. */
const FOR_STORE: ReadonlySet<Problem['failure']> = new Set(['content.too-large', 'update.time', 'update.syntax'])

function namedIn({ touches, reads, search }: UpdatePlan, found: readonly Touch[]): readonly NamedGraphs[] {
  const written = joined([...touches, ...found])
  const named = [...written.values()].map((touch) => ({ graph: touch.graph, touch, isRead: search !== undefined }))
  return withRead(named, reads)
}

function withRead(named: readonly NamedGraphs[], reads: readonly string[]): readonly NamedGraphs[] {
  const graphs = new Map(named.map((one) => [one.graph, one]))
  for (const graph of reads) graphs.set(graph, { graph, touch: graphs.get(graph)?.touch, isRead: true })
  return [...graphs.values()]
}

/**
 * Locks written graphs exclusively. Locks graphs that are read by name, and parents of documents that may be created,
 * against changes.
 */
function locksOf({ application }: Context, named: readonly NamedGraphs[], isOpen: boolean): readonly Lock[] {
  const shared = named.flatMap(({ graph, touch }) =>
    touch === undefined
      ? [graph]
      : application.isDocument(graph) && !isRoot(graph, application.base)
        ? [parentOf(graph)]
        : [],
  )
  const exclusive = new Set(named.flatMap(({ touch }) => (touch ? [touch.graph] : [])))
  const others = [...new Set(shared)].filter((graph) => !exclusive.has(graph))
  return [
    everyUpdate(application, isOpen ? 'exclusive' : 'shared'),
    everyWrite(application, 'shared'),
    ...[...exclusive].map((graph) => [graph, 'exclusive'] as const),
    ...others.map((graph) => [graph, 'shared'] as const),
  ]
}
