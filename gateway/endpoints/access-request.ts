// In charge of the endpoint `access/request` (spec 4.3, linkeddatahub.md 2.3): requests for access are stored for the owner,
// who grants one by `POST access/request?grant=<its URL>`: it becomes an authorization, and is gone.
import { about } from '../agents/agent-documents.js'
import { faulty, instancesOf, objectsOf, readContent, type Fault } from './content.js'
import type { Asked, EndpointTarget } from '../request/route.js'
import { controlRefused } from './explain.js'
import type { Response } from '../http/exchange.js'
import type { Application, Dataspace } from '../gateway.js'
import { graphAnswer } from '../request/graph-answer.js'
import { graphOf, iri, irisOf, text, triple, type Graph, type Quad, type Term } from '../rdf/graph.js'
import type { Context } from '../request/context.js'
import { isLarge, readDocumentNow } from '../documents/document.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { underLocks } from '../documents/locks.js'
import { putDocument, type Writing } from '../methods/put-document.js'
import { linkField, response } from '../request/respond.js'
import { select } from '../stores/select.js'
import { ACL, LACL, PROV, RDF, RDFS } from '../rdf/vocabulary.js'

/** What one agent may have waiting, and one request may name. */
const WAITING = 20
/** What all agents together may have waiting: anybody can make another WebID. */
const ALL_WAITING = 1000
const VALUES = 20
const MAX_WAITING_BYTES = 4 * 1024 * 1024

export function accessRequest({ context, target }: Asked<EndpointTarget>): Promise<Response | Problem> {
  const granted = target.query.get('grant')
  return granted === null ? ask(context, target.iri) : grant(context, granted)
}

const containerOf = ({ base }: Pick<Application, 'base'>): string => `${base}acl/authorization-requests/`

/** Requests and authorizations belong to the secretary: who owned a request could change it before it is granted. */
const writingOf = ({ gateway, dataspace, trace, request }: Context, method: 'PUT' | 'DELETE'): Writing => {
  const { admin, secretary } = dataspace
  return { gateway, application: admin, dataspace, trace, method, agent: secretary, time: request.receivedAt }
}

async function ask(context: Context, endpoint: string): Promise<Response | Problem> {
  const { webId } = context.agent
  if (webId === undefined) return problem('access.denied', 'Only an identified agent can ask for access.')
  const content = await readContent(context, endpoint)
  if (isFailure(content)) return content
  const wanted = readRequests(content, webId, context.dataspace)
  if (isFailure(wanted)) return wanted
  const container = containerOf(context.dataspace.admin)
  const lock = [`${container} ${webId}`, 'exclusive'] as const
  return underLocks(context.gateway, [lock], () => store(context, webId, wanted))
}

async function store(context: Context, webId: string, wanted: readonly Wanted[]): Promise<Response | Problem> {
  const { gateway, application, accept, dataspace } = context
  const { admin } = dataspace
  const waiting = await waitingOf(admin, webId)
  if (isFailure(waiting)) return waiting
  if (waiting.all + wanted.length > ALL_WAITING) {
    return problem('server.overloaded', 'Too many requests wait for an answer.', { fields: [['Retry-After', '3600']] })
  }
  if (waiting.own + wanted.length > WAITING) {
    return faulty([[LACL('requestAgent'), `No more than ${WAITING} requests of an agent can wait for an answer.`]])
  }
  const made = wanted.map((one) => requestDocument(`${containerOf(admin)}${gateway.uuid()}/`, one))
  for (const [i, [document, content]] of made.entries()) {
    const stored = await putDocument(writingOf(context, 'PUT'), document, () => content)
    if (!isFailure(stored)) continue
    for (const [earlier] of made.slice(0, i)) await putDocument(writingOf(context, 'DELETE'), earlier, () => undefined)
    return stored
  }
  notify(
    context,
    webId,
    made.map(([document]) => document),
  )
  return graphAnswer(accept, graphOf(made.flatMap(([, content]) => content)), [
    linkField(application, webId, undefined),
  ])
}

/** The request waits in its container, whether anybody is told or not. */
function notify({ gateway, dataspace }: Context, webId: string, documents: readonly string[]): void {
  const { mail, log } = gateway
  if (mail?.operator === undefined) return
  const { base } = dataspace.admin
  const lines = [
    `<${webId}> asks for access:`,
    ...documents.map((document) => `  ${document}`),
    `Grant a request by POST ${base}access/request?grant=URL, or delete it.`,
  ]
  const subject = `A request for access at ${new URL(base).host}`
  void mail.send({ to: mail.operator, subject, text: lines.join('\n') }).then((failed) => {
    if (failed) log.warn({ documents }, 'nobody could be told of a request for access')
  })
}

async function waitingOf(admin: Application, webId: string): Promise<{ own: number; all: number } | Problem> {
  const query = `SELECT ?agent WHERE {
    GRAPH ?g { ?request <${LACL('requestAgent')}> ?agent }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(containerOf(admin))}))
  } LIMIT ${ALL_WAITING}`
  const rows = await select(admin.store, query, ['agent'], { maxBytes: MAX_WAITING_BYTES })
  if (isFailure(rows)) return rows
  const agents = rows.filter(([agent]) => agent?.termType === 'NamedNode')
  return { own: agents.filter(([agent]) => agent!.value === webId).length, all: agents.length }
}

/** Each property of an authorization as a request has it. */
const PROPERTIES: ReadonlyMap<string, string> = new Map([
  [ACL('mode'), LACL('requestMode')],
  [ACL('agent'), LACL('requestAgent')],
  [ACL('agentGroup'), LACL('requestAgentGroup')],
  [ACL('accessTo'), LACL('requestAccessTo')],
  [ACL('accessToClass'), LACL('requestAccessToClass')],
])

