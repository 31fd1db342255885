// GET and HEAD on documents too large for memory (design 3, 5): streamed from the store, uncached, in constant
// memory, with the entity-tag at the end.
import { digestOf, entityTag, makeLineSum } from '../../cache/entity-tag.js'
import type { Decision } from '../../policies/decide.js'
import type { LargeDocument } from '../documents/document.js'
import { hashedPieces } from '../documents/mailboxes.js'
import type { Field, Response } from '../http/exchange.js'
import { nTriplesLine } from '../rdf/graph.js'
import { callOf, type Context } from '../request/context.js'
import type { Format } from '../http/media-type.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { readStored } from '../rdf/read.js'
import { agentFields } from '../request/agent-fields.js'
import { evaluateConditions } from '../request/negotiate.js'
import { response, streamed } from '../request/respond.js'
import { hidesMailboxes } from '../request/hide-mailboxes.js'
import { StoreBreak } from '../stores/store.js'
import { stream } from '../request/stream.js'

export async function readLarge(
  context: Context,
  decision: Decision,
  document: LargeDocument,
  format: Format,
): Promise<Response | Problem> {
  const { application, request, trace } = context
  const { iri, lastModified } = document
  const isHashed = hidesMailboxes(context)
  const digest = isHashed ? document.hashedDigest : document.digest
  const shared = agentFields(context, decision, document)
  const tagOf = (value: string): string => entityTag(value, format.code)
  // The digest is known only if the document has been streamed to its end since its last change.
  const entityTags = digest === undefined ? [] : [tagOf(digest)]
  const outcome = evaluateConditions(request, { entityTags, lastModified })
  if (outcome === 'not-modified') return response(304, [...entityTags.map((tag) => ['ETag', tag] as const), ...shared])
  if (outcome !== 'proceed') return outcome

  const fields: Field[] = [['Content-Type', format.contentType], ...shared]
  if (request.method === 'HEAD') return streamed(200, fields)
  const pieces = await trace.store(application.store.stream(iri, callOf(context)))
  if (isFailure(pieces)) return pieces
  if (!pieces || application.cache.versions.of(iri) !== document.version) {
    await pieces?.[Symbol.asyncIterator]().return?.()
    // The decision was made on an earlier state, not on what would be sent now.
    return problem('access.unavailable', 'The document has just been changed.', { fields: [['Retry-After', '1']] })
  }
  let tag: string | undefined
  const sent = digested(isHashed ? hashedPieces(pieces) : pieces, application.cache.tagKey, (value) => {
    if (isHashed) document.hashedDigest = value
    else document.digest = value
    tag = tagOf(value)
  })
  // RFC 9110 §8.8.3: an entity-tag that is computed while sending goes into the trailer section.
  return { ...(await stream(context, sent, fields)), trailer: { name: 'ETag', value: () => tag } }
}

/** Most lines of a store are canonical: no escapes, one space between terms, no capitals in the language tag. */
const CANONICAL =
  /^(?:<[^\\>]*>|_:\S+) <[^\\>]*> (?:<[^\\>]*>|_:\S+|"[^"\\\x00-\x1f\x7f]*"(?:@[a-z0-9-]+|\^\^<(?!http:\/\/www\.w3\.org\/2001\/XMLSchema#string>)[^\\>]*>)?) \.$/
/** Longer lines are sent too, but the document then has no entity-tag. */
const MAX_LINE = 4 * 1024 * 1024

/** Passes the pieces on unchanged, and returns the digest of their triples at the end (cache/entity-tag.ts). */
async function* digested(
  pieces: AsyncIterable<Uint8Array>,
  tagKey: string,
  end: (digest: string) => void,
): AsyncGenerator<Uint8Array> {
  const sum = makeLineSum(tagKey)
  const decoder = new TextDecoder()
  let rest: string | undefined = ''
  const add = (line: string): void => {
    if (CANONICAL.test(line)) return sum.add(line)
    const triples = readStored(line)
    if (isFailure(triples)) throw new StoreBreak(triples)
    for (const triple of triples) sum.add(nTriplesLine(triple))
  }
  for await (const piece of pieces) {
    if (rest !== undefined) {
      const lines: string[] = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop()!
      lines.forEach(add)
      if (rest.length > MAX_LINE) rest = undefined
    }
    yield piece
  }
  if (rest === undefined) return
  add(rest)
  end(digestOf(sum.value(), tagKey))
}
