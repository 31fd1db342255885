// In charge of changing several documents and other graphs at once, as a SPARQL update does (design 3): each document keeps
// what every write keeps, and all are journalled before the store gets one update.
import { LONGEST_PATH } from '../../versioning/git/document-path.js'
import { differenceInSlices } from '../../versioning/memento/difference.js'
import { tooLarge, type Document } from '../documents/document.js'
import { isContainer, isKind, isRoot, parentOf } from '../documents/hierarchy.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { RDF } from '../rdf/vocabulary.js'
import { linesOf } from '../stores/n-triples-lines.js'
import type { GraphEdit } from '../stores/store.js'
import type { Facts } from '../request/access.js'
import type { Context } from '../request/context.js'
import { rootKept } from '../mirror/journalled-update.js'
import { checkConstraints } from './constraint-check.js'
import { recordFiles } from './described-files.js'
import { afterCreation, afterPatch, nextDocument, type Next } from './next-document.js'
import { logOrphans } from './orphans.js'
import { afterFailure, changed, type Writing } from './put-document.js'
import { ADDS_TYPE, widening, type AccessBefore } from './widening.js'
import { writingOf } from './write.js'

/** A document that an update names, as it was found under its lock. */
export interface FoundDocument {
  readonly iri: string
  /** With the parent, where the document does not exist. */
  readonly facts: Facts & { readonly kind: 'document' }
  readonly current: Document | undefined
  readonly access: AccessBefore
  /** Undefined where only the document is read. */
  readonly mode: 'Append' | 'Write' | undefined
}

interface Changed {
  readonly found: FoundDocument
  /** Undefined where the document is removed. */
  readonly next: Next | undefined
}

/** @param others the edits of graphs that are no documents @param isCleared the update clears every graph that its agent may read */
export async function editDocuments(
  context: Context,
  documents: readonly FoundDocument[],
  edits: readonly GraphEdit[],
  { others, isCleared }: { readonly others: readonly GraphEdit[]; readonly isCleared: boolean },
): Promise<undefined | Problem> {
  const changes: Changed[] = []
  for (const found of documents) {
    // CLEAR ALL: the documents of the owner and the secretary stay, and the root keeps its managed triples (spec 4.1).
    if (isCleared && context.dataspace.protectedDocuments.has(found.iri)) continue
    const edit = edits.find(({ graph }) => graph === found.iri)
    const failed = edit && addsUnreadType(found, edit)
    if (failed) return failed
    const next = edit && (await nextOf(context, found, edit))
    if (isFailure(next)) return next
    // Spec 4.1: the root document cannot be deleted.
    if (next === 'absent' && isRoot(found.iri, context.application.base)) {
      if (!isCleared) return rootKept(found.iri)
      const left = await nextDocument(context, found.iri, { method: 'PUT', content: [] }, found.current, found.current)
      if (isFailure(left)) return left
      changes.push({ found, next: left as Next })
      continue
    }
    if (next && next !== 'unchanged') changes.push({ found, next: next === 'absent' ? undefined : next })
  }
  for (const change of changes) {
    const failed =
      refusalOf(context, change, changes) ??
      (await unmetConstraints(context, change)) ??
      (change.next && (await recordFiles(context, change.found.current, change.next.document)))
    if (failed) return failed
  }
  return carryOut(context, changes, others)
}

/** The part of a document that the update leaves. */
async function nextOf(
  context: Context,
  { iri, current }: FoundDocument,
  { removed, added }: GraphEdit,
): Promise<Next | 'absent' | 'unchanged' | Problem> {
  return current ? afterPatch(context, current, { removed, added }) : afterCreation(context, iri, added)
}

function refusalOf(context: Context, { found, next }: Changed, all: readonly Changed[]): undefined | Problem {
  const { dataspace } = context
  const { iri, current, access, facts, mode } = found
  if (dataspace.protectedDocuments.has(iri)) {
    return problem('access.denied', `<${iri}> cannot be changed: it is a document of the owner or the secretary.`)
  }
  if (!next) return undefined
  if (!current) {
    const failed = orphan(context, found, all) ?? tooLongPath(context, iri)
    if (failed) return failed
  } else if (mode === 'Append' && !access.modes.includes('Write') && addsType(current, next.document)) {
    return ADDS_TYPE
  }
  return tooLarge(next.document) ?? widening(context, facts, access, next.document)
}

