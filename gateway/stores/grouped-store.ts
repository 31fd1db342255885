// In charge of calls that share requests to a store: documents that are read, and written, at the same time. Most of the work of
// a store on a small graph is the request, and the transaction of a write.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { isFailure, problem, type Problem } from '../problem.js'
import { groupCalls } from './grouped-calls.js'
import {
  answersIn,
  graphsQuery,
  isName,
  isSparql,
  replacementOf,
  type Question,
  type Replacement,
} from './several-graphs.js'
import type { GraphStore, Together } from './store.js'

/** Single requests at work at the same time: the first few calls do not wait. */
const READS_AT_WORK = 4
/** Stores write one after the other. */
const WRITES_AT_WORK = 2
const MOST_GRAPHS = 64
/** Of N-Triples in one update, in characters; a graph that is larger than the latter goes alone. */
const MOST_WRITTEN = 256 * 1024
const LARGE = 32 * 1024
/** How many large graphs are remembered. */
const MOST_LARGE = 1000

/** The same store, whose calls share requests where it has several of them at once and can do them together. */
export function groupedStore(store: GraphStore): GraphStore {
  const { together } = store
  if (!together) return store
  const ask = groupedReads(store, together)
  const write = groupedWrites(store, together)
  return {
    ...store,
    read: (graph, call) => (call?.signal ? store.read(graph, call) : ask({ graph, isOfFacts: false })),
    excerpt: (graph, kind, call) =>
      kind !== 'facts' || call?.signal ? store.excerpt(graph, kind, call) : ask({ graph, isOfFacts: true }),
    replace: (graph, nTriples, call) =>
      call?.signal || !call?.canonical ? store.replace(graph, nTriples, call) : write({ graph, nTriples }),
    remove: (graph, call) => (call?.signal ? store.remove(graph, call) : write({ graph, nTriples: undefined })),
  }
}

type Text = string | undefined | Problem

/** Failures of a request for several graphs after which each of them is asked for alone. */
const PASSING = new Set<string | undefined>(['store.too-large', 'store.failed'])

function groupedReads(store: GraphStore, { select }: Together): (question: Question) => Promise<Text> {
  const large = makeLarge()
  let most = MOST_GRAPHS
  let isUnderstood = true
  return groupCalls<Question, Text>({
    lanes: READS_AT_WORK,
    isShared: true,
    keyOf: ({ graph, isOfFacts }) => `${isOfFacts} ${graph}`,
    mayWait: ({ graph, isOfFacts }) => isUnderstood && (isOfFacts || !large.has(graph)) && isName(graph),
    most: () => ({ count: isUnderstood ? most : 1, size: Infinity }),
    sizeOf: () => 0,
    async alone({ graph, isOfFacts }) {
      if (isOfFacts) return store.excerpt(graph, 'facts')
      const text = await store.read(graph)
      large.note(graph, typeof text === 'string' ? text.length : 0)
      return text
    },
    async together(questions) {
      const tsv = await select(graphsQuery(questions))
      const failure = isFailure(tsv) ? tsv.failure : undefined
      most = failure === 'store.too-large' ? Math.ceil(most / 2) : Math.min(most + 1, MOST_GRAPHS)
      if (isFailure(tsv) && !isRefused(tsv) && !PASSING.has(failure)) return forAll<Text>(questions, tsv)
      const found = typeof tsv === 'string' ? answersIn(tsv, questions.length) : undefined
      // A store that refuses such a query, or answers it otherwise, is not asked again.
      if (!found && !PASSING.has(failure)) isUnderstood = false
      return found ?? new Map<number, Text>()
    },
    betweenAnswers: eventLoopTurn,
  })
}

/** The graphs that were large when they were read last. */
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
  { update, isTransactional }: Together,
): (write: Replacement) => Promise<undefined | Problem> {
  let isTaken = true
  const alone = ({ graph, nTriples }: Replacement): Promise<undefined | Problem> =>
    nTriples === undefined ? store.remove(graph) : store.replace(graph, nTriples, { canonical: true })
  return groupCalls<Replacement, undefined | Problem>({
    lanes: WRITES_AT_WORK,
    isShared: false,
    keyOf: ({ graph }) => graph,
    mayWait: ({ graph, nTriples = '' }) =>
      isTaken && isTransactional() && nTriples.length <= LARGE && isName(graph) && isSparql(nTriples),
    most: () => ({ count: isTaken ? MOST_GRAPHS : 1, size: MOST_WRITTEN }),
    sizeOf: ({ nTriples = '' }) => nTriples.length,
    alone,
    async together(writes) {
      const failed = await update(replacementOf(writes))
      if (failed?.failure === 'store.refused') isTaken = false
      if (!failed || !(isRefused(failed) || failed.failure === 'update.failed')) return forAll(writes, failed)
      // One that the store refuses fails alone.
      if (isRefused(failed)) return new Map()
      // The store may have done a part: none of them can be said to have had no effect.
      const outcomes = await Promise.all(writes.map(alone))
      return new Map(outcomes.map((outcome, n) => [n, outcome && IN_PART]))
    },
    betweenAnswers: eventLoopTurn,
  })
}

const IN_PART = problem('store.failed', 'The triplestore did not do the write as a whole.')

const isRefused = ({ failure }: Problem): boolean =>
  failure === 'store.refused' || failure === 'query.syntax' || failure === 'update.syntax'

const forAll = <Outcome>(asked: readonly unknown[], outcome: Outcome): Map<number, Outcome> =>
  new Map(asked.map((_, n) => [n, outcome]))
