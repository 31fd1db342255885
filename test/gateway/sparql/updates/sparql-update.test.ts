// SPARQL updates as clients see them (spec 2.1, 4.2; design 3, 4): each document keeps its managed properties; all
// documents change, or none; on both stores.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { MERGED_GRAPHS } from '../../../../policies/authorizations/reach.js'
import type { Answer } from '../../../support/client.js'
import { touchesOf } from '../../../../gateway/sparql/language/touches.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { forEachStore, rowsOf, type Row, type Stores } from '../../../support/stores.js'
import { accept, makeWorld, ttl, update, type World } from '../../../support/world.js'

const PREFIXES = `PREFIX acl: <http://www.w3.org/ns/auth/acl#> PREFIX dh: <https://www.w3.org/ns/ldt/document-hierarchy#>
  PREFIX dct: <http://purl.org/dc/terms/> PREFIX sioc: <http://rdfs.org/sioc/ns#> PREFIX sh: <http://www.w3.org/ns/shacl#>
  PREFIX ex: <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n`
const DCT = 'http://purl.org/dc/terms/'
const OWNER = 'http://www.w3.org/ns/auth/acl#owner'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const DH = 'https://www.w3.org/ns/ldt/document-hierarchy#'

interface Setting {
  readonly world: World
  readonly stores: Stores
  readonly row: Row
  /** Creates a document as the owner, and returns its IRI. */
  make(body?: string, path?: string): Promise<string>
  /** Sends an update. */
  send(body: string, who?: string): Promise<Answer>
  /** The lines of a graph in the store; undefined if it does not exist. */
  stored(graph: string): Promise<readonly string[] | undefined>
}

void t.test('the graphs of many quads and many solutions are found once for each graph', (t) => {
  const quads = Array.from({ length: 100 }, (_, i) => ({ graph: '?g', terms: ['?s', `<urn:p${i}>`, '?o'] as const }))
  const solutions = Array.from(
    { length: 100 },
    (_, i) => new Map(['?g', '?s', '?o'].map((name) => [name, `<urn:${i}>`])),
  )
  t.equal(touchesOf({ remove: quads, add: quads }, solutions).length, 200)
  const unbound = [{ graph: '?g', terms: ['?s', '?p', '?o'] as const }]
  t.same(touchesOf({ remove: unbound, add: [] }, solutions), [], 'a quad that no solution fills touches nothing')
  t.end()
})

void forEachStore(t, 'SPARQL updates', async (t, makeStores, kind) => {
  const made = await makeStores()
  const endUser: GraphStore = {
    ...made.endUser,
    async query(text, ...more) {
      await beforeQuery.run(text, more[1]?.signal)
      return made.endUser.query(text, ...more)
    },
  }
  const stores = { ...made, endUser }
  const world = await makeWorld(t, stores)
  const setting = settingOf(t, world, stores)
  await keeping(setting)
  await together(setting)
  await operations(setting)
  await variables(setting)
  await unionByName(setting)
  await freshNames(setting)
  await oneAfterTheOther(setting)
  await rights(setting)
  t.comment(kind)
})

const NOTHING = (): Promise<unknown> => Promise.resolve()
/** Runs before the store gets a query. */
const beforeQuery: { run(text: string, signal?: AbortSignal): Promise<unknown> } = { run: NOTHING }

function settingOf(t: Test, world: World, stores: Stores): Setting {
  const owner = world.as('owner')
  return {
    world,
    stores,
    row: rowsOf(t, stores.kind),
    async make(body = '', path = world.freshPath()) {
      const { status, text } = await owner('PUT', path, ttl(PREFIXES + body))
      if (status !== 201) throw new Error(`${status} ${text}`)
      return world.origin + path
    },
    send: (body, who = 'owner') => world.as(who)('POST', '/sparql', update(PREFIXES + body)),
    async stored(graph) {
      const text = await stores.endUser.read(graph)
      if (typeof text === 'object') throw new Error(text.detail)
      return text?.split('\n').filter(Boolean).sort()
    },
  }
}

/** The objects of a property of the graph's own subject. */
const objects = (lines: readonly string[] | undefined, iri: string, property: string): readonly string[] =>
  (lines ?? [])
    .filter((line) => line.startsWith(`<${iri}> <${property}> `))
    .map((line) => line.slice(`<${iri}> <${property}> `.length, -2))

