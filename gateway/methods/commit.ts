// The single write path (design 3). Under locks, and on the current state in the store, one list of rules checks every
// change of a document. Then all changes are journalled, sent to the store as one request, and applied to caches, rules
// and profiles.
import type { WriteBasis } from '../../versioning/history.js'
import { differenceInSlices } from '../../versioning/memento/difference.js'
import { type Document, isWhole, type LargeDocument } from '../documents/document.js'
import type { DocumentState } from '../documents/facts.js'
import { isContainer, isRoot, parentOf } from '../documents/hierarchy.js'
import { type Lock, underLocks } from '../documents/locks.js'
import { documentsBelow } from '../documents/subtree.js'
import { isSha1 } from '../files/files.js'
import { claimOf, describedAmong, uploadsOf } from '../files/sweep-files.js'
import type { Access, Application, Gateway, Member } from '../gateway.js'
import { hadNoEffect, hasNoLaterEffect } from '../mirror/write-failures.js'
import { type Problem, isFailure } from '../problem.js'
import { linesBeginning } from '../rdf/sorted-lines.js'
import { NFO, RDF } from '../rdf/vocabulary.js'
import { mayReadFile } from '../request/file-access.js'
import { linesOf } from '../stores/n-triples-lines.js'
import { type GraphEdit, LATEST_WRITE_MS } from '../stores/store.js'
import { graphsChanged } from './changed-graphs.js'
import { longValueIn } from './long-values.js'
import { RULES, type Writing, type WrittenChange, wholeOf } from './write-rules.js'
import { setImmediate as eventLoopTurn } from 'node:timers/promises'

/** The most documents whose number is checked. */
const MOST = 1000

/** Runs after the answer to the write. @param next undefined if the document is deleted */
function logOrphans(
  { application, gateway: { log } }: Pick<Member, 'application'> & { readonly gateway: Pick<Gateway, 'log'> },
  current: DocumentState | undefined,
  next: DocumentState | undefined,
): void {
  if (!current || !isContainer(current.types)) return
  const { iri } = current
  if (next && isContainer(next.types)) return
  void documentsBelow(application, iri, MOST).then((below) => {
    if (isFailure(below)) return log.warn({ document: iri, problem: below }, 'orphans cannot be counted')
    const orphans = below.hasMore ? undefined : below.documents.filter((document) => parentOf(document) === iri).length
    if (orphans === 0) return
    const message = 'a container with documents was deleted: they are orphans until it is created again'
    log.warn({ document: iri, orphans: orphans ?? `of ${MOST} documents or more below it` }, message)
  })
}

/** The most files of one write that its agent may pass on, since each takes a query; and those of one query. */
const MOST_FILES = 100

/**
 * A document that begins to describe a file gives its readers the right to read it only if the writer brings the file
 * or may read it. A right of an earlier document with this name, or of an earlier state of this one, ends here; content
 * that others may have written brings it back, and gives no other. Call it before the document is written. Returns these
 * files.
 */
async function recordFiles(
  { application }: Pick<Writing, 'application'>,
  { current, next, by, brought = [], isOfOthers }: WrittenChange,
  together: readonly string[],
): Promise<readonly string[] | Problem> {
  if (!next) return []
  const { files } = application
  const { iri } = next.document
  const all = described(next.document, application)
  const before = current && (await describedBefore(application, current, all))
  if (isFailure(before)) return before
  const fresh = all.filter((sha1) => !before?.has(sha1))
  const claim = claimOf(application, next.document.owners[0], together)
  let asked = 0
  for (const sha1 of fresh) {
    if (brought.includes(sha1) || !(await files.find(sha1))) continue
    const mayRead = by !== undefined && asked++ < MOST_FILES && (await mayReadFile(by.context, sha1))
    if (isFailure(mayRead)) return mayRead
    const gives = mayRead && ((await files.documentsOf(sha1)).has(iri) || !(await isOfOthers?.(sha1)))
    const failed = await (gives ? files.addDocument(sha1, iri, claim) : files.removeDocument(sha1, iri))
    if (failed) return failed
  }
  return fresh
}

