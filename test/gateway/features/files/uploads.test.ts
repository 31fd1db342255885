// Files (spec 4.6, LinkedDataHub 2.7 and 3.3): uploads, who may read them, ranges, and when they are removed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { connect } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { MOST_DOCUMENTS } from '../../../../gateway/files/files.js'
import { isFull, makeRoom } from '../../../../gateway/files/arriving.js'
import { claimOf as fileClaim, filesFolder, sweepFiles } from '../../../../gateway/files/sweep-files.js'
import { garbling } from '../../mirror/odd-terms.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl, update, type World } from '../../../support/world.js'
import type { Answer } from '../../../support/client.js'
import { until } from '../../../support/wait.js'

const NFO = 'http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#'
const DCT = 'http://purl.org/dc/terms/'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'

interface Given {
  readonly name?: string
  readonly type?: string
  readonly title?: string
  readonly more?: readonly (readonly [key: string, value: string])[]
}

/** The form of LinkedDataHub 3.3. */
function form(
  content: string | Buffer,
  { name = 'note.txt', type = 'text/plain', title = 'A note', more = [] }: Given = {},
) {
  const boundary = 'b0undary'
  const part = (key: string, value: string | Buffer, file = ''): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${key}"${file}\r\n\r\n`),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ])
  const parts = [
    part('rdf', ''),
    part('sb', 'file'),
    part('pu', `${NFO}fileName`),
    part('ol', content, `; filename="${name}"\r\nContent-Type: ${type}`),
    part('pu', `${DCT}title`),
    part('ol', title),
    part('pu', TYPE),
    part('ou', `${NFO}FileDataObject`),
    ...more.map(([key, value]) => part(key, value)),
  ]
  return {
    fields: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
  }
}

const sha1Of = (content: string | Buffer): string => createHash('sha1').update(content).digest('hex')
const sha256Of = (content: string | Buffer): string => createHash('sha256').update(content).digest('base64')
const pathOf = (content: string | Buffer): string => `/uploads/${sha1Of(content)}`

const itemOf = async (world: World, more = ''): Promise<string> => {
  const path = world.freshPath()
  await world.as('owner')('PUT', path, ttl(`<> <${DCT}title> "An item" . ${more}`))
  return path
}

/** Gives everyone Read on this document. */
const publish = (world: World, path: string): Promise<Answer> =>
  world.as('owner')(
    'PUT',
    `/admin/acl/authorizations/p${sha1Of(path).slice(0, 8)}/`,
    ttl(`<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ;
    <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> ; <http://www.w3.org/ns/auth/acl#accessTo> <${world.origin}${path}> ;
    <http://www.w3.org/ns/auth/acl#agentClass> <http://xmlns.com/foaf/0.1/Agent> .`),
  )