/** Spec 2.1, design 3: the properties that every write preserves. */
async function keeping({ world, stores, row, make, send, stored }: Setting): Promise<void> {
  const path = (iri: string): string => new URL(iri).pathname
  const managed = async (iri: string): Promise<Record<string, readonly string[]>> => {
    const lines = await stored(iri)
    const of = (property: string): readonly string[] => objects(lines, iri, property)
    return {
      created: of(`${DCT}created`),
      creator: of(`${DCT}creator`),
      owner: of(OWNER),
      modified: of(`${DCT}modified`),
      type: of(TYPE),
      parent: [...of('http://rdfs.org/sioc/ns#has_container'), ...of('http://rdfs.org/sioc/ns#has_parent')],
    }
  }
  const ITEM = `<${DH}Item>`
  const me = `<${world.ownerWebId}>`
  // prettier-ignore
  const EDITS: [name: string, update: (iri: string) => string][] = [
    ['an insertion', (iri) => `INSERT DATA { GRAPH <${iri}> { <${iri}> ex:p 1 } }`],
    ['two insertions one after the other', (iri) => `INSERT DATA { GRAPH <${iri}> { <${iri}> ex:p 1 } } ; INSERT DATA { GRAPH <${iri}> { <${iri}> ex:p 2 } }`],
    ['managed triples are deleted', (iri) => `DELETE WHERE { GRAPH <${iri}> { <${iri}> acl:owner ?o ; dct:creator ?c ; dct:created ?t } }`],
    ['managed triples are inserted', (iri) => `WITH <${iri}> INSERT { <${iri}> acl:owner ex:me ; dct:creator ex:me ; dct:modified "x" ; sioc:has_container ex:c } WHERE {}`],
    ['the document is cleared and filled again', (iri) => `CLEAR GRAPH <${iri}> ; INSERT DATA { GRAPH <${iri}> { <${iri}> ex:p 1 } }`],
    ['a COPY over it', (iri) => `INSERT DATA { GRAPH ex:copied { <${iri}> acl:owner ex:me ; ex:p 1 } } ; COPY ex:copied TO <${iri}> ; DROP GRAPH ex:copied`],
    ['DELETE and INSERT with WITH', (iri) => `WITH <${iri}> DELETE { ?s dct:title ?o } INSERT { ?s dct:title "two" } WHERE { ?s dct:title ?o }`],
    ['USING', (iri) => `DELETE { GRAPH <${iri}> { ?s ?p ?o } } INSERT { GRAPH <${iri}> { ?s ex:p ?o } } USING <${iri}> WHERE { ?s ?p ?o }`],
    ['escapes in a name', (iri) => `INSERT DATA { GRAPH <\\u0068${iri.slice(1)}> { <${iri}> ex:p 1 } }`],
  ]
  for (const [name, body] of EDITS) {
    await row(`managed properties stay: ${name}`, async (t) => {
      const iri = await make('<> dct:title "one" .')
      const before = await managed(iri)
      const { status, text } = await send(body(iri))
      t.equal(status, 200, text)
      const after = await managed(iri)
      t.same({ ...after, modified: [] }, { ...before, modified: [] })
      t.equal(after.modified!.length, 1, 'one dct:modified')
      const read = await world.as('owner')('GET', path(iri))
      const again = await world.as('owner')('GET', path(iri), { fields: { 'If-None-Match': read.fields.etag! } })
      t.equal(again.status, 304)
    })
  }
  await row('a document created by an update gets what a PUT gives it; blank nodes become IRIs', async (t) => {
    const iri = world.origin + world.freshPath()
    t.equal((await send(`INSERT DATA { GRAPH <${iri}> { <${iri}> ex:p [ ex:q _:b ] . _:b ex:r 1 } }`)).status, 200)
    const { type, owner, creator, created, modified, parent } = await managed(iri)
    t.same([type, owner, creator, modified, parent], [[ITEM], [me], [me], [], [`<${world.base}>`]])
    t.equal(created!.length, 1)
    const lines = (await stored(iri))!
    t.notOk(lines.some((line) => line.includes('_:')))
    t.equal(lines.filter((line) => line.includes(`<${iri}#id`)).length, 3)
  })
  const KNOWN = ['"2001-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>', '<http://example.org/someone>']
  const source = (iri: string): string => `<${iri}> dct:created "2001-01-01T00:00:00Z"^^xsd:dateTime ; dct:creator ex:someone ; acl:owner ex:someone ; dct:modified "2002" ; ex:p 1` // prettier-ignore
  const copied = (iri: string): string => `INSERT { GRAPH <${iri}> { ?s ?p ?o } } WHERE { GRAPH ex:known { ?s ?p ?o } }`
  // prettier-ignore
  const MOVES: [name: string, who: string, update: (iri: string) => string, created: boolean, creator: boolean][] = [
    ['INSERT and DROP', 'owner', (iri) => `${copied(iri)} ; DROP SILENT GRAPH ex:known`, true, true],
    ['MOVE', 'owner', (iri) => `MOVE ex:known TO <${iri}>`, true, true],
    ['only the creator', 'owner', (iri) => `INSERT { GRAPH <${iri}> { ?s ?p ?o } } WHERE { GRAPH ex:known { ?s ?p ?o } FILTER(?p != dct:created) }`, false, true],
    ['the owner alone: nothing stays', 'owner', (iri) => `INSERT { GRAPH <${iri}> { ?s acl:owner ?o } } WHERE { GRAPH ex:known { ?s acl:owner ?o } }`, false, false],
    ['the text of the update says so', 'owner', (iri) => `INSERT DATA { GRAPH <${iri}> { ${source(iri)} } }`, false, false],
    ['an agent with fewer rights', 'stranger', (iri) => `INSERT { GRAPH <${iri}> { ?s ?p ?o } } WHERE { GRAPH <${iri.replace('/new/', '/known/')}> { ?s ?p ?o } }`, false, false],
  ]
  for (const [name, who, body, isCreated, isCreator] of MOVES) {
    await row(`a graph that says when and by whom it was created becomes a document: ${name}`, async (t) => {
      const folder = await make('<> a dh:Container .')
      const iri = `${folder}new/`
      if (name !== 'the text of the update says so') await send(`INSERT DATA { GRAPH ex:known { ${source(iri)} } }`)
      const known = await make(`${source(iri)} .`, path(`${folder}known/`))
      const rule = '/admin/acl/authorizations/moves/'
      await make(`<#a> a acl:Authorization ; acl:mode acl:Read, acl:Write ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <${folder}>, <${known}>, <${world.base}sparql> .`, rule) // prettier-ignore
      t.equal((await send(body(iri), who)).status, 200)
      const { created, creator, owner, modified, type } = await managed(iri)
      const agent = who === 'owner' ? me : `<${world.webIdOf(who)}>`
      t.equal(created![0] === KNOWN[0], isCreated, `created: ${created!.join()}`)
      t.same([creator, owner, type], [[isCreator ? KNOWN[1] : agent], [agent], [ITEM]])
      t.notMatch(owner, 'someone')
      t.same([created!.length, modified!.length], [1, isCreated || isCreator ? 1 : 0])
      t.notMatch(modified, '2002')
      await send('DROP SILENT GRAPH ex:known')
      await world.as('owner')('DELETE', rule)
    })
  }
  await row('an update that changes nothing writes nothing', async (t) => {
    const iri = await make('<> ex:p 1 .')
    const before = await stored(iri)
    for (const body of [
      `INSERT DATA { GRAPH <${iri}> { <${iri}> ex:p 1 } }`,
      `DELETE DATA { GRAPH <${iri}> { <${iri}> ex:none 1 } }`,
      `DELETE { GRAPH <${iri}> { ?s ?p "none" } } WHERE { GRAPH <${iri}> { ?s ?p "none" } }`,
    ]) {
      t.equal((await send(body)).status, 200)
      t.same(await stored(iri), before, body)
    }
  })
  await row('an update that leaves nothing of a document deletes it; of the root it is refused', async (t) => {
    const iri = await make('<> ex:p 1 .')
    t.equal((await send(`DELETE WHERE { GRAPH <${iri}> { ?s ?p ?o } }`)).status, 200)
    t.equal((await world.as('owner')('GET', path(iri))).status, 404)
    t.equal((await send(`DELETE WHERE { GRAPH <${world.base}> { ?s ?p ?o } }`)).status, 400)
    t.equal((await world.as('owner')('GET', '/')).status, 200)
  })
  await row(
    'if an update empties the root, only terms that all stores read alike are restored (SPARQL 1.1 §19.2)',
    async (t) => {
      if (stores.endUser.announces) return t.pass('the update is refused')
      const root = (await stored(world.base))!
      for (const odd of ['"\\\\u0022 } } ; DROP ALL #"', '"\\u0007"', '<file:x>', '_:b']) {
        const lines = [...root, `<${world.base}> <${DCT}creator> ${odd} .`]
        t.equal(await stores.endUser.replace(world.base, `${lines.join('\n')}\n`), undefined, odd)
        const body = `DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(?g = <${world.base}>) }`
        const answer = await send(`INSERT DATA { GRAPH <urn:x-arq:DefaultGraph> { ex:s ex:p 1 } } ; ${body}`)
        t.equal(answer.status, 200, answer.text)
        const kept = (await stored(world.base))!
        t.match(kept.join('\n'), `${DCT}created`)
        t.notMatch(kept.join('\n'), `creator> ${odd}`)
      }
      t.equal(await stores.endUser.replace(world.base, `${root.join('\n')}\n`), undefined)
    },
  )
  await row('a document can only be created in a container, which the same update may create', async (t) => {
    const item = await make()
    const inItem = `${item}below/`
    t.equal((await send(`INSERT DATA { GRAPH <${inItem}> { <${inItem}> ex:p 1 } }`)).status, 403)
    const top = world.origin + world.freshPath()
    const below = `${top}a/b/`
    const one = `GRAPH <${below}> { <${below}> ex:p 1 }`
    t.equal((await send(`INSERT DATA { ${one} }`)).status, 403, 'nothing there')
    const containers = [top, `${top}a/`].map((iri) => `GRAPH <${iri}> { <${iri}> a dh:Container }`).join(' ')
    t.equal((await send(`INSERT DATA { ${one} GRAPH <${top}a/> { <${top}a/> a dh:Item } }`)).status, 403)
    const made = await send(`INSERT DATA { ${one} ${containers} }`)
    t.equal(made.status, 200, made.text)
    t.same((await managed(below)).parent, [`<${top}a/>`])
  })
  await row('literals keep their spelling', async (t) => {
    const iri = await make('<> ex:p "042"^^xsd:integer, 1.50 .')
    const body = `WITH <${iri}> DELETE { ?s ex:p ?o } INSERT { ?s ex:q ?o ; ex:new "007"^^xsd:integer } WHERE { ?s ex:p ?o }`
    t.equal((await send(body)).status, 200)
    const { text } = await world.as('owner')('GET', path(iri), accept('application/n-triples'))
    for (const spelling of ['"042"', '"1.50"', '"007"']) t.match(text, spelling)
  })
}

