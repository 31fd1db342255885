// Queries the statements that make up authorizations, and digests the lines of the answer.
import { hash } from 'node:crypto'
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { ACCESS_PREDICATES, AUTHORIZATION, MEMBER, RDF_TYPE, SUB_CLASS_OF } from '../../policies/vocabulary.js'
import type { Fact } from '../../policies/authorizations/authorization.js'
import type { Term } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readTsvTerm } from '../rdf/read-sparql-results.js'
import { isName } from '../stores/batch-sparql.js'
import { select, selectLines } from '../stores/select.js'
import { StoreBreak, type Call, type GraphStore } from '../stores/store.js'

/** The most lines that are read by a single query, and the most graphs that a query names. */
const [MOST_LINES, GRAPHS_PER_QUERY] = [20_000, 2000]
const IRIS = ACCESS_PREDICATES.map((iri) => `<${iri}>`)
const isBelow = (adminBase: string): string => `FILTER(STRSTARTS(STR(?g), ${JSON.stringify(adminBase)}))`

/** Selects exactly the statements that make up authorizations, in the graphs under the admin base. */
const allQuery = (adminBase: string): string => `
SELECT ?g ?s ?p ?o WHERE {
  {
    VALUES ?p { ${IRIS.join(' ')} }
    GRAPH ?g { ?s ?p ?o }
    FILTER(isIRI(?o))
  } UNION {
    GRAPH ?g { ?s <${RDF_TYPE}> <${AUTHORIZATION}> }
    BIND(<${RDF_TYPE}> AS ?p)
    BIND(<${AUTHORIZATION}> AS ?o)
  }
  ${isBelow(adminBase)}
}`

/** Selects all of these statements, if there are not many. */
export const authorizationsQuery = (adminBase: string): string => `${allQuery(adminBase)} LIMIT ${MOST_LINES + 1}`

/** Selects these statements in some graphs. */
export const authorizationsIn = (graphs: readonly string[]): string => `
SELECT ?g ?s ?p ?o WHERE {
  VALUES ?g { ${graphs.map((graph) => `<${graph}>`).join(' ')} }
  GRAPH ?g { ?s ?p ?o }
  FILTER(isIRI(?o) && (?p IN (${IRIS.join(', ')}) || (?p = <${RDF_TYPE}> && ?o = <${AUTHORIZATION}>)))
}`

/** Selects the graphs under the admin base whose statements decide something. */
const graphsQuery = (adminBase: string): string => `
SELECT DISTINCT ?g WHERE {
  { GRAPH ?g { ?s <${RDF_TYPE}> <${AUTHORIZATION}> } } UNION
  { GRAPH ?g { ?s <${MEMBER}> ?o } } UNION
  { GRAPH ?g { ?s <${SUB_CLASS_OF}> ?o } }
  ${isBelow(adminBase)}
}`

type Asked = Pick<GraphStore, 'query'>

/**
 * IRIs, except that the subject may be a blank node. Any other line is not part of the answer, for example the message
 * of a store that fails halfway.
 */
const LINE = /^<[^\t]*>\t(?:<[^\t]*>|_:[^\t]+)\t<[^\t]*>\t<[^\t]*>$/

/** The lines of the answer to a query for `?g ?s ?p ?o`. Throws StoreBreak if the store fails. */
export async function linesOfAnswer(store: Asked, question: string, call?: Call): Promise<readonly string[]> {
  const batches = await selectLines(store, question, ['g', 's', 'p', 'o'], call)
  if (isFailure(batches)) throw new StoreBreak(batches)
  const lines: string[] = []
  for await (const batch of batches) {
    for (const line of batch) {
      if (!LINE.test(line)) throw misunderstood()
      lines.push(line)
    }
  }
  return lines
}

/**
 * The lines of all authorizations, in parts that each have all lines of some graphs. A single answer about a million of
 * them would reach the store's time limit and fill the memory. Throws StoreBreak if the store fails.
 */
