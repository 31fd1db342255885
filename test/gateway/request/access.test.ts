// The rights of agents, over HTTP (spec 5, design 4): authorizations are documents, effective on the next request.
// Constraints (spec 4.1, 422): shapes are documents too. And the answers when a store fails.
import t from 'tap'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import type { Send } from '../../support/client.js'
import { startProxy, type Fault, type Recorded } from '../../support/proxy.js'
import { forEachStore, freshDataset, reasonWithoutFuseki, type Row, rowsOf } from '../../support/stores.js'
import { until } from '../../support/wait.js'
import { makeWorld, ttl, update, type World } from '../../support/world.js'

const ACL = 'http://www.w3.org/ns/auth/acl#'
const PREFIXES = `@prefix acl: <${ACL}> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix dh: <https://www.w3.org/ns/ldt/document-hierarchy#> .
  @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> . @prefix dct: <http://purl.org/dc/terms/> .
  @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n`
const rdf = (body: string): Send & { fields: Record<string, string> } => ttl(PREFIXES + body)

void forEachStore(t, 'access', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores())
  const row = rowsOf(t, kind)
  await authorizations(world, row)
  await administration(world, row)
  await constraints(world, row)
})

async function authorizations(world: World, row: Row): Promise<void> {
  const owner = world.as('owner')
  let number = 0
  /** Creates an authorization for the stranger (or for `subject`). Returns the function that deletes it. */
  const grant = async (
    target: string,
    modes = 'acl:Read',
    subject = `acl:agent <${world.webIdOf('stranger')}>`,
  ): Promise<() => Promise<number>> => {
    const path = `/admin/acl/authorizations/t${++number}/`
    const body = `<#this> a acl:Authorization ; acl:mode ${modes} ; ${subject} ; ${target} .`
    const made = await owner('PUT', path, rdf(body))
    if (made.status !== 201) throw new Error(made.text)
    return async () => (await owner('DELETE', path)).status
  }
  const made = async (body = '', path = world.freshPath()): Promise<string> => {
    const answer = await owner('PUT', path, rdf(body))
    if (answer.status !== 201) throw new Error(answer.text)
    return path
  }
  const get = async (who: string, path: string): Promise<number> => (await world.as(who)('GET', path)).status

  await row('acl:accessTo: granted on the next request, revoked on the one after', async (t) => {
    const path = await made()
    t.equal(await get('stranger', path), 403)
    const revoke = await grant(`acl:accessTo <${world.origin}${path}>`)
    t.equal(await get('stranger', path), 200)
    t.equal((await world.as('stranger')('PUT', path)).status, 403, 'Read is not Write')
    t.equal(await get('anonymous', path), 403)
    t.equal(await revoke(), 204)
    t.equal(await get('stranger', path), 403)
  })
  await row('forms do not reveal to agents without Read whether a document exists', async (t) => {
    const paths = [await made(), world.freshPath()]
    for (const form of ['edit', 'restore', 'restore&of=abcd']) {
      const statuses = await Promise.all(paths.map((path) => get('stranger', `${path}?form=${form}`)))
      t.same(statuses, [403, 403], form)
    }
  })
  await row('a changed authorization: PATCH and POST count as PUT does', async (t) => {
    const path = await made()
    await grant(`acl:accessTo <${world.origin}${path}>`)
    const authorization = `/admin/acl/authorizations/t${number}/`
    const toAppend = `DELETE { ?a <${ACL}mode> <${ACL}Read> } INSERT { ?a <${ACL}mode> <${ACL}Append> } WHERE { ?a <${ACL}mode> <${ACL}Read> }`
    const patched = await owner('PATCH', authorization, update(toAppend))
    t.equal(patched.status, 204, patched.text)
    t.equal(await get('stranger', path), 403)
    t.equal((await world.as('stranger')('POST', path, rdf('<#x> dct:title "x" .'))).status, 204)
    t.equal((await owner('POST', authorization, rdf('<#this> acl:mode acl:Read .'))).status, 204)
    t.equal(await get('stranger', path), 200)
  })
  await row('acl:agentClass: everyone, and everyone identified', async (t) => {
    const [open, identified] = [await made(), await made()]
    await grant(`acl:accessTo <${world.origin}${open}>`, 'acl:Read', 'acl:agentClass foaf:Agent')
    await grant(`acl:accessTo <${world.origin}${identified}>`, 'acl:Read', 'acl:agentClass acl:AuthenticatedAgent')
    t.same([await get('anonymous', open), await get('stranger', open)], [200, 200])
    t.same([await get('anonymous', identified), await get('stranger', identified)], [403, 200])
  })
  await row('acl:agentGroup: a member on the next request, no longer one on the request after', async (t) => {
    const path = await made()
    const group = '/admin/acl/groups/testers/'
    await grant(`acl:accessTo <${world.origin}${path}>`, 'acl:Read', `acl:agentGroup <${world.origin}${group}#this>`)
    t.equal(await get('stranger', path), 403)
    await owner('PUT', group, rdf(`<#this> a foaf:Group ; foaf:member <${world.webIdOf('stranger')}> .`))
    t.equal(await get('stranger', path), 200)
    await owner('PUT', group, rdf('<#this> a foaf:Group .'))
    t.equal(await get('stranger', path), 403)
  })
  await row('acl:accessToClass: the type of the document, and its superclasses', async (t) => {
    const path = await made('<> a <http://e/Report> .')
    const other = await made()
    await grant('acl:accessToClass <http://e/Publication>')
    t.equal(await get('stranger', path), 403)
    await owner(
      'POST',
      '/admin/ontologies/namespace/',
      rdf(
        '<http://e/Report> rdfs:subClassOf <http://e/Document> . <http://e/Document> rdfs:subClassOf <http://e/Publication> .',
      ),
    )
    t.same([await get('stranger', path), await get('stranger', other)], [200, 403])
  })
  await row('acl:default: everything below the container, not the container', async (t) => {
    const container = await made('<> a dh:Container .')
    const inner = await made('<> a dh:Container .', `${container}inner/`)
    const deep = await made('', `${inner}deep/`)
    const revoke = await grant(`acl:default <${world.origin}${container}>`, 'acl:Read, acl:Write')
    t.same(
      [await get('stranger', container), await get('stranger', inner), await get('stranger', deep)],
      [403, 200, 200],
    )
    t.equal((await world.as('stranger')('PUT', `${inner}new/`)).status, 201, 'Write on the parent container')
    t.equal((await world.as('stranger')('PUT', `${container}new/`)).status, 403)
    await revoke()
    t.equal(await get('stranger', deep), 403)
    t.equal(await get('stranger', `${inner}new/`), 200, 'the owner of a document still reads it')
  })
  await row('attack: an authorization in a document of the end-user application has no effect', async (t) => {
    const secret = await made()
    const body = `<#this> a acl:Authorization ; acl:mode acl:Read ; acl:agent <${world.webIdOf('writer')}> ; acl:accessTo <${world.base}admin/acl/authorizations/> .
      <#g> a foaf:Group ; foaf:member <${world.webIdOf('stranger')}> .
      <${world.base}admin/acl/groups/owners/#this> foaf:member <${world.webIdOf('stranger')}>, <${world.webIdOf('writer')}> .`
    t.equal((await world.as('writer')('PUT', world.freshPath(), rdf(body))).status, 201)
    t.equal(await get('writer', '/admin/acl/authorizations/'), 403)
    t.equal(await get('stranger', secret), 403)
  })
  await row('attack: a document outside the admin base that looks like one', async (t) => {
    t.equal((await owner('PUT', '/adminx/', rdf('<> a dh:Container .'))).status, 201)
    const path = await made()
    await owner(
      'PUT',
      '/adminx/a/',
      rdf(
        `<#this> a acl:Authorization ; acl:mode acl:Read ; acl:agentClass foaf:Agent ; acl:accessTo <${world.origin}${path}> .`,
      ),
    )
    t.equal(await get('anonymous', path), 403)
  })
  await row('attack: no type, no mode, an unknown mode, an unknown class of agents', async (t) => {
    const path = await made()
    const bodies = [
      `acl:mode acl:Read ; acl:agentClass foaf:Agent ; acl:accessTo <${world.origin}${path}> .`,
      `a acl:Authorization ; acl:agentClass foaf:Agent ; acl:accessTo <${world.origin}${path}> .`,
      `a acl:Authorization ; acl:mode acl:Everything ; acl:agentClass foaf:Agent ; acl:accessTo <${world.origin}${path}> .`,
      `a acl:Authorization ; acl:mode acl:Read ; acl:agentClass <http://e/Agent> ; acl:accessTo <${world.origin}${path}> .`,
      `a acl:Authorization ; acl:mode acl:Read ; acl:accessTo <${world.origin}${path}> .`,
      `a acl:Authorization ; acl:mode acl:Read ; acl:agentClass foaf:Agent .`,
    ]
    for (const body of bodies) await owner('PUT', `/admin/acl/authorizations/t${++number}/`, rdf(`<#this> ${body}`))
    t.equal(await get('anonymous', path), 403)
    t.equal(await get('stranger', path), 403)
  })
}

