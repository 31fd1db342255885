// What graphs contain, as the store itself counts it: whether a renamed graph is still the one that adopt has renamed.
import { MANAGED } from '../../documents/next-state.js'
import { KINDS } from '../../documents/hierarchy.js'
import { isFailure, type Problem } from '../../problem.js'
import { DCT, RDF, XSD } from '../../rdf/vocabulary.js'
import { select } from '../../stores/select.js'
import { inShares, type AdoptedMember } from './look-through.js'

export interface GraphContent {
  /** Of all triples but the managed ones. Blank nodes, and the IRIs that the gateway gives them, count as equal. */
  readonly digest: string
  /** The number of these triples. */
  readonly count: number
  /** It has been written since it became a document: the gateway gives new documents no `dct:modified`. */
  readonly isModified: boolean
}

/** A graph, and the document that it is or becomes. */
export interface GraphOfDocument {
  readonly graph: string
  readonly document: string
}

/** By graph, without graphs that do not exist. A problem: the store takes too long even for this graph alone. */
export async function graphContents(
  store: AdoptedMember['store'],
  named: readonly GraphOfDocument[],
): Promise<ReadonlyMap<string, GraphContent | Problem> | Problem> {
  const contents = new Map<string, GraphContent | Problem>()
  const documents = new Map(named.map(({ graph, document }) => [graph, document]))
  const ask = (graphs: readonly string[]) =>
    select(store, contentsQuery(graphs.map((graph) => [graph, documents.get(graph) ?? graph])), VARIABLES, {})
  for await (const { graphs, answer } of inShares([...documents.keys()], ask)) {
    if (isFailure(answer)) {
      if (answer.failure !== 'store.time') return answer
      for (const graph of graphs) contents.set(graph, answer)
      continue
    }
    for (const row of answer) {
      const [graph = '', count = '', sum = '', modified = ''] = row.map((term) => term?.value)
      // Without a graph there is one group without a name (SPARQL 1.1 §11.2).
      if (graph === '') continue
      contents.set(graph, { digest: `${count}-${sum}`, count: Number(count), isModified: Number(modified) > 0 })
    }
  }
  return contents
}

const VARIABLES = ['g', 'count', 'sum', 'modified'] as const

const inList = (iris: Iterable<string>): string => [...iris].map((iri) => `<${iri}>`).join(', ')
/** Of each triple's digest, after a 1, as SUM may keep leading zeros. Their sum has no order, and stays below 2^63. */
const DIGITS = 10
const nameOf = (variable: string): string =>
  `IF(isBlank(?${variable}) || STRSTARTS(STR(?${variable}), CONCAT(STR(?d), "#id")), "_:", STR(?${variable}))`

function contentsQuery(graphs: readonly (readonly [graph: string, document: string])[]): string {
  const rows = graphs.map(([graph, document]) => `(<${graph}> <${document}>)`).join(' ')
  const parts = [nameOf('s'), 'STR(?p)', nameOf('o'), 'LCASE(LANG(?o))', 'STR(DATATYPE(?o))']
  const text = parts.map((part) => `COALESCE(${part}, "")`).join(', " ", ')
  const digits = `SUBSTR(REPLACE(SHA256(CONCAT(${text})), "[a-f]", ""), 1, ${DIGITS})`
  return `SELECT ?g (SUM(?one) AS ?count) (SUM(?part) AS ?sum) (SUM(?change) AS ?modified) WHERE {
  VALUES (?g ?d) { ${rows} } GRAPH ?g { ?s ?p ?o }
  BIND(?s = ?d && (?p IN (${inList(MANAGED)}) || (?p = <${RDF('type')}> && ?o IN (${inList(KINDS)}))) AS ?isManaged)
  BIND(IF(?isManaged, 0, 1) AS ?one)
  BIND(IF(?isManaged, 0, <${XSD('integer')}>(CONCAT("1", ${digits}))) AS ?part)
  BIND(IF(?s = ?d && ?p = <${DCT('modified')}>, 1, 0) AS ?change)
} GROUP BY ?g`
}
