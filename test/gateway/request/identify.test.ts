// The identity of the client: WebID-TLS from the TLS listener and from a trusted proxy's Client-Cert field (RFC 9440),
// with attacks.
import { createServer as createPlain } from 'node:http'
import { createServer } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { makeClientCertificate, makeServerCertificate } from '../../../gateway/agents/make-certificate.js'
import { readClientCertificate, parseClientCertField } from '../../../policies/identity/client-certificate.js'
import { isCrossSite } from '../../../policies/cross-site.js'
import { foreignCertificate } from '../../support/certificates.js'
import { makeClient, type Send } from '../../support/client.js'
import { rowsOf } from '../../support/stores.js'
import { freePort } from '../../support/ports.js'
import { until } from '../../support/wait.js'
import { makeWorld, profileOf, ttl, type World, type WorldOptions } from '../../support/world.js'

const DAY = 86_400_000
const WINDOWS = 'URI:tag:microsoft.com,2022-09-14:sid:S-1-5-21-1'
const escapedPem = (pem: string): string =>
  encodeURIComponent(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n?/.exec(pem)![0])
const byteSequence = (pem: string): string => `:${new X509Certificate(pem).raw.toString('base64')}:`

async function world(t: Test, options: WorldOptions): Promise<World> {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return makeWorld(t, { endUser, admin }, options)
}

