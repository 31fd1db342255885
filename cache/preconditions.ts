// Evaluates the precondition fields of a request, in the order of RFC 9110 §13.2.2. Pure.
import { parseEntityTags, strongMatch, weakMatch } from './entity-tag.js'
import { parseHttpDate } from './http-date.js'

export interface PreconditionFields {
  readonly 'if-match'?: string | undefined
  readonly 'if-none-match'?: string | undefined
  readonly 'if-modified-since'?: string | undefined
  readonly 'if-unmodified-since'?: string | undefined
}

/** The current state: its acceptable entity-tags (with quotes), and its last change (ms since the epoch). */
export interface Validators {
  readonly entityTags: readonly string[]
  readonly lastModified?: number | undefined
}

export type ConditionOutcome = 'proceed' | 'not-modified' | 'failed' | 'malformed'

/** `current` is undefined if there is no current representation. `isSafe`: GET or HEAD. */
export function evaluatePreconditions(
  fields: PreconditionFields,
  current: Validators | undefined,
  isSafe: boolean,
  now: number,
): ConditionOutcome {
  const ifMatch = fields['if-match']
  if (ifMatch !== undefined) {
    const tags = parseEntityTags(ifMatch)
    if (!tags) return 'malformed'
    if (!current || !strongMatch(tags, current.entityTags)) return 'failed'
  } else if (fields['if-unmodified-since'] !== undefined) {
    // RFC 9110 §13.1.4: the field is ignored if it is not a date, or if the resource has no modification date.
    const since = parseHttpDate(fields['if-unmodified-since'], now)
    if (since !== undefined && current?.lastModified !== undefined && isAfter(current.lastModified, since, now)) {
      return 'failed'
    }
  }
  const ifNoneMatch = fields['if-none-match']
  if (ifNoneMatch !== undefined) {
    const tags = parseEntityTags(ifNoneMatch)
    // Ignoring a malformed condition is harmless on a read, but a write could destroy a document.
    if (!tags) return isSafe ? 'proceed' : 'malformed'
    if (current && weakMatch(tags, current.entityTags)) return isSafe ? 'not-modified' : 'failed'
  } else if (isSafe && fields['if-modified-since'] !== undefined) {
    const since = parseHttpDate(fields['if-modified-since'], now)
    if (since !== undefined && current?.lastModified !== undefined && !isAfter(current.lastModified, since, now)) {
      return 'not-modified'
    }
  }
  return 'proceed'
}

/**
 * True if the change must be taken for a later one. A date in the future stays while the content changes (RFC 9110
 * §8.8.2.1), so it never shows that nothing has changed.
 */
const isAfter = (changed: number, since: number, now: number): boolean =>
  seconds(changed) > seconds(Math.min(since, now))

// HTTP-dates have no fractions of a second.
const seconds = (time: number): number => Math.floor(time / 1000)
