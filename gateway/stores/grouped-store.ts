// Calls that share requests to a store: concurrent reads of documents, and concurrent writes. For a small graph, most
// of a store's work is the request itself and, for a write, its transaction.
import { isFailure, problem, type Problem } from '../problem.js'
import { groupCalls, type Activity, type GroupSettings } from './grouped-calls.js'
import {
  answersIn,
  batchedGraphsQuery,
  isName,
  isSparql,
  changeOf,
  replacementOf,
  type BatchQuestion,
  type Replacement,
} from './batch-sparql.js'
import type { Call, GraphStore, Together } from './store.js'

/** The number of queries running at a time. */
const READS_AT_WORK = 4
const READ_PATIENCE = 50
/**
 * The number of write requests at a time: the store works on one while the gateway handles the answers of the other.
 * Queries for writes have the same limit.
 */
const WRITES_AT_WORK = 2
const WRITE_PATIENCE = 250
/**
 * In ms: if a write takes longer, the store waits for a disk. Then all writes that arrive meanwhile share a request.
 * If all writes shared requests, PUT would be 0.81 times as fast on a store in memory and 0.97 on TDB2 (`npm run bench
 * -- beside disk`, 27 November 2026).
 */
const SLOW_WRITE = 4
/** The fastest of this many last writes counts, since a busy machine delays some. */
const TIMED_WRITES = 8
const MOST_GRAPHS = 64
/** A group of this many calls does not wait for more. */
const ENOUGH = 12
/** Characters of N-Triples in one update; and the size above which a graph gets a separate request. */
const MOST_WRITTEN = 256 * 1024
const LARGE = 32 * 1024
/** How many large graphs are remembered. */
const MOST_LARGE = 1000

/**
 * Wraps the store so that concurrent calls share requests if possible. Writes of whole graphs share them only if the
 * store takes longer than `slowWrite` ms for a single one.
 */
export function groupedStore(store: GraphStore, slowWrite = SLOW_WRITE): GraphStore {
  const { together } = store
  if (!together) return store
  const large = makeLarge()
  const pace = makePace(slowWrite)
  const activity: Activity = { count: 0 }
  const readers = groupedReads(store, together, large, {
    ...{ activity, lanes: () => READS_AT_WORK, enough: () => ENOUGH },
  })
  const atOnce: Pressure = {
    activity,
    lanes: () => (pace.isSlow() ? 1 : WRITES_AT_WORK),
    enough: () => (pace.isSlow() ? MOST_GRAPHS : ENOUGH),
  }
  const writers = groupedReads(store, together, large, atOnce)
  const ask = (question: BatchQuestion, call: Call | undefined): Promise<Text> =>
    (call?.isForWrite ? writers : readers)(question)
  const write = groupedWrites(store, together, pace, atOnce)
  const { readTyped } = store
  return {
    ...store,
    read: (graph, call) =>
      call?.signal || large.has(graph) ? readNoted(store, large, graph, call) : ask({ graph, about: 'content' }, call),
    excerpt: (graph, kind, call) =>
      kind !== 'facts' || call?.signal ? store.excerpt(graph, kind, call) : ask({ graph, about: 'facts' }, call),
    ...(readTyped && {
      readTyped: async (graph: string, type: string, call?: Call) =>
        large.has(graph) ? undefined : ask({ graph, about: 'content', type }, call),
    }),
    replace: (graph, nTriples, call) =>
      call?.signal || !call?.canonical
        ? store.replace(graph, nTriples, call)
        : write({ graph, nTriples, change: smallChange(call.before, nTriples) }),
    remove: (graph, call) => (call?.signal ? store.remove(graph, call) : write({ graph, nTriples: undefined })),
  }
}

type Text = string | undefined | Problem

type Pressure = Pick<GroupSettings<unknown, unknown>, 'lanes' | 'enough' | 'activity'>

const smallChange = (before: string | undefined, after: string): Replacement['change'] =>
  before !== undefined && before.length <= LARGE && after.length <= LARGE ? changeOf(before, after) : undefined

/** Failures of a request for several graphs after which each graph is requested separately. */
const PASSING = new Set<string | undefined>(['store.too-large', 'store.failed'])