void t.test('identity', async (t) => {
  const row = rowsOf(t, 'none')
  const http = await freePort()
  const flags = [
    '--http',
    String(http),
    '--trusted-proxy',
    '127.0.0.0/8',
    '--trusted-proxy',
    '::1',
    '--allow-fetch',
    '127.0.0.0/8',
  ]
  const trusted = await world(t, { flags })
  const plain = makeClient({ port: http, host: new URL(trusted.base).host })
  t.teardown(() => plain.close())
  const status = async (fields: Send['fields'], path = '/'): Promise<number> =>
    (await plain('GET', path, { fields: fields! })).status
  const owner = trusted.pemOf('owner')

  await row('Client-Cert as an RFC 9440 byte sequence', async (t) =>
    t.equal(await status({ 'Client-Cert': byteSequence(owner) }), 200),
  )
  await row('Client-Cert as nginx escapes PEM', async (t) =>
    t.equal(await status({ 'Client-Cert': escapedPem(owner) }), 200),
  )
  await row('no Client-Cert, or an empty one: anonymous', async (t) => {
    t.equal(await status({}), 403)
    t.equal(await status({ 'Client-Cert': '' }), 403)
  })
  const refused: [name: string, fields: Send['fields']][] = [
    ['Client-Cert twice', { 'Client-Cert': [byteSequence(owner), byteSequence(owner)] }],
    ['two values joined', { 'Client-Cert': `${byteSequence(owner)}, ${byteSequence(owner)}` }],
    ['garbage', { 'Client-Cert': 'garbage' }],
    ['a byte sequence that is not a certificate', { 'Client-Cert': ':AAAA:' }],
    ['a bare WebID', { 'Client-Cert': trusted.ownerWebId }],
  ]
  for (const [name, fields] of refused)
    await row(`malformed: ${name} → 400`, async (t) => t.equal(await status(fields), 400))
  const ignored = [
    'Client_Cert',
    'X-Client-Cert',
    'X-SSL-Client-Cert',
    'SSL-Client-Cert',
    'X-Forwarded-Client-Cert',
    'Client-Cert-Chain',
    'X-WebID',
    'X-Remote-User',
  ]
  for (const name of ignored) {
    await row(`no identity by ${name}`, async (t) => t.equal(await status({ [name]: byteSequence(owner) }), 403))
  }

  await row('the TLS listener ignores the field', async (t) => {
    const answer = await trusted.as('anonymous')('GET', '/', { fields: { 'Client-Cert': byteSequence(owner) } })
    t.equal(answer.status, 403)
    const stranger = await trusted.as('stranger')('GET', '/', { fields: { 'Client-Cert': byteSequence(owner) } })
    t.equal(stranger.status, 403)
  })

  await row('Client-Cert forged by an untrusted peer is dropped, in every form', async (t) => {
    const port = await freePort()
    const other = await world(t, { flags: ['--http', String(port), '--trusted-proxy', '192.0.2.1/32'] })
    const client = makeClient({ port, host: new URL(other.base).host })
    t.teardown(() => client.close())
    for (const value of [
      byteSequence(other.pemOf('owner')),
      escapedPem(other.pemOf('owner')),
      'garbage',
      [byteSequence(other.pemOf('owner')), 'x'],
    ]) {
      t.equal((await client('GET', '/', { fields: { 'Client-Cert': value } })).status, 403)
    }
  })

  const made = async (webId: string, now = Date.now()): Promise<string> => makeClientCertificate(webId, 'test', now)
  await row('an expired certificate → 400', async (t) => {
    const pem = await made(trusted.webIdOf('stranger'), Date.now() - 4000 * DAY)
    t.equal(await status({ 'Client-Cert': byteSequence(pem) }), 400)
  })
  await row('a certificate that is not yet valid → 400', async (t) => {
    const pem = await made(trusted.webIdOf('stranger'), Date.now() + 30 * DAY)
    t.equal(await status({ 'Client-Cert': byteSequence(pem) }), 400)
  })
  await row('the owner’s WebID with another key → 400, over TLS too', async (t) => {
    const pem = await made(trusted.ownerWebId)
    t.equal(await status({ 'Client-Cert': byteSequence(pem) }), 400)
    const client = makeClient({ port: new URL(trusted.base).port as unknown as number, ca: trusted.ca, pem })
    t.teardown(() => client.close())
    t.equal((await client('GET', '/')).status, 400)
  })
  await row('a WebID without a profile → 400', async (t) => {
    const pem = await made(`${trusted.base}admin/acl/agents/no-such-agent/#this`)
    t.equal(await status({ 'Client-Cert': byteSequence(pem) }), 400)
  })
  await row('a profile in a document that others can write does not make an owner', async (t) => {
    const pem = await made(trusted.ownerWebId)
    const forged = profileOf(trusted.ownerWebId, pem)
    const path = trusted.freshPath()
    t.equal(
      (await trusted.as('writer')('PUT', path, ttl(forged))).status,
      201,
      'a document of the writer with a forged profile',
    )
    t.equal(await status({ 'Client-Cert': byteSequence(pem) }), 400, 'is ignored')
  })
  for (const webId of ['https://169.254.169.254/latest#me', 'https://10.0.0.1/#me', 'http://[::ffff:10.0.0.1]/#me']) {
    await row(`a profile on an address that may not be fetched: ${webId} → 400`, async (t) => {
      const answer = await plain('GET', '/', { fields: { 'Client-Cert': byteSequence(await made(webId)) } })
      t.equal(answer.status, 400)
    })
  }
  const named: readonly (readonly [what: string, pem: () => string | Promise<string>, status: number])[] = [
    ['an address of mail: ignored', () => made('mailto:a@example.org'), 403],
    ['a file: ignored', () => made('file:///etc/passwd'), 403],
    ['a URN, expired: ignored', () => made('urn:x', Date.now() - 4000 * DAY), 403],
    ['the id of Windows: ignored', () => foreignCertificate(owner, [WINDOWS, 'email:ann@corp.example']), 403],
    ['that and a WebID', () => foreignCertificate(owner, [WINDOWS, `URI:${trusted.ownerWebId}`]), 200],
    ['a malformed WebID before another', () => foreignCertificate(owner, ['URI:https://PEOPLE.example/', `URI:${trusted.ownerWebId}`]), 400],
  ] // prettier-ignore
  for (const [what, pemOf, expected] of named) {
    await row(`a certificate of others with ${what} → ${expected}, over TLS too`, async (t) => {
      const pem = await pemOf()
      for (const written of [byteSequence, escapedPem]) t.equal(await status({ 'Client-Cert': written(pem) }), expected)
      const client = makeClient({ port: Number(new URL(trusted.base).port), ca: trusted.ca, pem })
      t.teardown(() => client.close())
      t.equal((await client('GET', '/')).status, expected)
    })
  }

  await row('a key removed from the profile is refused on the next request, a key added is accepted', async (t) => {
    const webId = `${trusted.base}admin/acl/agents/rotating/#this`
    const [first, second] = [await made(webId), await made(webId)]
    const put = async (pem: string) => trusted.as('owner')('PUT', new URL(webId).pathname, ttl(profileOf(webId, pem)))
    t.equal((await put(first)).status, 201)
    t.equal(await status({ 'Client-Cert': byteSequence(first) }), 403, 'known, without rights')
    t.equal(await status({ 'Client-Cert': byteSequence(second) }), 400)
    t.equal((await put(second)).status, 200)
    t.equal(await status({ 'Client-Cert': byteSequence(first) }), 400)
    t.equal(await status({ 'Client-Cert': byteSequence(second) }), 403)
  })

  await row('200 simultaneous requests with a new certificate are all decided', async (t) => {
    const webId = `${trusted.base}admin/acl/agents/busy/#this`
    const pem = await made(webId)
    t.equal((await trusted.as('owner')('PUT', new URL(webId).pathname, ttl(profileOf(webId, pem)))).status, 201)
    const fields = { 'Client-Cert': byteSequence(pem) }
    const statuses = await Promise.all(Array.from({ length: 200 }, () => status(fields)))
    t.same([...new Set(statuses)], [403], 'known, without rights')
  })

  await row('a remote profile is fetched over verified TLS or not at all', async (t) => {
    // The server's certificate is not trusted, so the profile must not be.
    const pem = await makeServerCertificate(['127.0.0.1'], Date.now())
    let asked = 0
    const server = createServer({ cert: pem, key: pem }, (_request, response) => {
      asked++
      response.writeHead(200, { 'Content-Type': 'text/turtle' }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const webId = `https://127.0.0.1:${(server.address() as AddressInfo).port}/#me`
    t.equal(await status({ 'Client-Cert': byteSequence(await made(webId)) }), 400)
    t.equal(asked, 0)
  })
  await row('a remote profile over plain HTTP, at an allowed address, identifies', async (t) => {
    let profile = ''
    const server = createPlain(
      (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/turtle' }).end(profile),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const webId = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#me`
    const pem = await made(webId)
    profile = profileOf(webId, pem)
    const answer = await plain('GET', '/', { fields: { 'Client-Cert': byteSequence(pem) } })
    t.equal(answer.status, 403)
    t.match(answer.fields.link, `<${webId}>; rel="http://www.w3.org/ns/auth/acl#agent"`)
  })
  await row(
    'a key removed from a remote profile: a write reads it again, a read after a minute at the latest',
    async (t) => {
      trusted.stopClock(t)
      let profile = ''
      let asked = 0
      const server = createPlain((_request, response) => {
        asked++
        response.writeHead(200, { 'Content-Type': 'text/turtle' }).end(profile)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.teardown(() => server.close())
      const webId = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#me`
      const pem = await made(webId)
      profile = profileOf(webId, pem)
      const fields = { 'Client-Cert': byteSequence(pem) }
      const put = async (): Promise<number> => (await plain('PUT', '/', { fields })).status
      t.same([await status(fields), asked], [403, 1])
      trusted.passTime(6_000)
      t.same([await status(fields), asked], [403, 1], 'reads rest on the same reading')
      t.same([await put(), asked], [403, 2], 'a write does not')
      trusted.passTime(10)
      const key = profile
      profile = ''
      t.same([await put(), asked], [400, 3], 'the key has been removed')
      profile = key
      trusted.passTime(6_000)
      t.same([await put(), asked], [403, 4])
      trusted.passTime(6_000)
      server.closeAllConnections()
      server.close()
      t.same([await put(), await status(fields)], [503, 403], 'the server is away: no write, and reads go on')
      trusted.passTime(60_000)
      t.equal(await status(fields), 503, 'reads end with the age')
    },
  )
  await row('a key removed from a remote profile may not write, and from then on not read', async (t) => {
    trusted.stopClock(t)
    let profile = ''
    const server = createPlain(
      (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/turtle' }).end(profile),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const webId = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#me`
    const pem = await made(webId)
    profile = profileOf(webId, pem)
    const fields = { 'Client-Cert': byteSequence(pem) }
    t.equal(await status(fields), 403)
    profile = ''
    trusted.passTime(6_000)
    t.equal(await status(fields), 403)
    t.equal((await plain('PUT', '/', { fields })).status, 400)
    t.equal(await status(fields), 400)
  })
  await row('profiles on a server that never answers: local ones and other networks are served', async (t) => {
    const server = createPlain(() => undefined).listen(0, '127.0.0.1')
    const good = createPlain(
      (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/turtle' }).end(profile),
    ).listen(0, '127.0.0.1')
    await Promise.all([once(server, 'listening'), once(good, 'listening')])
    t.teardown(() => (server.closeAllConnections(), server.close(), good.close()))
    const portOf = (one: typeof server): number => (one.address() as AddressInfo).port
    const webId = `http://127.0.0.1:${portOf(good)}/#me`
    const [pem, own] = [await made(webId), await made(`${trusted.base}admin/acl/agents/elsewhere/#this`)]
    const profile = profileOf(webId, pem)
    const client = makeClient({ port: http, host: new URL(trusted.base).host })
    t.teardown(() => client.close())
    const from = (network: string, certificate: string): Promise<number> =>
      client('GET', '/', { fields: { 'Client-Cert': byteSequence(certificate), 'X-Forwarded-For': network } }).then(
        (answer) => answer.status,
        () => 0,
      )
    const hanging = await Promise.all(
      Array.from({ length: 20 }, (_, i) => made(`http://127.0.0.1:${portOf(server)}/${i}#me`)),
    )
    const statuses: number[] = []
    const answers = hanging.map(async (each) => statuses.push(await from('192.0.2.1', each)))
    await until(() => statuses.length >= 4)
    t.same(statuses, [503, 503, 503, 503], 'a network has 16 places')
    t.equal(await from('192.0.2.1', owner), 200, 'the owner, from the same network')
    t.equal(await from('192.0.2.1', own), 400, 'another certificate of an own profile')
    t.equal(await from('192.0.2.2', pem), 403, 'a remote profile, from another network')
    t.equal(statuses.length, 4, 'while all others wait for that server')
    await Promise.all(answers)
    t.equal(statuses.filter((status) => status === 503).length, 20, 'those that could not be read too')
  })
  await row('the log has the reason, and no certificate', async (t) => {
    trusted.log.length = 0
    await status({ 'Client-Cert': byteSequence(await made(trusted.ownerWebId)) })
    const line = JSON.stringify(trusted.log)
    t.match(line, 'key-not-in-profile')
    t.notMatch(line, 'MII')
  })
  await row('the log line names dataspace, client address, size and request', async (t) => {
    const path = trusted.freshPath()
    await trusted.as('owner')('PUT', path, ttl('<> <urn:p> "1" .'))
    const proxied = { 'Client-Cert': byteSequence(owner), 'X-Forwarded-For': '198.51.100.7, 2001:db8::1' }
    // prettier-ignore
    const rows: [what: string, client: RegExp | string, ask: () => Promise<{ readonly text: string; readonly status: number }>][] = [
      ['over TLS', /^(127\.0\.0\.1|::1)$/, () => trusted.as('owner')('GET', path)],
      ['cached', /^(127\.0\.0\.1|::1)$/, () => trusted.as('owner')('GET', path)],
      ['through a trusted proxy', '2001:db8::1', () => plain('GET', path, { fields: proxied })],
      ['a refusal', '2001:db8::1', () => plain('GET', path, { fields: { 'X-Forwarded-For': '2001:db8::1' } })],
      ['HEAD', '2001:db8::1', () => plain('HEAD', path, { fields: proxied })],
    ]
    for (const [what, client, ask] of rows) {
      trusted.log.length = 0
      const { text, status } = await ask()
      const size = Buffer.byteLength(text)
      const expected = { level: 30, dataspace: trusted.base, client, path, status, size, id: /^[a-z\d]+-\d+$/ }
      t.match(trusted.log, [expected], what)
    }
  })
  await row('the log line of a refusal names the missing mode and the authorizations considered', async (t) => {
    const authorization = `${trusted.base}admin/acl/authorizations/for-log/`
    const path = trusted.freshPath()
    await trusted.as('owner')('PUT', path)
    await trusted.as('owner')(
      'PUT',
      new URL(authorization).pathname,
      ttl(`<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ;
      <http://www.w3.org/ns/auth/acl#agent> <${trusted.webIdOf('stranger')}> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> ;
      <http://www.w3.org/ns/auth/acl#accessTo> <${trusted.origin}${path}> .`),
    )
    trusted.log.length = 0
    t.equal((await trusted.as('stranger')('GET', path)).status, 200)
    t.equal((await trusted.as('stranger')('PUT', path)).status, 403)
    const line = trusted.log.find((entry) => entry['status'] === 403)
    t.match(JSON.stringify(line), '"required":"Write"')
    t.match(JSON.stringify(line), `${authorization}#this`)
  })

  await row('a WebID with a comma is one name; malformed certificates and fields are refused', async (t) => {
    const webId = 'https://alice.example/,DNS:evil.example/#me'
    const certificate = readClientCertificate(new X509Certificate(await made(webId)).raw)
    t.equal(certificate?.webId, webId, 'a name with a comma is one name')
    t.equal(certificate?.key?.exponent, 65537n)
    t.match(certificate?.key?.modulus, /^[1-9a-f][0-9a-f]{511}$/)
    t.equal(readClientCertificate(Buffer.from('x')), undefined)
    t.equal(parseClientCertField('%zz'), undefined)
    t.equal(parseClientCertField(':a b:'), undefined)
  })
  await row('cross-site writes (Fetch Metadata, Origin)', async (t) => {
    const own = ['https://data.example.org']
    const rows: [fields: Parameters<typeof isCrossSite>[0], expected: boolean][] = [
      [{}, false],
      [{ 'sec-fetch-site': 'same-origin' }, false],
      [{ 'sec-fetch-site': 'none' }, false],
      [{ 'sec-fetch-site': 'same-origin', origin: own[0] }, false],
      [{ 'sec-fetch-site': 'same-site', origin: own[0] }, false],
      [{ 'sec-fetch-site': 'same-site', origin: 'https://evil.example.org' }, true],
      [{ 'sec-fetch-site': 'same-site' }, true],
      [{ 'sec-fetch-site': 'cross-site' }, true],
      [{ 'sec-fetch-site': 'cross-site', origin: own[0] }, true],
      [{ 'sec-fetch-site': 'something-new' }, true],
      [{ origin: 'null' }, true],
      [{ origin: 'http://data.example.org' }, true],
      [{ origin: own[0] }, false],
    ]
    for (const [fields, expected] of rows) t.equal(isCrossSite(fields, own), expected, JSON.stringify(fields))
  })
})
