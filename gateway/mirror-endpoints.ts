// In charge of verifying and sweeping on behalf of operators while the gateway runs: what happens is told as it happens.
import { PassThrough } from 'node:stream'
import type { Response } from './exchange.js'
import type { Dataspace, Gateway } from './gateway.js'
import { sweep, verify, type MirrorEvent, type Outcome } from './mirror.js'
import { isProblem } from './problem.js'

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

/** @param base of the application */
type Endpoint = (base: string | null, signal: AbortSignal) => Response | Refusal

/** @param forget drops what is kept of a dataspace whose stores turned out to be changed */
export function makeMirrorEndpoints(
  dataspaces: readonly Dataspace[],
  { locks, log }: Pick<Gateway, 'locks' | 'log'>,
  forget: (dataspace: Dataspace) => Promise<unknown>,
): Readonly<Record<'verify' | 'sweep', Endpoint>> {
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const busy = new Set<string>()

  const endpoint =
    (act: typeof verify): Endpoint =>
    (base, signal) => {
      const application = applications.find((one) => one.base === base)
      if (!application) return { refused: 404, error: `?application= is one of ${basesOf(applications)}.` }
      const { mirrored, dataspace } = application
      if (!mirrored) return { refused: 409, error: `${base} is not versioned.` }
      if (busy.has(mirrored.base)) return { refused: 409, error: `${base} is being verified or swept already.` }
      busy.add(mirrored.base)
      const body = new PassThrough()
      const tell = (line: MirrorLine): void => void body.write(`${JSON.stringify(line)}\n`)
      const run = async (): Promise<void> => {
        const outcome = await act(mirrored, locks, tell, signal)
        if (isProblem(outcome)) tell({ event: 'failed', detail: outcome.detail })
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

const basesOf = (applications: readonly { readonly base: string }[]): string =>
  applications.map(({ base }) => base).join(', ')
