// Pages of other origins (design 3): preflights, tokens, and the origins that the operator allows. The two applications
// of one dataspace may have different origins too (design 2).
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { accountPage } from '../../../gateway/pages/account-page.js'
import { textsIn } from '../../../gateway/pages/languages.js'
import { openBrowser } from '../../support/browser.js'
import { freePort } from '../../support/ports.js'
import { rowsOf } from '../../support/stores.js'
import { until } from '../../support/wait.js'
import { makeWorld, turtle, type World } from '../../support/world.js'

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

const browser = await openBrowser(t)

/** A dataspace whose admin application has another origin (design 2). */
async function apart(t: Test): Promise<{ readonly world: World; readonly adminBase: string }> {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const port = String(await freePort())
  const adminBase = `https://127.0.0.1:${port}/`
  return { world: await makeWorld(t, { endUser, admin }, { flags: ['--https', port, '--admin-base', adminBase] }), adminBase } // prettier-ignore
}

void t.test('the form that gives a right, sent to either application', async (t) => {
  const row = rowsOf(t, 'none')
  const { world, adminBase } = await apart(t)
  const { base, origin: own } = world
  const other = new URL(adminBase).origin
  // prettier-ignore
  const sent: readonly (readonly [by: string, who: string, at: string, origin: string, site: string, status: number])[] = [
    ['a page of the same application',    'owner',     base,      own,    'same-origin', 303],
    ['a page of the admin application',   'owner',     adminBase, other,  'same-origin', 303],
    ['a browser without Sec-Fetch-Site',  'owner',     base,      own,    '',            303],
    ['a page of another origin',          'owner',     base,      OTHER,  'cross-site',  403],
    ['a page of another host of a site',  'owner',     base,      OTHER,  'same-site',   403],
    ['a page without an origin',          'owner',     base,      'null', 'cross-site',  403],
    ['the other application, cross-site', 'owner',     adminBase, own,    'cross-site',  403],
    ['a program',                         'owner',     base,      '',     '',            403],
    ['an agent without Control',          'writer',    base,      own,    'same-origin', 403],
    ['an anonymous client',               'anonymous', base,      own,    'same-origin', 403],
  ]
  const form = { to: 'agent', who: world.webIdOf('stranger'), mode: 'Read', on: 'document', document: `${base}x/` }
  for (const [by, who, at, origin, site, status] of sent) {
    await row(`by ${by}: ${status}`, async (t) => {
      const marks = { ...(origin && { Origin: origin }), ...(site && { 'Sec-Fetch-Site': site }) }
      const fields = { 'Content-Type': 'application/x-www-form-urlencoded', ...marks }
      const answer = await world.as(who)('POST', `${at}access`, { fields, body: new URLSearchParams(form).toString() })
      t.equal(answer.status, status, answer.text)
      if (status === 303) t.equal(answer.fields.location, `${at}access?this=${encodeURIComponent(form.document)}`)
    })
  }
})

