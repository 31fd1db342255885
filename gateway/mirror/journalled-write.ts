// What every journalled write needs: the store and the history of its application, and their journal.
import type { NewChange, OpenEntry } from '../../versioning/history.js'
import type { States } from '../documents/stored-state.js'
import { isFailure, type Problem, type ProblemCode } from '../problem.js'
import type { LiteralForms } from '../rdf/literal-forms.js'
import { XSD } from '../rdf/vocabulary.js'
import { replaceChanged } from '../stores/changed-lines.js'
import { linesOf } from '../stores/n-triples-lines.js'
import type { GraphEdit, GraphStore } from '../stores/store.js'
import type { Settlement, SettlementSettings } from './settlement.js'
import { hadNoEffect, historyProblem } from './write-failures.js'

/** A versioned application, as far as its writes are concerned. */
export interface Journalled extends SettlementSettings {
  readonly base: string
  isDocument(graph: string): boolean
  readonly settlement: Settlement
  readonly states: States
  /** How the store keeps literals. */
  readonly literals: () => LiteralForms
}

/** Enters the changes into the journal, durably: the store is asked after that. */
export async function begin(
  { history }: Pick<Journalled, 'history'>,
  changes: readonly NewChange[],
): Promise<readonly OpenEntry[] | Problem> {
  const entries = await history.begin(changes)
  if (!isFailure(entries)) return entries
  const failed = historyProblem(entries)
  const detail = NOT_RECORDED[failed.failure]
  return detail === undefined ? failed : { ...failed, detail, cause: failed.detail }
}

/** The client does not learn of the folders of the gateway. */
const NOT_RECORDED: Partial<Record<ProblemCode, string>> = {
  'history.full':
    'The gateway has no room to record the change in its history, so the change is not made. Retry later.',
  'history.failed': 'The gateway cannot record the change in its history, so the change is not made. Retry later.',
}

/**
 * Makes a version of the document's state before a write, where the history has another: a state that was written
 * behind the gateway, or while versioning was off, would be lost with the write.
 */
export async function keepBefore(
  { history, sweep, log }: Journalled,
  { document, before, time }: NewChange,
): Promise<void> {
  if ((await history.isLatest(document, before)) !== false) return
  const failed = await sweep.document(document, { method: 'SWEEP', agent: undefined, time })
  if (failed) log.warn({ document, problem: failed.detail }, 'the state before a write may have no version')
}

/**
 * Journals the changes, has the store do them, and journals the outcome. To be called under the locks of their
 * documents, when no change of these is in doubt.
 */
export async function carryOutJournalled(
  application: Journalled,
  changes: readonly NewChange[],
  act: () => Promise<undefined | Problem>,
): Promise<undefined | Problem> {
  const { history, settlement } = application
  if (changes.length === 0) return act()
  await Promise.all(changes.map((change) => keepBefore(application, change)))
  const entries = await begin(application, changes)
  if (isFailure(entries)) return entries
  const failed = await act()
  if (!failed) await history.done(entries)
  else if (hadNoEffect(failed)) await history.undone(entries)
  else settlement.doubt(entries)
  return failed
}

/** @param seen the document before, where the store has exactly this now */
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

/** An edit that deletes decimals of a store that hides their zeros, as one of the whole graph. */
const sure = (edit: GraphEdit): GraphEdit =>
  edit.after !== undefined && edit.removed.some(isDecimal) ? wholeEdit(edit.graph, edit.after) : edit

/** Stores run the operations of one update as one transaction, or stop at the first that fails. */
export const dropAll = (store: GraphStore, removals: readonly NewChange[]): Promise<undefined | Problem> =>
  store.update(removals.map(({ document }) => `DROP SILENT GRAPH <${document}>`).join(' ;\n'))

/** One graph alone is replaced as a PUT replaces it: so it may have terms that have no form in SPARQL. */
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
