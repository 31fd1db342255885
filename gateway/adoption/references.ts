// In charge of references to graphs that get other names: which graphs have some, how many of their triples change, and the updates
// that change them.
import { MANAGED } from '../documents/next-state.js'
import { isFailure, type Problem } from '../problem.js'
import { nTriplesTerm } from '../rdf/graph.js'
import { DEF, DH, RDF } from '../rdf/vocabulary.js'
import { selectEach } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'
import type { EndpointNames } from '../documents/endpoint-names.js'
import type { Move, Plan } from './plan.js'
import { isNameable } from './renames.js'
import type { VocabularyTerms } from './vocabulary-terms.js'

type Store = Pick<GraphStore, 'query'>

/** An IRI, and the one that takes its place. */
export type Pair = readonly [before: string, after: string]

/** The references that change. */
export interface Sought {
  readonly moves: Plan['moves']
  /** Of the names that change (renames.ts). */
  readonly beginnings: readonly string[]
  readonly endpoints: EndpointNames
  /** Predicates and classes stay; undefined where they change too. */
  readonly vocabulary: VocabularyTerms | undefined
}

export interface GraphReferences {
  readonly graph: string
  readonly pairs: readonly Pair[]
}

/** The IRI of a moved graph, or of something in it (RFC 3986 §3.5); undefined for others. */
export function iriAfter(iri: string, moves: Plan['moves']): string | undefined {
  const hash = iri.indexOf('#')
  return moves.get(iri)?.to ?? (hash < 0 ? undefined : withFragment(moves.get(iri.slice(0, hash)), iri.slice(hash)))
}

const withFragment = (move: Move | undefined, fragment: string): string | undefined => move && move.to + fragment

/** The IRIs that change, by graph. */
export async function referencesIn(
  store: Store,
  graphs: readonly string[],
  { moves, beginnings, endpoints, vocabulary }: Sought,
): Promise<readonly GraphReferences[] | Problem> {
  const filter = beginnings
    .map((beginning) => `(isIRI(?x) && STRSTARTS(STR(?x), ${JSON.stringify(beginning)}))`)
    .join(' || ')
  const places = ['?x ?p ?o', '?s ?p ?x', ...(vocabulary ? [] : ['?s ?x ?o'])].map((place) => `{ ${place} }`)
  const query = `SELECT DISTINCT ?g ?x WHERE { VALUES ?g { ${graphs.map((graph) => `<${graph}>`).join(' ')} }
  GRAPH ?g { ${places.join(' UNION ')} FILTER(${filter}) } }`
  const found = new Map<string, Pair[]>()
  const failed = await selectEach(store, query, ['g', 'x'], {}, ([graph, iri]) => {
    const after = iri?.termType === 'NamedNode' ? iriAfter(iri.value, moves) : undefined
    // The URL of an endpoint is what rules about the endpoint name.
    if (after === undefined || !isNameable(after) || !isNameable(iri!.value) || endpoints.has(iri!.value)) return
    const known = found.get(graph!.value)
    if (known) known.push([iri!.value, after])
    else found.set(graph!.value, [[iri!.value, after]])
  })
  if (failed) return failed
  const terms = await vocabulary?.among([...found.values()].flat().map(([before]) => before))
  if (isFailure(terms)) return terms
  return [...found].flatMap(([graph, all]) => {
    const pairs = all.filter(([before]) => !terms?.has(before))
    return pairs.length === 0 ? [] : [{ graph, pairs }]
  })
}

export interface Changes {
  readonly graph: string
  readonly count: number
  /** The first of them. */
  readonly examples: readonly string[]
  /** An IRI to come that the graph has already: an undo could not tell them apart. */
  readonly taken?: string
}

const EXAMPLES = 3
/** IRIs that one query or update names. */
const AT_ONCE = 200

