// The graphs of a dataset on which an agent has a mode, as one value. It is a predicate built from the rules, not from
// the graphs, and agrees with `decide` on each graph (design 4). Pure.
import { createHash } from 'node:crypto'
import { CONTAINER, DEFAULT_GRAPH, ITEM, OTHER_GRAPH, OWNER, RDF_TYPE, ROOT } from '../vocabulary.js'
import { bitsOf, type Mode } from './authorization.js'
import type { AuthorizationIndex } from './authorization-index.js'
import { hasOthers, isContainerName, isDocumentName, isOtherName, isPrefix, type Reach } from './reach.js'

/**
 * A graph is a document if `isDocumentName` says so (reach.ts). Fields leave out what a wider field covers: with
 * `documents`, there are no documents in `graphs`, no classes, and no owner.
 */
export interface GraphRights {
  readonly reach: Reach
  /** All graphs, including the default graph: nothing is hidden. Then no other field matters. */
  readonly everything: boolean
  /** All documents. */
  readonly documents: boolean
  /** All named graphs that are not documents. */
  readonly others: boolean
  /** The default graph, if it is not the union of the named graphs. */
  readonly defaultGraph: boolean
  /** Graphs by name, whether documents or not; sorted. */
  readonly graphs: readonly string[]
  /**
   * Graphs with a longer name that begins with one of these; sorted, none nested. Graphs that are not documents only if
   * `reach.alone`.
   */
  readonly prefixes: readonly string[]
  /** Like `prefixes`, but only for graphs that are not documents. */
  readonly otherPrefixes: readonly string[]
  /** Documents of type dh:Item, and documents without dh:Container; never the root. */
  readonly items: boolean
  /** Documents of type dh:Container; never the root. */
  readonly containers: boolean
  /**
   * Documents whose own graph has `<g> a <class>`, including subclasses; sorted. Never dh:Item, dh:Container or
   * def:Root.
   */
  readonly classes: readonly string[]
  /** Documents whose own graph has `<g> acl:owner <agent>`; undefined if none. */
  readonly owner: string | undefined
  /** Equal for two agents if and only if all fields above are equal. */
  readonly fingerprint: string
}

export interface GraphsQuestion {
  readonly reach: Reach
  /** The WebID of the agent; undefined for an anonymous client. */
  readonly agent: string | undefined
  readonly memberships?: readonly string[] | undefined
  readonly mode: Mode
  /** The agent has the mode on these without an authorization. */
  readonly open?: 'documents' | 'everything' | undefined
}

/** The facts about a graph that rights depend on. `types` and `owners` are its own statements about its IRI. */
export interface GraphFacts {
  readonly iri: string
  readonly types: readonly string[]
  readonly owners: readonly string[]
}

/** Types that the gateway assigns itself. All other classes are taken from the statements of documents. */
const KINDS: ReadonlySet<string> = new Set([ITEM, CONTAINER, ROOT, OTHER_GRAPH])

/** Takes time proportional to the authorizations that include the agent. */
export function graphRights(index: AuthorizationIndex, question: GraphsQuestion): GraphRights {
  const { reach, agent, mode, open } = question
  const { names, defaults, classes, isControlled } = grantedTo(index, question)
  if (classes.has(ROOT)) names.add(reach.base)
  const [items, containers] = [classes.has(ITEM), classes.has(CONTAINER)]
  const isWhole = names.has(reach.base) && (defaults.has(reach.base) || (items && containers))
  const documents = open !== undefined || isWhole || (isControlled && reach.application === 'admin')
  const isAdministrator = (isControlled || open === 'everything') && reach.alone
  const others = isAdministrator || (hasOthers(reach) && classes.has(OTHER_GRAPH))
  const defaultGraph = isAdministrator || (hasOthers(reach) && names.has(DEFAULT_GRAPH))
  const wide = { everything: documents && others && defaultGraph, documents, others, defaultGraph }
  const prefixes = prefixesIn(reach, defaults, wide)
  const isNarrow = (iri: string): boolean =>
    iri !== DEFAULT_GRAPH &&
    (isDocumentName(reach, iri) ? !documents : isOtherName(reach, iri)) &&
    !mayTouch({ ...NOTHING, reach, ...wide, ...prefixes }, { iri, types: [], owners: [] })
  const fields = {
    ...wide,
    graphs: [...names].filter(isNarrow).sort(),
    ...prefixes,
    items: items && !documents,
    containers: containers && !documents,
    classes: documents ? [] : [...classes].filter((type) => !KINDS.has(type) && !type.startsWith('_:')).sort(),
  }
  // LinkedDataHub 5.2: never Control.
  const owner = documents || mode === 'Control' ? undefined : agent
  const byRules = createHash('sha256').update(JSON.stringify(fields)).digest('base64url')
  return { reach, ...fields, owner, fingerprint: owner === undefined ? byRules : `${byRules} ${owner}` }
}

/**
 * The part of a fingerprint that is equal for two agents if and only if their rights differ at most in what they own.
 */
export const fingerprintByRules = ({ fingerprint }: GraphRights): string => fingerprint.split(' ', 1)[0]!

/** No graph has this name or one that begins with it. */
export const NO_GRAPHS = ''

/**
 * The rights restricted to a document and the documents below it. Leaves out rights by class and owner, which cannot be
 * restricted to a part of the documents.
 */
