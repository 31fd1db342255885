// The endpoint `access/request` (spec 4.3, LinkedDataHub 2.3). It stores requests for access until the owner decides:
// `POST access/request?grant=<its URL>` replaces a request with an authorization, `?refuse=` deletes it.
import { ACCESS_TEXTS } from './texts.js'
import { about } from '../../agents/agent-documents.js'
import {
  indexBySubject,
  instancesOf,
  objectsOf,
  readContent,
  violated,
  type TriplesBySubject,
  type Violation,
} from '../../request/endpoint-rdf.js'
import type { AskedRoute, EndpointTarget } from '../../request/route.js'
import { withinShares, type OpenDoor } from '../../request/anonymous-quota.js'
import { part } from '../../part.js'
import type { Response } from '../../http/exchange.js'
import type { Application, Dataspace } from '../../gateway.js'
import { graphAnswer } from '../../request/graph-answer.js'
import { graphOf, iri, text, triple, type Quad, type Term } from '../../rdf/graph.js'
import { callOf, type Context } from '../../request/context.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { underLocks } from '../../documents/locks.js'
import { putDocument } from '../../methods/put-document.js'
import { writingOf } from '../../methods/write.js'
import type { Writing } from '../../methods/write-rules.js'
import { donePage } from '../../pages/account-page.js'
import { frameOf, pageAnswer, prefersPage } from '../../request/page-answer.js'
import { grant, PROPERTIES, refuseRequest } from './access-grant.js'
import { requestsContainer } from './waiting-requests.js'
import { linkField } from '../../request/respond.js'
import { select } from '../../stores/select.js'
import type { Call } from '../../stores/store.js'
import { ACL, LACL, RDF, RDFS } from '../../rdf/vocabulary.js'

/** The limits on requests, needed since asking requires no right on the document. */
export const REQUESTS = part<OpenDoor>('requests for access')

/** The most waiting requests of one agent. */
const WAITING = 20
/** The most waiting requests of all agents together: anyone can create more WebIDs. */
const ALL_WAITING = 1000
/** The most values of one property of a request: the owner reads all of them before granting it. */
const VALUES = 8
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** In characters: short enough for a person to read. */
const LONGEST_URL = 512

export function accessRequest({ context, target }: AskedRoute<EndpointTarget>): Promise<Response | Problem> {
  const [granted, refused] = [target.query.get('grant'), target.query.get('refuse')]
  if (granted === null && refused === null) return ask(context, target.iri)
  return granted === null ? refuseRequest(context, refused!) : grant(context, granted)
}

async function ask(context: Context, endpoint: string): Promise<Response | Problem> {
  const { webId } = context.agent
  if (webId === undefined) return problem('access.denied', 'Only an identified agent can request access.')
  const content = await readContent(context, endpoint)
  if (isFailure(content)) return content
  const wanted = readRequests(content, webId, context.dataspace)
  if (isFailure(wanted)) return wanted
  const container = requestsContainer(context.dataspace.admin)
  const lock = [`${container} ${webId}`, 'exclusive'] as const
  return withinShares(context, REQUESTS.of(context.gateway), wanted.length, () =>
    underLocks(context.gateway, [lock], () => store(context, webId, wanted)),
  )
}

/** The secretary owns requests: an agent who owned one could change it before it is granted. */
const bySecretary = (context: Context, method: 'PUT' | 'DELETE'): Writing =>
  writingOf(context, { application: context.dataspace.admin, method, agent: context.dataspace.secretary })

async function store(context: Context, webId: string, wanted: readonly RequestedAccess[]): Promise<Response | Problem> {
  const { gateway, application, accept, dataspace } = context
  const { admin } = dataspace
  const waiting = await waitingOf(admin, webId, callOf(context))
  if (isFailure(waiting)) return waiting
  if (waiting.all + wanted.length > ALL_WAITING) {
    return problem('server.overloaded', 'Too many requests for access are waiting. Retry later.', {
      fields: [['Retry-After', '3600']],
    })
  }
  if (waiting.own + wanted.length > WAITING) {
    return violated([[LACL('requestAgent'), `An agent can have no more than ${WAITING} waiting requests.`]])
  }
  const documents = wanted.map((one) => requestDocument(`${requestsContainer(admin)}${gateway.uuid()}/`, one))
  for (const [i, [document, content]] of documents.entries()) {
    const stored = await putDocument(bySecretary(context, 'PUT'), document, () => content)
    if (!isFailure(stored)) continue
    for (const [earlier] of documents.slice(0, i))
      await putDocument(bySecretary(context, 'DELETE'), earlier, () => undefined)
    return stored
  }
  notify(
    context,
    webId,
    documents.map(([document]) => document),
  )
  const next = wanted[0]?.get(ACL('accessTo'))?.[0] ?? context.dataspace.endUser.base
  if (prefersPage(accept)) {
    const frame = frameOf(context)
    const { askTitle, asked, backToDocument } = frame.texts.with(ACCESS_TEXTS)
    return pageAnswer(200, donePage({ frame, title: askTitle, sentence: asked, next: [backToDocument, next] }))
  }
  return graphAnswer(context, graphOf(documents.flatMap(([, content]) => content)), [
    linkField(application, webId, undefined),
  ])
}

