// References to renamed graphs: which graphs contain some, how many of their triples change, and the updates that
// change them.
import { MANAGED } from '../../documents/next-state.js'
import type { Problem } from '../../problem.js'
import { nTriplesTerm } from '../../rdf/graph.js'
import { DEF, DH, RDF } from '../../rdf/vocabulary.js'
import { DEFAULT_GRAPH } from '../../sparql/language/graph-sets.js'
import { selectEach } from '../../stores/select.js'
import type { GraphStore } from '../../stores/store.js'
import type { EndpointNames } from '../../documents/endpoint-names.js'
import type { Move, AdoptionPlan } from './plan.js'
import { isNameable } from './renames.js'

type Store = Pick<GraphStore, 'query'>

/** An IRI, and its replacement. */
export type RenamedPair = readonly [before: string, after: string]

/** The references that change. */
export interface Sought {
  readonly moves: AdoptionPlan['moves']
  /** The beginnings of the old names and of the new ones (renames.ts). */
  readonly beginnings: readonly string[]
  readonly endpoints: EndpointNames
  /** IRIs that are not changed: predicates and classes (vocabulary-terms.ts). */
  readonly terms: ReadonlySet<string>
}

export interface GraphReferences {
  /** A name, or DEFAULT_GRAPH. */
  readonly graph: string
  readonly pairs: readonly RenamedPair[]
}

/** The IRI of a moved graph, or of something in it (RFC 3986 §3.5); undefined for others. */
export function iriAfter(iri: string, moves: AdoptionPlan['moves']): string | undefined {
  const hash = iri.indexOf('#')
  return moves.get(iri)?.to ?? (hash < 0 ? undefined : withFragment(moves.get(iri.slice(0, hash)), iri.slice(hash)))
}

const withFragment = (move: Move | undefined, fragment: string): string | undefined => move && move.to + fragment

/**
 * True if a rename changes the IRI, unless it is a vocabulary term (not tested here). The URL of an endpoint stays,
 * since rules about the endpoint name it.
 */
export function isChanged(iri: string, { moves, endpoints }: Pick<Sought, 'moves' | 'endpoints'>): boolean {
  const after = iriAfter(iri, moves)
  return after !== undefined && isNameable(after) && isNameable(iri) && !endpoints.has(iri)
}

/** A SPARQL expression that tests whether the variable is an IRI with one of these beginnings. */
export const beginsAsSought = (variable: string, beginnings: readonly string[]): string =>
  `isIRI(?${variable}) && (${beginnings.map((one) => `STRSTARTS(STR(?${variable}), ${JSON.stringify(one)})`).join(' || ')})`

const anySought = (beginnings: readonly string[]): string =>
  ['s', 'p', 'o'].map((variable) => `(${beginsAsSought(variable, beginnings)})`).join(' || ')

/** Finds a reference that only the default graph has: the union of the other graphs changes with them. */
export const referencesOfDefault = (beginnings: readonly string[]): string =>
  `SELECT ?s WHERE { ?s ?p ?o FILTER(${anySought(beginnings)}) FILTER NOT EXISTS { GRAPH ?g { ?s ?p ?o } } } LIMIT 1`

/** The references to change in one graph. */
export interface ReferenceChanges extends GraphReferences {
  /** The number of triples. */
  readonly count: number
  /** The first triples. */
  readonly examples: readonly string[]
  /** A new IRI that the graph already contains: an undo could not tell them apart. */
  readonly taken?: string
}

const EXAMPLES = 3
/** The most IRIs that one update names. */
const AT_ONCE = 200

interface Seen {
  readonly iris: Set<string>
  /** Triples that would change, grouped by their IRIs: the number, and the first one. */
  readonly triples: Map<string, { readonly befores: readonly string[]; count: number; readonly example: string }>
}

/** Finds the references in these graphs by reading each triple once. */
export async function changesIn(
  store: Store,
  graphs: readonly string[],
  sought: Sought,
): Promise<readonly ReferenceChanges[] | Problem> {
  const { moves, beginnings, terms } = sought
  const filter = anySought(beginnings)
  const named = graphs.filter((graph) => graph !== DEFAULT_GRAPH)
  const own = named.length === graphs.length ? [] : [`{ ?s ?p ?o FILTER(${filter}) BIND(<${DEFAULT_GRAPH}> AS ?g) }`]
  const ofNamed = `{ VALUES ?g { ${named.map((graph) => `<${graph}>`).join(' ')} } GRAPH ?g { ?s ?p ?o FILTER(${filter}) } }`
  const query = `SELECT ?g ?s ?p ?o WHERE { ${[ofNamed, ...own].join('\n  UNION ')} }`
  const seen = new Map<string, Seen>()
  const failed = await selectEach(store, query, ['g', 's', 'p', 'o'], {}, ([g, ...row]) => {
    const own = seen.get(g!.value) ?? { iris: new Set(), triples: new Map() }
    seen.set(g!.value, own)
    const iris = row.flatMap((term) => (term?.termType === 'NamedNode' ? [term.value] : []))
    for (const iri of iris) own.iris.add(iri)
    const some = [...new Set(iris)].filter((iri) => !terms.has(iri) && isChanged(iri, sought))
    if (some.length === 0) return
    const key = some.join(' ')
    const known = own.triples.get(key)
    if (known) known.count++
    else own.triples.set(key, { befores: some, count: 1, example: row.map((term) => nTriplesTerm(term!)).join(' ') })
  })
  if (failed) return failed
  return [...seen].flatMap(([graph, { iris, triples }]) => {
    const changed = [...triples.values()]
    const befores = new Set(changed.flatMap((one) => one.befores))
    const pairs = [...befores].map((iri): RenamedPair => [iri, iriAfter(iri, moves)!])
    const taken = pairs.find(([, after]) => iris.has(after))?.[1]
    const count = changed.reduce((sum, one) => sum + one.count, 0)
    const examples = changed.slice(0, EXAMPLES).map(({ example }) => example)
    return pairs.length === 0 ? [] : [{ graph, pairs, count, examples, ...(taken !== undefined && { taken }) }]
  })
}

