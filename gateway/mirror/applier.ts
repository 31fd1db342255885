// Bringing the entries of a log to the store, in their order. A request has all entries that came while the one before
// was at work, and has no effect in a store that has them already: so a lost answer is no doubt, the request is repeated.
import { setImmediate as eventLoopTurn, setTimeout as sleep } from 'node:timers/promises'
import type { NewChange } from '../../versioning/history.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Replacement } from '../stores/batch-sparql.js'
import { fencedUpdate, positionQuery, setPosition } from '../stores/fenced-update.js'
import { select } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'
import { DOUBT_FIELDS, hadNoEffect, hasNoLaterEffect } from './write-failures.js'

/** The entries of one write. */
export interface LoggedWrite {
  /** Of the last of them. */
  readonly position: number
  /** Undefined if only `alone` can do it. */
  readonly replacements: readonly Replacement[] | undefined
  /** Does the same without a fence, for what SPARQL cannot say, and for long texts. */
  readonly alone: (attempt: number) => Promise<undefined | Problem>
  /** Hears once what has become of them. A problem: the store has nothing of them, and will not. */
  readonly settled: (failed: undefined | Problem) => unknown
}

export interface Applier {
  /**
   * Resolves when the store has the entries, or has refused them; or, when the store does not answer, with its problem:
   * then it gets them as soon as it does.
   */
  apply(write: LoggedWrite): Promise<undefined | Problem>
  /** Why no entry can be applied now: the store may still do an earlier one. */
  stalled(): undefined | Problem
  /**
   * Call it before the store changes documents by itself: resolves when it knows that it has all entries so far, so that
   * no start gives it these again.
   */
  level(): Promise<undefined | Problem>
  close(): void
}

export interface ApplierSettings {
  readonly store: GraphStore
  /** The IRI of the log. */
  readonly iri: string
  /** Of the store. */
  readonly at: number
  /** Of the log: all entries up to here are in the store, or were dropped. */
  readonly settledPosition: () => number
  /** Gives the store what the entries after its position have changed. */
  readonly catchUp: (from: number) => Promise<undefined | Problem>
  readonly log: Log
}

interface Waiting extends LoggedWrite {
  readonly answer: (outcome: undefined | Problem) => void
}

interface State extends Omit<ApplierSettings, 'at'> {
  at: number
  readonly queue: Waiting[]
  isAtWork: boolean
  /** Requests have been answered since the store was last asked for its position. */
  isUnchecked: boolean
  /** The store has been found without a position, or at one before that which it had. */
  lost: { readonly found: number | undefined } | undefined
  isClosed: boolean
  stalled: Problem | undefined
}

/** Of one request: graphs, and characters. A write that is larger goes alone: its text would hold the event loop. */
const MOST_GRAPHS = 64
const MOST_WRITTEN = 256 * 1024
/** Before the next attempt, ms; the last one again and again. Clients hear of it when the short ones are over. */
const PAUSES = [0, 30, 120, 500, 1000]
const SHORT = 3
/** After so long the store learns the position of what it has in another way. */
const PAUSE_MS = 1000
/** A question for the position that takes longer has failed. */
const ASKING_MS = 5000

export function makeApplier({ at, ...settings }: ApplierSettings): Applier {
  const state: State = {
    ...settings,
    at,
    queue: [],
    isAtWork: false,
    isUnchecked: false,
    lost: undefined,
    isClosed: false,
    stalled: undefined,
  }
  const timer = setInterval(() => {
    startWork(state)
    if (state.isUnchecked) void check(state)
  }, PAUSE_MS).unref()
  return {
    apply: (write) => new Promise((answer) => enqueue(state, { ...write, answer })),
    stalled: () => state.stalled,
    async level() {
      if (state.stalled || !isBehind(state)) return state.stalled
      return new Promise((answer) => enqueue(state, nothingAt(state.settledPosition(), answer)))
    },
    close() {
      state.isClosed = true
      clearInterval(timer)
    },
  }
}

function enqueue(state: State, write: Waiting): void {
  // A write that waited for others may come after a later one.
  const after = state.queue.findLastIndex(({ position }) => position < write.position)
  state.queue.splice(after + 1, 0, write)
  startWork(state)
}

