// The seed: the first documents of a dataspace (LinkedDataHub 1.5), and the rights on them (LinkedDataHub 5.4).
import t from 'tap'
import type { DescribedDataspace } from '../../../gateway/configuration/configuration.js'
import { dataspacesOfSettings } from '../../../gateway/configuration/settings-dataspace.js'
import { flawOf, graphOf, irisOf, nTriplesLine, valuesOf, type Graph } from '../../../gateway/rdf/graph.js'
import { ruleFactsOf } from '../../../gateway/rules/load-authorizations.js'
import { ancestorsOf, parentOf, typesOf } from '../../../gateway/documents/hierarchy.js'
import { agentDocuments, agentWebId } from '../../../gateway/agents/agent-documents.js'
import { seedGraphs, strayAgents, type Seed, type SeedAgents } from '../../../gateway/start/seed.js'
import { parseSettings } from '../../../gateway/configuration/settings.js'
import { ACL, DCT, DEF, DH, NFO, OWL, RDF, SIOC } from '../../../gateway/rdf/vocabulary.js'
import { makeAuthorizationIndex } from '../../../policies/authorizations/authorization-index.js'
import { replaceGraph } from '../../policies/access-facts.js'
import { decide, requiredMode } from '../../../policies/decide.js'

function dataspaceAt(base: string, adminBase: string): DescribedDataspace {
  const settings = parseSettings(['--base', base, '--admin-base', adminBase], {})
  const dataspaces = 'faults' in settings ? settings : dataspacesOfSettings(settings)
  if ('faults' in dataspaces) throw new Error(JSON.stringify(dataspaces.faults))
  return dataspaces[0]!
}

const NOW = Date.parse('2026-11-20T12:00:00.123Z')
const BASE = 'https://data.example.org/'
const ADMIN = 'https://data.example.org/admin/'
const MODULUS = 'c0ffee'
const agents: SeedAgents = {
  owner: { webId: agentWebId(ADMIN, 'aaa'), modulus: MODULUS, exponent: 65537 },
  secretary: { webId: agentWebId(ADMIN, 'bbb'), modulus: 'beef', exponent: 3 },
  now: NOW,
}
const dataspace = dataspaceAt(BASE, ADMIN)
const seed = seedGraphs(dataspace, agents)

const everyGraph = ({ endUser, admin, agents }: Seed): Map<string, Graph> =>
  new Map([...endUser, ...admin, ...agents].map(([iri, triples]) => [iri, graphOf(triples)]))

const CONTAINERS = [
  'acl/',
  'acl/authorizations/',
  'acl/authorization-requests/',
  'acl/agents/',
  'acl/public-keys/',
  'acl/users/',
  'acl/groups/',
  'packages/',
  'ontologies/',
]
const AUTHORIZATIONS = [
  'public',
  'sign-up',
  'oauth2-login',
  'oauth2-authorize',
  'append-request',
  'full-control',
  'public-namespace',
  'sparql-endpoint',
  'write-append',
  'read',
  'access',
  'access-tokens',
  'access-request',
]
const ITEMS = [
  'acl/groups/owners/',
  'acl/groups/writers/',
  'acl/groups/readers/',
  ...AUTHORIZATIONS.map((slug) => `acl/authorizations/${slug}/`),
  'ontologies/namespace/',
]
const AGENTS = ['aaa', 'bbb'].flatMap((id) =>
  ['agents', 'public-keys', 'authorizations'].map((container) => `acl/${container}/${id}/`),
)

void t.test('the documents of the seed', async (t) => {
  const named = (paths: readonly string[]): string[] => paths.map((path) => ADMIN + path).sort()
  t.same([...seed.endUser.keys()], [BASE])
  t.same([...seed.admin.keys()].sort(), [...named([...CONTAINERS, ...ITEMS, ''])])
  t.same([...seed.agents.keys()].sort(), named(AGENTS))
  t.equal([...seed.admin.keys()].at(-1), ADMIN, 'the root comes last: it shows that the others are written')
})

