// Queries the statements that make up authorizations, and digests the lines of the answer.
import { hash, randomBytes } from 'node:crypto'
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { ACCESS_PREDICATES, AUTHORIZATION, RDF_TYPE } from '../../policies/vocabulary.js'
import type { Fact } from '../../policies/authorizations/authorization.js'
import type { Term } from '../rdf/graph.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readTsvTerm } from '../rdf/read-sparql-results.js'
import { selectLines } from '../stores/select.js'
import { StoreBreak, type Call, type GraphStore } from '../stores/store.js'

/**
 * Selects exactly the statements that make up authorizations, in the graphs under the admin base or only in `graphs`.
 */
export const authorizationsQuery = (adminBase: string, graphs?: readonly string[]): string => `
SELECT ?g ?s ?p ?o WHERE {${graphs ? ` VALUES ?g { ${graphs.map((graph) => `<${graph}>`).join(' ')} }` : ''}
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

/** The answer to such a query, `?g ?s ?p ?o`, in batches of lines. Throws StoreBreak if it breaks off. */
export const authorizationLines = (
  store: Pick<GraphStore, 'query'>,
  question: string,
  call?: Call,
): Promise<AsyncIterable<readonly string[]> | Problem> => selectLines(store, question, ['g', 's', 'p', 'o'], call)

/**
 * IRIs, except that the subject may be a blank node. Any other line is not part of the answer, for example the message
 * of a store that fails halfway.
 */
const LINE = /^<[^\t]*>\t(?:<[^\t]*>|_:[^\t]+)\t<[^\t]*>\t<[^\t]*>$/

/** Runs the work on each line of an answer. Fails if the answer breaks off. */
export async function onAnswer<T>(
  lines: Promise<AsyncIterable<readonly string[]> | Problem>,
  work: (line: string) => void,
  result: () => T | Promise<T>,
): Promise<T | Problem> {
  try {
    const batches = await lines
    if (isFailure(batches)) return batches
    for await (const batch of batches) {
      for (const line of batch) {
        if (!LINE.test(line)) throw misunderstood()
        work(line)
      }
    }
    return await result()
  } catch (error) {
    return problemOf(error)
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
const SECRET = randomBytes(16).toString('hex')
const [HEX_DIGITS, MODULUS] = [12, 2 ** 48]

const digestOfRules = (said: string): number =>
  Number.parseInt(hash('sha256', SECRET + said, 'hex').slice(0, HEX_DIGITS), 16)

/**
 * Computes the digests of graphs from their lines in any order: each is the sum over its lines. All lines with the same
 * blank node count as one, since the store chooses the label.
 */
export function makeDigesting(): { take(line: string): void; digests(): Promise<Map<string, number>> } {
  const graphs = new Map<string, number>()
  const blanks = new Map<string, number>()
  const add = (sums: Map<string, number>, of: string, said: string): void =>
    void sums.set(of, ((sums.get(of) ?? 0) + digestOfRules(said)) % MODULUS)
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
export function digestsOfAuthorizations(
  store: Pick<GraphStore, 'query'>,
  adminBase: string,
  call?: Call,
): Promise<Map<string, number> | Problem> {
  const { take, digests } = makeDigesting()
  return onAnswer(authorizationLines(store, authorizationsQuery(adminBase), call), take, digests)
}
