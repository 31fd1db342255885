// HEAD has the fields of GET, Content-Length among them (RFC 9110 §9.3.2).
import t from 'tap'
import type { Answer } from '../../support/client.js'
import { forEachStore, row } from '../../support/stores.js'
import { makeWorld, ttl, turtle } from '../../support/world.js'

const FORMS = ['edit', 'add', 'new', 'delete', 'grant', 'restore', 'conflict', 'nothing']
const QUERY = encodeURIComponent('SELECT * { GRAPH ?g { ?s ?p ?o } } LIMIT 20')
const TARGETS: readonly string[] = [
  ...['/', '/head/', '/absent/'].flatMap((path) => [path, ...FORMS.map((form) => `${path}?form=${form}`)]),
  ...['?timemap', '?timegate', '?version=0000000', '?access'].map((query) => `/head/${query}`),
  ...['/add', '/importer', '/transform', '/uploads/none', '/static/none', '/robots.txt', '/ns', '/sparql'],
  ...[`/sparql?query=${QUERY}`, '/sparql?query=wrong', `/ns?query=${QUERY}`, '/settings', '/tokens', '/access'],
  ...['/admin/', '/admin/sign%20up', '/admin/access/request', '/admin/clear', '/admin/oauth2/login'],
]
const ACCEPT = ['text/html', 'text/turtle', 'application/ld+json, */*;q=0.1']

void forEachStore(t, 'HEAD', async (t, makeStores, kind) => {
  const { as } = await makeWorld(t, await makeStores(), { flags: ['--history', 'local'] })
  t.equal((await as('owner')('PUT', '/head/', ttl(turtle('"HEAD"')))).status, 201)
  for (const agent of ['owner', 'anonymous']) {
    await row(t, kind, `${agent}: the fields of GET`, async (t) => {
      for (const target of TARGETS) {
        for (const accept of ACCEPT) {
          const fields = { Accept: accept }
          const whole = await as(agent)('GET', target, { fields })
          const head = await as(agent)('HEAD', target, { fields })
          t.equal(head.text, '')
          t.same(fieldsOf(head, whole), fieldsOf(whole, whole), `${target} ${accept}`)
        }
      }
    })
  }
  await row(t, kind, 'the page of a query says how long it took: a HEAD has no length', async (t) => {
    const page = { fields: { Accept: 'text/html' } }
    const { status, fields } = await as('owner')('HEAD', `/sparql?query=${QUERY}`, page)
    t.same([status, fields['content-length']], [200, undefined])
  })
})

/** Except for fields that differ between two GETs. If the content is not cached, its fields may be missing. */
function fieldsOf({ status, fields }: Answer, { fields: wanted, text }: Answer) {
  const isMeasured = / ms\b/.test(text)
  const left = Object.entries(fields).filter(
    ([name]) =>
      !/^(date|age|connection|keep-alive|transfer-encoding|x-request-id)$/.test(name) &&
      !(name === 'content-length' && (isMeasured || wanted['content-length'] === undefined)),
  )
  return { status, ...Object.fromEntries(left) }
}
