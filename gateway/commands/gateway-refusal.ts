// Messages of commands that a gateway refuses: the gateway's message and the fix. Pure.
import type { CommandFailure } from './exit-codes.js'
import type { GatewayAnswer, GatewayClient } from './gateway-client.js'
import { readTrig } from '../rdf/read.js'
import { DCT } from '../rdf/vocabulary.js'

/** @param client the client for the document that the command is about */
export function gatewayRefusal(
  answer: GatewayAnswer,
  client: Pick<GatewayClient, 'connection' | 'identified'>,
): CommandFailure {
  const { href } = client.connection.url
  const said = titleOf(answer, href) ?? `the gateway answered ${answer.status}.`
  return { failure: codeOf(answer), detail: `${href}: ${said} ${fixOf(answer, said, client)}`.trimEnd() }
}

function codeOf({ status }: GatewayAnswer): CommandFailure['failure'] {
  if (status === 404) return 'document.absent'
  if (status === 412) return 'document.changed'
  return [401, 403, 405].includes(status) ? 'access.refused' : 'gateway.failed'
}

function fixOf(
  { status, fields }: GatewayAnswer,
  said: string,
  { connection, identified }: Pick<GatewayClient, 'connection' | 'identified'>,
): string {
  if (status === 412) return 'The document has changed. Check its history and restore again.'
  if (status === 403 && !identified) {
    const file = `${connection.data}/certs/owner.pem`
    return `No client certificate was sent, because ${file} does not exist or the URL is not https. Give --cert FILE.`
  }
  if (status === 413 && /request body/.test(said)) return 'Start the gateway with a larger --max-body, and try again.'
  const seconds = fields['retry-after']
  return seconds === undefined ? '' : `Try again in ${seconds} s.`
}

/** The title of the error (spec 2.2). */
function titleOf({ body, fields }: GatewayAnswer, base: string): string | undefined {
  if (/json/.test(fields['content-type'] ?? '')) return jsonTitle(body.toString())
  const quads = readTrig(body.toString(), base)
  return Array.isArray(quads)
    ? quads.find(({ predicate }) => predicate.value === DCT('title'))?.object.value
    : undefined
}

/** In JSON-LD with the gateway's prefixes. */
function jsonTitle(text: string): string | undefined {
  const [, title] = /"dct:title"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text) ?? []
  return title === undefined ? undefined : (JSON.parse(title) as string)
}
