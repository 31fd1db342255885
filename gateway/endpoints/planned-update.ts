// In charge of SPARQL updates that name all graphs that they read and write: the gateway carries them out itself on what it
// finds in these under their locks, so that each document keeps what every write keeps (design 3).
import { isLarge, readDocumentNow, readFactsNow, type Document } from '../documents/document.js'
import { isRoot, parentOf } from '../documents/hierarchy.js'
import { everyWrite, underLocks, type Lock } from '../documents/locks.js'
import { storedState } from '../documents/stored-state.js'
import type { CopiedGraph } from '../evaluation/run-update.js'
import { afterEdit, editDocuments, type FoundDocument } from '../methods/edit-documents.js'
import { inParallel } from '../mirror/mirrored.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { lookUpDocument } from '../request/access.js'
import { askerOf, type Context } from '../request/context.js'
import type { UpdateAnalysis } from '../sparql/analysis.js'
import { DEFAULT_GRAPH } from '../sparql/graph-sets.js'
import type { Touch, UpdatePlan } from '../sparql/update-steps.js'
import type { GraphEdit } from '../stores/store.js'
import { accessTo, type DocumentFound } from './update-rights.js'

/** The most graphs that one update names, and the most characters of their N-Triples. */
const MOST_GRAPHS = 256
const MOST_CHARACTERS = 16 * 1024 * 1024

interface Graphs {
  readonly documents: readonly FoundDocument[]
  /** The other graphs, of which the update needs the content: canonical, '' for none. */
  readonly others: ReadonlyMap<string, string>
  readonly copies: readonly CopiedGraph[]
}

/** A graph that the update names. `mode` is undefined where it is only read. */
interface Named {
  readonly graph: string
  readonly mode: Touch['mode'] | undefined
  readonly isRead: boolean
}

/** The outcome for the response; 'too-much' where the update is for the store alone. */
export async function carryOutPlan(
  context: Context,
  { text }: Pick<UpdateAnalysis, 'text'>,
  plan: UpdatePlan,
): Promise<readonly string[] | 'too-much' | Problem> {
  const { application, gateway } = context
  const named = namedIn(plan)
  if (named.length > MOST_GRAPHS) return 'too-much'
  return underLocks(gateway, locksOf(context, named), async () => {
    const graphs = await find(context, named)
    if (isFailure(graphs) || graphs === 'too-much') return graphs
    const updated = await gateway.evaluation.update(askerOf(context), text, application.base, graphs.copies)
    if (isFailure(updated)) return updated
    const { edits } = updated
    const others = edits.flatMap((edit) => {
      if (application.isDocument(edit.graph)) return []
      const before = graphs.others.get(edit.graph)
      return [before === undefined ? edit : { ...edit, after: afterEdit(before, edit) }]
    })
    const failed = await editDocuments(context, graphs.documents, edits, others)
    return failed ?? others.map(({ graph }) => graph)
  })
}

function namedIn({ touches, reads }: UpdatePlan): readonly Named[] {
  const modes = new Map(touches.map(({ graph, mode }) => [graph, mode]))
  return [...new Set([...modes.keys(), ...reads])].map((graph) => {
    return { graph, mode: modes.get(graph), isRead: reads.includes(graph) }
  })
}

/** What is written exclusively; what is read, and the parents of documents that may be created, against changes. */
function locksOf({ application }: Context, named: readonly Named[]): readonly Lock[] {
  const shared = named.flatMap(({ graph, mode }) =>
    mode === undefined
      ? [graph]
      : application.isDocument(graph) && !isRoot(graph, application.base)
        ? [parentOf(graph)]
        : [],
  )
  const exclusive = new Set(named.flatMap(({ graph, mode }) => (mode === undefined ? [] : [graph])))
  const others = [...new Set(shared)].filter((graph) => !exclusive.has(graph))
  return [
    everyWrite(application, 'shared'),
    ...[...exclusive].map((graph) => [graph, 'exclusive'] as const),
    ...others.map((graph) => [graph, 'shared'] as const),
  ]
}

async function find(context: Context, named: readonly Named[]): Promise<Graphs | 'too-much' | Problem> {
  const { isDocument } = context.application
  const documents: FoundDocument[] = []
  const others = new Map<string, string>()
  const copies: CopiedGraph[] = []
  let characters = 0
  const all = inParallel(named, (one) => (isDocument(one.graph) ? findDocument(context, one) : findOther(context, one)))
  for await (const found of all) {
    if (isFailure(found) || found === 'too-much') return found
    if ('facts' in found) {
      documents.push(found)
      copies.push(copyOf(found))
    } else {
      if (found.nTriples !== undefined) others.set(found.graph, found.nTriples)
      copies.push(found)
    }
    if ((characters += copies.at(-1)!.nTriples?.length ?? 0) > MOST_CHARACTERS) return 'too-much'
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
  { graph, mode }: Named,
): Promise<FoundDocument | 'too-much' | Problem> {
  const { application, trace } = context
  const doubt = mode && (await application.journalled.settle(graph))
  if (doubt) return doubt
  const found = await readDocumentNow(application, graph, trace, context)
  if (isFailure(found)) return found
  const { value: document, answeredAt } = found
  if (document && isLarge(document)) return 'too-much'
  const above = document || isRoot(graph, application.base) ? undefined : await parentNow(context, graph)
  if (isFailure(above)) return above
  const facts: DocumentFound = { kind: 'document', iri: graph, answeredAt, ...(document && { document }), ...above }
  const access = accessTo(context, facts, mode)
  return isFailure(access) ? access : { iri: graph, facts, current: document, access, mode }
}

async function parentNow({ application, trace }: Context, iri: string): Promise<Pick<DocumentFound, 'parent'> | Problem> {
  const above = await readFactsNow(application, parentOf(iri), trace)
  return isFailure(above) ? above : { ...(above.value && { parent: above.value }) }
}

async function findOther({ application, trace }: Context, { graph, isRead }: Named): Promise<CopiedGraph | Problem> {
  if (!isRead || graph === DEFAULT_GRAPH) return { graph, nTriples: undefined, isVisible: false }
  const state = await trace.store(storedState(application.store, graph))
  return isFailure(state) ? state : { graph, nTriples: state ?? '', isVisible: true }
}
