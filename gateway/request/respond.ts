// Response fields and error bodies. Each field is named only here, and each error is written only here (spec 2.2).
import { STATUS_CODES } from 'node:http'
import { formatHttpDate } from '../../cache/http-date.js'
import type { Decision } from '../../policies/decide.js'
import { uriOf } from '../../versioning/memento/time-map.js'
import { ACL, DCT, HTTP, LAPP, LDT, RDF, SC, SD, XSD } from '../rdf/vocabulary.js'
import type { Gateway } from '../gateway.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { blankNode, graphOf, iri, quad, text, typed } from '../rdf/graph.js'
import { negotiate, RDF_FORMATS, RDF_NAMES } from '../http/media-type.js'
import type { Trace } from '../log.js'
import { isFailure, STATUS_OF, type Problem } from '../problem.js'
import { originMarks } from './cors.js'
import { readNTriples } from '../rdf/read.js'
import { sharedCacheFields } from './shared-caches.js'
import { writeGraph } from '../rdf/write.js'

/**
 * Every answer but our pages, which have their own policy: nothing that a store, another server or an agent wrote runs as
 * a page of this origin (CSP 3 §6.4.3). Browsers run the scripts of XHTML elements in any XML.
 */
export const CONFINED: Field = ['Content-Security-Policy', "default-src 'none'; sandbox"]

/** The fields of every response: CORS as in LinkedDataHub, and no guessing of media types. */
const COMMON: readonly Field[] = [
  ['Access-Control-Allow-Origin', '*'],
  [
    'Access-Control-Expose-Headers',
    'Accept-Patch, Accept-Post, Age, Allow, Content-Location, ETag, Link, Location, Memento-Datetime, Retry-After, WAC-Allow, WWW-Authenticate',
  ],
  ['X-Content-Type-Options', 'nosniff'],
]
const COMMON_CONFINED: readonly Field[] = [...COMMON, CONFINED]

/** Browsers apply every policy that they receive, so there is one. */
const hasPolicy = (fields: readonly Field[]): boolean => fields.some(([name]) => name === CONFINED[0])

const commonTo = (fields: readonly Field[]): readonly Field[] => (hasPolicy(fields) ? COMMON : COMMON_CONFINED)

/** An answer that was made without `response`. */
export const confined = (answered: Response): Response => ({
  ...answered,
  fields: hasPolicy(answered.fields) ? answered.fields : [...answered.fields, CONFINED],
})

export const READ_METHODS = 'GET, HEAD, OPTIONS'
export const DOCUMENT_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

export function response(status: number, fields: readonly Field[], body?: Buffer): Response {
  // RFC 9110 §8.6: no Content-Length on 204 and 304; all other messages are framed by it, even empty ones.
  const framing: Field[] = status === 204 || status === 304 ? [] : [['Content-Length', String(body?.length ?? 0)]]
  return { status, fields: [...fields, ...framing, ...commonTo(fields)], ...(body !== undefined && { body }) }
}

/** A streamed answer of unknown length. */
export const streamed = (status: number, fields: readonly Field[], body?: AsyncIterable<Uint8Array>): Response => ({
  status,
  fields: [...fields, ...commonTo(fields)],
  ...(body && { body }),
})

/**
 * The RFC 8288 `Link` field: the agent, its modes on this resource, and the endpoints of the application. `more`: links
 * to the history of a document.
 */
export function linkField(
  application: { readonly base: string; readonly iri: string; readonly ontology?: string },
  agent: string | undefined,
  decision: Pick<Decision, 'modes'> | undefined,
  more: readonly string[] = [],
): Field {
  const links = [
    ...(agent === undefined ? [] : [link(agent, ACL('agent'))]),
    ...[...(decision?.modes ?? [])].map((mode) => link(ACL(mode), ACL('mode'))),
    link(`${application.base}sparql`, SD('endpoint')),
    ...linkTo(application.iri, LAPP('application')),
    ...(application.ontology === undefined ? [] : linkTo(application.ontology, LDT('ontology'))),
    link(application.base, LDT('base')),
    ...more,
  ]
  return ['Link', links.join(', ')]
}

