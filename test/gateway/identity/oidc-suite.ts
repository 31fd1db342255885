// The rows of oidc.test.ts: log-in, session, log-out, tokens, proofs of possession, delegation, and attacks on each.
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EncryptJWT, exportJWK, generateKeyPair, SignJWT, type JSONWebKeySet, type JWTPayload } from 'jose'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { faultLine } from '../../../gateway/configuration/faults.js'
import { readProviders } from '../../../gateway/configuration/identity-providers.js'
import { parseSettings } from '../../../gateway/configuration/settings.js'
import { cookieName } from '../../../gateway/identity/cookies.js'
import { makeOidcClient } from '../../../gateway/identity/provider-client.js'
import { openSessionKeys } from '../../../gateway/identity/session-keys.js'
import { mayReadState } from '../../../gateway/request/decide-on-state.js'
import type { Context } from '../../../gateway/request/context.js'
import { openIdentities } from '../../../gateway/start/open-identities.js'
import { makeGuardedFetch } from '../../../policies/fetch/guarded-fetch.js'
import type { ReadProfile } from '../../../policies/identity/webid.js'
import { failure, isFailure, type Failure } from '../../../policies/failure.js'
import { makeTokenVerifier } from '../../../policies/identity/bearer-token.js'
import { makeProofCheck } from '../../../policies/identity/dpop.js'
import { makeSessions } from '../../../policies/identity/session.js'
import type { Answer } from '../../support/client.js'
import { makeIdentityProvider, makeProofKey } from '../../support/identity-provider.js'
import { rowsOf, type Row } from '../../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../../support/world.js'
import { oneOrder } from './one-order.js'

const HOUR = 3_600_000
const LOGIN_PATH = '/admin/oauth2/login'
const CALLBACK = '/admin/oauth2/authorize/test'
const AGENT = /<([^>]+)>; rel="http:\/\/www.w3.org\/ns\/auth\/acl#agent"/

const cookiesOf = ({ fields }: Answer): Map<string, { value: string; line: string }> =>
  new Map(
    (fields['set-cookie'] ?? []).map((line) => {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      return [name!, { value: value!, line }]
    }),
  )
const agentIn = ({ fields }: Answer): string | undefined => AGENT.exec(String(fields.link))?.[1]
const withCookie = (name: string, value: string) => ({ fields: { Cookie: `${name}=${value}` } })

