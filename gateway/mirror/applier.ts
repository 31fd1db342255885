// Applies the entries of a log to the store, in order (design 6). A request has all entries that arrived while the
// previous request was running. It has no effect on a store that has already applied it, so it is simply repeated if
// its answer is lost.
import { setImmediate as eventLoopTurn, setTimeout as sleep } from 'node:timers/promises'
import { makeSignal } from '../../versioning/journal/signal.js'
import type { Log } from '../log.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { fencedUpdate, passTurn, positionAgain, setPosition } from '../stores/fenced-update.js'
import { positionIn, turnText, type Position, type Turn } from '../stores/store-position.js'
import type { GraphStore } from '../stores/store.js'
import {
  answer,
  BROKEN,
  goesAlone,
  nothingAt,
  nextGroup,
  settle,
  unheard,
  type Attempt,
  type Group,
  type LoggedWrite,
  type AttemptOutcome,
  type QueuedWrite,
} from './write-groups.js'
import { sendUpdate, unfenced } from './unfenced.js'
import { DOUBT_FIELDS, hadNoEffect, hasNoLaterEffect } from './write-failures.js'

export interface Applier {
  /**
   * Resolves when the store has applied or refused the entries. If the store does not answer, resolves with a problem;
   * the entries are applied as soon as the store answers again.
   */
  apply(write: LoggedWrite): Promise<undefined | Problem>
  /** Why no entry can be applied now. */
  stalled(): undefined | Problem
  /**
   * Call it before the store changes documents by itself (by an update). Resolves when the position in the store covers
   * all settled entries, so that they are never applied again.
   */
  level(): Promise<undefined | Problem>
  /**
   * Call it before an update that may change all graphs, when no write is running, and `over` after it. Append the
   * operation `end` to the update: it sets the position in the store again.
   */
  hold(): { readonly end: string; over(): void }
  /** Call it after reading states that become versions: a problem if the store was restored to an earlier state. */
  confirm(): Promise<undefined | Problem>
  /** `listener` is called when the store had lost entries and has them again: content read meanwhile may be old. */
  onRecovered(listener: () => Promise<void>): void
  /** Resolves when nothing is sent any more. */
  close(): Promise<void>
}

export interface ApplierSettings {
  readonly store: GraphStore
  /** The IRI of the log. */
  readonly iri: string
  /** All entries up to here are in the store. */
  readonly at: number
  /** The turn that is in the store now (fenced-update.ts). */
  readonly turn: Turn
  /** The last position up to which every entry of the log is settled or `isCounted`. */
  readonly settledPosition: (isCounted?: (position: number) => boolean) => number
  /** Writes to the store what entries after a position have changed; without a position, all of the history. */
  readonly catchUp: (from: number | undefined) => Promise<undefined | Problem>
  readonly log: Log
}

interface State extends ApplierSettings {
  at: number
  turn: Turn
  /** The last number that a request got: each gets a new one. */
  issued: number
  readonly queue: QueuedWrite[]
  work: Promise<void> | undefined
  /** When the store was last asked for its position: performance.now(). */
  checked: number
  /** The number of running updates that may change all graphs. */
  held: number
  isClosed: boolean
  readonly closing: ReturnType<typeof makeSignal>
  stalled: Problem | undefined
  isPutBack: boolean
  recovered: () => Promise<void>
}

/**
 * Pauses before the first repeated attempts, in ms (later: PAUSE_MS). After SHORT failed attempts clients are answered.
 */
const PAUSES = [0, 30, 120, 500]
const SHORT = 3
/** How often the store's position is checked, and set if entries were applied in another way. */
const PAUSE_MS = 1000
const CHECK_MS = 0.9 * PAUSE_MS
/** How long a closing gateway waits for the store. The next start checks what the store has done. */
const CLOSING_MS = 2000
/** After this many failures the store is assumed to fail every time. */
const MOST_ANSWERS = 5

