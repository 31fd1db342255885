// HEAD has the fields of GET, Content-Length among them (RFC 9110 §9.3.2). Every answer with an entity-tag depends on the
// conditions of its request (§13.2.1). Every answer has one policy: that of our pages, or that of data.
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
  ...['/admin/', '/admin/sign%20up', '/admin/access/request', '/admin/clear', '/admin/tokens', '/admin/oauth2/login'],
]
/** Other answers that are graphs. */
const ABOUT = `/access?this=${encodeURIComponent('https://localhost/head/')}`
const GRAPHS = [ABOUT, `${ABOUT}&agent=`, `${ABOUT}&audit`, `${ABOUT}&tree`, `/access?query=${QUERY}&agent=`]
const TAGGED = ['/head/', '/ns', '/sparql', '/settings', '/access', '/importer', '/admin/tokens', '/admin/oauth2/login']
const CONFINED = /^default-src 'none'; sandbox$/
const ACCEPT = ['text/html', 'text/turtle', 'application/ld+json, */*;q=0.1']

void forEachStore(t, 'HEAD', async (t, makeStores, kind) => {
  const { as, base } = await makeWorld(t, await makeStores(), { flags: ['--history', 'local'] })
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
  await row(t, kind, 'only pages may run anything (CSP 3 §6.4.3), and a 304 does not change that', async (t) => {
    const policyOf = ({ rawFields }: Answer): string =>
      rawFields.filter((_, at) => rawFields[at - 1] === 'Content-Security-Policy').join(' AND ')
    for (const target of [...TARGETS, ...GRAPHS, '/a//b', '/absent']) {
      for (const accept of [...ACCEPT, 'text/xml', 'application/sparql-results+xml']) {
        const fields = { Accept: accept }
        const whole = await as('owner')('GET', target, { fields })
        const isPage = whole.fields['content-type']?.startsWith('text/html') === true
        const expected = isPage ? /^default-src 'none'; style-src 'self'; [^]*frame-ancestors 'none'[^]*$/ : CONFINED
        t.match(policyOf(whole), expected, `${target} ${accept}`)
        t.notMatch(policyOf(whole), isPage ? / AND |sandbox/ : / AND /)
        const { etag } = whole.fields
        if (etag === undefined || whole.status !== 200) continue
        const again = await as('owner')('GET', target, { fields: { ...fields, 'If-None-Match': etag } })
        if (again.status === 304) t.equal(policyOf(again), policyOf(whole), `304 of ${target} ${accept}`)
      }
    }
    for (const method of ['OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE'])
      t.match(policyOf(await as('anonymous')(method, '/head/')), CONFINED, method)
  })
  await row(t, kind, 'conditions are evaluated wherever there is an entity-tag', async (t) => {
    const about = (graph: string): string =>
      graph.replace(encodeURIComponent('https://localhost/'), encodeURIComponent(base))
    for (const target of [...TARGETS, ...GRAPHS.map(about)]) {
      for (const accept of ACCEPT) {
        const ask = (method: string, fields = {}): Promise<Answer> =>
          as('owner')(method, target, { fields: { Accept: accept, ...fields } })
        const { status, fields } = await ask('GET')
        const { etag } = fields
        if (accept === 'text/turtle' && (TAGGED.includes(target) || target.startsWith('/access')))
          t.match({ status, etag }, { status: 200, etag: /^"/ }, target)
        if (status !== 200 || etag === undefined) continue
        for (const method of ['GET', 'HEAD']) {
          const name = `${method} ${target} ${accept}`
          t.match(await ask(method, { 'If-None-Match': etag }), { status: 304, text: '', fields: { etag } }, name)
          t.equal((await ask(method, { 'If-None-Match': '"x"' })).status, 200, name)
          t.equal((await ask(method, { 'If-Match': etag })).status, 200, name)
          t.equal((await ask(method, { 'If-Match': '"x"' })).status, 412, name)
        }
      }
    }
  })
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