/** By the property of the authorization that it would become. */
type Wanted = ReadonlyMap<string, readonly string[]>

/** Control is not asked for: whoever has it has all of the admin application (LinkedDataHub 5.3). */
const MODES = ['Read', 'Append', 'Write'].map(ACL)

function readRequests(content: readonly Quad[], webId: string, dataspace: Dataspace): readonly Wanted[] | Problem {
  const subjects = instancesOf(content, ACL('Authorization'))
  if (subjects.length === 0) return faulty([[RDF('type'), 'An acl:Authorization is missing.']])
  if (subjects.length > WAITING) return faulty([[RDF('type'), `There are more than ${WAITING} requests.`]])
  const wanted = subjects.map((subject) => wantedBy(content, subject))
  // LinkedDataHub 2.3: nobody asks for somebody else.
  if (wanted.some((one) => one.get(ACL('agent'))!.some((agent) => agent !== webId))) {
    return problem('access.denied', 'An agent can ask for access for itself only.')
  }
  const faults = wanted.flatMap((one) => faultsIn(one, dataspace))
  return faults.length > 0 ? faulty(faults) : wanted.map((one) => new Map([...one, [ACL('agent'), [webId]]]))
}

/** What is no IRI is the empty text, which is no value of any of them: the text of a literal could end an IRI. */
const wantedBy = (content: readonly Quad[], subject: Term): Wanted =>
  new Map(
    [...PROPERTIES.keys()].map((property) => [
      property,
      [
        ...new Set(
          objectsOf(content, subject, property).map(({ termType, value }) => (termType === 'NamedNode' ? value : '')),
        ),
      ],
    ]),
  )

function faultsIn(wanted: Wanted, { endUser, admin }: Dataspace): Fault[] {
  const faults: Fault[] = []
  const values = (property: string): readonly string[] => wanted.get(property)!
  const check = (property: string, holds: (value: string) => boolean, message: string): void => {
    const wrong = values(property).length > VALUES || !values(property).every(holds)
    if (wrong) faults.push([property, message])
  }
  if (values(ACL('mode')).length === 0) faults.push([ACL('mode'), 'An acl:mode is missing.'])
  check(ACL('mode'), (mode) => MODES.includes(mode), 'acl:Read, acl:Append and acl:Write can be asked for.')
  if (values(ACL('accessTo')).length + values(ACL('accessToClass')).length === 0) {
    faults.push([ACL('accessTo'), 'An acl:accessTo or acl:accessToClass is missing.'])
  }
  const isOurs = (url: string): boolean => url.startsWith(endUser.base) && !url.startsWith(admin.base)
  check(ACL('accessTo'), (url) => isOurs(url) && URL.canParse(url), `acl:accessTo names up to ${VALUES} URLs under ${endUser.base}, outside the admin application.`) // prettier-ignore
  const isIri = (value: string): boolean => URL.canParse(value) && value.length <= 2000
  for (const property of [ACL('accessToClass'), ACL('agentGroup')]) {
    check(property, isIri, `There can be up to ${VALUES} IRIs.`)
  }
  return faults
}

function requestDocument(document: string, wanted: Wanted): readonly [document: string, content: readonly Quad[]] {
  const topic = `${document}#this`
  const label = `Access request by ${wanted.get(ACL('agent'))![0]}`
  return about(document, label, topic, [
    triple(topic, RDF('type'), iri(LACL('AuthorizationRequest'))),
    triple(topic, RDFS('label'), text(label)),
    ...[...PROPERTIES].flatMap(([property, asked]) =>
      wanted.get(property)!.map((value) => triple(topic, asked, iri(value))),
    ),
  ])
}

/**
 * The authorization has the UUID of the request, and comes before the request goes: where something fails between, to
 * grant it again gives the same.
 */
async function grant(context: Context, given: string): Promise<Response | Problem> {
  const refused = controlRefused(context)
  if (refused) return refused
  const { application, agent, trace, dataspace } = context
  const { admin } = dataspace
  const uuid = given.startsWith(containerOf(admin)) ? given.slice(containerOf(admin).length) : ''
  if (!/^[0-9a-f-]{36}\/$/.test(uuid) || !admin.isDocument(given)) {
    return problem('request.malformed', `?grant= is the URL of a document in ${containerOf(admin)}.`)
  }
  const found = await readDocumentNow(admin, given, trace)
  if (isFailure(found)) return found
  if (!found.value || isLarge(found.value)) return problem('document.absent', 'There is no such request.')
  const [document, content] = authorizationOf(`${admin.base}acl/authorizations/${uuid}`, given, found.value.graph())
  const failed =
    failureOf(await putDocument(writingOf(context, 'PUT'), document, () => content)) ??
    failureOf(await putDocument(writingOf(context, 'DELETE'), given, () => undefined))
  return failed ?? response(201, [['Location', document], linkField(application, agent.webId, undefined)])
}

const failureOf = (outcome: unknown): Problem | undefined => (isFailure(outcome) ? outcome : undefined)

function authorizationOf(
  document: string,
  request: string,
  graph: Graph,
): readonly [document: string, content: readonly Quad[]] {
  const topic = `${document}#this`
  const label = `Granted to ${irisOf(graph, `${request}#this`, LACL('requestAgent')).join(', ')}`
  return about(document, label, topic, [
    triple(topic, RDF('type'), iri(ACL('Authorization'))),
    triple(topic, RDFS('label'), text(label)),
    triple(topic, PROV('wasDerivedFrom'), iri(`${request}#this`)),
    ...[...PROPERTIES].flatMap(([property, asked]) =>
      irisOf(graph, `${request}#this`, asked).map((value) => triple(topic, property, iri(value))),
    ),
  ])
}
