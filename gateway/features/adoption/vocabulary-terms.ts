// The IRIs of a vocabulary: predicates, classes and datatypes. Other data depends on them, whatever the name of the
// graph that describes them, so renaming does not change them.
import { isFailure, type Problem } from '../../problem.js'
import { ACL, OWL, RDF, RDFS, SH } from '../../rdf/vocabulary.js'
import { DEFAULT_GRAPH } from '../../sparql/language/graph-sets.js'
import { selectEach } from '../../stores/select.js'
import { graphsOf, inShares, type AdoptedMember, type Searched } from './look-through.js'
import { beginsAsSought, isChanged, type Sought } from './references.js'

/** Classes whose members are terms of a vocabulary. */
const KINDS = [
  ...['Class', 'Datatype', 'ContainerMembershipProperty'].map(RDFS),
  RDF('Property'),
  ...['Class', 'ObjectProperty', 'DatatypeProperty', 'AnnotationProperty', 'OntologyProperty', 'FunctionalProperty'].map(OWL), // prettier-ignore
]
/** Properties that only terms of a vocabulary have. */
const OF_TERMS = ['subClassOf', 'subPropertyOf', 'domain', 'range'].map(RDFS)
/** Properties whose values are terms of a vocabulary. */
const TO_TERMS = [
  RDF('type'),
  ...OF_TERMS,
  ...['onProperty', 'onClass', 'inverseOf', 'equivalentClass', 'equivalentProperty', 'someValuesFrom', 'allValuesFrom'].map(OWL), // prettier-ignore
  ...['path', 'targetClass', 'class', 'datatype'].map(SH),
  ACL('accessToClass'),
]

/** The terms that would otherwise be renamed, in all stores. `store.time` if those of a graph cannot be found. */
export async function vocabularyTerms(
  members: readonly Searched[],
  sought: Omit<Sought, 'terms'>,
  report: (done: number, of: number) => void,
): Promise<ReadonlySet<string> | Problem> {
  const terms = new Set<string>()
  const collect = ({ store }: AdoptedMember, graphs?: readonly string[]): Promise<undefined | Problem> =>
    selectEach(store, queryOf(sought, graphs), ['x'], {}, ([term]) => {
      if (term?.termType === 'NamedNode' && isChanged(term.value, sought)) terms.add(term.value)
    })
  let done = 0
  for (const member of members) {
    const failed = await collect(member)
    if (failed) return failed
    for await (const { graphs, answer } of inShares(
      member.graphs.filter((graph) => graph !== DEFAULT_GRAPH),
      (some) => collect(member, some),
    )) {
      if (isFailure(answer)) return answer
      report((done += graphs.length), graphsOf(members))
    }
  }
  return terms
}

/** @param graphs undefined for the default graph */
function queryOf({ beginnings }: Pick<Sought, 'beginnings'>, graphs: readonly string[] | undefined): string {
  const list = (some: readonly string[]): string => some.map((iri) => `<${iri}>`).join(' ')
  const parts = [
    ['', '?s ?x ?o'],
    [`VALUES ?to { ${list(TO_TERMS)} }`, '?s ?to ?x'],
    [`VALUES ?of { ${list(OF_TERMS)} }`, '?x ?of ?o'],
    [`VALUES ?kind { ${list(KINDS)} }`, '?x a ?kind'],
  ].map(([values, triple]) =>
    graphs ? `{ VALUES ?g { ${list(graphs)} } ${values} GRAPH ?g { ${triple} } }` : `{ ${values} ${triple} }`,
  )
  return `SELECT DISTINCT ?x WHERE {\n  ${parts.join('\n  UNION ')}\n  FILTER(${beginsAsSought('x', beginnings)}) }`
}
