// SPARQL updates that the gateway carries out itself, on what it finds in the graphs that they read and write, under
// the locks of these: so each document keeps what every write keeps, and each agent changes what it may (design 3, 4).
import { isRoot, parentOf } from '../../documents/hierarchy.js'
import { everyUpdate, everyWrite, type Lock } from '../../documents/locks.js'
import { commit, type Plan } from '../../methods/commit.js'
import type { Writing } from '../../methods/write-rules.js'
import { afterEdit, changesOf } from '../../methods/edit-documents.js'
import { writingOf } from '../../methods/write.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Facts } from '../../request/access.js'
import { askerOf, type Context } from '../../request/context.js'
import type { UpdateAnalysis } from '../language/analysis.js'
import { DEFAULT_GRAPH } from '../language/graph-sets.js'
import type { Touch, UpdatePlan } from '../language/update-plan.js'
import type { GraphEdit } from '../../stores/store.js'
import {
  findGraphs,
  isForStore,
  MOST_GRAPHS,
  refusedTouch,
  TOO_MUCH,
  type ForStore,
  type Named,
} from './touched-graphs.js'
import { loadSources, type Loaded } from './load-sources.js'
import { readPattern, solve, touchesOf, type Opened, type Solutions } from './find-solutions.js'
import { mayReadOther, REFUSED, updateRights, type UpdateRights } from './update-rights.js'

type Outcome = undefined | ForStore | Problem

/** How often the graphs that the variables stand for are found again, where they change meanwhile. */
const MOST_ROUNDS = 3

/** Concurrent updates with graphs by variables, or LOAD, of one agent, one network, and all: while one is carried out, other updates wait. */
export const OPEN_UPDATES = { each: 2, network: 4, all: 8 } as const

/** Undefined when it is done. */
export async function carryOutPlan(
  context: Context,
  update: Pick<UpdateAnalysis, 'text'>,
  plan: UpdatePlan,
  endpoint: Facts,
): Promise<Outcome> {
  if (plan.touches.length > MOST_GRAPHS || plan.reads.length > MOST_GRAPHS) return TOO_MUCH
  if (!plan.open && plan.loads.length === 0) return carryOutRounds(context, update, plan, endpoint)
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
  'Too many updates that load sources, or do not name their graphs, are under way. Retry when one is done.',
  { fields: [['Retry-After', '2']] },
)

async function carryOutRounds(
  context: Context,
  { text }: Pick<UpdateAnalysis, 'text'>,
  plan: UpdatePlan,
  endpoint: Facts,
): Promise<Outcome> {
  const { open } = plan
  const left = context.request.signal()
  const early = updateRights(context, endpoint)
  if (isFailure(early)) return early
  const hidden = open?.copies && (await hidesDefaultGraph(context, early))
  if (hidden) return hidden
  const asked = open && (await readPattern(context, open))
  if (isFailure(asked)) return asked
  const opened = open && asked && { open, asked }
  let first = opened && (await solve(context, early, opened, { signal: left, asker: askerOf(context) }))
  let loaded: Loaded | undefined
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (isFailure(first) || isForStore(first)) return first
    const named = namedIn(plan, first)
    if (named.length > MOST_GRAPHS) return TOO_MUCH
    const refused = await refusedTouch(context, early, named)
    if (refused) return refused
    // Nothing would change.
    if (!named.some(({ touch }) => touch)) return undefined
    // Nothing is fetched before the gateway knows that this agent may write it there, and nothing twice.
    const sources = loaded ?? (await loadSources(context, plan.loads))
    if (isFailure(sources)) return sources
    loaded = sources
    const pinnedPlan = async (): Promise<Plan<Outcome | Again> | Problem> => {
      // Rules may have changed while it waited.
      const asked = updateRights(context, endpoint)
      if (isFailure(asked)) return asked
      // The graphs that the variables stand for are pinned: others may have come meanwhile, which are not locked.
      const now = opened && (await solveSoon(context, asked, opened))
      if (isFailure(now)) return now
      if (isForStore(now)) return nothing(now)
      // And while the store answered.
      const rights = updateRights(context, endpoint)
      if (isFailure(rights)) return rights
      const pinned = new Map(named.flatMap(({ touch }) => (touch ? [[touch.graph, touch] as const] : [])))
      if (now && !touchesOf(open!, now).every((touch) => isWithin(pinned.get(touch.graph), touch)))
        return nothing({ again: now })
      return planOf({ context, text, rights, named, loaded: sources, isCleared: open?.clears !== undefined }, now)
    }
    const locks = locksOf(context, named, open !== undefined)
    const settles = named.flatMap(({ graph, touch }) => (touch && context.application.isDocument(graph) ? [graph] : []))
    const outcome = await commit<Outcome | Again>(updating(context), { locks, settles, signal: left }, pinnedPlan)
    if (!isAgain(outcome)) return outcome
    first = outcome.again
  }
  return UNSTEADY
}

/** A default graph that is a union of others is copied by the store alone. What an agent may not read, it does not copy as if it were empty. */
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
    'The default graph of this store is the union of its graphs. Write INSERT { GRAPH <…> { … } } WHERE { … }.',
  ),
}

