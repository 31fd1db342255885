// Queries whose restricted form makes Jena fail if the first part has no rows: with joins that Jena makes on demand, it
// answers them (design 4).
import t from 'tap'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl } from '../../../support/world.js'

const CSV = { fields: { Accept: 'text/csv' } }
const UPDATE = { fields: { 'Content-Type': 'application/sparql-update' } }
const MERGED = 'FROM <http://www.w3.org/ns/solid/sparql#union-default-graph>'
const MOST_RECENT = '{ SELECT ?x (MAX(?v) AS ?most) { ?x <urn:value> ?v OPTIONAL { ?x <urn:value> ?w } } GROUP BY ?x }'

void forEachStore(t, 'the other way', async (t, makeStores, kind) => {
  const { base, as, webIdOf } = await makeWorld(t, await makeStores())
  const put = async (path: string, body: string): Promise<void> =>
    void t.match((await as('owner')('PUT', path, ttl(body))).status, /20[014]/, path)
  await put('/open/', '<> a <urn:Open> ; <urn:value> "open" .')
  await put('/hidden/', '<> <urn:absent> "hidden" .')
  // More than a list of graphs may have.
  const many = Array.from({ length: 101 }, (_, i) => `GRAPH <${base}open-${i}/> { <${base}open-${i}/> a <urn:Open> }`)
  t.equal((await as('owner')('POST', '/sparql', { ...UPDATE, body: `INSERT DATA { ${many.join('\n')} }` })).status, 200)
  await put(
    '/admin/acl/authorizations/open/',
    `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode acl:Read , acl:Write ;
       acl:agent <${webIdOf('stranger')}> ; acl:accessTo <${base}sparql> ; acl:accessToClass <urn:Open> .`,
  )
  const row = rowsOf(t, kind)
  const QUERIES = [
    ['a group with OPTIONAL in the union', `${MERGED} { ?x <urn:absent> ?y { OPTIONAL { ?x <urn:value> ?v } } }`],
    ['OPTIONAL in OPTIONAL in the union', `${MERGED} { ?x <urn:absent> ?y OPTIONAL { OPTIONAL { ?x <urn:value> ?v } } }`],
    ['a sub-query with OPTIONAL in the union', `${MERGED} { ?x <urn:absent> ?y OPTIONAL { ${MOST_RECENT} } }`],
    ['a group with OPTIONAL in graphs', '{ GRAPH ?g { ?x <urn:absent> ?y } { OPTIONAL { GRAPH ?g { ?x <urn:value> ?v } } } }'],
    ['OPTIONAL in OPTIONAL in graphs', '{ GRAPH ?g { ?x <urn:absent> ?y } OPTIONAL { OPTIONAL { GRAPH ?g { ?x <urn:value> ?v } } } }'],
  ] as const // prettier-ignore
  for (const [what, rest] of QUERIES) {
    await row(what, async (t) => {
      const target = `/sparql?query=${encodeURIComponent(`SELECT ?x ${rest}`)}`
      const { status, text } = await as('stranger')('GET', target, CSV)
      t.same([status, text], [200, 'x\r\n'])
    })
  }
  await row('in an update that does not name its graphs: no solution, and nothing is written', async (t) => {
    const body = `INSERT { GRAPH ?g { ?x <urn:made> ?y } } WHERE { GRAPH ?g { ?x <urn:absent> ?y } { OPTIONAL { GRAPH ?g { ?x <urn:value> ?v } } } }`
    const { status, text } = await as('stranger')('POST', '/sparql', { ...UPDATE, body })
    t.equal(status, 200, text)
    for (const path of ['/open/', '/hidden/']) t.notMatch((await as('owner')('GET', path)).text, 'urn:made')
  })
})
