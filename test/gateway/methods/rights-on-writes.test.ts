// Rights and data on writes (spec 4.1, design 3): decided on the present state of the store; no write removes a root;
// no agent widens its own rights by types; answers tell nothing to agents without Read; whole subtrees. On both stores.
import t, { type Test } from 'tap'
import type { GraphStore } from '../../../gateway/stores/store.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import type { Answer, Send } from '../../support/client.js'
import { many } from '../../support/growth.js'
import { cachedRowsOf, forEachStore, rowsOf, type Row, type StoreKind, type Stores } from '../../support/stores.js'
import { accept, makeWorld, ttl, update, type World } from '../../support/world.js'
import { gate, until } from '../../support/wait.js'

const PREFIXES = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix dh: <https://www.w3.org/ns/ldt/document-hierarchy#> .
  @prefix dct: <http://purl.org/dc/terms/> . @prefix ex: <http://example.org/> .\n`
const OWNER = 'http://www.w3.org/ns/auth/acl#owner'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const rdf = (body = ''): Send & { fields: Record<string, string> } => ttl(PREFIXES + body)
const patch = (body: string): Send & { fields: Record<string, string> } =>
  update(`PREFIX ex: <http://example.org/> ${body}`)
const withFields = (send: Send, fields: Record<string, string>): Send => ({
  ...send,
  fields: { ...send.fields, ...fields },
})

/** Longer than a content that the main thread parses. */
const LARGE = many(40_000, (i) => `<#${i}> ex:n "${i}" .\n`)

interface Setting {
  readonly world: World
  readonly stores: Stores
  readonly row: Row
  readonly cachedRow: Row
  readonly kind: string
  /** The owner creates a document, or a container. Returns its path. */
  make(body?: string, path?: string): Promise<string>
  /** An authorization for the stranger, or for another subject. */
  grant(modes: string, target: string, subject?: string): Promise<string>
}

let number = 0
function settingOf(t: Test, world: World, stores: Stores, kind: StoreKind): Setting {
  const owner = world.as('owner')
  const must = async (answer: Promise<Answer>): Promise<void> => {
    const { status, text } = await answer
    if (status !== 201) throw new Error(`${status} ${text}`)
  }
  return {
    world,
    stores,
    kind,
    row: rowsOf(t, kind),
    cachedRow: cachedRowsOf(t, kind),
    async make(body = '', path = world.freshPath()) {
      await must(owner('PUT', path, rdf(body)))
      return path
    },
    async grant(modes, target, subject = `acl:agent <${world.webIdOf('stranger')}>`) {
      const path = `/admin/acl/authorizations/w${++number}/`
      await must(owner('PUT', path, rdf(`<#this> a acl:Authorization ; acl:mode ${modes} ; ${subject} ; ${target} .`)))
      return path
    },
  }
}

/** The locks for which writes of whole documents wait. */
const delay: { replace?: () => Promise<void>; update?: () => Promise<void> } = {}

const delayed = (store: GraphStore): GraphStore => ({
  ...store,
  async replace(...change) {
    await delay.replace?.()
    return store.replace(...change)
  },
  async update(...change) {
    await delay.update?.()
    return store.update(...change)
  },
})

void forEachStore(t, 'rights on writes', async (t, makeStores, kind) => {
  const opened = await makeStores()
  const stores = { ...opened, endUser: delayed(opened.endUser) }
  const setting = settingOf(t, await makeWorld(t, stores), stores, kind)
  await decidedNow(setting)
  await manyTypes(setting)
  await widening(setting)
  await wideningByDelegate(setting)
  await withoutRead(setting)
  await cascades(setting)
  await roots(setting)
})

void forEachStore(t, 'rights on writes, versioned', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const world = await makeWorld(t, stores, { flags: ['--history', 'local', '--admin-history', 'local'] })
  const setting = settingOf(t, world, stores, kind)
  await lives(setting)
  await cascadesInHistory(setting)
  await rootsInHistory(setting)
})

const text = async (store: GraphStore, graph: string): Promise<string> =>
  ((await store.read(graph)) as string | undefined) ?? ''

/**
 * Attack: a document is created, gets another owner or is deleted behind the gateway, which has cached the old state.
 */