export function narrowed({ reach, documents, graphs, prefixes }: GraphRights, document: string): GraphRights {
  const isWhole = document !== NO_GRAPHS && (documents || beginsWithOne(document, prefixes))
  const isIn = (iri: string): boolean => document !== NO_GRAPHS && iri.startsWith(document)
  const fields = {
    ...{ everything: false, documents: false, others: false, defaultGraph: false },
    graphs: isWhole ? [document] : graphs.filter(isIn),
    prefixes: isWhole || prefixes.includes(document) ? [document] : prefixes.filter(isIn),
    ...{ otherPrefixes: [], items: false, containers: false, classes: [], owner: undefined },
  }
  const fingerprint = createHash('sha256')
    .update(`narrowed ${JSON.stringify(fields)}`)
    .digest('base64url')
  return { reach: { ...reach, alone: false }, ...fields, fingerprint }
}

const NOTHING = { graphs: [], items: false, containers: false, classes: [], owner: undefined, fingerprint: '' }

/**
 * Why an agent has a mode on a graph: the graph's name, a statement of the graph about itself, or the absence of a
 * statement that it is a container.
 */
export type Ground = 'name' | 'no-container' | { readonly property: string; readonly value: string }

/** The ground for the agent's mode on this existing graph; undefined if `decide` refuses it. */
export function groundOf(rights: GraphRights, { iri, types, owners }: GraphFacts): Ground | undefined {
  const { reach, graphs, prefixes, otherPrefixes, items, containers, classes, owner } = rights
  if (graphs[placeIn(graphs, iri)] === iri) return 'name'
  if (!isDocumentName(reach, iri)) {
    const isBelow = (): boolean => beginsWithOne(iri, prefixes) || beginsWithOne(iri, otherPrefixes)
    return rights.others || (hasOthers(reach) && isBelow()) ? 'name' : undefined
  }
  if (rights.documents || beginsWithOne(iri, prefixes)) return 'name'
  if (owner !== undefined && owners.includes(owner)) return { property: OWNER, value: owner }
  const type = types.find((type) => classes[placeIn(classes, type)] === type)
  if (type !== undefined) return { property: RDF_TYPE, value: type }
  if (iri === reach.base) return undefined
  // Design 3: a document without a type of the hierarchy is an item.
  if (!types.includes(CONTAINER)) return items ? 'no-container' : undefined
  if (containers) return { property: RDF_TYPE, value: CONTAINER }
  return items && types.includes(ITEM) ? { property: RDF_TYPE, value: ITEM } : undefined
}

/** True if the agent has the mode on this existing graph. Agrees with `decide`. */
export const mayTouch = (rights: GraphRights, graph: GraphFacts): boolean => groundOf(rights, graph) !== undefined

/** The position of a text among sorted ones, or the position where it would be inserted. */
function placeIn(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < text) from = middle + 1
    else to = middle
  }
  return from
}

/**
 * In this order, only texts with the same prefix stand between a prefix and a text that begins with it; `outermost` has
 * none of these.
 */
const beginsWithOne = (text: string, outermost: readonly string[]): boolean => {
  const before = outermost[placeIn(outermost, text) - 1]
  return before !== undefined && text.startsWith(before)
}

interface Granted {
  /** The IRIs named by `acl:accessTo` and `acl:default`. */
  readonly names: Set<string>
  readonly defaults: Set<string>
  /** Including all subclasses. */
  readonly classes: Set<string>
  /** True if an authorization for the agent or its group lists both Control and the mode (LinkedDataHub 5.3). */
  readonly isControlled: boolean
}

function grantedTo(index: AuthorizationIndex, { reach, agent, memberships, mode }: GraphsQuestion): Granted {
  const [required, control] = [bitsOf(mode), bitsOf('Control')]
  const [names, defaults, types] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let isControlled = false
  for (const { authorization, isNamed } of index.including(agent, memberships)) {
    if (!(authorization.bits & required)) continue
    if (isNamed && authorization.bits & control) isControlled = true
    for (const iri of authorization.accessTo) names.add(iri)
    for (const iri of authorization.default) defaults.add(iri)
    for (const type of authorization.accessToClass) types.add(type)
  }
  // LinkedDataHub 5.3: rights on classes do not apply in the admin application.
  const reaching = reach.application === 'admin' ? [] : [...types]
  return { names, defaults, classes: new Set(reaching.flatMap((type) => index.subclasses(type))), isControlled }
}

/** The `acl:default` prefixes that add something to the other rights. */
function prefixesIn(
  reach: Reach,
  defaults: ReadonlySet<string>,
  { documents, others }: Pick<GraphRights, 'documents' | 'others'>,
): Pick<GraphRights, 'prefixes' | 'otherPrefixes'> {
  const [all, ofOthers]: [string[], string[]] = [[], []]
  for (const iri of defaults) {
    const isContainer = !documents && isContainerName(reach, iri)
    const isOfOthers = !others && isPrefix(reach, iri)
    if (isContainer || (isOfOthers && (documents || !mayBeginDocument(reach, iri)))) all.push(iri)
    else if (isOfOthers) ofOthers.push(iri)
  }
  const prefixes = outermost(all)
  return { prefixes, otherPrefixes: outermost(ofOthers).filter((iri) => !beginsWithOne(iri, prefixes)) }
}

const mayBeginDocument = ({ base }: Reach, prefix: string): boolean =>
  base.startsWith(prefix) || prefix.startsWith(base)

/** Sorted, without those that begin with another one. */
function outermost(prefixes: readonly string[]): string[] {
  const kept: string[] = []
  // Names that begin with a prefix follow it directly in this order.
  for (const prefix of [...prefixes].sort()) if (!kept.length || !prefix.startsWith(kept.at(-1)!)) kept.push(prefix)
  return kept
}
