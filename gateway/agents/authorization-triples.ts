// The triples of the authorizations that the gateway itself creates.
import { iri, text, triple, type Quad } from '../rdf/graph.js'
import { ACL, FOAF, RDF, RDFS } from '../rdf/vocabulary.js'

export interface NewAuthorization {
  readonly slug: string
  readonly label: string
  readonly modes: readonly ('Read' | 'Write' | 'Append' | 'Control')[]
  /** A group by its slug, or a class of agents. */
  readonly to: readonly ('owners' | 'writers' | 'readers' | typeof EVERYONE_CLASS)[]
  readonly classes?: readonly string[]
  readonly resources?: readonly string[]
}

export const EVERYONE_CLASS = FOAF('Agent')
export const IDENTIFIED_CLASS = ACL('AuthenticatedAgent')
/** WebID-TLS: servers that check an agent's certificate must be able to read its profile and key. */
export const publicProfile = (label: string, documents: readonly string[]): Omit<NewAuthorization, 'slug'> => ({
  label,
  modes: ['Read'],
  to: [EVERYONE_CLASS, IDENTIFIED_CLASS],
  resources: documents,
})

/** The triples of an authorization. */
export function authorizationTriples(
  authorization: string,
  { label, modes, to, classes = [], resources = [] }: Omit<NewAuthorization, 'slug'>,
  admin: string,
): Quad[] {
  return [
    triple(authorization, RDF('type'), iri(ACL('Authorization'))),
    triple(authorization, RDFS('label'), text(label)),
    ...modes.map((mode) => triple(authorization, ACL('mode'), iri(ACL(mode)))),
    ...to.map((whom) =>
      whom === EVERYONE_CLASS || whom === IDENTIFIED_CLASS
        ? triple(authorization, ACL('agentClass'), iri(whom))
        : triple(authorization, ACL('agentGroup'), iri(`${admin}acl/groups/${whom}/#this`)),
    ),
    ...classes.map((type) => triple(authorization, ACL('accessToClass'), iri(type))),
    ...resources.map((resource) => triple(authorization, ACL('accessTo'), iri(resource))),
  ]
}