const within = (graph: string, triple: string): string =>
  graph === DEFAULT_GRAPH ? triple : `GRAPH <${graph}> { ${triple} }`

/** Finds the triples with these IRIs through the indexes of the store. */
function lookedUp(graph: string, iris: readonly string[]): string {
  const values = iris.map((iri) => `<${iri}>`).join(' ')
  const parts = ['s', 'o', 'p'].map((at) => `{ VALUES ?${at} { ${values} } ${within(graph, '?s ?p ?o')} }`)
  return parts.join('\n  UNION ')
}

export function inReferenceParts<T>(all: readonly T[], size: number): (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let at = 0; at < all.length; at += size) parts.push(all.slice(at, at + size))
  return parts
}

/** The updates that change these IRIs in the graph. Each leaves the graph consistent. */
export const updatesInPlace = ({ graph, pairs }: GraphReferences): readonly string[] =>
  inReferenceParts(pairs, AT_ONCE).map((some) => changing(graph, some))

/**
 * The share of one request that these updates take (joined.ts). The store may have to carry out those of the default
 * graph, and would give documents in the same request no managed triples (design 3).
 */
export const shareOf = ({ graph }: GraphReferences): number => (graph === DEFAULT_GRAPH ? Infinity : 1)

function changing(graph: string, pairs: readonly RenamedPair[]): string {
  const rows = pairs.map(([before, after]) => `(<${before}> <${after}>)`).join(' ')
  const terms = ['s', 'p', 'o'].map(
    (one) =>
      `OPTIONAL { VALUES (?${one} ?${one}1) { ${rows} } } BIND(COALESCE(?${one}1, ?${one}) AS ?new${one.toUpperCase()})`,
  )
  const found = lookedUp(graph, pairs.map(([before]) => before)) // prettier-ignore
  return `DELETE { ${within(graph, '?s ?p ?o')} } INSERT { ${within(graph, '?newS ?newP ?newO')} }
WHERE { ${found}\n${terms.join('\n')} }`
}

/** Moves the graph unchanged. */
export function updateOfMove({ from, to, isContainer }: Move): string {
  const kind = isContainer ? ` ;\nINSERT DATA { GRAPH <${to}> { <${to}> a <${DH('Container')}> } }` : ''
  return `INSERT { GRAPH <${to}> { ?s ?p ?o } } WHERE { GRAPH <${from}> { ?s ?p ?o } } ;\nDROP SILENT GRAPH <${from}>${kind}`
}

const inList = (iris: readonly string[]): string => iris.map((iri) => `<${iri}>`).join(', ')
const KINDS = inList([DH('Container'), DH('Item'), DEF('Root')])
/** The managed triples of a document, which the gateway adds to a moved graph. */
const managed = (document: string): string =>
  `?s = <${document}> && (?p IN (${inList([...MANAGED])}) || (?p = <${RDF('type')}> && ?o IN (${KINDS})))`

/** The triples of graphs that would be managed triples under their new names, as N-Triples. */
export async function referenceTriples(
  store: Store,
  moves: readonly Move[],
): Promise<ReadonlyMap<string, readonly string[]> | Problem> {
  const own = new Map<string, string[]>()
  const rows = moves.map(({ from, to }) => `(<${from}> <${to}>)`).join(' ')
  const query = `SELECT ?g ?s ?p ?o WHERE { VALUES (?g ?s) { ${rows} } GRAPH ?g { ?s ?p ?o }
  FILTER(?p IN (${inList([...MANAGED])}) || (?p = <${RDF('type')}> && ?o IN (${KINDS}))) }`
  const failed = await selectEach(store, query, ['g', 's', 'p', 'o'], {}, ([graph, ...terms]) => {
    const line = `${terms.map((term) => nTriplesTerm(term!)).join(' ')} .`
    own.set(graph!.value, [...(own.get(graph!.value) ?? []), line])
  })
  return failed ?? own
}

/** Moves the graph back. @param own the triples that the gateway has replaced */
export function updateBack(from: string, to: string, own: readonly string[]): string {
  const again = own.length === 0 ? '' : ` ;\nINSERT DATA { GRAPH <${from}> { ${own.join('\n')} } }`
  return `INSERT { GRAPH <${from}> { ?s ?p ?o } } WHERE { GRAPH <${to}> { ?s ?p ?o } FILTER(!(${managed(to)})) } ;
DROP SILENT GRAPH <${to}>${again}`
}

/** Gives an existing document its type; the gateway adds the managed triples. */
export const updateOfType = (document: string, isContainer: boolean): string =>
  isContainer
    ? `DELETE DATA { GRAPH <${document}> { <${document}> a <${DH('Item')}> } } ;\nINSERT DATA { GRAPH <${document}> { <${document}> a <${DH('Container')}> } }`
    : `INSERT DATA { GRAPH <${document}> { <${document}> a <${DH('Item')}> } }`