/** Gives the stranger these modes at this path. */
const allow = (world: World, path: string, ...modes: readonly string[]): Promise<Answer> =>
  world.as('owner')(
    'PUT',
    `/admin/acl/authorizations/s${sha1Of(path).slice(0, 8)}/`,
    ttl(`<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ;
      <http://www.w3.org/ns/auth/acl#mode> ${modes.map((mode) => `<http://www.w3.org/ns/auth/acl#${mode}>`).join(', ')} ;
      <http://www.w3.org/ns/auth/acl#accessTo> <${world.origin}${path}> ; <http://www.w3.org/ns/auth/acl#agent> <${world.webIdOf('stranger')}> .`),
  )

void forEachStore(t, 'files', async (t, makeStores, kind) => {
  const { endUser, ...stores } = await makeStores()
  const store = garbling(endUser)
  const flags = ['--max-upload', '100000', '--daily-uploads', '2000000', '--dataset-path', '/ds']
  const world = await makeWorld(t, { ...stores, endUser: store }, { flags })
  const row = rowsOf(t, kind)
  const [owner, stranger] = [world.as('owner'), world.as('stranger')]

  await row('an empty file is a source without triples', async (t) => {
    const item = await itemOf(world)
    t.equal((await owner('POST', item, form('', { name: 'empty.ttl', type: 'text/turtle' }))).status, 204)
    const asked = `[] <${DCT}source> <${world.origin}${pathOf('')}> ; <http://www.w3.org/ns/sparql-service-description#name> <${world.origin}${item}> .`
    const { status, text } = await owner('POST', '/add', ttl(asked))
    t.equal(status, 204, text)
  })

  await row('whoever may write documents cannot take a file from its readers by describing it', async (t) => {
    const [content, item] = ['of a reader', await itemOf(world)]
    t.equal((await owner('POST', item, form(content))).status, 204)
    t.equal((await allow(world, item, 'Read')).status, 201)
    const file = `<${world.origin}${pathOf(content)}>`
    const describing = ttl(`${file} a <${NFO}FileDataObject> ; <${DCT}format> <http://www.sparontologies.net/mediatype/image/png> .`) // prettier-ignore
    // By their URLs before the document that gives the file.
    for (let n = 0; n < 201; n++) t.equal((await world.as('writer')('PUT', `/0-${n}/`, describing)).status, 201)
    const { status, fields } = await world.as('stranger')('GET', pathOf(content))
    t.equal(status, 200)
    t.notMatch(fields['content-type'], 'image/png')
    for (let n = 0; n < 201; n++) await world.as('writer')('DELETE', `/0-${n}/`)
  })

  await row('a form with a file describes it in the document, and its URL gives the bytes', async (t) => {
    const item = await itemOf(world)
    const sent = await owner('POST', item, form('Hello', { title: 'Greeting' }))
    t.equal(sent.status, 204, sent.text)
    const { text } = await owner('GET', item, { fields: { Accept: 'application/n-triples' } })
    const file = `<${world.origin}${pathOf('Hello')}>`
    t.match(text, `${file} <${NFO}fileName> "note.txt" .`)
    t.match(text, `${file} <${DCT}title> "Greeting" .`)
    t.match(text, `${file} <${TYPE}> <${NFO}FileDataObject> .`)
    t.match(text, `${file} <http://xmlns.com/foaf/0.1/sha1> "${sha1Of('Hello')}" .`)
    t.match(text, `${file} <${DCT}format> <http://www.sparontologies.net/mediatype/text/plain> .`)
    const got = await owner('GET', pathOf('Hello'))
    t.equal(got.status, 200, got.text)
    t.equal(got.text, 'Hello')
    t.match(got.fields, {
      'content-type': 'text/plain;charset=UTF-8',
      'content-length': '5',
      'accept-ranges': 'bytes',
      etag: `"${sha1Of('Hello')}"`,
      'repr-digest': `sha-256=:${sha256Of('Hello')}:`,
      'cache-control': 'private, max-age=604800, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'content-disposition': "inline; filename*=UTF-8''note.txt",
    })
    const head = await owner('HEAD', pathOf('Hello'))
    t.equal(head.status, 200)
    t.equal(head.body.length, 0)
    t.equal(head.fields['content-length'], '5')
  })

  await row('PUT creates a document with its file', async (t) => {
    const path = world.freshPath()
    t.equal(
      (
        await owner(
          'PUT',
          path,
          form('by PUT', {
            more: [
              ['su', `${world.origin}${path}`],
              ['pu', `${DCT}title`],
              ['ol', 'Made'],
            ],
          }),
        )
      ).status,
      201,
    )
    t.equal((await owner('GET', pathOf('by PUT'))).text, 'by PUT')
  })

  const secret = 'for readers of its document'
  await row(
    'agents who may read a document that describes a file may read the file; rights on the class of all files count too',
    async (t) => {
      const item = await itemOf(world)
      t.equal((await owner('POST', item, form(secret))).status, 204)
      for (const [agent, status] of [
        ['owner', 200],
        ['writer', 200],
        ['reader', 200],
        ['stranger', 403],
        ['anonymous', 403],
      ] as const) {
        t.equal((await world.as(agent)('GET', pathOf(secret))).status, status, agent)
      }
      t.equal((await publish(world, item)).status, 201)
      for (const agent of ['anonymous', 'stranger', 'reader']) {
        const { status, fields } = await world.as(agent)('GET', pathOf(secret))
        t.equal(status, 200, agent)
        t.equal(fields['cache-control'], 'public, max-age=604800, s-maxage=60, immutable', agent)
        t.equal(fields.link, undefined, 'no field is of the agent alone')
      }
      t.equal((await owner('DELETE', item)).status, 204)
      t.equal((await world.as('anonymous')('GET', pathOf(secret))).status, 403)
      t.equal((await world.as('owner')('GET', pathOf(secret))).status, 404, 'no document describes it')
    },
  )

  await row('knowing the digest of a file gives no right to it', async (t) => {
    const item = await itemOf(world)
    t.equal((await owner('POST', item, form('a secret'))).status, 204)
    const own = await itemOf(world)
    t.equal((await allow(world, own, 'Read', 'Append')).status, 201)
    const claim = ttl(`<${world.origin}${pathOf('a secret')}> a <${NFO}FileDataObject> .`)
    t.equal((await world.as('stranger')('POST', own, claim)).status, 204)
    t.equal((await world.as('stranger')('GET', pathOf('a secret'))).status, 403)
    t.equal((await owner('POST', own, ttl(`<${world.origin}${pathOf('a secret')}> <${DCT}title> "T" .`))).status, 204)
    t.equal((await world.as('stranger')('GET', pathOf('a secret'))).status, 403)
    const again = `<> <${DCT}title> "Again" . <${world.origin}${pathOf('a secret')}> a <${NFO}FileDataObject> .`
    t.equal((await owner('PUT', own, ttl(again))).status, 200)
    t.equal((await world.as('stranger')('GET', pathOf('a secret'))).status, 403, 'the claim was there before')
    const copy = await itemOf(world, `<${world.origin}${pathOf('a secret')}> a <${NFO}FileDataObject> .`)
    t.equal((await publish(world, copy)).status, 201)
    t.equal(
      (await world.as('stranger')('GET', pathOf('a secret'))).status,
      200,
      'the owner, who may read the file, has published a description',
    )
  })

  const claimOf = (text: string): string => `<${world.origin}${pathOf(text)}> a <${NFO}FileDataObject> .`
  await row('without a history, a PUT gives a file only if it names the state of the document', async (t) => {
    const [text, hidden, item] = ['without a history', await itemOf(world), await itemOf(world)]
    t.equal((await owner('POST', hidden, form(text))).status, 204)
    t.equal((await allow(world, item, 'Read', 'Write')).status, 201)
    t.equal((await stranger('PUT', item, ttl(claimOf(text)))).status, 200)
    for (const status of [403, 200]) {
      t.equal((await stranger('PUT', item, ttl(''))).status, 200)
      const { etag } = (await owner('GET', item)).fields
      const { fields, body } = ttl(claimOf(text))
      const named = { ...fields, ...(status === 200 && { 'If-Match': etag }) }
      t.equal((await owner('PUT', item, { fields: named, body })).status, 200)
      t.equal((await stranger('GET', pathOf(text))).status, status)
    }
  })
  // prettier-ignore
  const ENDS: readonly (readonly [how: string, end: (item: string) => Promise<Answer>, claim: (item: string, text: string) => Promise<Answer>])[] = [
    ['the document was deleted, and another agent creates its URL again', (item) => owner('DELETE', item),
      async (item, text) => { await owner('PUT', item, ttl('')); return stranger('PUT', item, ttl(claimOf(text))) }],
    ['the document no longer describes the file, and another agent describes it there', (item) => owner('PUT', item, ttl('')),
      (item, text) => stranger('POST', item, ttl(claimOf(text)))],
    ['the document no longer describes the file, and another agent describes it there by an update', (item) => owner('PUT', item, ttl('')),
      (item, text) => stranger('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-update' }, body: `INSERT DATA { GRAPH <${world.origin}${item}> { ${claimOf(text)} } }` })],
  ]
  for (const [i, [how, end, claim]] of ENDS.entries()) {
    await row(`the right to a file by a document ends with the description: ${how}`, async (t) => {
      const text = `private ${i}`
      const item = await itemOf(world)
      t.equal((await allow(world, item, 'Read', 'Append', 'Write')).status, 201)
      t.equal((await owner('POST', item, form(text))).status, 204)
      t.equal((await allow(world, '/sparql', 'Write')).status, i === 0 ? 201 : 200)
      t.ok((await end(item)).status < 300)
      const claimed = await claim(item, text)
      t.ok(claimed.status < 300, `${claimed.status} ${claimed.text}`)
      t.equal((await stranger('GET', item)).status, 200)
      t.equal((await stranger('GET', pathOf(text))).status, 403)
    })
  }

  await row('a PUT on a document that cannot be read takes no file from its readers, and gives none', async (t) => {
    const [one, other] = ['given by an unreadable document', 'given by another document']
    const [item, second] = [await itemOf(world), await itemOf(world)]
    t.equal((await owner('POST', item, form(one))).status, 204)
    t.equal((await owner('POST', second, form(other))).status, 204)
    t.equal((await allow(world, item, 'Write')).status, 201)
    store.garbled = `${world.origin}${item}`
    world.running.gateway.dataspaces[0]!.endUser.cache.versions.changed(store.garbled)
    t.equal((await owner('GET', item)).status, 502)
    t.equal((await stranger('PUT', item, ttl(claimOf(one) + claimOf(other)))).status, 200)
    t.equal((await publish(world, item)).status, 201)
    for (const [text, status] of [
      [one, 200],
      [other, 403],
    ] as const)
      t.equal((await world.as('anonymous')('GET', pathOf(text))).status, status, text)
  })

  await row('documents that no longer describe a file leave room for one that does', async (t) => {
    const item = await itemOf(world)
    t.equal((await owner('POST', item, form('popular'))).status, 204)
    const { endUser } = world.running.dataspaces[0]!
    const sha1 = sha1Of('popular')
    const gone = Array.from({ length: MOST_DOCUMENTS - 1 }, (_, i) => `${world.base}gone${i}/`)
    const list = join(filesFolder(world.folder, world.base), sha1.slice(0, 2), sha1, 'documents')
    writeFileSync(list, [...gone, world.origin + item].map((each) => `${each}\n`).join(''))
    const other = await itemOf(world)
    const describes = ttl(`<${world.base}uploads/${sha1}> a <${NFO}FileDataObject> .`)
    t.equal((await owner('POST', other, describes)).status, 204)
    const another = await itemOf(world)
    t.equal((await owner('POST', another, form('popular'))).status, 204)
    const expected = [...gone.slice(2), ...[item, other, another].map((path) => world.origin + path)]
    t.same([...(await endUser.files.documentsOf(sha1))], expected)
  })

  await row('ranges and conditions', async (t) => {
    const item = await itemOf(world)
    const content = '0123456789'
    t.equal((await owner('POST', item, form(content))).status, 204)
    const tag = `"${sha1Of(content)}"`
    const date = (await owner('HEAD', pathOf(content))).fields['last-modified']!
    // prettier-ignore
    const rows: readonly (readonly [fields: Record<string, string>, status: number, text: string, range?: string])[] = [
      [{ Range: 'bytes=2-4' },                            206, '234',      'bytes 2-4/10'],
      [{ Range: 'bytes=7-' },                             206, '789',      'bytes 7-9/10'],
      [{ Range: 'bytes=-2' },                             206, '89',       'bytes 8-9/10'],
      [{ Range: 'bytes=-20' },                            206, content,    'bytes 0-9/10'],
      [{ Range: 'bytes=8-100' },                          206, '89',       'bytes 8-9/10'],
      [{ Range: 'bytes=10-' },                            416, '',         'bytes */10'],
      [{ Range: 'bytes=-0' },                             416, '',         'bytes */10'],
      [{ Range: 'bytes=4-2' },                            200, content],
      [{ Range: 'bytes=0-1,4-5' },                        200, content],
      [{ Range: 'lines=1-2' },                            200, content],
      [{ Range: 'bytes=2-4', 'If-Range': tag },           206, '234',      'bytes 2-4/10'],
      [{ Range: 'bytes=2-4', 'If-Range': date },          206, '234',      'bytes 2-4/10'],
      [{ Range: 'bytes=2-4', 'If-Range': '"another"' },   200, content],
      [{ Range: 'bytes=2-4', 'If-Range': `W/${tag}` },    200, content],
      [{ 'If-None-Match': tag },                          304, ''],
      [{ 'If-None-Match': tag, Range: 'bytes=2-4' },      304, ''],
      [{ 'If-Modified-Since': date },                     304, ''],
      [{ 'If-Match': '"another"' },                       412, ''],
    ]
    for (const [fields, status, text, range] of rows) {
      const got = await owner('GET', pathOf(content), { fields })
      const what = JSON.stringify(fields)
      t.equal(got.status, status, what)
      t.equal(got.fields['content-range'], range, what)
      if (status < 300) t.equal(got.text, text, what)
      if (status === 206) t.equal(got.fields['repr-digest'], `sha-256=:${sha256Of(content)}:`, what)
    }
    t.equal((await owner('HEAD', pathOf(content), { fields: { Range: 'bytes=2-4' } })).status, 200)
  })

  await row(
    'files that a browser could run are sent as downloads, and no name breaks a line or leaves its folder',
    async (t) => {
      const item = await itemOf(world)
      // prettier-ignore
      const rows: readonly (readonly [content: string, given: Given, disposition: string, type: string])[] = [
      ['<script/>',   { name: 'a.html', type: 'text/html' },                 "attachment; filename*=UTF-8''a.html", 'text/html;charset=UTF-8'],
      ['<svg/>',      { name: 'a.svg', type: 'image/svg+xml' },              "attachment; filename*=UTF-8''a.svg", 'image/svg+xml'],
      ['\x89PNG',     { name: 'ä b.png', type: 'image/png' },                "inline; filename*=UTF-8''%C3%A4%20b.png", 'image/png'],
      ['up',          { name: '../../etc/passwd' },                          "inline; filename*=UTF-8''passwd", 'text/plain;charset=UTF-8'],
      ['windows',     { name: 'C:\\temp\\x.txt' },                           "inline; filename*=UTF-8''x.txt", 'text/plain;charset=UTF-8'],
      ['line breaks', { name: 'a%0D%0ASet-Cookie: b%22.txt' },               "inline; filename*=UTF-8''a%20Set-Cookie%3A%20b%22.txt", 'text/plain;charset=UTF-8'],
      ['dots',        { name: '..' },                                        "inline; filename*=UTF-8''file", 'text/plain;charset=UTF-8'],
      ['odd type',    { name: 'x', type: 'odd' },                            "attachment; filename*=UTF-8''x", 'application/octet-stream'],
      ['stated type', { name: 'x', more: [['pu', `${DCT}format`], ['ol', 'text/csv']] }, "inline; filename*=UTF-8''x", 'text/csv;charset=UTF-8'],
      ['Latin',       { name: 'l.csv', type: 'text/csv; charset="windows-1252"' }, "inline; filename*=UTF-8''l.csv", 'text/csv;charset=windows-1252'],
      ['Latin XML',   { name: 'l.xml', type: 'application/xml;charset=ISO-8859-1' }, "attachment; filename*=UTF-8''l.xml", 'application/xml;charset=iso-8859-1'],
      ['UTF-8',       { name: 'u.csv', type: 'text/csv;charset=utf-8' },     "inline; filename*=UTF-8''u.csv", 'text/csv;charset=UTF-8'],
      ['no charset',  { name: 'n.csv', type: 'text/csv;charset="a b>"' },    "inline; filename*=UTF-8''n.csv", 'text/csv;charset=UTF-8'],
    ]
      for (const [content, given, disposition, type] of rows) {
        t.equal((await owner('POST', item, form(content, given))).status, 204, given.name!)
        const { fields } = await owner('GET', pathOf(content))
        t.equal(fields['content-disposition'], disposition, given.name!)
        t.equal(fields['content-type'], type, given.name!)
        t.equal(fields['set-cookie'], undefined)
      }
    },
  )

  await row('refused uploads leave no file', async (t) => {
    const item = await itemOf(world)
    const large = Buffer.alloc(150_000, 'x')
    const bare = form('no name of a file').body.toString().replace('fileName', 'fileSize')
    const type = form('').fields
    const cut = form('cut').body.subarray(0, -12)
    // prettier-ignore
    const rows: readonly (readonly [name: string, agent: string, target: string, sent: { fields: Record<string, string>; body: Buffer | string }, status: number])[] = [
      ['larger than --max-upload',     'owner',     item,              form(large),                           413],
      ['no nfo:fileName',              'owner',     item,              { fields: type, body: bare },          400],
      ['a last part without an end',     'owner',     item,              { fields: type, body: cut },           400],
      ['a part without a name',        'owner',     item,              { fields: type, body: form('x').body.toString().replace('name="sb"', '') }, 400],
      ['by a reader',                  'reader',    item,              form('reader'),                        403],
      ['by an anonymous client',       'anonymous', item,              form('anonymous'),                     403],
      ['document does not exist',      'owner',     world.freshPath(), form('nowhere'),                       404],
      ['at the URL of a file',         'owner',     pathOf('x'),       form('x'),                             405],
    ]
    for (const [name, agent, target, sent, status] of rows) {
      const answered = await world.as(agent)('POST', target, sent)
      t.equal(answered.status, status, `${name}: ${answered.text}`)
      t.notMatch(String(answered.fields['content-type']), 'undefined', name)
    }
    const { files } = world.running.dataspaces[0]!.endUser
    const broken = await owner('POST', item, form('in two lines', { name: 'a\r\nSet-Cookie: b.txt' }))
    t.match(broken, { status: 204, fields: { 'set-cookie': undefined } }, 'a name with a line break is ignored')
    t.notOk(await files.find(sha1Of('in two lines')), 'its part is a field')
    const unmet = form('unmet')
    t.equal((await owner('POST', item, { ...unmet, fields: { ...unmet.fields, 'If-Match': '"x"' } })).status, 412)
    t.notOk(await files.find(sha1Of('unmet')), 'the file of a refused write is gone')
    const unmade = form('unmade')
    const made = `/ds/data?graph=${world.origin}${world.freshPath()}`
    t.equal((await owner('POST', made, { ...unmade, fields: { ...unmade.fields, 'If-Match': '*' } })).status, 412)
    t.notOk(await files.find(sha1Of('unmade')), 'the file of a refused creation is gone')
    t.equal((await owner('POST', made, form('made'))).status, 201)
    t.ok(await files.find(sha1Of('made')), 'the file of a creation stays')
    t.equal((await owner('POST', item, form('described'))).status, 204)
    const again = form('described')
    t.equal((await owner('POST', item, { ...again, fields: { ...again.fields, 'If-Match': '"x"' } })).status, 412)
    t.ok(await files.find(sha1Of('described')), 'one that a document describes stays')
    const removal = update(`DELETE { ?s ?p ?o } WHERE { ?s a <${NFO}FileDataObject> ; ?p ?o }`)
    t.equal((await owner('PATCH', item, removal)).status, 204)
    t.equal((await owner('POST', item, { ...again, fields: { ...again.fields, 'If-Match': '"x"' } })).status, 412)
    t.ok(await files.find(sha1Of('described')), 'one that a document described until now has its day')
    t.equal((await owner('GET', pathOf(large))).status, 404)
    t.strictSame(arrivingIn(world), [], 'no incomplete file is left')
  })

  await row('events while the store is asked about the file of a refused write', async (t) => {
    const { endUser } = world.running.dataspaces[0]!
    const { files } = endUser
    const claim = fileClaim(endUser, undefined)
    const bring = async (text: string, document: string): Promise<string> => {
      const arriving = await files.receive()
      if (!('write' in arriving)) throw new Error(arriving.detail)
      await arriving.write(Buffer.from(text))
      const kept = await files.keep(arriving, document, claim)
      if ('failure' in kept) throw new Error(kept.detail)
      return kept.sha1
    }
    const none = (): Promise<ReadonlySet<string>> => Promise.resolve(new Set())
    const rows: readonly (readonly [name: string, meanwhile: (text: string) => Promise<unknown>, stays: boolean])[] = [
      ['nothing', () => Promise.resolve(), false],
      ['another file', (text) => bring(`not ${text}`, 'urn:b'), false],
      ['another document describes it', (text) => files.addDocument(sha1Of(text), 'urn:b', claim), true],
      ['another write brings it', async (text) => files.release(await bring(text, 'urn:b')), true],
      ['another write uploads it at the same time', (text) => bring(text, 'urn:b'), true],
      [
        'another write brings it and is refused',
        async (text) => files.release(await bring(text, 'urn:b'), none),
        false,
      ],
    ]
    for (const [name, meanwhile, stays] of rows) {
      const sha1 = await bring(name, 'urn:a')
      await files.release(sha1, async () => {
        await meanwhile(name)
        return new Set()
      })
      t.equal((await files.find(sha1)) !== undefined, stays, name)
    }
  })

  await row('a client that leaves, and one whose Content-Length is too large or too small', async (t) => {
    const item = await itemOf(world)
    const { fields, body } = form('lies')
    for (const lie of [body.length + 10, body.length - 5]) {
      const text = await raw(world, item, fields['Content-Type'], body, lie)
      t.notMatch(text, /^HTTP\/1\.1 20/, `${lie - body.length}`)
    }
    await until(() => arrivingIn(world).length === 0)
    t.equal((await owner('GET', pathOf('lies'))).status, 404)
  })

  await row('parts of RDF without files are read as before', async (t) => {
    const item = await itemOf(world)
    const body = `--x\r\nContent-Disposition: form-data; name="a"; filename="a.ttl"\r\n\r\n<#a> <${DCT}title> "From a part" .\r\n--x--\r\n`
    t.equal(
      (await owner('POST', item, { fields: { 'Content-Type': 'multipart/form-data; boundary=x' }, body })).status,
      204,
    )
    t.match((await owner('GET', item)).text, 'From a part')
  })

  await row('different content with the same SHA-1 is refused', async (t) => {
    const item = await itemOf(world)
    t.equal((await owner('POST', item, form('once'))).status, 204)
    const { files } = world.running.dataspaces[0]!.endUser
    const arriving = await files.receive()
    if (!('write' in arriving)) throw new Error(arriving.detail)
    await arriving.write(Buffer.from('other'))
    const digests = (): ReturnType<typeof arriving.digests> => ({ sha1: sha1Of('once'), sha256: 'f'.repeat(64) })
    const kept = await files.keep(
      { ...arriving, digests },
      'urn:document',
      fileClaim(world.running.dataspaces[0]!.endUser, undefined),
    )
    t.match(kept, { failure: 'files.other-content' })
    t.equal((await owner('GET', pathOf('once'))).text, 'once')
  })

  await row('a file that no document describes any more is removed after a day', async (t) => {
    const item = await itemOf(world)
    const { endUser } = world.running.dataspaces[0]!
    const sweep = (): Promise<void> => sweepFiles(endUser, world.running.gateway.log)
    const exists = async (): Promise<boolean> => (await endUser.files.find(sha1Of('short-lived'))) !== undefined
    t.equal((await owner('POST', item, form('short-lived'))).status, 204)
    await sweep()
    world.passTime(2 * DAY)
    await sweep()
    t.ok(await exists(), 'it is described')
    t.equal(
      (await owner('PATCH', item, update(`DELETE { ?s ?p ?o } WHERE { ?s a <${NFO}FileDataObject> ; ?p ?o }`))).status,
      204,
    )
    await sweep()
    world.passTime(DAY / 2)
    await sweep()
    t.ok(await exists(), 'half a day')
    world.passTime(DAY)
    await sweep()
    t.notOk(await exists(), 'a day')
    t.equal((await owner('POST', item, form('short-lived'))).status, 204)
    t.equal((await owner('GET', pathOf('short-lived'))).text, 'short-lived', 'it can be uploaded again')
  })

  await row('an agent may upload a tenth of the daily bytes; other agents keep their own share', async (t) => {
    const item = await itemOf(world)
    const rows: readonly (readonly [name: string, agent: string, status: number])[] = [
      ['a', 'writer', 204],
      ['b', 'writer', 204],
      ['c', 'writer', 429],
      ['c', 'owner', 204],
      ['d', 'owner', 204],
    ]
    const fileOf = (name: string) => form(Buffer.alloc(90_000, name))
    for (const [name, agent, status] of rows) {
      const { status: got, text, fields } = await world.as(agent)('POST', item, fileOf(name))
      t.equal(got, status, `${agent} ${name}: ${text}`)
      if (status === 429) t.ok(Number(fields['retry-after']) > 0)
    }
    const { fields, body } = fileOf('e')
    const begun = await raw(world, item, fields['Content-Type'], body.subarray(0, 1_000), body.length)
    t.match(begun, /^HTTP\/1\.1 429/, 'refused by its length, before it has come')
    t.strictSame(arrivingIn(world), [])
    world.passTime(DAY)
    t.equal((await world.as('writer')('POST', item, fileOf('d'))).status, 204, 'the next day')
  })
})

