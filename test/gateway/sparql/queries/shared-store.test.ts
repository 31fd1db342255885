// Dataspaces that share their stores, as in LinkedDataHub's own configuration (design 4): the SPARQL endpoints of one
// reach no graph of the other, whatever a query or an update says. Changes of rules take effect at once.
import { loadFeatures } from '../../../../gateway/features.js'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readConfiguration, type DescribedDataspace } from '../../../../gateway/configuration/configuration.js'
import { isFailure } from '../../../../gateway/problem.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { startProbe } from '../../../../gateway/features/operators/probe.js'
import { parseSettings } from '../../../../gateway/configuration/settings.js'
import { startGateway, type RunningGateway } from '../../../../gateway/start/start.js'
import { makeClient, type Answer, type Client, type Send } from '../../../support/client.js'
import { freePort } from '../../../support/ports.js'
import { cachedRowsOf, forEachStore, rowsOf } from '../../../support/stores.js'
import { A_MINUTE } from '../../../support/wait.js'
import { patient, ttl, update } from '../../../support/world.js'
import { allVersions } from '../../../versioning/versions.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'
const MEMBER = 'http://xmlns.com/foaf/0.1/member'

/** The same dataspace on another host, with this owner. */
function at(host: string, dataspace: DescribedDataspace, owner: string | undefined): DescribedDataspace {
  const other = JSON.parse(
    JSON.stringify(dataspace).replaceAll('localhost', host).replaceAll('"iri":"', '"iri":"urn:other:'),
  ) as DescribedDataspace
  return owner === undefined
    ? other
    : { ...other, endUser: { ...other.endUser, owner }, admin: { ...other.admin, owner } }
}

interface Shared {
  readonly running: RunningGateway
  readonly here: DescribedDataspace
  readonly there: DescribedDataspace
  /** The owner of the first dataspace, as a client of each dataspace. */
  readonly owner: Client
  readonly ownerThere: Client
  readonly anonymousThere: Client
  readonly anonymousHere: Client
}

interface Options {
  readonly history?: 'local'
  /** The owner of the second dataspace; by default that of the first. */
  readonly ownerThere?: string
}

async function startShared(
  t: Test,
  stores: { endUser: GraphStore; admin: GraphStore },
  { history, ownerThere }: Options = {},
): Promise<Shared> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-'))
  const port = await freePort()
  const cache = process.env.TRIPLEGATE_TEST_CACHE === 'off' ? ['--cache', 'off'] : []
  const flags = [
    '--https',
    String(port),
    '--management',
    'off',
    '--history',
    history ?? 'off',
    '--admin-history',
    'off',
  ]
  const settings = parseSettings([...flags, ...cache, '--data', folder], {})
  if ('faults' in settings) throw new Error(settings.faults.join('\n'))
  const configured = await readConfiguration(settings)
  if ('faults' in configured) throw new Error(JSON.stringify(configured.faults))
  const [here, there] = [configured[0]!, at('127.0.0.1', configured[0]!, ownerThere)]
  const running = await startGateway({
    features: await loadFeatures(),
    settings,
    dataspaces: [here, there],
    openStore: (_service, { kind }) => Promise.resolve(kind === 'admin' ? stores.admin : stores.endUser),
    jobsTime: 5 * A_MINUTE,
    log: pino({ level: 'silent' }),
  })
  t.teardown(() => running.close(1_000).then(() => rmSync(folder, { recursive: true, force: true })))
  const ca = readFileSync(join(folder, 'certs/server.pem'), 'utf8')
  const pem = readFileSync(join(folder, 'certs/owner.pem'), 'utf8')
  const host = `127.0.0.1:${port}`
  const clients = [makeClient({ port, ca, pem }), makeClient({ port, ca, pem, host }), makeClient({ port, ca, host }), makeClient({ port, ca })].map(patient) // prettier-ignore
  t.teardown(() => clients.forEach((client) => client.close()))
  const [owner, other, anonymousThere, anonymousHere] = clients as [Client, Client, Client, Client]
  return { running, here, there, owner, ownerThere: other, anonymousThere, anonymousHere }
}

const keepOpen = (store: GraphStore): GraphStore => ({ ...store, close: () => Promise.resolve() })

const VALUE = 'urn:value'
const THING = 'urn:thing'
const valued = (graph: string, value: string): string =>
  `<${graph}> <${VALUE}> "${value}" .\n<${THING}> <${VALUE}> "${value}" .\n`

