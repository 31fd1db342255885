// In charge of conditions and validators across the Linked Data proxy: each form that an answer is given in has its own
// entity-tag, made from that of the server, which can be had back from it. Nothing is remembered. Pure.
import { parseEntityTags, type EntityTag } from '../../cache/entity-tag.js'
import type { Fields } from '../http/fields.js'

// The server's, the media type that it has given, the code of the form that this was given in: all of it may stand in an
// entity-tag (RFC 9110 §8.8.3).
const OURS = /^"(.*);([^;"]+\/[^;"]+);([^;"]+)"$/

/** The entity-tag of a form; undefined when the server has given none, or a malformed one. */
export function proxiedTag(upstream: string | undefined, mediaType: string, code: string): string | undefined {
  const tag = single(upstream)
  return tag && written({ weak: tag.weak, opaque: `${tag.opaque.slice(0, -1)};${mediaType};${code}"` })
}

/** The server's entity-tag as it stands; undefined when it is malformed. */
export const plainTag = (upstream: string | undefined): string | undefined => {
  const tag = single(upstream)
  return tag && written(tag)
}

function single(upstream: string | undefined): EntityTag | undefined {
  const tags = upstream === undefined || !/^[\x20-\x7e]*$/.test(upstream) ? undefined : parseEntityTags(upstream)
  return tags === '*' || tags?.length !== 1 ? undefined : tags[0]
}

const written = ({ weak, opaque }: EntityTag): string => (weak ? `W/${opaque}` : opaque)

/** Whether content of this media type would be given in the form with this code. */
type IsGiven = (mediaType: string, code: string) => boolean

export interface Conditions {
  /** As the server is to have them. */
  readonly fields: Readonly<Record<string, string>>
  /** The client's entity-tag for one that the server says is current, if it has one. */
  tagFor(upstream: string | undefined): string | undefined
}

/**
 * A reader's If-None-Match is about forms: those that would not be given now do not count, or a 304 would confirm another
 * form than the one asked for. A writer's conditions are about the state, in whichever form it was read.
 */
export function conditionsOf(fields: Fields, isSafe: boolean, isGiven: IsGiven): Conditions {
  const known: { readonly ours: string; readonly theirs: string }[] = []
  const translated = (value: string, counts: IsGiven | undefined): string | undefined => {
    const tags = parseEntityTags(value)
    // What is malformed is for the server to judge.
    if (tags === '*' || !tags) return value
    const sent = tags.flatMap((tag) => {
      const [, opaque, mediaType, code] = OURS.exec(tag.opaque) ?? []
      if (counts && !(opaque !== undefined && counts(mediaType!, code!))) return []
      const theirs = opaque === undefined ? tag.opaque : `"${opaque}"`
      known.push({ ours: written(tag), theirs })
      return [written({ weak: tag.weak, opaque: theirs })]
    })
    return sent.length > 0 ? [...new Set(sent)].join(', ') : undefined
  }
  const given = (name: string, value: string | undefined): Record<string, string> =>
    value === undefined ? {} : { [name]: value }
  const { 'if-match': match, 'if-none-match': noneMatch } = fields
  return {
    fields: {
      ...(match === undefined
        ? given('if-unmodified-since', fields['if-unmodified-since'])
        : given('if-match', translated(match, undefined))),
      // RFC 9110 §13.1.3: with If-None-Match, the date does not count.
      ...(noneMatch === undefined
        ? isSafe && given('if-modified-since', fields['if-modified-since'])
        : given('if-none-match', translated(noneMatch, isSafe ? isGiven : undefined))),
    },
    tagFor(upstream) {
      const tag = single(upstream)
      // RFC 9110 §15.4.5: a 304 has the ETag of the 200; where it lacks it and one was asked about, it is that one.
      if (!tag) return known.length === 1 ? known[0]!.ours : undefined
      return known.find(({ theirs }) => theirs === tag.opaque)?.ours
    },
  }
}
