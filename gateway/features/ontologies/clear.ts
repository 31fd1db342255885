// The endpoint `clear` (spec 4.3, LinkedDataHub 2.3): reads an ontology again, and uses it from the next request on.
import { readText } from '../../http/body.js'
import type { Response } from '../../http/exchange.js'
import { isUtf8Encoded, NOT_UTF8 } from '../../http/form-encoding.js'
import { parseMediaType } from '../../http/media-type.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { linkField, response } from '../../request/respond.js'
import type { Decided, EndpointTarget } from '../../request/route.js'

export async function clear({ context }: Decided<EndpointTarget>): Promise<Response | Problem> {
  const form = await readOntologyForm(context)
  if (isFailure(form)) return form
  const uri = form.get('uri')
  if (uri === null || !URL.canParse(uri))
    return problem('request.malformed', 'Name the ontology, as uri=IRI in a form.')
  const failed = await context.dataspace.ontologies.clear(uri)
  context.trace.hasWritten = true
  context.trace.continues()
  return failed ?? done(context, undefined)
}

const LARGEST = 64 * 1024
const FORM = 'application/x-www-form-urlencoded'

/** Reads an ordinary form (LinkedDataHub 3.2). */
export async function readOntologyForm({ request, trace }: Context): Promise<URLSearchParams | Problem> {
  if (parseMediaType(request.fields['content-type'] ?? '')?.type !== FORM) return unsupported(`Send a form: ${FORM}.`)
  const text = await readText(request, LARGEST, (reason, detail) =>
    reason === 'unsupported' ? unsupported(detail) : problem('request.malformed', detail),
  )
  trace.continues()
  if (isFailure(text)) return text
  return isUtf8Encoded(text) ? new URLSearchParams(text) : problem('request.malformed', `The form ${NOT_UTF8}.`)
}

const unsupported = (detail: string): Problem =>
  problem('content.unsupported', detail, { fields: [['Accept-Post', FORM]] })

/** Redirects to the page that sent the form, if it is in this dataspace. @param otherwise where to; undefined: 200 */
export function done({ application, dataspace, agent, request }: Context, otherwise: string | undefined): Response {
  const { referer } = request.fields
  const isOwn = referer !== undefined && URL.canParse(referer) && dataspace.origins.includes(new URL(referer).origin)
  const location = isOwn ? referer : otherwise
  const links = linkField(application, agent.webId, undefined)
  return location === undefined ? response(200, [links]) : response(303, [['Location', location], links])
}
