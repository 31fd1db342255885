// The access endpoint: the client's rights, requests for access and their granting, and explanations of decisions.
import t from 'tap'
import { runAccessCommand } from '../../../../gateway/features/access/command.js'
import type { Answer } from '../../../support/client.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl, turtle } from '../../../support/world.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'
const LACL = 'https://w3id.org/atomgraph/linkeddatahub/admin/acl#'
const N_TRIPLES = { fields: { Accept: 'application/n-triples' } }
const encoded = encodeURIComponent

void t.test('access', async (t) => {
  await forEachStore(t, 'access', async (t, makeStores, kind) => {
    const { endUser, admin } = await makeStores()
    const world = await makeWorld(t, { endUser, admin })
    const row = rowsOf(t, kind)
    const { base } = world
    await world.as('owner')('PUT', '/secret/', ttl(turtle('"Secret"')))
    await world.as('writer')('PUT', '/own/', ttl(turtle('"Own"')))
    const access = (name: string, url: string, more = ''): Promise<Answer> =>
      world.as(name)('GET', `/access?this=${encoded(url)}${more}`, N_TRIPLES)
    const command = async (...argv: string[]): Promise<{ code: number; out: string; error: string }> => {
      let [out, error] = ['', '']
      const terminal = {
        out: (text: string | Buffer) => void (out += text.toString()),
        error: (text: string) => void (error += text),
        waiting: () => undefined,
        interactive: false,
        now: Date.now,
      }
      const code = await runAccessCommand([...argv, '--data', world.folder], {}, terminal)
      return { code, out, error }
    }
    const lines = ({ text }: Answer): string[] => text.trim().split('\n').filter(Boolean)

    await row('a reader reads by the group of readers, on the class of items', async (t) => {
      const answer = await access('reader', `${base}secret/`)
      t.equal(answer.status, 200)
      const auth = `<${base}admin/acl/authorizations/read/#this>`
      for (const rest of [
        `<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${ACL}Authorization>`,
        `<${ACL}mode> <${ACL}Read>`,
        `<${ACL}agentGroup> <${base}admin/acl/groups/readers/#this>`,
        `<${ACL}accessToClass> <https://www.w3.org/ns/ldt/document-hierarchy#Item>`,
      ])
        t.ok(answer.text.includes(`${auth} ${rest} .`), rest)
      t.match(answer.fields.link, /acl#Read>; rel="[^"]*acl#mode"/)
      t.notMatch(answer.fields.link, /acl#Write>/)
    })
    await row('an owner of a document has an owner authorization', async (t) => {
      const { text } = await access('writer', `${base}own/`)
      t.match(text, /OwnerAuthorization/)
      t.ok(text.includes(`<${ACL}agent> <${world.webIdOf('writer')}>`))
    })
    await row('in the admin application, the endpoint answers for documents of both applications', async (t) => {
      for (const path of ['/admin/access', '/access']) {
        for (const url of [`${base}secret/`, `${base}admin/acl/groups/owners/`]) {
          t.equal((await world.as('owner')('GET', `${path}?this=${encoded(url)}`)).status, 200)
        }
      }
    })
    await row('without any right, an existing and a missing document get the same answer', async (t) => {
      for (const name of ['anonymous', 'stranger']) {
        const [there, missing] = [await access(name, `${base}secret/`), await access(name, `${base}missing/`)]
        t.equal(there.status, 200)
        t.equal(there.text, '')
        t.same([missing.status, missing.text, missing.fields.etag, missing.fields.link], [there.status, there.text, there.fields.etag, there.fields.link]) // prettier-ignore
        const rules = await access(name, `${base}admin/acl/groups/owners/`)
        t.same([rules.status, rules.text], [200, ''])
      }
    })
    await row('spec 4.3: without parameters, the authorizations that include the agent', async (t) => {
      for (const path of ['/access', '/admin/access']) {
        const owner = await world.as('owner')('GET', path, accept('text/turtle'))
        t.match([owner.status, owner.text], [200, /full-control/])
        const anonymous = await world.as('anonymous')('GET', path, accept('text/turtle'))
        t.match([anonymous.status, anonymous.text], [200, /authorizations\/access\//])
        t.notMatch(anonymous.text, /full-control/)
      }
    })
    const malformed: [name: string, query: string][] = [
      ['?this on another server', '?this=https://example.org/'],
      ['?this on another scheme', `?this=${encoded(base.replace('https', 'http'))}`],
      ['?this is not a URL', '?this=secret'],
      ['?this without its slash', `?this=${encoded(`${base}secret`)}`],
      ['?graph that is not an absolute IRI', `?graph=${encoded('g')}`],
      ['?graph with a character that no IRI has', `?graph=${encoded('urn:g> {} #')}`],
      ['?graph together with ?this', `?graph=urn:g&this=${base}`],
      ['?this of a version', `?this=${encoded(`${base}secret/?version=abcd`)}`],
    ]
    for (const [name, query] of malformed) {
      await row(`${name} → 400`, async (t) => t.equal((await world.as('owner')('GET', `/access${query}`)).status, 400))
    }
    await row(
      '?graph=: a graph that is not a document, by name, by prefix and by class; and the default graph',
      async (t) => {
        const rule = (slug: string, subject: string, to: string): Promise<Answer> =>
        world.as('owner')('PUT', `/admin/acl/authorizations/${slug}/`, ttl(
          `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; ${subject} ; ${to} .`)) // prettier-ignore
        const stranger = `<${ACL}agent> <${world.webIdOf('stranger')}>`
        await rule('graph', stranger, `<${ACL}accessTo> <urn:g>, <urn:triplegate:default-graph>`)
        await rule('prefix', stranger, `<${ACL}default> <http://data.example/>, <${base}>`)
        await rule('others', `<${ACL}agentClass> <${ACL}AuthenticatedAgent>`, `<${ACL}accessToClass> <urn:triplegate:access#OtherGraph>`) // prettier-ignore
        const by = async (name: string, graph: string, path = ''): Promise<string[]> => {
          const { status, text } = await world.as(name)('GET', `${path}/access?graph=${encoded(graph)}`, N_TRIPLES)
          t.equal(status, 200, graph)
          return [
            ...new Set(Array.from(text.matchAll(/authorizations\/([a-z-]+)\/#this> </g), ([, slug]) => slug!)),
          ].sort()
        }
        const rows: [name: string, graph: string, by: string[]][] = [
          ['stranger', 'urn:g', ['graph', 'others']],
          ['stranger', 'urn:h', ['others']],
          ['stranger', 'http://data.example/g', ['others', 'prefix']],
          ['stranger', `${base}no-document`, ['others', 'prefix']],
          ['stranger', `${base}secret/`, ['prefix']],
          ['stranger', 'urn:triplegate:default-graph', ['graph']],
          ['reader', 'urn:triplegate:default-graph', ['read']],
          ['reader', 'http://data.example/g', ['others', 'read']],
          ['anonymous', 'urn:g', []],
          ['owner', 'urn:triplegate:default-graph', ['full-control', 'read', 'write-append']],
        ]
        for (const [name, graph, expected] of rows) t.same(await by(name, graph), expected, `${name}: ${graph}`)
        t.same(await by('stranger', 'urn:g', '/admin'), [], 'in the admin application only Control reaches them')
        t.same(await by('owner', 'urn:g', '/admin'), ['full-control'])

        const ask = `/access?graph=urn:g&agent=${encoded(world.webIdOf('stranger'))}`
        const explained = await world.as('owner')('GET', ask, N_TRIPLES)
        t.match(explained.text, /access#grantedBy> <[^>]*authorizations\/graph\/#this>/)
        t.equal((await world.as('stranger')('GET', ask)).status, 403)
        const may = await command('explain', base, '--graph', 'urn:g', '--agent', world.webIdOf('stranger'))
        t.match(may.out, /stranger\/#this may Read urn:g: every identified agent may/)
        t.match((await command('explain', base, '--graph', 'urn:g')).out, /^An anonymous client may not Read urn:g/)
        const audited = await command('audit', base, '--graph', 'urn:g')
        t.match(audited.out, /^urn:g\n/)
        for (const slug of ['graph', 'others', 'full-control']) t.match(audited.out, `authorizations/${slug}/#this>`)
        t.equal((await command('audit', base, '--graph', 'urn:g', '--tree')).code, 2)
        for (const slug of ['graph', 'prefix', 'others'])
          await world.as('owner')('DELETE', `/admin/acl/authorizations/${slug}/`)
      },
    )
    await row('the accepted media type, or 406', async (t) => {
      const json = await world.as('reader')('GET', `/access?this=${base}`, accept('application/ld+json'))
      t.equal(json.fields['content-type'], 'application/ld+json')
      t.equal((await world.as('reader')('GET', `/access?this=${base}`, accept('image/png'))).status, 406)
    })

    const asking = (more: string): string => `[] a <${ACL}Authorization> ; ${more} .`
    const ask = (name: string, body: string): Promise<Answer> => world.as(name)('POST', '/access/request', ttl(body))
    const secret = `<${ACL}accessTo> <${base}secret/>`
    const read = `<${ACL}mode> <${ACL}Read>`
    await row('a request is stored with all its values, and granted by one POST', async (t) => {
      t.equal((await world.as('stranger')('GET', '/secret/')).status, 403)
      const body = asking(`<${ACL}agent> <${world.webIdOf('stranger')}> ; ${secret}, <${base}own/> ; ${read}, <${ACL}Append>`) // prettier-ignore
      const answer = await ask('stranger', body)
      t.equal(answer.status, 200)
      const request = /<([^>]*acl\/authorization-requests\/[0-9a-f-]{36}\/)>/.exec(answer.text)![1]!
      const path = new URL(request).pathname
      t.equal((await world.as('stranger')('GET', path)).status, 403)
      const stored = await world.as('owner')('GET', path, N_TRIPLES)
      for (const part of [
        `<${LACL}requestAgent> <${world.webIdOf('stranger')}>`,
        `<${LACL}requestAccessTo> <${base}secret/>`,
        `<${LACL}requestAccessTo> <${base}own/>`,
        `<${LACL}requestMode> <${ACL}Read>`,
        `<${LACL}requestMode> <${ACL}Append>`,
      ])
        t.ok(stored.text.includes(part), part)
      t.equal((await world.as('stranger')('GET', '/secret/')).status, 403, 'a request gives no right')

      const grant = `/access/request?grant=${encoded(request)}`
      t.equal((await world.as('stranger')('POST', grant)).status, 403, 'not by the agent itself')
      t.equal((await world.as('writer')('POST', grant)).status, 403, 'not without Control')
      const granted = await world.as('owner')('POST', grant)
      t.equal(granted.status, 201)
      t.equal((await world.as('stranger')('GET', '/secret/')).status, 200)
      t.equal((await world.as('stranger')('DELETE', '/secret/')).status, 403)
      t.equal((await world.as('owner')('GET', path)).status, 404, 'the request is gone')
      t.equal((await world.as('owner')('POST', grant)).status, 404)
      const authorization = await world.as('owner')('GET', new URL(granted.fields.location!).pathname, N_TRIPLES)
      t.ok(authorization.text.includes(`<http://www.w3.org/ns/prov#wasDerivedFrom> <${request}#this>`))
    })
    const many = (n: number, of: (i: number) => string): string => Array.from({ length: n }, (_, i) => of(i)).join('')
    // prettier-ignore
    const refused: [name: string, agent: string, body: string, status: number][] = [
      ['by an anonymous client', 'anonymous', asking(`${secret} ; ${read}`), 403],
      ['for another agent', 'stranger', asking(`${secret} ; ${read} ; <${ACL}agent> <${world.ownerWebId}>`), 403],
      ['for nothing', 'stranger', turtle('"nothing"'), 422],
      ['without a mode', 'stranger', asking(secret), 422],
      ['without a document', 'stranger', asking(read), 422],
      ['for Control', 'stranger', asking(`${secret} ; <${ACL}mode> <${ACL}Control>`), 422],
      [
        'for a document on another server',
        'stranger',
        asking(`<${ACL}accessTo> <https://example.org/> ; ${read}`),
        422,
      ],
      ['for the rules', 'stranger', asking(`<${ACL}accessTo> <${base}admin/acl/groups/owners/> ; ${read}`), 422],
      ['for a document named by a text', 'stranger', asking(`<${ACL}accessTo> "${base}x> . # " ; ${read}`), 422],
      ['for a class named by a text', 'stranger', asking(`<${ACL}accessToClass> "urn:x> . # " ; ${read}`), 422],
      ['with a mode named by a text', 'stranger', asking(`${secret} ; <${ACL}mode> "${ACL}Read"`), 422],
      ['malformed', 'stranger', '<', 400],
      ['with more values than allowed', 'stranger', asking(`${read}${many(9, (i) => ` ; <${ACL}accessTo> <${base}d${i}/>`)}`), 422],
      ['with an IRI that is too long', 'stranger', asking(`${secret} ; ${read} ; <${ACL}agentGroup> <urn:${'x'.repeat(512)}>`), 422],
    ]
    for (const [name, agent, body, status] of refused) {
      await row(`a request ${name} → ${status}`, async (t) => t.equal((await ask(agent, body)).status, status))
    }
    await row('an agent has no more than 20 requests waiting', async (t) => {
      t.equal(
        (
          await ask(
            'stranger',
            many(20, () => `${asking(`${secret} ; ${read}`)}\n`),
          )
        ).status,
        200,
      )
      t.equal((await ask('stranger', asking(`${secret} ; ${read}`))).status, 422)
    })
    await row('?grant= must name a request', async (t) => {
      for (const url of [
        `${base}secret/`,
        `${base}admin/acl/groups/owners/`,
        `${base}admin/acl/authorization-requests/`,
      ]) {
        t.equal((await world.as('owner')('POST', `/access/request?grant=${encoded(url)}`)).status, 400)
      }
    })

    await row(
      'the owner sees each request completely; if one is too large, the pages still work and show a notice',
      async (t) => {
        const waiting = (i: number): string =>
          `/admin/acl/authorization-requests/0000000${i}-0000-4000-8000-000000000000/`
        const put = (i: number, values: string): Promise<Answer> =>
          world.as('owner')('PUT', waiting(i), ttl(`<#this> a <${LACL}AuthorizationRequest>${values} .`))
        const pages = (): Promise<Answer[]> =>
        Promise.all(['/access', `/access?this=${encoded(`${base}secret/`)}`].map((path) => world.as('owner')('GET', path, accept('text/html')))) // prettier-ignore
        const asked = ` ; <${LACL}requestAccessTo> <${base}secret/>`
        t.equal(
          (await put(0, asked + many(2100, (i) => ` ; <${LACL}requestAccessTo> <${base}whole/${i}/>`))).status,
          201,
        )
        for (const { status, text } of await pages()) {
          t.equal(status, 200)
          t.ok(Array.from({ length: 2100 }, (_, i) => `${base}whole/${i}/`).every((url) => text.includes(url)))
        }
        t.equal((await put(1, `${asked} ; <${LACL}requestAgent> "${'x'.repeat(1_200_000)}"`)).status, 201)
        for (const { status, text } of await pages()) {
          t.equal(status, 200)
          t.match(text, /Access requests cannot be listed now/)
        }
        for (const i of [0, 1]) await world.as('owner')('DELETE', waiting(i))
      },
    )

    await row('explain and audit need Control', async (t) => {
      for (const more of ['&agent=', '&mode=Write', '&audit']) {
        for (const name of ['anonymous', 'stranger', 'writer', 'reader']) {
          t.equal((await access(name, `${base}secret/`, more)).status, 403)
        }
        t.equal((await access('owner', `${base}secret/`, more)).status, 200)
      }
    })
    await row('a refusal names every authorization considered, and the part that it lacks', async (t) => {
      const answer = await access('owner', `${base}own/`, `&agent=${encoded(world.webIdOf('reader'))}&mode=Write`)
      const about = lines(answer)
      t.ok(about.some((line) => line.includes('urn:triplegate:access#allowed> "false"')))
      const lacks = (slug: string, what: string): boolean =>
        about.includes(`<${base}admin/acl/authorizations/${slug}/#this> <urn:triplegate:access#lacks> "${what}" .`)
      t.ok(lacks('write-append', 'agent'))
      t.ok(lacks('full-control', 'agent'))
      t.ok(lacks('read', 'mode'))
    })
    await row('an invalid ?mode= or ?agent= → 400', async (t) => {
      t.equal((await access('owner', base, '&mode=Own')).status, 400)
      t.equal((await access('owner', base, '&agent=me')).status, 400)
    })

    await row('triplegate access explain names the agent, the reason and the authorization', async (t) => {
      const may = await command('explain', `${base}own/`, '--agent', world.webIdOf('reader'))
      t.equal(may.code, 0)
      t.match(may.out, /stranger|reader\/#this may Read .*\/own\/: an authorization names a group of the agent/)
      t.match(may.out, /granted by <.*authorizations\/read\/#this>/)
      const not = await command('explain', `${base}own/`, '--mode', 'Write')
      t.match(not.out, /^An anonymous client may not Write .*no authorization applies to the agent here/)
      t.match(not.out, /checked <.*write-append\/#this>.*it lacks the agent/)
    })
    await row('?query=: what a query of an agent is answered over, and why; for those with Control', async (t) => {
      const ask = (name: string, query: string, agent = ''): Promise<Answer> =>
        world.as(name)('GET', `/access?query=${encoded(query)}&agent=${encoded(agent)}`, N_TRIPLES)
      const strategies: [agent: string, query: string, strategy: string][] = [
        [world.ownerWebId, 'ASK { GRAPH ?g { ?s ?p ?o } }', 'unchanged'],
        [world.webIdOf('reader'), 'ASK { GRAPH ?g { ?s ?p ?o } }', 'unchanged'],
        [world.webIdOf('stranger'), `ASK { GRAPH <${base}secret/> { ?s ?p ?o } }`, 'constants'],
        [world.webIdOf('stranger'), 'ASK { GRAPH ?g { ?s ?p ?o } }', 'predicate'],
        [world.webIdOf('stranger'), 'ASK { ?s <http://www.opengis.net/ont/geosparql#sfWithin> ?o }', 'refused'],
      ]
      for (const [agent, query, strategy] of strategies) {
        const { status, text } = await ask('owner', query, agent)
        t.equal(status, 200)
        t.match(text, `<urn:triplegate:access#strategy> "${strategy}"`, `${agent}: ${query}`)
      }
      for (const name of ['anonymous', 'stranger', 'writer']) t.equal((await ask(name, 'ASK {}')).status, 403)
      t.equal((await ask('owner', 'ASK')).status, 400)
      const all = 'ASK { GRAPH ?g { ?s ?p ?o } }'
      const may = await command('explain-query', base, '--query', all, '--agent', world.webIdOf('stranger'))
      t.match(
        may.out,
        /stranger\/#this may send queries to .*\/sparql\.\nMay read: .*secret\/>.*; documents that the agent owns/,
      )
      t.match(may.out, /^predicate: .*\nThe store gets:\nASK .*FILTER/m)
      const none = await command('explain-query', base, '--query', all)
      t.match(none.out, /^An anonymous client may not send queries/)
      t.equal((await command('explain-query', base)).code, 2)
    })
    await row('triplegate access audit lists agents and their modes, for a tree too', async (t) => {
      await world.as('owner')('PUT', '/tree/', ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
      await world.as('owner')('PUT', '/tree/leaf/', ttl(turtle('"Leaf"')))
      const { code, out } = await command('audit', `${base}tree/`, '--tree')
      t.equal(code, 0)
      t.same(
        [...out.matchAll(/^https:.*$/gm)].map(([line]) => line),
        [`${base}tree/`, `${base}tree/leaf/`],
      )
      t.match(out, new RegExp(`<${world.ownerWebId}> owns it`))
      t.match(out, /read\/#this> .*: Read to .*groups\/owners.*groups\/readers/)
      const one = await command('audit', `${base}secret/`)
      t.match(one.out, /Read, Append to <.*stranger\/#this> by accessTo/)
    })
    await row('triplegate access agents lists agents with names, groups and authorizations; as JSON too', async (t) => {
      const admin = `${base}admin/`
      const plain = await command('agents', admin)
      t.equal(plain.code, 0)
      t.match(plain.out, `${world.webIdOf('reader')}\n  in the group <${admin}acl/groups/readers/#this>\n`)
      t.match(plain.out, new RegExp(`^${world.webIdOf('stranger')}\n(  in .*\n)*  named by <`, 'm'))
      const json = await command('agents', admin, '--json')
      t.match(JSON.parse(json.out), [{ agent: /^https:/, names: [/./], mailboxes: [], groups: [/./] }])
      t.match(await command('agents', base), { code: 3, out: '', error: /Give the base of the admin application/ })
      t.equal((await command('agents', admin, '--cert', `${world.folder}/certs/secretary.pem`)).code, 5)
    })
    await row('exit code 5 without a certificate that has Control; exit code 2 for wrong arguments', async (t) => {
      t.equal((await command('explain', `${base}own/`, '--cert', `${world.folder}/certs/secretary.pem`)).code, 5)
      for (const argv of [[], ['explain'], ['audit', 'nonsense'], ['explain', base, '--mode', 'Own']]) {
        t.equal((await command(...argv)).code, 2)
      }
    })
  })
})

/** Spec 2.1, 9.2: who gave a right, or refused it, is seen in the history and in the authorization. */
void t.test('decisions on requests for access', async (t) => {
  await forEachStore(t, 'decisions', async (t, makeStores, kind) => {
    const world = await makeWorld(t, await makeStores(), { flags: ['--admin-history', 'local'] })
    const row = rowsOf(t, kind)
    const { base } = world
    const owner = world.as('owner')
    const asked = async (): Promise<string> => {
      const body = `[] a <${ACL}Authorization> ; <${ACL}accessTo> <${base}> ; <${ACL}mode> <${ACL}Read> .`
      const { text } = await world.as('stranger')('POST', '/access/request', ttl(body))
      return /<([^>]*acl\/authorization-requests\/[0-9a-f-]{36}\/)>/.exec(text)![1]!
    }
    const decide = (name: string, how: 'grant' | 'refuse', request: string): Promise<Answer> =>
      world.as(name)('POST', `/access/request?${how}=${encoded(request)}`)
    const writers = async (url: string): Promise<string[]> => {
      const { text } = await owner('GET', `${new URL(url).pathname}?timemap`, accept('application/json'))
      const { versions } = JSON.parse(text) as { versions: { method: string; agent: string }[] }
      return versions.map(({ method, agent }) => `${method} ${agent}`)
    }
    const rule = (slug: string, modes: string): Promise<Answer> =>
      owner('PUT', `/admin/acl/authorizations/${slug}/`, ttl(
        `<#this> a <${ACL}Authorization> ; <${ACL}agent> <${world.webIdOf(slug)}> ; <${ACL}mode> ${modes} ; <${ACL}accessTo> <${base}> .`)) // prettier-ignore
    await rule('reader', `<${ACL}Control>`)
    await rule('writer', `<${ACL}Control>, <${ACL}Write>`)
    for (const name of ['owner', 'writer']) {
      const agent = world.webIdOf(name)
      await row(`granted by the ${name}, who creates and owns the authorization`, async (t) => {
        const request = await asked()
        const granted = await decide(name, 'grant', request)
        t.equal(granted.status, 201)
        const authorization = granted.fields.location!
        t.same(await writers(authorization), [`PUT ${agent}`])
        t.same(await writers(request), [`PUT ${world.secretaryWebId}`, `DELETE ${agent}`])
        const { text } = await owner('GET', new URL(authorization).pathname, N_TRIPLES)
        for (const property of ['http://purl.org/dc/terms/creator', `${ACL}owner`])
          t.ok(text.includes(`<${authorization}> <${property}> <${agent}>`), property)
      })
      await row(`refused by the ${name}`, async (t) => {
        const request = await asked()
        t.equal((await decide(name, 'refuse', request)).status, 204)
        t.same(await writers(request), [`PUT ${world.secretaryWebId}`, `DELETE ${agent}`])
      })
    }
    await row('Control alone decides nothing: the agent that is recorded needs Write too', async (t) => {
      const request = await asked()
      for (const how of ['grant', 'refuse'] as const) {
        const { status, text } = await decide('reader', how, request)
        t.match([status, text], [403, /Access not authorized: Write is required on /], how)
      }
      t.equal((await owner('GET', new URL(request).pathname)).status, 200, 'the request still waits')
      const made = request.replace('authorization-requests', 'authorizations')
      t.equal((await owner('GET', new URL(made).pathname)).status, 404, 'there is no authorization')
    })
  })
})
