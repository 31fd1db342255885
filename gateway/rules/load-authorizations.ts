// Reads authorizations into the compiled index: all from the store, only those that changed there, or those of one
// write.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { Fact } from '../../policies/authorizations/authorization.js'
import type { AuthorizationIndex, ReadGraph } from '../../policies/authorizations/authorization-index.js'
import { ACCESS_PREDICATES, RDF_TYPE } from '../../policies/vocabulary.js'
import type { Quad, Term } from '../rdf/graph.js'
import { isFailure, type Problem } from '../problem.js'
import { readNTriples } from '../rdf/read.js'
import { isName } from '../stores/batch-sparql.js'
import type { Call, GraphStore } from '../stores/store.js'
import {
  authorizationParts,
  authorizationsIn,
  digestsOfAuthorizations,
  factIn,
  graphIn,
  linesOfAnswer,
  makeDigesting,
  problemOf,
} from './authorization-lines.js'

const GRAPHS_PER_TURN = 500
/** How many graphs may be requested by name. If more have changed, all are read. */
const MOST_CHANGED = 500
/** Changes become effective in one step: more lines, or more statements before, would block the event loop. */
const MOST_CHANGED_LINES = 5000

/**
 * Rereads the authorizations of a dataspace and makes them effective at once, including changes that the index received
 * meanwhile. If the answer fails, breaks off or cannot be understood, the index stays as it was.
 */
export async function loadAuthorizations(
  store: Pick<GraphStore, 'query'>,
  adminBase: string,
  index: AuthorizationIndex,
  call?: Call,
): Promise<undefined | Problem> {
  if (index.size.graphs > 0) {
    const done = await loadChanged(store, adminBase, index, call)
    if (done !== 'many') return done
  }
  return loadParts(authorizationParts(store, adminBase, call), index)
}

/** Rereads the authorizations in some graphs. A failure may leave the index between two states. */
export async function loadGraphs(
  store: Pick<GraphStore, 'query'>,
  graphs: readonly string[],
  index: AuthorizationIndex,
): Promise<undefined | Problem> {
  for (let at = 0; at < graphs.length; at += MOST_CHANGED) {
    const some = graphs.slice(at, at + MOST_CHANGED)
    try {
      const read = await graphsIn(await linesOfAnswer(store, authorizationsIn(some)), index)
      index.rebuild().commitChanged(new Map(some.map((graph) => [graph, read.get(graph)])))
    } catch (error) {
      return problemOf(error)
    }
  }
  return undefined
}

/** Like `loadAuthorizations`, but with the answer to another query for such statements, `?g ?s ?p ?o`. */
export const loadAnswer = (
  store: Pick<GraphStore, 'query'>,
  question: string,
  index: AuthorizationIndex,
): Promise<undefined | Problem> => loadParts([linesOfAnswer(store, question)], index)

/** Each part has all lines of some graphs. */
async function loadParts(
  parts: AsyncIterable<readonly string[]> | Iterable<Promise<readonly string[]>>,
  index: AuthorizationIndex,
): Promise<undefined | Problem> {
  const rebuild = index.rebuild()
  try {
    let count = 0
    for await (const lines of parts) {
      for (const [graph, read] of await graphsIn(lines, index)) {
        for (const steps = rebuild.reading(graph, read); !steps.next().done;) await eventLoopTurn()
        if (++count % GRAPHS_PER_TURN === 0) await eventLoopTurn()
      }
    }
    for (const steps = rebuild.committing(); !steps.next().done;) await eventLoopTurn()
    return undefined
  } catch (error) {
    return problemOf(error)
  } finally {
    rebuild.abandon()
  }
}

/** Reads the graphs that differ between store and index. `many`: too many have changed. */
async function loadChanged(
  store: Pick<GraphStore, 'query'>,
  adminBase: string,
  index: AuthorizationIndex,
  call: Call | undefined,
): Promise<undefined | Problem | 'many'> {
  const rebuild = index.rebuild()
  try {
    const digests = await digestsOfAuthorizations(store, { adminBase, digestKey: index.digestKey() }, call)
    if (isFailure(digests)) return digests
    const changed = await differing(digests, index)
    if (changed.length > MOST_CHANGED || !changed.every(isName)) return 'many'
    // Graphs without a digest state nothing.
    const stating = changed.filter((graph) => digests.has(graph))
    const lines = stating.length > 0 ? await linesOfAnswer(store, authorizationsIn(stating), call) : []
    const before = changed.reduce((sum, graph) => sum + index.countIn(graph), 0)
    if (before > MOST_CHANGED_LINES || lines.length > MOST_CHANGED_LINES) return 'many'
    const found = await graphsIn(lines, index)
    // Read before anything changes: reading may fail.
    const readOf = (graph: string): ReadGraph | undefined => {
      const read = found.get(graph)
      return read && { facts: [...read.facts], digest: read.digest }
    }
    rebuild.commitChanged(new Map(changed.map((graph) => [graph, readOf(graph)])))
    return undefined
  } catch (error) {
    return problemOf(error)
  } finally {
    rebuild.abandon()
  }
}

