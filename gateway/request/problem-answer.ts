// Turns a problem into an answer: a page if the client prefers one, otherwise RDF (spec 2.2). Both say the same.
import { STATUS_CODES } from 'node:http'
import { ALGORITHMS } from '../../policies/identity/bearer-token.js'
import type { Gateway, Member } from '../gateway.js'
import { isOfStore } from '../http/dataset-target.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { HTML } from '../http/media-type.js'
import type { Target } from '../http/target.js'
import { noteProblem, type Trace } from '../log.js'
import { errorPage } from '../pages/error-page.js'
import { PAGE_VARY, pageFields } from '../pages/page-fields.js'
import type { MadePage } from '../pages/texts.js'
import { isFailure, STATUS_OF, type Problem } from '../problem.js'
import { uriOf } from '../../versioning/memento/time-map.js'
import { prefersPage, siteShownOf, textsOf } from './page-answer.js'
import { problemResponse, response, streamed } from './respond.js'
import { isSentForm, sentForm } from './keep-refused-form.js'

interface Refused {
  readonly gateway: Gateway
  readonly request: Request
  readonly target: Target<Member> | Problem
  readonly accept: string | undefined
  readonly trace: Pick<Trace, 'agent' | 'problem' | 'cause'>
}

export function problemAnswer(given: Problem, asked: Refused): Response {
  noteProblem(asked.trace, given)
  const reason = ABOUT_RIGHTS.has(given.failure) ? challenged(given, asked) : given
  const page = prefersPage(asked.accept) ? pageOfProblem(reason, asked) : undefined
  if (page === undefined) return problemResponse(reason, asked.accept)
  const own: Field[] = [
    ['Content-Type', HTML.contentType],
    ['Cache-Control', 'no-store'],
    ['Vary', PAGE_VARY],
    ...pageFields(page.language),
  ]
  const [status, fields] = [STATUS_OF[reason.failure], [...own, ...reason.fields]]
  const { again } = page
  return again
    ? streamed(status, fields, withTyped(again, asked.request))
    : response(status, fields, Buffer.from(page.html))
}

const ABOUT_RIGHTS: ReadonlySet<Problem['failure']> = new Set(['access.denied', 'access.graphs'])

/**
 * Basic (its password is an access token) comes first and in its own field, since some clients read only one challenge.
 * Apache Jena reads one per field, and prefers Bearer over a password that it has, unless Bearer follows a scheme that
 * it does not know.
 */
const CHALLENGES = [
  'Basic realm="Triplegate", charset="UTF-8"',
  `DPoP algs="${ALGORITHMS.join(' ')}", Bearer realm="Triplegate"`,
].map((challenge) => ['WWW-Authenticate', challenge] as const)

/**
 * RFC 9110 §15.5.2: many clients of a store send their password only after a challenge. Elsewhere spec 5 requires 403.
 */
function challenged(reason: Problem, { target, trace }: Refused): Problem {
  if (trace.agent !== undefined || isFailure(target) || !isOfStore(target)) return reason
  return { ...reason, failure: 'access.anonymous', fields: [...reason.fields, ...CHALLENGES] }
}

type WithTyped = (values: URLSearchParams | undefined) => MadePage

/** The page is made after the form has been read. */
async function* withTyped(make: WithTyped, request: Request): AsyncGenerator<Buffer, void> {
  yield Buffer.from(make(await sentForm(request)).html)
}

interface ErrorPage extends MadePage {
  /** For a form from one of our pages: makes the page again with what was typed. */
  readonly again?: WithTyped
}

/** Undefined if the gateway has no application at this host. */
function pageOfProblem(
  { failure, detail, report }: Problem,
  { gateway, request, target, trace }: Refused,
): ErrorPage | undefined {
  const member = isFailure(target) ? memberAt(request.fields.host, gateway) : target
  if (!member) return undefined
  const status = STATUS_OF[failure]
  const site = siteShownOf(member, gateway)
  const document = isFailure(target) || !('document' in target) ? undefined : uriOf(target.document)
  const view = {
    frame: { site, texts: textsOf(request, gateway), document, isIdentified: trace.agent !== undefined },
    status,
    phrase: STATUS_CODES[status] ?? '',
    detail,
    report,
    requestId: request.id,
  }
  const page = errorPage(view)
  if (isFailure(target) || !isSentForm(request, member.dataspace.origins)) return page
  const action = actionOf(target)
  if (action === undefined) return errorPage({ ...view, sent: { action: '', values: undefined } })
  return { ...page, again: (values) => errorPage({ ...view, sent: { action, values } }) }
}

/** The URL of a form that may be read and shown again. Other forms may contain a password. */
function actionOf(target: Target<Member>): string | undefined {
  if (target.kind === 'form') return `?form=${encodeURIComponent(target.form)}`
  return target.kind === 'endpoint' && target.endpoint === 'access' ? target.iri : undefined
}

const memberAt = (host: string | undefined, { dataspaces }: Gateway) =>
  dataspaces
    .map((dataspace) => ({ dataspace, application: dataspace.endUser }))
    .find(({ application }) => new URL(application.base).host === host?.toLowerCase())
