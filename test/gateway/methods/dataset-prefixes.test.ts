// The prefixes that Fuseki keeps for a dataset: in documents and forms, for agents who may read every graph (design 4).
import t from 'tap'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { until } from '../../support/wait.js'
import { accept, makeWorld, ttl } from '../../support/world.js'

const OWN = 'http://thesaurus.example/ns#'
const EMPTY = 'http://empty.example/ns#'
const HIDDEN = 'http://hidden.example/ns#'
const ACL = 'http://www.w3.org/ns/auth/acl#'

void forEachStore(t, { name: 'prefixes of the dataset', kinds: ['fuseki'] }, async (t, makeStores, kind) => {
  const stores = await makeStores()
  await fetch(`${stores.datasets!.endUser}/data?graph=http://other.example/g`, {
    method: 'PUT',
    headers: { 'Content-Type': 'text/turtle' },
    body: `@prefix thes: <${OWN}> . @prefix hidden: <${HIDDEN}> . @prefix : <${EMPTY}> . thes:a a thes:B .`,
  })
  const world = await makeWorld(t, stores)
  const row = rowsOf(t, kind)
  const owner = world.as('owner')
  const item = world.freshPath()
  const content = `<#a> <${OWN}broader> <${OWN}b> ; <http://www.w3.org/2004/02/skos/core#note> "x" .`
  await owner('PUT', item, ttl(content))
  const rule = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}accessTo> <${world.origin}${item}> ; <${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent> .`
  await owner('PUT', '/admin/acl/authorizations/public-item/', ttl(rule))

  await row(
    'agents who may read every graph get the prefixes that the document uses, in Turtle, TriG, JSON-LD and forms',
    async (t) => {
      await until(async () => (await owner('GET', item)).text.includes('@prefix thes:'))
      for (const [type, wanted] of [
        ['text/turtle', 'thes:broader thes:b'],
        ['application/trig', 'thes:broader thes:b'],
        ['application/ld+json', '"thes:broader"'],
      ] as const) {
        const { text } = await owner('GET', item, accept(type))
        t.ok(text.includes(wanted), `${type}: ${text}`)
        t.notOk(text.includes(HIDDEN), 'none that it does not use')
      }
      t.match((await owner('GET', `${item}?form=edit`, accept('text/html'))).text, /thes:broader/)
    },
  )

  await row('JSON-LD 1.1 §9.15: the empty prefix is in Turtle, and not in JSON-LD', async (t) => {
    const path = world.freshPath()
    await owner('PUT', path, ttl(`<#a> <${EMPTY}p> "x" .`))
    t.match((await owner('GET', path, accept('text/turtle'))).text, ':p "x"')
    const { text } = await owner('GET', path, accept('application/ld+json'))
    t.ok(text.includes(`"${EMPTY}p":"x"`), text)
    t.notOk(text.includes('"":'), 'no empty term')
  })

  await row('other agents get the usual prefixes, with another entity-tag', async (t) => {
    const [mine, theirs] = [await owner('GET', item), await world.as('anonymous')('GET', item)]
    t.equal(theirs.status, 200)
    t.match(theirs.text, /skos:note/)
    t.notMatch(theirs.text, /thes:/)
    t.not(theirs.fields.etag, mine.fields.etag)
    t.match(mine.fields['cache-control'], /^private/)
    const again = await owner('GET', item, { fields: { 'If-None-Match': mine.fields.etag! } })
    t.equal(again.status, 304)
  })

  await row('RFC 9110 §13.1.1, §13.1.2: either tag is that of the state', async (t) => {
    for (const agent of ['owner', 'anonymous']) {
      const tag = (await world.as(agent)('GET', item)).fields.etag!
      const send = { ...ttl(`${content} <#a> <${OWN}by> "${agent}" .`) }
      const unless = { ...send, fields: { ...send.fields, 'If-None-Match': tag } }
      t.equal((await owner('PUT', item, unless)).status, 412, 'If-None-Match')
      const put = await owner('PUT', item, { ...send, fields: { ...send.fields, 'If-Match': tag } })
      t.equal(put.status, 200, put.text)
      const late = await owner('PUT', item, { ...send, fields: { ...send.fields, 'If-Match': tag } })
      t.equal(late.status, 412, 'that of an earlier state')
    }
  })
})