/** Design 3: either all documents of an update change, or none. */
async function together({ world, row, make, send, stored }: Setting): Promise<void> {
  await row('spec 4.1: constraints: of two documents one would violate them, and neither changes', async (t) => {
    const shape = `<#s> a sh:NodeShape ; sh:targetClass ex:Bill ; sh:property [ sh:path dct:title ; sh:minCount 1 ] .`
    await make(shape, '/admin/ontologies/update-bills/')
    const [one, two] = [await make('<> ex:p 1 .'), await make('<> dct:title "Bill" ; a ex:Bill .')]
    const before = [await stored(one), await stored(two)]
    const title = (iri: string): string => `DELETE WHERE { GRAPH <${iri}> { ?s dct:title ?t } }`
    const answer = await send(`INSERT DATA { GRAPH <${one}> { <${one}> ex:p 2 } } ; ${title(two)}`)
    t.equal(answer.status, 422, answer.text)
    t.same([await stored(one), await stored(two)], before)
    t.equal((await world.as('owner')('DELETE', '/admin/ontologies/update-bills/')).status, 204)
  })
  await row('documents and other graphs change together', async (t) => {
    const [one, two] = [await make('<> ex:p 1 .'), await make('<> ex:p 2 .')]
    const other = 'http://example.org/other'
    const body = `DELETE { GRAPH <${one}> { ?a ex:p ?x } GRAPH <${two}> { ?b ex:p ?y } }
      INSERT { GRAPH <${one}> { ?a ex:p ?y } GRAPH <${two}> { ?b ex:p ?x } GRAPH <${other}> { ?a ex:with ?b } }
      WHERE { GRAPH <${one}> { ?a ex:p ?x } GRAPH <${two}> { ?b ex:p ?y } } ;
      INSERT { ex:s ex:seen ?a } WHERE { GRAPH <${other}> { ?a ex:with ?b } }`
    const answer = await send(body)
    t.equal(answer.status, 200, answer.text)
    t.match(
      [await stored(one), await stored(two)].map((lines, i) => objects(lines, [one, two][i]!, 'http://example.org/p')),
      [[/"2"/], [/"1"/]],
    )
    t.same(await stored(other), [`<${one}> <http://example.org/with> <${two}> .`])
    const seen = await world.as('owner')(
      'GET',
      `/sparql?${new URLSearchParams({ query: 'ASK { <http://example.org/s> ?p ?o }' }).toString()}`,
    )
    t.match(seen.text, 'true', 'the default graph')
    t.equal((await send(`DROP GRAPH <${other}> ; DELETE WHERE { ex:s ?p ?o }`)).status, 200)
  })
  await row('an operation sees the results of earlier ones', async (t) => {
    const iri = await make('<> ex:p 1 .')
    const add = `WITH <${iri}> DELETE { ?s ex:p ?n } INSERT { ?s ex:p ?m } WHERE { ?s ex:p ?n BIND(?n + 1 AS ?m) }`
    t.equal((await send(`${add} ; ${add} ; ${add}`)).status, 200)
    t.match(objects(await stored(iri), iri, 'http://example.org/p'), [/"4"/])
  })
  await row('two simultaneous updates of one document: none is lost', async (t) => {
    const iri = await make('<> ex:p 0 .')
    const add = `WITH <${iri}> DELETE { ?s ex:p ?n } INSERT { ?s ex:p ?m } WHERE { ?s ex:p ?n BIND(?n + 1 AS ?m) }`
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(add)))
    t.same(
      answers.map(({ status }) => status),
      Array(6).fill(200),
    )
    t.match(objects(await stored(iri), iri, 'http://example.org/p'), [/"6"/])
  })
}