void forEachStore(t, 'files that content of others describes', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores(), { flags: ['--history', 'local'] })
  const row = rowsOf(t, kind)
  const [owner, stranger] = [world.as('owner'), world.as('stranger')]
  const N_TRIPLES = 'application/n-triples'
  const claimOf = (text: string): string => `<${world.origin}${pathOf(text)}> a <${NFO}FileDataObject> .`
  const tagOf = async (item: string): Promise<string> => (await owner('GET', item)).fields.etag!
  const sparql = (text: string): Promise<Answer> => owner('POST', '/sparql', update(text))
  /** What happens to a document that described the file. `old`: its content then, and the URL of that version. */
  interface Told {
    readonly item: string
    readonly text: string
    readonly old: { readonly nTriples: string; readonly version: string }
  }
  type Bring = (told: Told) => Promise<Answer>
  const put =
    (fields: Record<string, string>): Bring =>
    ({ item, old }) =>
      owner('PUT', item, { fields: { 'Content-Type': N_TRIPLES, ...fields }, body: old.nTriples })
  const restore: Bring = async ({ item, text, old }) =>
    put({ 'Content-Location': old.version, 'If-Match': await tagOf(item) })({ item, text, old })
  const remake: Bring = async (told) => {
    await owner('DELETE', told.item)
    return put({ 'Content-Location': told.old.version, 'If-None-Match': '*' })(told)
  }
  const press: Bring = async ({ item, old }) => {
    const fields = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: world.origin }
    const body = `if-match=${encodeURIComponent(await tagOf(item))}`
    return owner('POST', `${item}?form=restore&of=${old.version.split('version=')[1]}`, { fields, body })
  }
  const dump =
    (more = ''): Bring =>
    ({ item, old }) =>
      owner('POST', '/importer', {
        fields: { 'Content-Type': 'application/n-quads' },
        body: old.nTriples.replaceAll(/ \.$/gm, ` <${world.origin}${item}> .`) + more,
      })
  const append: Bring = ({ item, old }) =>
    owner('POST', `/importer?name=${world.origin}${item}`, {
      fields: { 'Content-Type': N_TRIPLES },
      body: old.nTriples,
    })
  /** Puts another document's triples into this one. */
  const copied =
    (how: (from: string, to: string) => Promise<Answer>): Bring =>
    async ({ item, old }) => {
      const from = await itemOf(world)
      await allow(world, from, 'Read', 'Write')
      await stranger('PUT', from, ttl(old.nTriples.replaceAll(item, from)))
      return how(`<${world.origin}${from}>`, `<${world.origin}${item}>`)
    }
  const add = copied((from, to) => owner('POST', '/add', ttl(`[] <${DCT}source> ${from} ; <http://www.w3.org/ns/sparql-service-description#name> ${to} .`))) // prettier-ignore
  // prettier-ignore
  const rows: readonly (readonly [name: string, by: 'owner' | 'stranger', bring: Bring, status: number])[] = [
    ['a restored version of another agent',                  'stranger', restore, 403],
    ['one of a document that was deleted',                   'stranger', remake,  403],
    ['one that a person restores',                           'stranger', press,   403],
    ['an earlier state of another agent',                    'stranger', put({}), 403],
    ['an earlier state, put on any state',                   'stranger', put({ 'If-Match': '*' }), 403],
    ['an imported dump',                                     'stranger', dump(),  403],
    ['an imported dump of documents that were deleted',      'stranger', async (told) => {
      await owner('DELETE', told.item)
      return dump(`<urn:s> <urn:p> "o" <${world.origin}${world.freshPath()}> .\n`)(told)
    }, 403],
    ['an import that adds to the document',                  'stranger', append,  403],
    ['added data of another document',                       'stranger', add,     403],
    ['an update that copies another document',               'stranger', copied((from, to) => sparql(`COPY ${from} TO ${to}`)), 403],
    ['a PATCH that describes what another agent has linked', 'stranger', async ({ item, text }) => {
      await stranger('PUT', item, ttl(`<> <urn:shows> <${world.origin}${pathOf(text)}> .`))
      return owner('PATCH', item, update(`INSERT { ?f a <${NFO}FileDataObject> } WHERE { ?s <urn:shows> ?f }`))
    }, 403],
    ['an earlier state that names the present one',          'stranger', async (told) => put({ 'If-Match': await tagOf(told.item) })(told), 200],
    ['a PATCH that names the file',                          'stranger', ({ item, text }) => owner('PATCH', item, update(`INSERT { ${claimOf(text)} } WHERE {}`)), 200],
    ['an update that names the file',                        'stranger', ({ item, text }) => sparql(`INSERT DATA { GRAPH <${world.origin}${item}> { ${claimOf(text)} } }`), 200],
    ['a restored version of the agent who brought the file', 'owner',    restore, 200],
    ['an earlier state of the agent who brought the file',   'owner',    put({}), 200],
    ['an imported dump of a document that gave the file',    'owner',    dump(),  200],
    ['an update that moves a document that gives the file',  'owner',    async (told) => {
      await restore(told)
      const to = await itemOf(world)
      await allow(world, to, 'Read')
      return sparql(`MOVE <${world.origin}${told.item}> TO <${world.origin}${to}>`)
    }, 200],
    ['a PUT that describes the file for the first time',     'stranger', async ({ text }) => {
      const other = await itemOf(world)
      await allow(world, other, 'Read')
      return owner('PUT', other, ttl(claimOf(text)))
    }, 200],
  ]
  for (const [i, [name, by, bring, status]] of rows.entries()) {
    await row(`${name}: its readers get ${status} for the file`, async (t) => {
      const [text, hidden, item] = [`content ${i}`, await itemOf(world), await itemOf(world)]
      t.equal((await owner('POST', hidden, form(text))).status, 204)
      t.equal((await allow(world, item, 'Read', 'Write', 'Append')).status, 201)
      const described = by === 'owner' ? owner('POST', item, form(text)) : stranger('PUT', item, ttl(claimOf(text)))
      t.ok((await described).status < 300)
      t.equal((await stranger('GET', pathOf(text))).status, by === 'owner' ? 200 : 403)
      const nTriples = (await owner('GET', item, { fields: { Accept: N_TRIPLES } })).text
      const map = await owner('GET', `${item}?timemap`, { fields: { Accept: 'application/json' } })
      const { versions } = JSON.parse(map.text) as { readonly versions: readonly { readonly version: string }[] }
      const version = `${world.origin}${item}?version=${versions.at(-1)!.version}`
      t.equal((await stranger('PUT', item, ttl(`<> <${DCT}title> "Lost" .`))).status, 200)
      t.equal((await stranger('GET', pathOf(text))).status, 403)
      const brought = await bring({ item, text, old: { nTriples, version } })
      t.ok(brought.status < 400, `${brought.status} ${brought.text}`)
      // Until an import that runs in the background has ended.
      const { location } = brought.fields
      if (location?.includes('/imports/')) await until(async () => !/#(?:Waiting|Running)>/.test((await owner('GET', new URL(location).pathname, { fields: { Accept: N_TRIPLES } })).text)) // prettier-ignore
      t.equal((await stranger('GET', pathOf(text))).status, status)
    })
  }
})