async function decidedNow({ world, stores, row, make, grant }: Setting): Promise<void> {
  const stranger = world.as('stranger')
  const foreign = (iri: string): string =>
    `<${iri}> <${OWNER}> <http://other/#me> .\n<${iri}> <http://e/p> "theirs" .\n`
  for (const [method, send] of [
    ['PUT', rdf('<> ex:p "mine" .')],
    ['POST', rdf('<> ex:p "mine" .')],
    ['PATCH', patch('INSERT { <#a> ex:p "mine" } WHERE {}')],
    ['DELETE', {}],
  ] as const) {
    await row(`${method} of a document that now belongs to somebody else: 403`, async (t) => {
      const container = await make('<> a dh:Container .')
      await grant('acl:Write', `acl:accessTo <${world.origin}${container}>`)
      const iri = `${world.origin}${container}x/`
      if (method !== 'PUT')
        t.equal((await stranger('PUT', `${container}x/`, rdf())).status, 201, 'the stranger owns it')
      t.equal((await stranger('GET', `${container}x/`)).status, method === 'PUT' ? 403 : 200, 'cached')
      t.equal(await stores.endUser.replace(iri, foreign(iri)), undefined)
      t.equal((await stranger(method, `${container}x/`, send)).status, 403)
      t.match(await text(stores.endUser, iri), /theirs/)
      t.notMatch(await text(stores.endUser, iri), /mine/)
    })
  }
  await row('PUT below a container that was deleted: 403', async (t) => {
    const container = await make('<> a dh:Container .')
    t.equal((await world.as('owner')('GET', container)).status, 200, 'cached')
    t.equal(await stores.endUser.remove(world.origin + container), undefined)
    t.equal((await world.as('owner')('PUT', `${container}x/`, rdf())).status, 403)
  })
  await row('PUT below a container that now belongs to another agent: 403', async (t) => {
    const container = await make('<> a dh:Container .')
    await grant('acl:Write', `acl:accessTo <${world.origin}${container}>`)
    t.equal((await stranger('PUT', `${container}own/`, rdf('<> a dh:Container .'))).status, 201)
    t.equal((await stranger('PUT', `${container}own/x/`, rdf())).status, 201, 'the container is cached')
    const iri = `${world.origin}${container}own/`
    const type = `<${iri}> <${TYPE}> <https://www.w3.org/ns/ldt/document-hierarchy#Container> .\n`
    t.equal(await stores.endUser.replace(iri, type + foreign(iri)), undefined)
    t.equal((await stranger('PUT', `${container}own/y/`, rdf())).status, 403)
  })
}

/** Attack: a document with more types than a decision reads, which could then be neither read nor deleted. */
async function manyTypes({ world, row, make }: Setting): Promise<void> {
  const owner = world.as('owner')
  const types = (count: number): string =>
    Array.from({ length: count }, (_, i) => `a <http://example.org/${'x'.repeat(60)}${i}>`).join(' ; ')
  for (const [method, send, status] of [
    ['PUT', rdf(`<> ${types(1_000)} .`), 200],
    ['PUT', rdf(`<> ${types(3_000)} .`), 413],
    ['POST', rdf(`<> ${types(3_000)} .`), 413],
    ['PATCH', patch(`INSERT { <> ${types(3_000)} } WHERE {}`), 413],
    ['PUT', rdf(`<#a> ${types(3_000)} .`), 200],
  ] as const) {
    await row(`${method} with many types: ${status}`, async (t) => {
      const path = await make()
      const answer = await owner(method, path, send)
      t.equal(answer.status, status)
      if (status === 413) t.match(answer.text, /types, owners and dates/)
      t.equal((await owner('DELETE', path)).status, 204)
    })
  }
  await row('an update that only the store can perform leaves more types than a decision reads: the owner of the dataspace reads and deletes it', async (t) => {
    const path = await make()
    const asStores = 'DELETE DATA { GRAPH <urn:x-arq:DefaultGraph> { <urn:s> <urn:none> 1 } }'
    const typed = update(`INSERT DATA { GRAPH <${world.origin}${path}> { <${world.origin}${path}> ${types(4_000)} } } ; ${asStores}`)
    t.equal((await owner('POST', '/sparql', typed)).status, 200)
    const statuses: number[] = []
    for (const method of ['HEAD', 'GET', 'PUT', 'DELETE', 'GET']) statuses.push((await owner(method, path, method === 'PUT' ? rdf() : {})).status)
    t.same(statuses, [200, 200, 200, 204, 404])
    t.equal((await world.as('stranger')('GET', path)).status, 403)
  }) // prettier-ignore
}