async function administration(world: World, row: Row): Promise<void> {
  const status = async (who: string, method: string, path: string, send: Send = {}): Promise<number> =>
    (await world.as(who)(method, path, send)).status

  await row('the admin application: owners only; rights on classes do not count', async (t) => {
    const update = { fields: { 'Content-Type': 'application/sparql-update' } }
    const open = `INSERT { ?a <${ACL}accessToClass> <https://www.w3.org/ns/ldt/document-hierarchy#Item>, <https://www.w3.org/ns/ldt/document-hierarchy#Container> ,
      <https://w3id.org/atomgraph/linkeddatahub/default#Root> } WHERE { ?a a <${ACL}Authorization> }`
    t.equal(await status('owner', 'PATCH', '/admin/acl/authorizations/public/', { ...update, body: open }), 204)
    t.equal(await status('anonymous', 'GET', '/'), 200, 'the documents are public now')
    for (const who of ['anonymous', 'stranger', 'reader', 'writer']) {
      for (const path of [
        '/admin/',
        '/admin/acl/authorizations/public/',
        '/admin/acl/groups/owners/',
        '/admin/acl/users/',
        '/admin/none/',
      ]) {
        t.equal(await status(who, 'GET', path), 403, `${who} GET ${path}`)
        t.equal(await status(who, 'PUT', path), 403, `${who} PUT ${path}`)
      }
    }
    t.equal(await status('owner', 'GET', '/admin/none/'), 404)
    const close = open.replace('INSERT', 'DELETE')
    t.equal(await status('owner', 'PATCH', '/admin/acl/authorizations/public/', { ...update, body: close }), 204)
    t.equal(await status('anonymous', 'GET', '/'), 403)
  })
  await row('Control for an agent opens the admin application, for the modes listed', async (t) => {
    const path = '/admin/acl/authorizations/controller/'
    await world.as('owner')(
      'PUT',
      path,
      rdf(
        `<#this> a acl:Authorization ; acl:agent <${world.webIdOf('stranger')}> ; acl:mode acl:Control, acl:Read ; acl:accessTo <urn:x> .`,
      ),
    )
    t.equal(await status('stranger', 'GET', '/admin/acl/groups/owners/'), 200)
    t.equal(await status('stranger', 'PUT', '/admin/acl/groups/owners/'), 403)
    await world.as('owner')('DELETE', path)
    t.equal(await status('stranger', 'GET', '/admin/acl/groups/owners/'), 403)
  })
  await row('endpoints by acl:accessTo only', async (t) => {
    t.equal(await status('anonymous', 'GET', '/importer'), 403)
    t.equal(await status('stranger', 'GET', '/settings-of-nobody'), 308)
    t.equal(await status('owner', 'GET', '/importer'), 200)
  })
}

