// Shared caches in front of the gateway, with the template for nginx, the VCL for Varnish, and the real programs
// (design 5). A client gets the gateway's own answer of that moment, nothing private is stored, and writes purge what
// they change.
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { openEmbeddedStore } from '../../gateway/stores/embedded-store.js'
import { makeRandom } from '../crash/random.js'
import { makeClient, type Answer, type Client, type Send } from '../support/client.js'
import { QUERY_OR_POST } from '../support/query-method.js'
import { missing, ports, startNginx, startVarnish } from '../support/shared-caches.js'
import { rowsOf } from '../support/stores.js'
import { fileOf, upload } from '../support/upload.js'
import { makeWorld, ttl, turtle } from '../support/world.js'

const STEPS = 400
const SECRET = 'seCret4You'
const WAYS = ['gateway', 'nginx', 'Varnish'] as const
type Way = (typeof WAYS)[number]

const skip = missing('nginx', '-v') ?? missing('varnishd', '-V') ?? false
void t.test('behind nginx and Varnish', { skip }, async (t) => {
  const [gateway, tls, plain, cached] = (await ports(t, 4)) as [number, number, number, number]
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const trusting = ['--http', String(gateway), '--host', 'localhost', '--trusted-proxy', '127.0.0.1/32']
  const world = await makeWorld(t, stores, {
    flags: [...trusting, '--shared-cache', '--history', 'local', '--dataset-path', '/ds'],
  })
  const caches = {
    nginx: await startNginx(t, join(world.folder, 'certs/server.pem'), [tls, plain, gateway]),
    Varnish: await startVarnish(t, [cached, gateway]),
  }
  const row = rowsOf(t, 'embedded')
  const { host } = new URL(world.base)
  const owner = world.as('owner')

  const wanted = `[] a <urn:triplegate:access#AccessToken> ; <http://purl.org/dc/terms/title> "t" ; <http://www.w3.org/ns/auth/acl#agent> <${world.webIdOf('reader')}> .`
  const made = await owner('POST', '/admin/tokens', { ...ttl(wanted), fields: { 'Content-Type': 'text/turtle', Accept: 'application/n-triples' } }) // prettier-ignore
  const [, token = ''] = /#token> "(tgt_[^"]+)"/.exec(made.text) ?? []
  const AGENTS = ['anonymous', 'anonymous', 'anonymous', 'anonymous', 'reader', 'stranger', 'token', 'owner']
  const pems = new Map(['reader', 'stranger', 'owner'].map((name) => [name, world.pemOf(name)]))

  const clients = new Map<string, Client>()
  t.teardown(() => clients.forEach((client) => client.close()))
  const send = (way: Way, agent: string, method: string, target: string, given: Send = {}): Promise<Answer> => {
    const pem = pems.get(agent)
    const key = `${way} ${way === 'nginx' ? agent : ''}`
    const port = { gateway, nginx: tls, Varnish: cached }[way]
    const client = clients.get(key) ?? makeClient({ port, host, ...(way === 'nginx' && { ca: world.ca, ...(pem && { pem }) }) }) // prettier-ignore
    clients.set(key, client)
    // RFC 9440: the field that the TLS tier in front of Varnish and the gateway sends.
    const certificate = pem && way !== 'nginx' && { 'Client-Cert': `:${new X509Certificate(pem).raw.toString('base64')}:` } // prettier-ignore
    const bearer = agent === 'token' && { Authorization: `Bearer ${token}` }
    return client(method, target, { ...given, fields: { ...given.fields, ...certificate, ...bearer } })
  }

  const documents = ['/d0/', '/d1/', '/d2/']
  const opening = (path: string): string => `/admin/acl/authorizations/open-${path.slice(1, -1)}/`
  const open = (path: string, modes = 'acl:Read') =>
    ttl(`@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode ${modes} ;
      acl:accessTo <${world.origin}${path}> ; acl:agentClass <http://xmlns.com/foaf/0.1/Agent> .`)
  await owner('PUT', '/secret/', ttl(turtle(`"${SECRET}"`)))
  for (const path of documents) {
    await owner('PUT', path, ttl(turtle('"first"')))
    await owner('PUT', opening(path), open(path))
  }
  const uploaded = await owner('POST', '/d0/', upload('a file'))
  await owner('POST', '/secret/', upload(SECRET))
  await owner('PUT', opening('/sparql/'), open('/sparql'))
  const versions = await owner('GET', '/d1/?timemap', { fields: { Accept: 'application/link-format' } })
  const [, version = ''] = /<[^>]*(\/d1\/\?version=\w+)>/.exec(versions.text) ?? []
  const indirect = `/ds?graph=${encodeURIComponent(`${world.base}d0/`)}`
  const ofOne = `/sparql?query=${encodeURIComponent(`SELECT * { GRAPH <${world.base}d0/> { ?s ?p ?o } }`)}`
  const titles = `/sparql?query=${encodeURIComponent('SELECT ?g ?t WHERE { GRAPH ?g { ?g <http://purl.org/dc/terms/title> ?t } } ORDER BY ?g')}`
  // Streamed, without an entity-tag, since its result may be another each time.
  const streamed = `/sparql?query=${encodeURIComponent('SELECT ?g ?t WHERE { GRAPH ?g { ?g <http://purl.org/dc/terms/title> ?t } FILTER(RAND() < 2) } ORDER BY ?g')}`
  const targets = [...documents, ...documents, '/secret/', titles, streamed, fileOf('a file'), fileOf(SECRET), version, '/d1/?timemap', '/d9/'] // prettier-ignore

  await row('after random writes, an answer through them is the gateway’s own', async (t) => {
    t.match([made.status, uploaded.status, version], [201, 204, /^\/d1\//])
    const { one: pick, chance, between } = makeRandom(20261122)
    const seen = new Map<string, string>()
    const counts = { revalidated: { nginx: 0, Varnish: 0 }, allowed: 0, refused: 0 }
    const wrong: string[] = []
    for (let step = 0; step < STEPS; step++) {
      if (chance(0.3)) {
        const path = pick(documents)
        const way = pick(WAYS)
        const kind = between(0, 1)
        const written =
          kind < 0.4
            ? await send(way, 'owner', 'PUT', path, ttl(turtle(`"step ${step}"`)))
            : kind < 0.7
              ? await send(way, 'owner', 'PUT', opening(path), open(path))
              : kind < 0.95
                ? await send(way, 'owner', 'DELETE', opening(path))
                : await send(way, 'owner', 'DELETE', path)
        t.ok([200, 201, 204, 404].includes(written.status), `${way}: ${written.status} ${written.text}`)
      }
      const [agent, target, method] = [pick(AGENTS), pick(targets), pick(['GET', 'GET', 'GET', 'HEAD'])]
      // The page of a query contains the time that the query took.
      const Accept = [titles, streamed].includes(target)
        ? 'text/csv'
        : pick(['text/turtle', 'text/html', 'application/n-triples', '*/*'])
      const coding = chance(0.3) && { 'Accept-Encoding': 'gzip' }
      const known = chance(0.3) ? seen.get(`${target} ${Accept} ${agent}`) : undefined
      const fields = { Accept, ...coding, ...(known !== undefined && { 'If-None-Match': known }) }
      const [own, ...others] = await Promise.all(WAYS.map((way) => send(way, agent, method, target, { fields })))
      counts[own!.status < 400 ? 'allowed' : 'refused']++
      if (own!.fields.etag) seen.set(`${target} ${Accept} ${agent}`, own!.fields.etag)
      for (const [i, other] of others.entries()) {
        const way = (['nginx', 'Varnish'] as const)[i]!
        const status = String(other.fields['cache-status'])
        if (status.includes('fwd-status=304')) counts.revalidated[way]++
        const isKept = agent !== 'anonymous' && status.includes('stored')
        // A commit may have changed the history between the three answers: then the answer is compared with the
        // gateway's own a moment later.
        const ask = (): Promise<Answer> => send('gateway', agent, method, target, { fields })
        if (isKept || (differs(own!, other) && differs(await ask(), other))) wrong.push(`step ${step}: ${way} ${agent} ${method} ${target} ${JSON.stringify(fields)}: ${shown(other)} in place of ${shown(own!)}; ${status}`) // prettier-ignore
      }
    }
    t.strictSame(wrong, [])
    t.ok(counts.allowed > STEPS / 4 && counts.refused > STEPS / 20, JSON.stringify(counts))
    t.ok(counts.revalidated.nginx > 2 && counts.revalidated.Varnish > 2, JSON.stringify(counts))
  })

  await row('nothing private is stored, and everything public is', async (t) => {
    await owner('PUT', '/d2/', ttl(turtle('"for everyone"')))
    await owner('PUT', opening('/d2/'), open('/d2/'))
    for (const way of WAYS) await send(way, 'anonymous', 'GET', '/d2/', { fields: { Accept: 'text/turtle' } })
    for (const [name, cache] of Object.entries(caches)) {
      const stored = cache.stored()
      t.notOk(stored.includes(SECRET), `${name}: private`)
      t.ok(stored.includes('for everyone'), `${name}: public`)
    }
  })

  await row('they store nothing that they cannot ask about, as a result that is streamed', async (t) => {
    await owner('PUT', opening('/d0/'), open('/d0/'))
    for (const title of ['"before"', '"after"']) {
      await owner('PUT', '/d0/', ttl(turtle(title)))
      for (const way of [...WAYS, ...WAYS]) {
        const answer = await send(way, 'anonymous', 'GET', streamed, { fields: { Accept: 'text/csv' } })
        t.match(answer, { status: 200, fields: { etag: undefined, 'cache-control': 'public, no-cache' } }, way)
        t.ok(answer.text.includes(title.slice(1, -1)), `${way}: ${title}`)
      }
    }
    await owner('DELETE', opening('/d0/'))
    for (const way of WAYS)
      t.notMatch((await send(way, 'anonymous', 'GET', streamed, { fields: { Accept: 'text/csv' } })).text, /before|after/, `${way}: withdrawn`) // prettier-ignore
  })

  await row('a write through Varnish purges its document; a write of the rules purges everything public', async (t) => {
    for (const path of ['/d0/', '/d1/']) {
      await owner('PUT', path, ttl(turtle('"known"')))
      await owner('PUT', opening(path), open(path))
    }
    const statusOf = async (path: string): Promise<string> => {
      const { fields } = await send('Varnish', 'anonymous', 'GET', path, { fields: { Accept: 'text/turtle' } })
      return String(fields['cache-status']).replace(/^.*Varnish; /, '')
    }
    const again = async (): Promise<string[]> => [await statusOf('/d0/'), await statusOf('/d1/')]
    const [stored, validated] = ['fwd=miss; stored', 'fwd=stale; fwd-status=304; stored']
    await again()
    t.strictSame(await again(), [validated, validated])
    t.strictSame([await statusOf(indirect), await statusOf(indirect)], [stored, validated])
    // The gateway refuses it: nothing is purged.
    t.equal((await send('Varnish', 'anonymous', 'PUT', '/d0/', ttl(turtle('"x"')))).status, 403)
    t.strictSame(await again(), [validated, validated])
    for (const method of ['POST', QUERY_OR_POST]) {
      const query = { fields: { 'Content-Type': 'application/sparql-query' }, body: 'ASK {}' }
      const asked = await send('Varnish', 'anonymous', method, '/sparql', query)
      t.match(asked, { status: 200, fields: { 'cache-group-invalidation': undefined } })
    }
    t.strictSame(await again(), [validated, validated], 'a query purges nothing')
    const written = await send('Varnish', 'owner', 'PUT', '/d0/', ttl(turtle('"known"')))
    t.match(written.fields, { 'cache-group-invalidation': '"/d0/"' })
    t.equal(await statusOf(indirect), stored, 'the document at another URL')
    t.strictSame(await again(), [stored, validated])
    await send('Varnish', 'owner', 'PUT', opening('/d2/'), open('/d2/'))
    t.strictSame(await again(), [stored, stored])
  })

  // prettier-ignore
  await row('the fields that the gateway sends to them', async (t) => {
    const read = (agent: string, target: string) => send('gateway', agent, 'GET', target, { fields: { Accept: 'text/turtle' } })
    await read('anonymous', '/d0/')
    const all = '"public"'
    t.match((await read('anonymous', '/d0/')).fields, { 'cache-status': 'Triplegate; hit', 'cache-groups': `"/d0/", ${all}`, 'x-accel-expires': '@1' })
    t.match((await read('reader', '/d0/')).fields, { 'cache-status': 'Triplegate; hit', 'cache-groups': undefined, 'x-accel-expires': undefined })
    t.match((await read('anonymous', '/secret/')).fields, { 'cache-status': undefined, 'cache-groups': undefined })
    await owner('PUT', '/d0/', ttl(turtle('"new"')))
    const first = await send('gateway', 'anonymous', 'GET', `${titles}%20`)
    t.match(first.fields, { 'cache-status': 'Triplegate; fwd=miss', 'cache-groups': `"/sparql", ${all}` })
    const again = await send('gateway', 'anonymous', 'GET', `${titles}%20`)
    t.same({ ...again.fields, date: undefined }, { ...first.fields, date: undefined }, 'a result over what an agent may read tells nobody that it was asked for before')
    for (const status of ['fwd=miss', 'hit'])
      t.match((await send('gateway', 'anonymous', 'GET', ofOne)).fields, { 'cache-status': `Triplegate; ${status}`, 'cache-groups': `"/sparql", ${all}`, 'x-accel-expires': '@1' })
    for (const target of [indirect, indirect, '/d0/', `${indirect}&timemap`])
      t.match((await read('anonymous', target)).fields, { 'cache-groups': `"/d0/", ${all}` }, target)
    t.match((await owner('PUT', '/d0/', ttl(turtle('"newer"')))).fields, { 'cache-group-invalidation': '"/d0/"' })
    t.match((await owner('DELETE', opening('/d2/'))).fields, { 'cache-group-invalidation': all })
    t.match((await owner('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-update' }, body: `INSERT DATA { GRAPH <${world.base}d0/> { <urn:x> <urn:x> <urn:x> } }` })).fields, { 'cache-group-invalidation': all })
    const form = (values: Record<string, string>) => owner('POST', '/d0/?form=add', { fields: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: world.base.slice(0, -1) }, body: new URLSearchParams({ content: '<#a> <urn:b> <urn:c> .', ...values }).toString() })
    const [preview, saved] = [await form({ do: 'preview' }), await form({ do: 'save' })]
    t.match([preview, saved], [{ status: 200, fields: { 'cache-group-invalidation': undefined } }, { status: 303, fields: { 'cache-group-invalidation': all } }])
    t.match((await send('gateway', 'anonymous', 'PUT', '/d0/', ttl(''))).fields, { 'cache-group-invalidation': undefined })
  })
})

const shown = ({ status, fields, text }: Answer): string => `${status} ${fields.etag ?? ''} ${text.slice(0, 300)}`

/**
 * nginx may send the whole content if the client has it in another coding; Varnish and nginx omit fields of the
 * connection.
 */
function differs(own: Answer, other: Answer): boolean {
  const isWhole = own.status === 304 && other.status === 200
  if (own.status !== other.status && !isWhole) return true
  if (own.status >= 400) return false
  if (own.fields.etag !== other.fields.etag) return true
  return own.status === 200 && (own.text !== other.text || own.fields['content-type'] !== other.fields['content-type'])
}