for (const [where, space] of [
  ['the admin application by path', dataspace],
  ['the admin application by host', dataspaceAt('https://example.org/', 'https://admin.example.org/')],
] as const) {
  void t.test(`managed triples of every document (spec 2.1): ${where}`, async (t) => {
    const { admin, endUser } = space
    const webId = agentWebId(admin.base, 'aaa')
    const graphs = everyGraph(
      seedGraphs(space, {
        ...agents,
        owner: { ...agents.owner, webId },
        secretary: { webId: agentWebId(admin.base, 'bbb'), modulus: '01', exponent: 3 },
      }),
    )
    t.equal(graphs.size, 2 + CONTAINERS.length + ITEMS.length + AGENTS.length)
    for (const [document, graph] of graphs) {
      const { base } = document.startsWith(admin.base) ? admin : endUser
      t.same(valuesOf(graph, document, DCT('created')), ['2026-11-20T12:00:00.123Z'], `${document} dct:created`)
      t.same(irisOf(graph, document, DCT('creator')), [webId], `${document} dct:creator`)
      t.same(irisOf(graph, document, ACL('owner')), [webId], `${document} acl:owner`)
      t.equal(valuesOf(graph, document, DCT('title')).length, 1, `${document} dct:title`)
      t.same(valuesOf(graph, document, DCT('modified')), [], `${document} dct:modified`)
      const types = irisOf(graph, document, RDF('type'))
      const isContainer = CONTAINERS.some((path) => admin.base + path === document)
      const parent = document === base ? [] : [parentOf(document)]
      t.same(types, [document === base ? DEF('Root') : DH(isContainer ? 'Container' : 'Item')], `${document} rdf:type`)
      t.same(irisOf(graph, document, SIOC('has_parent')), isContainer ? parent : [], `${document} sioc:has_parent`)
      t.same(
        irisOf(graph, document, SIOC('has_container')),
        isContainer ? [] : parent,
        `${document} sioc:has_container`,
      )
      if (parent[0] !== undefined) t.ok(graphs.has(parent[0]), `${document} has its parent in the seed`)
      t.same(graph.triples.map(flawOf).filter(Boolean), [], `${document} can be stored`)
      t.notMatch(graph.lines.join('\n'), /(^|\s)_:/m, `${document} has no blank node`)
    }
  })
}

void t.test('the content of the documents', async (t) => {
  const graphs = everyGraph(seed)
  const has = (document: string, ...lines: string[]): void => {
    for (const line of lines) t.ok(graphs.get(document)?.lines.includes(line), line)
  }
  const iri = (value: string): string => `<${value}>`
  has(
    BASE,
    `${iri(BASE)} ${iri(DCT('title'))} "Root" .`,
    `${iri(BASE)} ${iri(RDF('_1'))} <${BASE}#select-children> .`,
    `<${BASE}#select-children> ${iri(RDF('type'))} <https://w3id.org/atomgraph/linkeddatahub#Object> .`,
    `<${BASE}#select-children> ${iri(RDF('value'))} <https://w3id.org/atomgraph/linkeddatahub#ChildrenView> .`,
  )
  const owner = agents.owner.webId
  has(
    `${ADMIN}acl/agents/aaa/`,
    `<${ADMIN}acl/agents/aaa/> <http://xmlns.com/foaf/0.1/primaryTopic> <${owner}> .`,
    `<${owner}> <http://www.w3.org/ns/auth/cert#key> <${ADMIN}acl/public-keys/aaa/#this> .`,
    `<${agents.secretary.webId}> <http://www.w3.org/ns/auth/acl#delegates> <${owner}> .`,
  )
  const agentClass = 'http://www.w3.org/ns/auth/acl#agentClass'
  const endpoint = `${ADMIN}acl/authorizations/sparql-endpoint/`
  has(endpoint, `<${endpoint}#this> <${agentClass}> <http://www.w3.org/ns/auth/acl#AuthenticatedAgent> .`)
  for (const slug of ['read', 'write-append']) {
    const graph = `${ADMIN}acl/authorizations/${slug}/`
    has(
      graph,
      `<${graph}#this> <http://www.w3.org/ns/auth/acl#accessToClass> <urn:triplegate:access#OtherGraph> .`,
      `<${graph}#this> <http://www.w3.org/ns/auth/acl#accessTo> <urn:triplegate:default-graph> .`,
    )
  }
  const key = `<${ADMIN}acl/public-keys/aaa/#this>`
  has(
    `${ADMIN}acl/public-keys/aaa/`,
    `${key} <http://www.w3.org/ns/auth/cert#modulus> "c0ffee"^^<http://www.w3.org/2001/XMLSchema#hexBinary> .`,
    `${key} <http://www.w3.org/ns/auth/cert#exponent> "65537"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
  )
  has(
    `${ADMIN}ontologies/namespace/`,
    `<${ADMIN}ontologies/namespace/> <http://xmlns.com/foaf/0.1/primaryTopic> <${BASE}ns#> .`,
    `<${BASE}ns#> ${iri(RDF('type'))} ${iri(OWL('Ontology'))} .`,
  )
  t.notMatch(graphs.get(`${ADMIN}acl/agents/bbb/`)?.lines.join(), 'delegates', 'no agent acts for the secretary')
  t.same(
    seed.members.map(({ graph, triple }) => [graph, nTriplesLine(triple)]),
    [
      [
        `${ADMIN}acl/groups/owners/`,
        `<${ADMIN}acl/groups/owners/#this> <http://xmlns.com/foaf/0.1/member> <${owner}> .`,
      ],
      [
        `${ADMIN}acl/groups/writers/`,
        `<${ADMIN}acl/groups/writers/#this> <http://xmlns.com/foaf/0.1/member> <${agents.secretary.webId}> .`,
      ],
    ],
    'the members that the groups must have',
  )
  for (const { graph, triple } of seed.members) has(graph, nTriplesLine(triple))
  const authorizations = [...graphs].filter(
    ([iri]) => iri.startsWith(`${ADMIN}acl/authorizations/`) && iri !== `${ADMIN}acl/authorizations/`,
  )
  for (const [document, graph] of authorizations) {
    t.same(irisOf(graph, `${document}#this`, RDF('type')), [ACL('Authorization')], document)
    t.notSame(irisOf(graph, `${document}#this`, ACL('mode')), [], `${document} acl:mode`)
  }
})

