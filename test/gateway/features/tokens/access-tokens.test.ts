// Access tokens: who may create, list and revoke them, what they prove, the rights that their limits leave, and that
// they are not revealed to others.
import { mkdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeLog } from '../../../../gateway/log.js'
import { openAccessTokens } from '../../../../gateway/features/tokens/issued-tokens.js'
import { runTokenCommand } from '../../../../gateway/features/tokens/command.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import type { Answer, Send } from '../../../support/client.js'
import { accept, makeWorld, ttl, turtle, update } from '../../../support/world.js'

const TGA = 'urn:triplegate:access#'
const ACL = 'http://www.w3.org/ns/auth/acl#'
const DAY = 86_400_000

const described = (more = ''): Send => ({
  fields: { ...ttl('').fields, Accept: 'application/n-triples' },
  body: `<#t> a <${TGA}AccessToken> ; <http://purl.org/dc/terms/title> "for a test" ${more} .`,
})
const secretIn = ({ text }: Answer): string => /#token> "(tgt_[^"]+)"/.exec(text)?.[1] ?? ''
const bearer = (token: string): Send => ({ fields: { Authorization: `Bearer ${token}` } })
const basic = (token: string, user = 'any'): Send => ({
  fields: { Authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` },
})
const both = (one: Send, other: Send): Send => ({ ...one, ...other, fields: { ...one.fields, ...other.fields } })

void t.test('access tokens', async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--history', 'local'] })
  const { as, webIdOf, base } = world
  const [owner, anonymous] = [as('owner'), as('anonymous')]
  const TOKENS = '/admin/tokens'
  const container = ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
  for (const path of ['/in/', '/out/']) await owner('PUT', path, container)
  for (const path of ['/in/a/', '/out/a/']) await owner('PUT', path, ttl(turtle('"a"')))
  const create = async (agent: string, more = ''): Promise<string> => {
    const created = await as(agent)('POST', TOKENS, described(more))
    t.equal(created.status, 201, created.text)
    return secretIn(created)
  }
  const [readOnly, only] = [`; <${ACL}mode> <${ACL}Read>`, `; <${TGA}only> <${base}in/>`]
  const tokens = {
    owner: await create('owner'),
    writer: await create('writer'),
    reader: await create('reader'),
    readOnly: await create('owner', readOnly),
    only: await create('owner', only),
    onlyRead: await create('owner', readOnly + only),
    root: await create('owner', `; <${TGA}only> <${base}>`),
    rules: await create('owner', `; <${TGA}only> <${base}admin/>`),
    forStranger: await create('owner', `; <${ACL}agent> <${webIdOf('stranger')}>`),
  }

  await t.test('who may create one, and for whom', async (t) => {
    const forWriter = `; <${ACL}agent> <${webIdOf('writer')}>`
    // prettier-ignore
    const rows: [name: string, status: number, create: () => Promise<Answer>][] = [
      ['an anonymous client', 403, () => anonymous('POST', TOKENS, described())],
      ['an agent without a right to the endpoint', 403, () => as('stranger')('POST', TOKENS, described())],
      ['for another agent, without Control', 403, () => as('reader')('POST', TOKENS, described(forWriter))],
      ['for another agent, with Control', 201, () => owner('POST', TOKENS, described(forWriter))],
      ['with a token of an agent with Control', 201, () => anonymous('POST', TOKENS, both(described(), bearer(tokens.owner)))],
      ['with a token of an agent without Control', 403, () => anonymous('POST', TOKENS, both(described(), bearer(tokens.reader)))],
      ['with a read-only token', 403, () => anonymous('POST', TOKENS, both(described(), bearer(tokens.readOnly)))],
      ['with a token for some documents', 403, () => anonymous('POST', TOKENS, both(described(), bearer(tokens.only)))],
      ['from a page of another site', 403, () => owner('POST', TOKENS, both(described(), { fields: { Origin: 'https://evil.example' } }))],
      ['without a name', 422, () => owner('POST', TOKENS, ttl(`<#t> a <${TGA}AccessToken> .`))],
      ['of a document of others', 422, () => owner('POST', TOKENS, described(`; <${TGA}only> <https://other.example/>`))],
      ['that expired', 422, () => owner('POST', TOKENS, described(`; <${TGA}expires> "2020-01-01T00:00:00Z"`))],
      ['for another mode than Read', 422, () => owner('POST', TOKENS, described(`; <${ACL}mode> <${ACL}Write>`))],
      ...['mode', 'agent'].flatMap((property): typeof rows => [
        [`with a text as ${property}`, 422, () => owner('POST', TOKENS, described(`; <${ACL}${property}> "${property === 'mode' ? `${ACL}Read` : webIdOf('reader')}"`))],
        [`with a blank node as ${property}`, 422, () => owner('POST', TOKENS, described(`; <${ACL}${property}> []`))],
      ]),
      ['with a text as the documents', 422, () => owner('POST', TOKENS, described(`; <${TGA}only> "${base}in/"`))],
      ['with a text beside the IRI of the documents', 422, () => owner('POST', TOKENS, described(`; <${TGA}only> <${base}in/>, "${base}in/a/"`))],
      ['with a limit to Read that JSON-LD takes for a text', 422, () => owner('POST', TOKENS, { fields: { 'Content-Type': 'application/ld+json' }, body: JSON.stringify({ '@type': `${TGA}AccessToken`, 'http://purl.org/dc/terms/title': 'read', [`${ACL}mode`]: `${ACL}Read` }) })],
      ['with a triple term as its end', 422, () => owner('POST', TOKENS, described(`; <${TGA}expires> <<( <urn:s> <urn:p> 1 )>>`))],
      ['in the end-user application, where the path names a document', 308, () => owner('POST', '/tokens', described())],
    ]
    for (const [name, status, act] of rows) {
      const { status: actual, text } = await act()
      t.equal(actual, status, `${name}: ${text}`)
    }
  })

  await t.test('what a token may do', async (t) => {
    // No agent may fetch from this address: 400 shows that the token may use the proxy.
    const ELSEWHERE = '/?uri=http://10.0.0.1/'
    const put = ttl(turtle('"b"'))
    const ask = { fields: { 'Content-Type': 'application/sparql-query' }, body: 'ASK {}' }
    const open = update(`INSERT { <${base}> <https://w3id.org/atomgraph/linkeddatahub/apps#allowRead> true } WHERE {}`)
    const html = accept('text/html')
    const [here, above] = [`/admin/access?this=${base}in/a/`, `/admin/access?this=${base}admin/`]
    const insert = update(`INSERT DATA { GRAPH <${base}in/a/> { <urn:s> <urn:p> 1 } }`)
    // prettier-ignore
    const rows: [name: string, token: string, method: string, path: string, status: number, send?: Send][] = [
      ['the owner reads', tokens.owner, 'GET', '/out/a/', 200],
      ['the owner writes', tokens.owner, 'PUT', '/out/a/', 200, put],
      ['the owner reads rules', tokens.owner, 'GET', '/admin/', 200],
      ['a writer writes', tokens.writer, 'PUT', '/in/b/', 201, put],
      ['a writer reads no rules', tokens.writer, 'GET', '/admin/', 403],
      ['a reader reads', tokens.reader, 'GET', '/in/a/', 200],
      ['a reader writes nothing', tokens.reader, 'PUT', '/in/a/', 403, put],
      ['an agent without rights', tokens.forStranger, 'GET', '/in/a/', 403],
      ['read-only: reads', tokens.readOnly, 'GET', '/in/a/', 200],
      ['read-only: PUT', tokens.readOnly, 'PUT', '/in/a/', 403, put],
      ['read-only: a new document', tokens.readOnly, 'PUT', '/in/new/', 403, put],
      ['read-only: POST', tokens.readOnly, 'POST', '/in/a/', 403, put],
      ['read-only: PATCH', tokens.readOnly, 'PATCH', '/in/a/', 403, update('DELETE WHERE { ?s ?p ?o }')],
      ['read-only: DELETE', tokens.readOnly, 'DELETE', '/in/a/', 403],
      ['read-only: a subtree', tokens.readOnly, 'DELETE', '/in/?cascade', 403],
      ['read-only: a query', tokens.readOnly, 'POST', '/sparql', 200, ask],
      ['read-only: an update', tokens.readOnly, 'POST', '/sparql', 403, insert],
      ['read-only: a version', tokens.readOnly, 'GET', '/in/a/?timemap', 200],
      ['read-only: a request for access', tokens.readOnly, 'POST', '/access/request', 403, put],
      ['read-only: explaining access needs Control', tokens.readOnly, 'GET', `/access?this=${base}in/a/&agent=&mode=Read`, 403],
      ['only: reads there', tokens.only, 'GET', '/in/a/', 200],
      ['only: writes there', tokens.only, 'PUT', '/in/a/', 200, put],
      ['only: a new document there', tokens.only, 'PUT', '/in/c/', 201, put],
      ['only: versions there', tokens.only, 'GET', '/in/a/?timemap', 200],
      ['only: elsewhere', tokens.only, 'GET', '/out/a/', 403],
      ['only: above', tokens.only, 'GET', '/', 403],
      ['only: absent documents elsewhere look the same', tokens.only, 'GET', '/out/none/', 403],
      ['only: a new document elsewhere', tokens.only, 'PUT', '/out/c/', 403, put],
      ['only: versions elsewhere', tokens.only, 'GET', '/out/a/?timemap', 403],
      ['only: rules', tokens.only, 'GET', '/admin/', 403],
      ['only the root: writes below it', tokens.root, 'PUT', '/out/a/', 200, put],
      ['only the root: the rules below it', tokens.root, 'GET', '/admin/', 403],
      ['only the root: writes no rule', tokens.root, 'PUT', '/admin/acl/authorizations/by-token/', 403, put],
      ['only the root: a query of the rules', tokens.root, 'POST', '/admin/sparql', 403, ask],
      ['only the rules: reads them', tokens.rules, 'GET', '/admin/', 200],
      ['only the rules: documents', tokens.rules, 'GET', '/in/a/', 403],
      ['only the rules: the settings of the documents', tokens.rules, 'GET', '/settings', 403],
      ['only the rules: a change of these', tokens.rules, 'PATCH', '/settings', 403, open],
      ['only the rules: the names of documents', tokens.rules, 'GET', `${here}&tree`, 403],
      ['only the rules: who may use a document', tokens.rules, 'GET', `${here}&audit`, 403],
      ['only the rules: why an agent may read a document', tokens.rules, 'GET', `${here}&agent=&mode=Read`, 403],
      ['only the rules: the same about a graph', tokens.rules, 'GET', '/admin/access?graph=urn:g&audit', 403],
      ['only the rules: the same about a rule', tokens.rules, 'GET', `${above}&agent=&mode=Read`, 200],
      ['only the rules: their names', tokens.rules, 'GET', `${above}&tree`, 200],
      ['only the rules: how a query is restricted', tokens.rules, 'GET', '/access?query=ASK%20%7B%7D', 403],
      ['no limit: the settings of the documents', tokens.owner, 'GET', '/settings', 200],
      ['no limit: the names of documents', tokens.owner, 'GET', `${here}&tree`, 200],
      ['only: tokens', tokens.only, 'GET', TOKENS, 403],
      ['read-only: a write to another server', tokens.readOnly, 'PUT', ELSEWHERE, 403, put],
      ['read-only: a read of another server', tokens.readOnly, 'GET', ELSEWHERE, 400],
      ['only: a write to another server', tokens.only, 'DELETE', ELSEWHERE, 403],
      ['no limit: a write to another server', tokens.owner, 'PUT', ELSEWHERE, 400, put],
      ['only and read-only: a read below', tokens.onlyRead, 'GET', '/in/a/', 200],
      ['only and read-only: a write below', tokens.onlyRead, 'PUT', '/in/a/', 403, put],
      ['only and read-only: a read elsewhere', tokens.onlyRead, 'GET', '/out/a/', 403],
    ]
    for (const [name, token, method, path, status, send = {}] of rows) {
      const answers = [await anonymous(method, path, both(send, bearer(token)))]
      if (method === 'GET') answers.push(await anonymous(method, path, both(send, basic(token))))
      for (const answer of answers) t.equal(answer.status, status, `${name}: ${answer.text.slice(0, 200)}`)
    }
    const pageFor = async (token: string): Promise<string> =>
      (await anonymous('GET', here, both(html, bearer(token)))).text
    const about = 'Check access'
    t.ok((await pageFor(tokens.owner)).includes(about), 'the page about access answers questions about other agents')
    t.notOk((await pageFor(tokens.rules)).includes(about), 'only the rules: not about documents')
    // The decision on one document is cached separately for each limit.
    t.equal(
      (await anonymous('GET', '/in/a/', bearer(tokens.owner))).fields['wac-allow'],
      'user="read write append control",public=""',
    )
    t.equal((await anonymous('GET', '/in/a/', bearer(tokens.readOnly))).fields['wac-allow'], 'user="read",public=""')
    t.equal((await anonymous('GET', '/in/a/', bearer(tokens.owner))).fields['cache-control'], 'private, no-cache')
  })

  await t.test('what a token reaches by SPARQL', async (t) => {
    const [inside, outside, rule] = [`${base}in/a/`, `${base}out/a/`, `${base}admin/`]
    const graphs = 'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }'
    const csv = { Accept: 'text/csv', 'Content-Type': 'application/sparql-query' }
    const rules = await create('owner', `; <${TGA}only> <${rule}>`)
    const other = 'urn:other'
    await endUser.update(`INSERT DATA { GRAPH <${other}> { <urn:s> <urn:p> 1 } }`)
    const named = `<${ACL}agent> <${webIdOf('owner')}> ; <${ACL}mode> <${ACL}Read>, <${ACL}Write> ; <${ACL}accessTo> <${other}>`
    await owner('PUT', '/admin/acl/authorizations/other/', ttl(`<#this> a <${ACL}Authorization> ; ${named} .`))
    // prettier-ignore
    const reads: [name: string, token: string, path: string, status: number, shown: readonly string[], hidden: readonly string[]][] = [
      ['no limit', tokens.owner, '/sparql', 200, [inside, outside, other], []],
      ['read-only', tokens.readOnly, '/sparql', 200, [inside, outside, other], []],
      ['only: the endpoint is not below it', tokens.only, '/sparql', 403, [], []],
      ['only and read-only', tokens.onlyRead, '/sparql', 403, [], []],
      ['only the root', tokens.root, '/sparql', 200, [inside, outside], [other]],
      ['no limit: rules', tokens.owner, '/admin/sparql', 200, [rule], [inside]],
      ['read-only: rules', tokens.readOnly, '/admin/sparql', 200, [rule], [inside]],
      ['only the rules', rules, '/admin/sparql', 200, [rule], [inside]],
    ]
    for (const [name, token, path, status, shown, hidden] of reads) {
      const answer = await anonymous('POST', path, both({ fields: csv, body: graphs }, bearer(token)))
      const lines = answer.text.split(/\r?\n/)
      t.equal(answer.status, status, `${name}: ${answer.text.slice(0, 200)}`)
      for (const graph of shown) t.ok(lines.includes(graph), `${name}: ${graph}`)
      for (const graph of hidden) t.notOk(lines.includes(graph), `${name}: not ${graph}`)
    }
    // prettier-ignore
    const writes: [name: string, token: string, graph: string, status: number][] = [
      ['no limit, though the embedded store has documents only', tokens.owner, other, 422],
      ['only: there', tokens.only, inside, 403],
      ['only the root: below it', tokens.root, outside, 200],
      ['only the root: elsewhere', tokens.root, other, 403],
      ['only the rules: elsewhere', rules, inside, 403],
    ]
    for (const [name, token, graph, status] of writes) {
      const insert = update(`INSERT DATA { GRAPH <${graph}> { <urn:s> <urn:p> 2 } }`)
      const { text, ...answer } = await anonymous('POST', '/sparql', both(insert, bearer(token)))
      t.equal(answer.status, status, `${name}: ${text}`)
    }
  })

  await t.test('credentials', async (t) => {
    const unknown = `${tokens.owner.slice(0, -2)}${tokens.owner.endsWith('AA') ? 'BB' : 'AA'}`
    const from = as('anonymous')
    // prettier-ignore
    const rows: [name: string, send: Send, status: number, challenge?: RegExp][] = [
      ['an unknown secret', bearer(unknown), 401, /^Bearer/],
      ['an unknown ID', bearer(`tgt_${'0'.repeat(16)}_${'A'.repeat(43)}`), 401, /^Bearer/],
      ['a token that is not one of ours', bearer('tgt_x'), 401, /^Bearer/],
      ['a wrong password', basic('secret'), 401, /^Basic realm=/],
      ['Basic without a password', { fields: { Authorization: 'Basic eA==' } }, 401, /^Basic realm=/],
      ['a token of an identity provider', bearer('a.b.c'), 401, /DPoP/],
      ['Basic is sent by browsers: a write of another site', both(both(ttl(turtle('"x"')), basic(tokens.owner)), { fields: { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' } }), 403],
      ['a bearer token is not', both(both(ttl(turtle('"x"')), bearer(tokens.owner)), { fields: { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' } }), 200],
    ]
    for (const [name, send, status, challenge] of rows) {
      const answer = await from(send.body === undefined ? 'GET' : 'PUT', '/in/a/', send)
      t.equal(answer.status, status, `${name}: ${answer.text}`)
      if (challenge) t.match(answer.fields['www-authenticate'], challenge, name)
    }
    t.equal(
      (await as('reader')('GET', '/in/a/', bearer(tokens.reader))).status,
      200,
      'with a certificate of the same agent',
    )
    t.equal((await as('reader')('GET', '/in/a/', bearer(tokens.owner))).status, 400, 'with a certificate of another')
    t.equal((await as('reader')('GET', '/admin/', basic(tokens.reader))).status, 403, 'not more than the agent')
  })

  await t.test('listing and revoking', async (t) => {
    const nt = accept('application/n-triples')
    const listed = async (agent: string): Promise<string> => (await as(agent)('GET', TOKENS, nt)).text
    const idOf = (token: string): string => token.split('_')[1]!
    const readers = await listed('reader')
    t.match(readers, idOf(tokens.reader))
    t.match(readers, `<${TGA}lastUsed>`)
    t.notMatch(readers, idOf(tokens.owner), 'one lists one’s own')
    t.match(await listed('owner'), idOf(tokens.reader), 'with Control those of all')
    t.equal((await anonymous('GET', TOKENS)).status, 403)
    t.equal((await as('reader')('DELETE', `${TOKENS}/${idOf(tokens.owner)}`)).status, 404)
    t.equal((await anonymous('DELETE', `${TOKENS}/${idOf(tokens.readOnly)}`, bearer(tokens.readOnly))).status, 403)
    t.equal((await as('reader')('DELETE', `${TOKENS}/${idOf(tokens.reader)}`)).status, 204)
    t.equal((await anonymous('GET', '/in/a/', bearer(tokens.reader))).status, 401, 'revoked at once')
    t.equal((await owner('DELETE', `${TOKENS}/${idOf(tokens.writer)}`)).status, 204)
    t.equal((await anonymous('GET', '/in/a/', bearer(tokens.writer))).status, 401)
  })

  await t.test('on the disk and in the log', async (t) => {
    const file = join(world.folder, 'access-tokens.json')
    const stored = readFileSync(file, 'utf8')
    t.equal(statSync(file).mode & 0o777, 0o600)
    const secrets = Object.values(tokens).map((token) => token.split('_').slice(2).join('_'))
    for (const secret of secrets) {
      t.notOk(stored.includes(secret), 'only a hash is stored')
      t.notOk(JSON.stringify(world.log).includes(secret), 'no token is in the log')
    }
    const options = { now: Date.now, log: makeLog('silent') }
    const again = await openAccessTokens(file, options)
    t.equal(again?.find(tokens.owner, `${base}admin/`)?.agent, world.ownerWebId, 'it outlives the process')
    t.equal(again?.find(tokens.owner, 'https://other.example/admin/'), undefined, 'not in another dataspace')
    t.equal(again?.find(tokens.reader, `${base}admin/`), undefined, 'a revoked token does not come back')
    const later = await openAccessTokens(file, { ...options, now: () => Date.now() + 91 * DAY })
    t.equal(later?.find(tokens.owner, `${base}admin/`), undefined, 'nor does an expired one')
    t.same(later?.list(`${base}admin/`), [])
    const broken = await openAccessTokens(file, options)
    const { id } = broken!.find(tokens.owner, `${base}admin/`)!
    mkdirSync(`${file}.new`)
    t.equal(await broken!.revoke(id), 'failed')
    t.equal(broken!.find(tokens.owner, `${base}admin/`), undefined, 'it is invalid at once')
    t.ok(
      broken!.list(`${base}admin/`).some((token) => token.id === id),
      'and can be revoked again',
    )
    rmdirSync(`${file}.new`)
  })

  await t.test('triplegate token', async (t) => {
    const command = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
      const [out, err]: [string[], string[]] = [[], []]
      const terminal = { out: (text: string | Buffer) => out.push(String(text)), error: (text: string) => err.push(text), waiting: () => undefined, interactive: false, now: Date.now } // prettier-ignore
      const code = await runTokenCommand([...args, '--admin', `${base}admin/`, '--data', world.folder], {}, terminal)
      return { code, out: out.join(''), err: err.join('') }
    }
    const made = await command('create', '--name', 'by command', '--for', webIdOf('reader'), '--expires', '2h', '--read-only', '--only', `${base}in/`) // prettier-ignore
    t.match(made, { code: 0, out: /^tgt_\S+\n$/, err: /by command, for \S+, expires \S+, never used, read-only, only/ })
    const token = made.out.trim()
    t.equal((await anonymous('GET', '/in/a/', bearer(token))).status, 200)
    t.match(await command('list'), { code: 0, out: /by command/ })
    const listed = JSON.parse((await command('list', '--json')).out) as { id: string; name: string }[]
    const { id } = listed.find(({ name }) => name === 'by command')!
    t.equal((await command('revoke', id)).code, 0)
    t.equal((await anonymous('GET', '/in/a/', bearer(token))).status, 401)
    t.match(await command('revoke', id), { code: 4, err: /no such access token/ })
    t.match(await command('create'), { code: 2, err: /--name/ })
    t.match(await command('create', '--name', 'x', '--expires', 'soon'), { code: 2, err: /--expires/ })
    t.match(await command('create', '--name', 'x', '--expires', '400d'), { code: 3, err: /next 366 days/ })
    t.match(await command('revoke', '../x'), { code: 2, err: /not the ID of a token/ })
  })

  await t.test('guesses', async (t) => {
    let last = 0
    for (let i = 0; i < 12; i++) last = (await anonymous('GET', '/', bearer('tgt_wrong'))).status
    t.equal(last, 429, 'many wrong ones are slowed down')
    t.equal((await anonymous('GET', '/in/a/', bearer(tokens.owner))).status, 200, 'and right ones are not')
    t.ok(
      world.log.some(({ msg }) => /many wrong access tokens/.test(String(msg))),
      'and logged',
    )
  })
})
