// Configuration: dataspaces from TriG files in both vocabularies, from the settings alone, and every fault named.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Parser } from 'n3'
import type { Quad } from '@rdfjs/types'
import {
  dataspacesOf,
  readConfiguration,
  type DescribedDataspace,
} from '../../../gateway/configuration/configuration.js'
import { sharedStores } from '../../../gateway/configuration/conflicts.js'
import { listenAddress } from '../../../gateway/configuration/dataspace.js'
import { faultLine, type WrongConfiguration } from '../../../gateway/configuration/faults.js'
import { historyText } from '../../../gateway/configuration/history-place.js'
import { readProviders } from '../../../gateway/configuration/identity-providers.js'
import { dataspacesOfSettings } from '../../../gateway/configuration/settings-dataspace.js'
import { parseSettings, type Settings } from '../../../gateway/configuration/settings.js'

const PREFIXES = `
@prefix lds: <https://w3id.org/atomgraph/linkeddatahub/dataspaces#> .
@prefix lapp: <https://w3id.org/atomgraph/linkeddatahub/apps#> .
@prefix ldt: <https://www.w3.org/ns/ldt#> .
@prefix a: <https://w3id.org/atomgraph/core#> .
@prefix ac: <https://w3id.org/atomgraph/client#> .
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix host: <https://w3id.org/atomgraph/linkeddatahub/services/github#> .
`

const trig = (text: string): Quad[] =>
  new Parser({ format: 'application/trig', baseIRI: 'file:///etc/triplegate/system.trig' }).parse(PREFIXES + text)
const read = (config: string, credentials = ''): readonly DescribedDataspace[] | WrongConfiguration =>
  dataspacesOf(trig(config), trig(credentials))

function dataspacesIn(config: string, credentials = ''): readonly DescribedDataspace[] {
  const dataspaces = read(config, credentials)
  if ('faults' in dataspaces) throw new Error(dataspaces.faults.map(faultLine).join('\n'))
  return dataspaces
}
const faultsIn = (config: string, credentials = ''): readonly string[] => {
  const dataspaces = read(config, credentials)
  return 'faults' in dataspaces ? dataspaces.faults.map(faultLine) : []
}

const service = (name: string): string =>
  `<urn:s/${name}> a sd:Service ; sd:endpoint <http://store/${name}/query> ;
    a:graphStore <http://store/${name}/data> . `
const endUser = (more = ''): string =>
  `<urn:eu> a lds:EndUserDataspace ; lds:origin <https://data.example.org> ; lds:service <urn:s/eu> ${more} .
    ${service('eu')}`
const admin = (more = ''): string =>
  `<urn:admin> a lds:AdminDataspace ; lds:origin <https://admin.data.example.org> ; lds:service <urn:s/admin> ${more} .
    ${service('admin')}`
const both = endUser() + admin()

// The configuration that LinkedDataHub ships: the public part and the internal one.
const LINKEDDATAHUB = `
<urn:linkeddatahub:apps/admin> {
  <urn:linkeddatahub:apps/admin> a lapp:Application ; dct:title "LinkedDataHub admin" ;
    lapp:origin <https://admin.localhost:4443> ; ldt:ontology <https://w3id.org/atomgraph/linkeddatahub/admin#> ;
    ac:stylesheet <static/xsl/admin/layout.xsl> }
<urn:linkeddatahub:apps/end-user> {
  <urn:linkeddatahub:apps/end-user> a lapp:Application ; dct:title "LinkedDataHub" ; lapp:public true ;
    lapp:origin <https://localhost:4443> ; ldt:ontology <https://localhost:4443/ns#> }
<urn:linkeddatahub:apps/admin> {
  <urn:linkeddatahub:apps/admin> a lapp:AdminApplication ; ldt:service <urn:linkeddatahub:services/admin> }
<urn:linkeddatahub:services/admin> {
  <urn:linkeddatahub:services/admin> a sd:Service ; dct:title "admin service" ;
    sd:supportedLanguage sd:SPARQL11Query, sd:SPARQL11Update ; sd:endpoint <http://fuseki-admin:3030/ds/> ;
    a:graphStore <http://fuseki-admin:3030/ds/> ; a:quadStore <http://fuseki-admin:3030/ds/> }
<urn:linkeddatahub:apps/end-user> {
  <urn:linkeddatahub:apps/end-user> a lapp:EndUserApplication ; ldt:service <urn:linkeddatahub:services/end-user> ;
    lapp:adminApplication <urn:linkeddatahub:apps/admin> }
<urn:linkeddatahub:services/end-user> {
  <urn:linkeddatahub:services/end-user> a sd:Service ; sd:supportedLanguage sd:SPARQL11Query, sd:SPARQL11Update ;
    sd:endpoint <http://fuseki-end-user:3030/ds/> ; a:graphStore <http://fuseki-end-user:3030/ds/> }
`

