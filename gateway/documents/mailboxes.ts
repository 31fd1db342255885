// Hides mailboxes from anonymous clients of the admin application: replaces `foaf:mbox` by `foaf:mbox_sha1sum` (design
// 3).
import { createHash } from 'node:crypto'
import { changedSum } from '../../cache/entity-tag.js'
import { documentDifference } from '../../versioning/memento/difference.js'
import { documentOfText, type Document, type HasTags } from './document.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { iri, nTriplesLine, quad, text, type Quad } from '../rdf/graph.js'
import { readCanonical, readStored } from '../rdf/read.js'
import { changedLines } from '../rdf/sorted-lines.js'
import { FOAF } from '../rdf/vocabulary.js'
import { StoreBreak } from '../stores/store.js'

const MAILBOX = FOAF('mbox')
const HASH = FOAF('mbox_sha1sum')

/** FOAF: the SHA-1 of the mailto: IRI in hexadecimal. Replaces mailboxes in other properties too. */
export function withHashedMailbox(triple: Quad): Quad {
  const isMailbox = triple.predicate.value === MAILBOX
  const { value } = triple.object
  const isMailto = /^mailto:/i.test(value)
  if (!isMailbox && !isMailto) return triple
  const sum = createHash('sha1')
    .update(isMailto ? value : `mailto:${value}`)
    .digest('hex')
  return quad(triple.subject, isMailbox ? iri(HASH) : triple.predicate, text(sum))
}

/** The document itself if it has no mailbox. Made once per state; decisions are made on the original document. */
export function withHashedMailboxes({ cache }: HasTags, document: Document, base: string): Document {
  if (document.hashed) return document.hashed
  document.hashed = document
  if (!SUSPECT.test(document.nTriples)) return document
  const suspects = document.nTriples.split('\n').filter((line) => SUSPECT.test(line))
  const lines = readCanonical(suspects.join('\n')).map((triple) => nTriplesLine(withHashedMailbox(triple)))
  const nTriples = changedLines(document.nTriples, suspects, lines)
  const sum = changedSum(document.sum, documentDifference(document.nTriples, nTriples), cache.tagKey)
  const shown = documentOfText(document.iri, base, { nTriples, sum }, cache.tagKey, document)
  cache.documents.grown(document.iri, document, 2 * shown.nTriples.length)
  return (document.hashed = shown)
}

/** Matches text that may contain a mailbox, even one spelled with escapes. */
const SUSPECT = /mbox|mailto:|\\u/i

/** For N-Triples in any spelling, such as those of a version. Unreadable lines are kept for the caller to refuse. */
export function hashedNTriples(nTriples: string): string {
  if (!SUSPECT.test(nTriples)) return nTriples
  const lines = nTriples.split('\n').map((line) => {
    const shown = hashedLine(line)
    return isFailure(shown) ? line : shown
  })
  return [...new Set(lines)].join('\n')
}

/** In characters. Lines of a store are far shorter. */
const MAX_LINE = 4 * 1024 * 1024
const TOO_LONG = problem(
  'store.too-large',
  'A statement of the document is too large to show to anonymous clients. Log in to read it.',
)

/** `hashedNTriples` for N-Triples streamed from a store. */
export async function* hashedPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const lines: string[] = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop()!
    if (rest.length > MAX_LINE) throw new StoreBreak(TOO_LONG)
    if (lines.length > 0) yield Buffer.from(lines.map((line) => `${orBreak(hashedLine(line))}\n`).join(''))
  }
  if (rest) yield Buffer.from(orBreak(hashedLine(rest)))
}

function hashedLine(line: string): string | Problem {
  if (!SUSPECT.test(line)) return line
  const triples = readStored(line)
  return isFailure(triples) ? triples : triples.map((triple) => nTriplesLine(withHashedMailbox(triple))).join('\n')
}

function orBreak(line: string | Problem): string {
  if (isFailure(line)) throw new StoreBreak(line)
  return line
}
