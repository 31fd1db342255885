// In charge of sending e-mail through the configured server: short texts, with a file at most.
import { createTransport } from 'nodemailer'
import { problem, type Problem } from '../problem.js'
import type { Settings } from '../configuration/settings.js'

export interface Message {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly file?: { readonly name: string; readonly type: string; readonly content: Buffer }
}

export interface Mail {
  /** Who is told of requests for access. */
  readonly operator: string | undefined
  /** `mail.failed` when the server has not taken it. */
  send(message: Message): Promise<undefined | Problem>
}

const TIMEOUT_MS = 10_000

/** Undefined where no server is configured. */
export function makeMail({
  smtpUrl,
  smtpFrom,
  smtpTo,
}: Pick<Settings, 'smtpUrl' | 'smtpFrom' | 'smtpTo'>): Mail | undefined {
  if (smtpUrl === undefined || smtpFrom === undefined) return undefined
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Nothing that a message holds is a path or a URL to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    operator: smtpTo,
    async send({ to, subject, text, file }) {
      const attachments = file ? [{ filename: file.name, contentType: file.type, content: file.content }] : []
      try {
        await transport.sendMail({ from: smtpFrom, to: { name: '', address: to }, subject, text, attachments })
        return undefined
      } catch {
        return problem('mail.failed', 'The e-mail could not be sent.')
      }
    },
  }
}