export function makeApplier(settings: ApplierSettings): Applier {
  const closing = makeSignal()
  const state: State = {
    ...{ ...settings, queue: [], work: undefined, closing },
    ...{
      checked: performance.now(),
      held: 0,
      issued: settings.turn.number,
      isClosed: false,
      stalled: undefined,
      isPutBack: false,
      recovered: () => Promise.resolve(),
    },
  }
  const timer = setInterval(() => startWork(state), PAUSE_MS).unref()
  return {
    apply: (write) => enqueue(state, write),
    stalled: () => state.stalled,
    // An empty request sets the next turn, so that an earlier state of the store cannot be mistaken for this one.
    level: async () => (await enqueue(state, nothingAt(state.settledPosition()))) ?? confirm(state),
    hold() {
      state.held++
      const over = (): void => void state.held--
      return { end: positionAgain(state.iri, state.at, turnText(state.turn)), over }
    },
    confirm: () => confirm(state),
    onRecovered: (listener) => void (state.recovered = listener),
    async close() {
      state.isClosed = true
      clearInterval(timer)
      closing.send()
      await Promise.race([state.work, sleep(CLOSING_MS, undefined, { ref: false })])
      await refuseWaiting(state)
    },
  }
}

function enqueue(state: State, write: LoggedWrite): Promise<undefined | Problem> {
  return new Promise((answer) => {
    const waiting = { ...write, answer, isAnswered: false, isSingle: false }
    if (state.stalled || state.isClosed) return void settle([waiting], STALLED, state)
    state.queue.push(waiting)
    startWork(state)
  })
}

/** True if settled entries, such as the effects of an update, are not covered by the position in the store yet. */
const isBehind = ({ at, held, settledPosition }: State): boolean => held === 0 && at < settledPosition()

function startWork(state: State): void {
  if (state.work || state.isClosed) return
  state.work = work(state)
    .catch((error: unknown) =>
      state.log.error({ err: error, store: state.store.name }, 'entries of the log wait for the triplestore'),
    )
    .finally(() => {
      state.work = undefined
      if (state.queue.length > 0) startWork(state)
    })
}

async function work(state: State): Promise<void> {
  // Entries that are written to the disk together arrive in the same turn of the event loop.
  await eventLoopTurn()
  while (!state.isClosed) {
    if (performance.now() - state.checked >= CHECK_MS) await check(state)
    const group = nextGroup(state.queue)
    if (group) await carry(state, group)
    // If the store refuses even this, the timer tries again a second later.
    else if (isBehind(state)) return carry(state, [unheard(nothingAt(state.settledPosition()))])
    else return
  }
}

async function carry(state: State, group: Group): Promise<void> {
  const [first] = group
  const made = goesAlone(first) ? undefined : textOf(state, group, nextTurn(state))
  if (made && !isFailure(made)) return insist(state, group, fenced(state, group, made), SHORT)
  if (group.length > 1) return carryEach(state, group)
  // This write sets no turn, so an empty request sets one first: an earlier state must not pass for a later one.
  let refused: undefined | Problem
  const turn = { ...nothingAt(state.at), settled: (failed: undefined | Problem) => void (refused = failed) }
  // If the store does not answer, answer the client, which holds the lock of its document.
  const tell = (failed: undefined | Problem): void => void (failed && !refused && answer(first, failed))
  await carry(state, [{ ...unheard(turn), answer: tell }])
  if (refused) return settle(group, refused, state)
  // If the gateway is closing, the next start carries the write out.
  if (!state.isClosed) return insist(state, group, unfenced(state, first), 0)
}

/** Sends the writes one by one, so that a write that the store refuses fails alone. */
function carryEach({ queue }: State, group: readonly QueuedWrite[]): void {
  for (const write of group) write.isSingle = true
  queue.unshift(...group)
}

