// The rules that include one agent: the question for them, and what an index says of them. They are few where those
// of all agents are many.
import * as V from '../../policies/vocabulary.js'
import type { AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import { isName } from '../stores/batch-sparql.js'

export interface RuledAgent {
  /** Undefined for an anonymous client. */
  readonly webId?: string
  readonly memberships?: readonly string[]
}

/** The content of authorizations beside the agents that they include. */
const CONTENT = [V.RDF_TYPE, V.MODE, V.ACCESS_TO, V.ACCESS_TO_CLASS, V.DEFAULT, V.AGENT_CLASS]

/** Of an agent and its groups: the question grows with them, and that for all rules does not (design 7). */
const MOST_NAMES = 16

/** Every statement on which a decision on the agent rests; undefined where it has too many names, or SPARQL may not name it as it is. */
export function agentRulesQuery(adminBase: string, { webId, memberships = [] }: RuledAgent): string | undefined {
  const names = webId === undefined ? [] : [webId, ...memberships]
  if (names.length > MOST_NAMES || !names.every(isName)) return undefined
  const content = CONTENT.map((iri) => `<${iri}>`).join(', ')
  /** The statements of the authorizations that name the object by a property, with their content. */
  const by = (property: string, object: string): string =>
    `GRAPH ?g { ?s <${property}> ${object} . ?s ?p ?o } FILTER(isIRI(?o) && (?o = ${object} || ?p IN (${content})))`
  const parts = [
    ...[V.FOAF_AGENT, ...(webId === undefined ? [] : [V.AUTHENTICATED_AGENT])].map((type) =>
      by(V.AGENT_CLASS, `<${type}>`),
    ),
    ...names.flatMap((name) => [
      by(V.AGENT, `<${name}>`),
      `GRAPH ?x { ?group <${V.MEMBER}> <${name}> } ${by(V.AGENT_GROUP, '?group')}`,
      `BIND(<${V.MEMBER}> AS ?p) BIND(<${name}> AS ?o) GRAPH ?g { ?s <${V.MEMBER}> <${name}> }`,
    ]),
    `BIND(<${V.SUB_CLASS_OF}> AS ?p) GRAPH ?g { ?s <${V.SUB_CLASS_OF}> ?o } FILTER(isIRI(?o))`,
  ]
  return `SELECT ?g ?s ?p ?o {\n  { ${parts.join(' }\n  UNION { ')} }
  FILTER(STRSTARTS(STR(?g), ${JSON.stringify(adminBase)}))\n}`
}

/** All that a decision on the agent takes from an index. Equal for two indexes that decide alike on it. */
export function rulesOn(index: AuthorizationIndex, { webId, memberships }: RuledAgent): string {
  const rules = new Set<string>()
  const types = new Set<string>()
  for (const { authorization, isNamed } of index.including(webId, memberships)) {
    const { iri, graph, bits, accessTo, accessToClass } = authorization
    const targets = [accessTo, accessToClass, authorization.default].map((iris) => [...iris].sort())
    // The store labels blank nodes as it likes.
    rules.add(JSON.stringify([graph, iri.startsWith('_:') ? '' : iri, bits, isNamed, ...targets]))
    for (const type of accessToClass) types.add(type)
  }
  const classes = [...types].sort().map((type) => [type, ...[...index.subclasses(type)].sort()])
  return JSON.stringify([[...rules].sort(), classes])
}
