// Updates with names of graphs and terms that functions make: an update changes exactly the graphs for which its
// agent's rights were checked (design 4; SPARQL 1.1 Update §3.1.3), even if rules change while the store answers. On
// both stores, and on one with a union.
import t from 'tap'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { forEachStore, rowsOf, WITH_UNION } from '../../../support/stores.js'
import { makeWorld, ttl, update } from '../../../support/world.js'

const [MINE, APPENDED, READ, HIDDEN] = ['mine', 'appended', 'read', 'hidden'].map((name) => `http://x.test/${name}`)
const EVIL = '<urn:evil> <urn:p> "evil"'

void forEachStore(t, { name: 'names that functions make', kinds: WITH_UNION }, async (t, makeStores, kind) => {
  const made = await makeStores()
  let beforeQuery: () => Promise<unknown> = () => Promise.resolve()
  const endUser: GraphStore = {
    ...made.endUser,
    async query(text, ...more) {
      if (text.includes('urn:marker')) await beforeQuery()
      return made.endUser.query(text, ...more)
    },
  }
  const world = await makeWorld(t, { ...made, endUser })
  const row = rowsOf(t, kind)
  const { base } = world
  const owner = world.as('owner')
  const put = async (path: string, body: string): Promise<string> => {
    const { status, text } = await owner('PUT', path, ttl(`@prefix acl: <http://www.w3.org/ns/auth/acl#> . ${body}`))
    t.match(status, /20[014]/, text)
    return base + path.slice(1)
  }
  const rule = (name: string, ...rules: readonly string[]): Promise<string> => {
    const all = rules.map((each) => `[] a acl:Authorization ; acl:agent <${world.webIdOf('stranger')}> ; ${each} .`)
    return put(`/admin/acl/authorizations/names-${name}/`, all.join('\n'))
  }
  const odd = `${base}names/a//b/`
  const [secret, shown, first, second, third] = ['secret', 'shown', 'first', 'second', 'third'].map(
    (name) => `${base}names-${name}/`,
  ) as [string, string, string, string, string]
  const documents = [secret, shown, first, second, third]
  for (const document of documents) await put(new URL(document).pathname, `<> <urn:p> "${document}" .`)
  const others = [MINE, APPENDED, READ, HIDDEN, odd] as string[]
  for (const graph of others)
    t.equal(await made.endUser.replace(graph, `<urn:a> <urn:p> "${graph}" .\n<urn:a> <urn:q> "there" .\n`), undefined)
  await put('/names-pub/', '<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
  await put('/names/', '<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
  await rule(
    'all',
    `acl:mode acl:Read, acl:Write ; acl:accessTo <${base}sparql>, <${MINE}> ; acl:default <${base}names-pub/>, <http://x.test/pub/>`,
    `acl:mode acl:Append ; acl:accessTo <${APPENDED}>, <${first}>, <${second}>, <${third}> ; acl:default <${base}names/>`,
    `acl:mode acl:Read ; acl:accessTo <${READ}>, <${shown}>`,
    'acl:mode acl:Read, acl:Write ; acl:accessToClass <urn:Special>',
  )
  const state = async (): Promise<readonly unknown[]> =>
    Promise.all([base, ...documents, ...others, `${base}names-new/`].map((graph) => made.endUser.read(graph)))
  const send = (body: string) => world.as('stranger')('POST', '/sparql', update(body))
  const acl = (name: string): string => `<http://www.w3.org/ns/auth/acl#${name}>`
  const named = (value: string, body = `INSERT { GRAPH ?g { ${EVIL} } }`): string =>
    `${body} WHERE { BIND(${value} AS ?g) }`
  const reading = (graph: string): string =>
    `INSERT { GRAPH <${MINE}> { ?s ?p ?o } } WHERE { GRAPH <${graph}> { ?s ?p ?o . ?s <urn:none> ?o } }`
  const spelled = (name: string): string => `IRI("${name}")`
  const toOwn = `INSERT { GRAPH <${first}> { ?s ${acl('owner')} <${world.webIdOf('stranger')}> } GRAPH <${second}> { <urn:x> <urn:y> 2 } }`
  // Documents modified before change only by the added lines.
  for (const document of [first, second, third]) {
    t.equal((await send(`INSERT DATA { GRAPH <${document}> { <urn:x> <urn:y> 1 } }`)).status, 200)
  }

  // prettier-ignore
  const ROWS: readonly (readonly [name: string, update: string, status: number])[] = [
    // A quad whose graph is not an IRI is left out.
    ['a literal as the name of a hidden graph', `${named(`"${HIDDEN}"`)} ; ${reading(HIDDEN!)}`, 200],
    ['the same for a readable graph', `${named(`"${READ}"`, `DELETE { GRAPH ?g { <urn:a> <urn:p> "${READ}" } } INSERT { GRAPH ?g { ${EVIL} } }`)} ; ${reading(READ!)}`, 200],
    ['the same for a document', `${named(`"${shown}"`, `DELETE { GRAPH ?g { <${shown}> <urn:p> "${shown}" } } INSERT { GRAPH ?g { ${EVIL} } }`)} ; ${reading(shown)}`, 200],
    ['the same for one that the agent may append to', named(`"${APPENDED}"`, `DELETE { GRAPH ?g { <urn:a> <urn:p> "${APPENDED}" } } INSERT { GRAPH <${APPENDED}> { <urn:a> <urn:q> "there" } }`), 200],
    ['the same for a hidden graph that another operation copies', `${named(`"${HIDDEN}"`, `DELETE { GRAPH ?g { <urn:a> <urn:p> "${HIDDEN}" } }`)} ; ADD SILENT <${HIDDEN}> TO <${MINE}>`, 200],
    ['the same for a document that does not exist', `${named(`"${base}names-new/"`)} ; ADD SILENT <${base}names-new/> TO <${MINE}>`, 200],
    ['a triple term as a name', named('TRIPLE(<urn:a>, <urn:b>, <urn:c>)'), 200],
    // RFC 3986 §5.2.4: Jena removes dot segments from names, and from terms in SPARQL.
    ['dot segments that lead to a hidden document', named(spelled(`${base}names-pub/../names-secret/`), `DELETE { GRAPH ?g { <${secret}> <urn:p> "${secret}" } } INSERT { GRAPH ?g { ${EVIL} } }`), 422],
    ['dot segments that lead to the root', named(spelled(`${base}names-pub/../`)), 422],
    ['dot segments that lead to a hidden graph', named(spelled('http://x.test/pub/../hidden')), 422],
    ...(kind === 'embedded' ? [] : [
    ['dot segments in a subject: an owner', `${toOwn} WHERE { BIND(IRI("${base}x/../names-first/") AS ?s) }`, 422] as const,
    ['dot segments in a subject: a type', `INSERT { GRAPH <${third}> { ?s a <urn:Special> } GRAPH <${second}> { <urn:x> <urn:y> 3 } } WHERE { BIND(IRI("${base}./names-third/") AS ?s) }`, 422] as const,
    ]),
    ['the name of a document that no URL leads to: an owner', `INSERT DATA { GRAPH <${odd}> { <${odd}> ${acl('owner')} <${world.webIdOf('stranger')}> } }`, 403],
    ['the same for one that does not exist', `INSERT DATA { GRAPH <${base}names/c%2Fd/> { ${EVIL} } }`, 403],
  ]
  for (const [name, body, status] of ROWS) {
    await row(`${name}: ${status}, unchanged`, async (t) => {
      const before = await state()
      const answer = await send(body)
      t.equal(answer.status, status, answer.text)
      t.same(await state(), before)
    })
  }
  await row('a graph stays if DROP would use another graph for its name', async (t) => {
    const before = await state()
    const added = await send(named(spelled(`${base}names-pub/../names-secret/`)))
    const dropped = await send('DROP NAMED')
    t.same([added.status, dropped.status], [422, 403], added.text + dropped.text)
    t.same(await state(), before)
  })
  await row('a rule that is removed while the store finds the solutions', async (t) => {
    const other = 'http://x.test/other'
    const path = new URL(await rule('away', `acl:mode acl:Read, acl:Write ; acl:accessTo <${other}>`)).pathname
    let asked = 0
    beforeQuery = async () => {
      if (++asked === 2) t.equal((await owner('DELETE', path)).status, 204)
    }
    const answer = await send(
      `INSERT { GRAPH <${other}> { ${EVIL} } } WHERE { GRAPH ?g { ?s ?p ?o FILTER(?p != <urn:marker>) } }`,
    )
    beforeQuery = () => Promise.resolve()
    t.same([answer.status, asked], [403, 2], answer.text)
    t.equal(await made.endUser.read(other), undefined)
  })
})
