// In charge of the answer that a problem becomes: a page where the client prefers one, else RDF (spec 2.2). Both say the same.
import { STATUS_CODES } from 'node:http'
import type { Gateway } from '../gateway.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { HTML } from '../http/media-type.js'
import type { Trace } from '../log.js'
import { errorPage } from '../pages/error-page.js'
import { PAGE_FIELDS } from '../pages/page-fields.js'
import { isFailure, STATUS_OF, type Problem } from '../problem.js'
import { prefersPage, siteOf } from './frame.js'
import { problemResponse, response } from './respond.js'

interface Refused {
  readonly gateway: Gateway
  readonly request: Request
  readonly trace: Pick<Trace, 'agent'>
}

export function problemAnswer(
  reason: Problem,
  accept: string | undefined,
  asked: Refused,
  links: readonly Field[] = [],
): Response {
  const page = prefersPage(accept) ? pageOfProblem(reason, asked) : undefined
  if (page === undefined) return problemResponse(reason, accept, undefined, links)
  const own: Field[] = [
    ['Content-Type', HTML.contentType],
    ['Cache-Control', 'no-store'],
    ['Vary', 'Accept'],
    ...PAGE_FIELDS,
  ]
  return response(STATUS_OF[reason.failure], [...own, ...links, ...reason.fields], Buffer.from(page))
}

/** Undefined for a host of which the gateway has no application. */
function pageOfProblem({ failure, detail, report }: Problem, { gateway, request, trace }: Refused): string | undefined {
  const { host } = request.fields
  const target = gateway.targetOf(request.requestTarget, host)
  const member = isFailure(target) ? memberAt(host, gateway) : target
  if (!member) return undefined
  const status = STATUS_OF[failure]
  const site = siteOf(member, gateway)
  const document = isFailure(target) || !('document' in target) ? undefined : target.document
  return errorPage({
    frame: { site, document, isIdentified: trace.agent !== undefined },
    status,
    phrase: STATUS_CODES[status] ?? '',
    detail,
    report,
    requestId: request.id,
  })
}

const memberAt = (host: string | undefined, { dataspaces }: Gateway) =>
  dataspaces
    .map((dataspace) => ({ dataspace, application: dataspace.endUser }))
    .find(({ application }) => new URL(application.base).host === host?.toLowerCase())