/** The triples that change in these graphs. */
export async function changesIn(
  store: Store,
  found: readonly GraphReferences[],
): Promise<readonly Changes[] | Problem> {
  const counts = new Map(found.map(({ graph, pairs }) => [graph, { after: new Map(pairs), count: 0, examples: [] as string[], taken: undefined as string | undefined }])) // prettier-ignore
  const rows = found.flatMap(({ graph, pairs }) => pairs.map(([before, after]) => ({ graph, before, after })))
  for (const part of inParts(rows, AT_ONCE)) {
    const befores = part.map(({ graph, before }) => `(<${graph}> <${before}>)`)
    const query = `SELECT ?g ?at ?s ?p ?o WHERE { ${lookedUp('?g', befores)} }`
    const failed = await selectEach(store, query, ['g', 'at', 's', 'p', 'o'], {}, ([g, at, s, p, o]) => {
      const known = counts.get(g!.value)!
      const isPair = (term: typeof s): boolean => term?.termType === 'NamedNode' && known.after.has(term.value)
      // A triple with two such IRIs is found at each of them.
      if ((at!.value !== 's' && isPair(s)) || (at!.value === 'p' && isPair(o))) return
      if (known.count++ < EXAMPLES) known.examples.push([s!, p!, o!].map(nTriplesTerm).join(' '))
    })
    if (failed) return failed
    const afters = part.map(({ graph, after }) => `(<${graph}> <${after}>)`).join(' ')
    const places = ['?x ?p ?o', '?s ?p ?x', '?s ?x ?o'].map((place) => `{ VALUES (?g ?x) { ${afters} } GRAPH ?g { ${place} } }`) // prettier-ignore
    const used = `SELECT DISTINCT ?g ?x WHERE { ${places.join('\n  UNION ')} }`
    const broken = await selectEach(store, used, ['g', 'x'], {}, ([g, x]) => void (counts.get(g!.value)!.taken = x!.value)) // prettier-ignore
    if (broken) return broken
  }
  return [...counts].map(([graph, { count, examples, taken }]) => ({ graph, count, examples, ...(taken !== undefined && { taken }) })) // prettier-ignore
}

/** The triples that have these IRIs, by the indexes of the store. @param rows with the graph where it is a variable */
function lookedUp(graph: string, rows: readonly string[]): string {
  const parts = ['s', 'o', 'p'].map((at) => {
    const [variables, place] = graph === '?g' ? [`(?g ?${at})`, ` BIND("${at}" AS ?at)`] : [`?${at}`, '']
    return `{ VALUES ${variables} { ${rows.join(' ')} } GRAPH ${graph} { ?s ?p ?o }${place} }`
  })
  return parts.join('\n  UNION ')
}

export function inParts<T>(all: readonly T[], size: number): (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let at = 0; at < all.length; at += size) parts.push(all.slice(at, at + size))
  return parts
}

/** The updates that change these IRIs in the graph: each alone leaves nothing half done. */
export const updatesInPlace = ({ graph, pairs }: GraphReferences): readonly string[] =>
  inParts(pairs, AT_ONCE).map((some) => changing(graph, some))

function changing(graph: string, pairs: readonly Pair[]): string {
  const rows = pairs.map(([before, after]) => `(<${before}> <${after}>)`).join(' ')
  const terms = ['s', 'p', 'o'].map(
    (one) =>
      `OPTIONAL { VALUES (?${one} ?${one}1) { ${rows} } } BIND(COALESCE(?${one}1, ?${one}) AS ?new${one.toUpperCase()})`,
  )
  const found = lookedUp(`<${graph}>`, pairs.map(([before]) => `<${before}>`)) // prettier-ignore
  return `DELETE { GRAPH <${graph}> { ?s ?p ?o } } INSERT { GRAPH <${graph}> { ?newS ?newP ?newO } }
WHERE { ${found}\n${terms.join('\n')} }`
}

/** Moves the graph as it is. */
export function updateOfMove({ from, to, isContainer }: Move): string {
  const kind = isContainer ? ` ;\nINSERT DATA { GRAPH <${to}> { <${to}> a <${DH('Container')}> } }` : ''
  return `INSERT { GRAPH <${to}> { ?s ?p ?o } } WHERE { GRAPH <${from}> { ?s ?p ?o } } ;\nDROP SILENT GRAPH <${from}>${kind}`
}

const inList = (iris: readonly string[]): string => iris.map((iri) => `<${iri}>`).join(', ')
const KINDS = inList([DH('Container'), DH('Item'), DEF('Root')])
/** The managed triples of a document, which the gateway adds to a moved graph. */
const managed = (document: string): string =>
  `?s = <${document}> && (?p IN (${inList([...MANAGED])}) || (?p = <${RDF('type')}> && ?o IN (${KINDS})))`

/** The triples of graphs that would be managed ones under their new names, as N-Triples. */
export async function ownTriples(
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

/** Moves the graph back. @param own its triples that the gateway has replaced */
export function updateBack(from: string, to: string, own: readonly string[]): string {
  const again = own.length === 0 ? '' : ` ;\nINSERT DATA { GRAPH <${from}> { ${own.join('\n')} } }`
  return `INSERT { GRAPH <${from}> { ?s ?p ?o } } WHERE { GRAPH <${to}> { ?s ?p ?o } FILTER(!(${managed(to)})) } ;
DROP SILENT GRAPH <${to}>${again}`
}

/** A document that exists gets its type; the gateway adds what belongs to it. */
export const updateOfType = (document: string, isContainer: boolean): string =>
  isContainer
    ? `DELETE DATA { GRAPH <${document}> { <${document}> a <${DH('Item')}> } } ;\nINSERT DATA { GRAPH <${document}> { <${document}> a <${DH('Container')}> } }`
    : `INSERT DATA { GRAPH <${document}> { <${document}> a <${DH('Item')}> } }`