/** Attack: an agent who may write a document but not read it gives it a type that the agent may read. */
async function widening({ world, row, make, grant }: Setting): Promise<void> {
  await grant('acl:Read', 'acl:accessToClass <http://example.org/Open>')
  await grant('acl:Control', 'acl:accessToClass <http://example.org/Mine>')
  await grant('acl:Append', 'acl:accessToClass <http://example.org/Log>')
  const target = async (modes: string): Promise<string> => {
    const path = await make('<> ex:p "secret" .')
    await grant(modes, `acl:accessTo <${world.origin}${path}>`)
    return path
  }
  const [WRITE, READ_WRITE] = ['acl:Write', 'acl:Read, acl:Write']
  const type = (name: string) => patch(`INSERT { <> a ex:${name} } WHERE {}`)
  // prettier-ignore
  const rows: [name: string, who: string, modes: string, method: string, send: Send, status: number][] = [
    ['Write: a type that opens Read, by PATCH', 'stranger', WRITE, 'PATCH', type('Open'), 403],
    ['Write: the same by PUT', 'stranger', WRITE, 'PUT', rdf('<> a ex:Open .'), 403],
    ['Write and Append: the same by POST', 'stranger', 'acl:Write, acl:Append', 'POST', rdf('<> a ex:Open .'), 403],
    ['Append: a type by POST needs Write', 'stranger', 'acl:Append', 'POST', rdf('<> a ex:Open .'), 403],
    ['Append: the same in a large content', 'stranger', 'acl:Append', 'POST', rdf(`<> a ex:Other . ${LARGE}`), 403],
    ['Write: a large content with a type that opens Read', 'stranger', WRITE, 'PUT', rdf(`<> a ex:Open . ${LARGE}`), 403],
    ['Write: a type that opens nothing', 'stranger', WRITE, 'PATCH', type('Other'), 204],
    ['Write: a type that opens Append', 'stranger', WRITE, 'PATCH', type('Log'), 403],
    ['Write: a type of another subject', 'stranger', WRITE, 'PATCH', patch('INSERT { <#a> a ex:Open } WHERE {}'), 204],
    ['Read and Write: a type that opens Read', 'stranger', READ_WRITE, 'PATCH', type('Open'), 204],
    ['Read and Write: a type that opens Append', 'stranger', READ_WRITE, 'PATCH', type('Log'), 204],
    ['Read and Write: a type that opens Control', 'stranger', READ_WRITE, 'PATCH', type('Mine'), 403],
    ['Control: any type', 'owner', WRITE, 'PATCH', type('Mine'), 204],
  ]
  for (const [name, who, modes, method, send, status] of rows) {
    await row(`${name}: ${status}`, async (t) => {
      const path = await target(modes)
      t.equal((await world.as(who)(method, path, send)).status, status)
      const mayRead = modes.includes('Read') || who === 'owner'
      t.equal((await world.as(who)('GET', path)).status, mayRead ? 200 : 403)
    })
  }
  for (const name of ['Other', 'Absent']) {
    await row(`Append without Read: a type that the document ${name === 'Other' ? 'has' : 'does not have'}: 403`, async (t) => {
      const path = await make('<> a ex:Other ; ex:p "secret" .')
      await grant('acl:Append', `acl:accessTo <${world.origin}${path}>`)
      await grant('acl:Write', `acl:accessTo <${world.origin}/sparql>`)
      const insert = `INSERT DATA { GRAPH <${world.origin}${path}> { <${world.origin}${path}> a <http://example.org/${name}> } }`
      const [byPost, byUpdate] = [rdf(`<> a ex:${name} .`), update(insert)]
      const stranger = world.as('stranger')
      const answers = [await stranger('POST', path, byPost), await stranger('POST', '/sparql', byUpdate)]
      for (const { status, text } of answers) t.match(`${status} ${text}`, /^403.*Write is required to add a type/s)
      t.equal((await stranger('POST', path, rdf('<> ex:p "more" .'))).status, 204)
    })
  } // prettier-ignore
  await row('the creator of a document owns it: any type', async (t) => {
    const container = await make('<> a dh:Container .')
    await grant('acl:Write', `acl:accessTo <${world.origin}${container}>`)
    t.equal((await world.as('stranger')('PUT', `${container}x/`, rdf('<> a ex:Open .'))).status, 201)
  })
  await row('a type that makes it a container, where containers are open', async (t) => {
    const path = await target(WRITE)
    const authorization = await grant('acl:Read', 'acl:accessToClass dh:Container')
    t.equal((await world.as('stranger')('PUT', path, rdf('<> a dh:Container .'))).status, 403)
    t.equal((await world.as('owner')('DELETE', authorization)).status, 204)
  })
}