/** What the store has by itself, as the effects of an update, it only has to know the position of. */
const isBehind = ({ at, settledPosition }: State): boolean => at < settledPosition()

function startWork(state: State): void {
  if (state.isAtWork || state.isClosed) return
  if (state.queue.length === 0 && !isBehind(state) && !state.lost) return
  state.isAtWork = true
  void work(state)
    .catch((error: unknown) => state.log.error({ err: error, store: state.store.name }, 'entries of the log wait'))
    .finally(() => {
      state.isAtWork = false
      if (state.queue.length > 0) startWork(state)
    })
}

async function work(state: State): Promise<void> {
  // Entries that are written to the disk together come together.
  await eventLoopTurn()
  if (state.lost) await putForward(state, state.lost.found)
  if (state.queue.length === 0 && isBehind(state)) return carry(state, [nothingAt(state.settledPosition())])
  for (let group = nextGroup(state.queue); group; group = nextGroup(state.queue)) await carry(state, group)
}

const nothingAt = (position: number, answer: Waiting['answer'] = () => undefined): Waiting => ({
  ...{ position, replacements: [], answer },
  alone: () => Promise.resolve(undefined),
  settled: () => undefined,
})

type Group = readonly [Waiting, ...Waiting[]]

function nextGroup(queue: Waiting[]): Group | undefined {
  const first = queue.shift()
  if (!first) return undefined
  let [graphs, size] = [first.replacements?.length ?? 0, sizeOf(first.replacements)]
  const end = queue.findIndex(({ replacements = [] }) => {
    graphs += replacements.length
    size += sizeOf(replacements)
    return graphs > MOST_GRAPHS || size > MOST_WRITTEN
  })
  return [first, ...queue.splice(0, end < 0 ? queue.length : end)]
}

const sizeOf = (replacements: readonly Replacement[] = []): number =>
  replacements
    .flatMap(({ nTriples = '', change }) => (change ? [...change.removed, ...change.added] : [nTriples]))
    .reduce((sum, { length }) => sum + length, 0)

async function carry(state: State, group: Group): Promise<void> {
  const [first] = group
  const { position, replacements } = first
  // It is late: it has waited for something that later writes have not.
  const isLate = position <= state.at && replacements?.length !== 0
  const goesAlone = isLate || sizeOf(replacements) > MOST_WRITTEN || group.some((write) => !write.replacements)
  if (goesAlone) return group.length > 1 ? carryEach(state, group) : carryAlone(state, first)
  const to = Math.max(state.at, ...group.map((write) => write.position))
  const text = fencedUpdate(
    { log: state.iri, from: state.at, to },
    group.flatMap((write) => write.replacements ?? []),
  )
  if (isFailure(text)) return group.length > 1 ? carryEach(state, group) : carryAlone(state, first)
  const failed = await update(state.store, text)
  if (!failed) return reached(state, to, group)
  // The store runs the request as one transaction: if it fails, nothing of it is done.
  const isRefused = hasNoLaterEffect(failed)
  if (isRefused && group.length > 1) return carryEach(state, group)
  if (isRefused || hadNoEffect(failed)) return drop(group, isRefused ? asRefused(failed) : failed)
  await insist(state, text, to, group, failed)
}

/** One that the store refuses fails alone. */
async function carryEach(state: State, group: readonly Waiting[]): Promise<void> {
  for (const write of group) await carry(state, [write])
}

/** The store gets the graphs by themselves, if nobody else has gone on meanwhile, and then the position. */
async function carryAlone(state: State, write: Waiting): Promise<void> {
  const { store, iri } = state
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) await sleep(PAUSE_MS)
    if (state.isClosed) return
    const at = await positionIn(store, iri)
    const failed = isFailure(at) ? at : at !== undefined && at > state.at ? OVERTAKEN : await write.alone(attempt)
    if (!failed) break
    const isOver = isFailure(at) || failed === OVERTAKEN || hadNoEffect(failed) || hasNoLaterEffect(failed)
    if (attempt === 0 && isOver) return drop([write], failed)
    stall(state, [write], failed)
  }
  state.stalled = undefined
  if (write.position > state.at) await carry(state, [{ ...write, replacements: [] }])
  else await reached(state, state.at, [write])
}

const OVERTAKEN = problem('store.overloaded', 'Another gateway has written to the triplestore.', DOUBT_FIELDS)

