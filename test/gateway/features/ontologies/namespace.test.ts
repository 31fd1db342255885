// The namespace ontology (spec 4.3, LinkedDataHub 2.3): its closure, queries over it, and reading it again.
import { createServer, type Server } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { until } from '../../../support/wait.js'
import { accept, makeWorld, ttl, turtle, type World } from '../../../support/world.js'
import type { Answer } from '../../../support/client.js'
import { withReadMethods } from '../../../support/query-method.js'

const OWL = 'http://www.w3.org/2002/07/owl#'
const RDFS = 'http://www.w3.org/2000/01/rdf-schema#'
const SH = 'http://www.w3.org/ns/shacl#'
const DOCUMENT = '/admin/ontologies/namespace/'

/** Turtle by path, or content of another type. A path without content is answered with 500. */
type Texts = Map<string, string | readonly [fields: Record<string, string>, body: string | Buffer]>

async function serve(t: Test): Promise<{ url: string; texts: Texts; asked: string[] }> {
  const texts: Texts = new Map()
  const asked: string[] = []
  const server: Server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const text = texts.get(url)
    const [fields, body] = typeof text === 'string' ? [{ 'Content-Type': 'text/turtle' }, text] : (text ?? [{}, ''])
    response.writeHead(text === undefined ? 500 : 200, fields).end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, texts, asked }
}

const ontology = (iri: string, imports: readonly string[], more = ''): string =>
  `<${iri}> a <${OWL}Ontology> . ${imports.map((one) => `<${iri}> <${OWL}imports> <${one}> .`).join(' ')} ${more}`

const form = (fields: Record<string, string>) => ({
  fields: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})

const ask = async (world: World, pattern: string, path = '/ns', agent = 'anonymous'): Promise<string> => {
  const query = encodeURIComponent(`ASK { ${pattern} }`)
  const { status, text } = await world.as(agent)(
    'GET',
    `${path}?query=${query}`,
    accept('application/sparql-results+json'),
  )
  return status === 200 ? String((JSON.parse(text) as { boolean: boolean }).boolean) : `${status} ${text}`
}

const clear = (world: World, uri: string, agent = 'owner', referer?: string): Promise<Answer> => {
  const { fields, body } = form({ uri })
  return world.as(agent)('POST', '/admin/clear', { fields: { ...fields, ...(referer && { Referer: referer }) }, body })
}

