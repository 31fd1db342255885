// The authorizations that a dataspace starts with: LinkedDataHub 5.4, for the endpoints of spec 4.2 and 4.3.
import { EVERYONE_CLASS, IDENTIFIED_CLASS, type NewAuthorization } from '../agents/authorization-triples.js'
import { DEFAULT_GRAPH, OTHER_GRAPH } from '../../policies/vocabulary.js'
import { DEF, DH, NFO } from '../rdf/vocabulary.js'

const DOCUMENTS = [DH('Item'), DH('Container'), DEF('Root')]
/** Design 4: the classes of all named graphs, and with the default graph everything that a query can read. */
const GRAPHS = [...DOCUMENTS, OTHER_GRAPH]
const ALL = [EVERYONE_CLASS, IDENTIFIED_CLASS] as const

export function seededGrants(base: string, admin: string): readonly NewAuthorization[] {
  const inBase = (...paths: string[]): string[] => paths.map((path) => base + path)
  const inAdmin = (...paths: string[]): string[] => paths.map((path) => admin + path)
  const both = (path: string): string[] => [base + path, admin + path]
  const writing = inBase('sparql', 'importer', 'add', 'transform', 'ns')
  const administering = inAdmin('clear', 'transform', 'packages/install', 'packages/uninstall')
  const providers = inAdmin('oauth2/authorize/google', 'oauth2/authorize/orcid')
  const requests = inAdmin('acl/authorization-requests/')
  const files = [...GRAPHS, NFO('FileDataObject')]
  // prettier-ignore
  const rows: readonly (readonly [slug: string, label: string, modes: NewAuthorization['modes'], to: NewAuthorization['to'], on?: Pick<NewAuthorization, 'resources' | 'classes'>])[] = [
    // Names no resources: the owner decides what is public.
    ['public', 'Public access', ['Read'], ALL],
    ['sign-up', 'Sign up', ['Read', 'Append'], [EVERYONE_CLASS], { resources: inAdmin('ns', 'sign%20up') }],
    ['oauth2-login', 'OpenID Connect login', ['Read'], [EVERYONE_CLASS], { resources: inAdmin('oauth2/login') }],
    ['oauth2-authorize', 'OpenID Connect callback', ['Read'], [EVERYONE_CLASS], { resources: providers }],
    // Anybody can make a WebID, so append-request names no agents until the owner does: requests could be appended without end.
    ['append-request', 'Authorization requests', ['Append'], [], { resources: requests }],
    ['full-control', 'Full control', ['Read', 'Append', 'Write', 'Control'], ['owners'], { resources: [...administering, ...writing], classes: DOCUMENTS }],
    ['public-namespace', 'Namespace', ['Read', 'Append'], ALL, { resources: inBase('ns') }],
    ['sparql-endpoint', 'SPARQL endpoint', ['Read', 'Append'], [IDENTIFIED_CLASS], { resources: inBase('sparql') }],
    ['write-append', 'Write and append', ['Write', 'Append'], ['owners', 'writers'], { resources: [...writing, DEFAULT_GRAPH], classes: GRAPHS }],
    ['read', 'Read', ['Read'], ['owners', 'writers', 'readers'], { resources: [...inBase('sparql'), DEFAULT_GRAPH], classes: files }],
    ['access', 'Access metadata', ['Read'], ALL, { resources: both('access') }],
    ['access-tokens', 'Access tokens', ['Append'], ['owners', 'writers', 'readers'], { resources: inAdmin('tokens') }],
    ['access-request', 'Access requests', ['Append'], ALL, { resources: both('access/request') }],
  ]
  return rows.map(([slug, label, modes, to, on]) => ({ slug, label, modes, to, ...on }))
}
