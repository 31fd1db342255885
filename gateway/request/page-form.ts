// The forms of pages (design 8): reads them, and sends what a form asks for through the gateway as the equivalent
// request, so that the rights, conditions and limits of the method apply.
import { uriOf } from '../../versioning/memento/time-map.js'
import { isOfOwnPage } from '../../policies/cross-site.js'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { MAX_BODY, readText, tooLarge } from '../http/body.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { isUtf8Encoded, NOT_UTF8 } from '../http/form-encoding.js'
import { N_TRIPLES, parseMediaType } from '../http/media-type.js'
import type { Target } from '../http/target.js'
import type { Member } from '../gateway.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { nTriplesOf, graphOf } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { DCT, HTTP, RDF } from '../rdf/vocabulary.js'
import type { Document } from '../documents/document.js'
import type { Refusal } from '../pages/form-parts.js'
import type { Context } from './context.js'
import { response } from './respond.js'
import { hasMoreFields, rememberForm } from './keep-refused-form.js'

export type FormTarget = Target<Member> & { readonly kind: 'form' }

/** The forms, and the right that each needs on its document. */
export const FORM_RIGHTS: Readonly<Record<string, Mode>> = {
  edit: 'Write',
  add: 'Append',
  new: 'Write',
  delete: 'Write',
  restore: 'Write',
}

export const FORM_METHODS = 'GET, HEAD, POST, OPTIONS'
const FORM_TYPE = 'application/x-www-form-urlencoded'
export const FORM_ACCEPTS: readonly Field[] = [['Accept-Post', FORM_TYPE]]

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

export const formCouldNeed = ({ method }: Request, { form }: FormTarget): readonly Mode[] => [
  isRead(method) ? 'Read' : (FORM_RIGHTS[form] ?? 'Write'),
]

export interface SentForm {
  readonly needs: Mode
  readonly values: URLSearchParams
}

export const neededByForm = (_method: string, sent: SentForm | Problem | undefined): Mode =>
  isFailure(sent) || sent === undefined ? 'Read' : sent.needs

/** Empty for a GET. */
export async function readForm(request: Request, { form }: FormTarget, limit: number): Promise<SentForm | Problem> {
  const needs = isRead(request.method) ? 'Read' : (FORM_RIGHTS[form] ?? 'Write')
  const values = isRead(request.method) ? new URLSearchParams() : await readFields(request, limit)
  return isFailure(values) ? values : { needs, values }
}

/** The fields of a form that was sent. */
export async function readFields(request: Request, limit: number): Promise<URLSearchParams | Problem> {
  const unsupported = (detail: string): Problem => problem('content.unsupported', detail, { fields: FORM_ACCEPTS })
  if (parseMediaType(request.fields['content-type'] ?? '')?.type !== FORM_TYPE) {
    return unsupported(`Forms must be sent as ${FORM_TYPE}. Programs send PUT, POST, PATCH or DELETE to the document.`)
  }
  const refused = (reason: string, detail: string): Problem =>
    reason === 'unsupported' ? unsupported(detail) : problem('request.malformed', detail)
  const text = await readText(request, limit, refused, MAX_BODY)
  rememberForm(request, isFailure(text) ? undefined : text)
  if (isFailure(text)) return text
  if (!isUtf8Encoded(text)) return problem('request.malformed', `The form ${NOT_UTF8}.`)
  return hasMoreFields(text, MOST_FIELDS) ? tooManyFields : new URLSearchParams(text)
}

/** More than any page of the gateway has (form-fields.ts). The form is parsed in one go (design 7). */
const MOST_FIELDS = 2000

const tooManyFields = problem(
  'content.too-large',
  `A form may have at most ${MOST_FIELDS} fields. Enter the rest as Turtle, or upload a file with PUT.`,
)

/** The text of a textarea: browsers send it with CRLF. */
export const areaText = (values: URLSearchParams, name: string): string =>
  (values.get(name) ?? '').replace(/\r\n?/g, '\n')

/** A form names a method, and browsers add credentials by themselves: only a page of this dataspace may send it. */
export const foreignForm = ({ request, dataspace }: Context): Problem | undefined =>
  isOfOwnPage(request.fields, dataspace.origins)
    ? undefined
    : problem(
        'access.cross-site',
        'Forms are accepted only from pages of this gateway. Programs send PUT, POST, PATCH or DELETE to the document.',
      )

/** A request with a form about an existing document. */
export interface AskedForm {
  readonly context: Context
  readonly document: Document
  readonly values: URLSearchParams
  readonly isSent: boolean
  /** The modes that the agent has on the document. */
  readonly modes: readonly Mode[]
}

/** After a write: redirects to the page that shows the result. */
export const seeOther = (location: string): Response =>
  response(303, [
    ['Location', uriOf(location)],
    ['Cache-Control', 'no-store'],
  ])

/** The request that a form stands for. */
export interface Meant {
  readonly method: 'PUT' | 'POST' | 'DELETE'
  /** The URL of a document or an endpoint. */
  readonly url: string
  readonly turtle?: string
  readonly fields?: Readonly<Record<string, string>>
}

export interface Done {
  readonly status: number
  readonly location: string | undefined
  /** The detail of an error. */
  readonly detail: string
  /** Retry-After, if the error has it. */
  readonly fields: readonly Field[]
  /** The report of a violation, in canonical N-Triples. */
  readonly report?: string
}

export const refusalShown = ({ status, detail, report }: Done): Refusal => ({ status, detail, report })

/** RFC 9110 §15.5.13: the document has changed since the person began. */
export const isConflict = ({ status }: Done): boolean => status === 412

/** Fields that identify the client and where the request comes from. */
const KEPT = ['cookie', 'authorization', 'origin', 'sec-fetch-site', 'x-forwarded-for'] as const

export async function sendForm({ request, gateway, trace }: Context, meant: Meant): Promise<Done> {
  const { method, url, turtle = '', fields = {} } = meant
  const content = Buffer.from(turtle)
  const own = Object.fromEntries(KEPT.map((name) => [name, request.fields[name]]))
  // The URL may be of the other application, which may have another origin (design 2).
  const { host, pathname, search } = new URL(url)
  const asked: Request = {
    ...request,
    method,
    requestTarget: pathname + search,
    fields: {
      ...own,
      host,
      accept: N_TRIPLES.mediaType,
      ...(method !== 'DELETE' && { 'content-type': 'text/turtle', 'content-length': String(content.length) }),
      ...fields,
    },
    readBody: (limit, setting) => Promise.resolve(content.length > limit ? tooLarge(limit, setting) : content),
  }
  const done = outcomeOf(await gateway.inside(asked))
  if (done.status < 400) trace.hasWritten = true
  gateway.watchdog.works(request)
  return done
}

function outcomeOf({ status, fields, body }: Response): Done {
  const location = fields.find(([name]) => name === 'Location')?.[1]
  const again = fields.filter(([name]) => name === 'Retry-After')
  if (status < 400 || !Buffer.isBuffer(body)) return { status, location, detail: '', fields: again }
  const triples = readNTriples(body.toString()) ?? []
  const node = triples.find(
    ({ predicate, object }) => predicate.value === RDF('type') && object.value === HTTP('Response'),
  )
  const isOfError = (subject: { readonly value: string }): boolean => subject.value === node?.subject.value
  const detail = triples.find(({ subject, predicate }) => isOfError(subject) && predicate.value === DCT('title'))
  const report = nTriplesOf(graphOf(triples.filter(({ subject }) => !isOfError(subject))))
  return { status, location, detail: detail?.object.value ?? '', fields: again, ...(report && { report }) }
}
