// Clients that were made for the store, unmodified but for the host name and the credential: Apache Jena's RDFConnection, RDFLib,
// SPARQLWrapper, sparql-http-client and curl; each as the owner, as a reader of a part, and as an anonymous client.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { fetchFuseki } from '../../support/fuseki.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { freshDataset, reasonWithoutFuseki } from '../../support/stores.js'
import { makeWorld, ttl, turtle } from '../../support/world.js'

const run = promisify(execFile)
const PYTHON_PACKAGES = resolve('.cache/python')
const hasPython = spawnSync('python3', ['-c', 'import rdflib, SPARQLWrapper'], { env: { ...process.env, PYTHONPATH: PYTHON_PACKAGES } }).status === 0 // prettier-ignore
const hasCompiler = spawnSync('javac', ['-version']).status === 0
const withoutFuseki = await reasonWithoutFuseki()
/** Continuous integration skips nothing. */
const skipped = (reason: string | false): string | false => process.env['CI'] !== 'true' && reason

/** The outcome of each step of the owner, the reader and the anonymous client. */
type Steps = Readonly<Record<string, readonly [owner: string, reader: string, anonymous: string]>>

const WRITE = ['done', '403', '403'] as const
const JENA: Steps = {
  query: ['hidden open', 'open', '403'],
  update: WRITE,
  put: WRITE,
  load: WRITE,
  'fetch own': ['2', '403', '403'],
  'fetch hidden': ['true', '403', '403'],
  'fetch open': ['true', 'true', '403'],
  'put document': WRITE,
  'delete document': WRITE,
  'load dataset': WRITE,
  'fetch dataset': ['true true', 'true false', '403'],
  delete: WRITE,
}
const PYTHON: Steps = {
  // RDFLib does not say why a query is refused.
  'rdflib query': ['hidden open', 'open', 'ValueError'],
  'rdflib add': WRITE,
  'rdflib length': ['1', '0', 'ValueError'],
  'rdflib remove': WRITE,
  'wrapper query': ['hidden open', 'open', '403'],
  'wrapper update': WRITE,
  'wrapper clear': WRITE,
}
const SPARQL_HTTP_CLIENT: Steps = {
  query: ['hidden open', 'open', '403'],
  update: WRITE,
  put: WRITE,
  'get own': ['1', '403', '403'],
  'get hidden': ['true', '403', '403'],
  'get open': ['true', 'true', '403'],
  drop: WRITE,
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
    await owner('PUT', `/${name}/`, ttl(`${turtle('"t"')} <> <urn:value> "${name}" .`))
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
  await t.test(
    "Apache Jena's RDFConnection",
    { skip: skipped((jar === '' || !hasCompiler) && 'no JDK, or no Fuseki') },
    async (t) => {
      const [trusted, password] = [join(folder, 'trusted.p12'), 'changeit']
      execFileSync('keytool', ['-importcert', '-noprompt', '-alias', 'gateway', '-file', ca, '-keystore', trusted, '-storepass', password], { stdio: 'ignore' }) // prettier-ignore
      const options = [`-Djavax.net.ssl.trustStore=${trusted}`, `-Djavax.net.ssl.trustStorePassword=${password}`]
      const java = [
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        ...options,
        '-cp',
        jar,
        'test/clients/rdf-connection.java',
      ]
      const { stdout } = await run('java', [...java, at, base, ...credentials])
      checkSteps(t, stdout, JENA)
    },
  )
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
  await t.test('curl, as scripts of a store use it', async (t) => {
    const curl = async (secret: string, ...args: string[]): Promise<string> =>
      (await run('curl', ['-sS', '--cacert', ca, '-w', ' %{http_code}', ...(secret ? ['-u', `any:${secret}`] : []), ...args])).stdout // prettier-ignore
    const query = ['--data-urlencode', 'query=SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } } ORDER BY ?v', '-H', 'Accept: text/csv', `${at}/sparql`] // prettier-ignore
    const secrets = [credentials[1]!, credentials[3]!, '']
    const outcomes: RegExp[] = [/^v\r?\nhidden\r?\nopen\r?\n 200$/, /^v\r?\nopen\r?\n 200$/, / 403$/]
    for (const [i, secret] of secrets.entries()) {
      t.match(await curl(secret, ...query), outcomes[i]!, AGENTS[i]!)
      const put = await curl(secret, '-X', 'PUT', '-H', 'Content-Type: text/turtle', '-d', '<urn:s> <urn:p> 1 .', `${at}/data?graph=urn:curl`) // prettier-ignore
      t.match(put, i === 0 ? / 201$/ : / 403$/, AGENTS[i]!)
    }
  })
})
