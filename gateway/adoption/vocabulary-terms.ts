// In charge of the IRIs of a vocabulary: predicates, classes and datatypes. They are names that other data rests on, whatever the
// name of the graph that describes them, so that references leave them alone.
import type { Problem } from '../problem.js'
import { ACL, OWL, RDF, RDFS, SH } from '../rdf/vocabulary.js'
import { selectEach } from '../stores/select.js'
import type { GraphStore } from '../stores/store.js'

type Store = Pick<GraphStore, 'query'>

export interface VocabularyTerms {
  /** Those of the IRIs that are predicates or classes in any graph. */
  among(iris: readonly string[]): Promise<ReadonlySet<string> | Problem>
  /** The number of those that were found. */
  found(): number
}

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
/** IRIs that one query asks about. */
const ASKED = 200

/** Asks about each IRI once. */
export function makeVocabularyTerms(stores: readonly Store[]): VocabularyTerms {
  const known = new Map<string, boolean>()
  return {
    found: () => [...known.values()].filter(Boolean).length,
    async among(iris) {
      const unknown = [...new Set(iris)].filter((iri) => !known.has(iri))
      for (let at = 0; at < unknown.length; at += ASKED) {
        const part = unknown.slice(at, at + ASKED)
        for (const iri of part) known.set(iri, false)
        for (const store of stores) {
          const failed = await selectEach(store, queryOf(part), ['x'], {}, ([iri]) => iri && known.set(iri.value, true))
          if (failed) {
            for (const iri of part) known.delete(iri)
            return failed
          }
        }
      }
      return new Set(iris.filter((iri) => known.get(iri)))
    },
  }
}

function queryOf(iris: readonly string[]): string {
  const list = (some: readonly string[]): string => some.map((iri) => `<${iri}>`).join(' ')
  const x = `VALUES ?x { ${list(iris)} }`
  const parts = [
    '?s ?x ?o',
    `VALUES ?to { ${list(TO_TERMS)} } ?s ?to ?x`,
    `VALUES ?of { ${list(OF_TERMS)} } ?x ?of ?o`,
    `VALUES ?kind { ${list(KINDS)} } ?x a ?kind`,
  ]
  return `SELECT DISTINCT ?x WHERE {\n  ${parts
    .flatMap((part) => [`{ ${x} GRAPH ?g { ${part} } }`, `{ ${x} ${part} }`])
    .join('\n  UNION ')}\n}`
}
