// Clients that were made for the store, unchanged except for host name and credential: Apache Jena's RDFConnection and
// scripts, RDFLib, SPARQLWrapper, sparql-http-client, Comunica, YASGUI, the OWL API and curl. Each runs as the owner,
// as a reader of a part, and as an anonymous client.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openBrowser } from '../../../support/browser.js'
import { fetchFuseki } from '../../../support/fuseki.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { freshDataset, reasonWithoutFuseki } from '../../../support/stores.js'
import { makeWorld, ttl, turtle } from '../../../support/world.js'
import { askByYasgui, serveYasgui } from '../../../support/yasgui.js'

const run = promisify(execFile)
const PYTHON_PACKAGES = resolve('.cache/python')
const hasPython = spawnSync('python3', ['-c', 'import rdflib, SPARQLWrapper'], { env: { ...process.env, PYTHONPATH: PYTHON_PACKAGES } }).status === 0 // prettier-ignore
const COMUNICA = resolve('.cache/clients')
const YASGUI = join(COMUNICA, 'node_modules/@triply/yasgui/build/yasgui.min')
const OWL_API = resolve('.cache/owlapi')
const [hasComunica, hasYasgui, hasOwlApi] = [join(COMUNICA, 'node_modules'), `${YASGUI}.js`, join(OWL_API, 'lib')].map(existsSync) // prettier-ignore
const SOH = resolve('.cache/soh')
const hasSoh = existsSync(SOH) && spawnSync('ruby', ['-v']).status === 0
const hasCompiler = spawnSync('javac', ['-version']).status === 0
const withoutFuseki = await reasonWithoutFuseki()
/** Continuous integration skips nothing. */
const skipped = (reason: string | false): string | false => process.env['CI'] !== 'true' && reason
/** In continuous integration this fails instead. */
const skipOrFail = (t: Test, reason: string): void =>
  void (skipped(reason) ? t.pass(reason, { skip: reason }) : t.fail(reason))

const SELECT_VALUES = "SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } FILTER(!STRSTARTS(STR(?g), 'urn:')) } ORDER BY ?v"

/** The outcome of each step of the owner, the reader and the anonymous client. */
type Steps = Readonly<Record<string, readonly [owner: string, reader: string, anonymous: string]>>

const WRITE = ['done', '403', '401'] as const
const JENA: Steps = {
  query: ['hidden open', 'open', '401'],
  update: WRITE,
  put: WRITE,
  load: WRITE,
  'fetch own': ['2', '403', '401'],
  'fetch hidden': ['true', '403', '401'],
  'fetch open': ['true', 'true', '401'],
  'put document': WRITE,
  'delete document': WRITE,
  'load dataset': WRITE,
  'fetch dataset': ['true true', 'true false', '401'],
  delete: WRITE,
  'asked, query': ['true', 'true', '401'],
  'asked, update': WRITE,
}
/** Formats of SPARQLWrapper, for a table and for a graph. */
const FORMATS =
  'sparql-results+xml rdf+xml sparql-results+json ld+json csv turtle tab-separated-values turtle sparql-results+json turtle sparql-results+json turtle sparql-results+json rdf+xml sparql-results+json rdf+xml sparql-results+json ld+json'
const PYTHON: Steps = {
  // RDFLib does not say why a query is refused.
  'rdflib query': ['hidden open', 'open', 'ValueError'],
  'rdflib add': WRITE,
  'rdflib length': ['1', '0', 'ValueError'],
  'rdflib remove': WRITE,
  'wrapper formats': [FORMATS, FORMATS, '401'],
  'wrapper query': ['hidden open', 'open', '401'],
  'wrapper update': WRITE,
  'wrapper clear': WRITE,
}
const SPARQL_HTTP_CLIENT: Steps = {
  query: ['hidden open', 'open', '401'],
  update: WRITE,
  put: WRITE,
  'get own': ['1', '403', '401'],
  'get hidden': ['true', '403', '401'],
  'get open': ['true', 'true', '401'],
  drop: WRITE,
}
const COMUNICA_STEPS: Steps = {
  query: ['hidden open', 'open', '401'],
  insert: WRITE,
  construct: ['1', '0', '401'],
  drop: WRITE,
}
/** The number of classes: the declared one, and its type. */
const OWL_STEPS: Steps = {
  open: ['2', '2', '403'],
  'open by its graph': ['2', '2', '401'],
  hidden: ['2', '403', '403'],
  'hidden by its graph': ['2', '403', '401'],
}
const SOH_STEPS: Steps = {
  query: ['hidden open', 'open', '401'],
  'query by POST': ['hidden open', 'open', '401'],
  put: WRITE,
  post: WRITE,
  update: WRITE,
  'update by a form': WRITE,
  'get own': ['true', '403', '401'],
  'get hidden': ['true', '403', '401'],
  'get open': ['true', 'true', '401'],
  'head open': ['done', 'done', '401'],
  delete: WRITE,
}
const AGENTS = ['owner', 'reader', 'anonymous']