/** Repeats the attempt until it is known what the store has done. */
async function insist(state: State, group: Group, attempt: Attempt, short: number): Promise<void> {
  const { store, log, closing } = state
  let doubt: Problem | undefined
  for (let n = 0; ; n++) {
    const outcome = await attempt(n).catch((error: unknown): AttemptOutcome => {
      log.error({ err: error, store: store.name }, 'a write could not be carried out')
      return { unknown: BROKEN }
    })
    if (outcome === 'done' || 'refused' in outcome) {
      await goOn(state)
      if (outcome === 'done') return settle(group, undefined, state)
      // If the store refuses the text of the request, the fault is in one of the writes.
      const isOfOne = group.length > 1 && hasNoLaterEffect(outcome.refused)
      return isOfOne ? carryEach(state, group) : settle(group, outcome.refused, state)
    }
    const { unknown } = outcome
    // A later attempt may be known to have had no effect, but the first is still in doubt.
    doubt ??= unknown
    if (n === 0) log.warn({ store: store.name, problem: unknown.detail }, 'a write is repeated until the store has it')
    // Do not wait again for a store that has timed out once.
    if (n >= short || unknown.failure === 'store.time' || state.isClosed) await stall(state, group, doubt)
    if (state.isClosed) return
    await closing.received(PAUSES[n] ?? PAUSE_MS)
  }
}

interface Made {
  readonly text: string
  readonly next: Turn
  /** The position of the store afterwards. */
  readonly to: number
}

const nextTurn = (state: State): Turn => ({ ...state.turn, number: ++state.issued })

function textOf({ iri, turn, at, settledPosition }: State, group: Group, next: Turn): Made | Problem {
  const positions = new Set(group.map(({ position }) => position))
  // An earlier entry may still be missing, so this need not be the position of the last entry.
  const to = Math.max(at, settledPosition((position) => positions.has(position))) // prettier-ignore
  const all = group.flatMap((write) => write.replacements ?? [])
  const text = fencedUpdate({ log: iri, turn: turnText(turn), next: turnText(next), at: to }, all)
  return isFailure(text) ? text : { text, to, next }
}

/** An attempt by a fenced request, which the store runs as one transaction: if it fails, nothing of it is done. */
function fenced(state: State, group: Group, first: Made): Attempt {
  const { store } = state
  let [answers, { next }] = [0, first]
  return async (attempt) => {
    if (attempt > 0) {
      const found = await lookAgain(state, group, next)
      if (found) return isFailure(found) ? { unknown: found } : found
    }
    // Turns only grow: if a later one was set meanwhile, earlier attempts can have no effect any more.
    if (state.turn.number > next.number) next = nextTurn(state)
    const made = attempt > 0 ? textOf(state, group, next) : first
    if (isFailure(made)) return { refused: made }
    const failed = await sendUpdate(store, made.text)
    if (!failed) return taken(state, next, made.to)
    const isRefused = hasNoLaterEffect(failed)
    if (attempt === 0 && hadNoEffect(failed)) return { refused: isRefused ? asRefused(failed) : failed }
    if (attempt === 0 && failed.isUnsure) {
      const known = await givenUp(state, next, asSure(failed))
      return known !== 'done' && 'unknown' in known ? { unknown: failed } : known
    }
    if (isRefused || failed.isUnsure || failed.failure === 'store.failed') answers++
    return isRefused || answers === MOST_ANSWERS ? givenUp(state, next, asRefused(failed)) : { unknown: failed }
  }
}

function taken(state: State, turn: Turn, at: number): 'done' {
  state.turn = turn
  state.at = at
  return 'done'
}

/** Passes the turn on: an earlier attempt that is still running is then either done, or can have no effect any more. */
async function givenUp(state: State, next: Turn, failed: Problem): Promise<AttemptOutcome> {
  const pass = nextTurn(state)
  const { store, iri, turn } = state
  const passed = await sendUpdate(store, passTurn({ log: iri, turn: turnText(turn), next: turnText(pass) }))
  if (passed) return { unknown: passed }
  const found = await positionIn(store, iri)
  if (isFailure(found)) return { unknown: found }
  if (found?.turn === turnText(next)) return taken(state, next, found.at)
  if (found?.turn !== turnText(pass)) return { unknown: failed }
  state.turn = pass
  return { refused: failed }
}

/** Checks what the store has done; undefined if the request must be sent again. @param group its writes */
async function lookAgain(
  state: State,
  group: readonly QueuedWrite[],
  next?: Turn,
): Promise<'done' | undefined | Problem> {
  const { store, iri, turn } = state
  const found = await positionIn(store, iri)
  if (isFailure(found)) return found
  if (found?.turn === turnText(turn)) return undefined
  if (found && next && found.turn === turnText(next)) return taken(state, next, found.at)
  // The store has carried out an abandoned request late, after the client was told that it had failed.
  const [process, number] = found?.turn.split(':') ?? []
  if (found && process === turn.process && Number(number) > turn.number) {
    state.isPutBack = true
    taken(state, { ...turn, number: Number(number) }, Math.max(state.at, found.at))
    return undefined
  }
  return putForward(state, found, group)
}