void forEachStore(t, 'dataspaces on shared stores', async (t, makeStores, kind) => {
  const opened = await makeStores()
  const stores = { endUser: keepOpen(opened.endUser), admin: keepOpen(opened.admin) }
  const shared = await startShared(t, stores, { ownerThere: 'https://other.example/#me' })
  const row = rowsOf(t, kind)
  const { owner, running } = shared
  const [here, there] = [shared.here.endUser.base, shared.there.endUser.base]
  const [adminHere, adminThere] = [shared.here.admin.base, shared.there.admin.base]
  const [own, foreign] = [`${here}shared/`, `${there}shared/`]
  const ownersThere = `${adminThere}acl/groups/owners/`
  await stores.endUser.replace(own, valued(own, 'here'))
  await stores.endUser.replace(foreign, valued(foreign, 'there'))
  await stores.endUser.replace('urn:shared', valued('urn:shared', 'no document'))
  await stores.endUser.update(`INSERT DATA { <urn:s> <${VALUE}> "default" }`)
  for (const { endUser } of running.dataspaces) endUser.cache.versions.everythingChanged()

  const any = `?s <${VALUE}> ?v`
  const me = running.certificates.owner.webId
  // prettier-ignore
  const QUERIES: [name: string, query: string, expected: 403 | string[], parameters?: [string, string][]][] = [
    ['a graph of this dataspace', `SELECT ?v { GRAPH <${own}> { ${any} } }`, ['here', 'here']],
    ['the other\'s graph', `SELECT ?v { GRAPH <${foreign}> { ${any} } }`, []],
    ['a graph of each dataspace', `SELECT ?v { { GRAPH <${own}> { ${any} } } UNION { GRAPH <${foreign}> { ${any} } } }`, ['here', 'here']],
    ['any graph', `SELECT ?v { GRAPH ?g { ${any} } }`, ['here', 'here']],
    ['any graph, bound to the other\'s', `SELECT ?v { VALUES ?g { <${foreign}> } GRAPH ?g { ${any} } }`, []],
    ['any graph, in a sub-query', `SELECT ?v { { SELECT ?v { GRAPH ?g { ${any} } } } }`, ['here', 'here']],
    ['any graph, in EXISTS', `SELECT ?v { VALUES ?v { "here" "there" "default" } FILTER EXISTS { GRAPH ?g { ${any} } } }`, ['here']],
    ['any graph, in MINUS', `SELECT ?v { VALUES ?v { "here" "there" } MINUS { GRAPH ?g { ${any} } } }`, ['there']],
    ['the default graph: the union of its own', `SELECT ?v { ${any} }`, ['here', 'here']],
    ['the default graph, by a path', `SELECT ?v { ?s (<${VALUE}>|<urn:other>)+ ?v }`, ['here', 'here']],
    ['FROM its own', `SELECT ?v FROM <${own}> { ${any} }`, ['here', 'here']],
    ['FROM NAMED its own', `SELECT ?v FROM NAMED <${own}> { GRAPH ?g { ${any} } }`, ['here', 'here']],
    ['FROM the other\'s', `SELECT ?v FROM <${foreign}> { ${any} }`, []],
    ['FROM NAMED the other\'s', `SELECT ?v FROM NAMED <${foreign}> { GRAPH ?g { ${any} } }`, []],
    ['FROM its own, and any graph', `SELECT ?v FROM <${own}> { GRAPH ?g { ${any} } }`, []],
    ['FROM NAMED its own, and the default graph', `SELECT ?v FROM NAMED <${own}> { ${any} }`, []],
    ['default-graph-uri: its own', `SELECT ?v { ${any} }`, ['here', 'here'], [['default-graph-uri', own]]],
    ['default-graph-uri: the other\'s', `SELECT ?v { ${any} }`, [], [['default-graph-uri', foreign]]],
    ['named-graph-uri: the other\'s', `SELECT ?v { GRAPH ?g { ${any} } }`, [], [['named-graph-uri', foreign]]],
    ['a graph that is not a document', `SELECT ?v { GRAPH <urn:shared> { ${any} } }`, []],
    ['Jena\'s union of all graphs', `SELECT ?v { GRAPH <urn:x-arq:UnionGraph> { ${any} } }`, 403],
    ['Jena\'s union of all graphs, FROM', `SELECT ?v FROM <urn:x-arq:UnionGraph> { ${any} }`, 403],
    ['a graph whose name begins like the base', `SELECT ?v { GRAPH <${here.slice(0, -1)}@127.0.0.1/> { ${any} } }`, []],
    ['a graph under the base of the admin application', `SELECT ?v { GRAPH <${adminHere}acl/> { ${any} } }`, []],
    ['a description', `DESCRIBE <${THING}>`, ['here']],
    ['a description of the other\'s document', `DESCRIBE <${foreign}>`, []],
    ['CONSTRUCT of everything', `CONSTRUCT { <urn:s> <${VALUE}> ?v } { GRAPH ?g { ${any} } }`, ['here']],
    ['ASK', `ASK { GRAPH ?g { ?s ?p "there" } }`, ['false']],
    ['no graph at all', 'SELECT ?v { VALUES ?v { "1" } }', ['1']],
  ]
  for (const [name, query, expected, parameters = []] of QUERIES) {
    await row(`a query of ${name}: ${expected === 403 ? 403 : expected.join(', ') || 'nothing'}`, async (t) => {
      const target = `/sparql?${new URLSearchParams([['query', query], ...parameters])}`
      const answer = await owner('GET', target, {
        fields: { Accept: 'text/csv, application/n-triples, application/sparql-results+json;q=0.1' },
      })
      t.equal(answer.status, expected === 403 ? 403 : 200, answer.text)
      if (expected === 403) t.match(answer.text, /who may read every graph can use this graph name/)
      else t.same(valuesIn(answer.text), expected)
    })
  }

  const into = (graph: string): string => `GRAPH <${graph}> { <${graph}#this> <${MEMBER}> <${me}> }`
  // prettier-ignore
  const UPDATES: [name: string, endpoint: '/sparql' | '/admin/sparql', update: string, status: number, parameters?: [string, string][]][] = [
    ['a graph of this dataspace', '/sparql', `INSERT DATA { ${into(own)} }`, 200],
    ['his WebID into the other\'s owners', '/admin/sparql', `INSERT DATA { ${into(ownersThere)} }`, 403],
    ['the other\'s owners, together with its own', '/admin/sparql', `INSERT DATA { ${into(`${adminHere}acl/groups/x/`)} ${into(ownersThere)} }`, 403],
    ['the other\'s document', '/sparql', `INSERT DATA { ${into(foreign)} }`, 403],
    ['the other\'s document, deleted', '/sparql', `DELETE WHERE { GRAPH <${foreign}> { ?s ?p ?o } }`, 403],
    ['WITH the other\'s document', '/sparql', `WITH <${foreign}> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }`, 403],
    ['DROP of the other\'s document', '/sparql', `DROP GRAPH <${foreign}>`, 403],
    ['any graph', '/sparql', `DELETE WHERE { GRAPH ?g { ?s <${VALUE}> ?v } }`, 403],
    ['any graph, found in its own', '/sparql', `INSERT { GRAPH ?g { ?g <${VALUE}> 1 } } WHERE { GRAPH <${own}> { ?g ?p ?o } }`, 403],
    ['CLEAR ALL', '/sparql', 'CLEAR ALL', 403],
    ['CLEAR ALL of the rules', '/admin/sparql', 'CLEAR ALL', 403],
    ['DROP NAMED', '/sparql', 'DROP NAMED', 403],
    ['CLEAR DEFAULT', '/sparql', 'CLEAR DEFAULT', 403],
    ['the default graph', '/sparql', 'INSERT DATA { <urn:s> <urn:p> 1 }', 403],
    ['COPY of the other\'s document', '/sparql', `COPY <${foreign}> TO <${own}>`, 403],
    ['ADD of the default graph', '/sparql', `ADD DEFAULT TO <${own}>`, 403],
    ['MOVE of the other\'s document', '/sparql', `MOVE <${foreign}> TO <${own}>`, 403],
    ['a pattern over the other\'s document', '/sparql', `INSERT { GRAPH <${own}> { ?s ?p ?o } } WHERE { GRAPH <${foreign}> { ?s ?p ?o } }`, 403],
    ['a pattern over any graph', '/sparql', `INSERT { GRAPH <${own}> { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }`, 403],
    ['a pattern over any graph, in EXISTS', '/sparql', `INSERT { GRAPH <${own}> { <urn:s> <urn:p> 1 } } WHERE { FILTER EXISTS { GRAPH ?g { ?s ?p "there" } } }`, 403],
    ['a pattern over the default graph', '/sparql', `INSERT { GRAPH <${own}> { ?s ?p ?o } } WHERE { ?s ?p ?o }`, 403],
    ['USING the other\'s document', '/sparql', `INSERT { GRAPH <${own}> { ?s ?p ?o } } USING <${foreign}> WHERE { ?s ?p ?o }`, 403],
    ['using-graph-uri: the other\'s document', '/sparql', `INSERT { GRAPH <${own}> { ?s ?p ?o } } WHERE { ?s ?p ?o }`, 403, [['using-graph-uri', foreign]]],
    ['WITH its own', '/sparql', `WITH <${own}> INSERT { ?s <urn:copy> ?o } WHERE { ?s <${VALUE}> ?o }`, 200],
    ['WITH its own, and any graph', '/sparql', `WITH <${own}> INSERT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }`, 403],
    ['USING and USING NAMED its own', '/sparql', `INSERT { GRAPH <${own}> { ?s <urn:copy> ?o } } USING <${own}> USING NAMED <${own}> WHERE { ?s ?p ?o GRAPH ?g { ?s <${VALUE}> ?o } }`, 200],
    ['using-graph-uri: its own', '/sparql', `INSERT { GRAPH <${own}> { ?s <urn:copy> ?o } } WHERE { ?s <${VALUE}> ?o }`, 200, [['using-graph-uri', own]]],
    ['a graph that is not a document', '/sparql', `INSERT DATA { ${into('urn:shared')} }`, 403],
  ]
  for (const [name, endpoint, text, status, parameters] of UPDATES) {
    await row(`an update: ${name}: ${status}`, async (t) => {
      const states = async () => [
        await stores.endUser.read(foreign),
        await stores.endUser.read('urn:shared'),
        sorted(await stores.admin.read(ownersThere)),
      ]
      const before = await states()
      const form = new URLSearchParams([['update', text], ...(parameters ?? [])]).toString()
      const send = { fields: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: form }
      const answer = await owner('POST', endpoint, send)
      t.equal(answer.status, status, answer.text)
      t.same(await states(), before)
      t.notMatch(await stores.endUser.read(own), /"there"/)
    })
  }
  await row('the page of an agent whose profile is in the other dataspace', async (t) => {
    const { status, text } = await shared.ownerThere('GET', '/oauth2/login', { fields: { Accept: 'text/html' } })
    t.equal(status, 200, text)
    t.match(text, me)
  })
  await row('a document that is created is found by the next query of any graph, in its dataspace only', async (t) => {
    const created = `${here}created/`
    t.equal((await owner('PUT', '/created/', ttl(`<> <${VALUE}> "created" .`))).status, 201)
    const query = `/sparql?${new URLSearchParams({ query: `SELECT ?v { GRAPH ?g { ${any} } }` })}`
    const values = async (): Promise<string[]> =>
      valuesIn((await owner('GET', query, { fields: { Accept: 'text/csv' } })).text)
    t.same(await values(), ['created', 'here', 'here'])
    t.equal((await owner('DELETE', '/created/')).status, 204)
    t.same(await values(), ['here', 'here'], created)
  })
  await row('of 1000 graphs a path follows a copy, or those that the query names', async (t) => {
    const many = Array.from({ length: 1001 }, (_, i) => `GRAPH <${here}many/${i}/> { <urn:s> <urn:p> ${i} }`)
    await stores.endUser.update(`INSERT DATA { ${many.join(' ')} }`)
    running.dataspaces[0]!.endUser.cache.versions.everythingChanged()
    const ask = (query: string) => owner('GET', `/sparql?${new URLSearchParams({ query })}`)
    t.equal((await ask(`SELECT ?v { GRAPH ?g { ${any} } }`)).status, 200)
    t.same(valuesIn((await ask(`SELECT ?v { ?s <${VALUE}>+ ?v }`)).text), ['here', 'here'])
    const refused = await ask(`SELECT ?v { ?s <${VALUE}>+ ?v GRAPH ?g { ?s ?p ?v } }`)
    t.equal(refused.status, 403)
    t.match(refused.text, /may cross too many graphs/)
    t.equal((await ask(`SELECT ?v { GRAPH ?g { ?s <${VALUE}>+ ?v } }`)).status, 200)
    t.equal((await ask(`SELECT ?v { GRAPH <${own}> { ${any} } }`)).status, 200)
    const page = async (after: string): Promise<string[]> => {
      const asked = new URLSearchParams({ this: `${here}many/`, tree: '', after }).toString()
      const fields = { Accept: 'application/n-triples' }
      const { text } = await owner('GET', `/admin/access?${asked}`, { fields })
      return [...text.matchAll(/^<(\S+)> \S+under> /gm)].map(([, document]) => document!)
    }
    t.equal((await page('')).length, 1001, 'the endpoint access lists them, for triplegate access audit --tree')
    t.same(await page(`${here}many/998/`), [`${here}many/999/`])
    t.equal((await shared.ownerThere('GET', `/admin/access?this=${there}&tree`)).status, 403, 'with Control only')
  })
})