void t.test("LinkedDataHub's own configuration is understood", async (t) => {
  t.match(dataspacesIn(LINKEDDATAHUB), [
    {
      iri: 'urn:linkeddatahub:apps/end-user',
      title: 'LinkedDataHub',
      endUser: {
        kind: 'end-user',
        base: 'https://localhost:4443/',
        origin: 'https://localhost:4443',
        ontology: 'https://localhost:4443/ns#',
        stylesheet: undefined,
        allowRead: false,
        service: {
          query: 'http://fuseki-end-user:3030/ds/',
          update: 'http://fuseki-end-user:3030/ds/',
          graphStore: 'http://fuseki-end-user:3030/ds/',
          embedded: false,
        },
      },
      admin: {
        iri: 'urn:linkeddatahub:apps/admin',
        kind: 'admin',
        base: 'https://admin.localhost:4443/',
        ontology: 'https://w3id.org/atomgraph/linkeddatahub/admin#',
        stylesheet: undefined,
      },
    },
  ])
})

void t.test('a dataspace with versioning (spec 9.2)', async (t) => {
  const repository = `<urn:repo> a doap:GitRepository ; doap:location <https://github.com/owner/data.git> `
  const linked = endUser('; lds:versioningRepository <urn:repo>') + admin()
  const token = '<urn:repo> a:authToken "secret" .'
  const branchAndPrefix = '; host:branch "live/data" ; host:pathPrefix "rdf/graphs/"'
  const enterprise = '; host:apiBase <https://git.example/api/v3>'
  const otherTerms = '; <https://git.example/terms/branch> "live" ; <https://git.example/terms/pathPrefix> "g"'
  // prettier-ignore
  const rows: [what: string, description: string, expected: object][] = [
    ['branch main and prefix graphs by default', '', { branch: 'main', pathPrefix: 'graphs' }],
    ['location and token', '', { location: 'https://github.com/owner/data', token: 'secret' }],
    ['branch and prefix as given', branchAndPrefix, { branch: 'live/data', pathPrefix: 'rdf/graphs' }],
    ['a GitHub Enterprise API', enterprise, { apiBase: 'https://git.example/api/v3' }],
    ['in any hosting namespace', otherTerms, { branch: 'live', pathPrefix: 'g' }],
  ]
  for (const [what, description, expected] of rows) {
    t.match(dataspacesIn(`${linked} ${repository} ${description} .`, token)[0]?.endUser.versioning, expected, what)
  }
  t.match(
    dataspacesIn(`${linked} <urn:repo> doap:location <file:///var/lib/triplegate/history.git> .`)[0]?.endUser
      .versioning,
    { location: 'file:///var/lib/triplegate/history.git' },
    'a local repository needs no token',
  )
  t.equal(
    dataspacesIn(`${both} ${repository} .`, token)[0]?.endUser.versioning,
    undefined,
    'without the link it is disabled',
  )
  t.match(
    dataspacesIn(endUser() + admin('; lds:versioningRepository <urn:repo>') + `${repository} .`, token)[0]?.admin
      .versioning,
    { location: 'https://github.com/owner/data' },
    'of an admin application',
  )
})

void t.test('pairing of applications', async (t) => {
  const application = (iri: string, kind: string, base: string, more = ''): string =>
    `<urn:${iri}> a lds:${kind}Dataspace ; lds:origin <${base}> ; lds:service <urn:s/${kind}> ${more} . `
  const services = service('EndUser') + service('Admin')
  const byHost =
    application('a', 'EndUser', 'https://x.example:8443') + application('b', 'Admin', 'https://admin.x.example:8443')
  const byPath =
    application('a', 'EndUser', 'https://x.example/') + application('b', 'Admin', 'https://x.example/admin')
  const byLink =
    application('a', 'EndUser', 'https://x.example', '; lds:adminDataspace <urn:b>') +
    application('b', 'Admin', 'https://rules.example')
  const byLinkBack =
    application('a', 'EndUser', 'https://x.example') +
    application('b', 'Admin', 'https://rules.example', '; lapp:endUserApplication <urn:a>')
  const bothStores =
    application('a', 'EndUser', 'https://localhost:4443') +
    application('b', 'Admin', 'https://admin.localhost:4443') +
    application('c', 'EndUser', 'https://test.localhost:4443') +
    application('d', 'Admin', 'https://admin.test.localhost:4443')
  // prettier-ignore
  const rows: [what: string, config: string, expected: [endUser: string, admin: string][]][] = [
    ['by the host', byHost, [['urn:a', 'urn:b']]],
    ['by the path', byPath, [['urn:a', 'urn:b']]],
    ['by a link, against host and path', byLink, [['urn:a', 'urn:b']]],
    ['by a link from the other side', byLinkBack, [['urn:a', 'urn:b']]],
    ['two dataspaces that share both stores', bothStores, [['urn:a', 'urn:b'], ['urn:c', 'urn:d']]],
  ]
  for (const [what, config, expected] of rows) {
    const found = dataspacesIn(config + services).map(({ endUser, admin }) => [endUser.iri, admin.iri])
    t.same(found, expected, what)
  }
  t.same(sharedStores(dataspacesIn(byHost + services)), [])
  const reported = sharedStores(dataspacesIn(bothStores + services)).map(faultLine)
  t.equal(reported.length, 2, 'design 4: each shared store is reported')
  t.match(
    reported[1],
    /^urn:s\/Admin sd:endpoint: is the dataset of https:\/\/admin\.test\.localhost:4443\/ and https:\/\/admin\.localhost:4443\/, so each SPARQL endpoint sees only graphs under its own base\. If queries/,
  )
})

