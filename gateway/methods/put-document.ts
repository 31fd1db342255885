// In charge of changing a document and of everything that follows: locks, journal, store, caches, rules and profiles. The write
// methods (write.ts) and the endpoints that make documents use the same path.
import { LATEST_WRITE_MS } from '../stores/store.js'
import type { Asker } from '../evaluation/job-queue.js'
import { checkConstraints } from './constraint-check.js'
import { documentOf, isLarge, readDocumentNow, readFactsNow, tooLarge, type Document } from '../documents/document.js'
import type { Access, Gateway, Member } from '../gateway.js'
import { flawOf, type Quad } from '../rdf/graph.js'
import { mayBeRewritten } from '../rdf/literal-forms.js'
import { hadNoEffect } from '../mirror/write-failures.js'
import { locksOf, underLocks } from '../documents/locks.js'
import type { Trace } from '../log.js'
import { isContainer, isRoot, parentOf } from '../documents/hierarchy.js'
import { managedTriples, nextState } from '../documents/next-state.js'
import { isFailure, problem, type Problem } from '../problem.js'

/** The change of a document: by which agent, when, and how. */
export interface Writing extends Member {
  readonly gateway: Gateway
  readonly trace: Trace
  /** As the journal and the commit record it. */
  readonly method: string
  /** The WebID: creator and owner of a new document. */
  readonly agent: string | undefined
  /** For whom the gateway works (`askerOf`). */
  readonly asker: Asker
  /** Milliseconds since the epoch. */
  readonly time: number
}

/**
 * Changes a document to what `change` returns: its whole content without managed triples, which are added; undefined removes
 * the document; 'unchanged' and a problem leave it alone. `change` is given the current document, under its lock. The parent
 * has to be an existing container, and the constraints have to be met. The caller decides access before.
 */
export async function putDocument(
  writing: Writing,
  iri: string,
  change: (current: Document | undefined) => readonly Quad[] | undefined | 'unchanged' | Problem,
): Promise<Document | undefined | Problem> {
  const { gateway, application, agent, time, trace } = writing
  return underLocks(gateway, locksOf(application, iri, true), async () => {
    const doubt = await application.journalled.settle(iri)
    if (doubt) return doubt
    const found = await readDocumentNow(application, iri, trace)
    if (isFailure(found)) return found
    const current = found.value
    if (current && isLarge(current))
      return problem('content.too-large', `<${iri}> is too large to be changed as a whole.`)
    const content = change(current)
    if (content === 'unchanged') return current
    if (isFailure(content)) return content
    if (content === undefined) return current && replaceDocument(writing, iri, undefined, current)
    const flaw = content.map(flawOf).find((one) => one !== undefined)
    if (flaw !== undefined) return problem('content.syntax', `What would be written has ${flaw}.`)
    const orphaned = current ? undefined : await orphan(writing, iri)
    if (orphaned) return orphaned
    const { base, cache } = application
    const kept = current && managedTriples(current)
    const forms = application.traits.literals()
    const write = { document: iri, base, current: kept, content, agent, now: time, uuid: gateway.uuid, forms }
    const state = nextState(write)
    const next = documentOf(iri, base, state, cache.tagKey)
    const refused = tooLarge(next) ?? (await checkConstraints(writing, current, next, true))
    if (refused) return refused
    const written = await replaceDocument(writing, iri, next, current)
    // The store may have it in another form.
    if (!isFailure(written) && mayBeRewritten(state, forms)) cache.versions.changed(iri)
    return written
  })
}

/** Spec 4.1: a document can only be created relative to an existing container. */
async function orphan({ application, trace }: Writing, iri: string): Promise<undefined | Problem> {
  if (isRoot(iri, application.base)) return undefined
  const parent = await readFactsNow(application, parentOf(iri), trace)
  if (isFailure(parent)) return parent
  return parent.value && isContainer(parent.value.types)
    ? undefined
    : problem('access.denied', `The parent <${parentOf(iri)}> has to be an existing container.`)
}

/**
 * Journal → store → caches, rules and profiles, before the answer goes out. Call it under the document's lock and after
 * `settle`. Gives the new document; where `next` is undefined, the document is removed.
 * @param restores the commit that the content was taken from
 */
export async function replaceDocument(
  writing: Writing,
  iri: string,
  next: Document | undefined,
  current: Document | undefined,
  restores?: string,
): Promise<Document | undefined | Problem> {
  const { application, trace, method, agent, time } = writing
  const { versions, documents } = application.cache
  // A write that was given up may be done after the store has said what it has.
  const seen = versions.isSettled(iri, writing.gateway.now()) ? current?.nTriples : undefined
  const asOf = versions.of(iri)
  const change = { document: iri, method, agent, time, before: current?.nTriples, content: next?.nTriples }
  const failed = await trace.write(application.journalled.carryOut({ ...change, ...(restores && { restores }) }, seen))
  if (failed) {
    afterFailure(writing, iri, failed)
    return failed
  }
  documents.put(iri, next, asOf)
  changed(writing, iri, next ? { nTriples: next.nTriples } : 'absent')
  return next
}

/** The same for the removal of several documents: the store gets one update. Call it under the locks of all of them. */
export async function removeDocuments(
  writing: Writing,
  removed: readonly { readonly iri: string; readonly current: Document | undefined }[],
): Promise<undefined | Problem> {
  const { application, trace, method, agent, time } = writing
  const { versions, documents } = application.cache
  const asOf = removed.map(({ iri }) => versions.of(iri))
  const removals = removed.map(({ iri: document, current }) => {
    return { document, method, agent, time, before: current?.nTriples, content: undefined }
  })
  const failed = await trace.write(application.journalled.remove(removals))
  for (const [i, { iri }] of removed.entries()) {
    if (failed) afterFailure(writing, iri, failed)
    else {
      documents.put(iri, undefined, asOf[i]!)
      changed(writing, iri, 'absent')
    }
  }
  return failed
}

export function afterFailure(writing: Writing, iri: string, failed: Problem): void {
  if (hadNoEffect(failed)) return
  // From now on the cached document may be out of date.
  const until = writing.gateway.now() + LATEST_WRITE_MS
  writing.application.cache.versions.inDoubt(iri, until)
  changed(writing, iri, 'uncertain', until)
}

/** Updates everything compiled from documents: rules, shapes and verified profiles. */
export function changed(
  { application, dataspace, gateway }: Writing,
  iri: string,
  state: Parameters<Access['changed']>[1],
  until?: number,
): void {
  gateway.webIds.forget(iri)
  if (application.kind !== 'admin') return
  dataspace.ontologies.changed(iri, until)
  dataspace.access.changed(iri, state)
}