function groupedReads(
  store: GraphStore,
  { select, isKnown }: Together,
  large: Large,
  atOnce: Pressure,
): (question: BatchQuestion) => Promise<Text> {
  let most = MOST_GRAPHS
  let isUnderstood = true
  return groupCalls<BatchQuestion, Text>({
    ...atOnce,
    patience: READ_PATIENCE,
    isShared: true,
    keyOf: ({ graph, about, type = '' }) => `${about} ${type} ${graph}`,
    mayWait: ({ graph }) => isUnderstood && isKnown() && isName(graph),
    most: () => ({ count: isUnderstood ? most : 1, size: Infinity }),
    sizeOf: () => 0,
    alone: ({ graph, about, type }) =>
      about === 'facts'
        ? store.excerpt(graph, 'facts')
        : type === undefined
          ? readNoted(store, large, graph)
          : noted(large, graph, store.readTyped!(graph, type)),
    async together(questions) {
      const tsv = await select(batchedGraphsQuery(questions))
      const failure = isFailure(tsv) ? tsv.failure : undefined
      most = failure === 'store.too-large' ? Math.ceil(most / 2) : Math.min(most + 1, MOST_GRAPHS)
      if (isFailure(tsv) && !isRefused(tsv) && !PASSING.has(failure)) return forAll<Text>(questions, tsv)
      const found = typeof tsv === 'string' ? answersIn(tsv, questions.length) : undefined
      // Do not send another such query to a store that refuses it, or answers it differently.
      if (!found && !PASSING.has(failure)) isUnderstood = false
      return found ?? new Map<number, Text>()
    },
  })
}

const readNoted = (store: GraphStore, large: Large, graph: string, call?: Call): Promise<Text> =>
  noted(large, graph, store.read(graph, call))

async function noted(large: Large, graph: string, reading: Promise<Text>): Promise<Text> {
  const text = await reading
  if (!isFailure(text)) large.note(graph, text?.length ?? 0)
  return text
}

type Large = ReturnType<typeof makeLarge>

/** The graphs that were large when last read: each gets a separate request, and delays no others. */
function makeLarge() {
  const names = new Set<string>()
  return {
    has: (graph: string): boolean => names.has(graph),
    note(graph: string, size: number): void {
      if (size <= LARGE) names.delete(graph)
      else if (names.size < MOST_LARGE) names.add(graph)
      else names.clear()
    },
  }
}

function groupedWrites(
  store: GraphStore,
  { update, isKnown }: Together,
  pace: Pace,
  atOnce: Pressure,
): (written: Replacement) => Promise<undefined | Problem> {
  let isTaken = true
  const alone = ({ graph, nTriples }: Replacement): Promise<undefined | Problem> =>
    pace.timed(() =>
      nTriples === undefined ? store.remove(graph) : store.replace(graph, nTriples, { canonical: true }),
    )
  return groupCalls<Replacement, undefined | Problem>({
    ...atOnce,
    patience: WRITE_PATIENCE,
    isShared: false,
    keyOf: ({ graph }) => graph,
    mayWait: ({ graph, nTriples = '', change }) =>
      isTaken &&
      isKnown() &&
      isName(graph) &&
      (change !== undefined || (pace.isSlow() && nTriples.length <= LARGE && isSparql(nTriples))),
    most: () => ({ count: isTaken ? MOST_GRAPHS : 1, size: MOST_WRITTEN }),
    sizeOf: ({ nTriples = '' }) => nTriples.length,
    alone,
    async together(writes) {
      const failed = await pace.timed(() => update(replacementOf(writes)))
      if (failed?.failure === 'store.refused') isTaken = false
      if (!failed || !(isRefused(failed) || failed.failure === 'update.failed')) return forAll(writes, failed)
      // A change that the store refuses must fail alone.
      if (isRefused(failed)) return new Map()
      // The store may have done a part of the request, so no change in it can be said to have had no effect.
      const outcomes = await Promise.all(writes.map(alone))
      return new Map(outcomes.map((outcome, n) => [n, outcome && IN_PART]))
    },
  })
}

type Pace = ReturnType<typeof makePace>

/** How long the store takes for a write request, from the last few: requests in front of it delay it too. */
function makePace(slowWrite: number) {
  const times: number[] = []
  let atWork = 0
  return {
    isSlow: (): boolean => slowWrite === 0 || (times.length > 0 && Math.min(...times) > slowWrite),
    async timed(write: () => Promise<undefined | Problem>): Promise<undefined | Problem> {
      const position = ++atWork
      const from = performance.now()
      try {
        const failed = await write()
        if (!failed && times.push((performance.now() - from) / position) > TIMED_WRITES) times.shift()
        return failed
      } finally {
        atWork--
      }
    },
  }
}

const IN_PART = problem('store.failed', 'The triplestore did not do the write as a whole.')

const isRefused = ({ failure }: Problem): boolean =>
  failure === 'store.refused' || failure === 'query.syntax' || failure === 'update.syntax'

const forAll = <Outcome>(asked: readonly unknown[], outcome: Outcome): Map<number, Outcome> =>
  new Map(asked.map((_, n) => [n, outcome]))
