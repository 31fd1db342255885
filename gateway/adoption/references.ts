// In charge of references to graphs that get other names: which graphs have some, and the updates that make them new.
import type { Problem } from '../problem.js'
import { DH } from '../rdf/vocabulary.js'
import { selectEach } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'
import type { Move, Plan } from './plan.js'
import { isNameable } from './renames.js'

/** An IRI, and the one that takes its place. */
export type Pair = readonly [before: string, after: string]

/** The IRI of a moved graph, or of something in it (RFC 3986 §3.5); undefined for others. */
export function iriAfter(iri: string, moves: Plan['moves']): string | undefined {
  const hash = iri.indexOf('#')
  return moves.get(iri)?.to ?? (hash < 0 ? undefined : withFragment(moves.get(iri.slice(0, hash)), iri.slice(hash)))
}

const withFragment = (move: Move | undefined, fragment: string): string | undefined => move && move.to + fragment

const begins = (variable: string, beginnings: readonly string[]): string =>
  beginnings
    .map((beginning) => `(isIRI(?${variable}) && STRSTARTS(STR(?${variable}), ${JSON.stringify(beginning)}))`)
    .join(' || ')

/** The graphs that may have such references, without those that no update can name. */
export async function graphsWithReferences(
  store: Pick<GraphStore, 'query'>,
  beginnings: readonly string[],
): Promise<readonly string[] | Problem> {
  const filter = ['s', 'p', 'o'].map((variable) => begins(variable, beginnings)).join(' || ')
  const query = `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER(${filter}) }`
  const graphs: string[] = []
  const failed = await selectEach(store, query, ['g'], {}, ([graph]) => {
    if (graph?.termType === 'NamedNode' && isNameable(graph.value)) graphs.push(graph.value)
  })
  return failed ?? graphs
}

/** The IRIs that change, by graph: of a hundred graphs at once. */
export async function referencesIn(
  store: Pick<GraphStore, 'query'>,
  graphs: readonly string[],
  beginnings: readonly string[],
  moves: Plan['moves'],
): Promise<ReadonlyMap<string, readonly Pair[]> | Problem> {
  const names = graphs.map((graph) => `<${graph}>`).join(' ')
  const query = `SELECT DISTINCT ?g ?x WHERE { VALUES ?g { ${names} }
  GRAPH ?g { { ?x ?p ?o } UNION { ?s ?x ?o } UNION { ?s ?p ?x } FILTER(${begins('x', beginnings)}) } }`
  const pairs = new Map<string, Pair[]>()
  const failed = await selectEach(store, query, ['g', 'x'], {}, ([graph, iri]) => {
    const after = iri?.termType === 'NamedNode' ? iriAfter(iri.value, moves) : undefined
    if (after === undefined || !isNameable(after)) return
    const known = pairs.get(graph!.value)
    if (known) known.push([iri!.value, after])
    else pairs.set(graph!.value, [[iri!.value, after]])
  })
  return failed ?? pairs
}

/** Those that are no references of the graph to itself. */
export const toOthers = (graph: string, pairs: readonly Pair[]): readonly Pair[] =>
  pairs.filter(([before]) => before !== graph && !before.startsWith(`${graph}#`))

/** IRIs that one update changes. */
const IN_UPDATE = 200

export function inParts<T>(all: readonly T[], size: number): (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let at = 0; at < all.length; at += size) parts.push(all.slice(at, at + size))
  return parts
}

/** The updates that change these IRIs in the graph: each alone leaves nothing half done. */
export const updatesInPlace = (graph: string, pairs: readonly Pair[]): readonly string[] =>
  inParts(pairs, IN_UPDATE).map((some) => changing(graph, some))

const changing = (graph: string, pairs: readonly Pair[]): string =>
  `DELETE { GRAPH <${graph}> { ?s ?p ?o } } INSERT { GRAPH <${graph}> { ?newS ?newP ?newO } }
WHERE { ${changed(graph, pairs)} FILTER(BOUND(?s1) || BOUND(?p1) || BOUND(?o1)) }`

/** The last of them moves the graph. */
export function updatesOfMove({ from, to, isContainer }: Move, pairs: readonly Pair[]): readonly string[] {
  const parts = inParts(pairs, IN_UPDATE)
  const last = parts.pop() ?? []
  const kind = isContainer ? ` ;\nINSERT DATA { GRAPH <${to}> { <${to}> a <${DH('Container')}> } }` : ''
  return [
    ...parts.map((some) => changing(from, some)),
    `INSERT { GRAPH <${to}> { ?newS ?newP ?newO } } WHERE { ${changed(from, last)} } ;\nDROP SILENT GRAPH <${from}>${kind}`,
  ]
}

/** A document that exists gets its type; the gateway adds what belongs to it. */
export const updateOfType = (document: string, isContainer: boolean): string =>
  isContainer
    ? `DELETE DATA { GRAPH <${document}> { <${document}> a <${DH('Item')}> } } ;\nINSERT DATA { GRAPH <${document}> { <${document}> a <${DH('Container')}> } }`
    : `INSERT DATA { GRAPH <${document}> { <${document}> a <${DH('Item')}> } }`

function changed(graph: string, pairs: readonly Pair[]): string {
  const rows = pairs.map(([before, after]) => `(<${before}> <${after}>)`).join(' ')
  const terms = ['s', 'p', 'o'].map((one) => {
    const values = rows === '' ? '' : `OPTIONAL { VALUES (?${one} ?${one}1) { ${rows} } }\n`
    const after = rows === '' ? `?${one}` : `COALESCE(?${one}1, ?${one})`
    return `${values}BIND(${after} AS ?new${one.toUpperCase()})`
  })
  return `GRAPH <${graph}> { ?s ?p ?o }\n${terms.join('\n')}`
}