/** SPARQL 1.1 Update §3.2 on documents. */
async function operations({ row, make, send, stored }: Setting): Promise<void> {
  const value = async (iri: string): Promise<string> =>
    ((await stored(iri)) ?? [])
      .flatMap((line) => /example\.org\/p> "(\w+)"/.exec(line)?.[1] ?? [])
      .sort()
      .join(' ')
  // prettier-ignore
  const ROWS: [name: string, update: (a: string, b: string) => string, status: number, a: string, b: string][] = [
    ['COPY', (a, b) => `COPY <${a}> TO <${b}>`, 200, 'a', 'a'],
    ['MOVE', (a, b) => `MOVE <${a}> TO <${b}>`, 200, '', 'a'],
    ['ADD', (a, b) => `ADD <${a}> TO <${b}>`, 200, 'a', 'a b'],
    ['COPY to itself', (a) => `COPY <${a}> TO <${a}>`, 200, 'a', 'b'],
    ['COPY of an absent graph', (_, b) => `COPY <http://example.org/none> TO <${b}>`, 422, 'a', 'b'],
    ['COPY SILENT of an absent graph', (_, b) => `COPY SILENT <http://example.org/none> TO <${b}>`, 200, 'a', 'b'],
    ['CLEAR', (a) => `CLEAR GRAPH <${a}>`, 200, '', 'b'],
    ['DROP of an absent graph, SILENT', (a) => `DROP SILENT GRAPH <${a}none/>`, 200, 'a', 'b'],
    ['CREATE', (a) => `CREATE GRAPH <${a}>`, 200, 'a', 'b'],
    ['DELETE DATA and INSERT DATA of one quad', (a) => `DELETE DATA { GRAPH <${a}> { <${a}> ex:p "a" } } ; INSERT DATA { GRAPH <${a}> { <${a}> ex:p "a" } }`, 200, 'a', 'b'],
    ['many plain statements', (a) => `INSERT DATA { GRAPH <${a}> { <${a}> ex:p "c" . <${a}> ex:p "d", "e" ; ex:p "f" . <${a}> a ex:C ; ex:n 042, 1.5, 1e3, true ; ex:l "x"@en-GB, "y"^^ex:t . } }`, 200, 'a c d e f', 'b'],
  ]
  for (const [name, body, status, a, b] of ROWS) {
    await row(name, async (t) => {
      const [one, two] = [await make('<> ex:p "a" .'), await make('<> ex:p "b" .')]
      const answer = await send(body(one, two))
      t.equal(answer.status, status, answer.text)
      t.same([await value(one), await value(two)], [a, b])
    })
  }
}

/** Updates that do not name the graphs that they read or write, as the owner. */
async function variables({ world, row, make, send, stored }: Setting): Promise<void> {
  await row('GRAPH with a variable in a template: each document keeps its managed properties', async (t) => {
    const [one, two, other] = [await make('<> ex:w "x" .'), await make('<> ex:w "x" .'), await make('<> ex:w "y" .')]
    const before = await stored(other)
    const body = `DELETE { GRAPH ?g { ?s ex:w "x" } } INSERT { GRAPH ?g { ?s ex:w "z" } } WHERE { GRAPH ?g { ?s ex:w "x" } }`
    const answer = await send(body)
    t.equal(answer.status, 200, answer.text)
    for (const iri of [one, two]) {
      t.match(objects(await stored(iri), iri, 'http://example.org/w'), [/"z"/])
      t.equal(objects(await stored(iri), iri, `${DCT}modified`).length, 1)
      t.same(objects(await stored(iri), iri, OWNER), [`<${world.ownerWebId}>`])
    }
    t.same(await stored(other), before)
  })
  await row('WITH, and a pattern over any graph', async (t) => {
    const [source, target] = [await make('<> ex:v "1", "2" .'), await make()]
    const body = `WITH <${target}> INSERT { <${target}> ex:got ?v } WHERE { GRAPH ?g { <${source}> ex:v ?v } }`
    t.equal((await send(`${body} ; INSERT DATA { GRAPH <${target}> { <${target}> ex:got "3" } }`)).status, 200)
    t.match(objects(await stored(target), target, 'http://example.org/got').toSorted(), [/"1"/, /"2"/, /"3"/])
    const own = `WITH <${target}> DELETE { ?s ex:got ?v } WHERE { ?s ex:got ?v . GRAPH ?g { <${source}> ex:v ?v } }`
    t.equal((await send(own)).status, 200)
    t.match(objects(await stored(target), target, 'http://example.org/got'), [/"3"/])
  })
}

/** Design 4: the union of all graphs by its name, as an agent with all rights. */
async function unionByName({ world, row, make, send, stored }: Setting): Promise<void> {
  const using = `using-graph-uri=${encodeURIComponent(MERGED_GRAPHS)}`
  const source = await make('<> ex:union "1" .')
  const target = await make('<> ex:p 1 .')
  const got = async (): Promise<number> => objects(await stored(target), target, 'http://example.org/got').length
  const insert = `INSERT { GRAPH <${target}> { <${target}> ex:got ?v } }`
  const into = `${insert} USING <${MERGED_GRAPHS}> WHERE { <${source}> ex:union ?v }`
  const first = `DELETE DATA { GRAPH <${target}> { <${target}> ex:got "1" } }`
  const clear = `CLEAR GRAPH <http://example.org/none>`
  // The store, which does not know the name, never gets such an update.
  const many = Array.from({ length: 30 }, (_, i) => i).join(' ')
  const product = ['?a', '?b', '?c'].map((name) => `VALUES ${name} { ${many} }`).join(' ')
  // prettier-ignore
  const ROWS: [name: string, update: string, status: number, parameter?: boolean][] = [
    ['in the first operation', into, 200],
    ['in a later one', `${first} ; ${into}`, 200],
    ['in a later one, after CLEAR of another graph', `${clear} ; ${into}`, 200],
    ['as using-graph-uri', `${first} ; ${insert} WHERE { <${source}> ex:union ?v }`, 200, true],
    ['as using-graph-uri of DELETE WHERE', `${first} ; DELETE WHERE { GRAPH <${target}> { ?s ex:none ?o } } ; ${insert} WHERE { <${source}> ex:union ?v }`, 200, true],
    ['with more solutions than the gateway takes', `INSERT { GRAPH <${target}> { ex:s ex:got ?a, ?b, ?c } } USING <${MERGED_GRAPHS}> WHERE { <${source}> ex:union ?v ${product} }`, 413],
    ['next to a name that only the store knows', `INSERT DATA { GRAPH <urn:x-arq:DefaultGraph> { ex:s ex:p 1 } } ; ${into}`, 403],
    ['next to CLEAR ALL', `CLEAR ALL ; ${into}`, 403],
  ]
  for (const [name, body, status, parameter] of ROWS) {
    await row(`the union of all graphs, by its name: ${name}: ${status}`, async (t) => {
      await send(first)
      const answer = await world.as('owner')('POST', `/sparql${parameter ? `?${using}` : ''}`, update(PREFIXES + body))
      t.equal(answer.status, status, answer.text)
      t.equal(await got(), status === 200 ? 1 : 0)
    })
  }
}

