// Rights at the endpoints for data (spec 4.3, 4.6; LinkedDataHub 2.3 to 2.8): each endpoint with each kind of agent.
import t from 'tap'
import type { Answer, Send } from '../../../support/client.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { fileOf, upload } from '../../../support/upload.js'
import { until } from '../../../support/wait.js'
import { accept, makeWorld, ttl, turtle, type World } from '../../../support/world.js'

const DH = 'https://www.w3.org/ns/ldt/document-hierarchy#'
const PREFIXES = `PREFIX dct: <http://purl.org/dc/terms/> PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
PREFIX spin: <http://spinrdf.org/spin#> PREFIX sp: <http://spinrdf.org/sp#>`
const ENDPOINTS = ['add', 'transform', 'importer', 'ns']

/**
 * The agents of the columns: a stranger with Append on the endpoints and Read on the source, and one more rule about
 * the target.
 */
const GRANTS: Readonly<Record<string, (target: Target, world: World) => string>> = {
  endpoints: () => '',
  Read: ({ iri }, { webIdOf }) => `acl:mode acl:Read ; acl:accessTo <${iri}> ; acl:agent <${webIdOf('stranger')}>`,
  Append: ({ iri }, { webIdOf }) => `acl:mode acl:Append ; acl:accessTo <${iri}> ; acl:agent <${webIdOf('stranger')}>`,
  Write: ({ iri }, { webIdOf }) => `acl:mode acl:Write ; acl:accessTo <${iri}> ; acl:agent <${webIdOf('stranger')}>`,
  class: ({ type }, { webIdOf }) =>
    `acl:mode acl:Append, acl:Write ; acl:accessToClass <${type}> ; acl:agent <${webIdOf('stranger')}>`,
  container: ({ parent }, { webIdOf }) =>
    `acl:mode acl:Append, acl:Write ; acl:default <${parent}> ; acl:agent <${webIdOf('stranger')}>`,
  group: ({ iri }, { base }) =>
    `acl:mode acl:Append, acl:Write ; acl:accessTo <${iri}> ; acl:agentGroup <${base}admin/acl/groups/few/#this>`,
  everyone: ({ iri }) =>
    `acl:mode acl:Append, acl:Write ; acl:accessTo <${iri}> ; acl:agentClass acl:AuthenticatedAgent`,
  Control: ({ iri }, { webIdOf }) =>
    `acl:mode acl:Control ; acl:accessTo <${iri}> ; acl:agent <${webIdOf('stranger')}>`,
}
const AGENTS = ['anonymous', 'stranger', 'reader', 'writer', 'owner', ...Object.keys(GRANTS)]

interface Target {
  readonly path: string
  readonly iri: string
  readonly parent: string
  readonly type: string
}

type Ask = (
  client: World['as'] extends (name: string) => infer Client ? Client : never,
  target: Target,
  world: World,
) => Promise<Answer>

const csv: Send = { fields: { 'Content-Type': 'text/csv' }, body: 'name\nAnn\n' }
const form = (values: Record<string, string>): Send => ({ fields: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: new URLSearchParams(values).toString() }) // prettier-ignore
const QUERY = 'CONSTRUCT { ?s <urn:made> ?o } WHERE { ?s <http://purl.org/dc/terms/title> ?o }'
const sourceOf = ({ base }: World): string => `${base}source/`

/**
 * The status for each agent, in their order; `+` if the target has changed afterwards, `!` if a refusal reveals its
 * content. An agent with Control may write rules, and so may an agent with the owner's rights (design 4).
 */
