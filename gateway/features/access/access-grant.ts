// Decides on requests for access: granting a request replaces it with an authorization, refusing it deletes it.
import { about } from '../../agents/agent-documents.js'
import { isLarge, readDocumentNow } from '../../documents/document.js'
import type { Response } from '../../http/exchange.js'
import { putDocument, writeRefused } from '../../methods/put-document.js'
import { writingOf } from '../../methods/write.js'
import type { Writing } from '../../methods/write-rules.js'
import type { Dataspace } from '../../gateway.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { uriOf } from '../../../versioning/memento/time-map.js'
import { iri, irisOf, text, triple, type Graph, type Quad } from '../../rdf/graph.js'
import { ACL, LACL, PROV, RDF, RDFS } from '../../rdf/vocabulary.js'
import type { Context } from '../../request/context.js'
import { prefersPage } from '../../request/page-answer.js'
import { linkField, response } from '../../request/respond.js'
import { adminOf, controlRefused } from '../../request/explain.js'
import { seeOther } from '../../request/page-form.js'
import { requestsContainer } from './waiting-requests.js'

/** For each property of an authorization, the property that a request has instead. */
export const PROPERTIES: ReadonlyMap<string, string> = new Map([
  [ACL('mode'), LACL('requestMode')],
  [ACL('agent'), LACL('requestAgent')],
  [ACL('agentGroup'), LACL('requestAgentGroup')],
  [ACL('accessTo'), LACL('requestAccessTo')],
  [ACL('accessToClass'), LACL('requestAccessToClass')],
])

/** Spec 2.1, 9.2: the agent that decides creates and owns the authorization, and is in the history. */
const byAgent = (context: Context, method: 'PUT' | 'DELETE'): Writing =>
  writingOf(context, { application: context.dataspace.admin, method })

/**
 * The authorization gets the UUID of the request, and is stored before the request is deleted. If the deletion fails,
 * the request can be granted again with the same result.
 */
export async function grant(context: Context, given: string): Promise<Response | Problem> {
  const uuid = askedRequest(context, given)
  if (isFailure(uuid)) return uuid
  const { application, agent, trace, dataspace } = context
  const { admin } = dataspace
  const found = await readDocumentNow(admin, given, trace)
  if (isFailure(found)) return found
  if (!found.value || isLarge(found.value)) return problem('document.absent', 'This request does not exist.')
  const [document, content] = authorizationOf(
    `${admin.base}acl/authorizations/${uuid}`,
    given,
    found.value.graph(),
    dataspace,
  )
  const failed =
    (await writeRefused(context, document)) ??
    (await writeRefused(context, given)) ??
    failureOf(await putDocument(byAgent(context, 'PUT'), document, () => content)) ??
    failureOf(await putDocument(byAgent(context, 'DELETE'), given, () => undefined))
  if (failed) return failed
  if (prefersPage(context.accept)) return seeOther(accountOf(context))
  return response(201, [['Location', document], linkField(application, agent.webId, undefined)])
}

/** Deletes the request. If there is a history, it can still be read there. */
export async function refuseRequest(context: Context, given: string): Promise<Response | Problem> {
  const uuid = askedRequest(context, given)
  if (isFailure(uuid)) return uuid
  const { application, agent, dataspace } = context
  const found = await readDocumentNow(dataspace.admin, given, context.trace)
  if (isFailure(found)) return found
  if (!found.value) return problem('document.absent', 'This request does not exist.')
  const failed =
    (await writeRefused(context, given)) ??
    failureOf(await putDocument(byAgent(context, 'DELETE'), given, () => undefined))
  if (failed) return failed
  if (prefersPage(context.accept)) return seeOther(accountOf(context))
  return response(204, [linkField(application, agent.webId, undefined)])
}

/**
 * The page that lists the waiting requests, in the application that was asked: CSP 3 §6.4.2.1 (form-action) covers the
 * redirection after a form too.
 */
const accountOf = ({ application }: Context): string => `${application.base}access`

/** The UUID of a request, for an agent with Control. */
function askedRequest(context: Context, given: string): string | Problem {
  const refused = controlRefused(context, adminOf(context))
  if (refused) return refused
  const { admin } = context.dataspace
  const uuid = given.startsWith(requestsContainer(admin)) ? given.slice(requestsContainer(admin).length) : ''
  if (/^[0-9a-f-]{36}\/$/.test(uuid) && admin.isDocument(given)) return uuid
  return problem('request.malformed', `?grant= and ?refuse= take the URL of a document in ${requestsContainer(admin)}.`)
}

const failureOf = (outcome: unknown): Problem | undefined => (isFailure(outcome) ? outcome : undefined)

function authorizationOf(
  document: string,
  request: string,
  graph: Graph,
  { endUser }: Dataspace,
): readonly [document: string, content: readonly Quad[]] {
  // A request may name a document by its URI (access-answer.ts).
  const named = (property: string, value: string): string =>
    property === ACL('accessTo') ? endUser.names.nameOf(uriOf(value)) : value
  const topic = `${document}#this`
  const label = `Granted to ${irisOf(graph, `${request}#this`, LACL('requestAgent')).join(', ')}`
  return about(document, label, topic, [
    triple(topic, RDF('type'), iri(ACL('Authorization'))),
    triple(topic, RDFS('label'), text(label)),
    triple(topic, PROV('wasDerivedFrom'), iri(`${request}#this`)),
    ...[...PROPERTIES].flatMap(([property, asked]) =>
      irisOf(graph, `${request}#this`, asked).map((value) => triple(topic, property, iri(named(property, value)))),
    ),
  ])
}