void t.test('services and their credentials', async (t) => {
  const storeOf = (config: string, credentials = ''): unknown =>
    dataspacesIn(config + admin(), credentials)[0]?.endUser.service
  const described = (service: string, more = ''): string =>
    `<urn:eu> a lds:EndUserDataspace ; lds:origin <https://data.example.org> ; lds:service <urn:s> ${more} .
      <urn:s> ${service} . `
  const storedAt = (query: string, graphStore: string): string =>
    described(`sd:endpoint <http://s/${query}> ; a:graphStore <http://s/${graphStore}>`)
  const updatesApart = described(
    `sd:endpoint <http://s/repositories/r> ; a:graphStore <http://s/g> ; sd:supportedLanguage sd:SPARQL11Query .
      <urn:u> sd:endpoint <http://s/repositories/r/statements> ; sd:supportedLanguage sd:SPARQL11Update`,
    ', <urn:u>',
  )
  const basic = '<urn:s/eu> a:authUser "u" ; a:authPwd "p" .'
  // prettier-ignore
  const rows: [what: string, config: string, credentials: string, expected: object][] = [
    ['updates go to /update next to /query', storedAt('ds/query', 'ds/data'), '', { update: 'http://s/ds/update' }],
    ['updates go to /update next to /sparql', storedAt('ds/sparql', 'ds/data'), '', { update: 'http://s/ds/update' }],
    ['a dataset takes updates itself', storedAt('ds', 'ds'), '', { update: 'http://s/ds' }],
    ['a service for updates only', updatesApart, '', { update: 'http://s/repositories/r/statements' }],
    ['a service for queries, next to one for updates', updatesApart, '', { iri: 'urn:s', query: 'http://s/repositories/r' }],
    ['no credentials', endUser(), '', { credentials: undefined }],
    ['HTTP Basic', endUser(), basic, { credentials: { user: 'u', password: 'p' } }],
    ['a bearer token', endUser(), '<urn:s/eu> a:authToken "t" .', { credentials: { token: 't' } }],
  ]
  for (const [what, config, credentials, expected] of rows) t.match(storeOf(config, credentials), expected, what)
})

void t.test('further properties of an application', async (t) => {
  const more =
    '; lds:allowRead true ; foaf:maker <https://me.example/#i> ; ac:stylesheet <https://cdn.example/layout.xsl>'
  t.match(dataspacesIn(endUser(more) + admin())[0]?.endUser, {
    allowRead: true,
    owner: 'https://me.example/#i',
    stylesheet: 'https://cdn.example/layout.xsl',
    ontology: 'https://data.example.org/ns#',
  })
})

type Given = readonly [config: string, credentials: string]
type FaultRow = readonly [what: string, config: string | Given, ...faults: RegExp[]]

function faultTest(name: string, rows: readonly FaultRow[]): void {
  void t.test(`each fault has its subject, property, problem and fix: ${name}`, async (t) => {
    for (const [what, given, ...expected] of rows) {
      const [config, credentials] = typeof given === 'string' ? ([given, ''] as const) : given
      const faults = faultsIn(config, credentials)
      t.equal(faults.length, expected.length, `${what}: ${faults.join(' | ')}`)
      for (const fault of expected) {
        const isReported = faults.some((line) => fault.test(line))
        t.ok(isReported, `${what}: ${fault} in ${faults.join(' | ')}`)
      }
      t.notMatch(faults.join(' '), 'hunter2', `${what}: no secret is printed`)
    }
  })
}

/** A third application. */
const third = (kind: string, origin: string, service: string): string =>
  `<urn:third> a lapp:${kind}Application ; lapp:origin <${origin}> ; ldt:service <urn:s/${service}> .`
/** The end-user and the admin application of another dataspace. */
const x = (more: string, origin = 'https://x.example'): string =>
  `<urn:x> a lds:EndUserDataspace ; lds:origin <${origin}> ${more} . `
const y = (service = 'admin', origin = 'https://admin.x.example'): string =>
  `<urn:y> a lds:AdminDataspace ; lds:origin <${origin}> ; lds:service <urn:s/${service}> . `

const NO_ADMIN =
  /^urn:eu: has no admin application\. Describe one at https:\/\/admin.data.example.org\/ or https:\/\/data.example.org\/admin\//
const TWO_ADMINS = /^urn:eu: has 2 admin applications: urn:admin, urn:third/
const rulesOrigin = endUser() + admin().replace('admin.data', 'rules')
const adminByPath = both + third('Admin', 'https://data.example.org/admin/', 'admin')
const sameAdminBase = both + third('Admin', 'https://admin.data.example.org', 'admin')
const sameBase = both + third('EndUser', 'https://data.example.org', 'eu')
const adminAtBase = admin().replace('admin.data', 'data')
const below = endUser('; lds:adminDataspace <urn:admin>').replace('example.org>', 'example.org/x/>') + adminAtBase
const unknownLink = endUser('; lds:adminDataspace <urn:nobody>') + admin()
const noRole = both + '<urn:third> a lapp:Application ; lapp:origin <https://x.example> .'
const noIri = both + '[] a lapp:EndUserApplication ; lapp:origin <https://x.example> .'
const noOrigin = endUser().replace('lds:origin <https://data.example.org> ;', '') + admin()
const ftpOrigin = endUser().replace('https:', 'ftp:') + admin()
const withQuery = endUser().replace('example.org>', 'example.org/?x>') + admin()
const sharedHost =
  both + x('; lds:service <urn:s/eu>', 'https://data.example.org/x/') + y('admin', 'https://data.example.org/x/admin/')
