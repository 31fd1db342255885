// The Linked Data proxy (spec 4.4): conversions, refusals, and the fields that never pass in either direction.
import { TURTLE as TURTLE_FORMAT } from '../../../../gateway/http/media-type.js'
import { gzipSync } from 'node:zlib'
import { networkInterfaces } from 'node:os'
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { startServer, type Respond } from '../../../policies/fetch/guarded-fetch-servers.js'
import type { Answer, Send } from '../../../support/client.js'
import { freePort } from '../../../support/ports.js'
import { QUERY_OR_POST } from '../../../support/query-method.js'
import { rowsOf } from '../../../support/stores.js'
import { makeWorld, type World } from '../../../support/world.js'
import { gate, until } from '../../../support/wait.js'

const TURTLE = '<#me> <http://xmlns.com/foaf/0.1/knows> [ <http://xmlns.com/foaf/0.1/name> "Ann" ] .'
const NAME = 'http://xmlns.com/foaf/0.1/name'
const ANN = `<#me> <${NAME}> "Ann" .`
const RDF_XML = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:f="http://xmlns.com/foaf/0.1/"><rdf:Description rdf:about="#me"><f:name>Ann</f:name></rdf:Description></rdf:RDF>`
const JSON_LD = `{"@id":"#me","${NAME}":"Ann"}`
const RDF: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  turtle: ['text/turtle', ANN],
  'turtle-charset': ['Text/Turtle; charset=utf-8', ANN],
  ntriples: ['application/n-triples', `<http://HERE/ntriples#me> <${NAME}> "Ann" .\n`],
  rdfxml: ['application/rdf+xml', RDF_XML],
  jsonld: ['application/ld+json', JSON_LD],
  trig: ['application/trig', `<#me> <${NAME}> "Ann" .`],
  nquads: ['application/n-quads', `<http://HERE/nquads#me> <${NAME}> "Ann" .\n`],
  island: [
    'text/html',
    `<p>hello</p><script type="application/ld+json">{"@id":"#me","${NAME}":"Ann"}</script><script>alert(1)</script>`,
  ],
  'raw.ttl': ['text/plain; charset=utf-8', ANN],
  raw: ['text/plain', ANN],
  bytes: ['application/octet-stream', ANN],
  'packed.ttl.gz': ['application/gzip', gzipSync(ANN)],
  'old-xml': ['text/xml', RDF_XML],
  'wide-xml': [
    'application/rdf+xml',
    Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${RDF_XML}`, 'utf16le'),
  ],
  json: ['application/json', JSON_LD],
}
const JSON_RESULTS = 'application/sparql-results+json'
const XML_RESULTS = 'application/sparql-results+xml'
const RESULTS: Readonly<Record<string, readonly [type: string, body: string]>> = {
  'results-json': [
    JSON_RESULTS,
    JSON.stringify({
      head: { vars: ['s', 'o', 'n'] },
      results: {
        bindings: [
          {
            s: { type: 'uri', value: 'http://x.test/a' },
            o: { type: 'literal', value: 'A, "b"\t&<', 'xml:lang': 'en' },
          },
          {
            s: { type: 'bnode', value: 'z' },
            n: { type: 'literal', value: '1', datatype: 'http://www.w3.org/2001/XMLSchema#integer' },
          },
        ],
      },
    }),
  ],
  'results-xml': [
    XML_RESULTS,
    `<?xml version="1.0"?><!-- c --><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="s"/><variable name="o"/><variable name="n"/></head>
  <results><result><binding name="s"><uri>http://x.test/a</uri></binding><binding name="o"><literal xml:lang="en">A, "b"&#9;&amp;&lt;</literal></binding></result>
  <result><binding name="s"><bnode>q</bnode></binding><binding name="n"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding></result></results></sparql>`,
  ],
  'ask-json': [JSON_RESULTS, '{"head":{},"boolean":true}'],
  'ask-xml': [
    XML_RESULTS,
    '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><boolean>true</boolean></sparql>',
  ],
}
const FLAWED: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  'bad-turtle': ['text/turtle', '<a> <b'],
  'bad-json': [JSON_RESULTS, '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"a> <b"}}]}}'],
  'bad-variable': [JSON_RESULTS, '{"head":{"vars":["x\\ty"]},"results":{"bindings":[]}}'],
  'bad-xml': [XML_RESULTS, '<sparql><head/><results><result>'],
  'doctype-xml': [XML_RESULTS, '<!DOCTYPE s [<!ENTITY e "x">]><sparql><head/><boolean>true</boolean></sparql>'],
  'nested-json': [JSON_RESULTS, '['.repeat(200_000)],
}

/** Resolved when `/held` may be answered. */
let answers = gate()

const respond: Respond = ({ method, path, fields, body }, response) => {
  const { pathname, searchParams } = new URL(path, 'http://here.test')
  const verb = pathname.split('/')[1] ?? ''
  const send = (more: Record<string, string | string[]>, content: string | Buffer = '', status = 200): void => {
    response.writeHead(status, more).end(method === 'HEAD' ? undefined : content)
  }
  const known = RDF[verb] ?? RESULTS[verb] ?? FLAWED[verb]
  if (known) {
    const [type, content] = known
    const bytes = typeof content === 'string' ? content.replaceAll('http://HERE', `http://${fields.host}`) : content
    return send({ 'content-type': type }, bytes)
  }
  const verbs: Record<string, () => void> = {
    echo: () =>
      send(
        {
          'content-type': 'application/json',
          'set-cookie': 'stolen=1',
          'access-control-allow-credentials': 'true',
          'access-control-allow-origin': 'https://evil.test',
          'strict-transport-security': 'max-age=1',
          'www-authenticate': 'Basic realm="give it to me"',
          'clear-site-data': '"*"',
          'service-worker-allowed': '/',
          link: '<https://evil.test/#me>; rel="http://www.w3.org/ns/auth/acl#agent"',
          server: 'secret',
          'content-language': 'en',
          'content-disposition': 'inline; filename="café.txt"',
        },
        JSON.stringify({ method, fields, body }),
      ),
    html: () => send({ 'content-type': 'text/html; charset=utf-8' }, '<script>alert(document.cookie)</script>'),
    svg: () => send({ 'content-type': 'image/svg+xml' }, '<svg xmlns="http://www.w3.org/2000/svg"/>'),
    mixed: () => send({ 'content-type': 'multipart/x-mixed-replace; boundary=x' }, '--x\r\n\r\nhello\r\n--x--'),
    untyped: () => send({}, 'hello'),
    prose: () => send({ 'content-type': 'text/plain' }, 'Hello world'),
    graphs: () => send({ 'content-type': 'application/trig' }, '<urn:x:g> { <urn:x:s> <urn:x:p> 1 }'),
    slow: () => undefined,
    held: () => void answers.opened.then(() => send({ 'content-type': 'text/plain' }, 'late')),
    large: () => send({ 'content-type': 'text/plain', 'content-length': String(9 * 2 ** 20) }),
    bulky: () => send({ 'content-type': 'text/turtle' }, `<#a> <urn:x:p> "${'x'.repeat(3 * 2 ** 20)}" .`),
    bomb: () =>
      send({ 'content-type': 'text/turtle', 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(64 * 2 ** 20))),
    to: () => send({ location: searchParams.get('to')! }, '', Number(searchParams.get('status') ?? 302)),
    created: () => send({ location: '/new/', 'content-type': 'text/turtle', etag: '"v1"' }, TURTLE, 201),
    gone: () => send({ 'content-type': 'text/plain' }, 'gone', 410),
    challenge: () => send({ 'www-authenticate': 'Basic realm="x"' }, '', 401),
    partial: () => send({ 'content-type': 'text/plain', 'content-range': 'bytes 0-1/9' }, 'he', 206),
    unasked: () => send({}, '', 304),
    cached: () =>
      send({
        'content-type': 'text/plain',
        'cache-control': 'public, max-age=60, s-maxage=99, private="x"',
        vary: 'Accept-Language, Cookie',
        age: '7',
        expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
      }),
    versioned: () => {
      const tag = '"v;1"'
      const asked = fields['if-none-match']
      const fitting = { etag: tag, 'last-modified': 'Wed, 01 Jan 2025 00:00:00 GMT', 'content-type': 'text/turtle' }
      if (method === 'PUT') return send({}, '', fields['if-match'] === tag ? 204 : 412)
      if (asked === '*' || asked?.includes(tag)) return send({ etag: tag }, '', 304)
      if (asked === undefined && fields['if-modified-since']) return send({}, '', 304)
      send(fitting, TURTLE)
    },
  }
  ;(verbs[verb] ?? (() => send({}, 'absent', 404)))()
}

