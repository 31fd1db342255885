// Reads the graphs that an update names, under their locks: first the rights on them, then their content (design 4).
import { isLarge, readDocumentNow, readFacts, readFactsNow } from '../../documents/document.js'
import { isRoot, parentOf } from '../../documents/hierarchy.js'
import type { CopiedGraph } from '../../evaluation/run-update.js'
import type { FoundDocument } from '../../methods/edit-documents.js'
import { inParallel } from '../../mirror/all-documents.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import type { Context } from '../../request/context.js'
import { DEFAULT_GRAPH, isReserved } from '../language/graph-sets.js'
import type { Touch } from '../language/touches.js'
import { isDocumentName, isNameOfStores, MERGED_GRAPHS } from '../../../policies/authorizations/reach.js'
import {
  rightsOnUpdate,
  isRefusedOther,
  mayReadOther,
  REFUSED,
  type DocumentFound,
  type UpdateRights,
} from './update-rights.js'

/** The most graphs that one update may name, and the most characters of their N-Triples. */
export const MOST_GRAPHS = 1000
const MOST_CHARACTERS = 16 * 1024 * 1024

/** The gateway cannot carry the update out; the store may, for agents with all rights. */
export interface ForStore {
  readonly reason: Problem
}

export const isForStore = <T>(value: T | ForStore): value is ForStore =>
  typeof value === 'object' && value !== null && 'reason' in value

export const tooMuch = (detail: string): ForStore => ({
  reason: problem('content.too-large', `${detail} Send it in parts.`),
})
export const TOO_MANY_GRAPHS = tooMuch(`The update uses more than ${MOST_GRAPHS} graphs.`)
const TOO_LARGE = tooMuch(`The graphs of the update have more than ${MOST_CHARACTERS / 2 ** 20} MiB.`)

/** True for names of graphs that no update writes. Here DEFAULT_GRAPH is the default graph, not a name. */
const isOfNoUpdate = (graph: string): boolean => graph !== DEFAULT_GRAPH && isReserved(graph)

/** The refusal of an update that writes a graph with a reserved name (see `writesOf`). */
export const reservedName = (name: string): Problem => (name === MERGED_GRAPHS ? NO_GRAPH : OF_GATEWAY)

const NO_GRAPH = problem(
  'access.graphs',
  `No graph has the name <${MERGED_GRAPHS}>: it means the union of all graphs, which cannot be written. Name one graph.`,
)
const OF_GATEWAY = problem(
  'access.graphs',
  'Graphs that begin with urn:triplegate: belong to the gateway. Leave them out of the update.',
)

/** A graph that the update names; `touch` is undefined if it is only read. */
export interface NamedGraphs {
  readonly graph: string
  readonly touch: Touch | undefined
  readonly isRead: boolean
}

export interface FoundGraphs {
  readonly documents: readonly FoundDocument[]
  /** The other graphs whose content the update needs: canonical N-Triples, '' for an empty graph. */
  readonly others: ReadonlyMap<string, string>
  readonly copies: readonly CopiedGraph[]
}

interface Finding {
  readonly context: Context
  readonly rights: UpdateRights
  /** The graphs that may be created. */
  readonly filled: ReadonlySet<string>
}

const findingOf = (context: Context, rights: UpdateRights, named: readonly NamedGraphs[]): Finding => ({
  context,
  rights,
  filled: new Set(named.flatMap(({ touch }) => (touch?.isFilled ? [touch.graph] : []))),
})

/** Checks the rights before any lock: an agent without rights on a graph cannot block the writes of others. */
export async function refusedTouch(
  context: Context,
  rights: UpdateRights,
  named: readonly NamedGraphs[],
): Promise<undefined | Problem> {
  if (rights.isFree) return undefined
  const finding = findingOf(context, rights, named)
  const refusal = async (one: NamedGraphs): Promise<undefined | Problem> => {
    if (!one.touch) return undefined
    if (!context.application.isDocument(one.graph))
      return otherFound(finding, one).then((other) => (isFailure(other) ? other : undefined))
    const found = await documentFacts(finding, one, false)
    const access = isFailure(found) ? found : rightsOnUpdate(context, found.decided, one.touch)
    return isFailure(access) ? access : undefined
  }
  for await (const refused of inParallel(named, refusal)) if (refused) return refused
  return undefined
}

export async function findGraphs(
  context: Context,
  rights: UpdateRights,
  named: readonly NamedGraphs[],
): Promise<FoundGraphs | ForStore | Problem> {
  const { isDocument } = context.application
  const finding = findingOf(context, rights, named)
  const documents: FoundDocument[] = []
  const others = new Map<string, string>()
  const copies: CopiedGraph[] = []
  let characters = 0
  const findOne = (one: NamedGraphs): Promise<FoundDocument | CopiedGraph | ForStore | Problem> =>
    isDocument(one.graph) ? findDocument(finding, one) : findOther(finding, one)
  for await (const found of inParallel(named, findOne)) {
    if (isFailure(found) || isForStore(found)) return found
    if ('facts' in found) {
      documents.push(found)
      copies.push(copyOf(found))
    } else {
      if (found.nTriples !== undefined) others.set(found.graph, found.nTriples)
      copies.push(found)
    }
    if ((characters += copies.at(-1)!.nTriples?.length ?? 0) > MOST_CHARACTERS) return TOO_LARGE
  }
  return { documents, others, copies }
}