void forEachStore(t, 'the namespace ontology', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores(), { flags: ['--allow-fetch', '127.0.0.0/8'] })
  const row = rowsOf(t, kind)
  const owner = world.as('owner')
  const remote = await serve(t)
  const ns = `${world.base}ns#`
  const put = (more: string, imports: readonly string[] = []): Promise<Answer> =>
    owner('PUT', DOCUMENT, ttl(ontology(ns, imports, more)))

  await row(
    'is public, with content negotiation and conditions, and without statements about its document',
    async (t) => {
      t.equal((await put(`<${ns}Bill> a <${OWL}Class> .`)).status, 200)
      for (const agent of ['anonymous', 'stranger', 'owner']) {
        const { status, text, fields } = await world.as(agent)('GET', '/ns', accept('application/n-triples'))
        t.equal(status, 200, agent)
        t.equal(fields['content-type'], 'application/n-triples;charset=UTF-8')
        t.match(text, `<${ns}Bill> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${OWL}Class> .`)
        t.notMatch(text, world.ownerWebId, 'who owns the document')
      }
      const { fields } = await world.as('anonymous')('GET', '/ns')
      t.equal((await world.as('anonymous')('GET', '/ns', { fields: { 'If-None-Match': fields.etag! } })).status, 304)
      t.equal((await world.as('anonymous')('GET', '/ns', { fields: { 'If-Match': '"other"' } })).status, 412)
      t.not((await world.as('anonymous')('GET', '/ns', accept('application/n-triples'))).fields.etag, fields.etag)
    },
  )

  await row('has the blank nodes that its documents were sent with, in queries', async (t) => {
    const restriction = `<${ns}Bill> <${RDFS}subClassOf> [ a <${OWL}Restriction> ; <${OWL}onProperty> <${ns}p> ] .`
    const made = `[] a <${OWL}Class> ; <${RDFS}label> "Made by a form" . <${ns}Sub> <${RDFS}subClassOf> [ <${RDFS}label> "Labelled" ] .`
    t.equal((await put(restriction + made)).status, 200)
    const [asked, blank] = [(pattern: string) => ask(world, pattern), 'FILTER(isBlank(?x))']
    t.equal(await asked(`<${ns}Bill> <${RDFS}subClassOf> ?x . ?x <${OWL}onProperty> ?p ${blank}`), 'true')
    t.equal(await asked(`?x <${RDFS}label> ?label ${blank}`), 'false', 'a resource with a label can be named')
  })

  await row('is served in the same way if it is large', async (t) => {
    const classes = Array.from({ length: 700 }, (_, i) => `<${ns}Class${i}> a <${OWL}Class> .`).join('\n')
    t.equal((await put(classes)).status, 200)
    for (const type of ['application/n-triples', 'text/turtle']) {
      const { status, text, fields } = await world.as('anonymous')('GET', '/ns', accept(type))
      t.match({ status, text }, { status: 200, text: /Class699/ })
      t.notMatch(text, world.ownerWebId)
      const again = await world.as('anonymous')('GET', '/ns', {
        fields: { Accept: type, 'If-None-Match': fields.etag! },
      })
      t.equal(again.status, 304)
    }
    t.equal((await put(`<${ns}Bill> a <${OWL}Class> .`)).status, 200)
  })

  await row('shows anonymous clients no mailboxes, as its document does not', async (t) => {
    const contact = `<${ns}> <http://xmlns.com/foaf/0.1/mbox> <mailto:dora@example.org> .`
    for (const count of [0, 700]) {
      const classes = Array.from({ length: count }, (_, i) => `<${ns}Class${i}> a <${OWL}Class> .`).join('\n')
      t.equal((await put(`${contact} ${classes}`)).status, 200)
      for (const path of ['/ns', '/admin/ns']) {
        const [shown, whole] = [await world.as('anonymous')('GET', path), await owner('GET', path)]
        t.same([shown.status, whole.status], [200, 200])
        t.notMatch(shown.text, 'dora@example.org', path)
        t.match(shown.text, 'mbox_sha1sum')
        t.match(whole.text, 'dora@example.org')
      }
    }
    for (const agent of ['anonymous', 'owner']) {
      t.equal(await ask(world, '?s ?p <mailto:dora@example.org>', '/ns', agent), 'false', 'all share one closure')
      t.equal(await ask(world, `<${ns}> <http://xmlns.com/foaf/0.1/mbox_sha1sum> ?o`, '/ns', agent), 'true')
    }
  })

  await row('queries', async (t) => {
    t.equal(
      (
        await put(`<${ns}Invoice> <${RDFS}subClassOf> <${ns}Bill> . <${ns}Bill> <${RDFS}subClassOf> <${ns}Paper> .
      <${ns}mine> a <${ns}Invoice> ; <${ns}paidBy> <${ns}me> . <${ns}paidBy> <${RDFS}subPropertyOf> <${ns}by> . <${ns}by> <${RDFS}subPropertyOf> <${ns}of> .`)
      ).status,
      200,
    )
    // prettier-ignore
    const rows: readonly (readonly [name: string, pattern: string, expected: string])[] = [
      ['relative IRIs are resolved against the endpoint',  '<#mine> ?p ?o',                               'true'],
      ['a type follows from a subclass of a subclass',     '<#mine> a <#Paper>',                          'true'],
      ['subclasses are transitive',                        `<#Invoice> <${RDFS}subClassOf> <#Paper>`,     'true'],
      ['a property follows from a subproperty',            '<#mine> <#of> <#me>',                         'true'],
      ['subproperties are transitive',                     `<#paidBy> <${RDFS}subPropertyOf> <#of>`,      'true'],
      ['nothing else follows',                             '<#me> a ?type',                               'false'],
      ['there is no other graph',                          'GRAPH ?g { ?s ?p ?o }',                       'false'],
      ['no other server is asked',                         'SERVICE <http://127.0.0.1/> { ?s ?p ?o }',    '403'],
      ['no function of a store',                           '?s ?p ?o FILTER(<urn:f>(?o))',                '400'],
      ['no syntax error',                                  '?s ?p',                                       '400'],
    ]
    for (const [name, pattern, expected] of rows) t.match(await ask(world, pattern), new RegExp(`^${expected}`), name)
    t.equal(await ask(world, '<#mine> ?p ?o', '/ns/bills/'), 'false', 'against its own URL')
    t.equal(await ask(world, '<../../ns#mine> ?p ?o', '/ns/bills/'), 'true')
    t.equal(await ask(world, '?s ?p ?o', '/admin/ns'), 'false', 'the admin application has its own ontology')
  })

  await row('ontologies are imported as raw hosting serves them', async (t) => {
    const is = (name: string): string => `<${remote.url}#${name}> a <${OWL}Class> .`
    const context = JSON.stringify({ '@context': { Class: `${OWL}Class`, id: '@id', type: '@type' } })
    const link = (path: string, rel: string): Record<string, string> => ({ Link: `<${path}>; rel="${rel}"; type="application/ld+json"` }) // prettier-ignore
    const xml = `<?xml version="1.0" encoding="UTF-16"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:o="${OWL}"><o:Class rdf:about="${remote.url}#xml"/></rdf:RDF>`
    const json = (name: string): string => JSON.stringify({ id: `${remote.url}#${name}`, type: 'Class' })
    const served: Readonly<Record<string, readonly [fields: Record<string, string>, body: string | Buffer]>> = {
      '/plain.ttl': [{ 'Content-Type': 'text/plain; charset=utf-8' }, is('plain')],
      '/bytes': [{ 'Content-Type': 'application/octet-stream' }, is('bytes')],
      '/packed.ttl.gz': [{ 'Content-Type': 'application/gzip' }, gzipSync(is('packed'))],
      '/coded': [{ 'Content-Type': 'text/turtle', 'Content-Encoding': 'gzip' }, gzipSync(is('coded'))],
      '/xml': [{ 'Content-Type': 'text/xml' }, Buffer.from(`\ufeff${xml}`, 'utf16le')],
      '/json': [
        { 'Content-Type': 'application/json', ...link('/context', 'http://www.w3.org/ns/json-ld#context') },
        json('json'),
      ],
      '/paged': [
        { 'Content-Type': 'application/ld+json' },
        json('paged').replace('{', `{"@context":"${remote.url}/page",`),
      ],
      '/page': [{ 'Content-Type': 'text/html', ...link('context', 'alternate') }, '<html></html>'],
      '/context': [{ 'Content-Type': 'application/ld+json' }, `\ufeff${context}`],
    }
    for (const [path, content] of Object.entries(served)) remote.texts.set(path, content)
    const imported = Object.keys(served).filter((path) => !['/page', '/context'].includes(path))
    const imports = imported.map((path) => `${remote.url}${path}`)
    t.equal((await put('', imports)).status, 200)
    for (const name of ['plain', 'bytes', 'packed', 'coded', 'xml', 'json', 'paged']) {
      t.ok(await until(async () => (await ask(world, `<${remote.url}#${name}> a <${OWL}Class>`)) === 'true'), name)
    }
    for (const iri of imports) t.equal((await clear(world, iri)).status, 200, iri)
    t.equal((await put('')).status, 200)
    remote.asked.length = 0
  })

  await row('methods and rights', async (t) => {
    const sparql = (type: string, body: string) => ({ fields: { 'Content-Type': `application/${type}` }, body })
    // prettier-ignore
    const rows: readonly (readonly [name: string, agent: string, method: string, target: string, sent: Parameters<typeof owner>[2], status: number])[] = [
      ['a query by POST',               'anonymous', 'POST', '/ns', sparql('sparql-query', 'ASK {}'),                 200],
      ['a query by QUERY',              'anonymous', 'QUERY', '/ns', sparql('sparql-query', 'ASK {}'),                200],
      ['a query in a form',             'anonymous', 'POST', '/ns', form({ query: 'ASK {}' }),                         200],
      ['an update in the content',      'owner',     'POST', '/ns', sparql('sparql-update', 'CLEAR ALL'),              405],
      ['an update in a form',           'owner',     'POST', '/ns', form({ update: 'CLEAR ALL' }),                     405],
      ['an update in the URL',          'anonymous', 'GET',  '/ns?update=CLEAR%20ALL', {},                             405],
      ['PUT',                           'owner',     'PUT',  '/ns', ttl('<> a <> .'),                                  405],
      ['PUT below it',                  'owner',     'PUT',  '/ns/bills/', ttl('<> a <> .'),                           405],
      ['DELETE',                        'owner',     'DELETE', '/ns', {},                                              405],
      ['nothing acceptable',            'anonymous', 'GET',  '/ns', accept('image/png'),                               406],
      ['without a query, admin',        'anonymous', 'GET',  '/admin/ns', {},                                          200],
      ['clear by an anonymous client',  'anonymous', 'POST', '/admin/clear', form({ uri: ns }),                        403],
      ['clear by a reader',             'reader',    'POST', '/admin/clear', form({ uri: ns }),                        403],
      ['clear by a writer',             'writer',    'POST', '/admin/clear', form({ uri: ns }),                        403],
      ['clear by the owner',            'owner',     'POST', '/admin/clear', form({ uri: ns }),                        200],
      ['clear without a name',          'owner',     'POST', '/admin/clear', form({}),                                 400],
      ['clear an unknown ontology',        'owner',     'POST', '/admin/clear', form({ uri: 'http://other.example/' }),   400],
      ['clear by RDF',                  'owner',     'POST', '/admin/clear', ttl(''),                                  415],
      ['clear by GET',                  'owner',     'GET',  '/admin/clear', {},                                       405],
      ['clear of the end-user application', 'owner', 'GET',  '/clear', {},                                             308],
    ]
    for (const [name, agent, method, target, sent, status] of withReadMethods(rows)) {
      t.equal((await world.as(agent)(method, target, sent)).status, status, name)
    }
    const refused = await world.as('anonymous')('GET', '/ns', accept('image/png'))
    t.match(refused.text, 'Use one of text/turtle, ')
    t.notMatch(refused.text, 'text/html', 'there is no page')
    const back = await clear(world, ns, 'owner', `${world.base}a/`)
    t.match(back, { status: 303, fields: { location: `${world.base}a/` } })
    t.equal((await clear(world, ns, 'owner', 'https://evil.example/')).status, 200, 'no redirect to elsewhere')
  })

  const shape = (property: string): string =>
    `<urn:S> <${SH}targetClass> <urn:Bill> ; <${SH}property> [ <${SH}path> <${property}> ; <${SH}minCount> 1 ] .`
  const bill = (path: string): Promise<Answer> => owner('PUT', path, ttl('<#x> a <urn:Bill> .'))

  await row('the imports of the namespace ontology are used, and read again when it is cleared', async (t) => {
    const [a, b] = [`${remote.url}/a`, `${remote.url}/b`]
    remote.texts.set('/a', ontology(a, [b], '<urn:in-a> a <urn:T> .'))
    // A circle, and an IRI that leads nowhere.
    remote.texts.set('/b', ontology(b, [a, b, ns], `<urn:in-b> a <urn:T> . ${shape('urn:amount')}`))
    t.equal((await put('', [a, 'https://w3id.org/atomgraph/linkeddatahub/default#'])).status, 200)
    t.equal(await ask(world, '<urn:in-a> a <urn:T> . <urn:in-b> a <urn:T>'), 'true')
    t.strictSame(remote.asked, ['/a', '/b'], 'each once')
    t.equal((await bill(world.freshPath())).status, 422)
    remote.texts.set('/b', ontology(b, [], '<urn:new-in-b> a <urn:T> .'))
    t.equal(await ask(world, '<urn:in-b> ?p ?o'), 'true', 'not yet')
    t.equal((await put('<urn:local> a <urn:T> .', [a])).status, 200)
    t.equal(
      await ask(world, '<urn:in-b> a <urn:T> . <urn:local> a <urn:T>'),
      'true',
      'an ontology document takes effect at once',
    )
    t.equal((await clear(world, b)).status, 200)
    t.equal(await ask(world, '<urn:in-b> ?p ?o'), 'false')
    t.equal(await ask(world, '<urn:new-in-b> ?p ?o'), 'true')
    t.strictSame(
      remote.asked.filter((path) => path === '/a'),
      ['/a'],
      'the other one is not read again',
    )
    t.equal((await bill(world.freshPath())).status, 201)
  })

  await row('if it cannot be read again, the old one stays, and the answer says why', async (t) => {
    const [c, d] = [`${remote.url}/c`, `${remote.url}/d`]
    remote.texts.set('/c', ontology(c, [d]))
    remote.texts.set('/d', ontology(d, [], `<urn:in-d> a <urn:T> . ${shape('urn:date')}`))
    t.equal((await put('', [c])).status, 200)
    t.equal(await ask(world, '<urn:in-d> ?p ?o'), 'true')
    for (const text of [undefined, 'no Turtle']) {
      if (text === undefined) remote.texts.delete('/d')
      else remote.texts.set('/d', text)
      for (const uri of [ns, d]) {
        const answered = await clear(world, uri)
        t.equal(answered.status, 502)
        t.match(answered.text, d, 'it names the one that failed')
      }
      t.equal(await ask(world, '<urn:in-d> ?p ?o'), 'true')
      t.equal((await bill(world.freshPath())).status, 422, 'its constraints too')
    }
    remote.texts.set('/d', ontology(d, []))
    t.equal((await clear(world, ns)).status, 200)
    t.equal(await ask(world, '<urn:in-d> ?p ?o'), 'false')
  })

  await row('an import that cannot be read is reported and retried; the rest is used', async (t) => {
    const late = `${remote.url}/late`
    t.equal((await put('<urn:here> a <urn:T> .', [late, 'http://10.0.0.1/onto', 'file:///etc/passwd'])).status, 200)
    t.equal(await ask(world, '<urn:here> a <urn:T>'), 'true')
    t.ok(world.log.some(({ ontology, level }) => ontology === late && level === 40))
    t.ok(
      world.log.some(({ ontology }) => ontology === 'http://10.0.0.1/onto'),
      'an internal address',
    )
    t.equal((await clear(world, ns)).status, 502)
    t.equal((await put('<urn:here> a <urn:T> .', [late])).status, 200)
    t.equal(await ask(world, '<urn:here> a <urn:T>'), 'true')
    remote.texts.set('/late', ontology(late, [], '<urn:late> a <urn:T> .'))
    world.passTime(61_000)
    t.ok(await until(async () => (await ask(world, '<urn:late> a <urn:T>')) === 'true'))
  })

  await row('files and documents of this dataspace are read without HTTP, for ontology documents only', async (t) => {
    const text = ontology('#', [ns], '<urn:in-file> a <urn:T> .')
    const item = world.freshPath()
    t.equal((await owner('PUT', item, ttl(ontology('', [], '<urn:in-document> a <urn:T> .')))).status, 201)
    const boundary = 'b'
    const parts = [
      ['rdf', ''],
      ['sb', 'f'],
      ['pu', 'http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#fileName'],
      ['ol', text],
    ].map(
      ([key, value]) =>
        `--b\r\nContent-Disposition: form-data; name="${key}"${value === text ? '; filename="o.ttl"\r\nContent-Type: text/turtle' : ''}\r\n\r\n${value}\r\n`,
    )
    t.equal(
      (
        await owner('POST', item, {
          fields: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
          body: `${parts.join('')}--b--\r\n`,
        })
      ).status,
      204,
    )
    const [, sha1] = /uploads\/([0-9a-f]{40})/.exec((await owner('GET', item)).text)!
    const [file, document] = [`${world.base}uploads/${sha1}`, `${world.origin}${item}`]
    t.equal((await put('', [file, document])).status, 200)
    t.equal(await ask(world, '<urn:in-file> a <urn:T> . <urn:in-document> a <urn:T>'), 'true')
    const sly = `${remote.url}/sly`
    remote.texts.set('/sly', ontology(sly, [file, document], '<urn:sly> a <urn:T> .'))
    t.equal((await put('', [sly])).status, 200)
    t.equal(await ask(world, '<urn:sly> a <urn:T>'), 'true')
    t.equal(await ask(world, '<urn:in-file> ?p ?o'), 'false', 'an ontology elsewhere cannot publish data from here')
    t.equal(await ask(world, '<urn:in-document> ?p ?o'), 'false')
  })

  await row('without a right to it', async (t) => {
    t.equal((await owner('PUT', '/admin/acl/authorizations/public-namespace/', ttl(turtle('"None"')))).status, 200)
    for (const path of ['/ns', '/ns/bills/']) {
      t.match(await ask(world, '?s ?p ?o', path), /^403/)
      t.equal((await world.as('stranger')('GET', path)).status, 403)
      t.equal((await owner('GET', path)).status, 200)
    }
  })
})
