// Evaluates the preconditions of a write (RFC 9110 §13) on the state that the store has now.
import { entityTag } from '../../cache/entity-tag.js'
import { entityTagOf, type Document } from '../documents/document.js'
import { CODINGS, codedName } from '../http/content-coding.js'
import type { Field, Request } from '../http/exchange.js'
import { HTML, negotiate, RDF_FORMATS, RDF_NAMES } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { evaluateConditions } from '../request/negotiate.js'
import type { Context } from '../request/context.js'
import { lastModifiedField } from '../request/respond.js'
import { shownTo } from '../request/hide-mailboxes.js'
import { isWithPrefixes } from '../stores/dataset-prefixes.js'

const CONDITIONS = ['if-match', 'if-none-match', 'if-unmodified-since'] as const

export const isConditional = (fields: Request['fields']): boolean =>
  CONDITIONS.some((name) => fields[name] !== undefined)

/** True if the client names the state that the write replaces, or that there is none. */
export const namesState = (fields: Request['fields']): boolean =>
  (fields['if-match'] !== undefined && fields['if-match'].trim() !== '*') || fields['if-none-match']?.trim() === '*'

/**
 * RFC 9110 §13.1.1, §13.1.2: a write may name the entity-tag of the state in any format and content coding.
 * @param mayRead false: to an agent without Read the document has neither entity-tag nor date (RFC 9110 §13.1.4), since
 * conditions would reveal them. `*` works for every agent who may write.
 */
export function preconditions(context: Context, current: Document | undefined, mayRead: boolean): Problem | undefined {
  const {
    request: { fields, receivedAt },
    gateway,
  } = context
  if (gateway.settings.requirePreconditions && current && !isConditional(fields)) {
    return problem('precondition.required', 'A write to an existing document needs If-Match with its entity-tag.')
  }
  if (!isConditional(fields)) return undefined
  const shown = current && shownTo(context, current)
  const validators =
    shown &&
    (mayRead
      ? {
          entityTags: [...entityTagsOf(shown), ...tagsOfOthers(shown, fields)],
          lastModified: shown.lastModified,
        }
      : { entityTags: [] })
  const outcome = evaluateConditions({ fields, receivedAt }, validators, false)
  if (!isFailure(outcome)) return undefined
  if (!shown || !mayRead || outcome.failure !== 'precondition.failed') return outcome
  // The client learns the current state, as by a read.
  const format = negotiate(context.accept, RDF_NAMES) ?? RDF_FORMATS[0]
  const state: Field[] = [['ETag', entityTagOf(shown, format)], ...lastModifiedField(shown.lastModified, gateway)]
  return { ...outcome, fields: [...outcome.fields, ...state] }
}

/**
 * The pages of a state differ by rights and look, and its Turtle by the dataset's prefixes; each has its own
 * entity-tag. These are the tags in the request that belong to this state.
 */
const tagsOfOthers = ({ digest }: Document, fields: Request['fields']): string[] =>
  `${fields['if-match']} ${fields['if-none-match']}`
    .match(/"[^"]*"/g)
    ?.filter((tag) => tag.startsWith(`"${digest}.`))
    .filter((tag) => {
      const code = tag.slice(digest.length + 2)
      return code.startsWith(HTML.code) || RDF_NAMES.some((format) => isWithPrefixes(code, format))
    }) ?? []

/** The tags of the state in every format and content coding. */
const entityTagsOf = ({ digest }: Document): string[] =>
  RDF_NAMES.flatMap(({ code }) =>
    (['identity', ...CODINGS] as const).map((coding) => entityTag(digest, codedName(code, coding))),
  )