/** The store is asked if the content cannot be read: then the readers of the document keep the files too. */
async function describedBefore(
  application: Writing['application'],
  current: Document | LargeDocument,
  sha1s: readonly string[],
): Promise<ReadonlySet<string> | Problem> {
  if (isWhole(current)) return new Set(described(current, application))
  const stored: string[] = []
  const before = new Set<string>()
  for (const sha1 of sha1s) if (await application.files.find(sha1)) stored.push(sha1)
  for (let at = 0; at < stored.length; at += MOST_FILES) {
    const some = await describedAmong(application, stored.slice(at, at + MOST_FILES), current.iri)
    if (isFailure(some)) return some
    for (const sha1 of some) before.add(sha1)
  }
  return before
}

/** The SHA-1s of the files that these triples describe. */
export function described({ nTriples }: Pick<Document, 'nTriples'>, application: Writing['application']): string[] {
  const uploads = `<${uploadsOf(application)}`
  const typing = `> <${RDF('type')}> <${NFO('FileDataObject')}> .`
  return linesBeginning(nTriples, uploads)
    .filter((line) => line.endsWith(typing))
    .map((line) => line.slice(uploads.length, -typing.length))
    .filter(isSha1)
}

export interface WritePlan<Answer> {
  readonly changes: readonly WrittenChange[]
  /** The edits of graphs that are not documents. */
  readonly others?: readonly GraphEdit[]
  /** The graphs that the plan has read, except those that it changes. */
  readonly read?: readonly string[]
  /** The containers whose lists of children the plan has read. */
  readonly children?: readonly string[]
  /** Receives a change that breaks a rule; the others are written. Without it, nothing is written. */
  readonly leaveOut?: (change: WrittenChange, why: Problem) => void
  /** Called under the locks. @param failed why the store has not done the write, or may not have */
  answer(failed: Problem | undefined): Answer | Promise<Answer>
}

interface Place {
  readonly locks: readonly Lock[]
  /** The graphs with a history that may be written: their writes in doubt are settled first. */
  readonly settles: readonly string[]
  /** Aborts the write until its locks are taken. */
  readonly signal?: AbortSignal
}

/** @param plan reads and decides, under the locks: no other request changes these documents until the answer */
export const commit = <Answer>(
  writing: Writing,
  { locks, settles, signal }: Place,
  plan: () => Promise<WritePlan<Answer> | Problem>,
): Promise<Answer | Problem> =>
  underLocks(
    writing.gateway,
    locks,
    async () => {
      for (const iri of settles) {
        const doubt = await writing.application.journalled.settle(iri)
        if (doubt) return doubt
      }
      for (let tries = 1; ; tries++) {
        const decided = decidedNow(writing)
        const planned = await plan()
        if (isFailure(planned)) return planned
        const done = await carryOutPlan(writing, planned, decided)
        if (isFailure(done)) return done
        if (done.failed?.failure !== 'write.outdated' || tries === MOST_TRIES) return planned.answer(done.failed)
        await writing.dataspace.ruleChanges.over(RULES_MS)
      }
    },
    signal,
  )

/** The most attempts of a write, which is decided again if the rules have changed meanwhile. */
const MOST_TRIES = 5
/** How long a write waits for running changes of rules. */
const RULES_MS = 1000

/**
 * The basis of the plan, as positions of the log. Its documents are locked, so the plan sees their last state. A change
 * of rules is decided on the current rules, which say who may change them.
 */
function decidedNow({ application: { kind, mirrored }, dataspace: { admin, ruleChanges } }: Writing): WriteBasis {
  const [asOf, at] = [newestIn(mirrored), kind === 'admin' ? undefined : newestIn(admin.mirrored)]
  return { ...(asOf !== undefined && { asOf }), ...(at !== undefined && { rules: ruleChanges.followed(at) }) }
}

/** Returns a problem if the plan may not be carried out. `failed`: why the store has not done it, or may not have. */
async function carryOutPlan(
  writing: Writing,
  plan: Omit<WritePlan<unknown>, 'answer'>,
  decided: WriteBasis,
): Promise<{ readonly failed: undefined | Problem } | Problem> {
  const { others = [] } = plan
  const checked = await check(writing, plan.changes, plan.leaveOut)
  if (isFailure(checked)) return checked
  const { kept, files } = checked
  for (const { added } of others) {
    const long = await longValueIn(added.join('\n'))
    if (long) return long
  }
  if (kept.length + others.length === 0) return { failed: undefined }
  const over = beginRuleChange(writing)
  try {
    return { failed: await carryOut(writing, kept, others, basisOf(decided, { ...plan, changes: kept }, files)) }
  } finally {
    over()
  }
}