function checkSteps(t: Test, stdout: string, steps: Steps): void {
  const expected = AGENTS.flatMap((agent, at) => Object.entries(steps).map(([name, outcomes]) => [agent, name, outcomes[at]].join('\t'))) // prettier-ignore
  t.strictSame(stdout.trim().split('\n'), expected)
}

void t.test("clients of the store's own URLs", { skip: skipped(withoutFuseki ?? false) }, async (t) => {
  const dataset = await freshDataset(t)
  const endUser = openHttpStore(fusekiEndpoints(dataset))
  const admin = await openEmbeddedStore('admin')
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--dataset-path', '/ds'] })
  const { base, folder } = world
  const owner = world.as('owner')
  for (const name of ['open', 'hidden'])
    await owner(
      'PUT',
      `/${name}/`,
      ttl(`${turtle('"t"')} <> <urn:value> "${name}" . <#C> a <http://www.w3.org/2002/07/owl#Class> .`),
    )
  const grant = `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
    <#this> a acl:Authorization ; acl:mode acl:Read ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <${base}open/> .`
  t.equal((await owner('PUT', '/admin/acl/authorizations/part/', ttl(grant))).status, 201)
  const token = async (agent: string): Promise<string> => {
    const wanted = `[] a <urn:triplegate:access#AccessToken> ; <http://purl.org/dc/terms/title> "client" ; <http://www.w3.org/ns/auth/acl#agent> <${world.webIdOf(agent)}> .`
    const created = await owner('POST', '/admin/tokens', { ...ttl(wanted), fields: { 'Content-Type': 'text/turtle', Accept: 'application/n-triples' } }) // prettier-ignore
    t.equal(created.status, 201, created.text)
    return /#token> "(tgt_[^"]+)"/.exec(created.text)![1]!
  }
  const credentials = ['owner', await token('owner'), 'reader', await token('stranger'), 'anonymous', '']
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, world.ca)
  const at = `${base}ds`

  const fuseki = fetchFuseki()
  const jar = 'jar' in fuseki ? fuseki.jar : ''
  /** Makes Java trust the gateway, and compile no more than a short run is worth. */
  const javaOptions = (): string[] => {
    const [trusted, password] = [join(folder, 'trusted.p12'), 'changeit']
    if (!existsSync(trusted))
      execFileSync('keytool', ['-importcert', '-noprompt', '-alias', 'gateway', '-file', ca, '-keystore', trusted, '-storepass', password], { stdio: 'ignore' }) // prettier-ignore
    const trust = [`-Djavax.net.ssl.trustStore=${trusted}`, `-Djavax.net.ssl.trustStorePassword=${password}`]
    return ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', ...trust]
  }
  await t.test("Apache Jena's RDFConnection", async (t) => {
    if (jar === '' || !hasCompiler) return skipOrFail(t, 'no JDK, or no Fuseki')
    const { stdout } = await run('java', [...javaOptions(), '-cp', jar, 'test/clients/rdf-connection.java', at, base, ...credentials]) // prettier-ignore
    checkSteps(t, stdout, JENA)
  })
  await t.test("Apache Jena's scripts", async (t) => {
    if (!hasSoh) return skipOrFail(t, 'no Ruby, or no scripts of Apache Jena: .ci/clients.sh fetches them')
    const { stdout } = await run('ruby', ['test/clients/soh.rb', SOH, at, base, ...credentials])
    checkSteps(t, stdout, SOH_STEPS)
  })
  await t.test('RDFLib and SPARQLWrapper', { skip: skipped(!hasPython && 'no RDFLib here') }, async (t) => {
    const env = { ...process.env, PYTHONPATH: PYTHON_PACKAGES, SSL_CERT_FILE: ca, PYTHONWARNINGS: 'ignore' }
    const { stdout } = await run('python3', ['test/clients/python-clients.py', at, ...credentials], { env })
    checkSteps(t, stdout, PYTHON)
  })
  await t.test('sparql-http-client', async (t) => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca }
    const { stdout } = await run(process.execPath, ['test/clients/sparql-http-client.mjs', at, base, ...credentials], { env }) // prettier-ignore
    checkSteps(t, stdout, SPARQL_HTTP_CLIENT)
  })
  await t.test('Comunica', async (t) => {
    if (!hasComunica) return skipOrFail(t, 'no Comunica: .ci/clients.sh fetches it')
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca }
    const { stdout } = await run(process.execPath, ['test/clients/comunica.mjs', COMUNICA, at, ...credentials], { env })
    checkSteps(t, stdout, COMUNICA_STEPS)
  })
  await t.test('YASGUI, in a page of another origin', async (t) => {
    const browser = hasYasgui ? await openBrowser(t) : undefined
    if (!browser) return skipOrFail(t, 'no browser, or no YASGUI: .ci/clients.sh fetches it')
    const { page, close } = await browser.visitor(world, 'anonymous', { javaScriptEnabled: true })
    await page.goto(await serveYasgui(t, YASGUI))
    const [query, insert] = [SELECT_VALUES, 'INSERT DATA { GRAPH <urn:yasgui> { <urn:s> <urn:p> 1 } }']
    const outcomes = [['hidden open', 200], ['open', 403], [401, 401]] // prettier-ignore
    for (const [i, [queried, updated]] of outcomes.entries()) {
      const secret = credentials[2 * i + 1]!
      t.equal(await askByYasgui(page, at, secret, query), queried, `${AGENTS[i]} queries`)
      t.equal(await askByYasgui(page, at, secret, insert), updated, `${AGENTS[i]} updates`)
    }
    await close()
  })
  await t.test('the OWL API, with which Protégé loads', async (t) => {
    if (!hasOwlApi || jar === '' || !hasCompiler)
      return skipOrFail(t, 'no JDK, or no OWL API: .ci/clients.sh fetches it')
    const classes = ['*', 'lib/*'].map((jars) => join(OWL_API, jars)).join(':')
    const { stdout } = await run('java', [...javaOptions(), '-cp', `${classes}:${jar}`, 'test/clients/owl-api.java', at, base, ...credentials]) // prettier-ignore
    checkSteps(t, stdout, OWL_STEPS)
  })
  await t.test('curl, as scripts of a store use it', async (t) => {
    const curl = async (secret: string, ...args: string[]): Promise<string> =>
      (await run('curl', ['-sS', '--cacert', ca, '-w', ' %{http_code}', ...(secret ? ['-u', `any:${secret}`] : []), ...args])).stdout // prettier-ignore
    const query = ['--data-urlencode', 'query=SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } } ORDER BY ?v', '-H', 'Accept: text/csv', `${at}/sparql`] // prettier-ignore
    const secrets = [credentials[1]!, credentials[3]!, '']
    const outcomes: RegExp[] = [/^v\r?\nhidden\r?\nopen\r?\n 200$/, /^v\r?\nopen\r?\n 200$/, / 401$/]
    for (const [i, secret] of secrets.entries()) {
      t.match(await curl(secret, ...query), outcomes[i]!, AGENTS[i]!)
      t.match(
        await curl(secret, '--anyauth', ...query),
        outcomes[i]!,
        `${AGENTS[i]}, with a password that is asked for`,
      )
      const put = await curl(secret, '-X', 'PUT', '-H', 'Content-Type: text/turtle', '-d', '<urn:s> <urn:p> 1 .', `${at}/data?graph=urn:curl`) // prettier-ignore
      t.match(put, [/ 201$/, / 403$/, / 401$/][i]!, AGENTS[i]!)
    }
  })
})