const ROWS: readonly (readonly [name: string, ask: Ask, outcomes: string])[] = [
  [
    'add a document of this gateway',
    (as, { iri }, world) =>
      as('POST', '/add', ttl(`${PREFIXES} [] dct:source <${sourceOf(world)}> ; sd:name <${iri}> .`)),
    '403 403 403 204+ 204+ 403 403 204+ 403 204+ 204+ 204+ 204+ 403',
  ],
  [
    'transform a document of this gateway',
    (as, { iri }, world) =>
      as(
        'POST',
        '/transform',
        ttl(`${PREFIXES} [] dct:source <${sourceOf(world)}> ; sd:name <${iri}> ; spin:query "${QUERY}" .`),
      ),
    '403 403 403 204+ 204+ 403 403 204+ 403 204+ 204+ 204+ 204+ 403',
  ],
  [
    'import documents: replace one',
    (as, { iri }) =>
      as('POST', '/importer?stop', {
        fields: { 'Content-Type': 'application/n-quads' },
        body: `<urn:s> <urn:p> "bulk" <${iri}> .\n`,
      }),
    '403 403 403 200+ 200+ 200 200 200 200+ 200+ 200+ 200+ 200+ 200',
  ],
  [
    'import RDF into one document',
    (as, { iri }) =>
      as('POST', `/importer?name=${encodeURIComponent(iri)}`, {
        fields: { 'Content-Type': 'text/turtle' },
        body: '<urn:s> <urn:p> "one" .',
      }),
    '403 403 403 201+ 201+ 201 201 201+ 201 201+ 201+ 201+ 201+ 201',
  ],
  [
    'preview a CSV',
    (as, { parent }) => as('POST', `/importer?dry-run&into=${encodeURIComponent(parent)}`, csv),
    '403 403 403 200 200 200 200 200 200 200 200 200 200 200',
  ],
  [
    'imports under way',
    (as) => as('GET', '/importer', accept('application/n-triples')),
    '403 403 403 200 200 200 200 200 200 200 200 200 200 200',
  ],
  [
    'upload a file',
    (as, { path }) => as('POST', path, upload(path)),
    '403 403 403 204+ 204+ 403 403 204+ 403 204+ 204+ 204+ 204+ 403',
  ],
  [
    'read a file',
    (as, { path }) => as('GET', fileOf(`file of ${path}`)),
    '403 403 200 200 200 403 200 403 403 403 403 403 403 403',
  ],
  [
    'a part of a file',
    (as, { path }) => as('GET', fileOf(`file of ${path}`), { fields: { Range: 'bytes=1-2' } }),
    '403 403 206 206 206 403 206 403 403 403 403 403 403 403',
  ],
  [
    'the namespace',
    (as) => as('GET', '/ns', accept('text/turtle')),
    '200 200 200 200 200 200 200 200 200 200 200 200 200 200',
  ],
  [
    'a query over the namespace',
    (as) => as('POST', '/ns', { fields: { 'Content-Type': 'application/sparql-query' }, body: 'ASK {}' }),
    '200 200 200 200 200 200 200 200 200 200 200 200 200 200',
  ],
  [
    'an update of the namespace',
    (as) => as('POST', '/ns', { fields: { 'Content-Type': 'application/sparql-update' }, body: 'CLEAR ALL' }),
    '405 405 405 405 405 405 405 405 405 405 405 405 405 405',
  ],
  [
    'clear an ontology',
    (as, _, { base }) => as('POST', '/admin/clear', form({ uri: `${base}ns#` })),
    '403 403 403 403 200 403 403 403 403 403 403 403 403 403',
  ],
  [
    'install no package',
    (as) => as('POST', '/admin/packages/install', form({ 'package-uri': 'no URL' })),
    '403 403 403 403 400 403 403 403 403 403 403 403 403 403',
  ],
  [
    'uninstall no package',
    (as) => as('POST', '/admin/packages/uninstall', form({ 'package-uri': 'no URL' })),
    '403 403 403 403 400 403 403 403 403 403 403 403 403 403',
  ],
  [
    'read the settings',
    (as) => as('GET', '/settings', accept('text/turtle')),
    '403 403 403 403 200 403 403 403 403 403 403 403 403 200',
  ],
  [
    'change no settings',
    (as) => as('PATCH', '/settings', { fields: { 'Content-Type': 'application/sparql-update' }, body: 'ASK {}' }),
    '403 403 403 403 422 403 403 403 403 403 403 403 403 422',
  ],
]

void forEachStore(t, 'rights on data', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores(), { flags: ['--max-import', '1000000'] })
  const row = rowsOf(t, kind)
  const { base, as, webIdOf } = world
  const owner = as('owner')
  await owner('PUT', '/source/', ttl(turtle('"Source"')))
  await owner('PUT', '/admin/acl/groups/few/', ttl(`<#this> a <http://xmlns.com/foaf/0.1/Group> ; <http://xmlns.com/foaf/0.1/member> <${webIdOf('stranger')}> .`)) // prettier-ignore
  const contentOf = async ({ path }: Target): Promise<string> =>
    (await owner('GET', path, accept('application/n-triples'))).text

  const endOf = (path: string): Promise<unknown> =>
    until(async () => !/#(?:Waiting|Running)>/.test((await owner('GET', path, accept('application/n-triples'))).text))

  async function makeTarget(): Promise<Target> {
    const [parent, type] = [world.freshPath(), 'urn:x:Kind']
    const path = `${parent}a/`
    await owner('PUT', parent, ttl(`<> a <${DH}Container> ; <http://purl.org/dc/terms/title> "Box" .`))
    await owner('PUT', path, ttl(`<> a <${type}> ; <http://purl.org/dc/terms/title> "Target" .`))
    await owner('POST', path, upload(`file of ${path}`))
    return { path, iri: new URL(path, base).href, parent: new URL(parent, base).href, type }
  }
  async function outcomeOf(world: World, agent: string, ask: Ask): Promise<string> {
    const target = await makeTarget()
    const grant = GRANTS[agent]
    const rules = ENDPOINTS.map(
      (name) => `acl:mode acl:Append ; acl:accessTo <${base}${name}> ; acl:agent <${webIdOf('stranger')}>`,
    )
    rules.push(
      `acl:mode acl:Read ; acl:accessTo <${base}source/> ; acl:agent <${webIdOf('stranger')}>`,
      grant?.(target, world) ?? '',
    )
    const body = rules.flatMap((rule, i) => (rule ? [`<#r${i}> a acl:Authorization ; ${rule} .`] : []))
    const path = '/admin/acl/authorizations/granted/'
    if (grant) await owner('PUT', path, ttl(`@prefix acl: <http://www.w3.org/ns/auth/acl#> . ${body.join('\n')}`))
    const before = await contentOf(target)
    const { status, text, fields } = await ask(as(grant ? 'stranger' : agent), target, world)
    if (status === 201) await endOf(new URL(fields.location!).pathname)
    const after = await contentOf(target)
    if (grant) await owner('DELETE', path)
    return `${status}${after === before ? '' : '+'}${status === 403 && /"Target"|"Source"/.test(text) ? '!' : ''}`
  }

  for (const [name, ask, expected] of ROWS) {
    await row(name, async (t) => {
      const outcomes: string[] = []
      for (const agent of AGENTS) outcomes.push(await outcomeOf(world, agent, ask))
      t.equal(outcomes.join(' '), expected, AGENTS.join(' '))
    })
  }
})
