// Agents that write to documents at the same time, each with a certificate, and record the responses.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentCertificate } from '../support/certificates.js'
import { makeClient, type Client, type Send } from '../support/client.js'
import { profileOf, ttl } from '../support/world.js'
import type { Site } from './gateway-process.js'
import type { Random } from './random.js'

export interface Write {
  /** Unique: the triples that the write adds contain it. */
  readonly mark: string
  readonly agent: string
  readonly method: 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  readonly document: string
  /** ms since the epoch. An agent's writes do not overlap. */
  readonly sent: number
  readonly ended: number
  /**
   * `done`: 2xx. `refused`: the response says that the gateway has not done it. `unknown`: any other response, or none.
   */
  readonly outcome: 'done' | 'refused' | 'unknown'
  readonly status: number | undefined
}

/** By WebID: the PEM of certificate and key. */
export type Agents = ReadonlyMap<string, string>

const TERM = (name: string): string => `<https://crash.example/terms#${name}>`

/** The triples of PUT and POST, in canonical N-Triples. Bytes and UTF-16 units sort these texts differently. */
export const linesOf = ({ document, mark }: Pick<Write, 'document' | 'mark'>): readonly string[] =>
  [`${TERM('mark')} "${mark}"`, `${TERM('text')} "\u{1F600} ${mark}"`, `${TERM('text')} "\u{FF21} ${mark}"`].map(
    (rest) => `<${document}#${mark}> ${rest} .`,
  )
/** The triple that PATCH adds. It removes the triple of the previous PATCH. */
export const lastLine = ({ document, mark }: Pick<Write, 'document' | 'mark'>): string =>
  `<${document}> ${TERM('last')} "${mark}" .`

function contentOf({ method, document, mark }: Pick<Write, 'method' | 'document' | 'mark'>): Send {
  if (method === 'DELETE') return {}
  if (method !== 'PATCH') {
    const body = linesOf({ document, mark }).join('\n')
    return { fields: { 'Content-Type': 'application/n-triples' }, body }
  }
  const last = `<${document}> ${TERM('last')}`
  const body = `DELETE { ${last} ?last } INSERT { ${lastLine({ document, mark })} } WHERE { OPTIONAL { ${last} ?last } }`
  return { fields: { 'Content-Type': 'application/sparql-update' }, body }
}

const METHODS = ['PUT', 'PUT', 'PUT', 'POST', 'POST', 'POST', 'PATCH', 'PATCH', 'PATCH', 'DELETE'] as const
/** The write had no effect. 404: POST, PATCH or DELETE of a document that does not exist. */
const REFUSED = [404, 503]
/** The gateway does not know whether the store has performed the write. */
const UNKNOWN = [502, 504]

/** The agent sends one write after the other until `stopped`. */
export async function writeUntil(
  stopped: AbortSignal,
  { client, agent, documents }: { client: Client; agent: string; documents: readonly string[] },
  { random, nextMark, writes }: { random: Random; nextMark: () => string; writes: Write[] },
): Promise<void> {
  while (!stopped.aborted) {
    const request = { method: random.one(METHODS), document: random.one(documents), mark: nextMark() }
    const sent = Date.now()
    const answer = await client(request.method, new URL(request.document).pathname, contentOf(request)).catch(
      () => undefined,
    )
    const status = answer?.status
    writes.push({ ...request, agent, sent, ended: Date.now(), status, outcome: outcomeOf(status) })
    // At least one whole ms, so that no two writes of an agent are sent in the same ms.
    await sleep(answer ? random.between(2, 30) : 20)
  }
}

function outcomeOf(status: number | undefined): Write['outcome'] {
  if (status === undefined || UNKNOWN.includes(status)) return 'unknown'
  return status < 300 ? 'done' : 'refused'
}

export const isExpected = ({ outcome, status }: Write): boolean => outcome !== 'refused' || REFUSED.includes(status!)

export const clientOf = ({ port, folder }: Site, pem: string): Client =>
  makeClient({ port, ca: readFileSync(join(folder, 'certs/server.pem'), 'utf8'), pem })

export const ownerOf = (site: Site): Client =>
  clientOf(site, readFileSync(join(site.folder, 'certs/owner.pem'), 'utf8'))

/** As the owner, creates agents that may write. */
export async function makeAgents(site: Site, count: number): Promise<Agents> {
  const owner = ownerOf(site)
  const does = async (method: string, iri: string, body: string): Promise<void> => {
    const { status, text } = await owner(method, new URL(iri).pathname, ttl(body))
    if (status >= 300) throw new Error(`${method} ${iri}: ${status} ${text}`)
  }
  const agents = new Map<string, string>()
  for (let n = 1; n <= count; n++) {
    const webId = `${site.admin}acl/agents/writer-${n}/#this`
    const pem = await agentCertificate(site.port, webId, `writer ${n}`)
    await does('PUT', webId.split('#', 1)[0]!, profileOf(webId, pem))
    await does('POST', `${site.admin}acl/groups/writers/`, `<#this> <http://xmlns.com/foaf/0.1/member> <${webId}> .`)
    agents.set(webId, pem)
  }
  owner.close()
  return agents
}
