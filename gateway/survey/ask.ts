// Sends the doctor's requests to the gateway, as an anonymous client.
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:tls'

export const ASKING_MS = 5_000
const LONGEST = 1024 * 1024

export interface AskedAnswer {
  readonly status: number
  readonly links: string
  /** True if the gateway only logs refusals. */
  readonly isObserved: boolean
  readonly text: string
}

/**
 * The answer, or the reason for its absence. Any certificate is accepted: machine.ts checks it.
 * @param as the User-Agent by which the gateway recognises the doctor
 */
export function askUrl(url: string, method: 'GET' | 'HEAD', as = 'triplegate-doctor'): Promise<AskedAnswer | string> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(ASKING_MS)
    const failed = (error: Error): void =>
      resolve(signal.aborted ? `no answer in ${ASKING_MS / 1000} s` : `no server answers: ${error.message}`)
    const request = url.startsWith('https:') ? httpsRequest : httpRequest
    const headers = { 'User-Agent': as }
    request(url, { method, headers, signal, rejectUnauthorized: false }, (answer) => {
      const links = String(answer.headers.link ?? '')
      const isObserved = answer.headers['triplegate-enforce'] === 'false'
      let text = ''
      answer.setEncoding('utf8').on('error', failed)
      answer.on('data', (piece: string) => {
        if ((text += piece).length > LONGEST) answer.destroy(new Error('the answer is too long'))
      })
      answer.on('end', () => resolve({ status: answer.statusCode!, links, isObserved, text }))
    })
      .on('error', failed)
      .end()
  })
}

/** The fingerprint (SHA-256) of the certificate that a server on this machine shows; undefined if none answers. */
export function servedFingerprint(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: ASKING_MS })
    const end = (fingerprint?: string): void => {
      socket.destroy()
      resolve(fingerprint)
    }
    socket.once('secureConnect', () => end(socket.getPeerX509Certificate()?.fingerprint256))
    socket.once('error', () => end()).once('timeout', () => end())
  })
}
