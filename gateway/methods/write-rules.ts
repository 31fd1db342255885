// The rules that every change of a document must keep (design 3), and the description of such a change.
import { LONGEST_PATH } from '../../versioning/git/document-path.js'
import { isWhole, documentTooLarge, type Document, type LargeDocument } from '../documents/document.js'
import type { DocumentState } from '../documents/facts.js'
import { isContainer, isKind, isRoot, parentOf } from '../documents/hierarchy.js'
import type { Asker } from '../evaluation/job-queue.js'
import type { Gateway, Member } from '../gateway.js'
import type { Trace } from '../log.js'
import { problem, type Problem } from '../problem.js'
import type { Context } from '../request/context.js'
import { hidesMailboxes } from '../request/hide-mailboxes.js'
import { checkConstraints } from './constraint-check.js'
import { longValueIn } from './long-values.js'
import type { Next } from './next-document.js'
import { widening, type AccessBefore } from './self-granted-modes.js'

/** Who writes, how and when. */
export interface Writing extends Member {
  readonly gateway: Gateway
  readonly trace: Trace
  /** As the journal and the commit record it. */
  readonly method: string
  /** The WebID of the writer: creator and owner of a new document. */
  readonly agent: string | undefined
  /** The client for which the gateway works (`askerOf`). */
  readonly asker: Asker
  /** Milliseconds since the epoch. */
  readonly time: number
}

/** The change of one document, on which access is decided. */
export interface WrittenChange {
  readonly iri: string
  /** The current state; undefined if the document does not exist. */
  readonly current: Document | LargeDocument | undefined
  /** Undefined if the document is removed. */
  readonly next: Next | undefined
  /** The parent, if the document does not exist yet. */
  readonly parent?: DocumentState | undefined
  /** The agent whose rights limit the content. Absent for content of the gateway itself. */
  readonly by?: Writer
  /** The SHA-1s of the files that came with the write. */
  readonly brought?: readonly string[] | undefined
  /** True if others may have written that the document describes this file. Absent: the writer did. */
  readonly isOfOthers?: ((sha1: string) => boolean | Promise<boolean>) | undefined
  /** The commit that the content was taken from. */
  readonly restores?: string | undefined
}

export interface Writer {
  readonly context: Context
  readonly access: AccessBefore
  /** The types of the document in the appended content, if the agent has only Append. */
  readonly appends?: readonly string[] | undefined
}

/** The reason why the change must not be written. @param all the changes that are written together */
export type WriteRule = (
  change: WrittenChange,
  writing: Writing,
  all: readonly WrittenChange[],
) => undefined | Problem | Promise<undefined | Problem>

/** In this order: the answer names the first rule that any of the changes breaks. */
export const RULES: readonly WriteRule[] = [
  protectedStays,
  rootStays,
  hasParent,
  hasPath,
  addsNoType,
  ({ next }) => next && documentTooLarge(next.document),
  ({ next }) => next && longValueIn(next.document.nTriples),
  ({ current, next, by }) => by && current && next && widening(by.context, current, by.access, next.document),
  meetsConstraints,
]

/** Spec 4.1: the documents of the owner agent and the secretary agent cannot be modified or deleted. */
function protectedStays({ iri }: WrittenChange, { dataspace }: Writing): undefined | Problem {
  return dataspace.protectedDocuments.has(iri)
    ? problem('access.denied', `<${iri}> cannot be changed: it is a document of the owner or the secretary.`)
    : undefined
}

/** Spec 4.1, 7. */
export function rootStays(
  { iri, next }: Pick<WrittenChange, 'iri' | 'next'>,
  { application: { base } }: Pick<Writing, 'application'>,
): undefined | Problem {
  return !next && isRoot(iri, base)
    ? problem('document.root', `The root document <${iri}> cannot be deleted. Leave at least one triple in it.`)
    : undefined
}

/** Spec 4.1: a document is created in an existing container, or in one that the same write creates. */
function hasParent(
  { iri, current, next, parent }: WrittenChange,
  { application: { base } }: Writing,
  all: readonly WrittenChange[],
): undefined | Problem {
  if (!next || current || isRoot(iri, base)) return undefined
  const above = parentOf(iri)
  const change = all.length > 1 ? all.find((one) => one.iri === above) : undefined
  const types = change ? change.next?.document.types : parent?.types
  return types && isContainer(types)
    ? undefined
    : problem('access.denied', `The parent <${above}> must be an existing container.`)
}

export function hasPath(
  { iri, current }: Pick<WrittenChange, 'iri' | 'current'>,
  { application: { mirrored } }: Pick<Writing, 'application'>,
): undefined | Problem {
  return !current && mirrored && Buffer.byteLength(mirrored.pathOf(iri)) > LONGEST_PATH
    ? problem('target.malformed', 'Malformed document URI: it is too long for the repository of its history.')
    : undefined
}

/**
 * Types of a document give rights on it (acl:accessToClass): an agent with Append only must not add one. An agent
 * without Read must not learn whether the document has the type, so this is checked before it is known whether anything
 * changes.
 */
export function addsNoType({ current, by }: Pick<WrittenChange, 'current' | 'by'>): undefined | Problem {
  if (!current || !by?.appends || by.access.modes.includes('Write')) return undefined
  const known = new Set(by.access.mayRead ? current.types : [])
  return by.appends.every((type) => known.has(type) || isKind(type)) ? undefined : ADDS_TYPE
}

const ADDS_TYPE = problem(
  'access.denied',
  'Access not authorized: Write is required to add a type to the document itself.',
)

function meetsConstraints(
  { current, next, by }: WrittenChange,
  writing: Writing,
): undefined | Promise<undefined | Problem> {
  const maySee = !by || (by.access.mayRead && !hidesMailboxes(by.context))
  return next && checkConstraints(writing, wholeOf(current), next.document, maySee)
}

export const wholeOf = (current: WrittenChange['current']): Document | undefined =>
  current && isWhole(current) ? current : undefined