/** Call it before a change is in the log, and the returned function once decisions follow the change. */
export const beginRuleChange = ({
  application: { kind, mirrored },
  dataspace: { ruleChanges },
}: Member): (() => void) => (kind === 'admin' ? ruleChanges.begin(newestIn(mirrored) ?? 0) : () => undefined)

/** The position in the log of a state that is read now. */
const newestIn = (mirrored: Application['mirrored']): number | undefined => mirrored?.history.log.newest()

/** How many changes are checked before other requests run. */
const AT_ONCE = 16

/**
 * The changes that break no rule, and the files that their documents begin to describe: those are recorded after all
 * changes have been checked.
 */
async function check(
  writing: Writing,
  changes: readonly WrittenChange[],
  leaveOut: WritePlan<unknown>['leaveOut'],
): Promise<{ readonly kept: readonly WrittenChange[]; readonly files: readonly string[] } | Problem> {
  let kept = changes
  for (const rule of RULES) {
    const keeping: WrittenChange[] = []
    for (let at = 0; at < kept.length; at += AT_ONCE) {
      if (at > 0) await eventLoopTurn()
      const some = kept.slice(at, at + AT_ONCE)
      const broken = await Promise.all(some.map((change) => rule(change, writing, changes)))
      for (const [i, why] of broken.entries()) {
        if (!why) keeping.push(some[i]!)
        else if (leaveOut) leaveOut(some[i]!, why)
        else return why
      }
    }
    kept = keeping
  }
  const files = new Set<string>()
  const together = kept.map(({ iri }) => iri)
  for (const change of kept) {
    const fresh = await recordFiles(writing, change, together)
    if (isFailure(fresh)) return fresh
    for (const sha1 of fresh) files.add(sha1)
  }
  return { kept, files: [...files] }
}

/** Journal → store → caches, rules and profiles, before the answer goes out. */
async function carryOut(
  writing: Writing,
  changes: readonly WrittenChange[],
  others: readonly GraphEdit[],
  decided: WriteBasis,
): Promise<undefined | Problem> {
  const { application, trace, method, agent, time } = writing
  const asOf = changes.map(({ iri }) => application.cache.versions.of(iri))
  const recorded = others.map(({ graph }) => graph).filter((graph) => application.isRecorded(graph))
  const admit = admission(writing, changes, others)
  const prepared =
    recorded.length > 0
      ? await application.journalled.prepare({ documents: recorded, method, agent, time, admit })
      : await admit(0)
  if (isFailure(prepared)) return prepared
  const written = await trace.write(store(writing, changes, others, decided))
  const failed = (await prepared?.conclude(written)) ?? written
  const removed = new Set(changes.filter(({ next }) => !next).map(({ iri }) => iri))
  const following: unknown[] = []
  for (const [i, change] of changes.entries()) {
    if (failed) afterFailure(writing, change.iri, failed)
    else following.push(afterSuccess(writing, change, { asOf: asOf[i]!, isCached: changes.length <= MOST_CACHED }))
    if (!failed && !removed.has(parentOf(change.iri))) logOrphans(writing, change.current, change.next?.document)
  }
  await Promise.all([othersChanged(writing, others, failed), ...following])
  return failed
}

/**
 * Reserves the room that the versions take in the history.
 * @param before the bytes of graphs that are not documents, before the change
 */
const admission =
  (writing: Writing, changes: readonly WrittenChange[], others: readonly GraphEdit[]) =>
  async (before: number): Promise<undefined | Problem> => {
    const { isRecorded, shares } = writing.application
    const texts = changes.flatMap(({ next }) => next?.document.nTriples ?? [])
    const lines = others.filter(({ graph }) => isRecorded(graph)).map(({ added }) => added)
    const bytes = [...texts, ...lines.flat()].reduce((sum, text) => sum + Buffer.byteLength(text), before)
    return shares?.take(writing, bytes, texts.length + lines.length)
  }

/**
 * The basis of the decision with what the plan has read: other graphs, among them the parents of new documents, which
 * exist; and lists of children. What an update finds by variables is not named.
 */