void t.test('a part of the disk stays free', async (t) => {
  const [MIB, GIB] = [2 ** 20, 2 ** 30]
  const rows: readonly (readonly [name: string, free: number, of: number, full: boolean])[] = [
    ['a small disk with a tenth', 10 * MIB, 100 * MIB, false],
    ['a small disk with less than a twentieth', 4 * MIB, 100 * MIB, true],
    ['a large disk with 2 GiB', 2 * GIB, 1000 * GIB, false],
    ['a large disk with less than 1 GiB', GIB - MIB, 1000 * GIB, true],
    ['a disk of unknown size', 0, 0, false],
  ]
  for (const [name, free, of, full] of rows) t.equal(isFull({ bavail: free / 1024, blocks: of / 1024, bsize: 1024 }), full, name) // prettier-ignore
  const disk = { bavail: 2 ** 20, blocks: 100 * 2 ** 20, bsize: 2 ** 11 }
  t.notOk(isFull(disk, GIB), 'the announced file fits')
  t.ok(isFull(disk, GIB + 1), 'the announced file does not fit')
  const path = join(tmpdir(), 'x')
  const most = 2 ** 50
  const rooms: readonly (readonly [name: string, expected: number | undefined, bytes: number, failure?: string])[] = [
    ['a byte', undefined, 1],
    ['more than the disk has', undefined, most, 'files.full'],
    ['a byte of a file that has more than the disk', most, 1, 'files.full'],
    ['a byte after those that were refused', undefined, 1],
    ['all of a file of a known length', 100, 100],
  ]
  for (const [name, expected, bytes, failure] of rooms) {
    const room = makeRoom(path, expected)
    t.equal((await room.take(bytes))?.failure, failure, name)
    room.end()
  }
  t.equal((await makeRoom(join(tmpdir(), 'no such folder', 'x')).take(1))?.failure, 'files.failed')
  const others = Array.from({ length: 32 }, () => makeRoom(path))
  for (const other of others) t.equal(await other.take(1), undefined)
  const { bavail, bsize, blocks } = await statfs(tmpdir())
  const rest = Math.floor(bavail * bsize - Math.min((blocks * bsize) / 20, GIB))
  // Half of the space reserved for the other uploads, since the disk may be written to meanwhile.
  const room = makeRoom(path, rest - 16 * 16 * MIB)
  t.equal((await room.take(1))?.failure, 'files.full', 'minus the space promised to others')
  for (const other of others) other.end()
  t.equal(await room.take(1), undefined, 'once they have ended')
  room.end()
})

const DAY = 24 * 60 * 60 * 1000

function arrivingIn({ folder }: World): string[] {
  const files = join(folder, 'files')
  return readdirSync(files).flatMap((own) =>
    existsSync(join(files, own, 'arriving')) ? readdirSync(join(files, own, 'arriving')) : [],
  )
}

/** Sends the body with this Content-Length, then ends the connection. */
function raw(world: World, path: string, type: string, body: Buffer, length: number): Promise<string> {
  const { host, port } = new URL(world.base)
  const pem = world.pemOf('owner')
  return new Promise((resolve, reject) => {
    const socket = connect({
      port: Number(port),
      host: 'localhost',
      ca: world.ca,
      cert: pem,
      key: pem,
      servername: 'localhost',
    })
    let text = ''
    socket.on('data', (piece: Buffer) => (text += piece.toString()))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`)
    socket.end(body)
  })
}