void t.test('identity providers', { timeout: 600_000 }, async (t) => {
  const provider = await makeIdentityProvider(t)
  const { issuer, people } = provider
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const pairs = {
    issuer,
    'client-id': 'gateway',
    'client-secret': 'a secret of the client',
    name: 'test',
    audience: 'https://data.example.org/',
  }
  const flags = [
    ...Object.entries(pairs).flatMap(([name, value]) => [`--oidc-${name}`, value]),
    ...['--allow-fetch', '127.0.0.1', '--allow-fetch', '::1'],
  ]
  const world = await makeWorld(t, { endUser, admin }, { flags })
  const bases = [world.base, `${world.base}admin/`]
  provider.register(
    pairs['client-id'],
    pairs['client-secret'],
    bases.map((base) => `${base}oauth2/authorize/test`),
  )
  const namesIn = ({ running }: World): readonly [session: string, login: string] => {
    const [dataspace] = running.dataspaces
    const place = { application: dataspace!.endUser, dataspace: dataspace! }
    return [cookieName('session', place), cookieName('login', place)]
  }
  const [SESSION, LOGIN] = namesIn(world)
  const anonymous = world.as('anonymous')
  const pathOf = (url: string): string => url.slice(world.origin.length)

  const begin = async (query = ''): Promise<{ location: string; cookie: string; answer: Answer }> => {
    const answer = await anonymous('GET', `${LOGIN_PATH}?provider=test${query}`)
    return { answer, location: answer.fields.location ?? '', cookie: cookiesOf(answer).get(LOGIN)?.value ?? '' }
  }
  const logIn = async (subject: string, query = '', before = ''): Promise<{ answer: Answer; session: string }> => {
    const { location, cookie } = await begin(query)
    const back = await provider.visit(location, subject)
    const answer = await anonymous('GET', pathOf(back), { fields: { Cookie: `${before}${LOGIN}=${cookie}` } })
    return { answer, session: cookiesOf(answer).get(SESSION)?.value ?? '' }
  }
  const delegation = (delegate: string, principal: string): string =>
    `<${world.webIdOf(delegate)}> <http://www.w3.org/ns/auth/acl#delegates> <${world.webIdOf(principal)}> .`
  const read = (session: string, path = '/'): Promise<Answer> => anonymous('GET', path, withCookie(SESSION, session))

  const soon = (): number => Math.floor(Date.now() / 1000) + 300
  const bearer = (token: string, path = '/'): Promise<Answer> =>
    anonymous('GET', path, { fields: { Authorization: `Bearer ${token}` } })

  await t.test('configuration', (t) => configurationRows(rowsOf(t, 'none')))
  await t.test('log-in', (t) => logInRows(rowsOf(t, 'none')))
  await t.test('attacks on log-in and session', (t) => attackRows(rowsOf(t, 'none')))
  await t.test('tokens', (t) => tokenRows(rowsOf(t, 'none')))
  await t.test('service accounts', (t) => serviceRows(rowsOf(t, 'none')))
  await t.test('proofs of possession', (t) => proofRows(rowsOf(t, 'none')))
  await t.test('delegation', (t) => delegationRows(rowsOf(t, 'none')))
  await t.test('one order of a request', oneOrderRows)
  await t.test('sign-up by a first log-in', (t) => signUpRows(t, rowsOf(t, 'none')))

  async function signUpRows(t: Test, row: Row): Promise<void> {
    const [{ session }, { cookie }] = [await logIn('alice'), await begin()]
    const invited = 'eve@example.org'
    people.set('eve', { email: invited, email_verified: true })
    people.set('frank', { email: invited, email_verified: false })
    people.set('grace', { email: 'grace@example.org', email_verified: true })
    const rows: [flags: string, statuses: Readonly<Record<string, number>>][] = [
      ['--sign-up invited', { frank: 403, grace: 403, eve: 303 }],
      ['--sign-up off', { eve: 403 }],
      ['--daily-sign-ups 10', { eve: 303, grace: 429 }],
    ]
    for (const [line, statuses] of rows) {
      const stores = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
      t.teardown(() => Promise.all(stores.map((store) => store.close())))
      const other = await makeWorld(
        t,
        { endUser: stores[0], admin: stores[1] },
        { flags: [...flags, ...line.split(' ')] },
      )
      provider.register(pairs['client-id'], pairs['client-secret'], [`${other.base}admin/oauth2/authorize/test`])
      const invitation = `<#this> <urn:triplegate:access#invites> <mailto:${invited}> .`
      await other.as('owner')('PUT', '/admin/acl/invitations/', ttl(invitation))
      const ask = other.as('anonymous')
      const isOpen = !line.startsWith('--sign-up')
      const [, login] = namesIn(other)
      await row(`${line}: log-ins at another port of the host stay as they are (RFC 6265 §8.5)`, async (t) => {
        const fields = { Cookie: `${SESSION}=${session}; ${LOGIN}=${cookie}` }
        for (const [method, path, status] of [
          ['GET', '/', 403],
          ['PUT', other.freshPath(), 403],
          ['GET', `${CALLBACK}?code=x&state=y`, 400],
          ['POST', `${LOGIN_PATH}?logout`, 204],
        ] as const) {
          const answer = await ask(method, path, { fields: { ...fields, ...ttl('').fields, Origin: other.origin } })
          t.equal(answer.status, status, `${method} ${path}`)
          for (const name of cookiesOf(answer).keys()) t.notOk([SESSION, LOGIN].includes(name), `${method} ${path}`)
        }
        const begun = await ask('GET', `${LOGIN_PATH}?provider=test`, { fields })
        t.match([...cookiesOf(begun).keys()], [/^__Host-triplegate-login-[0-9a-f]{8}$/])
        t.not([...cookiesOf(begun).keys()][0], LOGIN)
        t.ok(agentIn(await read(session)), 'the session goes on')
      })
      await row(
        `${line}: a service account is ${isOpen ? 'an agent' : 'none until the owner makes its account'}`,
        async (t) => {
          const fields = { Authorization: `Bearer ${await provider.serviceToken(pairs.audience)}` }
          t.equal((await ask('GET', '/', { fields })).status, isOpen ? 403 : 401)
          if (isOpen) return
          const [, account] = /<([^>]+)>/.exec(String(other.log.at(-1)!.cause))!
          const robot = other.webIdOf('reader')
          const content = `<#this> <http://rdfs.org/sioc/ns#id> "robot" ; <http://rdfs.org/sioc/ns#account_of> <${robot}> ;
          <https://w3id.org/atomgraph/linkeddatahub/admin/acl#issuer> "${issuer}" .`
          t.equal((await other.as('owner')('PUT', new URL(account!).pathname, ttl(content))).status, 201)
          other.passTime(3_000)
          t.equal(agentIn(await ask('GET', '/', { fields })), robot)
        },
      )
      for (const [subject, status] of Object.entries(statuses)) {
        await row(`${line}: the first log-in of ${subject} → ${status}`, async (t) => {
          const begun = await ask('GET', `${LOGIN_PATH}?provider=test`)
          const back = await provider.visit(begun.fields.location!, subject)
          const cookie = cookiesOf(begun).get(login)!.value
          t.equal((await ask('GET', back.slice(other.origin.length), withCookie(login, cookie))).status, status)
        })
      }
    }
  }

  async function oneOrderRows(t: Test): Promise<void> {
    const { session } = await logIn('alice')
    const ended = (await logIn('alice')).session
    await anonymous('POST', `${LOGIN_PATH}?logout`, { fields: { Cookie: `${SESSION}=${ended}`, Origin: world.origin } })
    const claims = { iss: issuer, sub: 'alice', aud: 'gateway', exp: soon() }
    const delegates = delegation('stranger', 'writer')
    await world.as('owner')('POST', new URL(world.webIdOf('writer')).pathname, ttl(delegates))
    await oneOrder(t, world, {
      cookies: {
        session: `${SESSION}=${session}`,
        ended: `${SESSION}=${ended}`,
        garbage: `${SESSION}=x.y.z`,
        other: 'a=b',
      },
      authorizations: {
        alice: `Bearer ${await provider.token(claims)}`,
        unknown: `Bearer ${await provider.token({ ...claims, sub: 'someone new' })}`,
        foreign: `Bearer ${await provider.token({ ...claims, aud: 'another' })}`,
        expired: `Bearer ${await provider.token({ ...claims, exp: soon() - 3600 })}`,
        bound: `DPoP ${await provider.token({ ...claims, cnf: { jkt: 'x' } })}`,
        basic: 'Basic YTpi',
      },
      principals: { writer: world.webIdOf('writer'), owner: world.ownerWebId, garbage: '<>' },
    })
  }

  async function configurationRows(row: Row): Promise<void> {
    const read = async (config: string, credentials = '', more: readonly string[] = []) => {
      const [file, secrets] = ['providers.trig', 'secrets.trig'].map((name) => join(world.folder, name))
      const prefixes = `@prefix a: <https://w3id.org/atomgraph/core#> . @prefix dct: <http://purl.org/dc/terms/> .
        @prefix lds: <https://w3id.org/atomgraph/linkeddatahub/dataspaces#> .
        @prefix lacl: <https://w3id.org/atomgraph/linkeddatahub/admin/acl#> .`
      writeFileSync(file!, `${prefixes} ${config}`)
      writeFileSync(secrets!, `${prefixes} ${credentials}`)
      const settings = parseSettings(['--config', file!, '--credentials', secrets!, ...more], {})
      if ('faults' in settings) throw new Error(settings.faults.join())
      return readProviders(settings)
    }
    const described = (name: string, more = '') => `<urn:x:${name}> a lds:IdentityProvider ; dct:identifier "${name}" ;
      lacl:issuer <https://${name}.example> ; lds:clientId "id of ${name}" ${more} .`

    await row('any number of providers in configuration files, their secrets in the credentials file', async (t) => {
      const more = '; lds:scope "profile" ; lds:audience "https://data.example.org/"'
      const providers = await read(
        `${described('one')} ${described('two', more)}`,
        '<urn:x:two> a:authPwd "secret" .',
        [...['--oidc-issuer', 'https://three.example', '--oidc-client-id', 'third']],
      )
      t.match(providers, [
        { name: 'one', issuer: 'https://one.example', scope: 'openid email profile', audiences: ['id of one'] },
        {
          name: 'two',
          clientSecret: 'secret',
          scope: 'openid profile',
          audiences: ['id of two', 'https://data.example.org/'],
        },
        { name: 'oidc', clientId: 'third' },
      ])
      t.notOk('clientSecret' in (providers as object[])[0]!, 'a public client')
    })
    await row('every fault of a provider is reported', async (t) => {
      const wrong = await read(
        `<urn:x:a> a lds:IdentityProvider ; dct:identifier "a/b" ; lacl:issuer <http://a.example> . ${described('one')}
         <urn:x:other> a lds:IdentityProvider ; dct:identifier "one" ; lacl:issuer <https://b.example> ;
         lds:clientId "b" .`,
      )
      const lines = 'faults' in wrong ? wrong.faults.map(faultLine).join('\n') : ''
      for (const fault of ['is not a valid name', 'is not an https URL', 'clientId: is missing', 'of another provider'])
        t.match(lines, fault)
    })
    await row('a provider by http on this machine works without --allow-fetch, with a warning', async (t) => {
      const local = await makeIdentityProvider(t, 'http')
      const redirect = 'https://localhost:1/oauth2/authorize/oidc'
      local.register('dev', 'secret', [redirect])
      local.people.set('dora', { email: 'dora@example.org', email_verified: true })
      const data = join(world.folder, 'development')
      mkdirSync(data)
      const given = ['--oidc-issuer', local.issuer, '--oidc-client-id', 'dev', '--oidc-client-secret', 'secret']
      const settings = parseSettings(['--data', data, ...given], {})
      if ('faults' in settings) throw new Error(settings.faults.join())
      const lines: string[] = []
      const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
      const readProfile: ReadProfile = () => Promise.reject(new Error('not asked'))
      const { identities, close } = await openIdentities(
        settings,
        { never: [] },
        { readProfile, signUp: 'everyone', log, now: Date.now },
      )
      t.teardown(close)
      t.match(lines, [/"level":40,.*"issuer":"http:\/\/localhost:\d+","msg":"this identity provider has no TLS/])
      const [configured] = identities.providers
      const begun = await identities.client.begin(configured!, redirect)
      if ('failure' in begun) throw new Error(begun.detail)
      const back = await local.visit(begun.location, 'dora')
      const person = await identities.client.finish(configured!, new URL(back), begun)
      t.match(person, { subject: 'dora', email: 'dora@example.org', isEmailVerified: true })
      t.match(await identities.client.readKeys(configured!), { keys: [{ kid: 'one' }] })
    })
    await row('a provider in a private network: the failure names the setting', async (t) => {
      const fetcher = makeGuardedFetch({ never: [], maxRedirects: 0 })
      t.teardown(fetcher.close)
      const client = makeOidcClient(fetcher, Date.now)
      const configured = { name: 'x', issuer, clientId: 'x', scope: 'openid', audiences: ['x'] }
      const failure = { failure: 'unavailable', detail: /own network, add its address to --allow-fetch\.$/ }
      t.match(await client.begin(configured, 'https://localhost:1/'), failure)
      t.match(await client.readKeys(configured), failure)
    })
    await row('half a provider in the settings is a fault', async (t) => {
      for (const flags of [
        ['--oidc-issuer', issuer],
        ['--oidc-client-secret', 'x'],
        ['--oidc-client-id', 'x'],
      ]) {
        t.ok('faults' in parseSettings(flags, {}), flags.join(' '))
      }
    })
  }

  async function logInRows(row: Row): Promise<void> {
    await row('oauth2/login lists the providers', async (t) => {
      const answer = await anonymous('GET', LOGIN_PATH)
      t.equal(answer.status, 200)
      t.match(answer.text, `${world.base}admin/oauth2/login?provider=test`)
      t.match(answer.text, issuer)
      t.notMatch(answer.text, pairs['client-secret'])
    })
    await row(
      'login begins the code flow with PKCE, state and nonce; so does authorize without an answer',
      async (t) => {
        for (const target of [`${LOGIN_PATH}?provider=test`, CALLBACK]) {
          const answer = await anonymous('GET', target)
          t.equal(answer.status, 303)
          const { origin, searchParams } = new URL(answer.fields.location!)
          t.equal(origin, issuer)
          t.equal(searchParams.get('response_type'), 'code')
          t.equal(searchParams.get('code_challenge_method'), 'S256')
          t.equal(searchParams.get('redirect_uri'), `${world.base}admin/oauth2/authorize/test`)
          for (const name of ['state', 'nonce', 'code_challenge']) t.match(searchParams.get(name), /^[\w-]{43}$/, name)
          t.match(cookiesOf(answer).get(LOGIN)!.line, /; HttpOnly; SameSite=Lax; Secure$/)
          t.equal(answer.fields['cache-control'], 'no-store')
        }
      },
    )
    await row('an unknown provider → 404', async (t) => {
      t.equal((await anonymous('GET', `${LOGIN_PATH}?provider=other`)).status, 404)
      t.equal((await anonymous('GET', '/admin/oauth2/authorize/other?code=x&state=y')).status, 404)
    })

    people.set('alice', { name: 'Alice', email: 'alice@example.org', email_verified: true })
    let alice = ''
    await row('the first log-in creates account, agent, authorization and session', async (t) => {
      const { answer, session } = await logIn('alice')
      t.equal(answer.status, 303)
      t.equal(answer.fields.location, world.base)
      const cookies = cookiesOf(answer)
      t.match(cookies.get(SESSION)!.line, /; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/)
      t.match(cookies.get(LOGIN)!.line, /Max-Age=0/)
      const answered = await read(session)
      t.equal(answered.status, 403, 'identified, and without rights')
      alice = agentIn(answered)!
      t.match(alice, new RegExp(`^${world.base}admin/acl/agents/[^/]+/#this$`))
      const profile = await anonymous('GET', new URL(alice).pathname)
      t.equal(profile.status, 200, 'everyone may read the profile')
      t.match(profile.text, createHash('sha1').update('mailto:alice@example.org').digest('hex'))
      t.notMatch(profile.text, 'alice@example.org', 'anonymous clients see no mailbox')
      t.match(profile.text, world.secretaryWebId)
      const users = await world.as('owner')(
        'GET',
        `/admin/sparql?query=${encodeURIComponent(
          `PREFIX sioc: <http://rdfs.org/sioc/ns#>
          SELECT ?g { GRAPH ?g { ?a sioc:account_of <${alice}> ; sioc:id "alice" } }`,
        )}`,
      )
      t.match(users.text, `${world.base}admin/acl/users/`)
    })
    await row('a second log-in finds the same agent; another subject is another agent', async (t) => {
      t.equal(agentIn(await read((await logIn('alice')).session)), alice)
      people.set('bob', { name: 'Bob', email: 'bob@example.org', email_verified: false })
      const bob = agentIn(await read((await logIn('bob')).session))
      t.ok(bob)
      t.not(bob, alice)
    })
    await row('first log-ins at the same time create one agent', async (t) => {
      const sessions = await Promise.all([1, 2, 3].map(() => logIn('carol')))
      const agents = await Promise.all(sessions.map(async ({ session }) => agentIn(await read(session))))
      t.ok(agents[0])
      t.equal(new Set(agents).size, 1)
    })
    await row(
      'an e-mail address links to an existing agent only when the provider says that it is verified',
      async (t) => {
        const mailbox = 'dave@example.org'
        const webId = `${world.base}admin/acl/agents/dave/#this`
        const made = await world.as('owner')(
          'PUT',
          new URL(webId).pathname,
          ttl(`<#this> <http://xmlns.com/foaf/0.1/mbox> <mailto:${mailbox}> .`),
        )
        t.equal(made.status, 201)
        people.set('mallory', { email: mailbox, email_verified: false })
        t.not(agentIn(await read((await logIn('mallory')).session)), webId)
        people.set('dave', { email: mailbox, email_verified: true })
        t.equal(agentIn(await read((await logIn('dave')).session)), webId)
      },
    )
    await row('a session reads and writes what its agent may; the agent is the author', async (t) => {
      const { session } = await logIn('alice')
      const group = '/admin/acl/groups/writers/'
      const member = `<#this> <http://xmlns.com/foaf/0.1/member> <${alice}> .`
      t.equal((await world.as('owner')('POST', group, ttl(member))).status, 204)
      const path = world.freshPath()
      const fields = { Cookie: `a=b; ${SESSION}=${session}; c=d`, 'Content-Type': 'text/turtle' }
      t.equal((await anonymous('PUT', path, { fields, body: turtle('"by session"') })).status, 201)
      const document = await read(session, path)
      t.equal(document.status, 200)
      t.equal(document.fields['cache-control'], 'private, no-cache')
      t.match(document.text, `creator <${alice}>`)
      t.equal((await anonymous('GET', path)).status, 403, 'the same URL anonymously')
      for (const [site, status] of [
        ['same-origin', 204],
        ['cross-site', 403],
        ['same-site', 403],
      ] as const) {
        const answer = await anonymous('POST', path, {
          fields: { ...fields, 'Sec-Fetch-Site': site },
          body: turtle(`"by ${site}"`),
        })
        t.equal(answer.status, status, `a write that is ${site}`)
      }
    })
    await row('the log-in leads to the return address', async (t) => {
      for (const [asked, location] of [
        [`${world.base}d1/?accept=text/turtle`, `${world.base}d1/?accept=text/turtle`],
        ['/d2/', `${world.base}d2/`],
      ] as const) {
        for (const name of ['return', 'referer']) {
          const { answer } = await logIn('alice', `&${name}=${encodeURIComponent(asked)}`)
          t.equal(answer.fields.location, location)
        }
      }
    })
    await row('the end-user application has the same endpoints', async (t) => {
      const started = await anonymous('GET', '/oauth2/login?provider=test')
      t.equal(new URL(started.fields.location!).searchParams.get('redirect_uri'), `${world.base}oauth2/authorize/test`)
      const back = await provider.visit(started.fields.location!, 'alice')
      const ended = await anonymous('GET', pathOf(back), withCookie(LOGIN, cookiesOf(started).get(LOGIN)!.value))
      t.equal(agentIn(await read(cookiesOf(ended).get(SESSION)!.value)), alice)
    })
    await row('the callback may come from another site', async (t) => {
      const { location, cookie } = await begin()
      const back = await provider.visit(location, 'alice')
      const fields = { Cookie: `${LOGIN}=${cookie}`, 'Sec-Fetch-Site': 'cross-site' }
      t.equal((await anonymous('GET', pathOf(back), { fields })).status, 303)
    })
    await row('log-out ends the session, wherever its cookie is; not by GET, and not for another site', async (t) => {
      const { session } = await logIn('alice')
      const cookie = { Cookie: `${SESSION}=${session}` }
      const other = await anonymous('POST', `${LOGIN_PATH}?logout`, {
        fields: { ...cookie, 'Sec-Fetch-Site': 'cross-site' },
      })
      t.equal(other.status, 403)
      t.equal((await anonymous('GET', `${LOGIN_PATH}?logout`, { fields: cookie })).status, 200)
      t.equal(agentIn(await read(session)), alice, 'the session is still valid')
      const out = await anonymous('POST', `${LOGIN_PATH}?logout`, { fields: cookie })
      t.equal(out.status, 204)
      t.match(cookiesOf(out).get(SESSION)!.line, /Max-Age=0/)
      t.equal(agentIn(await read(session)), undefined, 'a copy of the cookie is of no use')
      const away = await anonymous('POST', `${LOGIN_PATH}?logout&return=/d1/`, { fields: cookie })
      t.equal(away.fields.location, `${world.base}d1/`)
    })
    await row('an account that is deleted ends its sessions at once', async (t) => {
      const { session } = await logIn('erin')
      t.ok(agentIn(await read(session)))
      const found = await world.as('owner')(
        'GET',
        `/admin/sparql?accept=text/csv&query=${encodeURIComponent(
          'SELECT ?g { GRAPH ?g { ?a <http://rdfs.org/sioc/ns#id> "erin" } }',
        )}`,
      )
      const account = found.text.trim().split(/\s+/)[1]!
      t.equal((await world.as('owner')('DELETE', new URL(account).pathname)).status, 204)
      t.equal(agentIn(await read(session)), undefined)
    })
    await row(
      'a session expires; its key outlives a restart, is replaced every day, and is deleted when no longer needed',
      async (t) => {
        let time = Date.now()
        const now = (): number => time
        const file = join(world.folder, 'rotated', 'session-keys.json')
        const lifetime = 12 * HOUR
        const surroundings = { now, log: world.running.gateway.log }
        const who = { issuer, subject: 'alice', dataspace: 'https://localhost/admin/' }
        const keys = await openSessionKeys(file, lifetime, surroundings)
        const { cookie } = await makeSessions(keys, lifetime, now).begin(who)
        const after = async (ms: number): Promise<unknown> => {
          time += ms
          const reopened = makeSessions(await openSessionKeys(file, lifetime, surroundings), lifetime, now)
          const session = await reopened.read(cookie, who.dataspace)
          return session === 'ended' ? session : session.subject
        }
        t.equal(await after(0), 'alice', 'after a restart')
        t.equal(await makeSessions(keys, lifetime, now).read(cookie, 'https://other/'), 'ended', 'in another dataspace')
        t.equal(await after(11.9 * HOUR), 'alice')
        t.equal(await after(0.2 * HOUR), 'ended')
        const first = keys.current().id
        time += 12 * HOUR
        t.not(keys.current().id, first, 'replaced')
        t.ok(keys.byId(first), 'and still known')
        time += 36 * HOUR
        keys.current()
        t.notOk(keys.byId(first), 'and forgotten')
      },
    )
    await row('only their owner may read the keys of sessions, and no secret is in the log', async (t) => {
      const file = join(world.folder, 'session-keys.json')
      t.equal(statSync(file).mode & 0o777, 0o600)
      const [key] = JSON.parse(readFileSync(file, 'utf8')) as { secret: string }[]
      const { session } = await logIn('alice')
      const log = JSON.stringify(world.log)
      for (const secret of [key!.secret, session, pairs['client-secret']]) t.notOk(log.includes(secret))
    })
  }

  async function attackRows(row: Row): Promise<void> {
    const refused = async (t: Test, answer: Answer, why: RegExp): Promise<void> => {
      t.equal(answer.status, 400)
      t.notOk(cookiesOf(answer).get(SESSION), 'no session')
      t.match(cookiesOf(answer).get(LOGIN)?.line, /Max-Age=0/, 'the log-in cookie is removed')
      t.match(String(world.log.at(-1)!.cause), why)
    }

    await row('login CSRF: a callback of a log-in that another browser began → 400', async (t) => {
      const back = await provider.visit((await begin()).location, 'mallory')
      await refused(t, await anonymous('GET', pathOf(back)), /has begun no log-in/)
      const { cookie } = await begin()
      await refused(t, await anonymous('GET', pathOf(back), withCookie(LOGIN, cookie)), /state/)
    })
    await row('state mismatch → 400', async (t) => {
      const { location, cookie } = await begin()
      const back = new URL(await provider.visit(location, 'alice'))
      for (const state of ['other', '']) {
        back.searchParams.set('state', state)
        await refused(t, await anonymous('GET', pathOf(back.href), withCookie(LOGIN, cookie)), /state/)
      }
    })
    await row('nonce mismatch → 400', async (t) => {
      const { location, cookie } = await begin()
      const changed = new URL(location)
      changed.searchParams.set('nonce', 'another-nonce')
      const back = await provider.visit(changed.href, 'alice')
      await refused(t, await anonymous('GET', pathOf(back), withCookie(LOGIN, cookie)), /nonce/)
    })
    await row('a code of another flow (PKCE) → 400', async (t) => {
      const [one, other] = [await begin(), await begin()]
      const stolen = new URL(await provider.visit(other.location, 'mallory')).searchParams.get('code')!
      const back = new URL(await provider.visit(one.location, 'alice'))
      back.searchParams.set('code', stolen)
      await refused(t, await anonymous('GET', pathOf(back.href), withCookie(LOGIN, one.cookie)), /invalid_grant/)
    })
    await row('a code is valid once', async (t) => {
      const { location, cookie } = await begin()
      const back = await provider.visit(location, 'alice')
      t.equal((await anonymous('GET', pathOf(back), withCookie(LOGIN, cookie))).status, 303)
      await refused(t, await anonymous('GET', pathOf(back), withCookie(LOGIN, cookie)), /invalid_grant/)
    })
    await row('mix-up: the answer of another issuer (RFC 9207) → 400', async (t) => {
      const { location, cookie } = await begin()
      const back = new URL(await provider.visit(location, 'alice'))
      back.searchParams.set('iss', 'https://evil.example')
      await refused(t, await anonymous('GET', pathOf(back.href), withCookie(LOGIN, cookie)), /iss/)
    })
    await row('a log-in that begins at one application does not end at the other', async (t) => {
      const { location, cookie } = await begin()
      const back = pathOf(await provider.visit(location, 'alice')).replace('/admin/', '/')
      await refused(t, await anonymous('GET', back, withCookie(LOGIN, cookie)), /another provider or application/)
    })
    await row('an error of the provider → 400, in our words', async (t) => {
      const { location, cookie } = await begin()
      const state = new URL(location).searchParams.get('state')!
      const description = 'error_description=%3Cscript%3E'
      const target = `${CALLBACK}?error=access_denied&${description}&state=${state}&iss=${encodeURIComponent(issuer)}`
      const answer = await anonymous('GET', target, withCookie(LOGIN, cookie))
      await refused(t, answer, /access_denied/)
      t.notMatch(answer.text, 'script')
    })
    await row('open redirect through the return address → 400', async (t) => {
      for (const address of [
        'https://evil.example/',
        '//evil.example/',
        '/\\evil.example/',
        '\\\\evil.example',
        `${world.origin}.evil.example/`,
        `${world.origin}@evil.example/`,
        `https://user@${new URL(world.base).host}/`,
        `http://${new URL(world.base).host}/`,
        'javascript:alert(1)',
        `blob:${world.origin}/x`,
        'data:text/html,x',
        `https://evil.example/${'x'.repeat(3000)}`,
      ]) {
        const answer = await anonymous('GET', `${LOGIN_PATH}?provider=test&return=${encodeURIComponent(address)}`)
        t.equal(answer.status, 400, address)
        t.equal(answer.fields.location, undefined)
        const out = await anonymous('POST', `${LOGIN_PATH}?logout&return=${encodeURIComponent(address)}`)
        t.equal(out.status, 400, address)
      }
      const twice = await anonymous('GET', `${LOGIN_PATH}?provider=test&return=/d1/&return=https://evil.example/`)
      t.equal(twice.status, 303, 'the first one counts')
    })
    await row('a long return address: the page, or the base if the cookie cannot hold it', async (t) => {
      const [long, short] = ['x'.repeat(1900), world.base]
      const rows: [path: string, returnsTo: string][] = [
        [`/${long}/`, `${world.origin}/${long}/`],
        [`/${'x'.repeat(2040)}/`, short],
        [`/${'é'.repeat(600)}/`, short],
      ]
      for (const [path, returnsTo] of rows) {
        const out = await anonymous('POST', `${LOGIN_PATH}?logout&return=${encodeURIComponent(path)}`)
        t.same([out.status, out.fields.location], [303, returnsTo], path)
        const begun = await anonymous('GET', `${LOGIN_PATH}?provider=test&return=${encodeURIComponent(path)}`)
        t.equal(begun.status, 303, path)
        t.ok(String(begun.fields['set-cookie']).split(';')[0]!.length < 4000, path)
        t.equal((await logIn('alice', `&return=${encodeURIComponent(path)}`)).answer.fields.location, returnsTo, path)
      }
    })
    await row('session fixation: a log-in creates a new session', async (t) => {
      const planted = (await logIn('mallory')).session
      const { answer, session } = await logIn('alice', '', `${SESSION}=${planted}; `)
      t.equal(answer.status, 303)
      t.not(session, planted)
      const [mine, theirs] = [agentIn(await read(session)), agentIn(await read(planted))]
      t.ok(mine)
      t.not(mine, theirs, 'the planted session still has its own agent')
    })
    await row(
      'cookie tampering: a read is anonymous and removes the cookie; a write is refused with the reason',
      async (t) => {
        const { session } = await logIn('alice')
        t.ok(agentIn(await read(session)), 'the session that is tampered with is cached')
        const flipped = (part: number, at: number): string => {
          const parts = session.split('.').map((one) => Buffer.from(one, 'base64url'))
          parts[part]![at]! ^= 1
          return parts.map((one) => one.toString('base64url')).join('.')
        }
        const { cookie: pending } = await begin()
        // The last character of a tag of 16 octets has four unused bits.
        const last = 'AQgw'.indexOf(session.at(-1)!)
        t.ok(last >= 0, 'the unused bits are zero')
        // prettier-ignore
        const rows = [
          ['the header', flipped(0, 4)],
          ['the nonce', flipped(2, 0)],
          ['the content', flipped(3, 30)],
          ['the tag', flipped(4, 15)],
          ['the unused bits', session.slice(0, -1) + 'BRhx'[last]!],
          ['padding', `${session}==`],
          ['another alphabet', session.replace(/[\w-](?=[^.]*$)/, '+')],
          ['cut', session.slice(0, -4)],
          ['longer', `${session}AAAA`],
          ['a log-in under way', pending],
          ['nothing', ''],
          ['garbage', 'x.y.z'],
          ['too long', 'A'.repeat(5000)],
        ] as const
        for (const [name, value] of rows) {
          const answer = await read(value)
          t.equal(answer.status, 403, name)
          t.equal(agentIn(answer), undefined, name)
          t.match(cookiesOf(answer).get(SESSION)?.line, /Max-Age=0/, name)
          t.equal(answer.fields['cache-control'], 'no-store', name)
          const fields = { Cookie: `${SESSION}=${value}`, 'Content-Type': 'text/turtle' }
          const write = await anonymous('PUT', world.freshPath(), { fields, body: turtle('"x"') })
          t.equal(write.status, 401, name)
          t.match(write.fields['www-authenticate'], /^Bearer realm="triplegate", DPoP algs="ES256 /)
          t.match(write.text, 'Your session has ended')
          t.match(cookiesOf(write).get(SESSION)?.line, /Max-Age=0/, name)
        }
        const both = { Cookie: `${SESSION}=${session}; ${SESSION}=${flipped(3, 30)}` }
        t.equal(agentIn(await anonymous('GET', '/', { fields: both })), undefined, 'two that differ count as none')
        t.equal(
          agentIn(await anonymous('GET', '/', withCookie('triplegate', session))),
          undefined,
          'under another name',
        )
      },
    )
    await row('a seal of another kind, key, algorithm or time is not a session', async (t) => {
      const alice = agentIn(await read((await logIn('alice')).session))
      const file = join(world.folder, 'session-keys.json')
      const [own] = JSON.parse(readFileSync(file, 'utf8')) as { id: string; secret: string }[]
      const key = Buffer.from(own!.secret, 'base64url')
      const [now, kid, typ] = [Math.floor(Date.now() / 1000), own!.id, 'triplegate-session+jwt']
      const fresh = { jti: 'x', iss: issuer, sub: 'alice', aud: `${world.base}admin/`, iat: now, exp: now + 3600 }
      const good = { alg: 'dir', enc: 'A256GCM', kid, typ }
      const encrypted = (header: object, claims: object = fresh, secret = key): Promise<string> =>
        new EncryptJWT(claims as JWTPayload).setProtectedHeader(header as typeof good).encrypt(secret)
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
      const unsecured = `${part({ alg: 'none', kid, typ })}.${part(fresh)}.`
      const signed = new SignJWT(fresh).setProtectedHeader({ alg: 'HS256', kid, typ }).sign(key)
      const without = (name: keyof typeof fresh): object => ({ ...fresh, [name]: undefined })
      t.equal(agentIn(await read(await encrypted(good))), alice, 'made by hand, and valid')
      // prettier-ignore
      const rows: readonly (readonly [what: string, text: string])[] = [
        ['alg none', unsecured],
        ['alg none in five parts', `${part({ ...good, alg: 'none' })}...${part(fresh)}.`],
        ['alg HS256, signed with the key', await signed],
        ['alg A256KW', await encrypted({ ...good, alg: 'A256KW' })],
        ['alg A256GCMKW', await encrypted({ ...good, alg: 'A256GCMKW' })],
        ['alg PBES2', await encrypted({ ...good, alg: 'PBES2-HS256+A128KW' })],
        ['enc A128GCM', await encrypted({ ...good, enc: 'A128GCM' }, fresh, key.subarray(0, 16))],
        ['enc A128CBC-HS256', await encrypted({ ...good, enc: 'A128CBC-HS256' })],
        ['an encrypted key, although alg is dir', (await encrypted(good)).replace('..', '.AAAA.')],
        ['another key under a known kid', await encrypted(good, fresh, randomBytes(32))],
        ['an unknown kid', await encrypted({ ...good, kid: '0123456789abcdef' })],
        ['no kid', await encrypted({ alg: 'dir', enc: 'A256GCM', typ })],
        ['zip', await encrypted({ ...good, zip: 'DEF' })],
        ['another header parameter', await encrypted({ ...good, cty: 'JWT' })],
        ['no typ', await encrypted({ alg: 'dir', enc: 'A256GCM', kid })],
        ['the typ of a log-in', await encrypted({ ...good, typ: 'triplegate-login+jwt' })],
        ['expired', await encrypted(good, { ...fresh, exp: now - 1 })],
        ['older than any session', await encrypted(good, { ...fresh, iat: now - 13 * 3600 })],
        ['issued in the future', await encrypted(good, { ...fresh, iat: now + 600 })],
        ['not yet valid', await encrypted(good, { ...fresh, nbf: now + 600 })],
        ['another dataspace', await encrypted(good, { ...fresh, aud: 'https://other.example/admin/' })],
        ['this dataspace and another', await encrypted(good, { ...fresh, aud: [fresh.aud, 'https://other.example/'] })],
        ['another provider', await encrypted(good, { ...fresh, iss: 'https://other.example' })],
        ...(await Promise.all((['jti', 'iss', 'sub', 'aud', 'iat', 'exp'] as const)
          .map(async (name) => [`no ${name}`, await encrypted(good, without(name))] as const))),
      ]
      for (const [what, text] of rows) {
        for (const attempt of ['first', 'second']) {
          const answer = await read(text)
          t.equal(agentIn(answer), undefined, `${what}, ${attempt}`)
          t.match(cookiesOf(answer).get(SESSION)?.line, /Max-Age=0/, `${what}, ${attempt}`)
        }
      }
    })
    await row('a public document is readable with an ended session, but shared caches must not store it', async (t) => {
      const path = new URL(agentIn(await read((await logIn('alice')).session))!).pathname
      t.equal((await anonymous('GET', path)).fields['cache-control'], 'public, no-cache')
      const answer = await read('garbage', path)
      t.equal(answer.status, 200)
      t.equal(answer.fields['cache-control'], 'no-store')
      t.match(answer.text, 'Alice')
    })
    await row('a client certificate takes precedence over a session', async (t) => {
      const { session } = await logIn('alice')
      const answer = await world.as('stranger')('GET', '/', withCookie(SESSION, session))
      t.equal(agentIn(answer), world.webIdOf('stranger'))
    })
    await row('an agent that is logged in cannot write its own account', async (t) => {
      const { session } = await logIn('bob')
      const bob = agentIn(await read(session))!
      const found = await world.as('owner')(
        'GET',
        `/admin/sparql?accept=text/csv&query=${encodeURIComponent(
          `SELECT ?g { GRAPH ?g { ?a <http://rdfs.org/sioc/ns#account_of> <${bob}> } }`,
        )}`,
      )
      const documents = [
        found.text.trim().split(/\s+/)[1]!,
        bob.split('#')[0]!,
        bob.split('#')[0]!.replace('agents', 'authorizations'),
      ]
      for (const document of documents) {
        const fields = { Cookie: `${SESSION}=${session}`, 'Content-Type': 'text/turtle' }
        for (const method of ['PUT', 'POST'] as const) {
          const answer = await anonymous(method, new URL(document).pathname, { fields, body: turtle('"mine"') })
          t.equal(answer.status, 403, `${method} ${document}`)
        }
      }
    })
  }

  async function tokenRows(row: Row): Promise<void> {
    const good = { iss: issuer, sub: 'alice', aud: 'gateway', exp: soon() }
    const alice = agentIn(await read((await logIn('alice')).session))!

    await row('an ID token or an access token of the issuer identifies the agent of the account', async (t) => {
      for (const token of [
        await provider.token(good),
        await provider.token({ ...good, aud: pairs.audience }, { typ: 'at+jwt' }),
        await provider.token({ ...good, aud: ['gateway', 'other'], azp: 'gateway' }),
      ]) {
        t.equal(agentIn(await bearer(token)), alice)
        t.equal(agentIn(await bearer(token)), alice, 'and again, from the cache')
      }
    })
    await row('e-mail domain and groups in a valid token count as members', async (t) => {
      const path = world.freshPath()
      const owner = world.as('owner')
      await owner('PUT', path, ttl(turtle('"for members"')))
      const said = (kind: string, value: string, by = issuer): string =>
        `<urn:triplegate:${kind}:${encodeURIComponent(by)}:${value}>`
      const group = '/admin/acl/groups/members/'
      const rule = '/admin/acl/authorizations/members/'
      const members = (...all: string[]) =>
        ttl(`PREFIX foaf: <http://xmlns.com/foaf/0.1/> <#this> a foaf:Group ; foaf:member ${all.join(', ')} .`)
      t.equal(
        (await owner('PUT', group, members(said('mail-domain', 'corp.example'), said('group', 'staff')))).status,
        201,
      )
      const authorization = `PREFIX acl: <http://www.w3.org/ns/auth/acl#> <#this> a acl:Authorization ; acl:mode acl:Read ;
        acl:agentGroup <${world.base}admin/acl/groups/members/#this> ; acl:accessTo <${world.origin}${path}> .`
      t.equal((await owner('PUT', rule, ttl(authorization))).status, 201)
      const mail = { email: 'carol@Corp.Example', email_verified: true }
      people.set('heidi', mail)
      const { session } = await logIn('heidi')
      // prettier-ignore
      const rows: [what: string, claims: JWTPayload, status: number][] = [
        ['no claim', {}, 403],
        ['a verified address of the domain', mail, 200],
        ['one that is not verified', { ...mail, email_verified: false }, 403],
        ['one that only seems verified', { ...mail, email_verified: 'true' }, 403],
        ['another domain', { ...mail, email: 'carol@corp.example.evil.example' }, 403],
        ['a domain below it', { ...mail, email: 'carol@a.corp.example' }, 403],
        ['two at signs', { ...mail, email: 'carol@evil.example@corp.example' }, 403],
        ['the group', { groups: ['other', 'staff'] }, 200],
        ['another group', { groups: ['Staff', 'staff '] }, 403],
        ['no list', { groups: 'staff' }, 403],
        ['no names', { groups: [{}, 1, null, '\ud800'] }, 403],
      ]
      for (const [what, claims, status] of rows) {
        const fields = { Authorization: `Bearer ${await provider.token({ ...good, sub: 'heidi', ...claims })}` }
        t.equal((await anonymous('GET', path, { fields })).status, status, what)
        t.equal((await anonymous('GET', path, { fields })).status, status, `${what}, again`)
      }
      t.equal((await read(session, path)).status, 200, 'a session has what its log-in said')
      // The last state of a deleted document, which only its owner may see.
      const state = { iri: world.origin + path, types: [], owners: [] }
      const { gateway, dataspaces } = world.running
      const context = { gateway, application: dataspaces[0]!.endUser, dataspace: dataspaces[0]! } as unknown as Context
      const claimed = said('group', 'staff').slice(1, -1)
      for (const memberships of [[], [claimed]])
        t.equal(mayReadState(context, { webId: 'https://x.example/#me', memberships }, state), memberships.length > 0)
      people.set('heidi', { email: mail.email, email_verified: false })
      t.equal((await read((await logIn('heidi')).session, path)).status, 403, 'the next log-in has not')
      t.equal(
        (await owner('PUT', group, members(said('mail-domain', 'corp.example', 'https://other.example')))).status,
        200,
      )
      t.equal((await read(session, path)).status, 403, 'the rules change at once; another issuer does not count')
      const fields = { Authorization: `Bearer ${await provider.token({ ...good, sub: 'heidi', ...mail })}` }
      t.equal((await anonymous('GET', path, { fields })).status, 403, 'for tokens too')
      await owner('DELETE', rule)
      world.log.length = 0
      people.set('heidi', { ...mail, groups: Array.from({ length: 30 }, (_, i) => `${i}`.repeat(50)) })
      await logIn('heidi')
      t.match(
        JSON.stringify(world.log),
        /login: \d+ of 31 groups are ignored/,
        'the log says what a session has no room for',
      )
    })
    await row('a script writes with a token', async (t) => {
      const fields = { Authorization: `Bearer ${await provider.token(good)}`, 'Content-Type': 'text/turtle' }
      t.equal((await anonymous('PUT', world.freshPath(), { fields, body: turtle('"by a script"') })).status, 201)
    })

    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const { privateKey: foreign } = await generateKeyPair('RS256')
    const signed = (kid: string): Promise<string> =>
      new SignJWT(good).setProtectedHeader({ alg: 'RS256', kid }).sign(foreign)
    const jwks = await (await fetch(`${issuer}/jwks`)).text()
    const content = `${part({ alg: 'HS256', kid: 'one' })}.${part(good)}`
    const hmac = createHmac('sha256', jwks).update(content).digest('base64url')
    const valid = await provider.token(good)
    await row('the token that is tampered with below is cached', async (t) => {
      t.equal(agentIn(await bearer(valid)), alice)
    })
    const [header, payload, signature] = valid.split('.') as [string, string, string]
    // prettier-ignore
    const attacks: readonly (readonly [name: string, token: string])[] = [
      ['alg none', `${part({ alg: 'none' })}.${part(good)}.`],
      ['alg NONE, with a signature', `${part({ alg: 'nOnE' })}.${part(good)}.${signature}`],
      ['alg HS256 with the public key as the secret', `${content}.${hmac}`],
      ['wrong audience', await provider.token({ ...good, aud: 'another-party' })],
      ['no audience', await provider.token({ iss: issuer, sub: 'alice', exp: soon() })],
      ['the audience of Solid without a bound key', await provider.token({ ...good, aud: 'solid' })],
      ['issued to another party', await provider.token({ ...good, aud: ['gateway', 'other'], azp: 'other' })],
      ['wrong issuer', await provider.token({ ...good, iss: 'https://evil.example' })],
      ['no issuer', await provider.token({ sub: 'alice', aud: 'gateway', exp: soon() })],
      ['unknown key', await signed('two')],
      ['another key under a known name', await signed('one')],
      ['expired', await provider.token({ ...good, exp: soon() - 600 })],
      ['without an expiry', await provider.token({ iss: issuer, sub: 'alice', aud: 'gateway' })],
      ['not yet valid', await provider.token({ ...good, nbf: soon() })],
      ['a log-out token', await provider.token(good, { typ: 'logout+jwt' })],
      ['a log-out token with the type of any other', await provider.token({ ...good, events: {} })],
      ['another payload', `${header}.${part({ ...good, sub: 'bob' })}.${signature}`],
      ['no subject', await provider.token({ iss: issuer, aud: 'gateway', exp: soon() })],
      ['a subject who has never logged in', await provider.token({ ...good, sub: 'frank' })],
      ['no token', 'garbage'],
      ['too long', `${header}.${'A'.repeat(10_000)}.${signature}`],
    ]
    const sentences = new Set<string>()
    for (const [name, token] of attacks) {
      await row(`JWT: ${name} → 401`, async (t) => {
        world.log.length = 0
        const answer = await bearer(token, '/admin/acl/agents/stranger/')
        t.equal(answer.status, 401)
        sentences.add(/title "([^"]+)"/.exec(answer.text)?.[1] ?? answer.text)
        t.ok(world.log.at(-1)!.cause, 'the log says why')
        t.notOk(JSON.stringify(world.log).includes(payload), 'but does not show the token')
      })
    }
    await row('the answer to a refused credential does not depend on its fault', async (t) => {
      t.equal(sentences.size, 1)
      for (const Authorization of ['Basic YTpi', 'Bearer', 'Bearer a b', 'Negotiate x', '']) {
        const answer = await anonymous('GET', '/', { fields: { Authorization } })
        t.equal(answer.status, 401, Authorization)
      }
    })
    await row('tokens with unknown keys do not make the gateway request keys again and again', async (t) => {
      const before = provider.keysAsked()
      for (let i = 0; i < 20; i++) await bearer(await signed(randomUUID()))
      t.ok(provider.keysAsked() - before <= 1)
    })
    await row(
      'a new key of the issuer is found, an old one dropped; keys stay valid while it is unreachable',
      async (t) => {
        let time = Date.now()
        t.intercept(Date, 'now', { value: () => time })
        const unavailable = failure('unavailable', 'The issuer is unavailable.')
        let asked = 0
        let published: JSONWebKeySet | Failure = unavailable
        const readKeys = () => Promise.resolve((asked++, published))
        const verifier = makeTokenVerifier(
          [{ issuer, clientId: 'gateway', audiences: ['gateway'], readKeys }],
          Date.now,
        )
        const pairs = await Promise.all(['a', 'b'].map(async (kid) => ({ kid, ...(await generateKeyPair('ES256')) })))
        const publish = async (...kids: string[]) => {
          const own = pairs.filter(({ kid }) => kids.includes(kid))
          published = {
            keys: await Promise.all(own.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid }))),
          }
        }
        const verified = async (kid: string): Promise<string> => {
          const { privateKey } = pairs.find((one) => one.kid === kid)!
          const jwt = new SignJWT({ ...good, exp: Math.floor(time / 1000) + 60, jti: randomUUID() })
          const claims = await verifier.verify(await jwt.setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey))
          return isFailure(claims) ? claims.failure : claims.subject
        }
        t.equal(await verified('a'), 'unavailable')
        t.equal(await verified('a'), 'unavailable')
        t.equal(asked, 1, 'a failure is cached for a while')
        time += 10_000
        await publish('a')
        t.equal(await verified('a'), 'alice')
        await publish('b')
        t.equal(await verified('b'), 'signature')
        t.equal(asked, 2, 'an unknown key does not always cause a request for keys')
        time += 30_000
        t.equal(await verified('b'), 'alice')
        t.equal(await verified('a'), 'signature')
        published = unavailable
        time += 600_000
        t.equal(await verified('b'), 'alice')
      },
    )
    await row('a certificate and a token of different agents are refused', async (t) => {
      const fields = { Authorization: `Bearer ${valid}` }
      t.equal((await world.as('stranger')('GET', '/', { fields })).status, 400)
      t.equal((await world.as('stranger')('GET', '/', { fields })).status, 400, 'again, when both are cached')
    })
    await row('a token takes precedence over a session in the same request', async (t) => {
      const { session } = await logIn('bob')
      const fields = { Authorization: `Bearer ${valid}`, Cookie: `${SESSION}=${session}` }
      t.equal(agentIn(await anonymous('GET', '/', { fields })), alice)
    })
    await row('a webid claim is valid only if the profile names the issuer', async (t) => {
      const put = (path: string, more: string) => world.as('writer')('PUT', path, ttl(`${turtle('"me"')} ${more}`))
      const [named, other] = [world.freshPath(), world.freshPath()]
      const oidcIssuer = '<#me> <http://www.w3.org/ns/solid/terms#oidcIssuer>'
      await put(named, `${oidcIssuer} <${issuer}> .`)
      await put(other, `${oidcIssuer} <https://other.example> .`)
      const claiming = (webid: string) =>
        provider.token({ iss: issuer, sub: 'grace', aud: 'gateway', exp: soon(), webid })
      const webId = `${world.origin}${named}#me`
      t.equal(agentIn(await bearer(await claiming(webId))), webId)
      t.equal(agentIn(await bearer(await claiming(webId))), webId)
      t.equal((await bearer(await claiming(`${world.origin}${other}#me`))).status, 401)
      t.equal((await bearer(await claiming(world.ownerWebId))).status, 401)
      t.equal((await bearer(await claiming('https://10.0.0.1/#me'))).status, 401)
      await put(named, '')
      t.equal((await bearer(await claiming(webId))).status, 401, 'no longer named')
    })
  }

  async function serviceRows(row: Row): Promise<void> {
    await row('RFC 6749 §4.4: a service account of the issuer is an agent, without rights of its own', async (t) => {
      const token = await provider.serviceToken(pairs.audience)
      const answer = await bearer(token)
      t.equal(answer.status, 403)
      const robot = agentIn(answer)!
      t.match(robot, new RegExp(`^${world.base}admin/acl/agents/[0-9a-f-]{36}/#this$`))
      t.equal(agentIn(await bearer(await provider.serviceToken(pairs.audience))), robot, 'the same with the next token')
      const member = `<#this> <http://xmlns.com/foaf/0.1/member> <${robot}> .`
      t.equal((await world.as('owner')('POST', '/admin/acl/groups/writers/', ttl(member))).status, 204)
      const [path, fields] = [world.freshPath(), { Authorization: `Bearer ${token}`, 'Content-Type': 'text/turtle' }]
      t.equal((await anonymous('PUT', path, { fields, body: turtle('"by a robot"') })).status, 201)
      t.match((await bearer(token, path)).text, `creator <${robot}>`)
    })
    await row('a service account for another audience → 401', async (t) => {
      t.equal((await bearer(await provider.serviceToken('https://other.example.org/'))).status, 401)
    })
    const claims = { iss: issuer, sub: 'a service', aud: ['gateway', 'account'], exp: soon() }
    // prettier-ignore
    const marks: [name: string, claims: JWTPayload, status: number][] = [
      ['azp is the subject', { azp: 'a service' }, 403],
      ['client_id is the subject', { client_id: 'a service' }, 403],
      ['Keycloak', { azp: 'Crawler', preferred_username: 'service-account-crawler' }, 403],
      ['Auth0', { azp: 'x', gty: 'client-credentials' }, 403],
      ['Entra', { azp: 'x', idtyp: 'app' }, 403],
      ['a person at another client', { azp: 'x', preferred_username: 'service-account-other' }, 401],
      ['a person at this client', { azp: 'gateway', client_id: 'gateway' }, 401],
    ]
    for (const [name, more, status] of marks) {
      await row(`a token of a service account: ${name}: ${status}`, async (t) => {
        t.equal((await bearer(await provider.token({ ...claims, ...more }))).status, status)
      })
    }
  }

  async function proofRows(row: Row): Promise<void> {
    const path = world.freshPath()
    const webId = `${world.origin}${path}#me`
    await world.as('writer')(
      'PUT',
      path,
      ttl(`${turtle('"me"')} <#me> <http://www.w3.org/ns/solid/terms#oidcIssuer> <${issuer}> .`),
    )
    const key = await makeProofKey()
    const other = await makeProofKey()
    const claims = { iss: issuer, sub: 'solid', aud: 'solid', exp: soon(), webid: webId, cnf: { jkt: key.thumbprint } }
    const token = await provider.token(claims)
    const wanted = { htm: 'GET', htu: world.base, token }
    const present = (proof: string | string[], scheme = 'DPoP', target = '/'): Promise<Answer> =>
      anonymous('GET', target, { fields: { Authorization: `${scheme} ${token}`, DPoP: proof } })

    await row('a token with its proof identifies the WebID (Solid-OIDC)', async (t) => {
      t.equal(agentIn(await present(await key.prove(wanted))), webId)
      t.equal(
        agentIn(await present(await key.prove({ ...wanted, htu: `${world.base}?a=b#c` }))),
        webId,
        'the query does not count',
      )
      t.equal(agentIn(await present(await key.prove(wanted), 'dpop', '/?accept=text/turtle')), webId)
    })
    await row('replayed DPoP → 401', async (t) => {
      const proof = await key.prove(wanted)
      t.equal((await present(proof)).status, 403)
      t.equal((await present(proof)).status, 401)
    })
    const now = Math.floor(Date.now() / 1000)
    const attacks: readonly (readonly [name: string, proof: string | string[]])[] = [
      ['of another key', await other.prove(wanted)],
      ['for another method', await key.prove({ ...wanted, htm: 'PUT' })],
      ['for another URL', await key.prove({ ...wanted, htu: `${world.base}other/` })],
      ['for another origin', await key.prove({ ...wanted, htu: 'https://evil.example/' })],
      ['for another token', await key.prove({ ...wanted, ath: 'x' })],
      ['too old', await key.prove({ ...wanted, iat: now - 120 })],
      ['of the future', await key.prove({ ...wanted, iat: now + 120 })],
      ['of another type', await key.prove({ ...wanted, typ: 'JWT' })],
      ['without an identifier', await key.prove({ ...wanted, jti: '' })],
      ['twice', [await key.prove(wanted), await key.prove(wanted)]],
      ['missing', ''],
    ]
    for (const [name, proof] of attacks) {
      await row(`DPoP proof ${name} → 401`, async (t) => t.equal((await present(proof)).status, 401))
    }
    await row('more proofs than the gateway can remember are refused', async (t) => {
      let time = Date.now()
      const [other, third] = [await makeProofKey(), await makeProofKey()]
      const check = makeProofCheck(() => time, { each: 2, all: 3 })
      const prove = async (by: typeof key, network: string) => {
        const proof = await by.prove({ ...wanted, iat: Math.floor(time / 1000) })
        return check({ proof, token, boundTo: by.thumbprint, method: 'GET', url: world.base, network })
      }
      t.equal(await prove(key, 'a'), undefined)
      t.equal(await prove(key, 'b'), undefined)
      t.match(await prove(key, 'c'), { failure: 'busy', detail: /of this key or network/ }, 'the share of a key')
      t.equal(await prove(other, 'a'), undefined, 'another key')
      t.match(await prove(third, 'c'), { failure: 'busy', detail: /^No more proofs can/ }, 'all')
      time += 120_000
      t.equal(await prove(key, 'a'), undefined, 'proofs that are too old to be replayed are forgotten')
      t.equal(await prove(other, 'a'), undefined)
      t.match(await prove(third, 'a'), { failure: 'busy', detail: /of this key or network/ }, 'the share of a network')
      t.equal(await prove(third, 'b'), undefined)
    })
    await row('a bound token without its proof → 401, and an unbound token with a proof → 401', async (t) => {
      t.equal((await present(await key.prove(wanted), 'Bearer')).status, 401)
      t.equal((await bearer(token)).status, 401)
      const unbound = await provider.token({ iss: issuer, sub: 'alice', aud: 'gateway', exp: soon() })
      const fields = { Authorization: `DPoP ${unbound}`, DPoP: await key.prove({ ...wanted, token: unbound }) }
      t.equal((await anonymous('GET', '/', { fields })).status, 401)
    })
    await row('a token that is bound by a certificate → 401', async (t) => {
      const bound = await provider.token({ ...claims, aud: 'gateway', cnf: { 'x5t#S256': 'x' } })
      t.equal((await bearer(bound)).status, 401)
    })
  }

  async function delegationRows(row: Row): Promise<void> {
    const alice = agentIn(await read((await logIn('alice')).session))!
    const onBehalfOf = (name: string, principal: string, method = 'GET', path = '/'): Promise<Answer> =>
      world.as(name)(method, path, {
        fields: { 'On-Behalf-Of': principal, ...(method === 'PUT' && { 'Content-Type': 'text/turtle' }) },
        ...(method === 'PUT' && { body: turtle('"by a delegate"') }),
      })
    const profile = new URL(world.webIdOf('writer')).pathname
    const delegates = delegation('stranger', 'writer')

    await row('delegation without the delegates triple → 400', async (t) => {
      t.equal((await onBehalfOf('stranger', world.webIdOf('writer'))).status, 400)
      t.equal((await onBehalfOf('stranger', world.ownerWebId)).status, 400)
    })
    await row('a statement of the delegate itself has no effect', async (t) => {
      const path = new URL(world.webIdOf('stranger')).pathname
      t.equal((await world.as('owner')('POST', path, ttl(delegates))).status, 204)
      t.equal((await onBehalfOf('stranger', world.webIdOf('writer'))).status, 400)
    })
    await row('the delegate acts as the principal if the principal’s profile says so', async (t) => {
      t.equal((await world.as('owner')('POST', profile, ttl(delegates))).status, 204)
      const path = world.freshPath()
      t.equal((await onBehalfOf('stranger', world.webIdOf('writer'), 'PUT', path)).status, 201)
      const answer = await onBehalfOf('stranger', `<${world.webIdOf('writer')}>`, 'GET', path)
      t.equal(agentIn(answer), world.webIdOf('writer'))
      t.match(answer.text, `creator <${world.webIdOf('writer')}>`)
      t.equal((await world.as('stranger')('GET', path)).status, 403, 'and as itself without the field')
      const line = world.log.filter(({ method }) => method === 'PUT').at(-1)!
      t.equal(line.agent, world.webIdOf('writer'))
      t.equal(line.delegate, world.webIdOf('stranger'), 'the log has both')
    })
    await row('not the other way round, and not for the principal of another agent', async (t) => {
      t.equal((await onBehalfOf('writer', world.webIdOf('stranger'))).status, 400)
      t.equal((await onBehalfOf('reader', world.webIdOf('writer'))).status, 400)
    })
    await row('the delegation ends when the triple is removed', async (t) => {
      const removal = await world.as('owner')('PATCH', profile, {
        fields: { 'Content-Type': 'application/sparql-update' },
        body: `DELETE WHERE { ${delegates} }`,
      })
      t.equal(removal.status, 204)
      t.equal((await onBehalfOf('stranger', world.webIdOf('writer'))).status, 400)
    })
    await row('an agent may act on its own behalf', async (t) => {
      t.equal(agentIn(await onBehalfOf('writer', world.webIdOf('writer'))), world.webIdOf('writer'))
    })
    await row('a forged On-Behalf-Of → 400', async (t) => {
      t.equal((await onBehalfOf('anonymous', world.ownerWebId)).status, 400, 'without a credential')
      const { session } = await logIn('alice')
      const fields = { Cookie: `${SESSION}=${session}`, 'On-Behalf-Of': alice }
      t.equal((await anonymous('GET', '/', { fields })).status, 400, 'with a session')
      for (const value of [
        'https://10.0.0.1/#me',
        'https://169.254.169.254/latest#me',
        'urn:x',
        'https://user@localhost/#me',
        `${world.webIdOf('writer')}\\u003E`,
        `${world.webIdOf('writer')}, ${world.ownerWebId}`,
        '<>',
        '',
      ]) {
        t.equal((await onBehalfOf('stranger', value)).status, 400, value)
      }
    })
    await row('the secretary acts for every agent that has logged in', async (t) => {
      const profileText = (await anonymous('GET', new URL(alice).pathname)).text
      t.match(profileText, `<${world.secretaryWebId}> acl:delegates <${alice}>`)
    })
  }
})
