// Verifying and sweeping while the gateway runs, for operators: streams the progress.
import { PassThrough } from 'node:stream'
import type { Response } from '../../http/exchange.js'
import { membersOf, type Application, type Dataspace, type Gateway } from '../../gateway.js'
import { sweep, verify } from '../../mirror/mirror.js'
import type { MirrorEvent, MirrorOutcome } from '../../mirror/report.js'
import { isSameDataset } from '../../configuration/conflicts.js'
import { isFailure, type Failure } from '../../problem.js'

/** Each line of the answer is an event in JSON; the last one is `end` or `failed`. */
export type MirrorLine =
  | MirrorEvent
  | { readonly event: 'end'; readonly outcome: MirrorOutcome }
  | { readonly event: 'failed'; readonly detail: string }

export const MIRROR_LINES = 'application/x-ndjson'

type Refusal = Failure<'application.absent' | 'mirror.refused'>

const refuse = (detail: string): Refusal => ({ failure: 'mirror.refused', detail })

/** The query parameters: `application` (a base); `store` and `repository`, if the gateway must have these; `force`. */
type Endpoint = (query: URLSearchParams, signal: AbortSignal) => Response | Refusal

/** @param forget clears the caches of a dataspace whose stores were changed behind the gateway */
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
      if (!member) {
        const bases = members.map(({ application }) => application.base).join(', ')
        return { failure: 'application.absent', detail: `No application has this base. Give one of ${bases}.` }
      }
      const { application, dataspace } = member
      const { mirrored } = application
      if (!mirrored) return refuse(`${base} has no history.`)
      const other = whyAnother(application, mirrored.repository.name, query)
      if (other !== undefined) return refuse(other)
      if (busy.has(mirrored.base)) return refuse(`${base} is already being verified or swept. Try again later.`)
      busy.add(mirrored.base)
      const body = new PassThrough()
      const report = (line: MirrorLine): void => void body.write(`${JSON.stringify(line)}\n`)
      const run = async (): Promise<void> => {
        const outcome = await act(mirrored, { locks, report, signal, force: query.get('force') === 'true' })
        if (isFailure(outcome)) report({ event: 'failed', detail: outcome.detail })
        else {
          if (Object.keys(outcome.differences).length > 0) await forget(dataspace)
          application.alignment?.found(act === verify ? (outcome.differences['missing in the store'] ?? 0) : 0)
          report({ event: 'end', outcome })
        }
        body.end()
      }
      run()
        .catch((error: unknown) => {
          log.error({ err: error, base }, 'verifying or sweeping failed')
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

/** The difference, if the request is about another store or repository than the gateway's. */
function whyAnother({ base, service }: Application, repository: string, query: URLSearchParams): string | undefined {
  const [store, named] = [query.get('store'), query.get('repository')]
  if (store !== null && !isSameDataset(store, service.query)) {
    const own = service.query ?? 'embedded in the gateway'
    return `the store of ${base} is ${own}, not ${store}. Give the settings of the gateway, or leave the store out.`
  }
  if (named === null || named.toLowerCase() === repository.toLowerCase()) return undefined
  return `the repository of ${base} is ${repository}, not ${named}. Give the settings of the gateway.`
}
