// In charge of reading authorizations into the compiled index: all of them from the store, or those of one write.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { AuthorizationIndex, Fact } from '../../policies/authorizations/index.js'
import { ACCESS_PREDICATES, AUTHORIZATION, RDF_TYPE } from '../../policies/vocabulary.js'
import type { Quad, Term } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { StoreBreak, type Call, type GraphStore } from '../stores/store.js'

const TSV = 'text/tab-separated-values'
const GRAPHS_PER_TURN = 500

/**
 * Reads all authorizations of a dataspace again and makes them effective at once, with the changes that the index has taken
 * meanwhile. Where the response fails, breaks off or cannot be understood, the index stays as it was.
 */
export async function loadAuthorizations(
  store: GraphStore,
  adminBase: string,
  index: AuthorizationIndex,
  call?: Call,
): Promise<undefined | Problem> {
  const rebuild = index.rebuild()
  try {
    const bytes = await store.query(authorizationsQuery(adminBase), TSV, call)
    if (isFailure(bytes)) return bytes
    const graphs = await collect(bytes)
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

/** Those of these triples that can be part of an authorization. */
export function factsOf(triples: Iterable<Quad>): Fact[] {
  const facts: Fact[] = []
  for (const { subject, predicate, object } of triples) {
    if (predicate.value !== RDF_TYPE && !ACCESS_PREDICATES.includes(predicate.value)) continue
    if (object.termType !== 'NamedNode') continue
    facts.push({ subject: nameOf(subject), predicate: predicate.value, object: ownCopy(object.value) })
  }
  return facts
}

const nameOf = (subject: Term): string =>
  ownCopy(subject.termType === 'BlankNode' ? `_:${subject.value}` : subject.value)

/** A slice of a string keeps the whole string in memory; a copy does not. */
const ownCopy = (slice: string): string => Buffer.from(slice).toString()

const MAX_LINE_BYTES = 1 << 20
// SPARQL 1.1 TSV §4: terms as in Turtle. Every IRI that a store accepted is accepted here.
const ROW = /^<([^\t]*)>\t(<[^\t]*>|_:[^\t]+)\t<([^\t]*)>\t<([^\t]*)>$/
const HEADER = /^\?g\t\?s\t\?p\t\?o$/

/** The rows by graph, in any order: subject, predicate, object, subject, … with one copy of each IRI. */
async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Map<string, string[]>> {
  const copies = new Map<string, string>()
  const copied = (slice: string): string => {
    const known = copies.get(slice)
    if (known !== undefined) return known
    const copy = ownCopy(slice)
    copies.set(copy, copy)
    return copy
  }
  const graphs = new Map<string, string[]>()
  let header = true
  for await (const lines of linesOf(bytes)) {
    for (const line of lines) {
      const row = (header ? HEADER : ROW).exec(line)
      if (!row) throw new StoreBreak(misunderstood(header ? 'its first line' : 'a row'))
      if (!header) {
        const [graph, subject, predicate, object] = row.slice(1).map(unescaped)
        const terms = graphs.get(graph!)
        const triple = [copied(withoutBrackets(subject!)), copied(predicate!), copied(object!)]
        if (terms) terms.push(...triple)
        else graphs.set(copied(graph!), triple)
      }
      header = false
    }
    await eventLoopTurn()
  }
  if (header) throw new StoreBreak(misunderstood('an empty answer'))
  return graphs
}

const misunderstood = (part: string): Problem =>
  problem('store.failed', `The triplestore was asked for the authorizations and answered with something else: ${part}.`)

const withoutBrackets = (term: string): string => (term.startsWith('<') ? term.slice(1, -1) : term)

// RDF 1.1 Turtle §6.4: IRIs may have numeric escape sequences.
const unescaped = (term: string): string =>
  term.includes('\\')
    ? term.replace(
        /\\(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}))/g,
        (_, four: string, eight: string) => String.fromCodePoint(parseInt(four ?? eight, 16)),
      )
    : term

/** The whole lines of each piece, without line ends; an unfinished line at the end counts as a line. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let rest = Buffer.alloc(0)
  for await (const piece of bytes) {
    const all = Buffer.concat([rest, piece])
    // In UTF-8 a byte 0x0A is never part of another character.
    const end = all.lastIndexOf(0x0a) + 1
    rest = all.subarray(end)
    if (rest.length > MAX_LINE_BYTES) throw new StoreBreak(misunderstood('a line without end'))
    if (end > 0) yield all.toString('utf8', 0, end).split(/\r?\n/).slice(0, -1)
  }
  if (rest.length > 0) yield [rest.toString()]
}

function* factsIn(terms: readonly string[]): Generator<Fact> {
  for (let i = 0; i < terms.length; i += 3)
    yield { subject: terms[i]!, predicate: terms[i + 1]!, object: terms[i + 2]! }
}
