// Design 3: in the admin application anonymous clients see foaf:mbox_sha1sum instead of foaf:mbox: in every format, in
// versions and differences, in large documents, and through no query. Both are separate representations.
import { createHash } from 'node:crypto'
import { Parser } from 'n3'
import t, { type Test } from 'tap'
import { hashedNTriples } from '../../../gateway/documents/mailboxes.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { cachedRowsOf, forEachStore, rowsOf, type Row, type Stores } from '../../support/stores.js'
import type { Answer } from '../../support/client.js'
import { accept, makeWorld, ttl, update, type World } from '../../support/world.js'

const FOAF = 'http://xmlns.com/foaf/0.1/'
const ACL = 'http://www.w3.org/ns/auth/acl#'
const sha1 = (address: string): string => createHash('sha1').update(`mailto:${address}`).digest('hex')
const FORMATS = ['text/turtle', 'application/n-triples', 'application/rdf+xml', 'application/ld+json']
const QUERY = { 'Content-Type': 'application/sparql-query' }
const LIMIT = 64 * 1024

async function withLimit(t: Test, { kind, datasets }: Stores): Promise<GraphStore> {
  const store =
    kind === 'embedded'
      ? await openEmbeddedStore('admin', { maxGraphLength: LIMIT })
      : openHttpStore({ ...fusekiEndpoints(datasets!.admin), maxGraphBytes: LIMIT })
  t.teardown(() => store.close())
  return store
}

/** An agent's document that everyone may read, with this mailbox. */
async function makeAgent(world: World, name: string, mailbox: string): Promise<string> {
  const path = `/admin/acl/agents/${name}/`
  const put = await world.as('owner')('PUT', path, ttl(`<#this> <${FOAF}mbox> ${mailbox} ; <${FOAF}name> "${name}" .`))
  if (put.status !== 201) throw new Error(put.text)
  const rule = `<#auth> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}agentClass> <${FOAF}Agent> ;
    <${ACL}accessTo> <${world.origin}${path}> .`
  const open = await world.as('owner')('PUT', `/admin/acl/authorizations/open-${name}/`, ttl(rule))
  if (open.status !== 201) throw new Error(open.text)
  return path
}