// prettier-ignore
faultTest('applications', [
  ['nothing', '', /^configuration: describes no dataspace\. Describe a lds:EndUserDataspace/],
  ['no admin application', endUser(), NO_ADMIN],
  ['no end-user application', admin(), /^urn:admin lds:origin: does not belong to an end-user application/],
  ['an unknown origin pairing', rulesOrigin, /^urn:eu: has no admin/, /^urn:admin lds:origin: does not belong to/],
  ['two admin applications', adminByPath, /^urn:third lds:origin: does not belong to an end-user/],
  ['admin applications of one base', sameAdminBase, /^urn:third lds:origin: has the base of urn:admin/, TWO_ADMINS],
  ['end-user applications of one base', sameBase, /^urn:third lds:origin: has the base of urn:eu/, /shares the host/],
  ['one base for both applications', endUser() + adminAtBase, /^urn:admin lds:origin: has the base of urn:eu/],
  ['an end-user base under the admin base', below, /^urn:admin lds:origin: has a base above that of urn:eu/],
  ['a link to an IRI that is not an application', unknownLink, /^urn:eu: names urn:nobody, which is not an admin application/],
  ['a dataspace without a role', noRole, /^urn:third: is neither an end-user nor an admin application/],
  ['a dataspace with both roles', both + '<urn:eu> a lapp:AdminApplication .', /^urn:eu: is both/],
  ['an application without an IRI', noIri, /^_:\S+: an application without an IRI/],
  ['no origin', noOrigin, /^urn:eu lds:origin: is missing/],
  ['two origins', endUser('; lapp:origin <https://x.example>') + admin(), /^urn:eu lds:origin: has 2 values/],
  ['a query', withQuery, /^urn:eu lds:origin: https:\/\/data.example.org\/\?x has user information, a query/],
  ['an FTP origin', ftpOrigin, /^urn:eu lds:origin: ftp:\/\/data.example.org is not an http or https URL/],
  ['a host shared by dataspaces', sharedHost, /^urn:x lds:origin: shares the host data.example.org with urn:eu/],
])

const noService = both + x('') + y()
const undescribed = endUser().replace('<urn:s/eu> a', '<urn:other> a') + admin()
const blankService = endUser().replace('lds:service <urn:s/eu>', 'lds:service []') + admin()
const NO_SERVICE = /^urn:eu lds:service: is missing/
const fileEndpoint = endUser().replace('http://store/eu/query', 'file:///ds') + admin()
const password = endUser().replace('http://store/eu/data', 'http://u:hunter2@store/eu/data') + admin()
const oneDataset = endUser() + admin().replaceAll('http://store/admin/', 'http://store/eu/')
const ONE_DATASET =
  /^urn:s\/admin sd:endpoint: is also the dataset of urn:eu \(store:80\/eu\).*Give the admin application its own dataset/
const otherNames =
  endUser().replaceAll('http://store', 'http://localhost:3030') +
  admin()
    .replace('http://store/admin/query', 'http://127.0.0.1:3030/eu/sparql')
    .replace('http://store/admin/data', 'http://[::1]:3030/eu')
const foreignDataset = both + x('; lds:service <urn:s/admin>') + y('third') + service('third')
/** Another dataspace over the same two datasets. It has its own description of one of them. */
const another = both + x('; lds:service <urn:s/eu2>') + y() + service('eu').replace('urn:s/eu', 'urn:s/eu2')
const otherEndpoint = another.replace(/(urn:s\/eu2> a .*)query/, '$1sparql')
const otherCredentials: Given = [another, '<urn:s/eu2> a:authToken "hunter2" .']
const UNLIKE =
  /^urn:s\/eu2 sd:endpoint: is also the dataset of urn:eu, with other endpoints or credentials\. Give both the same/
