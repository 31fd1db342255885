// In charge of SPARQL updates that the gateway carries out itself, on what it finds in the graphs that they read and write, under
// the locks of these: so each document keeps what every write keeps, and each agent changes what it may (design 3, 4).
import { isRoot, parentOf } from '../documents/hierarchy.js'
import { everyUpdate, everyWrite, underLocks, type Lock } from '../documents/locks.js'
import { afterEdit, editDocuments } from '../methods/edit-documents.js'
import { hadNoEffect, hasNoLaterEffect } from '../mirror/write-failures.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Facts } from '../request/access.js'
import { askerOf, type Context } from '../request/context.js'
import type { UpdateAnalysis } from '../sparql/analysis.js'
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'
import type { Touch, UpdatePlan } from '../sparql/update-plan.js'
import { LATEST_WRITE_MS, type GraphEdit } from '../stores/store.js'
import { graphsChanged } from './changed-graphs.js'
import {
  findGraphs,
  isForStore,
  MOST_GRAPHS,
  refusedTouch,
  TOO_MUCH,
  type ForStore,
  type Named,
} from './found-graphs.js'
import { readPattern, solve, touchesOf, type Opened, type Solutions } from './update-solutions.js'
import { updateRights, type UpdateRights } from './update-rights.js'

type Outcome = undefined | ForStore | Problem

/** How often the graphs that the variables stand for are found again, where they change meanwhile. */
const MOST_ROUNDS = 3

/** Concurrent updates with graphs by variables, of one agent, one network, and all: while one is carried out, other updates wait. */
export const OPEN_UPDATES = { each: 2, network: 4, all: 8 } as const

/** Undefined when it is done. */
export async function carryOutPlan(
  context: Context,
  update: Pick<UpdateAnalysis, 'text'>,
  plan: UpdatePlan,
  endpoint: Facts,
): Promise<Outcome> {
  if (plan.touches.length > MOST_GRAPHS || plan.reads.length > MOST_GRAPHS) return TOO_MUCH
  if (!plan.open) return carryOutRounds(context, update, plan, endpoint)
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
  'Too many updates that do not name their graphs are under way. Name the graphs, or retry when one is done.',
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
  const asked = open && (await readPattern(context, open))
  if (isFailure(asked)) return asked
  const opened = open && asked && { open, asked }
  let first = opened && (await solve(context, early, opened, { signal: left, asker: askerOf(context) }))
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (isFailure(first) || isForStore(first)) return first
    const named = namedIn(plan, first)
    if (named.length > MOST_GRAPHS) return TOO_MUCH
    const refused = await refusedTouch(context, early, named)
    if (refused) return refused
    // Nothing would change.
    if (!named.some(({ touch }) => touch)) return undefined
    const act = async (): Promise<Outcome | Again> => {
      // Rules may have changed while it waited.
      const asked = updateRights(context, endpoint)
      if (isFailure(asked)) return asked
      // The graphs that the variables stand for are pinned: others may have come meanwhile, which are not locked.
      const now = opened && (await solveSoon(context, asked, opened))
      if (isFailure(now) || isForStore(now)) return now
      // And while the store answered.
      const rights = updateRights(context, endpoint)
      if (isFailure(rights)) return rights
      const pinned = new Map(named.flatMap(({ touch }) => (touch ? [[touch.graph, touch] as const] : [])))
      if (now && !touchesOf(open!, now).every((touch) => isWithin(pinned.get(touch.graph), touch)))
        return { again: now }
      return carryOutLocked({ context, text, rights, named, isCleared: open?.clears !== undefined }, now)
    }
    const outcome = await underLocks(context.gateway, locksOf(context, named, open !== undefined), act, left)
    if (!isAgain(outcome)) return outcome
    first = outcome.again
  }
  return UNSTEADY
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

interface Carried {
  readonly context: Context
  readonly text: string
  readonly rights: UpdateRights
  readonly named: readonly Named[]
  readonly isCleared: boolean
}

async function carryOutLocked(
  { context, text, rights, named, isCleared }: Carried,
  solutions: Solutions | undefined,
): Promise<Outcome> {
  const { application, gateway } = context
  const graphs = await findGraphs(context, rights, named)
  if (isFailure(graphs) || isForStore(graphs)) return graphs
  const forms = application.traits.literals()
  const job = { update: text, base: application.base, graphs: graphs.copies, solutions, forms }
  const updated = await gateway.evaluation.update(askerOf(context), job)
  if (isFailure(updated)) return FOR_STORE.has(updated.failure) ? { reason: updated } : updated
  const edits = editsWithin(named, updated.edits)
  if (isFailure(edits)) return edits
  const others = edits.flatMap((edit) => {
    if (application.isDocument(edit.graph)) return []
    const before = graphs.others.get(edit.graph)
    return [before === undefined ? edit : { ...edit, after: afterEdit(before, edit) }]
  })
  // It decides whether the default graph is recorded.
  if (others.some(({ graph }) => graph === DEFAULT_GRAPH)) await application.traits.current()
  const failed = await editDocuments(context, graphs.documents, edits, { others, isCleared })
  await othersChanged(context, others, failed)
  return failed
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

async function othersChanged(
  context: Context,
  others: readonly GraphEdit[],
  failed: undefined | Problem,
): Promise<void> {
  if (others.length === 0 || (failed && hadNoEffect(failed))) return
  const until = !failed || hasNoLaterEffect(failed) ? undefined : context.gateway.now() + LATEST_WRITE_MS
  const graphs = others.map(({ graph }) => graph)
  await graphsChanged(context, graphs, until)
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
