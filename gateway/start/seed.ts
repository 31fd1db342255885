// The seed: the initial documents of a dataspace (LinkedDataHub 1.5, 5.4). Pure: the caller finds out which of them
// exist.
import { DEFAULT_GRAPH, OTHER_GRAPH } from '../../policies/vocabulary.js'
import { type DescribedDocument, agentDocuments, describeAgent } from '../agents/agent-documents.js'
import {
  EVERYONE_CLASS,
  IDENTIFIED_CLASS,
  type NewAuthorization,
  authorizationTriples,
} from '../agents/authorization-triples.js'
import type { DescribedApplication, DescribedDataspace } from '../configuration/dataspace.js'
import { nextState } from '../documents/next-state.js'
import { type Quad, iri, text, triple } from '../rdf/graph.js'
import { ACL, DCT, DEF, DH, FOAF, LDH, NFO, OWL, RDF, RDFS } from '../rdf/vocabulary.js'

const DOCUMENTS = [DH('Item'), DH('Container'), DEF('Root')]
/** Design 4: the classes of all named graphs, and with the default graph everything that a query can read. */
const GRAPHS = [...DOCUMENTS, OTHER_GRAPH]
const ALL = [EVERYONE_CLASS, IDENTIFIED_CLASS] as const

function seededGrants(base: string, admin: string): readonly NewAuthorization[] {
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
    // Anybody can make a WebID, and requests could be appended without end, so append-request names no agents until the
    // owner does.
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

/** An initial agent of the dataspace, from its certificate. Without a key its profile is elsewhere. */
export interface SeedAgent {
  readonly webId: string
  readonly modulus?: string
  readonly exponent?: number
}

export interface SeedAgents {
  /** Creator and owner of every document of the seed, member of the owners. */
  readonly owner: SeedAgent
  /** Acts on behalf of the owner, member of the writers. */
  readonly secretary: SeedAgent
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Triples of each graph, managed triples included, without blank nodes. */
export type SeedGraphs = ReadonlyMap<string, readonly Quad[]>

/**
 * Written at the first start (seeding.ts); `agents` and `members` at the first start with these certificates. The root
 * of an application is written last: it shows that all other documents have been written.
 */
export interface Seed {
  readonly endUser: SeedGraphs
  readonly admin: SeedGraphs
  readonly agents: SeedGraphs
  readonly members: readonly { readonly graph: string; readonly triple: Quad }[]
}

/**
 * A line for each agent with a certificate here whose WebID is in none of these dataspaces, for example after the base
 * has changed: nothing is seeded for it, and its certificate proves no identity.
 */
export const strayAgents = (dataspaces: readonly DescribedDataspace[], agents: readonly SeedAgent[]): string[] =>
  agents
    .filter(({ modulus }) => modulus !== undefined)
    .filter(({ webId }) => !dataspaces.some(({ admin }) => agentDocuments(admin.base, webId)))
    .map(
      ({ webId }) =>
        `${webId}: this WebID of a certificate in the data folder is under no admin base, so it counts as foreign. ` +
        'If the base has changed, move the certificate away: the next start creates another.',
    )

export function seedGraphs({ endUser, admin }: DescribedDataspace, agents: SeedAgents): Seed {
  const { owner, secretary } = agents
  const own = (application: DescribedApplication, documents: readonly SeedDocument[]): SeedGraphs =>
    new Map(
      documents.map(({ path, title, container, content = () => [] }) => {
        const document = application.base + path
        const described = [triple(document, DCT('title'), text(title)), ...content(document)]
        if (container) described.push(triple(document, RDF('type'), iri(DH('Container'))))
        return [document, stateOf(document, application.base, described, agents)]
      }),
    )
  const groups = { owners: owner, writers: secretary, readers: undefined }
  return {
    endUser: own(endUser, [root(endUser)]),
    admin: own(admin, [
      ...CONTAINERS.map(([path, title]) => ({ path, title, container: true })),
      ...Object.entries(groups).map(([slug, member]) => group(slug, member)),
      ...authorizations(endUser.base, admin.base),
      namespace(endUser),
      root(admin),
    ]),
    agents: new Map(
      [owner, secretary]
        .flatMap((agent) => agentSeed(admin, agent, agents))
        .map(([document, content]) => [document, stateOf(document, admin.base, content, agents)]),
    ),
    members: Object.entries(groups).flatMap(([slug, member]) => {
      const graph = `${admin.base}acl/groups/${slug}/`
      return member ? [{ graph, triple: triple(`${graph}#this`, FOAF('member'), iri(member.webId)) }] : []
    }),
  }
}

interface SeedDocument {
  /** Relative to the base. */
  readonly path: string
  readonly title: string
  readonly container?: boolean
  readonly content?: (document: string) => Quad[]
}

function stateOf(
  document: string,
  base: string,
  content: readonly Quad[],
  { owner, now }: SeedAgents,
): readonly Quad[] {
  const uuid = (): string => {
    throw new Error('the seed has no blank nodes')
  }
  const created = { current: undefined, agent: owner.webId, now, uuid } as const
  return nextState({ ...created, document, base, content }).triples
}

const root = ({ kind, title }: DescribedApplication): SeedDocument => ({
  path: '',
  title: 'Root',
  content: (document) => [
    triple(
      document,
      DCT('description'),
      text(
        `Root of the ${kind === 'admin' ? 'admin' : 'end-user'} application${title === undefined ? '' : ` ${title}`}`,
      ),
    ),
    triple(document, RDF('_1'), iri(`${document}#select-children`)),
    triple(`${document}#select-children`, RDF('type'), iri(LDH('Object'))),
    triple(`${document}#select-children`, RDF('value'), iri(LDH('ChildrenView'))),
  ],
})

const CONTAINERS: readonly (readonly [path: string, title: string])[] = [
  ['acl/', 'Access control'],
  ['acl/authorizations/', 'Authorizations'],
  ['acl/authorization-requests/', 'Authorization requests'],
  ['acl/agents/', 'Agents'],
  ['acl/public-keys/', 'Public keys'],
  ['acl/users/', 'Users'],
  ['acl/groups/', 'Groups'],
  ['packages/', 'Packages'],
  ['ontologies/', 'Ontologies'],
]

/** The content of a document about one thing, its primary topic. */
const about =
  (describe: (thing: string) => Quad[], thing?: string) =>
  (document: string): Quad[] => {
    const topic = thing ?? `${document}#this`
    return [triple(document, FOAF('primaryTopic'), iri(topic)), ...describe(topic)]
  }

const group = (slug: string, member: SeedAgent | undefined): SeedDocument => {
  const title = slug[0]!.toUpperCase() + slug.slice(1)
  return {
    path: `acl/groups/${slug}/`,
    title,
    content: about((group) => [
      triple(group, RDF('type'), iri(FOAF('Group'))),
      triple(group, FOAF('name'), text(title)),
      ...(member ? [triple(group, FOAF('member'), iri(member.webId))] : []),
    ]),
  }
}

const namespace = ({ base, ontology }: DescribedApplication): SeedDocument => ({
  path: 'ontologies/namespace/',
  title: 'Namespace',
  content: about(
    (namespace) => [
      triple(namespace, RDF('type'), iri(OWL('Ontology'))),
      triple(namespace, RDFS('label'), text('Namespace')),
      triple(namespace, OWL('imports'), iri(DEF(''))),
    ],
    ontology ?? `${base}ns#`,
  ),
})

const authorizations = (base: string, admin: string): SeedDocument[] =>
  seededGrants(base, admin).map(({ slug, ...grant }) => ({
    path: `acl/authorizations/${slug}/`,
    title: grant.label,
    content: about((authorization) => authorizationTriples(authorization, grant, admin)),
  }))

function agentSeed(
  admin: DescribedApplication,
  agent: SeedAgent,
  { owner, secretary }: SeedAgents,
): DescribedDocument[] {
  const { webId, modulus, exponent } = agent
  if (modulus === undefined || exponent === undefined) return []
  const name = agent === owner ? 'Owner' : 'Triplegate'
  const profile = [
    triple(webId, RDF('type'), iri(FOAF('Agent'))),
    triple(webId, FOAF('name'), text(name)),
    ...(agent === owner ? [triple(secretary.webId, ACL('delegates'), iri(webId))] : []),
  ]
  return describeAgent(admin.base, { webId, name, modulus, exponent, profile })
}