/** SPARQL 1.1 Update §3.1.3: names of graphs that are others each time the pattern is evaluated. */
async function freshNames({ world, row, make, send, stored }: Setting): Promise<void> {
  const source = await make('<> ex:fresh 1, 2 .')
  const parent = await make('<> a dh:Container .')
  const rule = '/admin/acl/authorizations/updates-fresh/'
  const of = `acl:agent <${world.webIdOf('stranger')}> ; acl:mode acl:Read, acl:Write`
  const body = `<#a> a acl:Authorization ; ${of} ; acl:accessTo <${world.base}sparql>, <${source}>, <${parent}> ; acl:default <${parent}> .`
  await make(body, rule)
  const fresh = `BIND(IRI(CONCAT("${parent}", STRUUID(), "/")) AS ?g)`
  const into = `INSERT { GRAPH ?g { ?g ex:of ?o } } WHERE { GRAPH <${source}> { ?s ex:fresh ?o } ${fresh} }`
  const made = async (): Promise<number> => {
    const query = `SELECT ?g { GRAPH ?g { ?g <http://example.org/of> ?o } }`
    const target = `/sparql?${new URLSearchParams({ query }).toString()}`
    const { text } = await world.as('owner')('GET', target, accept('text/csv'))
    return text.trim().split(/\r?\n/).length - 1
  }
  for (const who of ['owner', 'stranger']) {
    await row(`documents with names of STRUUID, as ${who}`, async (t) => {
      const before = await made()
      const answer = await send(into, who)
      t.equal(answer.status, 200, answer.text)
      t.equal(await made(), before + 2, 'a document for each solution')
    })
  }
  await row('fresh names of graphs that the agent may not write: nothing changes', async (t) => {
    const before = await made()
    const elsewhere = into.replace(`"${parent}"`, `"http://example.org/fresh/"`)
    t.equal((await send(elsewhere, 'stranger')).status, 403)
    t.equal(await made(), before)
  })
  await row('a choice of graphs by RAND', async (t) => {
    const all = await Promise.all(Array.from({ length: 20 }, () => make('<> ex:chosen 1 .')))
    const answer = await send(
      'DELETE { GRAPH ?g { ?s ex:chosen ?o } } WHERE { GRAPH ?g { ?s ex:chosen ?o } FILTER(RAND() < 0.5) }',
    )
    t.equal(answer.status, 200, answer.text)
    const left = (await Promise.all(all.map(stored))).filter((lines) => /chosen/.test(String(lines)))
    t.ok(left.length < all.length, 'some were chosen')
  })
  await row('fresh names beside other operations are refused, with the reason', async (t) => {
    const answer = await send(`INSERT DATA { GRAPH <${source}> { ex:s ex:p 1 } } ; ${into}`, 'stranger')
    t.match(answer, { status: 413, text: /STRUUID may give the update other graphs/ })
    const costly = `${into} ; DELETE { GRAPH <${source}> { ?s ?p ?o } } WHERE { GRAPH <${source}> { ?s ?p ?o } }`
    t.match(await send(costly, 'stranger'), { status: 413, text: /Send the operation with it alone/ })
  })
  t.equal((await world.as('owner')('DELETE', rule)).status, 204)
}

