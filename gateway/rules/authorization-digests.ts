// In charge of comparing authorizations with those read before: a digest for each graph that has any.
import { createHash } from 'node:crypto'
import { isFailure, type Problem } from '../problem.js'
import { nTriplesTerm, type Term } from '../rdf/graph.js'
import { selectBatches } from '../stores/select.js'
import { StoreBreak, type GraphStore } from '../stores/store.js'
import { authorizationsQuery } from './load-authorizations.js'

/** By graph, in constant memory for each. Blank nodes count as one: the store labels them as it likes. */
export async function digestsOfAuthorizations(
  store: Pick<GraphStore, 'query'>,
  adminBase: string,
): Promise<ReadonlyMap<string, number> | Problem> {
  const digests = new Map<string, number>()
  try {
    const batches = await selectBatches(store, authorizationsQuery(adminBase), ['g', 's', 'p', 'o'])
    if (isFailure(batches)) return batches
    for await (const rows of batches) {
      for (const [graph, ...terms] of rows) {
        if (graph) digests.set(graph.value, ((digests.get(graph.value) ?? 0) + numberOf(terms)) % MODULUS)
      }
    }
    return digests
  } catch (error) {
    if (error instanceof StoreBreak) return error.problem
    throw error
  }
}

const BYTES = 6
const MODULUS = 2 ** (8 * BYTES)

const numberOf = (terms: readonly (Term | undefined)[]): number =>
  createHash('sha256')
    .update(
      terms.map((term) => (term === undefined || term.termType === 'BlankNode' ? '' : nTriplesTerm(term))).join(' '),
    )
    .digest()
    .readUIntLE(0, BYTES)
