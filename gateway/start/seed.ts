// The seed: the documents that a dataspace starts with (LinkedDataHub 1.5, 5.4). Pure: the caller finds out
// which of them exist.
import { agentDocuments, describeAgent, type DescribedDocument } from '../agents/agent-documents.js'
import type { DescribedApplication, DescribedDataspace } from '../configuration/dataspace.js'
import { iri, text, triple, type Quad } from '../rdf/graph.js'
import { nextState } from '../documents/next-state.js'
import { seededGrants } from './seeded-authorizations.js'
import { authorizationTriples } from '../agents/authorization-triples.js'
import { ACL, DCT, DEF, DH, FOAF, LDH, OWL, RDF, RDFS } from '../rdf/vocabulary.js'

/** An agent that the dataspace starts with, from its certificate. Without a key its profile is elsewhere. */
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
 * All of it belongs to the first start (seeding.ts), `agents` and `members` to the first one with these certificates. The root
 * comes last in its application: it shows that all others are written.
 */
export interface Seed {
  readonly endUser: SeedGraphs
  readonly admin: SeedGraphs
  readonly agents: SeedGraphs
  readonly members: readonly { readonly graph: string; readonly triple: Quad }[]
}

/**
 * A line for each agent with a certificate here whose WebID is in none of these dataspaces, for example after a change of
 * the base: nothing is seeded for it, and its certificate proves nothing.
 */
export const strayAgents = (dataspaces: readonly DescribedDataspace[], agents: readonly SeedAgent[]): string[] =>
  agents
    .filter(({ modulus }) => modulus !== undefined)
    .filter(({ webId }) => !dataspaces.some(({ admin }) => agentDocuments(admin.base, webId)))
    .map(
      ({ webId }) =>
        `${webId}: this WebID of a certificate in the data folder is under no admin base, so it counts as foreign. ` +
        'If the base has changed, move the certificate away: the next start makes another.',
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