function basisOf(
  decided: WriteBasis,
  { changes, read = [], children = [] }: Pick<WritePlan<unknown>, 'changes' | 'read' | 'children'>,
  files: readonly string[],
): WriteBasis {
  const { asOf } = decided
  if (asOf === undefined) return decided
  const parents = changes.flatMap(({ parent }) => parent?.iri ?? [])
  const at = (names: readonly string[]): WriteBasis['read'] => Array.from(new Set(names), (name) => [name, asOf])
  return { ...decided, read: at([...parents, ...read]), children: at(children), files }
}

async function store(
  writing: Writing,
  changes: readonly WrittenChange[],
  others: readonly GraphEdit[],
  decided: WriteBasis,
): Promise<undefined | Problem> {
  const { application, gateway, method, agent, time } = writing
  const journalled = changes.map(({ iri: document, current, next, restores }) => {
    const before = wholeOf(current)?.nTriples
    const content = next?.document.nTriples
    const isLink = (current === undefined) !== (next === undefined) && !isRoot(document, application.base)
    return {
      ...{ document, method, agent, time, before, content },
      ...(isLink && { container: parentOf(document) }),
      ...(restores !== undefined && { restores }),
      ...(others.length > 0 && { isPart: true as const }),
    }
  })
  const on = { decided, late: () => landed(writing, changes, others) }
  if (others.length === 0 && journalled.length === 1) {
    const [only] = journalled as [(typeof journalled)[0]]
    // After the state was read, the store may still carry out an abandoned write.
    const isSure = application.cache.versions.isSettled(only.document, gateway.now())
    return application.journalled.carryOut(only, { seen: isSure ? only.before : undefined, ...on })
  }
  if (others.length === 0 && changes.every(({ next }) => !next)) return application.journalled.remove(journalled, on)
  return application.journalled.edit(journalled, [...(await Promise.all(journalled.map(editOf))), ...others], on)
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
  // A graph is removed as a whole: the store may have its lines in another spelling.
  const isCleared = content === ''
  const { removed, added } =
    before === '' ? { removed: [], added: linesOf(content) } : await differenceInSlices(before, content)
  return { graph: document, isCleared, removed: isCleared ? [] : removed, added, after: content }
}

/** Above this number, documents are not cached, so that those that others read stay cached. */
const MOST_CACHED = 16

function afterSuccess(
  writing: Writing,
  { iri, next }: WrittenChange,
  { asOf, isCached }: { readonly asOf: number; readonly isCached: boolean },
): ReturnType<typeof changed> {
  const { versions, documents } = writing.application.cache
  // A store may return new triples in another spelling.
  if (next?.isRewritable || !isCached) versions.changed(iri)
  else documents.put(iri, next?.document, asOf)
  return changed(writing, iri, next ? { nTriples: next.document.nTriples } : 'absent')
}

function afterFailure(writing: Writing, iri: string, failed: Problem): void {
  if (hadNoEffect(failed)) return
  // From now on the cached document may be outdated.
  const until = writing.gateway.now() + LATEST_WRITE_MS
  writing.application.cache.versions.inDoubt(iri, until)
  void changed(writing, iri, 'uncertain', until)
}

/** Called if the store has done the write after the client was told that the outcome is unknown. */
function landed(writing: Writing, changes: readonly WrittenChange[], others: readonly GraphEdit[]): void {
  for (const { iri, next } of changes) {
    writing.application.cache.versions.changed(iri)
    void changed(writing, iri, next ? { nTriples: next.document.nTriples } : 'absent')
  }
  void othersChanged(writing, others, undefined)
}

/** Updates everything compiled from documents: rules, shapes and verified profiles. */
function changed(
  { application, dataspace, gateway }: Writing,
  iri: string,
  state: Parameters<Access['changed']>[1],
  until?: number,
): ReturnType<Access['changed']> {
  gateway.webIds.forget(iri)
  if (application.kind !== 'admin') return undefined
  dataspace.ontologies.changed(iri, until)
  return dataspace.access.changed(iri, state)
}

async function othersChanged(
  writing: Writing,
  others: readonly GraphEdit[],
  failed: undefined | Problem,
): Promise<void> {
  if (others.length === 0 || (failed && hadNoEffect(failed))) return
  const until = !failed || hasNoLaterEffect(failed) ? undefined : writing.gateway.now() + LATEST_WRITE_MS
  await graphsChanged(writing, others.map(({ graph }) => graph), until) // prettier-ignore
}
