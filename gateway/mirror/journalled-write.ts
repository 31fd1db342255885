// Shared by all journalled writes: the store and the history of their application, and their journal.
import type { WriteBasis, NewChange, OpenEntry } from '../../versioning/history.js'
import { isFailure, type Problem, type ProblemCode } from '../problem.js'
import type { LiteralForms } from '../rdf/literal-forms.js'
import { XSD } from '../rdf/vocabulary.js'
import type { Replacement } from '../stores/batch-sparql.js'
import { changeBetween, replaceChanged } from '../stores/changed-lines.js'
import { linesOf } from '../stores/n-triples-lines.js'
import type { GraphEdit, GraphStore } from '../stores/store.js'
import type { Applier } from './applier.js'
import type { Settlement, SettlementSettings } from './settlement.js'
import { hasContent } from './make-so.js'
import { hadNoEffect, historyProblem, isUnreadable } from './write-failures.js'

/** The parts of a versioned application that its writes need. */
export interface Journalled extends SettlementSettings {
  readonly base: string
  isDocument(graph: string): boolean
  readonly settlement: Settlement
  /** Absent if the store is not known to run a request as one transaction. */
  readonly applier: Applier | undefined
  /** How the store stores literals. */
  readonly literals: () => LiteralForms
}

/** Enters the changes into the journal, durably, before the store is asked. */
export async function begin(
  { history }: Pick<Journalled, 'history'>,
  changes: readonly NewChange[],
  decided?: WriteBasis,
): Promise<readonly OpenEntry[] | Problem> {
  const entries = await history.begin(changes, decided)
  return isFailure(entries) ? forClient(historyProblem(entries)) : entries
}

/** Drops the entries of a write that has failed, durably. Returns the answer to the write. */
export async function withdraw(
  { history }: Pick<Journalled, 'history'>,
  entries: readonly OpenEntry[],
  failed: Problem,
): Promise<Problem> {
  const undropped = await history.undone(entries)
  return undropped ? forClient(historyProblem({ ...undropped, failure: 'in-doubt' })) : failed
}

function forClient(failed: Problem): Problem {
  const detail = NOT_RECORDED[failed.failure]
  return detail === undefined ? failed : { ...failed, detail, cause: failed.detail }
}

/** The client must not learn the folders of the gateway. */
const NOT_RECORDED: Partial<Record<ProblemCode, string>> = {
  'history.full':
    'The gateway has no room to record the change in its history, so the change is not made. Retry later.',
  'history.failed': 'The gateway cannot record the change in its history, so the change is not made. Retry later.',
  'history.in-doubt':
    'The gateway cannot write its history, so it is unknown whether the change is made. Check it, and repeat it if needed.',
}

/**
 * Makes a version of the document's state before a write, if the history has another one: a state that was written
 * behind the gateway, or while versioning was off, would be lost by the write. A problem: the store was restored to an
 * earlier state.
 */
export async function keepBefore(
  { history, sweep, applier, log }: Journalled,
  { document, before, time }: NewChange,
): Promise<undefined | Problem> {
  const isKept = await history.isLatest(document, before)
  if (isKept) return undefined
  const putBack = await applier?.confirm()
  if (putBack || isKept === undefined) return putBack
  const failed = await sweep.document(document, { method: 'SWEEP', agent: undefined, time })
  if (failed) log.warn({ document, problem: failed.detail }, 'the state before a write may have no version')
  return undefined
}

/** The two ways to carry out a write in the store. */
export interface Act {
  readonly decided?: WriteBasis | undefined
  /** The replacements for a fenced request (fenced-update.ts). */
  readonly replacements: () => Promise<readonly Replacement[] | undefined>
  /** Sends one or several separate requests. */
  readonly act: () => Promise<undefined | Problem>
  /** Called if the store has done the write after the client was told that the outcome is unknown. */
  readonly late?: (() => void) | undefined
}

/**
 * Journals the changes, sends them to the store, and journals the outcome. Call it under the locks of their documents,
 * when none of these changes is in doubt.
 */
export async function carryOutJournalled(
  application: Journalled,
  changes: readonly NewChange[],
  { decided, replacements, act, late }: Act,
): Promise<undefined | Problem> {
  const { history, settlement, applier } = application
  if (changes.length === 0) return act()
  const stalled = applier?.stalled()
  if (stalled) return stalled
  const unkept = (await Promise.all(changes.map((change) => keepBefore(application, change)))).find(Boolean)
  if (unkept) return unkept
  const graphs = applier ? await replacements() : []
  const entries = await begin(application, changes, decided)
  if (isFailure(entries)) return entries
  if (applier)
    return applier.apply({
      position: Math.max(...entries.map(({ position = 0 }) => position)),
      replacements: graphs,
      alone: act,
      isThere: () => areThere(application, changes),
      async settled(failed, isLate) {
        if (failed) return withdraw(application, entries, failed)
        history.done(entries)
        if (isLate) late?.()
        return undefined
      },
    })
  const failed = await act()
  if (failed && hadNoEffect(failed)) return withdraw(application, entries, failed)
  if (!failed) history.done(entries)
  else settlement.doubt(entries, late)
  return failed
}

