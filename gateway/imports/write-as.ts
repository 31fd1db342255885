// In charge of writing a document as an agent, as a request of its own would (design 3): the same right, the same write path. The
// request is one that this process makes.
import type { Member } from '../gateway.js'
import { BodyBreak } from '../http/body.js'
import type { Request, Response } from '../http/exchange.js'
import { writeContent } from '../methods/write.js'
import type { WrittenContent } from '../methods/write-request.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { decideOn, lookUp } from '../request/access.js'
import type { Context } from '../request/context.js'
import { refusalOf } from '../request/refusal.js'

/** What the target of a write is: a document of either application of the dataspace. */
export interface Place extends Member {
  readonly document: string
}

/** The document at this URL, in one of the applications of the dataspace. */
export function placeOf({ dataspace }: Pick<Context, 'dataspace'>, document: string): Place | Problem {
  const { endUser, admin } = dataspace
  const application = [admin, endUser].find((one) => one.isDocument(document))
  return application
    ? { application, dataspace, document }
    : problem('target.malformed', `<${document.slice(0, 200)}> is no document of ${endUser.base}.`)
}

/** A request of this process for the client of another. */
export const innerRequest = (outer: Request, method: string, url: string, fields: Request['fields'] = {}): Request => ({
  id: outer.id,
  method,
  requestTarget: new URL(url).pathname,
  fields,
  hosts: 1,
  certificate: undefined,
  receivedAt: outer.receivedAt,
  isAdmitted: true,
  address: () => outer.address(),
  network: () => outer.network(),
  signal: () => outer.signal(),
  readBody: () => Promise.resolve(NO_BODY),
  hold: () => false,
  async *streamBody() {
    throw new BodyBreak(NO_BODY)
  },
})

const NO_BODY = problem('internal', 'A request of this process has no body.')

/** Why the agent may not write there, before anything is read for it. */
export async function mayWriteAs(
  context: Context,
  { application, dataspace, document }: Place,
  method: 'PUT' | 'POST',
): Promise<undefined | Problem> {
  const inner = { ...context, application, dataspace, request: innerRequest(context.request, method, document) }
  const required = method === 'PUT' ? 'Write' : 'Append'
  const facts = await lookUp(inner, { kind: 'document', application, dataspace, document }, required)
  if (isFailure(facts)) return facts
  const decision = decideOn(inner, facts, required)
  if (isFailure(decision)) return decision
  if (!decision.allowed) return refusalOf(decision, inner, document)
  return method === 'POST' && facts.kind === 'document' && !facts.document
    ? problem('document.absent', `There is no document <${document}>.`)
    : undefined
}

/**
 * Replaces the document (PUT), or creates it or adds to it (`add`), where that changes anything.
 * @param now in ms since the epoch
 */
export async function writeAs(
  context: Context,
  { application, dataspace, document }: Place,
  content: WrittenContent,
  how: 'PUT' | 'POST' | 'add',
  now: number,
): Promise<Response | Problem> {
  const { gateway, request } = context
  // The conditions of clients are about states that they know: an import means whatever is there.
  const settings = { ...gateway.settings, requirePreconditions: false }
  const of = (method: 'PUT' | 'POST', fields: Request['fields']): Context => ({
    ...context,
    gateway: { ...gateway, settings },
    application,
    dataspace,
    request: { ...innerRequest(request, method, document, fields), receivedAt: now },
  })
  if (how !== 'add') return writeContent(of(how, {}), document, { method: how, content, unlessSame: true })
  const created = await writeContent(of('PUT', { 'if-none-match': '*' }), document, { method: 'PUT', content })
  if (!isFailure(created) || created.failure !== 'precondition.failed') return created
  return writeContent(of('POST', {}), document, { method: 'POST', content, unlessSame: true })
}
