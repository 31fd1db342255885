// In charge of the authorizations that a dataspace starts with: LinkedDataHub 5.4, for the endpoints of spec 4.2 and 4.3.
import { EVERYONE, IDENTIFIED, type Grant } from '../agents/authorization-triples.js'
import { DEF, DH, NFO } from '../rdf/vocabulary.js'

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