async function areThere(application: Journalled, changes: readonly NewChange[]): Promise<boolean | Problem> {
  for (const change of changes) {
    const same = await hasContent(application, change)
    // What cannot be read has another content, so the write is sent again.
    if (isFailure(same) && isUnreadable(same)) return false
    if (same !== true) return same
  }
  return true
}

/**
 * Undefined if the document has decimals whose final zeros the store hides: a DELETE does not find these.
 * @param seen the document before, if the store has exactly this now
 */
export async function replacementFor(
  { literals }: Pick<Journalled, 'literals'>,
  { document: graph, before, content }: NewChange,
  seen: string | undefined,
): Promise<Replacement | undefined> {
  if (literals().hidesZeros && linesOf(before ?? '').some(isDecimal)) return undefined
  const change = content !== undefined && seen !== undefined ? await changeBetween(seen, content) : undefined
  return { graph, nTriples: content, change }
}

export async function replacementsFor(
  application: Pick<Journalled, 'literals'>,
  removals: readonly NewChange[],
): Promise<readonly Replacement[] | undefined> {
  const all: Replacement[] = []
  for (const removal of removals) {
    const one = await replacementFor(application, removal, undefined)
    if (!one) return undefined
    all.push(one)
  }
  return all
}

/** The replacements for several edits; undefined for the same reason as in `replacementFor`. */
export function replacementsOf(
  { literals }: Pick<Journalled, 'literals'>,
  changes: readonly NewChange[],
  edits: readonly GraphEdit[],
): readonly Replacement[] | undefined {
  const hides = literals().hidesZeros
  if (hides && changes.some(({ before = '' }) => linesOf(before).some(isDecimal))) return undefined
  if (hides && edits.some(({ removed, isCleared }) => isCleared || removed.some(isDecimal))) return undefined
  const replacements: Replacement[] = []
  for (const { graph, isCleared, removed, added, after } of edits) {
    // A store may have changed the case of a language tag.
    const isWhole = isCleared || removed.some((line) => line.includes('"@'))
    if (isWhole && after === undefined && !isCleared) return undefined
    const nTriples = after ?? (isCleared ? added.map((line) => `${line}\n`).join('') : undefined)
    replacements.push(isWhole ? { graph, nTriples } : { graph, nTriples, change: { removed, added } })
  }
  return replacements
}

/** @param seen the document before, if the store certainly has exactly this now */
export async function apply(
  { store, literals }: Pick<Journalled, 'store' | 'literals'>,
  { document, before, content }: NewChange,
  seen: string | undefined,
): Promise<undefined | Problem> {
  if (content === undefined) return store.remove(document)
  if (literals().hidesZeros && before !== undefined && linesOf(before).some(isDecimal)) {
    const failed = await store.edit([wholeEdit(document, content)])
    if (failed?.failure !== 'update.form') return failed
  }
  return seen === undefined
    ? store.replace(document, content, { canonical: true })
    : replaceChanged(store, document, seen, content)
}

const DECIMAL = `"^^<${XSD('decimal')}> .`
const isDecimal = (line: string): boolean => line.endsWith(DECIMAL)

/** The graph is removed first. */
const wholeEdit = (graph: string, after: string): GraphEdit => ({
  ...{ graph, isCleared: true, removed: [], added: linesOf(after), after },
})

/** If an edit deletes decimals whose zeros the store hides, turns it into an edit of the whole graph. */
const sure = (edit: GraphEdit): GraphEdit =>
  edit.after !== undefined && edit.removed.some(isDecimal) ? wholeEdit(edit.graph, edit.after) : edit

/** Stores run the operations of one update as one transaction, or stop at the first that fails. */
export const dropAll = (store: GraphStore, removals: readonly NewChange[]): Promise<undefined | Problem> =>
  store.update(removals.map(({ document }) => `DROP SILENT GRAPH <${document}>`).join(' ;\n'))

/** A single graph is replaced as by a PUT, so it may have terms that SPARQL cannot express. */
export function applyAll(
  { store, literals }: Pick<Journalled, 'store' | 'literals'>,
  changes: readonly NewChange[],
  edits: readonly GraphEdit[],
): Promise<undefined | Problem> {
  if (changes.length === 1 && edits.length === 1) return apply({ store, literals }, changes[0]!, changes[0]!.before)
  const [{ graph, isCleared, after }] = edits as [GraphEdit]
  if (edits.length === 1 && isCleared && after !== undefined)
    return after === '' ? store.remove(graph) : store.replace(graph, after)
  return store.edit(literals().hidesZeros ? edits.map(sure) : edits)
}