/** An agent without Read is not told whether the document has the type. */
function addsUnreadType({ iri, current, access, mode }: FoundDocument, { added }: GraphEdit): undefined | Problem {
  if (mode !== 'Append' || !current || access.mayRead || access.modes.includes('Write')) return undefined
  const start = `<${iri}> <${RDF('type')}> <`
  const types = added.flatMap((line) =>
    line.startsWith(start) ? [line.slice(start.length, line.indexOf('>', start.length))] : [],
  )
  return types.every(isKind) ? undefined : ADDS_TYPE
}

const addsType = ({ types: before }: Document, { types }: Document): boolean =>
  types.some((type) => !before.includes(type) && !isKind(type))

/** Spec 4.1: a document can only be created relative to an existing container, or to one that the same update creates. */
function orphan({ application }: Context, { iri, facts }: FoundDocument, all: readonly Changed[]): undefined | Problem {
  if (isRoot(iri, application.base)) return undefined
  const parent = parentOf(iri)
  const change = all.find(({ found }) => found.iri === parent)
  const types = change ? change.next?.document.types : facts.parent?.types
  return types && isContainer(types)
    ? undefined
    : problem('access.denied', `The parent <${parent}> has to be an existing container.`)
}

const tooLongPath = ({ application: { mirrored } }: Context, iri: string): undefined | Problem =>
  mirrored && Buffer.byteLength(mirrored.pathOf(iri)) > LONGEST_PATH
    ? problem('target.malformed', 'Malformed document URI: it is too long for the repository of its history.')
    : undefined

const updating = (context: Context): Writing => ({ ...writingOf(context), method: 'UPDATE' })

const unmetConstraints = async (context: Context, { found, next }: Changed): Promise<undefined | Problem> =>
  next && checkConstraints(updating(context), found.current, next.document, found.access.mayRead)

async function carryOut(
  context: Context,
  changes: readonly Changed[],
  others: readonly GraphEdit[],
): Promise<undefined | Problem> {
  const writing = updating(context)
  const { application, trace, method, agent, time } = writing
  const { versions, documents } = application.cache
  if (changes.length + others.length === 0) return undefined
  const asOf = changes.map(({ found }) => versions.of(found.iri))
  const journalled = changes.map(({ found: { iri, current }, next }) => {
    return { document: iri, method, agent, time, before: current?.nTriples, content: next?.document.nTriples }
  })
  const edits = await Promise.all(journalled.map(editOf))
  const recorded = others.map(({ graph }) => graph).filter((graph) => application.isRecorded(graph))
  const conclude =
    recorded.length > 0 ? await application.journalled.prepare({ documents: recorded, method, agent, time }) : undefined
  if (isFailure(conclude)) return conclude
  const failed = await trace.write(application.journalled.edit(journalled, [...edits, ...others]))
  await conclude?.(failed)
  for (const [i, { found, next }] of changes.entries()) {
    const { iri, current } = found
    if (failed) {
      afterFailure(writing, iri, failed)
      continue
    }
    // A store may return what is new in another spelling.
    if (next?.isRewritable) versions.changed(iri)
    else documents.put(iri, next?.document, asOf[i]!)
    changed(writing, iri, next ? { nTriples: next.document.nTriples } : 'absent')
    logOrphans(context, current, next?.document)
  }
  return failed
}

async function editOf({
  document,
  before = '',
  content = '',
}: {
  readonly document: string
  readonly before: string | undefined
  readonly content: string | undefined
}): Promise<GraphEdit> {
  const { removed, added } = await differenceInSlices(before, content)
  // A removed graph goes as a whole: the store may have lines that the gateway spells in another way.
  const isCleared = content === ''
  return { graph: document, isCleared, removed: isCleared ? [] : removed, added, after: content }
}

/** The lines of a graph that is no document, after an edit. */
export const afterEdit = (before: string, { removed, added }: GraphEdit): string => {
  const gone = new Set(removed)
  const lines = [...linesOf(before).filter((line) => !gone.has(line)), ...added]
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}