const tokenInConfig = both + '<urn:s/eu> a:authToken "hunter2" .'
const secret = (name: string, properties: string): Given => [both, `<urn:s/${name}> ${properties} .`]
const twoKinds = secret('eu', 'a:authUser "u" ; a:authPwd "hunter2" ; a:authToken "t"')
const mailOwner = endUser('; foaf:maker <mailto:me@example.org>') + admin()
// prettier-ignore
faultTest('services, credentials and other properties', [
  ['no service', noService, /^urn:x lds:service: is missing/],
  ['no description', undescribed, /^urn:s\/eu sd:endpoint: is missing/, /^urn:s\/eu a:graphStore: is missing/],
  ['a service that is a blank node', blankService, /^urn:eu lds:service: has a blank node as value/, NO_SERVICE],
  ['two services for queries', endUser(', <urn:s/admin>') + admin(), /^urn:eu lds:service: has 2 services/],
  ['an endpoint that is not http', fileEndpoint, /^urn:s\/eu sd:endpoint: file:\/\/\/ds is not an http or https URL/],
  ['a password in an endpoint', password, /^urn:s\/eu a:graphStore: contains a user or password\. Put them/],
  ['the same dataset for both', oneDataset, ONE_DATASET],
  ['the same dataset by other names', otherNames, /is also the dataset of urn:eu/],
  ['the admin dataset of another dataspace', foreignDataset, /^urn:s\/admin sd:endpoint: is also the dataset of urn:x/],
  ['a dataset that two dataspaces describe by other endpoints', otherEndpoint, UNLIKE],
  ['a dataset that two dataspaces describe with other credentials', otherCredentials, UNLIKE],
  ['a token in the file', tokenInConfig, /^urn:s\/eu a:authToken: is a secret in a configuration file\. Move it/],
  ['stray credentials', secret('typo', 'a:authToken "hunter2"'), /^urn:s\/typo: has credentials but no description/],
  ['a user without password', secret('eu', 'a:authUser "hunter2"'), /^urn:s\/eu a:authPwd: is missing/],
  ['a password without user', secret('eu', 'a:authPwd "hunter2"'), /^urn:s\/eu a:authUser: is missing/],
  ['a token and a user', twoKinds, /^urn:s\/eu a:authToken: is given together/],
  ['allowRead: no boolean', endUser('; lds:allowRead "yes"') + admin(), /^urn:eu lds:allowRead: is not an xsd:boolean/],
  ['an owner that is not a WebID', mailOwner, /^urn:eu foaf:maker: mailto:me@example.org is not a WebID/],
])

const repository = (more: string): string =>
  endUser('; lds:versioningRepository <urn:repo>') + admin() + `<urn:repo> a doap:GitRepository ${more} .`
const withToken = (config: string): Given => [config, '<urn:repo> a:authToken "hunter2" .']
const located = (location: string): string => repository(`; doap:location <${location}>`)
const GITHUB = 'https://github.com/o/r'
const hosted = (property: string): Given => withToken(repository(`; doap:location <${GITHUB}> ; host:${property}`))
const onlyOwner = withToken(located('https://github.com/only-owner'))
const inUrl = withToken(located('https://hunter2@github.com/o/r'))
const ENCODED =
  /^urn:repo doap:location: file:\/\/\/tmp\/a%2Fb.git has percent-encodings that a path cannot contain\. Give https/
const apiInClear = hosted('apiBase <http://git.example/api>')
const CLEAR_API = /^urn:repo host:apiBase: http:\/\/git.example\/api would receive the token unencrypted/
const versionedX = (repository: string): string =>
  x(`; lds:service <urn:s/eu> ; lds:versioningRepository <${repository}>`) + y()
const sharedFiles = withToken(located(GITHUB) + versionedX('urn:repo'))
const SHARED_FILES = /^urn:x lds:versioningRepository: shares repository, branch and path prefix with urn:eu/
const otherSpelling = `<urn:other> a doap:GitRepository ; host:branch "other" ; host:pathPrefix "other" ;
  doap:location <file:///var/lib/other/../triplegate/history.git/> . `
const prefixed = (prefix: string): Given => [
  `${located(GITHUB)}${versionedX('urn:other')}<urn:other> a doap:GitRepository ; host:pathPrefix "${prefix}" ; doap:location <${GITHUB}> . `,
  '<urn:repo> a:authToken "hunter2" . <urn:other> a:authToken "hunter2" .',
]
const onDisk = withToken(located('file:///var/lib/triplegate/history.git') + versionedX('urn:other') + otherSpelling)
const SHARED_DISK =
  /^urn:x lds:versioningRepository: shares a repository on this disk with urn:eu. Give each its own repository/
// prettier-ignore
faultTest('repositories', [
  ['no location', withToken(repository('')), /^urn:repo doap:location: is missing/],
  ['no token', located(GITHUB), /^urn:repo a:authToken: is missing\. Give a token/],
  ['no repository', onlyOwner, /^urn:repo doap:location: https:\/\/github.com\/only-owner is not a repository/],
  ['a token in the URL', inUrl, /^urn:repo doap:location: https:\/\/\*\*\*@github.com\/o\/r is not a repository/],
  ['an encoded slash', located('file:///tmp/a%2Fb.git'), ENCODED],
  ['an API without TLS', apiInClear, CLEAR_API],
  ['a branch that Git refuses', hosted('branch "a..b"'), /^urn:repo host:branch: is not a branch name/],
  ['a branch that reads as an option', hosted('branch "--force"'), /^urn:repo host:branch/],
  ['a path prefix that climbs', hosted('pathPrefix "a/../.."'), /^urn:repo host:pathPrefix: is not a relative path/],
  ['files shared in a repository', sharedFiles, SHARED_FILES],
  ['a path prefix inside that of another application', prefixed('graphs/admin'), SHARED_FILES],
  ['one repository on this disk for two applications', onDisk, SHARED_DISK],
])

