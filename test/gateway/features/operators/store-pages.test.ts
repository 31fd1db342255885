// The store's own pages on a separate port (design 8): only for agents with Control, and read-only. The store learns
// nothing about the client. A write that passes purges the cache and is committed.
import t, { type Test } from 'tap'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '../../../../gateway/http/listener.js'
import { storePages } from '../../../../gateway/features/operators/store-pages.js'
import { problemResponse } from '../../../../gateway/request/respond.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { fusekiEndpoints, openHttpStore } from '../../../../gateway/stores/http-store.js'
import { makeClient, type Client, type Send } from '../../../support/client.js'
import { freshDataset, reasonWithoutFuseki, row } from '../../../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../../../support/world.js'
import { until } from '../../../support/wait.js'

void t.test('the pages of the store', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing) return void t.skip(missing, () => undefined)
  for (const mayWrite of [false, true]) await suite(t, mayWrite)
})

async function suite(t: Test, mayWrite: boolean): Promise<void> {
  const dataset = await freshDataset(t)
  const endUser = openHttpStore(fusekiEndpoints(dataset))
  const admin = await openEmbeddedStore('admin')
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const write = mayWrite ? ['--store-pages-write', '--history', 'local'] : []
  const flags = ['--backend', dataset, '--admin-history', 'local', '--store-pages', '0', ...write]
  const world = await makeWorld(t, { endUser, admin }, { flags })
  const { base, ca } = world
  const port = world.running.ports.storePages!
  const clientOf = (pem?: string, host?: string): Client => {
    const client = makeClient({ port, ca, ...(pem !== undefined && { pem }), ...(host !== undefined && { host }) })
    t.teardown(() => client.close())
    return client
  }
  const owner = clientOf(world.pemOf('owner'))
  const clients: Record<string, Client> = {
    ...{
      owner,
      reader: clientOf(world.pemOf('reader')),
      writer: clientOf(world.pemOf('writer')),
      anonymous: clientOf(),
    },
    'owner at another name': clientOf(world.pemOf('owner'), `evil.example:${port}`),
  }
  const path = new URL(dataset).pathname
  const data = `${path}/data?graph=${encodeURIComponent(`${base}doc/`)}`
  const put: Send = { fields: { 'Content-Type': 'application/n-triples' }, body: '<urn:s> <urn:p> "passed" .\n' }
  const sent = (fields: Record<string, string>): Send => ({ fields })
  t.equal((await world.as('owner')('PUT', '/doc/', ttl(turtle('"doc"')))).status, 201)
  const tga = 'urn:triplegate:access#'
  const described = `<#t> a <${tga}AccessToken> ; <http://purl.org/dc/terms/title> "rules" `
  const tokenOf = async (limit: string): Promise<Send> => {
    const made = await world.as('owner')('POST', '/admin/tokens', ttl(`${described}${limit} .`))
    return sent({ Authorization: `Bearer ${/tgt_\w[\w-]*/.exec(made.text)?.[0]}` })
  }
  const [whole, rules] = [await tokenOf(''), await tokenOf(`; <${tga}only> <${base}admin/>`)]
  // prettier-ignore
  const ROWS: [name: string, agent: string, method: string, target: string, send: Send, status: number][] = [
    ['the server', 'owner', 'GET', '/$/server', {}, 200],
    ['the server: a token of an agent with Control', 'anonymous', 'GET', '/$/server', whole, 200],
    ['the server: a token limited to the rules', 'anonymous', 'GET', '/$/server', rules, 403],
    ['HEAD of the server', 'owner', 'HEAD', '/$/ping', {}, 200],
    ['a graph', 'owner', 'GET', data, {}, 200],
    ['a result that claims to be a page', 'owner', 'GET', `${data.split('/data')[0]}/query?query=ASK{}&force-accept=text/html`, {}, 200],
    ['the pages', 'owner', 'GET', '/', { fields: { Accept: 'text/html' } }, 200],
    ['a page that the store does not have', 'owner', 'GET', '/nothing-here', {}, 404],
    ['the server: a writer has no Control', 'writer', 'GET', '/$/server', {}, 403],
    ['the server: a reader has no Control', 'reader', 'GET', '/$/server', {}, 403],
    ['the server: no credential', 'anonymous', 'GET', '/$/server', {}, 403],
    ['a graph: no Control', 'reader', 'GET', data, {}, 403],
    ['another host', 'owner at another name', 'GET', '/$/server', {}, 404],
    ['dot segments', 'owner', 'GET', '/x/../$/server', {}, 400],
    ['encoded dot segments', 'owner', 'GET', '/x/%2e%2e/$/server', {}, 400],
    ['an encoded slash', 'owner', 'GET', '/x%2f$/server', {}, 400],
    ['a backslash', 'owner', 'GET', '/x\\$/server', {}, 400],
    ['an empty segment', 'owner', 'GET', '//evil.example/', {}, 400],
    ['another authority', 'owner', 'GET', 'http://evil.example/', {}, 400],
    ['a page of another site', 'owner', 'GET', '/$/server', sent({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }), 403],
    ['a page of the gateway', 'owner', 'GET', '/$/server', sent({ Origin: new URL(base).origin, 'Sec-Fetch-Site': 'same-site' }), 403],
    ['a link on another site', 'owner', 'GET', '/$/server', sent({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }), 200],
    ['a link on another site to a query', 'owner', 'GET', '/$/server?query=SELECT', sent({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }), 403],
    ['a page of the store', 'owner', 'GET', '/$/server', sent({ Origin: `https://localhost:${port}`, 'Sec-Fetch-Site': 'same-origin' }), 200],
    ['a write', 'owner', 'PUT', data, put, mayWrite ? 200 : 405],
    ['a write without Control', 'writer', 'PUT', data, put, mayWrite ? 403 : 405],
    ['a write by a page of another site', 'owner', 'POST', '/$/backup/x', sent({ Origin: 'https://evil.example' }), mayWrite ? 403 : 405],
    ['a write by a form of another site', 'owner', 'POST', '/$/backup/x', sent({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }), mayWrite ? 403 : 405],
    ['administration that writes', 'owner', 'POST', '/$/backup/none', {}, mayWrite ? 400 : 405],
    ['an unsupported method', 'owner', 'TRACE', '/$/server', {}, 405],
  ]
  for (const [name, agent, method, target, send, status] of ROWS) {
    await row(t, 'fuseki', `${mayWrite ? 'with writes: ' : ''}${agent}: ${name}: ${status}`, async (t) => {
      const answer = await clients[agent]!(method, target, send)
      t.equal(answer.status, status, answer.text)
      t.notOk(answer.fields['set-cookie'], 'no cookie of the store')
      // The store's pages run scripts; its data does not.
      const policy = target === '/' ? "frame-ancestors 'none'" : "default-src 'none'; sandbox"
      if (status === 200)
        t.match(answer.fields, { 'cache-control': 'private, no-cache', 'content-security-policy': policy })
    })
  }
  if (!mayWrite) {
    await row(t, 'fuseki', 'nothing that identifies the client is sent, and no cookie or address is returned', (t) =>
      seen(t, world),
    )
    return
  }
  await row(t, 'fuseki', 'a write that passed shows in the next answer, and becomes a version', async (t) => {
    const reader = world.as('owner')
    t.match((await reader('GET', '/doc/', { fields: { Accept: 'application/n-triples' } })).text, /"passed"/)
    const listed = async (): Promise<string> =>
      (await reader('GET', '/doc/?timemap', { fields: { Accept: 'application/json' } })).text
    t.ok(await until(async () => (await listed()).includes('SWEEP')))
  })
}