const STRANGER = 'https://elsewhere.example/#me'
const READER = 'https://elsewhere.example/reader#me'

void t.test('the rights of each agent', async (t) => {
  const graphs = everyGraph(seed)
  const readers = `${ADMIN}acl/groups/readers/`
  const index = makeAuthorizationIndex(ADMIN)
  for (const [iri, graph] of graphs) replaceGraph(index, iri, ruleFactsOf(graph.triples))
  replaceGraph(index, readers, [
    { subject: `${readers}#this`, predicate: 'http://xmlns.com/foaf/0.1/member', object: READER },
  ])

  const who = {
    anonymous: undefined,
    stranger: STRANGER,
    reader: READER,
    writer: agents.secretary.webId,
    owner: agents.owner.webId,
  }
  type Who = keyof typeof who
  const everyone = Object.keys(who) as Who[]
  const may = (agent: string | undefined, method: string, iri: string, types: readonly string[]): boolean => {
    const application = iri.startsWith(ADMIN) ? 'admin' : 'end-user'
    const { base } = application === 'admin' ? dataspace.admin : dataspace.endUser
    const graph = graphs.get(iri)
    const document = (iri: string, types: readonly string[]) => ({
      iri,
      exists: true,
      types,
      owners: graph ? irisOf(graph, iri, ACL('owner')) : [],
      ancestors: ancestorsOf(iri, base),
    })
    return decide(index, {
      application,
      agent,
      required: requiredMode(method)!,
      target: iri.endsWith('/') ? { kind: 'document', ...document(iri, types) } : { kind: 'endpoint', iri },
      creates: false,
    }).allowed
  }
  const ITEM = [DH('Item')]
  const rows: [what: string, method: string, iri: string, types: readonly string[], who: Who[]][] = [
    ['read an item', 'GET', `${BASE}a/`, ITEM, ['reader', 'writer', 'owner']],
    ['append to an item', 'POST', `${BASE}a/`, ITEM, ['writer', 'owner']],
    ['delete an item', 'DELETE', `${BASE}a/`, ITEM, ['writer', 'owner']],
    ['read a container', 'GET', `${BASE}c/`, [DH('Container')], ['reader', 'writer', 'owner']],
    ['write a container', 'PUT', `${BASE}c/`, [DH('Container')], ['writer', 'owner']],
    ['read the root', 'GET', BASE, [DEF('Root')], ['reader', 'writer', 'owner']],
    ['change the root', 'PATCH', BASE, [DEF('Root')], ['writer', 'owner']],
    ['read a file', 'GET', `${BASE}uploads/0a/`, [NFO('FileDataObject')], ['reader', 'writer', 'owner']],
    ['query', 'GET', `${BASE}sparql`, [], ['stranger', 'reader', 'writer', 'owner']],
    ['update', 'PUT', `${BASE}sparql`, [], ['writer', 'owner']],
    ['read the namespace', 'GET', `${BASE}ns`, [], everyone],
    ['query the namespace', 'POST', `${BASE}ns`, [], everyone],
    ['add', 'POST', `${BASE}add`, [], ['writer', 'owner']],
    ['import', 'POST', `${BASE}importer`, [], ['writer', 'owner']],
    ['transform', 'POST', `${BASE}transform`, [], ['writer', 'owner']],
    ['see the access metadata', 'GET', `${BASE}access`, [], everyone],
    ['see the access metadata of the admin application', 'GET', `${ADMIN}access`, [], everyone],
    ['request access', 'POST', `${ADMIN}access/request`, [], everyone],
    ['see the sign-up page', 'GET', `${ADMIN}sign%20up`, [], everyone],
    ['sign up', 'POST', `${ADMIN}sign%20up`, [], everyone],
    ['log in', 'GET', `${ADMIN}oauth2/login`, [], everyone],
    ['come back from an identity provider', 'GET', `${ADMIN}oauth2/authorize/orcid`, [], everyone],
    ['clear an ontology', 'POST', `${ADMIN}clear`, [], ['owner']],
    ['install a package', 'POST', `${ADMIN}packages/install`, [], ['owner']],
    ['query the access control', 'GET', `${ADMIN}sparql`, [], ['owner']],
    ['read the authorizations', 'GET', `${ADMIN}acl/authorizations/`, [DH('Container')], ['owner']],
    ['change an authorization', 'PATCH', `${ADMIN}acl/authorizations/read/`, ITEM, ['owner']],
    ['change a group', 'PATCH', `${ADMIN}acl/groups/owners/`, ITEM, ['owner']],
    ['leave a request', 'POST', `${ADMIN}acl/authorization-requests/`, [DH('Container')], ['owner']],
    ['read the requests', 'GET', `${ADMIN}acl/authorization-requests/`, [DH('Container')], ['owner']],
    ["read an agent's profile", 'GET', `${ADMIN}acl/agents/aaa/`, ITEM, everyone],
    ["read an agent's key", 'GET', `${ADMIN}acl/public-keys/bbb/`, ITEM, everyone],
    ['list the agents', 'GET', `${ADMIN}acl/agents/`, [DH('Container')], ['owner']],
    ['read the admin root', 'GET', ADMIN, [DEF('Root')], ['owner']],
  ]
  for (const [what, method, iri, types, expected] of rows) {
    const allowed = everyone.filter((one) => may(who[one], method, iri, types))
    t.same(allowed, expected, `${what}: ${method} ${iri}`)
  }
  t.same(typesOf(graphs.get(BASE)!, BASE, BASE), [DEF('Root')])
})