/** Notifies the operator by e-mail. Even if this fails, the requests stay in their container. */
function notify({ gateway, dataspace, request: { id } }: Context, webId: string, documents: readonly string[]): void {
  const { mail, log } = gateway
  if (mail?.operator === undefined) return
  const { base } = dataspace.admin
  const lines = [
    `<${webId}> requests access:`,
    ...documents.map((document) => `  ${document}`),
    `To grant a request, POST ${base}access/request?grant=URL; to refuse it, delete it.`,
  ]
  const subject = `A request for access at ${new URL(base).host}`
  void mail.send({ to: mail.operator, subject, text: lines.join('\n') }).then((failed) => {
    if (failed) log.warn({ id, documents }, 'the e-mail to the operator about requests for access could not be sent')
  })
}

async function waitingOf(
  admin: Application,
  webId: string,
  call: Call,
): Promise<{ own: number; all: number } | Problem> {
  const query = `SELECT ?agent WHERE {
    GRAPH ?g { ?request <${LACL('requestAgent')}> ?agent }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(requestsContainer(admin))}))
  } LIMIT ${ALL_WAITING}`
  const rows = await select(admin.store, query, ['agent'], { ...call, maxBytes: MAX_WAITING_BYTES })
  if (isFailure(rows)) return rows
  const agents = rows.filter(([agent]) => agent?.termType === 'NamedNode')
  return { own: agents.filter(([agent]) => agent!.value === webId).length, all: agents.length }
}

/** The values of a request, by the property of the authorization that it would become. */
type RequestedAccess = ReadonlyMap<string, readonly string[]>

/** Control cannot be requested: it gives access to the whole admin application (LinkedDataHub 5.3). */
const MODES = ['Read', 'Append', 'Write'].map(ACL)

function readRequests(
  triples: readonly Quad[],
  webId: string,
  dataspace: Dataspace,
): readonly RequestedAccess[] | Problem {
  const content = indexBySubject(triples)
  const subjects = instancesOf(content, ACL('Authorization'))
  if (subjects.length === 0) return violated([[RDF('type'), 'An acl:Authorization is missing.']])
  if (subjects.length > WAITING) return violated([[RDF('type'), `Send at most ${WAITING} requests.`]])
  const wanted = subjects.map((subject) => wantedBy(content, subject))
  // LinkedDataHub 2.3: an agent cannot request access for another agent.
  if (wanted.some((one) => one.get(ACL('agent'))!.some((agent) => agent !== webId))) {
    return problem('access.denied', 'An agent can request access for itself only.')
  }
  const violations = wanted.flatMap((one) => violationsIn(one, dataspace))
  return violations.length > 0 ? violated(violations) : wanted.map((one) => new Map([...one, [ACL('agent'), [webId]]]))
}

/** A literal becomes the empty text, which no property accepts: written as an IRI, its text could close the IRI. */
const wantedBy = (content: TriplesBySubject, subject: Term): RequestedAccess =>
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

function violationsIn(wanted: RequestedAccess, { endUser, admin }: Dataspace): Violation[] {
  const violations: Violation[] = []
  const values = (property: string): readonly string[] => wanted.get(property)!
  const check = (property: string, holds: (value: string) => boolean, message: string): void => {
    const wrong = values(property).length > VALUES || !values(property).every(holds)
    if (wrong) violations.push([property, message])
  }
  if (values(ACL('mode')).length === 0) violations.push([ACL('mode'), 'An acl:mode is missing.'])
  check(ACL('mode'), (mode) => MODES.includes(mode), 'Only acl:Read, acl:Append and acl:Write can be requested.')
  if (values(ACL('accessTo')).length + values(ACL('accessToClass')).length === 0) {
    violations.push([ACL('accessTo'), 'An acl:accessTo or acl:accessToClass is missing.'])
  }
  const isOurs = (url: string): boolean => url.startsWith(endUser.base) && !url.startsWith(admin.base)
  const isUrl = (url: string): boolean => url.length <= LONGEST_URL && URL.canParse(url)
  check(ACL('accessTo'), (url) => isUrl(url) && isOurs(url), `acl:accessTo names up to ${VALUES} URLs of ${LONGEST_URL} characters under ${endUser.base}, outside the admin application.`) // prettier-ignore
  for (const property of [ACL('accessToClass'), ACL('agentGroup')]) {
    check(property, isUrl, `Give up to ${VALUES} absolute IRIs of ${LONGEST_URL} characters.`)
  }
  return violations
}

function requestDocument(
  document: string,
  wanted: RequestedAccess,
): readonly [document: string, content: readonly Quad[]] {
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