/** Other schemes make clients warn or fail. */
const linkTo = (target: string, relation: string): string[] =>
  /^https?:/i.test(target) ? [link(target, relation)] : []

/** RFC 8288 §3.1: the target must be a URI. */
const link = (target: string, relation: string): string => `<${uriOf(target)}>; rel="${relation}"`

/** Design 5: shared caches may store what anonymous clients may read. */
export const isPublic = (
  { webId }: { readonly webId?: string },
  { unenforced }: Pick<Decision, 'unenforced'>,
): boolean => webId === undefined && !unenforced

/** Fields of every response that depend on settings: CORS, and a mark if access control is not enforced. */
export const marksOf = ({ settings }: Pick<Gateway, 'settings'>): Field[] => [
  ...(settings.enforce ? [] : [['Triplegate-Enforce', 'false'] as const]),
  ...originMarks(settings.allowOrigin),
]

/** Errors carry the request's id as in the log. Pages of other origins may read it. */
const idFields = ({ id }: Pick<Request, 'id'>, { status }: Pick<Response, 'status'>): Field[] =>
  status < 400
    ? []
    : [
        ['X-Request-ID', id],
        ['Access-Control-Expose-Headers', 'X-Request-ID'],
      ]

/** True if no store was asked. */
const isFromMemory = ({ fields }: Pick<Response, 'fields'>, { storeMs }: Trace): boolean =>
  storeMs === 0 && fields.some(([name]) => name === 'Age')

/** The fields of an answer that depend on settings and the whole request. */
export const answerMarks = (request: Request, answered: Response, trace: Trace, gateway: Gateway): Field[] => [
  ...sharedCacheFields(
    request,
    answered,
    { isCached: isFromMemory(answered, trace), hasWritten: trace.hasWritten },
    gateway,
  ),
  ...marksOf(gateway),
  ...idFields(request, answered),
]

/** RFC 9110 §8.8.2.1: never later than the time of the answer, in seconds. */
export const lastModifiedField = (time: number | undefined, { now }: Pick<Gateway, 'now'>): Field[] =>
  time === undefined || Math.floor(time / 1000) > Math.floor(now() / 1000)
    ? []
    : [['Last-Modified', formatHttpDate(time)]]

/**
 * The error as an RDF `http:Response` (spec 2.2), in the format that `accept` prefers, or Turtle if it allows none.
 * `status` differs from the problem's status only for errors of the HTTP parser.
 */
export function problemResponse(
  { failure, detail, fields, report }: Problem,
  accept: string | undefined,
  status: number = STATUS_OF[failure],
): Response {
  const phrase = STATUS_CODES[status] ?? 'Unknown'
  const node = blankNode('response')
  const triples = [
    quad(node, iri(RDF('type')), iri(HTTP('Response'))),
    quad(node, iri(DCT('title')), text(detail)),
    quad(node, iri(HTTP('reasonPhrase')), text(phrase)),
    quad(node, iri(HTTP('sc')), iri(SC(statusCodeName(status, phrase)))),
    quad(node, iri(HTTP('statusCodeValue')), typed(String(status), XSD('long'))),
  ]
  const graph = graphOf([...triples, ...((report && readNTriples(report)) || [])])
  const wanted = negotiate(accept, RDF_NAMES) ?? RDF_FORMATS[0]
  const written = writeGraph(graph, wanted)
  const [format, body] = isFailure(written)
    ? ([RDF_FORMATS[0], writeGraph(graph, RDF_FORMATS[0])] as const)
    : [wanted, written]
  const own: Field[] = [
    ['Content-Type', format.contentType],
    ['Cache-Control', 'no-store'],
    ['Vary', 'Accept'],
  ]
  return response(status, [...own, ...fields], Buffer.from(body as string))
}

/** The name in http://www.w3.org/2011/http-statusCodes#. Some phrases there are older than those of RFC 9110. */
const OLDER: Readonly<Record<number, string>> = { 413: 'RequestEntityTooLarge', 414: 'RequestURITooLong' }
const statusCodeName = (status: number, phrase: string): string => OLDER[status] ?? phrase.replace(/[^A-Za-z]/g, '')
