// Sending e-mail through the configured server: a short text, with at most one file.
import type { Transporter } from 'nodemailer'
import { problem, type Problem } from '../problem.js'
import type { Settings } from '../configuration/settings.js'

export interface MailMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly file?: { readonly name: string; readonly type: string; readonly content: Buffer }
}

export interface Mail {
  /** The recipient of access requests. */
  readonly operator: string | undefined
  /** `mail.failed` if the server has not accepted it. */
  send(message: MailMessage): Promise<undefined | Problem>
}

const TIMEOUT_MS = 10_000

/** Undefined if no server is configured. */
export function makeMail({
  smtpUrl,
  smtpFrom,
  smtpTo,
}: Pick<Settings, 'smtpUrl' | 'smtpFrom' | 'smtpTo'>): Mail | undefined {
  if (smtpUrl === undefined || smtpFrom === undefined) return undefined
  let opened: Promise<Transporter> | undefined
  return {
    operator: smtpTo,
    async send({ to, subject, text, file }) {
      const attachments = file ? [{ filename: file.name, contentType: file.type, content: file.content }] : []
      try {
        const transport = await (opened ??= openTransport(smtpUrl))
        await transport.sendMail({ from: smtpFrom, to: { name: '', address: to }, subject, text, attachments })
        return undefined
      } catch {
        return problem('mail.failed', 'The e-mail could not be sent.')
      }
    },
  }
}

async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Never read a path or a URL from a message.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
