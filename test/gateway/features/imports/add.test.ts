// The endpoints `add` and `transform` (spec 4.3, LinkedDataHub 2.3): data from a URL or a file into a document, with
// the agent's rights on both.
import { IMPORTING } from '../../../../gateway/features/imports/importing.js'
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { startServer, type Respond } from '../../../policies/fetch/guarded-fetch-servers.js'
import type { Answer, Send } from '../../../support/client.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl, turtle } from '../../../support/world.js'
import { until } from '../../../support/wait.js'

const PREFIXES = `PREFIX dct: <http://purl.org/dc/terms/> PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
PREFIX spin: <http://spinrdf.org/spin#> PREFIX sp: <http://spinrdf.org/sp#> PREFIX : <http://example.org/>`

const SOURCES: Readonly<
  Record<string, readonly [type: string | undefined, body: string | Buffer, status?: number, link?: string]>
> = {
  '/typed': [
    'text/turtle; charset=utf-8',
    '<#a> <http://example.org/name> "typed" ; <http://example.org/knows> [ <http://example.org/name> "b" ] .',
  ],
  '/linked': [
    'application/json',
    '{"@id":"#a","name":"linked"}',
    200,
    '</context>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"',
  ],
  '/context': ['application/ld+json', '{"@context":{"name":"http://example.org/name"}}'],
  '/by-extension.ttl': ['application/octet-stream', '<#a> <http://example.org/name> "by extension" .'],
  '/without-type.nt': [undefined, '<http://x.test/a> <http://example.org/name> "without type" .'],
  '/packed.ttl.gz': ['application/gzip', gzipSync('<#a> <http://example.org/name> "packed" .')],
  '/bomb.ttl.gz': ['application/gzip', gzipSync(Buffer.alloc(100 * 2 ** 20, 0x20))],
  '/one-in-many-lines.nt.gz': [
    'application/gzip',
    gzipSync(`${`#${'x'.repeat(10_000)}\n`.repeat(7_000)}<urn:x:a> <urn:x:p> "of many" .\n`),
  ],
  '/graph-in-many-lines.nq.gz': [
    'application/gzip',
    gzipSync(`${`#${'x'.repeat(10_000)}\n`.repeat(7_000)}<urn:x:a> <urn:x:p> "elsewhere" <urn:x:g> .\n`),
  ],
  '/table.csv': ['text/csv', 'a\n1\n'],
  '/table.csv-metadata.json': [
    'application/json',
    '{ "url": "table.csv", "tableSchema": { "columns": [{ "name": "a", "propertyUrl": "urn:x:a" }] } }',
  ],
  '/odd.csv': ['text/csv', 'a\n1\n'],
  '/odd.csv-metadata.json': ['application/json', '{}'],
  '/alone.csv': ['text/csv', 'a\n1\n'],
  '/page.csv': ['text/csv', 'a\n1\n'],
  '/page.csv-metadata.json': ['text/html', '<p>'],
  '/failing.csv': ['text/csv', 'a\n1\n'],
  '/failing.csv-metadata.json': ['application/json', '{}', 500],
  '/folder/table.csv': ['text/csv', 'a\n1\n'],
  '/folder/table.csv-metadata.json': ['application/json', '{ "url": "other.csv" }'],
  '/folder/csv-metadata.json': [
    'application/json',
    '{ "tables": [{ "url": "table.csv", "tableSchema": { "columns": [{ "name": "a", "propertyUrl": "urn:x:folder" }] } }] }',
  ],
  '/linked.csv': ['text/csv', 'a\n1\n'],
  '/linked.csv-metadata.json': ['application/json', '{}'],
  '/other.json': [
    'application/csvm+json',
    '{ "url": "linked.csv", "tableSchema": { "columns": [{ "name": "a", "propertyUrl": "urn:x:linked" }] } }',
  ],
  '/broken': ['text/turtle', '<a> <b'],
  '/image': ['image/png', 'x'],
  '/large': ['text/turtle', `<#a> <http://example.org/name> "${'x'.repeat(300_000)}" .`],
  '/graphs': ['application/trig', '<urn:x:g> { <urn:x:s> <urn:x:p> 1 } <urn:x:h> { <urn:x:s> <urn:x:p> 2 }'],
}

const respond: Respond = ({ path }, response) => {
  const source = SOURCES[path]
  if (!source) return void response.writeHead(404).end()
  const [type, body, status = 200, link] = source
  if (link !== undefined) response.setHeader('link', link)
  if (path === '/linked.csv')
    response.setHeader('link', '</style.css>; rel=stylesheet, <other.json>; rel="describedby"; type="application/csvm+json"') // prettier-ignore
  response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body)
}

/** A form of LinkedDataHub with a file (2.3). */
function form(fields: readonly (readonly [name: string, value: string, file?: string, type?: string])[]): Send {
  const parts = fields.map(([name, value, file, type]) => {
    const disposition = `Content-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}`
    return `--xyz\r\n${disposition}${type === undefined ? '' : `\r\nContent-Type: ${type}`}\r\n\r\n${value}\r\n`
  })
  return { fields: { 'Content-Type': 'multipart/form-data; boundary=xyz' }, body: `${parts.join('')}--xyz--\r\n` }
}

void t.test('add and transform', async (t) => {
  const server = await startServer(respond)
  t.teardown(() => server.close())
  await forEachStore(t, 'add and transform', async (t, makeStores, kind) => {
    const { endUser, admin } = await makeStores()
    const flags = [
      '--allow-fetch',
      '127.0.0.0/8',
      '--allow-fetch',
      '::1',
      '--max-import',
      '200000000',
      '--patch-timeout',
      '1500',
    ]
    const world = await makeWorld(t, { endUser, admin }, { flags })
    const row = rowsOf(t, kind)
    const { base } = world
    const owner = world.as('owner')
    await owner('PUT', '/secret/', ttl('<#a> <http://example.org/name> "secret" .'))
    await owner('PUT', '/queries/', ttl(`${PREFIXES} <#names> a sp:Construct ; sp:text """PREFIX : <http://example.org/> CONSTRUCT { ?s :title ?n ; :id [ :of ?s ] } WHERE { ?s :name ?n }""" . <#both> sp:text "a", "b" .`)) // prettier-ignore
    await owner('PUT', '/mine/', ttl(turtle('"Mine"')))
    const here = (path: string): string => `http://localhost:${server.port}${path}`
    const post = (name: string, endpoint: string, more: string): Promise<Answer> =>
      world.as(name)('POST', endpoint, ttl(`${PREFIXES} [] ${more} .`))
    const add = (name: string, source: string, target: string): Promise<Answer> =>
      post(name, '/add', `dct:source <${source}> ; sd:name <${new URL(target, base).href}>`)
    const target = async (): Promise<string> => {
      const path = world.freshPath()
      await world.as('writer')('PUT', path, ttl(turtle('"Target"')))
      return path
    }
    const contentOf = async (path: string): Promise<string> =>
      (await owner('GET', path, accept('application/n-triples'))).text

    const added: [source: string, text: string][] = [
      ['/typed', '"typed"'],
      ['/linked', '"linked"'],
      ['/by-extension.ttl', '"by extension"'],
      ['/without-type.nt', '"without type"'],
      ['/packed.ttl.gz', '"packed"'],
      ['/large', 'xxxxxxxx'],
    ]
    for (const [source, text] of added) {
      await row(`add ${source} → 204, and the triples are appended`, async (t) => {
        const path = await target()
        const { status, fields } = await add('writer', here(source), path)
        t.equal(status, 204)
        t.ok(fields.etag)
        const content = await contentOf(path)
        t.ok(content.includes(text))
        t.ok(content.includes('"Target"'))
      })
    }
    await row('an import fetches the contexts that its JSON-LD names', async (t) => {
      const sent = (contexts: readonly string[]): { fields: Record<string, string>; body: string } => ({
        fields: { 'Content-Type': 'application/ld+json' },
        body: JSON.stringify({ '@context': contexts.map(here), '@id': '#a', name: 'imported' }),
      })
      const preview = await world.as('writer')('POST', `/importer?name=${base}&dry-run`, sent(['/context']))
      t.match(preview.text, '<http://example.org/name> "imported"')
      const path = await target()
      const name = new URL(path, base).href
      const { fields } = await world.as('writer')('POST', `/importer?name=${name}`, sent(['/context']))
      const state = await until(async () => {
        const text = await contentOf(new URL(fields.location!).pathname)
        return !/#(?:Waiting|Running)>/.test(text) && text
      })
      t.match(state, /#Done>/)
      t.match(await contentOf(path), '<http://example.org/name> "imported"')
      const absent = await world.as('writer')('POST', `/importer?name=${base}&dry-run`, sent(['/no-context']))
      t.match([absent.status, absent.text], [400, /no-context/])
    })
    await row('new nodes are named in the target; relative IRIs are resolved against the source', async (t) => {
      const path = await target()
      await add('writer', here('/typed'), path)
      const content = await contentOf(path)
      t.ok(content.includes(`<${here('/typed')}#a> <http://example.org/knows> <${base}${path.slice(1)}#id`))
    })
    await row('a source of this gateway is read under the rights of its agent', async (t) => {
      const path = await target()
      t.equal((await add('writer', `${base}secret/`, path)).status, 204)
      t.ok((await contentOf(path)).includes(`<${base}secret/#a> <http://example.org/name> "secret"`))
      t.equal((await add('writer', `${base}admin/acl/authorizations/full-control/`, path)).status, 403)
      t.equal((await add('writer', `${base}missing/`, path)).status, 404)
      t.equal((await add('writer', `${base}sparql?query=ASK%7B%7D`, path)).status, 400)
    })
    await row('a disk that fails is 503, and nothing is left', async (t) => {
      const { folder } = IMPORTING.of(world.running.gateway)
      const path = await target()
      rmdirSync(folder)
      const query = `spin:query <${base}queries/#names>`
      const more = `dct:source <${here('/typed')}> ; sd:name <${new URL(path, base).href}>`
      const form = [await add('writer', here('/typed'), path), await post('writer', '/transform', `${query} ; ${more}`)]
      mkdirSync(folder)
      for (const { status, text, fields } of form) t.match([status, fields['retry-after'], text], [503, '60', 'ENOENT'])
      t.equal((await add('writer', here('/typed'), path)).status, 204)
      t.same(readdirSync(folder), [])
    })
    await row('data too large for one document becomes documents of a container, in the background', async (t) => {
      const path = world.freshPath()
      t.equal(
        (await owner('PUT', path, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))).status,
        201,
      )
      const [item, started] = [await add('owner', here('/one-in-many-lines.nt.gz'), await target()), await add('owner', here('/one-in-many-lines.nt.gz'), path)] // prettier-ignore
      t.equal(item.status, 413)
      t.match(item.text, 'container')
      const graphs = await add('owner', here('/graph-in-many-lines.nq.gz'), path)
      t.equal(graphs.status, 413, 'its graphs would become documents wherever they say')
      t.match(graphs.text, 'importer')
      t.equal(started.status, 201)
      await until(async () => (await owner('GET', new URL(started.fields.location!).pathname)).text.includes('Done'))
      const query = `ASK { GRAPH ?g { <urn:x:a> <urn:x:p> "of many" } FILTER(STRSTARTS(STR(?g), "${base}${path.slice(1)}")) }`
      t.match(
        (await owner('GET', `/sparql?query=${encodeURIComponent(query)}`, accept('application/sparql-results+json')))
          .text,
        'true',
      )
    })
    for (const spelling of ['é/', '%c3%a9/']) {
      await row(`add and transform to a document by its IRI, spelled ${spelling}`, async (t) => {
        const path = await target()
        await world.as('owner')('PUT', path, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
        await world.as('writer')('PUT', `${path}%C3%A9/`, ttl(turtle('"Target"')))
        const name = `sd:name <${world.origin}${path}${spelling}> ; dct:source <${here('/typed')}>`
        t.equal((await post('writer', '/add', name)).status, 204)
        t.match(await contentOf(`${path}%C3%A9/`), /\/%C3%A9\/#id[-0-9a-f]*> <http:\/\/example.org\/name> "b"/)
        const query = 'CONSTRUCT { ?s <urn:p> ?n } WHERE { ?s <http://example.org/name> ?n }'
        t.equal((await post('writer', '/transform', `${name} ; spin:query "${query}"`)).status, 204)
        t.match(await contentOf(`${path}%C3%A9/`), '<urn:p> "typed"')
      })
    }
    const refused: [name: string, agent: string, source: string, status: number, target?: string][] = [
      ['by an anonymous client', 'anonymous', '/typed', 403],
      ['by an agent without rights', 'stranger', '/typed', 403],
      ['by a reader', 'reader', '/typed', 403],
      ['to a document that does not exist', 'writer', '/typed', 404, '/missing/'],
      ['to a document of the admin application', 'writer', '/typed', 403, '/admin/acl/groups/owners/'],
      ['to a protected document', 'owner', '/typed', 405, new URL(world.ownerWebId).pathname],
      ['to a document elsewhere', 'writer', '/typed', 400, 'https://elsewhere.test/x/'],
      ['of a missing source', 'writer', '/none', 502],
      ['of a source that is not RDF', 'writer', '/image', 415],
      ['of malformed RDF', 'writer', '/broken', 400],
      ['of several graphs', 'writer', '/graphs', 400],
      ['of a small file that expands to a huge one', 'writer', '/bomb.ttl.gz', 413],
    ]
    for (const [name, agent, source, status, to] of refused) {
      await row(`add ${name} → ${status}`, async (t) => {
        const path = to ?? (await target())
        const before = to === undefined ? await contentOf(path) : ''
        t.equal((await add(agent, here(source), path)).status, status)
        if (to === undefined) t.equal(await contentOf(path), before)
      })
    }
    const malformed: [name: string, body: string, status: number][] = [
      ['no source', 'sd:name <TARGET>', 400],
      ['no target', 'dct:source <http://x.test/>', 400],
      ['two targets', 'dct:source <http://x.test/> ; sd:name <TARGET>, <http://y.test/>', 400],
      ['a source that is text', 'dct:source "x" ; sd:name <TARGET>', 400],
      ['a source of another scheme', 'dct:source <file:///etc/passwd> ; sd:name <TARGET>', 400],
      ['a source at an internal address', 'dct:source <http://169.254.169.254/latest/> ; sd:name <TARGET>', 400],
    ]
    for (const [name, body, status] of malformed) {
      await row(`add with ${name} → ${status}`, async (t) => {
        const path = await target()
        t.equal((await post('writer', '/add', body.replace('TARGET', new URL(path, base).href))).status, status)
      })
    }
    const tables: [path: string, property: string, problems: number][] = [
      ['/table.csv', 'urn:x:a', 0],
      ['/odd.csv', `${base}ns#a`, 1],
      ['/alone.csv', `${base}ns#a`, 0],
      ['/page.csv', `${base}ns#a`, 1],
      ['/failing.csv', `${base}ns#a`, 1],
      ['/folder/table.csv', 'urn:x:folder', 0],
      ['/linked.csv', 'urn:x:linked', 0],
    ]
    for (const [path, property, problems] of tables) {
      await row(`an import of ${path} reads the metadata beside it, and its sd:name is the container`, async (t) => {
        const LDH = 'https://w3id.org/atomgraph/linkeddatahub#'
        const into = world.freshPath()
        await owner('PUT', into, ttl(`<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "C" .`)) // prettier-ignore
        const started = await post('writer', '/importer', `a <${LDH}CSVImport> ; <${LDH}file> <${here(path)}> ; sd:name <${world.origin}${into}>`) // prettier-ignore
        t.equal(started.status, 201, started.text)
        const state = await until(async () => {
          const text = await contentOf(new URL(started.fields.location!).pathname)
          return !/#(?:Waiting|Running)>/.test(text) && text
        })
        t.match(state, /#Done>/)
        t.match(state, `import#problems> "${problems}"`)
        const found = await owner('GET', `/sparql?query=${encodeURIComponent(`ASK { GRAPH ?d { ?s <${property}> ?v } FILTER(STRSTARTS(STR(?d), "${world.origin}${into}")) }`)}`, accept('application/sparql-results+json')) // prettier-ignore
        t.match(found.text, /"boolean" ?: ?true/)
      })
    }
    await row('add of a file in the form of LinkedDataHub; its name says its type', async (t) => {
      const path = await target()
      const fields = (file: string, type: string | undefined, body: string) =>
        form([
          ['rdf', ''], ['sb', 'file'],
          ['pu', 'http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#fileName'], ['ol', body, file, type],
          ['pu', 'http://www.w3.org/ns/sparql-service-description#name'], ['ou', new URL(path, base).href],
        ]) // prettier-ignore
      t.equal((await world.as('writer')('POST', '/add', fields('../x.ttl', undefined, '<#f> :p "x" .'))).status, 400)
      t.equal(
        (await world.as('writer')('POST', '/add', fields('../x.ttl', undefined, '<#f> <urn:p> "file" .'))).status,
        204,
      )
      t.ok((await contentOf(path)).includes(`<${new URL(path, base).href}#f> <urn:p> "file"`))
      t.equal((await world.as('writer')('POST', '/add', fields('x.png', 'image/png', 'x'))).status, 415)
      const short = fields('x.ttl', 'text/turtle', '<#f> <urn:p> "cut" .')
      const cut = { ...short, body: String(short.body).slice(0, -20) }
      t.equal((await world.as('writer')('POST', '/add', cut)).status, 400)
    })

    const transform = (name: string, source: string, path: string, query: string, at = '/transform'): Promise<Answer> =>
      post(name, at, `dct:source <${source}> ; sd:name <${new URL(path, base).href}> ; ${query}`)
    await row('transform by the query of a document, by its text, and in the admin application', async (t) => {
      for (const query of [
        `spin:query <${base}queries/#names>`,
        'spin:query "PREFIX : <http://example.org/> CONSTRUCT { ?s :title ?n ; :id [ :of ?s ] } WHERE { ?s :name ?n }"',
      ]) {
        const path = await target()
        t.equal((await transform('writer', here('/by-extension.ttl'), path, query)).status, 204)
        const content = await contentOf(path)
        t.ok(content.includes(`<${here('/by-extension.ttl')}#a> <http://example.org/title> "by extension"`))
        t.match(content, /#id[0-9a-f]{32}> <http:\/\/example.org\/of>/)
        t.notOk(content.includes('http://example.org/name'))
      }
      const groups = '/admin/acl/groups/readers/'
      const query = 'sp:text "CONSTRUCT { ?s <urn:p> ?o } WHERE { ?s <http://example.org/name> ?o }"'
      t.equal((await transform('owner', here('/typed'), groups, query, '/admin/transform')).status, 204)
      t.equal((await transform('writer', here('/typed'), groups, query, '/admin/transform')).status, 403)
    })
    const queries: [name: string, query: string, status: number][] = [
      ['no query', 'dct:title "x"', 400],
      ['a SELECT', 'spin:query "SELECT * { ?s ?p ?o }"', 400],
      ['a DESCRIBE', 'spin:query "DESCRIBE <urn:x>"', 400],
      ['an update', 'spin:query "INSERT DATA { <urn:x> <urn:x> 1 }"', 400],
      ['no SPARQL', 'spin:query "CONSTRUCT {"', 400],
      ['SERVICE', 'spin:query "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <http://localhost/> { ?s ?p ?o } }"', 400],
      ['FROM', 'spin:query "CONSTRUCT { ?s ?p ?o } FROM <http://localhost/> WHERE { ?s ?p ?o }"', 400],
      ['GRAPH', 'spin:query "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }"', 400],
      ['GRAPH in the template', 'spin:query "CONSTRUCT { GRAPH <urn:g> { ?s ?p ?o } } WHERE { ?s ?p ?o }"', 400],
      ['a document without a query', `spin:query <${base}mine/>`, 400],
      ['a query with two texts', `spin:query <${base}queries/#both>`, 400],
      ['a query that its agent may not read', `spin:query <${base}admin/acl/groups/owners/#this>`, 403],
      ['a query that never ends', `spin:query "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o ${values()} }"`, 413],
    ]
    for (const [name, query, status] of queries) {
      await row(`transform with ${name} → ${status}`, async (t) => {
        const path = await target()
        t.equal((await transform('writer', here('/typed'), path, query)).status, status)
      })
    }
    await row('other methods → 405', async (t) => {
      for (const endpoint of ['/add', '/transform', '/admin/transform'])
        t.equal((await owner('GET', endpoint)).status, 405)
    })
  })
})

/** So many solutions that the query never ends. */
function values(): string {
  const numbers = Array.from({ length: 60 }, (_, i) => i).join(' ')
  return ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `VALUES ?${name} { ${numbers} }`).join(' ') + ' FILTER(?a + ?b + ?c + ?d + ?e + ?f + ?g < 0)' // prettier-ignore
}
