// Plans an adoption: which graphs of a store get which name, which containers are created, and which documents get a
// type. It only reads.
import { parentOf } from '../../documents/hierarchy.js'
import type { Problem } from '../../problem.js'
import { ACL, DH } from '../../rdf/vocabulary.js'
import { eachGraph } from '../../stores/graph-names.js'
import { selectEach } from '../../stores/select.js'
import type { GraphStore } from '../../stores/store.js'
import type { EndpointNames } from '../../documents/endpoint-names.js'
import { isNameable, type Renames } from './renames.js'

/** The names of an application. */
export interface Adopting {
  readonly base: string
  isDocument(graph: string): boolean
  readonly endpoints: EndpointNames
}

export interface WantedMoves {
  readonly renames: Renames | undefined
  readonly containers: boolean
  readonly types: boolean
}

/** A document that gets a type, or a container that does not exist yet. */
export interface TypedMove {
  readonly document: string
  readonly exists: boolean
  readonly isContainer: boolean
}

export interface Move {
  readonly from: string
  readonly to: string
  /** Documents exist below it. */
  readonly isContainer: boolean
}

export interface AdoptionPlan {
  /** All graphs of the store that SPARQL can name. */
  readonly graphs: readonly string[]
  /** By old name. */
  readonly moves: ReadonlyMap<string, Move>
  readonly typed: readonly TypedMove[]
  readonly refused: readonly RefusedMove[]
}

export interface RefusedMove {
  readonly graph: string
  readonly why: string
}

const NOT_NAMEABLE = 'its name is relative, or has dot segments or invalid characters: load it again with another name'

export const whyTaken = (to: string): string => `<${to}> already exists: merge the two graphs yourself`

const namesTyped = (type: string): string => `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?g a <${DH(type)}> } }`

export async function adoptionPlanOf(
  store: Pick<GraphStore, 'query'>,
  { base, isDocument, endpoints }: Adopting,
  { renames, containers, types }: WantedMoves,
): Promise<AdoptionPlan | Problem> {
  const documents = new Set<string>()
  const wished: [from: string, to: string][] = []
  const graphs: string[] = []
  const failed = await eachGraph(store, {}, (graph) => {
    if (isNameable(graph)) graphs.push(graph)
    if (isDocument(graph)) documents.add(graph)
    const to = renames?.nameAfter(graph)
    if (to !== undefined) wished.push([graph, to])
  })
  if (failed) return failed
  const refused: RefusedMove[] = []
  const names = movesOf(wished, { documents, endpoints }, refused)
  const after = new Set([...documents].filter((document) => !names.has(document)))
  for (const to of names.values()) after.add(to)
  const above = containersAbove(containers || types ? after : names.values(), base)
  const [asContainers, asItems] = [new Set<string>(), new Set<string>()]
  for (const [type, taken] of [
    ['Container', asContainers],
    ['Item', asItems],
  ] as const) {
    const broken = await eachName(store, namesTyped(type), (graph) => documents.has(graph) && taken.add(graph))
    if (broken) return broken
  }
  const missing = [...above].filter((one) => !after.has(one) || (documents.has(one) && !asContainers.has(one)))
  const isMade = containers || names.size > 0
  const untyped = [...documents].filter((one) => one !== base && !names.has(one) && !above.has(one) && !asContainers.has(one) && !asItems.has(one)) // prettier-ignore
  const typed = [
    ...(isMade ? missing.map((document) => ({ document, exists: documents.has(document), isContainer: true })) : []),
    ...(types ? untyped.map((document) => ({ document, exists: true, isContainer: false })) : []),
  ]
  const moves = [...names].map(([from, to]) => [from, { from, to, isContainer: above.has(to) }] as const)
  return { graphs, moves: new Map(moves), typed, refused }
}

const eachName = (
  store: Pick<GraphStore, 'query'>,
  query: string,
  take: (graph: string) => unknown,
): Promise<undefined | Problem> =>
  selectEach(store, query, ['g'], {}, ([graph]) => graph?.termType === 'NamedNode' && take(graph.value))

function movesOf(
  wished: readonly (readonly [from: string, to: string])[],
  { documents, endpoints }: { readonly documents: ReadonlySet<string>; readonly endpoints: EndpointNames },
  refused: RefusedMove[],
): ReadonlyMap<string, string> {
  const times = new Map<string, number>()
  for (const [, to] of wished) times.set(to, (times.get(to) ?? 0) + 1)
  const moves = new Map<string, string>()
  for (const [graph, to] of wished) {
    const why = whyNot(graph, to)
    if (why === undefined) moves.set(graph, to)
    else refused.push({ graph, why })
  }
  return moves

  function whyNot(graph: string, to: string): string | undefined {
    if (!isNameable(graph)) return NOT_NAMEABLE
    if (endpoints.has(to))
      return `<${to}> is the name of an endpoint: give the graph another name, --rename '${graph}=${endpoints.instead(to)}'`
    if (documents.has(to)) return whyTaken(to)
    if (times.get(to)! > 1) return `another graph would also become <${to}>: rename one of them with --rename FROM=TO`
    return undefined
  }
}

/** Rules that name a graph by its old name. */
export interface RulesAbout {
  readonly count: number
  /** Names of graphs. */
  readonly examples: readonly string[]
}

const EXAMPLES = 3

export async function rulesAbout(
  store: Pick<GraphStore, 'query'>,
  moves: AdoptionPlan['moves'],
  endpoints: EndpointNames,
): Promise<RulesAbout | Problem> {
  const query = `SELECT ?x WHERE { VALUES ?p { <${ACL('accessTo')}> <${ACL('default')}> } GRAPH ?g { ?rule ?p ?x } }`
  let count = 0
  const examples = new Set<string>()
  const failed = await selectEach(store, query, ['x'], {}, ([target]) => {
    if (!target || !moves.has(target.value) || endpoints.has(target.value)) return
    count++
    if (examples.size < EXAMPLES) examples.add(target.value)
  })
  return failed ?? { count, examples: [...examples] }
}

/** The root is not included: the gateway creates it. */
function containersAbove(documents: Iterable<string>, base: string): ReadonlySet<string> {
  const above = new Set<string>()
  for (const document of documents) {
    let at = document === base ? base : parentOf(document)
    while (at.length > base.length && !above.has(at)) {
      above.add(at)
      at = parentOf(at)
    }
  }
  return above
}

export const isNothing = ({ moves, typed }: AdoptionPlan): boolean => moves.size === 0 && typed.length === 0
