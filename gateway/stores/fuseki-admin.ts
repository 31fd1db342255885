// The administration of a Fuseki over HTTP (`/$/`): starts the compaction of a TDB2 dataset, and finds out when it has
// ended.
import { isFailure } from '../problem.js'
import { type Credentials, endpointFieldsOf } from './http-endpoints.js'
import { openExchange } from './http-exchange.js'
import { STORE_LIMITS } from './http-store.js'
import type { Sent } from './whole-response.js'

/** A task of Fuseki, as `/$/tasks` lists it. */
export interface FusekiTask {
  readonly task?: string
  readonly taskId: string
  readonly started?: string
  readonly finished?: string
  readonly success?: boolean
}

/** Returns values, or a sentence with the reason why there is none. */
export interface FusekiAdmin {
  readonly dataset: string
  tasks(): Promise<readonly FusekiTask[] | string>
  /** The id of the task. */
  compact(): Promise<{ readonly taskId: string } | string>
  /** True once the store has carried out an update that changes nothing. */
  writes(signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

export interface AdministeredService {
  readonly update?: string
  readonly graphStore?: string
  readonly credentials?: Credentials
}

const MOST_BYTES = 1024 * 1024
const ASKING_MS = 10_000
/** During a compaction, Fuseki delays an update until it has copied everything. */
const HELD_BACK_MS = 86_400_000

/** Undefined if the address of the store is not that of a Fuseki dataset. */
export function openFusekiAdmin({ update, graphStore, credentials }: AdministeredService): FusekiAdmin | undefined {
  if (update === undefined || !graphStore?.endsWith('/data')) return undefined
  const dataset = graphStore.slice(0, -'/data'.length)
  const name = dataset.slice(dataset.lastIndexOf('/') + 1)
  const patience = { headersTimeout: HELD_BACK_MS, totalTimeout: HELD_BACK_MS }
  const exchange = openExchange({ ...STORE_LIMITS, ...patience, connections: 2 })
  const identity = endpointFieldsOf(credentials)
  const send = (method: Sent['method'], url: URL, signal: AbortSignal, body?: string) =>
    exchange.collect(
      {
        method,
        url,
        fields: { ...identity, ...(body !== undefined && { 'content-type': 'application/sparql-update' }) },
        ...(body !== undefined && { body }),
        safe: method === 'GET',
      },
      MOST_BYTES,
      signal,
    )
  const ask = async (method: Sent['method'], path: string): Promise<unknown> => {
    const url = new URL(`$/${path}`, dataset)
    const answer = await send(method, url, AbortSignal.timeout(ASKING_MS))
    if (isFailure(answer)) return `${url.href}: ${answer.detail}`
    const { statusCode, bytes } = answer
    const text = String(bytes ?? '')
    if (statusCode !== 200)
      return `${url.href} answers ${statusCode}. ${FIXES[statusCode] ?? text.trim().slice(0, 200)}`
    try {
      return JSON.parse(text)
    } catch {
      return `${url.href} is not the administration interface of Fuseki.`
    }
  }
  return {
    dataset,
    async tasks() {
      const found = await ask('GET', 'tasks')
      if (typeof found === 'string') return found
      return Array.isArray(found) ? found : `${dataset} is no dataset of Fuseki.`
    },
    async compact() {
      const found = await ask('POST', `compact/${name}?deleteOld=true`)
      if (typeof found === 'string') return found
      const taskId = typeof found === 'object' && found !== null && 'taskId' in found ? found.taskId : undefined
      return typeof taskId === 'string' ? { taskId } : `${dataset}: Fuseki did not start its compaction.`
    },
    async writes(signal) {
      const answer = await send('POST', new URL(update), signal, NO_CHANGE)
      return !isFailure(answer) && answer.statusCode < 300
    },
    close: () => exchange.close(),
  }
}

const NO_CHANGE = 'DELETE WHERE { GRAPH <urn:triplegate:maintenance> { ?s ?p ?o } }'

const FIXES: Readonly<Record<number, string>> = {
  401: 'Give --backend-user and --backend-password of an administrator of Fuseki.',
  403: 'Allow the gateway /$/ in shiro.ini of Fuseki.',
  404: 'Start Fuseki with its administration (fuseki-server).',
}