/** Design 3: updates behave as if they ran one after the other. */
async function oneAfterTheOther({ world, stores, row, make, send, stored }: Setting): Promise<void> {
  await row(
    'two updates, each of which reads the graph that the other writes: one of them sees the other',
    async (t) => {
      const [one, two] = [await make(), await make()]
      const take = (iri: string): string =>
        `INSERT { GRAPH <${iri}> { <${iri}> ex:takes "it" } } WHERE { FILTER NOT EXISTS { GRAPH ?g { ?s ex:takes "it" } } }`
      // Each update asks the store before its locks and under them. If possible, neither writes before both have asked
      // twice.
      let asked = 0
      const both = new Promise<void>((resolve) => {
        beforeQuery.run = (text) => {
          if (!text.includes('/takes')) return Promise.resolve()
          if (++asked === 4) resolve()
          return asked > 2 ? Promise.race([both, delay(200)]) : Promise.resolve()
        }
      })
      const answers = await Promise.all([send(take(one)), send(take(two))]).finally(() => (beforeQuery.run = NOTHING))
      t.same(
        answers.map(({ status }) => status),
        [200, 200],
      )
      const taken = (await Promise.all([stored(one), stored(two)])).filter((lines) => /takes/.test(String(lines)))
      t.equal(taken.length, 1)
    },
  )
  await row('an update that is slow under its locks is given up; one without changes does not wait', async (t) => {
    // The time limit really passes.
    if (stores.kind === 'fuseki') return t.pass('the limit is that of the gateway, whatever the store')
    const iri = await make()
    const rule = '/admin/acl/authorizations/updates-slow/'
    const of = `acl:mode acl:Read, acl:Write ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo`
    await make(`<#this> a acl:Authorization ; ${of} <${world.base}sparql>, <${iri}> .`, rule)
    let asked = 0
    beforeQuery.run = (text, signal) =>
      text.includes('/slow') && ++asked === 2
        ? new Promise((resolve) => signal!.addEventListener('abort', resolve, { once: true }))
        : Promise.resolve()
    const slow = `INSERT { GRAPH <${iri}> { ex:s ex:p 1 } } WHERE { FILTER NOT EXISTS { GRAPH ?g { ?s ex:slow ?o } } }`
    let isHeld = true
    const holding = send(slow, 'stranger').finally(() => (isHeld = false))
    while (asked < 2) await world.as('owner')('GET', '/')
    const waiting = send(slow, 'stranger')
    while (asked < 3) await world.as('owner')('GET', '/')
    const third = await send(slow, 'stranger')
    t.equal(third.status, 503, 'an agent has two places')
    t.equal(third.fields['retry-after'], '2')
    const nothing = 'DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ex:none ?o . ?s ?p ?o } }'
    t.equal((await send(nothing)).status, 200)
    t.ok(isHeld, 'while the other update holds its locks')
    t.match(await holding, { status: 413, text: /5 seconds/ })
    t.equal((await waiting).status, 200, 'the next one has its turn')
    beforeQuery.run = NOTHING
    t.equal((await world.as('owner')('DELETE', rule)).status, 204)
  })
  await row('a right that is revoked while the update waits', async (t) => {
    const other = 'http://example.org/updates/waiting'
    const rule = '/admin/acl/authorizations/updates-waiting/'
    await make(
      `<#this> a acl:Authorization ; acl:mode acl:Write ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <${other}> .
       <#that> a acl:Authorization ; acl:mode acl:Write ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <${world.base}sparql> .`,
      rule,
    )
    let go: (value?: unknown) => void = () => undefined
    const held = new Promise((resolve) => (go = resolve))
    let asked = 0
    beforeQuery.run = (text) => (text.includes('/holds') && ++asked === 2 ? held : Promise.resolve())
    const holding = send(
      `INSERT { GRAPH <${other}> { ex:s ex:p 1 } } WHERE { FILTER NOT EXISTS { GRAPH ?g { ?s ex:holds ?o } } }`,
    )
    while (asked < 2) await world.as('owner')('GET', '/')
    const waiting = send(`INSERT DATA { GRAPH <${other}> { ex:s ex:p "waited" } }`, 'stranger')
    for (let i = 0; i < 3; i++) await world.as('owner')('GET', '/')
    t.equal((await world.as('owner')('DELETE', rule)).status, 204)
    go()
    beforeQuery.run = NOTHING
    t.same([(await holding).status, (await waiting).status], [200, 403])
    t.same(await stored(other), [
      `<http://example.org/s> <http://example.org/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
    ])
    await stores.endUser.remove(other)
  })
}

/** Design 4: an agent can change exactly the graphs that it may write, based on those that it may read. */
async function rights({ world, stores, row, make, send, stored }: Setting): Promise<void> {
  const owner = world.as('owner')
  let granted = 0
  const grant = async (modes: readonly string[], targets: string): Promise<void> => {
    const rule = `<#this> a acl:Authorization ; acl:mode ${modes.map((mode) => `acl:${mode}`).join(', ')} ;
      acl:agent <${world.webIdOf('stranger')}> ; ${targets} .`
    await make(rule, `/admin/acl/authorizations/updates${++granted}/`)
  }
  const graphs: Record<string, string> = {}
  const MODES: Record<string, readonly string[]> = {
    none: [],
    read: ['Read'],
    append: ['Append'],
    readAppend: ['Read', 'Append'],
    write: ['Write'],
    readWrite: ['Read', 'Write', 'Append'],
  }
  await grant(['Read', 'Write'], `acl:accessTo <${world.base}sparql>`)
  for (const [name, modes] of Object.entries(MODES)) {
    graphs[name] = await make(`<> ex:p "${name}" .`)
    if (modes.length > 0) await grant(modes, `acl:accessTo <${graphs[name]}>`)
    const other = `http://example.org/updates/${name}`
    graphs[`${name}Other`] = other
    t.equal(await stores.endUser.replace(other, `<${other}> <http://example.org/p> "${name}" .\n`), undefined)
    if (modes.length > 0) await grant(modes, `acl:accessTo <${other}>`)
  }
  graphs.container = await make('<> a dh:Container .')
  await grant(['Read', 'Write'], `acl:accessTo <${graphs.container}>`)
  graphs.below = await make('<> a dh:Container .')
  await grant(['Read', 'Write', 'Append'], `acl:default <${graphs.below}>`)
  graphs.literal = `${graphs.below}Straße/`
  const states = async (): Promise<unknown> => Promise.all(Object.values(graphs).map(stored))
  const g = graphs as Record<string, string>
  const insert = (graph: string, value = 'new'): string =>
    `INSERT DATA { GRAPH <${graph}> { <${graph}> ex:p "${value}" } }`
  const remove = (graph: string): string => `DELETE DATA { GRAPH <${graph}> { <${graph}> ex:p "none" } }`
  const from = (source: string, target: string): string =>
    `INSERT { GRAPH <${target}> { <${target}> ex:from ?v } } WHERE { GRAPH <${source}> { ?s ex:p ?v } }`
  // prettier-ignore
  const ROWS: [name: string, update: string, status: number, changed?: string][] = [
    ...['none', 'read'].flatMap((name): [string, string, number][] => [[`an insertion with ${name}`, insert(g[name]!), 403], [`an insertion into another graph with ${name}`, insert(g[`${name}Other`]!), 403]]),
    ...['append', 'readAppend', 'write', 'readWrite'].flatMap((name): [string, string, number, string][] => [[`an insertion with ${name}`, insert(g[name]!), 200, name], [`an insertion into another graph with ${name}`, insert(g[`${name}Other`]!), 200, `${name}Other`]]),
    ...['none', 'read', 'append', 'readAppend'].flatMap((name): [string, string, number][] => [[`a deletion with ${name}`, remove(g[name]!), 403], [`a deletion from another graph with ${name}`, remove(g[`${name}Other`]!), 403], [`CLEAR with ${name}`, `CLEAR GRAPH <${g[name]!}>`, 403], [`DROP SILENT with ${name}`, `DROP SILENT GRAPH <${g[`${name}Other`]!}>`, 403]]),
    ['a deletion of absent triples, with Write', remove(g.write!), 200],
    ['all or nothing: an insertion that is allowed, and one that is not', `${insert(g.readWrite!)} ; ${insert(g.none!)}`, 403],
    ['the default graph', 'INSERT DATA { ex:s ex:p 1 }', 403],
    ['a graph that does not exist and that nothing names', insert('http://example.org/updates/absent'), 403],
    ['a document in a container with Write', insert(`${g.container}item/`), 200],
    ['a document in a container on which the agent has no right', insert(`${world.base}updates-none/`), 403],
    ['another spelling of the URL of a document, which a start would make one', `INSERT DATA { GRAPH <${g.literal}> { <${g.literal}> acl:owner ex:me ; dct:creator ex:me } }`, 403],
    ['another spelling that a variable stands for', `INSERT { GRAPH ?g { ?g acl:owner ex:me } } WHERE { VALUES ?g { <${g.literal}> } }`, 403],
    ['a document below one that does not exist', insert(`${g.container}absent/item/`), 403],
    ['a pattern over a graph that may be read', from(g.read!, g.readWrite!), 200, 'readWrite'],
    ['a pattern over a hidden graph: as over an absent one', from(g.none!, g.readWrite!), 200],
    ['a pattern over a hidden other graph', from(g.noneOther!, g.readWrite!), 200],
    ['a pattern over a graph with Write and no Read', from(g.write!, g.readWrite!), 200],
    ['a hidden graph in EXISTS reveals nothing', `INSERT { GRAPH <${g.readWrite}> { ex:s ex:oracle 1 } } WHERE { FILTER EXISTS { GRAPH <${g.none}> { ?s ?p ?o } } }`, 200],
    ['a hidden graph in MINUS reveals nothing', `INSERT { GRAPH <${g.readWrite}> { ex:s ex:minus ?x } } WHERE { VALUES ?x { 1 } MINUS { VALUES ?x { 1 } GRAPH <${g.none}> { ?s ?p ?o } } }`, 200, 'readWrite'],
    ['USING a hidden graph', `INSERT { GRAPH <${g.readWrite}> { ?s ex:using ?o } } USING <${g.none}> WHERE { ?s ex:p ?o }`, 200],
    ['USING a readable graph', `INSERT { GRAPH <${g.readWrite}> { ?s ex:using ?o } } USING <${g.read}> WHERE { ?s ex:p ?o }`, 200, 'readWrite'],
    ['WITH a graph that may be written and not read', `WITH <${g.write}> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }`, 200],
    ['WITH a readable graph, deleting from it', `WITH <${g.read}> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }`, 403],
    ['a template without solutions still needs its right', `DELETE { GRAPH <${g.read}> { ?s ?p ?o } } WHERE { GRAPH <${g.none}> { ?s ?p ?o } }`, 403],
    ['COPY of a hidden graph: as of an absent one', `COPY <${g.none}> TO <${g.readWrite}>`, 422],
    ['COPY SILENT of a hidden graph', `COPY SILENT <${g.none}> TO <${g.readWrite}>`, 200],
    ['COPY of a readable graph', `COPY <${g.readOther}> TO <${g.readWrite}>`, 200, 'readWrite'],
    ['ADD to a graph with Append', `ADD <${g.readOther}> TO <${g.readAppend}>`, 403],
    ['MOVE of a graph that may not be written', `MOVE <${g.readOther}> TO <${g.readWrite}>`, 403],
    ['CLEAR ALL', 'CLEAR ALL', 403],
    ['DROP NAMED', 'DROP NAMED', 403],
    ['CREATE of a graph that may not be written', `CREATE GRAPH <${g.none}>`, 403],
    ['escapes in GRAPH', `INSERT DATA { \\u0047RAPH <${g.none}> { ex:s ex:p 1 } }`, 400],
    ['escapes in the name', `INSERT DATA { GRAPH <${g.none!.replace('h', '\\u0068')}> { ex:s ex:p 1 } }`, 403],
    ['the rules, through the endpoint of the documents', insert(`${world.base}admin/acl/authorizations/mine/`), 403],
    ['any graph that may be read, one of which may not be written', `WITH <${g.readWrite}> DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }`, 403],
    ['any graph, of those that may be written', `INSERT { GRAPH ?g { ?g ex:any 1 } } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(?g IN (<${g.readWrite}>, <${g.none}>)) }`, 200, 'readWrite'],
    ['a variable that stands for a hidden graph', `INSERT { GRAPH ?g { ?g ex:any 1 } } WHERE { VALUES ?g { <${g.none}> } }`, 403],
    ['a variable that stands for an absent graph', `INSERT { GRAPH ?g { ?g ex:any 1 } } WHERE { VALUES ?g { <http://example.org/updates/absent> } }`, 403],
    ['a deletion from a hidden graph that a pattern would match', `DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ex:p "none" . ?s ?p ?o } }`, 200],
    ['a pattern over any graph finds nothing hidden', `INSERT { GRAPH <${g.readWrite}> { ?s ex:all ?o } } WHERE { GRAPH ?g { ?s ex:p ?o } FILTER(?o = "none") }`, 200],
    ['a pattern over any graph in NOT EXISTS', `INSERT { GRAPH <${g.readWrite}> { ex:s ex:unseen 1 } } WHERE { FILTER NOT EXISTS { GRAPH ?g { ?s ex:p "none" } } }`, 200, 'readWrite'],
    ['any graph after another operation', `${insert(g.readWrite!)} ; INSERT { GRAPH <${g.readWrite}> { ex:s ex:p ?o } } WHERE { GRAPH ?g { ?s ex:p ?o } }`, 200, 'readWrite'],
    ['COPY of the default graph, which may not be read', `COPY DEFAULT TO <${g.readWrite}>`, 403],
    ['a type that gives rights, with Append', `INSERT DATA { GRAPH <${g.append}> { <${g.append}> a ex:Public } }`, 403],
  ]
  for (const [name, body, status, changed] of ROWS) {
    await row(`${name}: ${status}${changed === undefined ? ', unchanged' : ''}`, async (t) => {
      const before = await states()
      const answer = await send(body, 'stranger')
      t.equal(answer.status, status, answer.text)
      const isNew = status === 200 && changed === undefined && body.includes('item/')
      t[changed === undefined ? 'same' : 'not'](JSON.stringify(await states()), JSON.stringify(before))
      if (isNew)
        t.match(objects(await stored(`${g.container}item/`), `${g.container}item/`, OWNER), [
          `<${world.webIdOf('stranger')}>`,
        ])
    })
  }
  await row('CLEAR ALL and DROP NAMED clear the readable graphs, if the agent may write all of them', async (t) => {
    const cleared = ['one', 'two'].map((name) => `http://example.org/cleared/${name}`)
    const rule = '/admin/acl/authorizations/cleared/'
    const of = `acl:agent <${world.webIdOf('reader')}>`
    const group = '/admin/acl/groups/readers/'
    const member = await owner('GET', group, accept('text/turtle'))
    t.equal((await owner('DELETE', group)).status, 204)
    const own = cleared.map((graph) => `<${graph}>`).join(', ')
    await make(
      `<#a> a acl:Authorization ; acl:mode acl:Read, acl:Write ; ${of} ; acl:accessTo <${world.base}sparql>, ${own} .`,
      rule,
    )
    for (const form of ['CLEAR ALL', 'DROP SILENT NAMED', `CLEAR ALL ; ${insert(cleared[0]!, 'last')}`]) {
      for (const graph of cleared) await stores.endUser.replace(graph, `<urn:s> <urn:p> "x" .\n`)
      const before = await states()
      const answer = await send(form, 'reader')
      t.equal(answer.status, 200, `${form}: ${answer.text}`)
      t.match(await stored(cleared[0]!), form.includes('INSERT') ? [/"last"/] : undefined, form)
      t.equal(await stored(cleared[1]!), undefined, form)
      t.same(await states(), before, 'hidden graphs stay')
    }
    await send('DELETE WHERE { <urn:a> ?p ?o }')
    const onDefault = (modes: string): Promise<string> =>
      make(
        `<#a> a acl:Authorization ; acl:mode ${modes} ; ${of} ; acl:accessTo <urn:triplegate:default-graph> .`,
        `/admin/acl/authorizations/cleared-${modes.length}/`,
      )
    // prettier-ignore
    for (const [modes, kept] of [['acl:Append', [/added/, /kept/]], ['acl:Write', [/added/, /kept/]], ['acl:Read', undefined], ['acl:Read, acl:Write', [/added/]]] as const) {
      await send('DELETE WHERE { <urn:a> ?p ?o } ; INSERT DATA { <urn:a> <urn:kept> 1 }')
      const own = await onDefault(modes)
      const answer = await send('CLEAR ALL ; INSERT DATA { <urn:a> <urn:added> 1 }', 'reader')
      t.equal(answer.status, kept ? 200 : 403, `${modes} on the default graph: ${answer.text}`)
      t.match(await stored('urn:triplegate:default-graph'), kept ?? [/kept/], modes)
      t.equal((await owner('DELETE', new URL(own).pathname)).status, 204)
    }
    await send('DELETE WHERE { <urn:a> ?p ?o }')
    t.match((await owner('PUT', group, ttl(member.text))).status, /20[01]/)
  })
  await row('COPY, MOVE and ADD of the default graph, by agents who may read it', async (t) => {
    const to = g.readWriteOther!
    const rule = '/admin/acl/authorizations/copies/'
    const onDefault = (modes: string): Promise<string> =>
      make(`<#a> a acl:Authorization ; acl:mode ${modes} ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <urn:triplegate:default-graph> .`, rule) // prettier-ignore
    // prettier-ignore
    for (const [modes, form, status, left, copied] of [
      ['acl:Read', 'COPY DEFAULT TO', 200, /deep/, [/deep/, undefined]],
      ['acl:Read', 'ADD DEFAULT TO', 200, /deep/, [/deep/, /before/]],
      ['acl:Read', 'MOVE DEFAULT TO', 403, /deep/, [undefined, /before/]],
      ['acl:Read, acl:Write', 'MOVE DEFAULT TO', 200, undefined, [/deep/, undefined]],
      ['acl:Write', 'COPY DEFAULT TO', 403, /deep/, [undefined, /before/]],
      ['acl:Read', 'COPY SILENT DEFAULT TO', 200, undefined, []],
    ] as const) {
      if (left) await send('INSERT DATA { <urn:a> <urn:deep> 1.50 }')
      else if (copied.length === 0) await send('DELETE WHERE { <urn:a> ?p ?o }')
      await stores.endUser.replace(to, '<urn:s> <urn:before> "x" .\n')
      await onDefault(modes)
      if (modes.includes('Write') && status === 200) await send('INSERT DATA { <urn:a> <urn:deep> 1.50 }')
      const answer = await send(`${form} <${to}>`, 'stranger')
      const name = `${form}, with ${modes}`
      t.equal(answer.status, status, `${name}: ${answer.text}`)
      const [kept, there] = [await stored('urn:triplegate:default-graph'), await stored(to)]
      t.equal(/deep/.test(String(kept)), left !== undefined, `${name}: what stays`)
      t.equal(/deep/.test(String(there)), copied[0] !== undefined, `${name}: what comes`)
      t.equal(/before/.test(String(there)), copied[1] !== undefined, `${name}: the earlier content`)
      t.equal((await owner('DELETE', rule)).status, 204)
    }
    await send('DELETE WHERE { <urn:a> ?p ?o }')
  })
  await row('a refusal is the same whether the graph exists or not, and names no graph', async (t) => {
    const texts: string[] = []
    const withoutId = ({ text, status }: Answer): string => `${status} ${text}`
    for (const graph of [g.none!, `${world.base}updates-absent/`, g.noneOther!, 'http://example.org/updates/absent']) {
      const { fields, ...answer } = await send(remove(graph), 'stranger')
      texts.push(withoutId({ fields, ...answer }))
      t.notMatch(answer.text, graph)
    }
    t.equal(new Set(texts).size, 1, texts.join('\n'))
  })
  await row('using-graph-uri of a hidden graph: as of an absent one', async (t) => {
    const before = await states()
    for (const graph of [g.none!, g.noneOther!, 'http://example.org/updates/absent']) {
      const body = `INSERT { GRAPH <${g.readWrite}> { ?s ex:parameter ?o } } WHERE { ?s ex:p ?o }`
      const target = `/sparql?using-graph-uri=${encodeURIComponent(graph)}`
      t.equal((await world.as('stranger')('POST', target, update(PREFIXES + body))).status, 200)
    }
    t.same(await states(), before)
  })
  await row('a graph that a variable stands for needs the right for the final change', async (t) => {
    const says = (removed: string): string =>
      `<urn:s> <urn:removes> <${removed}> .\n<urn:s> <urn:adds> <${g.readAppend!}> .\n`
    await stores.endUser.replace(g.readOther!, says(g.readWrite!))
    const before = await stored(g.readAppend!)
    let asked = 0
    // The value of the variable changes between the check and the locks.
    beforeQuery.run = async (text) => {
      if (text.includes('urn:removes') && ++asked === 2) await stores.endUser.replace(g.readOther!, says(g.readAppend!))
    }
    const answer = await send(
      `DELETE { GRAPH ?g { ?s ex:p ?o } } INSERT { GRAPH ?h { ex:s ex:p 1 } }
       WHERE { GRAPH <${g.readOther}> { <urn:s> <urn:removes> ?g ; <urn:adds> ?h } GRAPH ?g { ?s ex:p ?o } }`,
      'stranger',
    ).finally(() => (beforeQuery.run = NOTHING))
    t.equal(answer.status, 403, answer.text)
    t.same(await stored(g.readAppend!), before)
  })
  await row('a variable with a name that stores use for other graphs, or that is not an IRI', async (t) => {
    await grant(['Read', 'Write', 'Append'], 'acl:accessToClass <urn:triplegate:access#OtherGraph>')
    const into = (name: string): Promise<Answer> =>
      send(`INSERT { GRAPH ?g { ex:s ex:p "into" } } WHERE { BIND(IRI(${name}) AS ?g) }`, 'stranger')
    t.equal((await into('"http://example.org/updates/any"')).status, 200)
    t.equal((await into('"urn:x-arq:DefaultGraph"')).status, 403)
    const odd = await into('"http://example.org/a> { } } ; INSERT DATA { ex:s ex:p 1 } #"')
    // Some stores do not create such an IRI.
    t.ok(odd.status === 422 || odd.status === 200, odd.text)
    t.equal(await stored('http://example.org/a'), undefined)
  })
  await row('a revoked right takes effect at once', async (t) => {
    t.equal((await send(insert(g.readWrite!, 'before'), 'stranger')).status, 200)
    const rule = `/admin/acl/authorizations/updates-last/`
    await make(
      `<#this> a acl:Authorization ; acl:mode acl:Append ; acl:agent <${world.webIdOf('stranger')}> ; acl:accessTo <${g.none}> .`,
      rule,
    )
    t.equal((await send(insert(g.none!, 'with'), 'stranger')).status, 200)
    t.equal((await owner('DELETE', rule)).status, 204)
    t.equal((await send(insert(g.none!, 'without'), 'stranger')).status, 403)
  })
}