void t.test('the same agents give the same documents at every start', async (t) => {
  const later = seedGraphs(dataspace, { ...agents, now: NOW + 1000 })
  t.same([...later.agents.keys()], [...seed.agents.keys()])
  t.same(agentDocuments(ADMIN, agents.owner.webId), {
    agent: `${ADMIN}acl/agents/aaa/`,
    publicKey: `${ADMIN}acl/public-keys/aaa/`,
    authorization: `${ADMIN}acl/authorizations/aaa/`,
  })
})

void t.test('agents of other dataspaces', async (t) => {
  const elsewhere = 'https://old.example.org/admin/acl/agents/aaa/#this'
  for (const [what, webId] of [
    ['another base', elsewhere],
    ['an own document of the end-user application', `${BASE}people/me/#this`],
    ['no document of an agent', `${ADMIN}acl/groups/owners/#this`],
    ['a path below an agent', `${ADMIN}acl/agents/a/b/#this`],
    ['another fragment', `${ADMIN}acl/agents/aaa/#key`],
  ] as const) {
    t.equal(agentDocuments(ADMIN, webId), undefined, what)
  }
  const external = seedGraphs(dataspace, { ...agents, owner: { webId: 'https://me.example/#i' } })
  t.same(
    [...external.agents.keys()].filter((iri) => !iri.includes('/bbb/')),
    [],
    'no documents about them',
  )
  t.ok(
    everyGraph(external)
      .get(`${ADMIN}acl/groups/owners/`)
      ?.lines.some((line) => line.includes('member> <https://me.example/#i>')),
    'yet the owner is in the owners',
  )
  const stray = { webId: elsewhere, modulus: MODULUS, exponent: 65537 }
  t.match(strayAgents([dataspace], [stray]), [
    /^https:\/\/old.example.org\/admin\/acl\/agents\/aaa\/#this: .* move the certificate away/,
  ])
  t.same(strayAgents([dataspace], [agents.owner, agents.secretary, { webId: 'https://me.example/#i' }]), [])
  const second = dataspaceAt('https://two.example.org/', 'https://admin.two.example.org/')
  t.same(strayAgents([second, dataspace], [agents.owner]), [], 'one dataspace is enough')
  t.equal(seedGraphs(second, agents).agents.size, 0, 'the agents have their documents in their own dataspace only')
})
