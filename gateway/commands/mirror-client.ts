// In charge of having a running gateway verify or sweep, through its operators' listener.
import { request } from 'node:http'
import { MIRROR_LINES, type MirrorLine } from '../operators/mirror-endpoints.js'
import type { MirrorOutcome, Report } from '../mirror/report.js'
import { problem, type Problem } from '../problem.js'

const IDLE_MS = 300_000

export interface Asked {
  readonly action: 'verify' | 'sweep'
  /** The base. */
  readonly application: string
  /** The query endpoint and the name of the repository, where the gateway has to have these. */
  readonly store: string | undefined
  readonly repository: string | undefined
  readonly force: boolean
}

/** What came of it; `nobody` where no gateway answers at this port that has the application. */
export function askGateway(
  port: number,
  { action, force, ...query }: Asked,
  report: Report,
): Promise<MirrorOutcome | Problem | 'nobody'> {
  const failed = (detail: string): Problem => problem('server.closing', `The gateway at port ${port} ${detail}`)
  return new Promise((resolve) => {
    const given = Object.entries({ ...query, ...(force && { force: 'true' }) }).filter(
      ([, value]) => value !== undefined,
    )
    const path = `/mirror/${action}?${new URLSearchParams(given as [string, string][])}`
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', timeout: IDLE_MS })
    sent.on('timeout', () => sent.destroy(new Error('it has been silent for too long')))
    sent.on('error', ({ code, message }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' ? 'nobody' : failed(`broke off: ${message}.`)),
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
        if (answer.statusCode === 404) return resolve('nobody')
        if (!isOurs) return resolve(failed(errorIn(text) ?? `answered ${answer.statusCode}: ${text.trim()}`))
        if (last?.event === 'failed') return resolve(problem('server.closing', last.detail))
        if (last?.event !== 'end') return resolve(failed('broke off.'))
        resolve(last.outcome)
      })
    })
    sent.end()
  })
}

/** What the gateway says itself of why it does not do it. */
function errorIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? `does not do it: ${error}` : undefined
  } catch {
    return undefined
  }
}
