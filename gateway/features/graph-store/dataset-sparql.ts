// SPARQL at the store's own URLs: the same as the SPARQL endpoint (spec 4.2), under the same right, with one URL for
// queries and one for updates, as Fuseki has them. Programs use them: no pages.
import type { Response } from '../../http/exchange.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Decided, EndpointTarget } from '../../request/route.js'
import { sparql } from '../../sparql/endpoint.js'
import type { SparqlContent } from '../../sparql/queries/request.js'

type DecidedSparql = Decided<EndpointTarget, SparqlContent>

/**
 * RFC 9110 §12.4.1 lets a server disregard what it cannot give. Fuseki does so with results: scripts that send any
 * Accept get them.
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

export const queryDataset = only('update', 'This URL answers queries: send updates to the one that ends with /update.')
export const updateDataset = only('query', 'This URL takes updates: send queries to the one that ends with /query.')