/** ms that the store may take for the solutions while all other updates wait; agents who may change everything are trusted more. */
const MOST_LOCKED_MS = 5000
const MOST_LOCKED_MS_OF_FREE = 25_000

/** Nothing has been written: until then an update can be given up. */
async function solveSoon(context: Context, rights: UpdateRights, opened: Opened): ReturnType<typeof solve> {
  const ms = rights.isFree ? MOST_LOCKED_MS_OF_FREE : MOST_LOCKED_MS
  const [left, enough] = [context.request.signal(), AbortSignal.timeout(ms)]
  const found = await solve(context, rights, opened, { signal: AbortSignal.any([left, enough]) })
  return isFailure(found) && enough.aborted && !left.aborted ? SLOW : found
}

const SLOW: ForStore = {
  reason: problem(
    'update.time',
    `Finding the graphs of the update takes longer than ${MOST_LOCKED_MS / 1000} seconds. Name its graphs, or send it in parts.`,
  ),
}

/** True where the rights that the pinned touch needs, which are decided on, are enough for this one. */
const isWithin = (pinned: Touch | undefined, { mode, isFilled }: Touch): boolean =>
  pinned !== undefined && (pinned.mode === 'Write' || mode === 'Append') && (pinned.isFilled || !isFilled)

interface Again {
  readonly again: Solutions
}
const isAgain = (outcome: Outcome | Again): outcome is Again => outcome !== undefined && 'again' in outcome

const UNSTEADY = problem(
  'server.overloaded',
  'The graphs that the update would change change too fast. Retry shortly.',
  {
    fields: [['Retry-After', '1']],
  },
)

const updating = (context: Context): Writing => ({ ...writingOf(context), method: 'UPDATE' })

/** Leaves everything as it is. */
const nothing = <Answer>(answer: Answer): Plan<Answer> => ({ changes: [], answer: () => answer })

interface Carried {
  readonly context: Context
  readonly text: string
  readonly rights: UpdateRights
  readonly named: readonly Named[]
  readonly loaded: Loaded
  readonly isCleared: boolean
}

async function planOf(
  { context, text, rights, named, loaded, isCleared }: Carried,
  solutions: Solutions | undefined,
): Promise<Plan<Outcome> | Problem> {
  const { application, gateway } = context
  const graphs = await findGraphs(context, rights, named)
  if (isFailure(graphs)) return graphs
  if (isForStore(graphs)) return nothing<Outcome>(graphs)
  const forms = application.traits.literals()
  const job = { update: text, base: application.base, graphs: graphs.copies, solutions, loaded, forms }
  const updated = await gateway.evaluation.update(askerOf(context), job)
  if (isFailure(updated)) return FOR_STORE.has(updated.failure) ? nothing<Outcome>({ reason: updated }) : updated
  const edits = editsWithin(named, updated.edits)
  if (isFailure(edits)) return edits
  const others = edits.flatMap((edit) => {
    if (application.isDocument(edit.graph)) return []
    const before = graphs.others.get(edit.graph)
    return [before === undefined ? edit : { ...edit, after: afterEdit(before, edit) }]
  })
  // It decides whether the default graph is recorded.
  if (others.some(({ graph }) => graph === DEFAULT_GRAPH)) await application.traits.current()
  const changes = await changesOf(context, graphs.documents, edits, isCleared)
  return isFailure(changes) ? changes : { changes, others, answer: (failed) => failed }
}

/** Fail closed: all of the edits, or a problem if one of them changes what nothing was decided on. */
export const editsWithin = (named: readonly Named[], edits: readonly GraphEdit[]): readonly GraphEdit[] | Problem =>
  edits.some((edit) => isBeyond(edit, named))
    ? problem('internal', 'The update would change other graphs than those of its rights.')
    : edits

function isBeyond({ graph, isCleared, removed }: GraphEdit, named: readonly Named[]): boolean {
  const touch = named.find((one) => one.graph === graph)?.touch
  return !touch || (touch.mode === 'Append' && (isCleared || removed.length > 0))
}

/** Limits of the evaluation, and syntax that only the store has. */
const FOR_STORE: ReadonlySet<Problem['failure']> = new Set(['content.too-large', 'update.time', 'update.syntax'])

function namedIn({ touches, reads, open }: UpdatePlan, solutions: Solutions | undefined): readonly Named[] {
  const written = new Map<string, Touch>()
  const isRead = new Set(reads)
  const found = open && solutions ? touchesOf(open, solutions) : []
  for (const touch of [...touches, ...found]) {
    const { graph, mode, isFilled } = touch
    const before = written.get(graph)
    const strongest = before?.mode === 'Write' ? 'Write' : mode
    written.set(graph, { graph, mode: strongest, isFilled: isFilled || before?.isFilled === true })
  }
  return [...new Set([...written.keys(), ...reads])].map((graph) => {
    return { graph, touch: written.get(graph), isRead: isRead.has(graph) }
  })
}

/** Locks written graphs exclusively; graphs that are read by name, and the parents of documents that may be created, against changes. */
function locksOf({ application }: Context, named: readonly Named[], isOpen: boolean): readonly Lock[] {
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