async function world(t: Test, ...flags: string[]): Promise<World> {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return makeWorld(t, { endUser, admin }, { flags })
}

void t.test('the Linked Data proxy', async (t) => {
  const row = rowsOf(t, 'none')
  const management = await freePort()
  const flags = ['--allow-fetch', '127.0.0.0/8', '--allow-fetch', '::1']
  const { as, base, origin } = await world(t, ...flags, '--management', String(management))
  const server = await startServer(respond)
  const second = await startServer(respond)
  t.teardown(() => Promise.all([server.close(), second.close()]))
  const at = (path: string, which = server): string => `http://${which.authority}${path}`
  const proxied = (url: string): string => `/any/path?uri=${encodeURIComponent(url)}`
  const ask = (url: string, fields: Send['fields'] = {}, method = 'GET', more: Send = {}): Promise<Answer> =>
    as('stranger')(method, proxied(url), { fields, ...more })
  t.beforeEach(() => [server, second].forEach((one) => one.forget()))

  for (const [name, [type]] of Object.entries(RDF)) {
    await row(
      `RDF: ${type} (${name}) is given in the negotiated format, its IRIs resolved against its own URL`,
      async (t) => {
        const expected = `<${at(`/${name}`)}#me> <${NAME}> "Ann" .\n`
        const rows: [accept: string, type: string][] = [
          ['application/n-triples', 'application/n-triples;charset=UTF-8'],
          ['text/turtle', 'text/turtle;charset=UTF-8'],
          ['application/rdf+xml', 'application/rdf+xml;charset=UTF-8'],
          ['application/ld+json', 'application/ld+json'],
        ]
        for (const [accept, type] of rows) {
          const answer = await ask(at(`/${name}`), { Accept: accept })
          t.equal(answer.status, 200, answer.text)
          t.equal(answer.fields['content-type'], type)
          if (accept === 'application/n-triples') t.equal(answer.text, expected)
          t.match(answer.text, `${at(`/${name}`)}#me`)
          t.equal(answer.fields['content-location'], at(`/${name}`))
        }
        const overridden = await as('stranger')('GET', `/?uri=${at(`/${name}`)}&accept=application/n-triples`)
        t.equal(overridden.text, expected, '?accept=')
      },
    )
  }

  for (const name of ['results-json', 'results-xml']) {
    await row(`SPARQL results: ${name} in each of the four formats`, async (t) => {
      const get = async (accept: string): Promise<string> => {
        const answer = await ask(at(`/${name}`), { Accept: accept })
        t.match(answer.fields['content-type'], accept)
        return answer.text
      }
      t.equal(await get('text/csv'), 's,o,n\r\nhttp://x.test/a,"A, ""b""\t&<",\r\n_:b0,,1\r\n')
      const integer = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
      t.equal(
        await get('text/tab-separated-values'),
        `?s\t?o\t?n\n<http://x.test/a>\t"A, \\"b\\"\\t&<"@en\t\n_:b0\t\t${integer}\n`,
      )
      const json = JSON.parse(await get(JSON_RESULTS)) as { results: { bindings: { o?: object }[] } }
      t.strictSame(json.results.bindings[0]!.o, { type: 'literal', value: 'A, "b"\t&<', 'xml:lang': 'en' })
      t.match(await get(XML_RESULTS), /<literal xml:lang="en">A, "b"(\t|&#9;)&amp;&lt;<\/literal>/)
    })
  }
  await row('SPARQL results: a boolean has two formats, and no table', async (t) => {
    for (const name of ['ask-json', 'ask-xml']) {
      t.match((await ask(at(`/${name}`), { Accept: XML_RESULTS })).text, '<boolean>true</boolean>')
      t.match((await ask(at(`/${name}`), { Accept: JSON_RESULTS })).text, /"boolean": ?true/)
      t.equal((await ask(at(`/${name}`), { Accept: 'text/csv' })).status, 406)
      t.match((await ask(at(`/${name}`), { Accept: 'text/csv, application/sparql-results+xml;q=0.1' })).text, 'boolean')
    }
  })

  await row('content that is passed on unchanged, and 406', async (t) => {
    const rows: [what: string, path: string, accept: string | undefined, status: number, type?: string][] = [
      ['a page, to a browser', '/html', 'text/html, */*;q=0.8', 200, 'text/html; charset=utf-8'],
      ['a page without RDF, for Accept: */*', '/html', undefined, 200, 'text/html; charset=utf-8'],
      ['a page without RDF, for Accept: text/turtle', '/html', 'text/turtle', 406],
      ['a page with RDF, to a browser', '/island', 'text/html, */*;q=0.8', 200, 'text/html'],
      ['a page with RDF, for Accept: */*', '/island', '*/*', 200, 'text/turtle;charset=UTF-8'],
      ['JSON that is not RDF', '/echo', '*/*', 200, 'application/json'],
      ['text that is not RDF', '/prose', '*/*', 200, 'text/plain'],
      ['RDF as its server calls it', '/raw.ttl', 'text/plain, text/turtle;q=0.5', 200, 'text/plain; charset=utf-8'],
      ['an image', '/svg', 'image/*', 200, 'image/svg+xml'],
      ['an image, for Accept: text/turtle', '/svg', 'text/turtle', 406],
      ['RDF, for Accept: image/*', '/turtle', 'image/*', 406],
      ['content without a type', '/untyped', '*/*', 200, 'application/octet-stream'],
      ['content without a type, for Accept: text/turtle', '/untyped', 'text/turtle', 406],
      ['several graphs, for Accept: application/trig', '/graphs', 'application/trig', 200, 'application/trig'],
      ['several graphs, for Accept: text/turtle', '/graphs', 'text/turtle', 502],
      ['parts with fields of their own', '/mixed', '*/*', 406],
    ]
    for (const [what, path, accept, status, type] of rows) {
      const answer = await ask(at(path), accept === undefined ? {} : { Accept: accept })
      t.equal(answer.status, status, `${what}: ${answer.text.slice(0, 200)}`)
      if (type) t.equal(answer.fields['content-type'], type, what)
    }
  })

  await row(
    'the Accept field of the client is sent, with the other RDF syntaxes if the gateway can convert them',
    async (t) => {
      await ask(at('/turtle'), { Accept: 'application/ld+json;q=0.7, text/html' })
      t.match(server.seen[0]!.fields.accept, /^application\/ld\+json;q=0\.7, text\/html, .*text\/turtle;q=0\.1/)
      await ask(at('/svg'), { Accept: 'image/svg+xml' })
      t.equal(server.seen[1]!.fields.accept, 'image/svg+xml')
      await ask(at('/svg'))
      t.match(server.seen[2]!.fields.accept, /^text\/turtle.*\*\/\*;q=0\.1$/)
    },
  )

  await row('a page of another server cannot act as a page of this one', async (t) => {
    for (const path of ['/html', '/svg', '/island', '/echo', '/gone', '/turtle']) {
      const { fields } = await ask(at(path), { Accept: '*/*' })
      t.equal(fields['content-security-policy'], "default-src 'none'; sandbox", path)
      t.equal(fields['x-content-type-options'], 'nosniff', path)
    }
    for (const dest of ['script', 'serviceworker', 'worker', 'style', 'object']) {
      t.equal((await ask(at('/untyped'), { 'Sec-Fetch-Dest': dest })).status, 403, dest)
    }
    t.equal((await ask(at('/untyped'), { 'Sec-Fetch-Dest': 'empty' })).status, 200)
  })

  await row('no field that identifies the client is sent; no field that acts for an origin is returned', async (t) => {
    const mine = {
      Authorization: 'Bearer secret',
      Cookie: '__Host-session=secret',
      'Client-Cert': ':secret:',
      'Client-Cert-Chain': ':secret:',
      'On-Behalf-Of': 'https://secret.test/#me',
      'Proxy-Authorization': 'Basic secret',
      DPoP: 'secret',
      From: 'secret@example.org',
      Referer: 'https://secret.test/',
      'User-Agent': 'secret',
      'X-Forwarded-For': '192.0.2.1',
      Forwarded: 'for=192.0.2.1',
      'X-Real-IP': '192.0.2.1',
      'X-Anything': 'secret',
      'X-Client-Cert': 'secret',
      Connection: 'close, x-hop',
      'X-Hop': 'secret',
      TE: 'trailers',
      Range: 'bytes=0-1',
      'Accept-Language': 'da',
    }
    // The gateway itself interprets these two fields, and refuses such values.
    const { Authorization, 'On-Behalf-Of': delegator, ...rest } = mine
    const answer = await ask(at('/echo'), rest)
    t.equal(answer.status, 200, answer.text)
    const { fields } = JSON.parse(answer.text) as { fields: Record<string, string> }
    t.strictSame(
      Object.keys(fields).sort(),
      ['accept', 'accept-encoding', 'accept-language', 'connection', 'host', 'user-agent', 'via'],
      'the fields that go out',
    )
    t.notMatch(answer.text, /secret|192\.0\.2|stranger|agents/)
    for (const name of [
      'set-cookie',
      'strict-transport-security',
      'www-authenticate',
      'clear-site-data',
      'link',
      'server',
    ])
      t.equal(answer.fields[name], undefined, name)
    t.equal(answer.fields['service-worker-allowed'], undefined)
    t.equal(answer.fields['access-control-allow-credentials'], undefined)
    t.equal(answer.fields['access-control-allow-origin'], '*')
    t.equal(answer.fields['content-language'], 'en')
    t.equal(answer.fields['content-disposition'], undefined, 'a value beyond US-ASCII stays behind')
    for (const [name, value] of Object.entries({ Authorization, 'On-Behalf-Of': delegator })) {
      server.forget()
      const refused = await ask(at('/echo'), { [name]: value })
      t.notMatch(JSON.stringify(server.seen), 'secret', `${name}: ${refused.status}`)
    }
    t.equal((await ask(at('/challenge'))).fields['www-authenticate'], undefined, '401 without its challenge')
  })

  await row('answers are not shared between clients', async (t) => {
    t.equal((await ask(at('/turtle'))).status, 200)
    t.equal((await ask(at('/turtle'))).status, 200)
    t.equal(server.seen.length, 2, 'each request is fetched')
    const refused = await as('anonymous')('GET', proxied(at('/turtle')))
    t.equal(refused.status, 403)
    t.notMatch(refused.text, 'Ann')
    t.equal(server.seen.length, 2, 'nothing is fetched for a client without the right')
    const cached = await ask(at('/cached'), { Accept: '*/*' })
    t.equal(cached.fields['cache-control'], 'private, max-age=60')
    t.equal(cached.fields.vary, 'Accept, accept-language')
    t.equal(cached.fields.age, '7')
    t.equal(cached.fields.expires, undefined)
    t.equal((await ask(at('/turtle'))).fields['cache-control'], 'private, no-cache', 'no Cache-Control from the server')
  })

  await row('a client that may not use the proxy learns nothing about other servers', async (t) => {
    const anonymous = as('anonymous')
    const answers = [at('/turtle'), 'http://10.0.0.1/', 'file:///etc/passwd', base].map(async (url) => {
      const { status, text } = await anonymous('GET', proxied(url))
      return `${status} ${text}`
    })
    t.equal(new Set(await Promise.all(answers)).size, 1)
    t.equal((await anonymous('PUT', proxied(at('/echo')), { body: 'x' })).status, 403)
    t.equal(server.seen.length, 0)
  })

  await row('conditions and validators', async (t) => {
    const url = at('/versioned')
    const turtle = await ask(url, { Accept: 'text/turtle' })
    const json = await ask(url, { Accept: 'application/ld+json' })
    const [tag, other] = [turtle.fields.etag!, json.fields.etag!]
    t.equal(tag, `"v;1;text/turtle;${TURTLE_FORMAT.code}"`)
    t.not(tag, other, 'each form has its own')
    t.equal(turtle.fields['last-modified'], 'Wed, 01 Jan 2025 00:00:00 GMT')
    t.equal((await ask(url, { Accept: 'text/turtle' })).text, turtle.text, 'the same bytes, including blank nodes')
    t.equal((await ask(url, { Accept: 'text/turtle' }, 'HEAD')).fields.etag, tag, 'HEAD')
    // prettier-ignore
    const rows: [what: string, accept: string, conditions: Record<string, string>, status: number, sent?: string][] = [
      ['the current form', 'text/turtle', { 'If-None-Match': tag }, 304, '"v;1"'],
      ['among others', 'text/turtle', { 'If-None-Match': `"x", ${tag}, ${other}` }, 304, '"v;1"'],
      ['weakly', 'text/turtle', { 'If-None-Match': `W/${tag}` }, 304, 'W/"v;1"'],
      ['another form than the requested one', 'application/ld+json', { 'If-None-Match': tag }, 200],
      ['a tag that this gateway did not make', 'text/turtle', { 'If-None-Match': '"v;1"' }, 200],
      ['an older state', 'text/turtle', { 'If-None-Match': `"v;0;text/turtle;${TURTLE_FORMAT.code}"` }, 200, '"v;0"'],
      ['any', 'text/turtle', { 'If-None-Match': '*' }, 304, '*'],
      ['a date', 'text/turtle', { 'If-Modified-Since': 'Wed, 01 Jan 2025 00:00:00 GMT' }, 304],
      ['a date together with an entity-tag', 'text/turtle', { 'If-None-Match': '"x"', 'If-Modified-Since': 'Wed, 01 Jan 2025 00:00:00 GMT' }, 200],
    ]
    for (const [what, accept, conditions, status, sent] of rows) {
      server.forget()
      const answer = await ask(url, { Accept: accept, ...conditions })
      t.equal(answer.status, status, what)
      t.equal(server.seen[0]!.fields['if-none-match'], sent, `${what}: the condition that is sent`)
      if (status === 304 && sent?.includes('v;1')) t.match(answer.fields.etag, tag, what)
      if (status === 304) t.equal(answer.text, '', what)
    }
    const writes: [what: string, match: string, status: number][] = [
      ['the state that was read', tag, 204],
      ['in another form', other, 204],
      ['the tag of the server itself', '"v;1"', 204],
      ['another state', `"v;0;text/turtle;${TURTLE_FORMAT.code}"`, 412],
    ]
    for (const [what, match, status] of writes) {
      t.equal((await ask(url, { 'If-Match': match }, 'PUT', { body: '' })).status, status, `If-Match: ${what}`)
    }
    const redirected = at(`/to?to=${encodeURIComponent(at('/versioned', second))}`)
    t.equal((await ask(redirected, { Accept: 'text/turtle', 'If-None-Match': tag })).status, 304, 'after a redirection')
  })

  await row('every method, with its content', async (t) => {
    const without = ['GET', 'HEAD', 'OPTIONS', 'TRACE']
    for (const method of [...without, 'POST', 'PUT', 'PATCH', 'DELETE', QUERY_OR_POST, 'PROPFIND', 'REPORT']) {
      server.forget()
      const content = without.includes(method) ? {} : { body: '<> <urn:x:p> 1 .' }
      const fields = {
        'Content-Type': 'text/turtle',
        Accept: 'application/json',
        Slug: 'mine',
        Link: '<urn:x>; rel=type',
      }
      const answer = await ask(at('/echo'), fields, method, content)
      t.equal(answer.status, 200, method)
      const [seen] = server.seen
      t.equal(seen!.method, method)
      t.equal(seen!.body, content.body ?? '', method)
      t.equal(seen!.fields['content-type'], content.body && 'text/turtle', method)
      t.equal(seen!.fields.slug, content.body && 'mine', method)
    }
    server.forget()
    const chunked = await ask(at('/echo'), { Accept: '*/*' }, 'POST', { body: 'hello', chunked: true })
    t.equal((JSON.parse(chunked.text) as { body: string }).body, 'hello', 'a chunked body')
    t.equal((await ask(at('/echo'), {}, 'POST', { body: 'x'.repeat(3 * 2 ** 20) })).status, 413)
    t.equal((await ask(at('/echo'), {}, 'POST', { body: 'x'.repeat(3 * 2 ** 20), chunked: true })).status, 413)
    t.equal(server.seen.length, 1, 'of those, one has arrived')
    const preflight = { Origin: 'https://app.test', 'Access-Control-Request-Method': 'PUT' }
    const allowed = await as('anonymous')('OPTIONS', proxied(at('/echo')), { fields: preflight })
    t.equal(allowed.status, 204, 'a preflight is for this gateway')
    t.equal(allowed.fields['access-control-allow-methods'], 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS')
    t.equal((await as('anonymous')('OPTIONS', proxied(at('/echo')))).status, 403, 'another OPTIONS is not')
    t.equal(server.seen.length, 1)
  })

  await row('answers to writes and errors pass unchanged if their form is not acceptable', async (t) => {
    const created = await ask(at('/created'), { Accept: 'image/png' }, 'POST', { body: 'x' })
    t.equal(created.status, 201)
    t.equal(created.fields.location, at('/new/'), 'Location is absolute, and not ours')
    t.equal(created.text, TURTLE)
    const gone = await ask(at('/gone'), { Accept: 'text/turtle' })
    t.equal(`${gone.status} ${gone.text}`, '410 gone')
    t.equal((await ask(at('/nothing'), { Accept: 'text/turtle' })).status, 404)
    for (const path of ['/partial', '/unasked']) t.equal((await ask(at(path), { Accept: '*/*' })).status, 502, path)
  })

  await row('a page of another site may not write through it', async (t) => {
    for (const fields of [{ Origin: 'https://evil.test' }, { 'Sec-Fetch-Site': 'cross-site' }] as Record<
      string,
      string
    >[]) {
      t.equal((await ask(at('/echo'), fields, 'POST', { body: 'x' })).status, 403)
      t.equal((await ask(at('/echo'), fields, 'DELETE')).status, 403)
    }
    t.equal(server.seen.length, 0)
    t.equal((await ask(at('/echo'), { Origin: origin }, 'POST', { body: 'x' })).status, 200)
  })

  await row('local URLs are refused in every spelling', async (t) => {
    const { port } = new URL(base)
    const rows = [
      base,
      `${base}secret/`,
      `${base}admin/acl/agents/`,
      `HTTPS://LOCALHOST:${port}/`,
      `https://localhost.:${port}/`,
      `https://%6cocalhost:${port}/`,
      `https://ＬＯＣＡＬＨＯＳＴ:${port}/`,
      `https://localhost:0${port}/`,
      `http://localhost:${port}/`,
      `https://localhost:${port}/a/%2e%2e/%73ecret/`,
      `https://localhost:${port}`,
    ]
    for (const url of rows) {
      const answer = await ask(url)
      t.equal(answer.status, 400, url)
      t.match(answer.text, 'Request this one directly', url)
    }
    const outside = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find((one) => one.family === 'IPv4' && !one.internal)?.address
    const listeners = ['127.0.0.1', '[::1]', '127.0.0.2', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0', outside ?? '127.1']
    for (const host of listeners) {
      t.equal((await ask(`https://${host}:${port}/`)).status, 400, `its listener at ${host}`)
      t.equal((await ask(`http://${host}:${management}/metrics`)).status, 400, `its management at ${host}`)
    }
    t.equal((await ask(at(`/to?to=${encodeURIComponent(`${base}secret/`)}`))).status, 400, 'a redirection to one')
  })

  await row('URLs that are refused', async (t) => {
    const rows: [what: string, url: string][] = [
      ['private', 'http://10.0.0.1/'],
      ['private, in another spelling', 'http://0xa000001/'],
      ['metadata', 'http://169.254.169.254/latest/meta-data/'],
      ['IPv6, link-local', 'http://[fe80::1]/'],
      ['IPv6, mapped', 'http://[::ffff:10.0.0.1]/'],
      ['an odd port', 'http://93.184.215.14:6379/'],
      ['credentials', `http://me:secret@${server.authority}/turtle`],
      ['file:', 'file:///etc/passwd'],
      ['gopher:', 'gopher://127.0.0.1/_x'],
      ['data:', 'data:text/turtle,x'],
      ['relative', '/turtle'],
      ['relative, with a host', `//${server.authority}/turtle`],
      ['empty', ''],
      ['a line end', `${at('/turtle')}\r\nX-Injected: y`],
      ['a redirection inwards', at('/to?to=http://10.0.0.1/')],
      ['a redirection to metadata', at('/to?to=http://169.254.169.254/')],
      ['a redirection to file:', at('/to?to=file:///etc/passwd')],
    ]
    for (const [what, url] of rows) t.equal((await ask(url)).status, 400, what)
    t.equal((await as('stranger')('GET', `/?uri=${at('/turtle')}&uri=${at('/turtle')}`)).status, 400, 'two of them')
    const injected = `/?uri=${at('/echo')}&accept=${encodeURIComponent('text/turtle, x\r\nX-Injected: y')}`
    t.equal((await as('stranger')('GET', injected)).status, 400, 'a line end in ?accept=')
    t.equal((await ask(`${at('/turtle')}#me`)).status, 200, 'a fragment is dropped')
    t.equal(server.seen.at(-1)!.path, '/turtle')
  })

  await row('servers that fail', async (t) => {
    const rows: [what: string, url: string, status: number][] = [
      ['no server listens', 'http://127.0.0.1:1/', 502],
      ['no such host', 'http://nowhere.invalid/', 502],
      ['slow', at('/slow'), 504],
      ['too large', at('/large'), 502],
      ['too large to be converted', at('/bulky'), 502],
      ['a gzip bomb', at('/bomb'), 502],
      ['a circle of redirections', at(`/to?to=${encodeURIComponent('?to=')}`), 502],
      ...Object.keys(FLAWED).map((name): [string, string, number] => [name, at(`/${name}`), 502]),
    ]
    for (const [what, url, status] of rows) {
      const answer = await ask(url, { Accept: 'text/turtle, text/csv' })
      t.equal(answer.status, status, `${what}: ${answer.text.slice(0, 300)}`)
      t.notMatch(answer.text, /127\.0\.0\.1|nowhere/, `${what}: no address in the answer`)
    }
  })

  await row('redirections: followed for reads, with the allowed fields; passed back for writes', async (t) => {
    const there = at('/echo', second)
    const to = at(`/to?to=${encodeURIComponent(there)}`)
    const followed = await ask(to, { Accept: 'application/json', Cookie: 'secret=1', 'Accept-Language': 'da' })
    t.equal(followed.fields['content-location'], there)
    const { fields } = JSON.parse(followed.text) as { fields: Record<string, string> }
    t.equal(fields['accept-language'], 'da')
    t.match(fields.via, /^1\.1 triplegate-[0-9a-f]{12}$/)
    for (const [method, status] of [
      ['POST', 307],
      ['PUT', 308],
      ['POST', 303],
      ['DELETE', 302],
    ] as const) {
      const answer = await ask(`${to}&status=${status}`, {}, method, { body: 'x' })
      t.equal(`${answer.status} ${answer.fields.location}`, `${status} ${there}`, `${method} ${status}`)
    }
    t.equal(second.seen.length, 1)
    const script = await ask(at('/to?to=javascript:alert(1)'), {}, 'POST', { body: 'x' })
    t.equal(script.fields.location, undefined, 'to http and https only')
  })

  await row('a loop through another server is detected', async (t) => {
    let depth = 0
    const mirror = await startServer(({ fields, path }, response) => {
      depth++
      void as('stranger')('GET', proxied(`http://${fields.host}${path}`), { fields: { Via: fields.via! } }).then(
        ({ status, text }) => response.writeHead(status).end(text),
      )
    })
    t.teardown(mirror.close)
    const answer = await ask(`http://${mirror.authority}/`, { Via: '1.0 fred' })
    t.equal(answer.status, 508)
    t.equal(depth, 1)
    t.equal(mirror.seen[0]!.fields.via!.split(', ')[0], '1.0 fred')
  })

  await row('one agent has at most 8 requests at the same time', async (t) => {
    const statuses: number[] = []
    const asked = Array.from({ length: 12 }, async () => statuses.push((await ask(at('/held'))).status))
    await until(() => statuses.length >= 4)
    answers.open()
    await Promise.all(asked)
    t.strictSame(statuses, [...Array<number>(4).fill(503), ...Array<number>(8).fill(200)])
    t.equal((await ask(at('/turtle'))).status, 200, 'afterwards the agent can request again')
  })

  await row('the agents of one network have at most 16', async (t) => {
    const agents = ['owner', 'reader', 'writer'].flatMap((name) => Array<string>(8).fill(name))
    answers = gate()
    const statuses: number[] = []
    const asked = agents.map(async (name) => statuses.push((await as(name)('GET', proxied(at('/held')))).status))
    await until(() => statuses.length >= 8)
    answers.open()
    await Promise.all(asked)
    t.strictSame(statuses, [...Array<number>(8).fill(503), ...Array<number>(16).fill(200)])
  })

  await row('--proxy everyone: without an identity, too; --proxy off: 405 for all', async (t) => {
    const everyone = await world(t, ...flags, '--proxy', 'everyone')
    t.equal((await everyone.as('anonymous')('GET', proxied(at('/turtle')))).status, 200)
    t.equal((await everyone.as('anonymous')('GET', proxied(everyone.base))).status, 400)
    const off = await world(t, ...flags, '--proxy', 'off')
    const refused = await off.as('owner')('GET', proxied(at('/turtle')))
    t.equal(`${refused.status} ${refused.fields.allow}`, '405 ')
  })
})