async function constraints(world: World, row: Row): Promise<void> {
  const owner = world.as('owner')
  await row('spec 4.1: SHACL shapes of the ontology documents → 422 with the violating nodes only', async (t) => {
    const violating =
      '<#i> a <http://e/Invoice> ; <http://e/secret> "do not tell" . <#ok> a <http://e/Other> ; dct:title "fine" .'
    const path = world.freshPath()
    t.equal((await owner('PUT', path, rdf(violating))).status, 201, 'no shapes, no constraints')
    const shape = `<#shape> a sh:NodeShape ; sh:targetClass <http://e/Bill> ; sh:property [ sh:path dct:title ; sh:minCount 1 ; sh:datatype xsd:string ] .
      <http://e/Invoice> rdfs:subClassOf <http://e/Bill> .`
    t.equal((await owner('PUT', '/admin/ontologies/bills/', rdf(shape))).status, 201)
    for (const method of ['PUT', 'POST']) {
      const refused = await owner(method, path, {
        ...rdf(violating),
        fields: { ...rdf('').fields, Accept: 'application/n-triples' },
      })
      t.equal(refused.status, 422, refused.text)
      t.match(refused.text, '<http://www.w3.org/ns/shacl#ValidationReport>')
      t.match(refused.text, `<http://www.w3.org/ns/shacl#focusNode> <${world.origin}${path}#i>`)
      t.match(refused.text, '"422"')
      t.notMatch(refused.text, 'do not tell')
      t.notMatch(refused.text, '#ok')
    }
    t.equal((await owner('PUT', path, rdf('<#i> a <http://e/Invoice> ; dct:title "Invoice" .'))).status, 200)
    const patched = await owner(
      'PATCH',
      path,
      update('DELETE { ?s <http://purl.org/dc/terms/title> ?o } WHERE { ?s <http://purl.org/dc/terms/title> ?o }'),
    )
    t.equal(patched.status, 422, 'checked on the state that the write would give')
    t.match((await owner('GET', path)).text, 'Invoice')
    t.equal((await owner('POST', path, rdf('<#j> a <http://e/Other> .'))).status, 204, 'the whole state counts')
    t.equal((await owner('DELETE', path)).status, 204)
    t.equal((await owner('DELETE', '/admin/ontologies/bills/')).status, 204)
    t.equal((await owner('PUT', path, rdf(violating))).status, 201, 'gone with the document')
  })
  await row('with unusable shapes every write is refused, and the shapes can be fixed', async (t) => {
    await owner(
      'PUT',
      '/admin/ontologies/broken/',
      rdf('<#s> a sh:NodeShape ; sh:targetNode <http://e/x> ; sh:property [ sh:path ( ) ; sh:minCount "x" ] .'),
    )
    const refused = await owner('PUT', world.freshPath(), rdf('<http://e/x> dct:title "x" .'))
    t.ok(refused.status >= 400, String(refused.status))
    t.equal((await owner('DELETE', '/admin/ontologies/broken/')).status, 204)
    t.equal((await owner('PUT', world.freshPath(), rdf('<http://e/x> dct:title "x" .'))).status, 201)
  })
  await row('PATCH that removes a type but not the other triples → 422', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, rdf('<#x> a <http://e/T> ; dct:title "x" .'))
    t.equal((await owner('PATCH', path, update('DELETE WHERE { <#x> a ?type }'))).status, 422)
    t.equal(
      (await owner('PATCH', path, update('DELETE WHERE { <#x> ?p ?o }'))).status,
      204,
      'the whole resource may go',
    )
  })
}

