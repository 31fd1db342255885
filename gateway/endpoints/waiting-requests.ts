// In charge of the requests for access that wait for a decision: listed for agents with Control.
import type { WaitingRequest } from '../pages/waiting-list.js'
import { isFailure, type Problem } from '../problem.js'
import { iri, nTriplesTerm } from '../rdf/graph.js'
import { ACL, LACL } from '../rdf/vocabulary.js'
import type { Dataspace } from '../gateway.js'
import { select } from '../stores/select.js'

export const requestsContainer = ({ base }: { readonly base: string }): string => `${base}acl/authorization-requests/`

const MOST_ROWS = 2000
const MOST = 100
const MAX_BYTES = 1024 * 1024

/** @param about a document; undefined for the requests about every one */
export async function waitingRequests(
  { admin }: Dataspace,
  about: string | undefined,
): Promise<readonly WaitingRequest[] | Problem> {
  const wanted = ['requestAgent', 'requestMode', 'requestAccessTo', 'requestAccessToClass', 'requestAgentGroup']
  const query = `SELECT ?g ?p ?o WHERE {
    GRAPH ?g { ?request a <${LACL('AuthorizationRequest')}> ; ?p ?o .
      ${about === undefined ? '' : `?request <${LACL('requestAccessTo')}> ${nTriplesTerm(iri(about))} .`} }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(requestsContainer(admin))}))
    FILTER(?p IN (${wanted.map((name) => `<${LACL(name)}>`).join(', ')}))
  } LIMIT ${MOST_ROWS}`
  const rows = await select(admin.store, query, ['g', 'p', 'o'], { maxBytes: MAX_BYTES })
  if (isFailure(rows)) return rows
  const found = new Map<string, Map<string, string[]>>()
  for (const [graph, property, value] of rows) {
    if (graph?.termType !== 'NamedNode' || property?.termType !== 'NamedNode' || !value) continue
    const about = found.get(graph.value) ?? new Map<string, string[]>()
    found.set(graph.value, about)
    about.set(property.value, [...(about.get(property.value) ?? []), value.value])
  }
  return [...found].slice(0, MOST).map(([document, values]) => {
    const of = (name: string): readonly string[] => values.get(LACL(name)) ?? []
    return {
      document,
      agents: [...of('requestAgent'), ...of('requestAgentGroup')],
      modes: of('requestMode').map((mode) => mode.replace(ACL(''), '')),
      on: [...of('requestAccessTo'), ...of('requestAccessToClass')],
    }
  })
}
