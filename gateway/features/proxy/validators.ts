// Conditions and validators across the Linked Data proxy: each format of the content has its own entity-tag, which
// contains the server's tag. Nothing is stored. Pure.
import { parseEntityTags, type EntityTag } from '../../../cache/entity-tag.js'
import type { Fields } from '../../http/fields.js'

/**
 * Splits one of our entity-tags: the server's own tag, the media type of its content, and the code of the response
 * format. An entity-tag may contain all of these characters (RFC 9110 §8.8.3). Undefined if the tag is not ours.
 */
function partsOf(opaque: string): { opaque: string; mediaType: string; code: string } | undefined {
  const parts = opaque.slice(1, -1).split(';')
  const [mediaType = '', code = ''] = parts.splice(-2)
  const slash = mediaType.indexOf('/', 1)
  if (parts.length === 0 || slash < 0 || slash === mediaType.length - 1 || code === '') return undefined
  return { opaque: `"${parts.join(';')}"`, mediaType, code }
}

/** The entity-tag of the content in a format; undefined if the server sent none, or a malformed one. */
export function proxiedTag(upstream: string | undefined, mediaType: string, code: string): string | undefined {
  const tag = single(upstream)
  return tag && written({ weak: tag.weak, opaque: `${tag.opaque.slice(0, -1)};${mediaType};${code}"` })
}

/** The server's entity-tag, unchanged; undefined if it is malformed. */
export const plainTag = (upstream: string | undefined): string | undefined => {
  const tag = single(upstream)
  return tag && written(tag)
}

function single(upstream: string | undefined): EntityTag | undefined {
  const tags = upstream === undefined || !/^[\x20-\x7e]*$/.test(upstream) ? undefined : parseEntityTags(upstream)
  return tags === '*' || tags?.length !== 1 ? undefined : tags[0]
}

const written = ({ weak, opaque }: EntityTag): string => (weak ? `W/${opaque}` : opaque)

/** True if the client would get content of this media type in the format with this code. */
type IsGiven = (mediaType: string, code: string) => boolean

export interface UpstreamConditions {
  /** The condition fields to send upstream. */
  readonly fields: Readonly<Record<string, string>>
  /** The client's entity-tag that corresponds to the server's current one; undefined if there is none. */
  tagFor(upstream: string | undefined): string | undefined
}

/**
 * The If-None-Match of a read is about formats: entity-tags of other formats than the selected one are ignored, since a
 * 304 would confirm the wrong format. The conditions of a write are about the state, in any format.
 */
export function conditionsOf(fields: Fields, isSafe: boolean, isGiven: IsGiven): UpstreamConditions {
  const known: { readonly ours: string; readonly theirs: string }[] = []
  const translated = (value: string, counts: IsGiven | undefined): string | undefined => {
    const tags = parseEntityTags(value)
    // The server handles malformed conditions.
    if (tags === '*' || !tags) return value
    const sent = tags.flatMap((tag) => {
      const ours = partsOf(tag.opaque)
      if (counts && !(ours && counts(ours.mediaType, ours.code))) return []
      const theirs = ours ? ours.opaque : tag.opaque
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
      // RFC 9110 §13.1.3: the date is ignored if there is an If-None-Match.
      ...(noneMatch === undefined
        ? isSafe && given('if-modified-since', fields['if-modified-since'])
        : given('if-none-match', translated(noneMatch, isSafe ? isGiven : undefined))),
    },
    tagFor(upstream) {
      const tag = single(upstream)
      // RFC 9110 §15.4.5: a 304 has the ETag of the 200. If the server omits it, the tag is known only if exactly one
      // was sent.
      if (!tag) return known.length === 1 ? known[0]!.ours : undefined
      return known.find(({ theirs }) => theirs === tag.opaque)?.ours
    },
  }
}