/** The facts of documents are requested by a query. */
const isWrite = ({ method, fields }: Recorded): boolean =>
  method !== 'GET' && fields['content-type'] !== 'application/sparql-query'

void t.test('failing stores', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing) return t.test('failing stores (fuseki)', { skip: missing }, () => undefined)
  const row = rowsOf(t, 'fuseki')
  const proxies = { endUser: await startProxy(await freshDataset(t)), admin: await startProxy(await freshDataset(t)) }
  t.teardown(() => Promise.all([proxies.endUser.stop(), proxies.admin.stop()]))
  // The rows that need a time limit to end a request set short ones.
  let isHasty = false
  const open = (url: string): GraphStore => {
    const patient = openHttpStore(fusekiEndpoints(url))
    const hasty = openHttpStore({ ...fusekiEndpoints(url), headersTimeout: 1_500, idleTimeout: 1_500 })
    const current = (): GraphStore => (isHasty ? hasty : patient)
    return {
      ...patient,
      read: (...call) => current().read(...call),
      excerpt: (...call) => current().excerpt(...call),
      remove: (...call) => current().remove(...call),
      close: async () => void (await Promise.all([patient.close(), hasty.close()])),
    }
  }
  const stores = { endUser: open(proxies.endUser.url), admin: open(proxies.admin.url) }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  // Without the cache, every read reaches the store.
  const world = await makeWorld(t, stores, { flags: ['--cache', 'off'] })
  const owner = world.as('owner')
  await owner('PUT', '/a/', rdf(`<> dct:description """${'x'.repeat(100_000)}""" .`))

  // prettier-ignore
  const faults: [name: string, fault: Fault, status: number][] = [
    ['drops the connection', { kind: 'drop', when: 'before' }, 502],
    ['breaks off, chunked', { kind: 'cut', after: 50_000, framing: 'chunked' }, 502],
    ['breaks off, with a length', { kind: 'cut', after: 50_000, framing: 'length' }, 502],
    ['falls silent mid-answer', { kind: 'stall', after: 50_000, framing: 'length' }, 504],
    ['says nothing', { kind: 'silence' }, 504],
    ['answers 500', { kind: 'answer', status: 500, body: 'secret stack trace' }, 502],
    ['answers 503', { kind: 'answer', status: 503, fields: { 'Retry-After': '7' } }, 503],
    ['answers HTML', { kind: 'answer', status: 200, fields: { 'Content-Type': 'text/html' }, body: '<html>' }, 502],
    ['answers with invalid N-Triples', { kind: 'answer', status: 200, fields: { 'Content-Type': 'application/n-triples' }, body: '<> a' }, 502],
  ]
  for (const [name, fault, status] of faults) {
    await row(`a store that ${name}: GET → ${status} with an RDF body, then it recovers`, async (t) => {
      proxies.endUser.fault(fault)
      isHasty = status === 504
      const answer = await owner('GET', '/a/')
      isHasty = false
      proxies.endUser.fault(undefined)
      if (name === 'drops the connection') t.ok([502, 503].includes(answer.status))
      else t.equal(answer.status, status)
      t.match(answer.text, 'http://www.w3.org/2011/http#')
      t.notMatch(answer.text, 'secret')
      t.notMatch(answer.text, '127.0.0.1')
      if (answer.status === 503) t.ok(answer.fields['retry-after'])
      t.equal((await owner('GET', '/a/')).status, 200)
    })
  }
  const busy = { kind: 'answer', status: 503, fields: { 'Retry-After': '7' } } as const
  // prettier-ignore
  const forms: readonly (readonly [name: string, store: 'endUser' | 'admin', fault: Fault, path: string, status: number, text: RegExp])[] = [
    ['a store that answers 503',                      'endUser', busy,                                           'form/?form=edit',          503, /Send it again/],
    ['a store that answers 503 to the write',         'endUser', { ...busy, only: isWrite },                     'form/?form=edit',          503, /Nothing was saved[^]*Try again in a moment/],
    ['an answer that is lost: it may have been done', 'endUser', { kind: 'drop', when: 'after', only: isWrite }, 'form/?form=edit',          502, /^(?![^]*Nothing was saved)[^]*may have been saved/],
    ['a new document, and 503',                       'endUser', { ...busy, only: isWrite },                     '?form=new',                503, /Nothing was saved/],
    ['a right that is given, and 503',                'admin',   { ...busy, only: isWrite },                     'access',                   503, /Send it again/],
  ]
  await owner('PUT', '/form/', rdf(''))
  for (const [name, store, fault, path, status, text] of forms) {
    await row(`a form and ${name}: ${status}, with what was typed`, async (t) => {
      const fields = { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded', Origin: world.origin }
      const typed = { content: '<> <urn:p> "typed" .', who: 'https://typed.example/', mode: 'Read', document: `${world.base}a/` } // prettier-ignore
      const { etag = '' } = (await owner('GET', '/form/', { fields: { Accept: 'text/turtle' } })).fields
      const body = new URLSearchParams({ ...typed, do: 'save', 'if-match': etag, name: 'typed' }).toString()
      proxies[store].fault(fault)
      const answer = await owner('POST', `/${path}`, { fields, body })
      proxies[store].fault(undefined)
      t.equal(answer.status, status, answer.text)
      t.match(answer.text, text)
      t.match(answer.text, /(?:typed&quot;|https:\/\/typed)/)
      if (status === 503) t.ok(answer.fields['retry-after'])
    })
  }
  await row(
    'a write to a rule with unknown outcome: no decisions until it is known, then by the stored rule',
    async (t) => {
      const path = '/admin/acl/authorizations/doubt/'
      const body = `<#this> a acl:Authorization ; acl:mode acl:Read ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <${world.base}a/> .`
      t.equal((await world.as('stranger')('GET', '/a/')).status, 403)
      proxies.admin.fault({ kind: 'drop', when: 'after', only: isWrite })
      t.equal((await owner('PUT', path, rdf(body))).status, 502, 'the store has done it, but its answer was lost')
      proxies.admin.fault(undefined)
      const isEffective = async (): Promise<boolean> => {
        const { status } = await world.as('stranger')('GET', '/a/')
        t.ok(status === 200 || status === 503, `the stored rule, or no decision: ${status}`)
        return status === 200
      }
      t.ok(await until(isEffective), 'the granted right is effective')
      proxies.admin.fault({ kind: 'silence', only: isWrite })
      isHasty = true
      t.equal((await owner('DELETE', path)).status, 504)
      isHasty = false
      proxies.admin.fault(undefined)
      await until(async () => (await world.as('owner')('GET', '/a/')).status === 200)
      t.equal((await world.as('stranger')('GET', '/a/')).status, 200, 'not done: the rule still exists')
      t.equal((await owner('DELETE', path)).status, 204)
      t.equal((await world.as('stranger')('GET', '/a/')).status, 403)
    },
  )
  await row('rules that cannot be read: 503, never "no rules"', async (t) => {
    // From the write on, the store drops connections: the outcome of the write is unknown and cannot be checked.
    let isWritten = false
    const only = (request: Recorded): boolean => (isWritten ||= isWrite(request))
    proxies.admin.fault({ kind: 'drop', when: 'before', only })
    t.equal((await owner('PUT', '/admin/acl/authorizations/unknown/', rdf(''))).status, 502)
    for (const [who, method] of [
      ['anonymous', 'GET'],
      ['owner', 'GET'],
      ['owner', 'PUT'],
    ] as const) {
      t.equal((await world.as(who)(method, '/a/')).status, 503, `${who} ${method}`)
    }
    proxies.admin.fault(undefined)
    const status = await until(async () => {
      const answer = await owner('GET', '/a/')
      return answer.status !== 503 && answer.status
    })
    t.equal(status, 200, 'and decisions again once the rules can be read')
  })
})
