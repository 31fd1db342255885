// SPARQL at the store's own URLs: as at the SPARQL endpoint (spec 4.2) and with the same right, but, as in Fuseki, with
// one URL for queries and one for updates. These are for programs, so they have no pages.
import type { Response } from '../../http/exchange.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Decided, EndpointTarget } from '../../request/route.js'
import { sparql } from '../../sparql/endpoint.js'
import type { SparqlContent } from '../../sparql/queries/request.js'

type DecidedSparql = Decided<EndpointTarget, SparqlContent>

/**
 * RFC 9110 §12.4.1 lets a server disregard an Accept that it cannot satisfy. For results Fuseki does so, and scripts
 * that send any Accept rely on it.
 */
export async function sparqlOfStore(decided: DecidedSparql): Promise<Response | Problem> {
  const answer = await sparql(decided)
  if (!isFailure(answer) || answer.failure !== 'negotiation.not-acceptable') return answer
  return sparql({ ...decided, context: { ...decided.context, accept: undefined } })
}

const only =
  (other: 'query' | 'update', detail: string) =>
  (decided: DecidedSparql): Promise<Response | Problem> => {
    const { content } = decided
    const isOther = !isFailure(content) && content.kind === other
    return isOther ? Promise.resolve(problem('request.malformed', detail)) : sparqlOfStore(decided)
  }

export const queryDataset = only('update', 'This URL is for queries. Send updates to the URL that ends with /update.')
export const updateDataset = only('query', 'This URL is for updates. Send queries to the URL that ends with /query.')
