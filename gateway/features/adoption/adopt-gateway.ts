// The gateway as `triplegate adopt` uses it: queries and writes as the owner, retried while the gateway is busy or
// restarts; and the names of its endpoints.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { uriOf } from '../../../versioning/memento/time-map.js'
import type { AdoptionWriting } from './carry-out.js'
import { CHANGED } from './take-back.js'
import type { JoinOutcome } from './joined.js'
import { makeEndpointNames, type EndpointNames } from '../../documents/endpoint-names.js'
import { isFailure, problem } from '../../problem.js'
import { readNTriples } from '../../rdf/read.js'
import { DH, RDFS } from '../../rdf/vocabulary.js'
import type { GraphStore } from '../../stores/store.js'
import type { CommandFailure } from '../../commands/exit-codes.js'
import type { GatewayAnswer, GatewayClient } from '../../commands/gateway-client.js'
import { gatewayRefusal } from '../../commands/gateway-refusal.js'

/** The time limit for one answer, in ms; the gateway has its own limits. */
export const ADOPTION_PATIENCE_MS = 900_000

/** How often a busy or unreachable gateway is asked again, and the longest pause in seconds. */
const TRIES = 30
const LONGEST_S = 10

interface Sent {
  readonly method: string
  /** Relative to the base. */
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  readonly text: string
}

interface Answered extends GatewayAnswer {
  /** An earlier try, whose answer was lost, may have had an effect. */
  readonly isRepeated: boolean
}

/** @param isKnown the gateway has answered before, so it is only temporarily unreachable */
async function send(client: GatewayClient, sent: Sent, isKnown = true): Promise<Answered | CommandFailure> {
  const { method, path, fields, text } = sent
  for (let tried = 1; ; tried++) {
    const answer = await client.send(method, path, fields, text === '' ? undefined : Buffer.from(text))
    const isAway = isFailure(answer) && answer.failure === 'gateway.unreachable' && isKnown
    if ((!isAway && (isFailure(answer) || answer.status !== 503)) || tried === TRIES)
      return isFailure(answer) ? answer : { ...answer, isRepeated: tried > 1 }
    const seconds = isFailure(answer) ? tried : Number(answer.fields['retry-after'] ?? 1)
    await sleep(1_000 * Math.min(LONGEST_S, seconds))
  }
}

/** A comment that makes each query new: cached answers may predate a write that bypassed the gateway. */
const THIS_RUN = `# ${randomUUID()}`

/** The store as the gateway shows it to the owner, who may read every graph. */
export const storeThrough = (client: GatewayClient): Pick<GraphStore, 'query'> => ({
  async query(sparql, accept) {
    const fields = { 'Content-Type': 'application/sparql-query', Accept: accept }
    const answer = await send(client, { method: 'POST', path: 'sparql', fields, text: `${sparql}\n${THIS_RUN}` })
    if (isFailure(answer)) return problem('store.failed', answer.detail)
    if (answer.status !== 200)
      return problem(answer.status === 504 ? 'store.time' : 'store.failed', gatewayRefusal(answer, client).detail)
    return (async function* () {
      yield await Promise.resolve(answer.body)
    })()
  },
})

export function writingThrough(clients: Readonly<Record<string, GatewayClient>>, own: GatewayClient): AdoptionWriting {
  const pathOf = (document: string): string => uriOf(document).slice(own.connection.url.href.length)
  const update = { method: 'POST', path: 'sparql', fields: { 'Content-Type': 'application/sparql-update' } }
  const container = {
    method: 'PUT',
    fields: { 'Content-Type': 'text/turtle', 'If-None-Match': '*' },
    text: `<> a <${DH('Container')}> .`,
  }
  return {
    update: async (base, text) => outcomeOf(await send(clients[base]!, { ...update, text }), clients[base]!),
    async createContainer(document) {
      const answer = await send(own, { ...container, path: pathOf(document) })
      if (isFailure(answer)) return answer
      const { etag } = answer.fields
      if (answer.status === 201 && etag !== undefined) return { etag }
      if (answer.status !== 412) return outcomeOf(answer, own)
      // An earlier try may have created it, or another agent.
      return answer.isRepeated ? undefined : { refusal: 'another agent has created it meanwhile' }
    },
    async remove(document, etag) {
      const fields: Record<string, string> = etag === undefined ? {} : { 'If-Match': etag }
      const answer = await send(own, { method: 'DELETE', path: pathOf(document), fields, text: '' })
      if (!isFailure(answer) && answer.status === 412) return { refusal: CHANGED }
      return outcomeOf(answer, own, [404])
    },
  }
}

function outcomeOf(
  answer: Answered | CommandFailure,
  client: GatewayClient,
  fine: readonly number[] = [],
): JoinOutcome {
  if (isFailure(answer)) return answer
  if (answer.status < 300 || fine.includes(answer.status)) return undefined
  const refused = gatewayRefusal(answer, client)
  if (answer.status === 503) return refused
  return { refusal: refused.detail, isUnclear: answer.isRepeated || answer.status >= 500 }
}

/** Also checks that the gateway answers, and as which agent it knows the command. */
export async function endpointsAt(
  client: GatewayClient,
  bases: readonly string[],
  names: readonly string[],
): Promise<EndpointNames | CommandFailure> {
  const accept = { Accept: 'application/n-triples' }
  const answer = await send(client, { method: 'GET', path: 'sparql', fields: accept, text: '' }, false)
  if (isFailure(answer)) return answer
  if (answer.status !== 200) return gatewayRefusal(answer, client)
  const described = readNTriples(answer.body.toString()) ?? []
  // The URLs of the store itself.
  const datasets = described.flatMap(({ predicate, object }) =>
    predicate.value === RDFS('seeAlso') ? [object.value] : [],
  )
  return makeEndpointNames(bases, names, datasets)
}
