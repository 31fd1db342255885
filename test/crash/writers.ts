// In charge of agents who write to documents at the same time, each with a certificate, and of what they saw of it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeClientCertificate } from '../../gateway/agents/make-certificate.js'
import { makeClient, type Client, type Send } from '../support/client.js'
import { profileOf, ttl } from '../support/world.js'
import type { Site } from './gateway-process.js'
import type { Random } from './random.js'

export interface Write {
  /** Unique: what it writes is named after it. */
  readonly mark: string
  readonly agent: string
  readonly method: 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  readonly document: string
  /** ms since the epoch. An agent's writes do not overlap. */
  readonly sent: number
  readonly ended: number
  /** `done`: 2xx. `refused`: the gateway said that it had not done it. `unknown`: anything else, or no answer. */
  readonly outcome: 'done' | 'refused' | 'unknown'
  readonly status: number | undefined
}

/** Agents by WebID, with the PEM of certificate and key. */
export type Agents = ReadonlyMap<string, string>

const TERM = (name: string): string => `<https://crash.example/terms#${name}>`

/** What PUT and POST write, in canonical N-Triples: bytes and UTF-16 units sort the two texts differently. */
export const linesOf = ({ document, mark }: Pick<Write, 'document' | 'mark'>): readonly string[] =>
  [`${TERM('mark')} "${mark}"`, `${TERM('text')} "\u{1F600} ${mark}"`, `${TERM('text')} "\u{FF21} ${mark}"`].map(
    (rest) => `<${document}#${mark}> ${rest} .`,
  )
/** What PATCH adds, and takes from the PATCH before it. */
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
/** Refusals: nothing was done. 404: POST, PATCH or DELETE of a document that was not there. */
const REFUSED = [404, 503]
/** The gateway cannot tell what the store did. */
const UNKNOWN = [502, 504]

/** An agent writes, one request after the other, until `stopped`. */
export async function writeUntil(
  stopped: AbortSignal,
  { client, agent, documents }: { client: Client; agent: string; documents: readonly string[] },
  { random, nextMark, writes }: { random: Random; nextMark: () => string; writes: Write[] },
): Promise<void> {
  while (!stopped.aborted) {
    const wish = { method: random.one(METHODS), document: random.one(documents), mark: nextMark() }
    const sent = Date.now()
    const answer = await client(wish.method, new URL(wish.document).pathname, contentOf(wish)).catch(() => undefined)
    const status = answer?.status
    writes.push({ ...wish, agent, sent, ended: Date.now(), status, outcome: outcomeOf(status) })
    // A pause of a whole ms at least: no two writes of an agent share one.
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

/** Makes agents who may write, as the owner. */
export async function makeAgents(site: Site, count: number): Promise<Agents> {
  const owner = ownerOf(site)
  const does = async (method: string, iri: string, body: string): Promise<void> => {
    const { status, text } = await owner(method, new URL(iri).pathname, ttl(body))
    if (status >= 300) throw new Error(`${method} ${iri}: ${status} ${text}`)
  }
  const agents = new Map<string, string>()
  for (let n = 1; n <= count; n++) {
    const webId = `${site.admin}acl/agents/writer-${n}/#this`
    const pem = await makeClientCertificate(webId, `writer ${n}`, Date.now())
    await does('PUT', webId.split('#', 1)[0]!, profileOf(webId, pem))
    await does('POST', `${site.admin}acl/groups/writers/`, `<#this> <http://xmlns.com/foaf/0.1/member> <${webId}> .`)
    agents.set(webId, pem)
  }
  owner.close()
  return agents
}