void forEachStore(t, 'mailboxes', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const admin = await withLimit(t, stores)
  const flags = ['--history', 'local', '--admin-history', 'local']
  const world = await makeWorld(t, { endUser: stores.endUser, admin }, { flags })
  const row = rowsOf(t, kind)
  const [owner, anonymous] = [world.as('owner'), world.as('anonymous')]
  const path = await makeAgent(world, 'alice', '<mailto:alice@example.org>')
  const hides = (t: Test, answer: Answer, address: string): void => {
    t.notMatch(answer.text, address)
    t.match(answer.text, sha1(address))
  }

  for (const format of FORMATS) {
    await row(`GET of an agent's document as ${format}`, async (t) => {
      const [shown, whole] = [await anonymous('GET', path, accept(format)), await owner('GET', path, accept(format))]
      t.same([shown.status, whole.status], [200, 200])
      hides(t, shown, 'alice@example.org')
      t.match(whole.text, 'mailto:alice@example.org')
      t.notMatch(whole.text, sha1('alice@example.org'))
      t.not(shown.fields.etag, whole.fields.etag, 'a representation of its own')
      t.equal(shown.fields['cache-control'], 'public, no-cache')
      t.equal(whole.fields['cache-control'], 'private, no-cache')
      for (const [client, own, other] of [
        [anonymous, shown, whole],
        [owner, whole, shown],
      ] as const) {
        const conditional = (etag: string) => client('GET', path, { fields: { Accept: format, 'If-None-Match': etag } })
        t.equal((await conditional(own.fields.etag!)).status, 304)
        t.equal((await conditional(other.fields.etag!)).status, 200)
      }
      const head = await anonymous('HEAD', path, accept(format))
      t.same([head.fields.etag, head.fields['content-length']], [shown.fields.etag, shown.fields['content-length']])
    })
  }
  await row('the hash follows a change; another agent keeps the mailbox', async (t) => {
    const change = `DELETE { ?s <${FOAF}mbox> ?o } INSERT { ?s <${FOAF}mbox> "bob@example.org" } WHERE { ?s <${FOAF}mbox> ?o }`
    t.equal((await owner('PATCH', path, update(change))).status, 204)
    hides(t, await anonymous('GET', path), 'bob@example.org')
    t.match((await world.as('reader')('GET', path)).text, 'bob@example.org')
  })
  await row('a document without a mailbox is the same for all', async (t) => {
    const group = '/admin/acl/authorizations/open-alice/'
    const rule = `<#more> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}agentClass> <${FOAF}Agent> ; <${ACL}accessTo> <${world.origin}${group}> .`
    t.equal((await owner('POST', group, ttl(rule))).status, 204)
    t.equal((await anonymous('GET', group)).fields.etag, (await owner('GET', group)).fields.etag)
  })
  await row('in the end-user application a document is the same for all', async (t) => {
    const document = world.freshPath()
    t.equal((await owner('PUT', document, ttl(`<#me> <${FOAF}mbox> <mailto:carol@example.org> .`))).status, 201)
    const rule = `<#auth> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}agentClass> <${FOAF}Agent> ; <${ACL}accessTo> <${world.origin}${document}> .`
    t.equal((await owner('PUT', '/admin/acl/authorizations/open-document/', ttl(rule))).status, 201)
    t.match((await anonymous('GET', document)).text, 'carol@example.org')
  })
  await row('versions and differences have hashes too, with their own validators', async (t) => {
    const { versions } = JSON.parse(
      (await owner('GET', `${path}?timemap`, accept('application/json'))).text,
    ) as TimeMapJson
    const [first, second] = [versions[0]!.version, versions.at(-1)!.version]
    const targets: [target: string, formats: readonly string[], addresses: string[]][] = [
      [`${path}?version=${first}`, FORMATS, ['alice@example.org']],
      [`${path}?version=${second}`, FORMATS, ['bob@example.org']],
      [
        `${path}?version=${second}&diff=${first}`,
        [...FORMATS, 'application/json', 'application/rdf-patch'],
        ['alice@example.org', 'bob@example.org'],
      ],
    ]
    for (const [target, formats, addresses] of targets) {
      for (const format of formats) {
        // In this order, so that neither is answered with a cached form of the other.
        const whole = await owner('GET', target, accept(format))
        const shown = await anonymous('GET', target, accept(format))
        t.same([whole.status, shown.status], [200, 200], `${target} ${format}: ${shown.text}`)
        for (const address of addresses) {
          hides(t, shown, address)
          t.match(whole.text, address)
        }
        t.not(shown.fields.etag, whole.fields.etag)
        t.match(whole.fields['cache-control'], /^private/, 'a shared cache must not store it')
        t.equal(shown.fields['cache-control'], 'public, no-cache', 'an agent who logs in is not shown it')
        const again = await anonymous('GET', target, {
          fields: { Accept: format, 'If-None-Match': shown.fields.etag! },
        })
        t.equal(again.status, 304)
        const other = await anonymous('GET', target, {
          fields: { Accept: format, 'If-None-Match': whole.fields.etag! },
        })
        t.equal(other.status, 200)
      }
    }
  })
  await row('forms show hashes too, and what they send rests on them', async (t) => {
    const { versions } = JSON.parse(
      (await owner('GET', `${path}?timemap`, accept('application/json'))).text,
    ) as TimeMapJson
    const html = accept('text/html')
    for (const { version } of versions) {
      const url = `${path}?form=restore&of=${version}`
      const [shown, whole] = [await anonymous('GET', url, html), await owner('GET', url, html)]
      t.same([shown.status, whole.status], [200, 200], shown.text)
      t.notMatch(shown.text, /(?:alice|bob)@example\.org/, version)
      if (version !== versions.at(-1)!.version) t.match(whole.text, 'bob@example.org')
    }
    const rule = `<#auth> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Write> ; <${ACL}agentClass> <${FOAF}Agent> ; <${ACL}accessTo> <${world.origin}${path}> .`
    t.equal((await owner('PUT', '/admin/acl/authorizations/write/', ttl(rule))).status, 201)
    const conflict = await anonymous('POST', `${path}?form=edit`, {
      fields: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html', Origin: world.origin },
      body: new URLSearchParams({ content: '<#this> <urn:p> 1 .', started: '', 'if-match': '"old"' }).toString(),
    })
    t.equal(conflict.status, 412, conflict.text)
    hides(t, conflict, 'bob@example.org')
    const { etag } = (await anonymous('GET', path, accept('text/turtle'))).fields
    t.match(conflict.text.replaceAll('&#34;', '"').replaceAll('&quot;', '"'), etag!, 'which the next attempt names')
    t.equal((await owner('DELETE', '/admin/acl/authorizations/write/')).status, 204)
  })
  await row(
    'the SPARQL endpoint of the admin application is closed to anonymous clients, even where everyone may read it',
    async (t) => {
      const rule = `<#auth> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read>, <${ACL}Write> ; <${ACL}agentClass> <${FOAF}Agent> ;
      <${ACL}accessTo> <${world.base}admin/sparql>, <${world.base}sparql> .`
      t.equal((await owner('PUT', '/admin/acl/authorizations/open-sparql/', ttl(rule))).status, 201)
      const query = { fields: QUERY, body: `SELECT ?o { GRAPH <${world.origin}${path}> { ?s <${FOAF}mbox> ?o } }` }
      const refused = await anonymous('POST', '/admin/sparql', query)
      t.equal(refused.status, 403)
      t.match(refused.text, /Anonymous clients cannot use the SPARQL endpoint of the admin application/)
      t.equal((await anonymous('POST', '/admin/sparql', update(`CLEAR GRAPH <${world.origin}${path}>`))).status, 403)
      t.match((await world.as('reader')('POST', '/admin/sparql', query)).text, 'bob@example.org')
      t.equal((await anonymous('POST', '/sparql', { fields: QUERY, body: 'ASK {}' })).status, 200)
    },
  )
  await row('a write by an anonymous client is conditional on what it was shown', async (t) => {
    const rule = `<#auth> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Append> ; <${ACL}agentClass> <${FOAF}Agent> ; <${ACL}accessTo> <${world.origin}${path}> .`
    t.equal((await owner('PUT', '/admin/acl/authorizations/append/', ttl(rule))).status, 201)
    const { etag } = (await anonymous('GET', path)).fields
    const append = (tag: string) =>
      anonymous('POST', path, {
        ...ttl(`<#this> <${FOAF}nick> "x" .`),
        fields: { 'Content-Type': 'text/turtle', 'If-Match': tag },
      })
    t.equal((await append((await owner('GET', path)).fields.etag!)).status, 412)
    const answer = await append(etag!)
    t.equal(answer.status, 204)
    t.equal(answer.fields.etag, (await anonymous('GET', path)).fields.etag)
  })
  await largeDocuments(row, cachedRowsOf(t, kind), world, admin)
})