/** The graphs whose digests differ between store and index. */
async function differing(digests: ReadonlyMap<string, number>, index: AuthorizationIndex): Promise<readonly string[]> {
  const changed: string[] = []
  let count = 0
  for (const [graph, digest] of digests) {
    if (index.counts(graph) && index.digestOf(graph) !== digest) changed.push(graph)
    if (++count % GRAPHS_PER_TURN === 0) await eventLoopTurn()
    if (changed.length > MOST_CHANGED) return changed
  }
  for (const graph of index.graphs()) {
    if (!digests.has(graph)) changed.push(graph)
    if (++count % GRAPHS_PER_TURN === 0) await eventLoopTurn()
  }
  return changed
}

const RULE_PREDICATES: ReadonlySet<string> = new Set([...ACCESS_PREDICATES, RDF_TYPE].map((iri) => `<${iri}>`))
/** What is split into lines, in characters, and what is parsed, in lines, within a few milliseconds. */
const [PART, LINES_PER_TURN] = [1024 * 1024, 1000]

/**
 * The statements in N-Triples that may belong to an authorization, in steps of a few milliseconds; undefined if a line
 * is not a triple.
 * @param isCanonical then only lines with a predicate of authorizations are parsed
 */
export function* ruleFactsIn(nTriples: string, isCanonical: boolean): Generator<void, Fact[] | undefined> {
  const facts: Fact[] = []
  for (let from = 0; from < nTriples.length;) {
    if (from > 0) yield
    const end = nTriples.indexOf('\n', from + PART)
    const all = nTriples.slice(from, end < 0 ? undefined : end).split('\n')
    const lines = isCanonical ? all.filter(mayBeRule) : all
    for (let at = 0; at < lines.length; at += LINES_PER_TURN) {
      if (at > 0) yield
      const triples = readNTriples(lines.slice(at, at + LINES_PER_TURN).join('\n'))
      if (!triples) return undefined
      facts.push(...ruleFactsOf(triples))
    }
    from = end < 0 ? nTriples.length : end + 1
  }
  return facts
}

function mayBeRule(line: string): boolean {
  const at = line.indexOf(' ') + 1
  return RULE_PREDICATES.has(line.slice(at, line.indexOf(' ', at)))
}

/** The triples among these that may belong to an authorization. */
export function ruleFactsOf(triples: Iterable<Quad>): Fact[] {
  const facts: Fact[] = []
  for (const { subject, predicate, object } of triples) {
    if (predicate.value !== RDF_TYPE && !ACCESS_PREDICATES.includes(predicate.value)) continue
    if (object.termType !== 'NamedNode' || subject.termType === 'Quad') continue
    facts.push({ subject: nameOf(subject), predicate: predicate.value, object: object.value })
  }
  return facts
}

const nameOf = (subject: Term): string => (subject.termType === 'BlankNode' ? `_:${subject.value}` : subject.value)

/** The graphs that these lines are in, by name. */
async function graphsIn(
  lines: readonly string[],
  { digestKey }: Pick<AuthorizationIndex, 'digestKey'>,
): Promise<ReadonlyMap<string, ReadGraph>> {
  const linesIn = new Map<string, string[]>()
  const digesting = makeDigesting(digestKey())
  let count = 0
  for (const line of lines) {
    const name = graphIn(line)
    const known = linesIn.get(name)
    if (known) known.push(line)
    else linesIn.set(name, [line])
    digesting.take(line)
    if (++count % LINES_PER_TURN === 0) await eventLoopTurn()
  }
  const digests = await digesting.digests()
  return new Map(Array.from(linesIn, ([graph, its]) => [graph, { facts: factsIn(its), digest: digests.get(graph)! }]))
}

function* factsIn(lines: readonly string[]): Generator<Fact> {
  for (const line of lines) {
    const fact = factIn(line)
    if (fact) yield fact
  }
}