/** The requests to a server that replaces the store. */
async function seen(t: Test, world: World): Promise<void> {
  const requests: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const left: string[] = []
  const server = createServer(({ method, url, headers }, response) => {
    requests.push({ url, headers })
    if (url === '/busy') return void response.writeHead(503, { 'Retry-After': '0', 'X-Other': 'x' }).end()
    if (url === '/slow') return void response.once('close', () => left.push(method!))
    if (url === '/none') return void response.writeHead(204).end()
    if (url === '/breaks') return void response.destroy()
    const fields = { 'Set-Cookie': 'a=b', 'Access-Control-Allow-Origin': '*', Server: 'inner', Location: '/ds/there?x' }
    response.writeHead(302, fields).end('moved')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const inner = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { gateway, certificates } = world.running
  const dataspace = gateway.dataspaces[0]!
  const credentials = { user: 'store', password: 'secret' }
  const service = { ...dataspace.endUser.service, graphStore: `${inner}/ds/data`, credentials }
  const dataspaces = [{ ...dataspace, endUser: { ...dataspace.endUser, service } }]
  const pages = storePages({ ...gateway, dataspaces }, { mayWrite: true, maxBytes: 1000 })!
  const common = { problemResponse, now: Date.now, nextId: () => 'id', host: 'localhost' }
  const listener = await listen({ ...common, port: 0, tls: certificates.server }, pages)
  const client = makeClient({ port: listener.port, ca: world.ca, pem: world.pemOf('owner') })
  t.teardown(async () => {
    client.close()
    await listener.close(100)
    await pages.close()
    server.close()
  })
  const fields = {
    ...{
      Cookie: 'session=x',
      'Client-Cert': ':AAAA:',
      'X-Forwarded-For': '1.2.3.4',
      Forwarded: 'for=1.2.3.4',
      Via: '1.1 x',
    },
    ...{
      Origin: `https://localhost:${listener.port}`,
      Referer: `https://localhost:${listener.port}/a`,
      Accept: 'text/turtle',
    },
  }
  const answer = await client('GET', '/%24/x?y=%2F..', { fields })
  t.equal(answer.status, 302, answer.text)
  const { url, headers } = requests[0]!
  t.equal(url, '/%24/x?y=%2F..')
  t.match(headers, { accept: 'text/turtle', authorization: `Basic ${Buffer.from('store:secret').toString('base64')}` })
  for (const name of Object.keys(fields)) if (name !== 'Accept') t.notOk(headers[name.toLowerCase()], name)
  t.equal(answer.fields.location, '/ds/there?x')
  for (const name of ['set-cookie', 'access-control-allow-origin', 'server']) t.notOk(answer.fields[name], name)
  t.notMatch(JSON.stringify(answer.fields), '127.0.0.1')

  const large: Send = { body: 'x'.repeat(1001), fields: { 'Content-Type': 'application/n-triples' } }
  const chunked: Send = { ...large, chunked: true }
  const ROWS: [name: string, method: string, path: string, send: Send, status: number, requests: number][] = [
    ['an answer with a delay is not requested again', 'GET', '/busy', {}, 503, 1],
    ['an answer without content', 'GET', '/none', {}, 204, 1],
    ['an answer that breaks off', 'GET', '/breaks', {}, 502, 1],
    ['a write without content', 'POST', '/none', {}, 204, 1],
    ['a write whose content is too large', 'POST', '/none', large, 413, 0],
    ['a write whose content proves too large while it arrives', 'POST', '/none', chunked, 413, 1],
    ['a method that nothing here has', 'PROPFIND', '/none', {}, 405, 0],
    ['an invalid media type', 'POST', '/none', { ...large, fields: { 'Content-Type': '?' } }, 400, 0],
  ]
  for (const [name, method, path, send, status, sent] of ROWS) {
    const before = requests.length
    const { status: found, fields, text } = await client(method, path, send)
    t.equal(found, status, `${name}: ${text}`)
    t.ok(requests.length - before <= sent, `${name}: the requests that reached the store`)
    t.notOk(fields['x-other'], name)
    if (path === '/busy') t.equal(fields['retry-after'], '0')
  }

  for (const method of ['POST', 'GET']) {
    const before = requests.length
    const leaving = makeClient({ port: listener.port, ca: world.ca, pem: world.pemOf('owner') })
    const given = leaving(method, '/slow').catch(() => undefined)
    await until(() => requests.length > before)
    leaving.close()
    await given
  }
  t.ok(await until(() => left.length > 0))
  t.same(left, ['GET'], 'a read is given up when its client leaves, and a write is not')
}
