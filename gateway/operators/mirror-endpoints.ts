// In charge of verifying and sweeping on behalf of operators while the gateway runs: what happens is told as it happens.
import { PassThrough } from 'node:stream'
import type { Response } from '../http/exchange.js'
import { membersOf, type Application, type Dataspace, type Gateway } from '../gateway.js'
import { sweep, verify, type MirrorEvent, type Outcome } from '../mirror/mirror.js'
import { isSameDataset } from '../configuration/conflicts.js'
import { isFailure } from '../problem.js'

/** What is answered, as JSON in a line each: the last one is `end` or `failed`. */
export type MirrorLine =
  | MirrorEvent
  | { readonly event: 'end'; readonly outcome: Outcome }
  | { readonly event: 'failed'; readonly detail: string }

export const MIRROR_LINES = 'application/x-ndjson'

interface Refusal {
  readonly refused: 404 | 409
  readonly error: string
}

/** The query: `application`, its base; `store` and `repository` where they have to be these; `force`. */
type Endpoint = (query: URLSearchParams, signal: AbortSignal) => Response | Refusal

/** @param forget drops what is kept of a dataspace whose stores turned out to be changed */
export function makeMirrorEndpoints(
  dataspaces: readonly Dataspace[],
  { locks, log }: Pick<Gateway, 'locks' | 'log'>,
  forget: (dataspace: Dataspace) => Promise<unknown>,
): Readonly<Record<'verify' | 'sweep', Endpoint>> {
  const members = membersOf(dataspaces)
  const busy = new Set<string>()

  const endpoint =
    (act: typeof sweep): Endpoint =>
    (query, signal) => {
      const base = query.get('application')
      const member = members.find(({ application }) => application.base === base)
      if (!member)
        return {
          refused: 404,
          error: `?application= is one of ${basesOf(members.map(({ application }) => application))}.`,
        }
      const { application, dataspace } = member
      const { mirrored } = application
      if (!mirrored) return { refused: 409, error: `${base} is not versioned.` }
      const other = whyOther(application, mirrored.repository.name, query)
      if (other !== undefined) return { refused: 409, error: other }
      if (busy.has(mirrored.base)) return { refused: 409, error: `${base} is being verified or swept already.` }
      busy.add(mirrored.base)
      const body = new PassThrough()
      const tell = (line: MirrorLine): void => void body.write(`${JSON.stringify(line)}\n`)
      const run = async (): Promise<void> => {
        const outcome = await act(mirrored, locks, tell, signal, query.get('force') === 'true')
        if (isFailure(outcome)) tell({ event: 'failed', detail: outcome.detail })
        else {
          if (Object.keys(outcome.differences).length > 0) await forget(dataspace)
          application.alignment?.found(act === verify ? (outcome.differences['missing in the store'] ?? 0) : 0)
          tell({ event: 'end', outcome })
        }
        body.end()
      }
      run()
        .catch((error: unknown) => {
          log.error({ err: error, base }, 'the mirror could not be looked after')
          body.destroy()
        })
        .finally(() => busy.delete(mirrored.base))
      return {
        status: 200,
        fields: [
          ['Content-Type', MIRROR_LINES],
          ['Cache-Control', 'no-store'],
        ],
        body,
      }
    }

  return { verify: endpoint(verify), sweep: endpoint(sweep) }
}

/** Why those who ask mean another store or repository than the gateway has. */
function whyOther({ base, service }: Application, repository: string, query: URLSearchParams): string | undefined {
  const [store, named] = [query.get('store'), query.get('repository')]
  if (store !== null && !isSameDataset(store, service.query)) {
    const own = service.query ?? 'one within the gateway'
    return `the store of ${base} is ${own}, not ${store}. Give the settings of the gateway, or leave the store out.`
  }
  if (named === null || named.toLowerCase() === repository.toLowerCase()) return undefined
  return `the repository of ${base} is ${repository}, not ${named}. Give the settings of the gateway.`
}

const basesOf = (applications: readonly { readonly base: string }[]): string =>
  applications.map(({ base }) => base).join(', ')