/** The problem, marked as one of a request that certainly had no effect. */
const asSure = ({ isUnsure: _, ...failed }: Problem): Problem => failed

const asRefused = (failed: Problem): Problem => ({ ...failed, ...problem('store.refused', failed.detail) })

/** Checks the turn in the store: after a restore to an earlier state, requests succeed without an effect. */
async function check(state: State): Promise<void> {
  const found = await positionIn(state.store, state.iri)
  state.checked = performance.now()
  const isPutBack = state.stalled ?? (!isFailure(found) && found?.turn !== turnText(state.turn))
  if (isPutBack) await recover(state)
}

async function confirm(state: State): Promise<undefined | Problem> {
  if (state.stalled) return state.stalled
  const { process, number } = state.turn
  const found = await positionIn(state.store, state.iri)
  if (isFailure(found)) return found
  const [of, then] = found?.turn.split(':') ?? []
  if (of === process && Number(then) >= number) return undefined
  state.stalled = STALLED
  state.checked = -Infinity
  startWork(state)
  return STALLED
}

/** Writes nothing else until the store has the entries that it lacks. */
async function recover(state: State): Promise<void> {
  await stall(state, [], STALLED)
  for (let pause = PAUSE_MS; !state.isClosed; pause = Math.min(2 * pause, MOST_PAUSE_MS)) {
    const failed = await lookAgain(state, []).catch((error: unknown) => {
      state.log.error({ err: error, store: state.store.name }, 'the store cannot be brought up to date with its log')
      return BROKEN
    })
    if (!isFailure(failed)) break
    await state.closing.received(pause)
  }
  await goOn(state)
}

/** Continues after a check; if the store had been restored to an earlier state, content read from it may be old. */
async function goOn(state: State): Promise<void> {
  const { isPutBack, recovered, log } = state
  ;[state.stalled, state.isPutBack] = [undefined, false]
  if (!isPutBack) return
  await recovered().catch((error: unknown) => log.error({ err: error }, 'caches and rules may be out of date'))
}

const MOST_PAUSE_MS = 30_000

/** Brings a store up to date that has been emptied, or restored to an earlier state. */
async function putForward(
  state: State,
  found: Position | undefined,
  group: readonly QueuedWrite[],
): Promise<undefined | Problem> {
  const { store, log, iri, at, catchUp } = state
  state.isPutBack = true
  // Answer waiting clients, since they hold the locks of their documents.
  await stall(state, group, UNKNOWN)
  log.error(
    { store: store.name, expected: at, found: found?.at },
    'the store has lost entries of the log: they are written again',
  )
  const put = nextTurn(state)
  const failed = (found?.at ?? 0) > at ? AHEAD : await catchUp(found?.at)
  const isSet = failed ?? (await sendUpdate(store, setPosition(iri, at, turnText(put))))
  if (isSet)
    log.error({ store: store.name, problem: isSet.detail }, 'the store cannot be brought up to date with its log')
  else state.turn = put
  return isSet
}

const UNKNOWN = problem('store.in-doubt', 'The triplestore was restored to an earlier state meanwhile.', DOUBT_FIELDS)
const AHEAD = problem(
  'store.failed',
  'The triplestore has entries of a log that this gateway lacks. Restart the gateway.',
)

/** Answers the clients of the group, and refuses all waiting writes: these are not sent, and have no effect. */
async function stall(state: State, group: readonly QueuedWrite[], failed: Problem): Promise<void> {
  state.stalled = STALLED
  for (const write of group) answer(write, failed)
  await refuseWaiting(state)
}

const refuseWaiting = (state: State): Promise<void> => settle(state.queue.splice(0), STALLED, state)

const STALLED = problem(
  'store.overloaded',
  'The triplestore has not finished an earlier write. Retry shortly.',
  DOUBT_FIELDS,
)