/** Attack: an agent writes on behalf of another one a type that the agent itself may read. */
async function wideningByDelegate({ world, row, make, grant }: Setting): Promise<void> {
  const stranger = world.as('stranger')
  const principal = `${world.base}admin/acl/agents/principal/#this`
  const delegates = `<${world.webIdOf('stranger')}> acl:delegates <${principal}> .`
  await make(delegates, '/admin/acl/agents/principal/')
  const asPrincipal = { 'On-Behalf-Of': principal }
  const byPrincipal = `acl:agent <${principal}>`
  await grant('acl:Write', `acl:accessTo <${world.base}sparql>`, byPrincipal)
  await grant('acl:Append', `acl:accessTo <${world.base}importer>`, byPrincipal)
  await grant('acl:Append', 'acl:accessToClass <http://example.org/PrincipalLog>', byPrincipal)
  type Act = (path: string) => Promise<Answer>
  const patched =
    (name: string): Act =>
    (path) =>
      stranger('PATCH', path, withFields(patch(`INSERT { <> a ex:${name} } WHERE {}`), asPrincipal))
  const put: Act = (path) => stranger('PUT', path, withFields(rdf('<> a ex:Open .'), asPrincipal))
  const updated: Act = (path) => {
    const iri = world.origin + path
    const insert = `INSERT DATA { GRAPH <${iri}> { <${iri}> a <http://example.org/Open> } }`
    return stranger('POST', '/sparql', withFields(update(insert), asPrincipal))
  }
  const imported: Act = async (path) => {
    const iri = world.origin + path
    const fields = { ...asPrincipal, 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
    const started = await stranger('POST', '/importer', { fields, body: `<${iri}> <${TYPE}> <http://example.org/Open> <${iri}> .` })
    return until(async () => {
      const { text } = await world.as('owner')('GET', started.fields.location!, accept('application/n-triples'))
      return /#(?:Done|Failed)>/.test(text) && { ...started, status: text.includes('#refused> "1"') ? 403 : 204, text }
    })
  } // prettier-ignore
  const [WRITE, READ_WRITE] = ['acl:Write', 'acl:Read, acl:Write']
  // prettier-ignore
  const rows: [name: string, principals: string, delegates: string, act: Act, status: number, reads: number][] = [
    ['a type that opens Read to the delegate, by PATCH', WRITE, '', patched('Open'), 403, 403],
    ['the same by PUT', WRITE, '', put, 403, 403],
    ['the same by a SPARQL update', WRITE, '', updated, 403, 403],
    ['the same by an import in the background', WRITE, '', imported, 403, 403],
    ['a type that opens Control to the delegate', READ_WRITE, '', patched('Mine'), 403, 403],
    ['a type that opens nothing', WRITE, '', patched('Other'), 204, 403],
    ['a type that opens Append to the principal', WRITE, '', patched('PrincipalLog'), 403, 403],
    ['a type that opens Read, where the principal has Read', READ_WRITE, '', patched('Open'), 204, 200],
    ['a type that opens Read, where the delegate has Read', WRITE, 'acl:Read', patched('Open'), 204, 200],
    ['any type, where the principal has Control', 'acl:Write, acl:Control', '', patched('Mine'), 204, 403],
  ]
  for (const [name, principals, delegates, act, status, reads] of rows) {
    await row(`Write on behalf of another agent: ${name}: ${status}`, async (t) => {
      const path = await make('<> ex:p "secret" .')
      const target = `acl:accessTo <${world.origin}${path}>`
      await grant(principals, target, byPrincipal)
      if (delegates) await grant(delegates, target)
      const answer = await act(path)
      t.equal(answer.status, status, answer.text)
      t.equal((await stranger('GET', path)).status, reads, 'the delegate itself')
    })
  }
}

/** Attack: entity-tags and dates reveal the state to an agent without Read. */
async function withoutRead({ world, row, make, grant }: Setting): Promise<void> {
  const target = async (): Promise<readonly [string, string]> => {
    const path = await make('<> ex:p "secret" .')
    await grant('acl:Write, acl:Append', `acl:accessTo <${world.origin}${path}>`)
    return [path, (await world.as('owner')('GET', path)).fields.etag!]
  }
  const past = new Date(Date.now() - 86_400_000).toUTCString()
  // prettier-ignore
  const rows: [name: string, method: string, send: (tag: string) => Send, status: number][] = [
    ['POST', 'POST', () => rdf('<> ex:p "x" .'), 204],
    ['PUT', 'PUT', () => rdf('<> ex:p "x" .'), 200],
    ['PATCH', 'PATCH', () => patch('INSERT { <> ex:p "x" } WHERE {}'), 204],
    ['PATCH that changes nothing', 'PATCH', () => patch('DELETE { <> ex:q "x" } WHERE { <> ex:q "x" }'), 204],
    ['If-Match with the right tag', 'PUT', (tag) => withFields(rdf(), { 'If-Match': tag }), 412],
    ['If-Match: *', 'PUT', () => withFields(rdf(), { 'If-Match': '*' }), 200],
    ['If-None-Match: *', 'PUT', () => withFields(rdf(), { 'If-None-Match': '*' }), 412],
    ['If-None-Match with the right tag', 'PUT', (tag) => withFields(rdf(), { 'If-None-Match': tag }), 200],
    ['HEAD needs Read, as GET does', 'HEAD', () => ({}), 403],
    ['If-Unmodified-Since before the last change', 'PUT', () => withFields(rdf(), { 'If-Unmodified-Since': past }), 200],
  ]
  for (const [name, method, send, status] of rows) {
    await row(`without Read: ${name}: ${status}, and neither tag nor date`, async (t) => {
      const [path, tag] = await target()
      const answer = await world.as('stranger')(method, path, send(tag))
      t.equal(answer.status, status)
      t.same(
        [answer.fields.etag, answer.fields['last-modified'], answer.fields.location],
        [undefined, undefined, undefined],
      )
    })
  }
  await row('with Read: the tag and the date, and conditions on both', async (t) => {
    const [path, tag] = await target()
    const owner = world.as('owner')
    const failing: Record<string, string>[] = [
      { 'If-Unmodified-Since': past },
      { 'If-None-Match': '*' },
      { 'If-Match': '"x"' },
    ]
    for (const condition of failing) {
      const failed = await owner('PUT', path, withFields(rdf(), { ...condition, Accept: 'text/turtle' }))
      t.same([failed.status, failed.fields.etag], [412, tag], JSON.stringify(condition))
      t.match(failed.fields['last-modified'], /GMT$/)
    }
    const absent = await owner('PUT', world.freshPath(), withFields(rdf(), { 'If-Match': '*' }))
    t.same([absent.status, absent.fields.etag], [412, undefined], 'no document, no tag')
    const answer = await owner('PUT', path, withFields(rdf(), { 'If-Match': tag }))
    t.equal(answer.status, 200)
    t.match([answer.fields.etag, answer.fields['last-modified']], [/^".{43}\.ttl\d+"$/, /GMT$/])
    t.equal(answer.fields.etag, (await owner('GET', path)).fields.etag)
  })
}

/** `DELETE …?cascade`, and containers that are deleted alone (spec 3, design 3). */
async function cascades(setting: Setting): Promise<void> {
  const { world, row, make, grant, stores, kind } = setting
  const owner = world.as('owner')
  const tree = () => treeOf(setting)
  const left = async (paths: readonly string[]): Promise<number> =>
    (await Promise.all(paths.map((path) => stores.endUser.read(world.origin + path)))).filter(
      (one) => one !== undefined,
    ).length
  const CASCADE = '?cascade'
  // prettier-ignore
  const rows: [name: string, who: string, method: string, query: string, fields: Record<string, string>, status: number, left: number][] = [
    ['the whole subtree', 'owner', 'DELETE', CASCADE, {}, 204, 0],
    ['the same, written out', 'writer', 'DELETE', '?cascade=true', {}, 204, 0],
    ['If-Match with another tag', 'owner', 'DELETE', CASCADE, { 'If-Match': '"other"' }, 412, 4],
    ['If-Match: *', 'owner', 'DELETE', CASCADE, { 'If-Match': '*' }, 204, 0],
    ['without Write', 'reader', 'DELETE', CASCADE, {}, 403, 4],
    ['anonymous', 'anonymous', 'DELETE', CASCADE, {}, 403, 4],
    ['a page of another site', 'owner', 'DELETE', CASCADE, { Origin: 'https://evil.example' }, 403, 4],
    ['a value', 'owner', 'DELETE', '?cascade=false', {}, 400, 4],
    ['twice', 'owner', 'DELETE', '?cascade&cascade', {}, 400, 4],
    ['of a version', 'owner', 'DELETE', '?cascade&version=abcd', {}, 400, 4],
    ['another method', 'owner', 'GET', CASCADE, {}, 405, 4],
    ['another method that writes', 'owner', 'PUT', CASCADE, {}, 405, 4],
    ['alone', 'owner', 'DELETE', '', {}, 204, 3],
  ]
  for (const [name, who, method, query, fields, status, rest] of rows) {
    await row(`DELETE with ?cascade: ${name}: ${status}`, async (t) => {
      const paths = await tree()
      for (const path of paths) await owner('GET', path)
      t.equal((await world.as(who)(method, paths[0]! + query, { fields })).status, status)
      t.equal(await left(paths), rest)
      for (const path of rest === 0 ? paths : []) t.equal((await owner('GET', path)).status, 404, 'no longer cached')
    })
  }
  await row('DELETE with ?cascade: an item: 204; what does not exist: 404; the root: 400', async (t) => {
    t.equal((await owner('DELETE', `${await make()}?cascade`)).status, 204)
    t.equal((await owner('DELETE', `${world.freshPath()}?cascade`)).status, 404)
    t.equal((await owner('DELETE', '/?cascade')).status, 400)
    t.equal((await owner('DELETE', '/admin/?cascade')).status, 400)
  })
  await row('DELETE with ?cascade: one document below without the right: 403, and nothing is deleted', async (t) => {
    const paths = await tree()
    for (const path of paths.slice(0, 3)) await grant('acl:Write', `acl:accessTo <${world.origin}${path}>`)
    const refused = await world.as('stranger')('DELETE', `${paths[0]}?cascade`)
    t.equal(refused.status, 403)
    for (const path of paths.slice(1)) t.notMatch(refused.text, path)
    t.equal(await left(paths), 4)
    await grant('acl:Write', `acl:accessTo <${world.origin}${paths[3]}>`)
    t.equal((await world.as('stranger')('DELETE', `${paths[0]}?cascade`)).status, 204)
    t.equal(await left(paths), 0)
  })
  await row('DELETE with ?cascade: a condition that is false does not tell what is below: 412', async (t) => {
    const other = { fields: { 'If-Match': '"other"' } }
    for (const path of [(await tree())[0]!, await make('<> a dh:Container .')]) {
      await grant('acl:Write', `acl:accessTo <${world.origin}${path}>`)
      t.equal((await world.as('stranger')('DELETE', `${path}?cascade`, other)).status, 412)
    }
  })
  await row('DELETE with ?cascade: a refusal frees its place', async (t) => {
    const paths = await tree()
    await grant('acl:Write', `acl:accessTo <${world.origin}${paths[0]}>`)
    for (let i = 0; i < 3; i++) t.equal((await world.as('stranger')('DELETE', `${paths[0]}?cascade`)).status, 403)
  })
  await row('DELETE with ?cascade: without a right to one document below, it waits for no other write', async (t) => {
    const paths = await tree()
    await grant('acl:Write', `acl:accessTo <${world.origin}${paths[0]}>`)
    let goOn = (): void => undefined
    let written: Promise<unknown> = Promise.resolve()
    const isHeld = new Promise<boolean>((resolve) => {
      delay.replace = () => {
        resolve(true)
        return new Promise((go) => (goOn = go))
      }
      written = make().finally(() => resolve(false))
    })
    t.equal(await isHeld, true, 'a write is under way')
    t.equal((await world.as('stranger')('DELETE', `${paths[0]}?cascade`)).status, 403)
    delete delay.replace
    goOn()
    await written
  })
  await row(
    'DELETE with ?cascade: a document of the owner or the secretary below: 405, and nothing is deleted',
    async (t) => {
      t.equal((await owner('DELETE', '/admin/acl/agents/?cascade')).status, 405)
      t.equal((await owner('DELETE', '/admin/acl/?cascade')).status, 405)
      t.equal((await owner('GET', '/admin/acl/groups/owners/')).status, 200)
    },
  )
  await row('DELETE with ?cascade: a neighbour with a name that begins alike stays', async (t) => {
    const [path] = await tree()
    const neighbour = await make('', `${path!.slice(0, -1)}-beside/`)
    t.equal((await owner('DELETE', `${path}?cascade`)).status, 204)
    t.equal((await owner('GET', neighbour)).status, 200)
  })
  await row('DELETE with ?cascade: more documents than one request deletes: 413, and nothing is deleted', async (t) => {
    const path = await make('<> a dh:Container .')
    const graphs = Array.from(
      { length: 1000 },
      (_, i) => `GRAPH <${world.origin}${path}x${i}/> { <#a> <http://e/p> 1 }`,
    )
    const base = `BASE <${world.origin}/>`
    t.equal(await stores.endUser.update(`${base} INSERT DATA { ${graphs.join('\n')} }`), undefined)
    const refused = await owner('DELETE', `${path}?cascade`)
    t.equal(refused.status, 413)
    t.match(refused.text, /fewer than 1000 documents/)
    await grant('acl:Write', `acl:accessTo <${world.origin}${path}>`)
    const { status } = await world.as('stranger')('DELETE', `${path}?cascade`)
    t.equal(status, 403, 'an agent without the right does not learn how many there are')
    t.equal((await owner('GET', `${path}x999/`)).status, 200)
    // If each deletion is a request to another server, a thousand of them take long, and test nothing more.
    if (kind === 'fuseki') {
      const below = `GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${world.origin}${path}"))`
      t.equal(await stores.endUser.update(`DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { ${below} }`), undefined)
      return
    }
    t.equal(await stores.endUser.update(`DROP GRAPH <${world.origin}${path}x999/>`), undefined)
    const { opened, open } = gate()
    delay.update = () => opened
    const both = ['', ''].map(() => owner('DELETE', `${path}?cascade`))
    t.equal((await Promise.race(both)).status, 503, 'one at a time for one agent')
    open()
    delete delay.update
    const answers = await Promise.all(both)
    t.same(answers.map(({ status }) => status).sort(), [204, 503])
    t.match(answers.find(({ status }) => status === 503)!.fields['retry-after'], /^[0-9]+$/)
    t.equal(await left([path, `${path}x0/`, `${path}x998/`]), 0)
  })
  for (const [how, send] of [
    ['deleted', undefined],
    ['replaced by an item', rdf('<> ex:p "x" .')],
  ] as const) {
    await row(`spec 3: a container that is ${how}: its documents are orphans until it is created again`, async (t) => {
      const [path, item] = await tree()
      t.equal((await owner(send ? 'PUT' : 'DELETE', path!, send)).status, send ? 200 : 204)
      t.equal((await owner('GET', item!)).status, 200, 'they stay')
      t.equal((await owner('PUT', `${path}new/`, rdf())).status, 403, 'nothing can be created beside them')
      const logged = () => world.log.find(({ document, orphans }) => document === world.origin + path && orphans === 2)
      t.match(await until(logged), { msg: /orphans/, level: 40 })
      t.equal((await owner('PUT', path!, rdf('<> a dh:Container .'))).status, send ? 200 : 201)
      t.equal((await owner('PUT', `${path}new/`, rdf())).status, 201, 'healed')
    })
  }
}

/** A container with an item, a container, and an item below that. */
async function treeOf({ world, make }: Pick<Setting, 'world' | 'make'>): Promise<string[]> {
  const path = world.freshPath()
  await make('<> a dh:Container .', path)
  return [
    path,
    await make('', `${path}item/`),
    await make('<> a dh:Container .', `${path}sub/`),
    await make('', `${path}sub/item/`),
  ]
}

const refusedUpdates = (root: string): string[] => [
  `DROP GRAPH <${root}>`,
  `DROP SILENT GRAPH <${root}>`,
  `CLEAR GRAPH <${root}>`,
  `MOVE <${root}> TO <${root}moved/>`,
  `DELETE WHERE { GRAPH <${root}> { ?s ?p ?o } }`,
  'DELETE WHERE { GRAPH ?g { ?s ?p ?o } }',
  `INSERT DATA { GRAPH <${root}> { <urn:s> <urn:p> 1 } } ; CLEAR GRAPH <${root}> ;`,
]

/** Removals that do not follow from the text of the update, and a COPY that changes nothing. */
const hiddenUpdates = (root: string): string[] => [
  `DELETE { GRAPH <${root}> { ?s ?p ?o } } WHERE { GRAPH <${root}> { ?s ?p ?o } }`,
  `WITH <${root}> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o } ;`,
  `DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STR(?g) = "${root}") }`,
  `COPY SILENT <${root}nothing/> TO <${root}>`,
]

/** Spec 4.1: the root document cannot be deleted, by any kind of write. */
async function roots({ world, stores, row }: Setting): Promise<void> {
  const owner = world.as('owner')
  const root = world.base
  const isWhole = async (t: Test): Promise<void> => {
    const stored = await text(stores.endUser, root)
    t.match(stored, /#Root>/)
    t.match(stored, `<${root}> <${OWNER}> <${world.ownerWebId}>`)
    t.equal((await owner('GET', '/')).status, 200)
    t.equal((await owner('PUT', world.freshPath(), rdf())).status, 201, 'documents can be created')
  }
  for (const body of refusedUpdates(root)) {
    await row(`the root stays: ${body.replaceAll(root, '/')}: 400, and nothing is changed`, async (t) => {
      const before = await text(stores.endUser, root)
      const refused = await owner('POST', '/sparql', update(body))
      t.equal(refused.status, 400)
      t.match(refused.text, /root document/)
      t.equal(await text(stores.endUser, root), before)
      await isWhole(t)
    })
  }
  for (const body of hiddenUpdates(root)) {
    await row(`the root stays: ${body.replaceAll(root, '/')}`, async (t) => {
      t.equal((await owner('POST', '/sparql', update(body))).status, body.startsWith('COPY') ? 200 : 400)
      await isWhole(t)
    })
  }
  await row('an update may replace the content of the root', async (t) => {
    const filled = `DROP GRAPH <${root}> ; INSERT DATA { GRAPH <${root}> { <${root}> <http://e/p> "new" ; a <http://e/T> } }`
    t.equal((await owner('POST', '/sparql', update(filled))).status, 200)
    t.match(await text(stores.endUser, root), /"new"/)
    t.equal((await owner('PUT', '/', rdf('<> dct:title "Root" .'))).status, 200)
  })
  await row('the root of the admin application stays too', async (t) => {
    for (const body of [`DROP GRAPH <${root}admin/>`, `DELETE WHERE { GRAPH <${root}admin/> { ?s ?p ?o } }`]) {
      t.equal((await owner('POST', '/admin/sparql', update(body))).status, 400, body)
    }
    t.equal((await owner('GET', '/admin/')).status, 200)
  })
  await row('a root that was removed behind the gateway: PUT heals it, for agents with Control', async (t) => {
    for (const [path, store] of [
      ['/', stores.endUser],
      ['/admin/', stores.admin],
    ] as const) {
      t.equal((await owner('GET', path)).status, 200, 'cached')
      t.equal(await store.remove(world.origin + path), undefined)
      // An earlier row has given the stranger Control of the admin application (design 4).
      for (const who of ['writer', 'reader', 'anonymous', ...(path === '/' ? ['stranger'] : [])]) {
        t.equal((await world.as(who)('PUT', path, rdf())).status, 403, `${who} ${path}`)
      }
      t.equal((await owner('PUT', path, rdf('<> dct:title "Root" .'))).status, 201)
      t.match(await text(store, world.origin + path), /#Root>/)
    }
    t.equal((await owner('PUT', world.freshPath(), rdf())).status, 201)
  })
}

async function rootsInHistory({ world, row }: Setting): Promise<void> {
  const owner = world.as('owner')
  for (const body of [...refusedUpdates(world.base).slice(0, 4), ...hiddenUpdates(world.base)]) {
    await row(`the root stays, with a history: ${body.replaceAll(world.base, '/')}`, async (t) => {
      t.equal((await owner('POST', '/sparql', update(body))).status, body.startsWith('COPY') ? 200 : 400)
      t.equal((await owner('GET', '/')).status, 200)
      t.ok(
        (await versionsOf(world, '/')).every(({ uri }) => uri !== undefined),
        'no version deleted it',
      )
      t.equal((await owner('PUT', world.freshPath(), rdf())).status, 201)
    })
  }
}

async function versionsOf(world: World, path: string, who = 'owner'): Promise<TimeMapJson['versions']> {
  const answer = await world.as(who)('GET', `${path}?timemap`, { fields: { Accept: 'application/json' } })
  return answer.status === 200 ? (JSON.parse(answer.text) as TimeMapJson).versions : []
}

async function cascadesInHistory(setting: Setting): Promise<void> {
  const { world, row } = setting
  const owner = world.as('owner')
  await row('DELETE with ?cascade: one commit for each document', async (t) => {
    const paths = await treeOf(setting)
    const times = await Promise.all(paths.map(async (path) => (await versionsOf(world, path)).length))
    t.same(times, [1, 1, 1, 1])
    t.equal((await owner('DELETE', `${paths[0]}?cascade`)).status, 204)
    const commits = new Set<string>()
    for (const path of paths) {
      const versions = await versionsOf(world, path)
      t.same(
        versions.map(({ method, uri, agent }) => [method, uri === undefined, agent]),
        [
          ['PUT', false, world.ownerWebId],
          ['DELETE', true, world.ownerWebId],
        ],
      )
      commits.add(versions[1]!.version)
    }
    t.equal(commits.size, paths.length)
  })
}

/** Attack: an agent who may write a document but not read it deletes it, and creates it again to read the old state. */
async function lives(setting: Setting): Promise<void> {
  const { world, row, make, grant } = setting
  const [owner, stranger] = [world.as('owner'), world.as('stranger')]
  const path = await make('<> a dh:Container .')
  const document = `${path}x/`
  const iri = world.origin + document
  await make('<> ex:p "secret" .', document)
  await grant('acl:Write', `acl:accessTo <${world.origin}${path}>, <${iri}>`)
  const [old] = await versionsOf(world, document)
  world.passTime(2_000)
  if ((await stranger('DELETE', document)).status !== 204) throw new Error('not deleted')
  world.passTime(2_000)
  if ((await stranger('PUT', document, rdf('<> ex:p "new" .'))).status !== 201) throw new Error('not made again')
  const [, deletion, own] = await versionsOf(world, document)

  // prettier-ignore
  const rows: [name: string, who: string, target: string, fields: Record<string, string>, status: number][] = [
    ['the new version', 'stranger', `?version=${own!.version}`, {}, 200],
    ['the version before the deletion', 'stranger', `?version=${old!.version}`, {}, 404],
    ['the abbreviated id of that version', 'stranger', `?version=${old!.version.slice(0, 7)}`, {}, 404],
    ['the deletion', 'stranger', `?version=${deletion!.version}`, {}, 404],
    ['the difference', 'stranger', `?version=${own!.version}&diff=${old!.version}`, {}, 404],
    ['the difference from the deletion', 'stranger', `?version=${own!.version}&diff=${deletion!.version}`, {}, 404],
    ['the old version, for an agent who could read it', 'owner', `?version=${old!.version}`, {}, 200],
    ['the old version, for an agent with the right by class', 'reader', `?version=${old!.version}`, {}, 200],
    ['the difference, for an agent who could read both', 'reader', `?version=${own!.version}&diff=${old!.version}`, {}, 200],
  ]
  for (const [name, who, target, fields, status] of rows) {
    await row(`history before a deletion: ${name}, ${who}: ${status}`, async (t) => {
      const answer = await world.as(who)('GET', document + target, { fields: { Accept: 'text/turtle', ...fields } })
      t.equal(answer.status, status)
      if (status !== 200) t.notMatch(answer.text + String(answer.fields.link), new RegExp(`secret|${old!.version}`))
      else t.match(answer.fields['cache-control'], /^private/)
    })
  }
  await row('history before a deletion: the time map, the time gate and the links begin again', async (t) => {
    t.same(
      (await versionsOf(world, document, 'stranger')).map(({ version }) => version),
      [own!.version],
    )
    t.equal((await versionsOf(world, document, 'reader')).length, 3)
    const gate = await stranger('GET', `${document}?timegate`, {
      fields: { 'Accept-Datetime': new Date(old!.time).toUTCString() },
    })
    t.equal(gate.fields.location, `${iri}?version=${own!.version}`)
    t.notMatch(String(gate.fields.link), old!.version)
    const maps = await Promise.all(['stranger', 'reader'].map((who) => world.as(who)('GET', `${document}?timemap`)))
    t.notMatch(String(maps[0]!.fields.link), old!.version)
    t.not(maps[0]!.fields.etag, maps[1]!.fields.etag, 'other content, another tag')
  })
  await row('history before a deletion: an agent who may not read it cannot restore a version of it', async (t) => {
    const { lines } = await secretLines(world, document, old!.version)
    const send = {
      fields: { 'Content-Type': 'application/n-triples', 'Content-Location': `${iri}?version=${old!.version}` },
      body: lines,
    }
    t.equal((await stranger('PUT', document, send)).status, 200)
    t.equal((await versionsOf(world, document)).at(-1)!.restores, undefined, 'an ordinary PUT')
    t.equal((await owner('PUT', document, send)).status, 200)
    t.equal((await versionsOf(world, document)).at(-1)!.restores, old!.version)
  })
  await row('history before a deletion: visible with a right on the URL itself', async (t) => {
    await grant('acl:Read', `acl:accessTo <${iri}>`)
    t.equal((await stranger('GET', `${document}?version=${old!.version}`)).status, 200)
  })
  await row(
    'history before a deletion: no shared cache stores the history of a document that was not always public',
    async (t) => {
      const open = `${path}open/`
      await make('<> ex:p "secret" .', open)
      await owner('DELETE', open)
      await make('<> a ex:Public .', open)
      await grant(
        'acl:Read',
        'acl:accessToClass <http://example.org/Public>',
        'acl:agentClass <http://xmlns.com/foaf/0.1/Agent>',
      )
      const [first] = await versionsOf(world, open)
      t.equal((await versionsOf(world, open, 'anonymous')).length, 1)
      t.equal((await world.as('anonymous')('GET', `${open}?version=${first!.version}`)).status, 404)
      for (const who of ['anonymous', 'owner']) {
        t.match((await world.as(who)('GET', `${open}?timemap`)).fields['cache-control'], /^private/, who)
      }
    },
  )
}

async function secretLines(world: World, path: string, version: string): Promise<{ lines: string }> {
  const answer = await world.as('owner')('GET', `${path}?version=${version}`, {
    fields: { Accept: 'application/n-triples' },
  })
  return { lines: answer.text }
}
