// In charge of SPARQL updates that name all graphs that they read and write: the gateway carries them out itself on what it
// finds in these under their locks, so that each document keeps what every write keeps (design 3).
import { isLarge, readDocumentNow, readFactsNow } from '../documents/document.js'
import { isRoot, parentOf } from '../documents/hierarchy.js'
import { everyWrite, underLocks, type Lock } from '../documents/locks.js'
import type { CopiedGraph } from '../evaluation/run-update.js'
import { afterEdit, editDocuments, type FoundDocument } from '../methods/edit-documents.js'
import { inParallel } from '../mirror/mirrored.js'
import { hadNoEffect, hasNoLaterEffect } from '../mirror/write-failures.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { askerOf, type Context } from '../request/context.js'
import type { UpdateAnalysis } from '../sparql/analysis.js'
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'
import type { Touch, UpdatePlan } from '../sparql/update-steps.js'
import { LATEST_WRITE_MS } from '../stores/store.js'
import { graphsChanged } from './changed-graphs.js'
import { accessTo, type DocumentFound } from './update-rights.js'

/** The most graphs that one update names, and the most characters of their N-Triples. */
const MOST_GRAPHS = 1000
const MOST_CHARACTERS = 16 * 1024 * 1024

interface Graphs {
  readonly documents: readonly FoundDocument[]
  /** The other graphs, of which the update needs the content: canonical, '' for none. */
  readonly others: ReadonlyMap<string, string>
  readonly copies: readonly CopiedGraph[]
}

/** A graph that the update names; `touch` is undefined where it is only read. */
interface Named {
  readonly graph: string
  readonly touch: Touch | undefined
  readonly isRead: boolean
}

/** The gateway cannot carry the update out: with rights on everything, the store may. */
export interface ForStore {
  readonly reason: Problem
}

export const isForStore = <T>(value: T | ForStore): value is ForStore =>
  typeof value === 'object' && value !== null && 'reason' in value

/** Undefined when it is done. */
export async function carryOutPlan(
  context: Context,
  { text }: Pick<UpdateAnalysis, 'text'>,
  plan: UpdatePlan,
): Promise<undefined | ForStore | Problem> {
  const { application, gateway } = context
  const named = namedIn(plan)
  if (named.length > MOST_GRAPHS) return TOO_MUCH
  return underLocks(gateway, locksOf(context, named), async () => {
    const graphs = await find(context, named)
    if (isFailure(graphs) || isForStore(graphs)) return graphs
    const updated = await gateway.evaluation.update(askerOf(context), text, application.base, graphs.copies)
    if (isFailure(updated)) return FOR_STORE.has(updated.failure) ? { reason: updated } : updated
    const { edits } = updated
    const others = edits.flatMap((edit) => {
      if (application.isDocument(edit.graph)) return []
      const before = graphs.others.get(edit.graph)
      return [before === undefined ? edit : { ...edit, after: afterEdit(before, edit) }]
    })
    const failed = await editDocuments(context, graphs.documents, edits, others)
    if (others.length === 0 || (failed && hadNoEffect(failed))) return failed
    const until = !failed || hasNoLaterEffect(failed) ? undefined : gateway.now() + LATEST_WRITE_MS
    await graphsChanged(
      context,
      others.map(({ graph }) => graph),
      until,
    )
    return failed
  })
}

const TOO_MUCH: ForStore = {
  reason: problem(
    'content.too-large',
    `The update names too many graphs, or too large ones: ${MOST_GRAPHS} at most, of ${MOST_CHARACTERS / 2 ** 20} MiB together. ` +
      'Send it in parts.',
  ),
}

/** Limits of the evaluation, and syntax that only the store has. */
const FOR_STORE: ReadonlySet<Problem['failure']> = new Set(['content.too-large', 'update.time', 'update.syntax'])

function namedIn({ touches, reads }: UpdatePlan): readonly Named[] {
  const written = new Map(touches.map((touch) => [touch.graph, touch]))
  return [...new Set([...written.keys(), ...reads])].map((graph) => {
    return { graph, touch: written.get(graph), isRead: reads.includes(graph) }
  })
}

