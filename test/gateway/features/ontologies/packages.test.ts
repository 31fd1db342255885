// Packages (spec 4.3, LinkedDataHub 2.6), and the settings of a dataspace (LinkedDataHub 2.3).
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl, update } from '../../../support/world.js'

const OWL = 'http://www.w3.org/2002/07/owl#'
const LDT = 'https://www.w3.org/ns/ldt#'
const LAPP = 'https://w3id.org/atomgraph/linkeddatahub/apps#'
const LDS = 'https://w3id.org/atomgraph/linkeddatahub/dataspaces#'
const DCT = 'http://purl.org/dc/terms/'
const ACL = 'http://www.w3.org/ns/auth/acl#'
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex')

async function serve(t: Test): Promise<{ url: string; texts: Map<string, string> }> {
  const texts = new Map<string, string>()
  const server = createServer(({ url = '' }, response) => {
    const text = texts.get(url)
    response.writeHead(text === undefined ? 404 : 200, { 'Content-Type': 'text/turtle' }).end(text ?? '')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, texts }
}

const form = (uri?: string) => ({
  fields: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(uri === undefined ? {} : { 'package-uri': uri }).toString(),
})

void forEachStore(t, 'packages and settings', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores(), { flags: ['--allow-fetch', '127.0.0.0/8'] })
  const row = rowsOf(t, kind)
  const owner = world.as('owner')
  const remote = await serve(t)
  const [pack, ontology] = [`${remote.url}/skos#this`, `${remote.url}/onto#`]
  remote.texts.set(
    '/skos',
    `<#this> <${LDT}ontology> <${ontology}> ; <https://w3id.org/atomgraph/client#stylesheet> <${remote.url}/layout.xsl> .`,
  )
  remote.texts.set('/onto', `<#> a <${OWL}Ontology> . <#Concept> a <${OWL}Class> ; <urn:about> [ <urn:p> "blank" ] .`)
  const install = (uri?: string, agent = 'owner') => world.as(agent)('POST', '/admin/packages/install', form(uri))
  const uninstall = (uri?: string, agent = 'owner') => world.as(agent)('POST', '/admin/packages/uninstall', form(uri))
  const knows = async (): Promise<boolean> => {
    const { text } = await owner(
      'GET',
      `/ns?query=${encodeURIComponent(`ASK { <${ontology}Concept> a <${OWL}Class> }`)}`,
    )
    return (JSON.parse(text) as { boolean: boolean }).boolean
  }
  const documents = [`/admin/packages/${sha1(pack)}/`, `/admin/ontologies/${sha1(ontology)}/`]
  const state = async (): Promise<string[]> => {
    const all = [...documents, '/admin/ontologies/namespace/', '/admin/packages/', '/admin/ontologies/']
    return Promise.all(
      all.map(async (path) =>
        (await owner('GET', path, accept('application/n-triples'))).text.replace(/.*dct.*|.*modified.*/g, ''),
      ),
    )
  }

  await row('install: the ontology is a document, imported by the namespace, at once', async (t) => {
    t.equal(await knows(), false)
    const { status, fields } = await install(pack)
    t.equal(status, 303)
    t.equal(fields.location, world.base)
    t.equal(await knows(), true)
    const [described] = await state()
    t.match(described, `<${pack}> <${LDT}ontology> <${ontology}> .`)
    t.match(described, 'layout.xsl')
    const before = await state()
    t.equal((await install(pack)).status, 303)
    t.strictSame(await state(), before, 'installing twice changes nothing')
  })

  await row('uninstall leaves nothing behind, unless another package has the ontology', async (t) => {
    const other = `${remote.url}/other`
    remote.texts.set('/other', `<> <${LDT}ontology> <${ontology}> .`)
    t.equal((await install(other)).status, 303)
    t.equal((await uninstall(pack)).status, 303)
    t.equal(await knows(), true)
    t.equal((await uninstall(other)).status, 303)
    t.equal(await knows(), false)
    for (const path of documents) t.equal((await owner('GET', path)).status, 404, path)
    t.notMatch((await owner('GET', '/admin/ontologies/namespace/')).text, remote.url)
    t.equal((await uninstall(pack)).status, 422, 'it is not installed')
  })

  await row(
    'superclasses in the ontology of a package give no rights; those in a document of the owner do',
    async (t) => {
      const superclass = `<https://www.w3.org/ns/ldt/document-hierarchy#Item> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Public> .`
      remote.texts.set('/open-package', `<> <${LDT}ontology> <${remote.url}/open> .`)
      remote.texts.set('/open', `<> a <${OWL}Ontology> . ${superclass}`)
      const rule = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}accessToClass> <urn:Public> ; <${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent> .`
      const item = world.freshPath()
      t.equal((await owner('PUT', '/admin/acl/authorizations/by-class/', ttl(rule))).status, 201)
      t.equal((await owner('PUT', item, ttl(`<> <${DCT}title> "I" .`))).status, 201)
      const anonymous = world.as('anonymous')
      t.equal((await install(`${remote.url}/open-package`)).status, 303)
      t.equal((await anonymous('GET', item)).status, 403)
      t.equal((await owner('PUT', '/admin/ontologies/by-class/', ttl(superclass))).status, 201)
      t.equal((await anonymous('GET', item)).status, 200)
      t.equal((await owner('DELETE', '/admin/ontologies/by-class/')).status, 204)
      t.equal((await anonymous('GET', item)).status, 403)
      t.equal((await uninstall(`${remote.url}/open-package`)).status, 303)
      t.equal((await owner('DELETE', '/admin/acl/authorizations/by-class/')).status, 204)
    },
  )

  await row('the ontology of a package does not take the place of the namespace ontology', async (t) => {
    remote.texts.set('/taking-package', `<> <${LDT}ontology> <${remote.url}/taking> .`)
    remote.texts.set('/taking', `<> a <${OWL}Ontology> . <${world.base}ns#> a <${OWL}Ontology> .`)
    t.equal((await install(`${remote.url}/taking-package`)).status, 303)
    const namespace = (await owner('GET', '/ns', accept('application/n-triples'))).text
    t.match(namespace, `<${world.base}ns#> <${OWL}imports> <${remote.url}/taking> .`)
    t.equal((await uninstall(`${remote.url}/taking-package`)).status, 303)
  })

  await row('refusals leave nothing behind', async (t) => {
    const before = await state()
    const page = (path: string, text: string): string => {
      remote.texts.set(path, text)
      return remote.url + path
    }
    const names = (path: string): string => page(`${path}-package`, `<> <${LDT}ontology> <${remote.url}${path}> .`)
    page(
      '/rules',
      `<> a <${OWL}Ontology> . <#a> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Control> ; <${ACL}agent> <urn:evil> .`,
    )
    page(
      '/groups',
      `<> a <${OWL}Ontology> . <${world.base}admin/acl/groups/owners/#this> <http://xmlns.com/foaf/0.1/member> <urn:evil> .`,
    )
    page('/importing', `<> a <${OWL}Ontology> ; <${OWL}imports> <${remote.url}/nowhere> .`)
    page('/reading', `<> a <${OWL}Ontology> ; <${OWL}imports> <${world.base}admin/acl/groups/owners/> .`)
    page('/mine', `<> a <${OWL}Ontology> .`)
    t.equal(
      (await owner('PUT', '/admin/ontologies/mine/', ttl(`<${remote.url}/mine> a <${OWL}Ontology> .`))).status,
      201,
    )
    // prettier-ignore
    const rows: readonly (readonly [name: string, uri: string | undefined, agent: string, status: number])[] = [
      ['no name',                                   undefined,                               'owner',     400],
      ['no URL',                                    'skos',                                  'owner',     400],
      ['another scheme',                            'file:///etc/passwd',                    'owner',     400],
      ['an internal address',                       'http://10.0.0.1/skos',                  'owner',     400],
      ['a package here',                            `${world.base}packages/`,                'owner',     400],
      ['an ontology on an internal address',        page('/inner', `<> <${LDT}ontology> <http://169.254.169.254/> .`), 'owner', 400],
      ['a missing package',               `${remote.url}/nowhere`,                 'owner',     422],
      ['no Turtle',                                 page('/broken', 'no Turtle'),            'owner',     422],
      ['neither ontology nor stylesheet',           page('/empty', `<> <${DCT}title> "T" .`), 'owner',    422],
      ['a missing ontology',             page('/lost', `<> <${LDT}ontology> <${remote.url}/nowhere> .`), 'owner', 422],
      ['an ontology with an authorization',         names('/rules'),                         'owner',     422],
      ['an ontology with a member of a group',      names('/groups'),                        'owner',     422],
      ['an ontology with a missing import',     names('/importing'),                     'owner',     422],
      ['an ontology that imports a document here',  names('/reading'),                       'owner',     422],
      ['an ontology that a document describes',     names('/mine'),                          'owner',     422],
      ['by a writer',                               pack,                                    'writer',    403],
      ['by a reader',                               pack,                                    'reader',    403],
      ['by a stranger',                             pack,                                    'stranger',  403],
      ['by an anonymous client',                    pack,                                    'anonymous', 403],
    ]
    for (const [name, uri, agent, status] of rows) {
      const answered = await install(uri, agent)
      t.equal(answered.status, status, `${name}: ${answered.text}`)
      if (status !== 422)
        t.equal(
          (await uninstall(uri, agent)).status,
          name.startsWith('an ') || name.startsWith('a package') ? 422 : status,
          `uninstall: ${name}`,
        )
    }
    t.strictSame(await state(), before)
    t.equal((await owner('GET', '/admin/packages/install')).status, 405)
  })

  await row('the settings: the owner reads and changes the description, which takes effect at once', async (t) => {
    const got = await owner('GET', '/settings', accept('application/n-triples'))
    t.equal(got.status, 200)
    t.match(got.text, `<${LDS}allowRead> "false"^^<http://www.w3.org/2001/XMLSchema#boolean> .`)
    t.match(got.text, `<${LDS}origin> <${world.origin}> .`)
    t.equal(
      (
        await owner('GET', '/settings', {
          fields: { Accept: 'application/n-triples', 'If-None-Match': got.fields.etag! },
        })
      ).status,
      304,
    )
    const [item] = [world.freshPath()]
    t.equal((await owner('PUT', item, ttl(`<> <${DCT}title> "I" .`))).status, 201)
    t.equal((await world.as('anonymous')('GET', item)).status, 403)
    const change = (text: string, agent = 'owner', more = {}) =>
      world.as(agent)('PATCH', '/settings', {
        ...update(text),
        fields: { 'Content-Type': 'application/sparql-update', ...more },
      })
    const open = `DELETE { ?d <${LDS}allowRead> ?o } INSERT { ?d <${LDS}allowRead> true ; <${DCT}title> "Mine" ; <${DCT}description> "All of it" } WHERE { ?d <${LDS}allowRead> ?o }`
    t.equal((await change(open, 'owner', { 'If-Match': '"another"' })).status, 412)
    t.equal((await change(open, 'owner', { 'If-Match': got.fields.etag! })).status, 204)
    t.equal((await world.as('anonymous')('GET', item)).status, 200)
    const now = await owner('GET', '/settings')
    t.match(now.text, '"Mine"')
    t.not(now.fields.etag, got.fields.etag)
    const [file] = readdirSync(join(world.folder, 'settings'))
    t.match(readFileSync(join(world.folder, 'settings', file!), 'utf8'), '"Mine"', 'it is on disk')
    // prettier-ignore
    const rows: readonly (readonly [name: string, agent: string, text: string, status: number])[] = [
      ['an update that removes the type',         'owner',     'DELETE WHERE { ?d a ?t }',                                            422],
      ['an update that removes the origin',       'owner',     `DELETE WHERE { ?d <${LDS}origin> ?o }`,                               422],
      ['another origin',              'owner',     `DELETE { ?d <${LDS}origin> ?o } INSERT { ?d <${LDS}origin> <http://x/> } WHERE { ?d <${LDS}origin> ?o }`, 422],
      ['two titles',                  'owner',     `INSERT { ?d <${DCT}title> "Another" } WHERE { ?d a ?t }`,             422],
      ['no boolean',                  'owner',     `DELETE { ?d <${LDS}allowRead> ?o } INSERT { ?d <${LDS}allowRead> "perhaps" } WHERE { ?d <${LDS}allowRead> ?o }`, 422],
      ['another property',            'owner',     `INSERT { ?d <${LDS}service> <urn:s> } WHERE { ?d a ?t }`,             422],
      ['another subject',             'owner',     `INSERT { <urn:x> <${DCT}title> "X" } WHERE { ?d a ?t }`,              422],
      ['everything',                  'owner',     'DELETE WHERE { ?s ?p ?o }',                                           422],
      ['no update',                   'owner',     'ASK {}',                                                              422],
      ['a property that does not exist', 'owner',    `DELETE { ?d <${LDS}allowread> ?o } INSERT { ?d <${LDS}allowread> true } WHERE { ?d <${LDS}allowread> ?o }`, 422],
      ['a value that does not exist',   'owner',     `DELETE WHERE { ?d <${DCT}title> "Another" }`,                         422],
      ['two values for one setting',  'owner',     `INSERT { ?d <${LAPP}allowRead> false } WHERE { ?d a ?t }`,            422],
      ['by a writer',                 'writer',    open,                                                                  403],
      ['by a reader',                 'reader',    open,                                                                  403],
      ['by a stranger',               'stranger',  open,                                                                  403],
      ['by an anonymous client',      'anonymous', open,                                                                  403],
    ]
    for (const [name, agent, text, status] of rows) t.equal((await change(text, agent)).status, status, name)
    const inOlder = (value: boolean): string =>
      `DELETE { ?d <${LAPP}allowRead> ?o } INSERT { ?d <${LAPP}allowRead> ${value} } WHERE { ?d <${LAPP}allowRead> ?o }`
    t.equal((await change(inOlder(true))).status, 204, 'it is already set')
    for (const type of [
      'text/turtle',
      'application/ld+json',
      'application/rdf+xml',
      'text/html, application/n-triples;q=0.1',
    ]) {
      const changed = await change(inOlder(true), 'owner', { Accept: type })
      const { etag } = (await owner('GET', '/settings', accept(type))).fields
      t.same([changed.status, changed.fields.etag], [204, etag], `the entity-tag of the negotiated format: ${type}`)
    }
    t.equal((await change(inOlder(false))).status, 204, 'in the terms of older configurations')
    t.equal((await world.as('anonymous')('GET', item)).status, 403)
    const closed = await owner('GET', '/settings', accept('application/n-triples'))
    for (const term of [LDS, LAPP]) t.match(closed.text, `<${term}allowRead> "false"`)
    t.equal((await change(inOlder(true).replaceAll(LAPP, LDS))).status, 204)
    t.equal((await world.as('anonymous')('GET', item)).status, 200)
    for (const agent of ['writer', 'reader', 'stranger', 'anonymous'])
      t.equal((await world.as(agent)('GET', '/settings')).status, 403, agent)
    t.equal((await owner('PATCH', '/settings', ttl('<> a <> .'))).status, 415)
    t.equal((await owner('PUT', '/settings', ttl('<> a <> .'))).status, 405)
    t.equal((await owner('GET', '/settings')).fields.etag, now.fields.etag, 'refusals change nothing')
    t.equal(
      (
        await change(
          open
            .replace('allowRead> true', 'allowRead> false')
            .replace(/; <[^>]*title> "Mine" ; <[^>]*description> "All of it"/, ''),
        )
      ).status,
      204,
    )
    t.equal((await world.as('anonymous')('GET', item)).status, 403)
  })
})
