// The template for nginx: it caches files and the static parts of pages, and nothing private (spec 4.6). With the real
// nginx.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import t from 'tap'
import { openEmbeddedStore } from '../../gateway/stores/embedded-store.js'
import { makeClientCertificate } from '../../gateway/agents/make-certificate.js'
import { makeClient, type Answer, type Client } from '../support/client.js'
import { missing, ports, startNginx } from '../support/shared-caches.js'
import { rowsOf } from '../support/stores.js'
import { fileOf, upload } from '../support/upload.js'
import { makeWorld, ttl } from '../support/world.js'

const DAY = 86_400_000

void t.test('nginx', { skip: missing('nginx', '-v') ?? false }, async (t) => {
  const [gateway, tls, plain] = (await ports(t, 3)) as [number, number, number]
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const world = await makeWorld(t, stores, {
    flags: ['--http', String(gateway), '--host', 'localhost', '--trusted-proxy', '127.0.0.1/32', '--history', 'local'],
  })
  const nginx = await startNginx(t, join(world.folder, 'certs/server.pem'), [tls, plain, gateway])
  const row = rowsOf(t, 'embedded')
  const clients = new Map<string, Client>()
  const expired = new Map<string, string>()
  t.teardown(() => clients.forEach((client) => client.close()))
  const through = (agent: string, target: string, fields = {}): Promise<Answer> => {
    const pem = agent === 'anonymous' ? {} : { pem: expired.get(agent) ?? world.pemOf(agent) }
    const client = clients.get(agent) ?? makeClient({ port: tls, host: new URL(world.base).host, ca: world.ca, ...pem })
    clients.set(agent, client)
    return client('GET', target, { fields })
  }
  const cacheOf = async (agent: string, target: string, fields = {}): Promise<string> => {
    const { status, fields: got } = await through(agent, target, fields)
    return `${status} ${String(got['cache-status']).replace('nginx; ', '')}`
  }
  const owner = world.as('owner')
  const item = world.freshPath()
  const everyone = '/admin/acl/authorizations/everyone/'
  await owner('PUT', item, ttl('<> <http://purl.org/dc/terms/title> "Files" .'))

  await row('a private file is never stored', async (t) => {
    t.equal((await owner('POST', item, upload('private'))).status, 204)
    for (let i = 0; i < 2; i++) {
      t.equal(await cacheOf('owner', fileOf('private')), '200 fwd=bypass; detail=BYPASS')
      t.equal(await cacheOf('stranger', fileOf('private')), '403 fwd=bypass; detail=BYPASS')
      t.equal(await cacheOf('anonymous', fileOf('private')), '403 fwd=uri-miss; detail=MISS')
    }
    t.equal((await through('reader', fileOf('private'))).text, 'private')
  })

  await row('a slow client of an answer that is not stored costs no file', async (t) => {
    const large = 'x'.repeat(12_000_000)
    t.equal((await owner('POST', item, upload(large))).status, 204)
    const pem = world.pemOf('owner')
    const trust = { ca: world.ca, servername: 'localhost', cert: pem, key: pem }
    const asked = request({ port: tls, ...trust, path: fileOf(large), headers: { Host: new URL(world.base).host } })
    const [slow] = (await once(asked.end(), 'response')) as [IncomingMessage]
    t.equal(slow.statusCode, 200)
    // Meanwhile another client has read the whole file.
    t.equal((await through('owner', fileOf(large))).text.length, large.length)
    t.notMatch(nginx.warnings(), /temporary file/)
    slow.destroy()
  })

  await row('a public file is stored, whoever asks first, and no longer than it is public', async (t) => {
    const rule = `<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> ;
      <http://www.w3.org/ns/auth/acl#accessTo> <${world.origin}${item}> ; <http://www.w3.org/ns/auth/acl#agentClass> <http://xmlns.com/foaf/0.1/Agent> .`
    t.equal((await owner('PUT', everyone, ttl(rule))).status, 201)
    t.equal(await cacheOf('owner', fileOf('private')), '200 fwd=bypass; detail=BYPASS')
    t.equal(await cacheOf('anonymous', fileOf('private')), '200 hit')
    t.equal(
      await cacheOf('owner', fileOf('private')),
      '200 fwd=bypass; detail=BYPASS',
      'a 304 for others is not one for all',
    )
    const { fields, text } = await through('stranger', fileOf('private'))
    t.equal(text, 'private')
    t.match(fields, {
      'cache-control': 'public, max-age=604800, s-maxage=60, immutable',
      'repr-digest': /^sha-256=:/,
      link: undefined,
    })
    t.match(await through('anonymous', fileOf('private'), { Range: 'bytes=0-2' }), {
      status: 206,
      text: 'pri',
      fields: { 'content-range': 'bytes 0-2/7' },
    })
    t.equal(await cacheOf('anonymous', `${fileOf('private')}?x=1`), '200 fwd=bypass; detail=BYPASS')
    t.equal((await through('anonymous', fileOf('private'), { 'If-None-Match': fields.etag })).status, 304)
  })

  await row('without --shared-cache documents and versions are not stored, not below uploads/ either', async (t) => {
    const { text } = await owner('GET', `${item}?timemap`, { fields: { Accept: 'application/link-format' } })
    const [, version] = /<[^>]*(\/[^/>]*\/\?version=\w+)>/.exec(text)!
    for (const target of [item, version!, '/uploads/', '/uploads/x/']) {
      t.match(await cacheOf('anonymous', target), / fwd=uri-miss; detail=MISS$/, target)
      t.match(await cacheOf('anonymous', target), / fwd=uri-miss; detail=MISS$/, target)
      t.equal((await through('owner', target)).fields['cache-status'], undefined, target)
    }
  })

  for (const [name, webId] of [
    ['of a company', 'urn:x'],
    ['with a WebID', world.ownerWebId],
  ] as const) {
    await row(`a certificate ${name} that has expired is the gateway’s to decide about`, async (t) => {
      expired.set(name, await makeClientCertificate(webId, 'test', Date.now() - 4000 * DAY))
      const isIgnored = webId === 'urn:x'
      for (const target of [fileOf('private'), item]) {
        const answer = await through(name, target)
        t.equal(answer.status, isIgnored ? 200 : 400, target)
        if (!isIgnored) t.match(answer.text, /does not prove a WebID/, 'not by nginx')
        t.equal(answer.fields['strict-transport-security'], 'max-age=31536000')
      }
      const write = ttl('<> <http://purl.org/dc/terms/title> "With a body" .')
      t.equal((await clients.get(name)!('PUT', item, write)).status, isIgnored ? 403 : 400)
    })
  }

  await row('the static parts of pages are stored', async (t) => {
    const page = await through('anonymous', item, { Accept: 'text/html' })
    const [, style] = /href="([^"]*\/static\/[^"]+\.css)"/.exec(page.text) ?? []
    t.ok(style, 'a page names its style')
    const { pathname } = new URL(style!, world.base)
    t.equal(await cacheOf('stranger', pathname), '200 fwd=bypass; detail=BYPASS')
    t.equal(await cacheOf('anonymous', pathname), '200 hit')
  })
})
