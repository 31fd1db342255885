// Short forms of statements and questions, for the tests of access decisions.
import type { Fact, Mode } from '../../policies/authorizations/authorization.js'
import type { AuthorizationIndex, Rebuild } from '../../policies/authorizations/authorization-index.js'
import type { JudgedDocument, Question } from '../../policies/decide.js'

export const ACL = 'http://www.w3.org/ns/auth/acl#'
export const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
export const MEMBER = 'http://xmlns.com/foaf/0.1/member'
export const EVERYONE = 'http://xmlns.com/foaf/0.1/Agent'
export const SUB_CLASS_OF = 'http://www.w3.org/2000/01/rdf-schema#subClassOf'
export const ITEM = 'https://www.w3.org/ns/ldt/document-hierarchy#Item'
export const CONTAINER = 'https://www.w3.org/ns/ldt/document-hierarchy#Container'
export const ROOT = 'https://w3id.org/atomgraph/linkeddatahub/default#Root'

export const BASE = 'https://host/'
export const ADMIN = 'https://host/admin/'

export const fact = (subject: string, predicate: string, object: string): Fact => ({ subject, predicate, object })

export interface Statements {
  readonly agent?: string | readonly string[]
  readonly agentGroup?: string | readonly string[]
  readonly agentClass?: string | readonly string[]
  readonly accessTo?: string | readonly string[]
  readonly accessToClass?: string | readonly string[]
  readonly default?: string | readonly string[]
  /** Names in the ACL namespace. */
  readonly mode?: string | readonly string[]
}

/** The statements of an authorization, with its type. */
export function authorization(iri: string, statements: Statements): Fact[] {
  const facts = [fact(iri, TYPE, ACL + 'Authorization')]
  for (const [name, values] of Object.entries(statements) as [string, string | readonly string[]][]) {
    for (const value of [values].flat()) facts.push(fact(iri, ACL + name, name === 'mode' ? ACL + value : value))
  }
  return facts
}

/** All steps at once. */
function taken<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** @param facts undefined: removes the graph */
export const replaceGraph = (index: AuthorizationIndex, graph: string, facts: Iterable<Fact> | undefined): void =>
  taken(index.replacing(graph, facts))

export const commit = (rebuild: Rebuild): boolean => taken(rebuild.committing())

const parentOf = (iri: string): string => new URL('..', iri).href

/** The containers above a document within its application, nearest first. */
export function ancestorsOf(iri: string): string[] {
  const base = iri.startsWith(ADMIN) ? ADMIN : BASE
  const ancestors: string[] = []
  for (let each = iri; each !== base; ancestors.push(each)) each = parentOf(each)
  return ancestors
}

export const document = (iri: string, given: Partial<JudgedDocument> = {}): JudgedDocument => ({
  iri,
  exists: true,
  types: [ITEM],
  owners: [],
  ancestors: ancestorsOf(iri),
  ...given,
})

export const absent = (iri: string): JudgedDocument => document(iri, { exists: false, types: [] })

/** A question about a document (or an endpoint), in the application that its IRI is in. */
export function question(
  agent: string | undefined,
  required: Mode,
  target: JudgedDocument | string,
  parent?: JudgedDocument,
): Question {
  const iri = typeof target === 'string' ? target : target.iri
  return {
    application: iri.startsWith(ADMIN) ? 'admin' : 'end-user',
    agent,
    required,
    target:
      typeof target === 'string'
        ? { kind: 'endpoint', iri: target }
        : { kind: 'document', ...target, ...(parent && { parent }) },
    creates: parent !== undefined,
  }
}