void t.test('a misspelt property is a fault; other properties of LinkedDataHub are ignored', async (t) => {
  const of = (iri: string, properties: string): string => `${endUser()} <${iri}> ${properties} .`
  const lappRepository = '; lapp:versioningRepository <urn:r>'
  const misspeltSecret = '<urn:s/eu> a:authTokn "hunter2" .'
  // prettier-ignore
  const misspelt: [what: string, config: string, fault: RegExp, credentials?: string][] = [
    ['cut short', endUser('; lds:versioningRepo <urn:r>'), /^urn:eu lds:versioningRepo: .*mean lds:versioningRepos/],
    ['a part of it', endUser('; lds:repository <urn:r>'), /^urn:eu lds:repository: .*mean lds:versioningRepository\?/],
    ['slip', endUser('; lds:allowread true'), /^urn:eu lds:allowread: no property has this name\. .* lds:allowRead\?/],
    ['another vocabulary', endUser(lappRepository), /^urn:eu lapp:.*mean lds:versioningReposi/],
    ['letters changed over', of('urn:r', 'host:brnach "x"'), /^urn:r host:brnach: .*mean host:branch\?/],
    ['in the vocabulary of DOAP', of('urn:r', 'doap:brnach "x"'), /^urn:r doap:brnach: .*mean host:branch\?/],
    ['near to none', of('urn:r', 'host:tag "x"'), /^urn:r host:tag: no property has this name\. Correct or/],
    ['a location', of('urn:r', 'doap:Location <x:y>'), /^urn:r doap:Location: .*mean doap:location\?/],
    ['of a service', of('urn:s/eu', 'a:graphstore <x:y>'), /^urn:s\/eu a:graphstore: .*mean a:graphStore\?/],
    ['of a provider', of('urn:p', 'lds:clientID "x"'), /^urn:p lds:clientID: .*mean lds:clientId\?/],
    ['of a dataspace', endUser('; ldt:bse <x:y>'), /^urn:eu ldt:bse: .*mean ldt:base\?/],
    ['in the credentials', endUser(), /^urn:s\/eu a:authTokn: .*mean a:authToken\?/, misspeltSecret],
  ]
  for (const [what, config, fault, credentials] of misspelt) {
    const faults = faultsIn(config + admin(), credentials)
    t.match(faults, [fault], what)
    t.equal(faults.length, 1, `${what}: ${faults.join(' | ')}`)
    t.notMatch(faults.join(' '), 'hunter2')
  }
  const others = [
    'lds:dataspace <x:y> ; lds:base <x:y> ; lds:public true ; lds:prefix <x:y> ; lds:backendProxy <x:y>',
    'lapp:application <x:y> ; lapp:proxy <x:y> ; lapp:frontendProxy <x:y> ; lapp:public true ; lapp:prefix <x:y>',
    'a:quadStore <x:y> ; a:maxGetRequestSize 8192 ; ldt:paramName "x" ; ldt:lang "en" ; ldt:cacheControl "x"',
    'doap:repository <x:y> ; doap:audience "x" ; doap:browse <x:y> ; doap:license <x:y> ; doap:service-endpoint <x:y>',
    '<https://git.example/terms/brnach> "x" ; dct:titel "x" ; foaf:nmae "x" ; lds:shape <x:y> ; lds:package <x:y>',
  ]
  for (const more of others) t.same(faultsIn(both + `<urn:r> ${more} .`), [], more)
})

void t.test('all faults are reported at once', async (t) => {
  const config =
    endUser('; lds:allowRead "yes"').replace('http://store/eu/query', 'ftp://x') + '<urn:s/eu> a:authPwd "p" .'
  t.equal(faultsIn(config, '<urn:typo> a:authToken "t" .').length, 5)
})

const settingsOf = (line: string): Settings => {
  const settings = parseSettings(line.split(' ').filter(Boolean), {})
  if ('faults' in settings) throw new Error(settings.faults.join('\n'))
  return settings
}