export async function* authorizationParts(
  store: Asked,
  adminBase: string,
  call?: Call,
): AsyncGenerator<readonly string[]> {
  const few = await linesOfAnswer(store, authorizationsQuery(adminBase), call)
  if (few.length <= MOST_LINES) return yield few
  const rows = await select(store, graphsQuery(adminBase), ['g'], call ?? {})
  if (isFailure(rows)) throw new StoreBreak(rows)
  const graphs = rows.map(([graph]) => graph!.value)
  // A name that SPARQL cannot express can only be read with all others.
  if (!graphs.every(isName)) return yield linesOfAnswer(store, allQuery(adminBase), call)
  for (let at = 0; at < graphs.length; at += GRAPHS_PER_QUERY) {
    yield linesOfAnswer(store, authorizationsIn(graphs.slice(at, at + GRAPHS_PER_QUERY)), call)
  }
}

/** Rethrows errors that are not failures of the store. */
export function problemOf(error: unknown): Problem {
  if (error instanceof StoreBreak) return error.problem
  throw error
}

export const graphIn = (line: string): string => valueOf(line.slice(0, line.indexOf('\t')))

/**
 * The statement on a line, with its graph. Undefined for triple terms as subjects, which Jena allows: they are not
 * authorizations.
 */
export function factIn(line: string): Fact | undefined {
  const [, subject = '', predicate = '', object = ''] = line.split('\t')
  if (subject.startsWith('<<')) return undefined
  return { subject: valueOf(subject), predicate: valueOf(predicate), object: valueOf(object) }
}

function valueOf(field: string): string {
  if (field.startsWith('_:')) return field
  return field.startsWith('<<') || field.includes('\\') ? iriOf(readTsvTerm(field)) : field.slice(1, -1)
}

function iriOf(term: Term | undefined): string {
  if (term?.termType !== 'NamedNode') throw misunderstood()
  return term.value
}

const misunderstood = (): StoreBreak =>
  new StoreBreak(problem('store.failed', 'The triplestore answered the query for authorizations with something else.'))

const BLANKS_PER_TURN = 2000
const [HEX_DIGITS, MODULUS] = [12, 2 ** 48]

const digestOfRules = (key: string, said: string): number =>
  Number.parseInt(hash('sha256', key + said, 'hex').slice(0, HEX_DIGITS), 16)

/**
 * Computes the digests of graphs from their lines in any order: each is the sum over its lines. All lines with the same
 * blank node count as one, since the store chooses the label.
 */
export function makeDigesting(key: string): { take(line: string): void; digests(): Promise<Map<string, number>> } {
  const graphs = new Map<string, number>()
  const blanks = new Map<string, number>()
  const add = (sums: Map<string, number>, of: string, said: string): void =>
    void sums.set(of, ((sums.get(of) ?? 0) + digestOfRules(key, said)) % MODULUS)
  return {
    take(line) {
      const ofGraph = line.indexOf('\t')
      const isBlank = line.startsWith('_:', ofGraph + 1)
      const end = isBlank ? line.indexOf('\t', ofGraph + 1) : ofGraph
      add(isBlank ? blanks : graphs, isBlank ? line.slice(0, end) : graphIn(line), line.slice(end + 1))
    },
    async digests() {
      let count = 0
      for (const [blank, sum] of blanks) {
        add(graphs, graphIn(blank), `_: ${sum}`)
        if (++count % BLANKS_PER_TURN === 0) await eventLoopTurn()
      }
      blanks.clear()
      return graphs
    },
  }
}

/** By graph. */
export async function digestsOfAuthorizations(
  store: Asked,
  { adminBase, digestKey }: { readonly adminBase: string; readonly digestKey: string },
  call?: Call,
): Promise<Map<string, number> | Problem> {
  const { take, digests } = makeDigesting(digestKey)
  try {
    for await (const lines of authorizationParts(store, adminBase, call)) for (const line of lines) take(line)
    return await digests()
  } catch (error) {
    return problemOf(error)
  }
}
