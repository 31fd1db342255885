// The statements that make up authorizations: the question for them, and each line of the answer with its digest.
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
 * The statements that make up authorizations in the graphs under the admin base, or in these of them, and no others.
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

/** The answer to such a question, `?g ?s ?p ?o`, in batches of lines. Throws StoreBreak where it breaks off. */
export const authorizationLines = (
  store: Pick<GraphStore, 'query'>,
  question: string,
  call?: Call,
): Promise<AsyncIterable<readonly string[]> | Problem> => selectLines(store, question, ['g', 's', 'p', 'o'], call)

/**
 * IRIs, and a blank node as the subject: any other line is none of the answer, such as what a store says when it fails
 * in the midst.
 */
const LINE = /^<[^\t]*>\t(?:<[^\t]*>|_:[^\t]+)\t<[^\t]*>\t<[^\t]*>$/

/** Does the work on an answer; a failure where it breaks off. */
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

/** Throws what is no failure of the store. */
export function problemOf(error: unknown): Problem {
  if (error instanceof StoreBreak) return error.problem
  throw error
}

export const graphIn = (line: string): string => valueOf(line.slice(0, line.indexOf('\t')))

/**
 * What a line says of its graph. Undefined: Jena takes triple terms as subjects too, and what they say is no
 * authorization.
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
  new StoreBreak(
    problem('store.failed', 'The triplestore was asked for the authorizations and answered with something else.'),
  )

const BLANKS_PER_TURN = 2000
const SECRET = randomBytes(16).toString('hex')
const [HEX_DIGITS, MODULUS] = [12, 2 ** 48]

const digestOfRules = (said: string): number =>
  Number.parseInt(hash('sha256', SECRET + said, 'hex').slice(0, HEX_DIGITS), 16)

/**
 * The digests of graphs, from their lines in any order: of each the sum of those of its lines. The store labels blank
 * nodes as it likes: what the lines of one say together counts as one line.
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