/** The effect of an append by an agent without Read does not depend on the content of the graph. */
const copyOf = ({ iri, current, access: { mayRead }, mode }: FoundDocument): CopiedGraph => ({
  graph: iri,
  nTriples: current && !mayRead && mode === 'Append' ? undefined : (current?.nTriples ?? ''),
  isVisible: mayRead,
})

async function findDocument(finding: Finding, named: NamedGraphs): Promise<FoundDocument | ForStore | Problem> {
  const { context } = finding
  const { graph: iri, touch } = named
  const { application, trace } = context
  const found = await documentFacts(finding, named, true)
  if (isFailure(found)) return found
  const { facts, decided } = found
  const access = rightsOnUpdate(context, decided, touch)
  if (isFailure(access)) return access
  // Read no content of a document for agents who may neither read nor write it.
  const isNeeded = facts.document !== undefined && (touch !== undefined || access.mayRead)
  const read = isNeeded ? await readDocumentNow(application, iri, trace, context) : undefined
  if (isFailure(read)) return read
  const current = read?.value
  if (current && isLarge(current)) return TOO_LARGE
  return { iri, facts, current, access, mode: touch?.mode }
}

/** The facts of a document, and the facts that the decision is based on. */
async function documentFacts(
  { context, filled }: Finding,
  { graph: iri, touch }: NamedGraphs,
  now: boolean,
): Promise<{ readonly facts: DocumentFound; readonly decided: DocumentFound } | Problem> {
  const found = await factsOf(context, iri, now)
  if (isFailure(found)) return found
  const { value: document, answeredAt } = found
  const above = document ? undefined : await aboveOf(context, iri, now)
  if (isFailure(above)) return above
  const facts: DocumentFound = { kind: 'document', iri, answeredAt, ...(document && { document }), ...above }
  const isOrphan = above !== undefined && !above.parent && touch !== undefined
  const decided = isOrphan ? await firstCreated(context, facts, filled, now) : facts
  return isFailure(decided) ? decided : { facts, decided }
}

const factsOf = async ({ application, trace }: Context, iri: string, now: boolean) =>
  now ? readFactsNow(application, iri, trace) : readFacts(application, iri, trace)

async function aboveOf(context: Context, iri: string, now: boolean): Promise<Pick<DocumentFound, 'parent'> | Problem> {
  if (isRoot(iri, context.application.base)) return {}
  const above = await factsOf(context, parentOf(iri), now)
  return isFailure(above) ? above : { ...(above.value && { parent: above.value }) }
}

/** A container that the same update creates belongs to the agent, so the right to create that container counts. */
async function firstCreated(
  context: Context,
  facts: DocumentFound,
  filled: ReadonlySet<string>,
  now: boolean,
): Promise<DocumentFound | Problem> {
  let found = facts
  while (context.agent.webId !== undefined && !found.parent && filled.has(parentOf(found.iri))) {
    const iri = parentOf(found.iri)
    const above = await aboveOf(context, iri, now)
    if (isFailure(above)) return above
    found = { kind: 'document', iri, answeredAt: found.answeredAt, ...above }
  }
  return found
}

async function findOther(finding: Finding, named: NamedGraphs): Promise<CopiedGraph | ForStore | Problem> {
  const { graph, isRead } = named
  const { application, trace } = finding.context
  const isVisible = await otherFound(finding, named)
  if (isFailure(isVisible)) return isVisible
  if (!isRead || !isVisible || graph === DEFAULT_GRAPH) return { graph, nTriples: undefined, isVisible: false }
  const found = await readDocumentNow(application, graph, trace, finding.context)
  if (isFailure(found)) return found
  const { value } = found
  return value && isLarge(value) ? TOO_LARGE : { graph, nTriples: value?.nTriples ?? '', isVisible }
}

/** True if the agent may read a graph that is not a document; a problem if its touch is refused. */
async function otherFound({ context, rights }: Finding, { graph, touch }: NamedGraphs): Promise<boolean | Problem> {
  if (touch && isOfNoUpdate(graph)) return rights.isFree ? reservedName(graph) : REFUSED
  if (rights.isFree) return true
  // A store may use the name for its default graph, or for several graphs.
  if (graph !== DEFAULT_GRAPH && isNameOfStores(graph)) return touch ? REFUSED : false
  const { base, names } = context.application
  // Spec 4.1: after a restart, it may be the document of that URL, whose owner the gateway sets.
  if (touch && names.isOtherSpelling(graph)) return REFUSED
  // The graph may have the name of a document that no URL leads to. The rights of documents would apply to it, but the
  // gateway would not preserve its owners.
  if (touch && isDocumentName(rights.Write.reach, graph)) return REFUSED
  const found = graph.startsWith(base) && graph.endsWith('/') ? await factsOf(context, graph, true) : undefined
  if (isFailure(found)) return found
  const facts = found?.value ?? { iri: graph, types: [], owners: [] }
  if (touch && isRefusedOther(rights, facts, touch)) return REFUSED
  return mayReadOther(rights, facts)
}
