// In charge of the operators' listener (loopback only): whether the gateway lives, and whether it is ready to serve.
import type { Request, Response } from './exchange.js'
import type { Dataspace } from './gateway.js'
import { isProblem } from './problem.js'

const json = (status: number, value: unknown, fields: Response['fields'] = []): Response => {
  const body = `${JSON.stringify(value, null, 2)}\n`
  return {
    status,
    fields: [
      ['Content-Type', 'application/json'],
      ['Content-Length', String(Buffer.byteLength(body))],
      ['Cache-Control', 'no-store'],
      ...fields,
    ],
    body,
  }
}

const PROBE_MS = 5_000

export function makeManagement(dataspaces: readonly Dataspace[]): (request: Request) => Promise<Response> {
  const ready = async (): Promise<Response> => {
    const checks = await Promise.all(dataspaces.flatMap(checksOf))
    const isReady = checks.every(({ problem }) => problem === undefined)
    return json(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks })
  }
  return async (request) => {
    const path = request.requestTarget.split('?', 1)[0]
    const known = path === '/health/live' || path === '/health/ready'
    if (!known) return json(404, { error: 'There are /health/live and /health/ready.' })
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return json(405, { error: 'GET and HEAD only.' }, [['Allow', 'GET, HEAD']])
    }
    const answer = path === '/health/live' ? json(200, { status: 'live' }) : await ready()
    return request.method === 'HEAD' ? { status: answer.status, fields: answer.fields } : answer
  }
}

interface Check {
  readonly what: string
  readonly problem?: string
}

const checksOf = ({ endUser, admin, access }: Dataspace): Promise<Check>[] => [
  ...[endUser, admin].map(async ({ base, store }): Promise<Check> => {
    const failed = await store.ready({ signal: AbortSignal.timeout(PROBE_MS) })
    return { what: `store of ${base} (${store.name})`, ...(failed && { problem: failed.detail }) }
  }),
  (async (): Promise<Check> => {
    const index = access.current()
    return { what: `authorizations of ${endUser.base}`, ...(isProblem(index) && { problem: index.detail }) }
  })(),
]
