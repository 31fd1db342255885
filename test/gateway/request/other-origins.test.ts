// Browser applications of other origins (design 3): preflights, tokens, and the origins that the operator allows.
import t from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { rowsOf } from '../../support/stores.js'
import { makeWorld, turtle } from '../../support/world.js'

const TTL = { 'Content-Type': 'text/turtle' }
const APP = 'https://app.example.org'
const OTHER = 'https://other.example.org'

void t.test('pages of other origins', async (t) => {
  const row = rowsOf(t, 'none')
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--allow-origin', APP] })
  const writer = world.as('writer')

  const preflights: [target: string, status: number][] = [
    ['/doc/', 204],
    ['/doc', 204],
    ['/doc?accept=text/turtle', 204],
    ['/a//b', 400],
  ]
  for (const [target, status] of preflights) {
    await row(`Fetch §4.8: a preflight of ${target} → ${status}`, async (t) => {
      const fields = { Origin: OTHER, 'Access-Control-Request-Method': 'PUT' }
      const answer = await world.as('anonymous')('OPTIONS', target, { fields })
      t.equal(answer.status, status)
      if (status !== 204) return
      t.match(answer.fields['access-control-allow-methods'], 'PUT')
      // Solid clients send `Link` with PUT and `Slug` with POST. They should be able to read a refusal.
      const allowed = String(answer.fields['access-control-allow-headers']).split(', ')
      for (const name of ['Authorization', 'DPoP', 'Link', 'Slug', 'Prefer', 'On-Behalf-Of'])
        t.ok(allowed.includes(name), name)
    })
  }
  await row('a write with the certificate of the browser: by an allowed origin only', async (t) => {
    for (const [origin, status] of [
      [APP, 201],
      [OTHER, 403],
      ['null', 403],
      [`${APP}.evil.test`, 403],
    ] as const) {
      const fields = { ...TTL, Origin: origin, 'Sec-Fetch-Site': 'cross-site' }
      t.equal((await writer('PUT', world.freshPath(), { fields, body: turtle('"x"') })).status, status, origin)
    }
  })
  await row('browsers do not add tokens by themselves, so an invalid token gets 401, not 403', async (t) => {
    for (const scheme of ['Bearer', 'bearer', 'DPoP']) {
      const fields = { ...TTL, Origin: OTHER, 'Sec-Fetch-Site': 'cross-site', Authorization: `${scheme} x` }
      const answer = await world.as('anonymous')('PUT', '/doc/', { fields, body: '' })
      t.equal(answer.status, 401, scheme)
      t.match(answer.fields['www-authenticate'], 'Bearer error="invalid_token"')
    }
    const fields = { ...TTL, Origin: OTHER, Authorization: 'Basic YTpi' }
    t.equal((await writer('PUT', '/doc/', { fields, body: '' })).status, 403, 'a browser adds Basic by itself')
  })
  await row(
    'an allowed origin reads answers with credentials, others read what is public; Vary separates them',
    async (t) => {
      const path = world.freshPath()
      await writer('PUT', path, { fields: TTL, body: turtle('"x"') })
      for (const method of ['GET', 'HEAD', 'GET'] as const) {
        const allowed = await writer(method, path, { fields: { Origin: APP } })
        t.equal(allowed.fields['access-control-allow-origin'], APP)
        t.equal(allowed.fields['access-control-allow-credentials'], 'true')
        const other = await writer(method, path, { fields: { Origin: OTHER } })
        t.equal(other.fields['access-control-allow-origin'], '*')
        t.equal(other.fields['access-control-allow-credentials'], undefined)
        for (const { fields } of [allowed, other]) t.match(fields.vary, /Origin/)
      }
      const refused = await world.as('stranger')('GET', '/admin/', { fields: { Origin: APP } })
      t.same([refused.status, refused.fields['access-control-allow-origin']], [403, APP], 'errors too')
    },
  )
})

void t.test('GET and HEAD tell a client how it may write', async (t) => {
  const row = rowsOf(t, 'none')
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin })
  const path = world.freshPath()
  await world.as('writer')('PUT', path, { fields: TTL, body: turtle('"x"') })

  for (const method of ['GET', 'HEAD'] as const) {
    await row(`${method}: Allow, Accept-Post, Accept-Patch, WAC-Allow`, async (t) => {
      const { fields } = await world.as('writer')(method, path)
      t.equal(fields['allow'], 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
      t.match(fields['accept-post'], /text\/turtle/)
      t.equal(fields['accept-patch'], 'application/sparql-update')
      t.match(fields['wac-allow'], /^user="[a-z ]*write[a-z ]*",public=""$/)
      const owner = await world.as('owner')(method, new URL(world.ownerWebId).pathname)
      t.equal(owner.fields['allow'], 'GET, HEAD, OPTIONS', 'spec 4.1: the owner’s document')
    })
  }
  await row('WAC-Allow names the modes of everyone', async (t) => {
    const { fields } = await world.as('anonymous')('GET', new URL(world.ownerWebId).pathname)
    t.equal(fields['wac-allow'], 'user="read",public="read"')
  })
  await row('RFC 8288: the targets of Link are http or https', async (t) => {
    const { fields } = await world.as('writer')('GET', path)
    for (const [, target] of String(fields['link']).matchAll(/<([^>]*)>/g)) t.match(target, /^https?:/)
  })
})
