// The link that logs the owner in: once, for ten minutes, over TLS, and for accounts that may read the data folder.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runCommand } from '../../../../gateway/run-command.js'
import { LOGIN_LINKS, makeLoginLinks } from '../../../../gateway/identity/login-links.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { makeServerCertificate } from '../../../../gateway/agents/make-certificate.js'
import { makeClient, type Answer } from '../../../support/client.js'
import { freePort } from '../../../support/ports.js'
import { rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl, turtle } from '../../../support/world.js'

type Fields = Readonly<Record<string, string>>

const TEN_MINUTES = 600_000
const HTML = { Accept: 'text/html' }

void t.test('the link that logs the owner in', async (t) => {
  const row = rowsOf(t, 'none')
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const management = await freePort()
  const world = await makeWorld(t, stores, { flags: ['--management', String(management)] })
  const { gateway, dataspaces } = world.running
  const anonymous = world.as('anonymous')
  const [own] = [{ Origin: world.origin, 'Sec-Fetch-Site': 'same-origin' }]

  const command = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
    const [out, err]: [string[], string[]] = [[], []]
    const terminal = {
      out: (text: string | Buffer) => void out.push(String(text)),
      error: (text: string) => void err.push(text),
      waiting: () => undefined,
      interactive: false,
      now: Date.now,
    }
    const code = await runCommand(['login-link', ...args], {}, terminal)
    return { code, out: out.join(''), err: err.join('') }
  }
  const here = ['--data', world.folder, '--management', String(management)]
  const freshLink = (): string => LOGIN_LINKS.of(gateway).make(dataspaces[0]!)!.slice(world.origin.length)
  const ask = (method: string, path: string, fields: Fields = {}): Promise<Answer> =>
    anonymous(method, path, { fields })
  const sessionOf = ({ fields }: Answer): string =>
    (fields['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]!).find((pair) => !pair.endsWith('=')) ?? ''
  const agentOf = ({ fields }: Answer): string | undefined =>
    /<([^>]*)>; rel="?http:\/\/www\.w3\.org\/ns\/auth\/acl#agent/.exec(String(fields.link))?.[1]

  await row('the page of the link has one button; the POST begins a session of the owner', async (t) => {
    const link = freshLink()
    t.match(link, /^\/oauth2\/login\?link=[\w-]{43}$/, '256 random bits')
    for (const method of ['GET', 'HEAD', 'GET']) {
      const page = await ask(method, link, HTML)
      t.equal(page.status, 200)
      t.match(page.fields, { 'cache-control': 'no-store', 'referrer-policy': 'strict-origin', 'set-cookie': undefined })
      if (method === 'GET') t.equal(page.text.match(/<button/g)?.length, 1)
    }
    const begun = await ask('POST', link, own)
    t.equal(begun.status, 303)
    t.equal(begun.fields.location, world.base)
    t.match(begun.fields, { 'cache-control': 'no-store', 'referrer-policy': 'strict-origin' })
    t.match(
      String(begun.fields['set-cookie']),
      /^__Host-triplegate-[0-9a-f]{8}=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
    )
    const session = { Cookie: sessionOf(begun), ...own }
    t.equal(agentOf(await ask('GET', '/', session)), world.ownerWebId)
    const put = await anonymous('PUT', '/by-link/', {
      fields: { ...session, ...ttl('').fields },
      body: turtle('"by a link"'),
    })
    t.equal(put.status, 201)
    t.match((await ask('GET', '/access', { ...session, ...HTML })).text, /log-in<\/dd>[^]*Log out/)
    t.equal((await ask('POST', '/oauth2/login?logout', session)).status, 204)
    t.equal(agentOf(await ask('GET', '/', session)), undefined, 'a copy of the cookie is useless')
  })

  await row('the page about the client names what has identified it, and ends only a session', async (t) => {
    const session = sessionOf(await ask('POST', freshLink(), own))
    const unproven = await makeServerCertificate(['ann.example'], Date.now())
    const withCertificate = makeClient({ port: Number(new URL(world.base).port), ca: world.ca, pem: unproven })
    t.teardown(() => withCertificate.close())
    const described = ttl(`<#t> a <urn:triplegate:access#AccessToken> ; <http://purl.org/dc/terms/title> "t" .`)
    const created = await world.as('owner')('POST', '/admin/tokens', described)
    const Authorization = `Bearer ${/"(tgt_[^"]+)"/.exec(created.text)?.[1] ?? ''}`
    // prettier-ignore
    const rows: [name: string, send: typeof anonymous, fields: Fields, by: RegExp, isSession: boolean][] = [
      ['a session', anonymous, { Cookie: session }, /log-in<\/dd>/, true],
      ['a session beside a certificate without a WebID', withCertificate, { Cookie: session }, /log-in<\/dd>/, true],
      ['a certificate beside a session', world.as('owner'), { Cookie: session }, /client certificate<\/dd>/, false],
      ['a token beside a session', anonymous, { Cookie: session, Authorization }, /token<\/dd>/, false],
    ]
    for (const [name, send, fields, by, isSession] of rows) {
      const { status, text } = await send('GET', '/access', { fields: { ...fields, ...HTML } })
      t.equal(status, 200, name)
      t.match(text, by, name)
      t.equal(text.includes('?logout'), isSession, name)
    }
  })

  await row('of ten simultaneous requests, one begins a session', async (t) => {
    const link = freshLink()
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('POST', link, own)))
    t.same(answers.map(({ status }) => status).sort(), [303, ...Array.from({ length: 9 }, () => 400)].sort())
    t.equal((await ask('GET', link, HTML)).status, 400, 'its page is gone too')
  })

  const other = 'A'.repeat(43)
  const refusals: readonly (readonly [name: string, link: (fresh: string) => string, fields?: Fields, status?: number])[] = [
    ['another secret', () => `/oauth2/login?link=${other}`],
    ['no secret', () => '/oauth2/login?link='],
    ['the secret and more', (fresh) => `${fresh}A`],
    ['a part of the secret', (fresh) => fresh.slice(0, -1)],
    ['a form of another site', (fresh) => fresh, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['a form without an origin', (fresh) => fresh, { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }, 403],
  ] // prettier-ignore
  for (const [name, linkOf, fields = own, status = 400] of refusals)
    await row(`${name}: ${status}, and the link still works`, async (t) => {
      const fresh = freshLink()
      const refused = await ask('POST', linkOf(fresh), fields)
      t.equal(refused.status, status)
      t.equal(sessionOf(refused), '')
      t.equal((await ask('POST', fresh, own)).status, 303)
    })

  await row('a new link replaces the last one', async (t) => {
    const [first, second] = [freshLink(), freshLink()]
    t.equal((await ask('POST', first, own)).status, 400)
    t.equal((await ask('POST', second, own)).status, 303)
  })

  await row('after ten minutes it is useless; its session lasts as long as others', async (t) => {
    const [used, late] = [await ask('POST', freshLink(), own), freshLink()]
    world.passTime(TEN_MINUTES)
    const refused = await ask('POST', late, { ...own, ...HTML })
    t.equal(refused.status, 400)
    t.match(refused.text, /triplegate login-link/)
    const session = { Cookie: sessionOf(used) }
    t.equal(agentOf(await ask('GET', '/', session)), world.ownerWebId)
    world.passTime(43_200_000)
    t.equal(agentOf(await ask('GET', '/', session)), undefined)
  })

  await row('without TLS there is no link', (t) => {
    const plain = { endUser: { base: 'http://localhost/' }, admin: { base: 'http://localhost/admin/' } }
    t.equal(makeLoginLinks(Date.now).make(plain), undefined)
  })

  await row('triplegate login-link prints a link that works', async (t) => {
    for (const args of [[], [world.base]]) {
      const { code, out, err } = await command(...args, ...here)
      t.same([code, err], [0, ''])
      t.ok(out.startsWith(`${world.base}oauth2/login?link=`) && out.endsWith('\n'))
      t.equal((await ask('POST', out.trim().slice(world.origin.length), own)).status, 303)
    }
  })

  const elsewhere = String(await freePort())
  const wrong: readonly (readonly [name: string, args: readonly string[], code: number, message: RegExp])[] = [
    ['another dataspace', ['https://example.org/', ...here], 3, new RegExp(`Give the base of a dataspace: ${world.base}`)],
    ['not a URL', ['example', ...here], 2, /is not a base URL/],
    ['another data folder', ['--data', join(world.folder, 'none'), '--management', String(management)], 3, /no gateway has started with this data folder/],
    ['no gateway', ['--data', world.folder, '--management', elsewhere], 3, /no gateway answers at the management port/],
    ['no management port', ['--data', world.folder, '--management', 'off'], 3, /--management is off/],
  ] // prettier-ignore
  for (const [name, args, code, message] of wrong)
    await row(`${name}: exit code ${code}`, async (t) => {
      t.match(await command(...args), { code, out: '', err: message })
    })

  await row('other accounts of the machine get no link: only the owner of the data folder reads the key', async (t) => {
    const file = join(world.folder, 'operators-key')
    t.equal(statSync(file).mode & 0o777, 0o600)
    const url = `http://127.0.0.1:${management}/login-link`
    const send = async (headers: Fields): Promise<number> => (await fetch(url, { method: 'POST', headers })).status
    const key = `Bearer ${readFileSync(file, 'utf8').trim()}`
    t.equal(await send({ 'Triplegate-Management': '1' }), 401)
    t.equal(await send({ 'Triplegate-Management': '1', Authorization: `Bearer ${other}` }), 401)
    t.equal(await send({ Authorization: key }), 403, 'a page of a browser cannot set the field')
    t.equal(await send({ 'Triplegate-Management': '1', Authorization: key }), 200)
  })

  await row('no secret is in the log or the data folder', async (t) => {
    const link = freshLink()
    for (const method of ['GET', 'POST', 'POST']) await ask(method, link, { ...own, ...HTML })
    const secret = link.split('=')[1]!
    t.notOk(JSON.stringify(world.log).includes(secret))
    t.notOk(JSON.stringify(gateway.recent).includes(secret))
    const files = readdirSync(world.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    for (const { parentPath, name } of files) t.notOk(readFileSync(join(parentPath, name)).includes(secret), name)
  })
})