void t.test('design 4: an agent creates access tokens for itself only, through ?uri= too', async (t) => {
  const row = rowsOf(t, 'none')
  const { world, adminBase } = await apart(t)
  const [delegate, principal] = [world.webIdOf('stranger'), world.webIdOf('writer')]
  const delegates = `<${delegate}> <http://www.w3.org/ns/auth/acl#delegates> <${principal}> .`
  await world.as('owner')('POST', principal.replace(/#.*/, ''), { fields: TTL, body: delegates })
  const body = '<#t> a <urn:triplegate:access#AccessToken> ; <http://purl.org/dc/terms/title> "mine" .'
  const [directly, through] = [`${adminBase}tokens`, `${world.base}?uri=${adminBase}tokens`]
  // prettier-ignore
  const rows: readonly (readonly [name: string, who: string, url: string, onBehalfOf: string, status: number])[] = [
    ['the agent itself',               'writer',   directly, '',        201],
    ['the agent itself, through ?uri=', 'writer',   through,  '',        201],
    ['a delegate',                     'stranger', directly, principal, 403],
    ['a delegate, through ?uri=',      'stranger', through,  principal, 403],
  ]
  for (const [name, who, url, onBehalfOf, status] of rows) {
    await row(`${name}: ${status}`, async (t) => {
      const fields = { ...TTL, ...(onBehalfOf && { 'On-Behalf-Of': onBehalfOf }) }
      const answer = await world.as(who)('POST', url, { fields, body })
      t.equal(answer.status, status, answer.text)
      if (status === 403) t.match(answer.text, 'for itself only')
      const line = world.log.filter(({ method, path }) => method === 'POST' && String(path).endsWith('/tokens')).at(-1)!
      const acting = onBehalfOf ? delegate : undefined
      t.same([line.status, line.agent, line.delegate], [status, principal, acting], 'the log has both')
    })
  }
})

void t.test('buttons on pages about access', { skip: browser ? false : 'there is no chromium' }, async (t) => {
  const row = rowsOf(t, 'none')
  const { world, adminBase } = await apart(t)
  const acl = 'http://www.w3.org/ns/auth/acl#'
  const pem = Buffer.from(world.pemOf('owner'))
  const clientCertificates = [world.base, adminBase].map((url) => ({
    origin: new URL(url).origin,
    cert: pem,
    key: pem,
  }))
  const { page, reports } = await browser!.visitor(world, 'owner', { clientCertificates })
  // prettier-ignore
  const pages: readonly (readonly [button: string, base: string, about: boolean, status: number])[] = [
    ['Give access', world.base, true,  200],
    ['Give access', adminBase,  true,  200],
    ['Grant',       world.base, false, 200],
    ['Grant',       adminBase,  false, 200],
    ['Grant',       world.base, true,  200],
    ['Refuse',      world.base, false, 403],
    ['Refuse',      adminBase,  false, 403],
  ]
  for (const [button, base, about, status] of pages) {
    await row(`${button} at ${base}${about ? ', about a document' : ''}`, async (t) => {
      const path = world.freshPath()
      const url = world.origin + path
      await world.as('owner')('PUT', path, { fields: TTL, body: turtle('"x"') })
      const body = `[] a <${acl}Authorization> ; <${acl}mode> <${acl}Read> ; <${acl}accessTo> <${url}> .`
      if (button !== 'Give access') await world.as('stranger')('POST', '/access/request', { fields: TTL, body })
      await page.goto(`${base}access${about ? `?this=${encodeURIComponent(url)}` : ''}`)
      if (button === 'Give access') await page.getByLabel('WebID or IRI').fill(world.webIdOf('stranger'))
      await page.getByRole('button', { name: button }).click()
      await until(async () => (await world.as('stranger')('GET', path)).status === status)
      await page.waitForURL(button === 'Give access' ? `${base}access?this=**` : `${base}access`)
      t.equal(await page.getByRole('button', { name: 'Refuse' }).count(), 0)
      t.same(reports, [])
    })
  }
})

void t.test('the page after logging out has the origin of the page before', (t) => {
  const [end, below, other] = ['https://a.example/', 'https://a.example/admin/', 'https://b.example/']
  const rows: readonly (readonly [base: string, admin: string, next: string])[] = [
    [end, below, end],
    [below, below, end],
    [end, other, end],
    [other, other, `${other}access`],
  ]
  for (const [base, admin, next] of rows) {
    const site = { base, home: end, admin, title: 'a.example', styles: [], icon: '', logo: '', script: '' }
    const { html } = accountPage({
      frame: { site, texts: textsIn('en', {}), isIdentified: true },
      ...{ agent: `${admin}a/#this`, name: undefined, by: 'session', signUp: undefined, providers: [] },
      ...{ returnTo: undefined, hasTokens: false, waiting: null },
    })
    t.match(html, `action="${base}oauth2/login?logout&amp;return=${encodeURIComponent(next)}"`, base)
  }
  t.end()
})