void t.test('the dataspace of the settings alone', async (t) => {
  const fusekis =
    '--backend http://localhost:3030/ds --admin-backend http://localhost:3030/admin/ --base https://data.example.org/'
  const oneFuseki = '--backend http://localhost:3030/ds'
  const otherUpdates = '--backend http://s/ds --update-endpoint http://s/write'
  const noDataset = '--query-endpoint http://s/sparql --graph-store-endpoint http://s/rdf'
  const userInUrl = '--backend http://u:p%40ss@s/ds'
  const store = (expected: object): object => ({ endUser: { service: expected } })
  const adminStore = (expected: object): object => ({ admin: { service: expected } })
  // prettier-ignore
  const rows: [what: string, line: string, expected: object][] = [
    ['without a backend the store is embedded', '', store({ embedded: true, query: undefined })],
    ['without a backend the admin store is embedded too', '', adminStore({ embedded: true })],
    ['the default base', '', { endUser: { base: 'https://localhost:8443/' } }],
    ['the default admin base', '', { admin: { base: 'https://localhost:8443/admin/' } }],
    ['a Fuseki dataset: queries', fusekis, store({ query: 'http://localhost:3030/ds/query', embedded: false })],
    ['a Fuseki dataset: updates', fusekis, store({ update: 'http://localhost:3030/ds/update' })],
    ['a Fuseki dataset: graphs', fusekis, store({ graphStore: 'http://localhost:3030/ds/data' })],
    ['a Fuseki dataset for admin', fusekis, adminStore({ query: 'http://localhost:3030/admin/query' })],
    ['the origin of a base', fusekis, { endUser: { origin: 'https://data.example.org' } }],
    ['the admin base of a base', fusekis, { admin: { base: 'https://data.example.org/admin/' } }],
    ['one Fuseki', oneFuseki, store({ embedded: false })],
    ['an embedded admin store next to a Fuseki', oneFuseki, adminStore({ embedded: true })],
    ['another update endpoint', otherUpdates, store({ query: 'http://s/ds/query', update: 'http://s/write' })],
    ['the other endpoints are those of the dataset', otherUpdates, store({ graphStore: 'http://s/ds/data' })],
    ['endpoints without a dataset', noDataset, store({ query: 'http://s/sparql', graphStore: 'http://s/rdf' })],
    ['updates beside queries', noDataset, store({ update: 'http://s/update' })],
    ['credentials in the URL', userInUrl, store({ credentials: { user: 'u', password: 'p@ss' } })],
    ['the URL without them', userInUrl, store({ query: 'http://s/ds/query' })],
    ['credentials, for an admin dataset of the same server', `${fusekis} --backend-token t`, adminStore({ credentials: { token: 't' } })],
    ['no other server gets the credentials', '--backend http://s/ds --admin-backend http://t/a --backend-token t', adminStore({ credentials: undefined })],
    ['no server at another port gets the credentials', '--backend http://s/ds --admin-backend http://s:81/a --backend-token t', adminStore({ credentials: undefined })],
    ['a user in the URL of an admin dataset', '--backend http://s/ds --admin-backend http://u:p@s/a --backend-token t', adminStore({ credentials: { user: 'u', password: 'p' } })],
    ['credentials beside it', '--backend http://s/ds --backend-token t', store({ credentials: { token: 't' } })],
    ['the path of the dataset', oneFuseki, { endUser: { datasetPath: '/ds' }, admin: { datasetPath: undefined } }],
    ['another path', `${oneFuseki} --dataset-path /a/b`, { endUser: { datasetPath: '/a/b' } }],
    ['no path', `${oneFuseki} --dataset-path off`, { endUser: { datasetPath: undefined } }],
    ['no path of an embedded store', '', { endUser: { datasetPath: undefined } }],
    ['a path for an embedded store', '--dataset-path /ds', { endUser: { datasetPath: '/ds' } }],
    ['no path if the store has other URLs', noDataset, { endUser: { datasetPath: undefined } }],
    ['an external owner', '--owner-webid https://me.example/#i', { endUser: { owner: 'https://me.example/#i' } }],
  ]
  for (const [what, line, expected] of rows) t.match(dataspacesOfSettings(settingsOf(line)), [expected], what)
  const SAME = /^--admin-backend: is also the dataset of urn:triplegate:apps\/end-user/
  const NO_TOKEN =
    /^--history: https:\/\/github.com\/o\/r has no token\. Give --history-token or TRIPLEGATE_HISTORY_TOKEN too/
  const TWO_KINDS = /^--backend: has a user in its URL and separate credentials/
  const faulty: [line: string, fault: RegExp][] = [
    ['--backend http://s/ds --admin-backend http://s:80/ds/', SAME],
    ['--admin-base https://localhost:8443', /^--admin-base: has the base of/],
    ['--history https://github.com/o/r', NO_TOKEN],
    ['--backend http://u:p@s/ds --backend-token t', TWO_KINDS],
  ]
  for (const [line, fault] of faulty) {
    const found = dataspacesOfSettings(settingsOf(line))
    t.match('faults' in found && found.faults.map(faultLine), [fault], line)
  }
})

void t.test('the address to listen at', async (t) => {
  const addressOf = (line: string): string => {
    const dataspaces = dataspacesOfSettings(settingsOf(line))
    return 'faults' in dataspaces ? 'faults' : listenAddress(dataspaces)
  }
  t.equal(addressOf(''), 'localhost')
  t.equal(addressOf('--base https://test.localhost:4443/ --admin-base https://127.0.0.1:4443/'), 'localhost')
  t.equal(addressOf('--base https://data.example.org/'), '::')
  t.equal(addressOf('--base https://localhost.example.org/'), '::')
})

void t.test('the places of the histories as text', async (t) => {
  const textsOf = (dataspaces: readonly DescribedDataspace[] | WrongConfiguration, settings: Settings): string[] =>
    ('faults' in dataspaces ? [] : dataspaces).flatMap(({ endUser, admin }) =>
      [endUser, admin].map((application) => historyText(application, settings)),
    )
  const placesFor = (line: string): string[] => textsOf(dataspacesOfSettings(settingsOf(line)), settingsOf(line))
  const folder = (name: string): string => `d/history/localhost%3A8443%2F${name}/repository.git`
  const fuseki = '--backend http://s/ds --admin-backend http://s/admin'
  t.same(
    placesFor('--data d'),
    [folder(''), folder('admin%2F')].map((name) => `${name}, branch main, path prefix graphs`),
  )
  t.same(placesFor(fuseki), ['off (give --history local)', 'off (give --admin-history local)'])
  t.same(placesFor(`${fuseki} --history https://github.com/o/r --history-token hunter2 --admin-history file:///h`), [
    'https://github.com/o/r, branch main, path prefix graphs',
    'file:///h, branch main, path prefix graphs',
  ])
  const config =
    endUser('; lds:versioningRepository <urn:r>') +
    admin() +
    '<urn:r> doap:location <file:///r> ; host:branch "b" ; host:pathPrefix "p" .'
  t.same(textsOf(read(config), { ...settingsOf(''), config: ['system.trig'] }), [
    'file:///r, branch b, path prefix p',
    'off (give it lds:versioningRepository)',
  ])
})

