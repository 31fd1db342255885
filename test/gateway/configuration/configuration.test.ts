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
  `<urn:s/${name}> a sd:Service ; sd:endpoint <http://store/${name}/query> ; a:graphStore <http://store/${name}/data> . `
const endUser = (more = ''): string =>
  `<urn:eu> a lds:EndUserDataspace ; lds:origin <https://data.example.org> ; lds:service <urn:s/eu> ${more} . ${service('eu')}`
const admin = (more = ''): string =>
  `<urn:admin> a lds:AdminDataspace ; lds:origin <https://admin.data.example.org> ; lds:service <urn:s/admin> ${more} . ${service('admin')}`
const both = endUser() + admin()

// As LinkedDataHub ships them: the public part, and the internal one.
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
  // prettier-ignore
  const rows: [what: string, description: string, expected: object][] = [
    ['branch main and prefix graphs by default', '', { branch: 'main', pathPrefix: 'graphs', token: 'secret', location: 'https://github.com/owner/data' }],
    ['branch and prefix as given', '; host:branch "live/data" ; host:pathPrefix "rdf/graphs/"', { branch: 'live/data', pathPrefix: 'rdf/graphs' }],
    ['a GitHub Enterprise API', '; host:apiBase <https://git.example/api/v3>', { apiBase: 'https://git.example/api/v3' }],
    ['in whichever namespace the hosting has', '; <https://git.example/terms/branch> "live" ; <https://git.example/terms/pathPrefix> "g"', { branch: 'live', pathPrefix: 'g' }],
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
  // prettier-ignore
  const rows: [what: string, config: string, expected: [endUser: string, admin: string][]][] = [
    ['by the host', application('a', 'EndUser', 'https://x.example:8443') + application('b', 'Admin', 'https://admin.x.example:8443'), [['urn:a', 'urn:b']]],
    ['by the path', application('a', 'EndUser', 'https://x.example/') + application('b', 'Admin', 'https://x.example/admin'), [['urn:a', 'urn:b']]],
    ['by a link, against host and path', application('a', 'EndUser', 'https://x.example', '; lds:adminDataspace <urn:b>') + application('b', 'Admin', 'https://rules.example'), [['urn:a', 'urn:b']]],
    ['by a link from the other side', application('a', 'EndUser', 'https://x.example') + application('b', 'Admin', 'https://rules.example', '; lapp:endUserApplication <urn:a>'), [['urn:a', 'urn:b']]],
    ['two dataspaces that share both stores', application('a', 'EndUser', 'https://localhost:4443') + application('b', 'Admin', 'https://admin.localhost:4443') + application('c', 'EndUser', 'https://test.localhost:4443') + application('d', 'Admin', 'https://admin.test.localhost:4443'), [['urn:a', 'urn:b'], ['urn:c', 'urn:d']]],
  ]
  for (const [what, config, expected] of rows) {
    const found = dataspacesIn(config + services).map(({ endUser, admin }) => [endUser.iri, admin.iri])
    t.same(found, expected, what)
  }
})

