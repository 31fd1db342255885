// Cached results of SPARQL: agents with the same rights share them, others never do (design 4, design 5).
import t from 'tap'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl } from '../../../support/world.js'

const ASKED = '?s <urn:value> ?v'
const CSV = { fields: { Accept: 'text/csv' } }

void forEachStore(t, 'shared results', async (t, makeStores, kind) => {
  const made = await makeStores()
  let asked = 0
  const endUser: GraphStore = { ...made.endUser, query: (...call) => (asked++, made.endUser.query(...call)) }
  const world = await makeWorld(t, { ...made, endUser })
  const { base, as, webIdOf } = world
  const put = async (path: string, body: string): Promise<void> =>
    void t.match((await as('owner')('PUT', path, ttl(body))).status, /20[014]/, path)
  await put('/open/', '<> <urn:value> "open" .')
  await put('/hidden/', '<> <urn:value> "hidden" .')
  // The reader keeps only the rights granted here.
  await put('/admin/acl/groups/readers/', '<#this> a <http://xmlns.com/foaf/0.1/Group> .')
  const reading = (who: readonly string[], ...graphs: string[]): string =>
    `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode acl:Read ;
      acl:agent ${who.map((name) => `<${webIdOf(name)}>`).join(' , ')} ; acl:accessTo ${graphs.map((name) => `<${base}${name}>`).join(' , ')} .`
  await put('/admin/acl/authorizations/both/', reading(['reader', 'stranger'], 'sparql', 'open/'))

  const row = rowsOf(t, kind)
  /** The values that the agent gets, the entity-tag, and how often the store was asked. */
  const answer = async (who: string, where: string) => {
    asked = 0
    const target = `/sparql?query=${encodeURIComponent(`SELECT ?v { ${where} } ORDER BY ?v`)}`
    const { status, text, fields } = await as(who)('GET', target, CSV)
    t.equal(status, 200, text)
    return { values: text.split('\r\n').slice(1, -1), tag: fields.etag, asked }
  }
  await row('a graph by its name: the second agent has the result of the first', async (t) => {
    const [first, second] = [await answer('reader', `GRAPH <${base}open/> { ${ASKED} }`), await answer('stranger', `GRAPH <${base}open/> { ${ASKED} }`)] // prettier-ignore
    t.same(first.values, ['open'])
    t.same(second, { ...first, asked: 0 })
  })
  await row('any graph: agents may own different documents, so each has a separate result', async (t) => {
    for (const who of ['reader', 'stranger']) {
      const { values, asked } = await answer(who, `GRAPH ?g { ${ASKED} }`)
      t.same([values, asked > 0], [['open'], true], who)
    }
  })
  await row('another right: a separate result', async (t) => {
    const where = `GRAPH <${base}open/> { ${ASKED} } # again`
    const query = `{ ${where}\n } UNION { GRAPH <${base}hidden/> { ${ASKED} } }`
    const before = await answer('reader', query)
    await put('/admin/acl/authorizations/one/', reading(['stranger'], 'hidden/'))
    const more = await answer('stranger', query)
    t.same([before.values, more.values, more.asked > 0], [['open'], ['hidden', 'open'], true])
    t.not(more.tag, before.tag)
    t.same(await answer('reader', query), { ...before, asked: 0 })
  })
})
