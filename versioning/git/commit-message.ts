// The author, date and message of a commit: written here, and read back from commits by anyone.
import { createHash } from 'node:crypto'
import type { VersionedChange } from '../change.js'

export interface Ident {
  readonly name: string
  readonly email: string
}

/** The part of a change that a message describes; `document` is absent if the change has several. */
export type DescribedChange = Pick<VersionedChange, 'id' | 'method' | 'agent'> &
  Partial<Pick<VersionedChange, 'document' | 'added' | 'removed' | 'restores'>>

/** The trailers of a message; a commit that the gateway did not make may have none. */
export interface Trailers {
  readonly agent?: string
  readonly document?: string
  readonly method?: string
  readonly journalId?: string
  readonly added?: number
  readonly removed?: number
  /** Commit id, 40 hex digits. */
  readonly restores?: string
}

export const ANONYMOUS_AUTHOR = 'urn:anonymous'
/** The committer; the author is the agent that wrote. */
export const GATEWAY: Ident = { name: 'Triplegate', email: 'triplegate@gateway.invalid' }

// Characters that no IRI has (RFC 3987 §2.2, §4.1): white space, controls, and those that change the direction of text.
const NOT_IN_IRI = /[\s\p{Cc}\p{Z}<>"\\^`{|}\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
const iriText = (iri: string): string => iri.toWellFormed().replace(NOT_IN_IRI, encodeURIComponent)

/** The author for a WebID (spec 9.2 rule 1): the name is the WebID, the address cannot exist (RFC 2606 §2). */
export function commitAuthor(agent = ANONYMOUS_AUTHOR): Ident {
  const name = iriText(agent).replace(/[^\x21-\x7e]+/g, encodeURIComponent)
  return { name, email: `${createHash('sha256').update(agent).digest('hex').slice(0, 16)}@webid.invalid` }
}

/**
 * The date of a commit: ms, in whole seconds. The author's date is the time of the change. The committer's date is
 * never earlier than the parent's: a change may be found after later changes were committed.
 */
export const commitTime = (time: number, parentTime = 0): number => Math.max(Math.floor(time / 1000) * 1000, parentTime)

/** A subject line and the trailers, without a newline at the end. */
export function commitMessage({ id, method, agent, document, added, removed, restores }: DescribedChange): string {
  const subject = document === undefined ? 'several documents' : pathOf(document)
  const trailers: readonly (readonly [string, string | undefined])[] = [
    ['Agent', agent],
    ['Document', document],
    ['Method', method],
    ['Journal-Id', id],
    ['Restores', restores],
  ]
  const lines = trailers.flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${iriText(value)}`]))
  if (added !== undefined && removed !== undefined) lines.push(`Triples: +${added} -${removed}`)
  return `${iriText(method)} ${subject}\n\n${lines.join('\n')}`
}

const pathOf = (document: string): string => iriText(document.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(?=\/)/i, ''))

/**
 * Reads the trailers from the last paragraph, unless the message has only one. The first well-formed value of each
 * trailer counts.
 */
export function readTrailers(message: string): Trailers {
  const paragraphs = message
    .replaceAll('\r\n', '\n')
    .trimEnd()
    .split(/\n[ \t]*\n/)
  const lines = paragraphs.length > 1 ? paragraphs.at(-1)!.split('\n') : []
  const value = (key: string, form: RegExp): RegExpExecArray | undefined => {
    const found = lines.map((line) => (line.startsWith(`${key}: `) ? form.exec(line.slice(key.length + 2)) : null))
    return found.find((match) => match !== null) ?? undefined
  }
  const iri = /^[^\s<>"]+$/
  const triples = value('Triples', /^\+(\d{1,15}) -(\d{1,15})$/)
  const read = {
    agent: value('Agent', iri)?.[0],
    document: value('Document', iri)?.[0],
    method: value('Method', /^[A-Z]{1,16}$/)?.[0],
    journalId: value('Journal-Id', /^[\w-]{1,64}$/)?.[0],
    added: triples && Number(triples[1]),
    removed: triples && Number(triples[2]),
    restores: value('Restores', /^[0-9a-f]{40}$/)?.[0],
  }
  return Object.fromEntries(Object.entries(read).filter(([, its]) => its !== undefined))
}