async function largeDocuments(row: Row, cachedRow: Row, world: World, admin: GraphStore): Promise<void> {
  const [owner, anonymous] = [world.as('owner'), world.as('anonymous')]
  const make = async (name: string): Promise<string> => {
    const path = await makeAgent(world, name, `<mailto:${name}@example.org>`)
    const iri = world.origin + path
    const lines = Array.from(
      { length: 2_000 },
      (_, i) => `<${iri}#this> <http://e/p> "${i} of a document that is large" .\n`,
    )
    lines.splice(1_000, 0, `<${iri}#this> <${FOAF}mbox> <mailto:${name}@example.org> .\n`)
    const failed = await admin.replace(iri, lines.join(''))
    if (failed) throw new Error(failed.detail)
    world.running.dataspaces[0]!.admin.cache.versions.changed(iri)
    return path
  }
  await row('a large document is streamed with hashes', async (t) => {
    const path = await make('large')
    const [shown, whole] = [await anonymous('GET', path), await owner('GET', path)]
    t.same([shown.status, whole.status], [200, 200])
    t.equal(shown.fields['content-length'], undefined, 'it is streamed')
    t.notMatch(shown.text, 'large@example.org')
    t.match(shown.text, sha1('large@example.org'))
    t.match(whole.text, 'large@example.org')
    t.equal(new Parser().parse(shown.text).length, new Parser().parse(whole.text).length)
    t.not(shown.trailers.etag, whole.trailers.etag)
  })
  await cachedRow('a large document is 304 for the validator of its own variant only', async (t) => {
    const path = await make('larger')
    const [shown, whole] = [await anonymous('GET', path), await owner('GET', path)]
    const conditional = async (client: typeof owner, etag: string | undefined): Promise<number> =>
      (await client('GET', path, { fields: { 'If-None-Match': etag! } })).status
    t.equal(await conditional(anonymous, shown.trailers.etag), 304)
    t.equal(await conditional(owner, whole.trailers.etag), 304)
    t.equal(await conditional(anonymous, whole.trailers.etag), 200)
    t.equal(await conditional(owner, shown.trailers.etag), 200)
  })
}

void t.test('N-Triples of any spelling', (t) => {
  const hash = `<urn:s> <${FOAF}mbox_sha1sum> "${sha1('a@example.org')}" .\n`
  const rows: [nTriples: string, shown: string][] = [
    [`<urn:s> <${FOAF}mbox> <mailto:a@example.org> .\n`, hash],
    [`<urn:s>\t<${FOAF}mbox>\t"a@example.org" . # comment\n`, hash],
    [`<urn:s> <${FOAF}mbo\\u0078> <mailto:a@example.org> .\n`, hash],
    [`<urn:s> <${FOAF}mbo\\U00000078> <mailto:\\u0061@example.org> .\n`, hash],
    [`<urn:s> <${FOAF}mbox_sha1sum> "0" .\n`, `<urn:s> <${FOAF}mbox_sha1sum> "0" .\n`],
    [`<urn:s> <urn:p> <${FOAF}mbox> .\n`, `<urn:s> <urn:p> <${FOAF}mbox> .\n`],
    ['<urn:s> <urn:p> "x" .\n', '<urn:s> <urn:p> "x" .\n'],
    ['mbox is not N-Triples', 'mbox is not N-Triples'],
  ]
  for (const [nTriples, shown] of rows) t.equal(hashedNTriples(nTriples), shown)
  t.end()
})