void t.test('services and their credentials', async (t) => {
  const storeOf = (config: string, credentials = ''): unknown =>
    dataspacesIn(config + admin(), credentials)[0]?.endUser.service
  const described = (service: string, more = ''): string =>
    `<urn:eu> a lds:EndUserDataspace ; lds:origin <https://data.example.org> ; lds:service <urn:s> ${more} . <urn:s> ${service} . `
  // prettier-ignore
  const rows: [what: string, config: string, credentials: string, expected: object][] = [
    ['updates go beside /query', described('sd:endpoint <http://s/ds/query> ; a:graphStore <http://s/ds/data>'), '', { update: 'http://s/ds/update' }],
    ['updates go beside /sparql', described('sd:endpoint <http://s/ds/sparql> ; a:graphStore <http://s/ds/data>'), '', { update: 'http://s/ds/update' }],
    ['a dataset takes updates itself', described('sd:endpoint <http://s/ds> ; a:graphStore <http://s/ds>'), '', { update: 'http://s/ds' }],
    ['a service for updates only', described('sd:endpoint <http://s/repositories/r> ; a:graphStore <http://s/g> ; sd:supportedLanguage sd:SPARQL11Query . ' + '<urn:u> sd:endpoint <http://s/repositories/r/statements> ; sd:supportedLanguage sd:SPARQL11Update', ', <urn:u>'), '', { iri: 'urn:s', query: 'http://s/repositories/r', update: 'http://s/repositories/r/statements' }],
    ['no credentials', endUser(), '', { credentials: undefined }],
    ['HTTP Basic', endUser(), '<urn:s/eu> a:authUser "u" ; a:authPwd "p" .', { credentials: { user: 'u', password: 'p' } }],
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

void t.test('each fault has its subject, property, problem and fix', async (t) => {
  const repository = (more: string): string =>
    endUser('; lds:versioningRepository <urn:repo>') + admin() + `<urn:repo> a doap:GitRepository ${more} .`
  const token = '<urn:repo> a:authToken "hunter2" .'
  const github = '; doap:location <https://github.com/o/r>'
  // prettier-ignore
  const rows: [what: string, config: string, credentials: string, ...faults: RegExp[]][] = [
    ['nothing', '', '', /^configuration: describes no dataspace\. Describe a lds:EndUserDataspace/],
    ['no admin application', endUser(), '', /^urn:eu: has no admin application\. Describe one at https:\/\/admin.data.example.org\/ or https:\/\/data.example.org\/admin\//],
    ['no end-user application', admin(), '', /^urn:admin lds:origin: belongs to no end-user application/],
    ['an unknown origin pairing', endUser() + admin().replace('admin.data', 'rules'), '', /^urn:eu: has no admin/, /^urn:admin lds:origin: belongs to no/],
    ['two admin applications', both + `<urn:third> a lapp:AdminApplication ; lapp:origin <https://data.example.org/admin/> ; ldt:service <urn:s/admin> .`, '', /^urn:third lds:origin: belongs to no end-user/],
    ['two admin applications of one base', both + `<urn:third> a lapp:AdminApplication ; lapp:origin <https://admin.data.example.org> ; ldt:service <urn:s/admin> .`, '', /^urn:third lds:origin: has the base of urn:admin/, /^urn:eu: has 2 admin applications: urn:admin, urn:third/],
    ['two end-user applications of one base', both + `<urn:third> a lapp:EndUserApplication ; lapp:origin <https://data.example.org> ; ldt:service <urn:s/eu> .`, '', /^urn:third lds:origin: has the base of urn:eu/, /shares the host/],
    ['one base for both applications', endUser() + admin().replace('admin.data', 'data'), '', /^urn:admin lds:origin: has the base of urn:eu/],
    ['an end-user base under the admin base', endUser('; lds:adminDataspace <urn:admin>').replace('example.org>', 'example.org/x/>') + admin().replace('admin.data', 'data'), '', /^urn:admin lds:origin: has a base above that of urn:eu/],
    ['a link to what is no application', endUser('; lds:adminDataspace <urn:nobody>') + admin(), '', /^urn:eu: names urn:nobody, which is no admin application/],
    ['a dataspace without a role', both + '<urn:third> a lapp:Application ; lapp:origin <https://x.example> .', '', /^urn:third: is neither an end-user nor an admin application/],
    ['a dataspace with both roles', both + '<urn:eu> a lapp:AdminApplication .', '', /^urn:eu: is both/],
    ['an application without an IRI', both + '[] a lapp:EndUserApplication ; lapp:origin <https://x.example> .', '', /^_:\S+: an application without an IRI/],
    ['no origin', endUser().replace('lds:origin <https://data.example.org> ;', '') + admin(), '', /^urn:eu lds:origin: is missing/],
    ['two origins', endUser('; lapp:origin <https://x.example>') + admin(), '', /^urn:eu lds:origin: has 2 values/],
    ['an origin with a query', endUser().replace('example.org>', 'example.org/?x>') + admin(), '', /^urn:eu lds:origin: https:\/\/data.example.org\/\?x has user information, a query/],
    ['an origin that is not http', endUser().replace('https:', 'ftp:') + admin(), '', /^urn:eu lds:origin: ftp:\/\/data.example.org is no http or https URL/],
    ['no service', both + `<urn:x> a lds:EndUserDataspace ; lds:origin <https://x.example> . <urn:y> a lds:AdminDataspace ; lds:origin <https://admin.x.example> ; lds:service <urn:s/admin> .`, '', /^urn:x lds:service: is missing/],
    ['a service that is not described', endUser().replace('<urn:s/eu> a', '<urn:other> a') + admin(), '', /^urn:s\/eu sd:endpoint: is missing/, /^urn:s\/eu a:graphStore: is missing/],
    ['a service that is a blank node', endUser().replace('lds:service <urn:s/eu>', 'lds:service []') + admin(), '', /^urn:eu lds:service: its value is a blank node/, /^urn:eu lds:service: is missing/],
    ['two services for queries', endUser(', <urn:s/admin>') + admin(), '', /^urn:eu lds:service: has 2 services/],
    ['an endpoint that is not http', endUser().replace('http://store/eu/query', 'file:///ds') + admin(), '', /^urn:s\/eu sd:endpoint: file:\/\/\/ds is no http or https URL/],
    ['a password in an endpoint', endUser().replace('http://store/eu/data', 'http://u:hunter2@store/eu/data') + admin(), '', /^urn:s\/eu a:graphStore: holds a user or password\. Put them/],
    ['the same dataset for both', endUser() + admin().replaceAll('http://store/admin/', 'http://store/eu/'), '', /^urn:s\/admin sd:endpoint: is the dataset of urn:eu too \(store:80\/eu\).*Give the admin application a dataset of its own/],
    ['the same dataset by other names', endUser().replaceAll('http://store', 'http://localhost:3030') + admin().replace('http://store/admin/query', 'http://127.0.0.1:3030/eu/sparql').replace('http://store/admin/data', 'http://[::1]:3030/eu'), '', /is the dataset of urn:eu too/],
    ["another dataspace's admin dataset", both + `<urn:x> a lds:EndUserDataspace ; lds:origin <https://x.example> ; lds:service <urn:s/admin> . <urn:y> a lds:AdminDataspace ; lds:origin <https://admin.x.example> ; lds:service <urn:s/third> .` + service('third'), '', /^urn:s\/admin sd:endpoint: is the dataset of urn:x too/],
    ['a token in a configuration file', endUser() + admin() + '<urn:s/eu> a:authToken "hunter2" .', '', /^urn:s\/eu a:authToken: is a secret in a configuration file\. Move it/],
    ['credentials of nothing', both, '<urn:s/typo> a:authToken "hunter2" .', /^urn:s\/typo: has credentials but no description/],
    ['a user without password', both, '<urn:s/eu> a:authUser "hunter2" .', /^urn:s\/eu a:authPwd: is missing/],
    ['a password without user', both, '<urn:s/eu> a:authPwd "hunter2" .', /^urn:s\/eu a:authUser: is missing/],
    ['a token beside a user', both, '<urn:s/eu> a:authUser "u" ; a:authPwd "hunter2" ; a:authToken "t" .', /^urn:s\/eu a:authToken: stands beside/],
    ['allowRead that is no boolean', endUser('; lds:allowRead "yes"') + admin(), '', /^urn:eu lds:allowRead: is no xsd:boolean/],
    ['an owner that is no WebID', endUser('; foaf:maker <mailto:me@example.org>') + admin(), '', /^urn:eu foaf:maker: mailto:me@example.org is no WebID/],
    ['a repository without location', repository(''), token, /^urn:repo doap:location: is missing/],
    ['a repository without token', repository(github), '', /^urn:repo a:authToken: is missing\. Give a token/],
    ['a repository that is none', repository('; doap:location <https://github.com/only-owner>'), token, /^urn:repo doap:location: https:\/\/github.com\/only-owner is no repository/],
    ['a token in the location', repository('; doap:location <https://hunter2@github.com/o/r>'), token, /^urn:repo doap:location: https:\/\/\*\*\*@github.com\/o\/r is no repository/],
    ['a folder that is none', repository('; doap:location <file:///tmp/a%2Fb.git>'), '', /^urn:repo doap:location: file:\/\/\/tmp\/a%2Fb.git has percent-encodings that are in no path\. Give https/],
    ['an API in clear', repository(github + '; host:apiBase <http://git.example/api>'), token, /^urn:repo host:apiBase: http:\/\/git.example\/api would get the token in clear/],
    ['a branch that Git refuses', repository(github + '; host:branch "a..b"'), token, /^urn:repo host:branch: is no name of a branch/],
    ['a branch that reads as an option', repository(github + '; host:branch "--force"'), token, /^urn:repo host:branch/],
    ['a path prefix that climbs', repository(github + '; host:pathPrefix "a/../.."'), token, /^urn:repo host:pathPrefix: is no relative path/],
    ['files shared in a repository', repository(github) + `<urn:x> a lds:EndUserDataspace ; lds:origin <https://x.example> ; lds:service <urn:s/eu> ; lds:versioningRepository <urn:repo> . <urn:y> a lds:AdminDataspace ; lds:origin <https://admin.x.example> ; lds:service <urn:s/admin> .`, token, /^urn:x lds:versioningRepository: shares repository, branch and path prefix with urn:eu/],
    ['a repository on this disk for two', repository('; doap:location <file:///var/lib/triplegate/history.git>') + `<urn:x> a lds:EndUserDataspace ; lds:origin <https://x.example> ; lds:service <urn:s/eu> ; lds:versioningRepository <urn:other> . <urn:other> a doap:GitRepository ; doap:location <file:///var/lib/other/../triplegate/history.git/> ; host:branch "other" ; host:pathPrefix "other" . <urn:y> a lds:AdminDataspace ; lds:origin <https://admin.x.example> ; lds:service <urn:s/admin> .`, token, /^urn:x lds:versioningRepository: shares a repository on this disk with urn:eu. Give each a repository of its own/],
    ['a host shared by dataspaces', both + `<urn:x> a lds:EndUserDataspace ; lds:origin <https://data.example.org/x/> ; lds:service <urn:s/eu> . <urn:y> a lds:AdminDataspace ; lds:origin <https://data.example.org/x/admin/> ; lds:service <urn:s/admin> .`, '', /^urn:x lds:origin: shares the host data.example.org with urn:eu/],
  ]
  for (const [what, config, credentials, ...expected] of rows) {
    const faults = faultsIn(config, credentials)
    t.equal(faults.length, expected.length, `${what}: ${faults.join(' | ')}`)
    for (const fault of expected)
      t.ok(
        faults.some((line) => fault.test(line)),
        `${what}: ${fault} in ${faults.join(' | ')}`,
      )
    t.notMatch(faults.join(' '), 'hunter2', `${what}: no secret is printed`)
  }
})

void t.test('a misspelt property is a fault; other properties of LinkedDataHub are ignored', async (t) => {
  // prettier-ignore
  const misspelt: [what: string, config: string, credentials: string, fault: RegExp][] = [
      ['cut short', endUser('; lds:versioningRepo <urn:r>'), '', /^urn:eu lds:versioningRepo: .*mean lds:versioningRepos/],
      ['a part of it', endUser('; lds:repository <urn:r>'), '', /^urn:eu lds:repository: .*mean lds:versioningRepository\?/],
      ['a slip', endUser('; lds:allowread true'), '', /^urn:eu lds:allowread: no property has this name\. .* lds:allowRead\?/],
      ['another vocabulary', endUser('; lapp:versioningRepository <urn:r>'), '', /^urn:eu lapp:.*mean lds:versioningReposi/],
      ['letters changed over', endUser() + '<urn:r> host:brnach "x" .', '', /^urn:r host:brnach: .*mean host:branch\?/],
      ['in the vocabulary of DOAP', endUser() + '<urn:r> doap:brnach "x" .', '', /^urn:r doap:brnach: .*mean host:branch\?/],
      ['near to none', endUser() + '<urn:r> host:tag "x" .', '', /^urn:r host:tag: no property has this name\. Correct or/],
      ['a location', endUser() + '<urn:r> doap:Location <x:y> .', '', /^urn:r doap:Location: .*mean doap:location\?/],
      ['of a service', endUser() + '<urn:s/eu> a:graphstore <x:y> .', '', /^urn:s\/eu a:graphstore: .*mean a:graphStore\?/],
      ['of a provider', endUser() + '<urn:p> lds:clientID "x" .', '', /^urn:p lds:clientID: .*mean lds:clientId\?/],
      ['of a dataspace', endUser('; ldt:bse <x:y>'), '', /^urn:eu ldt:bse: .*mean ldt:base\?/],
      ['in the credentials', endUser(), '<urn:s/eu> a:authTokn "hunter2" .', /^urn:s\/eu a:authTokn: .*mean a:authToken\?/],
    ]
  for (const [what, config, credentials, fault] of misspelt) {
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
  // prettier-ignore
  const rows: [what: string, line: string, expected: object][] = [
    ['without a backend both stores are embedded', '', { endUser: { base: 'https://localhost:8443/', service: { embedded: true, query: undefined } }, admin: { base: 'https://localhost:8443/admin/', service: { embedded: true } } }],
    ['the services of two Fuseki datasets', '--backend http://localhost:3030/ds --admin-backend http://localhost:3030/admin/ --base https://data.example.org/', { endUser: { origin: 'https://data.example.org', service: { query: 'http://localhost:3030/ds/query', update: 'http://localhost:3030/ds/update', graphStore: 'http://localhost:3030/ds/data', embedded: false } }, admin: { base: 'https://data.example.org/admin/', service: { query: 'http://localhost:3030/admin/query' } } }],
    ['an embedded admin store beside a Fuseki', '--backend http://localhost:3030/ds', { endUser: { service: { embedded: false } }, admin: { service: { embedded: true } } }],
    ['endpoints one by one', '--backend http://s/ds --update-endpoint http://s/write', { endUser: { service: { query: 'http://s/ds/query', update: 'http://s/write', graphStore: 'http://s/ds/data' } } }],
    ['endpoints without a dataset', '--query-endpoint http://s/sparql --graph-store-endpoint http://s/rdf', { endUser: { service: { query: 'http://s/sparql', update: 'http://s/update', graphStore: 'http://s/rdf' } } }],
    ['credentials in the URL', '--backend http://u:p%40ss@s/ds', { endUser: { service: { query: 'http://s/ds/query', credentials: { user: 'u', password: 'p@ss' } } } }],
    ['credentials beside it', '--backend http://s/ds --backend-token t', { endUser: { service: { credentials: { token: 't' } } } }],
    ['an owner with a WebID of their own', '--owner-webid https://me.example/#i', { endUser: { owner: 'https://me.example/#i' } }],
  ]
  for (const [what, line, expected] of rows) t.match(dataspacesOfSettings(settingsOf(line)), [expected], what)
  for (const [line, fault] of [
    [
      '--backend http://s/ds --admin-backend http://s:80/ds/',
      /^--admin-backend: is the dataset of urn:triplegate:apps\/end-user too/,
    ],
    ['--admin-base https://localhost:8443', /^--admin-base: has the base of/],
    [
      '--history https://github.com/o/r',
      /^--history: https:\/\/github.com\/o\/r has no token\. Give --history-token or TRIPLEGATE_HISTORY_TOKEN too/,
    ],
    ['--backend http://u:p@s/ds --backend-token t', /^--backend: has a user in its URL and credentials beside it/],
  ] as const) {
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
  const said = (line: string): string[] => textsOf(dataspacesOfSettings(settingsOf(line)), settingsOf(line))
  const folder = (name: string): string => `d/history/localhost%3A8443%2F${name}/repository.git`
  const fuseki = '--backend http://s/ds --admin-backend http://s/admin'
  t.same(
    said('--data d'),
    [folder(''), folder('admin%2F')].map((name) => `${name}, branch main, path prefix graphs`),
  )
  t.same(said(fuseki), ['off (give --history local)', 'off (give --admin-history local)'])
  t.same(said(`${fuseki} --history https://github.com/o/r --history-token hunter2 --admin-history file:///h`), [
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
    'several files make one configuration, whatever they are called',
  )
  for (const [what, maker, flag, owner] of [
    ['of foaf:maker', '<urn:admin> foaf:maker <https://a.example/#i> .', '', 'https://a.example/#i'],
    [
      'of foaf:maker before that of the settings',
      '<urn:eu> foaf:maker <https://a.example/#i> .',
      '--owner-webid https://b.example/#i',
      'https://a.example/#i',
    ],
    ['of the settings', '', '--owner-webid https://b.example/#i', 'https://b.example/#i'],
    ['none', '', '', undefined],
  ] as const) {
    const file = write('owned.trig', PREFIXES + both + maker)
    const dataspaces = await readConfiguration(settingsOf(`--config ${file} ${flag}`))
    t.match(dataspaces, [{ endUser: { owner }, admin: { owner } }], `the owner: ${what}`)
  }
  const torn = write('torn', `${PREFIXES}<urn:s/eu> a:authUser "u" a:authPwd "hunter2" .`)
  const withTorn = await readConfiguration(settingsOf(`--config ${first} --credentials ${torn}`))
  const [line] = 'faults' in withTorn ? withTorn.faults.map(faultLine) : []
  t.match(line, /torn: is no TriG \(line 12\)\. Correct the syntax\./)
  const broken = write('broken.trig', `${PREFIXES}<urn:a> {\n <urn:b> .\n}`)
  const faults = await readConfiguration(settingsOf(`--config ${broken} --config ${join(folder, 'absent.trig')}`))
  const lines = 'faults' in faults ? faults.faults.map(faultLine) : []
  t.equal(lines.length, 2, 'every unreadable file is reported')
  t.ok(
    lines.some((line) => line.startsWith(`${broken}: is no TriG: `) && /line 13/.test(line)),
    lines.join('\n'),
  )
  t.ok(
    lines.some((line) => line.startsWith(`${join(folder, 'absent.trig')}: cannot be read: ENOENT`)),
    lines.join('\n'),
  )
})

void t.test('the files in docs/operating.md, as they stand there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-'))
  const blocks = [...readFileSync('docs/operating.md', 'utf8').matchAll(/```turtle\n([^]*?)```/g)].map(
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
        versioning: { location: 'file:///var/tmp/triplegate-rules.git', branch: 'main', pathPrefix: 'graphs' },
      },
    },
  ])
  const issuer = 'https://accounts.example.org'
  t.match(await readProviders(settings), [{ name: 'example', issuer, clientId: 'triplegate', clientSecret: '…' }])
})