void t.test('the files of a configuration', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-'))
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }
  const half = LINKEDDATAHUB.indexOf('<urn:linkeddatahub:services/admin> {')
  const first = write('dataspaces.trig', PREFIXES + LINKEDDATAHUB.slice(0, half))
  const second = write('system.trig', PREFIXES + LINKEDDATAHUB.slice(half))
  const credentials = write('credentials', PREFIXES + '<urn:linkeddatahub:services/admin> a:authToken "t" .')
  t.match(
    await readConfiguration(settingsOf(`--config ${first} --config ${second} --credentials ${credentials}`)),
    [{ admin: { service: { credentials: { token: 't' } } } }],
    'several files are one configuration; their names do not matter',
  )
  const [A, B] = ['https://a.example/#i', 'https://b.example/#i']
  const owners: [what: string, maker: string, flag: string, owner: string | undefined][] = [
    ['of foaf:maker', `<urn:admin> foaf:maker <${A}> .`, '', 'https://a.example/#i'],
    ['foaf:maker wins', `<urn:eu> foaf:maker <${A}> .`, `--owner-webid ${B}`, 'https://a.example/#i'],
    ['of the settings', '', `--owner-webid ${B}`, 'https://b.example/#i'],
    ['none', '', '', undefined],
  ]
  for (const [what, maker, flag, owner] of owners) {
    const file = write('owned.trig', PREFIXES + both + maker)
    const dataspaces = await readConfiguration(settingsOf(`--config ${file} ${flag}`))
    t.match(dataspaces, [{ endUser: { owner }, admin: { owner } }], `the owner: ${what}`)
  }
  const paths: [flag: string, path: string | undefined][] = [
    ['', '/eu'],
    ['--dataset-path /other', '/other'],
    ['--dataset-path off', undefined],
  ]
  for (const [flag, datasetPath] of paths) {
    const dataspaces = await readConfiguration(settingsOf(`--config ${write('paths.trig', PREFIXES + both)} ${flag}`))
    t.match(
      dataspaces,
      [{ endUser: { datasetPath }, admin: { datasetPath: undefined } }],
      `the store's own URLs: ${flag}`,
    )
  }
  const beside = settingsOf(`--config ${first} --log local --history-delay off`)
  t.match(beside, { log: 'local', historyDelay: 'off' }, 'settings that no configuration file can give')
  const torn = write('torn', `${PREFIXES}<urn:s/eu> a:authUser "u" a:authPwd "hunter2" .`)
  const withTorn = await readConfiguration(settingsOf(`--config ${first} --credentials ${torn}`))
  const [line] = 'faults' in withTorn ? withTorn.faults.map(faultLine) : []
  t.match(line, /torn: is not TriG \(line 12\)\. Correct the syntax\./)
  const broken = write('broken.trig', `${PREFIXES}<urn:a> {\n <urn:b> .\n}`)
  const faults = await readConfiguration(settingsOf(`--config ${broken} --config ${join(folder, 'absent.trig')}`))
  const lines = 'faults' in faults ? faults.faults.map(faultLine) : []
  t.equal(lines.length, 2, 'every unreadable file is reported')
  t.ok(
    lines.some((line) => line.startsWith(`${broken}: is not TriG: `) && /line 13/.test(line)),
    lines.join('\n'),
  )
  t.ok(
    lines.some((line) => line.startsWith(`${join(folder, 'absent.trig')}: cannot be read: ENOENT`)),
    lines.join('\n'),
  )
})

void t.test('the files in docs/configuration.md, unchanged', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-'))
  const blocks = [...readFileSync('docs/configuration.md', 'utf8').matchAll(/```turtle [\w.]+\n([^]*?)```/g)].map(
    ([, text]) => text!,
  )
  t.equal(blocks.length, 2)
  const [config, credentials] = ['system.trig', 'credentials.trig'].map((name, i) => {
    writeFileSync(join(folder, name), blocks[i]!)
    return join(folder, name)
  })
  const settings = settingsOf(`--config ${config} --credentials ${credentials}`)
  const dataspaces = await readConfiguration(settings)
  t.match('faults' in dataspaces ? dataspaces.faults.map(faultLine) : dataspaces, [
    {
      endUser: {
        base: 'https://localhost:8443/',
        service: {
          query: 'http://localhost:3030/ds/query',
          update: 'http://localhost:3030/ds/update',
          graphStore: 'http://localhost:3030/ds/data',
          credentials: { user: 'triplegate', password: '…' },
        },
        versioning: {
          location: 'https://github.com/OWNER/REPOSITORY',
          branch: 'main',
          pathPrefix: 'graphs',
          token: 'github_pat_…',
        },
      },
      admin: {
        base: 'https://localhost:8443/admin/',
        service: { query: 'http://localhost:3030/admin/query', graphStore: 'http://localhost:3030/admin/data' },
        versioning: { location: 'file:///srv/triplegate/rules.git', branch: 'main', pathPrefix: 'graphs' },
      },
    },
  ])
  const issuer = 'https://accounts.example.org'
  t.match(await readProviders(settings), [{ name: 'example', issuer, clientId: 'triplegate', clientSecret: '…' }])
})
