// In charge of bringing authorizations from RDF to the compiled index: all of them from the store, or those of a write.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { AuthorizationIndex, Fact } from '../../policies/authorizations/index.js'
import { ACCESS_PREDICATES, AUTHORIZATION, RDF_TYPE } from '../../policies/vocabulary.js'
import type { Quad, Term } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { StoreBreak, type Call, type GraphStore } from '../stores/store.js'

const TSV = 'text/tab-separated-values'
const GRAPHS_PER_TURN = 500

/**
 * Reads the authorizations of a dataspace anew and puts them in force at once, with the changes that the index took
 * meanwhile. When the answer fails, breaks off or is not understood, its problem; the index is left as it was.
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

/** Everything that authorizations are made of in the graphs under the admin base, and nothing else. */
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

/** The statements of these triples that authorizations may be made of. */
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

/** A slice of a text keeps all of the text in memory; this does not. */
const ownCopy = (slice: string): string => Buffer.from(slice).toString()

const MAX_LINE_BYTES = 1 << 20
// SPARQL 1.1 TSV §4: terms as in Turtle. What a store took for an IRI is taken for one here too.
const ROW = /^<([^\t]*)>\t(<[^\t]*>|_:[^\t]+)\t<([^\t]*)>\t<([^\t]*)>$/
const HEADER = /^\?g\t\?s\t\?p\t\?o$/

/** The rows by graph, in whatever order they come: subject, predicate, object, subject, … each IRI kept once. */
async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Map<string, string[]>> {
  const kept = new Map<string, string>()
  const keep = (slice: string): string => {
    const known = kept.get(slice)
    if (known !== undefined) return known
    const copy = ownCopy(slice)
    kept.set(copy, copy)
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
        const triple = [keep(withoutBrackets(subject!)), keep(predicate!), keep(object!)]
        if (terms) terms.push(...triple)
        else graphs.set(keep(graph!), triple)
      }
      header = false
    }
    await eventLoopTurn()
  }
  if (header) throw new StoreBreak(misunderstood('an empty answer'))
  return graphs
}

const misunderstood = (what: string): Problem =>
  problem('store.failed', `The store's answer with the authorizations is not understood: ${what}.`)

const withoutBrackets = (term: string): string => (term.startsWith('<') ? term.slice(1, -1) : term)

// RDF 1.1 Turtle §6.4: the numeric escape sequences, which IRIs may have.
const unescaped = (term: string): string =>
  term.includes('\\')
    ? term.replace(
        /\\(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}))/g,
        (_, four: string, eight: string) => String.fromCodePoint(parseInt(four ?? eight, 16)),
      )
    : term

/** The whole lines in each piece, without line ends; what is left at the end counts as a line. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  let rest = Buffer.alloc(0)
  for await (const piece of bytes) {
    const all = Buffer.concat([rest, piece])
    // A byte 0x0A is never part of another character in UTF-8.
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