/** What is written exclusively; what is read, and the parents of documents that may be created, against changes. */
function locksOf({ application }: Context, named: readonly Named[]): readonly Lock[] {
  const shared = named.flatMap(({ graph, touch }) =>
    touch === undefined
      ? [graph]
      : application.isDocument(graph) && !isRoot(graph, application.base)
        ? [parentOf(graph)]
        : [],
  )
  const exclusive = new Set(named.flatMap(({ touch }) => (touch ? [touch.graph] : [])))
  const others = [...new Set(shared)].filter((graph) => !exclusive.has(graph))
  return [
    everyWrite(application, 'shared'),
    ...[...exclusive].map((graph) => [graph, 'exclusive'] as const),
    ...others.map((graph) => [graph, 'shared'] as const),
  ]
}

async function find(context: Context, named: readonly Named[]): Promise<Graphs | ForStore | Problem> {
  const { isDocument } = context.application
  const documents: FoundDocument[] = []
  const others = new Map<string, string>()
  const copies: CopiedGraph[] = []
  let characters = 0
  const written = new Set(named.flatMap(({ touch }) => (touch?.isFilled ? [touch.graph] : [])))
  const findOne = (one: Named): Promise<FoundDocument | CopiedGraph | ForStore | Problem> =>
    isDocument(one.graph) ? findDocument(context, one, written) : findOther(context, one)
  for await (const found of inParallel(named, findOne)) {
    if (isFailure(found) || isForStore(found)) return found
    if ('facts' in found) {
      documents.push(found)
      copies.push(copyOf(found))
    } else {
      if (found.nTriples !== undefined) others.set(found.graph, found.nTriples)
      copies.push(found)
    }
    if ((characters += copies.at(-1)!.nTriples?.length ?? 0) > MOST_CHARACTERS) return TOO_MUCH
  }
  return { documents, others, copies }
}

const copyOf = ({ iri, current, access }: FoundDocument): CopiedGraph => ({
  graph: iri,
  nTriples: current?.nTriples ?? '',
  isVisible: access.mayRead,
})

async function findDocument(
  context: Context,
  { graph, touch }: Named,
  written: ReadonlySet<string>,
): Promise<FoundDocument | ForStore | Problem> {
  const { application, trace } = context
  const doubt = touch && (await application.journalled.settle(graph))
  if (doubt) return doubt
  const found = await readDocumentNow(application, graph, trace, context)
  if (isFailure(found)) return found
  const { value: document, answeredAt } = found
  if (document && isLarge(document)) return TOO_MUCH
  const above = document ? undefined : await parentNow(context, graph)
  if (isFailure(above)) return above
  const facts: DocumentFound = { kind: 'document', iri: graph, answeredAt, ...(document && { document }), ...above }
  const decided = above && !above.parent && touch ? await firstCreated(context, facts, written) : facts
  const access = isFailure(decided) ? decided : accessTo(context, decided, touch)
  return isFailure(access) ? access : { iri: graph, facts, current: document, access, mode: touch?.mode }
}

/** A container that the same update creates belongs to the agent: then the right to create that one counts. */
async function firstCreated(
  context: Context,
  facts: DocumentFound,
  written: ReadonlySet<string>,
): Promise<DocumentFound | Problem> {
  let found = facts
  while (context.agent.webId !== undefined && !found.parent && written.has(parentOf(found.iri))) {
    const iri = parentOf(found.iri)
    const above = await parentNow(context, iri)
    if (isFailure(above)) return above
    found = { kind: 'document', iri, answeredAt: found.answeredAt, ...above }
  }
  return found
}

async function parentNow(
  { application, trace }: Context,
  iri: string,
): Promise<Pick<DocumentFound, 'parent'> | Problem> {
  const above = await readFactsNow(application, parentOf(iri), trace)
  return isFailure(above) ? above : { ...(above.value && { parent: above.value }) }
}

async function findOther(context: Context, { graph, isRead }: Named): Promise<CopiedGraph | ForStore | Problem> {
  const { application, trace } = context
  if (!isRead || graph === DEFAULT_GRAPH) return { graph, nTriples: undefined, isVisible: false }
  const found = await readDocumentNow(application, graph, trace, context)
  if (isFailure(found)) return found
  const { value } = found
  return value && isLarge(value) ? TOO_MUCH : { graph, nTriples: value?.nTriples ?? '', isVisible: true }
}
