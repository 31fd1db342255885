// Answers with a representation that is whole in memory, RDF or a page: content coding, preconditions, fields.
import { entityTag } from '../../cache/entity-tag.js'
import type { Decision } from '../../policies/decide.js'
import { decisionKeyOf } from '../request/access.js'
import type { Document, Representation } from '../documents/document.js'
import { codedName, LEAST_CODED, type Coding } from '../http/content-coding.js'
import type { Field, ReadyHead, Response } from '../http/exchange.js'
import { agentFields } from '../request/agent-fields.js'
import { codingsFor, evaluateConditions, NOT_CODED } from '../request/negotiate.js'
import type { Context } from '../request/context.js'
import type { Format } from '../http/media-type.js'
import { PAGE_VARY, pageFields } from '../pages/page-fields.js'
import type { Problem } from '../problem.js'
import { headSize, readyHead } from '../http/ready-head.js'
import { marksOf, response } from '../request/respond.js'
import { sharedCacheFields } from '../request/shared-caches.js'
import { wait, type Awaitable, type Steps } from '../maybe-async.js'

export interface Asked {
  readonly context: Context
  readonly decision: Decision
  readonly document: Document
  readonly answeredAt: number
}

/** The representation in a content coding, by the name that it has in its entity-tag. */
type Code = (name: string, coding: Coding) => Awaitable<Representation> | undefined

/** In the content coding that the client prefers, if the representation is large enough for compression to pay. */
export function* answerWhole(
  asked: Asked,
  format: Format,
  plain: Representation,
  { name: variant, language }: Pick<Selected, 'name' | 'language'>,
  code: Code,
): Steps<Response | Problem> {
  const { request, gateway } = asked.context
  const field = request.fields['accept-encoding']
  const isCodable = plain.bytes.length >= LEAST_CODED && gateway.settings.compress
  const whole: Selected = { made: plain, name: variant, isCodable, ...(language !== undefined && { language }) }
  if (field === undefined || !isCodable) return answerWith(asked, format, whole, [])
  const accepted = codingsFor(field, gateway.caches)
  const names = accepted.map((coding) => codedName(variant, coding))
  const [coding] = accepted
  if (coding === undefined) return NOT_CODED
  if (coding === 'identity') return answerWith(asked, format, whole, names)
  const name = names[0]!
  // Design 7: above the limit of requests, no representation is begun.
  const isBegun = request.isAdmitted || asked.document.representations.has(name)
  const coded = isBegun ? code(name, coding) : undefined
  const selected = coded ? { ...whole, made: yield* wait(coded), name, coding } : whole
  return answerWith(asked, format, selected, names)
}

/** A representation as it is sent. */
interface Selected {
  readonly made: Representation
  /** The name of format and coding, in the entity-tag. */
  readonly name: string
  readonly coding?: Coding
  /** True if Accept-Encoding can select another. */
  readonly isCodable: boolean
  /** The language of a page. */
  readonly language?: string
}

/**
 * @param others the names of all representations that the client accepts: it may have any of them (RFC 9110 §13.1.2)
 */
function answerWith(
  { context, decision, document, answeredAt }: Asked,
  format: Format,
  selected: Selected,
  others: readonly string[],
): Response | Problem {
  const { request } = context
  const { name, made, language } = selected
  const { bytes: body, text } = made
  const own = entityTag(document.digest, name)
  const entityTags = others.length === 0 ? [own] : [own, ...others.map((other) => entityTag(document.digest, other))]
  // A page's children and rights change without a change of its date.
  const current = { entityTags, lastModified: language === undefined ? document.lastModified : undefined }
  // RFC 9111 §5.1: the time since the store answered.
  const time = request.receivedAt
  const age = String(Math.max(0, Math.floor((time - answeredAt) / 1000)))
  const outcome = evaluateConditions(request, current)
  if (outcome === 'not-modified') {
    // RFC 9110 §15.4.5: the tag says which of its stored representations the client may continue to use.
    const held = others.find((other) => request.fields['if-none-match']?.includes(entityTag(document.digest, other)))
    const head = headOf(context, decision, document, { ...selected, name: held ?? name }, 304)
    return { status: 304, fields: [], ready: { head, age, time } }
  }
  if (outcome !== 'proceed') return outcome
  const head = headOf(context, decision, document, selected, 200, format)
  return { status: 200, fields: [], ready: { head, age, time, ...(text !== undefined && { text }) }, body }
}

/** Fetch §3.3.2: lists only the fields that this answer has, and Age: a cached read sends no longer list. */
const exposed = (fields: readonly Field[]): Field[] => {
  const names = new Set([...fields.map(([name]) => name), 'Age'])
  return fields.map(([name, value]) => [
    name,
    name === EXPOSED
      ? value
          .split(', ')
          .filter((one) => names.has(one))
          .join(', ')
      : value,
  ])
}
const EXPOSED = 'Access-Control-Expose-Headers'

/** The most heads per agent and state. They live as long as the state, with which the cache counts them. */
const REMEMBERED_HEADS = 4

/**
 * The fields of this representation for this agent, cached for each state of document and rules. @param format of a 200
 */
function headOf(
  context: Context,
  decision: Decision,
  document: Document,
  { made, name, coding, isCodable, language }: Selected,
  status: 200 | 304,
  format?: Format,
): ReadyHead {
  const remembered = document.decisions.Read.get(decisionKeyOf(context.agent))
  const heads = remembered?.decision === decision ? remembered.heads[status] : undefined
  const known = heads?.get(name)
  if (known) return known
  const shown = language !== undefined ? { ...document, lastModified: undefined } : document
  const shared: Field[] = [
    ['ETag', entityTag(document.digest, name)],
    ...agentFields(
      context,
      decision,
      shown,
      `${language === undefined ? 'Accept' : PAGE_VARY}${isCodable ? ', Accept-Encoding' : ''}`,
    ),
    ...(language === undefined ? [] : pageFields(language)),
  ]
  const encoding: Field[] = coding === undefined ? [] : [['Content-Encoding', coding]]
  const own: Field[] = format ? [['Content-Type', format.contentType], ...encoding, ...shared] : shared
  const body = format && made.bytes
  const fields = [...exposed(response(status, own, body).fields), ...marksOf(context.gateway)]
  const isCached = context.trace.storeMs === 0
  // All URLs of the document share the head.
  const asked = { method: context.request.method, requestTarget: document.iri }
  const marks = sharedCacheFields(asked, { status, fields }, { isCached, hasWritten: false }, context.gateway)
  const head = readyHead(status, [...marks, ...fields])
  // Not remembered: the heads of later reads say that they came from the cache.
  if (marks.length > 0 && !isCached) return head
  if (!heads) return head
  let added = headSize(head)
  if (heads.size >= REMEMBERED_HEADS) {
    for (const one of heads.values()) added -= headSize(one)
    heads.clear()
  }
  heads.set(name, head)
  context.application.cache.documents.grown(document.iri, document.original ?? document, added)
  return head
}
