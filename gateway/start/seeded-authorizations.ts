// In charge of the authorizations that a dataspace starts with: LinkedDataHub 5.4, for the endpoints of spec 4.2 and 4.3.
import { iri, text, triple, type Quad } from '../rdf/graph.js'
import { ACL, DEF, DH, FOAF, NFO, RDF, RDFS } from '../rdf/vocabulary.js'

export interface Grant {
  readonly slug: string
  readonly label: string
  readonly modes: readonly ('Read' | 'Write' | 'Append' | 'Control')[]
  /** A group by its slug, or a class of agents. */
  readonly to: readonly ('owners' | 'writers' | 'readers' | typeof EVERYONE | typeof IDENTIFIED)[]
  readonly classes?: readonly string[]
  readonly resources?: readonly string[]
}

const EVERYONE = FOAF('Agent')
const IDENTIFIED = ACL('AuthenticatedAgent')
const DOCUMENTS = [DH('Item'), DH('Container'), DEF('Root')]

export function seededGrants(base: string, admin: string): readonly Grant[] {
  const grant = (
    slug: string,
    label: string,
    modes: Grant['modes'],
    to: Grant['to'],
    resources: readonly string[] = [],
    classes: readonly string[] = [],
  ): Grant => ({ slug, label, modes, to, resources, classes })
  const all = [EVERYONE, IDENTIFIED] as const
  const inBase = (...paths: string[]): string[] => paths.map((path) => base + path)
  const inAdmin = (...paths: string[]): string[] => paths.map((path) => admin + path)
  const both = (path: string): string[] => [base + path, admin + path]
  const writing = inBase('sparql', 'importer', 'add', 'transform', 'ns')
  const administering = inAdmin('clear', 'transform', 'packages/install', 'packages/uninstall')
  const providers = inAdmin('oauth2/authorize/google', 'oauth2/authorize/orcid')
  const requests = inAdmin('acl/authorization-requests/')
  return [
    // Names nothing: what is public is for the owner to say.
    grant('public', 'Public access', ['Read'], all),
    grant('sign-up', 'Sign up', ['Read', 'Append'], [EVERYONE], inAdmin('ns', 'sign%20up')),
    grant('oauth2-login', 'OpenID Connect login', ['Read'], [EVERYONE], inAdmin('oauth2/login')),
    grant('oauth2-authorize', 'OpenID Connect callback', ['Read'], [EVERYONE], providers),
    // Anybody can make a WebID: these two name nobody until the owner says whom. A query reads every document, and what
    // is appended has no end.
    grant('append-request', 'Authorization requests', ['Append'], [], requests),
    grant(
      'full-control',
      'Full control',
      ['Read', 'Append', 'Write', 'Control'],
      ['owners'],
      [...administering, ...writing],
      DOCUMENTS,
    ),
    grant('public-namespace', 'Namespace', ['Read', 'Append'], all, inBase('ns')),
    grant('sparql-endpoint', 'SPARQL endpoint', ['Read', 'Append'], [], inBase('sparql')),
    grant('write-append', 'Write and append', ['Write', 'Append'], ['owners', 'writers'], writing, DOCUMENTS),
    grant('read', 'Read', ['Read'], ['owners', 'writers', 'readers'], inBase('sparql'), [
      ...DOCUMENTS,
      NFO('FileDataObject'),
    ]),
    grant('access', 'Access metadata', ['Read'], all, both('access')),
    grant('access-request', 'Access requests', ['Append'], all, both('access/request')),
  ]
}

/** WebID-TLS: whoever wants to check an agent's certificate has to be able to read its profile and key. */
export const publicProfile = (label: string, documents: readonly string[]): Omit<Grant, 'slug'> => ({
  label,
  modes: ['Read'],
  to: [EVERYONE, IDENTIFIED],
  resources: documents,
})

/** The triples of an authorization. */
export function authorizationTriples(
  authorization: string,
  { label, modes, to, classes = [], resources = [] }: Omit<Grant, 'slug'>,
  admin: string,
): Quad[] {
  return [
    triple(authorization, RDF('type'), iri(ACL('Authorization'))),
    triple(authorization, RDFS('label'), text(label)),
    ...modes.map((mode) => triple(authorization, ACL('mode'), iri(ACL(mode)))),
    ...to.map((whom) =>
      whom === EVERYONE || whom === IDENTIFIED
        ? triple(authorization, ACL('agentClass'), iri(whom))
        : triple(authorization, ACL('agentGroup'), iri(`${admin}acl/groups/${whom}/#this`)),
    ),
    ...classes.map((type) => triple(authorization, ACL('accessToClass'), iri(type))),
    ...resources.map((resource) => triple(authorization, ACL('accessTo'), iri(resource))),
  ]
}