const update = (store: GraphStore, text: string): Promise<undefined | Problem> =>
  store.together ? store.together.update(text) : store.update(text)

/** A store that was put back to an earlier state answers with a success, and does nothing. */
async function check(state: State): Promise<void> {
  const expected = state.at
  state.isUnchecked = false
  const found = await positionIn(state.store, state.iri)
  if (isFailure(found)) state.isUnchecked = true
  else if (found === undefined || found < expected) state.lost = { found }
  if (state.lost) startWork(state)
}

async function reached(state: State, to: number, group: readonly Waiting[]): Promise<void> {
  state.at = to
  state.isUnchecked = true
  for (const { settled, answer } of group) {
    await settled(undefined)
    answer(undefined)
  }
}

async function drop(group: readonly Waiting[], failed: Problem): Promise<void> {
  await Promise.all(group.map(({ settled }) => settled(failed)))
  for (const { answer } of group) answer(failed)
}

const asRefused = (failed: Problem): Problem => ({ ...failed, ...problem('store.refused', failed.detail) })

/** A store that answers so often that it has failed would fail always. */
const MOST_ANSWERS = 5

/** It is not known whether the store has done the request, or will: it gets it again until it has. */
async function insist(
  state: State,
  text: string,
  to: number,
  group: readonly Waiting[],
  failed: Problem,
): Promise<void> {
  const { store, log } = state
  let answers = 0
  log.warn({ store: store.name, problem: failed.detail, position: to }, 'a write is repeated until the store has it')
  for (let attempt = 0; !state.isClosed; attempt++) {
    // A store that has taken all of its time is not waited for again.
    if (attempt >= SHORT || failed.failure === 'store.time') stall(state, group, failed)
    await sleep(PAUSES[attempt] ?? PAUSE_MS)
    const at = await positionIn(store, state.iri)
    if (isFailure(at)) continue
    if (at !== undefined && at >= to) break
    if (at === undefined || at < state.at) await putForward(state, at)
    const again = await update(store, text)
    if (!again) break
    answers = again.failure === 'store.failed' ? answers + 1 : 0
    if (answers === MOST_ANSWERS) {
      state.stalled = undefined
      return group.length > 1 ? carryEach(state, group) : drop(group, again)
    }
  }
  if (state.isClosed) return stall(state, group, failed)
  state.stalled = undefined
  await reached(state, to, group)
}

/** The store has been emptied, or put back to an earlier state. */
async function putForward(state: State, found: number | undefined): Promise<void> {
  const { store, log, iri, at, catchUp } = state
  state.lost = undefined
  log.error({ store: store.name, expected: at, found }, 'the store has lost entries of the log: it is an earlier one')
  const failed = found === undefined ? undefined : await catchUp(found)
  if (!failed) await update(store, setPosition(iri, at))
  else log.error({ store: store.name, problem: failed.detail }, 'the store cannot be brought up to its log')
}

/** The clients hear of it. Who waits is not sent any more, and has no effect. */
function stall(state: State, group: readonly Waiting[], failed: Problem): void {
  state.stalled = STALLED
  for (const { answer } of group) answer(failed)
  void drop(state.queue.splice(0), STALLED)
}

const STALLED = problem(
  'store.overloaded',
  'The triplestore has not finished an earlier write. Retry shortly.',
  DOUBT_FIELDS,
)

/** The documents become what the changes say, whatever they are now. */
export async function makeSo(
  store: Pick<GraphStore, 'replace' | 'remove'>,
  changes: readonly Pick<NewChange, 'document' | 'content'>[],
): Promise<undefined | Problem> {
  for (const { document, content } of changes) {
    const failed = await (content === undefined
      ? store.remove(document)
      : store.replace(document, content, { canonical: true }))
    if (failed) return failed
  }
  return undefined
}

/** Undefined where the store has none. */
export async function positionIn(store: Pick<GraphStore, 'query'>, iri: string): Promise<number | undefined | Problem> {
  const signal = AbortSignal.timeout(ASKING_MS)
  const rows = await select(store, positionQuery(iri), ['at'], { signal })
  if (isFailure(rows)) return rows
  const positions = rows.map(([at]) => Number(at?.value)).filter(Number.isSafeInteger)
  return positions.length === 0 ? undefined : Math.max(...positions)
}