/** The plain values in CSV, N-Triples or a boolean, sorted. */
const valuesIn = (text: string): string[] =>
  (text.match(/"boolean"\s*:\s*(?:true|false)|"(?:here|there|default|no document|created)"|^[\w ]+\r?$/gm) ?? [])
    .map((value) => value.replace(/^"boolean"\s*:\s*|["\r]/g, ''))
    .filter((value) => value !== 'v' && value !== '_askResult')
    .sort()

const sorted = (text: unknown): string =>
  typeof text === 'string' ? text.split('\n').sort().join('\n') : JSON.stringify(text)

void t.test('two dataspaces on one admin store', async (t) => {
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  const { running, here, there, owner, ownerThere, anonymousThere, anonymousHere } = await startShared(t, stores)
  const { endUser, admin: other } = there
  const graph = `${other.base}acl/authorizations/open/`
  const rule = `<${graph}#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ;
    <${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <${ACL}accessTo> <${endUser.base}> .`
  const change = (rules: string) => ownerThere('POST', '/admin/sparql', update(rules))
  const reads = async (): Promise<number> => (await anonymousThere('GET', '/')).status

  await t.test('an update of rules', async (t) => {
    t.equal(await reads(), 403)
    t.equal((await change(`INSERT DATA { GRAPH <${graph}> { ${rule} } }`)).status, 200)
    t.equal(await reads(), 200)
    t.equal((await change(`DROP GRAPH <${graph}>`)).status, 200)
    t.equal(await reads(), 403)
  })
  await rowsOf(t, 'none')('?uri= of the other dataspace: answered inside, as an anonymous request', async (t) => {
    const through = (uri: string, method = 'GET', more: Send = {}): Promise<Answer> =>
      owner(method, `/?uri=${encodeURIComponent(uri)}`, more)
    t.equal((await ownerThere('GET', '/')).status, 200)
    t.equal((await through(endUser.base)).status, 403, 'without the certificate of the client')
    t.equal((await change(`INSERT DATA { GRAPH <${graph}> { ${rule} } }`)).status, 200)
    const read = await through(endUser.base, 'GET', { fields: { Accept: 'application/n-triples' } })
    t.equal(read.status, 200)
    t.match(read.text, `<${endUser.base}> <`)
    t.match(read.fields, { 'content-location': endUser.base, 'content-type': /^application\/n-triples/, age: /^\d+$/ })
    t.equal(read.fields.link, undefined)
    const condition = { Accept: 'application/n-triples', 'If-None-Match': read.fields.etag! }
    t.equal((await through(endUser.base, 'GET', { fields: condition })).status, 304)
    t.equal((await through(endUser.base, 'HEAD')).status, 200)
    t.equal((await through(`${endUser.base}?timegate`)).status, 404, 'its statuses pass')
    t.equal((await through(`${endUser.base}none`)).status, 403, 'a redirect inside is followed')
    t.equal((await through(`${endUser.base}none`, 'PUT', ttl(''))).fields.location, `${endUser.base}none/`)
    t.equal((await through(endUser.base, 'PUT', ttl(''))).status, 403)
    t.equal((await through(endUser.base, 'OPTIONS')).status, 204)
    const loop = `${endUser.base}?uri=${encodeURIComponent(here.endUser.base)}`
    t.equal((await through(loop)).status, 403, 'anonymous clients may not use the proxy')
    t.equal((await through(other.base)).status, 403)
    for (const own of [here.endUser.base, here.admin.base]) t.equal((await through(own)).status, 400, own)
    t.equal((await change(`DROP GRAPH <${graph}>`)).status, 200)
  })
  await rowsOf(t, 'none')(
    '?uri= of the other application of the dataspace: as the agent, by the whole way',
    async (t) => {
      const document = `${here.endUser.base}proxied/`
      const through = (client: Client, method: string, uri: string, more: Send = {}): Promise<Answer> =>
        client(method, `/admin/?uri=${encodeURIComponent(uri)}`, more)
      t.equal((await through(owner, 'PUT', document, ttl('<> <urn:p> 1 .'))).status, 201)
      t.equal((await through(owner, 'GET', here.endUser.base)).status, 200)
      const read = await through(owner, 'GET', document)
      t.match([read.status, read.text, read.fields['cache-control']], [200, /<urn:p>/, /^private/])
      t.equal((await owner('GET', '/proxied/')).status, 200)
      const another = { ...ttl(''), fields: { ...ttl('').fields, 'If-Match': '"another"' } }
      t.equal((await through(owner, 'PUT', document, another)).status, 412, 'conditions hold')
      const foreign = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' }
      t.equal(
        (await through(owner, 'PUT', document, { ...ttl(''), fields: { ...ttl('').fields, ...foreign } })).status,
        403,
      )
      t.equal((await through(owner, 'GET', `${document}?uri=${here.admin.base}`)).status, 508, 'no loop')
      t.equal((await through(anonymousHere, 'GET', document)).status, 403)
      const limited = `[] a <urn:triplegate:access#AccessToken> ; <http://purl.org/dc/terms/title> "t" ; <urn:triplegate:access#only> <${document}> .`
      const made = await owner('POST', '/admin/tokens', { ...ttl(limited), fields: { ...ttl('').fields, Accept: 'application/n-triples' } }) // prettier-ignore
      const bearer = { fields: { Authorization: `Bearer ${/#token> "([^"]+)"/.exec(made.text)?.[1]}` } }
      t.equal((await through(anonymousHere, 'GET', document, bearer)).status, 200, 'within the limits of a token')
      t.equal((await through(anonymousHere, 'GET', here.endUser.base, bearer)).status, 403, 'beyond them')
      t.equal((await through(anonymousHere, 'DELETE', document, bearer)).status, 403)
      t.equal((await owner('DELETE', '/proxied/')).status, 204)
    },
  )
  await rowsOf(t, 'none')('a source of the other dataspace: read as by an anonymous client', async (t) => {
    const asked = `[] <http://purl.org/dc/terms/source> <${endUser.base}> ; <http://www.w3.org/ns/sparql-service-description#name> <${here.endUser.base}> .`
    t.equal((await ownerThere('GET', '/')).status, 200)
    t.equal((await owner('POST', '/add', ttl(asked))).status, 403)
    t.equal((await change(`INSERT DATA { GRAPH <${graph}> { ${rule} } }`)).status, 200)
    t.equal((await owner('POST', '/add', ttl(asked))).status, 204)
    t.equal((await change(`DROP GRAPH <${graph}>`)).status, 200)
  })
  await cachedRowsOf(t, 'none')('rules written behind the gateway, noticed by the probe', async (t) => {
    const probe = startProbe(running.dataspaces, running.gateway, 1_000_000)
    t.teardown(probe.close)
    await probe.look()
    await stores.admin.update(`INSERT DATA { GRAPH <${graph}> { ${rule} } }`)
    t.equal(await reads(), 403)
    await probe.look()
    t.equal(await reads(), 200)
  })
})

void t.test(
  'spec 9.2: an update through one of two dataspaces on one store is a commit in its own history',
  async (t) => {
    // Like a store over HTTP: it does not announce the changes of an update.
    const endUser = { ...(await openEmbeddedStore('end-user')) }
    delete endUser.announces
    const stores = { endUser, admin: await openEmbeddedStore('admin') }
    const { running, here, owner, ownerThere } = await startShared(t, stores, { history: 'local' })
    const methods = async (): Promise<string[][]> =>
      Promise.all(
        running.dataspaces.map(async ({ endUser: { base, history } }) => {
          const found = await allVersions(history!, `${base}shared/`, 60_000)
          return isFailure(found) ? [] : found.versions.map(({ method }) => method ?? 'none')
        }),
      )
    const insert = (base: string): string => `INSERT DATA { GRAPH <${base}shared/> { <urn:s> <urn:p> "one" } }`
    const change = async (client: Client, body: string): Promise<number> =>
      (await client('POST', '/sparql', update(body))).status
    t.equal(await change(owner, insert(here.endUser.base)), 200)
    t.same(await methods(), [['UPDATE'], []])
    t.equal(await change(ownerThere, insert(running.dataspaces[1]!.endUser.base)), 200)
    t.same(await methods(), [['UPDATE'], ['UPDATE']])
    t.equal(await change(owner, insert(running.dataspaces[1]!.endUser.base)), 403)
    t.equal(await change(ownerThere, `DROP GRAPH <${running.dataspaces[1]!.endUser.base}shared/>`), 200)
    t.same(await methods(), [['UPDATE'], ['UPDATE', 'UPDATE']])
  },
)
