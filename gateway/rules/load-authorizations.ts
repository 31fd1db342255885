// In charge of reading authorizations into the compiled index: all of them from the store, or those of one write.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { BlankNode, NamedNode } from '@rdfjs/types'
import type { Fact } from '../../policies/authorizations/authorization.js'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import { ACCESS_PREDICATES, AUTHORIZATION, RDF_TYPE } from '../../policies/vocabulary.js'
import type { Quad, Term } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { selectBatches, type Row } from '../stores/select.js'
import { StoreBreak, type Call, type GraphStore } from '../stores/store.js'

const GRAPHS_PER_TURN = 500

/**
 * Reads all authorizations of a dataspace again and makes them effective at once, with the changes that the index has taken
 * meanwhile. Where the response fails, breaks off or cannot be understood, the index stays as it was.
 */
export const loadAuthorizations = (
  store: Pick<GraphStore, 'query'>,
  adminBase: string,
  index: AuthorizationIndex,
  call?: Call,
): Promise<undefined | Problem> => loadAnswer(store, authorizationsQuery(adminBase), index, call)

/** The same with the answer to another question for such statements, `?g ?s ?p ?o`. */
export async function loadAnswer(
  store: Pick<GraphStore, 'query'>,
  question: string,
  index: AuthorizationIndex,
  call?: Call,
): Promise<undefined | Problem> {
  const rebuild = index.rebuild()
  try {
    const batches = await selectBatches(store, question, ['g', 's', 'p', 'o'], call)
    if (isFailure(batches)) return batches
    const graphs = await collect(batches)
    let count = 0
    for (const [graph, terms] of graphs) {
      rebuild.replaceGraph(graph, factsIn(terms))
      graphs.delete(graph)
      if (++count % GRAPHS_PER_TURN === 0) await eventLoopTurn()
    }
    rebuild.commit()
    return undefined
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  } finally {
    rebuild.abandon()
  }
}

/** The statements that make up authorizations in the graphs under the admin base, and no others. */
export const authorizationsQuery = (adminBase: string): string => `
SELECT ?g ?s ?p ?o WHERE {
  {
    VALUES ?p { ${ACCESS_PREDICATES.map((iri) => `<${iri}>`).join(' ')} }
    GRAPH ?g { ?s ?p ?o }
    FILTER(isIRI(?o))
  } UNION {
    GRAPH ?g { ?s <${RDF_TYPE}> <${AUTHORIZATION}> }
    BIND(<${RDF_TYPE}> AS ?p)
    BIND(<${AUTHORIZATION}> AS ?o)
  }
  FILTER(STRSTARTS(STR(?g), ${JSON.stringify(adminBase)}))
}`

const RULE_PREDICATES: ReadonlySet<string> = new Set([...ACCESS_PREDICATES, RDF_TYPE].map((iri) => `<${iri}>`))
/** In characters: shorter texts are parsed in some milliseconds. */
const SHORT = 128 * 1024

/** The lines of canonical N-Triples that can be part of an authorization; a short text as it is. */
export function ruleLines(nTriples: string): string {
  if (nTriples.length <= SHORT) return nTriples
  const lines = nTriples.split('\n').filter((line) => {
    const at = line.indexOf(' ') + 1
    return RULE_PREDICATES.has(line.slice(at, line.indexOf(' ', at)))
  })
  return lines.join('\n')
}

/** Those of these triples that can be part of an authorization. */
export function factsOf(triples: Iterable<Quad>): Fact[] {
  const facts: Fact[] = []
  for (const { subject, predicate, object } of triples) {
    if (predicate.value !== RDF_TYPE && !ACCESS_PREDICATES.includes(predicate.value)) continue
    if (object.termType !== 'NamedNode' || subject.termType === 'Quad') continue
    facts.push({ subject: nameOf(subject), predicate: predicate.value, object: ownCopy(object.value) })
  }
  return facts
}

const nameOf = (subject: Term): string =>
  ownCopy(subject.termType === 'BlankNode' ? `_:${subject.value}` : subject.value)

/** A slice of a string keeps the whole string in memory; a copy does not. */
const ownCopy = (slice: string): string => Buffer.from(slice).toString()

/** The rows by graph, in any order: subject, predicate, object, subject, … with one copy of each IRI. */
async function collect(batches: AsyncIterable<readonly Row[]>): Promise<Map<string, string[]>> {
  const copies = new Map<string, string>()
  const copied = (name: string): string => {
    const known = copies.get(name)
    if (known !== undefined) return known
    const copy = ownCopy(name)
    copies.set(copy, copy)
    return copy
  }
  const graphs = new Map<string, string[]>()
  for await (const rows of batches) {
    for (const [graph, subject, predicate, object] of rows) {
      // Jena takes triple terms as subjects too: what they say is no authorization.
      if (subject?.termType === 'Quad') continue
      if (!isIri(graph) || !isIri(predicate) || !isIri(object) || !(isIri(subject) || isBlankNode(subject))) {
        throw new StoreBreak(MISUNDERSTOOD)
      }
      const name = isIri(subject) ? subject.value : `_:${subject.value}`
      const triple = [copied(name), copied(predicate.value), copied(object.value)]
      const terms = graphs.get(graph.value)
      if (terms) terms.push(...triple)
      else graphs.set(copied(graph.value), triple)
    }
  }
  return graphs
}

const isIri = (term: Term | undefined): term is NamedNode => term?.termType === 'NamedNode'
const isBlankNode = (term: Term | undefined): term is BlankNode => term?.termType === 'BlankNode'

const MISUNDERSTOOD = problem(
  'store.failed',
  'The triplestore was asked for the authorizations and answered with something else.',
)

function* factsIn(terms: readonly string[]): Generator<Fact> {
  for (let i = 0; i < terms.length; i += 3)
    yield { subject: terms[i]!, predicate: terms[i + 1]!, object: terms[i + 2]! }
}
