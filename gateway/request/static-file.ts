// `static/` (spec 4.6): the files of the pages. Their names include a hash of the content, so caches can keep them.
import type { Field, Response } from '../http/exchange.js'
import { problem, type Problem } from '../problem.js'
import { codingsFor, NOT_CODED } from './negotiate.js'
import { response } from './respond.js'
import type { AskedRoute, EndpointTarget } from './route.js'

export function staticFile({ context, target }: AskedRoute<EndpointTarget>): Response | Problem {
  const name = target.iri.slice(`${target.application.base}static/`.length)
  const { look, caches } = context.gateway
  const file = look.files.get(name)
  if (!file) return problem('target.unknown-endpoint', 'There is no such file.')
  const accepted = file.coded
    ? codingsFor(context.request.fields['accept-encoding'] ?? '', caches)
    : (['identity'] as const)
  const [coding] = accepted
  if (coding === undefined) return NOT_CODED
  const encoding: Field[] = coding === 'identity' ? [] : [['Content-Encoding', coding]]
  const fields: Field[] = [
    ['Content-Type', file.contentType],
    ['Cache-Control', 'public, max-age=31536000, immutable'],
    // An SVG opened directly is a document, and the operator's own SVG may contain scripts.
    ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox"],
    ...(file.coded ? [['Vary', 'Accept-Encoding'] as const] : []),
    ...encoding,
  ]
  return response(200, fields, coding === 'identity' ? file.bytes : file.coded![coding])
}
