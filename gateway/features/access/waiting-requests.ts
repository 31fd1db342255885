// Finds the requests for access that wait for a decision, for agents with Control.
import type { WaitingRequests } from './waiting-list.js'
import { isFailure } from '../../problem.js'
import { iri, nTriplesTerm } from '../../rdf/graph.js'
import { ACL, LACL } from '../../rdf/vocabulary.js'
import type { Dataspace } from '../../gateway.js'
import { select } from '../../stores/select.js'
import type { Call } from '../../stores/store.js'
import { uriOf } from '../../../versioning/memento/time-map.js'

export const requestsContainer = ({ base }: { readonly base: string }): string => `${base}acl/authorization-requests/`

export const NONE_WAITING: WaitingRequests = { shown: [], hasMore: false }

const MOST = 100
/** Room for several requests of the largest size (access-request.ts). */
const MAX_BYTES = 8 * 1024 * 1024

/**
 * The first requests. Each is complete, since granting it uses all of its values. None if the store does not answer, or
 * has larger ones.
 * @param about a document, which requests may name by its URI; undefined for requests about any document
 */
export async function waitingRequests(
  { admin }: Dataspace,
  about: string | undefined,
  call: Call,
): Promise<WaitingRequests> {
  const wanted = ['requestAgent', 'requestMode', 'requestAccessTo', 'requestAccessToClass', 'requestAgentGroup']
  const query = `SELECT ?g ?p ?o WHERE {
    { SELECT DISTINCT ?g WHERE {
        GRAPH ?g { ?any a <${LACL('AuthorizationRequest')}> .
          ${about === undefined ? '' : `VALUES ?about { ${[about, uriOf(about)].map((one) => nTriplesTerm(iri(one))).join(' ')} } ?any <${LACL('requestAccessTo')}> ?about .`} }
        FILTER(STRSTARTS(STR(?g), ${JSON.stringify(requestsContainer(admin))}))
      } ORDER BY ?g LIMIT ${MOST + 1} }
    GRAPH ?g { ?request ?p ?o }
    FILTER(STR(?request) = CONCAT(STR(?g), "#this"))
    FILTER(?p IN (${wanted.map((name) => `<${LACL(name)}>`).join(', ')}))
  }`
  const rows = await select(admin.store, query, ['g', 'p', 'o'], { ...call, maxBytes: MAX_BYTES })
  if (isFailure(rows)) return { shown: undefined, hasMore: false }
  const found = new Map<string, Map<string, string[]>>()
  for (const [graph, property, value] of rows) {
    if (graph?.termType !== 'NamedNode' || property?.termType !== 'NamedNode' || value?.termType !== 'NamedNode')
      continue
    const about = found.get(graph.value) ?? new Map<string, string[]>()
    const values = about.get(property.value) ?? []
    values.push(value.value)
    found.set(graph.value, about.set(property.value, values))
  }
  const shown = [...found].slice(0, MOST).map(([document, values]) => {
    const of = (name: string): readonly string[] => values.get(LACL(name)) ?? []
    return {
      document,
      agents: [...of('requestAgent'), ...of('requestAgentGroup')],
      modes: of('requestMode').map((mode) => mode.replace(ACL(''), '')),
      on: [...of('requestAccessTo'), ...of('requestAccessToClass')],
    }
  })
  return { shown, hasMore: found.size > MOST }
}
