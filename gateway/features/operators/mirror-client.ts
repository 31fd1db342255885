// Asks a running gateway to verify or sweep, through its management port.
import { request } from 'node:http'
import { WRITE_FIELD } from '../../request/managed.js'
import { MIRROR_LINES, type MirrorLine } from './mirror-endpoints.js'
import type { MirrorOutcome, Report } from '../../mirror/report.js'
import type { CommandFailure } from '../../commands/exit-codes.js'
import { managementError } from '../../commands/management-refusal.js'

const IDLE_MS = 300_000

export interface MirrorRequest {
  readonly action: 'verify' | 'sweep'
  /** The base of the application. */
  readonly application: string
  /** The query endpoint and the repository name that the gateway must have; undefined for any. */
  readonly store: string | undefined
  readonly repository: string | undefined
  readonly force: boolean
}

/** The outcome; undefined if no gateway with this application answers at the port. */
export function askGateway(
  port: number,
  { action, force, ...query }: MirrorRequest,
  report: Report,
): Promise<MirrorOutcome | CommandFailure | undefined> {
  const failed = (detail: string): CommandFailure => ({
    failure: 'gateway.failed',
    detail: `The gateway at port ${port} ${detail}`,
  })
  return new Promise((resolve) => {
    const given = Object.entries({ ...query, ...(force && { force: 'true' }) }).filter(
      ([, value]) => value !== undefined,
    )
    const path = `/mirror/${action}?${new URLSearchParams(given as [string, string][])}`
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers: { [WRITE_FIELD]: '1' },
      timeout: IDLE_MS,
    })
    sent.on('timeout', () => sent.destroy(new Error('it has not answered for 5 minutes')))
    sent.on('error', ({ code, message }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' ? undefined : failed(`broke off: ${message}.`)),
    )
    sent.on('response', (answer) => {
      const isOurs = answer.headers['content-type'] === MIRROR_LINES
      let text = ''
      let last: MirrorLine | undefined
      const take = (line: string): void => {
        last = JSON.parse(line) as MirrorLine
        if (last.event === 'progress' || last.event === 'difference') report(last)
      }
      answer.setEncoding('utf8')
      answer.on('error', ({ message }) => resolve(failed(`broke off: ${message}.`)))
      answer.on('data', (chunk: string) => {
        const lines = (text + chunk).split('\n')
        text = lines.pop()!
        if (isOurs) lines.forEach(take)
        else text = [...lines, text].join(' ')
      })
      answer.on('end', () => {
        if (answer.statusCode === 404) return resolve(undefined)
        if (!isOurs) {
          const reason = managementError(text)
          return resolve(failed(reason ? `refuses: ${reason}` : `answered ${answer.statusCode}: ${text.trim()}`))
        }
        if (last?.event === 'failed') return resolve({ failure: 'mirror.failed', detail: last.detail })
        if (last?.event !== 'end') return resolve(failed('broke off.'))
        resolve(last.outcome)
      })
    })
    sent.end()
  })
}
